#!/bin/sh
# make install and uninstall: what is installed works in its place, programs can use it, and it can be removed.
. "${0%/*}/../testlib.sh"

root=$(cd "$tests_dir/.." && pwd) || exit 1
D=$T/root
own() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$root" "B=$B" "$@" "DESTDIR=$D" PREFIX=/opt/nsysx; }
files() { (cd "$D" && find . ! -type d | sort); }

mkdir -p "$D/opt/nsysx/bin" "$D/opt/nsysx/share/doc/nsysx"
: >"$D/opt/nsysx/bin/other"
: >"$D/opt/nsysx/share/doc/nsysx/notes"
files >"$T/before"
ok 'make install' own install
files >"$T/installed"
equal 'all files are below PREFIX' "$(grep -v '^\./opt/nsysx/' "$T/installed")" ''
for f in "$B"/bin/nsysx* "$root"/docs/man/*; do
	case $f in
	*/bin/*) dir=bin ;;
	*) dir=share/man/man${f##*.} ;;
	esac
	# A script names the folder of its other files.
	case $f in
	*/bin/nsysx-report) sed "s|'$root/lib/report'|'/opt/nsysx/share/nsysx/report'|" "$f" >"$T/script" && f=$T/script name=nsysx-report ;;
	*) name=${f##*/} ;;
	esac
	same "$dir/$name is installed" "$f" "$D/opt/nsysx/$dir/$name"
done
equal 'programs are executable, pages are readable' \
	"$(cd "$D/opt/nsysx" && find . -type f ! -path '*/report/*' -perm -100 | sed 's,^\./bin/nsysx.*,tool,' | sort -u)" tool

for tool in "$B"/bin/nsysx*; do
	tool=${tool##*/}
	same "bash finds completion of $tool" "$D/opt/nsysx/share/bash-completion/completions/$tool" "$B/completion/nsysx.bash"
	same "fish finds completion of $tool" "$D/opt/nsysx/share/fish/vendor_completions.d/$tool.fish" "$B/completion/fish/$tool.fish"
done
same 'agents find the runbook' "$root/docs/diagnose.md" "$D/opt/nsysx/share/nsysx/skills/nsysx/SKILL.md"
same 'zsh finds completion' "$D/opt/nsysx/share/zsh/site-functions/_nsysx" "$B/completion/_nsysx"

version=$("$D/opt/nsysx/bin/nsysx-view" -V | cut -d ' ' -f 2)
equal 'the dispatcher runs the tool beside it' "$(env PATH=/nowhere "$D/opt/nsysx/bin/nsysx" view -V)" "nsysx-view $version"

# ---- programs that use the library
stream=$T/s.nsysx
"$SYNTH" -o "$T/samples" >/dev/null 2>&1 && nsysx-extract -q -o "$stream" "$T/samples/r0.sqlite"
example=$D/opt/nsysx/share/doc/nsysx/examples/longer.c
PKG_CONFIG_PATH=$D/opt/nsysx/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$D
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

# The example in LANGUAGE, built by COMPILER without a warning; it drops the records that awk drops.
built() {
	claim="the example is $1 ($2)"
	if ! command -v "$2" >/dev/null 2>&1; then
		skip "$claim" "$2 is not here"
		return
	fi
	# shellcheck disable=SC2046  # options
	ok "$claim" "$2" -x "$1" -Wall -Wextra -Werror $(pkg-config --cflags nsysx) -o "$T/longer" "$example" \
		-x none $(pkg-config --static --libs nsysx)
	"$T/longer" --min 50us <"$stream" >"$T/got"
	same "$claim and filters as described" "$T/got" "$T/want"
	fails "$claim and refuses what is not a stream" 1 "longer: $example" "$T/longer" "$example"
	rm -f "$T/longer"
}
# Otherwise programs that use two parts could not be linked.
equal 'no name is defined twice in the library' "$(nm "$B/libnsysx.a" 2>/dev/null | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort | uniq -d)" ''
if ! command -v pkg-config >/dev/null 2>&1; then
	skip 'programs are built with pkg-config' 'pkg-config is not here'
elif nm "$B/libnsysx.a" 2>/dev/null | grep -q '__[atu]*san_'; then
	skip 'programs are built with pkg-config' 'this library needs a sanitizer'
else
	equal 'pkg-config tells the version' "$(pkg-config --modversion nsysx)" "$version"
	awk -F'\t' -v OFS='\t' '
		$1 == "#thunk" { for (i = 2; i <= NF; i++) if ($i == "dur:i") dur = i }
		$1 == "thunk" && $dur < 50000 { dropped++; next }
		$1 == "end" { $2 -= dropped }
		{ print }' "$stream" >"$T/want"
	equal 'the sample has thunks above and below the limit' "$(grep -c '^thunk' "$T/want" | awk -v all="$(grep -c '^thunk' "$stream")" '{ print ($1 > 0 && $1 < all) }')" 1
	built c gcc
	built c clang
	built c++ g++
	built c++ clang++
	# shellcheck disable=SC2046
	for h in $(cd "$D/opt/nsysx/include/nsysx" && echo ./*/*.h); do
		echo "#include <$h>" >"$T/h.c"
		ok "$h includes only what is installed" gcc -Wall -Wextra -Werror $(pkg-config --cflags nsysx) -fsyntax-only "$T/h.c"
	done
fi

ok 'make uninstall' own uninstall
files >"$T/after"
same 'make uninstall removes what was installed, and nothing else' "$T/before" "$T/after"
equal '... and its folders' "$(cd "$D" && find . -type d -name nsysx ! -path ./opt/nsysx)" ./opt/nsysx/share/doc/nsysx
done_testing
