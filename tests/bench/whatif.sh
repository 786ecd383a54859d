# whatif.sh -- forecasts of nsysx-whatif, and nsysx-diagnose with them, beside reading the stream: for a job of 64 ranks and 500 operations a step, and of
# 2 and 4 times as many ranks. Large: of 1,024 ranks and 5,000 operations, a step of which has 10 million records. And those of a real stream
# (STREAM=FILE of `make bench T=whatif`), if one is named.
whatif_of() {
	name=$1 file=$2 step=$3
	n=$(records "$file")
	turns view "$bin/nsysx-view -q -b -o /dev/null $file" whatif "$bin/nsysx-whatif -q $step -o /dev/null $file" \
		critical "$bin/nsysx-whatif -q $step --critical -o /dev/null $file" diagnose "$bin/nsysx-diagnose -q $step -o /dev/null $file"
	while IFS=$tab read -r command numbers; do
		printf '%s\n' "$numbers" | awk -F'\t' -v n="$n" -v head="$name$tab$command" '{ printf "%s\t%s\t%d\t%.1f\t%.0f\n", head, $0, n, $4 * 1024 / n, n / $3 }'
	done <"$rows" >>"$work/whatif.tsv"
}

row whatif job command "$cost" records peak_bytes_per_record records_per_cpu_s
ops=500 counts='64 128 256'
[ "${SCALE:-small}" = small ] || ops=5000 counts=1024
for ranks in $counts; do
	awk -v ranks="$ranks" -v ops=$ops -v steps=10 -f tests/bench/ranks.awk | "$bin/nsysx-view" -q -b -o "$work/ranks"
	whatif_of "$ranks ranks" "$work/ranks" '--step ^step'
	rm -f "$work/ranks"
done
[ -z "${STREAM-}" ] || whatif_of "${STREAM##*/}" "$STREAM" ''

about 'Forecasts of all usual changes, the critical path, and the diagnosis, which takes 250,000 operations at most for its forecasts.' \
	'Ratios are to reading and writing the stream.'
show whatif
