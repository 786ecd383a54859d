/* db.c -- writes an export: one transaction, no journal, all bytes determined by the contents. */
#include "db.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "synth.h"

enum { MAX_COLS = 48, MAX_TABLES = 48, MAX_CELLS = 16 };

struct cell { int col; const char *text; int64_t num; };
struct row { struct cell cell[MAX_CELLS]; int n; };

struct db_table {
	struct db            *db;
	const struct db_spec *spec;
	sqlite3_stmt         *insert;
	char                  name[MAX_COLS][32];
	int                   ncols;
	int64_t               rowid;
	NSX_VEC(struct row)   rows;
};

struct db {
	sqlite3         *handle;
	char            *path;
	int              version;
	bool             shuffle;
	uint64_t         random;
	struct nsx_arena arena;
	struct db_table  table[MAX_TABLES];
	int              ntables;
};

static void
fail(const struct db *d)
{
	syn_die("%s: %s", d->path, d->handle ? sqlite3_errmsg(d->handle) : "out of memory");
}

static void
sql(struct db *d, const char *text)
{
	if (sqlite3_exec(d->handle, text, NULL, NULL, NULL) != SQLITE_OK)
		fail(d);
}

static uint64_t
chance(struct db *d, uint64_t n)
{
	d->random += 0x9e3779b97f4a7c15ULL;
	return nsx_hash_u64(d->random) % n;
}

/* One column of a spec: false at the end. Missing fields are 0, LAST, NULL. */
static bool
next_col(const char **at, char *name, char *type, bool *not_null, bool *key, int *since, int *until, char *fill)
{
	const char *s = *at + strspn(*at, " "), *e = s + strcspn(s, " "), *c = memchr(s, ':', (size_t)(e - s));

	if (!*s)
		return false;
	snprintf(name, 32, "%.*s", (int)(c - s), s);
	*type = c[1];
	*not_null = *key = false;
	*since = 0;
	*until = 99;
	*fill = '\0';
	for (c += 2; c < e; c++) {
		if (*c == '!')
			*not_null = true;
		else if (*c == '*')
			*key = true;
		else if (*c == '@')
			*since = atoi(c + 1);
		else if (*c == '~')
			*until = atoi(c + 1);
		else if (*c == '=')
			snprintf(fill, 16, "%.*s", (int)strcspn(c + 1, " @~"), c + 1);
	}
	*at = e;
	return true;
}

static void
create(struct db_table *t)
{
	struct db *d = t->db;
	struct nsx_buf make = { 0 }, insert = { 0 };
	const char *at = t->spec->cols;
	char name[32], type, fill[16], fills[MAX_COLS][16];
	bool not_null, key;
	int since, until;

	nsx_buf_fmt(&make, "CREATE TABLE %s (", t->spec->name);
	nsx_buf_fmt(&insert, "INSERT INTO %s (rowid", t->spec->name);
	while (next_col(&at, name, &type, &not_null, &key, &since, &until, fill)) {
		if (d->version < since || d->version > until)
			continue;
		nsx_buf_fmt(&make, "%s\n    %-27s %-7s%s%s", t->ncols ? "," : "", name, type == 'I' ? "INTEGER" : type == 'R' ? "REAL" : "TEXT",
		            not_null ? "   NOT NULL" : "", key ? "   PRIMARY KEY" : "");
		/* A primary key after other columns is an alias of the rowid, which is bound already. */
		if (key && t->ncols)
			continue;
		nsx_buf_fmt(&insert, ", \"%s\"", name);
		memcpy(fills[t->ncols], fill, sizeof fill);
		memcpy(t->name[t->ncols++], name, sizeof name);
	}
	nsx_buf_c(&make, "\n)");
	nsx_buf_c(&insert, ") VALUES (?1");
	for (int i = 0; i < t->ncols; i++)
		nsx_buf_fmt(&insert, ", ?%d", i + 2);
	nsx_buf_char(&insert, ')');
	nsx_buf_char(&insert, '\0');
	nsx_buf_char(&make, '\0');
	if (make.failed || insert.failed)
		syn_die("out of memory");
	/* "end" is a word of SQL; the real exports leave it bare in their text, which SQLite stores as written. */
	sql(d, make.ptr);
	if (sqlite3_prepare_v2(d->handle, insert.ptr, -1, &t->insert, NULL) != SQLITE_OK)
		fail(d);
	for (int i = 0; i < t->ncols; i++)
		if (*fills[i] >= '0' && *fills[i] <= '9')
			sqlite3_bind_int64(t->insert, i + 2, atoi(fills[i]));
		else if (*fills[i])
			sqlite3_bind_text(t->insert, i + 2, fills[i], -1, SQLITE_TRANSIENT);
	nsx_buf_free(&make);
	nsx_buf_free(&insert);
}

struct db *
db_open(const char *path, int version, bool full, bool shuffle, uint64_t seed)
{
	struct db *d = syn_check(calloc(1, sizeof *d));

	d->path = syn_check(nsx_str_dup(nsx_str_c(path)));
	d->version = version;
	d->shuffle = shuffle;
	d->random = seed;
	if (unlink(path) != 0 && access(path, F_OK) == 0)
		syn_die("%s: cannot be replaced", path);
	if (sqlite3_open_v2(path, &d->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
		fail(d);
	sql(d, "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; BEGIN");
	for (const struct db_spec *s = db_specs; s->name; s++)
		if (version >= s->since && version <= s->until) {
			struct db_table *t = &d->table[d->ntables++];

			if (d->ntables == MAX_TABLES)
				syn_die("too many tables");
			t->db = d;
			t->spec = s;
			/* Jobs without metrics, or memory, are as they were before there were these tables. */
			if (full && (syn_opt.metrics || strcmp(s->name, "TARGET_INFO_GPU_METRICS") != 0)
			    && (syn_opt.memory || !strstr("CUDA_GPU_MEMORY_USAGE_EVENTS ENUM_CUDA_DEV_MEM_EVENT_OPER", s->name)))
				create(t);
		}
	return d;
}

bool
db_has(struct db *d, const char *name)
{
	for (int i = 0; i < d->ntables; i++)
		if (strcmp(d->table[i].spec->name, name) == 0)
			return true;
	return false;
}

static struct db_table *
find(struct db *d, const char *name)
{
	for (int i = 0; i < d->ntables; i++)
		if (strcmp(d->table[i].spec->name, name) == 0)
			return &d->table[i];
	for (const struct db_spec *s = db_specs; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return NULL;
	syn_die("no table is called %s", name);
}

struct db_table *
db_table(struct db *d, const char *name)
{
	struct db_table *t = find(d, name);

	if (t && !t->insert)
		create(t);
	return t;
}

int
db_col(struct db_table *t, const char *name)
{
	size_t n = strlen(name);
	const char *s = t->spec->cols;

	for (int i = 0; i < t->ncols; i++)
		if (strcmp(t->name[i], name) == 0)
			return i + 2;
	/* A name that no version has is an error in the generator. */
	while ((s = strstr(s, name)) != NULL && !((s == t->spec->cols || s[-1] == ' ') && s[n] == ':'))
		s += n;
	if (!s && strcmp(name, "content") != 0 && strcmp(name, "contentId") != 0)
		syn_die("%s has no column %s", t->spec->name, name);
	return 0;
}

static void
checked(struct db_table *t, int rc)
{
	if (rc != SQLITE_OK)
		fail(t->db);
}

void
db_int(struct db_table *t, int col, int64_t v)
{
	if (col)
		checked(t, sqlite3_bind_int64(t->insert, col, v));
}

void
db_text(struct db_table *t, int col, const char *s)
{
	if (col)
		checked(t, sqlite3_bind_text(t->insert, col, s, -1, SQLITE_STATIC));
}

void
db_blob(struct db_table *t, int col, const void *p, size_t n)
{
	if (col)
		checked(t, sqlite3_bind_blob(t->insert, col, p, (int)n, SQLITE_TRANSIENT));
}

void
db_null(struct db_table *t, int col)
{
	if (col)
		checked(t, sqlite3_bind_null(t->insert, col));
}

void
db_rowid(struct db_table *t, int64_t rowid)
{
	checked(t, sqlite3_bind_int64(t->insert, 1, rowid));
	if (sqlite3_step(t->insert) != SQLITE_DONE)
		fail(t->db);
	checked(t, sqlite3_reset(t->insert));
	t->rowid = rowid;
}

int64_t
db_row(struct db_table *t)
{
	db_rowid(t, t->rowid + 1 + (t->db->shuffle ? (int64_t)chance(t->db, 4) : 0));
	return t->rowid;
}

void
db_put(struct db *d, const char *table, const char *cols, ...)
{
	struct db_table *t = find(d, table);
	struct row r = { .n = 0 };
	va_list ap;

	if (!t)
		return;
	if (!t->insert)
		create(t);
	va_start(ap, cols);
	while (*(cols += strspn(cols, " "))) {
		size_t n = strcspn(cols, ":");
		char name[32];
		struct cell c = { 0 };

		snprintf(name, sizeof name, "%.*s", (int)n, cols);
		c.col = db_col(t, name);
		if (cols[n + 1] == 's') {
			const char *s = va_arg(ap, const char *);

			c.text = nsx_arena_str(&d->arena, nsx_str_c(s)).ptr;
			if (!c.text)
				syn_die("out of memory");
		} else {
			c.num = va_arg(ap, int64_t);
		}
		if (c.col) {
			if (r.n == MAX_CELLS)
				syn_die("too many columns");
			r.cell[r.n++] = c;
		}
		cols += n + 2;
	}
	va_end(ap);
	syn_add(&t->rows, r);
}

static void
flush(struct db_table *t)
{
	struct db *d = t->db;

	/* The frames of a stack lie together in all exports. */
	for (size_t i = t->rows.n; d->shuffle && !strstr(t->spec->name, "CALLCHAINS") && i > 1; i--) {
		size_t k = chance(d, i);
		struct row swap = t->rows.p[k];

		t->rows.p[k] = t->rows.p[i - 1];
		t->rows.p[i - 1] = swap;
	}
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct row *r = &t->rows.p[i];

		for (int c = 0; c < r->n; c++)
			if (r->cell[c].text)
				db_text(t, r->cell[c].col, r->cell[c].text);
			else
				db_int(t, r->cell[c].col, r->cell[c].num);
		/* A primary key is the rowid itself. */
		const char *key = strstr(t->spec->cols, "!*");

		if (key && key < t->spec->cols + strcspn(t->spec->cols, " "))
			db_rowid(t, r->cell[0].num);
		else
			db_row(t);
	}
	free(t->rows.p);
}

void
db_close(struct db *d)
{
	for (int i = 0; i < d->ntables; i++)
		if (d->table[i].insert) {
			flush(&d->table[i]);
			sqlite3_finalize(d->table[i].insert);
		}
	sql(d, "COMMIT");
	if (sqlite3_close(d->handle) != SQLITE_OK)
		fail(d);
	nsx_arena_free(&d->arena);
	free(d->path);
	free(d);
}
