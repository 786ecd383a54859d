#!/bin/sh
# nsysx-whatif: forecasts, the critical path and slack. Periods after a change are derived beside the streams; those of simulated jobs whose truth is
# known: tests/checks.list.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
# Periods that nsysx-whatif forecasts for FILE with each CHANGE, after the one that was measured.
forecast() {
	file=$T/$1
	shift
	for change; do set -- "$@" "--what=$change"; shift; done
	nsysx-whatif -q --tsv --step '^step' "$@" "$file" | awk -F'\t' 'NR == 2 { printf "%s", $3 } NR > 2 { printf " %s", $4 == "" ? "-" : $4 } END { print "" }'
}
# Column values of nsysx-whatif ARGS FILE.
shows() {
	for file; do :; done
	nsysx-whatif -q --tsv --step '^step' "$@" | awk -F'\t' 'NR > 1' | tr '\t' ' '
}

# Launch-bound: every 100 us a launch of 5 us, and 95 us of other work. The operation begins 6 us after the launch began, runs for 10, and the next one
# cannot begin less than 0.9 us after it (nothing tells the latency of streams here).
launches() {
	awk -v "steps=${1:-3}" 'BEGIN {
		print "device device=0 pid=1"
		for (i = 0; i < steps; i++) {
			t = i * 100000
			print "range range=" i " host_start=" t " host_dur=99000 start=" t + 6000 " dur=10000 name=step"
			print "call call=" i " start=" t " dur=5000 name=cudaLaunchKernel class=launch ops=1"
			print "op op=" i " stream=7 name=k start=" t + 6000 " dur=10000 call=" i " tid=1 host_start=" t " host_dur=5000 range=" i
		}
	}'
}
launches | stream launches
equal 'launch-bound: host work, calls and kernels' "$(forecast launches host=2 host=inf api=inf faster:k=2 faster:k=0.1 gaps=0 sync=0)" \
	'100000 52500 10900 95000 100000 100900 100000 100000'
{ launches; echo 'overhead start=130000 dur=10000 class=profiler'; echo 'overhead start=150000 dur=10000 class=queue-full'; } | stream profiled
equal 'overhead of the profiler, in one of two steps' "$(forecast profiled profiler=0)" '100000 95000'
launches 5 | stream five
equal 'the first of four and more is left out' "$(shows --critical=part "$T/five" | cut -d ' ' -f 1 | sort -u | paste -sd' ' -)" '1 2 3'

# The first of four periods takes 140 us: it is left out, which is said where the mean of all, 110 us, is another.
launches 5 | awk '{ for (i = 2; i <= NF; i++) if (split($i, part, "=") == 2 && part[1] ~ /start$/ && part[2] >= 100000) $i = part[1] "=" part[2] + 40000; print }' |
	stream longer
equal '... of which the mean is that of the others' "$(shows "$T/longer" | awk '{ print $2, $3, $(NF - 1), $NF }' | uniq)" '3 100000 4 110000'
equal '... also of the path' "$(shows --critical "$T/longer" | awk '{ sum += $2 } END { print sum, $(NF - 2), $(NF - 1), $NF }')" '100000 3 4 110000'
says '... which a line below the table says' 'the mean of 3 steps; that of all 4, as nsysx-steps and nsysx-diagnose have it, is 110.0 us; left out: 1, the first of a device' \
	sh -c 'nsysx-whatif --table --step ^step "$1" >&2' sh "$T/longer"
launches 6 | awk '/^range/ && !n++ { sub(/name=step/, "name=first") } { print }' | stream two
equal '... but not that of a class before which a step of another came' \
	"$(nsysx-whatif -q --tsv --step '^(first|step)' --what host=2 "$T/two" | awk -F'\t' 'NR == 2 { print $2, $3 }')" '4 100000'
equal '... and where none is left out none does' "$(nsysx-whatif --table --critical --step '^step' "$T/launches" | grep -c 'left out')" 0
# A kernel of 50 us that the host waits for, until 2 us after its end; the next launch comes 2 us later, or after a longer period. It may be later and
# so much shorter.
waits() {
	awk -v "waited=$1" -v "period=${2:-60000}" -v "late=${3:-0}" 'BEGIN {
		print "device device=0 pid=1"
		for (i = 0; i < 3; i++) {
			t = i * period
			print "range range=" i " host_start=" t " host_dur=59000 start=" t + 6000 + late " dur=" 50000 - late " name=step"
			print "call call=" 2 * i " start=" t " dur=5000 name=cudaLaunchKernel class=launch ops=1"
			print "op op=" i " stream=7 name=k start=" t + 6000 + late " dur=" 50000 - late " call=" 2 * i " tid=1 host_start=" t " host_dur=5000 range=" i
			print "call call=" 2 * i + 1 " start=" t + 6000 " dur=52000 name=cudaStreamSynchronize class=sync ops=0 blocking=1" \
				(waited ? " waited=" i : "")
		}
	}'
}
waits 1 | stream waits
equal 'calls that wait follow what they wait for' "$(forecast waits faster:k=2 sync=0 host=inf)" '60000 35000 50900 58000'
equal 'the path, by part' "$(shows --critical=part "$T/waits" | cut -d ' ' -f 1,3-5 | head -n 4)" '0 compute 50000 0.8333333333333334
0 gap 6000 0.1
0 api 2000 0.03333333333333333
0 host 2000 0.03333333333333333'
equal '... the mean of both steps' "$(shows --critical "$T/waits" | cut -d ' ' -f 1-4)" 'compute 50000 0.8333333333333334 2
gap 6000 0.1 2
api 2000 0.03333333333333333 2
host 2000 0.03333333333333333 2'
for what in mean part device op; do
	equal "... to people ns are a time, by $what" "$(nsysx-whatif -q --table --critical=$what "$T/waits" | head -n 1 | tr -s ' ' '\n' | grep -x 'ns\|time')" time
done
alike '... which is what it shows by default' "$(shows --critical "$T/waits")" "$(shows --critical=mean "$T/waits")"
equal '... by edge, in order of time' "$(shows --critical --each "$T/waits" | cut -d ' ' -f 3-8 | head -n 4)" '6000 50000 dur compute 0 
56000 2000 sync api  1
58000 2000 gap host  2
60000 6000 launch gap 1 '
equal '... by operation' "$(shows --critical=op "$T/waits")" 'k 0 2 100000 0.8333333333333334 49000'
# The path of device 1 is that of device 0, whose operation it awaits: it is on both.
stream shared <<'END'
device device=0 pid=1
device device=1 pid=1
range range=0 host_start=0 host_dur=9000 device=0 start=10000 dur=90000 name=step
range range=1 host_start=0 host_dur=9000 device=1 start=10000 dur=2000 name=step
range range=2 host_start=9000 host_dur=9000 device=0 start=101000 dur=5000 name=step
range range=3 host_start=9000 host_dur=9000 device=1 start=101000 dur=5000 name=step
call call=0 start=0 dur=1000 name=cudaLaunchKernel class=launch ops=1
call call=1 start=1000 dur=1000 name=cudaLaunchKernel class=launch ops=1
call call=2 start=10000 dur=1000 name=cudaLaunchKernel class=launch ops=1
call call=3 start=11000 dur=1000 name=cudaLaunchKernel class=launch ops=1
op op=0 stream=7 device=0 name=long start=10000 dur=90000 call=0 tid=1 host_start=0 host_dur=1000 range=0
op op=1 stream=7 device=1 name=short start=10000 dur=2000 call=1 tid=1 host_start=1000 host_dur=1000 range=1
op op=2 stream=7 device=0 name=next start=101000 dur=5000 call=2 tid=1 host_start=10000 host_dur=1000 range=2
op op=3 stream=7 device=1 name=next start=101000 dur=5000 call=3 tid=1 host_start=11000 host_dur=1000 range=3 after=0
END
equal 'an operation on two paths counts twice' "$(shows --critical=op "$T/shared" | cut -d ' ' -f 1-4)" 'long 0 2 180000'
# The kernel is an instruction that moves 20 MB at 1000 GB/s: 20 us.
{
	waits 1 | sed '/^op/s/$/ program=1 inst=1 execution=0/; /^device/s/$/ mem_bandwidth=1000000000000/'
	echo 'program program=1 name=step'
	echo 'inst program=1 inst=1 name=copy.1 opcode=copy flops=0 vector=0 mem_bytes=20000000'
	for i in 0 1 2; do echo "thunk program=1 inst=1 execution=$i occurrence=0 device=0 name=copy.1 start=$((60000 * i + 6000)) dur=50000"; done
} | stream limit
equal 'at the limit of the hardware' "$(forecast limit limit limit:copy limit=0.8 faster:copy.1=2)" '60000 30000 30000 35000 35000'
waits '' | stream unknown
equal 'no number where nobody knows what was waited for' "$(forecast unknown faster:k=2)" '60000 -'
# The call of 52 us worked all the time, or waited for the kernel, which takes 25 us less.
equal '... but a range' "$(nsysx-whatif -q --tsv --step '^step' --what faster:k=2 "$T/unknown" | awk -F'\t' 'NR == 3 { print $6 "," $7 }')" 0,25000
equal '... in which nothing is known of what the call did' "$(nsysx-whatif -q --tsv --step '^step' --what sync=0 "$T/unknown" | awk -F'\t' 'NR == 3 { print $6 "," ($7 < 60000 && $7 >= 9000) }')" 0,1
equal '... which the table says' "$(shows --what=host=1 "$T/unknown" | awk '$(NF - 2) > 0.8 { print $1 }' | paste -sd' ' -)" 'none host=1'
says '... and a warning, with limits and why' '86.7 % (limit 10 %) of the critical path is not explained, most of it in calls that are long for no known reason; calls that wait' \
	nsysx-whatif --tsv --step '^step' "$T/unknown"
grep -v ^call "$T/waits" >"$T/hostless"
equal 'without calls, the host may set the pace' "$(nsysx-whatif -q --tsv --step '^step' --what faster:k=2 "$T/hostless" | awk -F'\t' 'NR == 3 { print $4 "," $5 "," $6 }')" ,,0
says '... which is said, with what helps' 'no CUDA calls in the stream, so that when the host launched what is not known' nsysx-whatif --tsv --step '^step' "$T/hostless"
fails 'nothing is known of the host without its calls' 1 'no forecasts: no CUDA calls' nsysx-whatif --step '^step' --what host=2 --what sync=0 "$T/hostless"

# Changes that are made together; the kernels of launches() take 10 us, the host 95 between calls of 5.
equal 'several changes at once' "$(forecast launches host=2,faster:k=2 host=inf,api=inf host=inf,faster:k=inf,gaps=0 faster:k=2x,faster:k=2)" \
	'100000 52500 10900 5000 100000'
equal '... a row each' "$(shows --what host=2,api=2 --what host=2x "$T/launches" | cut -d ' ' -f 1,4 | paste -sd' ' -)" 'none 100000 host=2,api=2 50000 host=2x 52500'
fails '... each of which must be one' 2 'it takes no number' nsysx-whatif --what host=2,even=3 "$T/launches"
says '... of which one may name nothing' 'faster:no=2 names nothing in the stream: it saves nothing' nsysx-whatif --step '^step' --what host=2,faster:no=2 "$T/launches"
fails '... or all' 1 'names nothing in the stream' nsysx-whatif --step '^step' --what faster:not=2,faster:no=2 "$T/launches"
fails 'times are no shares' 2 'want a share of the limit' nsysx-whatif --what limit=0.8x "$T/launches"
fails '... nor bandwidths' 2 'want a number' nsysx-whatif --what bandwidth:all-reduce=100x "$T/launches"

# Kernels of which one name is part of the other, with letters that mean something in an expression.
waits 1 | awk '/^op/ { n++; sub("name=k", n == 2 ? "name=f<(int)1>(T*)" : "name=void~flash::flash_fwd_kernel<f<(int)1>(T*)>()") } { print }' | stream named
equal 'operations by their full name' "$(shows --what 'faster:name:f<(int)1>(T*)=inf' "$T/named" | tail -n 1 | awk '{ print $(NF - 5) }')" 24500
fails '... which is no expression' 1 'names nothing' nsysx-whatif --step '^step' --what 'faster:name:f=2' "$T/named"
equal '... as rows that nobody asked for have it' "$(nsysx-whatif -q --tsv --step '^step' "$T/named" | grep -c '^faster:name:')" 2
equal '... and may be asked for' "$(nsysx-whatif -q --tsv --step '^step' "$T/named" | awk -F'\t' '/^faster:name:/ { print $1 "\t" $5 }')" "$(
	nsysx-whatif -q --tsv --step '^step' "$T/named" | awk -F'\t' '/^faster:name:/ { print $1 }' | while read -r what; do
		nsysx-whatif -q --tsv --step '^step' --what "$what" "$T/named" | awk -F'\t' 'NR == 3 { print $1 "\t" $5 }'
	done)"
equal 'operations by their family' "$(shows --what faster:family:attention=inf "$T/named" | tail -n 1 | awk '{ print $(NF - 5) }')" 24500
equal '... and kind' "$(shows --what 'faster:family:attention:flash 2=inf' "$T/named" | tail -n 1 | awk '{ print $(NF - 5) }')" 24500
fails '... which is another' 1 'names nothing' nsysx-whatif --step '^step' --what 'faster:family:attention:flash 3=2' "$T/named"
# Of an instruction that runs as another kernel in every other step, so that of two steps one has the family.
for odd in 0 1; do
	{
		waits 1 | awk -v "odd=$odd" '/^op/ { $0 = $0 " program=1 inst=1 execution=" n; sub("name=k", "name=" (n++ % 2 == odd ? "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128" : "opt_fusion")) } { print }'
		echo 'program program=1 id=1 name=jit key=jit'
		echo 'inst program=1 inst=1 name=dot.1 opcode=fusion'
	} | stream family
	equal '... of an instruction with several kernels that of each' "$(forecast family faster:family:gemm=2 faster:dot.1=2)" '60000 47500 35000'
done

# Two streams: b waits for a, 2 us after it, and the host for b.
awk 'BEGIN {
	print "device device=0 pid=1"
	for (i = 0; i < 3; i++) {
		t = i * 62000
		print "range range=" i " host_start=" t " host_dur=61000 start=" t + 6000 " dur=52000 name=step"
		print "call call=" 3 * i " start=" t " dur=2000 name=cudaLaunchKernel class=launch ops=1"
		print "op op=" 2 * i " stream=7 name=a start=" t + 6000 " dur=40000 call=" 3 * i " tid=1 host_start=" t " host_dur=2000 range=" i
		print "call call=" 3 * i + 1 " start=" t + 3000 " dur=2000 name=cudaLaunchKernel class=launch ops=1"
		print "op op=" 2 * i + 1 " stream=8 name=b start=" t + 48000 " dur=10000 call=" 3 * i + 1 " tid=1 host_start=" t + 3000 " host_dur=2000 range=" i " after=" 2 * i
		print "call call=" 3 * i + 2 " start=" t + 6000 " dur=54000 name=cudaStreamSynchronize class=sync ops=0 blocking=1 waited=" 2 * i + 1
	}
}' | stream events
equal 'operations follow those that they wait for through events' "$(forecast events faster:a=2 faster:b=inf 'faster:^(a|b)$=2' gaps=0)" '62000 42000 52000 37000 60000'

# Operations that begin 26 us after their launch, for no known reason: in a period of 600 us little, in one of 60 too much.
waits 1 600000 20000 | stream doubtful
equal 'a little that is not known: a number, and a range' \
	"$(nsysx-whatif -q --tsv --step '^step' --what faster:k=inf "$T/doubtful" | awk -F'\t' 'NR == 3 { print $5 "," $6 "," $7 }')" 30000,30000,30000
says '... which a warning says' 'gains are between low and high: ' nsysx-whatif --step '^step' --what faster:k=inf "$T/doubtful"
equal '... of operations too' "$(shows --critical=op "$T/doubtful" | cut -d ' ' -f 1,3,4,6)" 'k 2 60000 30000'
waits 1 60000 20000 | stream refused
equal 'no forecasts, so no gains of operations' "$(shows --critical=op "$T/refused" | cut -d ' ' -f 1,3,4,6)" 'k 2 60000 '
says '... which a warning says' 'no gains: ' nsysx-whatif --step '^step' --critical=op "$T/refused"
# Two devices: x takes 20 us on one and 50 on the other, then an all-reduce whose transfer takes 10. From the fourth on steps have another name.
both() {
	awk -v "steps=${1:-3}" 'BEGIN {
		print "device device=0 pid=1"
		print "device device=1 pid=2"
		for (i = 0; i < steps; i++)
			for (d = 0; d < 2; d++) {
				t = i * 70900; n = 2 * i + d
				x = d ? 50000 : 20000
				who = " pid=" d + 1
				print "range range=" n who " host_start=" t " host_dur=70000 start=" t + 6000 " dur=60900 device=" d " name=step" (i < 3 ? "" : "s")
				print "call call=" 3 * n who " start=" t " dur=2000 name=cudaLaunchKernel class=launch ops=1"
				print "op op=" 2 * n " device=" d " stream=7 name=x start=" t + 6000 " dur=" x " call=" 3 * n " tid=1 host_start=" t " host_dur=2000 range=" n
				print "call call=" 3 * n + 1 who " start=" t + 3000 " dur=2000 name=cudaLaunchKernel class=launch ops=1"
				print "op op=" 2 * n + 1 " device=" d " stream=7 name=ncclDevKernel_AllReduce start=" t + 6900 + x " dur=" 60000 - x \
					" call=" 3 * n + 1 " tid=1 host_start=" t + 3000 " host_dur=2000 range=" n " comm=1 collective=all-reduce comm_id=1 group=2 bytes=1000"
				print "call call=" 3 * n + 2 who " start=" t + 6000 " dur=62900 name=cudaStreamSynchronize class=sync ops=0 blocking=1 waited=" 2 * n + 1
			}
	}'
}
both | stream both
equal 'a collective ends after the last has started' "$(forecast both transfer=inf transfer:all-reduce=2 transfer:all-reduce:1000=2 faster:x=2 nowait even)" \
	'70900 60900 65900 65900 45900 55900 55900'
equal 'the path of the one that waits leads through the other' "$(shows --critical=device "$T/both" | awk '$2 == 0 && $1 == 1 { print $3, $4 }')" '1 50900
0 20000'
equal '... and it has slack' "$(shows --slack --each "$T/both" | awk '$4 == "x" && $2 < 4 { print $3, $5 }')" '1 0
0 30000'
equal '... by step, but for the end of the last one' "$(shows --slack "$T/both")" '0 0 2 0 30000 30000 30000
0 1 2 1 0 0 30000
1 0 2 2 0 0 0
1 1 2 2 0 0 0'
both 6 | stream classes
equal 'of one class of steps, of equal ones the first by name' "$(nsysx-whatif -q --tsv --step '^(steps?)$' --what even "$T/classes" |
	awk -F'\t' 'NR > 1 { print $2, $3, $4 }' | tail -n 1)" '4 70900 55900'
equal '... which a note names' "$(nsysx-whatif -q --table --step '^(steps?)$' --what even "$T/classes" |
	grep -c 'of steps of class step, of 2 the one whose periods without a step of another take the most time;')" 1
equal '... by operation too: on the path of its two steps x of 50 us, without which each takes 30 us less' \
	"$(nsysx-whatif -q --tsv --step '^(steps?)$' --critical=op "$T/classes" | awk -F'\t' '$1 == "x" && $2 == 1 { print $3, $4, $6 }')" '4 200000 30000'
equal '... parts of a step of each sum to its period' "$(nsysx-whatif -q --tsv --step '^(steps?)$' --critical=part "$T/classes" |
	awk -F'\t' 'NR > 1 { ns[$1 " " $2 " " $3] += $5; share[$1 " " $2 " " $3] += $6 } END { for (s in ns) print s, ns[s], share[s] }' | sort)" '0 0 step 70900 1
0 0 steps 70900 1
0 1 step 70900 1
0 1 steps 70900 1
1 0 step 70900 1
1 0 steps 70900 1
1 1 step 70900 1
1 1 steps 70900 1'
equal '... and each step has its slack' "$(nsysx-whatif -q --tsv --step '^(steps?)$' --slack "$T/classes" | awk -F'\t' 'NR > 1 && $1 == 0 { print $2, $3, $4 }')" 'step 0 2
step 1 2
steps 0 2
steps 1 2'
sed 's/\tall-reduce\t1\t2\t/\tall-reduce\t\t\t/' "$T/both" >"$T/whose"
equal 'a communicator that is not known: of all devices, where collectives end together' "$(forecast whose transfer=inf faster:x=2 nowait)" '70900 60900 45900 55900'
# Ten times slower, and device 0 ends its all-reduce 1 us after device 1 began, 99 us before that ends.
awk -F'\t' -v OFS='\t' '
$1 == "call" { $6 *= 10; $7 *= 10 }
$1 == "range" { $10 *= 10; $11 *= 10; $12 *= 10; $13 *= 10 }
$1 == "op" { $7 *= 10; $8 *= 10; $16 *= 10; $17 *= 10; if ($4 == 0 && $6 ~ /^nccl/) $8 = 301000 }
1' "$T/whose" >"$T/apart"
equal '... of none, where they do not' "$(shows --critical=device "$T/apart" | awk '$1 == 0 && $2 == 0 { print $3 }')" 0
sed 's/\tall-reduce\t\t\t/\tall-reduce\t1\t2\t/' "$T/apart" >"$T/known"
equal '... but for one that is known' "$(shows --critical=device "$T/known" | awk '$1 == 0 && $2 == 0 { print $3 }' | sort | paste -sd' ' -)" '0 1'
for change in transfer:all-gather=2 transfer:all-reduce:999=2 faster:gemm=2 nowait:7 limit; do
	fails "a change that names nothing: $change" 1 "$change names nothing in the stream" nsysx-whatif --step '^step' --what "$change" "$T/both"
done
fails '... of communication: what to use' 1 'communication of that name: use transfer:all-reduce=2' nsysx-whatif --step '^step' --what 'faster:^ncclDevKernel=2' "$T/both"
says '... which is a warning beside one that names something' 'transfer:all-gather=2 names nothing in the stream: it saves nothing' nsysx-whatif --step '^step' --what transfer:all-gather=2 --what even "$T/both"
equal 'a device that nobody waits for: the step of the others' "$(forecast both nowait:1 nowait:0 nowait:0,1 nowait:0-1)" '70900 40900 70900 55900 55900'
equal '... of two in one row: of both' "$(forecast both nowait:0,nowait:1 even,nowait:0,nowait:1)" '70900 55900 55900'
for change in nowait:x nowait: nowait:1-0 'nowait:0;1' limit=2 limit=0 limit:a=b=1.5 copies copies:x=2; do
	fails "no such change: $change" 2 'usage' nsysx-whatif --what "$change" "$T/both"
done

# A queue of 4: launch k returns when operation k - 4 ends. Operations take 10 us and follow each other after 0.9; launches take 1 us themselves.
awk 'BEGIN {
	print "device device=0 pid=1"
	for (k = 0; k < 80; k++) {
		s = 6000 + 10900 * k
		a = k ? b + 500 : 0
		e = 16000 + 10900 * (k - 4)
		b = k < 4 || e < a + 1000 ? a + 1000 : e
		if (k % 20 == 0)
			begin = a
		print "call call=" k " start=" a " dur=" b - a " name=cudaLaunchKernel class=launch ops=1" (b > a + 1000 ? " stalled=" b - a - 1000 " waited=" k - 4 : "")
		print "op op=" k " stream=7 name=k start=" s " dur=10000 call=" k " tid=1 host_start=" a " host_dur=" b - a " range=" int(k / 20)
		if (k % 20 == 19)
			print "range range=" int(k / 20) " host_start=" begin " host_dur=" b - begin " start=" s - 19 * 10900 " dur=" 20 * 10900 - 900 " name=step"
	}
}' | stream queue
equal 'launches wait for room in the queue' "$(forecast queue faster:k=2 host=inf)" '218000 118000 218000'
# A host that launches on two devices in turns, and those on device 1 are held up until the operation three before on device 0 has ended: that is no
# depth of either queue.
awk 'BEGIN {
	print "device device=0 pid=1"
	print "device device=1 pid=1"
	for (i = 0; i < 40; i++) {
		a = 990000 + (i < 4 ? 10000 * i : 100000 * i - 277000)
		b = a + (i < 3 ? 6000 : 7000)
		stall = i < 3 ? 0 : 811000 + 100000 * i - b - 2000
		print "range range=" 2 * i " host_start=" a " host_dur=6000 device=0 start=" 1010000 + 100000 * i " dur=100000 name=step"
		print "range range=" 2 * i + 1 " host_start=" a " host_dur=6000 device=1 start=" b + stall + 5000 " dur=5000 name=step"
		print "call call=" 2 * i " start=" a " dur=5000 name=cudaLaunchKernel class=launch ops=1"
		print "call call=" 2 * i + 1 " start=" b " dur=" 2000 + stall " name=cudaLaunchKernel class=launch ops=1" (stall ? " stalled=" stall " waited=" 2 * i - 6 : "")
		print "op op=" 2 * i " stream=7 name=a start=" 1010000 + 100000 * i " dur=100000 call=" 2 * i " tid=1 host_start=" a " host_dur=5000 range=" 2 * i
		print "op op=" 2 * i + 1 " device=1 stream=7 name=b start=" b + stall + 5000 " dur=5000 call=" 2 * i + 1 " tid=1 host_start=" b " host_dur=" 2000 + stall " range=" 2 * i + 1
	}
}' | stream apart
equal 'launches that wait for another device tell no depth' "$(forecast apart faster:a=2 faster:b=2)" '100000 50000 100000'

# Two threads hand over to each other: f is launched by one, 10 us later b by the other, and 60 us later f again.
awk 'BEGIN {
	print "device device=0 pid=1"
	for (i = 0; i < 5; i++) {
		t = i * 80000
		print "range range=" i " host_start=" t " host_dur=79000 start=" t + 6000 " dur=17000 name=step"
		print "call call=" 2 * i " start=" t " dur=5000 name=cudaLaunchKernel class=launch ops=1"
		print "op op=" 2 * i " stream=7 name=f start=" t + 6000 " dur=2000 call=" 2 * i " tid=1 host_start=" t " host_dur=5000 range=" i
		print "call call=" 2 * i + 1 " tid=2 start=" t + 15000 " dur=5000 name=cudaLaunchKernel class=launch ops=1"
		print "op op=" 2 * i + 1 " stream=7 name=b start=" t + 21000 " dur=2000 call=" 2 * i + 1 " tid=2 host_start=" t + 15000 " host_dur=5000"
	}
}' | stream threads
equal 'a thread waits for another one' "$(forecast threads host=2 api=inf)" '80000 45000 70000'

# A graph traced by node: n2 and n3 follow n1, n4 both. n2 takes 20 us; n3 10, and 30 in every other launch, so that n4 follows now the one, now the other.
awk 'BEGIN {
	print "device device=0 pid=1"
	t = 0
	for (i = 0; i < 6; i++) {
		n3 = i % 2 ? 30000 : 10000
		n4 = 16900 + (n3 > 20000 ? n3 : 20000) + 900
		who = " call=" 2 * i " tid=1 host_start=" t " host_dur=5000 range=" i
		print "range range=" i " host_start=" t " host_dur=" n4 + 8900 " start=" t + 6000 " dur=" n4 - 1000 " name=step"
		print "call call=" 2 * i " start=" t " dur=5000 name=cudaGraphLaunch class=graph-launch ops=4"
		print "op op=" 4 * i " stream=7 name=n1 graph_node=1 start=" t + 6000 " dur=10000" who
		print "op op=" 4 * i + 1 " stream=7 name=n2 graph_node=2 start=" t + 16900 " dur=20000" who
		print "op op=" 4 * i + 2 " stream=8 name=n3 graph_node=3 start=" t + 16900 " dur=" n3 who
		print "op op=" 4 * i + 3 " stream=7 name=n4 graph_node=4 start=" t + n4 " dur=5000" who
		print "call call=" 2 * i + 1 " start=" t + 6000 " dur=" n4 + 1000 " name=cudaStreamSynchronize class=sync ops=0 blocking=1 waited=" 4 * i + 3
		t += n4 + 9000
	}
}' | stream graph
equal 'nodes of graphs follow each other' "$(forecast graph faster:n3=inf faster:n2=inf faster:n4=inf faster:n1=2)" '51800 46800 46800 46800 46800'

# The first kernel takes 12 us beside communication, the second 10 without; it waits for the communication, which takes 20.
awk 'BEGIN {
	print "device device=0 pid=1"
	for (i = 0; i < 5; i++) {
		t = i * 40900
		who = " tid=1 range=" i " host_dur=1000 host_start="
		print "range range=" i " host_start=" t " host_dur=40000 start=" t + 6000 " dur=30900 name=step"
		print "call call=" 4 * i " start=" t " dur=1000 name=cudaLaunchKernel class=launch ops=1"
		print "call call=" 4 * i + 1 " start=" t + 1000 " dur=1000 name=cudaLaunchKernel class=launch ops=1"
		print "call call=" 4 * i + 2 " start=" t + 2000 " dur=1000 name=cudaLaunchKernel class=launch ops=1"
		print "op op=" 3 * i " stream=8 name=ncclDevKernel_AllReduce start=" t + 6000 " dur=20000 call=" 4 * i who t " comm=1 collective=all-reduce comm_id=1 group=1"
		print "op op=" 3 * i + 1 " stream=7 name=k start=" t + 6000 " dur=12000 call=" 4 * i + 1 who t + 1000
		print "op op=" 3 * i + 2 " stream=7 name=k start=" t + 26900 " dur=10000 call=" 4 * i + 2 who t + 2000 " after=" 3 * i
		print "call call=" 4 * i + 3 " start=" t + 4000 " dur=34900 name=cudaStreamSynchronize class=sync ops=0 blocking=1 waited=" 3 * i + 2
	}
}' | stream beside
equal 'kernels are faster without communication beside them' "$(shows --what transfer=inf "$T/beside" | awk 'NR == 2 { print $3, $4, $5, $6, $7 }')" \
	'40900 30900 10000 8000 10000'

# More of them than are made at once, and few.
changes='transfer=inf transfer=2 transfer=0.5 faster:k=2 faster:k=inf faster:k=0.7 host=2 host=inf gaps=0 sync=0 api=2 even nowait faster:k=3,transfer=2 transfer=4'
alone=$(for change in $changes; do shows --what "$change" "$T/beside" | sed 1d; done)
for n in 2 3 7 15; do
	some=$(printf '%s\n' $changes | head -n $n)
	equal "each of $n changes saves what it does alone, beside communication" "$(shows $(printf ' --what %s' $some) "$T/beside" | sed 1d)" \
		"$(printf '%s\n' "$alone" | head -n $n)"
done

for change in transfer=2,x=inf host=2,x=inf; do
	fails "one number: $change" 2 'it takes one number; what follows it is no change' nsysx-whatif --what "$change" "$T/beside"
done

# 100,000 operations and as many calls, of about 90 bytes each: with less memory than that they are in files, and all is as it was (Memory).
awk 'BEGIN {
	print "device device=0 pid=1"
	for (i = 0; i < 100000; i++) {
		t = i * 10000
		if (i % 10000 == 0)
			print "range range=" i " host_start=" t " host_dur=99999000 start=" t + 6000 " dur=99995000 name=step"
		print "call call=" i " start=" t " dur=5000 name=cudaLaunchKernel class=launch ops=1"
		print "op op=" i " stream=7 name=k start=" t + 6000 " dur=9000 call=" i " tid=1 host_start=" t " host_dur=5000"
	}
}' | stream many
case $B in
*san*) skip 'memory for what is live' 'sanitizers take memory of their own' ;;
*)
	for form in '' --critical=op --slack; do
		nsysx-whatif -q --step '^step' --tsv $form -o "$T/want" "$T/many"
		ok "memory for what is live${form:+: $form}" nsysx-whatif -q --step '^step' --tsv $form --max-memory=12M -o "$T/got" "$T/many"
		same "... and all is as it was${form:+: $form}" "$T/want" "$T/got"
	done
	fails 'without a folder for files it fails, and names it' 1 /nonexistent env TMPDIR=/nonexistent nsysx-whatif -q --step '^step' --max-memory=12M "$T/many" ;;
esac
# From a pipe: what is read once needs no file, the rest does.
piped() { sh -c 'f=$1; shift; cat "$f" | TMPDIR=/nonexistent nsysx-whatif -q "$@" 2>&1' sh "$T/launches" "$@" | grep -c '^nsysx-whatif: .*/nonexistent'; }
equal 'which forms keep a stream from a pipe' "$(piped --step '^step' --slack) $(piped --step '^step' --what=host=2) $(piped --step '^step') $(piped --slack) $(
	piped --step '^step' --what=limit)" '0 0 1 1 1'
# Lags of 40 ms and more are kept elsewhere: every 400 ms a launch, and a kernel of 300 ms.
awk 'BEGIN {
	print "device device=0 pid=1"
	for (i = 0; i < 3; i++) {
		t = i * 400000000
		print "range range=" i " host_start=" t " host_dur=399000000 start=" t + 6000 " dur=300000000 name=step"
		print "call call=" 2 * i " start=" t " dur=5000 name=cudaLaunchKernel class=launch ops=1"
		print "op op=" i " stream=7 name=k start=" t + 6000 " dur=300000000 call=" 2 * i " tid=1 host_start=" t " host_dur=5000 range=" i
		print "call call=" 2 * i + 1 " start=" t + 6000 " dur=300002000 name=cudaStreamSynchronize class=sync ops=0 blocking=1 waited=" i
	}
}' | stream long
equal 'long kernels, and a long time between calls' "$(forecast long faster:k=2 host=2 host=inf)" '400000000 250000000 350004000 300008000'

# The same in binary, from a pipe, and of a device alone.
for file in launches waits both queue; do
	nsysx-whatif -q --step '^step' "$T/$file" >"$T/want"
	nsysx-view -b "$T/$file" | nsysx-whatif -q --step '^step' -o "$T/got"
	ok "$file: binary, from a pipe" cmp "$T/want" "$T/got"
done

for change in faster faster=2 faster:=2 'faster:(=2' faster:k=0 faster:k=-1 faster:k=x faster:k=nan faster:k=1e400 host=0.00099 bandwidth:all-reduce=1e-18 nowait=1 nowait:x sync=1 sync host gaps:x=0 host:x=2 bandwidth=2 nothing=1; do
	fails "--what $change" 2 "nsysx-whatif: " nsysx-whatif --what "$change" "$T/waits"
done
fails '--critical=thing' 2 'want mean, part, device, op or edge' nsysx-whatif --critical=thing "$T/waits"
fails '--critical and --slack' 2 'exclude each other' nsysx-whatif --critical --slack "$T/waits"
fails '--each alone' 2 'goes with' nsysx-whatif --each "$T/waits"
fails 'no such range' 1 'stop' nsysx-whatif --step '^stop' "$T/waits"
done_testing
