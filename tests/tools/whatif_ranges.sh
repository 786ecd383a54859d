#!/bin/sh
# nsysx-whatif: of simulated jobs, whose period after changes is known, records are left out of what it reads. What a change truly saves is in the range
# that it prints. More jobs with SLOW=1.
. "${0%/*}/../testlib.sh"

kinds='loader twoway buckets pipeline tensor replay full item straggler jitter devices'
seeds=1
[ -z "${SLOW-}" ] || seeds=$(seq 1 12 | paste -sd' ' -)
step='^:?ProfilerStep#'

# Without calls that wait, as those of a host that does so in no call; without who is in a collective.
hide() {
	nsysx-view "$T/s" | awk -F'\t' -v OFS='\t' -v hide="$1" '
		/^#(call|op)\t/ { for (i = 1; i <= NF; i++) { split($i, name, ":"); at[substr($1, 2), name[1]] = i } }
		$1 == "call" && hide == "unseen" && $at["call", "class"] == "sync" { next }
		$1 == "op" && hide == "members" && $at["op", "comm_id"] != "" { $at["op", "comm_id"] = "unknown" }
		{ print }' >"$T/hidden"
	mv "$T/hidden" "$T/s"
}
# ranges KIND SEED HIDDEN: kind, seed, hidden, change, what it truly saves, its range, all in percent of the period, and whether there is a number.
ranges() {
	case $3 in none|unseen|members|calls) without= ;; *) without="--without $3" ;; esac
	rm -rf "$T/job"
	# shellcheck disable=SC2086 # words
	make_job job --sim "$1" --seed "$2" $without
	case $3 in calls) what='--ops --ranges' ;; *) what=-a ;; esac
	# shellcheck disable=SC2086 # words
	nsysx-extract -q $what -o "$T/s" "$T/job/r.sqlite"
	case $3 in unseen|members) hide "$3" ;; esac
	job="$1 $2 $3"
	set --
	while read -r what _; do
		[ "$what" = what ] || [ "$what" = none ] || set -- "$@" "--what=$what"
	done <"$T/job/answers/whatif.tsv"
	nsysx-whatif -q --tsv --step "$step" "$@" "$T/s" | awk -F'\t' -v job="$job" '
		FNR == 1 || $1 == "none" { next }
		NR == FNR { truth[$1] = $2 - $3; same[$1] = $4; next }
		# Of waits that are in no call none goes away without waits of calls.
		$1 == "sync=0" && job ~ /unseen$/ { next }
		$6 != "" && same[$1] { print job, $1, 100 * truth[$1] / $3, 100 * $6 / $3, 100 * $7 / $3, $5 != "" }' "$T/job/answers/whatif.tsv" -
}
for kind in $kinds; do
	for seed in $seeds; do
		for hidden in none sync wait unseen members calls; do ranges "$kind" "$seed" "$hidden"; done
	done
done >"$T/ranges"

for kind in $kinds; do
	# In percent of the period. Threads that let each other go on without a call, and buffers that never are full, are known from times alone.
	least=6
	case $kind in loader) off=5 least=1 ;; devices) off=7 ;; *) off=0.5 ;; esac
	for hidden in none sync wait unseen members calls; do
		awk -v k="$kind" -v h="$hidden" -v off="$off" '$1 == k && $3 == h { n++ }
			$1 == k && $3 == h && ($5 < $6 - off || $5 > $7 + off) { print $2, $4, $5, "not in", $6, $7 }
			END { print n + 0 }' "$T/ranges" >"$T/outside"
		n=$(tail -n 1 "$T/outside")
		# A stream that waits for another one, which is recorded nowhere and delayed nothing, shows in no time: a change that makes it count is not foreseen.
		allowed=0
		[ "$hidden" != wait ] || allowed=$((n / 25))
		if [ "$n" -ge "$least" ] && [ $(($(wc -l <"$T/outside") - 1)) -le "$allowed" ]; then
			pass "$kind, hidden: $hidden: what a change saves is in its range"
		else
			fail "$kind, hidden: $hidden: what a change saves is in its range" "$n ranges, of which outside, where $allowed may be: $(sed '$d' "$T/outside" | paste -sd, -)"
		fi
	done
done

# They say something: how wide they are, in percent of the period, and how many changes have a number as well.
awk '{ n[$3]++; wide[$3] += $7 - $6; numbers[$3] += $8 } END { for (h in n) printf "%s %.2f %d %d\n", h, wide[h] / n[h], numbers[h], n[h] }' "$T/ranges" >"$T/wide"
sed 's/^/# hidden, mean width of ranges, numbers, changes: /' "$T/wide"
equal 'nothing is hidden: ranges are narrow' "$(awk '$1 == "none" { print ($2 < 2) }' "$T/wide")" 1
equal '... and nearly all changes have a number' "$(awk '$1 == "none" { print ($3 > 0.85 * $4) }' "$T/wide")" 1
equal 'waits that are hidden: wider ones' "$(awk '$1 == "unseen" { print ($2 > 2 && $2 < 25) }' "$T/wide")" 1
equal 'no calls: no number' "$(awk '$1 == "calls" { print $3 }' "$T/wide")" 0
done_testing
