#!/bin/sh
# Other forms of the exports of tests/tools/graphs.sh: titles that are not strings of the export, command buffers without a number or with another
# word, misleading names of fusions. The expected result is that of the generator's answers, or of the unchanged export.
. "${0%/*}/../testlib.sh"
. "$tests_dir/answers.sh"

"$SYNTH" -o "$T/job" --xla26 --devices 2 || exit 1
job=$T/job

# extracted NAME OPTION...: stream of $T/NAME.sqlite, with the export's name in the answers; diags in $T/NAME.err.
extracted() {
	form=$1
	shift
	mkdir -p "$T/$form.d"
	mv "$T/$form.sqlite" "$T/$form.d/r0.sqlite"
	nsysx-extract -v "$@" "$T/$form.d/r0.sqlite" >"$T/$form.nsx" 2>"$T/$form.err"
}

# form NAME: a copy of the export, changed by the SQL on standard input. title: the text of each range.
form() {
	cp "$job/r0.sqlite" "$T/$1.sqlite"
	{
		echo 'CREATE TEMP TABLE title AS SELECT n.rowid AS id, n.start AS start, n.end AS end, n.globalTid AS tid, coalesce(n.text, s.value) AS text
			FROM NVTX_EVENTS AS n LEFT JOIN StringIds AS s ON s.id = n.textId;'
		cat
	} | sqlite3 "$T/$1.sqlite"
}

form plain </dev/null
extracted plain -x "$job/dump0"
mv "$T/plain.d/r0.sqlite" "$T/plain.sqlite"
mv "$T/plain.nsx" "$T/dumped.nsx"
extracted plain

# ---- titles in the table of ranges: which operations are needed is known only after reading ranges

form inline <<'SQL'
UPDATE NVTX_EVENTS SET text = (SELECT text FROM temp.title WHERE id = NVTX_EVENTS.rowid), textId = NULL;
DELETE FROM StringIds WHERE value LIKE 'Thunk%' OR value LIKE 'Xla%';
SQL
extracted inline
same 'titles that are not in StringIds: the same stream' "$T/plain.nsx" "$T/inline.nsx"
extract_many() { nsysx-extract -q "$@" "$T/inline.d/r0.sqlite" | sed '/^diag/d'; }
extract_many -j 1 >"$T/one"
extract_many -j 4 >"$T/four"
same '... with any number of threads' "$T/one" "$T/four"

# ---- command buffers that run op by op because of a profiler have a longer name

form profiled <<'SQL'
INSERT INTO StringIds (id, value)
	SELECT 1000000 + s.id, 'Thunk:#' || replace(substr(s.value, 8), '#', ' (disabled for profiling)#') FROM StringIds AS s
	WHERE s.value LIKE 'Thunk:#hlo_op=command_buffer%';
UPDATE NVTX_EVENTS SET textId = 1000000 + textId WHERE rowid IN (SELECT b.id FROM temp.title AS b WHERE b.text LIKE 'Thunk:#hlo_op=command_buffer%'
	AND EXISTS (SELECT 1 FROM temp.title AS t WHERE t.tid = b.tid AND t.start > b.start AND t.end < b.end AND t.text LIKE 'Thunk%'));
SQL
equal 'some command buffers run op by op' "$(sqlite3 "$T/profiled.sqlite" "SELECT count(*) > 0 FROM NVTX_EVENTS WHERE textId IN (SELECT id FROM StringIds WHERE value LIKE '%command_buffer%(disabled for profiling)#')")" 1
extracted profiled
same 'longer names of command buffers: the same stream' "$T/plain.nsx" "$T/profiled.nsx"

# ---- command buffers without numbers, as before 2026: identified by their position in an execution, if all executions have as many

# Time of each name in a stream.
time_by_name() {
	awk -F'\t' '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
		$1 == "thunk" { ns[$(col["thunk", "program"]) "\t" $(col["thunk", "name"])] += $(col["thunk", "dur"]) }
		END { for (k in ns) print k "\t" ns[k] }' "$1" | sort
}
form nameless <<'SQL'
UPDATE StringIds SET value = 'Thunk:#hlo_op=command_buffer#' WHERE value LIKE 'Thunk:#hlo_op=command_buffer%';
SQL
extracted nameless
time_by_name "$T/plain.nsx" >"$T/right"
time_by_name "$T/nameless.nsx" >"$T/got"
grep -v command_buffer "$T/got" | awk -F'\t' '
	NR == FNR { ns[$1, $2] = $3; next }
	{ n++; bad += $3 > ns[$1, $2] }
	END { print (n > 0), bad + 0 }' "$T/right" - >"$T/bad"
equal 'no numbers: no instruction gets time of another' "$(cat "$T/bad")" '1 0'
equal 'no time is lost' "$(awk -F'\t' '{ n += $3 } END { print n }' "$T/got")" "$(awk -F'\t' '{ n += $3 } END { print n }' "$T/right")"
told() { sed -n 's/.*operation by operation .* (\([0-9]*\))$/\1/p' "$T/$1.err"; }
equal 'buffers outside loops are identified' "$(awk -v n="$(told nameless)" -v all="$(told plain)" 'BEGIN { print (n > 0 && n <= all) }')" 1

# ---- a fusion with another name, and a loop with the name of a fusion: without a dump names decide, with one opcodes

mkdir "$T/renamed"
for f in "$job/dump0"/*; do
	sed 's/loop_dynamic_slice_fusion\.20/loop_dynamic_slice_fusixn.20/g; s/while\.40/fusion.9/g' "$f" >"$T/renamed/${f##*/}"
done
form misnamed <<'SQL'
UPDATE StringIds SET value = replace(replace(value, 'loop_dynamic_slice_fusion.20', 'loop_dynamic_slice_fusixn.20'), 'while.40', 'fusion.9');
SQL
cp "$T/misnamed.sqlite" "$T/bare.sqlite"
extracted misnamed -x "$T/renamed"
sed -i 's/loop_dynamic_slice_fusixn\.20/loop_dynamic_slice_fusion.20/g; s/fusion\.9\([^0-9]\)/while.40\1/g' "$T/misnamed.nsx"
said thunks_dump "$T/dumped.nsx" >"$T/right"
said thunks_dump "$T/misnamed.nsx" >"$T/got"
same 'with a dump, opcodes identify fusions' "$T/right" "$T/got"
extracted bare
equal 'without a dump, names do' "$(said thunks "$T/bare.nsx" | awk -F'\t' '{ loop += $3 == "fusion.9"; slice += $3 ~ /fusixn/ } END { print (loop > 0), slice + 0 }')" '1 0'
done_testing
