#!/bin/sh
# run.sh -- nsysx-extract against its floor and the reading of large dumps, as ratios of pairs of runs, warm: `make bench`.
# A table on standard output; the same numbers in $B/bench/extract.tsv. TIMES=N runs each pair N times [5], RANGES=N
# scales the generated export [1000000].
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build} TIMES=${TIMES:-5} RANGES=${RANGES:-1000000}
work=$B/bench
shared=../shared/data/torch/mfu_2gpu_before.sqlite.zst
mkdir -p "$work"

# A hundred copies of a real export of PyTorch on two GPUs: 1.9 million ranges, 0.75 million calls, 0.4 million kernels.
if [ -e "$shared" ] && [ ! -e "$work/copies.sqlite" ]; then
	zstd -dqf "$shared" -o "$work/one.sqlite"
	sh tests/bench/copies.sh "$work/one.sqlite" 100 "$work/copies.sqlite"
fi
if [ ! -e "$work/scale-$RANGES/r0.sqlite" ]; then
	"$B/tests/synth/nsysx-synth" -o "$work/scale-$RANGES" --scale "$RANGES"
fi

{
	printf 'export\tfloor_s\textract_s\twall_ratio\tcpu_ratio\tfloor_kib\textract_kib\n'
	for name in copies "scale-$RANGES/r0"; do
		export=$work/$name.sqlite
		[ -e "$export" ] || continue
		"$B/tests/bench/pair" "$TIMES" "$name" "$B/tests/bench/floor $export" "$B/bin/nsysx-extract -q --ranges -b $export"
	done
} > "$work/extract.tsv"

echo "nsysx-extract --ranges -b beside a single-threaded loop of libsqlite3 over the columns used"
echo "(medians of $TIMES pairs; $(getconf _NPROCESSORS_ONLN) processors, load $(cut -d' ' -f1 /proc/loadavg)):"
echo
awk -F'\t' '
	NR == 1 { printf "%-24s %10s %10s %10s %10s %12s\n", "export", "floor", "extract", "wall", "CPU", "peak memory"; next }
	{ printf "%-24s %8.2f s %8.2f s %9.2fx %9.2fx %8.0f MiB\n", $1, $2, $3, $4, $5, $7 / 1024 }' "$work/extract.tsv"

# An HLO dump of 200 MB, beside reading its bytes.
dump=$work/large.hlo.pb
[ -e "$dump" ] || "$B/tests/bench/dump" make "$dump" 200
{
	printf 'dump\tcat_s\tread_s\twall_ratio\tcpu_ratio\tcat_kib\tread_kib\n'
	"$B/tests/bench/pair" "$TIMES" dump "cat $dump" "$B/tests/bench/dump read $dump"
} > "$work/dump.tsv"
echo
echo "Reading an HLO dump of 200 MB, beside cat ($("$B/tests/bench/dump" read "$dump")):"
echo
awk -F'\t' '
	NR == 1 { printf "%-24s %10s %10s %10s %10s %12s\n", "dump", "cat", "read", "wall", "CPU", "peak memory"; next }
	{ printf "%-24s %8.2f s %8.2f s %9.2fx %9.2fx %8.0f MiB\n", $1, $2, $3, $4, $5, $7 / 1024 }' "$work/dump.tsv"
