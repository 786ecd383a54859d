/* open.c -- opens an export, in whatever container, as connections to SQLite. Does not change the input: it is opened
 * for reading only, and SQLite neither locks it nor creates a journal beside it. */
#define _XOPEN_SOURCE 700   /* realpath */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/inputs.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/unpack.h"
#include "nsys/db.h"
#include "nsys/tree.h"
#include "source/name.h"
#include "source/source.h"

enum { HEADER = 100 };
/* Decompressed size; the largest known exports have a few GB. */
static const uint64_t UNPACKED_MAX = UINT64_C(64) << 30;

static const char sqlite_magic[16] = "SQLite format 3";

static struct nsx_str
export_name(const char *path)
{
	static const char *const endings[] = { ".sqlite.zst", ".sqlite", ".nsys-rep", NULL };
	const char *slash = strrchr(path, '/');
	struct nsx_str s = nsx_source_name(path, endings);

	/* nsysx-record creates a folder for each process, with the same file names in all of them. */
	if (slash && slash > path && nsx_str_eq(s, NSX_STR("report"))) {
		const char *folder = slash;
		while (folder > path && folder[-1] != '/')
			folder--;
		struct nsx_str of = { folder, (size_t)(slash - folder) };
		if (of.len && !nsx_str_eq(of, NSX_STR(".")) && !nsx_str_eq(of, NSX_STR("..")))
			return of;
	}
	return s;
}

/* ---- the type of the file */

/* Read up to n bytes from offset 0 without moving the descriptor; returns how many, -1 with errno. */
static ssize_t
peek(int fd, unsigned char *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = pread(fd, p + got, n - got, (off_t)got);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		if (k == 0)
			break;
		got += (size_t)k;
	}
	return (ssize_t)got;
}

static bool
is_zstd(const unsigned char *p, ssize_t n)
{
	return n >= 4 && (memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0 || ((p[0] & 0xf0) == 0x50 &&
		memcmp(p + 1, "\x2a\x4d\x18", 3) == 0));
}

static uint32_t
be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The number of pages in the header, and the bytes of each; 0 if it is not recorded. */
static uint32_t
count_pages(const unsigned char *h, uint32_t *page)
{
	*page = (uint32_t)h[16] << 8 | h[17];
	if (*page == 1)
		*page = 65536;
	/* SQLite before 3.7.0 did not update the count; then the two change counters differ. */
	return *page < 512 || be32(h + 24) != be32(h + 92) ? 0 : be32(h + 28);
}

/* Compare the header's count of pages with the size of the file. */
static int
check_size(const char *path, const unsigned char *h, int fd, struct nsx_err *err)
{
	uint32_t page, pages = count_pages(h, &page);
	struct stat st;

	if (fstat(fd, &st) != 0)
		return nsx_err_set(err, "%s: %s", path, strerror(errno));
	if (pages == 0)
		return NSX_OK;
	uint64_t whole = (uint64_t)st.st_size / page;
	if (whole < pages)
		return nsx_err_set(err, "%s: cut short: holds %" PRIu64 " of %" PRIu32 " pages", path, whole, pages);
	return NSX_OK;
}

/* A log beside the file holds changes that the file lacks: its suffix in *found, NULL if there is none. NSX_ERR when
 * out of memory. */
static int
find_log(const char *path, const char **found, struct nsx_err *err)
{
	static const char *const suffixes[] = { "-wal", "-journal" };
	char *real = realpath(path, NULL);   /* SQLite creates logs beside the file, not beside a link to it */
	struct nsx_buf b = { 0 };
	struct stat st;

	*found = NULL;
	for (size_t i = 0; i < 2 && !*found && !b.failed; i++) {
		b.len = 0;
		nsx_buf_fmt(&b, "%s%s", real ? real : path, suffixes[i]);
		nsx_buf_char(&b, '\0');
		if (!b.failed && stat(b.ptr, &st) == 0 && st.st_size > 0)
			*found = suffixes[i];
	}
	free(real);
	bool failed = b.failed;
	nsx_buf_free(&b);
	return failed ? nsx_err_nomem(err, path) : NSX_OK;
}

static int
check_logs(const char *path, struct nsx_err *err)
{
	const char *log;

	if (find_log(path, &log, err) != NSX_OK)
		return NSX_ERR;
	if (!log)
		return NSX_OK;
	return nsx_err_set(err,
		"%s: %s beside it is not empty: the export is still being written or was not closed; open it once with "
		"sqlite3 to merge the log", path, log);
}

/* ---- changes during reading */

static int
take_stamp(const char *path, int fd, struct nsx_db_stamp *s, struct nsx_err *err)
{
	struct stat st;

	memset(s->header, 0, sizeof s->header);
	if (fstat(fd, &st) != 0 || peek(fd, s->header, sizeof s->header) < 0)
		return nsx_err_set(err, "%s: %s", path, strerror(errno));
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->size = st.st_size;
	s->modified = st.st_mtim;
	return NSX_OK;
}

static int
changed(const char *path, struct nsx_err *err)
{
	return nsx_err_set(err, "%s: changed while it was being read: wait until it is written, or export again", path);
}

static int
compare_stamps(const char *path, const struct nsx_db_stamp *a, const struct nsx_db_stamp *b, struct nsx_err *err)
{
	bool same = a->size == b->size && a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec ==
	    b->modified.tv_nsec
	            && memcmp(a->header, b->header, sizeof a->header) == 0;

	return same ? NSX_OK : changed(path, err);
}

int
nsx_db_unchanged(const struct nsx_db *db, struct nsx_err *err)
{
	struct nsx_db_stamp now;
	const char *log;
	struct stat st;

	if (take_stamp(db->path, db->fd, &now, err) != NSX_OK ||
	    compare_stamps(db->path, &db->stamp, &now, err) != NSX_OK)
		return NSX_ERR;
	/* If another file has replaced this one under the name, logs belong to that file. */
	if (!db->stamp.logs || stat(db->path, &st) != 0 || st.st_dev != db->stamp.dev || st.st_ino != db->stamp.ino)
		return NSX_OK;
	if (find_log(db->path, &log, err) != NSX_OK)
		return NSX_ERR;
	return log ? changed(db->path, err) : NSX_OK;
}

void
nsx_db_explain(const struct nsx_db *db, struct nsx_err *err)
{
	struct nsx_err why = { "" };

	if (nsx_db_unchanged(db, &why) != NSX_OK)
		*err = why;
}

/* ---- compressed exports */

static int
write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Decompress fd (ownership taken) into an unlinked file: its descriptor, -1 with err filled. */
static int
unpack(const char *path, int fd, struct nsx_err *err)
{
	struct nsx_input in = { .fd = fd, .name = path, .err = err };
	struct nsx_db_stamp before = { 0 }, after = { 0 };
	if (take_stamp(path, fd, &before, err) != NSX_OK) {
		close(fd);
		return -1;
	}
	nsx_progress_phase("unpacking");
	int out = -1, rc = nsx_input_need(&in, HEADER);

	if (rc != NSX_ERR &&
	    (in.end - in.pos < HEADER || memcmp(in.buf + in.pos, sqlite_magic, sizeof sqlite_magic) != 0))
		rc = nsx_source_refuse(path, (struct nsx_str){ in.buf + in.pos, in.end - in.pos }, err);
	if (rc == NSX_OK) {
		out = nsx_tmpfile(err);
		rc = out < 0 ? NSX_ERR : NSX_OK;
	}
	uint32_t page = 0, pages = rc == NSX_OK ? count_pages((const unsigned char *)in.buf + in.pos, &page) : 0;
	uint64_t size = 0;
	while (rc == NSX_OK) {
		size += in.end - in.pos;
		if (pages && size > (uint64_t)pages * page)
			rc = nsx_err_set(err, "%s: unpacks to more than the %" PRIu32 " pages that its header counts",
			                 path, pages);
		else
			rc = nsx_unpack_check(path, size, UNPACKED_MAX, err);
		if (rc == NSX_OK && write_all(out, in.buf + in.pos, in.end - in.pos) != 0)
			rc = nsx_err_set(err, "%s: unpacking it into a temporary file: %s; TMPDIR names another folder",
			                 path, strerror(errno));
		in.pos = in.end;
		if (rc == NSX_OK)
			rc = nsx_input_more(&in);
	}
	/* If the file has changed meanwhile, any other error is a consequence of that. */
	struct nsx_err why = { "" };
	if (take_stamp(path, fd, &after, &why) != NSX_OK || compare_stamps(path, &before, &after, &why) != NSX_OK) {
		*err = why;
		rc = NSX_ERR;
	}
	nsx_input_close(&in);
	if (rc == NSX_EOF)
		return out;
	if (out >= 0)
		close(out);
	return -1;
}

/* ---- opening */

/* The descriptor of a readable SQLite file that holds the export; -1 with err filled. fd: the file at path, -1: it is
 * to be opened. *own: the descriptor is of that file itself. */
static int
open_file(const char *path, int fd, bool *own, struct nsx_err *err)
{
	unsigned char h[HEADER];
	struct stat st;

	/* Non-blocking: a FIFO must be refused, not wait for a writer. */
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0) {
		nsx_err_set(err, "%s: %s", path, strerror(errno));
		goto fail;
	}
	nsx_inputs_note(fd);
	if (S_ISDIR(st.st_mode)) {
		nsx_err_set(err, "%s: a folder: want an export", path);
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		nsx_err_set(err,
			"%s: not a regular file: an export is read in several places at once and cannot come through a "
			"pipe", path);
		goto fail;
	}
	ssize_t n = peek(fd, h, sizeof h);
	if (n < 0) {
		nsx_err_set(err, "%s: %s", path, strerror(errno));
		goto fail;
	}
	if (is_zstd(h, n)) {
		fd = unpack(path, fd, err);
	} else if (n >= (ssize_t)sizeof sqlite_magic && memcmp(h, sqlite_magic, sizeof sqlite_magic) == 0) {
		*own = true;
		if (check_logs(path, err) != NSX_OK)
			goto fail;
	} else if (nsx_str_ends(nsx_str_c(path), ".nsys-rep") && n > 0) {
		close(fd);
		fd = nsx_rep_open(path, err);
	} else {
		nsx_source_refuse(path, (struct nsx_str){ (const char *)h, (size_t)n }, err);
		goto fail;
	}
	if (fd < 0)
		return -1;
	n = peek(fd, h, sizeof h);
	if (n == HEADER && memcmp(h, sqlite_magic, sizeof sqlite_magic) == 0) {
		if (check_size(path, h, fd, err) == NSX_OK)
			return fd;
	} else if (n < 0) {
		nsx_err_set(err, "%s: %s", path, strerror(errno));
	} else {
		nsx_err_set(err, "%s: cut short: not even SQLite's header is whole", path);
	}
fail:
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The properties of pages in the header. */
static int
read_header(struct nsx_db *db, struct nsx_err *err)
{
	const unsigned char *h = db->stamp.header;

	db->npages = count_pages(h, &db->page);
	db->utf8 = be32(h + 56) == 1;
	db->usable = db->page - h[20];
	if (db->page < 512 || (db->page & (db->page - 1)) || db->usable < 480)
		return nsx_err_set(err, "%s: damaged: pages of %" PRIu32 " bytes, %u of them not in use", db->path,
		                   db->page, h[20]);
	return NSX_OK;
}

int
nsx_db_open(struct nsx_db *db, const char *path, int fd, bool alone, struct nsx_err *err)
{
	*db = (struct nsx_db){ .path = path, .name = export_name(path), .fd = -1, .checked = !alone };
	pthread_mutex_init(&db->lock, NULL);
	db->fd = open_file(path, fd, &db->stamp.logs, err);
	if (db->fd >= 0 && take_stamp(path, db->fd, &db->stamp, err) == NSX_OK) {
		if (read_header(db, err) == NSX_OK && nsx_db_list(db, err) == NSX_OK)
			return NSX_OK;
		nsx_db_explain(db, err);
	}
	nsx_db_close(db);
	return NSX_ERR;
}

void
nsx_db_close(struct nsx_db *db)
{
	for (size_t i = 0; i < db->idle.n; i++) {
		sqlite3_close(db->idle.p[i]->sql);
		free(db->idle.p[i]);
	}
	free(db->idle.p);
	nsx_trees_close(db);
	nsx_intern_free(&db->tables);
	nsx_intern_free(&db->views);
	nsx_intern_free(&db->names);
	if (db->fd >= 0)
		close(db->fd);
	pthread_mutex_destroy(&db->lock);
	db->fd = -1;
	db->idle.p = NULL;
	db->idle.n = 0;
}
