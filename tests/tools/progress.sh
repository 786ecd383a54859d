#!/bin/sh
# The progress line: when it is drawn, that it is correct, that it is erased; and where it is not drawn.
. "${0%/*}/../testlib.sh"

python3 -c 'import os, pty; os.waitstatus_to_exitcode' 2>/dev/null || skip_all 'no python3 of 3.9 or later, which makes terminals'
python3 -c 'import pty; pty.openpty()' 2>/dev/null || skip_all 'no terminal can be made here (/dev/pts)'
TERM=xterm
export TERM

"$SYNTH" -q -o "$T/job" || exit 1
nsysx-extract -q -o "$T/small.nsysx" "$T/job/r0.sqlite" "$T/job/r1.sqlite"
# The same with each thunk many times: more than a pipe and a reader buffer.
awk -F'\t' '$1 == "end" { printf "end\t%d\n", n } $1 == "end" { next } { print } !/^#/ { n++ } $1 == "thunk" { for (i = 0; i < 60; i++) { print; n++ } }' \
	"$T/small.nsysx" >"$T/big.nsysx"
cd "$T" || exit 1
size=$(wc -c <big.nsysx)
mkfifo full

# on NAME COLUMNS COMMAND: run concurrently with the others.
on() {
	python3 "$tests_dir/tools/progress/terminal.py" "$2" "$1" "$3" &
}
# A slow reader.
slow='{ sleep 2.2; cat; }'
# A slow writer.
late='{ head -c 700000 big.nsysx; sleep 2.8; tail -c +700001 big.nsysx; }'

on file 100 "nsysx-view big.nsysx | $slow >file.out"
on narrow 40 "nsysx-view big.nsysx | $slow >/dev/null"
on quiet 100 "nsysx-view -q big.nsysx | $slow >/dev/null"
on off 100 "NSYSX_PROGRESS=0 nsysx-view big.nsysx | $slow >/dev/null"
on dumb 100 "TERM=dumb nsysx-view big.nsysx | $slow >/dev/null"
on elsewhere 100 "nsysx-view big.nsysx 2>elsewhere.err | $slow >/dev/null"
on pipe 100 "$late | nsysx-fold >pipe.out"
on shown 1000 "$late | nsysx-fold"
on line 100 "nsysx-view big.nsysx | $slow | nsysx-fold -o line.out"
on view 1000 "nsysx-view big.nsysx | $slow | nsysx-view -k module,thunk"
on killed 100 "exec 3>&2 2>/dev/null; sleep 4 <full & nsysx-view big.nsysx >full 2>&3 & sleep 2; kill \$!; wait"
on warned 100 "nsysx-view big.nsysx | $slow >/dev/null & sleep 1.7; NSYSX_PROGRESS= nsysx-fold small.nsysx >/dev/null; wait"
on stopped 100 "nsysx-view big.nsysx | sleep 2.2"
wait

# What a pipeline shows once, drawn or not.
quick=$(sh -c "nsysx-fold big.nsysx 2>&1")

claim='a file: percentage, bytes, of how many'
if grep -Eq '^nsysx-view: big.nsysx: [0-9]+ %  [0-9.]+ [kM]B of [0-9.]+ MB' file.frames; then pass "$claim"; else fail "$claim" "$(cat -v file.raw)"; fi
equal 'the percentage is that of the bytes' "$(sed -n '1s/.*: \([0-9]*\) %  \([0-9.]*\) \([kM]\)B of .*/\1 \2 \3/p' file.frames |
	awk -v size="$size" '{ b = $2 * ($3 == "k" ? 1e3 : 1e6); p = 100 * b / size; print (p - $1 > -1 && p - $1 < 1.5) }')" 1
equal 'not within the first second' "$(awk '{ print ($1 >= 1) }' file.times)" 1
equal 'five times a second at most' "$(awk 'NR == FNR { took = $2; next } { n++ } END { print (n >= 1 && n <= 5 * took + 1) }' file.times file.frames)" 1
equal 'it is erased at the end' "$(cat file.screen)" ''
same 'the output is unchanged' file.out big.nsysx
equal 'a narrow terminal' "$(awk 'length > 39 { n++ } END { print (NR > 0), n + 0 }' narrow.frames)" '1 0'
equal 'with -q nothing is drawn' "$(cat quiet.raw)" ''
equal '... nor with NSYSX_PROGRESS=0' "$(cat off.raw)" ''
equal '... nor on a terminal that cannot erase' "$(cat dumb.raw)" ''
equal '... nor in a file' "$(cat elsewhere.raw elsewhere.err)" ''

claim='a pipe: records and their rate'
if grep -Eq '^nsysx-fold: [0-9.]+ k records  [0-9.]+( k)?/s$' pipe.frames; then pass "$claim"; else fail "$claim" "$(cat -v pipe.raw)"; fi
equal 'not within the first two seconds, for readers of files' "$(awk '{ print ($1 >= 2) }' pipe.times)" 1
equal 'messages have their own line' "$(cat pipe.screen)" "$(nsysx-fold big.nsysx 2>&1 >/dev/null)"
equal 'output on the terminal has its own line' "$(sort shown.screen)" "$(printf '%s\n' "$quick" | sort)"
equal '... in place of the progress line' "$(grep -c '^nsysx-fold: .* records' shown.frames | awk '{ print ($1 > 0) }')" 1

equal 'in a pipeline only the tool that reads the file draws' "$(sed 's/:.*//' line.frames | uniq | head -n 1) $(sed 's/:.*//' line.frames | uniq | sort | uniq -d)" 'nsysx-view '
equal 'nothing of it remains' "$(cat line.screen)" "$(nsysx-fold big.nsysx 2>&1 >/dev/null)"
equal 'output on the terminal is not interrupted' "$(cat view.screen | tr '\t' ' ' | cksum)" "$(nsysx-view -k module,thunk big.nsysx | tr '\t' ' ' | cksum)"

equal 'a signal erases the line' "$(grep -c . killed.frames | awk '{ print ($1 > 0) }') $(cat killed.screen)" '1 '
equal 'a closed pipe erases the line' "$(grep -c . stopped.frames | awk '{ print ($1 > 0) }') $(cat stopped.screen)" '1 '
equal "messages of other programs begin a line" "$(grep -c . warned.frames | awk '{ print ($1 > 1) }') $(cat warned.screen)" "1 $(nsysx-fold small.nsysx 2>&1 >/dev/null)"

# Forced: lines with the progress, on any standard error.
ends() {
	tr '\r' '\n' <"$1" | sed -n 's/.\[K$//; s/ *[0-9]* s left//; / %  /h; ${ g; p; }'
}
# Bytes in the text of the line.
said() {
	awk -v n="$1" 'BEGIN {
		unit = n < 999500 ? "kB" : "MB"
		n /= n < 999500 ? 1000 : 1000000
		printf (n >= 99.95 ? "%.0f %s" : n >= 9.995 ? "%.1f %s" : "%.2f %s"), n, unit
	}'
}
both=$(said "$(cat job/r0.sqlite job/r1.sqlite | wc -c)")
NSYSX_PROGRESS=1 nsysx-extract job/r0.sqlite job/r1.sqlite >forced.nsysx 2>err
equal 'all bytes of exports are counted' "$(ends err)" "nsysx-extract: 2 files: 100 %  $both of $both"
same '... with the same output' forced.nsysx small.nsysx
NSYSX_PROGRESS=1 nsysx-extract --spool job/r0.sqlite job/r1.sqlite >forced.nsysx 2>err
same '... and with temporary files' forced.nsysx small.nsysx
equal 'whose bytes are counted too' "$(ends err | sed 's/  .*//')" 'nsysx-extract: 2 files: 100 %'
bytes=$(wc -c <small.nsysx)
once=$(said "$bytes") twice=$(said $((2 * bytes)))
NSYSX_PROGRESS=1 nsysx-align small.nsysx 2>err >/dev/null
equal 'align reads a file twice' "$(ends err)" "nsysx-align: small.nsysx: second pass 100 %  $twice of $twice"
NSYSX_PROGRESS=1 nsysx-merge small.nsysx 2>err >/dev/null
equal 'merge reads it once' "$(ends err)" "nsysx-merge: small.nsysx: 100 %  $once of $once"
i=0
while [ $i -lt 120 ]; do
	i=$((i + 1))
	ln -s small.nsysx "part$i.nsysx"
done
NSYSX_PROGRESS=1 nsysx-merge --force part*.nsysx 2>err >/dev/null
equal 'more files than are opened at once: the total is known from the start' "$(ends err | sed 's/  .*//') $(tr '\r' '\n' <err | grep -c " of 68.1 kB")" 'nsysx-merge: 120 files: 100 % 0'
NSYSX_PROGRESS=1 nsysx-merge -q small.nsysx 2>err >/dev/null
equal '-q is stronger' "$(cat err)" ''
NSYSX_PROGRESS=1 nsysx-heap job/dump0 2>err >/dev/null
equal 'dumps of a folder' "$(ends err | sed 's/  .*//')" 'nsysx-heap: dump0: 100 %'
NSYSX_PROGRESS=1 nsysx-summary <small.nsysx 2>err >/dev/null
equal 'a file as standard input has a size, and no name' "$(ends err)" "nsysx-summary: 100 %  $once of $once"
fails 'NSYSX_PROGRESS must be 0 or 1' 2 'NSYSX_PROGRESS: want 0 or 1, got "yes"' env NSYSX_PROGRESS=yes nsysx-view small.nsysx
done_testing
