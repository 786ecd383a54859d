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

# docs/format.md's order, where times are equal: range before op, the longer first, then device, pid, tid, range, name, number. An
# absent number is before all.
for f in one all; do
	equal "$f: in the order of the format, equal times too" "$(awk -F'\t' '
		function number(x) { return x == "" ? -1 : x + 0 }
		$1 != "range" && $1 != "op" { next }
		{ for (c in now) last[c] = now[c] }
		$1 == "range" { now[1] = $11 != "" && $11 < $13 ? $11 : $13; now[2] = 0; now[3] = -$14; now[4] = number($8); now[5] = $6; now[6] = $7; now[7] = $3; now[8] = $10; now[9] = 0 }
		$1 == "op" { now[1] = $8; now[2] = 1; now[3] = -$9; now[4] = number($5); now[5] = now[6] = 0; now[7] = number($10); now[8] = $7; now[9] = $3 }
		seen++ { for (c = 1; c <= 9; c++) { x = c == 8 ? now[c] "" : now[c] + 0; y = c == 8 ? last[c] "" : last[c] + 0
			if (x > y) break; if (x < y) { print NR; exit } } }
		END { if (seen < 1000) print "few" }' "$T/$f")" ''
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

done_testing
