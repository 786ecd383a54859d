#!/bin/sh
# copies.sh -- an export that holds another one N times, one copy after the other: times shifted by whole spans,
# correlation ids by whole maxima, so that each copy projects as the original does.
# usage: copies.sh EXPORT N OUT
set -eu
[ $# = 3 ] || { echo "usage: copies.sh EXPORT N OUT" >&2; exit 2; }
in=$1 n=$2 out=$3

cp "$in" "$out.tmp"
chmod u+w "$out.tmp"
trap 'rm -f "$out.tmp" "$out.sql"' EXIT
has() { [ "$(sqlite3 "$out.tmp" "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '$1'")" = 1 ]; }
columns() { sqlite3 "$out.tmp" "SELECT group_concat(name) FROM pragma_table_info('$1')"; }

# The tables of events that are there, and the span of all of them.
tables= bounds= most=
for t in NVTX_EVENTS CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_MEMCPY CUPTI_ACTIVITY_KIND_MEMSET; do
	has $t || continue
	tables="$tables $t"
	bounds="$bounds${bounds:+ UNION ALL }SELECT start AS a, max(start, ifnull(end, start)) AS b FROM $t"
	case $t in CUPTI*) most="$most${most:+ UNION ALL }SELECT correlationId AS c FROM $t";; esac
done
span=$(sqlite3 "$out.tmp" "SELECT max(b) - min(a) + 1000 FROM ($bounds)")
ids=0
[ -z "$most" ] || ids=$(sqlite3 "$out.tmp" "SELECT ifnull(max(c), 0) + 1 FROM ($most)")

{
	echo "PRAGMA journal_mode=off; PRAGMA synchronous=off; PRAGMA cache_size=-200000; BEGIN;"
	for t in $tables; do
		values=$(columns $t | tr , '\n' | sed \
			-e 's/.*/once."&"/' \
			-e "s/\"\(start\|end\)\"$/& + k.value * $span/" \
			-e "s/\"correlationId\"$/& + k.value * $ids/" | paste -sd, -)
		# Copies follow each other, so that the rows stay sorted as far as they were.
		echo "CREATE TEMP TABLE once AS SELECT * FROM $t ORDER BY rowid;"
		echo "INSERT INTO $t ($(columns $t)) SELECT $values FROM generate_series(1, $((n - 1))) AS k CROSS JOIN once;"
		echo "DROP TABLE once;"
	done
	echo "COMMIT;"
} > "$out.sql"
sqlite3 -bail "$out.tmp" < "$out.sql" > /dev/null
mv "$out.tmp" "$out"
