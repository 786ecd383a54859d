#!/bin/sh
# nsysx-align --keep and --sample: clocks by a part of the collectives, which is the same whoever chooses it.
. "${0%/*}/../testlib.sh"

# Eight processes whose clocks are apart; the capture of process 2 begins a step late; ends of collectives scatter by up to 200 ns.
make_job job --processes 8 --steps 30 --layers 8 --offset 1000000 --jitter 200 --late 2 --no-warmup
for p in 0 1 2 3 4 5 6 7; do
	nsysx-extract -q -b -x "$T/job/dump$p" -o "$T/r$p" "$T/job/r$p.sqlite"
	nsysx-align -q --sample --keep 40 -b -o "$T/s$p" "$T/r$p"
done
all() { for p in $2; do echo "$T/$1$p"; done; }
# shellcheck disable=SC2046 # names are words
nsysx-merge -q -b -o "$T/whole" $(all r '0 1 2 3 4 5 6 7')

of() { nsysx-view -q -t clock "$1" | cut -f "$2"; }
# The largest distance of clocks from the true ones, of the devices in the stream, without their mean.
wrong() { of "$1" 1,3 | awk -F'\t' 'NR == FNR { if (FNR > 1) truth[$1] = $3; next }
	FNR > 1 { e[$1] = $2 - truth[$1]; sum += e[$1]; n++ } END { for (d in e) { x = e[d] - sum / n; if (x < 0) x = -x; if (x > worst) worst = x } printf "%d\n", worst + 0.5 }' "$T/job/answers/clocks.tsv" -; }
small() { [ "$(wrong "$1")" -le 100 ]; }

nsysx-align -q --estimate -o "$T/full" "$T/whole"
nsysx-align -q --estimate --keep 40 -o "$T/kept" "$T/whole"
ok 'clocks by all collectives are within 100 ns of the true ones' small "$T/full"
ok 'so are those by 40 of each set' small "$T/kept"
equal 'a part of the collectives is kept: 40, and the rest of the last instruction, of which each program has one' \
	"$(of "$T/kept" 6 | sed 1d | sort -u | awk '{ print ($1 >= 40 && $1 < 40 + 40 + 8) }' | sort -u) $(of "$T/full" 6 | sed 1d | awk '{ print ($1 > 200) }' | sort -u)" '1 1'
equal 'late captures are found by it' "$(of "$T/kept" 8 | sort -u)" "$(of "$T/full" 8 | sort -u)"
equal 'there is a late capture' "$(of "$T/full" 8 | sed 1d | grep -c 'jit_train_step')" 1
says 'an info diag counts what is not compared' 'records of collectives beyond those that are enough to compare clocks: not used' \
	nsysx-align -v --estimate --keep 40 -o "$T/none" "$T/whole"

# ---- ranks take their samples before the merge
# shellcheck disable=SC2046
nsysx-merge -q -b -o "$T/samples" $(all s '0 1 2 3 4 5 6 7')
nsysx-align -q --estimate -o "$T/from-samples" "$T/samples"
# The late capture has an execution less, which may cost it another instruction.
ok 'clocks by samples that each rank took' small "$T/from-samples"
equal 'and their late captures' "$(of "$T/from-samples" 8)" "$(of "$T/full" 8)"
# shellcheck disable=SC2046
nsysx-merge -q -b -o "$T/a" $(all s '6 1 4')
# shellcheck disable=SC2046
nsysx-merge -q -b -o "$T/b" $(all s '7 0 5')
# shellcheck disable=SC2046
nsysx-merge -q -b "$T/b" $(all s '3 2') "$T/a" | nsysx-align -q --estimate -o "$T/other-order"
same 'in whatever order they are merged' "$T/other-order" "$T/from-samples"
nsysx-align -q --apply "$T/from-samples" "$T/whole" | nsysx-view -q -t thunk | cut -f 2-7 | sort >"$T/got"
nsysx-align -q "$T/whole" | nsysx-view -q -t thunk | cut -f 2-7 | sort >"$T/want"
same 'applied to the whole job, one number of an execution is one execution' "$T/got" "$T/want"

# shellcheck disable=SC2046
nsysx-merge -q -b $(all s '0 2 3 4 7') | nsysx-align -q --estimate -o "$T/missing"
ok 'without some ranks the others have their clocks' small "$T/missing"
equal 'of the same executions' "$(of "$T/missing" 8 | sort -u)" "$(of "$T/full" 8 | sort -u)"

# ---- what a sample holds
kinds() { nsysx-view -q "$1" | grep -v '^#' | cut -f 1 | sort -u | tr '\n' ' '; }
metadata() { nsysx-view -q "$1" | grep -E '^(profile|device|program|groups|stack|inst|alias|loc)	'; }
metadata "$T/r3" >"$T/want"
metadata "$T/s3" >"$T/got"
same 'all metadata' "$T/got" "$T/want"
equal 'and of work only collectives and the first of each device' \
	"$(nsysx-view -q -t thunk "$T/s3" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "comm") c = i; next } $c != 1 { n++ } END { print n + 0 }') $(nsysx-view -q -t module "$T/s3" | sed 1d | wc -l | tr -d ' ')" '0 1'
nsysx-align -q --sample --keep 40 -b "$T/s3" >"$T/again"
same 'a sample of a sample is the sample' "$T/again" "$T/s3"
nsysx-align -q --sample --keep 40 -b <"$T/r3" >"$T/piped"
same 'from a pipe too' "$T/piped" "$T/s3"

# NCCL without XLA: all that communicates remains.
make_job nccl --nccl --schema 3.24.14 --processes 3 --steps 5 --offset 1000000
with_exports nccl nsysx-extract -q --ops -b -o "$T/n"
nsysx-align -q --sample -b "$T/n" | nsysx-align -q --estimate | nsysx-view -q -t clock >"$T/got"
nsysx-align -q --estimate "$T/n" | nsysx-view -q -t clock >"$T/want"
same 'NCCL: the sample has all that is compared' "$T/got" "$T/want"

fails 'a sample is not an estimate' 2 '--sample estimates nothing' nsysx-align --sample --estimate "$T/whole"
fails 'nor applied' 2 '--apply estimates nothing' nsysx-align --keep 5 --apply "$T/full" "$T/whole"
done_testing
