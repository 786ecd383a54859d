/* tree.c -- each rule of SQLite's file format that is checked: if it is violated, reading names the page and gives no shorter result. And a file that changes between opening and the end of reading. */
#define _GNU_SOURCE   /* memfd_create */
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nsys/db.h"

enum { PAGE = 1024, MAX = 1 << 20, ROWS = 4000 };

static unsigned char sound[MAX], x[MAX];
static size_t size;
static char folder[] = "/tmp/tree-XXXXXX";

static uint32_t
be16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t
be32(const unsigned char *p)
{
	return be16(p) << 16 | be16(p + 2);
}

static void
put16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

static void
put32(unsigned char *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

static unsigned char *
page(uint32_t no)
{
	return x + (size_t)(no - 1) * PAGE;
}

/* The database of these statements, in `sound` and `x`. */
static void
make(const char *statements)
{
	char path[64];
	sqlite3 *sql = NULL;
	char *why = NULL;

	snprintf(path, sizeof path, "%s/made", folder);
	unlink(path);
	if (sqlite3_open(path, &sql) != SQLITE_OK || sqlite3_exec(sql, statements, NULL, NULL, &why) != SQLITE_OK) {
		printf("Bail out! %s\n", why ? why : "sqlite3_open");
		exit(1);
	}
	sqlite3_close(sql);
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, sound, sizeof sound);
	size = n > 0 ? (size_t)n : 0;
	close(fd);
	memcpy(x, sound, size);
}

#define TABLE(encoding) \
	"PRAGMA page_size=1024; PRAGMA encoding='" encoding "'; CREATE TABLE t (a INTEGER, b TEXT, c INTEGER); CREATE TABLE other (a INTEGER);" \
	"CREATE TABLE gone (a TEXT); INSERT INTO gone VALUES (zeroblob(9000));" \
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO t SELECT i, 'row ' || i, 7 FROM n;" \
	"UPDATE t SET b = hex(zeroblob(1600)) WHERE a = 2000; DELETE FROM t WHERE a % 100 = 9; UPDATE t SET b = b || 'x' WHERE a = 1500;" \
	"INSERT INTO other VALUES (1), (2); DROP TABLE gone;"

struct sum { int64_t rows, a; };

static int
add_cells(void *ctx, const struct nsx_db_cell *v)
{
	struct sum *s = ctx;

	s->rows++;
	s->a += v[0].type == NSX_DB_INT ? v[0].i : 0;
	return NSX_OK;
}

static int
add_row(void *ctx, sqlite3_value **v)
{
	struct sum *s = ctx;

	s->rows++;
	s->a += sqlite3_value_int64(v[0]);
	return NSX_OK;
}

/* Read table t of x in two parts, as loading does, or whole, through SQLite. */
static int
read_table(bool through_sqlite, struct sum *s, struct nsx_err *err)
{
	static const struct nsx_db_col cols[] = { { "a", false }, { "b", false } };
	struct nsx_db_scan scan = { .table = "t", .cols = cols, .ncols = 2, .ctx = s };
	int fd = memfd_create("tree", MFD_CLOEXEC);
	char path[64];
	struct nsx_db db;
	int64_t lo, hi;

	*s = (struct sum){ 0, 0 };
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int rc = write(fd, x, size) == (ssize_t)size ? nsx_db_open(&db, path, -1, false, err) : NSX_ERR;
	if (rc == NSX_OK) {
		if (through_sqlite) {
			scan.row = add_row;
			rc = nsx_db_run(&db, &scan, err);
		} else if ((rc = nsx_db_bounds(&db, "t", &lo, &hi, err)) == NSX_OK) {
			scan.cells = add_cells;
			scan.part = true;
			scan.lo = lo;
			scan.hi = lo + (hi - lo) / 2;
			rc = nsx_db_run(&db, &scan, err);
			scan.lo = scan.hi + 1;
			scan.hi = hi;
			if (rc == NSX_OK)
				rc = nsx_db_run(&db, &scan, err);
		}
		nsx_db_close(&db);
	}
	close(fd);
	return rc;
}

/* x is refused with this message, both ways; it is valid again afterwards. */
static void
refused(const char *claim, const char *words)
{
	for (int i = 0; i < 2; i++) {
		struct nsx_err err = { "" };
		struct sum s;
		int rc = read_table(i == 1, &s, &err);

		ok(rc == NSX_ERR && strstr(err.msg, words) && strstr(err.msg, "damaged"), "%s%s", claim, i ? ", read by SQLite" : "");
		if (rc != NSX_ERR || !strstr(err.msg, words))
			printf("# %d rows, %s\n", (int)s.rows, err.msg);
	}
	memcpy(x, sound, size);
}

/* The i-th page of a type that has cells, page 1 apart; negative counts from the end. */
static uint32_t
nth(int type, int i)
{
	uint32_t all[MAX / PAGE], n = 0;

	for (uint32_t no = 2; no <= size / PAGE; no++)
		if (page(no)[0] == type && be16(page(no) + 3) > 5)
			all[n++] = no;
	if ((uint32_t)abs(i) >= n) {
		printf("Bail out! %u pages of type %d\n", n, type);
		exit(1);
	}
	return all[i < 0 ? (int)n + i : i];
}

static unsigned char *
cell(uint32_t no, uint32_t i)
{
	return page(no) + be16(page(no) + (page(no)[0] == 0x0D ? 8 : 12) + 2 * i);
}

static uint32_t
cells(uint32_t no)
{
	return be16(page(no) + 3);
}

/* A leaf with a free block; 0: none. */
static uint32_t
with_free(void)
{
	for (uint32_t no = 2; no <= size / PAGE; no++)
		if (page(no)[0] == 0x0D && cells(no) > 5 && be16(page(no) + 1))
			return no;
	return 0;
}

/* The leaf and the cell with an overflow page: the offset of the number of that page. */
static unsigned char *
overflow(void)
{
	for (uint32_t no = 2; no <= size / PAGE; no++)
		for (uint32_t i = 0; page(no)[0] == 0x0D && i < cells(no); i++)
			if (cell(no, i)[0] >= 0x80 && (cell(no, i)[0] & 0x7f) << 7 > 1000) {
				/* 3,2xx bytes: the remainder after full overflow pages is in the leaf. */
				uint32_t bytes = (uint32_t)(cell(no, i)[0] & 0x7f) << 7 | (cell(no, i)[1] & 0x7f), least = (PAGE - 12) * 32 / 255 - 23;
				uint32_t local = least + (bytes - least) % (PAGE - 4);
				if (local > PAGE - 35)
					local = least;
				const unsigned char *p = cell(no, i) + 2;
				while (*p++ >= 0x80)
					;
				return x + (p - x) + local;
			}
	return NULL;
}

static void
leaves(void)
{
	uint32_t leaf = nth(0x0D, 3), last = nth(0x0D, -1);

	/* In a rowid of two bytes the second is lowered or raised. */
	cell(leaf, 4)[2] |= 0x7f;
	refused("a rowid that is not above the one before", "rowid");
	for (uint32_t i = cells(last); i-- > 0; )
		if (be16(page(last) + 8 + 2 * i)) {
			cell(last, i)[1] = 0x80;   /* the last row of the table now is one of the first */
			break;
		}
	refused("a last rowid that is lower", "rowid");
	cell(leaf, cells(leaf) - 1)[1] ^= 0x40;
	refused("a rowid above what the page above says", "rowid");
	put16(page(leaf) + 3, cells(leaf) - 5);
	refused("fewer cells than the page has", "belong to no cell");
	put16(page(leaf) + 3, 0);
	refused("no cells", "");
	page(leaf)[7]++;
	refused("fragments that are not there", "are counted");
	put16(page(leaf) + 5, be16(page(leaf) + 5) - 4);
	refused("content that begins earlier", "belong to no cell");
	put16(page(leaf) + 5, be16(page(leaf) + 5) + 4);
	refused("content that begins later", "is not in the page");
	memcpy(page(leaf) + 8, page(leaf) + 10, 2);
	refused("a cell that stands twice", "rowid");
	cell(leaf, 4)[0]++;
	refused("a cell that overlaps the next", "");
	memset(page(leaf), 0, PAGE);
	refused("a page of zeros", "not a page of rows");
	memcpy(page(leaf), page(nth(0x0D, 5)), PAGE);
	refused("a page in another's place", "rowid");
	cell(leaf, 2)[4] ^= 3;   /* the type of `a`: a number of another length */
	refused("a value of another length than the record has", "not a record");
}

static void
free_blocks(void)
{
	uint32_t no = with_free();

	if (!ok(no != 0, "a page has a free block"))
		return;
	unsigned char *block = page(no) + be16(page(no) + 1);
	uint32_t at = be16(page(no) + 1);
	put16(block + 2, be16(block + 2) + 1);
	refused("a free block that is longer", "");
	put16(block, at - 4);
	refused("a chain of free blocks that goes back", "the free block at");
	put16(page(no) + 1, 0);
	refused("free blocks that are lost", "belong to no cell");
	put16(page(no) + 1, PAGE - 2);
	refused("a free block beyond the page", "a free block at");
	put16(page(no) + 1, 4);
	refused("a free block among the offsets", "a free block at");
}

static void
interiors(void)
{
	uint32_t up = nth(0x05, 0);

	put32(cell(up, 1), be32(cell(up, 2)));
	refused("a child of two pages", "in use elsewhere");
	put32(cell(up, 1), up);
	refused("a page that is its own child", "in use elsewhere");
	put32(cell(up, 1), (uint32_t)(size / PAGE) + 1);
	refused("a child beyond the file", "refers to page");
	put32(cell(up, 1), 1);
	refused("the first page as a child", "refers to page");
	put16(page(up) + 3, cells(up) - 1);
	refused("an interior page with a cell fewer", "");
	cell(up, 3)[4] = 0x7f, cell(up, 3)[5] = 0;
	refused("keys that do not rise", "");
	page(up)[7] = 3;
	refused("fragments of an interior page", "are counted");
	put32(page(up) + 8, be32(cell(up, 0)));
	refused("a last child that is the first", "in use elsewhere");
}

static void
chains(void)
{
	unsigned char *at = overflow();

	if (!ok(at != NULL, "a row has overflow pages"))
		return;
	uint32_t next = be32(at);
	put32(at, 0);
	refused("a row without the rest of it", "too few pages");
	put32(page(next), 0);
	refused("a chain that ends early", "too few pages");
	put32(at, nth(0x0D, 1));
	refused("a chain over a page of rows", "in use elsewhere");
	for (uint32_t no = next; no; no = be32(page(no)))
		if (!be32(page(no))) {
			put32(page(no), be32(page(be32(x + 32)) + 8));
			break;
		}
	refused("a chain that does not end", "too many pages");
}

static void
whole_file(void)
{
	uint32_t trunk = be32(x + 32);

	if (ok(trunk != 0 && be32(page(trunk) + 4) > 0, "pages are free")) {
		put32(page(trunk) + 8, nth(0x0D, 2));
		refused("a page of rows that is free, too", "in use elsewhere");
		put32(x + 36, be32(x + 36) + 1);
		refused("free pages that are not listed", "the header counts");
	}
	x[100 + 4]--;
	refused("a table of tables with a row fewer", "sqlite_master, page 1");
	for (size_t i = 0; i + 30 < size; i++)
		if (memcmp(x + i, "tablett", 7) == 0) {
			x[i + 7] = x[i + 7] == 4 ? 5 : 4;   /* t's root is that of another table */
			break;
		}
	refused("two tables of one root", "");
	make("PRAGMA page_size=1024; CREATE TABLE t (a INTEGER, b TEXT); CREATE TABLE more (a INTEGER, b TEXT, c TEXT);"
	     "INSERT INTO t VALUES (1, 'x'); INSERT INTO more VALUES (1, 'x', 'y')");
	memcpy(page(2), page(3), PAGE);
	refused("rows of another table with more columns", "not a record");
}

static void
read_well(const char *what)
{
	struct nsx_err err = { "" };
	struct sum a, b;

	ok(read_table(false, &a, &err) == NSX_OK && read_table(true, &b, &err) == NSX_OK, "%s: %s", what, err.msg[0] ? err.msg : "read both ways");
	is_int(a.rows, ROWS - ROWS / 100, "%s: all rows", what);
	ok(a.rows == b.rows && a.a == b.a, "%s: the same rows", what);
}

/* ---- changes */

static void
exec(const char *path, const char *statement)
{
	sqlite3 *sql = NULL;

	sqlite3_open(path, &sql);
	sqlite3_exec(sql, statement, NULL, NULL, NULL);
	sqlite3_close(sql);
}

static void
put_file(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		printf("Bail out! %s\n", path);
	close(fd);
}

/* change() between opening and the end is detected; without a change nothing is. */
static void
changes(const char *claim, bool noticed, void (*change)(const char *path))
{
	struct nsx_err err = { "" };
	char path[64], beside[80];
	struct nsx_db db;

	snprintf(path, sizeof path, "%s/export", folder);
	put_file(path, sound, size);
	/* A clock that is coarse shall not hide it. */
	struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	utimensat(AT_FDCWD, path, old, 0);
	if (nsx_db_open(&db, path, -1, false, &err) != NSX_OK || nsx_db_unchanged(&db, &err) != NSX_OK) {
		ok(false, "%s: %s", claim, err.msg);
		return;
	}
	change(path);
	int rc = nsx_db_unchanged(&db, &err);
	ok(noticed ? rc == NSX_ERR && strstr(err.msg, "changed while it was being read") : rc == NSX_OK, "%s", claim);
	nsx_db_close(&db);
	unlink(path);
	snprintf(beside, sizeof beside, "%s-wal", path);
	unlink(beside);
	snprintf(beside, sizeof beside, "%s-journal", path);
	unlink(beside);
}

static void nothing(const char *path) { (void)path; }
static void update(const char *path) { exec(path, "UPDATE t SET a = 0 WHERE rowid = 5"); }
static void grow(const char *path) { if (truncate(path, (off_t)size + PAGE) != 0) printf("# truncate failed\n"); }
static void shrink(const char *path) { if (truncate(path, (off_t)size - PAGE) != 0) printf("# truncate failed\n"); }

static void
write_row(const char *path)
{
	int fd = open(path, O_WRONLY);

	if (pwrite(fd, "x", 1, (off_t)size - 1) != 1)
		printf("# pwrite failed\n");
	close(fd);
}

static void
begin_log(const char *path)
{
	char log[80];

	snprintf(log, sizeof log, "%s-wal", path);
	put_file(log, "begun", 5);
}

static void
begin_journal(const char *path)
{
	char log[80];

	snprintf(log, sizeof log, "%s-journal", path);
	put_file(log, "begun", 5);
}

static void
replace(const char *path)
{
	char new[80];

	snprintf(new, sizeof new, "%s.new", path);
	put_file(new, "another", 7);
	if (rename(new, path) != 0)
		printf("# rename failed\n");
	begin_log(path);
}

int
main(void)
{
	if (!mkdtemp(folder))
		return 1;
	make(TABLE("UTF-16le"));
	read_well("texts in UTF-16");
	make(TABLE("UTF-8"));
	read_well("a sound table");
	leaves();
	free_blocks();
	interiors();
	chains();
	changes("a file that stays as it is", false, nothing);
	changes("a row that SQLite changes", true, update);
	changes("a byte that is written without SQLite", true, write_row);
	changes("a file that grows", true, grow);
	changes("a file that is cut", true, shrink);
	changes("a log that comes", true, begin_log);
	changes("a journal that comes", true, begin_journal);
	changes("another file that comes under its name, with a log", false, replace);
	whole_file();
	char path[64];
	snprintf(path, sizeof path, "%s/made", folder);
	unlink(path);
	rmdir(folder);
	return done();
}
