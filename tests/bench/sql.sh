# sql.sh -- kernel time by enclosing NVTX range, as computed in SQL, compared with nsysx; the results must be equal.
# Joins are exec'd: of a command that is ended at the limit, only the process that timeout(1) waits for is counted.

# Kernels join their calls, and calls every range around them.
join="SELECT n.text, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k
	JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId
	JOIN NVTX_EVENTS n ON n.globalTid = r.globalTid AND n.start <= r.start AND n.end >= r.end
	GROUP BY n.text"
index="CREATE INDEX bench_call ON CUPTI_ACTIVITY_KIND_RUNTIME (correlationId);
	CREATE INDEX bench_range ON NVTX_EVENTS (globalTid, start, end, text);"
# A folded line counts for each range on its path.
by_range='{ t = $0; sub(/.* /, "", t); sub(/ [0-9]+$/, ""); n = split($0, f, ";"); for (i = 1; i <= n; i++) s[f[i]] += t }
	END { for (r in s) printf "%s\t%.0f\n", r, s[r] }'

row sql ranges command "$cost" answer
for part in $JOINS; do
	n=$((RANGES / part))
	scale $n
	indexed=$work/indexed-$n.sqlite
	if [ ! -e "$indexed" ]; then
		cp "$export" "$indexed.part"
		sqlite3 -bail "$indexed.part" "$index"
		mv "$indexed.part" "$indexed"
	fi
	nsysx="$bin/nsysx-extract -q -b --ranges --ops $export | $bin/nsysx-fold -q --by nvtx --names=full | awk '$by_range'"
	over "$LIMIT" nsysx "$nsysx" sqlite3 "exec sqlite3 -readonly $export '$join'" 'sqlite3, indexed' "exec sqlite3 -readonly $indexed '$join'"
	sh -c "$nsysx" | sort >"$work/sql.want"
	while IFS=$tab read -r name numbers; do
		case $name in
		nsysx) from= ;;
		sqlite3) from=$export ;;
		*) from=$indexed ;;
		esac
		answer=
		if [ -n "$from" ] && [ "${numbers##*"$tab"}" = 0 ]; then
			sqlite3 -readonly -separator "$tab" "$from" "$join" | cut -f 1,3 | sort >"$work/sql.got"
			cmp "$work/sql.want" "$work/sql.got" >&2
			answer=same
		fi
		row sql "$n" "$name" "$numbers" "$answer"
	done <"$rows"
	rm -f "$work/sql.want" "$work/sql.got"
done

about "GPU time of kernels by enclosing NVTX range: a join in the sqlite3 shell beside extract | fold --by nvtx, at most $LIMIT s each." \
	"'indexed' has indexes made beforehand, on correlationId and on (globalTid, start, end, text); ratios are to nsysx."
show sql
