#!/bin/sh
# nsysx-extract writes the same bytes for any number of threads and order of files, with exports that are read in many parts and in
# which most records have the same time as another.
. "${0%/*}/../testlib.sh"

"$SYNTH" -o "$T/a" --scale 320000 --ties || exit 1
"$SYNTH" -o "$T/b" --scale 120000 --ties --seed 2 || exit 1
mv "$T/a/r0.sqlite" "$T/a.sqlite"
mv "$T/b/r0.sqlite" "$T/b.sqlite"
nsysx-extract -q --ranges --ops -j 1 "$T/a.sqlite" >"$T/one"
nsysx-extract -q --ranges=all -j 1 "$T/a.sqlite" >"$T/all"

total() { awk -F'\t' -v q="$1" '$1 == q { print $2 }' "$T/a/answers/totals.tsv"; }
equal 'more than 100,000 records' "$(($(wc -l <"$T/one") > 100000))" 1
equal 'most of them have the same start as another' "$(awk -F'\t' '$1 == "range" { n[$11]++ } $1 == "op" { n[$8]++ } END { for (s in n) if (n[s] > 1) t += n[s]; else o++; print (t > 9 * o) }' "$T/one")" 1

# Compared with the generator's sums.
equal 'projected ranges' "$(awk -F'\t' '$1 == "range"' "$T/one" | wc -l)" "$(total projected)"
equal 'all ranges' "$(awk -F'\t' '$1 == "range"' "$T/all" | wc -l)" "$(total ranges)"
equal 'kernels and their time' "$(awk -F'\t' '$1 == "op" { n++; t += $9 } END { printf "%d %.0f", n, t }' "$T/one")" "$(total kernels) $(total kernel_time)"
for l in 0 1 2 3 4 5; do
	equal "ranges, operations and time of level $l" \
		"$(awk -F'\t' -v l=$l '$1 == "range" && $5 == l { n++; t += $12; o += $15 } END { printf "%d %.0f %.0f", n, o, t }' "$T/one")" \
		"$(total projected_level_$l) $(total ops_level_$l) $(total dur_level_$l)"
done

for f in one all; do
	equal "$f: sorted, also records with equal times" "$(LC_ALL=C awk -v min=1000 -f ties.awk "$T/$f" | head -3)" ''
done

for j in 2 3 8; do
	nsysx-extract -q --ranges --ops -j $j "$T/a.sqlite" >"$T/other"
	same "$j threads" "$T/one" "$T/other"
	nsysx-extract -q --ranges=all -j $j "$T/a.sqlite" >"$T/other"
	same "$j threads, all ranges" "$T/all" "$T/other"
	nsysx-extract -q --ranges --ops -b -j $j "$T/a.sqlite" | nsysx-view >"$T/other"
	same "$j threads, in binary" "$T/one" "$T/other"
done

nsysx-extract -q --ranges --ops -j 1 "$T/a.sqlite" "$T/b.sqlite" >"$T/both"
for j in 1 2 8; do
	nsysx-extract -q --ranges --ops -j $j "$T/b.sqlite" "$T/a.sqlite" >"$T/other"
	same "two exports in the other order, $j threads" "$T/both" "$T/other"
done
nsysx-extract -q --ranges --ops --spool -j 2 "$T/b.sqlite" "$T/a.sqlite" >"$T/other"
same 'one at a time' "$T/both" "$T/other"
nsysx-extract -q -a "$T/a.sqlite" "$T/b.sqlite" >"$T/both"
nsysx-extract -q -a "$T/a.sqlite" >"$T/one"
nsysx-extract -q -a "$T/b.sqlite" >"$T/other"
nsysx-merge -q "$T/one" "$T/other" >"$T/merged"
same 'one by one, then merged' "$T/both" "$T/merged"
equal 'sorted, also with calls' "$(LC_ALL=C awk -v min=1000 -f ties.awk "$T/both" | head -3)" ''

# Operations with the same time are ordered by their launching thread first: here the one launched first has the later thread.
"$SYNTH" -o "$T/c" --scale 12000 --ties || exit 1
if command -v sqlite3 >/dev/null 2>&1; then
	sqlite3 "$T/c/r0.sqlite" 'DELETE FROM NVTX_EVENTS;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = (globalTid & ~16777215) | (16777215 - (globalTid & 16777215))'
	nsysx-extract -q --ops "$T/c/r0.sqlite" >"$T/turned"
	equal 'operations with the same time are ordered by the thread of their call' "$(LC_ALL=C awk -v min=100 -f ties.awk "$T/turned" | head -3)" ''
else
	skip 'operations with the same time are ordered by the thread of their call' 'no sqlite3'
fi

done_testing
