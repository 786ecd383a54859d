#!/bin/sh
# nsysx-view --sqlite: what the database has of a kind is what nsysx-view --table prints of it.
. "${0%/*}/../testlib.sh"

"$SYNTH" -q --processes 2 -o "$T/job" || exit 1
nsysx-extract -q -a -x "$T/job/dump0" -o "$T/s0" "$T/job/r0.sqlite"
nsysx-extract -q -a -x "$T/job/dump1" -o "$T/s1" "$T/job/r1.sqlite"
nsysx-merge -q "$T/s0" "$T/s1" | nsysx-align -q | nsysx-overlap -q | nsysx-collectives -q | nsysx-idle -q --mark -o "$T/s"

# A kind as the database has it, in the form of a table; sorted by Python's rules for numbers of doubles.
cat >"$T/dump.py" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for kind in sys.argv[2:]:
    rows = db.execute(f'SELECT * FROM "{kind}"')
    print(*(c[0] for c in rows.description), sep="\t")
    for row in rows:
        print(*("" if v is None else v.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
            if isinstance(v, str) else repr(float(v)) if isinstance(v, float) else v for v in row), sep="\t")
END
dump() { python3 "$T/dump.py" "$@"; }
# Doubles as Python prints them.
table() {
	nsysx-view -q -t "$2" "$1" | python3 -c '
import sys
floats = set(sys.argv[1].split())
head = next(sys.stdin).rstrip("\n").split("\t")
print(*head, sep="\t")
for line in sys.stdin:
    print(*(repr(float(v)) if v and c in floats else v for c, v in zip(head, line.rstrip("\n").split("\t"))), sep="\t")' \
		"$(nsysx-view --schema | awk -F'\t' -v k="$2" '$1 == k && $3 == "f" { print $2 }')"
}
kinds() { nsysx-view "$1" | sed -n 's/^#\([a-z_]*\)\t.*/\1/p' | grep -vxE 'nsysx|end'; }

nsysx-view --sqlite "$T/db" "$T/s"
n=0
for kind in $(kinds "$T/s"); do
	table "$T/s" "$kind" >"$T/want"
	dump "$T/db" "$kind" >"$T/got"
	same "records of $kind" "$T/want" "$T/got"
	n=$((n + $(wc -l <"$T/got") - 1))
done
equal 'these are all records' "$n" "$(nsysx-view "$T/s" | grep -vc -e '^#' -e '^end')"
equal 'each text is there once' "$(sqlite3 "$T/db" 'SELECT count(*) - count(DISTINCT text) FROM string')" 0
equal 'units and meanings' "$(sqlite3 -separator ' ' "$T/db" "SELECT type, unit, meaning FROM \"column\" WHERE kind = 'op' AND \"column\" = 'dur'")" \
	"integer $(nsysx-view --schema | awk -F'\t' '$1 == "op" && $2 == "dur" { print $4, $5 }')"
nsysx-view -b "$T/s" | nsysx-view --sqlite "$T/db2"
ok 'of a binary stream the same bytes' cmp "$T/db" "$T/db2"
nsysx-view --sqlite "$T/db" --index op.start,op.name "$T/s"
equal 'indices' "$(sqlite3 "$T/db" "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'op%' ORDER BY 1" | tr '\n' ' ')" 'op_by_name op_by_start '
ok '... which queries use' sh -c "sqlite3 '$T/db' 'EXPLAIN QUERY PLAN SELECT dur FROM op WHERE start = 5' | grep -q op_by_start"
nsysx-view --sqlite "$T/db" -k device,program "$T/s"
equal 'kinds that are asked for' "$(sqlite3 "$T/db" "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1" | tr '\n' ' ')" 'device program '

# Unknown kinds, words of SQL, absent values, kinds of one column, and no records.
printf '#nsysx\t2\n#mine\tselect:s\torder:i\tx:f\n#one\tonly:i\n#none\tgroup:i\nmine\tq\\tq\t\t0.5\nmine\t\t-3\t\none\t7\n#end\trecords:i\nend\t3\n' >"$T/odd"
nsysx-view --sqlite "$T/db" "$T/odd"
equal 'kinds that are not known' "$(dump "$T/db" mine one none)" 'select	order	x
q\tq		0.5
	-3	
only
7
group'
head -c 100000 "$T/s" >"$T/cut"
echo before >"$T/kept"
fails 'a stream without its end' 1 'cut' nsysx-view -q --sqlite "$T/kept" "$T/cut"
equal '... leaves the file as it was' "$(cat "$T/kept")$(ls -a "$T" | grep -c '^\.kept')" before0
fails 'a pipe is no database' 1 'a database is written to a file' nsysx-view --sqlite - "$T/s"
fails 'a kind without records' 1 'no stack record' nsysx-view -q --require stack --sqlite "$T/kept" "$T/odd"
fails 'an index of no column' 1 'no such column' nsysx-view --sqlite "$T/kept" --index op.length "$T/s"
fails 'an index of no kind' 1 'want KIND.COLUMN' nsysx-view --sqlite "$T/kept" --index nothing "$T/s"
fails 'no table with it' 2 'goes with --kinds only' nsysx-view --sqlite "$T/kept" -t op "$T/s"
fails 'no other output' 2 'want no -o, -b or -z' nsysx-view --sqlite "$T/kept" -o "$T/x" "$T/s"
fails 'an index without it' 2 '--index goes with --sqlite' nsysx-view --index op.start "$T/s"
fails 'no folder' 1 'create its folder first' nsysx-view --sqlite "$T/no/db" "$T/s"
# A number that is none.
printf '#nsysx\t2\n#clock\tdevice:i\toffset:f\trate:f\nclock\t0\tnan\t0.5\nclock\t1\t2.5\t\n#end\trecords:i\nend\t2\n' >"$T/nan"
nsysx-view -q --sqlite "$T/nan.db" "$T/nan"
equal 'nan is NULL, as absent values are' "$(python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT device, \"offset\", rate FROM clock").fetchall())' "$T/nan.db")" '[(0, None, 0.5), (1, 2.5, None)]'
done_testing
