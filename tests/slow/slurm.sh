#!/bin/sh
# lib/report/nsysx.sbatch on a Slurm of one node, with tasks that are killed, cancelled and requeued in the middle: the final result
# equals merged direct extractions, byte by byte. Needs root, slurm-wlm and munge; hold.c stops a tool where a kill is most harmful.
. "${0%/*}/../testlib.sh"
. ./slurm/daemons.sh

for need in slurmctld slurmd sbatch munged scontrol; do
	PATH=$PATH:/usr/sbin:/sbin command -v "$need" >/dev/null 2>&1 || skip_all "there is no $need (slurm-wlm, munge)"
done
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" -eq 0 ] || skip_all 'the daemons want root'
[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
trap 'slurm_down "$T/slurm"; rm -rf "$T" "$T_private"' EXIT
mkdir "$T/slurm"
slurm_up "$T/slurm" >"$T/why" || skip_all "no Slurm can be started here: $(cat "$T/why")"

script=$tests_dir/../lib/report/nsysx.sbatch
ranks=64 out=$T/out NSYSX_REPORT=no NSYSX_BIN=$T/bin HOLD=$T/hold NSYSX_EXTRACT= NSYSX_SAMPLE=64
export NSYSX_REPORT NSYSX_BIN HOLD NSYSX_EXTRACT NSYSX_SAMPLE

# ---- expected results, and tools that can be held

numbers() { seq "$1" "$2" | tr '\n' ' '; }
direct() { for n in $1; do echo "$T/direct/$n"; done; }
made() {
	"$SYNTH" -q -o "$T/job" --processes $ranks --steps 3 --layers 1 --offset 2000000 && mkdir "$T/direct" "$HOLD" "$NSYSX_BIN" || return 1
	n=0
	while [ $n -lt $ranks ]; do
		printf 'job/r%d.sqlite\tjob/dump%d\n' $n $n >>"$T/list"
		n=$((n + 1))
		nsysx-extract -q -b -z --host -x "$T/job/dump$((n - 1))" -o "$T/direct/$n" "$T/job/r$((n - 1)).sqlite" &&
		nsysx-align -q --sample -b -z -o "$T/direct/$n.sample" "$T/direct/$n" || return 1
	done
	nsysx-merge -q -b -z -o "$T/want" $(direct "$(numbers 1 $ranks)") &&
	nsysx-merge -q -b "$T"/direct/*.sample | nsysx-align -q -e -b -o "$T/want.clocks" &&
	nsysx-align -q -b --apply "$T/want.clocks" "$T/want" | nsysx-warmup -q -b | nsysx-overlap -q -b | nsysx-collectives -q -b | nsysx-steps -q -b --mark -z -o "$T/want.steady" &&
	ln -s "$B"/bin/* "$NSYSX_BIN/" && rm "$NSYSX_BIN/nsysx-extract" "$NSYSX_BIN/nsysx-merge" &&
	${CC:-gcc} -std=c11 -shared -fPIC -o "$T/hold.so" slurm/hold.c -ldl || return 1
	# Held too before the tool begins, and behind it, before its report is marked as done.
	for tool in extract merge; do
		cat >"$NSYSX_BIN/nsysx-$tool" <<-END
			#!/bin/sh
			[ "\${1-}" = --version ] && exec "$B/bin/nsysx-$tool" --version
			for a; do case \$a in "$out"/*.nsysx) name=\${a##*/} ;; esac; done
			held() { [ ! -e "$HOLD/\$1" ] || { echo \$\$ >"$HOLD/\$1.held"; exec sleep 1000; }; }
			held "\$name.before"
			echo "\$name" >>"$T/began"
			LD_PRELOAD=$T/hold.so "$B/bin/nsysx-$tool" "\$@" || exit
			held "\$name.behind"
		END
		chmod +x "$NSYSX_BIN/nsysx-$tool"
	done
}
made || { echo 'slurm.sh: the job could not be made' >&2; exit 1; }
cd "$T" || exit 1

# ---- waiting

# Until a command succeeds, for 120 s.
until_ok() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.2
	done
}
held() { until_ok test -s "$HOLD/$1.held"; }
state() { timeout 20 squeue -h -r -j "$1" -o %t 2>/dev/null; }
gone() { [ -z "$(state "$1")" ]; }
# The state in which a job ended, as Slurm keeps it for some minutes.
ended() { until_ok gone "$1" && timeout 20 scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p' | head -n 1; }
# Sets $array and $join.
submit() {
	timeout 60 sh "$script" list out >"$T/said" 2>"$T/said.err" || return 1
	array=$(sed -n 's/.* of job \([0-9]*\);.*/\1/p' "$T/said") join=$(sed -n 's/.*; job \([0-9]*\) .*/\1/p' "$T/said")
	[ "$array" ] && [ "$join" ]
}
# Requeued jobs begin two minutes later, or when told. Told at once, the new one can get what is left of the end of the old one: its signal, its
# status. So its processes are waited for, and twice the time that Slurm waits between its signals.
requeue() {
	rm -f "$HOLD/$2"
	timeout 20 scontrol requeue "$1" && until_ok waits "$1" && until_ok idle "$(cat "$HOLD/$2.held")" && sleep 4 &&
		timeout 20 scontrol update JobId="$1" StartTime=now
}
idle() { ! kill -0 "$1"; }
waits() { [ "$(state "$1")" = PD ]; }

# ---- interrupted

touch "$HOLD/3.nsysx" "$HOLD/7.nsysx.before" "$HOLD/11.nsysx" "$HOLD/15.nsysx.behind" "$HOLD/20.nsysx"
ok 'submitting works' submit
[ "$tests_failed" -eq 0 ] || { cat "$T/said.err" >&2; done_testing; }
equal 'and says of how many reports' "$(sed 's/ in .*//' "$T/said")" "$ranks reports"
for n in 3.nsysx 7.nsysx.before 11.nsysx 15.nsysx.behind 20.nsysx; do
	ok "task of $n is held" held "$n"
done
[ "$tests_failed" -eq 0 ] || done_testing
equal 'a stream whose tool is held is not there' "$(ls "$out/streams" | grep -cxE '(3|7|11|20)\.nsysx')" 0
ok 'requeue 3 while its stream has no name yet' requeue "${array}_3" 3.nsysx
rm -f "$HOLD/7.nsysx.before" "$HOLD/11.nsysx" "$HOLD/15.nsysx.behind"
ok 'cancel 7' timeout 20 scancel "${array}_7"
ok 'kill the tool of 11' kill -9 "$(cat "$HOLD/11.nsysx.held")"
ok 'kill 15, whose stream has its name' kill -9 "$(cat "$HOLD/15.nsysx.behind.held")"
# The tool first, as a node that loses power takes both at once and leaves the temporary file.
ok 'kill the tool of 20' kill -9 "$(cat "$HOLD/20.nsysx.held")"
rm -f "$HOLD"/*
equal 'the join fails' "$(ended "$join")" FAILED
equal 'and names what is missing' "$(sed -n 's/^nsysx.sbatch: .*list:\([0-9]*\): .*r\([0-9]*\)\.sqlite: no stream.*/\1 \2/p' "$out/log/$join.log" | tr '\n' ',')" \
	'7 6,11 10,15 14,20 19,'
ok 'there is no result' test ! -e "$out/merged.nsysx"
equal 'the requeued one was begun twice' "$(grep -cx 3.nsysx "$T/began")" 2
same 'and is whole' "$T/direct/3" "$out/streams/3.nsysx"

# ---- in part

there=$(seq 1 $ranks | grep -vxE '7|11|15|20' | tr '\n' ' ')
NSYSX_PARTIAL=yes sh "$script" --join out >"$T/join.log" 2>&1
equal 'what is there can be joined' $? 0
nsysx-view "$out/merged.nsysx" >"$T/part"
nsysx-merge -q $(direct "$there") | grep -v '^#*end' >"$T/part.want"
grep -v "^#*end\|$(printf '\t')nsysx.sbatch$(printf '\t')" "$T/part" >"$T/part.got"
same 'into those records' "$T/part.want" "$T/part.got"
equal 'and a diag for each that is missing' "$(nsysx-view -t diag "$out/merged.nsysx" | sed -n 's/.*nsysx.sbatch	report \([0-9]*\), \(r[0-9]*.sqlite\), is missing.*	1$/\1 \2/p' | sort -n | tr '\n' ',')" \
	'7 r6.sqlite,11 r10.sqlite,15 r14.sqlite,20 r19.sqlite,'

# ---- again

: >"$T/began"
touch "$HOLD/merged.nsysx"
ok 'submitting again works' submit
ok 'the join is held' held merged.nsysx
equal 'only what was missing is made' "$(grep -v merged "$T/began" | sort -n | tr '\n' ' ')" '7.nsysx 11.nsysx 15.nsysx 20.nsysx '
ok 'requeue it' requeue "$join" merged.nsysx
equal 'the join succeeds' "$(ended "$join")" COMPLETED
[ "$tests_failed" -eq 0 ] || sed 's/^/# /' "$out/log/$join.log"
same 'with what direct extractions give, to the byte' "$T/want" "$out/merged.nsysx"
same 'and the steady state' "$T/want.steady" "$out/steady.nsysx"
n=0 differ=
while [ $n -lt $ranks ]; do
	n=$((n + 1))
	cmp -s "$T/direct/$n" "$out/streams/$n.nsysx" && cmp -s "$T/direct/$n.sample" "$out/streams/$n.sample" || differ="$differ $n"
done
equal 'every stream is what a direct extraction gives, and its sample' "$differ" ''
equal 'no temporary file stays with a stream' "$(ls -A "$out/streams" | grep -cvxE '[0-9]+\.(nsysx|sample|done)')" 0
equal 'the log says what ran twice, and of no failure' "$(grep -c 'REQUEUE' "$out/log/$join.log") $(cat "$out/log/$join.log" "$out/log/${array}"_*.log | grep -c '^nsysx.sbatch')" '1 0'
done_testing
