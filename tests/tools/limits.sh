#!/bin/sh
# Inputs at the limits: times and sums beyond 64 bits, negative durations, names of any bytes and any length, a million of them,
# nesting, and files that unpack to too much. Each gives the right result, or a message with the reason.
. "${0%/*}/../testlib.sh"

M=9223372036854775807
make() { python3 limits/make.py "$@" || exit 1; }
# kib CMD...: the peak memory of a command.
kib() { python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"; }
# A claim about memory, skipped with sanitizers. below CLAIM MIB CMD...
below() {
	claim=$1 mib=$2
	shift 2
	case $B in
	*san*) skip "$claim" 'sanitizers take memory of their own' ;;
	*) ok "$claim" test "$(kib "$@")" -lt $((mib * 1024)) ;;
	esac
}

# ---- times

# A stream: executions of a program, each a module, a range, a computation, a collective and an operation of one start and duration.
# stream START DUR [START DUR]... >FILE
stream() {
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t0\tr0\n#device\tdevice:i\tprofile:i\tlocal:i\tknown:i\ndevice\t0\t0\t0\t1\n'
	printf '#program\tprogram:i\tid:i\tname:s\tkey:s\nprogram\t0\t7\tstep\tstep@7\n#alias\tprofile:i\tprogram:i\tid:i\nalias\t0\t0\t7\n'
	printf '#inst\tprogram:i\tinst:i\tname:s\topcode:s\tcomm:i\tcollective:s\tbytes:i\ninst\t0\t0\ta\tfusion\t\t\t\ninst\t0\t1\tar\tall-reduce\t1\tall-reduce\t1000\n'
	printf '#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i\tthunks:i\tname:s\n#range\tprofile:i\trange:i\tlevel:i\tname:s\tstart:i\tdur:i\thost_start:i\thost_dur:i\tops:i\n'
	printf '#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\toccurrence:i\tname:s\tstart:i\tdur:i\tcomm:i\tops:i\n#op\tprofile:i\top:i\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\tprogram:i\texecution:i\n'
	n=0
	while [ $# -gt 1 ]; do
		printf 'module\t0\t0\t%s\t0\t%s\t%s\t2\tstep\nrange\t0\t%s\t0\tr\t%s\t%s\t%s\t%s\t1\n' $n "$1" "$2" $n "$1" "$2" "$1" "$2"
		printf 'thunk\t0\t0\t%s\t0\t0\t0\ta\t%s\t%s\t\t1\nthunk\t0\t0\t%s\t0\t1\t0\tar\t%s\t%s\t1\t1\nop\t0\t%s\tkernel\t0\tk\t%s\t%s\t0\t%s\n' \
			$n "$1" "$2" $n "$1" "$2" $n "$1" "$2" $n
		n=$((n + 1))
		shift 2
	done
	printf '#end\trecords:i\nend\t0\n'
}
tables='fold --by module
fold --by opcode
fold --by kernel
summary --by module
summary --by thunk
summary --by opcode
summary --by collective
summary --by device
summary --by total
summary --by range
summary --by kernel'

# The longest that count: 73 years.
L=$((1 << 61))
stream 0 $L 1 $L 2 $L 3 $L >"$T/much"
while read -r tool options; do
	# shellcheck disable=SC2086
	fails "sums beyond 64 bits are refused: $tool $options" 1 'exceeds 64 bits' nsysx-$tool -q $options "$T/much"
done <<END
$tables
END
# Four that fit together, up to the last nanosecond, and two that tables do not count.
stream 0 $L 1 $L 2 $L 3 $((L - 1)) >"$T/four"
stream 0 4000000000000000000 4000000000000000000 5223372036854775807 >"$T/most"
equal 'a sum of 2^63 - 1 is exact: summary' "$(nsysx-summary -q --by kernel "$T/four" | awk -F'\t' 'NR == 2 { print $4 }')" $M
equal 'longer ones than 73 years are not counted' "$(nsysx-summary --by kernel "$T/most" 2>&1 | tail -n +1 | grep -c 'kernel	\|beyond 73 years: ignored (2)')" 1
equal 'a sum of 2^63 - 1 is exact: fold' "$(nsysx-fold -q --by kernel "$T/most")" "[no NVTX range];k $M"
equal '... of operations' "$(nsysx-measure -q --module step "$T/most" | cut -f 5,6 | sed 1d | tr '\t\n' '  ')" '4000000000000000000 4000000000000000000 5223372036854775807 5223372036854775807 '
equal '... of hidden time' "$(nsysx-overlap "$T/most" | nsysx-view -t thunk | awk -F'\t' '$10 == 1 { print $12 }' | tr '\n' ' ')" '4000000000000000000 5223372036854775807 '

# All tools that use ends report one beyond 64 bits. 5 records each; tables count those that they read.
beyond='records that end beyond 63 bits'
stream 10 100 $((M - 50)) 100 >"$T/late"
stream 10 100 $((M - 50)) 50 >"$T/last"
# A count of 1 is not printed.
for tool in overlap:5 collectives:5 'collectives --summary:3' warmup:5 'measure --module step:2' stragglers:3 'summary --by device:4'; do
	n=" (${tool#*:})" tool=${tool%:*}
	[ "$n" != ' (1)' ] || n=
	# shellcheck disable=SC2086
	nsysx-$tool "$T/late" 2>&1 >"$T/out" | grep -c "$beyond.*clamped to the maximum$n\$" >"$T/got"
	# shellcheck disable=SC2086
	nsysx-$tool "$T/last" 2>&1 >"$T/out" | grep -c "$beyond" >>"$T/got"
	equal "an end beyond 63 bits is reported: $tool" "$(tr '\n' ' ' <"$T/got")" '1 0 '
done
equal '... and in the stream' "$(nsysx-overlap -q "$T/late" | awk -F'\t' '$1 == "diag" && /beyond 63 bits/ { print $NF }')" 5
nsysx-view "$T/late" >"$T/out" 2>"$T/err"
sed '$d' "$T/late" >"$T/want"
sed '$d' "$T/out" >"$T/got"
same 'nsysx-view shows such records without a diag' "$T/want" "$T/got"
equal '... and nothing on standard error' "$(cat "$T/err")" ''

# A negative duration counts nowhere, which is reported.
stream 0 100 1000 -50 2000 100 >"$T/negative"
while read -r tool options; do
	# shellcheck disable=SC2086
	nsysx-$tool $options "$T/negative" >"$T/out" 2>"$T/err"
	equal "a negative duration is reported: $tool $options" "$? $(grep -c 'without a duration\|without start or duration' "$T/err" | sed 's/[1-9]/said/')" '0 said'
done <<END
$tables
measure --module step
stragglers
END
equal '... and counts nowhere: kernels' "$(nsysx-summary -q --by kernel "$T/negative" | awk -F'\t' 'NR == 2 { print $3, $4 }')" '2 200'
equal '... and counts nowhere: stacks' "$(nsysx-fold -q --by module --cover 1 "$T/negative" | grep -v idle | tr '\n' ' ')" '[GPU active];step;a 200 [GPU active];step;ar 200 '
nsysx-collectives --summary "$T/negative" >"$T/out" 2>"$T/err"
equal '... and counts nowhere: collectives' "$(awk -F'\t' 'NR == 2 { print $4 }' "$T/out") $(grep -c 'ends before it starts' "$T/err")" '2 1'
equal '... and hides nothing' "$(nsysx-overlap -q "$T/negative" | nsysx-view -t thunk | awk -F'\t' 'NR > 1 { print $12 }' | tr '\n' ' ')" '0 100 0 0 0 100 '

# For any times a tool succeeds or ends with a message.
wrong=
for start in -9223372036854775808 -1 $M; do
	for dur in -9223372036854775808 -1 $M; do
		stream "$start" "$dur" "$start" "$dur" >"$T/extreme"
		while read -r tool options; do
			# shellcheck disable=SC2086
			nsysx-$tool -q $options "$T/extreme" >"$T/out" 2>"$T/err"
			case $? in
			0) ;;
			1) [ -s "$T/err" ] || wrong="$wrong $tool,$start,$dur:silent" ;;
			*) wrong="$wrong $tool,$start,$dur" ;;
			esac
		done <<END
$tables
overlap
warmup
align
collectives
collectives --summary
measure --module step --stats
measure --range r
stragglers
stragglers --curve
stragglers --waits
idle
idle --all
idle --verdict
idle --by module
idle --by execution
idle --by range:r
idle --by step --module step
idle --by step --step r
idle --by every:1000000000s
idle --list 3
idle --folded
launch
launch --by range
copies
copies --by size
steps
steps --step r
steps --module step
merge $T/extreme
view -b
END
	done
done
equal 'for any start and duration a tool succeeds or ends with a message' "$wrong" ''

# ---- names

# An export of one program. SQL $1 adds to it; @name is a kernel's name as an SQL expression, @range a range's.
pid=$((281474976710656 + 111 * 16777216))
export_of() {
	rm -f "$T/e.sqlite"
	sqlite3 "$T/e.sqlite" "
		CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
		INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, $1), (3, $2);
		CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, demangledName INTEGER, shortName INTEGER, correlationId INTEGER, globalPid INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, nameId INTEGER, returnValue INTEGER, globalTid INTEGER, correlationId INTEGER);
		INSERT INTO NVTX_EVENTS VALUES (0, 0, 75, 'TSL', $pid + 1, NULL, NULL, 1), (5, 90, 59, 'XlaModule:#hlo_module=m,program_id=7#', $pid + 1, NULL, NULL, 1),
			(6, 80, 59, 'Thunk:#hlo_op=fusion.1#', $pid + 1, NULL, NULL, 1), (7, 60, 59, NULL, $pid + 1, NULL, 3, 0), (8, 50, 59, $2, $pid + 1, NULL, NULL, 0);
		INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 0, 1, 0, $pid + 1, 5);
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 1, 7, 2, 2, 5, $pid);"
}
# through: $T/text, the export's stream, after both encodings and every filter, in $T/after; status of the last filter.
through() {
	nsysx-extract -q --ranges --ops "$T/e.sqlite" >"$T/text" || return
	nsysx-extract -q -b -z --ranges --ops "$T/e.sqlite" | nsysx-view >"$T/other" && cmp "$T/text" "$T/other" || return
	nsysx-merge -q -b "$T/text" | nsysx-align -q | nsysx-warmup -q -b | nsysx-overlap -q -b -z | nsysx-collectives -q >"$T/after"
}
# Names of kind $1, column $2, in the text stream $3, as bytes in hexadecimal, in order and each once.
named() {
	nsysx-view -q -t "$1" "$3" | python3 -c '
import re, sys
head, *rows = sys.stdin.buffer.read().split(b"\n")[:-1]
at = head.split(b"\t").index(sys.argv[1].encode())
plain = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}
for name in sorted({re.sub(rb"\\(x(..)|.)", lambda m: bytes([int(m[2], 16)]) if m[2] else plain[m[1]], row.split(b"\t")[at]) for row in rows}):
    print(name.hex())' "$2"
}
bytes=$(python3 -c 'print(bytes(range(1, 256)).hex())')
export_of "CAST(x'$bytes' AS TEXT)" "CAST(x'$bytes' AS TEXT)"
through
equal 'names of every byte pass every filter, in both encodings' "$?" 0
equal '... unchanged: kernels' "$(named op name "$T/after")" "$bytes"
equal '... unchanged: ranges' "$(named range name "$T/after" | grep -c "^$bytes\$")" 1
equal 'a name is one field of a table' "$(nsysx-summary -q --tsv --by kernel "$T/after" | awk -F'\t' '{ print NF }' | sort -u)" 9
nsysx-summary -q --json --by kernel "$T/after" >"$T/json"
equal 'and one value of JSON' "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1], encoding="utf-8"))))' "$T/json")" 1
equal 'a stack with it is one line' "$(nsysx-fold -q --by kernel "$T/after" | wc -l | tr -d ' ') $(nsysx-fold -q --by kernel "$T/after" | sed 's/.* //')" '1 100'

python3 -c 'import sys; sys.stdout.write("k" * (1 << 20))' >"$T/long"
export_of "CAST(readfile('$T/long') AS TEXT)" "CAST(readfile('$T/long') AS TEXT) || 'r'"
through
equal 'names of a megabyte pass' "$? $(named op name "$T/after" | wc -c | tr -d ' ')" '0 2097153'
equal '... in tables' "$(nsysx-summary -q --by kernel "$T/after" | awk -F'\t' 'NR == 2 { print length($2) }')" 1048576
nsysx-summary -q --table --by kernel "$T/after" >"$T/out"
equal '... in stacks' "$? $(nsysx-fold -q --by nvtx "$T/after" | awk '{ print (length($0) > 2097152) }')" '0 1'

export_of "''" "''"
through
equal 'empty names are absent' "$? $(named op name "$T/after")$(nsysx-view -t op "$T/after" | awk -F'\t' 'NR == 2 { print $6 }')" '0 '
equal '... and their operations count' "$(nsysx-fold -q --by kernel "$T/after" | sed 's/.* //')" 100

make names "$T/names"
equal 'a million names: a stack for each' "$(nsysx-overlap -q -b "$T/names" | nsysx-fold -q --by module --cover 1 |
	awk '/active/ { n++; sum += $NF } END { print n, sum }')" '1000000 9000000'

# ---- nesting

# Nested ranges, with work in the innermost only.
sqlite3 "$T/e.sqlite" "
	DELETE FROM NVTX_EVENTS; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME;
	INSERT INTO NVTX_EVENTS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100000)
		SELECT i, 1000000 - i, 59, 'r', $pid + 1, NULL, NULL, 0 FROM c;
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500000, 500001, 0, 1, 0, $pid + 1, 5);"
nsysx-extract -q --ranges --ops "$T/e.sqlite" >"$T/deep"
equal 'ranges 100000 deep: the last level' "$(nsysx-view -t range "$T/deep" | cut -f 4 | sed 1d | sort -n | tail -n 1)" 99999
equal 'ranges 100000 deep: one stack of them all' "$(nsysx-fold -q --by nvtx "$T/deep" | awk -F'[; ]' '{ print NF - 1, $NF }')" '100000 100'
# A chain of fusions that call each other, the last one communicates.
export_of "'kernel'" "'range'"
mkdir "$T/dump"
make calls "$T/dump/module_0007.m.sm_9.0_gpu_after_optimizations.hlo.pb"
nsysx-extract -q -x "$T/dump" "$T/e.sqlite" >"$T/calls" 2>"$T/err"
equal 'calls 100000 deep are followed to their end' "$(nsysx-view -t inst "$T/calls" | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["name"], $at["comm"], $at["collective"] }') $(cat "$T/err")" 'fusion.1 1 all-reduce '

# ---- gaps in numbers and in time

make reports "$T/reports"
equal 'operations whose numbers have gaps are all found' "$(nsysx-whatif -q --what=gaps=0 --tsv "$T/reports" | tail -n 1 | cut -f 1-3,7)" \
	"$(printf 'gaps=0\t2000\t1000\t500')"
below '... and the gaps of a thousand reports take little memory' 100 nsysx-whatif -q --tsv "$T/reports"
make pauses "$T/pauses"
case $B in
*san*) skip 'long pauses take time in proportion to their number' 'sanitizers take time of their own' ;;
*) ok 'long pauses take time in proportion to their number' sh -c "ulimit -t 15; nsysx-whatif -q --critical --tsv '$T/pauses' >'$T/out'" ;;
esac
make peaks "$T/peaks"
case $B in
*san*) skip 'the steps of two thousand peaks are found among those of their reports' 'sanitizers take time of their own' ;;
*) ok 'the steps of two thousand peaks are found among those of their reports' sh -c "ulimit -t 6; nsysx-summary -q --memory --tsv '$T/peaks' >'$T/out'" ;;
esac
rm -f "$T/pauses" "$T/peaks"

# ---- lengths, and files that unpack to too much

for what in block huge string; do
	make $what "$T/claims"
	fails "a length beyond the end: $what" 1 "nsysx-view: $T/claims: " nsysx-view "$T/claims"
	below "... allocates no memory: $what" 100 nsysx-view "$T/claims"
done
text_head='#nsysx\t2\n#k\tname:s\n#end\trecords:i\nk\t'
{ printf "$text_head"; head -c 300000000 /dev/zero | tr '\0' x; } | zstd -q >"$T/line.zst"
fails 'a line that unpacks to 300 MB' 1 ':4: a line of more than' nsysx-view "$T/line.zst"
below '... needs at most the memory of the longest line' 700 nsysx-view "$T/line.zst"
{ printf "$text_head"; head -c 100000 /dev/zero | tr '\0' x; } | zstd -q --ultra --long=30 >"$T/window.zst"
fails 'a window of a gigabyte' 1 "$T/window.zst: damaged zstd data" nsysx-view "$T/window.zst"

# A limit set by the user. One line of 200 MB needs more.
{ printf "$text_head"; head -c 200000000 /dev/zero | tr '\0' x; printf '\nend\t1\n'; } | zstd -q >"$T/long.zst"
case $B in
*san*) skip 'less memory than is needed' 'sanitizers take memory of their own' ;;
*)
	fails 'less memory than is needed' 1 'out of memory: more than --max-memory=64M' nsysx-view --max-memory=64M "$T/long.zst"
	nsysx-view --max-memory=64M -o "$T/none" "$T/long.zst" 2>"$T/err"
	ok '... no file with the name of -o' test ! -e "$T/none"
	ok 'enough memory' nsysx-view --max-memory=2G -o "$T/long" "$T/long.zst"
	;;
esac
rm -f "$T/long" "$T/long.zst"
for size in 0 -1 1X ''; do
	fails "an invalid memory limit: '$size'" 2 '--max-memory: want a number of bytes' nsysx-view --max-memory "$size" /dev/null
done

# Exports: pages beyond the header's count, and limits set by the user.
export_of "'kernel'" "'range'"
ok 'an export is read' nsysx-extract -q "$T/e.sqlite"
{ cat "$T/e.sqlite"; head -c 1000000000 /dev/zero; } | zstd -q >"$T/bomb.sqlite.zst"
fails 'an export with more pages than its header counts' 1 'unpacks to more than the' env TMPDIR="$T" nsysx-extract "$T/bomb.sqlite.zst"
zstd -q -c "$T/e.sqlite" >"$T/good.sqlite.zst"
ok 'a compressed export is read' nsysx-extract -q "$T/good.sqlite.zst"
ok '... within a limit of its size' nsysx-extract -q --max-unpacked "$(wc -c <"$T/e.sqlite" | tr -d ' ')" "$T/good.sqlite.zst"
fails '... not within a lower limit' 1 'unpacks to more than 10240 bytes; --max-unpacked' nsysx-extract --max-unpacked 10K "$T/good.sqlite.zst"
ok 'limits of size concern only compressed exports' nsysx-extract -q --max-unpacked 10K "$T/e.sqlite"
# A header without a count of pages: only the file's size is known.
printf '\0\0\0\377' | dd of="$T/e.sqlite" bs=1 seek=92 conv=notrunc 2>"$T/dd"
{ cat "$T/e.sqlite"; head -c 300000000 /dev/zero; } | zstd -q >"$T/bomb.sqlite.zst"
fails 'a compressed export without a count of pages' 1 'unpacks to more than 104857600 bytes' nsysx-extract --max-unpacked 100M "$T/bomb.sqlite.zst"
for size in 0 -1 1X 1GG G 99999999999G ''; do
	fails "an invalid limit of size: '$size'" 2 '--max-unpacked: want a number of bytes' nsysx-extract --max-unpacked "$size" "$T/e.sqlite"
done
for form in xz zst; do
	rm -rf "$T/bombs"
	mkdir "$T/bombs"
	bomb=$T/bombs/module_0007.m.sm_9.0_gpu_after_optimizations.hlo.pb.$form
	head -c 200000000 /dev/zero | if [ $form = xz ]; then xz -0 -q -c; else zstd -q -c; fi >"$bomb"
	fails "a dump that unpacks to more than its limit: $form" 1 "$bomb: unpacks to more than 67108864 bytes" nsysx-heap --max-unpacked 64M "$bomb"
	below "... needs little memory: $form" 150 nsysx-heap --max-unpacked 64M "$bomb"
	nsysx-extract --max-unpacked 64M -x "$T/bombs" "$T/good.sqlite.zst" >"$T/out" 2>"$T/err"
	equal "an extraction reports it and continues without: $form" "$? $(grep -c 'unpacks to more than' "$T/err") $(nsysx-view -t thunk "$T/out" | wc -l | tr -d ' ')" '0 1 2'
done
done_testing
