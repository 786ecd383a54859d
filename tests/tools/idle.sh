#!/bin/sh
# nsysx-idle: gaps of each cause. Random jobs: tests/tools/host.sh.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
# idle FILE OPTION...: the table's rows without share, fields parted by a space, absent ones as '-'.
idle() {
	file=$1
	shift
	nsysx-idle -q --tsv "$@" "$T/$file" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) no[i] = $i == "share" || $i == "blocked"; next }
		{ line = ""; for (i = 1; i <= NF; i++) if (!no[i]) line = line " " ($i == "" ? "-" : $i); print substr(line, 2) }'
}

# ---- a gap of each cause: thread 1 launches all; launch latency is up to 10 ns

stream causes <<'END_STREAM'
device device=0 last=1090
call call=1 start=0 dur=10 name=cudaLaunchKernel class=launch ops=1
op name=k0 start=100 dur=100 call=1 tid=1 host_start=0 host_dur=10

# the gap [200,500)
overhead start=200 dur=10 class=profiler
overhead start=210 dur=20 class=queue-full
overhead start=230 dur=30 class=loading
call call=2 start=250 dur=50 name=cudaStreamSynchronize class=sync blocking=1
call call=3 start=300 dur=30 name=cudaMalloc class=alloc
call call=4 start=330 dur=20 name=cudaEventRecord class=event
call call=5 start=350 dur=15 name=cuModuleLoadData class=module
range range=1 host_start=365 host_dur=30 name=XlaCompile
range range=2 host_start=395 host_dur=45 name=load
call call=6 start=470 dur=20 name=cudaLaunchKernel class=launch ops=1
op name=k1 start=500 dur=100 call=6 tid=1 host_start=470 host_dur=20
# other threads and other processes are no causes
call call=90 tid=2 start=395 dur=80 name=cudaFree class=alloc
call call=91 pid=2 start=395 dur=80 name=cudaFree class=alloc

# [600,700) waits for an event, [750,800) has an unknown cause, [850,900) has no call
call call=7 start=560 dur=20 name=cudaLaunchKernel class=launch ops=1
op name=k2 start=700 dur=50 call=7 tid=1 host_start=560 host_dur=20 waits=1
call call=8 start=710 dur=20 name=cudaLaunchKernel class=launch ops=1
op name=k3 start=800 dur=50 call=8 tid=1 host_start=710 host_dur=20
op name=k4 start=900 dur=50

# a graph: [950,1000) before its first node is an ordinary gap, [1010,1015) belongs to the graph
call call=9 start=960 dur=10 name=cudaGraphLaunch class=graph-launch ops=2
op name=node1 start=1000 dur=10 call=9 tid=1 host_start=960 host_dur=10 graph_node=1
op name=node2 start=1015 dur=5 call=9 tid=1 host_start=960 host_dur=10 graph_node=2

# busy parts
call call=10 start=970 dur=1 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=copy start=1020 dur=40 call=10 tid=1 host_start=970 host_dur=1
op name=reduce start=1060 dur=30 comm=1
op name=k5 start=1070 dur=10 stream=2
END_STREAM
# starved: 10 + 20 + [230,260) and [350,365) + [260,300) + [470,490) and [960,970) + 30 + 20 + 30 + 45 + [440,470) and [950,960);
# issued: [490,500) is 10; [600,700); [750,800) and [970,1000).
equal 'time of each cause' "$(idle causes --latency 10ns)" '0 compute - - 375 8 100 0
0 comm - - 20 2 10 0
0 copy - - 40 1 40 0
0 idle graph graph 5 1 5 0
0 idle no-call no-call 50 1 50 0
0 idle launch-starved profiler 10 1 10 0
0 idle launch-starved queue-full 20 1 20 0
0 idle launch-starved loading 45 1 45 0
0 idle launch-starved sync 40 1 40 0
0 idle launch-starved launch 30 2 20 0
0 idle launch-starved alloc 30 1 30 0
0 idle launch-starved api 20 1 20 0
0 idle launch-starved compile 30 1 30 0
0 idle launch-starved range 45 1 45 0
0 idle launch-starved host 40 2 30 0
0 idle issued latency 10 1 10 0
0 idle issued dependency 100 1 100 0
0 idle issued unresolved 80 2 50 0'
equal 'a latency above all gaps leaves nothing unresolved' "$(idle causes | grep issued)" '0 idle issued latency 190 4 100 0'
equal '--zeros adds rows of 0' "$(idle causes --zeros | wc -l | tr -d ' ')" \
	"$(nsysx-idle --known --tsv | awk '$1 != "cause" && $1 != "removed"' | wc -l | awk '{ print $1 + 3 }')"
equal 'shares refer to the window' "$(nsysx-idle -q --tsv "$T/causes" | awk -F'\t' '$2 == "copy" { printf "%.6f", $6 }')" 0.040404

equal 'stacks' "$(nsysx-idle -q --folded --latency 10ns "$T/causes" | sort)" 'device 0;graph;node2 5
device 0;issued;dependency;k2 100
device 0;issued;latency;k1 10
device 0;issued;unresolved;k3 50
device 0;issued;unresolved;node1 30
device 0;launch-starved;alloc;cudaMalloc 30
device 0;launch-starved;api;cudaEventRecord 20
device 0;launch-starved;compile;XlaCompile 30
device 0;launch-starved;host 40
device 0;launch-starved;launch;cudaGraphLaunch 10
device 0;launch-starved;launch;cudaLaunchKernel 20
device 0;launch-starved;loading 20
device 0;launch-starved;loading;cuModuleLoadData 15
device 0;launch-starved;loading;cudaStreamSynchronize 10
device 0;launch-starved;profiler 10
device 0;launch-starved;queue-full 20
device 0;launch-starved;range;load 45
device 0;launch-starved;sync;cudaStreamSynchronize 40
device 0;no-call;k4 50'

# Equal causes are in the order of rows; equal gaps in the order of time.
equal 'the longest gaps' "$(nsysx-idle -q --tsv --latency 10ns --list 3 "$T/causes" | tr '\t' '|')" 'device|start|dur|cause|ns|tid|prev|next|stack|drained|blocked|own
0|200|300|loading|45|1|k0|k1||0|0|45
0|600|100|dependency|100|1|k1|k2|k2|0|0|100
0|750|50|unresolved|50|1|k2|k3|k3|0|0|50'
# --cause: the gaps with most of it, and a row for the others, which add up to the table.
nsysx-idle -q --tsv --latency 10ns "$T/causes" | awk -F'\t' '$2 == "idle" { print $4, $5 }' >"$T/each"
while read -r cause ns; do
	equal "the table of $cause" "$(idle causes --latency 10ns --cause "$cause" | awk '{ print $4, $5 }')" "$cause $ns"
	for list in 0 1 20; do
		equal "gaps with $cause, $list of them, add up to it" "$(nsysx-idle -q --tsv --latency 10ns --cause "$cause" --list $list "$T/causes" | awk -F'\t' 'NR > 1 { sum += $5 } END { print sum }')" "$ns"
	done
done <"$T/each"
equal 'the gaps that are not listed are one row' "$(nsysx-idle -q --tsv --latency 10ns --cause latency,launch --list 1 "$T/causes" | sed 1d | cut -f 1,9 | tail -n 1)" \
	"	[$(nsysx-idle -q --tsv --latency 10ns --cause latency,launch --list 20 "$T/causes" | sed 1d | awk 'END { print NR - 1 }') other gaps]"
alike 'causes of a group' "$(idle causes --cause launch-starved)" "$(idle causes | grep launch-starved)"
alike 'stacks of some causes' "$(nsysx-idle -q --folded --cause host,range "$T/causes")" "$(nsysx-idle -q --folded "$T/causes" | grep -e ';host' -e ';range')"
fails 'an unknown cause, with a suggestion' 2 '--cause unresolve: unresolve is no cause; unresolved?' nsysx-idle --cause unresolve "$T/causes"
fails 'an unknown cause and the rest of a list' 2 'zz is no cause' nsysx-idle --cause host,zz "$T/causes"
fails '--cause excludes --verdict' 2 '--cause does not go with --verdict' nsysx-idle --cause host --verdict "$T/causes"
equal 'no gaps are wanted' "$(nsysx-idle -q --tsv --list 0 "$T/causes" | wc -l | tr -d ' ')" 1

# starved 310 of 990, mostly loading, of which [230,250) is the longest with one path and call: neither.
equal 'the verdict is the largest part, computation, with the largest loss beside it' "$(nsysx-idle -q --tsv --latency 10ns --verdict "$T/causes" | cut -f 1-6,9- | tr '\t' '|')" \
	"device|verdict|ns|share|cause|path|loss|lost
0|compute-bound|375|0.3787878787878788|loading||host|310"
ok 'the verdict is below the table of a terminal' sh -c 'nsysx-idle -q --table "$T/causes" | grep -q "^device 0 is compute-bound: 37.9% of 990 ns is computation; it loses 31.3% to idle time in which the host "'

# The table of whole recordings reports compilation, with the ns of that cause; the table of steps does not, nor a table without compilation.
compiling() { nsysx-idle -q --table "$@" | sed -n 's/^these windows are whole recordings, with \(.*\) of idle time during compilation; --steps.*/\1/p'; }
alike 'the note gives the time of compilation' "$(compiling "$T/causes")" \
	"$(nsysx-idle -q --tsv "$T/causes" | awk -F'\t' '$4 == "compile" { ns += $5 } END { if (ns) print ns " ns" }')"
ok 'a table without compilation has no note' [ -n "$(compiling "$T/causes")" ]
equal 'a table of other windows has no note' "$(compiling --by every:100ns "$T/causes")" ''

# ---- verdicts

bound() { nsysx-idle -q --tsv --verdict "$T/$1" | sed 1d | cut -f "${2:-2}" | tr '\t' ' '; }
# 90 of 100 ns.
stream v <<'END_STREAM'
device device=0
op name=k start=0 dur=50
op name=k start=60 dur=40
END_STREAM
equal '90% of the time: compute-bound' "$(bound v 2,3)" 'compute-bound 90'
sed 's/	60	40	/	61	39	/' "$T/v" >"$T/v1"
equal '... loses nothing that matters' "$(bound v 9,10)" ' '
equal 'less than 90 %: loses most to no-call' "$(bound v1 2,3,5,9,10)" 'compute-bound 89 no-call unknown 11'
stream v2 <<'END_STREAM'
device device=0
op name=k start=0 dur=10
op name=c type=memcpy start=10 dur=30
op name=r comm=1 start=40 dur=20
op name=k start=80 dur=1
END_STREAM
equal 'copies' "$(bound v2)" copy-bound
sed 's/	40	20	/	40	30	/' "$T/v2" >"$T/v3"
equal 'of equal times communication comes first' "$(bound v3 2,3,5,9,10)" 'comm-bound 30  communication 30'
sed 's/	0	10	/	0	30	/; s/	10	30	/	30	30	/; s/	40	30	/	60	20	/' "$T/v3" >"$T/v5"
equal '... and computation before both' "$(bound v5 2,3,9,10)" 'compute-bound 31 copies 30'
stream v4 <<'END_STREAM'
device device=0
range range=1 host_start=0 host_dur=100 name=epoch~7
range range=2 parent=1 host_start=20 host_dur=30 name=batch
call call=1 start=0 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=1 dur=9 call=1 tid=1 host_start=0 host_dur=1 range=1
call call=2 start=60 dur=40 name=cudaLaunchKernel class=launch ops=1
op name=k start=100 dur=9 call=2 tid=1 host_start=60 host_dur=40 range=1
END_STREAM
# [10,20) epoch, [20,50) batch, [50,60) epoch; [60,100) launching.
equal 'a verdict names cause, range path and call' "$(bound v4 2,3,5,6,7)" 'host-bound 90 range epoch #;batch '
equal 'the text of a verdict' "$(bound v4 8)" 'device 0 is host-bound: 83.3% of 108 ns is idle time in which the host had not launched the next work; mostly range, 50 ns, 60% of that in epoch #;batch'
sed 's/epoch 7/epoch\\xFF/' "$T/v4" >"$T/v4x"
equal '... is UTF-8 below a table, whatever the names' "$(nsysx-idle -q --table "$T/v4x" | grep -c 'of that in epoch?;batch')" 1

equal '... in full if asked for' "$(nsysx-idle -q --tsv --verdict --names=full "$T/v4" | cut -f 6 | tail -n 1)" 'epoch 7;batch'
# Each step waits 30 in its own range, 20 of these in load and 10 in fetch: most is in load, though no one step has most of it.
{
	echo 'device device=0'
	for k in 0 1 2 3; do
		t=$((100 * k))
		echo "range range=$((4 * k + 1)) host_start=$t host_dur=100 name=step~$k"
		echo "range range=$((4 * k + 2)) parent=$((4 * k + 1)) host_start=$((t + 10)) host_dur=20 name=load~2"
		echo "range range=$((4 * k + 3)) parent=$((4 * k + 1)) host_start=$((t + 30)) host_dur=10 name=fetch"
		for call in 0 40; do
			echo "call call=$((2 * k + call / 40)) start=$((t + call)) dur=5 name=cudaLaunchKernel class=launch ops=1"
			echo "op name=k start=$((t + call + 5)) dur=$((call ? 55 : 5)) call=$((2 * k + call / 40)) tid=1" \
			     "host_start=$((t + call)) host_dur=5 range=$((4 * k + 1))"
		done
	done
} | stream v7
equal 'a place is that of all steps, whatever their numbers' \
	"$(nsysx-idle -q --table "$T/v7" | grep -o 'mostly range.*')" 'mostly range, 120 ns, 67% of that in step #;load 2'
equal '... also where the stream has its gaps marked' "$(nsysx-idle --mark "$T/v7" | nsysx-idle -q --tsv --verdict | cut -f 6 | tail -n 1)" \
	'step #;load 2'
equal '... and a list tells which step' "$(nsysx-idle -q --tsv --list 9 "$T/v7" | grep -c 'step [0-3];load 2')" 4

# [10,20) and [50,60) in an instruction of XLA with a name; [20,35) and [35,50) in others: 20 of 50.
stream v6 <<'END_STREAM'
device device=0
range range=1 host_start=0 host_dur=100 domain=TSL name=Thunk:#name=a/b,hlo_op=dot.3#
range range=2 parent=1 host_start=20 host_dur=15 name=batch
range range=3 parent=1 host_start=35 host_dur=15 name=next
call call=1 start=0 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=1 dur=9 call=1 tid=1 host_start=0 host_dur=1 range=1
call call=2 start=60 dur=40 name=cudaLaunchKernel class=launch ops=1
op name=k start=100 dur=9 call=2 tid=1 host_start=60 host_dur=40 range=1
END_STREAM
equal 'instructions of XLA have names, with their share' "$(bound v6 8 | sed 's/.*; //')" 'mostly range, 50 ns, 40% of that in dot.3'

# ---- the host waits

stream drained <<'END_STREAM'
device device=0
op name=k0 start=0 dur=100
call call=2 start=90 dur=70 name=cudaMemcpy class=copy blocking=1 ops=1
op type=memcpy name=c start=100 dur=40 call=2 tid=1 host_start=90 host_dur=70
call call=3 start=170 dur=10 name=cudaLaunchKernel class=launch ops=1
op name=k1 start=200 dur=10 call=3 tid=1 host_start=170 host_dur=10
call call=4 start=220 dur=60 name=cudaMemcpy class=copy blocking=1 ops=1
op type=memcpy name=d start=260 dur=5 call=4 tid=1 host_start=220 host_dur=60
END_STREAM
# [140,200): the blocking copy held the thread while the device became idle: sync 20, host 10, launch 10, latency 20. [210,260): host 10, then
# the call of the copy itself, which is its launch.
equal 'a blocking copy that drained the queue' "$(idle drained --latency 10ns | grep idle)" '0 idle launch-starved sync 20 1 20 20
0 idle launch-starved launch 50 2 40 10
0 idle launch-starved host 20 2 10 10
0 idle issued unresolved 20 1 20 20'
alike 'drained gaps only' "$(idle drained --latency 10ns --drained | awk '{ s += $5 } END { print s }')" "$(idle drained --latency 10ns | awk '{ s += $8 } END { print s }')"
equal '... with --list' "$(nsysx-idle -q --tsv --latency 10ns --drained --list 5 "$T/drained" | sed 1d | awk -F'\t' '{ s += $5; d += $10 } END { print s, d }')" \
	"$(idle drained --latency 10ns | awk '{ s += $8 } END { print s, s }')"

# The host waits for 30 ns, then for requests: no more than 30 ns of the gap are the price of the wait, the rest is the host's own.
stream served <<'END_STREAM'
device device=0
op name=k0 start=0 dur=100
call call=2 start=80 dur=30 name=cudaStreamSynchronize class=sync blocking=1
call call=3 start=490 dur=10 name=cudaLaunchKernel class=launch ops=1
op name=k1 start=500 dur=10 call=3 tid=1 host_start=490 host_dur=10
END_STREAM
columns() { awk -F'\t' -v names="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, name, ","); next }
	{ for (i = 1; i <= n; i++) printf "%s%s", $at[name[i]], i < n ? " " : "\n" }'; }
equal 'a wait that is shorter than the gap after it explains no more than its own length' \
	"$(nsysx-idle -q --tsv --latency 10ns "$T/served" | columns cause,ns,drained,blocked | grep '^[a-z]')" 'sync 10 10 10
launch 10 10 0
host 380 380 20'
equal '... in a list' "$(nsysx-idle -q --tsv --latency 10ns --drained --list 5 "$T/served" | columns ns,drained,blocked,own)" '400 400 30 370'
equal '... and in each cause of it' "$(nsysx-idle -q --tsv --latency 10ns --cause host --list 5 "$T/served" | columns ns,drained,blocked,own)" '380 380 20 360'
equal '... the finding is the wait, the rest its cause' "$(nsysx-diagnose -q --min 0 --tsv "$T/served" | columns finding,gain | grep -v launch-bound | sort)" 'blocking 30
idle:host 360
idle:launch 10'

# ---- several streams and devices

stream streams <<'END_STREAM'
device device=0
device device=1
op name=a start=10 dur=10 stream=1
op name=b start=15 dur=25 stream=2
op name=c start=30 dur=5 stream=1
op name=none start=50 dur=0 stream=3
op name=d start=60 dur=10 stream=1
op name=e device=1 start=5 dur=10
END_STREAM
# Device 0 is idle in [40,50) and [50,60): an operation of duration 0 ends a gap. In all, [5,70).
equal 'streams of a device count together' "$(idle streams)" '0 compute - - 40 2 30 0
0 idle no-call no-call 20 2 10 0
1 compute - - 10 1 10 0'
equal 'one window for all devices' "$(idle streams --all)" '0 compute - - 40 2 30 0
0 idle edge before 5 1 5 0
0 idle no-call no-call 20 2 10 0
1 compute - - 10 1 10 0
1 idle edge after 55 1 55 0'

# ---- windows

stream windows <<'END_STREAM'
device device=0
program program=0 id=1 name=m1 key=m1@1
op name=k start=0 dur=10
module program=0 execution=0 device=0 start=20 dur=20 name=m1
op name=k start=20 dur=10 program=0 execution=0
op name=k start=35 dur=5 program=0 execution=0
op name=k start=50 dur=10
module program=0 execution=1 device=0 start=70 dur=10 name=m1
op name=k start=70 dur=10 program=0 execution=1
op name=k start=90 dur=5
range range=1 domain=D name=phase~1 device=0 host_start=0 host_dur=9 start=15 dur=20
range range=2 domain=D name=phase~2 device=0 host_start=3 host_dur=5 start=90 dur=20
range range=3 name=other host_start=3 host_dur=5 start=90 dur=20
END_STREAM
equal 'by module' "$(idle windows --by module)" '0 [before] m1@1 compute - - 20 2 10 0
0 [before] m1@1 idle no-call no-call 30 3 10 0
0 m1@1 - compute - - 25 3 10 0
0 m1@1 - idle no-call no-call 5 1 5 0
0 [after] - compute - - 5 1 5 0
0 [after] - idle no-call no-call 10 1 10 0'
equal 'by execution' "$(idle windows --by execution)" '0 [between] - compute - - 25 3 10 0
0 [between] - idle no-call no-call 40 4 10 0
0 m1@1 0 compute - - 15 2 10 0
0 m1@1 0 idle no-call no-call 5 1 5 0
0 m1@1 1 compute - - 10 1 10 0'
equal 'by step: the last execution has no window' "$(idle windows --by step --module m1)" '0 0 20 compute - - 25 3 10 0
0 0 20 idle no-call no-call 25 3 10 0'
equal 'steps are found without an option, with the numbers of nsysx-steps' "$(idle windows --by step)" "$(idle windows --by step --module m1)"
equal 'the program by its key' "$(idle windows --by step --module m1@1 | wc -l | tr -d ' ')" 2
# [15,35): [20,30) is busy. [90,110): [90,95) is busy, the device ends there.
equal 'by range' "$(idle windows --by 'range:^D:phase')" '0 D:phase 1 15 compute - - 10 1 10 0
0 D:phase 1 15 idle no-call no-call 10 2 5 0
0 D:phase 2 90 compute - - 5 1 5 0
0 D:phase 2 90 idle edge after 15 1 15 0'
# [0,40), [40,80), [80,95).
equal 'by time' "$(idle windows --by every:40ns)" '0 0 compute - - 25 3 10 0
0 0 idle no-call no-call 15 2 10 0
0 40 compute - - 20 2 10 0
0 40 idle no-call no-call 20 2 10 0
0 80 compute - - 5 1 5 0
0 80 idle no-call no-call 10 1 10 0'
grep -v '^device' "$T/windows" >"$T/deviceless"
for by in range:^D:phase module execution 'step --module m1'; do
	# shellcheck disable=SC2086  # two words
	alike "the same without device records, by $by" "$(idle deviceless --by $by)" "$(idle windows --by $by)"
done

# Two executions make one step: [20,70), which contains the gaps [30,35), [40,50) and [60,70).
equal '--steps: idle time in steps' "$(idle windows --steps --module m1)" '0 compute - - 25 3 10 0
0 idle no-call no-call 25 3 10 0'
alike '--steps finds the steps' "$(idle windows --steps)" "$(idle windows --steps --module m1)"
equal '--steps --module' "$(idle windows --steps --by module)" '0 m1@1 - compute - - 15 2 10 0
0 m1@1 - idle no-call no-call 5 1 5 0
0 [after] - compute - - 10 1 10 0
0 [after] - idle no-call no-call 20 2 10 0'
equal 'gaps are clipped to steps' "$(sed 's/	20	20	/	15	25	/' "$T/windows" | nsysx-idle -q --steps --tsv --list 9 | sed 1d | cut -f 2,3 | tr '\t\n' ' ;')" '40 10;60 10;15 5;30 5;'
equal 'stacks in steps' "$(nsysx-idle -q --steps --folded "$T/windows" | awk '{ s += $NF } END { print s }')" 25
says 'no steps: a warning that all time counts' 'no device has two steps' nsysx-idle --steps "$T/causes"
alike '... and the table of all time' "$(idle causes --steps)" "$(idle causes)"
fails '--steps excludes --by step' 2 '--steps goes with --by device, module' nsysx-idle --steps --by step --module m1 "$T/windows"
fails '--steps excludes --window all' 2 '--all and --steps exclude each other' nsysx-idle --steps --all "$T/windows"

# Steps that are ranges begin with their first operation on the device. Steps A and B: classes by a group of --step.
stream steps <<'END_STREAM'
device device=0
range range=1 name=step~A host_start=0 host_dur=10 start=20 dur=20 device=0
call call=1 start=1 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=20 dur=20 call=1 tid=1 host_start=1 host_dur=1 range=1
range range=2 name=step~B host_start=10 host_dur=10 start=45 dur=5 device=0
call call=2 start=11 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=45 dur=5 call=2 tid=1 host_start=11 host_dur=1 range=2
range range=3 name=step~A host_start=60 host_dur=10 start=80 dur=5 device=0
call call=3 start=61 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=80 dur=5 call=3 tid=1 host_start=61 host_dur=1 range=3
range range=4 name=step~B host_start=70 host_dur=10 start=90 dur=5 device=0
call call=4 start=71 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=k start=90 dur=5 call=4 tid=1 host_start=71 host_dur=1 range=4
END_STREAM
# Gaps [40,45) latency; [50,80): step 10 of [50,60) is host, [60,62) ... the call [61,62), then 18 on the way; [85,90) latency. No verdict rests on calls of 1 ns.
equal 'by step' "$(idle steps --by step --step '^step')" '0 0 20 compute - - 20 1 20 0
0 0 20 idle issued latency 5 1 5 0
0 1 45 compute - - 5 1 5 0
0 1 45 idle launch-starved launch 1 1 1 0
0 1 45 idle launch-starved range 1 1 1 0
0 1 45 idle launch-starved host 10 1 10 0
0 1 45 idle issued latency 18 1 18 0
0 2 80 compute - - 5 1 5 0
0 2 80 idle issued latency 5 1 5 0'
equal 'steps of classes' "$(idle steps --by step --step '^step (.)' | awk '{ print $1, $2, $3, $4, $5, $8 }' | awk '{ sum[$2 " " $3 " " $4] += $6 } END { for (k in sum) print k, sum[k] }' | sort)" 'A 0 20 60
B 0 45 45'
equal '... and their columns' "$(nsysx-idle -q --tsv --by step --step '^step (.)' --verdict "$T/steps" | cut -f 1-5 | tr '\t' ' ')" 'device class step start verdict
0 A 0 20 unknown
0 B 0 45 unknown'
same 'a pipe gives the same as a file' "$(cat "$T/steps" | nsysx-idle -q --by step --step ^step --tsv >"$T/p"; echo "$T/p")" "$(nsysx-idle -q --by step --step ^step --tsv "$T/steps" >"$T/f"; echo "$T/f")"

# ---- names

stream names <<'END_STREAM'
device device=0
range range=1 host_start=0 host_dur=100 name=aten::add,~seq~=~7,~op_id~=~52
op name=k start=0 dur=1
call call=1 start=11 dur=2 name=cudaLaunchKernel class=launch ops=1
op name=k start=13 dur=1 call=1 tid=1 host_start=11 host_dur=2 range=1
END_STREAM
for names in key full digits; do
	nsysx-idle -q --folded --names=$names "$T/names" | grep ';range;'
done >"$T/named"
equal 'names by key, in full, without digits' "$(cat "$T/named")" 'device 0;launch-starved;range;aten::add 10
device 0;launch-starved;range;aten::add, seq = 7, op_id = 52 10
device 0;launch-starved;range;aten::add 10'
sed 's/aten::add, seq = 7, op_id = 52/step 7 of layer_3/' "$T/names" >"$T/stepped"
equal 'stacks of steps are one, whatever their numbers' "$(nsysx-idle -q --folded --names=steps "$T/stepped" | grep ';range;')" 'device 0;launch-starved;range;step # of layer_# 10'
equal '... unless names are wanted as they are' "$(nsysx-idle -q --folded "$T/stepped" | grep ';range;')" 'device 0;launch-starved;range;step 7 of layer_3 10'
equal '... and a list tells which' "$(nsysx-idle -q --tsv --list 9 "$T/stepped" | grep -c 'step 7 of layer_3')" 1
sed 's/aten::add, seq = 7, op_id = 52/layer_3/' "$T/names" >"$T/layered"
equal '... and layers are not steps' "$(nsysx-idle -q --folded --names=steps "$T/layered" | grep ';range;')" 'device 0;launch-starved;range;layer_3 10'

# ---- incomplete and unusual streams

grep -v '^call' "$T/causes" >"$T/silent"
# The calls of operations are known: [200,470) host, [470,490) launch, [490,500) latency.
equal 'without call records host time extends to the launch' "$(idle silent --latency 10ns | grep -v issued | grep idle)" '0 idle graph graph 5 1 5 0
0 idle no-call no-call 50 1 50 0
0 idle launch-starved launch 30 2 20 0
0 idle launch-starved host 280 2 270 0'
says '... a warning' 'no CUDA calls in the stream' nsysx-idle "$T/silent"
says '... and the number of operations without a call' 'operations whose call is not in the profile' nsysx-idle -v "$T/causes"
equal 'operations that name no call' "$(printf 'device device=0\nop start=0 dur=5\nop start=9 dur=1\n' | awk -f host/stream.awk | nsysx-idle -q --tsv | cut -f 4,5 | sed 1,2d | tr '\t' ' ')" 'no-call 4'

# On stream 7, [0,100) is still running when [90,120) begins, which is allowed, and [130,500) when [140,150) has ended, which is not: 360 ns. Nodes of
# graphs and other streams are concurrent.
stream overruns <<'END_STREAM'
device device=0
op name=a stream=7 start=0 dur=100
op name=b stream=7 start=90 dur=30
op name=c stream=7 start=130 dur=370
op name=d stream=7 start=140 dur=10
op name=e stream=7 start=160 dur=440
op name=f stream=8 start=170 dur=10
op name=g stream=9 start=170 dur=10 graph_node=1
op name=h stream=9 start=172 dur=2 graph_node=2
END_STREAM
says 'operations that overrun' 'has ended, which a GPU does not do, for 360 ns in all: idle time under them is not seen' nsysx-idle "$T/overruns"
stream nested <<'END_STREAM'
device device=0
op stream=7 start=0 dur=100
op stream=7 start=10 dur=40
op stream=7 start=20 dur=10
END_STREAM
says 'nested overruns, each by its time after the next start' 'has ended, which a GPU does not do, for 120 ns in all' nsysx-idle "$T/nested"
grep -v '	d	' "$T/overruns" | nsysx-view --partial >"$T/early"
ok '... without others' sh -c '! nsysx-idle "$1" 2>&1 >/dev/null | grep "a GPU does not do"' sh "$T/early"

stream late <<'END_STREAM'
device device=0
op name=k start=0 dur=10
op name=k start=50 dur=10 call=1 tid=1 host_start=60 host_dur=5
call call=1 start=60 dur=5 name=cudaLaunchKernel class=launch ops=1
call call=2 start=5 dur=15 name=cudaMalloc class=alloc
END_STREAM
equal 'an operation before its call: the whole gap is launch-starved' "$(idle late | grep idle)" '0 idle launch-starved alloc 10 1 10 0
0 idle launch-starved host 30 1 30 0'
says '... a warning about clocks' 'the clocks of GPU and host disagree' nsysx-idle "$T/late"

printf 'device device=0\ncall call=1 start=0 dur=1 class=other\noverhead start=3 dur=5 class=profiler tid=\nop name=k start=0 dur=1\n' | awk -f host/stream.awk >"$T/over"
equal 'an overhead without a thread' "$(nsysx-idle -q --mark "$T/over" | grep '^diag.*overheads' | cut -f 2,4)" 'info	overheads without a thread: ignored'
printf 'device device=0\ncall call=1 start=0 dur=1 class=launch ops=1\nop name=k start=0 dur=1\nop name=k start=90000 dur=1 call=1 tid=1 host_start=0 host_dur=1\n' | awk -f host/stream.awk >"$T/nowaits"
equal 'waits that are not recorded' "$(nsysx-idle -q --mark "$T/nowaits" | grep '^diag.*wait' | cut -f 4-)" \
	'operations of which it is not recorded whether they wait for events: a gap before one that is not latency is unresolved	1'
printf 'device device=0 uuid=G\ndevice device=1 pid=2 uuid=G\nop start=0 dur=1\n' | awk -f host/stream.awk >"$T/shared"
says 'two processes on one GPU' 'two processes share one GPU' nsysx-idle "$T/shared"
# of_gpu START_0 START_1: profiles of 100 us of one GPU, which start then.
of_gpu() {
	printf 'profile profile=0 start_utc=%s to=100000\nprofile profile=1 start_utc=%s to=100000\ndevice device=0 profile=0 uuid=G last=90000\ndevice device=1 profile=1 uuid=G last=90000\nop start=0 dur=1\n' "$@" |
		awk -f host/stream.awk
}
of_gpu 1000000000 1000095000 >"$T/turns"
says '... at the same time' 'two processes share one GPU' nsysx-idle "$(of_gpu 1000000000 1000085000 >"$T/once"; echo "$T/once")"
says 'two runs on one GPU' 'recordings of one GPU at different times: these are two runs, which nsysx-compare compares' nsysx-idle "$T/turns"
of_gpu 1000095000 1000000000 >"$T/turns"
says '... the later one first' 'recordings of one GPU at different times' nsysx-idle "$T/turns"
printf 'profile profile=0 start_utc=1000000000\nprofile profile=1 start_utc=1000000500\ndevice device=0 profile=0 uuid=G\ndevice device=1 profile=1 uuid=G last=90000\nop start=0 dur=1\n' |
	awk -f host/stream.awk >"$T/endless"
says '... of one that does not say when it ended it is not known' 'two processes share one GPU' nsysx-idle "$T/endless"
printf 'device device=0\nop start=0\nop start=5 dur=1\n' | awk -f host/stream.awk >"$T/odd"
says 'operations without a duration' 'operations without a device, start or duration: ignored' nsysx-idle "$T/odd"
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
for by in device module execution 'range:x' every:1ms 'step --module m' 'step --step x'; do
	# shellcheck disable=SC2086  # two words
	says "an empty stream, by $by" 'no operations in the stream' nsysx-idle --by $by "$T/empty"
	equal 'has only a header' "$(wc -l <"$T_private/out" | tr -d ' ')" 1
done
says 'an empty stream with --folded' 'no operations in the stream' nsysx-idle --folded "$T/empty"
near=$(nsysx-view -q -t range "$T/causes" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "name") at = i; next } { print $at; exit }')
fails 'no range of that name: a similar one is suggested' 1 '; did you mean ' nsysx-idle --by "range:${near}_" "$T/causes"
fails 'no range of that name, none is similar' 1 'no range matches zzz' nsysx-idle --by range:zzz "$T/causes"
fails 'no step of that name' 1 'no range matches zzz' nsysx-idle --by step --step zzz "$T/causes"
fails 'no program of that name' 1 'no program of that name was executed' nsysx-idle --by step --module zzz "$T/causes"
fails 'a stream cut short' 1 'nsysx-idle: ' sh -c 'sed \$d "$T/causes" | nsysx-idle'
fails 'a stream cut short, with --by step' 1 'nsysx-idle: ' sh -c 'sed \$d "$T/steps" | nsysx-idle --by step --step step'
fails '--require: a missing kind' 1 'skew' nsysx-idle --require=skew "$T/causes"

fails 'an invalid --by' 2 '--by zz: want device, module' nsysx-idle --by zz "$T/causes"
fails 'a duration of 0' 2 'want a time above 0' nsysx-idle --by every:0 "$T/causes"
printf 'device device=0\nop start=0 dur=1\nop start=2000000000 dur=1\n' | awk -f host/stream.awk >"$T/years"
fails 'windows without end' 1 'more than 1000000 windows: take a longer time' nsysx-idle --by every:1us "$T/years"
fails 'an invalid expression of --by range' 2 '--by range:(' nsysx-idle --by 'range:(' "$T/causes"
fails 'an invalid expression of --step' 2 '--step (' nsysx-idle --by step --step '(' "$T/causes"
fails '--step and --module' 2 '--step and --module exclude each other' nsysx-idle --by step --step x --module y "$T/causes"
fails 'steps of a device' 2 '--step goes with --steps or --by step' nsysx-idle --step x "$T/causes"
fails 'all of modules' 2 '--all goes with --by device' nsysx-idle --all --by module "$T/causes"
fails 'two forms' 2 'exclude each other' nsysx-idle --folded --verdict "$T/causes"
fails '--list excludes --verdict' 2 '--list is of each device: --by does not go with it' nsysx-idle --list 3 --by module "$T/causes"
fails '--folded excludes --tsv' 2 'do not go with it' nsysx-idle --folded --json "$T/causes"
fails 'an unknown --names' 2 '--names' nsysx-idle --names=zz "$T/causes"
# Operations overlap later ones of their stream; those without a stream may be of several.
overlapping() {
	printf '#nsysx\t2\n#device\tdevice:i\tprofile:i\n#op\tprofile:i\top:i\ttype:s\tdevice:i\tstream:i\tname:s\tstart:i\tdur:i\n'
	printf 'op\t0\t0\tkernel\t0\t%s\ta\t1000\t100\nop\t0\t1\tkernel\t0\t%s\tb\t1010\t20\n#end\trecords:i\nend\t2\n' "$1" "$1"
}
equal 'overlapping operations of one stream are reported' "$(overlapping 7 | nsysx-idle --tsv 2>&1 | grep -c 'operations still run')" 1
equal 'those of unknown streams are not' "$(overlapping '' | nsysx-idle --tsv 2>&1 | grep -c 'operations still run')" 0

# ---- what nsysx-warmup removed is no idle time: work, and the gaps before it
#
#   P0 removed  [0,100)                      executions 0 are initialisation, since the stream communicates
#   P1          [200,300)
#   Q0 removed  [400,500) and [600,950)      the latter beside P2
#   P2          [800,900)                    the device was never idle since P1
#   P3          [1000,1100)                  idle [950,1000): call [960,980), host [950,960), launch [960,980), latency 20
stream warm <host/removed.rows

nsysx-warmup -q "$T/warm" >"$T/warmed"
want='0 compute - - 300 3 100 0
0 removed - - 550 2 500 0
0 idle launch-starved launch 20 1 20 0
0 idle launch-starved host 10 1 10 0
0 idle issued latency 20 1 20 0'
equal 'the table tells removed work from idle time' "$(idle warmed)" "$want"
nsysx-view -b "$T/warm" | nsysx-warmup -q -b >"$T/warmed.b"
equal '... of a binary stream' "$(idle warmed.b)" "$want"
nsysx-warmup -q "$T/warmed" | grep -v '^diag' >"$T/warmed2"
grep -v '^diag' "$T/warmed" >"$T/warmed1"
sed 's/^end.*//' "$T/warmed1" >"$T/x1"; sed 's/^end.*//' "$T/warmed2" >"$T/x2"
same 'warming twice is warming once' "$T/x1" "$T/x2"
equal 'shares are of the time without it' "$(nsysx-idle -q --tsv "$T/warmed" | cut -f 2,4,6 | tr '\t' ' ' | sed 1d | awk '{ printf "%s%s%.4f", sep, $1, $NF; sep = " " }')" \
	'compute0.8571 removed0.0000 idle0.0571 idle0.0286 idle0.0571'
equal 'so is the verdict' "$(nsysx-idle -q --tsv --verdict "$T/warmed" | sed 1d | cut -f 2,3,9,10 | tr '\t' ' ')" 'compute-bound 300 host 30'
equal 'no gap of a list is in it' "$(nsysx-idle -q --tsv --list 9 "$T/warmed" | sed 1d | cut -f 2,3 | tr '\t' ' ')" '950 50'
equal 'nor a stack' "$(nsysx-idle -q --folded "$T/warmed" | awk '{ sum += $NF } END { print sum }')" 50
equal 'windows of a time have their part of it' "$(idle warmed --by every:100ns | awk '$3 == "removed" { print $2, $6 }' | paste -sd,)" \
	'300 100,400 100,500 100,600 100,700 100,900 50'
equal '--cause has no cause removed' "$(nsysx-idle -q --tsv --cause removed "$T/warmed" 2>&1 | grep -c 'is no cause')" 1

# ---- ... up to its end, which is no later than the start of the next operation of its stream, whatever its duration
#
#   Q0 removed  [300,900) on stream 2        by its duration: P3 on stream 2 shows that it had ended at 420
#   Q0 removed  [600,1600) on the stream of P5, which begins at 650
#   removed     [300,350) [400,420) [600,650)
#   idle        [450,500) before P4          call [470,480): host 20, launch 10, latency 20
#   idle        [700,760) before P6          call [730,740): host 30, launch 10, latency 20
stream warm <host/removed_long.rows
nsysx-warmup -q "$T/warm" >"$T/warmed"
equal 'an operation that shows that removed ones ended earlier says so' "$(nsysx-view -t op "$T/warmed" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["start"] > 200 && $c["removed"] != "" { print $c["start"], $c["removed"] }' | paste -sd,)" '350 -550,420 0,650 0'
want='0 compute - - 370 6 100 0
0 removed - - 120 3 50 0
0 idle launch-starved launch 20 2 10 0
0 idle launch-starved host 50 2 30 0
0 idle issued latency 40 2 20 0'
equal '... and time after that is idle time' "$(idle warmed)" "$want"
nsysx-view -b "$T/warm" | nsysx-warmup -q -b >"$T/warmed.b"
equal '... of a binary stream' "$(idle warmed.b)" "$want"
nsysx-warmup -q "$T/warmed" >"$T/warmed2"
equal '... of a stream warmed twice' "$(idle warmed2)" "$want"

# ---- a launch takes hundreds of ns: no verdict rests on gaps before work whose call took 1 ns

# host_dur FIRST: the gaps [100,200), host, with a call of that duration; [300,380), host; [480,630), latency
short() {
	stream short <<-END_STREAM
		device device=0 last=630
		op name=k start=0 dur=100
		call call=1 start=199 dur=$1 name=cudaLaunchKernel class=launch ops=1
		op name=k start=200 dur=100 call=1 tid=1 host_start=199 host_dur=$1
		call call=2 start=379 dur=2 name=cudaLaunchKernel class=launch ops=1
		op name=k start=380 dur=100 call=2 tid=1 host_start=379 host_dur=2
		call call=3 start=400 dur=2 name=cudaLaunchKernel class=launch ops=1
		op name=k start=630 dur=100 call=3 tid=1 host_start=400 host_dur=2
	END_STREAM
	nsysx-idle -q --tsv --verdict "$T/short" | sed 1d | cut -f 2,5,9,10 | tr '\t' ' '
}
equal 'a call of 2 ns counts' "$(short 2)" 'compute-bound host host 180'
equal 'one of 1 ns does not' "$(short 1)" 'compute-bound latency latency 150'
equal '... but in the table' "$(idle short | awk '$4 == "host" { print $5 }')" 178
equal '... and there is a warning' "$(nsysx-idle --tsv "$T/short" 2>&1 >/dev/null | grep -c 'call took 1 ns or less')" 1
sed 's/	630	100	/	490	100	/' "$T/short" >"$T/shorter"
equal 'if most rests on them nothing is known' "$(nsysx-idle -q --tsv --verdict "$T/shorter" | sed 1d | cut -f 2,3,5,8)" \
	"$(printf 'compute-bound\t400\t\tdevice 0 is compute-bound: 67.8%% of 590 ns is computation; it loses 16.9%% to idle time before work whose launch took 1 ns or less by the export, which none does')"

# Two periods of a stream that was cut: what ended the wait at the end of the first is not the operation of the second.
(. "$tests_dir/streamlib.sh"; stream) >"$T/periods" <<'END_STREAM'
#profile profile:i name:s
#device profile:i device:i process:i
#step profile:i device:i class:s step:i start:i dur:i period:i cut:i
#range profile:i range:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i
#call profile:i call:i pid:i tid:i start:i dur:i name:s class:s ops:i
#op profile:i op:i type:s name:s device:i stream:i start:i dur:i call:i tid:i host_start:i host_dur:i range:i
profile 7 r
device 7 0 1
op 7 1 kernel a 0 0 10 60 - - - - -
step 7 0 m 0 10 60 100 1
range 7 2 1 5 s 300 300 295 10
call 7 3 1 5 296 2 cudaLaunchKernel launch 1
step 7 0 m 2 300 60 100 1
op 7 2 kernel b 0 0 320 40 3 5 296 2 2
END_STREAM
nsysx-idle -q --mark "$T/periods" >"$T/after"
marks() { (. "$tests_dir/streamlib.sh"; columns idle start dur cause profile op call tid range <"$T/after") | grep "$1"; }
equal 'the wait at the end of a period was for no operation that is left' "$(marks after)" "$(printf '%s\n' '70 40 after 7 - - - -' '360 40 after 7 - - - -')"
equal '... and that of the operation behind is' "$(marks '^300 ')" '300 20 latency 7 2 3 5 2'
equal '... so a list has it with its cause' "$(nsysx-idle -q --tsv --list 9 "$T/periods" | sed 1d | cut -f 2-5,7,8 | tr '\t' ' ')" \
      "$(printf '%s\n' '70 40 after 40 a ' '360 40 after 40 b ' '300 20 latency 20 a b')"
equal '... which can be asked for' "$(nsysx-idle -q --tsv --list 9 --cause after "$T/periods" | sed 1d | cut -f 2-5 | tr '\t' ' ')" \
      "$(printf '%s\n' '70 40 after 40' '360 40 after 40')"
done_testing
