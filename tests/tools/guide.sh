#!/bin/sh
# The guide and the README: their commands run, in one folder and in order, and print what the pages show.
. "${0%/*}/../testlib.sh"
. "$tests_dir/pagelib.sh"

# A stand-in for nsys takes its results from the sample.
mkdir "$T/stand-in" "$T/guide" "$T/readme"
cat >"$T/stand-in/nsys" <<'END'
#!/bin/sh
for arg; do case $arg in --output=*) out=${arg#--output=} ;; esac; done
case $1 in
profile) mkdir -p "${out%/*}/dump" && cp "$HERE"/dump0/* "${out%/*}/dump" && cp "$HERE/r0.sqlite" "$out.nsys-rep" ;;
export)  cp "$HERE/r0.sqlite" "$out" ;;
stats)   cat "$QUIRKS" ;;
*)       exit 2 ;;
esac
END
chmod +x "$T/stand-in/nsys"
PATH=$T/stand-in:$B/tests/synth:$PATH HERE=$T/guide QUIRKS=$tests_dir/tools/compile/quirks.csv
SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0
export PATH HERE QUIRKS SLURM_PROCID SLURM_LOCALID SLURM_NODEID
XLA_FLAGS=
unset JAX_TRACEBACK_IN_LOCATIONS_LIMIT

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
mkdir "$T/tour"
page README.md readme
page docs/tour.md tour
[ "${UPDATE-}" != 1 ] || cp "$T/tour/source.svg" "$root/docs/source.svg"
same 'the picture of the tour equals the output of its command' "$T/tour/source.svg" "$root/docs/source.svg"
page docs/guide.md guide

# Tools and files that the pages name exist.
equal 'no page names a tool that does not exist' "$(grep -oh 'nsysx-[a-z][a-z]*' "$root/README.md" "$root/docs/tour.md" "$root/docs/guide.md" "$root/docs/cookbook.md" | sort -u | while read -r tool; do
	[ -x "$B/bin/$tool" ] || [ "$tool" = nsysx-synth ] || echo "$tool"
done)" ''
for page in README.md docs/tour.md docs/guide.md docs/cookbook.md; do
	equal "files that $page links to exist" "$(sed '/^```/,/^```/d' "$root/$page" | grep -o '](\([^)#]*\))' | sed 's/^](//; s/)$//' | while read -r file; do
		case $file in http*) continue ;; esac
		[ -e "$root/$(dirname "$page")/$file" ] || echo "$file"
	done)" ''
done
done_testing
