-- The statements that put a secret of its own, hush-N-hush, into every text column of an export that extraction has no need to read,
-- and into the rows of those it reads that say nothing about programs. For `sqlite3 EXPORT`, to be run by it again.
WITH
-- What is read as a whole.
needed(t, c) AS (VALUES
	('NVTX_EVENTS', 'text'), ('NVTX_EVENTS', 'binaryData'), ('StringIds', 'value'),
	('NVTX_PAYLOAD_SCHEMAS', 'name'), ('NVTX_PAYLOAD_SCHEMA_ENTRIES', 'name'),
	('TARGET_INFO_GPU', 'name'), ('TARGET_INFO_GPU', 'uuid'), ('TARGET_INFO_NVTX_CUDA_DEVICE', 'name'),
	-- Told apart by row below.
	('META_DATA_EXPORT', 'name'), ('META_DATA_EXPORT', 'value'), ('EXPORT_META_DATA', 'name'), ('EXPORT_META_DATA', 'value'),
	('TARGET_INFO_SYSTEM_ENV', 'name'), ('TARGET_INFO_SYSTEM_ENV', 'value')),
texts(t, c) AS (
	SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
	WHERE m.type = 'table' AND (c.type LIKE '%TEXT%' OR c.type LIKE '%CHAR%' OR c.type LIKE '%BLOB%') AND (m.name, c.name) NOT IN (SELECT t, c FROM needed)),
-- Rows told apart: their condition.
rows(t, c, which) AS (
	SELECT name, 'value', 'name NOT LIKE ''EXPORT_PRODUCT%'' AND name NOT LIKE ''EXPORT_SCHEMA_VERSION%'''
	FROM sqlite_master WHERE name IN ('META_DATA_EXPORT', 'EXPORT_META_DATA')
	UNION ALL SELECT name, 'value', 'name <> ''Hostname''' FROM sqlite_master WHERE name = 'TARGET_INFO_SYSTEM_ENV'
	UNION ALL SELECT 'NVTX_EVENTS', 'text', 'eventType IN (33, 34, 39)'
	UNION ALL SELECT 'StringIds', 'value', 'value LIKE ''%hush%'''
	UNION ALL SELECT t, c, '1' FROM texts)
SELECT 'UPDATE "' || t || '" SET "' || c || '" = ''hush-' || row_number() OVER (ORDER BY t, c) || '-hush '' || rowid WHERE ' || which || ';' FROM rows;
