#!/bin/sh
# A job of many ranks by other means than Slurm, as docs/scale-out.md has them: with make, GNU parallel and Dask, to the byte what nsysx-merge and
# nsysx-prepare make; and the Jobs of Kubernetes by their schema.
. "${0%/*}/../testlib.sh"

root=$(cd "$tests_dir/.." && pwd)
example=$root/docs/example script=$root/lib/report/nsysx.sbatch
unset MAKEFLAGS MAKELEVEL MFLAGS NSYSX_EXTRACT NSYSX_PARTIAL NSYSX_BIN
NSYSX_REPORT=no
export NSYSX_REPORT
ranks=131
"$SYNTH" -q -o "$T/job" --processes $ranks --steps 3 --layers 1 --offset 100000 || exit 1
cd "$T" || exit 1
n=0
while [ $n -lt $ranks ]; do
	mkdir -p "prof/$n"
	mv "job/r$n.sqlite" "prof/$n/report.sqlite" && mv "job/dump$n" "prof/$n/dump"
	n=$((n + 1))
done

# ---- make
make -s -j2 -f "$example/job.mk" OUT=made >"$T/said" 2>&1
equal 'make' "$? $(cat "$T/said")" '0 '
equal 'a stream for each report, in groups of 64' "$(ls made/streams | wc -l | tr -d ' ') $(ls made/groups | wc -l | tr -d ' ')" "$ranks 3"
nsysx-merge -q -b -z -o want made/streams/*.nsysx
same 'all of them' want made/merged.nsysx
nsysx-prepare -q -z -o want made/merged.nsysx
same 'prepared' want made/steady.nsysx
nsysx-extract -q -a -b -z --host -x prof/7/dump -o want prof/7/report.sqlite
same 'a stream is that of nsysx-extract' want made/streams/prof_7_report.nsysx
equal 'nothing is left to do' "$(make -n -f "$example/job.mk" OUT=made all | grep -c nsysx-)" 0
touch prof/7/report.sqlite
equal 'a changed report is extracted, its group merged, and all' "$(make -n -f "$example/job.mk" OUT=made all | grep -o 'nsysx-[a-z]*' | sort | uniq -c | tr -s ' \n' ' ')" \
	' 1 nsysx-extract 2 nsysx-merge 1 nsysx-prepare '
mkdir -p like_a like
: >like_a/r.sqlite
: >like/a_r.sqlite
fails 'two reports whose streams would have one name' 2 'two reports would have one stream' make -f "$example/job.mk" REPORTS='like_a/r.sqlite like/a_r.sqlite' OUT=none
fails 'no reports' 2 'want reports' make -f "$example/job.mk" REPORTS='none/*' OUT=none

# ---- the script's steps
ls "$PWD"/prof/*/report.sqlite | awk -v OFS='\t' '{ d = $0; sub(/[^\/]*$/, "", d); print $0, d "dump" }' >list
n=$(sh "$script" --list list out)
if parallel --version 2>"$T/said" | grep -q '^GNU'; then
	seq "$n" | parallel --will-cite -j2 sh "$script" --rank out >"$T/said" 2>&1
	equal 'GNU parallel' "$?" 0
else
	skip 'GNU parallel' 'not installed'
	seq "$n" | xargs -P 2 -n 1 sh "$script" --rank out >"$T/said" 2>&1
	equal 'xargs' "$?" 0
fi
ok 'joins' sh "$script" --join out
# Reports of one name are told apart by their numbers in order.
cmp made/merged.nsysx out/merged.nsysx >"$T/said"
equal 'the same stream' "$? $(cat "$T/said")" '0 '
same 'prepared' made/steady.nsysx out/steady.nsysx

# ---- Dask, Kubernetes
python_that() {
	for python in "$(command -v python3)" /usr/bin/python3; do
		"$python" -c "$1" >"$T/said" 2>&1 && return
	done
	return 1
}
if python_that 'import dask'; then
	"$python" "$example/dask_job.py" dask prof/*/report.sqlite >"$T/said" 2>&1
	equal 'Dask' "$? $(cat "$T/said")" '0 '
	same 'the same stream by Dask' made/steady.nsysx dask/steady.nsysx
	fails 'Dask: two reports whose streams would have one name' 1 'two reports would have one stream' "$python" "$example/dask_job.py" none like_a/r.sqlite like/a_r.sqlite
	equal 'parts of the tree are removed' "$(ls dask/streams | grep -c '\.merged$')" 1
else
	skip 'Dask' 'not installed'
fi
if python_that 'import kubernetes_validate, yaml'; then
	cat >validate.py <<'END'
import sys, yaml, kubernetes_validate
for doc in yaml.safe_load_all(open(sys.argv[1])):
    kubernetes_validate.validate(doc, kubernetes_validate.latest_version(), strict=True)
    print(doc["kind"], doc["metadata"]["name"])
END
	equal 'the Jobs of Kubernetes satisfy their schema' "$("$python" validate.py "$example/kubernetes.yaml" 2>&1)" 'Job nsysx-ranks
Job nsysx-join'
	sed 's/completions: 64/completions: all/' "$example/kubernetes.yaml" >wrong.yaml
	ok '... which refuses others' sh -c "! $python validate.py wrong.yaml 2>said"
else
	skip 'the schema of Kubernetes' 'kubernetes-validate is not installed'
fi
# What a pod runs.
command=$(sed -n 's/.*exec sh [^ ]*nsysx.sbatch \(--rank .*\)"\]/\1/p' "$example/kubernetes.yaml" | sed 's|/data/||')
rm out/streams/5.*
JOB_COMPLETION_INDEX=4 sh -c "exec sh '$script' $command" >"$T/said" 2>&1
equal 'a pod makes the stream of its number' "$? $(ls out/streams/5.nsysx)" '0 out/streams/5.nsysx'
done_testing
