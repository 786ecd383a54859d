#!/bin/sh
# nsysx against its manual page: it executes the tool, and lists the tools.
. "${0%/*}/../testlib.sh"

# A copy, beside other tools.
mkdir "$T/bin" "$T/path"
cp "$B/bin/nsysx" "$T/bin"
nsysx=$T/bin/nsysx
cat >"$T/bin/nsysx-toy" <<'TOY'
#!/bin/sh
case ${1-} in
--help) printf 'usage: nsysx-toy\nPlay.\n\n  -h, --help  this\n' ;;
exit) exit "$2" ;;
kill) kill -TERM $$ ;;
*) printf '%s\n' "$@"; cat ;;
esac
TOY
printf '#!/bin/sh\necho from PATH\n' >"$T/path/nsysx-far"
cp "$T/path/nsysx-far" "$T/path/nsysx-toy"
: >"$T/bin/nsysx-notes"
chmod +x "$T/bin/nsysx-toy" "$T/path/nsysx-far" "$T/path/nsysx-toy"
PATH=$T/path:$PATH

equal 'the tool gets arguments and standard input' "$(echo in | "$nsysx" toy -o --help '' 'a b')" "-o
--help

a b
in"
equal 'a tool beside nsysx comes before the PATH' "$("$nsysx" toy x </dev/null)" x
equal '... then the PATH' "$("$nsysx" far)" 'from PATH'
"$nsysx" toy exit 7
equal 'the exit status is that of the tool' $? 7
{ "$nsysx" toy kill; } 2>/dev/null
equal '... also a signal' $? 143
ln -s ../bin/nsysx "$T/path/link"
equal 'through a symbolic link the tools are found beside the program' "$("$T/path/link" toy x </dev/null)" x
run "$nsysx" --help
equal '--help lists the tools with their summaries' "$(sed -n '/^Tools:/,$p' "$T_private/out")" 'Tools:
  toy           Play.'
cp "$T_private/out" "$T/help"
run "$nsysx"
same 'without arguments too' "$T_private/out" "$T/help"
run "$nsysx" help
same 'with help too' "$T_private/out" "$T/help"
equal 'help TOOL is TOOL --help' "$("$nsysx" help toy)" "$("$nsysx" toy --help)"
fails 'help of an unknown tool' 2 'nsysx: "none" is not a tool' "$nsysx" help none
fails 'help of two tools' 2 'nsysx: help: one TOOL at most' "$nsysx" help toy toy
equal '--version' "$("$nsysx" -V)" 'nsysx 0.1.0'
fails 'an unknown tool' 2 'nsysx: "none" is not a tool' "$nsysx" none
fails 'a path' 2 'nsysx: "../bin/nsysx-toy" is not a tool' "$nsysx" ../bin/nsysx-toy
fails 'an unknown option' 2 'nsysx: unknown option -y' "$nsysx" -y toy
fails 'options without a tool' 2 'nsysx: which TOOL?' "$nsysx" -q
chmod -x "$T/bin/nsysx-toy"
fails 'a tool that cannot be run' 1 "nsysx: $T/bin/nsysx-toy: Permission denied" "$nsysx" toy
fails 'a full disk' 1 'nsysx: standard output' sh -c "$nsysx --help >/dev/full"
fails 'a tool with swapped letters' 2 'nsysx --help lists them; did you mean steps?' nsysx stpes
fails 'a choice with a wrong letter' 2 'got "kernl"; did you mean kernel?' nsysx-summary --by kernl
fails 'one of several choices' 2 'got "kernel,modul"; did you mean module?' nsysx-summary --by kernel,modul
fails 'a choice with a missing letter' 2 '; did you mean module?' nsysx-idle --by modul
fails 'an option with a wrong letter' 2 'unknown option --totlas; did you mean --totals?' nsysx-summary --totlas
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/no-records"
fails 'a kind with a wrong letter' 1 'that this version knows; did you mean thunk?' nsysx-view --require thnk "$T/no-records"
fails 'a column with a wrong letter' 2 'spread_std; did you mean total?' nsysx-summary --sort totl "$T/no-records"
fails 'a file in a folder that does not exist' 1 "$T/no/file: No such file or directory: create its folder first" nsysx-summary -o "$T/no/file" "$T/no-records"
for tool in fold 'fold --by op-name' roofline stragglers 'pgle -d pgle'; do
	equal "nsysx-$tool reports where thunks come from" "$(cd "$T" && nsysx-$tool no-records 2>&1 >/dev/null | grep -c "no thunk records.*, which come from XLA's NVTX ranges: ")" 1
done
equal 'nsysx-perfetto reports that nothing is drawn' "$(nsysx-perfetto "$T/no-records" 2>&1 >"$T/trace" | grep -c 'warning: nothing to draw: the stream has no times of ')" 1
done_testing
