-- GPU work of each NVTX range, by the definition and with no regard for time: range, start, dur, launches. `work` is a view of all operations. A
-- call of the driver within a call of the runtime has its correlation id: they are one launch. A range without end lasts to the last that is known.
WITH launched AS (
	SELECT r.globalTid AS tid, r.correlationId AS c, r.start AS called, r.end AS returned, min(w.start) AS first, max(w.end) AS last
	FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN work w ON w.c = r.correlationId AND w.p = (r.globalTid & ~0xFFFFFF)
	GROUP BY r.rowid),
ranges AS (SELECT rowid AS id, * FROM NVTX_EVENTS WHERE eventType IN (59, 60, 70, 71) AND endGlobalTid IS NULL),
known AS (SELECT max(max(start), max(end)) AS last FROM ranges)
SELECT n.id, min(l.first), max(l.last) - min(l.first), count(DISTINCT l.c)
FROM ranges n JOIN launched l ON l.tid = n.globalTid AND l.called >= n.start AND l.returned <= coalesce(n.end, (SELECT last FROM known))
GROUP BY n.id ORDER BY n.id;
