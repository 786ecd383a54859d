#!/bin/sh
# nsysx-view against its manual page.
. "${0%/*}/../testlib.sh"

printf '#nsysx\t2\n#module\tname:s\tstart:i\nmodule\tjit\\tf\t5\n#thunk\tname:s\tstart:i\tbusbw:f\nthunk\tmul\t7\t0.5\nthunk\t\t8\t\n#zebra\tx:i\nzebra\t1\n#range\tname:s\n#end\trecords:i\nend\t4\n' >"$T/s"
cd "$T" || exit 1

# Encodings.
nsysx-view s >out
same 'text is what it was' out s
nsysx-view -b s >b
nsysx-view b >out
same 'binary and back is what it was' out s
nsysx-view -b b >out
same 'binary again is the same binary' out b
equal 'binary begins with its mark' "$(head -c 9 b | od -An -tx1 | tr -d ' \n')" 0a090a056e73797378
NSYSX_FORMAT=binary nsysx-view s >out
same 'NSYSX_FORMAT=binary is -b' out b
NSYSX_FORMAT=binary nsysx-view --text b >out
same '--text is stronger than NSYSX_FORMAT' out s
fails 'NSYSX_FORMAT is one of two words' 2 'NSYSX_FORMAT: want text or binary, got "tsv"' env NSYSX_FORMAT=tsv nsysx-view s
nsysx-view -z s | zstd -dc >out
same '-z is zstd' out s
nsysx-view -b -z19 s | zstd -dc >out
same '-z19 -b is binary under zstd' out b
nsysx-view -z s >z
equal 'one frame, with a checksum' "$(zstd -lv z 2>/dev/null | grep -c -e 'Number of files listed: 1' -e 'Zstandard Frames: 1' -e 'Check: XXH64')" 2
nsysx-view z >out
same 'compressed is read like any other' out s
zstd -q s -o own.zst
nsysx-view own.zst >out
same 'so is what zstd compressed' out s
fails 'a level that zstd does not have' 2 'want a level from 1 to 19' nsysx-view -z20 s
fails 'a level that is none' 2 'want a level from 1 to 19' nsysx-view -zfast s
nsysx-view <s >out
same 'standard input is read without FILE' out s
nsysx-view - <b >out
same 'and as -' out s
ok 'a file is written' nsysx-view -o new s
same 'whole' new s
fails 'one FILE at most' 2 'one FILE at most' nsysx-view s s
(nsysx-view s; echo "status $?" >&2) 2>err | head -n 1 >out
equal 'a closed pipe is no message' "$(grep -v status err)" ''

# Selection.
printf '#nsysx\t2\n#thunk\tname:s\tstart:i\tbusbw:f\nthunk\tmul\t7\t0.5\nthunk\t\t8\t\n#range\tname:s\n#end\trecords:i\nend\t2\n' >want
run nsysx-view -q -k range,thunk s
cp "$T_private/out" out
same '-k keeps kinds in the order of the stream, with their headers' out want
run nsysx-view -k thunk,modul s
equal 'a kind without a record is named' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind modul, which this version does not know; did you mean module?'
equal 'and is no failure' "$status" 0
run nsysx-view -k op s
equal 'a known kind, too' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind op: extract with --ops'
run nsysx-view -t thunks s
equal 'a table of one that was meant' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind thunks, which this version does not know; did you mean thunk?'
run nsysx-view -t zebras s
equal 'of the stream, too' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind zebras, which this version does not know; did you mean zebra?'
run nsysx-view -t nothing s
equal 'or of none' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind nothing, which this version does not know'
fails '-k wants names' 2 'want names of kinds, got ""' nsysx-view -k '' s
fails '-k wants names between commas' 2 'want names of kinds' nsysx-view -k 'a,,b' s
fails '--require' 1 'standard output: no zebra record' sh -c 'nsysx-view -q -k thunk --require zebra s >out'
ok '--require of what is there' nsysx-view --require zebra s

# Tables.
printf 'name\tstart\tbusbw\nmul\t7\t0.5\n\t8\t\n' >want
nsysx-view -t thunk b >out
same '-t prints one kind with a row of names' out want
printf 'name\tstart\njit\\tf\t5\n' >want
nsysx-view -t module s >out
same 'with escapes as in text' out want
printf 'x\n1\n' >want
nsysx-view -t zebra s >out
same 'of an unknown kind, too' out want
run nsysx-view -t diag s
equal 'a known kind without records has its names' "$(cat "$T_private/out")" "$(printf 'severity\tsource\ttext\tcount')"
equal 'and a warning' "$(cat "$T_private/err")" 'nsysx-view: warning: s: no record of kind diag'
fails '-t of several kinds wants a file each' 2 'want -o FILE with a % in its name' nsysx-view -t thunk,module s
fails 'named for the kind' 2 'want -o FILE with a % in its name' nsysx-view -t thunk,module -o one.tsv s
ok '-t of several kinds' nsysx-view -q -t thunk,diag,module -o 'of %.tsv' s
for kind in thunk diag module; do
	nsysx-view -q -t $kind s >want
	same "has the table of $kind" want "of $kind.tsv"
done

{ printf '#nsysx\t2\n#op\ttype:s\tname:s\tstart:i\tdur:i\n'; for x in 0:5 3:4 10:10 20:0 25:5; do printf 'op\tkernel\tat%s\t%s\t%s\n' "$x" "${x%:*}" "${x#*:}"; done; printf '#end\trecords:i\nend\t5\n'; } >ops
of_time() { nsysx-view -q -t op --time "$1" ops | awk -F'\t' 'NR > 1 { print $2 }' | paste -sd ' '; }
equal '--time keeps what overlaps it, its end left out' "$(of_time 6ns:10ns)" 'at3:4'
equal 'or what begins in it' "$(of_time 20ns:25ns)" 'at20:0'
equal 'of several, what overlaps one' "$(of_time 0ns:3ns,27ns:)" 'at0:5 at25:5'
equal 'all' "$(of_time :)" 'at0:5 at3:4 at10:10 at20:0 at25:5'
fails '--time is from A to B' 2 'want A:B with A before B' nsysx-view -t op --time 5:3 ops
fails '--time goes with tables' 2 '--time goes with --table' nsysx-view --time 3:5 ops
fails '-t is no stream' 2 '--table is text' nsysx-view -b -t thunk s
fails '-t and -k exclude each other' 2 '--kinds, --table and --schema exclude each other' nsysx-view -t thunk -k thunk s
printf "x\n1\n" >want
NSYSX_FORMAT=binary nsysx-view -t zebra s >out
same "NSYSX_FORMAT does not concern tables" out want
fails '-t of a cut stream' 1 'cut short' sh -c 'head -n 4 s | nsysx-view -t thunk >out'

# Partial streams.
grep '^thunk' s >part
fails 'records alone are no stream' 1 'not an nsysx stream' nsysx-view part
printf 'thunk\t1\t2\t3\t0\t4\t0\tmul\t70\t1\t\t60\t2\t1\t0\t9\n' >part
run nsysx-view --partial part
equal 'with --partial records of known kinds are' "$(cut -f 1,2,9 "$T_private/out" | tail -n 3 | tr '\t\n' ' ,')" 'thunk 1 70,#end records:i,end 1,'
run nsysx-view --partial /dev/null
equal 'even none' "$(cat "$T_private/out")" "$(printf '#nsysx\t2\n#end\trecords:i\nend\t0')"
grep -v '^end' s >part
run nsysx-view --partial part
cp "$T_private/out" out
printf 'x' >>part
fails 'half a line is never taken' 1 'part: cut short in line 11' sh -c 'nsysx-view --partial part >half'
same 'without end it is whole' out s
fails 'unknown kinds need a header' 1 'record of kind zebra before its header' sh -c 'grep ^zebra s | nsysx-view --partial >none'

# The schema.
run nsysx-view --schema
equal 'the schema is a table' "$(awk -F'\t' 'NF != 5 || (NR > 1 && ($5 == "" || $3 !~ /^[ifs]?$/))' "$T_private/out")" ''
equal 'with the kinds and their columns' "$(awk -F'\t' '$2 == "" && NR > 1 { k = k " " $1 } $1 == "skew" && $2 { c = c " " $2 ":" $3 } END { print k ";" c }' "$T_private/out")" \
	' profile device communicator clock program alias groups stack inst loc compile overhead call module range thunk op collective skew diag end; device:i program:i execution:i inst:i occurrence:i name:s skew:f'
equal 'times are nanoseconds' "$(awk -F'\t' '$2 ~ /start$|dur$|^hidden$|^start_utc$/ && $4 != "ns"' "$T_private/out")" ''
fails '--schema reads nothing' 2 '--schema reads no FILE' nsysx-view --schema s
# What steers a terminal is in no output: U+009B, U+202E, U+2066 and U+200F in the name of a kernel and of a file.
evil=$(printf 'k\302\233m\342\200\256x\342\201\246y\342\200\217z')
printf '#nsysx\t2\n#op\tprofile:i\tdevice:i\tname:s\ttype:s\tstart:i\tdur:i\nop\t0\t0\t%s\tkernel\t0\t5\n#end\trecords:i\nend\t1\n' "$evil" >"$T/evil"
steers() { LC_ALL=C grep -c "$(printf '\302\233')\|$(printf '\342\200\256')\|$(printf '\342\201\246')\|$(printf '\342\200\217')"; }
shown='k\\xC2\\x9Bm\\xE2\\x80\\xAEx\\xE2\\x81\\xA6y\\xE2\\x80\\x8Fz'
equal 'the stream is such' "$(steers <"$T/evil")" 1
nsysx-view "$T/evil" >"$T/out"
equal 'nsysx-view escapes it' "$(steers <"$T/out") $(grep -cF "$(printf "$shown")" "$T/out")" '0 1'
nsysx-view -b "$T/evil" | nsysx-view -b >"$T/once"
nsysx-view -b "$T/out" >"$T/twice"
same 'and the name is the same' "$T/once" "$T/twice"
for form in '' --table; do
	nsysx-summary -q --by kernel $form "$T/evil" >"$T/out"
	equal "so does a table${form:+, $form}" "$(steers <"$T/out") $(grep -cF "$(printf "$shown")" "$T/out")" '0 1'
done
nsysx-view "$T/$evil" 2>"$T/err"
equal 'and a message' "$(steers <"$T/err") $(grep -c 'k??m???x???y???z: No such file' "$T/err")" '0 1'
nsysx-fold -q --by kernel "$T/evil" >"$T/out"
equal 'and folded stacks' "$(steers <"$T/out")" 0

done_testing
