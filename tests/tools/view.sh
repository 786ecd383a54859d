#!/bin/sh
# nsysx-view against its manual page.
. "${0%/*}/../testlib.sh"

printf '#nsysx\t2\n#module\tname:s\tstart:i\nmodule\tjit\\tf\t5\n#thunk\tname:s\tstart:i\tbusbw:f\nthunk\tmul\t7\t0.5\nthunk\t\t8\t\n#zebra\tx:i\nzebra\t1\n#range\tname:s\n#end\trecords:i\nend\t4\n' >"$T/s"
cd "$T" || exit 1

# Encodings.
nsysx-view s >out
same 'text is unchanged' out s
nsysx-view -b s >b
nsysx-view b >out
same 'binary and back is unchanged' out s
nsysx-view -b b >out
same 'binary again is unchanged' out b
equal 'binary begins with its magic bytes' "$(head -c 9 b | od -An -tx1 | tr -d ' \n')" 0a090a056e73797378
NSYSX_FORMAT=binary nsysx-view s >out
same 'NSYSX_FORMAT=binary is -b' out b
NSYSX_FORMAT=binary nsysx-view --text b >out
same '--text overrides NSYSX_FORMAT' out s
fails 'NSYSX_FORMAT must be binary or text' 2 'NSYSX_FORMAT: want text or binary, got "tsv"' env NSYSX_FORMAT=tsv nsysx-view s
nsysx-view -z s | zstd -dc >out
same '-z is zstd' out s
nsysx-view -b -z19 s | zstd -dc >out
same '-z19 -b is binary under zstd' out b
nsysx-view -z s >z
equal 'one frame, with a checksum' "$(zstd -lv z 2>/dev/null | grep -c -e 'Number of files listed: 1' -e 'Zstandard Frames: 1' -e 'Check: XXH64')" 2
nsysx-view z >out
same 'compressed input is recognised' out s
zstd -q s -o own.zst
nsysx-view own.zst >out
same '... also from zstd' out s
fails 'a level beyond those of zstd' 2 'want a level from 1 to 19' nsysx-view -z20 s
fails 'an invalid level' 2 'want a level from 1 to 19' nsysx-view -zfast s
nsysx-view <s >out
same 'standard input is read without FILE' out s
nsysx-view - <b >out
same 'and as -' out s
ok 'a file is written' nsysx-view -o new s
same 'whole' new s
fails 'more than one FILE' 2 'one FILE at most' nsysx-view s s
(nsysx-view s; echo "status $?" >&2) 2>err | head -n 1 >out
equal 'a closed pipe gives no message' "$(grep -v status err)" ''

# Selection.
printf '#nsysx\t2\n#thunk\tname:s\tstart:i\tbusbw:f\nthunk\tmul\t7\t0.5\nthunk\t\t8\t\n#range\tname:s\n#end\trecords:i\nend\t2\n' >want
run nsysx-view -q -k range,thunk s
cp "$T_private/out" out
same '-k keeps kinds in their order, with headers' out want
run nsysx-view -k thunk,modul s
equal 'an unknown kind is reported' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind modul, which this version does not know; did you mean module?'
equal '... without failing' "$status" 0
run nsysx-view -k op s
equal 'a known kind without records is reported' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind op: extract with --ops'
run nsysx-view -t thunks s
equal 'with --table a similar kind is suggested' "$(cat "$T_private/err")" 'nsysx-view: s: no record of kind thunks, which this version does not know; did you mean thunk?'
run nsysx-view -t zebras s
equal '... also an unknown one of the stream' "$(cat "$T_private/err")" 'nsysx-view: s: no record of kind zebras, which this version does not know; did you mean zebra?'
equal '... and it is an error' "$status" 1
run nsysx-view -t nothing s
equal '... or none' "$(cat "$T_private/err")" 'nsysx-view: s: no record of kind nothing, which this version does not know'
fails '-k requires names' 2 'want names of kinds, got ""' nsysx-view -k '' s
fails '-k requires names between commas' 2 'want names of kinds' nsysx-view -k 'a,,b' s
fails '--require' 1 'standard output: no zebra record' sh -c 'nsysx-view -q -k thunk --require zebra s >out'
ok '--require: there is a record' nsysx-view --require zebra s

# Tables.
printf 'name\tstart\tbusbw\nmul\t7\t0.5\n\t8\t\n' >want
nsysx-view -t thunk b >out
same '-t prints one kind with a header row' out want
printf 'name\tstart\njit\\tf\t5\n' >want
nsysx-view -t module s >out
same 'with escapes as in text' out want
printf 'x\n1\n' >want
nsysx-view -t zebra s >out
same '... of an unknown kind' out want
run nsysx-view -t diag s
equal 'a known kind without records has its header' "$(cat "$T_private/out")" "$(printf 'severity\tsource\ttext\tcount')"
equal '... and a warning' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind diag'
fails '-t of several kinds requires a file each' 2 'want -o FILE with a % in its name' nsysx-view -t thunk,module s
fails '... with % in its name' 2 'want -o FILE with a % in its name' nsysx-view -t thunk,module -o one.tsv s
ok '-t of several kinds' nsysx-view -q -t thunk,diag,module -o 'of %.tsv' s
for kind in thunk diag module; do
	nsysx-view -q -t $kind s >want
	same "has the table of $kind" want "of $kind.tsv"
done

{ printf '#nsysx\t2\n#op\ttype:s\tname:s\tstart:i\tdur:i\n'; for x in 0:5 3:4 10:10 20:0 25:5; do printf 'op\tkernel\tat%s\t%s\t%s\n' "$x" "${x%:*}" "${x#*:}"; done; printf '#end\trecords:i\nend\t5\n'; } >ops
of_time() { nsysx-view -q -t op --time "$1" ops | awk -F'\t' 'NR > 1 { print $2 }' | paste -sd ' '; }
equal '--time keeps records that overlap the window, excluding its end' "$(of_time 6ns:10ns)" 'at3:4'
equal '... records that begin in it' "$(of_time 20ns:25ns)" 'at20:0'
equal '... with several windows, records that overlap one' "$(of_time 0ns:3ns,27ns:)" 'at0:5 at25:5'
equal 'all' "$(of_time :)" 'at0:5 at3:4 at10:10 at20:0 at25:5'
fails '--time requires A:B' 2 'want A:B with A before B' nsysx-view -t op --time 5:3 ops
fails '--time requires a stream' 2 '--time goes with --table' nsysx-view --time 3:5 ops
fails '-t excludes a stream' 2 '--table is text' nsysx-view -b -t thunk s
fails '-t and -k exclude each other' 2 '--kinds, --table and --schema exclude each other' nsysx-view -t thunk -k thunk s
printf "x\n1\n" >want
NSYSX_FORMAT=binary nsysx-view -t zebra s >out
same "NSYSX_FORMAT does not apply to tables" out want
fails '-t of a cut stream' 1 'cut short' sh -c 'head -n 4 s | nsysx-view -t thunk >out'

# Other forms have the same cells.
printf '#nsysx\t2\n#thunk\tname:s\tstart:i\tbusbw:f\nthunk\ta,"b"\\n\\tc\t7\t0.5\nthunk\t\t-8\t\nthunk\td\t9\tnan\n#range\tname:s\n#end\trecords:i\nend\t3\n' >cells
nsysx-view -t thunk --json cells >out
equal '--json' "$(cat out)" '[
{"name": "a,\"b\"\n\tc", "start": 7, "busbw": 0.5},
{"name": null, "start": -8, "busbw": null},
{"name": "d", "start": 9, "busbw": null}
]'
printf 'name,start,busbw\r\n"a,""b""\n\tc",7,0.5\r\n,-8,\r\nd,9,nan\r\n' >want
nsysx-view -t thunk --csv cells >out
same '--csv' out want
nsysx-view -t thunk --aligned cells >out
equal '--aligned: texts to the left, numbers to the right' "$(cat out)" 'name        start   busbw
a,"b"\n\tc      7  0.5000
-              -8       -
d               9     nan'
nsysx-view -t thunk --tsv cells >out
nsysx-view -t thunk cells >want
same '--tsv is what a pipe gets' out want
equal 'a kind without records: --json' "$(nsysx-view -q -t range --json cells | tr -d '\n')" '[]'
equal '... and --csv' "$(nsysx-view -q -t range --csv cells)" "$(printf 'name\r')"
equal '--top cuts them' "$(nsysx-view -t thunk --json --top 1 cells | grep -c '^{') $(nsysx-view -t thunk --csv --top 2 cells | tail -n 1 | tr -d '\r') $(nsysx-view -t thunk --aligned --top 1 cells | tail -n 1)" '1 ,-8, ... and 2 more: --top 0'
for form in json csv aligned; do
	ok "--$form of several kinds" nsysx-view -q -t thunk,range --$form -o '%.form' cells
	nsysx-view -q -t thunk --$form cells >want
	same '... a file each' thunk.form want
	fails "--$form and --require" 1 'out.form: no module record' nsysx-view -t thunk --$form --require module -o out.form cells
	ok '... a record that is there' nsysx-view -t thunk --$form --require thunk -o out.form cells
	fails "--$form of a cut stream" 1 'cut short' sh -c "head -n 4 cells | nsysx-view -t thunk --$form >half"
done
nsysx-view -t thunk --json -z cells | zstd -dc >out
nsysx-view -t thunk --json cells >want
same '--json, compressed' out want
{ printf '#nsysx\t2\n#diag\tseverity:s\tsource:s\ttext:s\tcount:i\n'
	for i in 0 1 2 3 4 5 6 7 8 9; do printf 'diag\twarning\tnsysx-extract: r%s\tdropped after 1.%s us\t2\ndiag\tinfo\tnsysx-extract\tseen\t1\n' $i $i; done
	printf '#end\trecords:i\nend\t20\n'; } >diags
equal '--aligned: what many reports say alike is one row' "$(nsysx-view -t diag --aligned diags | sed 's/  */ /g' | tr '\n' '|')" \
	'severity source text count|warning nsysx-extract: r0, r1, r2 and 7 others dropped after N us 20|info nsysx-extract seen 10|'
equal '... and --top counts such rows' "$(nsysx-view -t diag --aligned --top 1 diags | sed 's/  */ /g' | tr '\n' '|')" \
	'severity source text count|warning nsysx-extract: r0, r1, r2 and 7 others dropped after N us 20|... and 1 more: --top 0|'
{ sed '/^#end/,$d' diags; printf 'diag\tnotice\tnsysx-extract: r0\tof a later version\t3\n#end\trecords:i\nend\t21\n'; } >notice
equal 'a severity that is not known is shown as it is' "$(nsysx-view -t diag --aligned notice | sed 's/  */ /g' | grep 'later')" \
	"$(printf 'notice nsysx-extract: r0 of a later version 3')"
equal '... besides the others' "$(nsysx-view -t diag --aligned notice | grep -v later | sed 's/  */ /g')" "$(nsysx-view -t diag --aligned diags | sed 's/  */ /g')"
equal 'in other forms each has its own' "$(nsysx-view -t diag diags | grep -c warning) $(nsysx-view -t diag --json diags | grep -c warning)" '10 10'
fails '--aligned is not compressed' 2 'is not compressed' nsysx-view -t thunk --aligned -z cells
fails 'one form' 2 'exclude each other' nsysx-view -t thunk --json --csv cells
fails 'forms are those of a table' 2 'go with --table' nsysx-view --json cells

# Partial streams.
grep '^thunk' s >part
fails 'records alone are not a stream' 1 'not an nsysx stream' nsysx-view part
printf 'thunk\t1\t2\t3\t0\t4\t0\tmul\t70\t1\t\t60\t2\t1\t0\t9\t0\n' >part
run nsysx-view --partial part
equal '--partial accepts records of known kinds' "$(cut -f 1,2,9 "$T_private/out" | tail -n 3 | tr '\t\n' ' ,')" 'thunk 1 70,#end records:i,end 1,'
run nsysx-view --partial /dev/null
equal '... even none' "$(cat "$T_private/out")" "$(printf '#nsysx\t2\n#end\trecords:i\nend\t0')"
grep -v '^end' s >part
run nsysx-view --partial part
cp "$T_private/out" out
printf 'x' >>part
fails 'an incomplete line is refused' 1 'part: cut short in line 11' sh -c 'nsysx-view --partial part >half'
same 'without end it is complete' out s
fails 'unknown kinds require a header' 1 'record of kind zebra before its header' sh -c 'grep ^zebra s | nsysx-view --partial >none'

# The schema.
run nsysx-view --schema
equal 'the schema is a table' "$(awk -F'\t' 'NF != 5 || (NR > 1 && ($5 == "" || $3 !~ /^[ifs]?$/))' "$T_private/out")" ''
equal '... of kinds and their columns' "$(awk -F'\t' '$2 == "" && NR > 1 { k = k " " $1 } $1 == "skew" && $2 { c = c " " $2 ":" $3 } END { print k ";" c }' "$T_private/out")" \
	' profile device thread communicator clock program alias groups stack inst loc compile overhead call os off gil sample module range thunk op collective step idle metric memory skew diag end; device:i program:i execution:i inst:i occurrence:i name:s skew:f'
equal 'times are nanoseconds' "$(awk -F'\t' '$2 ~ /start$|dur$|^hidden$|^start_utc$/ && $4 != "ns"' "$T_private/out")" ''
fails '--schema takes no file' 2 '--schema reads no FILE' nsysx-view --schema s
# Controls for terminals are in no output: U+009B, U+202E, U+2066 and U+200F in the name of a kernel and of a file.
evil=$(printf 'k\302\233m\342\200\256x\342\201\246y\342\200\217z')
printf '#nsysx\t2\n#op\tprofile:i\tdevice:i\tname:s\ttype:s\tstart:i\tdur:i\nop\t0\t0\t%s\tkernel\t0\t5\n#end\trecords:i\nend\t1\n' "$evil" >"$T/evil"
steers() { LC_ALL=C grep -c "$(printf '\302\233')\|$(printf '\342\200\256')\|$(printf '\342\201\246')\|$(printf '\342\200\217')"; }
shown='k\\xC2\\x9Bm\\xE2\\x80\\xAEx\\xE2\\x81\\xA6y\\xE2\\x80\\x8Fz'
equal 'the stream has such names' "$(steers <"$T/evil")" 1
nsysx-view "$T/evil" >"$T/out"
equal 'nsysx-view escapes them' "$(steers <"$T/out") $(grep -cF "$(printf "$shown")" "$T/out")" '0 1'
nsysx-view -b "$T/evil" | nsysx-view -b >"$T/once"
nsysx-view -b "$T/out" >"$T/twice"
same '... and they are unchanged when read' "$T/once" "$T/twice"
for form in '' --table; do
	nsysx-summary -q --by kernel $form "$T/evil" >"$T/out"
	equal "a table escapes them${form:+, $form}" "$(steers <"$T/out") $(grep -cF "$(printf "$shown")" "$T/out")" '0 1'
done
nsysx-view "$T/$evil" 2>"$T/err"
equal 'a message escapes them' "$(steers <"$T/err") $(grep -c 'k??m???x???y???z: No such file' "$T/err")" '0 1'
nsysx-fold -q --by kernel "$T/evil" >"$T/out"
equal 'folded stacks escape them' "$(steers <"$T/out")" 0

# Filters in one process: the bytes of a pipeline of their programs, and what these say.
cd "$T" || exit 1
make_job through --processes 2 --devices 2 --steps 4
with_exports through nsysx-extract -q -a -b -o all.nsysx
for chain in align,warmup,overlap,collectives align,overlap warmup,collectives overlap collectives; do
	set -- $(echo "$chain" | tr , ' ')
	cp all.nsysx piped.nsysx
	for f; do "nsysx-$f" -v -b <piped.nsysx >next.nsysx 2>>said && mv next.nsysx piped.nsysx || break; done
	ok "--through=$chain runs" nsysx-view -v -b --through="$chain" -o chained.nsysx all.nsysx
	nsysx-view piped.nsysx >piped
	nsysx-view chained.nsysx >chained
	same "--through=$chain is the pipeline" chained piped
done
for f in align warmup overlap collectives; do echo "nsysx-$f"; done >chain
nsysx-align -v -b all.nsysx 2>said | nsysx-warmup -v -b 2>>said | nsysx-overlap -v -b 2>>said | nsysx-collectives -v -b 2>>said >piped.nsysx
run nsysx-view -v -b --through=align,warmup,overlap,collectives -o chained.nsysx all.nsysx
cp "$T_private/err" told
ok '... bytes, too' cmp piped.nsysx chained.nsysx
sort said >a
sort told >b
same '... and what is said' b a
ok '... something is' grep -q '^nsysx-warmup: ' told
nsysx-view -b all.nsysx | head -c 20000 >cut.nsysx
fails 'a stream that is cut short is refused, by the first filter' 1 'nsysx-warmup: cut.nsysx: cut short' nsysx-view -b --through=warmup,overlap -o nothing cut.nsysx
ok '... and nothing is written' test ! -e nothing
nsysx-view all.nsysx | awk -F'\t' -v OFS='\t' '$1 == "op" && !n++ { keep = $0; next } { print } keep != "" && /^op/ && n++ == 40 { print keep; keep = "" }' >odd
fails 'so is one that is not in order' 1 'out of order: op at' nsysx-view -b --through=overlap,collectives -o none odd
fails 'align is the first' 1 'align: can only be the first' nsysx-view --through=overlap,align all.nsysx
fails 'other filters are not known' 2 'warmpu is no filter that it knows; did you mean warmup?' nsysx-view --through=warmpu all.nsysx
fails 'it goes with no table' 2 '--through goes with' nsysx-view --through=warmup -t op all.nsysx

done_testing
