/* floor.c -- nsx-floor: the time of libsqlite3 alone to step, on one thread, through the columns that extracting ranges uses.
 * The yardstick of `make bench`; prints how many rows each table has and a sum, so that reading cannot be optimised away. -V: the library's version. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table { const char *name, *columns; };

static const struct table tables[] = {
	{ "NVTX_EVENTS", "rowid, start, end, eventType, text, textId, globalTid, endGlobalTid, domainId" },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId" },
	{ "CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId, correlationId, globalPid" },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, deviceId, correlationId, globalPid" },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", "start, end, deviceId, correlationId, globalPid" },
};

static void
die(sqlite3 *db, const char *what)
{
	fprintf(stderr, "nsx-floor: %s: %s\n", what, db ? sqlite3_errmsg(db) : "out of memory");
	exit(1);
}

static int
exists(sqlite3 *db, const char *name)
{
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", -1, &s, NULL) != SQLITE_OK)
		die(db, name);
	sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	int found = sqlite3_step(s) == SQLITE_ROW;
	sqlite3_finalize(s);
	return found;
}

static void
read_all(sqlite3 *db, const struct table *t)
{
	char sql[512];
	sqlite3_stmt *s;
	uint64_t sum = 0;
	int64_t rows = 0;
	int rc;

	snprintf(sql, sizeof sql, "SELECT %s FROM %s", t->columns, t->name);
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		die(db, t->name);
	int n = sqlite3_column_count(s);
	int text = strncmp(t->name, "NVTX", 4) == 0 ? 4 : -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++)
			if (i == text) {
				const unsigned char *p = sqlite3_column_text(s, i);
				sum += p ? (uint64_t)sqlite3_column_bytes(s, i) + p[0] : 0;
			} else {
				sum += (uint64_t)sqlite3_column_int64(s, i);
			}
		rows++;
	}
	if (rc != SQLITE_DONE)
		die(db, t->name);
	sqlite3_finalize(s);
	printf("%s\t%" PRId64 "\t%" PRIx64 "\n", t->name, rows, sum);
}

int
main(int argc, char **argv)
{
	sqlite3 *db = NULL;

	if (argc == 2 && strcmp(argv[1], "-V") == 0)
		return puts(sqlite3_libversion()) < 0;
	if (argc != 2) {
		fprintf(stderr, "usage: nsx-floor EXPORT | -V\n");
		return 2;
	}
	if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		die(db, argv[1]);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (exists(db, tables[i].name))
			read_all(db, &tables[i]);
	sqlite3_close(db);
	return 0;
}
