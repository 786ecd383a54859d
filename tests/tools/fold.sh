#!/bin/sh
# nsysx-fold against its manual page. The expected results in fold/ are derived from the streams beside them.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# The sum of folded stacks.
total() { awk '{ n += $NF } END { print n + 0 }' "$@"; }

golden 'source: time is divided among places with frames' fold/source.out nsysx-fold fold/step.tsv
golden 'op-name: time is divided among the set of op names' fold/op-name.out nsysx-fold --by op-name fold/step.tsv
golden 'opcode: sums' fold/opcode.out nsysx-fold --by opcode fold/step.tsv
golden 'programs of one name are distinguished by key' fold/module.out nsysx-fold --by module fold/step.tsv
golden '--cover 1 keeps every program' fold/cover.out nsysx-fold --by opcode --cover 1 fold/step.tsv
golden 'of equal programs the lower key is kept, until the share is reached' fold/tie.out \
	nsysx-fold --by module --cover 0.5 fold/tie.tsv
golden 'without a dump a warning says how to get places' fold/plain.out nsysx-fold fold/plain.tsv
golden 'invalid durations and hidden times are reported' fold/times.out nsysx-fold --by opcode fold/times.tsv
golden 'nvtx: stacks are NVTX ranges' fold/nvtx.out nsysx-fold --by nvtx fold/ranges.tsv
golden 'kernels are leaves of their ranges' fold/kernel.out nsysx-fold --by kernel fold/ranges.tsv
golden 'stacks are sorted bytewise' fold/sort.out nsysx-fold --by nvtx fold/sort.tsv
golden 'a cycle of ranges ends' fold/circle.out nsysx-fold --by nvtx fold/circle.tsv

# Stacks come before records that refer to them. Without them only the instruction's name is known.
awk -F'\t' '/^stack/ { held = held $0 "\n"; next } /^(module|thunk)/ { printf "%s", held; held = "" } { print }' fold/step.tsv >"$T/late"
n=$(grep -n '^stack' "$T/late" | head -n 1 | cut -d : -f 1)
fails 'a stack after its instruction' 1 "$T/late:$n: out of order: stack $(grep '^stack' "$T/late" | head -n 1 | cut -f 2) after a record that refers to it" nsysx-fold "$T/late"
nsysx-fold -q --by op-name "$T/late" >"$T/got"
nsysx-fold -q --by op-name fold/step.tsv >"$T/want"
same '... other folds ignore the order of stacks' "$T/got" "$T/want"
grep -v '^stack' fold/step.tsv | nsysx-fold --cover 1 >"$T/got" 2>"$T/err"
equal 'missing frames are reported' "$(cat "$T/err")" \
	"nsysx-fold: warning: references to source stacks whose frames are not in the stream ($(awk -F'\t' '/^#(inst|loc)/ { for (i = 2; i <= NF; i++) if ($i == "stack:i") at[substr($1, 2)] = i } $1 in at && $at[$1] != "" { n++ } END { print n }' fold/step.tsv))"

# Every fold, exposed and idle time together: 111 exposed, 395 from first start to last end.
for by in source op-name opcode module; do
	nsysx-fold -q --by $by fold/step.tsv >"$T/out"
	equal "--by $by adds up to the whole time" "$(total "$T/out")" 395
	nsysx-view -b -z fold/step.tsv | nsysx-fold -q --by $by >"$T/binary"
	same "--by $by of a binary stream" "$T/out" "$T/binary"
	sort "$T/out" | cmp -s - "$T/out"
	equal "--by $by is in the order of sort" $? 0
done
for by in nvtx kernel; do
	nsysx-fold -q --by $by fold/ranges.tsv >"$T/out"
	equal "--by $by adds up to the time of operations" "$(total "$T/out")" 65
	nsysx-view -b fold/ranges.tsv | nsysx-fold -q --by $by >"$T/binary"
	same "--by $by of a binary stream" "$T/out" "$T/binary"
done

# Instruction i of 150 has i + 1 ns and i places, one of them common to all: 150 + 5.59... ns there (the sum of
# 1 / i). The divisors' common multiple has far more than 128 bits.
awk 'BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#inst", "program:i", "inst:i", "name:s", "op_name:s"
	print "#loc", "program:i", "inst:i", "op_name:s"
	for (i = 1; i <= 150; i++) {
		print "inst", 0, i, "i" i, "shared"; n++
		for (k = 2; k <= i; k++) { print "loc", 0, i, "o" i "." k; n++ }
	}
	print "#thunk", "program:i", "execution:i", "device:i", "inst:i", "start:i", "dur:i"
	for (i = 1; i <= 150; i++) { print "thunk", 0, 0, 0, i, i, i + 1; n++ }
	print "#end", "records:i"
	print "end", n
}' >"$T/places"
nsysx-fold -q --by op-name "$T/places" >"$T/out"
equal 'shares with many divisors add up exactly' "$(total "$T/out")" 11475
equal 'a stack of many divisors is within 1 ns' "$(grep ';shared ' "$T/out" | grep -c ' 15[56]$')" 1

# Communication is marked: 25 of the 111 exposed.
for by in source op-name opcode module; do
	nsysx-fold -q --by $by --mark-comm fold/step.tsv >"$T/out"
	equal "--by $by --mark-comm marks exposed communication" "$(grep ';\[communication\] ' "$T/out" | total)" 25
	sed 's/;\[communication\] / /' "$T/out" | LC_ALL=C sort >"$T/got"
	nsysx-fold -q --by $by fold/step.tsv >"$T/want"
	same "--by $by --mark-comm changes nothing else" "$T/want" "$T/got"
done
equal 'the mark is the last frame' "$(nsysx-fold -q --by opcode --mark-comm fold/step.tsv | grep communication)" \
	'[GPU active];all-reduce-start;[communication] 25'
# Two of three places belong to an instruction that computes too.
{
	printf '#nsysx\t2\n#inst\tprogram:i\tinst:i\tname:s\tcomm:i\top_name:s\n#loc\tprogram:i\tinst:i\top_name:s\n'
	printf 'inst\t0\t0\tar\t1\ta\nloc\t0\t0\tb\nloc\t0\t0\tc\ninst\t0\t1\tf\t0\ta\nloc\t0\t1\tb\n'
	printf '#thunk\tprogram:i\texecution:i\tdevice:i\tinst:i\tstart:i\tdur:i\thidden:i\tcomm:i\n'
	printf 'thunk\t0\t0\t0\t0\t0\t100\t10\t1\nthunk\t0\t0\t0\t1\t200\t8\t0\t0\n#end\trecords:i\nend\t7\n'
} >"$T/shared"
printf '[GPU active];%s\n' 'a 4' 'a;[communication] 30' 'b 4' 'b;[communication] 30' 'c;[communication] 30' >"$T/want"
nsysx-fold -q --by op-name --mark-comm --cover 1 "$T/shared" >"$T/out"
same 'a place with both has computation and communication' "$T/want" "$T/out"

# 20000 ranges one after the other under one that holds them all, an operation of 3 ns in each and 1 ns outside.
awk 'BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#range", "profile:i", "range:i", "parent:i", "name:s", "start:i", "dur:i"
	print "#op", "profile:i", "op:i", "name:s", "start:i", "dur:i", "range:i"
	print "range", 0, 0, "", "all", 0, "400000000000"
	for (i = 0; i < 20000; i++) {
		t = 2 * i "0000000"
		print "range", 0, i + 1, 0, "r" i % 4, t, 10
		print "op", 0, 2 * i, "k", t, 3, i + 1
		print "op", 0, 2 * i + 1, "k", 2 * i "0000011", 1, 0
	}
	print "#end", "records:i"
	print "end", 60001
}' >"$T/many"
nsysx-fold --by nvtx "$T/many" >"$T/out" 2>"$T/err"
printf 'all 20000\nall;r0 15000\nall;r1 15000\nall;r2 15000\nall;r3 15000\n' >"$T/want"
same 'closed ranges are forgotten, open ones are not' "$T/want" "$T/out"
equal '... no diags' "$(cat "$T/err")" ''

# Calls of one operation in steps with numbers; an operation that communicates, 30 of its 50 ns hidden, and one with unknown hidden time.
{
	printf '#nsysx\t2\n#range\tprofile:i\trange:i\tparent:i\tdomain:s\tname:s\tstart:i\tdur:i\n'
	printf '#op\tprofile:i\tname:s\tstart:i\tdur:i\trange:i\tcomm:i\thidden:i\n'
	printf 'range\t0\t1\t\t\tstep_1\t0\t100\nrange\t0\t2\t1\t\taten::mm, seq = 4, op_id = 9\t0\t40\n'
	printf 'op\t0\tgemm\t0\t40\t2\t0\t\nrange\t0\t3\t1\tNCCL\tncclGroupEnd\t10\t50\nop\t0\tar\t10\t50\t3\t1\t30\n'
	printf 'range\t0\t4\t\t\tstep_2\t100\t100\nrange\t0\t5\t4\t\taten::mm, op_id = 10\t100\t40\n'
	printf 'op\t0\tgemm\t100\t40\t5\t0\t\nop\t0\tar\t150\t8\t4\t1\t\n#end\trecords:i\nend\t9\n'
} >"$T/calls"
stacks() { nsysx-fold -q "$@" "$T/calls" | tr '\n' '|'; }
equal 'ranges by key, operations whole' "$(stacks --by nvtx)" 'step_1;NCCL:ncclGroupEnd 50|step_1;aten::mm 40|step_2 8|step_2;aten::mm 40|'
equal '--names=digits removes numbers of ranges' "$(stacks --by kernel --names=digits)" 'step_#;NCCL:ncclGroupEnd;ar 50|step_#;ar 8|step_#;aten::mm;gemm 80|'
equal '--names=full keeps full names' "$(stacks --by nvtx --names=full | grep -o 'aten::mm[^|]*' | tr '\n' '|')" 'aten::mm, seq = 4, op_id = 9 40|aten::mm, op_id = 10 40|'
equal '... which is the same of all steps: their numbers are #, if names of steps are' "$(stacks --by nvtx --names steps)" 'step_# 8|step_#;NCCL:ncclGroupEnd 50|step_#;aten::mm 80|'
equal '--exposed subtracts hidden time' "$(stacks --by nvtx --exposed)" 'step_1;NCCL:ncclGroupEnd 20|step_1;aten::mm 40|step_2 8|step_2;aten::mm 40|'
nsysx-fold --by nvtx --exposed "$T/calls" >"$T/out" 2>"$T/err"
equal '... and reports unknown hidden times' "$(cat "$T/err")" \
	'nsysx-fold: warning: communicating operations without hidden time: counted whole; nsysx-overlap adds it'
sed 's/\t50\t3\t1\t30$/\t50\t3\t1\t60/; s/\t8\t4\t1\t$/\t8\t4\t1\t-5/' "$T/calls" >"$T/over"
equal '... and none that cannot be is taken' "$(nsysx-fold --by nvtx --exposed "$T/over" 2>"$T/err" | head -n 1)" 'step_1;aten::mm 40'
equal '... which it reports' "$(cat "$T/err")" 'nsysx-fold: warning: operations whose hidden time exceeds their duration: cut to it (2)'
equal '--mark-comm marks operations' "$(stacks --by nvtx --mark-comm)" \
	'step_1;NCCL:ncclGroupEnd;[communication] 50|step_1;aten::mm 40|step_2;[communication] 8|step_2;aten::mm 40|'
equal '... and their exposed time with --exposed' "$(stacks --by kernel --exposed --mark-comm | tr '|' '\n' | grep communication | tr '\n' '|')" \
	'step_1;NCCL:ncclGroupEnd;ar;[communication] 20|step_2;ar;[communication] 8|'
# A range that copies and computes.
{
	printf '#nsysx\t2\n#range\tprofile:i\trange:i\tname:s\tstart:i\tdur:i\n#op\tprofile:i\ttype:s\tname:s\tstart:i\tdur:i\trange:i\n'
	printf 'range\t0\t1\tload\t0\t100\nop\t0\tmemcpy\t[CUDA memcpy Host-to-Device]\t0\t40\t1\nop\t0\tkernel\tscale\t50\t5\t1\n'
	printf 'op\t0\tmemset\t\t60\t2\t1\n#end\trecords:i\nend\t4\n'
} >"$T/copies"
equal 'by nvtx copies count for their range' "$(nsysx-fold -q --by nvtx "$T/copies")" 'load 47'
equal 'with kinds marked, copies and sets have frames' "$(nsysx-fold -q --by nvtx --mark-comm "$T/copies" | tr '\n' '|')" \
	'load 5|load;[CUDA memcpy Host-to-Device] 40|load;memset 2|'
{ printf '#nsysx\t2\n#op\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\n'; printf 'op\tkernel\t0\tk\t%s\t%s\n' 0 5 7 '' 8 ''; printf '#end\trecords:i\nend\t0\n'; } >"$T/timeless"
equal 'operations without a duration are counted' "$(nsysx-fold --by kernel "$T/timeless" 2>&1 >/dev/null | grep -c 'operations without a duration: ignored (2)$')" 1
fails '--exposed goes with ranges' 2 '--exposed goes with --by nvtx and kernel' nsysx-fold --by source --exposed "$T/calls"
fails '--names goes with ranges' 2 '--names goes with --by nvtx, kernel, scope and host' nsysx-fold --names=full "$T/calls"

printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
for by in source op-name opcode module nvtx kernel; do
	ok "--by $by of a stream without records" nsysx-fold --by $by "$T/empty"
	equal "--by $by has no output then" "$(nsysx-fold -q --by $by "$T/empty")" ''
	equal "--by $by reports the reason" "$(nsysx-fold --by $by "$T/empty" 2>&1 | grep -c 'warning: no .* records[,:] ')" 1
	head -c 300 fold/step.tsv >"$T/cut"
	fails "--by $by refuses a stream cut short" 1 'cut short' nsysx-fold --by $by "$T/cut"
done
fails 'ranges out of order are refused' 1 'fold/bad-order.tsv:6: out of order' nsysx-fold --by nvtx fold/bad-order.tsv
fails 'times beyond 64 bits are refused' 1 'exceeds 64 bits' nsysx-fold --by opcode fold/huge.tsv
fails '--require without such a record' 1 'no op record' nsysx-fold --by nvtx --require op "$T/empty"
ok '--require: there is such a record' nsysx-fold -q --require thunk fold/step.tsv
for share in 0 1.1 -0.5 99% . '' 0.1234567891; do
	fails "--cover '$share' is not a share" 2 'want a share' nsysx-fold --cover "$share" fold/step.tsv
done
fails 'an unknown way to fold' 2 'nsysx-fold:' nsysx-fold --by file fold/step.tsv

# The generator's answers, summed by name of the thunk or operation.
if [ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ] && [ -x "$B/bin/nsysx-overlap" ]; then
	"$SYNTH" -o "$T/job"
	nsysx-extract -q "$T/job/r0.sqlite" "$T/job/r1.sqlite" | nsysx-overlap -q | nsysx-fold -q --by module --cover 1 |
		grep '^\[GPU active' | sed 's/.*;//' | awk '{ t[$1] += $2 } END { for (i in t) print i, t[i] }' | sort >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ t[$c["name"]] += $c["dur"] - $c["hidden"] } END { for (i in t) if (t[i]) print i, t[i] }' \
		"$T/job/answers/thunks.tsv" | sort >"$T/want"
	ok 'the generator has thunks' test -s "$T/want"
	same 'exposed time by thunk equals that of the generator' "$T/want" "$T/got"
	want=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["comm"] == 1 { t += $c["dur"] - $c["hidden"] } END { print t }' \
		"$T/job/answers/thunks.tsv")
	ok 'the generator has communication' test "$want" -gt 0
	nsysx-extract -q -x "$T/job/dump0" "$T/job/r0.sqlite" -x "$T/job/dump1" "$T/job/r1.sqlite" | nsysx-overlap -q -o "$T/job.nsysx"
	for by in opcode module; do
		equal "--by $by --mark-comm: exposed communication equals the generator's" \
			"$(nsysx-fold -q --by $by --cover 1 --mark-comm "$T/job.nsysx" | grep ';\[communication\] ' | total)" "$want"
	done
	nsysx-extract -q --ranges --ops "$T/job/r0.sqlite" "$T/job/r1.sqlite" | nsysx-fold --by kernel >"$T/kernels" 2>"$T/err"
	equal 'every operation finds its range' "$(cat "$T/err")" ''
	sed 's/.*;//' "$T/kernels" | awk '{ n = $NF; sub(/ [0-9]*$/, ""); t[$0] += n } END { for (i in t) print i, t[i] }' | sort >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ t[$c["name"]] += $c["dur"] } END { for (i in t) print i, t[i] }' "$T/job/answers/ops.tsv" | sort >"$T/want"
	same 'time by kernel equals that of the generator' "$T/want" "$T/got"
else
	skip 'times equal those of the generator' 'there is no nsysx-synth, nsysx-extract or nsysx-overlap'
fi

# Frames that repeat immediately: stack 1 is 0 with its first two frames three times, 2 has a run within a run. Instruction 0 belongs to 0 and 1, which
# remain two places; 1 belongs to 2 only.
{
	printf '#nsysx\t2\n#program\tprogram:i\tid:i\tname:s\tfingerprint:s\tkey:s\nprogram\t0\t1\tstep\t\tstep@1\n'
	printf '#stack\tstack:i\tframes:s\nstack\t0\tt.py:9[step];t.py:5[loss];t.py:3[block]\n'
	printf 'stack\t1\tt.py:9[step];t.py:5[loss];t.py:9[step];t.py:5[loss];t.py:9[step];t.py:5[loss];t.py:3[block]\n'
	printf 'stack\t2\ta;b;b;c;a;b;c;c;d;b;c\n'
	printf '#inst\tprogram:i\tinst:i\tname:s\topcode:s\tcomm:i\top_name:s\tstack:i\ninst\t0\t0\tf\tfusion\t0\tx\t0\ninst\t0\t1\tg\tfusion\t0\t\t2\n'
	printf '#loc\tprogram:i\tinst:i\top_name:s\tstack:i\nloc\t0\t0\tx\t1\nloc\t0\t0\ty\t1\n'
	printf '#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\tname:s\tstart:i\tdur:i\thidden:i\tcomm:i\n'
	printf 'thunk\t0\t0\t0\t0\t0\tf\t0\t300\t0\t0\nthunk\t0\t0\t0\t0\t1\tg\t400\t70\t0\t0\n'
	printf '#end\trecords:i\nend\t0\n'
} >"$T/runs"
frames='t.py:9[step];t.py:5[loss]'
printf '[GPU active];%s 70\n[GPU active];%s;t.py:3[block];x 200\n[GPU active];%s;t.py:3[block];y 100\n' 'a;b;c;d;b;c' "$frames" "$frames" >"$T/want"
nsysx-fold -q --cover 1 "$T/runs" >"$T/out"
same 'a repeated run of frames is written once, times are unchanged' "$T/out" "$T/want"
printf '[GPU active];%s 70\n[GPU active];%s;t.py:3[block];x 100\n' 'a;b;b;c;a;b;c;c;d;b;c' "$frames" >"$T/want"
printf '[GPU active];%s;t.py:3[block];%s 100\n' "$frames;$frames;$frames" x "$frames;$frames;$frames" y >>"$T/want"
nsysx-fold -q --cover 1 --repeats "$T/runs" | sort >"$T/out"
same '--repeats keeps repeated frames' "$T/out" "$(sort "$T/want" >"$T/sorted"; echo "$T/sorted")"
fails '--repeats without stacks' 2 'goes with --by source' nsysx-fold --repeats --by opcode "$T/runs"

nsysx-fold -q -o "$T/file" fold/step.tsv
nsysx-fold -q <fold/step.tsv >"$T/out"
same '-o writes the same as standard output' "$T/out" "$T/file"
fails 'no output after a failure' 1 'cut short' nsysx-fold -o "$T/none" "$T/cut"
equal '... and no empty file' "$(find "$T" -name '*none*')" ''
fails 'a full disk is an error' 1 '/dev/full' nsysx-fold -q -o /dev/full fold/step.tsv

# ---- several folds in one reading
every='source op-name opcode module nvtx kernel'
with=
for f in fold/step.tsv "$T/calls"; do
	nsysx-fold -q --by "$(echo $every | tr ' ' ,)" -o "$T/of-%" "$f"
	for by in $every; do
		nsysx-fold -q --by "$by" "$f" >"$T/want"
		ok "$by of ${f##*/} is the same in one reading with others" cmp "$T/want" "$T/of-$by"
		[ ! -s "$T/want" ] || with="$with $by"
	done
done
equal '... and each has stacks in one of them' "$with" " $every"
cut_periods >"$T/periods"
equal 'of a stream that was cut the time between periods is none of a device' "$(nsysx-fold -q --by opcode "$T/periods" | grep idle)" \
	"$(printf '%s\n' '[GPU idle between module executions] 80' '[GPU idle during module execution] 20')"
sed 's/	1$/	0/' "$T/periods" >"$T/marked"
equal '... and of marked steps it is' "$(nsysx-fold -q --by opcode "$T/marked" | grep -c 'between module executions. 240$')" 1

fails 'several folds require a file each' 2 'want -o FILE with a % in its name' nsysx-fold --by source,nvtx fold/step.tsv
done_testing
