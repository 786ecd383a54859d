#!/bin/sh
# nsysx-compare of generated jobs: equal jobs of six kinds, of which at most one pair of a hundred may alarm, and what a job is given to be slow by,
# which is found by its name and with its time, by the generator's answers, within 10 %. SLOW=1: all 15 pairs of each kind.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"
SYNTH=$B/tests/synth/nsysx-synth
[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'

# job NAME ARGS: the stream $T/NAME of a job of two processes after its warm-up, and its answers.
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
	nsysx-extract -q --ops --ranges "$@" | nsysx-warmup -q | nsysx-overlap -q -o "$T/$name"
}

# ---- equal jobs ----
seeds='1 2 3'
[ "${SLOW-}" ] && seeds='1 2 3 4 5 6'
kinds='xla graphs torch vllm nccl xla26'
for kind in $kinds; do
	case $kind in
	xla) how= ;;
	graphs) how=--graphs ;;
	torch) how=--torch ;;
	vllm) how=--torch=vllm ;;
	nccl) how='--nccl --schema=3.24.14' ;;
	xla26) how=--xla26 ;;
	esac
	for s in $seeds; do
		job "$kind.$s" --steps=16 --seed="$s" $how
		rm -rf "$T/$kind.$s.d"
	done
done
# equal BY KIND...: at most one pair in a hundred alarms, and all are compared.
equal_pairs() {
	by=$1
	shift
	n=0 pairs=0 apart=0
	for kind in "$@"; do for a in $seeds; do for b in $seeds; do
		[ "$a" -lt "$b" ] || continue
		pairs=$((pairs + 1))
		nsysx-compare -q --gate --by "$by" -o "$T/null" "$T/$kind.$a" "$T/$kind.$b" 2>"$T/err"
		case $? in 1) n=$((n + 1)) ;; 3) apart=$((apart + 1)) ;; esac
	done; done; done
	ok "of $pairs pairs of equal jobs at most one in a hundred alarms by $by" test "$n" -le $(((pairs + 99) / 100))
	equal "and all compare by $by" "$apart" 0
}
equal_pairs kernel $kinds
equal_pairs collective $kinds
equal_pairs range $kinds
equal_pairs device $kinds
equal_pairs step xla graphs torch xla26
# Of a server's phases some are too rare here to be compared, which is said, and none alarms.
alarms=0
for a in $seeds; do for b in $seeds; do
	[ "$a" -lt "$b" ] || continue
	nsysx-compare -q --gate --by step -o "$T/null" "$T/vllm.$a" "$T/vllm.$b" 2>"$T/err"
	case $? in 0 | 3) ;; *) alarms=$((alarms + 1)) ;; esac
done; done
equal 'of phases of servers none alarms' "$alarms" 0
for by in thunk module source; do equal_pairs $by xla graphs xla26; done

# ---- planted slowdowns ----
job job --seed=1 --steps=12 --no-warmup
# per_step JOB DEVICE NAME: the time of the instructions of that name (an expression) in a step, ns, by the answers; DEVICE -: over all.
per_step() {
	awk -F'\t' -v device="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["program_id"] == 40 && (device == "-" || $at["device"] == device) { steps[$at["device"], $at["execution"]]
			if (!$at["comm"] && $at["name"] ~ name || $at["name"] == name) sum += $at["dur"] }
		END { for (s in steps) n++; printf "%.0f\n", sum / n }' "$T/$1.d/answers/thunks.tsv"
}
# period JOB DEVICE: the mean time from start to start of a step of it.
period() {
	awk -F'\t' -v device="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["program_id"] == 40 && $at["device"] == device { if (!n++) first = $at["start"]; last = $at["start"] }
		END { printf "%.0f\n", (last - first) / (n - 1) }' "$T/$1.d/answers/modules.tsv"
}
# found CLAIM JOB DEVICE ROW NS: below the period of the device (-: all) the first row is ROW, and its difference NS within 10 %.
found() {
	equal "$1: by name, and with its time" "$(nsysx-compare -q --tsv --why "$T/job" "$T/$2" | columns device,kind,name,diff | awk -v at="$3" -v ns="$5" '
		$1 == at && $2 != "period" { print $2, $3, ($4 > 0.9 * ns && $4 < 1.1 * ns) ? "within" : $4 ", not " ns; exit }')" "$4 within"
	gate "$1: fails the gate" 1 'slower: jit_train_step: period: ' --by step "$T/job" "$T/$2"
}
more() { echo $(($(per_step "$1" "$2" "$3") - $(per_step job "$2" "$3"))); }

job kernel --seed=1 --steps=12 --no-warmup --slow=cublas-gemm.1:60
found 'a kernel' kernel - 'instruction cublas-gemm.1' "$(more kernel - '^cublas-gemm[.]1$')"
job collective --seed=1 --steps=12 --no-warmup --plant=slow-collective
found 'a collective' collective - 'collective reduce-scatter' "$(more collective - reduce-scatter)"
job host --seed=1 --steps=12 --no-warmup --plant=late-host
found 'the host' host 1 'idle host' $(($(period host 1) - $(period job 1)))
job layout --seed=1 --steps=12 --no-warmup --plant=layout
found 'a layout' layout - 'instruction wrapped_transpose' "$(more layout - '^wrapped_transpose$')"
# One rank: all that it computes takes longer, no other does, and the gate names no kernel.
job rank --seed=1 --steps=12 --no-warmup --slow-device=1:20
for d in 0 1; do
	equal "one rank: what device $d computes more" "$(nsysx-compare -q --tsv --why "$T/job" "$T/rank" | columns device,kind,diff | awk -v d=$d -v ns="$(more rank $d .)" -v all="$(per_step job $d .)" '
		$1 == d && $2 == "instruction" { sum += $3 } END { e = sum - ns; print (e < 0.1 * ns + 0.01 * all && -e < 0.1 * ns + 0.01 * all) ? "within" : sum ", not " ns }')" within
done
equal 'one rank: its computation is slower, on the other device its waiting' "$(nsysx-compare -q --tsv --by step "$T/job" "$T/rank" | columns device,statistic,verdict |
	awk '$1 != "-" && ($2 == "compute" || $2 == "exposed") && $3 == "slower" { printf "%s %s;", $1, $2 }')" '0 exposed;1 compute;'
gate 'one rank: fails the gate' 1 'slower: jit_train_step: period: ' --by step "$T/job" "$T/rank"
done_testing
