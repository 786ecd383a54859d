#!/bin/sh
# coverage.sh -- what of lib/ the tests ran, by what gcc counted in the build $B: a row a file, lines, covered, percent, the least covered
# first; the total last. Fails where the total is below 90 %.
#
#   tests/coverage.sh        the table
#   tests/coverage.sh FILE   lines of lib/FILE that no test ran, with their numbers
set -eu
cd "${0%/*}/.."
B=${B:-build/coverage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# gcov's count of each line, in $work; a file's counts are the sum over all programs, as they share one library.
find "$B/lib" -name '*.gcda' >"$work/list"
if [ ! -s "$work/list" ]; then
	echo "coverage.sh: $B/lib: no counts: want a build with --coverage whose tests have run" >&2
	exit 1
fi
while read -r counts; do
	gcov --stdout "$counts" 2>/dev/null
done <"$work/list" >"$work/lines"

if [ $# -gt 0 ]; then
	awk -F: -v want="lib/${1#lib/}" '$3 == "Source" { file = $4 } file == want && $1 ~ /#####|=====/' "$work/lines"
	exit
fi
# COUNT:LINE:TEXT, where no code is COUNT is `-`.
awk -F: '
	$3 == "Source" { file = $4; next }
	$2 + 0 == 0 || file !~ /^lib\/.*\.c$/ { next }
	{ count = $1; gsub(/[ *]/, "", count) }
	count != "-" { lines[file]++; if (count !~ /^[#=]/) covered[file]++ }
	END { for (f in lines) printf "%s\t%d\t%d\t%.1f\n", f, lines[f], covered[f], 100 * covered[f] / lines[f] }' "$work/lines" |
	sort -t "$(printf '\t')" -k 4,4n -k 1,1 |
	awk -F'\t' '
		BEGIN { print "file\tlines\tcovered\tpercent" }
		{ print; n += $2; c += $3 }
		END { printf "lib\t%d\t%d\t%.1f\n", n, c, n ? 100 * c / n : 0; exit !(10 * c >= 9 * n && n) }'
