#!/bin/sh
# nsysx-extract on traces of PyTorch's profiler (Kineto): rows of a trace written by hand, whose answer is beside it, the forms that a file may have,
# every way of being cut, and what is absent.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# Two processes' worth of trouble in one: base 10^18 ns, the first row at 2000.000 us. Events in no order; numbers are their positions.
cat >"$T/hand.json" <<'END'
{"schemaVersion": 1, "host_name": "secret", "deviceProperties": [{"id": 3, "name": "NVIDIA X", "numSms": 7, "computeMajor": 9, "computeMinor": 0}, {"id": 0, "name": "unused"}],
 "cupti_version": 26, "distributedInfo": {"rank": 5, "world_size": 8}, "baseTimeNanoseconds": 1000000000000000000, "traceEvents": [
 {"ph": "X", "cat": "kernel", "name": "k\u00e4se \ud83d\ude00 \"a\\b\"", "pid": 3, "tid": 7, "ts": 2100.5, "dur": 10.25, "args": {"device": 3, "stream": 7, "correlation": 11, "grid": [1, 1, 1]}},
 null,
 {"name": "cudaLaunchKernel", "args": {"correlation": 11}, "dur": 5.001, "ts": 2010.000, "tid": 100, "pid": 42, "cat": "cuda_runtime", "ph": "X"},
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 42, "tid": 100, "ts": 2005, "dur": 50, "args": {"External id": 1, "x": {"y": ["}]", 1]}, "Sequence number": 0, "Input Dims": [[2,3], [], [
[4], [ 5,6 ]]]}},
 {"ph": "X", "cat": "user_annotation", "name": "step 1", "pid": 42, "tid": 100, "ts": 2000.000, "dur": 1000},
 {"ph": "X", "cat": "kernel", "name": "orphan", "pid": 3, "tid": 7, "ts": 2200, "dur": 0, "args": {"device": 3, "stream": 7, "correlation": 99}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 3, "tid": 8, "ts": 2.3e3, "dur": 1.0009, "args": {"device": 3, "stream": 8, "correlation": 12, "bytes": 64}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 42, "tid": 100, "ts": 2060, "dur": 3, "args": {"correlation": 12}},
 {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 3, "tid": 7, "ts": 2400, "dur": 1, "args": {"device": 3, "stream": 7, "correlation": 13, "bytes": 32}},
 {"ph": "X", "cat": "cuda_driver", "name": "hipExtModuleLaunchKernel", "pid": 42, "tid": 101, "ts": 2390, "dur": 2, "args": {"correlation": 13}},
 {"ph": "X", "cat": "overhead", "name": "Command Buffer Full", "pid": -1, "tid": 0, "ts": 2012, "dur": 2},
 {"ph": "X", "cat": "python_function", "name": "/home/secret/train.py(7): a/b", "pid": 42, "tid": 100, "ts": 2004, "dur": 60},
 {"ph": "X", "cat": "python_function", "name": "nowhere", "pid": 0, "tid": 0, "ts": 2004, "dur": 60},
 {"ph": "X", "cat": "gpu_user_annotation", "name": "step 1", "pid": 3, "tid": 7, "ts": 1000, "dur": 9999},
 {"ph": "s", "id": 11, "pid": 42, "tid": 100, "ts": 1, "cat": "ac2g", "name": "ac2g"}, 7,
 {"ph": "X", "cat": "kernel", "name": "bad", "pid": 3, "tid": 7, "ts": "soon", "dur": 1},
 {"ph": "X", "cat": "mtia_x", "name": "other", "pid": 3, "tid": 7, "ts": 1, "dur": 1}
 ], "traceName": "/home/secret/t.json"}
END
nsysx-extract -q -a "$T/hand.json" >"$T/hand.nsx"

equal 'operations: times to the ns, their call and range, memory, position as id' "$(columns op op type device stream start dur call tid range bytes src dst name <"$T/hand.nsx")" \
	'0 kernel 5 7 100500 10250 2 100 3 - - - käse 😀 "a\\b"
5 kernel 5 7 200000 0 - - - - - - orphan
6 memcpy 5 8 300000 1000 7 100 4 64 device pageable [CUDA memcpy Device-to-Host]
8 memset 5 7 400000 1000 9 101 - 32 - device [CUDA memset]'
equal 'ranges: the annotation around both, its span, and kinds' "$(columns range range parent level pid tid name start dur host_start host_dur ops kind <"$T/hand.nsx")" \
	'4 - 0 42 100 step 1 100500 200500 0 1000000 2 annotation
3 4 1 42 100 aten::mm 100500 10250 5000 50000 1 op'
equal '... with the number and the sizes of an operator' "$(columns range name seq sizes <"$T/hand.nsx")" 'step 1 - -
aten::mm 0 [[2, 3], [], [[4], [5, 6]]]'
equal 'calls, HIP among them' "$(columns call call tid start dur name class ops range blocking stalled loading <"$T/hand.nsx")" \
	'2 100 10000 5001 cudaLaunchKernel launch 1 3 - - -
7 100 60000 3000 cudaMemcpyAsync copy 1 4 1 - -
9 101 390000 2000 hipExtModuleLaunchKernel launch 1 - - - -'
equal 'an overhead has no thread' "$(columns overhead start dur class pid tid name <"$T/hand.nsx")" '12000 2000 queue-full - - Command Buffer Full'
equal 'the device has the number of the rank' "$(columns device device process local cuda pid name known sms clock mem_bandwidth cc <"$T/hand.nsx")" '5 5 3 3 42 NVIDIA X 1 7 - - 90'
equal 'the profile: UTC of the first row, nothing private' "$(columns profile name host product schema start_utc <"$T/hand.nsx")" 'hand - PyTorch Kineto (cupti 26) kineto 1 1000000000002000000'
equal '... the host where it is asked for' "$(nsysx-extract -q --host "$T/hand.json" | columns profile host)" secret
equal 'no private text in the stream' "$(grep -c secret "$T/hand.nsx")" 0
equal 'diags: what was dropped, and what is not recorded' "$(columns diag severity count text <"$T/hand.nsx" | sort)" \
	"info 1 PyTorch's profiler does not record, and these columns are empty: waits of operations, time that calls lose to a full queue and to loading code, threads of overheads, clocks and bandwidths of GPUs
info 1 events ignored: of category 'mtia_x'
info 2 Python functions ignored: --python keeps them as ranges
warning 1 events ignored: a time is missing, not a number, or negative
warning 1 kernels whose call is not in the trace: they belong to no range"
equal 'Python functions on request, which no process 0 has' "$(nsysx-extract -q -a --python --strip-paths "$T/hand.json" | columns range range parent kind name | sort -n)" \
	'3 11 op aten::mm
4 - annotation step 1
11 4 python train.py(7): a/b'
equal '... and with them times are the same' "$(nsysx-extract -q --ops --python "$T/hand.json" | columns op op start)" "$(columns op op start <"$T/hand.nsx")"
equal 'without ranges operations are the same' "$(nsysx-extract -q --ops "$T/hand.json" | nsysx-view -q -t op)" "$(nsysx-view -q -t op "$T/hand.nsx")"
equal 'nsysx-launch: what is not known is empty' "$(nsysx-launch -q --tsv "$T/hand.nsx" | cut -f 1-3,9-10 | rounded)" 'name kernels calls stalled loading
käse_😀_"a\\b" 1 1 - -'

# ---- forms of a file

same_rows() {
	claim=$1
	shift
	alike "$claim" "$("$@" 2>&1 | sed 's/^\(profile.[0-9]*\).[^	]*/\1/; s/^\(diag.[a-z]*\).[^	]*/\1/')" \
		"$(sed 's/^\(profile.[0-9]*\).[^	]*/\1/; s/^\(diag.[a-z]*\).[^	]*/\1/' "$T/hand.nsx")"
}
gzip -c "$T/hand.json" >"$T/one.json.gz"
{ head -c 900 "$T/hand.json" | gzip -c; tail -c +901 "$T/hand.json" | gzip -c; } >"$T/two.gz"
same_rows gzip nsysx-extract -q -a "$T/one.json.gz"
same_rows 'gzip of two members, with one thread' nsysx-extract -q -a -j 1 "$T/two.gz"
same_rows 'a pipe' sh -c 'nsysx-extract -q -a - <"$T/hand.json"'
same_rows 'a pipe of gzip' sh -c 'cat "$T/two.gz" | nsysx-extract -q -a -'
tr '\n' ' ' <"$T/hand.json" >"$T/line"
same_rows 'one line' nsysx-extract -q -a "$T/line"
sed '1,/traceEvents/d; s/^ \], "traceName.*/]/' "$T/hand.json" | { echo '['; cat; } >"$T/bare.json"
equal 'a bare array has no base, rank or GPU names' "$(nsysx-extract -q -a "$T/bare.json" | columns op op device start dur call range; nsysx-extract -q "$T/bare.json" | columns profile start_utc)" \
	'0 0 100500 10250 2 3
5 0 200000 0 - -
6 0 300000 1000 7 4
8 0 400000 1000 9 -
2000000'
# The header behind the events, as when profiling was asked for while the job ran.
sed -n '1,2p' "$T/hand.json" | sed 's/^{/,/; s/, "traceEvents.*/}/' >"$T/behind"
{ echo '{"traceEvents":'; cat "$T/bare.json" "$T/behind"; } >"$T/late.json"
same_rows 'a header behind the events' nsysx-extract -q -a "$T/late.json"

# ---- cuts: every one is refused, with the name of the file, and leaves nothing

printf '{"a": [1, "x"], "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a\\"b", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2e0, "args": {"q": [true]}}, null], "b": {"c": 1.25}}' >"$T/small.json"
ok 'a small trace' nsysx-extract -q -a "$T/small.json"
cut_all() {
	bytes=$(wc -c <"$1") i=1 wrong=
	while [ "$i" -lt "$bytes" ]; do
		head -c "$i" "$1" >"$T/cut"
		nsysx-extract -q -a -o "$T/none" "$T/cut" 2>"$T/said" && wrong="$wrong $i"
		[ "$(grep -c "$T/cut: " "$T/said")" -eq 1 ] && [ ! -e "$T/none" ] || wrong="$wrong $i"
		i=$((i + 1))
	done
	echo "$bytes:$wrong"
}
equal 'text cut at each byte' "$(cut_all "$T/small.json")" "$(wc -c <"$T/small.json"):"
gzip -nc "$T/small.json" >"$T/small.gz"
equal 'gzip cut at each byte' "$(cut_all "$T/small.gz")" "$(wc -c <"$T/small.gz"):"
head -c 60 "$T/small.json" >"$T/in_event"
fails 'a cut names the byte' 1 "$T/in_event: byte 60: the JSON text ends inside an event: the trace was cut off" nsysx-extract -a "$T/in_event"
head -c 100 "$T/small.gz" >"$T/in_gzip"
fails 'cut gzip' 1 "of text: the file was cut off" nsysx-extract -a "$T/in_gzip"
{ cat "$T/small.json"; echo '{}'; } >"$T/more"
fails 'text behind the end' 1 "$T/more: byte 168: text after the end of the trace" nsysx-extract -a "$T/more"
sed 's/, null\]/; null]/' "$T/small.json" >"$T/semicolon"
fails 'not JSON' 1 "$T/semicolon: byte 142: not JSON: want ',' or ']', got ';'" nsysx-extract -a "$T/semicolon"
sed 's/"ts": 1.5/"ts" 1.5/' "$T/small.json" >"$T/colon"
fails 'not JSON in an event' 1 "not JSON: want" nsysx-extract -a "$T/colon"
printf '{"traceEvents": 7}' >"$T/seven"
fails 'no list of events' 1 "want '[' after traceEvents, got '7'" nsysx-extract -a "$T/seven"

# ---- foreign files

printf '{"schema": "1.0.1", "nodes": []}' >"$T/et.json"
fails 'an execution trace' 1 'JSON, but not a trace: no traceEvents; this looks like an execution trace' nsysx-extract "$T/et.json"
printf '{"rocprofiler-sdk-tool": []}' >"$T/rocprof.json"
fails 'what rocprofv3 writes' 1 "rocprofv3's JSON is not supported" nsysx-extract "$T/rocprof.json"
printf '{"a": 1}' >"$T/other.json"
fails 'other JSON' 1 "$T/other.json: JSON, but not a trace: no traceEvents" nsysx-extract "$T/other.json"
printf '{"traceEvents": [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}, {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "name": "x"}]}' >"$T/xprof.json"
fails 'a trace of XProf' 1 'a trace that XProf wrote for its viewer' nsysx-extract "$T/xprof.json"
: >"$T/empty"
fails 'an empty file' 1 "$T/empty: empty" nsysx-extract "$T/empty"
echo hello | gzip -c >"$T/hello.gz"
fails 'another file in gzip' 1 "$T/hello.gz: not a profile that nsysx reads" nsysx-extract "$T/hello.gz"
fails 'an export through a pipe' 1 'stdin: an export is read in several places at once' sh -c 'printf "SQLite format 3\0 and more" | nsysx-extract -'
deep=$(printf '%0100d' 0 | tr 0 '[')
printf '{"traceEvents": [%s' "$deep" >"$T/deep"
fails 'nested too deep' 1 "$T/deep: byte 81: not JSON" nsysx-extract "$T/deep"

mkdir "$T/dump"
says 'dumps are ignored' 'HLO dumps ignored' nsysx-extract -o "$T/none" -x "$T/dump" "$T/hand.json"

# ---- times

one() { printf '[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":%s,"dur":%s},{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":0,"dur":0}]' "$1" "$2" >"$T/one"
	nsysx-extract -q -a "$T/one" 2>&1 | columns range name host_start host_dur | sed -n 's/^a //p'; }
equal 'microseconds are read as decimal digits' "$(one 1712867402348256.123 4; one 1.5e3 0.001; one 12E-1 2.0009; one '"7.25"' 1; one 4503599627370497 1)" '1712867402348256123 4000
1500000 1
1200 2000
7250 1000
4503599627370497000 1000'
equal 'what is no time is dropped' "$(one 1e30 1; one 5e15 1; one -5e15 1; one 1 5e15; one -- 1; one 1 -1; one nan 1; one 1 inf; one . 1; one '1.' 1)" '1000 1000'
says 'whole microseconds are told' 'times are whole microseconds' nsysx-extract -a "$T/one"

# ---- CUDA graphs, waits, threads

{
	echo '['
	echo '{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":10,"dur":1,"args":{"correlation":1}},'
	echo '{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":30,"dur":1,"args":{"device":0,"stream":7,"correlation":1}},'
	echo '{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":20,"dur":1,"args":{"device":0,"stream":7,"correlation":1}},'
	echo '{"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":40,"dur":1,"args":{"device":0,"stream":7,"correlation":1,"graph node id":77}},'
	echo '{"ph":"X","cat":"cuda_runtime","name":"cudaStreamWaitEvent","pid":1,"tid":1,"ts":50,"dur":1,"args":{"correlation":2}},'
	echo '{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":50,"dur":1,"args":{"cuda_sync_kind":"Stream Wait Event","device":0,"stream":7,"correlation":2}},'
	echo '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":99999999999,"ts":60,"dur":1,"args":{"correlation":3}},'
	echo '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":61,"dur":1,"args":{"correlation":3}},'
	echo '{"ph":"X","cat":"kernel","name":"d","pid":0,"tid":7,"ts":70,"dur":1,"args":{"device":0,"stream":7,"correlation":3}}]'
} >"$T/graph.json"
nsysx-extract -q -a "$T/graph.json" >"$T/graph.nsx"
equal 'nodes get numbers by start; the wait belongs to the next operation; the first of two calls launched' \
	"$(columns op name graph_node waits call <"$T/graph.nsx")" 'a 1 0 0
b 2 0 0
c 77 0 0
d - 1 6'
equal 'a thread of more than 24 bits has a number of its own' "$(columns op name tid <"$T/graph.nsx" | grep d)" "d $((1 << 23))"
says '... and diags say so' 'calls that share a correlation id with an earlier one' sh -c 'nsysx-extract -q -a "$T/graph.json" | nsysx-view -t diag >&2'

# ---- communication: two ranks, a group of 3 whose list the events cut, a transfer

rank() {
	echo '{"traceEvents": ['
	at=100
	while read -r name collective in out size type group ranks more; do
		[ "$at" -gt 100 ] && echo ,
		printf '{"ph":"X","cat":"kernel","name":"ncclDevKernel_%s(x)","pid":0,"tid":9,"ts":%s,"dur":5,"args":{"device":0,"stream":9,"Collective name":"%s","In msg nelems":%s,"Out msg nelems":%s,"Group size":%s,"dtype":"%s","Process Group Name":"%s","Process Group Description":"mesh_%s","Process Group Ranks":"%s"%s}}' \
			"$name" "$at" "$collective" "$in" "$out" "$size" "$type" "$group" "$group" "$ranks" "$more"
		at=$((at + 10))
	done <<-END
		AllReduce_Sum_bf16_RING_LL allreduce 10 10 2 BFloat16 0 [0,1]
		ReduceScatter_Sum_f32_RING_LL _reduce_scatter_base 30 10 3 Float big [0,1,...]
		AllGather_RING_LL allgather_into_tensor_coalesced 4 8 2 Float8_e4m3fn 0 [0,1]
		SendRecv send 5 5 2 Int 0 [0,1] ,"Src_Rank":$1,"Dst_Rank":$2
		Broadcast_RING_LL wait 1 1 2 Quux 0 [0,1]
	END
	printf '], "distributedInfo": {"rank": %s, "pg_config": [{"pg_name": "big", "ranks": [0, 1, 7]}, {"pg_name": "0", "ranks": "[0, 1]"}]}}' "$1"
}
for r in 0 1; do rank $r $((1 - r)) | sed 's/_Rank/ Rank/g' >"$T/rank$r.json"; nsysx-extract -q -a "$T/rank$r.json" >"$T/rank$r.nsx"; done
rank 1 1 | sed 's/_Rank/ Rank/g; s/"send"/"recv"/; s/"Src Rank":1/"Src Rank":0/' >"$T/recv1.json"
equal 'kinds, sizes and groups of the arguments' "$(columns op comm collective bytes group calls pair <"$T/rank0.nsx")" '1 all-reduce 20 2 1 -
1 reduce-scatter 40 3 1 -
1 all-gather 4 2 - -
1 send-recv 20 2 1 0-1
1 broadcast - 2 1 -'
equal 'a receiver has the same pair' "$(nsysx-extract -q -a "$T/recv1.json" | columns op collective pair | grep send)" 'send-recv 0-1'
alike 'groups are the same in both ranks' "$(columns op comm_id <"$T/rank0.nsx")" "$(columns op comm_id <"$T/rank1.nsx")"
equal 'places in them' "$(for r in 0 1; do columns communicator device rank ranks <"$T/rank$r.nsx" | sort; done)" '0 0 2
0 0 3
1 1 2
1 1 3'
equal 'what the framework calls them' "$(columns communicator ranks name <"$T/rank0.nsx" | sort)" '2 mesh_0
3 mesh_big'
equal '... on axes, after merging' "$(nsysx-merge -q "$T/rank0.nsx" "$T/rank1.nsx" | nsysx-align -q | nsysx-collectives -q --summary --by axis --tsv | cut -f 1-2 | sed 1d | sort | tr '\n\t' '| ')" 'all mesh_0|group(3) mesh_big|'
sed 's/mesh_0/undefined/g' "$T/rank0.json" >"$T/nameless.json"
equal '... and not what PyTorch calls those without a name' "$(nsysx-extract -q -a "$T/nameless.json" | columns communicator ranks name | sort)" '2 -
3 mesh_big'
equal 'instances over both' "$(nsysx-merge -q "$T/rank0.nsx" "$T/rank1.nsx" | nsysx-align -q | nsysx-collectives -q --instances --tsv | cut -f 1-12 | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["collective"] == "all-reduce" { print $at["ranks"], $at["bytes"] }')" '2 20'
equal 'two ranks in one command' "$(nsysx-extract -q --ops "$T/rank1.json" "$T/rank0.json" | columns op device name | sort | uniq -c | awk '{ print $1, $2 }' | sort | uniq -c | awk '{ print $1, $2, $3 }')" '5 1 0
5 1 1'

# ---- steps: annotations, never operators

{
	echo '['
	for i in 0 1 2 3; do
		echo "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#$i\",\"pid\":1,\"tid\":1,\"ts\":$((100 * i)),\"dur\":90},"
		echo "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":$((100 * i + 5)),\"dur\":20},"
		echo "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":$((100 * i + 10)),\"dur\":1,\"args\":{\"correlation\":$((i + 1))}},"
		echo "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":$((100 * i + 20)),\"dur\":50,\"args\":{\"device\":0,\"stream\":7,\"correlation\":$((i + 1))}}$([ $i = 3 ] || echo ,)"
	done
	echo ']'
} >"$T/steps.json"
equal 'steps are found without an option' "$(nsysx-extract -q -a "$T/steps.json" | nsysx-steps -q --tsv | cut -f 1-2 | rounded)" 'class device
ProfilerStep## 0'
nsysx-prepare -q -o "$T/job.nsysx" "$T/steps.json"
equal 'it takes two commands, as for a report: a step each 100 us, of 50 us of kernels' \
	"$(nsysx-diagnose -q --tsv --where "$T/job.nsysx" | awk -F'\t' '$1 == "step" || $1 == "compute" { print $1, $6 }' | tr '\n' ' ')" 'step 100000 compute 50000 '
sed 's/ProfilerStep#[0-9]/x/; s/user_annotation/cpu_op/' "$T/steps.json" >"$T/ops.json"
equal 'operators are no steps' "$(nsysx-extract -q -a "$T/ops.json" | nsysx-steps -q --tsv | tail -n +2)" ''
done_testing
