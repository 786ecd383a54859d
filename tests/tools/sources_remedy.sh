#!/bin/sh
# What to do about what a stream does not have is in the words of the profiler that it is from.
. "${0%/*}/../testlib.sh"

# Kernels of NCCL without arguments and without calls, an annotation that launches nothing.
for rank in 0 1; do
	cat >"$T/r$rank.json" <<END
{"schemaVersion": 1, "distributedInfo": {"rank": $rank}, "baseTimeNanoseconds": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "mine", "pid": 4, "tid": 4, "ts": 10, "dur": 90},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 7, "ts": 50, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 8}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 200, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 9}}]}
END
	nsysx-extract -q -a "$T/r$rank.json" | nsysx-overlap -q -o "$T/r$rank"
done
nsysx-merge -q -o "$T/kineto" "$T/r0" "$T/r1"
printf '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 4, "tid": 4, "ts": 10, "dur": 90}]}' >"$T/cpu.json"
nsysx-extract -q -a -o "$T/idle" "$T/cpu.json"
sed 's/	kineto 1	/	xspace	/' "$T/kineto" >"$T/xspace"
sed 's/	kineto 1	/	3.13.1	/' "$T/kineto" >"$T/nsys"
sed 's/^\(profile	1	.*\)	kineto 1	/\1	3.13.1	/' "$T/kineto" >"$T/mixed"
# said STREAM: all that tools say of it.
said() {
	nsysx-diagnose --markdown "$1"
	nsysx-stragglers --waits "$1"
	nsysx-collectives --summary --by axis --table "$1"
	nsysx-summary --metrics "$1"
	nsysx-idle --table "$1"
	nsysx-launch "$1"
	nsysx-copies "$1"
	nsysx-steps "$1"
	nsysx-whatif "$1"
	nsysx-roofline "$1"
}
words='nsys profile|nsys export|--trace=|--include-blobs'
for source in kineto xspace nsys mixed; do
	said "$T/$source" >"$T/$source.said" 2>&1
done
said "$T/idle" >"$T/idle.said" 2>&1
equal 'of an export: the options of nsys' "$(grep -oE "$words" "$T/nsys.said" | sort -u | tr '\n' ' ')" '--include-blobs --trace= nsys export nsys profile '
equal 'so of a stream of several' "$(grep -cE "$words" "$T/mixed.said")" "$(grep -cE "$words" "$T/nsys.said")"
for source in kineto xspace idle; do
	equal "of $source: none of these" "$(grep -E "$words" "$T/$source.said")" ''
done
for what in 'ProfilerActivity.CPU' 'records none; nsysx-record' 'from 2024 on'; do
	ok "of a trace: $what" grep -q "$what" "$T/kineto.said"
done
ok 'of a trace without work on a GPU: ProfilerActivity.CUDA' grep -q 'no GPU work in the stream: profile with ProfilerActivity.CUDA' "$T/idle.said"
for what in 'host.*_tracer.*_level' 'records none; nsysx-record' 'of instructions only'; do
	ok "of an XSpace: $what" grep -q "$what" "$T/xspace.said"
done
for source in kineto xspace nsys; do
	ok "ranges of $source: how each profiler records them" sh -c 'nsysx-summary --by range "$1" 2>&1 | grep -q "nsys --trace=cuda,nvtx; torch.profiler.record_function; jax.profiler.TraceAnnotation"' sh "$T/$source"
done
# Not known is not 0.
for source in kineto xspace; do
	equal "of $source: time that calls lose is not known" "$(nsysx-launch -q --tsv "$T/$source" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $(at["stalled"]) $(at["loading"]) }' | sort -u)" ''
	equal "of $source: waits of operations are not known" "$(nsysx-view -q -t op "$T/$source" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $(at["waits"]) }' | sort -u)" ''
done
done_testing
