#!/bin/sh
# nsysx-steps: steps, their operations and sums. Random jobs: tests/tools/host.sh.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
# cells FILE COLUMNS OPTION...: columns of the table by name, a row a line.
cells() {
	file=$1 names=$2
	shift 2
	nsysx-steps -q --tsv "$@" "$T/$file" | awk -F'\t' -v names="$names" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, want, ","); next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[want[i]] == "" ? "-" : $at[want[i]], i < n ? " " : "\n" }'
}

# Three steps of thread 1. Step 1: kernels [20,50) and [60,70), communication [40,65), a copy [70,80), a helper's kernel [90,100): span [20,100),
# compute 10 + 30 + 10, exposed [50,60), hidden 10 + 5, copy 10, idle [80,90). A kernel in no step in [120,130) lies between the steps.
# Step 2 has one kernel, step 3 another. A range of that name within step 1 is part of it; one without GPU work is no step on any device.
stream job <<'END_STREAM'
device device=0
range range=1 host_start=0 host_dur=100 start=20 dur=60 device=0 name=step~1~train
range range=2 parent=1 host_start=10 host_dur=20 start=20 dur=30 device=0 name=step~9~inner
call call=1 start=12 dur=3 name=cudaLaunchKernel class=launch ops=1
op name=k start=20 dur=30 call=1 tid=1 host_start=12 host_dur=3 range=2
call call=2 start=31 dur=3 name=cudaLaunchKernel class=launch ops=1
op name=r start=40 dur=25 comm=1 stream=2 call=2 tid=1 host_start=31 host_dur=3 range=1
call call=3 start=35 dur=3 name=cudaLaunchKernel class=launch ops=1
op name=k start=60 dur=10 call=3 tid=1 host_start=35 host_dur=3 range=1
call call=4 start=39 dur=3 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=c start=70 dur=10 call=4 tid=1 host_start=39 host_dur=3 range=1
call call=5 tid=2 start=85 dur=30 name=cudaLaunchKernel class=launch ops=1
op name=back start=90 dur=10 call=5 tid=2 host_start=85 host_dur=30
call call=6 tid=2 start=101 dur=3 name=cudaLaunchKernel class=launch ops=1
op name=alone start=120 dur=10 call=6 tid=2 host_start=101 host_dur=3
op name=uncalled start=132 dur=1
range range=3 host_start=140 host_dur=60 start=150 dur=20 device=0 name=step~2~train
call call=7 start=141 dur=3 name=cudaLaunchKernel class=launch ops=1
op name=k start=150 dur=20 call=7 tid=1 host_start=141 host_dur=3 range=3
range range=4 host_start=200 host_dur=60 start=210 dur=5 device=0 name=step~3~eval
call call=8 start=201 dur=3 name=cudaLaunchKernel class=launch ops=1
op name=k start=210 dur=5 call=8 tid=1 host_start=201 host_dur=3 range=4
range range=5 host_start=270 host_dur=5 name=step~4~train
range range=6 host_start=280 host_dur=60 unended=1 name=step~5~train
END_STREAM
stream mixed <<'END_STREAM'
device device=0
range range=1 host_start=0 host_dur=50 start=10 dur=5 device=0 name=step~1~train
op name=k start=10 dur=5 tid=1 host_start=1 host_dur=3 range=1
range range=2 host_start=100 host_dur=50 start=110 dur=5 device=0 name=step~2~train
op name=k start=110 dur=5 tid=1 host_start=101 host_dur=3 range=2
range range=3 host_start=200 host_dur=50 start=210 dur=5 device=0 name=step~3~train
op name=k start=210 dur=5 tid=1 host_start=201 host_dur=3 range=3
range range=4 host_start=300 host_dur=50 start=310 dur=5 device=0 name=step~4~eval
op name=k start=310 dur=5 tid=1 host_start=301 host_dur=3 range=4
range range=5 host_start=400 host_dur=50 start=410 dur=5 device=0 name=step~5~train
op name=k start=410 dur=5 tid=1 host_start=401 host_dur=3 range=5
END_STREAM
columns=device,step,range,host_start,host_dur,start,span,period,busy,compute,exposed,hidden,copy,idle,between,ops,helper,kept
equal 'each step' "$(cells job $columns --step '^step' --each)" '0 0 1 0 100 20 80 130 81 61 10 15 10 49 50 5 1 1
0 1 3 140 60 150 20 60 20 20 0 0 0 40 40 1 0 1
0 2 4 200 60 210 5 - - - - - - - - 1 0 0'
equal 'a period with a step of another class in it does not count, if two others do' "$(cells mixed class,step,period,kept --step '^step [0-9] (train|eval)' --each)" 'eval 0 - 0
train 0 100 1
train 1 100 1
train 2 200 0
train 3 - 0'
equal 'groups make classes' "$(cells job class,step,start,period,helper --step '^step [0-9] (train|eval)' --each)" 'eval 0 210 - 0
train 0 20 130 1
train 1 150 - 0'
equal 'several groups are joined, one without a match is empty' "$(cells job class,count --step '^(step) ([0-9]) (train|x)?')" 'step,1,train 1
step,2,train 1
step,3, 1'
equal 'without groups the class is the expression' "$(cells job class,count --step '^step')" '^step 3'
equal 'sums of a class' "$(cells job count,period_mean,period_p50,period_p90,period_max,span_mean,span_p50,span_max,idle_p50,idle_max --step '^step')" '3 95 60 130 130 35 20 80 40 49'
says 'matches within a step are reported' 'matches within a step of their thread are ignored' nsysx-steps -v --step ^step "$T/job"
says 'steps without an end are reported' 'steps have no end in the export and are ignored' nsysx-steps -v --step ^step "$T/job"
says 'steps without GPU work are reported' 'steps without GPU work are ignored' nsysx-steps -v --step ^step "$T/job"
says 'operations without a call are reported' 'operations whose call is not in the profile belong to no step' nsysx-steps -v --step ^step "$T/job"

# Modules of $1 ns that start each 100 ns, on a device.
each_100() {
	{
		echo 'device device=0'
		echo 'program program=0 id=7 name=step key=step@7'
		for i in 0 1 2 3 4; do echo "module program=0 execution=$i profile=0 device=0 start=$((1000 + 100 * i)) dur=$1 name=step"; done
		for i in 0 1 2 3 4; do echo "op type=kernel name=k device=0 stream=$((i % 3)) start=$((1000 + 100 * i)) dur=$1 program=0 execution=$i"; done
	} | stream "each.$1"
}
each_100 130
each_100 120
says 'steps that last longer than it takes until the next one starts are reported' \
	"steps of 'step@7' overlap: they last 130 ns on average and start 100 ns after each other" nsysx-steps "$T/each.130"
equal 'of two runs it is said once' "$(nsysx-compare --by step "$T/each.130" "$T/each.130" 2>&1 >"$T/null" | grep -c 'warning: .*compare spans')" 1
# Steps of two classes, of so many ns each, 100 ns after each other.
two() {
	{
		echo 'device device=0'
		for i in 0 1 2 3 4 5 6 7 8 9; do
			t=$((1000 + 100 * i))
			if [ "$i" -lt 5 ]; then name=train dur=$1; else name=eval dur=$2; fi
			echo "range range=$i host_start=$t host_dur=9 start=$t dur=$dur name=$name"
			echo "op type=kernel name=k device=0 stream=$((i % 3)) start=$t dur=$dur tid=1 host_start=$t host_dur=5 range=$i"
		done
	} | stream "two.$1.$2"
}
two 130 90
two 90 130
equal '... of each class' "$(nsysx-compare --by step --step '^:?(train|eval)' "$T/two.130.90" "$T/two.90.130" 2>&1 >"$T/null" | grep -o "warning: .*steps of '.*' overlap" | grep -o "'.*'" | sort | paste -sd' ' -)" "'eval' 'train'"
equal 'not those that merely touch it' "$(nsysx-steps "$T/each.120" 2>&1 >"$T/null" | grep -c overlap)" 0

# One number for a step of the job: the capture of device 1 begins two steps later, that of device 2 one step earlier than device 0's, which has
# most. Device 3 is of another report, on a clock of its own, and device 4 has steps at another time: both count from 0.
numbers() {
	{
		for d in 0 1 2 4; do echo "device device=$d"; done
		echo 'device device=3 profile=1'
		[ $# -eq 0 ] || for d in 0 1 2 3; do echo "clock device=$d profile=$((d == 3)) offset=0 rate=0 ref=0 collectives=9 component=$(($1 * (d == 3)))"; done
		echo 'program program=0 id=7 name=step key=step@7'
		i=0
		while read -r d starts; do
			for t in $starts; do echo "module program=0 execution=$((i += 1)) profile=$((d == 3)) device=$d start=$t dur=50 name=step"; done
		done <<END
0 1000 1100 1200 1300 1400
1 1203 1301 1402 1504
2 898 1001 1099
3 1201 1302
4 9000 9100
END
	} | stream numbers
	cells numbers device,step --module step --each | awk '{ s[$1] = s[$1] " " $2 } END { for (d = 0; d < 5; d++) printf "%s%s", s[d], d < 4 ? "," : "\n" }'
}
equal 'a step of the job has one number on all devices that share a clock' "$(numbers)" ' 1 2 3 4 5, 3 4 5 6, 0 1 2, 0 1, 0 1'
equal '... also on those of another report that are aligned' "$(numbers 0)" ' 1 2 3 4 5, 3 4 5 6, 0 1 2, 3 4, 0 1'
equal '... and not on those that are aligned among themselves alone' "$(numbers 1)" ' 1 2 3 4 5, 3 4 5 6, 0 1 2, 0 1, 0 1'

# Threads 1 and 2 have concurrent steps on devices 0 and 1; a helper's operation belongs to the step whose thread uses its
# device; with steps 11 and 12 of one device to the one that started last.
stream helpers <<'END_STREAM'
device device=0
device device=1
range range=10 host_start=0 host_dur=100 start=10 dur=5 device=0 name=s
call call=1 start=1 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=10 dur=5 call=1 tid=1 host_start=1 host_dur=1 range=10
range range=11 tid=2 host_start=5 host_dur=100 start=20 dur=5 device=1 name=s
call call=2 tid=2 start=6 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k device=1 start=20 dur=5 call=2 tid=2 host_start=6 host_dur=1 range=11
range range=12 tid=4 host_start=20 host_dur=70 start=28 dur=1 device=1 name=s
call call=3 tid=4 start=21 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k device=1 start=28 dur=1 call=3 tid=4 host_start=21 host_dur=1 range=12
call call=4 tid=3 start=30 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=40 dur=5 call=4 tid=3 host_start=30 host_dur=1
call call=5 tid=3 start=31 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k device=1 start=50 dur=5 call=5 tid=3 host_start=31 host_dur=1
call call=6 tid=3 start=99 dur=99 name=cudaLaunchKernel class=launch ops=1
op name=k start=200 dur=5 call=6 tid=3 host_start=99 host_dur=99
call call=7 tid=3 pid=2 start=50 dur=1 name=cudaLaunchKernel class=launch ops=1
END_STREAM
equal 'helpers of several threads' "$(cells helpers range,device,start,span,ops,helper --step s --each)" '10 0 10 195 3 2
11 1 20 5 1 0
12 1 28 27 2 1'

# ---- percentiles are values of steps: of 1 to 200 the nearest ranks

{
	echo 'device device=0'
	i=0
	while [ $i -lt 200 ]; do
		# Step i is (i * 77 mod 200) + 1 ns long.
		n=$((i * 77 % 200 + 1)) t=$((i * 1000))
		echo "range range=$i host_start=$t host_dur=900 start=$((t + 20)) dur=$n device=0 name=it"
		echo "op name=k start=$((t + 20)) dur=$n call=$i tid=1 host_start=$((t + 5)) host_dur=1 range=$i"
		i=$((i + 1))
	done
} | awk -f host/stream.awk >"$T/many"
equal 'percentiles' "$(cells many count,span_mean,span_p50,span_p90,span_p99,span_max,period_p50 --step it)" '200 100.5 100 180 198 200 1000'
equal 'statistics of a single step are all its values' "$(cells job span_p50,span_p90,span_p99,span_max,period_max --step eval)" '5 5 5 5 -'

# ---- programs

stream xla <<'END_STREAM'
device device=0
program program=0 name=train key=train@7
program program=1 name=init key=init@3
module program=1 execution=0 device=0 start=0 dur=900 name=init
op name=k start=0 dur=900 program=1 execution=0
module program=0 execution=0 device=0 start=1000 dur=100 name=train
op name=k start=1000 dur=60 program=0 execution=0
op name=r comm=1 start=1050 dur=50 program=0 execution=0
module program=0 execution=1 device=0 start=1200 dur=80 name=train
op name=k start=1200 dur=10 program=0 execution=1
op name=k start=1270 dur=10 program=0 execution=1
END_STREAM
# The span of the module, not of its operations.
want='0 0 1000 100 200 100 60 40 10 100 100 2
0 1 1200 80 - - - - - - - 2'
columns=device,step,start,span,period,busy,compute,exposed,hidden,idle,between,ops
equal 'executions of a program' "$(cells xla $columns --module train --each)" "$want"
equal '... by key' "$(cells xla $columns --module train@7 --each)" "$want"
equal 'of programs executed twice the one with most time is used' "$(cells xla $columns --each)" "$want"
equal '... with its key' "$(cells xla class,count)" 'train@7 2'

# Executions may reach beyond the operations that the stream has: the device is idle there. Of device 1 no operation is known, so its activities are
# not either, as without any operation.
stream beyond <<'END_STREAM'
device device=0
device device=1
program program=0 name=train key=train@7
module program=0 execution=0 device=0 start=1000 dur=100 name=train
module program=0 execution=0 device=1 start=1000 dur=100 name=train
op name=k start=1040 dur=30 program=0 execution=0
module program=0 execution=1 device=0 start=1200 dur=80 name=train
module program=0 execution=1 device=1 start=1200 dur=80 name=train
op name=k start=1200 dur=10 program=0 execution=1
END_STREAM
equal 'a device is idle before its first operation and after its last' "$(cells beyond $columns --each | head -n 2)" '0 0 1000 100 200 30 30 0 0 170 100 1
0 1 1200 80 - - - - - - - 1'
equal 'what a device without operations did is not known' "$(cells beyond $columns --each | tail -n 2)" '1 0 1000 100 200 - - - - - 100 -
1 1 1200 80 - - - - - - - -'
grep -v '^op' "$T/beyond" >"$T/opless"
equal '... nor what all did in a stream without' "$(cells opless span_max,busy_mean,compute_p50,exposed_max,copy_mean,idle_mean,between_max)" '100 - - - - - 100
100 - - - - - 100'

# ---- the class of ranges with most GPU work

equal 'a class with half of the work is used' "$(cells many class,count)" 'it 200'
equal '... its numbers are removed' "$(sed 's/	it	/	it 7	/' "$T/many" >"$T/digits"; cells digits class,count)" 'it # 200'
sed 's/	it	/	ncclAll	/' "$T/many" >"$T/nccl"
says 'names of NCCL are not steps' "no class of ranges has half of the GPU's work" nsysx-steps "$T/nccl"
says 'fewer than three ranges are not steps' "no class of ranges has half of the GPU's work" nsysx-steps "$T/helpers"
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
equal 'without any work that alone is said' "$(nsysx-steps "$T/empty" 2>&1 >/dev/null | sed 's/, so .*//')" 'nsysx-steps: warning: no operations in the stream'
# Half as many ranges around two steps each: the same work, and fewer ranges.
{
	echo 'device device=0'
	i=0
	while [ $i -lt 40 ]; do
		t=$((i * 1000))
		[ $((i % 2)) -ne 0 ] || echo "range range=$((i + 101)) tid=2 host_start=$t host_dur=1900 start=$((t + 1)) dur=1900 device=0 name=window"
		echo "range range=$((i + 1)) host_start=$t host_dur=900 start=$((t + 20)) dur=500 device=0 name=NAME#$i"
		echo "op name=k start=$((t + 20)) dur=500 call=$((i + 1)) tid=1 host_start=$((t + 5)) host_dur=1 range=$((i + 1))"
		i=$((i + 1))
	done
} | awk -f host/stream.awk >"$T/two"
equal 'of equal shares the class with fewer ranges' "$(cells two class)" window
says '... the other is named, with the option' "40 'NAME##' have 100%: --step REGEX names others" nsysx-steps "$T/two"
sed 's/NAME#/ProfilerStep#/' "$T/two" >"$T/torch"
equal 'names of frameworks for steps come first' "$(cells torch class,count)" 'ProfilerStep## 40'
equal 'one class of steps: no other is named' "$(nsysx-steps "$T/many" 2>&1 >/dev/null | grep -c 'names others')" 0
alike 'a pipe gives the same as a file' "$(nsysx-view -b "$T/many" | nsysx-steps -q --tsv)" "$(nsysx-steps -q --tsv "$T/many")"

# ---- incomplete and unusual streams

{
	echo 'device device=0'
	echo 'range range=1 device=0 name=step start=10 dur=100 host_start=0 host_dur=100'
	echo 'range range=2 device=0 name=step start=60 dur=100 host_start=50 host_dur=100'
	echo 'op name=k start=10 dur=5 range=1 call=1 tid=1 host_start=5 host_dur=1'
	echo 'op name=k start=60 dur=5 range=2 call=2 tid=1 host_start=120 host_dur=1'
	echo 'op name=k start=70 range=2'
	echo 'op name=k start=80 range=2'
} | awk -f host/stream.awk >"$T/across"
says 'operations without a duration are counted' 'operations without a device, start or duration: ignored (2)' nsysx-steps --step step "$T/across"
equal 'a range that only overlaps a step is a step' "$(nsysx-steps -q --tsv --step step --each "$T/across" | sed 1d | cut -f 3,4 | tr '\t\n' ' ,')" '0 1,1 2,'
# 92, then 89 of 100 ns of a batch are in its forward pass.
for inner in 92 89; do
	{
		echo 'device device=0'
		for i in 0 1 2 3; do
			t=$((i * 1000))
			echo "range range=$((i * 2 + 1)) host_start=$t host_dur=900 start=$((t + 100)) dur=100 device=0 name=batch"
			echo "range range=$((i * 2 + 2)) host_start=$((t + 1)) host_dur=800 start=$((t + 100)) dur=$inner device=0 name=forward"
			echo "op name=k start=$((t + 100)) dur=$inner range=$((i * 2 + 2))"
			echo "op name=k start=$((t + 100 + inner)) dur=$((100 - inner)) range=$((i * 2 + 1))"
		done
	} | awk -f host/stream.awk >"$T/close"
	equal "another class with $inner % of the work" "$(nsysx-steps "$T/close" 2>&1 >/dev/null | grep -o "the 4 'forward' have [0-9]*%")" \
		"$([ $inner = 92 ] && echo "the 4 'forward' have 92%")"
done

program() { nsysx-view -q -t program "$T/xla" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "name") at = i; next } { print $at; exit }'; }
fails 'no such range' 1 'no range matches zzz' nsysx-steps --step zzz "$T/job"
fails 'a range whose name is near' 1 '; did you mean ' nsysx-steps --step "$(nsysx-view -q -t range "$T/job" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "name") at = i; next } { print $at; exit }')x" "$T/job"
fails 'a program whose name is near' 1 "did you mean $(program)?" nsysx-steps --module "$(program)x" "$T/xla"
fails 'no such program' 1 'no program of that name was executed: zzz' nsysx-steps --module zzz "$T/xla"
fails 'no such range, in a comparison' 1 'no range matches zzz' nsysx-compare --by step --step zzz "$T/job" "$T/job"
fails 'nor is the whole recording diagnosed instead' 1 'no range matches zzz' nsysx-diagnose -q --step zzz --table "$T/job"
fails 'nor for a program' 1 'no program of that name was executed: zzz' nsysx-diagnose -q --module zzz --table "$T/xla"
sed 's/	train@7	/	x	/' "$T/xla" | grep -v '	1200	80	' >"$T/once"
says 'no program ran twice' 'no program ran twice' nsysx-steps "$T/once"
# Without the columns of --calls operations belong to no step.
grep -v '^op' "$T/job" >"$T/ranges"
says 'ranges without calls' 'no operations in the stream' nsysx-steps --step step "$T/ranges"
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
for option in '' --each '--step x' '--module x'; do
	# shellcheck disable=SC2086  # two words
	says "an empty stream, $option" 'no operations in the stream' nsysx-steps $option "$T/empty"
	equal '... only a header' "$(wc -l <"$T_private/out" | tr -d ' ')" 1
done
fails 'a stream cut short' 1 'nsysx-steps: ' sh -c 'sed \$d "$T/job" | nsysx-steps --step step'
fails '... while a class is searched for' 1 'nsysx-steps: ' sh -c 'sed \$d "$T/job" | nsysx-steps'
fails 'an invalid expression' 2 '--step (' nsysx-steps --step '(' "$T/job"
fails '--step and --module' 2 'exclude each other' nsysx-steps --step x --module y "$T/job"

# A file is read twice, data from a pipe are stored.
for form in '' --each --explain=100 '--step step' '--step step --explain=100'; do
	nsysx-steps $form "$T/job" >"$T/of-file" 2>"$T/said-file"
	nsysx-steps $form <"$T/job" >"$T/of-input" 2>"$T/said-input"
	cat "$T/job" | nsysx-steps $form >"$T/of-pipe" 2>"$T/said-pipe"
	same "$form of a file and of a pipe are the same" "$T/of-file" "$T/of-pipe"
	same "$form of a file as standard input is the same" "$T/of-file" "$T/of-input"
	same "$form has the same diags for both" "$T/said-file" "$T/said-pipe"
done
# A range that ends before it starts is not a class of steps; the search ends.
stream backwards <<'END_STREAM'
device device=0
range range=1 start=100 dur=-50 device=0 name=step~1
range range=2 start=200 dur=-50 device=0 name=step~2
op name=k start=300 dur=10
END_STREAM
ok 'ranges that end before they start' timeout 60 nsysx-steps -q -o "$T/none" "$T/backwards"


# ---- steps of another class in between, and groups

# One step per thousand ns, on one thread: between DUR a a b a a b a a a, where b computes for DUR. The periods of a are 1,000 except two of 2,000.
between() {
	echo 'device device=0'
	k=0
	for c in ${2:-a a b a a b a a a}; do
		b=$((k * 1000)) dur=900
		[ "$c" = b ] && dur=$1
		echo "range range=$((k + 1)) device=0 name=step~$k,~$c start=$((b + 100)) dur=$dur host_start=$b host_dur=990"
		echo "call call=$((k + 1)) start=$((b + 10)) dur=10 name=cudaLaunchKernel class=launch ops=1 range=$((k + 1))"
		echo "op name=gemm start=$((b + 100)) dur=$dur call=$((k + 1)) range=$((k + 1)) tid=1 host_start=$((b + 10)) host_dur=10"
		k=$((k + 1))
	done
}
between 900 | stream between
between 449 | stream short
between 900 'a b a b a b a b a' | stream turns
lie() { nsysx-steps "$@" 2>&1 >"$T/out" | grep -c 'contain a step of'; }
text="periods of ', a' contain a step of 'step #, b', too, and do not count"
says 'steps of another class in some periods are reported' "$text: --step REGEX that matches both makes them one class (2)" nsysx-steps --step ', a' "$T/between"
says '... for a class that is found' "periods of 'step #, a' contain a step of 'step #, b', too" nsysx-steps "$T/between"
says '... for a class among several' "periods of 'a' contain a step of 'step #, b', too" nsysx-steps --step ', (a)' "$T/between"
equal 'named together there are none' "$(lie --step '^step' "$T/between")" 0
equal 'work below half a step is not reported' "$(lie --step ', a' "$T/short")" 0
equal 'such periods are in no mean' "$(cells between count,period_mean,period_p99,compute_mean,idle_mean --step ', a') $(cells between period --step ', a' --each | tr '\n' ' ')" '7 1000 1000 900 100 1000 2000 1000 2000 1000 1000 - '
equal 'a class in every period is not reported' "$(lie --step ', a' "$T/turns"; cells turns period_p50,period_max --step ', a')" '0
2000 2000'
says '--explain compares the other periods' 'and are not compared' nsysx-steps --step ', a' --explain "$T/between"
equal '... which do not differ here' "$(cells between class,delta --step ', a' --explain)" ''
equal '... or all of them if every one contains a step' "$(between 900 'a b a b b a b a' | awk -f host/stream.awk >"$T/all"; cells all kind,name,base,new --step ', a' --explain | head -n 1)" \
	'range step #, b 900 1800'

groups() { says "$1" "classes have one step each and so no period, because groups in --step make classes; without groups: --step '$3' (9)" nsysx-steps --step "$2" "$T/between"; }
groups 'groups that make each step a class' '^step ([0-9]+)' '^step [0-9]+'
groups '... with escaped parentheses' '^st[[:alpha:])]p\(? (([0-9]+), .)$' '^st[[:alpha:])]p\(? [0-9]+, .$'
says '... with alternatives, which need groups' 'groups in --step make classes: name the steps without groups (9)' nsysx-steps --step '^step ([0-9]|x)' "$T/between"
says '... with a repetition' 'groups in --step make classes: name the steps without groups (9)' nsysx-steps --step '^(s)*tep ([0-9])' "$T/between"
says '... for nsysx-diagnose' "make classes; without groups: --step '^step [0-9]+'" nsysx-diagnose --step '^step ([0-9]+)' "$T/between"
equal 'one class with two steps has periods' "$(nsysx-steps --step '^step [0-9], (a|b)' "$T/between" 2>&1 >"$T/out" | grep -c 'one step each')" 0

# Device 0 has steps at 0, 100 and 300, device 1 at 10 and 70: periods of 100, 200 and 60, each with one vote.
stream votes <<'END_STREAM'
device device=0
device device=1
range range=1 host_start=0 host_dur=5 start=0 dur=5 device=0 name=step
op name=k start=0 dur=5 device=0 call=1 tid=1 host_start=0 host_dur=5 range=1
call call=1 start=0 dur=5 name=cudaLaunchKernel class=launch ops=1
range range=2 tid=2 host_start=10 host_dur=5 start=10 dur=5 device=1 name=step
call call=2 tid=2 start=10 dur=5 name=cudaLaunchKernel class=launch ops=1
op name=k start=10 dur=5 device=1 call=2 tid=2 host_start=10 host_dur=5 range=2
range range=3 tid=2 host_start=70 host_dur=5 start=70 dur=5 device=1 name=step
call call=3 tid=2 start=70 dur=5 name=cudaLaunchKernel class=launch ops=1
op name=k start=70 dur=5 device=1 call=3 tid=2 host_start=70 host_dur=5 range=3
range range=4 host_start=100 host_dur=5 start=100 dur=5 device=0 name=step
call call=4 start=100 dur=5 name=cudaLaunchKernel class=launch ops=1
op name=k start=100 dur=5 device=0 call=4 tid=1 host_start=100 host_dur=5 range=4
range range=5 host_start=300 host_dur=5 start=300 dur=5 device=0 name=step
call call=5 start=300 dur=5 name=cudaLaunchKernel class=launch ops=1
op name=k start=300 dur=5 device=0 call=5 tid=1 host_start=300 host_dur=5 range=5
END_STREAM
equal 'steps of devices, of which some have a period' "$(cells votes device,count,periods,period_mean --step step | paste -sd, -)" '0 3 2 150,1 2 1 60'
for by in device node; do
	equal "... and the step of the job, below the table by $by" "$(nsysx-steps --step step --by $by --table "$T/votes" 2>"$T/null" | grep -o 'a step of class.*devices')" \
		'a step of class step: 120 ns, the mean of 3 periods on 2 devices'
done
alike '... which other tools have' "$(nsysx-diagnose -q --where --step step "$T/votes" | awk -F'\t' '$1 == "step" { print $4, $6 }')" '3 120'
alike '... also that which leaves none out here' "$(nsysx-whatif -q --tsv --step step --what faster:k=2 "$T/votes" | awk -F'\t' 'NR == 2 { print $2, $3 }')" '3 120'
done_testing
