#!/bin/sh
# nsysx-diagnose: what there is to gain, worked out by hand; that its parts add up; that it says what it could not look at. Jobs with a
# planted cause: tests/tools/runbook.sh.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
# findings FILE OPTION...: rank, finding and gain of each row.
findings() {
	file=$1
	shift
	nsysx-diagnose -q --tsv "$@" "$T/$file" | awk -F'\t' 'NR > 1 { print $1, $2, $3 }'
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
	if [ "$status" -eq 0 ] && tr '\n' ' ' <"$T_private/out" | grep -qF -e "$text"; then pass "$claim"; else fail "$claim" "status $status, or it does not say: $text" "$@"; fi
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
equal 'the step' "$(nsysx-diagnose -q --where --tsv "$T/job" | awk -F'\t' 'NR == 2 { print $4, $6, $7, $8, $9 }')" '3 1000 1000 1000 1'
equal 'findings that give too little are left out' "$(findings job --min 6 | wc -l | tr -d ' ')" 5
equal 'the verdict is that of nsysx-idle for the same window' "$(nsysx-diagnose -q --table "$T/job" | head -n 2 | tr '\n' ' ')" \
	'device 0 is host-bound: 16.0 % of 0.003 ms is idle time in which the host had not launched the next work; mostly host, 0.000 ms '
equal 'commands name the stream, and run' "$(nsysx-diagnose -q --tsv "$T/job" | awk -F'\t' 'NR > 1 { print $6 }' | sort -u | while read -r c; do
	sh -c "$c" >/dev/null 2>&1 || echo "$c"
done)" ''
equal 'of standard input STREAM stands in them' "$(nsysx-diagnose -q --tsv <"$T/job" | awk -F'\t' 'NR == 2 { print $6 }')" 'nsysx-idle --list 20 STREAM'
cp "$T/job" "$T/it's a job"
equal 'names are quoted for the shell' "$(nsysx-diagnose -q --table "$T/it's a job" | grep -cF "/it'\\''s a job'")" 3
equal 'JSON has the keys of the table' "$(nsysx-diagnose -q --json "$T/job" | head -n 2 | tail -n 1 | cut -c 1-54)" '{"rank": 1, "finding": "blocking", "gain": 115, "perce'
says 'on a screen gains are no sums' 'at most, each by itself: gains do not add' nsysx-diagnose -q --table "$T/job"
says 'three of them, and how many more' 'and 4 more: --top 0' nsysx-diagnose -q --table --min 0 "$T/job"
says 'no sizes: not looked at' 'not known: slow collectives: sizes of collectives are not in the export' nsysx-diagnose -q --table "$T/job"
says 'Markdown' '| idle: host | 0.1 us | 12.0 % |' nsysx-diagnose -q --markdown "$T/job"
nsysx-view -b "$T/job" | nsysx-diagnose -q --markdown >"$T/a"
nsysx-diagnose -q --markdown <"$T/job" >"$T/b"
same 'binary and text give the same' "$T/a" "$T/b"

# ---- less than all of it

grep -v '^call' "$T/job" | nsysx-view --partial >"$T/nocalls"
says 'without calls' 'not known: causes of idle time: no CUDA calls in the stream: extract with -a' nsysx-diagnose -q --table "$T/nocalls"
grep -v -e '^call' -e '^op' "$T/job" | nsysx-view --partial >"$T/noops"
says 'without operations' 'what devices did is not known: no operations in the stream, extract with -a' nsysx-diagnose -q --table "$T/noops"
says '... the step is' 'step: 1.0 us mean, 1.0 us p50, 1.0 us p99' nsysx-diagnose -q --table "$T/noops"
grep -v -e '^module' "$T/job" | nsysx-view --partial >"$T/nosteps"
says 'without steps the whole time counts as one' 'no steps are known; the whole time of a device counts as one: 3.9 us' nsysx-diagnose -q --table "$T/nosteps"
equal '... and adds up to it' "$(where_of nosteps | awk 'NR == 1 { w = $2 } NR > 1 { s += $2 } END { print $1, w, s - w }')" 'idle:latency 3860 0'
equal '... of which the verdict is word for word the same' "$(nsysx-diagnose -q --markdown "$T/nosteps" | head -n 1)" \
	"**$(nsysx-idle -q --tsv --verdict "$T/nosteps" | awk -F'\t' 'NR == 2 { print $NF }')**  "
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
says 'nothing at all' 'no GPU work in the stream' nsysx-diagnose -q --table "$T/empty"
equal 'nothing is a header' "$(nsysx-diagnose -q --tsv "$T/empty" | wc -l | tr -d ' ')" 1
says 'nothing is found: it says so' 'nothing was found that is worth 50 % of a step' nsysx-diagnose -q --table --min 50 "$T/job"

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
done_testing
