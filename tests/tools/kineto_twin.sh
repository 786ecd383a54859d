#!/bin/sh
# One generated PyTorch job in two sources: its export, and the same rows written as a trace of PyTorch's profiler. Every table of what both record is the
# same, so what holds for exports (tests/tools/agree.sh, answers of the generator) holds for traces.
. "${0%/*}/../testlib.sh"

# The rows of export $1 that traces have, as JSON, a line each, in an order of their own.
events() {
	sqlite3 "$1" <<-'SQL'
		CREATE TEMP TABLE said AS SELECT id, CASE
			WHEN value GLOB '*_v[0-9][0-9][0-9][0-9][0-9]' THEN substr(value, 1, length(value) - 7)
			WHEN value GLOB '*_v[0-9][0-9][0-9][0-9]' THEN substr(value, 1, length(value) - 6) ELSE value END AS value FROM StringIds;
		CREATE TEMP TABLE word (kind, text); INSERT INTO word VALUES (0, 'Pageable'), (1, 'Pinned'), (2, 'Device'), (3, 'Array'), (4, 'Managed');
		CREATE TEMP TABLE way (kind, text); INSERT INTO way VALUES (1, 'HtoD'), (2, 'DtoH'), (8, 'DtoD'), (9, 'HtoH'), (10, 'PtoP');
		CREATE TEMP TABLE row AS
		SELECT 'kernel' AS cat, s.value AS name, deviceId AS pid, streamId AS tid, start, end,
			json_object('device', deviceId, 'stream', streamId, 'correlation', correlationId) AS args
			FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds AS s ON s.id = demangledName
		UNION ALL SELECT 'gpu_memcpy', 'Memcpy ' || w.text || ' (' || a.text || ' -> ' || b.text || ')', deviceId, streamId, start, end,
			json_object('device', deviceId, 'stream', streamId, 'correlation', correlationId, 'bytes', bytes)
			FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN way AS w ON w.kind = copyKind JOIN word AS a ON a.kind = srcKind JOIN word AS b ON b.kind = dstKind
		UNION ALL SELECT 'gpu_memset', 'Memset (' || a.text || ')', deviceId, streamId, start, end,
			json_object('device', deviceId, 'stream', streamId, 'correlation', correlationId, 'bytes', bytes)
			FROM CUPTI_ACTIVITY_KIND_MEMSET JOIN word AS a ON a.kind = memKind
		UNION ALL SELECT 'cuda_runtime', s.value, globalTid >> 24 & 0xFFFFFF, globalTid & 0xFFFFFF, start, end, json_object('correlation', correlationId)
			FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN said AS s ON s.id = nameId
		UNION ALL SELECT 'user_annotation', coalesce(n.text, s.value), globalTid >> 24 & 0xFFFFFF, globalTid & 0xFFFFFF, start, end, '{}'
			FROM NVTX_EVENTS AS n LEFT JOIN StringIds AS s ON s.id = n.textId;
		SELECT json_object('ph', 'X', 'cat', cat, 'name', name, 'pid', pid, 'tid', tid, 'args', json(args),
			'ts', printf('%d.%03d', start / 1000, start % 1000), 'dur', printf('%d.%03d', (end - start) / 1000, (end - start) % 1000))
			FROM row ORDER BY length(name) * 7919 % 1013, cat, start;
	SQL
}
# $1: a table's command; $2: the columns that only exports have, by a pattern of awk.
same_table() {
	for from in export trace; do
		sh -c "$1" sh "$T/$from.nsx" 2>"$T/err" | awk -F'\t' -v OFS='\t' -v drop="${2:-^$}" 'NR == 1 { for (i = 1; i <= NF; i++) gone[i] = $i ~ drop }
			{ s = ""; for (i = 1; i <= NF; i++) if (!gone[i]) s = s OFS $i; print s }' | sort >"$T/$from.table"
	done
	same "$1" "$T/export.table" "$T/trace.table"
	rows=$((rows + $(wc -l <"$T/export.table")))
}

rows=0
for how in '--torch --processes 1' '--torch --seed 7 --shuffle' '--torch=vllm --seed 3' '--torch --seed 5 --steps 8'; do
	rm -rf "$T/job"
	# shellcheck disable=SC2086
	"$SYNTH" -q -o "$T/job" $how
	# Only what both have: push/pop ranges of the default domain, no overheads.
	sqlite3 "$T/job/r0.sqlite" "DELETE FROM NVTX_EVENTS WHERE eventType <> 59 OR end IS NULL OR coalesce(domainId, 0) <> 0; DROP TABLE IF EXISTS PROFILER_OVERHEAD;
		DROP TABLE IF EXISTS CUPTI_ACTIVITY_KIND_OVERHEAD; DROP TABLE IF EXISTS CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
	{
		echo '{"baseTimeNanoseconds": 0, "traceEvents": ['
		events "$T/job/r0.sqlite" | sed '$!s/$/,/'
		echo ']}'
	} >"$T/trace.json"
	nsysx-extract -q -a -o "$T/export.nsx" "$T/job/r0.sqlite"
	nsysx-extract -q -a -o "$T/trace.nsx" "$T/trace.json"
	same_table 'nsysx-summary -q --by kernel --tsv "$1"'
	same_table 'nsysx-summary -q --by range --tsv "$1"'
	same_table 'nsysx-launch -q --tsv "$1"' '^(stalled|loading)$'
	same_table 'nsysx-copies -q --tsv "$1"'
	same_table 'nsysx-idle -q --tsv "$1"'
	same_table 'nsysx-steps -q --tsv "$1"'
	same_table 'nsysx-overlap -q "$1" | nsysx-fold -q --by nvtx'
	same_table 'nsysx-overlap -q "$1" | nsysx-summary -q --by collective --tsv'
	same_table 'nsysx-idle -q --folded "$1"'
done
ok "there is much to compare: $rows rows" test "$rows" -gt 300
done_testing
