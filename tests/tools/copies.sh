#!/bin/sh
# nsysx-copies: copies, what hides them, and rules. Random jobs: tests/tools/host.sh.
. "${0%/*}/../testlib.sh"

stream() { awk -f host/stream.awk >"$T/$1"; }
copies() {
	file=$1
	shift
	nsysx-copies -q --tsv "$@" "$T/$file" | awk -F'\t' 'NR > 1 { for (i = 1; i <= NF; i++) printf "%s%s", $i == "" ? "-" : $i, i < NF ? " " : "\n" }'
}

# h2d [0,100): hidden by kernels [20,30) and [25,50), and by [90,120): 40. h2d [200,300): not hidden. d2h [110,130), sync: [110,120), half of it.
# A copy that communicates hides p2p [400,410) and is not hidden by it; other copies hide nothing. A set in [500,510) within a graph.
stream mix <<'END_STREAM'
device device=0
device device=1
call call=1 start=0 dur=1 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=h2d src=pinned dst=device bytes=1000 start=0 dur=100 call=1 tid=1 host_start=0 host_dur=1
op name=k start=20 dur=10
op name=k start=25 dur=25 stream=2
op name=k start=90 dur=30
call call=2 start=2 dur=1 name=cuMemcpyHtoDASYNC class=copy ops=1
op type=memcpy name=h2d src=pinned dst=device bytes=500 start=200 dur=100 call=2 tid=1 host_start=2 host_dur=1
call call=3 start=3 dur=1 name=cudaMemcpy class=copy blocking=1 ops=1
op type=memcpy name=d2h src=device dst=pageable bytes=40 start=110 dur=20 call=3 tid=1 host_start=3 host_dur=1
op type=memcpy name=p2p bytes=8 start=400 dur=10
op type=memcpy name=send bytes=8 start=404 dur=4 comm=1 stream=3
op type=memcpy name=p2p bytes=8 start=400 dur=10 device=1
op type=memcpy name=p2p bytes=8 start=405 dur=10 device=1
call call=4 start=450 dur=1 name=cudaGraphLaunch class=graph-launch ops=2
op type=memset name=set dst=device bytes=64 start=500 dur=10 call=4 tid=1 host_start=450 host_dur=1 graph_node=1
op type=graph name=g start=505 dur=10
END_STREAM
equal 'copies' "$(copies mix)" 'h2d pinned device async 2 1500 200 7.5 0.2
p2p - - - 3 24 30 0.8 0.13333333333333333
d2h device pageable sync 1 40 20 2 0.5
set - device async 1 64 10 6.4 0.5
send - - - 1 8 4 2 0'
stream sizes <<'END_STREAM'
device device=0
op type=memcpy name=c bytes=4096 start=0 dur=1
op type=memcpy name=c bytes=4097 start=10 dur=1
op type=memcpy name=c bytes=65536 start=20 dur=1
op type=memcpy name=c bytes=1048577 start=30 dur=1
op type=memcpy name=c bytes=268435456 start=40 dur=1
op type=memcpy name=c bytes=268435457 start=50 dur=1
op type=memcpy name=b bytes=1048576 start=60 dur=0
END_STREAM
equal 'by size: each bound belongs to the smaller class' "$(nsysx-copies -q --tsv --by size "$T/sizes" | sed 1d | cut -f 1,5-8 | tr '\t' ' ')" 'b 1 MiB 1 1048576 0
c 4 KiB 1 4096 1
c 64 KiB 2 69633 2
c 16 MiB 1 1048577 1
c 256 MiB 1 268435456 1
c more 1 268435457 1'
equal 'a copy of duration 0 has no rate and no share' "$(nsysx-copies -q --tsv --by size "$T/sizes" | sed -n 2p | cut -f 9-)" '	'

# ---- rules

stream rules <<'END_STREAM'
device device=0
call call=1 start=0 dur=1 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=[CUDA~memcpy~Host-to-Device] src=pageable dst=device bytes=10 start=10 dur=5 call=1 tid=1 host_start=0 host_dur=1
call call=2 start=1 dur=1 name=cuMemcpyDtoHAsync class=copy ops=1
op type=memcpy name=[CUDA~memcpy~Device-to-Host] src=device dst=pageable bytes=20 start=20 dur=9 call=2 tid=1 host_start=1 host_dur=29
call call=3 start=2 dur=1 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=[CUDA~memcpy~Host-to-Device] src=pinned dst=device bytes=10 start=30 dur=5 call=3 tid=1 host_start=2 host_dur=1
call call=4 start=3 dur=1 name=cudaMemcpy class=copy blocking=1 ops=1
op type=memcpy name=[CUDA~memcpy~Host-to-Device] src=pageable dst=device bytes=64000 start=40 dur=5 call=4 tid=1 host_start=3 host_dur=1
call call=5 start=4 dur=1 name=cudaMemcpy class=copy blocking=1 ops=1
op type=memcpy name=[CUDA~memcpy~Host-to-Device] src=pageable dst=device bytes=64001 start=50 dur=5 call=5 tid=1 host_start=4 host_dur=1
call call=6 start=5 dur=1 name=cudaMemcpy class=copy blocking=1 ops=1
op type=memcpy name=[CUDA~memcpy~Device-to-Device] src=device dst=device bytes=99999 start=60 dur=5 call=6 tid=1 host_start=5 host_dur=1
call call=7 start=6 dur=1 name=cudaMemset class=set ops=1
op type=memset name=[CUDA~memset] dst=managed bytes=7 start=70 dur=5 call=7 tid=1 host_start=6 host_dur=1
call call=8 start=7 dur=1 name=cudaMemset class=set ops=1
op type=memset name=[CUDA~memset] dst=device bytes=7 start=80 dur=5 call=8 tid=1 host_start=7 host_dur=1
call call=9 start=8 dur=1 name=someMemcpy class=copy ops=1
op type=memcpy name=[CUDA~memcpy~Device-to-Host] src=device dst=pageable bytes=7 start=90 dur=5 call=9 tid=1 host_start=8 host_dur=1
END_STREAM
equal 'findings: the longest first, equal ones by rule' "$(copies rules --findings)" 'memcpy-async-pageable 1 0 20 9 20 device pageable cuMemcpyDtoHAsync 29
memcpy-async-pageable 1 0 10 5 10 pageable device cudaMemcpyAsync 1
memcpy-sync 1 0 50 5 64001 pageable device cudaMemcpy 1
memset-sync 1 0 70 5 7 - managed cudaMemset 1'

# By the last rule the longest; then two of a thousandth of all time, and one of less.
stream costs <<'END_STREAM'
device device=0
call call=1 start=0 dur=1 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=[CUDA~memcpy~Host-to-Device] src=pageable dst=device bytes=8 start=10 dur=999 call=1 tid=1 host_start=0 host_dur=1
call call=2 start=1 dur=1 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=[CUDA~memcpy~Host-to-Device] src=pageable dst=device bytes=8 start=2000 dur=1000 call=2 tid=1 host_start=1 host_dur=1
call call=3 start=2 dur=1 name=cudaMemset class=set ops=1
op type=memset name=[CUDA~memset] dst=managed bytes=7 start=4000 dur=997001 call=3 tid=1 host_start=2 host_dur=1
call call=4 start=3 dur=1 name=cudaMemcpyAsync class=copy ops=1
op type=memcpy name=[CUDA~memcpy~Host-to-Device] src=pageable dst=device bytes=8 start=2000000 dur=1000 call=4 tid=1 host_start=3 host_dur=1
END_STREAM
equal '... also of different rules' "$(copies costs --findings | cut -d ' ' -f 1,5)" 'memset-sync 997001
memcpy-async-pageable 1000
memcpy-async-pageable 1000
memcpy-async-pageable 999'
equal 'an aligned table counts those below a thousandth of the time of copies' "$(nsysx-copies -q --findings --table "$T/costs" | sed 1d | grep -c '^mem') $(nsysx-copies -q --findings --table "$T/costs" | grep -F more)" '3 1 more of less than 0.1% of the time of copies each, 0.0999% together: --top 0'
equal 'people see that the column gbps is of bytes' "$(nsysx-copies -q --table "$T/costs" | head -n 1 | grep -o ' GB/s') $(nsysx-copies -q --tsv "$T/costs" | head -n 1 | grep -o gbps)" ' GB/s gbps'
equal '... and has all with --top 0' "$(nsysx-copies -q --findings --table --top 0 "$T/costs" | grep -c '^mem')" 4

# ---- incomplete and unusual streams

{ echo 'device device=0'; echo 'op type=memcpy name=c start=0 dur=1'; echo 'op type=memcpy name=c start=5'; echo 'op name=k start=6'; } | stream timeless
says 'operations without a duration are counted' 'operations without a start or duration: ignored (2)' nsysx-copies "$T/timeless"

grep -v '^call' "$T/mix" >"$T/silent"
equal 'without calls the mode is absent, except for graphs' "$(copies silent | cut -d ' ' -f 1,4)" 'h2d -
p2p -
d2h -
set async
send -'
says '... a warning' 'no CUDA calls in the stream' nsysx-copies "$T/silent"
stream late <<'END_STREAM'
device device=0
op type=memcpy name=c bytes=10 start=0 dur=10 call=1 tid=1 host_start=5 host_dur=5
call call=1 start=5 dur=5 name=cudaMemcpy class=copy blocking=1 ops=1
END_STREAM
equal 'a copy that starts before its call has no mode' "$(copies late | cut -d ' ' -f 1-6)" 'c - - - 1 10'
says '... a warning' 'copies that start before their call' nsysx-copies "$T/late"
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
for option in '--by size' --findings; do
	# shellcheck disable=SC2086  # two words
	says "an empty stream, $option" 'no operations in the stream' nsysx-copies $option "$T/empty"
	equal '... only a header' "$(wc -l <"$T_private/out" | tr -d ' ')" 1
done
fails 'a stream cut short' 1 'nsysx-copies: ' sh -c 'sed \$d "$T/mix" | nsysx-copies'
fails 'an unknown --by' 2 '--by' nsysx-copies --by zz "$T/mix"
fails 'findings by size' 2 'exclude each other' nsysx-copies --by size --findings "$T/mix"
done_testing
