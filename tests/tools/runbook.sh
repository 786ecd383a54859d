#!/bin/sh
# docs/diagnose.md: its commands run on jobs with one planted cause, and identify this cause; the gain that nsysx-diagnose
# gives is the additional time of a step compared with the same job without the cause.
. "${0%/*}/../testlib.sh"
. "$tests_dir/pagelib.sh"

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
job='--processes 4 --offset 2000000 --steps 8'

# The mean step of stream $1.
period() {
	nsysx-diagnose -q --where --tsv "$1" | awk -F'\t' 'NR == 2 { print $6 }'
}
# The first finding of stream $1: column $2.
first() {
	nsysx-diagnose -q --tsv "$1" | awk -F'\t' -v c="$2" 'NR == 2 { print $c }'
}

# shellcheck disable=SC2086  # options
ok 'the job without a planted cause' "$SYNTH" -o "$T/none" $job
page docs/diagnose.md none
none=$(period "$T/none/steady.nsysx")
equal 'its first finding is none of the planted causes' "$(first "$T/none/steady.nsysx" 2)" exposed-communication

for cause in slow-collective late-host blocking straggler layout; do
	# shellcheck disable=SC2086  # options
	ok "a job is generated: $cause" "$SYNTH" -o "$T/$cause" $job --plant $cause
	page docs/diagnose.md $cause
	steady=$T/$cause/steady.nsysx
	subject=$(awk -F'\t' 'NR == 2 { print $2 }' "$T/$cause/answers/planted.tsv")
	equal "$cause is the first finding" "$(first "$steady" 2)" $cause
	case $cause in straggler | late-host) names='device 3' ;; layout) names=wrapped_transpose ;; *) names=$subject ;; esac
	ok "$cause: its subject is $names" sh -c 'case $1 in "$2"*) ;; *) exit 1 ;; esac' sh "$(first "$steady" 7)" "$names"
	ok "$cause: the first line names it" sh -c 'head -n 1 "$1" | tr -d "\\\\" | grep -q "^[*][*]look first at .*$2"' sh "$T/$cause/plan.md" "$names"
	ok "$cause: it has an action" test -n "$(first "$steady" 8)"
	ok "$cause: its evidence names $subject" sh -c 'printf "%s\n" "$1" | grep -qF -e "$2"' sh "$(first "$steady" 5)" "$subject"
	ok "$cause is the first in the plan" sh -c 'grep -m 1 "^| 1 |" "$1" | grep -qF -e "| $2 |"' sh "$T/$cause/plan.md" $cause
	# A transpose beside communication hides part of it.
	gain=$(first "$steady" 3) within=$([ $cause = layout ] && echo 0.2 || echo 0.05)
	ok "$cause: the gain is the additional time of a step" awk -v gain="$gain" -v longer="$(period "$steady" | awk -v n="$none" '{ print $1 - n }')" \
		-v within=$within 'BEGIN { exit !(longer > 0 && gain > (1 - within) * longer && gain < (1 + within) * longer) }'
	nsysx-diagnose -q --tsv "$steady" | awk -F'\t' 'NR == 2 { gsub(/\\\\/, "\\", $6); print $6 }' >"$T/command"
	sh "$T/command" 2>/dev/null | head -n 21 >"$T/shown"
	case $cause in
	straggler | late-host) equal "$cause: the command shows device 3 as the one that is waited for" \
		"$(awk -F'\t' 'NR > 1 && $8 > most { most = $8; device = $2 } END { print device }' "$T/shown")" 3 ;;
	*) ok "$cause: the command shows $subject" grep -qF -e "$subject" "$T/shown" ;;
	esac
	# The idle time of all steps of all devices for a cause, without drained gaps, is what its command prints.
	steps=$(nsysx-diagnose -q --where --tsv "$steady" | awk -F'\t' 'NR == 2 { print $4 }')
	nsysx-diagnose -q --tsv --min 0 "$steady" | awk -F'\t' -v n="$steps" '$2 ~ /^idle:/ { gsub(/\\\\/, "\\", $6); printf "%s\t%.0f\t%s\n", $2, n * $3, $6 }' >"$T/idle"
	while IFS=$(printf '\t') read -r finding ns command; do
		equal "$cause: gaps of $finding add up to its gain" "$(sh -c "$command" 2>/dev/null | awk -F'\t' 'NR > 1 { sum += $12 } END { print sum }')" "$ns"
	done <"$T/idle"
	ok "$cause: some finding is idle time" test -s "$T/idle"
done

# The page describes every finding and verdict.
findings=$(sed -n 's/^FINDING([A-Z_]*, "\([a-z-]*\)".*/\1/p' "$root/lib/table/diagnose/findings.def")
ok 'the list of findings is read' test "$(printf '%s\n' "$findings" | wc -w)" -ge 13
for finding in $findings; do
	ok "the page describes $finding" grep -q -e "^### .*$finding" "$root/docs/diagnose.md"
	ok "the manual page describes $finding" grep -q -e "^\.It Li .*$finding" "$root/docs/man/nsysx-diagnose.1"
done
for verdict in compute-bound $(sed -n 's/^	\[[A-Z_]*\] *= { "\([a-z-]*\)", ".*/\1/p' "$root/lib/table/idle/verdict.c"); do
	ok "... and $verdict" grep -q -e "^| $verdict |" "$root/docs/diagnose.md"
done
for cause in $(nsysx-idle -q --tsv --zeros "$T/none/steady.nsysx" | awk -F'\t' '$1 == 0 && $4 != "" { print $4 }'); do
	case $cause in
	before | after) ;;
	*) ok "... and of idle:$cause" grep -q -e "^### .*idle:$cause" "$root/docs/diagnose.md" ;;
	esac
done
ok 'front matter for agents' sh -c 'head -n 4 "$1" | tr "\n" "~" | grep -q "^---~name: nsysx~description: [^~]*~---~"' sh "$root/docs/diagnose.md"
done_testing
