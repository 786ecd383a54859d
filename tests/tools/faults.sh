#!/bin/sh
# Each system call that may fail fails in turn: a tool gives the same bytes as without faults, or status 1, a message
# and no file with the name of its output. A sample of calls; all of them with FAULTS=all (make faults).
. "${0%/*}/../testlib.sh"

shim=$B/tests/fault/shim.so
if grep -qa -e __asan_init -e __tsan_init "$B/bin/nsysx-view"; then
	skip_all 'a sanitizer has an allocator of its own'
fi
# Calls 1 .. dense fail in turn, then each of a stride.
dense=40 stride=97
[ "${FAULTS-}" = all ] && dense=1000000 stride=1

"$SYNTH" -o "$T/job" --steps 2 --layers 1 || exit 1
"$SYNTH" -o "$T/xz" --steps 2 --layers 1 --dumps xz --titles 2026 --schema 3.24.14 --payloads=detailed --autotune || exit 1
zstd -q --rm "$T/xz/r0.sqlite" || exit 1
"$SYNTH" -o "$T/nccl" --steps 2 --nccl --titles 2026 --schema 3.28.1 --one-export || exit 1
"$SYNTH" -o "$T/torch" --steps 2 --torch --schema 3.28.1 || exit 1
awk -v steps=4 -f host/steps.awk | awk -f host/stream.awk >"$T/host.tsv"
cd "$T" || exit 1
nsysx-extract -q -x job/dump0 -o s0.tsv job/r0.sqlite
nsysx-extract -q -x job/dump1 -b -z -o s1.nsysx job/r1.sqlite
nsysx-extract -q --ranges=all --ops -x job/dump0 -o job.tsv job/r0.sqlite -x job/dump1 job/r1.sqlite
nsysx-extract -q -b -z -x job/dump0 -o job.nsysx job/r0.sqlite -x job/dump1 job/r1.sqlite
nsysx-align -q job.tsv | nsysx-overlap -q -o over.tsv
nsysx-align -q job.nsysx | nsysx-overlap -q -b -z -o over.nsysx
nsysx-align -q --estimate -o clocks.tsv job.tsv
nsysx-fold -q -o over.folded over.nsysx
# A stream with a diag at the end.
awk -F'\t' -v OFS='\t' '$1 == "module" { $7 = "" } 1' job.tsv >timeless.tsv
python3 -c 'import struct, sys
sys.stdout.buffer.write(struct.pack("<11I", 1, 0, 8, 0, 100, 1, 150, 0x80000001, 250, 0x80000000, 300))' >mosaic.bin
printf '0\tload\n1\tmma\n' >names
mkdir sweep

# sweeps 'CLASS...' [-i FILE | -p FILE] [-m FILE] [-s STRIDE] [-o | -w] COMMAND...
sweeps() {
	classes=$1
	shift
	how=
	while case $1 in -i | -p | -m | -s) how="$how $1 $2"; shift 2 ;; -o | -w) how="$how $1"; shift ;; *) false ;; esac; do :; done
	for class in $classes; do
		# shellcheck disable=SC2086  # words
		run "$B/tests/fault/sweep" -d "$dense" -s "$stride" $how "$shim" "$T/sweep" "$class" "$@"
		if [ "$status" -eq 0 ]; then
			pass "$class: $*$how: $(cat "$T_private/out")"
		else
			fail "$class: $*$how" "$(cat "$T_private/out")" "$@"
		fi
	done
}
files='open open:on read read:on write write:on close rename short intr'
memory='alloc alloc:on mmap mmap:on thread:on'

sweeps "$files $memory" -o nsysx-extract -j 1 -x job/dump0 job/r0.sqlite
sweeps "$memory" nsysx-extract -j 2 --ranges --ops job/r0.sqlite job/r1.sqlite
sweeps "$files alloc" -o nsysx-extract -j 1 --spool -z -b --ranges=all --ops -x job/dump0 job/r0.sqlite -x job/dump1 job/r1.sqlite
sweeps "$files alloc alloc:on" nsysx-extract -j 1 -x xz/dump0 --autotune xz/r0.sqlite.zst
sweeps "$memory" -o nsysx-extract -j 1 --all torch/r0.sqlite
# Not --comm or --dim with an expression: glibc's regcomp frees twice where its own allocations fail.
sweeps "$files alloc alloc:on" -o nsysx-view -b s0.tsv
sweeps "$files alloc" -o nsysx-view -z s0.tsv
sweeps "$files alloc" nsysx-view s1.nsysx
sweeps "$files alloc" -o nsysx-view -t thunk s0.tsv
sweeps "read write alloc" -p s0.tsv nsysx view -k thunk
sweeps "$files alloc alloc:on" -o nsysx-merge s0.tsv s1.nsysx
sweeps "$files alloc alloc:on" -p job.nsysx -o nsysx-align
sweeps "$files alloc" nsysx-align job.tsv
sweeps "read alloc" -o nsysx-align --estimate job.nsysx
sweeps "read open alloc" -o nsysx-align --apply clocks.tsv job.tsv
sweeps "$files alloc" -p job.nsysx -o nsysx-warmup
sweeps "$files alloc" -o nsysx-warmup --mark job.tsv
sweeps "alloc" -o nsysx-warmup --init job.nsysx
sweeps "$files alloc" -o nsysx-overlap job.nsysx
sweeps "$files alloc" -o nsysx-collectives over.nsysx
sweeps "$files alloc" -o nsysx-collectives --summary over.nsysx
sweeps "$files alloc alloc:on" -o nsysx-fold over.nsysx
for by in op-name module nvtx kernel; do sweeps "alloc" nsysx-fold --by $by over.tsv; done
sweeps "$files alloc alloc:on" -o nsysx-summary over.nsysx
for by in thunk opcode device kernel range; do sweeps "alloc" -o nsysx-summary --by $by over.tsv; done
sweeps "alloc" -o nsysx-summary --variable over.nsysx
sweeps "alloc" -o nsysx-summary --json over.nsysx
sweeps "alloc" -o nsysx-summary --table over.nsysx
sweeps "$files alloc alloc:on" -o nsysx-roofline --bandwidth 3352 over.nsysx
for by in opcode op-name program; do sweeps "alloc" -o nsysx-roofline --table --by $by --bandwidth 3352 over.tsv; done
for what in points peaks; do sweeps "alloc" -o nsysx-roofline --$what --peak f32=1 --bandwidth 3352 over.tsv; done
sweeps "$files alloc" -o nsysx-stragglers over.nsysx
sweeps "alloc" -o nsysx-stragglers --waits over.nsysx
sweeps "alloc" -o nsysx-stragglers --curve over.nsysx
sweeps "$files alloc alloc:on" -o nsysx-idle host.tsv
# Not with expressions: glibc's regexec allocates, and reports no match if that fails.
for by in module execution every:50us; do sweeps "alloc" nsysx-idle --by $by host.tsv; done
sweeps "$files" -p host.tsv -o nsysx-idle --by step --step step
sweeps "alloc" nsysx-idle --by execution --verdict over.tsv
for form in --verdict --folded '--list 5' --steps --drained '--cause launch-starved'; do
	# shellcheck disable=SC2086  # words
	sweeps "alloc" -o nsysx-idle $form host.tsv
done
sweeps "$files alloc" -o nsysx-launch --by range host.tsv
sweeps "alloc" nsysx-launch host.tsv
sweeps "$files alloc" -o nsysx-copies --by size host.tsv
sweeps "alloc" nsysx-copies --findings host.tsv
sweeps "$files alloc" -o nsysx-steps host.tsv
sweeps "$files" nsysx-steps --step '(step|layer_1)' --each host.tsv
sweeps "alloc" nsysx-steps --module jit_train_step over.tsv
sweeps "$files alloc" -o nsysx-diagnose host.tsv
sweeps "alloc" -o nsysx-diagnose --table over.nsysx
sweeps "alloc" -o nsysx-diagnose --module jit_train_step --min 0 --markdown over.tsv
sweeps "alloc" -o nsysx-diagnose --where over.nsysx
sweeps "$files alloc" -o nsysx-compile job.nsysx
for by in pass phase module; do sweeps "alloc" nsysx-compile --by $by job.tsv; done
sweeps "$files alloc" -o nsysx-compile --summary job.tsv
sweeps "$files alloc" -o nsysx-measure --module train_step over.tsv
# Names that do not occur: the search for similar names allocates too; the same messages, or status 1.
sweeps "alloc" -o nsysx-measure --module jit_train_stop over.tsv
sweeps "alloc" -s 1 -o nsysx-view -k thnk s0.tsv
sweeps "alloc" -o nsysx-compare --by step --module jit_train_step job.tsv over.tsv
sweeps "$files alloc alloc:on" -o nsysx-heap --peak job/dump0
sweeps "$files alloc" nsysx-heap --at-peak xz/dump0
sweeps "alloc" nsysx-heap job/dump1
sweeps "alloc" nsysx-heap --summary job/dump1
sweeps "$files alloc" -w nsysx-pgle over.nsysx
sweeps "$files alloc" -w nsysx-pgle --complete job/dump0 over.nsysx
sweeps "$files alloc alloc:on" -o nsysx-compare job.nsysx over.tsv
for by in module source; do sweeps "alloc" nsysx-compare --by $by over.nsysx job.tsv; done
sweeps "alloc" -o nsysx-compare --folded base job.nsysx over.tsv
for by in range kernel step; do sweeps "$files alloc" nsysx-compare --by $by job.tsv over.tsv; done
nsysx-extract -q --ops --calls -x job/dump0 -o calls.tsv job/r0.sqlite
sweeps "alloc" -o nsysx-compare --by step --markdown calls.tsv over.nsysx
sweeps "$files alloc alloc:on" -o nsysx-perfetto over.nsysx
nsysx-extract -q --ops -o nccl.nsx nccl/r.sqlite
sweeps "alloc alloc:on" -o nsysx-perfetto nccl.nsx
sweeps "alloc" -o nsysx-perfetto --chrome over.tsv
sweeps "alloc" -o nsysx-perfetto timeless.tsv
sweeps "$files" -o nsysx-flame over.folded
# Every allocation: that of frames of libraries is told without glibc's regcomp.
sweeps "alloc" -s 1 -o nsysx-flame over.folded
printf '%s 1\n' 'train.py:1[f];jax/_src/api.py:9[x]' 'train.py:1[f];/v/site-packages/flax/module.py:5[call]' >lib.folded
sweeps "alloc" -s 1 -o nsysx-flame --collapse lib.folded
sweeps "$files alloc" -o nsysx-mosaic --grid 1 --block 128 --names names mosaic.bin
sweeps "$files alloc" -o nsysx-mosaic --stream --grid 1 --block 128 --names names mosaic.bin

# Changes to a file by others while it is read.
changes='shrink grow replace'
sweeps "$changes" -m job/r0.sqlite nsysx-extract -j 1 --ranges=all --ops -x job/dump0 @
sweeps "$changes" -m xz/r0.sqlite.zst nsysx-extract -j 1 @
for f in s0.tsv s1.nsysx; do sweeps "$changes" -m $f -o nsysx-view @; done
sweeps "$changes" -m job.tsv -o nsysx-align @
sweeps "$changes" -m s0.tsv -o nsysx-merge @ s1.nsysx
for f in job/dump0/*train_step*after_optimizations.hlo.pb xz/dump0/*train_step*after_optimizations.hlo.pb.xz; do
	sweeps "$changes" -m "$f" nsysx-heap @
done
done_testing
