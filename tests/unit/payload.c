/* payload.c -- payloads of NVTX ranges, valid and damaged, from generated exports. */
#include "nsys/export.h"
#include "nsys/payload.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

enum { SOURCE, LINE, SMALL, NARROW, NENTRIES };
static const char *const schemas[] = { "Other", "Mine" };
static const struct nsx_payload_entry entries[] = { { "Source", true }, { "Line", false }, { "Small", false }, { "Narrow", true } };
static const struct nsx_payload_ask ask = { schemas, 2, entries, NENTRIES };

static const char tables[] =
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, domainId INTEGER, binaryData TEXT);"
	"CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, name TEXT, payloadSize INTEGER);"
	"CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, flags INTEGER, type INTEGER, name TEXT, offset INTEGER);"
	"INSERT INTO StringIds VALUES (5, 'a text'), (6, 'another');"
	/* Source comes first though it is not at 0: an entry at 0 has no offset. Narrow is not a handle, Far is beyond the end. */
	"INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (3, 77, 'Mine', 24), (3, 4294967297, 'Mine', 16), (4, 77, 'Theirs', 8), (3, 1, 'Twice', 8), (3, 1, 'Mine', 16);"
	"INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
	" (3, 77, 0, NULL, 80, 'Source', 8), (3, 77, 2, 0, 15, 'Line', 16), (3, 77, 1, NULL, 12, 'Small', NULL), (3, 77, 3, NULL, 16, 'Narrow', 20),"
	" (3, 4294967297, 1, NULL, 15, 'Line', NULL), (3, 4294967297, 0, NULL, 12, 'Small', NULL), (3, 4294967297, 2, 16, 80, 'Source', 8),"
	" (3, 1, 0, NULL, 80, 'Source', NULL);";

static struct nsx_trace trace;
static struct nsx_diags diags;
static char path[64];

static sqlite3 *
make(void)
{
	sqlite3 *sql = NULL;
	int fd;

	strcpy(path, "/tmp/nsysx-payload-XXXXXX");
	if ((fd = mkstemp(path)) < 0 || close(fd) != 0 || sqlite3_open(path, &sql) != SQLITE_OK ||
	    sqlite3_exec(sql, tables, NULL, NULL, NULL) != SQLITE_OK) {
		printf("Bail out! no export: %s\n", sql ? sqlite3_errmsg(sql) : path);
		exit(1);
	}
	return sql;
}

/* Range `id` with this payload; as text if `text` is set. */
static void
range(sqlite3 *sql, int id, const void *blob, int n, bool text)
{
	sqlite3_stmt *s = NULL;

	sqlite3_prepare_v2(sql, "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, text, globalTid, domainId, binaryData) VALUES (?1, ?1, ?1 + 1, 59, 'x', 16777217, 3, ?2)", -1, &s, NULL);
	sqlite3_bind_int(s, 1, id);
	if (text)
		sqlite3_bind_text(s, 2, blob, n, SQLITE_STATIC);
	else if (blob)
		sqlite3_bind_blob(s, 2, blob, n, SQLITE_STATIC);
	sqlite3_step(s);
	sqlite3_finalize(s);
}

struct blob { unsigned char b[56]; };

/* A complete payload: domain, schema, bytes, and fields: a number of one byte, a handle, a number of four. */
static struct blob
whole(uint64_t schema, uint64_t size, unsigned small, uint64_t handle, uint32_t line)
{
	struct blob x = { { 3 } };

	for (int i = 0; i < 8; i++) {
		x.b[8 + i] = (unsigned char)(schema >> 8 * i);
		x.b[16 + i] = (unsigned char)(size >> 8 * i);
		x.b[40 + i] = (unsigned char)(handle >> 8 * i);
	}
	for (int i = 0; i < 4; i++)
		x.b[48 + i] = (unsigned char)(line >> 8 * i);
	x.b[32] = (unsigned char)small;
	return x;
}

static void
load(sqlite3 *sql)
{
	struct nsx_trace_opts opts = { .jobs = 1 };
	struct nsx_err err = { "" };

	sqlite3_close(sql);
	if (nsx_trace_load(path, &opts, &trace, &diags, &err) != NSX_OK)
		printf("Bail out! %s\n", err.msg);
	unlink(path);
}

static void
unload(void)
{
	nsx_trace_free(&trace);
	nsx_diags_free(&diags);
}

static int64_t
said(const char *text)
{
	for (size_t i = 0; i < diags.list.n; i++)
		if (strstr(diags.list.p[i].text, text))
			return diags.list.p[i].count;
	return 0;
}

static bool
is(const struct nsx_payload_value *v, const char *text)
{
	return v->there && nsx_str_eq(v->text, nsx_str_c(text));
}

static void
good(void)
{
	static const int64_t ids[] = { 10, 11, 12, 13, 14, 15, 10 };
	struct nsx_payload_value v[7 * NENTRIES];
	struct nsx_err err = { "" };
	sqlite3 *sql = make();
	struct blob x = whole(77, 24, 200, 5, (uint32_t)-7), y = whole(77, 24, 1, 0, 9), z = whole(4294967297, 16, 3, 0, 0);
	char hex[2 * sizeof x.b + 3] = "0x";
	int schema[7];

	for (size_t i = 0; i < sizeof x.b; i++)
		snprintf(hex + 2 + 2 * i, 3, i % 2 ? "%02x" : "%02X", x.b[i]);
	z.b[36] = 42;   /* aligned to four bytes */
	range(sql, 10, x.b, sizeof x.b, false);
	range(sql, 11, hex + 2, (int)(2 * sizeof x.b), true);
	range(sql, 12, hex, (int)(2 * sizeof x.b + 2), true);
	range(sql, 13, y.b, sizeof y.b, true);
	range(sql, 14, NULL, 0, false);
	range(sql, 15, z.b, 48, false);
	load(sql);
	ok(trace.payloads, "an export with schemas has payloads");
	ok(nsx_payload_read(&trace, ids, 7, &ask, schema, v, &diags, &err) == NSX_OK, "payloads are read");
	for (int i = 0; i < 3; i++) {
		const struct nsx_payload_value *p = &v[i * NENTRIES];
		ok(schema[i] == 1 && is(&p[SOURCE], "a text") && p[LINE].there && p[LINE].num == -7 && p[SMALL].there && p[SMALL].num == 200,
		   "%s: schema, text, signed and unsigned numbers", i == 0 ? "bytes" : i == 1 ? "hexadecimal" : "hexadecimal with 0x");
	}
	ok(schema[3] == 1 && !v[3 * NENTRIES + SOURCE].there && v[3 * NENTRIES + LINE].num == 9, "bytes as text; without a handle there is no text");
	ok(schema[4] == -1, "no payload");
	ok(schema[5] == 1 && v[5 * NENTRIES + SMALL].num == 3 && v[5 * NENTRIES + LINE].num == 42, "entries without offsets follow each other by alignment");
	ok(!v[5 * NENTRIES + SOURCE].there, "an array is no value");
	ok(schema[6] == 1 && is(&v[6 * NENTRIES + SOURCE], "a text"), "a range may be read twice");
	/* Four bytes cannot be a text: of five payloads; and the array. */
	is_int(said("ignored: unknown type or offset"), 6, "unreadable payloads are counted");
	ok(nsx_payload_read(&trace, ids, 1, &ask, schema, v, &diags, &err) == NSX_OK && is(&v[SOURCE], "a text"), "and read again");
	nsx_payload_close(&trace);
	ok(!trace.payloads && nsx_payload_read(&trace, ids, 1, &ask, schema, v, &diags, &err) == NSX_OK && schema[0] == -1, "no payload after closing");
	unload();
}

static void
bad(void)
{
	static const int64_t ids[] = { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 99 };
	enum { N = sizeof ids / sizeof *ids };
	struct nsx_payload_value v[N * NENTRIES];
	struct nsx_err err = { "" };
	sqlite3 *sql = make();
	struct blob x = whole(77, 24, 0, 5, 0), big = whole(77, UINT64_MAX, 0, 5, 0), small = whole(77, 16, 0, 5, 0), unknown = whole(78, 24, 0, 5, 0);
	struct blob lost = whole(77, 24, 0, 12345, 0), twice = whole(1, 24, 0, 5, 0), theirs = whole(77, 24, 0, 5, 0);
	int schema[N];
	bool none = true;

	theirs.b[0] = 4;
	range(sql, 10, x.b, 20, false);
	range(sql, 11, "", 0, false);
	range(sql, 12, x.b, 50, false);
	range(sql, 13, big.b, 56, false);
	range(sql, 14, small.b, 48, false);
	range(sql, 15, unknown.b, 56, false);
	range(sql, 16, twice.b, 56, false);
	range(sql, 17, theirs.b, 56, false);
	range(sql, 18, "not hexadecimal, and too short for it", 37, true);
	range(sql, 19, lost.b, 56, false);
	load(sql);
	ok(nsx_payload_read(&trace, ids, N, &ask, schema, v, &diags, &err) == NSX_OK, "mutilated payloads are no error");
	for (int i = 0; i < N; i++)
		none = none && (schema[i] == -1 || ids[i] == 19);
	ok(none, "and have no schema");
	ok(schema[9] == 1 && !v[9 * NENTRIES + SOURCE].there && v[9 * NENTRIES + LINE].there, "only the missing string is omitted");
	is_int(said("shorter than their own size"), 6, "cut ones are counted");
	is_int(said("schema is not in the export"), 1, "unknown schemas are counted");
	is_int(said("several schemas of one number"), 1, "schemas that contradict each other are counted");
	is_int(said("not in StringIds"), 1, "lost strings are counted");
	unload();
}

/* Schemas known only by their entries: one unreadable entry makes the schema invalid, and a schema may lack a name. */
static void
any_schema(void)
{
	static const struct nsx_payload_entry numbers[] = { { "Line", false }, { "Small", false } }, wrong[] = { { "Line", false }, { "Source", false } };
	static const struct nsx_payload_ask some = { NULL, 0, numbers, 2 }, none = { NULL, 0, wrong, 2 };
	static const int64_t ids[] = { 10, 11 };
	struct nsx_payload_value v[4];
	struct nsx_err err = { "" };
	sqlite3 *sql = make();
	struct blob x = whole(77, 24, 9, 5, 8), unknown = whole(78, 24, 9, 5, 8);
	int schema[2];

	sqlite3_exec(sql, "UPDATE NVTX_PAYLOAD_SCHEMAS SET name = NULL", NULL, NULL, NULL);
	range(sql, 10, x.b, 56, false);
	range(sql, 11, unknown.b, 56, false);
	load(sql);
	ok(nsx_payload_read(&trace, ids, 2, &some, schema, v, &diags, &err) == NSX_OK && schema[0] == 0 && v[0].there && v[0].num == 8 && v[1].there && v[1].num == 9,
	   "a schema without a name, by its entries");
	ok(schema[1] == -1 && !v[2].there && !v[3].there, "one that is not in the export");
	ok(nsx_payload_read(&trace, ids, 1, &none, schema, v, &diags, &err) == NSX_OK && schema[0] == -1 && !v[0].there && !v[1].there,
	   "an entry that cannot be read makes the payload void");
	unload();
}

static void
without(void)
{
	struct nsx_payload_value v[NENTRIES];
	struct nsx_err err = { "" };
	sqlite3 *sql = make();
	int64_t id = 10;
	int schema = 5;

	sqlite3_exec(sql, "DROP TABLE NVTX_PAYLOAD_SCHEMAS", NULL, NULL, NULL);
	range(sql, 10, NULL, 0, false);
	load(sql);
	ok(!trace.payloads, "an export without schemas has no payloads");
	ok(nsx_payload_read(&trace, &id, 1, &ask, &schema, v, &diags, &err) == NSX_OK && schema == -1 && !v[SOURCE].there, "and asking it is no error");
	unload();
	sql = make();
	range(sql, 10, NULL, 0, false);
	sqlite3_exec(sql, "ALTER TABLE NVTX_EVENTS DROP COLUMN binaryData", NULL, NULL, NULL);
	load(sql);
	ok(nsx_payload_read(&trace, &id, 1, &ask, &schema, v, &diags, &err) == NSX_OK && schema == -1, "nor is an export without blobs");
	unload();
}

int
main(void)
{
	good();
	bad();
	any_schema();
	without();
	return done();
}
