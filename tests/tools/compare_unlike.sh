#!/bin/sh
# nsysx-compare of runs that are not alike: what differs is told, with what makes them comparable; the command is run.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"
SYNTH=$B/tests/synth/nsysx-synth
[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'

# job NAME ARGS: the exports $T/NAME.d of a job, and its stream $T/NAME.
job() {
	name=$1
	shift
	"$SYNTH" -q -o "$T/$name.d" "$@" >"$T/null" || fail "the job $name" 'nsysx-synth failed' "$*"
	set --
	for r in "$T/$name.d"/r*.sqlite; do
		p=${r##*/r}
		dump=$T/$name.d/dump${p%.sqlite}
		[ -d "$dump" ] && set -- "$@" -x "$dump"
		set -- "$@" "$r"
	done
	nsysx-extract -q --ops --ranges "$@" -o "$T/$name"
}
# said BASE NEW ARGS: what nsysx-compare says.
said() {
	nsysx-compare -o "$T/null" "$@" 2>&1 | sed 's/^nsysx-compare: //'
}
# has CLAIM TEXT ARGS: it says that; hasnot: it does not.
has() { claim=$1 text=$2; shift 2; said "$@" >"$T/said"; ok "$claim" grep -qF -e "$text" "$T/said"; }
hasnot() { claim=$1 text=$2; shift 2; said "$@" >"$T/said"; equal "$claim" "$(grep -cF -e "$text" "$T/said")" 0; }

job warm --steps=12
nsysx-warmup -q -o "$T/steady" "$T/warm"

# ---- a program that warms up ----
has 'one side passed nsysx-warmup: the command for the other' "BASE passed nsysx-warmup; NEW did not, or had no initialisation: nsysx-warmup -o steady.nsysx $T/warm" "$T/steady" "$T/warm"
(cd "$T" && eval "$(sed -n 's/.*initialisation: \(nsysx-warmup -o .*\)/\1/p' "$T/said")") 2>"$T/null"
equal 'which makes them the same' "$(cksum <"$T/steady.nsysx")" "$(cksum <"$T/steady")"
hasnot 'then nothing is to be done' nsysx-warmup "$T/steady" "$T/steady.nsysx"
# The first two of 20 steps take four times as long.
steps() {
	awk -v OFS='\t' -v slow="$1" 'BEGIN { print "#nsysx", 2
		print "#device", "device:i", "profile:i", "name:s"
		print "#range", "profile:i", "range:i", "tid:i", "device:i", "name:s", "host_start:i", "host_dur:i", "start:i", "dur:i"
		print "#op", "profile:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "range:i", "tid:i", "host_start:i", "host_dur:i"
		print "device", 0, 0, "GPU"
		t = 1000
		for (i = 0; i < 20; i++) {
			dur = 100000 * (i < slow ? 4 : 1) + (i * 7 % 5) * 500
			print "range", 0, i + 1, 1, 0, "train " i, t, 900, t, dur
			print "op", 0, "kernel", 0, 7, "gemm", t, dur, i + 1, 1, t + 1, 10
			t += dur + 1000
		}
		print "#end", "records:i"; print "end", 41 }'
}
steps 0 >"$T/even"
steps 2 >"$T/slow"
nsysx-steps -q --each "$T/slow" >"$T/each"
from=$(columns step,host_start <"$T/each" | awk '$1 == 2 { print $2 }')
has 'slow first steps are told, with their number' "NEW: train #: the first 2 of 19 steps take 3.9 times the median one, as of a program that warms up: nsysx-extract --time FROM: leaves them out, with FROM the host_start of a later one: nsysx-steps --each $T/slow" \
	--by step "$T/even" "$T/slow"
hasnot 'and even ones are not' 'warms up' --by step "$T/even" "$T/even"
hasnot 'nor many' 'warms up' --by step "$T/even" - <<X
$(steps 8)
X
equal 'where they end is in the table that the message names' "$(awk -F'\t' -v from="$from" '/^range\t/ && $7 == from { print $6 }' "$T/slow")" 'train 2'

# ---- one device more ----
job two --processes=2 --no-warmup --steps=12
job three --processes=3 --no-warmup --steps=12
has 'one device more, by step' 'BASE ran on 2 devices, NEW on 3, times are means over devices: each may do other work then: record both on as many, or keep some of NEW, nsysx-extract --device 0,1' \
	--by step "$T/two" "$T/three"
set -- --device 0,1
nsysx-extract -q --ops --ranges "$@" -x "$T/three.d/dump0" "$T/three.d/r0.sqlite" -x "$T/three.d/dump1" "$T/three.d/r1.sqlite" -x "$T/three.d/dump2" "$T/three.d/r2.sqlite" -o "$T/some"
hasnot 'after the command they are as many' 'BASE ran on' --by step "$T/two" "$T/some"
gate 'of other groups no collective is the same' 3 'collectives of groups of other sizes are others: record both on as many devices' --by collective "$T/two" "$T/three"

# ---- another batch size or model ----
# The FLOPs of its products, which the generator's dumps do not tell, are a and b.
for flops in 1000000 2000000; do
	nsysx-view "$T/steady" | awk -F'\t' -v OFS='\t' -v flops=$flops '/^#inst\t/ { for (i = 2; i <= NF; i++) if ($i ~ /^flops:/) at = i }
		/^inst\t/ && $4 ~ /gemm/ { $at = flops } { print }' >"$T/$flops"
done
mv "$T/1000000" "$T/text"
mv "$T/2000000" "$T/batch"
for by in thunk module step; do
	has "twice the FLOPs, by $by" "jit_train_step: NEW does 2 times the FLOPs of BASE per $([ $by = step ] && echo step || echo execution) (" --by $by "$T/text" "$T/batch"
	hasnot "the same FLOPs, by $by" 'FLOPs' --by $by "$T/text" "$T/text"
done
job torch --torch --steps=12
job deep --torch --steps=12 --layers=8
has 'a model of more layers, by its operations' 'times the operations of BASE per step' -v --by step "$T/torch" "$T/deep"

# ---- captures of other lengths ----
job long --steps=24 --no-warmup --seed=2
for by in step module thunk kernel collective device; do
	nsysx-compare -q --gate --by $by -o "$T/null" "$T/two" "$T/long" 2>"$T/err"
	equal "twice as long a capture is compared by $by" "$?" 0
done
nsysx-summary -q --tsv --by opcode "$T/two" >"$T/opcode.tsv"
gate 'of sums over whole runs it is told what compares' 3 'compare streams, or --sigma 0 if the runs are of equal work' "$T/opcode.tsv" "$T/long"
job short --steps=3 --no-warmup
gate 'of too few steps how many are wanted' 3 'want 5: record more steps, or several base runs' --by step "$T/two" "$T/short"
done_testing
