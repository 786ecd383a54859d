#!/bin/sh
# nsysx-extract writes the same bytes whatever the number of threads and the order of files, of exports that are read in many parts and in
# which most things start when something else does.
. "${0%/*}/../testlib.sh"

"$SYNTH" -o "$T/a" --scale 320000 --ties || exit 1
"$SYNTH" -o "$T/b" --scale 120000 --ties --seed 2 || exit 1
mv "$T/a/r0.sqlite" "$T/a.sqlite"
mv "$T/b/r0.sqlite" "$T/b.sqlite"
nsysx-extract -q --ranges --ops -j 1 "$T/a.sqlite" >"$T/one"
nsysx-extract -q --ranges=all -j 1 "$T/a.sqlite" >"$T/all"

total() { awk -F'\t' -v q="$1" '$1 == q { print $2 }' "$T/a/answers/totals.tsv"; }
equal 'more than 100,000 records' "$(($(wc -l <"$T/one") > 100000))" 1
equal 'most of them start when another does' "$(awk -F'\t' '$1 == "range" { n[$11]++ } $1 == "op" { n[$8]++ } END { for (s in n) if (n[s] > 1) t += n[s]; else o++; print (t > 9 * o) }' "$T/one")" 1

# They are right, too: against the generator's sums.
equal 'projected ranges' "$(awk -F'\t' '$1 == "range"' "$T/one" | wc -l)" "$(total projected)"
equal 'all ranges' "$(awk -F'\t' '$1 == "range"' "$T/all" | wc -l)" "$(total ranges)"
equal 'kernels and their time' "$(awk -F'\t' '$1 == "op" { n++; t += $9 } END { printf "%d %.0f", n, t }' "$T/one")" "$(total kernels) $(total kernel_time)"
for l in 0 1 2 3 4 5; do
	equal "ranges, operations and time of level $l" \
		"$(awk -F'\t' -v l=$l '$1 == "range" && $5 == l { n++; t += $12; o += $15 } END { printf "%d %.0f %.0f", n, o, t }' "$T/one")" \
		"$(total projected_level_$l) $(total ops_level_$l) $(total dur_level_$l)"
done

# docs/format.md's order, where starts are equal: range before op, the longer first, then device, then range.
equal 'equal starts stand in the order of the format' "$(awk -F'\t' '
	$1 == "range" { kind = 0; start = $11; dur = $12; device = $8; id = $3 }
	$1 == "op" { kind = 1; start = $8; dur = $9; device = $5; id = $10 == "" ? -1 : $10 }
	$1 != "range" && $1 != "op" { next }
	seen && (start < s || start == s && (kind < k || kind == k && (dur > d || dur == d && (device < v || device == v && id < i)))) { print NR; exit }
	{ seen = 1; s = start; k = kind; d = dur; v = device; i = id }' "$T/one")" ''
equal 'ranges without GPU work follow by host start' "$(awk -F'\t' '
	$1 != "range" { next }
	$11 != "" { if (host) { print NR; exit } next }
	host && ($13 < s || $13 == s && ($14 > d || $14 == d && $3 < i)) { print NR; exit }
	{ host = 1; s = $13; d = $14; i = $3 }' "$T/all")" ''

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

done_testing
