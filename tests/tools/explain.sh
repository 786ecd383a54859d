#!/bin/sh
# nsysx-steps --explain: the causes of a slow step, and that differences add up to the difference of periods.
. "${0%/*}/../testlib.sh"

# Four steps of one device and thread: three of 100 ns, of which 80 compute, and one of 160 ns in which a kernel takes 20 more, an all-reduce is exposed for
# 25 and the host is 15 later. Every kernel's call ends when the kernel starts, 5 ns long; nothing else happens on the host.
#   step 0 [0,100) 1 [100,200) 2 [200,360) slow 3 [360,...)
stream() {
	printf '#nsysx\t2\n#profile\tprofile:i\nprofile\t0\n#device\tdevice:i\tprofile:i\tpid:i\ndevice\t0\t0\t7\n'
	printf '#call\tprofile:i\tcall:i\tpid:i\ttid:i\tstart:i\tdur:i\tname:s\tclass:s\tops:i\n'
	printf '#range\tprofile:i\trange:i\tpid:i\ttid:i\tdevice:i\tname:s\tstart:i\tdur:i\thost_start:i\thost_dur:i\n'
	printf '#op\tprofile:i\top:i\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\trange:i\tcall:i\ttid:i\thost_start:i\thost_dur:i\tcomm:i\n'
	awk -v OFS='\t' '
		function work(t, line) { printf "%d\t%s\n", t, line }
		function kernel(start, dur, name, comm,   n) {
			n = ++calls
			work((start - 5) * 10 + 1, "call" OFS 0 OFS n OFS 7 OFS 7 OFS start - 5 OFS 5 OFS "cudaLaunchKernel" OFS "launch" OFS 1)
			work(start * 10 + 3, "op" OFS 0 OFS n OFS "kernel" OFS 0 OFS name OFS start OFS dur OFS step OFS n OFS 7 OFS start - 5 OFS 5 OFS comm)
		}
		function begin(t, host, dur) { step++; work((t - 5) * 10 + 2, "range" OFS 0 OFS step OFS 7 OFS 7 OFS 0 OFS "step " step OFS t OFS dur OFS t - 5 OFS host) }
		BEGIN {
			for (i = 0; i < 2; i++) { begin(1000 + 100 * i, 90, 80); kernel(1000 + 100 * i, 50, "gemm", 0); kernel(1060 + 100 * i, 30, "norm", 0) }
			begin(1200, 150, 155); kernel(1200, 70, "gemm", 0); kernel(1270, 25, "ncclAllReduce", 1); kernel(1320, 30, "norm", 0)
			begin(1360, 90, 80); kernel(1360, 50, "gemm", 0); kernel(1420, 30, "norm", 0)
		}' | sort -n -s -k 1,1 | cut -f 2-
	printf '#end\trecords:i\nend\t28\n'
}
stream >"$T/raw"
awk -F'\t' -v OFS='\t' '$1 == "end" { $2 = n } !/^#/ { n++ } 1' "$T/raw" >"$T/s"
run nsysx-view "$T/s"
equal 'the stream is sorted' 0 "$status"

nsysx-steps -q --tsv --step '^step ' --each "$T/s" | cut -f 3,7,9 >"$T/each"
printf 'step\tstart\tperiod\n0\t1000\t100\n1\t1100\t100\n2\t1200\t160\n3\t1360\t\n' >"$T/want"
same 'periods as planted' "$T/want" "$T/each"

nsysx-steps -q --tsv --step '^step ' --explain "$T/s" | cut -f 3- >"$T/got"
awk -F'\t' 'NR > 1 { s += $7; if ($7 != $6 - $5) s += 1e6 } END { printf "%.0f\n", s }' "$T/got" >"$T/sums"
printf "60\n" >"$T/want"
same 'the differences add up to the difference of periods' "$T/want" "$T/sums"
# Kernels count for their range, whose name is shown without its number; so does a late host in the range.
printf 'collective\tncclAllReduce\t0\t25\t25\nrange\tstep #\t80\t100\t20\nidle\trange\t5\t20\t15\n' >"$T/want"
tail -n +2 "$T/got" | cut -f 3- >"$T/rows"
same 'the time of each thing, the largest difference first' "$T/want" "$T/rows"

# Three steps of 10,000 and one of 20,000 ns: in the latter gemm takes 2,000 longer, a 1, b 2 and c 30 longer, d 1 less, and the rest is idle time. All
# differences are 2,034 and 7,968 of idle time: less than 100.02 is small. Only one range is small, so it keeps its row.
spread() {
	echo 'device device=0'
	k=0 call=0
	for t in 0 10000 20000 40000; do
		k=$((k + 1)) at=$((t + 100))
		echo "range range=$k device=0 name=step start=$at dur=5000 host_start=$t host_dur=9000"
		slow=$((k == 3))
		for op in gemm,$((1000 + 2000 * slow)) a,$((100 + slow)) b,$((100 + 2 * slow)) c,$((100 + 30 * slow)) d,$((100 - slow)); do
			call=$((call + 1))
			echo "call call=$call start=$((at - 60)) dur=10 name=cudaLaunchKernel class=launch ops=1"
			echo "op name=${op%,*} start=$at dur=${op#*,} call=$call tid=1 host_start=$((at - 60)) host_dur=10"
			at=$((at + ${op#*,}))
		done
		call=$((call + 1))
		echo "call call=$call start=$((at - 60)) dur=10 name=cudaLaunchKernel class=launch ops=1 range=$k"
		echo "op name=late start=$at dur=$((50 + slow)) call=$call tid=1 host_start=$((at - 60)) host_dur=10 range=$k"
	done
}
spread | awk -f host/stream.awk >"$T/spread"
nsysx-steps -q --tsv --step step --explain "$T/spread" | tail -n +2 | cut -f 5- >"$T/got"
grep -v '^idle' "$T/got" >"$T/rows"
printf 'kernel\tgemm\t1000\t3000\t2000\nkernel\t[4 others]\t400\t432\t32\nrange\tstep\t50\t51\t1\n' >"$T/want"
same 'small differences are one row of their kind, unless only one is small' "$T/want" "$T/rows"
equal '... and all add up to the difference of periods' "$(awk -F'\t' '{ s += $5 } END { print s }' "$T/got")" 10000

# Two classes, one after the other, on two devices: in the third step of each the host is later, by another time.
classes() {
	k=0
	for d in 0 1; do
		echo "device device=$d"
		for class in a b; do
			late=$((d * 100 + 100)) t=1000
			[ $class = a ] || late=$((late + 200)) t=10000
			for at in $t $((t + 1000)) $((t + 2000)) $((t + 3000 + late)); do
				k=$((k + 1))
				echo "range range=$k tid=$((d + 1)) device=$d name=$class~step start=$at dur=500 host_start=$((at - 20)) host_dur=500"
				echo "call call=$k tid=$((d + 1)) start=$((at - 10)) dur=10 name=cudaLaunchKernel class=launch ops=1 range=$k"
				echo "op name=gemm device=$d start=$at dur=500 call=$k tid=$((d + 1)) host_start=$((at - 10)) host_dur=10 range=$k"
			done
		done
	done
}
classes | awk -f host/stream.awk >"$T/classes"
equal 'of each class and device the differences add up' "$(nsysx-steps -q --tsv --step '(a|b) step' --explain "$T/classes" |
	awk -F'\t' 'NR > 1 { s[$1 " " $2] += $9 } END { for (k in s) print k, s[k] }' | sort | tr '\n' ' ')" 'a 0 100 a 1 200 b 0 300 b 1 400 '

fails 'a percentile above 100 is wrong usage' 2 'nsysx-steps: --explain=101' nsysx-steps --explain=101 "$T/s"
fails '--each and --explain exclude each other' 2 'nsysx-steps: --each, --explain, --mark and --cut exclude each other' nsysx-steps --each --explain "$T/s"
done_testing
