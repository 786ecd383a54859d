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

# So many records that units are dropped while others come; instruction i is first executed in execution i / 2, 67,200 in all.
{ printf '#nsysx\t2\n#profile\tprofile:i\n'; seq 0 7 | sed 's/^/profile\t/'
	printf '#device\tdevice:i\tprofile:i\n'; seq 0 7 | awk '{ print "device\t" $1 "\t" $1 }'
	printf '#program\tprogram:i\tid:i\tname:s\nprogram\t0\t7\tstep\n#groups\tgroups:i\tmembers:s\ngroups\t0\t0,1,2,3,4,5,6,7\n#inst\tprogram:i\tinst:i\tname:s\tcomm:i\tcollective:s\tgroups:i\n'
	seq 0 119 | awk '{ print "inst\t0\t" $1 "\tar." $1 "\t1\tall-reduce\t0" }'
	printf '#module\tprofile:i\tprogram:i\tdevice:i\tstart:i\tdur:i\n'; seq 0 7 | awk '{ print "module\t" $1 "\t0\t" $1 "\t-1000\t5" }'
	printf '#thunk\tprofile:i\tdevice:i\tprogram:i\tinst:i\texecution:i\toccurrence:i\tname:s\tstart:i\tdur:i\tcomm:i\n'
	awk 'BEGIN { for (e = 0; e < 100; e++) for (i = 0; i < 120 && i <= 2 * e; i++) for (d = 0; d < 8; d++)
		print "thunk\t" d "\t" d "\t0\t" i "\t" e "\t0\tar." i "\t" e * 1000000 + i * 1000 + d "\t100\t1" }'
	printf '#end\trecords:i\nend\t%s\n' "$((8 + 8 + 2 + 120 + 8 + 8 * 8400))"; } >"$T/many"
of_each() { nsysx-view -q -t thunk "$1" | awk -F'\t' 'NR > 1 { n[$4]++ } END { for (i in n) print i, n[i] }' | sort; }
equal 'the stream is whole' "$(nsysx-view -q -t thunk "$T/many" | sed 1d | wc -l | tr -d " ")" 67200
nsysx-align -q --sample --keep 300 -o "$T/few" "$T/many"
of_each "$T/many" >"$T/all-of"
of_each "$T/few" >"$T/few-of"
equal 'what is kept has all its executions' "$(join "$T/all-of" "$T/few-of" | awk '$2 != $3' | wc -l | tr -d ' ')" 0
equal 'of lowest hash, until they are enough' \
	"$(awk '{ sum += $2 / 8; if ($2 / 8 > most) most = $2 / 8 } END { print (sum >= 300), (sum - most < 300) }' "$T/few-of")" '1 1'
# The same records backwards in time are the same collectives.
awk -F'\t' -v OFS='\t' '$1 == "thunk" { $9 = 100000000 - $9; $6 = 99 - $6; print > back; next } { print }' back="$T/back" "$T/many" | sed '/^#*end/d' >"$T/head"
{ cat "$T/head"; sort -n -s -t "$(printf '\t')" -k 9,9 "$T/back"; sed -n '/^#*end/p' "$T/many"; } | nsysx-align -q --sample --keep 300 -o "$T/backwards"
of_each "$T/backwards" >"$T/back-of"
same 'whatever comes first' "$T/back-of" "$T/few-of"

# ---- NCCL without XLA
make_job job --nccl --schema 3.24.14 --processes 8 --steps 40 --offset 1000000 --jitter 200 --late 2
for p in 0 1 2 3 4 5 6 7; do
	nsysx-extract -q --ops -b -o "$T/n$p" "$T/job/r$p.sqlite"
	nsysx-align -q --sample --keep 40 -b -o "$T/ns$p" "$T/n$p"
done
# shellcheck disable=SC2046
nsysx-merge -q -b -o "$T/nwhole" $(all n '0 1 2 3 4 5 6 7')
# shellcheck disable=SC2046
nsysx-merge -q -b -o "$T/nsamples" $(all ns '5 1 2 3 4 0 6 7')
nsysx-align -q --estimate -o "$T/nfull" "$T/nwhole"
nsysx-align -q --estimate --keep 40 -o "$T/nkept" "$T/nwhole"
nsysx-align -q --estimate -o "$T/nfrom-samples" "$T/nsamples"
ok 'NCCL: clocks by all operations are within 100 ns of the true ones' small "$T/nfull"
ok 'so are those by 40 of each communicator' small "$T/nkept"
ok 'and those by samples that each rank took' small "$T/nfrom-samples"
# Up to 40 of one size for each of the job's layers more, as a size stays whole.
equal 'a part is kept' "$(of "$T/nkept" 6 | sed 1d | sort -u | awk '{ print ($1 >= 40 && $1 < 160) }' | sort -u) $(of "$T/nfull" 6 | sed 1d | awk '{ print ($1 > 200) }' | sort -u)" '1 1'
ops() { nsysx-view -q -t op "$1" | sed 1d | wc -l | tr -d ' '; }
equal 'a sample is a small part of the stream' "$([ $(($(ops "$T/ns3") * 5)) -lt "$(ops "$T/n3")" ]; echo $?)" 0
says 'an info diag counts the others' 'records of collectives beyond those that are enough to compare clocks: not used' \
	nsysx-align -v --estimate --keep 40 -o "$T/none" "$T/nwhole"
nsysx-align -q --sample --keep 40 -b "$T/ns3" >"$T/again"
same 'a sample of a sample is the sample' "$T/again" "$T/ns3"
nsysx-view -q -t op "$T/ns3" | cut -f 2- | sort >"$T/got"
nsysx-align -q --sample --keep 40 "$T/nwhole" | nsysx-view -q -t op | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "device") c = i } NR == 1 || $c == 3' | cut -f 2- | sort >"$T/want"
same 'a rank keeps what is kept of it in the whole job' "$T/got" "$T/want"
calls() { nsysx-collectives -q --each --tsv | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["seq"] != "" { print $c["device"], $c["comm_id"], $c["collective"], $c["pair"], $c["seq"], $c["op"] }' | sort; }
nsysx-align -q --apply "$T/nfrom-samples" "$T/nwhole" | calls >"$T/got"
nsysx-align -q "$T/nwhole" | calls >"$T/want"
same 'applied to the whole job, the same operations are one call' "$T/got" "$T/want"
equal 'there are such' "$([ "$(wc -l <"$T/want")" -gt 3000 ]; echo $?)" 0
# Without payloads communicators are unknown, and all operations remain.
nsysx-view -q "$T/nwhole" | awk -F'\t' -v OFS='\t' '/^#op/ { for (i = 2; i <= NF; i++) if ($i ~ /^comm_id:/) c = i } $1 == "op" && c { $c = "" } { print }' >"$T/bare"
used='all-reduce|all-gather|reduce-scatter|all-to-all'
of_used() { nsysx-view -q -t op "$1" | awk -F'\t' -v used="^($used)\$" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "collective") c = i; next } $c ~ used { n++ } END { print n + 0 }'; }
nsysx-align -q --sample --keep 40 -o "$T/bare-sample" "$T/bare"
equal 'without communicators all operations that are compared remain' "$(of_used "$T/bare-sample")" "$(of_used "$T/bare")"

fails 'a sample is not an estimate' 2 '--sample estimates nothing' nsysx-align --sample --estimate "$T/whole"
fails 'nor applied' 2 '--apply estimates nothing' nsysx-align --keep 5 --apply "$T/full" "$T/whole"
done_testing
