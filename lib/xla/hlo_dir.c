/* hlo_dir.c -- a folder of dumps: programs of the files, from their names alone; and XLA's lists of thunks beside
 * them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"
#include "xla/hlo.h"

/* A dump, or a file that XLA writes with it: its list of thunks, in two files. */
enum what { DUMP, LIST, METADATA };

struct dump {
	int64_t        id;
	enum what      what;
	char          *path;
	struct nsx_str rest;   /* in path: the part after the number, "NAME.sm_9.0_gpu_after_optimizations" */
};

struct nsx_dump_dir { NSX_VEC(struct dump) dumps; };

static bool
strip_end(struct nsx_str *s, const char *end)
{
	size_t n = strlen(end);

	if (s->len < n || memcmp(s->ptr + s->len - n, end, n) != 0)
		return false;
	s->len -= n;
	return true;
}

static size_t
digits(struct nsx_str s)
{
	size_t n = 0;

	while (n < s.len && nsx_is_digit(s.ptr[n]))
		n++;
	return n;
}

static bool
contains(struct nsx_str s, struct nsx_str part)
{
	for (size_t i = 0; i + part.len <= s.len; i++)
		if (memcmp(s.ptr + i, part.ptr, part.len) == 0)
			return true;
	return false;
}

static struct nsx_str
skip(struct nsx_str s, size_t n)
{
	return (struct nsx_str){ s.ptr + n, s.len - n };
}

/* Whether the name is that of a dump or of a file written with one; if so the number of its program and the part after
 * it. */
static bool
parse_name(struct nsx_str s, struct dump *dump)
{
	if (!strip_end(&s, ".xz"))
		strip_end(&s, ".zst");
	struct nsx_str whole = s;
	if (strip_end(&s, ".hlo.pb"))
		dump->what = DUMP;
	else if (strip_end(&s, ".thunk_sequence_after_thunk_passes.txt"))
		dump->what = LIST;
	else if (strip_end(&s, ".thunk_metadata.pb"))
		dump->what = METADATA;
	else
		return false;
	if (dump->what != DUMP)
		s = whole;
	/* With an XLA option, names of dumps begin with a time. */
	size_t n = digits(s);
	if (n && n < s.len && s.ptr[n] == '.')
		s = skip(s, n + 1);
	if (!nsx_str_starts(s, "module_"))
		return false;
	s = skip(s, strlen("module_"));
	n = digits(s);
	if (!n || n == s.len || s.ptr[n] != '.' || !nsx_get_int((struct nsx_str){ s.ptr, n }, &dump->id))
		return false;
	dump->rest = skip(s, n + 1);
	return dump->what != DUMP || contains(dump->rest, NSX_STR("after_optimizations"));
}

NSX_ORDER(by_id, struct dump, NSX_CMP(a->what, b->what), NSX_CMP(a->id, b->id), strcmp(a->path, b->path))

static int
add_file(struct nsx_dump_dir *d, const char *dir, const char *name, struct nsx_err *err)
{
	struct nsx_buf b = { 0 };
	struct dump dump = { 0 };
	struct stat st;

	if (!parse_name(nsx_str_c(name), &dump))
		return NSX_OK;
	size_t slash = dir[0] && dir[strlen(dir) - 1] == '/' ? 0 : 1, at = (size_t)(dump.rest.ptr - name);
	nsx_buf_fmt(&b, "%s%s%s", dir, slash ? "/" : "", name);
	nsx_buf_char(&b, '\0');
	if (b.failed) {
		nsx_buf_free(&b);
		return nsx_err_nomem(err, dir);
	}
	/* A pipe in the folder may never get a writer: skip it. Other unreadable files cause an error when they are
	 * read. */
	if (stat(b.ptr, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		nsx_err_set(err, "%s: not a regular file", b.ptr);
		nsx_buf_free(&b);
		return NSX_ERR;
	}
	dump.path = b.ptr;
	dump.rest.ptr = b.ptr + strlen(dir) + slash + at;
	if (!nsx_vec_push(&d->dumps, dump)) {
		nsx_buf_free(&b);
		return nsx_err_nomem(err, dir);
	}
	return NSX_OK;
}

struct nsx_dump_dir *
nsx_dump_dir_open(const char *dir, struct nsx_err *err)
{
	const struct dirent *e;
	int rc = NSX_OK;
	DIR *files = opendir(dir);

	if (!files) {
		nsx_err_set(err, "%s: %s", dir, strerror(errno));
		return NULL;
	}
	struct nsx_dump_dir *d = calloc(1, sizeof *d);
	if (!d)
		rc = nsx_err_nomem(err, dir);
	while (rc == NSX_OK) {
		errno = 0;
		if (!(e = readdir(files))) {
			if (errno)
				rc = nsx_err_set(err, "%s: %s", dir, strerror(errno));
			break;
		}
		rc = add_file(d, dir, e->d_name, err);
	}
	if (closedir(files) != 0 && rc == NSX_OK)
		rc = nsx_err_set(err, "%s: %s", dir, strerror(errno));
	if (rc != NSX_OK) {
		nsx_dump_dir_free(d);
		return NULL;
	}
	if (d->dumps.n)
		qsort(d->dumps.p, d->dumps.n, sizeof *d->dumps.p, by_id);
	return d;
}

/* Whether the file is of a module called name: XLA replaces characters that it does not use in file names by '_'. */
static bool
is_named(struct nsx_str rest, struct nsx_str name, enum what what)
{
	if (rest.len <= name.len || rest.ptr[name.len] != '.')
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (rest.ptr[i] != name.ptr[i] && rest.ptr[i] != '_')
			return false;
	return what != DUMP || contains(skip(rest, name.len), NSX_STR("after_optimizations"));
}

static enum nsx_dump_found
find(const struct nsx_dump_dir *d, enum what what, int64_t id, struct nsx_str name, const char **path)
{
	const struct dump *found = NULL;
	size_t lo = 0, hi = d->dumps.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct dump *dump = &d->dumps.p[mid];
		if (dump->what < what || (dump->what == what && dump->id < id))
			lo = mid + 1;
		else
			hi = mid;
	}
	*path = NULL;
	for (; lo < d->dumps.n && d->dumps.p[lo].what == what && d->dumps.p[lo].id == id; lo++) {
		const struct dump *dump = &d->dumps.p[lo];
		if (!is_named(dump->rest, name, what))
			continue;
		/* The same dump, also compressed: paths are sorted, so the plain one came first. */
		if (found && nsx_str_eq(found->rest, dump->rest) && strlen(found->path) < strlen(dump->path))
			continue;
		if (found)
			return NSX_DUMP_AMBIGUOUS;
		found = dump;
	}
	if (!found)
		return NSX_DUMP_NONE;
	*path = found->path;
	return NSX_DUMP_ONE;
}

enum nsx_dump_found
nsx_dump_dir_find(const struct nsx_dump_dir *d, int64_t id, struct nsx_str name, const char **path)
{
	return find(d, DUMP, id, name, path);
}

enum nsx_dump_found
nsx_dump_dir_list(const struct nsx_dump_dir *d, int64_t id, struct nsx_str name, const char **text,
                  const char **metadata)
{
	enum nsx_dump_found list = find(d, LIST, id, name, text), about = find(d, METADATA, id, name, metadata);

	return list == NSX_DUMP_AMBIGUOUS || about == NSX_DUMP_AMBIGUOUS ? NSX_DUMP_AMBIGUOUS
		: list == NSX_DUMP_ONE && about == NSX_DUMP_ONE ? NSX_DUMP_ONE : NSX_DUMP_NONE;
}

const char *
nsx_dump_dir_next(const struct nsx_dump_dir *d, size_t *next)
{
	size_t at = *next;

	/* Dumps come before the files written with them. */
	if (at == d->dumps.n || d->dumps.p[at].what != DUMP)
		return NULL;
	do
		++*next;
	while (*next < d->dumps.n && d->dumps.p[*next].what == DUMP && d->dumps.p[*next].id == d->dumps.p[at].id &&
	       nsx_str_eq(d->dumps.p[*next].rest, d->dumps.p[at].rest));
	return d->dumps.p[at].path;
}

void
nsx_dump_dir_free(struct nsx_dump_dir *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->dumps.n; i++)
		free(d->dumps.p[i].path);
	free(d->dumps.p);
	free(d);
}
