#!/bin/sh
# Exports in which a view stands for a table, or a table has no rowids: what comes of them is what comes of plain tables.
. "${0%/*}/../testlib.sh"

command -v sqlite3 >/dev/null || skip_all 'no sqlite3, which makes the exports'
"$SYNTH" -q --payloads --titles 2026 --schema 3.25.0 --processes 1 -o "$T/job" || exit 1
"$SYNTH" -q --torch -o "$T/torch" || exit 1
mkdir "$T/view"

extract() { nsysx-extract -q -a "$1" | grep -v '^#'; }
# One table of the export, or all of them, behind a view: its stream, and the table's name if it is not the same.
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
	equal "$kind: there is something to compare" "$(test "$(wc -l <"$T/$kind.nsysx")" -gt 100 && echo yes)" yes
done
nsysx-extract -q -a "$T/view/r0.sqlite" | grep -v '^#' | cmp - "$T/torch.nsysx" && nsysx-extract -q -a -j 4 "$T/view/r0.sqlite" | grep -v '^#' >"$T/four"
same 'however many threads read' "$T/four" "$T/torch.nsysx"

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

# A view's own rowid is the row's number, and its rows may be fewer.
cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
sqlite3 "$T/view/r0.sqlite" 'DELETE FROM NVTX_EVENTS WHERE rowid % 3 = 0'
extract "$T/view/r0.sqlite" >"$T/fewer"
cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
sqlite3 "$T/view/r0.sqlite" 'ALTER TABLE NVTX_EVENTS RENAME TO x; CREATE VIEW Nvtx_Events AS SELECT rowid, * FROM x WHERE rowid % 3 <> 0'
extract "$T/view/r0.sqlite" >"$T/got"
same 'a view of some rows, which gives their rowid' "$T/got" "$T/fewer"

one() { # SQL of the view: the message
	cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
	sqlite3 "$T/view/r0.sqlite" "ALTER TABLE StringIds RENAME TO x; CREATE VIEW StringIds AS $1" || exit 1
}
one 'SELECT id FROM x'
fails 'a view that lacks a column' 1 'StringIds: no column value' nsysx-extract "$T/view/r0.sqlite"
one 'SELECT id, value FROM nowhere'
fails 'a view of a table that is not there' 1 'no such table: main.nowhere' nsysx-extract "$T/view/r0.sqlite"
one 'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS value FROM n'
fails 'a view without end' 1 'a view that is recursive is not read' nsysx-extract "$T/view/r0.sqlite"
cp "$T/torch/r0.sqlite" "$T/view/r0.sqlite"
sqlite3 "$T/view/r0.sqlite" 'ALTER TABLE StringIds RENAME TO x; CREATE VIEW StringIds AS SELECT * FROM x'
page=$(sqlite3 "$T/view/r0.sqlite" "SELECT rootpage FROM sqlite_master WHERE name = 'x'") size=$(sqlite3 "$T/view/r0.sqlite" 'PRAGMA page_size')
printf '\377\377' | dd of="$T/view/r0.sqlite" bs=1 seek=$(((page - 1) * size + 3)) conv=notrunc 2>/dev/null
fails 'damage in the table behind a view' 1 'damaged' nsysx-extract "$T/view/r0.sqlite"
done_testing
