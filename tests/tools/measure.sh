#!/bin/sh
# nsysx-measure: operations by execution, on hand-written streams and on a job with a known schedule.
. "${0%/*}/../testlib.sh"

# Two programs with the same name and one with another; operations `program execution device start dur name`, `-` for absent.
{
	printf '#nsysx\t2\n#program\tprogram:i\tid:i\tname:s\tkey:s\n'
	printf 'program\t0\t7\tstep\tstep@7\nprogram\t1\t9\tstep\tstep@9\nprogram\t2\t8\tother\tother@8\n'
	printf '#op\tprofile:i\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\tprogram:i\texecution:i\n'
	awk -v OFS='\t' '{ for (i = 1; i <= NF; i++) if ($i == "-") $i = ""
		print "op", 0, $6 == "copy" ? "memcpy" : "kernel", $3, $6, $4, $5, $1, $2 }' <<'END'
0 0 0 100 50 gemm
0 0 1 100 70 gemm
- - 0 110 500 gemm
0 0 0 120 10 copy
2 0 0 125 3 gemm
0 0 0 200 25 gemm
1 0 0 300 5 gemm
0 1 0 400 10 gemm
0 1 0 400 - gemm
0 2 0 500 30 gemm
0 3 0 600 20 gemm
0 4 0 700 40 gemm
END
	printf '#end\trecords:i\nend\t0\n'
} >"$T/s"
rows() { printf "$@"; }
rows 'id\tname\texecution\tdevice\tkernels\tevents\tops\n' >"$T/want"
# 50 + 10 + 25 in [100, 225).
rows '7\tstep\t%s\n' '0\t0\t85\t125\t3' '1\t0\t10\t10\t1' '2\t0\t30\t30\t1' '3\t0\t20\t20\t1' '4\t0\t40\t40\t1' '0\t1\t70\t70\t1' |
	sed 's/\\t/	/g' >>"$T/want"
rows '9\tstep\t0\t0\t5\t5\t1\n' >>"$T/want"
cp "$T/want" "$T/executions"
echo 'nsysx-measure: warning: operations without a duration: ignored' >"$T/want.err"
golden 'kernels and events of every execution' "$T/want" nsysx-measure --module step "$T/s"
{ head -n 1 "$T/want"; grep '^9' "$T/want"; } >"$T/key"
golden 'a key identifies one program' "$T/key" nsysx-measure -q --module step@9 "$T/s"
{ head -n 1 "$T/want"; awk 'NR > 1 && $3 >= 2' "$T/want"; } >"$T/skipped"
golden '--skip drops executions by number' "$T/skipped" nsysx-measure -q --module step --skip 2 "$T/s"
nsysx-view -b -z "$T/s" | nsysx-measure -q --module step >"$T/out"
same 'binary gives the same as text' "$T/out" "$T/executions"
nsysx-measure -q --module step -o "$T/out" "$T/s"
same '-o' "$T/out" "$T/executions"

# 85 10 30 20 40: sum 185, squares of the distances from 37: 48^2 + 27^2 + 7^2 + 17^2 + 3^2 = 3380, / 4 = 845.
stats=$(nsysx-measure -q --module step@7 --stats "$T/s")
equal 'statistics of kernels' "$(echo "$stats" | awk -F'\t' '$3 == 0 && $4 == "kernels" { print $5, $6, $7 * $7, $8, $9, $10, $11 }')" '5 37 845 10 30 85 85'
equal 'statistics of events' "$(echo "$stats" | awk -F'\t' '$3 == 0 && $4 == "events" { print $5, $6, $8, $9 }')" '5 45 10 30'
equal 'of one execution: no deviation' "$(echo "$stats" | awk -F'\t' '$3 == 1 && $4 == "events" { print $5 "," $6 "," $7 "," $8 }')" '1,70,,70'
equal 'of an even number: the median is the smaller of the two in the middle' "$(nsysx-measure -q --module step@7 --stats --skip 1 "$T/s" | awk -F'\t' '$4 == "kernels" { print $9 }')" 20
# 1 .. 100 shuffled: the nearest ranks of 90 and 99 in a hundred.
{
	printf '#nsysx\t2\n#program\tprogram:i\tid:i\tname:s\nprogram\t0\t7\tstep\n#op\tdevice:i\tstart:i\tdur:i\tprogram:i\texecution:i\n'
	awk 'BEGIN { for (i = 0; i < 100; i++) print "op\t0\t" i * 1000 "\t" i * 37 % 100 + 1 "\t0\t" i }'
	printf '#end\trecords:i\nend\t0\n'
} >"$T/hundred"
equal 'percentiles are values that occur' "$(nsysx-measure --module step --stats "$T/hundred" | awk -F'\t' 'NR == 2 { print $8, $9, $10, $11 }')" '1 50 90 99'
equal 'p99 of a hundred is not the largest' "$(nsysx-measure --module step --stats --table "$T/hundred" | grep -c 'p99 of fewer')" 0
# Of six the 90th percentile is the ceil(5.4)-th.
{
	printf '#nsysx\t2\n#program\tprogram:i\tid:i\tname:s\nprogram\t0\t7\tstep\n#op\tdevice:i\tstart:i\tdur:i\tprogram:i\texecution:i\n'
	awk 'BEGIN { for (i = 0; i < 6; i++) print "op\t0\t" i * 1000 "\t" 6 - i "\t0\t" i }'
	printf '#end\trecords:i\nend\t0\n'
} >"$T/six"
equal '... of fewer it is, which is said' "$(nsysx-measure --module step --stats --table "$T/six" | grep -c '^p99 of fewer than 100 executions is the largest$')" 1
equal 'the rank of a percentile is rounded up' "$(nsysx-measure --module step --stats "$T/six" | awk -F'\t' 'NR == 2 { print $10, $11 }')" '6 6'
rows 'id\tname\texecution\tdevice\ttype\tkernel\tstart\tdur\n' >"$T/list"
rows '7\tstep\t0\t0\tkernel\tgemm\t100\t50\n7\tstep\t0\t0\tmemcpy\tcopy\t120\t10\n7\tstep\t0\t0\tkernel\tgemm\t200\t25\n' >>"$T/list"
nsysx-measure -q --module step@7 --list "$T/s" | awk 'NR == 1 || ($3 == 0 && $4 == 0)' >"$T/out"
same '--list has every operation' "$T/out" "$T/list"
equal '--json' "$(nsysx-measure -q --module step --json "$T/s" | python3 -c 'import json, sys; print(sum(r["kernels"] for r in json.load(sys.stdin)))')" 260

# ---- ranges: 1 step [2 inner [3 step]] and 4 step, launched first, on two devices; 5 of another domain; 6 and 7 in a cycle.
{
	printf '#nsysx\t2\n#range\tprofile:i\trange:i\tparent:i\tdomain:s\tname:s\tstart:i\tdur:i\thost_start:i\n'
	printf '#op\tprofile:i\tdevice:i\tstart:i\tdur:i\trange:i\n'
	printf 'range\t0\t4\t\t\tstep\t150\t50\t10\n'
	printf 'range\t0\t1\t\t\tstep\t100\t100\t50\n'
	printf 'range\t0\t2\t1\t\tinner\t100\t50\t51\n'
	printf 'range\t0\t3\t2\t\tstep\t100\t20\t52\n'
	printf 'range\t0\t5\t\tD\tstep\t300\t10\t60\n'
	printf 'range\t0\t6\t7\tE\tloop\t400\t10\t70\nrange\t0\t7\t6\tE\tloop\t400\t10\t70\n'
	printf 'op\t0\t0\t100\t20\t3\nop\t0\t0\t130\t20\t2\nop\t0\t0\t140\t60\t1\n'
	printf 'op\t0\t0\t150\t7\t4\nop\t0\t1\t160\t40\t4\n'
	printf 'op\t0\t0\t300\t10\t5\n'
	printf 'op\t0\t0\t400\t10\t6\n'
	printf 'op\t0\t0\t420\t10\t77\n'
	printf '#end\trecords:i\nend\t0\n'
} >"$T/r"
rows 'id\tname\texecution\tdevice\tkernels\tevents\tops\n' >"$T/want"
# Operations in a range within another of the same name count in both; executions are ordered by host start.
rows '%s\n' '4 step 0 0 7 7 1' '1 step 1 0 100 100 3' '3 step 2 0 20 20 1' '5 step 3 0 10 10 1' '4 step 0 1 40 40 1' | tr ' ' '\t' >>"$T/want"
echo 'nsysx-measure: warning: operations whose range has no record: ignored' >"$T/want.err"
golden 'ranges of a name' "$T/want" nsysx-measure --range step "$T/r"
equal 'ranges of a name in a domain' "$(nsysx-measure -q --range D:step "$T/r" | tail -n +2)" '5	step	0	0	10	10	1'
equal 'a cycle of ranges ends' "$(nsysx-measure -q --range loop "$T/r" | awk 'NR > 1 { print $5 }' | sort | tr '\n' ' ')" '10 10 '
equal 'statistics of ranges include all of one name' "$(nsysx-measure -q --range step --stats "$T/r" | awk -F'\t' 'NR > 1 { print $1 $3, $4, $5 }' | tr '\n' ';')" \
	'0 kernels 4;0 events 4;1 kernels 1;1 events 1;'
# Many ranges, one after the other, in one that contains them all: closed ones are forgotten, the open one is not.
awk 'BEGIN {
	print "#nsysx\t2\n#range\tprofile:i\trange:i\tparent:i\tname:s\tstart:i\tdur:i\n#op\tprofile:i\tstart:i\tdur:i\trange:i"
	print "range\t0\t0\t\tall\t0\t2000000000000"
	for (i = 1; i <= 20000; i++) printf "range\t0\t%d\t0\tone\t%d00000000\t10\nop\t0\t%d00000000\t3\t%d\n", i, i, i, i
	print "#end\trecords:i\nend\t0" }' >"$T/many"
equal 'a range that stays open' "$(nsysx-measure --range all "$T/many" | awk 'NR == 2 { print $4, $6 }')" '60000 20000'
equal 'ranges that end' "$(nsysx-measure --range one "$T/many" | awk 'NR > 1 { n += $4 } END { print n, NR, $3 }')" '60000 20001 19999'
# Nested ranges of one name, an operation in each: the i-th has the operations of all within it. The time is CPU time, and a
# hundredth of what following all ranges outwards for each operation takes.
awk -v n=60000 'BEGIN {
	print "#nsysx\t2\n#range\tprofile:i\trange:i\tparent:i\tname:s\tstart:i\tdur:i\thost_start:i\n#op\tprofile:i\tstart:i\tdur:i\trange:i"
	for (i = 1; i <= n; i++) printf "range\t0\t%d\t%s\tdeep\t1000\t%d\t%d\n", i, (i > 1 ? i - 1 : ""), n, i
	for (i = 1; i <= n; i++) printf "op\t0\t%d\t2\t%d\n", 1000 + 2 * i, n + 1 - i
	print "#end\trecords:i\nend\t" 2 * n }' >"$T/deep"
(ulimit -t 20; nsysx-measure --range deep "$T/deep") >"$T/out"
equal 'nested ranges take linear time' \
	"$(awk -F'\t' 'NR > 1 { good += $5 == 2 * (60001 - $1) && $6 == $5 && $7 == 60001 - $1 } END { print NR - 1, good }' "$T/out")" '60000 60000'
# Randomly nested ranges, some of the name, on two devices: --list follows ranges outwards for each operation, with the same result.
awk 'BEGIN {
	srand(7); depth = 0; id = 0
	print "#nsysx\t2\n#range\tprofile:i\trange:i\tparent:i\tname:s\tstart:i\tdur:i\thost_start:i\n#op\tprofile:i\tdevice:i\tstart:i\tdur:i\trange:i"
	for (t = 1; t <= 3000; t++) {
		if (depth && rand() < 0.45) depth--
		else { printf "range\t0\t%d\t%s\t%s\t%d\t9000\t%d\n", ++id, depth ? open[depth] : "", rand() < 0.6 ? "mine" : "other", t, t; open[++depth] = id }
		for (k = int(3 * rand()); depth && k > 0; k--) printf "op\t0\t%d\t%d\t%d\t%d\n", int(2 * rand()), t, 1 + int(9 * rand()), open[1 + int(depth * rand())]
	}
	print "#end\trecords:i\nend\t0" }' >"$T/chance"
nsysx-measure -q --partial --range mine "$T/chance" | awk -F'\t' 'NR > 1 { print $1, $3, $4, $5, $6, $7 }' | sort >"$T/out"
nsysx-measure -q --partial --range mine --list "$T/chance" | awk -F'\t' 'NR > 1 { k = $1 " " $3 " " $4; if (!(k in n)) from[k] = $7; n[k]++; sum[k] += $8
	if (from[k] > $7) from[k] = $7
	if (to[k] < $7 + $8) to[k] = $7 + $8 } END { for (k in n) print k, sum[k], to[k] - from[k], n[k] }' | sort >"$T/want"
ok 'some random ranges are nested' test -s "$T/want"
same 'operations in a range are in those around it' "$T/out" "$T/want"

# ---- names as written by frameworks ----
{
	printf '#nsysx\t2\n#range\tprofile:i\trange:i\tdomain:s\tname:s\tstart:i\tdur:i\thost_start:i\n#op\tprofile:i\tstart:i\tdur:i\trange:i\n'
	printf 'range\t0\t1\t\taten::mm, seq = 7, op_id = 52\t0\t5\t0\nop\t0\t0\t5\t1\n'
	printf 'range\t0\t2\tD\taten::mm, op_id = 53\t10\t6\t10\nop\t0\t10\t6\t2\n'
	printf 'range\t0\t3\t\tblocks.1.attn\t20\t7\t20\nop\t0\t20\t7\t3\nrange\t0\t4\t\tblocks.2.attn\t30\t8\t30\nop\t0\t30\t8\t4\n'
	printf 'range\t0\t5\tTSL\tmm, op_id = 9\t40\t9\t40\nop\t0\t40\t9\t5\n#end\trecords:i\nend\t10\n'
} >"$T/names"
named() { nsysx-measure -q --range "$@" "$T/names" | awk -F'\t' 'NR > 1 { print $1, $2, $5 }' | tr '\n' ';'; }
equal 'ranges of a key' "$(named aten::mm)" '1 aten::mm 5;2 aten::mm 6;'
equal 'ranges of a key in a domain' "$(named D:aten::mm)" '2 aten::mm 6;'
equal 'ranges of a full name' "$(named 'aten::mm, seq = 7, op_id = 52')" '1 aten::mm, seq = 7, op_id = 52 5;'
equal 'ranges of a full name in a domain' "$(named 'D:aten::mm, op_id = 53')" '2 aten::mm, op_id = 53 6;'
equal 'names of XLA are not shortened' "$(named mm)" ''
equal '--names=digits: ranges of a key without numbers' "$(named 'blocks.#.attn' --names=digits)" '3 blocks.#.attn 7;4 blocks.#.attn 8;'
equal '--names=digits: a key with its numbers' "$(named blocks.2.attn --names=digits)" '4 blocks.2.attn 8;'
equal '--names=full: ranges of a full name only' "$(named aten::mm --names=full)" ''
equal 'statistics by key' "$(nsysx-measure -q --range aten::mm --stats "$T/names" | awk -F'\t' 'NR == 2 { print $2, $5, $6 }')" 'aten::mm 2 5.5'
fails '--names goes with ranges' 2 '--names goes with --range' nsysx-measure --module a --names=full "$T/s"

# ---- a job with a known schedule ----
if [ -x "$SYNTH" ] && "$SYNTH" -o "$T/job"; then
	nsysx-extract -q --ranges --ops -o "$T/job.nsysx" "$T/job/r0.sqlite" "$T/job/r1.sqlite"
	# A device runs one module at a time: operations within its span belong to it, except the copies of results to
	# the host after each execution, on stream 22.
	awk -F'\t' '
		FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		FILENAME ~ /modules/ { if ($at["name"] == "jit_train_step") { n++; key[n] = $at["execution"] " " $at["device"]; dev[n] = $at["device"]
			start[n] = $at["start"]; end[n] = $at["start"] + $at["dur"] } next }
		$at["stream"] == 22 { next }
		{ for (m = 1; m <= n; m++) if (dev[m] == $at["device"] && $at["start"] >= start[m] && $at["start"] + $at["dur"] <= end[m]) { sum[m] += $at["dur"]; ops[m]++ } }
		END { for (m = 1; m <= n; m++) print key[m], sum[m], end[m] - start[m], ops[m] }' "$T/job/answers/modules.tsv" "$T/job/answers/ops.tsv" | sort >"$T/known"
	ok 'the schedule has executions' test -s "$T/known"
	nsysx-measure --module jit_train_step "$T/job.nsysx" | awk 'NR > 1 { print $3, $4, $5, $6, $7 }' | sort >"$T/out"
	same 'executions of a program as scheduled' "$T/out" "$T/known"
	range=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["profile"] == "r0" && $at["name"] ~ /^XlaModule:.*jit_train_step/ { print $at["name"]; exit }' "$T/job/answers/ranges.tsv")
	awk -F'\t' -v name="$range" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["profile"] == "r0" && $at["name"] == name { print $at["range"], $at["dur"] }' "$T/job/answers/ranges.tsv" | sort >"$T/known"
	nsysx-extract -q --ranges --ops "$T/job/r0.sqlite" | nsysx-measure --range "$range" | awk -F'\t' 'NR > 1 { print $1, $6 }' | sort >"$T/out"
	ok 'the schedule has ranges' test -s "$T/known"
	same 'ranges as scheduled' "$T/out" "$T/known"
	# Steps of a server: calls of an operation by key, steps of each shape by digits.
	"$SYNTH" -o "$T/server" --torch=sglang --steps 9
	nsysx-extract -q --ranges --ops -o "$T/server.nsysx" "$T/server/r0.sqlite"
	for want in 'aten::linear|^aten::linear,|key' 'step[DECODE bs=#]|^step\[DECODE|digits' 'model.layers.#|model\.layers\.|digits'; do
		awk -F'\t' -v re="$(echo "$want" | cut -d'|' -f 2 | sed 's/\\/\\\\/g')" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["profile"] == "r0" && $at["name"] ~ re { print $at["range"], $at["dur"] }' "$T/server/answers/ranges.tsv" | sort >"$T/known"
		nsysx-measure --range "${want%%|*}" --names="${want##*|}" "$T/server.nsysx" | awk -F'\t' 'NR > 1 { print $1, $6 }' | sort >"$T/out"
		ok "the server has ${want%%|*}" test -s "$T/known"
		same "ranges of ${want%%|*} as scheduled" "$T/out" "$T/known"
	done
else
	skip 'executions of a program as scheduled' 'there is no nsysx-synth'
fi

# ---- empty results, and refusals ----
ok 'a name that does not occur' nsysx-measure --module none "$T/s"
equal '... a header' "$(cat "$T_private/out")" 'id	name	execution	device	kernels	events	ops'
equal '... a warning' "$(grep -c 'no module of the name none' "$T_private/err")" 1
ok 'a name without GPU work' nsysx-measure --range nowork "$T/r"
equal '... a warning' "$(grep -c 'no range of the name nowork' "$T_private/err")" 1
says() { nsysx-measure "$@" 2>&1 >"$T/out" | sed 's/^nsysx-measure: warning: //'; }
equal 'a similar range is suggested' "$(says --range aten:mm "$T/names")" 'no range of the name aten:mm; did you mean aten::mm?'
equal '... in its domain' "$(says --range d:aten::mm "$T/names")" 'no range of the name d:aten::mm; did you mean D:aten::mm?'
equal 'no range is similar' "$(says --range forward "$T/names")" 'no range of the name forward: nsysx-summary --by range lists those with GPU work'
equal 'a similar program is suggested' "$(says --module other@9 "$T/s" | head -n 1)" 'no module of the name other@9; did you mean other@8?'
grep -v '^#*range' "$T/names" >"$T/rangeless"
equal 'a stream without ranges' "$(says --partial --range aten::mm "$T/rangeless")" 'no range records: extract with --ranges --ops'
equal 'a stream without programs' "$(says --module jit_step "$T/names")" 'no program records: the profile has none of XLA; --range measures NVTX ranges'
grep -v '^op' "$T/s" >"$T/opless"
ok 'a stream without operations' nsysx-measure --module step "$T/opless"
equal '... a warning says how to get them' "$(cat "$T_private/err")" 'nsysx-measure: warning: no op records: extract with --ops'
fails '--require: a missing kind' 1 'no op record' nsysx-measure --require op --module step "$T/opless"
sed '$d' "$T/s" >"$T/cut"
fails 'a stream that was cut short' 1 'cut short' nsysx-measure --module step -o "$T/left" "$T/cut"
ok '... leaves no output' test ! -e "$T/left"
ok '... is accepted with --partial' nsysx-measure --partial --module step "$T/cut"
fails 'neither module nor range' 2 'want one of' nsysx-measure "$T/s"
fails 'both' 2 'want one of' nsysx-measure --module a --range b "$T/s"
fails 'two forms' 2 'exclude each other' nsysx-measure --module a --stats --list "$T/s"
fails 'skipping less than nothing' 2 '--skip' nsysx-measure --module a --skip -1 "$T/s"
fails 'a full disk' 1 '/dev/full' nsysx-measure --module step -o /dev/full "$T/s"
done_testing
