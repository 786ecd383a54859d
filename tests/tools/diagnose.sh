#!/bin/sh
# nsysx-diagnose: gains, computed by hand; its parts add up; it reports analyses that were not possible. Jobs with a
# planted cause: tests/tools/runbook.sh.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
# findings FILE OPTION...: rank, finding and gain of each row.
findings() {
	file=$1
	shift
	nsysx-diagnose -q --tsv "$@" "$T/$file" | awk -F'\t' 'NR > 1 { print $1, $2, $3 }'
}
# shown FILE FINDING OPTION...: what the command of the finding prints.
shown() {
	file=$1 finding=$2
	shift 2
	nsysx-diagnose -q --tsv --min 0 "$@" "$T/$file" | awk -F'\t' -v f="$finding" '$2 == f { gsub(/\\\\/, "\\", $6); print $6; exit }' >"$T/command"
	sh "$T/command" 2>/dev/null
}
# where_of FILE OPTION...: part, cause and ns of each row.
where_of() {
	file=$1
	shift
	nsysx-diagnose -q --where --tsv "$@" "$T/$file" | awk -F'\t' 'NR > 1 { print $1 ($3 == "" ? "" : ":" $3), $5 }'
}
says() {
	claim=$1 text=$2
	shift 2
	run "$@"
	if [ "$status" -eq 0 ] && tr -s '\n ' '  ' <"$T_private/out" | grep -qF -e "$text"; then pass "$claim"; else fail "$claim" "status $status, or it does not say: $text" "$@"; fi
}

# ---- four steps of 1,000 ns, three of which end: their host waits for the first kernel, does something for 80 ns, launches the next
steps() {
	echo 'device device=0 last=4860'
	echo 'program program=0 id=7 name=step key=step@7'
	for k in 0 1 2 3; do
		b=$((k * 1000 + 1000)) c=$((k * 10))
		cat <<END_STEP
module program=0 execution=$k device=0 start=$b dur=860 name=step
call call=$((c + 1)) start=$((b - 100)) dur=10 name=cudaLaunchKernel class=launch ops=1
op name=dot start=$b dur=300 call=$((c + 1)) tid=1 host_start=$((b - 100)) host_dur=10
call call=$((c + 2)) start=$((b + 50)) dur=270 name=cudaStreamSynchronize class=sync blocking=1
call call=$((c + 3)) start=$((b + 400)) dur=10 name=cudaLaunchKernel class=launch ops=1
op name=add start=$((b + 415)) dur=185 call=$((c + 3)) tid=1 host_start=$((b + 400)) host_dur=10
call call=$((c + 4)) start=$((b + 420)) dur=10 name=cudaLaunchKernel class=launch ops=1
op name=ncclDevKernel_AllReduce start=$((b + 600)) dur=100 call=$((c + 4)) tid=1 host_start=$((b + 420)) host_dur=10 comm=1
call call=$((c + 5)) start=$((b + 440)) dur=10 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=h2d src=pinned dst=device bytes=600 start=$((b + 700)) dur=60 call=$((c + 5)) tid=1 host_start=$((b + 440)) host_dur=10
call call=$((c + 6)) start=$((b + 460)) dur=10 name=cudaLaunchKernel class=launch ops=1
op name=transpose_tile start=$((b + 760)) dur=100 call=$((c + 6)) tid=1 host_start=$((b + 460)) host_dur=10
END_STEP
	done
}
steps | stream job
# Of a step: the gap [300,415) after the host waited is drained, all of it; [860,1000) has 40 of host, 10 of launch, 90 of latency.
equal 'findings, the largest gain first; of equal ones the first rule' "$(findings job --min 0)" '1 blocking 115
2 layout 100
3 exposed-communication 100
4 idle:latency 90
5 copies 60
6 idle:host 40
7 idle:launch 10'
equal 'where a step goes, in three of them' "$(where_of job)" 'step 3000
compute 1755
comm 300
copy 180
idle:sync 60
idle:launch 60
idle:host 360
idle:latency 285'
equal 'what idle time differs by from where a step goes is told: 120 - 40' "$(nsysx-diagnose -q --tsv --min 0 "$T/job" | awk -F'\t' '$2 == "idle:host" { sub(/.*; without /, "", $5); print $5 }')" \
	'80 ns after waits of the host, which is blocking'
equal 'the step' "$(nsysx-diagnose -q --where --tsv "$T/job" | awk -F'\t' 'NR == 2 { print $4, $6, $7, $8, $9 }')" '3 1000 1000 1000 1'
equal 'findings that give too little are left out' "$(findings job --min 6 | wc -l | tr -d ' ')" 5
equal 'the verdict is that of nsysx-idle for the same window, behind computation where that is more: 1755 of 3000' "$(nsysx-diagnose -q --table "$T/job" | sed -n 3,5p | tr '\n' ' ')" \
	'computation is the largest part of 3 steps, 58.5 %; the next: device 0 is host-bound: 16.0 % of 3.0 us is idle time in which the host had not launched the next work; mostly host, 360 ns  '
equal 'commands name the stream, and run' "$(nsysx-diagnose -q --tsv "$T/job" | awk -F'\t' 'NR > 1 { print $6 }' | sort -u | while read -r c; do
	sh -c "$c" >/dev/null 2>&1 || echo "$c"
done)" ''
equal 'of standard input STREAM stands in them' "$(nsysx-diagnose -q --tsv <"$T/job" | awk -F'\t' 'NR == 2 { print $6 }')" 'nsysx-idle --steps --drained --list 20 STREAM'

# What the commands for idle time print adds up to the gain of all steps, whatever else is in the stream: a step more at the end, and work
# before the first.
sum_of() { awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { sum += $at["ns"] - drained * $at["drained"] } END { print sum + 0 }' drained="$1"; }
{ steps; echo 'op name=early start=100 dur=50'; } | stream more
for cause in latency host launch; do
	equal "idle:$cause: its gaps add up to it" "$(shown more "idle:$cause" | sum_of 1)" "$(nsysx-diagnose -q --tsv --min 0 "$T/more" | awk -F'\t' -v f="idle:$cause" '$2 == f { print 3 * $3 }')"
done
equal 'blocking: its gaps add up to it' "$(shown more blocking | sum_of 0)" "$(nsysx-diagnose -q --tsv --min 0 "$T/more" | awk -F'\t' '$2 == "blocking" { print 3 * $3 }')"
equal 'the table of steps is that of nsysx-idle --steps' "$(nsysx-idle -q --steps --tsv "$T/more" | awk -F'\t' 'NR > 1 { print $2 ($4 == "" ? "" : ":" $4), $5 }')" \
	"$(where_of more | sed 1d)"
cp "$T/job" "$T/it's a job"
equal 'names are quoted for the shell' "$(nsysx-diagnose -q --table "$T/it's a job" | grep -cF "/it'\\''s a job'")" 3
equal 'JSON has the keys of the table' "$(nsysx-diagnose -q --json "$T/job" | head -n 2 | tail -n 1 | cut -c 1-54)" '{"rank": 1, "finding": "blocking", "gain": 115, "perce'
says 'on a screen gains are no sums' 'each an upper bound taken alone: gains do not add up' nsysx-diagnose -q --table "$T/job"
says 'above it stands what to look at first' 'look first at cudaStreamSynchronize: blocking, up to 115 ns of a step, 11.5 % computation is the largest part of 3 steps, 58.5 %; the next: device 0 is host-bound' nsysx-diagnose -q --table "$T/job"
says 'each with what to do first' 'do first: do not wait for the GPU in every step' nsysx-diagnose -q --table "$T/job"
says 'three of them, and how many more' 'and 4 more: --top 0' nsysx-diagnose -q --table --min 0 "$T/job"
says 'no sizes: not looked at' 'not known: slow collectives: sizes of collectives are not in the export' nsysx-diagnose -q --table "$T/job"
says 'Markdown' '| idle: host | 120 ns | 12.0 % |' nsysx-diagnose -q --markdown "$T/job"
nsysx-view -b "$T/job" | nsysx-diagnose -q --markdown >"$T/a"
nsysx-diagnose -q --markdown <"$T/job" >"$T/b"
same 'binary and text give the same' "$T/a" "$T/b"

# ---- less than all of it

grep -v '^call' "$T/job" | nsysx-view --partial >"$T/nocalls"
says 'without calls' 'not known: causes of idle time: no CUDA calls in the stream: extract with -a' nsysx-diagnose -q --table "$T/nocalls"
grep -v -e '^call' -e '^op' "$T/job" | nsysx-view --partial >"$T/noops"
says 'without operations' 'what devices did is not known: no operations in the stream, extract with -a' nsysx-diagnose -q --table "$T/noops"
says '... the step is' 'step: 1.0 us mean, 1.0 us p50, 1.0 us p99 (the largest), from start to start, of 3' nsysx-diagnose -q --table "$T/noops"
grep -v -e '^module' "$T/job" | nsysx-view --partial >"$T/nosteps"
equal 'Markdown then says of what a gain is' "$(nsysx-diagnose -q --markdown "$T/nosteps" | grep -c 'possible gain | a device |')" 1
says 'steps that were named and are not there' 'not known: steps: none that is named has a next one' nsysx-diagnose -q --table --step nosuch "$T/job"
says 'without steps the whole time counts as one' 'no steps are known; the whole time of a device counts as one: 3.9 us' nsysx-diagnose -q --table "$T/nosteps"
equal '... and adds up to it' "$(where_of nosteps | awk 'NR == 1 { w = $2 } NR > 1 { s += $2 } END { print $1, w, s - w }')" 'idle:latency 3860 0'
equal '... of which the verdict is word for word the same' "$(nsysx-diagnose -q --markdown "$T/nosteps" | sed -n '3s/computation is the largest part, [0-9.]* %; the next: //p')" \
	"**$(nsysx-idle -q --tsv --verdict "$T/nosteps" | awk -F'\t' 'NR == 2 { print $NF }')**  "
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
says 'nothing at all' 'no GPU work in the stream' nsysx-diagnose -q --table "$T/empty"
equal 'nothing is a header' "$(nsysx-diagnose -q --tsv "$T/empty" | wc -l | tr -d ' ')" 1
says 'nothing is found: it says so' 'nothing was found that is worth 50 % of a step' nsysx-diagnose -q --table --min 50 "$T/job"

# ---- communication: two devices on one clock, four executions of 1,000 ns, the last of which is no step that ends

# devices N PER_PROFILE: their metadata, on one clock; and executions.
devices() {
	for d in $(seq 0 $(($1 - 1))); do
		[ $((d % $2)) -ne 0 ] || echo "profile profile=$((d / $2)) name=r$((d / $2)) host=${3:+$3$((d / $2))}"
		echo "device device=$d profile=$((d / $2)) pid=$((d + 1)) last=9000"
		echo "clock device=$d profile=$((d / $2)) offset=0 rate=0 ref=0 collectives=9 component=0"
		for k in 0 1 2 3; do echo "module profile=$((d / $2)) program=0 execution=$k device=$d start=$((k * 1000)) dur=900 name=step"; done
	done
	echo 'program program=0 id=7 name=step key=step@7'
}
# thunk INST DEVICE START DUR HIDDEN [PER_PROFILE]: in each step.
thunk() {
	for k in 0 1 2 3; do
		echo "thunk profile=$(($2 / ${6:-1})) program=0 execution=$k device=$2 inst=$1 occurrence=0 name=i$1 start=$((k * 1000 + $3)) dur=$4 hidden=$5 comm=1"
	done
}
collectives() {
	echo "groups groups=1 members=$1"
	for i in 1 2 3; do echo "inst program=0 inst=$i name=i$i opcode=reduce-scatter comm=1 collective=reduce-scatter bytes=$2 groups=1"; done
}
# i1 takes 50 ns, and device 0 comes 50 before device 1; i2 takes 200 of which 60 are hidden: 150 more than its like, 140 of them exposed.
# Exposed are (100 + 50 + 140 + 140) / 2 = 215 a step of a device; of that 25 are waiting and 140 those of i2. Who waits, waits 50.
{ devices 2 1; collectives 0,1 1000; thunk 1 0 100 100 0; thunk 1 1 150 50 0; thunk 2 0 300 200 60; thunk 2 1 300 200 60; } | stream slow
equal 'a collective that is slow beside its like, a device that is late, and the rest' "$(findings slow --min 0)" '1 slow-collective 140
2 late-device 50
3 exposed-communication 50'
equal 'the evidence: bus bandwidth, of 2 devices that of the bytes that a device keeps' "$(nsysx-diagnose -q --tsv "$T/slow" | awk -F'\t' 'NR == 2 { print $5 }')" \
	'reduce-scatter of 1.0 kB at 5.0 GB/s where similar ones reach 20.0: i2, 1 a step'
# Of the rest, 50 ns a step, all is in i1: what i2 has is told. The command ranks instructions by exposed time of all four steps, waiting included.
rest() { nsysx-diagnose -q --tsv --min 0 "$T/$1" | awk -F'\t' '$2 == "exposed-communication" { sub(/.*; /, "", $5); print $5 " / " $7 }'; }
equal 'the rest is where no other finding has it' "$(rest slow)" '50 ns of the rest in i1, 1.0 kB / i1'
equal 'its command: exposed time by instruction' "$(shown slow exposed-communication)" '1120 i2
600 i1'
# An instruction whose groups are each alone below another one, and above it together: 60 and 60 beside 100, of 4 devices a step 30 and 25.
{ devices 4 1; echo 'groups groups=2 members=0,1;2,3'; collectives 0,1,2,3 1000 | sed '/ inst=2 /s/groups=1/groups=2/'
	for d in 0 1 2 3; do thunk 1 $d 100 25 0; thunk 2 $d 300 30 0; done; } | stream meshed
equal 'an instruction has what all its groups have, and its share is named' "$(rest meshed)" '30 ns of the rest in i2, 1.0 kB, the largest of 2 / i2'
# Tables of Markdown end a cell at a bar, in code too; a name is neither the end of code nor a terminal's business.
cp "$T/slow" "$T/a|b\`c"
nsysx-diagnose -q --markdown "$T/a|b\`c" | sed -n 's/^| 1 |.*| \(`.*\) |$/\1/p' >"$T/command"
equal 'a command with bars is one cell of Markdown, and what it was' "$(sed 's/\\|/|/g; s/^`` \(.*\) ``$/\1/' "$T/command")" \
	"$(nsysx-diagnose -q --tsv "$T/a|b\`c" | awk -F'\t' 'NR == 2 { gsub(/\\\\/, "\\", $6); print $6 }')"
equal '... with no bar that ends a cell' "$(sed 's/\\|//g' "$T/command" | grep -c '|')" 0
sed "s/\(i2\|reduce-scatter\)/all\\\\x1b$(printf '\302\233\342\200\256')\\\\nreduce/g" "$T/slow" >"$T/steers"
for form in --table --markdown; do
	nsysx-diagnose -q --min 0 $form "$T/steers" >"$T/screen"
	equal "names steer no terminal: $form" "$(grep -c 'all?' "$T/screen")$(LC_ALL=C tr -d '\n -~' <"$T/screen" | od -An -tx1)" 1
done
# Half the bandwidth is not below half of it.
{ devices 2 1; collectives 0,1 1000; thunk 1 0 100 50 0; thunk 1 1 100 50 0; thunk 2 0 300 100 0; thunk 2 1 300 100 0; } | stream half
equal 'half of the bandwidth is not slow' "$(findings half --min 0)" '1 exposed-communication 150'
# Larger ones have it easier: with 5,000 bytes i2 is no like of i1.
{ devices 2 1; collectives 0,1 1000; thunk 1 0 100 200 0; thunk 1 1 100 200 0; thunk 2 0 400 200 0; thunk 2 1 400 200 0; } | sed 's/inst=2 name=i2\(.*\) bytes=1000/inst=2 name=i2\1 bytes=5000/' | stream larger
equal 'nor is it beside larger ones' "$(findings larger --min 0)" '1 exposed-communication 400'
# Three devices, each of which comes last to one collective: each time the two others wait 30, 90 in all for each of them.
{ devices 3 1; collectives 0,1,2 1000; for i in 1 2 3; do for d in 0 1 2; do
	if [ $((i - 1)) = $d ]; then thunk $i $d $((i * 100 + 30)) 50 0; else thunk $i $d $((i * 100)) 80 0; fi; done; done; } | stream turns
equal 'no device is the one that is late' "$(findings turns --min 0)" '1 exposed-communication 150
2 waiting 90'
# One of four is early: no device would end earlier if the last, with which the others are together, were as early.
{ devices 4 1; collectives 0,1,2,3 1000; thunk 1 0 100 100 0; for d in 1 2; do thunk 1 $d 149 51 0; done; thunk 1 3 150 50 0; } | stream early
equal 'a device that is early is no loss' "$(findings early --min 0 | grep -v exposed)" '2 late-device 1'
# Four devices of two hosts; 2 and 3 come last by turns.
late_host() {
	devices 4 2 $1
	collectives 0,1,2,3 1000
	for i in 1 2; do for d in 0 1 2 3; do
		if [ $((i + 1)) = $d ]; then thunk $i $d $((i * 100 + 30)) 50 0 2; else thunk $i $d $((i * 100)) 80 0 2; fi
	done; done
}
late_host node | stream host
equal 'but a host is: its devices are, by turns' "$(findings host --min 0)" '1 exposed-communication 100
2 late-host 60'
equal 'it is named' "$(nsysx-diagnose -q --tsv --min 0 "$T/host" | awk -F'\t' 'NR == 3 { print $5 }')" 'host or process node1 comes last to 2 collectives a step, and others wait 60 ns for it'
late_host '' | stream nohost
equal '... by its report where hosts are not known' "$(nsysx-diagnose -q --tsv --min 0 "$T/nohost" | awk -F'\t' 'NR == 3 { print $2, $5 }' | cut -c 1-29)" 'late-host host or process r1 '
grep -v '^clock' "$T/slow" | nsysx-view --partial >"$T/apart"
says 'clocks that cannot be compared' 'not known: late hosts and devices: clocks of devices cannot be compared: nsysx-align' nsysx-diagnose -q --table "$T/apart"
sed 's/\(^thunk.*\t\)60\t1$/\1\t1/' "$T/slow" >"$T/nohidden"
says 'not overlapped' 'what single collectives hide is not known, they count as exposed: nsysx-overlap' nsysx-diagnose -q --table "$T/nohidden"

# NCCL without XLA: communicator a has a slow all-reduce of 100 kB, 100 us where the others of 60 and 100 kB take 20.
{
	echo 'device device=0 last=9000000'
	echo 'device device=1 last=9000000'
	for k in 0 1 2 3 4; do for d in 0 1; do
		b=$((k * 1000000))
		echo "range range=$((k * 2 + d + 1)) tid=$((d + 1)) device=$d name=step_$k start=$b dur=900000 host_start=$b host_dur=900000"
		for i in 0 1 2 3 4; do
			echo "call call=$((k * 100 + d * 10 + i + 1)) tid=$((d + 1)) start=$((b + i * 1000)) dur=10 name=cudaLaunchKernel class=launch ops=1"
			[ $i -gt 0 ] || echo "op name=gemm device=$d start=$((b + 20000)) dur=500000 call=$((k * 100 + d * 10 + 1)) tid=$((d + 1)) host_start=$b host_dur=10"
		done
		for i in 1 2 3; do
			echo "op name=ncclDevKernel device=$d start=$((b + 500000 + i * 100000)) dur=$([ $i = 3 ] && echo 90000 || echo 20000) call=$((k * 100 + d * 10 + i + 1)) tid=$((d + 1)) host_start=$((b + i * 1000)) host_dur=10 comm=1 collective=all-reduce comm_id=a group=2 bytes=$([ $i = 3 ] && echo 110000 || echo 100000)"
		done
	done; done
} | stream nccl
# At 5 bytes a ns 110,000 bytes take 22,000 ns, 68,000 less.
equal 'of NCCL: sizes of one communicator are held against each other' "$(findings nccl | grep slow | cut -d ' ' -f 2-)" 'slow-collective 68000'
equal 'steps are ranges there' "$(nsysx-diagnose -q --where --tsv "$T/nccl" | awk -F'\t' 'NR == 2 { print $1, $4, $6 }')" 'step 8 1000000'

# ---- kernels

# Two kernels of 10 ns a step are waited for 15 ns each, until their call returns; one of 900 for 10.
{
	echo 'device device=0 last=5000'
	echo 'program program=0 id=7 name=step key=step@7'
	for k in 0 1 2 3; do
		b=$((k * 1000 + 1000)) c=$((k * 10))
		echo "module program=0 execution=$k device=0 start=$b dur=950 name=step"
		echo "call call=$((c + 1)) start=$((b - 50)) dur=10 name=cudaLaunchKernel class=launch ops=1"
		echo "op name=dot start=$b dur=900 call=$((c + 1)) tid=1 host_start=$((b - 50)) host_dur=10"
		for i in 0 1; do
			echo "call call=$((c + 2 + i)) start=$((b + 905 + i * 25)) dur=10 name=cudaLaunchKernel class=launch ops=1"
			echo "op name=tiny start=$((b + 915 + i * 25)) dur=10 call=$((c + 2 + i)) tid=1 host_start=$((b + 905 + i * 25)) host_dur=10"
		done
	done
} | stream tiny
equal 'kernels that are shorter than their launch' "$(findings tiny --min 0 | grep launch-bound | cut -d ' ' -f 2-)" 'launch-bound 30'
# The same, but the host does something for 30 us before each: that is no launching.
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { $6 *= 100; $7 *= 100 } $1 == "call" || $1 == "op" { n = $1 == "call" ? 6 : 7; $n *= 100; $(n + 1) *= 100 } $1 == "op" { $16 *= 100; $17 *= 100 } { print }' "$T/tiny" >"$T/long"
equal '... and are waited for by launching alone' "$(nsysx-launch -q "$T/long" | awk -F'\t' 'NR == 2 { print $8 / $2 }') $(findings long --min 0 | grep -c launch-bound)" '1500 1'
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { $6 *= 2000; $7 *= 2000 } $1 == "call" || $1 == "op" { n = $1 == "call" ? 6 : 7; $n *= 2000; $(n + 1) *= 2000 } $1 == "op" { $16 *= 2000; $17 *= 2000 } { print }' "$T/tiny" >"$T/longer"
equal 'longer, and it is the host' "$(nsysx-launch -q "$T/longer" | awk -F'\t' 'NR == 2 { print $8 / $2 }') $(findings longer --min 0 | grep -c launch-bound)" '30000 0'

# A device that moves a byte a ns: 100 bytes in 200 ns could be 125 at 80 %; 90 in 100 is near enough; a copy is told of as layout.
{
	echo 'device device=0 last=5000 sms=1 clock=1000000000 mem_bandwidth=1000000000 cc=80'
	echo 'program program=0 id=7 name=step key=step@7'
	echo 'inst program=0 inst=1 name=far opcode=fusion mem_bytes=100 flops=0 vector=0'
	echo 'inst program=0 inst=2 name=near opcode=fusion mem_bytes=90 flops=0 vector=0'
	echo 'inst program=0 inst=3 name=turn opcode=transpose mem_bytes=10 flops=0 vector=0'
	echo 'inst program=0 inst=4 name=loop_transpose_fusion.2 opcode=fusion mem_bytes=10 flops=0 vector=0'
	echo 'inst program=0 inst=5 name=input_reduce_transpose_fusion opcode=fusion mem_bytes=50 flops=0 vector=0'
	for k in 0 1 2 3; do
		echo "module program=0 execution=$k device=0 start=$((k * 1000)) dur=900 name=step"
		i=0
		for dur in 200 100 100 20 50; do
			i=$((i + 1))
			echo "thunk program=0 execution=$k device=0 inst=$i occurrence=0 name=i$i start=$((k * 1000 + i * 100)) dur=$dur comm=0"
		done
	done
} | stream roof
equal 'instructions far from their limit, and those that only move data' "$(findings roof --min 0)" '1 layout 120
2 roofline 75'
# What is 100 ns of work takes 200: 75 more than the 125 at 80 %, four times; the layouts, whose gain is larger, are not shown.
equal '... as the table has it' "$(shown roof roofline | cut -f 3,10,21)" 'name	headroom	gain
far	400	300'
equal '... and the layouts' "$(shown roof layout | cut -f 3,6,7)" 'name	count	total
turn	4	400
loop_transpose_fusion.2	4	80'

# Of PyTorch's copies those that change the type are work; names end where arguments begin.
stream torch <<'END_STREAM'
device device=0 last=300
op name=void~at::elementwise_kernel<(int)128,~at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda(int)>>(int) start=0 dur=40
op name=void~at::elementwise_kernel<(int)2,~at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda(int)>>(int) start=40 dur=20
op name=void~at::unrolled_kernel<at::direct_copy_kernel_cuda(int)>>(int) start=60 dur=30
op name=void~cudnn::nchwToNhwcKernel<float>(int) start=90 dur=10
op name=gemm start=100 dur=100
END_STREAM
equal 'kernels that only move data' "$(nsysx-diagnose -q --tsv "$T/torch" | awk -F'\t' '$2 == "layout" { print $3, $5 }')" \
	'70 3 kernels a device only copy or transpose; most: at::elementwise_kernel<..direct_copy_kernel..> 60 ns, cudnn::nchwToNhwcKernel 10 ns'
equal '... and their rows' "$(shown torch layout | cut -f 4)" 'total
40
20
10'

# Executions of 1,000, 1,000, 1,000 and 1,600 ns: half a step of 1,150 is not p50.
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { print; if ($4 == 3) { $4 = 4; $6 += 1600; print } next } $1 == "end" { $2++ } { print }' "$T/roof" |
	grep -v '^thunk' | nsysx-view --partial >"$T/jitter"
equal 'steps that vary' "$(findings jitter --min 0)" '1 variability 150'
equal '... not at their beginning' "$(nsysx-diagnose -q --tsv "$T/jitter" | grep -c warmup)" 0
equal 'its command has the steps that were named' "$(nsysx-diagnose -q --tsv --module 'step@7' <"$T/jitter" | awk -F'\t' 'NR == 2 { print $6 }')" \
	'nsysx-steps --explain --module step@7 STREAM'
# The first three end at 1,600, 2,600 and 3,600.
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { if ($4 > 0) $6 += 600 - ($4 == 4) * 600 } { print }' "$T/jitter" >"$T/first"
variable() { nsysx-diagnose -q --tsv "$@" | awk -F'\t' '$2 == "variability" { print $2, $3, $5 }' | sed 's/p99 .* p50; //'; }
equal 'or there, where nothing is initialisation' "$(variable "$T/first")" "variability 150 more than half of that is of each device's first two"
awk -F'\t' '$1 == "inst" && !done++ { print "#compile\tprofile:i\tstart:i\tdur:i\tprogram:i\tname:s"; print "compile\t0\t0\t1\t0\tXlaCompile" } $1 == "end" { $0 = $1 FS ($2 + 1) } { print }' "$T/first" |
	awk '$1 == "#compile" || $1 == "compile" { held = held $0 "\n"; next } $1 == "module" && held != "" { printf "%s", held; held = "" } { print }' >"$T/compiled"
equal '... and where the program was compiled, so that its first execution is' "$(variable "$T/compiled")" \
	"variability 150 more than half of that is of each device's first two, which nsysx-warmup leaves out"
equal '... until it is left out' "$(nsysx-warmup -q "$T/compiled" | nsysx-diagnose -q --tsv --min 0 | grep -c 'nsysx-warmup')" 0

# Steps of two classes on one thread of which the second, too, is all GPU work: a a b a a b a a. The window of a is of 7 steps, 5 of whose periods
# are 1,000 ns and two 2,000.
classes() {
	echo 'device device=0 last=9000'
	k=0
	for c in a a b a a b a a a; do
		b=$((k * 1000))
		echo "range range=$((k + 1)) device=0 name=step~$k,~$c start=$((b + 100)) dur=$([ $c = b ] && echo ${1:-900} || echo 900) host_start=$b host_dur=990"
		echo "call call=$((k + 1)) start=$((b + 10)) dur=10 name=cudaLaunchKernel class=launch ops=1 range=$((k + 1))"
		echo "op name=gemm start=$((b + 100)) dur=$([ $c = b ] && echo ${1:-900} || echo 900) call=$((k + 1)) range=$((k + 1)) tid=1 host_start=$((b + 10)) host_dur=10"
		k=$((k + 1))
	done
}
classes | stream classes
says 'steps of another class in some periods are no variability' 'not known: variability: steps of step #, b lie between: name steps with --step' nsysx-diagnose -q --table "$T/classes"
says '... and p99 of the step is told with them' 'class step #, a, some periods with a step of step #, b in them' nsysx-diagnose -q --table "$T/classes"
equal '... nor are they told of as a gain' "$(findings classes --min 0 | grep -c variability)" 0
classes 100 | stream short
equal 'what is short beside a step does not explain it' "$(findings short --min 0 | grep -c variability)" 1
equal 'named together they are of one class' "$(nsysx-diagnose -q --table --step '^step' "$T/classes" | grep -c -e 'lie between' -e '  variability')" 0

# ---- sentences that hold together

# In each step the host is in a range for 80 of the 115 ns in which the queue is drained, once it has waited for 20 of them.
{ steps; for k in 1 2 3 4; do echo "range range=$k host_start=$((k * 1000 + 320)) host_dur=80 name=write_log"; done; } | stream logged
says 'blocking: where the host is once it has waited' "100 % of the wait in cudaStreamSynchronize; 100 % of the host's time after it in write_log" nsysx-diagnose -q --table --top 0 "$T/logged"
equal '... the subject is the call that waits' "$(nsysx-diagnose -q --tsv "$T/logged" | awk -F'\t' '$2 == "blocking" { print $7 }')" cudaStreamSynchronize
says 'no instance of a collective is known: nor is waiting' 'a step; how much of it is waiting is not known' nsysx-diagnose -q --table --top 0 "$T/job"
says 'clocks that cannot be compared: the same' 'a step; how much of it is waiting is not known' nsysx-diagnose -q --table --top 0 --min 0 "$T/apart"
says '... and a number where it is' 'a step; of that 25 ns waiting for the last to come' nsysx-diagnose -q --table --top 0 --min 0 "$T/slow"
# Pinned to the device in two ways: 2 x 600 and 1 x 1,800 bytes in 60, 60 and 180 ns; 3,000 bytes in 300 ns.
stream ways <<'END_STREAM'
device device=0 last=2000
call call=1 start=0 dur=10 name=cudaMemcpyAsync class=copy ops=1
call call=2 start=20 dur=10 name=cudaMemcpyAsync class=copy ops=1
call call=3 start=40 dur=10 name=cudaMemcpy class=copy ops=1 blocking=1
op type=memcpy name=h2d src=pinned dst=device bytes=600 start=100 dur=60 call=1 tid=1 host_start=0 host_dur=10
op type=memcpy name=h2d src=pinned dst=device bytes=600 start=200 dur=60 call=2 tid=1 host_start=20 host_dur=10
op type=memcpy name=h2d src=pinned dst=device bytes=1800 start=300 dur=180 call=3 tid=1 host_start=40 host_dur=10
op name=gemm start=500 dur=1500
END_STREAM
equal 'copies of one kind are two rows of nsysx-copies' "$(nsysx-copies -q --tsv "$T/ways" | grep -c '^h2d')" 2
says '... and one sum here; of a rate so few bytes say nothing' 'most: h2d, 3 a device, together 3.0 kB in 300 ns nsysx' \
	sh -c 'nsysx-diagnose -q --table --top 0 --min 0 "$1" | sed "s/ *do first:.*//; s/^ *[$]//"' sh "$T/ways"
# What is pinned already, or never leaves the device, is not to be pinned.
first() { sed "s/pinned\\tdevice/$1/" "$T/ways" | nsysx-diagnose -q --tsv --min 0 | awk -F'\t' '$2 == "copies" { print $8 }' | cut -c 1-$2; }
equal 'copies of pinned memory' "$(first 'pinned\tdevice' 23)" 'copy beside computation'
equal '... of pageable memory' "$(first 'pageable\tdevice' 23)" 'copy from pinned memory'
equal '... on the device' "$(first 'device\tdevice' 34)" 'write the data where it is needed,'
sed 's/h2d\(.*\t\)\(600\|1800\)\t/h2d\1\2000\t/' "$T/ways" >"$T/larger-ways"
says '... which more of them do' 'most: h2d, 3 a device, together 3.0 MB in 300 ns, 10000.0 GB/s' nsysx-diagnose -q --table --top 0 --min 0 "$T/larger-ways"
# Device 0 has one gap of 500 ns, device 1 three of 300, all of them before launches that nothing is known of.
stream gaps <<'END_STREAM'
device device=0 last=2000
device device=1 last=2000
call call=1 start=5000 dur=10 name=cudaLaunchKernel class=launch
op name=a device=0 start=0 dur=500
op name=a device=0 start=1000 dur=1000
op name=a device=1 start=0 dur=100
op name=a device=1 start=400 dur=100
op name=a device=1 start=800 dur=100
op name=a device=1 start=1200 dur=800
END_STREAM
says 'the device with most of a cause, and that with the longest gap' 'most on device 1 in 3 gaps, the longest 300 ns; 100 % of that in a; device 0 has the longest of all, 500 ns' \
	nsysx-diagnose -q --table --top 0 --min 0 "$T/gaps"
says 'shares are of the period' 'where the period of a step goes' nsysx-diagnose -q --table "$T/job"

# ---- a terminal: a line is as wide as that, but for a word that is longer alone; commands go on behind a backslash

for columns in 40 60 80 100 200; do
	# Narrow ones shorten what the rows of a table are of.
	rows=$([ $columns -lt 50 ] && echo '/^  [cei][a-z]* *.* %/d')
	for f in job slow torch gaps; do
		COLUMNS=$columns script -qec "nsysx-diagnose -q --top 0 --min 0 '$T/$f'" /dev/null </dev/null | tr -d '\r' >"$T/wide"
		awk -v c="$columns" '
			# What stands in quotes is one word.
			{ for (i = 1; i <= length; i++) { x = substr($0, i, 1); if (x == "\047") q = !q; if (q && x == " ") $0 = substr($0, 1, i - 1) "_" substr($0, i + 1) } q = 0 }
			{ words = $1 == "$" ? NF - 1 : NF } $1 != "$" && words > 1 && length > 100; $NF == "\\" { words-- } words > 1 && length > c' "$T/wide"
		nsysx-diagnose -q --top 0 --min 0 --table "$T/$f" | sed "$rows" | tr -d '#' | tr -s ' \n' '\n\n' >"$T/want"
		sed -e "$rows" -e 's/ \\$//' "$T/wide" | tr -d '#' | tr -s ' \n' '\n\n' >"$T/words"
		cmp "$T/want" "$T/words"
	done
done >"$T/too-wide" 2>&1
if command -v script >/dev/null; then
	equal 'it fits terminals, and no word is broken' "$(cat "$T/too-wide")" ''
else
	skip 'it fits terminals' 'no script'
fi

# ---- wrong usage

fails '--step and --module' 2 'exclude each other' nsysx-diagnose --step a --module b "$T/job"
fails 'a share' 2 'want a number from 0 to 100' nsysx-diagnose --min x "$T/job"
fails 'another' 2 'want a number from 0 to 100' nsysx-diagnose --min 101 "$T/job"
fails 'two forms' 2 'exclude each other' nsysx-diagnose --json --markdown "$T/job"
fails 'an expression' 2 '--step' nsysx-diagnose --step '(' "$T/job"
head -n 20 "$T/job" >"$T/cut"
fails 'a stream cut short' 1 'cut short' nsysx-diagnose -o "$T/none" "$T/cut"
fails '--require without such a record' 1 'no thunk record' nsysx-diagnose --require thunk -o "$T/none" "$T/job"
fails 'a full disk' 1 '/dev/full' nsysx-diagnose -o /dev/full "$T/job"
nsysx-diagnose -q --all -o "$T/all-%" "$T/job"
for form in findings.tsv:--tsv where.tsv:'--where --tsv' summary.md:--markdown; do
	nsysx-diagnose -q ${form#*:} "$T/job" >"$T/want"
	same "--all: ${form%%:*} is what ${form#*:} prints" "$T/want" "$T/all-${form%%:*}"
done
nsysx-steps -q --each --tsv "$T/job" >"$T/want"
same '--all: step-each.tsv is what nsysx-steps --each prints' "$T/want" "$T/all-step-each.tsv"
nsysx-diagnose -q --all --gaps 20 -o "$T/gaps-%" "$T/job"
nsysx-idle -q --steps --tsv "$T/job" >"$T/want"
same '--gaps: idle.tsv is what nsysx-idle prints' "$T/want" "$T/gaps-idle.tsv"
nsysx-idle -q --steps --tsv --list 20 "$T/job" >"$T/want"
same '--gaps: gaps.tsv is what nsysx-idle --list prints' "$T/want" "$T/gaps-gaps.tsv"
for table in findings.tsv where.tsv step-each.tsv summary.md; do
	same "--gaps changes nothing else: $table" "$T/all-$table" "$T/gaps-$table"
done
fails '--gaps without --all' 2 '--gaps goes with --all' nsysx-diagnose --gaps 3 "$T/job"
fails '--all without a name for each' 2 'want -o FILE with a % in its name' nsysx-diagnose --all -o "$T/one" "$T/job"
# Of 99 the p99 is the ceil(98.01)-th, which is the largest; of 100 the 99th.
for n in 99 100; do
	{
		printf 'device device=0 last=%d\nprogram program=0 id=7 name=step key=step@7\n' $((n * 1000 + 900))
		for k in $(seq 0 $n); do printf 'module program=0 execution=%d device=0 start=%d dur=900 name=step\nop name=k start=%d dur=900\n' $k $((k * 1000)) $((k * 1000)); done
	} | stream periods$n
done
says 'of 99 steps p99 is the largest' '1.0 us p99 (the largest), from start to start, of 99 on' nsysx-diagnose -q --table "$T/periods99"
says '... of 100 it is not' '1.0 us p99, from start to start, of 100 on' nsysx-diagnose -q --table "$T/periods100"
done_testing
