#!/bin/sh
# nsysx-idle, nsysx-launch, nsysx-copies and nsysx-steps on random jobs with overlapping calls, ranges, streams and graphs, compared with a count per nanosecond.
. "${0%/*}/../testlib.sh"
command -v python3 >/dev/null 2>&1 || skip_all 'there is no python3'

python3 host/brute.py "${HOST_JOBS:-40}" "$T" >"$T/said" 2>&1
equal 'no claim fails' "$(sed '$d' "$T/said")" ''
equal 'all jobs were tried' "$(tail -n 1 "$T/said")" "${HOST_JOBS:-40} jobs"
# The random jobs contain every cause.
for cause in $(nsysx-idle --known --tsv | awk -F'\t' 'NR > 1 && $2 != "edge" && $2 != "removed" { print $1 }'); do
	n=$(for job in "$T"/job*; do nsysx-idle -q --tsv --latency=9ns "$job"; done | cut -f 4 | grep -cx "$cause")
	equal "over ten windows have $cause" "$((n > 10))" 1
done
for n in 0 1 7 21; do
	nsysx-idle -q --tsv "$T/job$n" >"$T/text"
	nsysx-view -b "$T/job$n" | nsysx-idle -q --tsv >"$T/binary"
	same "job $n is the same in binary" "$T/text" "$T/binary"
done

# ---- from an export: the generator's gaps, extracted by nsysx-extract

if nsysx-extract --help | grep -q -e --calls; then
	for how in '--seed 1' '--seed 2 --gaps 300' '--seed 3 --gaps 300 --shuffle' '--seed 4 --gaps 2000 --schema 3.25.0' '--seed 5 --gaps 60 --schema 3.7.2'; do
		# shellcheck disable=SC2086  # several words
		"$SYNTH" -q -o "$T/gaps" --gaps 15 $how
		nsysx-extract -q -a "$T/gaps/r0.sqlite" | nsysx-idle -q --tsv >"$T/idle"
		awk -F'\t' -v OFS='\t' 'NR == 1 { print "cause", "ns", "count", "longest", "drained"; next } { print $4 == "" ? $2 : $4, $5, $7, $8, $9 }' "$T/idle" >"$T/got"
		same "planted gaps have their causes, $how" "$T/got" "$T/gaps/answers/idle.tsv"
		rm -rf "$T/gaps"
	done
else
	skip 'planted gaps have their causes' 'this nsysx-extract reads no calls'
fi
done_testing
