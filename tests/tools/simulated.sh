#!/bin/sh
# What tools print of simulated jobs (tests/synth/sim.h) is what the simulator knows of them, to the nanosecond: steps, their parts, idle time, waits of
# collectives, the critical path and slack. Forecasts: whatif_pairs.sh.
. "${0%/*}/../testlib.sh"

step='^:?ProfilerStep#'
# columns NAMES: those columns of a table on standard input, without its header, sorted.
columns() {
	awk -F'\t' -v OFS='\t' -v names="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, want, " "); next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[want[i]], i < n ? OFS : "\n" }' | sort
}
answers() { tail -n +2 "$T/job/answers/$1.tsv" | sort; }
# sums KEYS VALUE: sums of the column VALUE by columns KEYS that are not 0.
sums() {
	columns "$1 $2" | awk -F'\t' '
		{ ns = $NF; sub(/\t[^\t]*$/, ""); sum[$0] += ns }
		END { for (k in sum) if (sum[k]) printf "%s\t%.0f\n", k, sum[k] }' | sort
}

# job KIND OPTION...: its export, extracted to $T/s, and its answers.
job() {
	rm -rf "$T/job"
	make_job job --seed 5 --sim "$@"
	nsysx-extract -q -a -o "$T/s" "$T/job/r.sqlite"
}

for kind in loader twoway buckets pipeline tensor replay full item straggler jitter devices; do
	job "$kind"

	nsysx-steps -q --tsv --each --step "$step" "$T/s" >"$T/steps"
	answers steps >"$T/want"
	# The last step has no period, and no parts of it.
	columns 'device step start period compute exposed copy idle' <"$T/steps" | awk -F'\t' -v OFS='\t' '$4 == "" { $5 = $6 = $7 = $8 = "" } 1' >"$T/got"
	same "$kind: steps, periods and their parts" "$T/want" "$T/got"
	nsysx-idle -q --tsv --by step --step "$step" "$T/s" | sums 'device step part' ns >"$T/got"
	awk -F'\t' -v OFS='\t' '
		FNR == 1 || $4 == "" { next }
		{ if ($5) print $1, $2, "compute", $5; if ($6) print $1, $2, "comm", $6; if ($7) print $1, $2, "copy", $7; if ($8) print $1, $2, "idle", $8 }
	' "$T/job/answers/steps.tsv" | sort >"$T/want"
	same "$kind: ... by cause" "$T/want" "$T/got"
	nsysx-idle -q --tsv "$T/s" | sums 'device part' ns >"$T/got"
	answers window >"$T/want"
	same "$kind: parts of each device's time" "$T/want" "$T/got"
	if [ "$(wc -l <"$T/job/answers/waits.tsv")" -gt 1 ]; then
		nsysx-collectives -q --tsv --each "$T/s" | columns 'device start collective wait' >"$T/got"
		answers waits >"$T/want"
		same "$kind: waits of collectives" "$T/want" "$T/got"
	fi

	# The path continues on what was waited for, also on other devices. Which thread waits for which is not known for certain.
	for by in part device; do
		nsysx-whatif -q --tsv --critical="$by" --step "$step" "$T/s" >"$T/path"
		sums 'device step' ns <"$T/path" >"$T/got"
		awk -F'\t' -v OFS='\t' 'NR > 1 && $2 > 0 && $4 != "" { print $1, $2, $4 }' "$T/job/answers/steps.tsv" | sort >"$T/want"
		same "$kind: the critical path by $by sums to the period" "$T/want" "$T/got"
		case $kind in loader|devices) continue ;; esac
		if [ "$by" = part ]; then of=part; else of=on; fi
		# Gaps in which the host works while the device has work, too, might be waits.
		awk -F'\t' -v OFS='\t' '{ for (i = 1; i <= NF; i++) if ($i == "unseen") $i = "host"; print }' "$T/path" | sums "device $of" ns >"$T/got"
		awk -F'\t' -v OFS='\t' -v by="$by" '$2 == by && $4 { print $1, $3, $4 }' "$T/job/answers/critical.tsv" | sort >"$T/want"
		same "$kind: what was critical, by $by" "$T/want" "$T/got"
	done

	# Longer by its slack, an operation moves the last step of no device, but it does if it is longer by a microsecond more.
	case $kind in loader|devices) continue ;; esac
	job "$kind" --steady --slack 40
	nsysx-view -t op "$T/s" | sed '1s/^#//' | columns 'profile op device start name' >"$T/ops"
	nsysx-whatif -q --tsv --slack --each --step "$step" "$T/s" | columns 'profile op slack' >"$T/slack"
	wrong=$(awk -F'\t' '
		FILENAME ~ /ops$/ { at[$3 "\t" $4 "\t" $5] = $1 "\t" $2; next }
		FILENAME ~ /slack$/ { slack[$1 "\t" $2] = $3; next }
		FNR > 1 {
			n++
			key = at[$1 "\t" $2 "\t" $3]
			if (!(key in slack) || slack[key] > $4 || slack[key] + 1000 <= $4)
				print $0 " but " slack[key]
		}
		END { if (n < 10) print n " operations" }' "$T/ops" "$T/slack" "$T/job/answers/slack.tsv")
	equal "$kind: slack" "$wrong" ''
done
# Without the calls in which the host waits: what is certain of its work is no more than that, and what is not is unseen.
for kind in twoway buckets pipeline tensor replay full item straggler jitter devices; do
	job "$kind"
	nsysx-view "$T/s" | awk -F'\t' -v OFS='\t' '
		/^#call\t/ { for (i = 1; i <= NF; i++) { split($i, name, ":"); at[name[1]] = i } }
		$1 == "call" && $at["class"] == "sync" { next }
		{ print }' >"$T/unseen"
	nsysx-whatif -q --tsv --critical --step "$step" "$T/unseen" >"$T/path"
	equal "$kind, waits in no call: the host's work, and what may be" "$(awk -F'\t' '
		FNR == 1 { next }
		FILENAME ~ /path$/ { got[$1] = 100 * $3; next }
		$2 == "part" { all += $4; if ($3 == "host") host += $4 }
		END {
			host *= 100 / all
			print got["host"] <= host + 0.5 && got["host"] + got["unseen"] >= host - 0.5 ? "good" : got["host"] " and " got["unseen"] " of " host
		}' "$T/path" "$T/job/answers/critical.tsv")" good
	# Of this one that is most of the path, which is computation.
	[ "$kind" != devices ] || equal '... which is told apart' "$(awk -F'\t' '$1 == "unseen" { print ($3 > 0.5) }' "$T/path")" 1
done
done_testing
