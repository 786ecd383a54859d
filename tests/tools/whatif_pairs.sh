#!/bin/sh
# nsysx-whatif against pairs of exports of simulated jobs (tests/synth/sim.h): its forecast, from the export before a change, of the period after it,
# which is known because the changed job was run. More jobs with SLOW=1.
. "${0%/*}/../testlib.sh"

kinds='loader twoway buckets pipeline tensor replay full item straggler jitter devices'
seeds='1 2 4'
[ -z "${SLOW-}" ] || seeds=$(seq 1 60 | paste -sd' ' -)
step='^:?ProfilerStep#'

# What a kind and seed has: every other export has rows of events; of those of a full queue, the others do not record for how long launches waited.
options() {
	[ $(($2 % 2)) = 1 ] || printf ' --schema 3.25.0'
	[ "$1-$(($2 % 2))" != full-1 ] || printf ' --without stall'
}
# job KIND SEED OPTION...: its export, extracted to $T/s, and its answers.
job() {
	kind=$1 seed=$2
	shift 2
	rm -rf "$T/job"
	# shellcheck disable=SC2046 # options are words
	make_job job --sim "$kind" --seed "$seed" $(options "$kind" "$seed") "$@" && nsysx-extract -q -a -o "$T/s" "$T/job/r.sqlite"
}
# The forecasts of the changes in answers: kind, seed, change, true period before, measured period, true period after, forecast, error in percent (-
# where there is no forecast, or a warning says that it is a bound), whether steps begin with the same operations.
forecasts() {
	set --
	while read -r what _; do
		[ "$what" = what ] || [ "$what" = none ] || set -- "$@" "--what=$what"
	done <"$T/job/answers/whatif.tsv"
	nsysx-whatif -q --tsv --step "$step" "$@" "$T/s" | awk -F'\t' -v kind="$kind" -v seed="$seed" '
		FNR == 1 { next }
		NR == FNR { before[$1] = $2; truth[$1] = $3; same[$1] = $4; next }
		{
			none = $4 == "" || $8 > 0.01
			print kind, seed, $1, before[$1], $3, truth[$1], none ? "-" : $4, none ? "-" : 100 * ($4 / truth[$1] - 1), same[$1]
		}' "$T/job/answers/whatif.tsv" -
}
# The median and the largest error of the forecasts on standard input, their number, and that of those not made.
errors() {
	awk '$9 == 1 && $8 == "-" { none++ } $9 == 1 && $8 != "-" { print $8 < 0 ? -$8 : $8 } END { print "none", none + 0 }' | sort -g | awk '
		$1 == "none" { none = $2; next }
		{ v[++n] = $1 }
		END { printf "%.3f %.3f %d %d\n", n ? v[int((n + 1) / 2)] : 0, n ? v[n] : 0, n, none }'
}
# within MEDIAN WORST "ERRORS": whether they are below these limits, and that of some there are forecasts.
within() { echo "$3" | awk -v m="$1" -v w="$2" '{ exit !($3 > 10 && $1 < m && $2 < w) }'; }

for kind in $kinds; do
	# One in which a wait that never held anything up comes to do so.
	if [ "$kind" = twoway ]; then more=17; else more=; fi
	for seed in $seeds $more; do
		job "$kind" "$seed" && forecasts
	done
done >"$T/pairs"

for kind in $kinds; do
	equal "$kind: the measured period is the true one" \
		"$(awk -v k="$kind" '$1 == k && ($4 - $5 > 0.01 || $5 - $4 > 0.01) { print $2, $3, $4, $5 }' "$T/pairs")" ''
	equal "$kind: constant latencies explain it" "$(awk -v k="$kind" '$1 == k && $3 == "none" && $8 != "-" && ($8 > 0.3 || $8 < -0.3) { print $2, $8 }' "$T/pairs")" ''
	median=0.1 worst=1.1
	case $kind in
	loader)  median=0.6 worst=5 ;;   # whether its buffer has room is known only if that was full once
	devices) worst=4 ;;              # one thread lets another one go on without a call of its own
	jitter)  worst=2.5 ;;    # what the host did before its first launch stays, and collectives carry that into the second step
	esac
	got=$(awk -v k="$kind" '$1 == k && $3 != "none"' "$T/pairs" | errors)
	if within "$median" "$worst" "$got"; then
		pass "$kind: forecasts"
	else
		fail "$kind: forecasts" "median, worst error, forecasts, none: $got; want below $median and $worst"
		awk -v k="$kind" -v w="$worst" '$1 == k && $9 == 1 && ($8 == "-" || $8 > w || $8 < -w)' "$T/pairs" | head -n 10 | sed 's/^/# /'
	fi
	# If times do not tell which thread waits for which, there is no forecast.
	case $kind in loader|devices) continue ;; esac
	equal "$kind: a forecast of each change" "${got##* }" 0
done

echo '# error in percent      median   worst   forecasts   none'
for what in faster transfer bandwidth nowait even host=inf host= api sync gaps profiler; do
	# shellcheck disable=SC2046,SC2183 # words
	printf '# %-20s %9s %7s %11s %6s\n' "$what" $(awk -v w="$what" '$1 != "loader" && index($3, w) == 1 && (w != "host=" || $3 != "host=inf")' "$T/pairs" | errors)
done
for kind in $kinds; do
	# shellcheck disable=SC2046,SC2183 # words
	printf '# %-20s %9s %7s %11s %6s\n' "$kind" $(awk -v k="$kind" '$1 == k && $3 != "none"' "$T/pairs" | errors)
done

# ---- the period after a change, as nsysx-steps measures it on an export of the changed job

after() {
	nsysx-steps -q --tsv --each --step "$step" "$T/s" | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		!seen[$at["device"]]++ { next }
		$at["period"] != "" { ns[$at["device"]] += $at["period"]; n[$at["device"]]++ }
		END { for (d in ns) { sum += ns[d] / n[d]; k++ } printf "%.3f\n", k ? sum / k : 0 }'
}
for kind in $kinds; do
	awk -v k="$kind" '$1 == k && $2 == 1 && $3 != "none" { print $3, $6 }' "$T/pairs" >"$T/changes"
	wrong=$(while read -r what truth; do
		job "$kind" 1 --change "$what" || echo "$what: no export"
		after | awk -v t="$truth" -v w="$what" '{ if ($1 - t > 0.01 || t - $1 > 0.01) printf "%s: %s for %s; ", w, $1, t }'
	done <"$T/changes")
	equal "$kind: the period after changes, measured, is the true one" "$wrong" ''
done

# A host that is late returns from launches whenever an operation ends: that is no queue.
job full 3 --change faster:.=4
equal 'a host that is late: no queue' "$(nsysx-whatif -q --tsv --step "$step" --what host=1 "$T/s" | awk -F'\t' '
	$1 == "none" { e = 100 * ($4 / $3 - 1); print (e < 0.3 && e > -0.3 ? "explained" : e) }')" explained

# ---- the comparison can tell: exports that lack what was waited for give no forecast, or a wrong one

for mutant in full-queue twoway-sync buckets-sync straggler-sync twoway-wait buckets-wait pipeline-wait tensor-wait; do
	job "${mutant%-*}" 1 --without "${mutant#*-}"
	got=$(forecasts | awk '$3 != "none"' | errors)
	if within 0.1 1.1 "$got" && [ "${got##* }" = 0 ]; then
		fail "${mutant%-*} without ${mutant#*-}: not taken for right" "$got"
	else
		pass "${mutant%-*} without ${mutant#*-}: not taken for right"
	fi
done
done_testing
