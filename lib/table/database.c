/* database.c -- a stream as an SQLite database. */
#include "table/database.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/outfile.h"
#include "base/vec.h"
#include "table/database_library.h"

/* Rows that one statement inserts: to run one costs as much as its rows do. */
enum { BATCH = 16 };

/* A kind, and the rows of it that are not inserted yet: their values, and a bit for each that is not absent, by place
 * in the header. */
struct kept {
	const struct nsx_kind *kind;
	sqlite3_stmt  *insert;      /* BATCH rows; NULL: the kind is not wanted */
	union nsx_val *values;
	uint64_t       has[BATCH], bound[BATCH];   /* bound: what `insert` has of that row from the batch before */
	size_t         n;
};

struct database {
	const struct nsx_database_options *options;
	struct nsx_reader *in;
	struct nsx_err    *err;
	const char        *path;
	struct nsx_sqlite  lib;
	sqlite3           *sql;
	struct nsx_buf     text;
	struct nsx_intern  strings;
	uint32_t          *recall;
	NSX_VEC(struct kept) kinds;
	size_t             written;    /* strings in the database */
};

static int
failed(struct database *d)
{
	return nsx_err_set(d->err, "%s: %s", d->path, d->sql ? d->lib.errmsg(d->sql) : "out of memory");
}

/* ---- statements. Names of kinds and columns are words, some of them SQL's (from, to, group): they are quoted. */

static int
run(struct database *d, const char *statement)
{
	return d->lib.exec(d->sql, statement, NULL, NULL, NULL) == SQLITE_OK ? NSX_OK : failed(d);
}

/* The text that was collected, as a statement without result. */
static int
run_text(struct database *d)
{
	nsx_buf_char(&d->text, '\0');
	return d->text.failed ? nsx_err_nomem(d->err, NULL) : run(d, d->text.ptr);
}

static sqlite3_stmt *
prepare(struct database *d)
{
	sqlite3_stmt *statement = NULL;

	if (d->text.failed)
		nsx_err_nomem(d->err, NULL);
	else if (d->lib.prepare_v2(d->sql, d->text.ptr, (int)d->text.len, &statement, NULL) != SQLITE_OK)
		failed(d);
	return statement;
}

static int
step(struct database *d, sqlite3_stmt *statement)
{
	return d->lib.step(statement) == SQLITE_DONE && d->lib.reset(statement) == SQLITE_OK ? NSX_OK : failed(d);
}

/* ---- kinds */

static bool
in_list(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strcspn(p, ",") == n && memcmp(p, name, n) == 0)
			return true;
	return false;
}

static int
make_table(struct database *d, const struct nsx_kind *k)
{
	d->text.len = 0;
	nsx_buf_fmt(&d->text, "CREATE TABLE \"%s_raw\"", k->name);
	for (int i = 0; i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];

		nsx_buf_fmt(&d->text, "%s\"%s\" %s", i ? ", " : " (", c->name, c->type == 'f' ? "REAL" : "INTEGER");
	}
	nsx_buf_char(&d->text, ')');
	return run_text(d);
}

static int
make_view(struct database *d, const struct nsx_kind *k)
{
	d->text.len = 0;
	nsx_buf_fmt(&d->text, "CREATE VIEW \"%s\" AS SELECT ", k->name);
	for (int i = 0; i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];

		nsx_buf_fmt(&d->text, c->type == 's' ? "%s(SELECT text FROM string WHERE id = r.\"%s\") AS \"%s\""
		                                     : "%sr.\"%s\" AS \"%s\"", i ? ", " : "", c->name, c->name);
	}
	nsx_buf_fmt(&d->text, " FROM \"%s_raw\" r", k->name);
	return run_text(d);
}

static int
describe(struct database *d, const struct nsx_kind *k)
{
	sqlite3_stmt *insert;
	int rc = NSX_OK;

	d->text.len = 0;
	nsx_buf_c(&d->text, "INSERT INTO \"column\" VALUES (?1, ?2, ?3, ?4, ?5)");
	insert = prepare(d);
	for (int i = 0; insert && rc == NSX_OK && i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];

		d->lib.bind_text(insert, 1, k->name, -1, SQLITE_STATIC);
		d->lib.bind_text(insert, 2, c->name, -1, SQLITE_STATIC);
		d->lib.bind_text(insert, 3,
				  c->type == 's'   ? "text"
				  : c->type == 'f' ? "real"
						   : "integer",
				  -1, SQLITE_STATIC);
		d->lib.bind_text(insert, 4, c->unit && *c->unit ? c->unit : NULL, -1, SQLITE_STATIC);
		d->lib.bind_text(insert, 5, c->meaning, -1, SQLITE_STATIC);
		rc = step(d, insert);
	}
	d->lib.finalize(insert);
	return insert ? rc : NSX_ERR;
}

static sqlite3_stmt *
inserter(struct database *d, const struct nsx_kind *k, size_t rows)
{
	d->text.len = 0;
	nsx_buf_fmt(&d->text, "INSERT INTO \"%s_raw\" VALUES ", k->name);
	for (size_t row = 0; row < rows; row++)
		for (int i = 0; i < k->ncols; i++)
			nsx_buf_c(&d->text, i ? i + 1 < k->ncols ? ", ?" : row + 1 < rows ? ", ?), " : ", ?)"
			                      : k->ncols > 1 ? "(?" : row + 1 < rows ? "(?), " : "(?)");
	return prepare(d);
}

/* What is to be done with a wanted kind's records. */
static int
keep(struct database *d, struct kept *to)
{
	if (make_table(d, to->kind) != NSX_OK || make_view(d, to->kind) != NSX_OK || describe(d, to->kind) != NSX_OK)
		return NSX_ERR;
	to->values = malloc((size_t)to->kind->ncols * BATCH * sizeof *to->values);
	if (!to->values)
		return nsx_err_nomem(d->err, NULL);
	to->insert = inserter(d, to->kind, BATCH);
	return to->insert ? NSX_OK : NSX_ERR;
}

/* Tables of the kinds whose headers were read since the last call. */
static int
add_kinds(struct database *d)
{
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(d->in, &n);

	for (size_t i = d->kinds.n; i < (size_t)n; i++) {
		const struct nsx_kind *k = kinds[i];
		bool wanted =
		    k->id != NSX_END && k->ncols && (!d->options->kinds || in_list(d->options->kinds, k->name));

		if (!nsx_vec_push(&d->kinds, ((struct kept){ .kind = k })))
			return nsx_err_nomem(d->err, NULL);
		if (wanted && keep(d, &d->kinds.p[i]) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static struct kept *
find(struct database *d, const struct nsx_kind *kind)
{
	for (size_t i = 0; i < d->kinds.n; i++)
		if (d->kinds.p[i].kind == kind)
			return &d->kinds.p[i];
	return NULL;
}

/* ---- records */

/* Bind a row's values to the place of the statement's row; *bound: what is bound there. */
static void
bind(const struct database *d, sqlite3_stmt *insert, const struct kept *from, size_t row, size_t place, uint64_t *bound)
{
	const struct nsx_kind *k = from->kind;
	const union nsx_val *v = from->values + row * (size_t)k->ncols;
	int at = (int)place * k->ncols + 1;

	for (int i = 0; i < k->ncols; i++) {
		uint64_t bit = 1ULL << i;

		if (!(from->has[row] & bit)) {
			if (*bound & bit)
				d->lib.bind_null(insert, at + i);
		} else if (k->cols[k->order[i]].type == 'f') {
			d->lib.bind_double(insert, at + i, v[i].f);
		} else {
			d->lib.bind_int64(insert, at + i, v[i].i);
		}
	}
	*bound = from->has[row];
}

static int
flush(struct database *d, struct kept *from)
{
	for (size_t row = 0; row < BATCH; row++)
		bind(d, from->insert, from, row, row, &from->bound[row]);
	from->n = 0;
	return step(d, from->insert);
}

/* The rows that are no whole batch. */
static int
flush_rest(struct database *d, struct kept *from)
{
	sqlite3_stmt *insert = from->n ? inserter(d, from->kind, 1) : NULL;
	uint64_t bound = 0;
	int rc = insert || !from->n ? NSX_OK : NSX_ERR;

	for (size_t row = 0; row < from->n && rc == NSX_OK; row++) {
		bind(d, insert, from, row, 0, &bound);
		rc = step(d, insert);
	}
	d->lib.finalize(insert);
	return rc;
}

static int
insert(struct database *d, struct kept *to, const struct nsx_rec *rec)
{
	const struct nsx_kind *k = rec->kind;
	union nsx_val *v = to->values + to->n * (size_t)k->ncols;
	uint64_t has = 0;

	for (int i = 0; i < k->ncols; i++) {
		int slot = k->order[i];

		if (!nsx_has(rec, slot))
			continue;
		has |= 1ULL << i;
		v[i] = rec->v[slot];
		if (k->cols[slot].type == 's') {
			uint32_t id = nsx_intern_recall(&d->strings, d->recall, rec->v[slot].s);

			if (id == NSX_NONE)
				return nsx_err_nomem(d->err, NULL);
			v[i].i = id;
		}
	}
	to->has[to->n++] = has;
	return to->n < BATCH ? NSX_OK : flush(d, to);
}

static int
read_records(struct database *d, int64_t *rows)
{
	const char *require = d->options->require;
	struct kept *to = NULL;
	struct nsx_rec rec;
	bool some = !require;
	int rc;

	while ((rc = nsx_read(d->in, &rec)) == NSX_OK) {
		if (!to || to->kind != rec.kind) {
			if (add_kinds(d) != NSX_OK)
				return NSX_ERR;
			to = find(d, rec.kind);
			some = some || strcmp(rec.kind->name, require) == 0;
		}
		if (!to || !to->insert)
			continue;
		if (insert(d, to, &rec) != NSX_OK)
			return NSX_ERR;
		++*rows;
	}
	if (rc != NSX_EOF || add_kinds(d) != NSX_OK)
		return NSX_ERR;
	if (!some)
		return nsx_err_set(d->err, "%s: no %s record", d->path, require);
	for (size_t i = 0; i < d->kinds.n; i++)
		if (flush_rest(d, &d->kinds.p[i]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

static int
write_strings(struct database *d)
{
	sqlite3_stmt *insert;
	int rc = NSX_OK;

	d->text.len = 0;
	nsx_buf_c(&d->text, "INSERT INTO string VALUES (?1, ?2)");
	insert = prepare(d);
	for (size_t i = 0; insert && rc == NSX_OK && i < d->strings.n; i++) {
		struct nsx_str s = nsx_intern_str(&d->strings, (uint32_t)i);

		d->lib.bind_int64(insert, 1, (int64_t)i);
		d->lib.bind_text64(insert, 2, s.ptr, s.len, SQLITE_STATIC, SQLITE_UTF8);
		rc = step(d, insert);
	}
	d->lib.finalize(insert);
	return insert && rc == NSX_OK ? run(d, "CREATE UNIQUE INDEX string_text ON string(text)") : NSX_ERR;
}

/* ---- indices */

static int
add_index(struct database *d, const char *name, size_t len)
{
	const char *dot = memchr(name, '.', len);
	const struct nsx_kind *k = NULL;
	int slot;

	for (size_t i = 0; dot && !k && i < d->kinds.n; i++)
		if (d->kinds.p[i].insert && nsx_str_eq((struct nsx_str){ name, (size_t)(dot - name) },
		    nsx_str_c(d->kinds.p[i].kind->name)))
			k = d->kinds.p[i].kind;
	if (!k)
		return nsx_err_set(d->err, "no index for %.*s: want KIND.COLUMN of a kind that is written", (int)len,
				   name);
	slot = nsx_kind_slot(k, (struct nsx_str){ dot + 1, len - (size_t)(dot + 1 - name) });
	if (slot < 0)
		return nsx_err_set(d->err, "no index for %.*s: %s records have no such column", (int)len, name,
				   k->name);
	d->text.len = 0;
	nsx_buf_fmt(&d->text, "CREATE INDEX IF NOT EXISTS \"%s_by_%s\" ON \"%s_raw\"(\"%s\")", k->name,
		    k->cols[slot].name, k->name, k->cols[slot].name);
	return run_text(d);
}

static int
add_indices(struct database *d)
{
	for (const char *p = d->options->index; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (add_index(d, p, strcspn(p, ",")) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* ---- the whole */

/* Nothing reads the file before it is complete, and an incomplete one is removed: no journal is needed. */
static int
open_database(struct database *d, const char *file)
{
	if (nsx_sqlite_load(&d->lib, d->err) != NSX_OK)
		return NSX_ERR;
	if (d->lib.open_v2(file, &d->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return failed(d);
	return run(d, "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
	           "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;"
	           "BEGIN;"
	           "CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
	           "CREATE TABLE \"column\" (kind TEXT, \"column\" TEXT, type TEXT, unit TEXT, meaning TEXT)");
}

static int
write_all(struct database *d, const char *file, int64_t *rows)
{
	int rc = open_database(d, file);

	if (rc == NSX_OK)
		rc = read_records(d, rows);
	for (size_t i = 0; i < d->kinds.n; i++) {
		if (d->kinds.p[i].insert)
			d->lib.finalize(d->kinds.p[i].insert);
		free(d->kinds.p[i].values);
	}
	if (rc == NSX_OK && (rc = write_strings(d)) == NSX_OK && (rc = add_indices(d)) == NSX_OK)
		rc = run(d, "COMMIT");
	if (d->sql && d->lib.close(d->sql) != SQLITE_OK && rc == NSX_OK)
		rc = failed(d);
	return rc;
}

int
nsx_database_write(struct nsx_reader *in, const char *path, const struct nsx_database_options *o, int64_t *rows,
                   struct nsx_err *err)
{
	struct database d = { .options = o, .in = in, .err = err, .path = path,
		              .recall = calloc(NSX_RECALL, sizeof *d.recall) };
	struct nsx_outfile *out = nsx_outfile_open(path, err);
	const char *file = out ? nsx_outfile_file(out) : NULL;
	int rc = out && d.recall ? NSX_OK : NSX_ERR;

	*rows = 0;
	if (out && !d.recall)
		nsx_err_nomem(err, NULL);
	if (rc == NSX_OK && !file)
		rc = nsx_err_set(err, "%s: a database is written to a file", nsx_outfile_name(out));
	if (rc == NSX_OK)
		rc = write_all(&d, file, rows);
	if (rc == NSX_OK)
		rc = nsx_outfile_commit(out);
	nsx_outfile_free(out);
	nsx_buf_free(&d.text);
	nsx_intern_free(&d.strings);
	free(d.recall);
	free(d.kinds.p);
	return rc;
}
