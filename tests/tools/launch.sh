#!/bin/sh
# nsysx-launch: sums of launches. Random jobs: tests/tools/host.sh.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
launch() {
	file=$1
	shift
	nsysx-launch -q --tsv "$@" "$T/$file" | awk -F'\t' 'NR > 1 { for (i = 1; i <= NF; i++) printf "%s%s", $i == "" ? "-" : $i, i < NF ? " " : "\n" }'
}

# a, first on its device: queued 3. a again: the device is idle in [23,60) and its call returns at 55: starved 32, queued 5. b starts within its
# call [58,70): not queued, the device idle in [65,66): starved 1. c waits for b's stream in a full queue, on a busy device: starved 0, queued 10.
# d ends a gap [130,200) of which its call, back at 140, takes 10. A copy in [110,130) is no kernel, but the device is not idle.
stream sums <<'END_STREAM'
device device=0
range range=1 host_start=0 host_dur=60 start=13 dur=52 name=forward,~seq~=~1,~op_id~=~9
range range=2 host_start=100 host_dur=60 start=200 dur=5 name=layer_3
call call=1 start=0 dur=10 name=cudaLaunchKernel class=launch ops=1
op name=a start=13 dur=10 call=1 tid=1 host_start=0 host_dur=10 range=1
call call=2 start=40 dur=15 name=cudaLaunchKernel class=launch ops=1 stalled=4 loading=6
op name=a start=60 dur=5 call=2 tid=1 host_start=40 host_dur=15 range=1
call call=3 start=58 dur=12 name=cudaLaunchKernel class=launch ops=1
op name=b start=66 dur=34 call=3 tid=1 host_start=58 host_dur=12
call call=4 start=70 dur=20 name=cudaLaunchKernel class=launch ops=1 stalled=15
op name=c start=100 dur=10 call=4 tid=1 host_start=70 host_dur=20
op type=memcpy name=copy start=110 dur=20
call call=5 start=130 dur=10 name=cudaLaunchKernel class=launch ops=1
op name=d start=200 dur=5 call=5 tid=1 host_start=130 host_dur=10 range=2
op name=uncalled start=300 dur=5
END_STREAM
equal 'by kernel' "$(launch sums)" 'a 2 2 2 25 8 15 32 4 6 launch-bound
d 1 1 1 10 60 5 10 0 0 launch-bound
b 1 1 0 12 0 34 1 0 0 -
c 1 1 1 20 10 10 0 15 0 -'
equal 'by range' "$(launch sums --by range)" 'forward 2 2 2 25 8 15 32 4 6 launch-bound
layer_3 1 1 1 10 60 5 10 0 0 launch-bound
- 2 2 1 32 10 44 1 15 0 -'
equal 'names of ranges' "$(launch sums --by range --names=full | sed -n 1p | cut -c1-30)$(launch sums --by range --names=digits | sed -n 2p | cut -d ' ' -f 1)" 'forward, seq = 1, op_id = 9 2 layer_#'
says 'kernels without a call are counted' 'kernels whose call is not in the profile: not counted' nsysx-launch -v "$T/sums"

# A call of three kernels counts once in a row of the table: for node in both, api 20 each; the whole graph is a separate row.
stream graphs <<'END_STREAM'
device device=0
call call=1 start=0 dur=20 name=cudaGraphLaunch class=graph-launch ops=3 stalled=2
op name=node start=30 dur=10 call=1 tid=1 host_start=0 host_dur=20 graph_node=1
op name=node start=45 dur=10 call=1 tid=1 host_start=0 host_dur=20 graph_node=2
op name=other start=60 dur=10 call=1 tid=1 host_start=0 host_dur=20 graph_node=3
call call=2 start=80 dur=20 name=cudaGraphLaunch class=graph-launch ops=1
op type=graph name=g start=110 dur=50 call=2 tid=1 host_start=80 host_dur=20
END_STREAM
equal 'graphs' "$(launch graphs)" '[CUDA graph] 1 1 1 20 10 50 30 0 0 -
node 2 1 2 20 35 20 0 2 0 -
other 1 1 1 20 40 10 0 2 0 -'

# Two streams, two devices: idle time is per device. On device 1, x ends no gap; y's call returns after y began: all of [15,25) is starved.
stream devices <<'END_STREAM'
device device=0
device device=1
call call=1 start=0 dur=1 name=cudaLaunchKernel class=launch ops=1
op name=s start=1 dur=99 stream=1 call=1 tid=1 host_start=0 host_dur=1
call call=2 start=2 dur=8 name=cudaLaunchKernel class=launch ops=1
op name=x device=1 start=10 dur=5 call=2 tid=1 host_start=2 host_dur=8
call call=3 start=20 dur=10 name=cudaLaunchKernel class=launch ops=1
op name=y device=1 start=25 dur=5 call=3 tid=1 host_start=20 host_dur=10
op name=z stream=2 start=50 dur=5 call=3 tid=1 host_start=20 host_dur=10
END_STREAM
equal 'streams and devices' "$(launch devices | sort)" 's 1 1 1 1 0 99 0 - - -
x 1 1 1 8 0 5 0 - - -
y 1 1 0 10 0 5 10 - - launch-bound
z 1 1 1 10 20 5 0 - - -'

# ---- incomplete and unusual streams

{ echo 'device device=0'; echo 'op name=k start=0 dur=1'; echo 'op name=k start=5'; echo 'op name=k start=6'; } | stream timeless
says 'operations without a duration are counted' 'operations without a start or duration: ignored (2)' nsysx-launch "$T/timeless"

{ echo 'device device=0'; echo 'op name=k start=0 dur=1'; echo 'op name=k start=5'; echo 'op name=k start=6 dur=2305843009213693953'; } | stream ages
for by in kernel range stretch graph; do
	nsysx-launch --by $by "$T/ages" >"$T/got" 2>"$T/err"
	equal "... by $by, and those beyond reach" "$(grep -c 'without a start or duration: ignored$' "$T/err") $(grep -c 'beyond 73 years: ignored$' "$T/err")" '1 1'
done

grep -v '^call' "$T/sums" >"$T/silent"
equal 'without call records only stalled and loading are unknown' "$(launch silent | sed -n '1p;4p')" 'a 2 2 2 25 8 15 32 - - launch-bound
c 1 1 1 20 10 10 0 - - -'
says '... a warning' 'no CUDA calls in the stream' nsysx-launch "$T/silent"
# An operation before its call: the stalled time of its call counts.
stream late <<'END_STREAM'
device device=0
op name=k start=0 dur=10
op name=k start=50 dur=10 call=1 tid=1 host_start=60 host_dur=5
call call=1 start=60 dur=5 name=cudaLaunchKernel class=launch ops=1 stalled=2 loading=1
END_STREAM
equal 'an operation before its call' "$(launch late)" 'k 1 1 0 5 0 10 40 2 1 launch-bound'
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
for by in kernel range; do
	says "an empty stream by $by" 'no operations in the stream' nsysx-launch --by $by "$T/empty"
	equal '... only a header' "$(wc -l <"$T_private/out" | tr -d ' ')" 1
done
fails 'a stream cut short' 1 'nsysx-launch: ' sh -c 'sed \$d "$T/sums" | nsysx-launch'
fails 'an unknown --by' 2 '--by' nsysx-launch --by zz "$T/sums"
fails 'an unknown --names' 2 '--names' nsysx-launch --names=zz "$T/sums"
fails '--names without --by range' 2 '--names goes with --by range' nsysx-launch --names=full "$T/sums"
fails 'an unknown option' 2 '--zeros' nsysx-launch --zeros "$T/sums"

# Work that nsysx-warmup removed, [400,500) and [600,950), kept the device from being starved: only [950,980) is.
stream warm <host/removed.rows
nsysx-warmup -q "$T/warm" >"$T/warmed"
equal 'removed work does not starve a device' "$(launch warmed | cut -d ' ' -f 1-3,8)" 'p 3 3 30'

# ... up to 420 and 650, where operations of the same stream begin, not to 900 and 1600: [450,480) and [700,740) starve.
stream warm <host/removed_long.rows
nsysx-warmup -q "$T/warm" >"$T/warmed"
equal '... no longer than until the next operation of its stream' "$(launch warmed | cut -d ' ' -f 1-3,8)" 'p 6 6 70'

# ---- stretches that a graph could hold ----

# a, b, c twice, each time after a wait of the host. The idle time inside is [20,33), of which 10 before the launch of b returned at 30, and [130,140) and
# [150,155), of which 5 and 2; that before a is not the stretch's. d, e come once; f, f again on another thread, which ends the stretch of the first two; the
# nodes of a graph are in none.
stream stretches <<'END_STREAM'
device device=0
call call=1 start=0 dur=5 name=cudaLaunchKernel class=launch ops=1
op name=a start=10 dur=10 call=1 tid=1 host_start=0 host_dur=5
op name=b start=33 dur=7 call=2 tid=1 host_start=22 host_dur=8
op name=c start=40 dur=10 call=3 tid=1 host_start=31 host_dur=4
call call=4 start=60 dur=20 name=cudaStreamSynchronize class=sync blocking=1
op name=a start=110 dur=20 call=5 tid=1 host_start=90 host_dur=5
op name=b start=140 dur=10 call=6 tid=1 host_start=125 host_dur=10
op name=c start=155 dur=10 call=7 tid=1 host_start=148 host_dur=4
call call=8 start=160 dur=20 name=cudaStreamSynchronize class=sync blocking=1
op name=d start=200 dur=5 call=9 tid=1 host_start=190 host_dur=4
op name=e start=210 dur=5 call=10 tid=1 host_start=205 host_dur=4
op name=f start=220 dur=5 call=11 tid=2 host_start=210 host_dur=4
op name=f start=230 dur=5 call=12 tid=2 host_start=216 host_dur=4
op name=f start=240 dur=5 call=13 tid=3 host_start=220 host_dur=4
op name=f start=250 dur=5 call=14 tid=3 host_start=236 host_dur=4
op name=n start=300 dur=10 call=15 tid=1 host_start=290 host_dur=4 graph_node=1
op name=m start=312 dur=8 call=15 tid=1 host_start=290 host_dur=4 graph_node=2
op name=n start=315 dur=10 call=15 tid=1 host_start=290 host_dur=4 graph_node=3
op name=n start=400 dur=10 call=16 tid=1 host_start=390 host_dur=6 graph_node=1
op name=m start=410 dur=8 call=16 tid=1 host_start=390 host_dur=6 graph_node=2
op name=n start=420 dur=10 call=16 tid=1 host_start=390 host_dur=6 graph_node=3
op name=m start=500 dur=8 call=17 tid=1 host_start=440 host_dur=6 graph_node=7
op type=graph name=[CUDA~graph] start=600 dur=50 call=18 tid=1 host_start=560 host_dur=6
END_STREAM
# 640 is the time of the device, from 10 to 650.
equal 'by stretch: those that come twice' "$(launch stretches --by stretch | awk '{ $9 = sprintf("%.4f", $9); print }')" "a - 3 2 36 95 17 28 0.0266
f - 2 2 16 30 0 10 0.0000"
nsysx-launch -q --table --by stretch "$T/stretches" >"$T/got"
equal '... and what capture would save, in a sentence' "$(grep -c 'capturing these stretches would save 17 ns (2.7%), and at most 38 ns (5.9%), with the latency of launches, of 640 ns of devices from their first operation to their last' "$T/got")" 1
# Steps of decoding of 100 ns with a and b, 20 ns apart; the period of the second has another one of 1000 ns, so --cut drops it. What remains is
# [0,90), 10 to the end of its period, and [1200,1390): 60 of 290 ns are idle in stretches.
{
	echo 'device device=0 last=5000'
	n=0
	for t in 0 100 1200 1300 1400; do
		n=$((n + 1))
		echo "range range=$n tid=1 device=0 name=decode start=$t dur=90 host_start=$t host_dur=50"
		for o in 0:a:30 50:b:40; do
			at=$((t + ${o%%:*})) rest=${o#*:} call=$((n * 10 + ${o%%:*} / 50))
			echo "call call=$call tid=1 start=$at dur=0 name=cudaLaunchKernel class=launch ops=1"
			echo "op name=${rest%:*} device=0 start=$at dur=${rest#*:} call=$call tid=1 host_start=$at host_dur=0"
		done
	done
	echo 'range range=99 tid=1 device=0 name=mixed start=200 dur=990 host_start=200 host_dur=50'
	echo 'call call=99 tid=1 start=200 dur=0 name=cudaLaunchKernel class=launch ops=1'
	echo 'op name=c device=0 start=200 dur=990 call=99 tid=1 host_start=200 host_dur=0'
} | stream classes
nsysx-steps -q --cut --step '(decode|mixed)' "$T/classes" | nsysx-launch -q --table --by stretch >"$T/got"
equal '... of steps that were cut the time of these alone' "$(grep -c 'at most 60 ns (20.7%), with the latency of launches, of 290 ns of devices' "$T/got")" 1
equal 'by graph: replays, nodes, gaps inside, waiting for the launch' "$(launch stretches --by graph | sed 's/CUDA graph/CUDA_graph/' | awk '{ $9 = $9 == "-" ? "-" : sprintf("%.4f", $9); print }')" \
	"n 3 2 10 55 27.5 51 4 0.0727 110
[CUDA_graph] - 1 6 50 50 - - - 58
m 1 1 6 8 8 8 0 0.0000 16"
# nsysx-warmup removed what ran until 930 and 2980: no device waited for a launch then, that time is not the devices', and no stretch goes on over it. Twice
# a, b: of the idle [10,20) and [1010,1020) 6 before the launch of b had returned. The graph waits in [2980,2998).
(. "$tests_dir/streamlib.sh"; stream) >"$T/removed" <<'END'
#device device:i profile:i
device 0 0
#call profile:i call:i pid:i tid:i start:i dur:i name:s class:s ops:i
#op profile:i type:s device:i name:s start:i dur:i call:i tid:i host_start:i host_dur:i graph_node:i removed:i
call 0 1 1 1 0 1 cudaLaunchKernel launch 1
op 0 kernel 0 a 0 10 1 1 0 1 - -
op 0 kernel 0 b 20 10 2 1 12 4 - -
op 0 kernel 0 a 1000 10 3 1 940 20 - 70
op 0 kernel 0 b 1020 10 4 1 1012 4 - -
op 0 kernel 0 n 3000 10 9 1 2990 8 1 20
END
nsysx-launch -q --tsv --by graph "$T/removed" >"$T/got"
equal 'no graph waited for its launch while there was work that was removed' "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["name"], $at["starved"] }' "$T/got")" 'n 18'
nsysx-launch -q --tsv --by stretch "$T/removed" | cut -f 1,3,4,7-9 | sed 1d >"$T/got"
equal '... and time that was removed is not that of devices or stretches' "$(awk -F'\t' '{ printf "%s %s %s %s %s %.4f", $1, $2, $3, $4, $5, $6 }' "$T/got")" \
	"$(awk 'BEGIN { printf "a 2 2 12 20 %.4f", 12 / (3010 - (930 - 30) - (2980 - 1030)) }')"
nsysx-launch -q --tsv --by graph "$T/stretches" >"$T/got"
says 'a stream without graphs says so' 'no operation is of a CUDA graph' nsysx-launch --by graph "$T/sums"
says '... and one without repeated launches' 'no stretch of launches comes twice: without marks of steps' nsysx-launch --by stretch "$T/sums"
if [ -x "$SYNTH" ]; then
	"$SYNTH" -q -o "$T/short" --torch --shorter 100 --steps 8
	nsysx-extract -q -a "$T/short"/r?.sqlite | nsysx-steps -q --mark -o "$T/short.nsysx"
	for kind in op call step; do nsysx-view -t $kind "$T/short.nsysx" >"$T/short.$kind"; done
	python3 - "$T/short" >"$T/want" <<'END'
import collections, csv, sys
op, call, step = (list(csv.DictReader(open(f"{sys.argv[1]}.{k}"), delimiter="\t")) for k in ("op", "call", "step"))
same = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
for device in sorted({o["device"] for o in op}):
    steps = [int(s["start"]) for s in step if s["device"] == device]
    stretch, was, busy = [], None, None
    def close():
        if len(stretch) > 1:
            of = same[device, tuple(o["name"] for o, _, _ in stretch)]
            for i, v in enumerate((1, sum(int(o["host_dur"]) for o, _, _ in stretch),
                                   max(int(o["start"]) + int(o["dur"]) for o, _, _ in stretch) - int(stretch[0][0]["start"]),
                                   sum(s for _, s, _ in stretch[1:]), sum(i for _, _, i in stretch[1:]))):
                of[i] += v
        stretch.clear()
    for o in (o for o in op if o["device"] == device):
        at, end, launched = int(o["start"]), int(o["start"]) + int(o["dur"]), int(o["host_start"])
        idle = max(0, at - busy) if busy is not None else 0
        starved = max(0, min(at, launched + int(o["host_dur"])) - busy) if idle else 0
        thread = (o["profile"], o["tid"])
        if was and (was[0] != thread or any(was[1] < s <= at for s in steps)
                    or any((c["profile"], c["tid"]) == thread and c["blocking"] == "1" and was[2] < int(c["start"]) < launched for c in call)):
            close()
        stretch.append((o, starved, idle))
        was, busy = (thread, at, launched), max(busy or end, end)
    close()
rows = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
for (_, names), v in same.items():
    if v[0] > 1:
        for i, x in enumerate(v):
            rows[names][i] += x
for names, v in sorted(rows.items()):
    print(names[0], len(names), *v, sep="\t")
END
	nsysx-launch -q --tsv --by stretch "$T/short.nsysx" | awk -F'\t' -v OFS='\t' 'NR > 1 { print $1, $3, $4, $5, $6, $7, $8 }' | LC_ALL=C sort >"$T/got"
	LC_ALL=C sort -o "$T/want" "$T/want"
	ok 'a job whose kernels are too short has stretches that wait for launches' awk -F'\t' '{ s += $6 } END { exit !(NR > 1 && s > 10000) }' "$T/want"
	same '... those that are found one by one' "$T/got" "$T/want"
fi
done_testing
