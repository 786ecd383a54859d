#!/bin/sh
# The guide and the README: their commands run, in one folder and in order, and print what they say.
#
# A block that begins with "```sh run" holds commands; in one that begins with "```console" each line with "$ " is a
# command and what follows is what it prints, up to a line "..." that stands for more. UPDATE=1 writes that anew.
. "${0%/*}/../testlib.sh"

root=$(cd "$tests_dir/.." && pwd) || exit 1

# The commands of page $1 as files $2/N.sh, with what they print in $2/N.want if the page says.
commands() {
	awk -v dir="$2" '
		function begin(line) { file = sprintf("%s/%03d", dir, ++n); print line >(file ".sh"); more = line ~ /\\$/ }
		/^```/ {
			if (in_block) { in_block = ""; next }
			in_block = /^```sh run$/ ? "sh" : /^```console$/ ? "console" : "other"
			more = 0
			next
		}
		more { print >(file ".sh"); more = /\\$/; next }
		in_block == "sh" && NF { begin($0) }
		in_block == "console" && /^\$ / { begin(substr($0, 3)); printf "" >(file ".want"); next }
		in_block == "console" { print >(file ".want") }' "$1"
}

# Page $1 with what its commands print as in $2/N.got.
renewed() {
	awk -v dir="$2" '
		/^```/ { in_block = in_block ? "" : /^```sh run$/ ? "sh" : /^```console$/ ? "console" : "other"; more = 0; print; next }
		in_block == "sh" && NF { if (!more) n++; more = /\\$/; print; next }
		in_block == "console" && (more || /^\$ /) {
			if (!more) n++
			more = /\\$/
			print
			if (!more) { file = sprintf("%s/%03d.got", dir, n); while ((getline line <file) > 0) print line }
			next
		}
		in_block == "console" { next }
		{ print }' "$1"
}

listing() {
	ls -lR --time-style=full-iso .
}

# Claim that command $2, a path without .sh, of page $1 works. Runs in this shell's folder, in the environment that earlier commands left.
try() {
	claim="$1: $(head -n 1 "$2.sh" | cut -c1-70)"
	case $(cat "$2.sh") in
	'export '*) . "$2.sh"; pass "$claim"; return ;;
	esac
	listing >"$T/before"
	run sh "$2.sh"
	cp "$T_private/out" "$2.got"
	listing >"$T/after"
	if [ -e "$2.want" ] && [ "$(tail -n 1 "$2.want")" = ... ]; then
		head -n "$(($(wc -l <"$2.want") - 1))" "$T_private/out" >"$2.got"
		echo ... >>"$2.got"
	fi
	if [ "$status" -ne 0 ]; then
		fail "$claim" "status $status, want 0" "$(cat "$2.sh")"
	elif grep -vqE '^nsysx-[a-z]+: (warning|info|next): ' "$T_private/err"; then
		fail "$claim" "it complains" "$(cat "$2.sh")"
	elif [ ! -s "$T_private/out" ] && cmp -s "$T/before" "$T/after"; then
		fail "$claim" "it prints nothing and makes no file" "$(cat "$2.sh")"
	elif [ -e "$2.want" ] && [ "${UPDATE-}" != 1 ] && ! cmp -s "$2.want" "$2.got"; then
		fail "$claim" "it prints something else" "$(cat "$2.sh")"
		show_diff "$2.want" "$2.got"
	else
		pass "$claim"
	fi
}

# Claims about every command of page $1, in folder $2.
page() {
	mkdir "$T/$2.commands"
	commands "$root/$1" "$T/$2.commands"
	ok "$1 has commands" test -e "$T/$2.commands/003.sh"
	cd "$T/$2" || exit 1
	for command in "$T/$2.commands"/*.sh; do
		try "$1" "${command%.sh}"
	done
	cd "$tests_dir/tools" || exit 1
	if [ "${UPDATE-}" = 1 ] && renewed "$root/$1" "$T/$2.commands" >"$T/renewed"; then
		cat "$T/renewed" >"$root/$1"
	fi
}

# nsys is not here: what it would leave comes from the sample.
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
ok 'the sample of the README is made' "$SYNTH" -o "$T/readme"
page README.md readme
page docs/guide.md guide

# What they name is there.
for tool in "$B"/bin/nsysx*; do
	tool=$(basename "$tool")
	ok "the README lists $tool" grep -q "^| \`$tool\` |" "$root/README.md"
	case $tool in
	nsysx) ;;
	*) ok "the guide shows $tool" grep -q "$tool " "$root/docs/guide.md" ;;
	esac
done
equal 'both name no tool that is not there' "$(grep -oh 'nsysx-[a-z][a-z]*' "$root/README.md" "$root/docs/guide.md" | sort -u | while read -r tool; do
	[ -x "$B/bin/$tool" ] || [ "$tool" = nsysx-synth ] || echo "$tool"
done)" ''
for page in README.md docs/guide.md; do
	equal "files that $page links to are there" "$(grep -o '](\([^)#]*\))' "$root/$page" | sed 's/^](//; s/)$//' | while read -r file; do
		case $file in http*) continue ;; esac
		[ -e "$root/$(dirname "$page")/$file" ] || echo "$file"
	done)" ''
done
done_testing
