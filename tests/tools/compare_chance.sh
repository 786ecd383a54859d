#!/bin/sh
# nsysx-compare, rows that change on some devices only: small streams with known changes, and equal jobs, of which the
# devices have other speeds in each run: hardly any pair may alarm, and a planted growth must be found.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

# A stream of one program, six executions: FIRST is the number of the first device; then for each device the time of
# mm, ns. MODULE is the time of an execution; what mm leaves of 900000 ns is computed by rest, the same on all devices.
spread() {
	awk -v OFS='\t' -v first="$1" -v module="$2" -v times="$3" 'BEGIN {
		n = split(times, t, " ")
		print "#nsysx", 2
		print "#device", "device:i", "profile:i", "name:s"
		print "#program", "program:i", "id:i", "name:s", "fingerprint:s", "key:s"
		print "#inst", "program:i", "inst:i", "name:s", "opcode:s", "comm:i", "op_name:s", "stack:i"
		print "#module", "profile:i", "program:i", "execution:i", "device:i", "start:i", "dur:i"
		print "#thunk", "profile:i", "program:i", "execution:i", "device:i", "inst:i", "occurrence:i", "name:s", "start:i", "dur:i", "hidden:i", "comm:i"
		for (d = 0; d < n; d++) { print "device", first + d, 0, "GPU"; k++ }
		print "program", 0, 7, "step", "", "step@7"
		print "inst", 0, 0, "mm", "dot", "", "", ""
		print "inst", 0, 1, "rest", "fusion", "", "", ""
		k += 3
		for (e = 0; e < 6; e++) {
			for (d = 0; d < n; d++) { print "module", 0, 0, e, first + d, e * 2000000, module; k++ }
			for (d = 0; d < n; d++) { print "thunk", 0, 0, e, first + d, 0, 0, "mm", e * 2000000 + 1, t[d + 1] + 100 * (e % 3 - 1), "", ""; k++ }
			for (d = 0; d < n; d++) { print "thunk", 0, 0, e, first + d, 1, 0, "rest", e * 2000000 + 500000, 400000, "", ""; k++ }
		}
		print "#end", "records:i"
		print "end", k
	}'
}
# mm CLAIM WANT FIRST BASE NEW: the verdict of mm between those times, on devices from FIRST on in NEW.
mm() {
	spread 0 1000000 "$4" >"$T/a"
	spread "$3" 1000000 "$5" >"$T/b"
	for by in thunk opcode; do
		equal "$1, by $by" "$(nsysx-compare -q --tsv --by $by "$T/a" "$T/b" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "verdict") v = i; next }
			/\t(mm|dot)\t/ { print $v }')" "$2"
	done
}
even='100000 100000 100000 100000'
mm 'one device of four' uneven 0 "$even" '100000 100000 100000 112000'
mm 'two of four' uneven 0 "$even" '106000 100000 100000 106000'
mm 'three of four' slower 0 "$even" '103000 103000 104000 101000'
mm 'also faster' uneven 0 "$even" '100000 100000 100000 88000'
mm 'all faster' faster 0 "$even" '95000 95000 95000 95000'
mm 'some slower, some faster, as a mean slower' uneven 0 "$even" '108000 108000 96000 97000'
mm 'one of two' uneven 0 '100000 100000' '100000 106000'
mm 'both of two' slower 0 '100000 100000' '103000 105000'
mm 'a single device' slower 0 100000 106000
mm 'other numbers are matched in order' uneven 8 "$even" '100000 100000 100000 112000'
mm 'other numbers, all' slower 8 "$even" '105000 105000 105000 105000'
mm 'devices with other times in BASE too' same 0 '100000 104000 100000 104000' '100000 104000 100000 104000'
mm 'half as many devices: those that both have' slower 0 "$even" '104000 104000'
spread 0 1000000 "$even" >"$T/a"
spread 0 1000000 '100000 100000 100000 112000' >"$T/b"
spread 0 1050000 '100000 100000 100000 112000' >"$T/c"
gate 'an uneven row is no regression' 0 '' "$T/a" "$T/b"
gate 'but a program that takes longer is' 1 'slower: step: 1.050 ms per execution' "$T/a" "$T/c"
equal 'nor is it a change' "$(nsysx-compare -q --tsv --changed "$T/a" "$T/b" | columns name,verdict)" ''
equal 'which the title of Markdown counts' "$(nsysx-compare -q --markdown "$T/a" "$T/b" | head -n 1)" '**same** by thunk: 0 slower, 1 uneven, 1 same'

# A stream of operations of communication: the time of those of each device. The device whose records are shortest waits least.
waits() {
	awk -v OFS='\t' -v times="$1" 'BEGIN {
		n = split(times, t, " ")
		print "#nsysx", 2
		print "#device", "device:i", "profile:i", "name:s"
		print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "comm:i"
		for (d = 0; d < n; d++) { print "device", d, 0, "GPU"; k++ }
		for (e = 0; e < 6; e++)
			for (d = 0; d < n; d++) { print "op", 0, k, "kernel", d, 7, "ncclDevKernel_AllReduce", e * 1000000, t[d + 1] + 10 * (e % 3), 1; k++ }
		print "#end", "records:i"
		print "end", k
	}'
}
waits '50000 90000' >"$T/a"
waits '50000 99000' >"$T/b"
waits '60000 99000' >"$T/c"
gate 'a device that waits longer has no slower kernel' 0 '' --by kernel "$T/a" "$T/b"
equal 'its time is shifted' "$(nsysx-compare -q --tsv --by kernel "$T/a" "$T/b" | columns verdict)" shifted
gate 'if the one that waits least takes longer it is slower' 1 'slower: ncclDevKernel_AllReduce: ' --by kernel "$T/a" "$T/c"
waits '50000 50000 50000 90000' | sed 's/nccl[A-Za-z_]*\t\([0-9]*\)\t\([0-9]*\)\t1$/gemm\t\1\t\2\t/' >"$T/a"
waits '50000 50000 50000 180000' | sed 's/nccl[A-Za-z_]*\t\([0-9]*\)\t\([0-9]*\)\t1$/gemm\t\1\t\2\t/' >"$T/b"
warning='rows slower on half of the devices or fewer: uneven, not slower; --by step and --by device judge devices'
gate 'a kernel twice as slow on one device is uneven, and a warning tells so' 0 "$warning" --by kernel "$T/a" "$T/b"
gate 'one twice as fast' 0 '' --by kernel "$T/b" "$T/a"
ok 'is no reason for a warning' sh -c '! grep -q uneven "$1"' - "$T_private/err"
# many FIRST DUR: a kernel on 2500 devices, five times on each.
many() {
	awk -v OFS='\t' -v first="$1" -v dur="$2" 'BEGIN {
		print "#nsysx", 2
		print "#device", "device:i", "profile:i", "name:s"
		print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i"
		for (d = 0; d < 2500; d++) { print "device", first + d, 0, "GPU"; k++ }
		for (i = 0; i < 12500; i++) { print "op", 0, i, "kernel", first + i % 2500, 7, "gemm", i * 100000, dur; k++ }
		print "#end", "records:i"
		print "end", k
	}'
}
many 0 50000 >"$T/a"
many 5000 60000 >"$T/b"
equal 'thousands of devices are matched in order of their numbers, within seconds' "$(timeout 10 nsysx-compare -q --tsv --by kernel "$T/a" "$T/b" | columns verdict)" slower

# ---- equal jobs ----
SYNTH=$B/tests/synth/nsysx-synth
if [ ! -x "$SYNTH" ]; then
	skip 'pairs of equal jobs' 'there is no nsysx-synth'
	done_testing
	exit
fi
# job NAME ARGS: the stream of a job of two processes after its warm-up.
job() {
	name=$1
	shift
	"$SYNTH" -q -o "$T/$name.d" "$@" >"$T/null" || fail "the job $name" 'nsysx-synth failed' "$*"
	nsysx-extract -q --ops -x "$T/$name.d/dump0" "$T/$name.d/r0.sqlite" -x "$T/$name.d/dump1" "$T/$name.d/r1.sqlite" |
		nsysx-warmup -q | nsysx-overlap -q -o "$T/$name"
	rm -rf "$T/$name.d"
}
seeds='1 2 3 4 5 6 7 8'
for s in $seeds; do
	job "few.$s" --steps=6 --seed="$s"
	job "many.$s" --steps=22 --seed="$s"
	"$SYNTH" -q -o "$T/x" --seed="$s" --slow=nosuch:5 2>"$T/names"
	gemm=$(tr ' ,' '\n\n' <"$T/names" | grep '^cublas-gemm\.' | head -n 1)
	job "grown.$s" --steps=22 --seed="$s" --slow="$gemm:5"
done
# alarms BY BASE NEW: of all ordered pairs of seeds, how many alarm.
alarms() {
	n=0
	for a in $seeds; do for b in $seeds; do
		[ "$a" = "$b" ] && continue
		nsysx-compare -q --gate --by "$1" -o "$T/null" "$T/$2.$a" "$T/$3.$b" 2>"$T/err"
		[ $? -eq 1 ] && n=$((n + 1))
	done; done
	echo "$n"
}
for by in step module thunk opcode source device kernel collective; do
	n=$(alarms $by few few)
	ok "of 56 pairs of equal jobs of six steps, at most 2 alarm by $by" test "$n" -le 2
done
n=$(alarms thunk many grown)
ok 'a kernel that takes 5 % longer is found in 9 of 10 pairs of longer jobs' test "$n" -ge 50
n=0
for s in $seeds; do
	nsysx-compare -q --gate --by thunk -o "$T/null" "$T/many.$s" "$T/grown.$s" 2>"$T/err"
	[ $? -eq 1 ] && n=$((n + 1))
done
equal 'and in all on the same devices' "$n" 8

# ---- recordings of other lengths ----
# PyTorch's jobs of 30 and of 33 steps: by whole runs the longer one takes a tenth longer.
for j in '30 1' '33 2'; do
	"$SYNTH" -q -o "$T/torch.d" --torch --steps="${j% *}" --seed="${j#* }" >"$T/null"
	nsysx-extract -q -a "$T/torch.d/r0.sqlite" "$T/torch.d/r1.sqlite" | nsysx-overlap -q -o "$T/torch.${j% *}"
	rm -rf "$T/torch.d"
done
for by in device step range kernel collective; do
	gate "33 steps are no slower than 30, by $by" 0 '' --by $by "$T/torch.30" "$T/torch.33"
	gate "nor are 30 slower than 33, by $by" 0 '' --by $by "$T/torch.33" "$T/torch.30"
done
equal 'and no device is faster' "$(nsysx-compare -q --tsv --by device "$T/torch.33" "$T/torch.30" | columns verdict | sort | uniq -c | tr -s ' \n' ' ')" ' 10 same 2 unknown '
done_testing
