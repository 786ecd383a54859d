#!/bin/sh
# Exports with a view in place of a table, or with tables without rowids, give the same stream as plain tables.
. "${0%/*}/../testlib.sh"

command -v sqlite3 >/dev/null || skip_all 'no sqlite3, which makes the exports'
"$SYNTH" -q --payloads --titles 2026 --schema 3.25.0 --processes 1 -o "$T/job" || exit 1
"$SYNTH" -q --torch -o "$T/torch" || exit 1
mkdir "$T/view"

extract() { nsysx-extract -q -a "$1" | grep -v '^#'; }
# One table of the export, or all, behind a view: its stream, and the table's name if the stream differs.
behind() { # WANT EXPORT TABLE...
	want=$1 export=$2
	shift 2
	cp "$export" "$T/view/r0.sqlite"
	for t; do
		echo "ALTER TABLE $t RENAME TO ${t}_behind; CREATE VIEW $t AS SELECT * FROM ${t}_behind;"
	done | sqlite3 "$T/view/r0.sqlite" || exit 1
	extract "$T/view/r0.sqlite" 2>"$T/err" | cmp -s - "$want" || echo "$*: $(cat "$T/err")"
}
tables() { sqlite3 "$1" "SELECT name FROM sqlite_master WHERE type = 'table'"; }
for kind in job torch; do
	extract "$T/$kind/r0.sqlite" >"$T/$kind.nsysx"
	for t in $(tables "$T/$kind/r0.sqlite"); do
		behind "$T/$kind.nsysx" "$T/$kind/r0.sqlite" "$t"
	done >"$T/differ"
	equal "$kind: each of $(tables "$T/$kind/r0.sqlite" | wc -l) tables as a view" "$(cat "$T/differ")" ''
	equal "$kind: all at once" "$(behind "$T/$kind.nsysx" "$T/$kind/r0.sqlite" $(tables "$T/$kind/r0.sqlite"))" ''
	equal "$kind: the stream has records" "$(test "$(wc -l <"$T/$kind.nsysx")" -gt 100 && echo yes)" yes
done
nsysx-extract -q -a "$T/view/r0.sqlite" | grep -v '^#' | cmp - "$T/torch.nsysx" && nsysx-extract -q -a -j 4 "$T/view/r0.sqlite" | grep -v '^#' >"$T/four"
same 'any number of threads' "$T/four" "$T/torch.nsysx"

# The same rows in tables without rowids.
bare() { # EXPORT KEY TABLE
	cp "$1" "$T/view/r0.sqlite"
	columns=$(sqlite3 "$T/view/r0.sqlite" "SELECT group_concat('\"' || name || '\" ' || type) FROM pragma_table_info('$3')")
	sqlite3 "$T/view/r0.sqlite" "ALTER TABLE $3 RENAME TO before; CREATE TABLE $3(n INTEGER, $columns, PRIMARY KEY(n)) WITHOUT ROWID;
		INSERT INTO $3 SELECT rowid, * FROM before; DROP TABLE before" || exit 1
	extract "$T/view/r0.sqlite" 2>"$T/err" | cmp -s - "$2" || echo "$3: $(cat "$T/err")"
}
for kind in job torch; do
	for t in NVTX_EVENTS CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_MEMCPY StringIds ThreadNames; do
		case "
$(tables "$T/$kind/r0.sqlite")
" in *"
$t
"*)
			bare "$T/$kind/r0.sqlite" "$T/$kind.nsysx" $t ;;
		esac
	done >"$T/differ"
	equal "$kind: tables WITHOUT ROWID" "$(cat "$T/differ")" ''
done

# Keys that are another name of the rowid, and keys that look like it.
keyed() { # EXPORT WANT KEY
	cp "$1" "$T/view/r0.sqlite"
	sqlite3 "$T/view/r0.sqlite" "ALTER TABLE StringIds RENAME TO before; CREATE TABLE StringIds(filler TEXT, id $3, value TEXT);
		INSERT INTO StringIds SELECT 'x', * FROM before ORDER BY -id; DROP TABLE before" || exit 1
	extract "$T/view/r0.sqlite" 2>"$T/err" | cmp -s - "$2" || echo "$3: $(cat "$T/err")"
}
for kind in job torch; do
	for key in 'INTEGER' 'INT PRIMARY KEY' 'INTEGER PRIMARY KEY' 'INTEGER NOT NULL PRIMARY KEY DESC' 'integer primary key'; do
		keyed "$T/$kind/r0.sqlite" "$T/$kind.nsysx" "$key"
	done >"$T/differ"
	equal "$kind: keys of StringIds" "$(cat "$T/differ")" ''
done

# A view's own rowid is the row's number, and it may have fewer rows.
cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
sqlite3 "$T/view/r0.sqlite" 'DELETE FROM NVTX_EVENTS WHERE rowid % 3 = 0'
extract "$T/view/r0.sqlite" >"$T/fewer"
cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
sqlite3 "$T/view/r0.sqlite" 'ALTER TABLE NVTX_EVENTS RENAME TO x; CREATE VIEW Nvtx_Events AS SELECT rowid, * FROM x WHERE rowid % 3 <> 0'
extract "$T/view/r0.sqlite" >"$T/got"
same 'a view of some rows with their rowid' "$T/got" "$T/fewer"

one() { # SQL of the view: the message
	cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
	sqlite3 "$T/view/r0.sqlite" "ALTER TABLE StringIds RENAME TO x; CREATE VIEW StringIds AS $1" || exit 1
}
one 'SELECT id FROM x'
fails 'a view that lacks a column' 1 'StringIds: no column value' nsysx-extract "$T/view/r0.sqlite"
one 'SELECT id, value FROM nowhere'
fails 'a view of a missing table' 1 'no such table: main.nowhere' nsysx-extract "$T/view/r0.sqlite"
one 'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS value FROM n'
fails 'an infinite view' 1 'a view that is recursive is not read' nsysx-extract "$T/view/r0.sqlite"
fails '... the message has a command that makes a table of it' 1 "sqlite3 $T/view/r0.sqlite 'CREATE TABLE t AS SELECT * FROM StringIds; DROP VIEW StringIds; ALTER TABLE t RENAME TO StringIds'" nsysx-extract "$T/view/r0.sqlite"

# Joins without a condition take days: rows, steps and memory are limited.
one 'SELECT a.id, a.value FROM x AS a, x AS b, x AS c, x AS d, x AS e'
fails 'a view of more rows than a file of its size can have' 1 'StringIds: the view returns more rows than a file of 131072 bytes can need' \
	timeout 100 nsysx-extract "$T/view/r0.sqlite"
nsysx-extract "$T/view/r0.sqlite" 2>&1 | sed -n "s/.*does it join tables without a condition.*make a table of it: .\(sqlite3 .*'\).$/\1/p" >"$T/command"
one 'SELECT * FROM x WHERE id <> -1'
sh -e "$T/command"
equal '... the message has a command that makes a table of it' "$(sqlite3 "$T/view/r0.sqlite" "SELECT type FROM sqlite_master WHERE name = 'StringIds'")" table
extract "$T/view/r0.sqlite" >"$T/got"
same '... with the same rows' "$T/got" "$T/torch.nsysx"
one 'SELECT a.id, a.value FROM x AS a, x AS b, x AS c, x AS d, x AS e, x AS f WHERE a.id + b.id + c.id + d.id + e.id + f.id < -1'
fails 'an empty view that takes too long' 1 'StringIds: the view takes more steps than' timeout 100 nsysx-extract "$T/view/r0.sqlite"
one 'SELECT a.id, a.value FROM x AS a, x AS b, x AS c, x AS d, x AS e ORDER BY a.value || b.value || c.value || d.value || e.value'
if grep -qa -e __asan_init -e __tsan_init "$B/bin/nsysx-extract"; then
	skip 'a view that sorts too much' 'a sanitizer takes memory of its own, beyond any limit'
else
	fails 'a view that sorts too much' 1 'StringIds: the view takes more memory than' timeout 100 nsysx-extract --max-memory 1G "$T/view/r0.sqlite"
fi

# Typical views, on an export beyond the minimum limits: the same as plain tables.
"$SYNTH" -q --scale 60000 -o "$T/large" >/dev/null || exit 1
extract "$T/large/r0.sqlite" >"$T/large.nsysx"
cp "$T/large/r0.sqlite" "$T/view/r0.sqlite"
sqlite3 "$T/view/r0.sqlite" '
	ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO k; ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME TO r; ALTER TABLE NVTX_EVENTS RENAME TO n;
	CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT k.* FROM k JOIN StringIds AS a ON a.id = k.shortName LEFT JOIN StringIds AS b ON b.value = a.value
		LEFT JOIN (SELECT max(start) AS start, correlationId FROM r GROUP BY correlationId) AS c ON c.correlationId = k.correlationId ORDER BY k.rowid;
	CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT * FROM (SELECT rowid AS at, * FROM r UNION SELECT rowid AS at, * FROM r) ORDER BY at;
	CREATE VIEW NVTX_EVENTS AS SELECT * FROM (SELECT rowid AS at, * FROM n WHERE start % 2 = 0 UNION ALL SELECT rowid AS at, * FROM n WHERE start % 2 = 1) ORDER BY at' || exit 1
extract "$T/view/r0.sqlite" >"$T/got"
same 'views that join by key, concatenate and sort are read' "$T/got" "$T/large.nsysx"

cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
sqlite3 "$T/view/r0.sqlite" 'ALTER TABLE StringIds RENAME TO x; CREATE VIEW StringIds AS SELECT * FROM x'
page=$(sqlite3 "$T/view/r0.sqlite" "SELECT rootpage FROM sqlite_master WHERE name = 'x'") size=$(sqlite3 "$T/view/r0.sqlite" 'PRAGMA page_size')
printf '\377\377' | dd of="$T/view/r0.sqlite" bs=1 seek=$(((page - 1) * size + 3)) conv=notrunc 2>/dev/null
fails 'damage in the table behind a view' 1 'damaged' nsysx-extract "$T/view/r0.sqlite"
done_testing
