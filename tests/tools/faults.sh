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
sys.stdout.buffer.write(struct.pack("<13I", 1, 0, 8, 0, 100, 1, 150, 0x80000001, 250, 0x80000000, 300, 0, 0))' >mosaic.bin
printf '0\tload\n1\tmma\n' >names
cp "$tests_dir/fuzz/corpus/kineto/gzip" trace.json.gz
mkdir sweep
nsysx-extract -q --ops --calls -x job/dump0 -o calls.tsv job/r0.sqlite
nsysx-extract -q --ops -o nccl.nsx nccl/r.sqlite
# Of two clocks that cannot be compared, which must not be taken for one.
"$SYNTH" -q -o apart --steps 2 --nccl --schema 3.28.1 --offset 100000
nsysx-extract -q --ops -o apart.nsx apart/r0.sqlite apart/r1.sqlite
printf '%s 1\n' 'train.py:1[f];jax/_src/api.py:9[x]' 'train.py:1[f];/v/site-packages/flax/module.py:5[call]' >lib.folded

# sweeps 'CLASS...' [-i FILE | -p FILE] [-m FILE] [-s STRIDE] [-o | -q | -w] COMMAND...; changes are those by others to a file while it is read.
sweeps() {
	classes=
	for class in $1; do
		case $class in
		files) class='open open:on read read:on write write:on close rename short intr' ;;
		memory) class='alloc alloc:on mmap mmap:on thread:on' ;;
		changes) class='shrink grow replace' ;;
		esac
		classes="$classes $class"
	done
	shift
	how=
	while case $1 in -i | -p | -m | -s) how="$how $1 $2"; shift 2 ;; -o | -q | -w) how="$how $1"; shift ;; *) false ;; esac; do :; done
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

# Those of tests/tools.list. Not with expressions: glibc's regcomp frees twice where its own allocations fail, and its regexec, which allocates, reports
# no match then.
set -f
while IFS=$(printf '\t') read -r how command; do
	classes=${how%% -*} options=${how#"${how%% -*}"}
	# shellcheck disable=SC2086  # words
	sweeps "$classes" $options nsysx-$command
done <<END
$(listed faults)
END
set +f
sweeps 'read write alloc' -p s0.tsv nsysx view -k thunk
# Each filter says itself what failed, under the name of its own program.
sweeps 'files memory' -o nsysx view --through align,warmup,overlap,collectives -z s0.tsv
sweeps 'read alloc' -p s0.tsv nsysx view --through warmup,overlap
sweeps 'files memory' nsysx-extract -q -a --python trace.json.gz
for f in job/dump0/*train_step*after_optimizations.hlo.pb xz/dump0/*train_step*after_optimizations.hlo.pb.xz; do
	sweeps changes -m "$f" nsysx-heap @
done
done_testing
