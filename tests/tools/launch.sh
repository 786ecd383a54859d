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
says 'kernels without a call are counted' 'kernels whose call is not in the export: not counted' nsysx-launch -v "$T/sums"

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
done_testing
