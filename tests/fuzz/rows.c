/* rows.c -- fuzz nsysx-extract: valid databases of any rows give a sorted stream, or an error. Input: tables as text, which rows.py
 * makes of exports; so mutations reach what rows mean, and do not stop at SQLite's own checks.
 *
 *   #TABLE TAB NAME:TYPE TAB ...     TYPE: i INTEGER, p INTEGER PRIMARY KEY, t TEXT, b BLOB, f REAL
 *   VALUE TAB ...                    a row: nothing is NULL, digits are an integer, `x` and hexadecimal digits a blob, else text
 *   !NAME TAB BLOB                   an HLO dump
 *
 * In text a backslash stands before n, t, \ and 0. */
#include "extract.h"
#include "tables.h"

#include <dirent.h>

#include "base/num.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_COLS = 40 };

/* The text before the next `sep`; s moves after it. */
static struct nsx_str
cut(struct nsx_str *s, char sep)
{
	const char *at = s->len ? memchr(s->ptr, sep, s->len) : NULL;
	struct nsx_str part = { s->ptr, at ? (size_t)(at - s->ptr) : s->len };

	s->ptr += part.len + !!at;
	s->len -= part.len + !!at;
	return part;
}

static void
add_name(struct nsx_buf *b, struct nsx_str name)
{
	nsx_buf_char(b, '"');
	for (size_t i = 0; i < name.len; i++)
		if (name.ptr[i] != '"' && name.ptr[i] != '\0')
			nsx_buf_char(b, name.ptr[i]);
	nsx_buf_char(b, '"');
}

/* Make a table and the statement that fills it; NULL where SQLite will not. */
static sqlite3_stmt *
make_table(sqlite3 *sql, struct nsx_str line, int *ncols)
{
	static const char codes[] = "iptbf";
	static const char *const types[] = { "INTEGER", "INTEGER PRIMARY KEY", "TEXT", "BLOB", "REAL" };
	struct nsx_buf create = { 0 }, insert = { 0 };
	sqlite3_stmt *s = NULL;
	struct nsx_str name = cut(&line, '\t');

	nsx_buf_c(&create, "CREATE TABLE ");
	nsx_buf_c(&insert, "INSERT INTO ");
	add_name(&create, name);
	add_name(&insert, name);
	nsx_buf_c(&create, " (");
	nsx_buf_c(&insert, " VALUES (");
	for (*ncols = 0; line.len && *ncols < MAX_COLS; ++*ncols) {
		struct nsx_str type = cut(&line, '\t'), col = cut(&type, ':');
		const char *code = type.len ? strchr(codes, type.ptr[0]) : NULL;
		nsx_buf_c(&create, *ncols ? ", " : "");
		add_name(&create, col);
		nsx_buf_fmt(&create, " %s", code && *code ? types[code - codes] : "");
		nsx_buf_c(&insert, *ncols ? ",?" : "?");
	}
	nsx_buf_add(&create, ")", 2);
	nsx_buf_add(&insert, ")", 2);
	fuzz_must(!create.failed && !insert.failed);
	if (sqlite3_exec(sql, create.ptr, NULL, NULL, NULL) == SQLITE_OK)
		sqlite3_prepare_v2(sql, insert.ptr, -1, &s, NULL);
	nsx_buf_free(&create);
	nsx_buf_free(&insert);
	return s;
}

static int
hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* v is `x` and an even number of hexadecimal digits: their bytes into b. */
static bool
is_blob(struct nsx_str v, struct nsx_buf *b)
{
	if (v.ptr[0] != 'x' || v.len % 2 == 0)
		return false;
	for (size_t i = 1; i < v.len; i++)
		if (hex(v.ptr[i]) < 0)
			return false;
	for (size_t i = 1; i < v.len; i += 2)
		nsx_buf_char(b, (char)(hex(v.ptr[i]) << 4 | hex(v.ptr[i + 1])));
	return true;
}

static void
unescape(struct nsx_str v, struct nsx_buf *b)
{
	for (size_t i = 0; i < v.len; i++) {
		char c = v.ptr[i];
		if (c == '\\' && i + 1 < v.len) {
			c = v.ptr[++i];
			c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? '\0' : c);
		}
		nsx_buf_char(b, c);
	}
}

static void
add_row(sqlite3_stmt *s, int ncols, struct nsx_str line)
{
	struct nsx_buf b = { 0 };
	int64_t number;

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	for (int i = 1; i <= ncols && line.len; i++) {
		struct nsx_str v = cut(&line, '\t');
		b.len = 0;
		if (!v.len)
			continue;
		if (nsx_get_int(v, &number)) {
			sqlite3_bind_int64(s, i, number);
		} else if (is_blob(v, &b)) {
			sqlite3_bind_blob(s, i, b.len ? b.ptr : "", (int)b.len, SQLITE_TRANSIENT);
		} else {
			unescape(v, &b);
			sqlite3_bind_text(s, i, b.ptr, (int)b.len, SQLITE_TRANSIENT);
		}
	}
	sqlite3_step(s);   /* keys that are there twice: the first stays */
	nsx_buf_free(&b);
}

/* The folder of dumps, created when first needed. */
static char folder[32];
static int nfiles;

static void
add_dump(struct nsx_str line)
{
	struct nsx_str name = cut(&line, '\t');
	struct nsx_buf path = { 0 }, bytes = { 0 };

	if (!folder[0]) {
		strcpy(folder, "/tmp/nsysx-fuzz.XXXXXX");
		fuzz_must(mkdtemp(folder) != NULL);
	}
	nsx_buf_fmt(&path, "%s/", folder);
	for (size_t i = 0; i < name.len; i++)
		nsx_buf_char(&path, (char)(name.ptr[i] == '/' || name.ptr[i] == '\0' ? '_' : name.ptr[i]));
	nsx_buf_char(&path, '\0');
	FILE *f = line.len && is_blob(line, &bytes) ? fopen(path.ptr, "wb") : NULL;
	if (f) {
		fwrite(bytes.ptr, 1, bytes.len, f);
		fclose(f);
		nfiles++;
	}
	nsx_buf_free(&path);
	nsx_buf_free(&bytes);
}

static void
remove_dumps(void)
{
	DIR *d = nfiles ? opendir(folder) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (e->d_type == DT_REG)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	nfiles = 0;
	if (folder[0])
		rmdir(folder);
	folder[0] = '\0';
}

static void
fill(sqlite3 *sql, struct nsx_str text)
{
	sqlite3_stmt *s = NULL;
	int ncols = 0;

	while (text.len) {
		struct nsx_str line = cut(&text, '\n');
		if (line.len && line.ptr[0] == '#') {
			cut(&line, '#');
			sqlite3_finalize(s);
			s = make_table(sql, line, &ncols);
		} else if (line.len && line.ptr[0] == '!') {
			cut(&line, '!');
			add_dump(line);
		} else if (s) {
			add_row(s, ncols, line);
		}
	}
	sqlite3_finalize(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file export;
	unsigned chance = fuzz_chance(data, size);
	sqlite3 *sql = NULL;
	sqlite3_int64 n = 0;

	fuzz_must(sqlite3_open(":memory:", &sql) == SQLITE_OK);
	/* Small pages, so that few rows make a tree. */
	sqlite3_exec(sql, "PRAGMA page_size=512; BEGIN", NULL, NULL, NULL);
	fill(sql, (struct nsx_str){ (const char *)data, size });
	sqlite3_exec(sql, "COMMIT", NULL, NULL, NULL);
	unsigned char *bytes = sqlite3_serialize(sql, "main", &n, 0);
	if (bytes) {
		fuzz_file_fill(&export, bytes, (size_t)n);
		if (chance % 4 == 2)
			fuzz_tables(export.path);
		fuzz_extract(export.path, nfiles ? folder : NULL, chance);
	}
	remove_dumps();
	sqlite3_free(bytes);
	sqlite3_close(sql);
	return 0;
}
