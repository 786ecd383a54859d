#!/bin/sh
# nsysx-diagnose: gains, how parts add up, and reports of analyses that were not possible. Jobs with a planted cause:
# tests/tools/runbook.sh.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
# findings FILE OPTION...: rank, finding and gain of each row.
findings() {
	file=$1
	shift
	nsysx-diagnose -q --tsv "$@" "$T/$file" | awk -F'\t' 'NR > 1 { print $1, $2, $3 }'
}
# shown FILE FINDING OPTION...: output of the finding's command.
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
shows() {
	claim=$1 text=$2
	shift 2
	run "$@"
	if [ "$status" -eq 0 ] && tr -s '\n ' '  ' <"$T_private/out" | grep -qF -e "$text"; then pass "$claim"; else fail "$claim" "status $status, or it does not say: $text" "$@"; fi
}

# ---- four steps of 1,000 ns, three of them with a next one: their host waits for the first kernel, does something for 80 ns, launches the next
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
equal 'findings, the largest gain first; equal ones in order of rules' "$(findings job --min 0)" '1 blocking 115
2 layout 100
3 exposed-communication 100
4 idle:latency 90
5 copies 60
6 idle:host 40
7 idle:launch 10'
equal 'times of a step, in three steps' "$(where_of job)" 'step 3000
compute 1755
comm 300
copy 180
idle:sync 60
idle:launch 60
idle:host 360
idle:latency 285'
equal 'the evidence gives the difference from the idle time of a step: 120 - 40' "$(nsysx-diagnose -q --tsv --min 0 "$T/job" | awk -F'\t' '$2 == "idle:host" { sub(/.*; without /, "", $5); print $5 }')" \
	'80 ns after waits of the host, which is blocking'
# Each step copies a result to the host at its end. The host does something for 280 ns after that, and for 60 ns between
# two kernels.
reads() {
	echo 'device device=0 last=4700'
	echo 'program program=0 id=7 name=step key=step@7'
	for k in 0 1 2 3; do
		b=$((k * 1000 + 1000)) c=$((k * 10))
		cat <<END_STEP
module program=0 execution=$k device=0 start=$b dur=700 name=step
call call=$((c + 1)) start=$((b - 20)) dur=20 name=cuLaunchKernel class=launch ops=1
op name=dot start=$b dur=300 call=$((c + 1)) tid=1 host_start=$((b - 20)) host_dur=20
call call=$((c + 2)) start=$((b + 360)) dur=20 name=cuLaunchKernel class=launch ops=1
op name=add start=$((b + 380)) dur=300 call=$((c + 2)) tid=1 host_start=$((b + 360)) host_dur=20
call call=$((c + 3)) start=$((b + 400)) dur=10 name=cuMemcpyDtoHAsync class=copy ops=1
op type=memcpy name=d2h src=device dst=$1 bytes=4 start=$((b + 680)) dur=20 call=$((c + 3)) tid=1 host_start=$((b + 400)) host_dur=10
END_STEP
		[ "$2" ] && echo "call call=$((c + 4)) start=$((b + 420)) dur=281 name=cudaStreamSynchronize class=sync blocking=1"
	done
}
reads_of() { nsysx-diagnose -q --tsv --min 0 "$T/$1" | awk -F'\t' '$2 == "idle:host" { print match($5, /[0-9]+% of that follows copies to the host/) ? substr($5, RSTART, RLENGTH) : "none", $8 }'; }
reads pinned '' | stream reads
equal 'idle time that follows copies to the host is told: 280 of 340 a step' "$(reads_of reads)" \
	'82% of that follows copies to the host read results such as the loss every so many steps, or a step later, so that the host launches ahead'
# The same where the host is in a range whose meaning is known, which is more than what was copied before.
awk 'BEGIN {
	print "device device=0"
	for (k = 0; k < 4; k++) {
		b = k * 10000
		print "range range=" 2 * k + 1 " name=step~" k " start=" b + 100 " dur=500 host_start=" b " host_dur=9900 tid=1"
		print "call call=" 2 * k + 1 " start=" b + 50 " dur=50 name=cudaLaunchKernel class=launch ops=1 tid=1 range=" 2 * k + 1
		print "op name=k start=" b + 100 " dur=300 call=" 2 * k + 1 " tid=1 host_start=" b + 50 " host_dur=50 range=" 2 * k + 1
		print "call call=" 2 * k + 2 " start=" b + 110 " dur=10 name=cudaMemcpyAsync class=copy ops=1 tid=1 range=" 2 * k + 1
		print "op type=memcpy name=d2h src=device dst=pinned start=" b + 400 " dur=20 call=" 2 * k + 2 " tid=1 host_start=" b + 110 " host_dur=10 range=" 2 * k + 1
		print "range range=" 2 * k + 2 " parent=" 2 * k + 1 " name=enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ host_start=" b + 200 " host_dur=9600 tid=1"
	}
}' | stream loads
equal '... and a known range is told first' "$(nsysx-diagnose -q --tsv --min 0 --step '^step' "$T/loads" | awk -F'\t' '$2 == "idle:range" { print match($5, /[0-9]+% of that follows copies to the host/) ? 1 : 0, substr($8, 1, 23) }')" \
	'1 load in other processes'
reads device '' | stream reads
equal '... not of copies to a device' "$(reads_of reads | cut -d' ' -f1)" none
reads pinned 1 | stream reads
equal '... nor where a call waits' "$(reads_of reads | cut -d' ' -f1)" none

equal 'the period of a step' "$(nsysx-diagnose -q --where --tsv "$T/job" | awk -F'\t' 'NR == 2 { print $4, $6, $7, $8, $9 }')" '3 1000 1000 1000 1'
equal 'findings below --min are not listed' "$(findings job --min 6 | wc -l | tr -d ' ')" 5
equal 'the verdict is that of nsysx-idle for the same window, after computation if that is more: 1755 of 3000' "$(nsysx-diagnose -q --table "$T/job" | sed -n 4,6p | tr '\n' ' ')" \
	'computation is the largest part of 3 steps, 58.5%; the largest loss: device 0 loses 16.0% of 3.000 us to idle time in which the host had not launched the next work; mostly host, 360 ns  '
equal 'commands name the stream, and run' "$(nsysx-diagnose -q --tsv "$T/job" | awk -F'\t' 'NR > 1 { print $6 }' | sort -u | while read -r c; do
	sh -c "$c" >/dev/null 2>&1 || echo "$c"
done)" ''
equal 'for standard input commands name STREAM' "$(nsysx-diagnose -q --tsv <"$T/job" | awk -F'\t' 'NR == 2 { print $6 }')" 'nsysx-idle --steps --drained --list 20 STREAM'

# The gaps that commands for idle time print add up to the gain of all steps, also with another step at the end and work before
# the first.
sum_of() { awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { sum += $at["ns"] - drained * $at["drained"] } END { print sum + 0 }' drained="$1"; }
{ steps; echo 'op name=early start=100 dur=50'; } | stream more
for cause in latency host launch; do
	equal "idle:$cause: its gaps add up to its gain" "$(shown more "idle:$cause" | sum_of 1)" "$(nsysx-diagnose -q --tsv --min 0 "$T/more" | awk -F'\t' -v f="idle:$cause" '$2 == f { print 3 * $3 }')"
done
equal 'blocking: its gaps add up to its gain' "$(shown more blocking | sum_of 0)" "$(nsysx-diagnose -q --tsv --min 0 "$T/more" | awk -F'\t' '$2 == "blocking" { print 3 * $3 }')"
equal 'the table of steps is that of nsysx-idle --steps' "$(nsysx-idle -q --steps --tsv "$T/more" | awk -F'\t' 'NR > 1 { print $2 ($4 == "" ? "" : ":" $4), $5 }')" \
	"$(where_of more | sed 1d)"
cp "$T/job" "$T/it's a job"
equal 'names in commands are quoted for the shell' "$(nsysx-diagnose -q --table "$T/it's a job" | grep -cF "/it'\"'\"'s a job'")" 3
equal 'JSON has the keys of the table' "$(nsysx-diagnose -q --json "$T/job" | head -n 2 | tail -n 1 | cut -c 1-54)" '{"rank": 1, "finding": "blocking", "gain": 115, "share'
shows 'the screen reports that gains do not add up' 'each taken alone, for gains do not add up' nsysx-diagnose -q --table "$T/job"
shows 'it begins with the first finding, of which nothing is forecast' 'none of the findings would shorten the step by itself: see nsysx-whatif --table for what would; first among them: cudaStreamSynchronize: blocking, 115 ns of a step, 11.5%, saves nothing by itself computation is the largest part of 3 steps, 58.5%; the largest loss: device 0 loses 16.0% of ' nsysx-diagnose -q --table "$T/job"
shows 'every finding has an action' 'do first: do not wait for the GPU in every step' nsysx-diagnose -q --table "$T/job"
shows '--top 3: the number of further findings' 'and 4 more: --top 0' nsysx-diagnose -q --table --min 0 "$T/job"
shows 'sizes of collectives are unknown: not examined' 'not known: slow collectives: sizes of collectives are not in the export' nsysx-diagnose -q --table "$T/job"
shows 'Markdown' '| idle: host | 120 ns | 12.0% |' nsysx-diagnose -q --markdown "$T/job"
nsysx-view -b "$T/job" | nsysx-diagnose -q --markdown >"$T/a"
nsysx-diagnose -q --markdown <"$T/job" >"$T/b"
same 'binary and text give the same' "$T/a" "$T/b"

# ---- incomplete streams

grep -v '^call' "$T/job" | nsysx-view --partial >"$T/nocalls"
shows 'without calls' 'not known: causes of idle time: no CUDA calls in the stream: extract with -a' nsysx-diagnose -q --table "$T/nocalls"
grep -v -e '^call' -e '^op' "$T/job" | nsysx-view --partial >"$T/noops"
shows 'without operations' 'what devices did is not known: no operations in the stream, extract with -a' nsysx-diagnose -q --table "$T/noops"
shows '... the step is known' 'step: 1.000 us mean, 1.000 us p50, 1.000 us p99 (the largest), from start to start, of 3' nsysx-diagnose -q --table "$T/noops"
grep -v -e '^module' "$T/job" | nsysx-view --partial >"$T/nosteps"
equal 'Markdown names the unit of gains' "$(nsysx-diagnose -q --markdown "$T/nosteps" | grep -c 'possible gain | a device |')" 1
fails 'named steps that do not exist' 1 'no range matches nosuch' nsysx-diagnose -q --table --step nosuch "$T/job"
for n in 1 2; do
	{
		for d in 0 1; do
			[ $d -lt $n ] || continue
			echo "device device=$d"
			echo "range range=$((d + 1)) device=$d name=only tid=$((d + 1)) start=10 dur=500 host_start=0 host_dur=10"
			echo "call call=$((d + 1)) start=2 dur=2 tid=$((d + 1)) name=cudaLaunchKernel class=launch ops=1 range=$((d + 1))"
			echo "op name=a device=$d start=10 dur=500 range=$((d + 1)) call=$((d + 1)) tid=$((d + 1)) host_start=2 host_dur=2"
		done
	} | stream only
	nsysx-diagnose -q --table --step only "$T/only" | tr '\n' ' ' >"$T/got"
	ok "steps that are named and have no period: $n" grep -qE 'matches (one step, which has no|2 steps on all devices, none of which has a) period: ' "$T/got"
	equal '... are not said to be none' "$(grep -c 'No steps match' "$T/got")" 0
done
shows 'without steps the whole time counts as one' 'no steps are known; the whole time of a device counts as one: 3.860 us' nsysx-diagnose -q --table "$T/nosteps"
equal '... and gains refer to it' "$(where_of nosteps | awk 'NR == 1 { w = $2 } NR > 1 { s += $2 } END { print $1, w, s - w }')" 'idle:latency 3860 0'
equal '... with the verdict of nsysx-idle' "$(nsysx-diagnose -q --markdown "$T/nosteps" | sed -n '3s/computation is the largest part, [0-9.]*%; the largest loss: device 0 //p')" \
	"**$(nsysx-idle -q --tsv --verdict "$T/nosteps" | awk -F'\t' 'NR == 2 { print $8 }' | sed 's/^device 0 is compute-bound: [0-9.]*% of \(.*\) is computation; it \(loses [0-9.]*%\)/\2 of \1/')**  "
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
shows 'an empty stream' 'no GPU work in the stream' nsysx-diagnose -q --table "$T/empty"
equal '... is neither looked at nor found to be worth nothing' "$(nsysx-diagnose -q --table "$T/empty" | grep -cE 'looked at|not known|nothing was found')" 0
shows '... and how to record it' 'record CUDA (nsys profile --trace=cuda,nvtx)' nsysx-diagnose -q --table "$T/empty"
equal 'an empty stream: only a header' "$(nsysx-diagnose -q --tsv "$T/empty" | wc -l | tr -d ' ')" 1
# What was ignored is reported all the same, and work that was is not asked for.
{ cat "$T/empty" | sed '/^#*end/d'; printf '#device\tdevice:i\ndevice\t0\n#op\tdevice:i\ttype:s\tname:s\tstart:i\tdur:i\n'; printf 'op\t0\tkernel\tages\t%d\t2305843009213693953\n' 5 10; } >"$T/far"
nsysx-diagnose --partial --tsv "$T/far" >"$T/got" 2>"$T/err"
equal 'work beyond reach is ignored, not lacking' "$(grep -c 'beyond 73 years: ignored (2)$' "$T/err") $(grep -c -e 'no GPU work in the stream' -e 'no operations in the stream' "$T/err")" '1 0'
shows '... on the screen, too' 'no GPU work counts' nsysx-diagnose -q --partial --table "$T/far"
{ cat "$T/empty" | sed '/^#*end/d'; printf '#call\tcall:i\tpid:i\ttid:i\tname:s\tstart:i\tdur:i\n'; printf 'call\t%d\t1\t1\tcudaMalloc\t5\t2305843009213693953\n' 1 2; } >"$T/far"
nsysx-diagnose --partial --tsv "$T/far" >"$T/got" 2>"$T/err"
equal 'a stream without work: one reason, and what was ignored' "$(grep -c 'beyond 73 years: ignored (2)$' "$T/err") $(grep -c ': no GPU work in the stream' "$T/err") $(grep -c ': no ' "$T/err")" '1 1 1'
# Steps have periods, and none of their operations a duration.
nsysx-view "$T/job" | awk -F'\t' -v OFS='\t' '/^#op\t/ { for (i = 2; i <= NF; i++) if ($i ~ /^dur:/) at = i } /^op\t/ { $at = "" } { print }' >"$T/far"
shows 'operations that do not count are not lacking where steps are known' 'what devices did is not known: no operation counts' nsysx-diagnose -q --table "$T/far"
equal '... nor asked for' "$(nsysx-diagnose -q --table "$T/far" | grep -c 'no operations in the stream')" 0
# Four steps of class a, two each of b to f, one after the other, between two of n, in whose period they all are.
{
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t0\tr\n#device\tdevice:i\tprofile:i\tpid:i\ndevice\t0\t0\t1\n'
	printf '#range\tprofile:i\trange:i\tpid:i\ttid:i\tname:s\tstart:i\tdur:i\thost_start:i\thost_dur:i\tops:i\n'
	printf '#op\tprofile:i\top:i\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\trange:i\thost_start:i\thost_dur:i\ttid:i\n'
	n=0
	for class in n a a a a b b c c d d e e f f n; do
		t=$((1000 + n * 100))
		printf 'range\t0\t%d\t1\t1\t%s\t%d\t90\t%d\t90\t1\nop\t0\t%d\tkernel\t0\tk\t%d\t90\t%d\t%d\t10\t1\n' $n $class $t $t $n $t $n $t
		n=$((n + 1))
	done
} >"$T/classes"
equal 'the time of other classes: of a stretch once, and of three' \
	"$(nsysx-diagnose -q --partial --markdown --step '([a-z])' "$T/classes" | grep -o 'of the time of all steps.*')" \
	'of the time of all steps 12.5% is of b, 12.5% is of c, 12.5% is of d, and 2 more classes'
shows 'no findings: a sentence' 'no finding is worth 50% of a step' nsysx-diagnose -q --table --min 50 "$T/job"

# ---- communication: two devices on one clock, four executions of 1,000 ns, the last of them without a next one

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
# i1 takes 50 ns, and device 0 arrives 50 before device 1; i2 takes 200 of which 60 are hidden: 150 more than i1, 140 of them exposed.
# Exposed are (100 + 50 + 140 + 140) / 2 = 215 per step and device; 25 of these are waiting and 140 belong to i2. A device waits 50.
{ devices 2 1; collectives 0,1 1000; thunk 1 0 100 100 0; thunk 1 1 150 50 0; thunk 2 0 300 200 60; thunk 2 1 300 200 60; } | stream slow
equal 'a collective that is slow compared with similar ones, a late device, and the remaining exposed time' "$(findings slow --min 0)" '1 slow-collective 140
2 late-device 50
3 exposed-communication 50'
equal 'the evidence: bus bandwidth, of 2 devices that of the bytes that a device keeps' "$(nsysx-diagnose -q --tsv "$T/slow" | awk -F'\t' 'NR == 2 { print $5 }')" \
	'reduce-scatter of 1.0 kB at 5.0 GB/s where similar ones reach 20.0: i2, 1 a step'
# The remaining 50 ns per step are all in i1: the time of i2 is in another finding. The command ranks instructions by exposed time, including waits.
rest() { nsysx-diagnose -q --tsv --min 0 "$T/$1" | awk -F'\t' '$2 == "exposed-communication" { sub(/.*; /, "", $5); print $5 " / " $7 }'; }
equal 'exposed time that is in no other finding' "$(rest slow)" '50 ns of the rest in i1, 1.0 kB / i1'
equal '... its command: exposed time by instruction, of three steps' "$(shown slow exposed-communication | cut -f 3,13)" 'name	exposed
i2	840
i1	450'
# Each group of an instruction alone has less than another instruction, together they have more: 60 and 60 beside 100, over 4 devices 30 and 25 per step.
{ devices 4 1; echo 'groups groups=2 members=0,1;2,3'; collectives 0,1,2,3 1000 | sed '/ inst=2 /s/groups=1/groups=2/'
	for d in 0 1 2 3; do thunk 1 $d 100 25 0; thunk 2 $d 300 30 0; done; } | stream meshed
equal 'the groups of an instruction are added up, and its share is given' "$(rest meshed)" '30 ns of the rest in i2, 1.0 kB, the largest of 2 / i2'
# In Markdown a cell ends at a bar, also in code; a name neither ends code nor controls a terminal, and what is shown is UTF-8.
cp "$T/slow" "$T/a|b\`c"
nsysx-diagnose -q --markdown "$T/a|b\`c" | sed -n 's/^| 1 |.*| \(`.*\) |$/\1/p' >"$T/command"
equal 'a command with bars is one cell of Markdown, unchanged' "$(sed 's/\\|/|/g; s/^`` \(.*\) ``$/\1/' "$T/command")" \
	"$(nsysx-diagnose -q --tsv "$T/a|b\`c" | awk -F'\t' 'NR == 2 { gsub(/\\\\/, "\\", $6); print $6 }')"
equal '... without a bar that ends a cell' "$(sed 's/\\|//g' "$T/command" | grep -c '|')" 0
sed "s/\(i2\|reduce-scatter\)/all\\\\x1b$(printf '\302\233\342\200\256')\\\\nreduce\\\\xFF/g" "$T/slow" >"$T/steers"
for form in --table --markdown; do
	nsysx-diagnose -q --min 0 $form "$T/steers" >"$T/screen"
	equal "names do not control terminals: $form" "$(grep -c 'look first at all ?' "$T/screen")$(LC_ALL=C tr -d '\n -~' <"$T/screen" | od -An -tx1)" 1
done
# Exactly half the bandwidth is not slow.
{ devices 2 1; collectives 0,1 1000; thunk 1 0 100 50 0; thunk 1 1 100 50 0; thunk 2 0 300 100 0; thunk 2 1 300 100 0; } | stream half
equal 'half of the bandwidth is not slow' "$(findings half --min 0)" '1 exposed-communication 150'
# Larger messages reach more bandwidth: with 5,000 bytes i2 is not compared with i1.
{ devices 2 1; collectives 0,1 1000; thunk 1 0 100 200 0; thunk 1 1 100 200 0; thunk 2 0 400 200 0; thunk 2 1 400 200 0; } | sed 's/inst=2 name=i2\(.*\) bytes=1000/inst=2 name=i2\1 bytes=5000/' | stream larger
equal 'a smaller one is not compared with larger ones' "$(findings larger --min 0)" '1 exposed-communication 400'
# Three devices, each of which is last in one collective: the two others wait 30 each time, 90 in all. Each is exposed for 80 + 80 + 50 = 210:
# what waiting and communication save together is no more.
{ devices 3 1; collectives 0,1,2 1000; for i in 1 2 3; do for d in 0 1 2; do
	if [ $((i - 1)) = $d ]; then thunk $i $d $((i * 100 + 30)) 50 0; else thunk $i $d $((i * 100)) 80 0; fi; done; done; } | stream turns
equal 'no device is late if all are in turn' "$(findings turns --min 0)" '1 exposed-communication 120
2 waiting 90'
# One of four is early: no device would end earlier if the last, which arrives with the others, were as early.
{ devices 4 1; collectives 0,1,2,3 1000; thunk 1 0 100 100 0; for d in 1 2; do thunk 1 $d 149 51 0; done; thunk 1 3 150 50 0; } | stream early
equal 'a device that is early is not a finding' "$(findings early --min 0 | grep -v exposed)" '2 late-device 1'
# Three collectives at a time, in each of which device 0 waits 120 of 200: all of them are no more than the 200 for which it is exposed, and of
# which it waits for 200 at most. Device 1 is exposed for 80, and waits for none.
{ devices 2 1; collectives 0,1 1000; for i in 1 2 3; do thunk $i 0 100 200 0; thunk $i 1 220 80 0; done
	for k in 0 1 2 3; do for d in 0 1; do
		echo "op name=reduce device=$d start=$((k * 1000 + 100 + d * 120)) dur=$((200 - d * 120)) program=0 execution=$k inst=1 comm=1"
	done; done; } | stream beside
equal 'what several collectives wait at a time is no more than what is exposed' "$(findings beside --min 0 | grep -E 'exposed|late|slow')" '2 late-device 200'
# Two devices come last in turn, by 100 in one collective of each step: each is exposed for 150 + 50, and waits for 100 of the 200.
{ devices 2 1; collectives 0,1 1000; thunk 1 0 100 150 0; thunk 1 1 200 50 0; thunk 2 0 500 50 0; thunk 2 1 400 150 0; } | stream alternate
equal 'waiting is contained once in what a device is exposed' "$(findings alternate --min 0)" '1 waiting 200'
# Three devices wait 2,900 ns of their first step, of 3,200 in three steps, for device 0, whose steps last 300 in all: it cannot save more.
# Of twelve steps, of 825 ns in the mean, that is 3 * 2,900 and 300.
{ for d in 0 1 2 3; do
	echo "profile profile=$d name=r$d host="; echo "device device=$d profile=$d pid=$((d + 1)) last=9000"
	echo "clock device=$d profile=$d offset=0 rate=0 ref=0 collectives=9 component=0"
	first=$([ $d = 0 ] && echo 2900 || echo 0)
	echo "module profile=$d program=0 execution=0 device=$d start=$first dur=$((3000 - first)) name=step"
	for k in 1 2 3; do echo "module profile=$d program=0 execution=$k device=$d start=$((2900 + k * 100)) dur=100 name=step"; done
	echo "thunk profile=$d program=0 execution=0 device=$d inst=1 occurrence=0 name=i1 start=$first dur=$((2950 - first)) hidden=0 comm=1"
done
echo 'program program=0 id=7 name=step key=step@7'
collectives 0,1,2,3 1000; } | stream begins_late
equal 'a device that begins late has no more to save than its steps last' "$(findings begins_late --min 0 | sed -n 's/^[0-9]* late-device //p')" 750
# Four devices of two hosts; 2 and 3 are last in turn.
late_host() {
	devices 4 2 $1
	collectives 0,1,2,3 1000
	for i in 1 2; do for d in 0 1 2 3; do
		if [ $((i + 1)) = $d ]; then thunk $i $d $((i * 100 + 30)) 50 0 2; else thunk $i $d $((i * 100)) 80 0 2; fi
	done; done
}
late_host node | stream host
equal 'a host is late if its devices are in turn' "$(findings host --min 0)" '1 late-host 60
2 exposed-communication 100'
equal 'the host is named' "$(nsysx-diagnose -q --tsv --min 0 "$T/host" | awk -F'\t' 'NR == 2 { print $5 }')" 'host or process node1 arrives last at 2 collectives a step, and others wait 60 ns for it'
late_host '' | stream nohost
equal '... or its profile if hosts are unknown' "$(nsysx-diagnose -q --tsv --min 0 "$T/nohost" | awk -F'\t' 'NR == 2 { print $2, $5 }' | cut -c 1-29)" 'late-host host or process r1 '
grep -v '^clock' "$T/slow" | nsysx-view --partial >"$T/apart"
shows 'clocks that cannot be compared' 'not known: late hosts and devices: clocks of devices cannot be compared: nsysx-align' nsysx-diagnose -q --table "$T/apart"
sed 's/\(^thunk.*\t\)60\t1$/\1\t1/' "$T/slow" >"$T/nohidden"
shows 'without nsysx-overlap' 'the hidden time of collectives is not known, they count as exposed: nsysx-overlap' nsysx-diagnose -q --table "$T/nohidden"

# NCCL without XLA: communicator a has a slow all-reduce of 100 kB, 100 us, while the others of 60 and 100 kB take 20.
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
equal 'NCCL: sizes of one communicator are compared' "$(findings nccl | grep slow | cut -d ' ' -f 2-)" 'slow-collective 68000'
equal 'NCCL: steps are ranges' "$(nsysx-diagnose -q --where --tsv "$T/nccl" | awk -F'\t' 'NR == 2 { print $1, $4, $6 }')" 'step 8 1000000'

# ---- kernels

# Two kernels of 10 ns per step wait 15 ns each for their call to return; one of 900 waits 10.
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
equal 'kernels shorter than their launch' "$(findings tiny --min 0 | grep launch-bound | cut -d ' ' -f 2-)" 'launch-bound 30'
# With times a hundred times longer launches still explain the wait; two thousand times longer they do not.
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { $6 *= 100; $7 *= 100 } $1 == "call" || $1 == "op" { n = $1 == "call" ? 6 : 7; $n *= 100; $(n + 1) *= 100 } $1 == "op" { $16 *= 100; $17 *= 100 } { print }' "$T/tiny" >"$T/long"
equal '... with a mean wait that launches explain' "$(nsysx-launch -q "$T/long" | awk -F'\t' 'NR == 2 { print $8 / $2 }') $(findings long --min 0 | grep -c launch-bound)" '1500 1'
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { $6 *= 2000; $7 *= 2000 } $1 == "call" || $1 == "op" { n = $1 == "call" ? 6 : 7; $n *= 2000; $(n + 1) *= 2000 } $1 == "op" { $16 *= 2000; $17 *= 2000 } { print }' "$T/tiny" >"$T/longer"
equal '... with a mean wait that launches do not explain' "$(nsysx-launch -q "$T/longer" | awk -F'\t' 'NR == 2 { print $8 / $2 }') $(findings longer --min 0 | grep -c launch-bound)" '30000 0'

# A device that moves one byte per ns: 100 bytes in 200 ns could take 125 at 80 %; 90 in 100 is near enough; a copy is reported as layout.
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
equal 'instructions far from their limit, and instructions that only move data' "$(findings roof --min 0)" '1 layout 120
2 roofline 75'
# 100 ns of work take 200: 75 more than the 125 at 80 %, three times; layouts, with a larger gain, are not shown.
equal '... its command prints the gain' "$(shown roof roofline | cut -f 3,10,21)" 'name	headroom	gain
far	300	225'
equal '... the command for layouts' "$(shown roof layout | cut -f 3,6,7)" 'name	count	total
turn	3	300
loop_transpose_fusion.2	3	60'

# Eight instructions that could save 50 ns each (12 bytes in 65 ns, which take 15 at 80 % of a byte per ns): together more than a transpose of 100 ns, alone
# less; of one op_name but for numbers, as the layers of a model, they are one change.
many() {
	echo 'device device=0 last=5000 sms=1 clock=1000000000 mem_bandwidth=1000000000 cc=80'
	echo 'program program=0 id=7 name=step key=step@7'
	for i in 1 2 3 4 5 6 7 8; do echo "inst program=0 inst=$i name=far$i opcode=fusion mem_bytes=12 flops=0 vector=0"; done
	echo 'inst program=0 inst=9 name=turn opcode=transpose mem_bytes=10 flops=0 vector=0'
	for k in 0 1 2 3; do
		echo "module program=0 execution=$k device=0 start=$((k * 1000)) dur=900 name=step"
		for i in 1 2 3 4 5 6 7 8; do echo "thunk program=0 execution=$k device=0 inst=$i occurrence=0 name=far$i start=$((k * 1000 + i * 65)) dur=65 comm=0"; done
		echo "thunk program=0 execution=$k device=0 inst=9 occurrence=0 name=turn start=$((k * 1000 + 700)) dur=100 comm=0"
	done
}
many | stream several
awk '/^#inst/ { print $0 "\top_name:s"; next } /^inst/ { print $0 "\tjit(step)/layers_" ++n "/dot"; next } { print }' "$T/several" >"$T/layers"
equal 'many small changes rank by the largest of them' "$(findings several --min 0)" '1 layout 100
2 roofline 400'
equal '... whose instructions have the names that the framework gives them' "$(nsysx-diagnose -q --tsv --min 0 "$T/layers" | grep -o ' of layers_[0-9]*/dot ' | sort -u | wc -l | tr -d ' ')" 3
equal '... which the finding says' "$(nsysx-diagnose -q --tsv --min 0 "$T/several" | grep -c 'one change reaches one of them, so it ranks by 50 ns')" 1
equal '... one change of all layers by all' "$(findings layers --min 0)" '1 roofline 400
2 layout 100'
equal '... and says nothing of it' "$(nsysx-diagnose -q --tsv --min 0 "$T/layers" | grep -c 'one change')" 0

# Of PyTorch's copies, those that change the type are computation; a name ends where its arguments begin.
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
equal '... the command prints their rows' "$(shown torch layout | cut -f 4)" 'total
40
20
10'

# Of three steps: one instruction of 200 ns; kernels of two names, two a step.
equal 'evidence: time of instructions far from their limit' "$(nsysx-diagnose -q --tsv --min 0 "$T/roof" | awk -F'\t' '$2 == "roofline" { print $5 }' | sed 's/ a step reach.*//')" '1 instructions of 200 ns'
awk -F'\t' -v OFS='\t' '$1 == "op" && $6 == "tiny" { $6 = "tiny" ++n % 2 } { print }' "$T/tiny" >"$T/names"
equal 'evidence: number of kernels shorter than their launch' "$(nsysx-diagnose -q --tsv --min 0 "$T/names" | awk -F'\t' '$2 == "launch-bound" { print $5 }' | sed 's/ a step.*//')" \
	"$(nsysx-diagnose -q --tsv --min 0 "$T/tiny" | awk -F'\t' '$2 == "launch-bound" { print $5 }' | sed 's/ a step.*//')"
# Gaps of 400 ns, latency, and 300 ns, without a call, are below 0.1 % each; two devices with one verdict.
{
	for d in 0 1; do
		echo "device device=$d"
		echo "op name=a device=$d start=0 dur=1000000"
		echo "call call=$((d + 1)) start=10 dur=10 name=cudaLaunchKernel class=launch ops=1"
		echo "op name=b device=$d start=1000400 dur=1000000 call=$((d + 1)) tid=1 host_start=10 host_dur=10"
		echo "op name=c device=$d start=2000700 dur=1000000"
	done
} | stream small
nsysx-diagnose -q --table "$T/small" >"$T/got"
equal 'small causes of idle time are added up' "$(grep 'other causes' "$T/got" | tr -s ' ')" ' idle: other causes 700 ns 0.0%'
equal 'verdicts of devices are counted' "$(grep '^of 2 devices' "$T/got")" 'of 2 devices: 2 compute-bound'

# Executions of 1,000, 1,000, 1,000 and 1,600 ns: the mean, 1,150, is 150 above p50.
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { print; if ($4 == 3) { $4 = 4; $6 += 1600; print } next } $1 == "end" { $2++ } { print }' "$T/roof" |
	grep -v '^thunk' | nsysx-view --partial >"$T/jitter"
equal 'variable steps' "$(findings jitter --min 0)" '1 variability 150'
equal '... not because of the first steps' "$(nsysx-diagnose -q --tsv "$T/jitter" | grep -c warmup)" 0
equal 'its command has the steps that the user named' "$(nsysx-diagnose -q --tsv --module 'step@7' <"$T/jitter" | awk -F'\t' 'NR == 2 { print $6 }')" \
	'nsysx-steps --explain --module step@7 STREAM'
# The first three end at 1,600, 2,600 and 3,600: the first step is the long one.
awk -F'\t' 'BEGIN { OFS = FS } $1 == "module" { if ($4 > 0) $6 += 600 - ($4 == 4) * 600 } { print }' "$T/jitter" >"$T/first"
variable() { nsysx-diagnose -q --tsv "$@" | awk -F'\t' '$2 == "variability" { print $2, $3, $5 }' | sed 's/p99 .* p50; //'; }
equal '... if the program was not compiled there' "$(variable "$T/first")" "variability 150 more than half of that is of each device's first two"
awk -F'\t' '$1 == "inst" && !done++ { print "#compile\tprofile:i\tstart:i\tdur:i\tprogram:i\tname:s"; print "compile\t0\t0\t1\t0\tXlaCompile" } $1 == "end" { $0 = $1 FS ($2 + 1) } { print }' "$T/first" |
	awk '$1 == "#compile" || $1 == "compile" { held = held $0 "\n"; next } $1 == "module" && held != "" { printf "%s", held; held = "" } { print }' >"$T/compiled"
equal '... if the program was compiled there: its first execution is initialisation' "$(variable "$T/compiled")" \
	"variability 150 more than half of that is of each device's first two, which nsysx-warmup removes"
equal '... after nsysx-warmup' "$(nsysx-warmup -q "$T/compiled" | nsysx-diagnose -q --tsv --min 0 | grep -c 'nsysx-warmup')" 0

# Steps of two classes on one thread, the second also with GPU work only: a a b a a b a a. The window of a has 7 steps, 5 of whose periods
# are 1,000 ns and two 2,000, which do not count.
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
shows 'periods with a step of another class do not count' 'step: 1.000 us mean, 1.000 us p50, 1.000 us p99' nsysx-diagnose -q --table "$T/classes"
shows '... which is said' 'class step #, a, without periods that have a step of step #, b in them' nsysx-diagnose -q --table "$T/classes"
equal '... without a finding' "$(findings classes --min 0 | grep -c variability)" 0
classes 100 | stream short
equal 'a short step of another class does not explain variability' "$(findings short --min 0 | grep -c variability)" 1
# Those behind a step of another class are long: these are first in their window, and not on their device.
{
	echo 'device device=0'
	k=0 b=0
	for c in a a a a b A A a a b A A a a b A A a a; do
		dur=$([ $c = A ] && echo 1400 || echo 900)
		echo "range range=$((k + 1)) device=0 name=step~$k,~$(echo $c | tr A a) start=$((b + 100)) dur=$dur host_start=$b host_dur=$((dur + 90))"
		echo "op name=gemm start=$((b + 100)) dur=$dur call=$((k + 1)) range=$((k + 1)) tid=1 host_start=$((b + 10)) host_dur=10"
		k=$((k + 1)) b=$((b + dur + 100))
	done
} | stream behind
equal 'first steps are those of the device' "$(nsysx-diagnose -q --tsv --min 0 "$T/behind" | awk -F'\t' '$2 == "variability" { print $5 }')" \
	'p99 of steps (the largest) is 1.500 us, p50 1.000 us, of 12; the gain if every step took p50'
equal 'named together they form one class' "$(nsysx-diagnose -q --table --step '^step' "$T/classes" | grep -c -e 'lie between' -e '  variability')" 0

# ---- sentences

# In each step the host is in a range for 80 of the 115 ns in which the queue is drained, after waiting for 20 of them.
{ steps; for k in 1 2 3 4; do echo "range range=$k host_start=$((k * 1000 + 320)) host_dur=80 name=write_log"; done; } | stream logged
shows 'blocking: the activity of the host after it waited' "100% of the wait in cudaStreamSynchronize; 100% of the host's time after it in write_log" nsysx-diagnose -q --table --top 0 "$T/logged"
equal '... the subject is the call that waits' "$(nsysx-diagnose -q --tsv "$T/logged" | awk -F'\t' '$2 == "blocking" { print $7 }')" cudaStreamSynchronize
# A copy of 250 ns in the first step, all of it under a kernel that began before the step: what is exposed is in h2d, 3 x 60 ns.
{ steps | sed 's/name=dot start=1000 dur=300/name=dot start=1290 dur=10/'; echo 'op name=before start=700 dur=590'
  echo 'op type=memcpy name=d2d src=device dst=device bytes=6000 start=1000 dur=250'; } | stream under
equal 'copies: the subject is what is exposed the longest, also if what hides others began before the steps' \
	"$(nsysx-diagnose -q --tsv --top 0 --min 0 "$T/under" | awk -F'\t' '$2 == "copies" { print $7 }')" h2d
shows 'without instances of collectives waiting is not known' 'a step; how much of it is waiting is not known' nsysx-diagnose -q --table --top 0 "$T/job"
equal '... nothing is subtracted, so what has most of it is not of a rest' "$(nsysx-diagnose -q --tsv --top 0 "$T/job" | grep -c 'waiting is not known; [0-9.]* [a-z]* of it in ')" 1
shows 'clocks that cannot be compared: waiting is not known' 'a step; how much of it is waiting is not known' nsysx-diagnose -q --table --top 0 --min 0 "$T/apart"
shows '... with a count' 'a step; of that 25 ns waiting for the last device' nsysx-diagnose -q --table --top 0 --min 0 "$T/slow"
# Memory that is pinned in either copy: 2 x 600 and 1 x 1,800 bytes in 60, 60 and 180 ns; 3,000 bytes in 300 ns.
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
shows '... one sum in the finding; without a rate, since the copies are small' 'most: h2d, 3 a device, together 3.0 kB in 300 ns nsysx' \
	sh -c 'nsysx-diagnose -q --table --top 0 --min 0 "$1" | sed "s/ *do first:.*//; s/^ *[$]//"' sh "$T/ways"
# Pinned copies and copies within a device need no pinning.
first() { sed "s/pinned\\tdevice/$1/" "$T/ways" | nsysx-diagnose -q --tsv --min 0 | awk -F'\t' '$2 == "copies" { print $8 }' | cut -c 1-$2; }
equal 'copies of pinned memory' "$(first 'pinned\tdevice' 22)" 'copy ahead of use, ove'
equal '... of pageable memory' "$(first 'pageable\tdevice' 23)" 'copy from pinned memory'
equal '... on the device' "$(first 'device\tdevice' 34)" 'write the data where it is needed,'
sed 's/h2d\(.*\t\)\(600\|1800\)\t/h2d\1\2000\t/' "$T/ways" >"$T/larger-ways"
shows '... the finding names the larger kind' 'most: h2d, 3 a device, together 3.0 MB in 300 ns, 10000.0 GB/s' nsysx-diagnose -q --table --top 0 --min 0 "$T/larger-ways"
# held HOST_DUR: what the finding says of the host, whose three calls take that each; the copies take 300.
held() {
	awk -F'\t' -v OFS='\t' -v ns="$1" '/^#op/ { for (i = 1; i <= NF; i++) if ($i ~ /^host_dur:/) c = i }
		/^op/ && /h2d/ { $c = ns; sub("pinned\tdevice", "pageable\tdevice") } { print }' "$T/larger-ways" |
		nsysx-diagnose -q --tsv --min 0 | awk -F'\t' '$2 == "copies" { print $5 }' | grep -o 'in their calls.*'
}
equal 'copies of pageable memory that hold the host in their calls' "$(held 51)" 'in their calls the host 153 ns'
equal '... or do not' "$(held 50)" ''
# together ITEM: the same of three copies that one call of 160 ns makes. ITEM: what else their records say.
together() {
	stream together <<END_STREAM
device device=0 last=2000
call call=1 start=0 dur=160 name=cudaMemcpyBatchAsync class=copy ops=3
op type=memcpy name=h2d src=pageable dst=device bytes=600000 start=200 dur=60 call=1 tid=1 host_start=0 host_dur=160 ${1-}
op type=memcpy name=h2d src=pageable dst=device bytes=600000 start=300 dur=60 call=1 tid=1 host_start=0 host_dur=160 ${1-}
op type=memcpy name=h2d src=pageable dst=device bytes=1800000 start=400 dur=180 call=1 tid=1 host_start=0 host_dur=160 ${1-}
op name=gemm start=600 dur=1400
END_STREAM
	nsysx-diagnose -q --tsv --min 0 "$T/together" | awk -F'\t' '$2 == "copies" { print $5 }' | grep -o 'GB/s.*'
}
equal '... in one call, once' "$(together)" 'GB/s, and in their calls the host 160 ns'
equal '... but not in the launch of a graph, which does not copy' "$(together graph_node=1)" 'GB/s'
# launching N LONG: three steps, each with N launches 300 ns apart, LONG more in the middle. A kernel takes 100, its call 50, so that the host is in its range
# for 150 before each but the first, which comes 1149 after the last one of the step before, and 1 behind its range.
launching() {
	awk -v n="$1" -v long="$2" 'BEGIN {
		step = n * 300 + 1000 + long
		print "device device=0"
		for (k = 0; k < 4; k++) {
			print "range range=" k + 1 " start=" k * step + 50 " dur=" (n - 1) * 300 + long + 100 " host_start=" k * step " host_dur=" step - 1 " name=step~" k " tid=1"
			for (i = 0; i < n; i++) {
				id = k * n + i
				at = k * step + i * 300 + (i >= n / 2 ? long : 0)
				print "call call=" id " start=" at " dur=50 name=cudaLaunchKernel class=launch ops=1 tid=1"
				print "op op=" id " name=k start=" at + 50 " dur=100 call=" id " tid=1 host_start=" at " host_dur=50 range=" k + 1
			}
		}
	}' | stream launching
	nsysx-diagnose -q --tsv --top 0 --min 0 --step '^step' "$T/launching" | awk -F'\t' '$2 == "idle:range" { print $3, substr($8, 1, 20) }'
}
equal 'a host that is late before many launches: launch less' "$(launching 30 0)" "$((29 * 150 + 1149)) launch less, since t"
equal '... also where one gap is longer, as long as it is less than half' "$(launching 30 2000)" "$((29 * 150 + 1149 + 2000)) launch less, since t"
equal '... but not where it is most of the time' "$(launching 30 6000)" "$((29 * 150 + 1149 + 6000)) move what the host d"
equal '... or before few' "$(launching 15 0)" "$((14 * 150 + 1149)) move what the host d"
# The host is late before each kernel, so shorter kernels save nothing.
launching 30 0 >"$T/got"
awk -F'\t' -v OFS='\t' '$1 == "op" { for (i = 1; i <= NF; i++) if ($i == "k") $i = "transpose_k" } { print }' "$T/launching" >"$T/layouts"
equal 'what saves nothing while the host sets the pace says so' "$(nsysx-diagnose -q --table --top 0 --min 0 --step '^step' "$T/layouts" | sed -n 's/^ *[0-9]* *layout//p')" \
	'  3.000 us  30.0%, saves nothing while the host sets the pace'
equal '... in Markdown, too' "$(nsysx-diagnose -q --markdown --top 0 --min 0 --step '^step' "$T/layouts" | grep -o 'layout[^(]*pace |')" \
	'layout | 3.000 us | 30.0% | nothing while the host sets the pace |'
# Without steps all gaps of the recording are counted, which are many in any.
launching 30 0 >"$T/got"
sed 's/step 0/a/; s/step 1/b/; s/step 2/c/; s/step 3/d/' "$T/launching" >"$T/unnamed"
equal '... or where no steps are known' "$(nsysx-diagnose -q --tsv --top 0 --min 0 "$T/unnamed" | awk -F'\t' '$2 == "idle:range" { print substr($8, 1, 20) }')" \
	'move what the host d'
# syncs N: three steps of ten launches 300 apart, of which the first N are each followed by a call that waits 100 ns, until 10 after the kernel's end.
syncs() {
	awk -v n="$1" 'BEGIN {
		print "device device=0\ndevice device=1 pid=2"
		for (k = 0; k < 4; k++) {
			step = k * 4000
			print "range range=" k + 1 " start=" step + 50 " dur=2800 host_start=" step " host_dur=3999 name=step~" k
			for (i = 0; i < 10; i++) {
				id = k * 20 + i * 2
				at = step + i * 300
				print "call call=" id " start=" at " dur=50 name=cudaLaunchKernel class=launch ops=1 range=" k + 1
				print "op op=" id " name=k start=" at + 50 " dur=100 call=" id " tid=1 host_start=" at " host_dur=50 range=" k + 1
				if (i < n) print "call call=" id + 1 " start=" at + 60 " dur=100 name=cudaStreamSynchronize class=sync blocking=1 range=" k + 1
				print "call call=" id + 100 " pid=2 start=" at + 60 " dur=100 name=cudaStreamSynchronize class=sync blocking=1"
			}
		}
	}' | stream syncs
	nsysx-diagnose -q --tsv --top 0 --min 0 --step '^step' "$T/syncs" | awk -F'\t' '$2 ~ /^idle/ && match($5, /also waits.*cudaStreamSynchronize/) { print $2, substr($5, RSTART, RLENGTH) }'
}
equal 'a late host that waits many times a step: how often, how long and where' "$(syncs 5)" \
	'idle:range also waits for the GPU in 5 calls a step, 500 ns in them; 100% of the time idle for these in step #;cudaStreamSynchronize'
equal '... not one that waits three times' "$(syncs 3)" ''
# Device 0 has one gap of 500 ns, device 1 three of 300, all before launches without calls.
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
shows 'the device with most time of a cause, and the one with the longest gap' 'most on device 1 in 3 gaps, the longest 300 ns; 100% of that in a; device 0 has the longest of all, 500 ns' \
	nsysx-diagnose -q --table --top 0 --min 0 "$T/gaps"
shows 'shares refer to the period' 'where the period of a step goes' nsysx-diagnose -q --table "$T/job"

# ---- a terminal: lines fit, except words that are wider; commands continue after a backslash

for columns in 40 60 80 100 200; do
	# Narrow screens shorten the names of rows.
	rows=$([ $columns -lt 50 ] && echo '/^  [cei][a-z]* *.*[0-9]%/d')
	for f in job slow torch gaps; do
		COLUMNS=$columns script -qec "nsysx-diagnose -q --top 0 --min 0 '$T/$f'" /dev/null </dev/null | tr -d '\r' >"$T/wide"
		awk -v c="$columns" '
			# Quoted text counts as one word.
			{ for (i = 1; i <= length; i++) { x = substr($0, i, 1); if (x == "\047") q = !q; if (q && x == " ") $0 = substr($0, 1, i - 1) "_" substr($0, i + 1) } q = 0 }
			{ words = $1 == "$" ? NF - 1 : NF } $1 != "$" && words > 1 && length > 100; $NF == "\\" { words-- } words > 1 && length > c' "$T/wide"
		nsysx-diagnose -q --top 0 --min 0 --table "$T/$f" | sed "$rows" | tr -d '#' | tr -s ' \n' '\n\n' >"$T/want"
		sed -e :a -e "/'\\\\\$/{N;s/'\\\\\\n'//;ba" -e '}' "$T/wide" | sed -e "$rows" -e 's/ \\$//' | tr -d '#' | tr -s ' \n' '\n\n' >"$T/words"
		cmp "$T/want" "$T/words"
	done
done >"$T/too-wide" 2>&1
if command -v script >/dev/null; then
	equal 'the screen fits terminals, and no word is broken' "$(cat "$T/too-wide")" ''
else
	skip 'the screen fits terminals' 'no script'
fi

# ---- wrong usage

fails '--step and --module' 2 'exclude each other' nsysx-diagnose --step a --module b "$T/job"
fails 'a share that is not a number' 2 'want a number from 0 to 100' nsysx-diagnose --min x "$T/job"
fails 'another' 2 'want a number from 0 to 100' nsysx-diagnose --min 101 "$T/job"
fails 'two forms' 2 'exclude each other' nsysx-diagnose --json --markdown "$T/job"
fails 'an invalid expression' 2 '--step' nsysx-diagnose --step '(' "$T/job"
head -n 20 "$T/job" >"$T/cut"
fails 'a stream cut short' 1 'cut short' nsysx-diagnose -o "$T/none" "$T/cut"
fails '--require without such a record' 1 'no thunk record' nsysx-diagnose --require thunk -o "$T/none" "$T/job"
fails 'a full disk' 1 '/dev/full' nsysx-diagnose -o /dev/full "$T/job"
nsysx-diagnose -q --all -o "$T/all-%" "$T/job"
for form in findings.tsv:--tsv where.tsv:'--where --tsv' summary.md:--markdown; do
	nsysx-diagnose -q ${form#*:} "$T/job" >"$T/want"
	same "--all: ${form%%:*} has the output of ${form#*:}" "$T/want" "$T/all-${form%%:*}"
done
nsysx-steps -q --each --tsv "$T/job" >"$T/want"
same '--all: step-each.tsv has the output of nsysx-steps --each' "$T/want" "$T/all-step-each.tsv"
nsysx-diagnose -q --all --gaps 20 -o "$T/gaps-%" "$T/job"
nsysx-idle -q --steps --tsv "$T/job" >"$T/want"
same '--gaps: idle.tsv has the output of nsysx-idle' "$T/want" "$T/gaps-idle.tsv"
nsysx-idle -q --steps --tsv --list 20 "$T/job" >"$T/want"
same '--gaps: gaps.tsv has the output of nsysx-idle --list' "$T/want" "$T/gaps-gaps.tsv"
nsysx-copies -q --tsv "$T/job" >"$T/want"
same '--gaps: copies.tsv has the output of nsysx-copies' "$T/want" "$T/gaps-copies.tsv"
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/nothing"
nsysx-copies --tsv "$T/nothing" 2>"$T/want" >"$T/out"
nsysx-diagnose --all --gaps 20 -o "$T/nothing-%" "$T/nothing" 2>"$T/err"
grep '^nsysx-copies:' "$T/err" >"$T/got"
same '... and what it says' "$T/want" "$T/got"
ok '... which is something' test -s "$T/got"
for table in findings.tsv where.tsv step-each.tsv summary.md; do
	same "--gaps leaves other tables unchanged: $table" "$T/all-$table" "$T/gaps-$table"
done
fails '--gaps without --all' 2 '--gaps goes with --all' nsysx-diagnose --gaps 3 "$T/job"
fails '--all without % in -o' 2 'want -o FILE with a % in its name' nsysx-diagnose --all -o "$T/one" "$T/job"
# Of 99 the p99 is the ceil(98.01)-th, the largest; of 100 the 99th.
for n in 99 100; do
	{
		printf 'device device=0 last=%d\nprogram program=0 id=7 name=step key=step@7\n' $((n * 1000 + 900))
		for k in $(seq 0 $n); do printf 'module program=0 execution=%d device=0 start=%d dur=900 name=step\nop name=k start=%d dur=900\n' $k $((k * 1000)) $((k * 1000)); done
	} | stream periods$n
done
shows 'p99 of 99 steps is the largest' '1.000 us p99 (the largest), from start to start, of 99 on' nsysx-diagnose -q --table "$T/periods99"
shows 'p99 of 100 steps is not the largest' '1.000 us p99, from start to start, of 100 on' nsysx-diagnose -q --table "$T/periods100"

# ---- communication of which nothing says sizes, nor which operations are one collective: what would say it
for k in 0 1 2 3; do
	for d in 0 1; do echo "op name=ncclDevKernel_SendRecv device=$d start=$((1000 * k + d)) dur=500 comm=1 collective=all-to-all"; done
done | { echo 'device device=0'; echo 'device device=1'; cat; } | stream loose
nsysx-diagnose -q --table "$T/loose" | tr -s '\n ' '  ' >"$T/said"
for what in 'slow collectives: sizes of collectives' 'late hosts and devices: which operations are one collective'; do
	ok "what is not known, and how it would be: $what" grep -q "not known: $what [^:]*: the payloads of NCCL's NVTX ranges have [a-z]* (nsys export --include-blobs=true)" "$T/said"
done

# ---- an operation that cannot have run as long: it still runs, for 400 ns, when the next one of its stream begins, and when that has ended
for other in 7 8; do
	{ steps; echo "op name=long stream=7 start=1000 dur=500"; echo "op name=short stream=$other start=1100 dur=100"; } | stream over
	nsysx-diagnose -q --table "$T/over" | tr -s '\n ' '  ' >"$T/said"
	equal "an operation that outlasts the next one of its stream, which is on stream $other" "$(grep -o 'not sure: .* they count whole' "$T/said")" \
		"$([ $other = 8 ] || echo 'not sure: how much computes and how much is idle: 1 operation still ran when a later one of the same stream had ended, which a GPU does not do, for 400 ns of all steps together; they count whole')"
	for tool in 'nsysx-steps --tsv' 'nsysx-steps --each --tsv' 'nsysx-steps --explain --tsv' 'nsysx-summary --by device --tsv'; do
		$tool "$T/over" 2>&1 >"$T/x" | grep -o 'operations still run .*' >"$T/said"
		equal "... $tool" "$(sed 's/ in all: .*//' "$T/said")" "$([ $other = 8 ] ||
			echo 'operations still run when a later one of their stream has ended, which a GPU does not do, for 400 ns')"
	done
done
# ---- a device that computes longer: its kernels compared with those of the median of the others

# Three devices run a and b and then communicate; others wait 70 ns for device 2. kernel NAME DEVICE START DUR [STEP]: in each step or that one.
kernel() {
	for k in ${5:-0 1 2 3}; do echo "op name=$1 device=$2 start=$((k * 1000 + $3)) dur=$4"; done
}
straggling() {
	devices 3 1
	collectives 0,1,2 1000
	for d in 0 1; do kernel a $d 0 100; kernel b $d 150 40; thunk 1 $d 200 150 0; done
	thunk 1 2 270 80 0
}
why() { nsysx-diagnose -q --tsv --min 0 "$T/$1" | awk -F'\t' '$2 == "straggler" { sub(/.*longer than they do/, "", $5); print $3 $5 " / " $8 }'; }
uneven='see why it has more to do in these kernels: uneven batches, experts or pipeline stages'
{ straggling; kernel a 2 0 150; kernel b 2 150 60; } | stream clock
equal 'all kernels are slower' "$(why clock)" '70; all kernels are slower than on the median device, by 50.0% / see why the device is slow: clock, heat or power (nvidia-smi -q -d CLOCK,PERFORMANCE), or another process on it'
{ straggling; kernel a 2 0 100; kernel b 2 150 110; } | stream uneven
equal '... a few are' "$(why uneven)" "70; 100% of the extra kernel time compared with device 0 is in b 70 ns / $uneven"
{ straggling; kernel a 2 0 100; kernel b 2 150 40; kernel b 2 200 40; kernel other 2 240 30; } | stream more_often
equal '... some run more often, or only there' "$(why more_often)" "70; 100% of the extra kernel time compared with device 0 are in b 40 ns, other 30 ns / $uneven"
# Device 1 comes last, 100 ns after device 0, so that it is late; device 2 is slow all the same: 210 ns of kernels that take others 140.
{ straggling | sed '/device=1.*inst=1/s/start=\([0-9]*\)200 dur=150/start=\1300 dur=50/'; kernel a 2 0 150; kernel b 2 150 60; } | stream paced
equal 'a slow device that others do not wait for most' "$(nsysx-diagnose -q --tsv --min 0 "$T/paced" | awk -F'\t' '$2 == "straggler" { print $3 ": " $5 }')" \
	'70: device 2 takes 50.0% longer than the median of 3 devices for the same kernels, 70 ns of a step'
straggling >"$T/same"
{ grep -v 'device=2 inst=1' "$T/same"; thunk 1 2 200 150 0 | grep -v execution=1; thunk 1 2 410 80 0 | grep execution=1; kernel a 2 0 100; kernel b 2 150 40 '0 2 3'; kernel b 2 150 250 1; } |
	sed '/device=[01].*execution=1.*inst=1\|execution=1.*device=[01] inst=1/s/dur=150/dur=290/' | stream once
equal 'a single step of several: it says so' "$(why once)" "70; 100% of the extra kernel time compared with device 0 is in b 70 ns; more than half of it is one collective of a single step / $uneven"

# ---- idle time of a single step, and of each

pauses() {
	echo 'program program=0 id=7 name=step key=step@7'
	echo 'call call=1 start=90000 dur=10 name=cudaLaunchKernel class=launch'
	for d in $1; do
		echo "device device=$d last=9000"
		for k in 0 1 2 3 4; do
			echo "module program=0 execution=$k device=$d start=$((k * 1000)) dur=900 name=step"
			echo "op name=a device=$d start=$((k * 1000)) dur=$([ "$k" = 1 ] && echo "$2" || echo "$3")"
		done
	done
}
idle_says() { nsysx-diagnose -q --tsv --min 0 "$T/$1" | awk -F'\t' '$2 ~ /^idle/ { n = split($5, part, "; "); print $3, part[n] ~ /^more than/ ? part[n] : "" }'; }
pauses 0 500 990 | stream pause
equal 'idle time that is mostly one gap' "$(idle_says pause)" '132.5 more than half of all is one gap of a single step'
pauses '0 1 2' 500 990 | stream pauses
equal '... one of each device' "$(idle_says pauses)" '132.5 more than half of all is the longest gap of each device, not what each step costs'
pauses '0 1 2' 900 900 | stream steady
equal '... the same in each step' "$(idle_says steady)" '100 '

pauses 0 500 990 | grep -v '^call' | stream uncalled
equal 'without any calls the remedy is to have them' "$(nsysx-diagnose -q --tsv --min 0 "$T/uncalled" | awk -F'\t' '$2 == "idle:no-call" { print $3, $8 }')" \
	'132.5 extract with -a; if that finds no calls, record them (nsys profile --trace=cuda,nvtx), for only they tell what the device waited for'
equal '... but not where others are known' "$(nsysx-diagnose -q --tsv --min 0 "$T/pause" | awk -F'\t' '$2 ~ /^idle/ { print ($8 ~ /extract with/) }')" 0

# ---- kinds of steps that take turns: every third one 1,400 ns, or a random third of them
turns() {
	echo 'program program=0 id=7 name=step key=step@7'
	echo 'call call=1 start=90000 dur=10 name=cudaLaunchKernel class=launch'
	echo 'device device=0 last=99000'
	k=0 at=0
	for long in $1; do
		echo "module program=0 execution=$k device=0 start=$at dur=900 name=step"
		echo "op name=a device=0 start=$at dur=900"
		k=$((k + 1)) at=$((at + (long ? 1400 : 1000)))
	done
}
turns '1 0 0 1 0 0 1 0 0 1 0 0 1' | stream thirds
shows 'every third step is a kind of its own' 'class step@7, every 3rd step is of another kind, 1.400 us p50, the others 1.000 us' nsysx-diagnose -q --table "$T/thirds"
equal '... and no variability' "$(findings thirds --min 0 | grep -c variability)" 0
turns '0 1 0 1 0 1 0 1' | stream halves
shows 'so are steps that alternate' 'class step@7, 2 kinds of it take turns, p50 1.000 us, 1.400 us' nsysx-diagnose -q --table "$T/halves"
turns '1 0 0 1 0 1 0 0 0 0 1 0 0' | stream random
equal 'long steps in no order vary' "$(findings random --min 0 | grep -c variability)" 1
equal '... and are no kind' "$(nsysx-diagnose -q --table "$T/random" | grep -c 'another kind\|take turns')" 0

# ---- forecasts

# A kernel of 50 us that the host waits for, until 2 us after its end; the next launch comes 2 us later. Without the wait a step is the kernel and
# 900 ns: it saves 9.1 us of 60.
waits() {
	awk -v "waited=$1" 'BEGIN {
		print "device device=0 pid=1"
		for (i = 0; i < 4; i++) {
			t = i * 60000
			print "range range=" i " host_start=" t " host_dur=59000 start=" t + 6000 " dur=50000 name=step"
			print "call call=" 2 * i " start=" t " dur=5000 name=cudaLaunchKernel class=launch ops=1"
			print "op op=" i " stream=7 name=k start=" t + 6000 " dur=50000 call=" 2 * i " tid=1 host_start=" t " host_dur=5000 range=" i
			print "call call=" 2 * i + 1 " start=" t + 6000 " dur=52000 name=cudaStreamSynchronize class=sync ops=0 blocking=1" \
				(waited ? " waited=" i : "")
		}
	}'
}
waits 1 | stream waits
# Finding, change and what it would save.
forecasts() {
	nsysx-diagnose -q --tsv --min 0 --step '^step' "$T/$1" \
		| awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["finding"], $at["change"], $at["saved"] }'
}
equal 'what is forecast without a finding' "$(forecasts waits | tr '\t' ' ')" 'blocking sync=0 9100'
shows '... on the screen' 'blocking, up to 10.00 us of a step, 16.7%, forecast 15.2%' nsysx-diagnose -q --table --step '^step' "$T/waits"
shows 'what sets the step' 'the step is set by a chain: 83% compute, 10% latency, 3% the host'\''s work, 3% CUDA calls $ nsysx-whatif --critical --table' nsysx-diagnose -q --table --step '^step' "$T/waits"
nsysx-diagnose -q --table --step '^step' "$T/waits" | sed -n 's/^ *\$ \(nsysx-whatif\)/\1/p' >"$T/command"
equal '... and its command shows it' "$(sh "$T/command" 2>/dev/null | awk '$1 == "compute" { print $4 }')" '83.3%'
waits '' | stream unknown
equal 'where nobody knows what was waited for nothing is forecast' "$(forecasts unknown | awk -F'\t' '$3 != "" { n++ } END { print n + 0 }')" 0
shows '... but a range, of a call that waited or worked' 'forecasts are ranges, of whatever is not known: 86.7 % (limit 10 %) of the critical path is not explained' nsysx-diagnose -q --table --step '^step' "$T/unknown"
equal '... and ranks are those of the time lost' "$(findings unknown --min 0 --step '^step' | awk '$3 > last && NR > 1 { n++ } { last = $3 } END { print n + 0 }')" 0
# after NS: steps whose kernels begin NS after their launches, which come every 60 us; the host is in no call between them. What
# it then waited for, or did, is not known; where its launches come 10 us before each kernel at most, shorter kernels save nothing, whatever it was.
after() {
	awk -v "late=$1" 'BEGIN {
		print "device device=0 pid=1"
		for (i = 0; i < 8; i++) {
			t = i * 60000
			print "range range=" i " host_start=" t " host_dur=30000 start=" t + late " dur=60000 name=step"
			for (k = 0; k < 2; k++) {
				print "call call=" 2 * i + k " start=" t + k * 6000 " dur=5000 name=cudaLaunchKernel class=launch ops=1"
				print "op op=" 2 * i + k " stream=7 name=" (k ? "transpose_k" : "k") " start=" t + late + k * 40000 " dur=" 40000 - k * 20000 \
					" call=" 2 * i + k " tid=1 host_start=" t + k * 6000 " host_dur=5000 range=" i
			}
		}
	}' | stream after
	nsysx-diagnose -q --table --step '^step' "$T/after" | sed -n 's/^  1  \(.*\)/\1/p; s/^\(forecasts [a-z ]*\),.*/\1/p'
}
equal 'forecasts that are ranges are said to be' "$(after 40000)" 'layout  20.00 us  33.3%, forecast 0.0 to 16.7%
forecasts are ranges'
equal '... and those that are single numbers all the same, not' "$(after 10000)" 'layout  20.00 us  33.3%, saves nothing by itself
forecasts hold'
shows 'without steps there are none' 'no forecasts: no steps are known' sh -c 'grep -v "^range" "$1" | nsysx-view --partial | nsysx-diagnose -q --table' sh "$T/waits"

# Two devices: x takes 20 us on one and 50 on the other, then an all-reduce whose transfer takes 10. The first one would need 40.9 us if it did not wait
# for the second, of 70.9.
awk 'BEGIN {
	print "device device=0 pid=1"
	print "device device=1 pid=2"
	for (i = 0; i < 4; i++)
		for (d = 0; d < 2; d++) {
			t = i * 70900; n = 2 * i + d
			x = d ? 50000 : 20000
			who = " pid=" d + 1
			print "range range=" n who " host_start=" t " host_dur=70000 start=" t + 6000 " dur=60900 device=" d " name=step"
			print "call call=" 3 * n who " start=" t " dur=2000 name=cudaLaunchKernel class=launch ops=1"
			print "op op=" 2 * n " device=" d " stream=7 name=x start=" t + 6000 " dur=" x " call=" 3 * n " tid=1 host_start=" t " host_dur=2000 range=" n
			print "call call=" 3 * n + 1 who " start=" t + 3000 " dur=2000 name=cudaLaunchKernel class=launch ops=1"
			print "op op=" 2 * n + 1 " device=" d " stream=7 name=ncclDevKernel_AllReduce start=" t + 6900 + x " dur=" 60000 - x \
				" call=" 3 * n + 1 " tid=1 host_start=" t + 3000 " host_dur=2000 range=" n " comm=1 collective=all-reduce comm_id=1 group=2 hidden=0"
			print "call call=" 3 * n + 2 who " start=" t + 6000 " dur=62900 name=cudaStreamSynchronize class=sync ops=0 blocking=1 waited=" 2 * n + 1
		}
}' | stream both
equal 'a device that others wait for: the step of the others' "$(forecasts both | grep straggler | tr '\t' ' ')" 'straggler nowait:1 30000'
equal 'each forecast is what nsysx-whatif says of its change' "$(forecasts both | while IFS='	' read -r finding change saved; do
	[ -z "$saved" ] || nsysx-whatif -q --tsv --step '^step' --what "$change" "$T/both" | awk -F'\t' -v s="$saved" 'NR == 3 && $5 == s { n++ } END { exit !n }' || echo "$finding"
done)" ''
equal '... and of findings with one change only the largest has it' "$(forecasts both | awk -F'\t' '$3 != "" { print $2 }' | sort | uniq -d)" ''
nsysx-diagnose -q --all --gaps 9 --step '^step' -o "$T/all-%" "$T/both"
equal 'the path of a step, in order, adds up to its period' "$(awk -F'\t' 'NR > 1 { n[$1 " " $2] += $6; if ($5 < last[$1 " " $2]) print "order"; last[$1 " " $2] = $5 } END { for (k in n) print n[k] }' "$T/all-path.tsv" | sort -u)" 70900
shows 'the step is set by the one' 'the step is set by device 1 (92% of the critical path): 71% compute, 14% transfers' nsysx-diagnose -q --table --step '^step' "$T/both"

# Of a job with more than 250,000 operations some steps are taken, which here are all alike.
awk -v ranks=4 -v ops=7000 -v steps=10 -f "$tests_dir/bench/ranks.awk" | nsysx-view -q -b -o "$T/ranks"
shows 'of a long job some steps tell' '; of 8 of 10 steps $ nsysx-whatif' nsysx-diagnose -q --table --step '^step' "$T/ranks"
equal '... what all of them do' "$(nsysx-diagnose -q --tsv --min 0 --step '^step' "$T/ranks" | awk -F'\t' '$2 == "exposed-communication" { print $9, $10 }')" \
	"transfer=inf $(nsysx-whatif -q --tsv --step '^step' --what transfer=inf "$T/ranks" | awk -F'\t' 'NR == 3 { print $5 }')"
rm "$T/ranks"

# ---- CUDA graphs that are recorded as a whole
{ turns '0 0 0 0' | sed '/op name=a/s/a device/a type=graph device/'; } | stream wholes
shows 'what is in a whole graph is not known' 'not known: what runs in CUDA graphs that are recorded as a whole, 900 ns of a step, 90.0%: it counts as computation; record with --cuda-graph-trace=node' \
	nsysx-diagnose -q --table "$T/wholes"
equal '... where there is one' "$(nsysx-diagnose -q --table "$T/thirds" | grep -c 'recorded as a whole')" 0

# ---- instructions of a CPU: no advice about launches, calls and GPUs

# Two devices of that name, of which 1 is slow and both communicate.
on() {
	printf 'profile profile=0 name=r schema=xspace\nprogram program=0 id=7 name=step key=step@7\n'
	for d in 0 1; do
		echo "device device=$d profile=0 pid=1 name=$1"
		for k in 0 1 2 3 4 5; do
			b=$((k * 1000))
			echo "module profile=0 program=0 execution=$k device=$d start=$b dur=900 name=step"
			echo "op device=$d type=kernel name=dot start=$b dur=$((200 + 100 * d)) program=0 execution=$k"
			echo "op device=$d type=kernel name=all-reduce start=$((b + 400)) dur=100 program=0 execution=$k comm=1"
		done
	done
}
on CPU | stream cpu
on H100 | stream gpu
for form in --table '--tsv --min 0'; do
	# shellcheck disable=SC2086  # options
	equal "of a CPU there is no advice about a GPU: $form" "$(nsysx-diagnose --top 0 $form "$T/cpu" 2>&1 | grep -cE 'nvidia-smi|extract with -|jax[.]profiler|latency-hiding|--peak|whose launch is')" 0
	# shellcheck disable=SC2086
	ok '... which a GPU gets' sh -c "nsysx-diagnose --top 0 $form '$T/gpu' 2>&1 | grep -qE 'jax[.]profiler|extract with -'"
done
equal '... and the same findings' "$(findings cpu)" "$(findings gpu)"
for tool in launch 'launch --by stretch' whatif idle copies; do
	# shellcheck disable=SC2086  # a tool and its options
	ok "nsysx-$tool says why there are no calls" sh -c "nsysx-$tool '$T/cpu' 2>&1 >'$T/out' | grep -q 'instructions ran on a CPU, where nothing is launched'"
	ok '... and asks for none' sh -c "! nsysx-$tool '$T/cpu' 2>&1 | grep -q 'extract with'"
done

if [ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ]; then
	# made OPTION...: the steady stream of a generated job with its hosts, into $T/made
	made() {
		rm -rf "$T/job.d"
		"$SYNTH" -o "$T/job.d" "$@"
		set --
		for r in "$T"/job.d/r*.sqlite; do
			n=${r##*/r} n=${n%.sqlite}
			[ ! -e "$T/job.d/dump$n" ] || set -- "$@" -x "$T/job.d/dump$n"
			set -- "$@" "$r"
		done
		nsysx-extract -q -a --host "$@" | nsysx-align -q | nsysx-warmup -q | nsysx-overlap -q >"$T/made"
	}
	# of FINDING: its subject and evidence
	told() { nsysx-diagnose -q --tsv --min 0 "$T/made" | awk -F'\t' -v f="$1" '$2 == f { print $7 ": " $5; exit }'; }
	made --processes 4 --slow-device 2:10 --steps 8
	says_slow=$(told straggler)
	ok 'a slow device is named with what it takes longer' sh -c 'case $1 in "device 2: device 2 "*"by 10."?% | "device 2: device 2 "*"10."?"% longer"* | "device 2: device 2 "*"by 10."*) ;; *) echo "$1"; exit 1 ;; esac' sh "$says_slow"
	equal '... as its pace' "$(nsysx-steps -q --cut "$T/made" | nsysx-stragglers -q --pace --tsv | awk -F'\t' 'NR == 2 { printf "%d %.1f\n", $1, $4 }')" '2 1.1'
	made --processes 4 --racks 2 --late-rack 1:300000 --steps 8
	ok 'a late rack is named by its hosts' sh -c 'case $1 in "the 2 devices of hosts rack1-node002 to rack1-node003, in read_shard: the 2 devices of hosts rack1-node002 to rack1-node003 arrive last at "*) ;; *) echo "$1"; exit 1 ;; esac' \
		sh "$(told late-host)"
	equal '... before the communication in which others wait, of which there is more' "$(nsysx-diagnose -q --tsv "$T/made" | awk -F'\t' 'NR == 2 { f = $2; gain = $3 } $2 == "exposed-communication" { print f, ($3 > gain) }')" 'late-host 1'
	shows '... on the first screen' 'look first at the 2 devices of hosts rack1-node002 to rack1-node003' nsysx-diagnose -q --table "$T/made"
	made --processes 4 --racks 2 --late-rack 1:100000 --steps 8
	equal '... but not if that is more than twice as much' "$(nsysx-diagnose -q --tsv "$T/made" | awk -F'\t' 'NR == 2 { f = $2; gain = $3 } $2 == "late-host" { print f, (gain > 2 * $3) }')" 'exposed-communication 1'
	made --processes 8 --racks 4 --late-rack 2:300000 --steps 6
	ok '... of four as well' sh -c 'case $1 in "the 2 devices of hosts rack2-node004 to rack2-node005, in read_shard: "*) ;; *) echo "$1"; exit 1 ;; esac' sh "$(told late-host)"
	# PyTorch without NCCL's payloads: no wait is known, but hosts of the rack are idle as long as others communicate longer. Devices are in the
	# order of the names of reports, r10 before r2: a rack's are no neighbours.
	made --torch --processes 24 --racks 3 --late-rack 1:2000000 --steps 6
	ok 'a late rack without instances of collectives is named' sh -c 'case $1 in "the 8 devices of hosts rack1-node008 to rack1-node015, in read_shard: the 8 devices of hosts rack1-node008 to rack1-node015 are idle 2.00"?" ms a step longer than the others, mostly range; "*) ;; *) echo "$1"; exit 1 ;; esac' \
		sh "$(told late-host)"
	nsysx-diagnose -q --tsv "$T/made" >"$T/findings"
	equal '... first' "$(awk -F'\t' 'NR == 2 { print $2 }' "$T/findings")" late-host
	sh -c "$(awk -F'\t' '$2 == "late-host" { print $6 }' "$T/findings")" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { ns[$at["device"]] += $at["ns"] }
		END { for (d in ns) { late = ns[d] > 5e6; n[late]++; s[late] += ns[d] } printf "%d %d %.0f\n", n[0], n[1], (s[1] / n[1] - s[0] / n[0]) / 5 / 1e4 }' >"$T/got"
	equal '... its command shows by how much: of 24 devices 8 in 5 steps' "$(cat "$T/got")" '16 8 200'
	equal '... nothing is not known of waits' "$(nsysx-diagnose -q --table "$T/made" | grep -c 'not known: late hosts')" 0
	# Samples of Python in what the hosts do that are late: 15 of 100 us in each step.
	made --torch --processes 4 --racks 2 --late-rack 1:2000000 --steps 6
	nsysx-view -q -t device "$T/made" >"$T/made.devices"
	nsysx-idle -q --tsv --steps --cause range --list 1000 "$T/made" | awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["ns"] > 1e6 { for (k = 1; k <= 15; k++) print $c["start"] + k * 100000, $c["device"], $c["tid"] }' | sort -n >"$T/moments"
	awk -f host/sampled.awk "$T/made.devices" "$T/moments" "$T/made" >"$T/sampled"
	nsysx-diagnose -q --tsv "$T/sampled" | awk -F'\t' '$2 == "late-host"' >"$T/late"
	ok 'a late host is told with the line of Python in which it is late' grep -q '; the host there: running in load_batch (data.py:80): 1.500 ms a step, 75 samples; the others communicate' "$T/late"
	ok '... and what to do about it' sh -c 'cut -f 8 "$1" | grep -q "^make that code do less"' sh "$T/late"
	sh -c "$(cut -f 6 "$T/late")" | awk -F'\t' '$2 ~ /load_batch/ { print ($1 == 2 || $1 == 3), $2, $3, $7 }' >"$T/got"
	equal '... which its command shows, of the four steps that count' "$(cat "$T/got")" '1 /app/data.py:80[load_batch] 6000000 1500000'
	ok 'without samples it is told how to get them' sh -c 'nsysx-diagnose -q --tsv "$1" | grep -q "^1.late-host.*nsysx-record --cpu has the lines"' sh "$T/made"
	made --torch --processes 8 --racks 8 --late-rack 5:2000000 --steps 6
	ok '... or a host alone' sh -c 'case $1 in "device 5, in read_shard: device 5 is idle 2.0"*) ;; *) echo "$1"; exit 1 ;; esac' sh "$(told late-host)"
	made --torch --processes 8 --steps 6
	nsysx-diagnose -q --tsv "$T/made" >"$T/findings"
	equal '... none where none is late' "$(grep -c late-host "$T/findings") $(awk -F'\t' 'NR == 2 { print $2 }' "$T/findings")" '0 exposed-communication'
	# The longest 10 gaps are of a few steps; of the median and the slowest step all that are at least 1/4000 of it are listed.
	made --torch --shorter 20 --processes 6 --steps 20 --layers 3
	mkdir "$T/parts" && nsysx-diagnose -q --all --gaps 10 -o "$T/parts/%" "$T/made"
	nsysx-idle -q --steps --tsv --list 1000000 "$T/made" >"$T/gaps.all"
	awk -F'\t' 'FNR == 1 { f++; split("", c); for (i = 1; i <= NF; i++) c[$i] = i; next }
		f == 1 { if ($c["kept"] == 1) { n++; k = n; while (k > 1 && p[k - 1] > $c["period"] + 0) { p[k] = p[k - 1]; at[k] = at[k - 1]; k-- } p[k] = $c["period"] + 0; at[k] = $c["start"] + 0 } next }
		f == 2 { have[$c["device"], $c["start"], $c["dur"]]; next }
		{ for (k = int((n + 1) / 2); k <= n; k += n - k ? n - k : 1) if ($c["start"] < at[k] + p[k] && $c["start"] + $c["dur"] > at[k] && $c["dur"] >= p[k] / 4000) { all++; miss += !(($c["device"], $c["start"], $c["dur"]) in have) } }
		END { print (all > 100), miss + 0 }' "$T/parts/step-each.tsv" "$T/parts/gaps.tsv" "$T/gaps.all" >"$T/got"
	equal 'no gap that a picture of the median or the slowest step shows is missing' "$(cat "$T/got")" '1 0'
	equal '... and the longest of all are there' "$(sed -n '2,11p' "$T/parts/gaps.tsv" | cut -f 1-3)" "$(sed -n '2,11p' "$T/gaps.all" | cut -f 1-3)"
	ok '... but not all' test "$(wc -l <"$T/parts/gaps.tsv")" -lt "$(wc -l <"$T/gaps.all")"
	# The host is not seen to wait, so forecasts are ranges: transfers may save nothing, or all that is lost in them. That
	# of PyTorch waits in calls alone; the same job with kernels of another name may be one that waits elsewhere.
	rm -rf "$T/made.d" && "$SYNTH" -q -o "$T/made.d" --torch=vllm --steps 12
	nsysx-extract -q -a "$T/made.d/r0.sqlite" "$T/made.d/r1.sqlite" | nsysx-overlap -q -o "$T/made"
	nsysx-diagnose -q --table "$T/made" >"$T/got"
	ok 'the host of PyTorch waits in calls, or not at all' sh -c '! tr "\n" " " <"$1" | grep -qE "the host, in no call, may wait"' sh "$T/got"
	nsysx-extract -q -a "$T/made.d/r0.sqlite" "$T/made.d/r1.sqlite" | sed 's/at::native::/own::/' | nsysx-overlap -q -o "$T/made"
	nsysx-diagnose -q --tsv --min 0 "$T/made" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			g = w = $at["gain"] + 0; low = $at["low"]; high = $at["high"] + 0
			if ($at["saved"] != "") { w = low != "" && low + 0 > g ? low + 0 : g; w = w > high ? high : w; wide += high > low + 0 }
			if (w > last * (1 + 1e-9) && NR > 2) bad++
			last = w
		}
		END { print bad + 0, (wide > 0) }' >"$T/got"
	equal 'ranges rank by what is lost, within them' "$(cat "$T/got")" '0 1'
	nsysx-diagnose -q --table "$T/made" >"$T/got"
	ok '... beside why they are ranges' sh -c 'tr "\n" " " <"$1" | grep -qE "forecasts are ranges, of whatever is not known: in [0-9.]+ % [(]limit 10 %[)] of the critical path the host"' sh "$T/got"
	ok '... and say so' grep -qE '  exposed-communication .*%, forecast 0[.]0 to [0-9.]*[1-9]%$' "$T/got"
	equal '... of more than a finding there is an upper bound alone' "$(nsysx-diagnose -q --tsv --min 0 "$T/made" | awk -F'\t' '$9 == "gaps=0" && $10 != "" { print ($11 == ""), ($12 >= $10) }')" '1 1'
	# All launches wait less if gaps are shorter: what is forecast at most is more than the gaps.
	rm -rf "$T/made.d" && "$SYNTH" -q -o "$T/made.d" --sim=buckets
	nsysx-extract -q -a "$T/made.d/r.sqlite" | nsysx-overlap -q -o "$T/made"
	nsysx-diagnose -q --table --top 0 "$T/made" >"$T/got"
	ok 'a forecast may be more than the time lost' sh -c 'awk "/^ .*idle:latency/ { exit !(\$NF + 0 > \$4 + 0) }" "$1"' sh "$T/got"
	ok '... so no gain is called a bound' sh -c '! grep -q "upper bound" "$1" && tr "\n" " " <"$1" | grep -q "the time lost, and what a step is forecast to save without it"' sh "$T/got"
	for job in buckets tensor; do
		rm -rf "$T/made.d" && "$SYNTH" -q -o "$T/made.d" --sim=$job
		nsysx-extract -q -a "$T/made.d/r.sqlite" | nsysx-overlap -q | nsysx-collectives -q -o "$T/made"
		nsysx-diagnose -q --tsv "$T/made" | awk -F'\t' '$2 == "exposed-communication" { part = $5; sub(/ us of the rest in .*/, "", part); sub(/.*; /, "", part); print (part > 0), (1000 * part <= 1.001 * $3) }' >"$T/got"
		equal "a part of a gain is no more than the gain: $job" "$(cat "$T/got")" '1 1'
	done
	# Device 2 of a pipeline is slow, but others wait for it as a stage as well.
	rm -rf "$T/made.d" && "$SYNTH" -q -o "$T/made.d" --sim=pipeline
	nsysx-extract -q -a "$T/made.d/r.sqlite" | nsysx-overlap -q -o "$T/made"
	ok 'the forecast of a slow device is an upper bound' sh -c 'nsysx-diagnose -q --table --top 0 "$1" | grep -q "straggler .*, forecast at most [0-9.]*%$"' sh "$T/made"
	equal '... it ranks by its gain, which is less' "$(nsysx-diagnose -q --tsv "$T/made" | awk -F'\t' '$2 == "straggler" { print ($11 == ""), ($3 < $10), $1 }')" '1 1 2'
else
	skip 'slow devices, late racks' 'no generator here'
fi
done_testing
