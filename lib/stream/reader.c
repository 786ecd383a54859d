/* reader.c -- reading that all encodings share: opening, recognising the encoding, the end, the order; reader_kinds.c
 * has the kinds. A stream that is truncated, or not in order if that is required, is always reported as an error. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream/binary.h"
#include "base/inputs.h"
#include "base/num.h"
#include "stream/codec.h"
#include "stream/steady.h"
#include "stream/fields.h"

static struct nsx_reader *
reader_new(int fd, const char *name, unsigned flags, struct nsx_err *err)
{
	struct nsx_reader *r = calloc(1, sizeof *r);

	if (r)
		r->name = nsx_str_dup(nsx_str_c(name));
	if (!r || !r->name) {
		nsx_err_nomem(err, name);
		if (fd >= 0)
			close(fd);
		free(r);
		return NULL;
	}
	r->err = err;
	r->flags = flags;
	r->in = (struct nsx_input){ .fd = fd, .name = r->name, .err = err };
	/* Diags are few, and one concerns every reader. */
	r->asked[NSX_DIAG] = true;
	r->need[NSX_DIAG] = NSX_C(DIAG, source) | NSX_C(DIAG, text);
	return r;
}

struct nsx_reader *
nsx_reader_fd(int fd, const char *name, unsigned flags, struct nsx_err *err)
{
	return reader_new(fd, name, flags, err);
}

struct nsx_reader *
nsx_reader_mem(const void *p, size_t n, const char *name, unsigned flags, struct nsx_err *err)
{
	struct nsx_reader *r = reader_new(-1, name, flags, err);

	if (r) {
		r->in.mem = p;
		r->in.mem_left = n;
	}
	return r;
}

struct nsx_reader *
nsx_reader_open(const char *path, unsigned flags, struct nsx_err *err)
{
	bool std = !path || strcmp(path, "-") == 0;
	/* A separate descriptor, so that closing the reader does not close standard input. */
	int fd = std ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		nsx_err_set(err, "%s: %s", std ? "standard input" : path, strerror(errno));
		return NULL;
	}
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		nsx_err_set(err, "%s: Is a directory: want a stream, such as nsysx-prepare writes",
		            std ? "standard input" : path);
		return NULL;
	}
	nsx_inputs_note(fd);
	struct nsx_reader *r = reader_new(fd, std ? "standard input" : path, flags, err);
	if (r)
		nsx_reader_watch(r);
	return r;
}

void
nsx_reader_watch(struct nsx_reader *r)
{
	nsx_input_watch(&r->in, &r->records);
}

int64_t
nsx_reader_diags(const struct nsx_reader *r)
{
	return r->dec ? r->diags : -1;
}

bool
nsx_reader_unsteady(const struct nsx_reader *r)
{
	return r->unsteady;
}

struct nsx_input *
nsx_reader_input(struct nsx_reader *r)
{
	return &r->in;
}

void
nsx_reader_close(struct nsx_reader *r)
{
	if (!r)
		return;
	if (r->dec)
		r->dec->close(r);
	nsx_input_close(&r->in);
	nsx_arena_free(&r->arena);
	nsx_intern_free(&r->names);
	nsx_buf_free(&r->place);
	free(r->kinds.p);
	free(r->met.p);
	free(r->added.p);
	free(r->name);
	free(r);
}

int
nsx_reader_fail(struct nsx_reader *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return nsx_err_set(r->err, "%s: %s", nsx_reader_where(r), text);
}

int
nsx_reader_cut(struct nsx_reader *r)
{
	return nsx_err_set(r->err, "%s: cut short after %" PRId64 " record%s: no end record; did "
	                   "the command that wrote it fail, or is it still at work? write it again", r->name,
	                   r->records, r->records == 1 ? "" : "s");
}

int
nsx_reader_refuse(struct nsx_reader *r, uint64_t version)
{
	return nsx_err_set(r->err, "%s: stream version %" PRIu64 ", this nsysx reads %d: %s", r->name, version,
	                   NSX_STREAM_VERSION,
	                   version < NSX_STREAM_VERSION ? "extract again with this nsysx-extract"
	                   : "a newer nsysx reads it");
}

const char *
nsx_reader_where(struct nsx_reader *r)
{
	r->place.len = 0;
	if (r->dec)
		r->dec->where(r);
	else
		nsx_buf_c(&r->place, r->name);
	nsx_buf_char(&r->place, '\0');
	return r->place.failed ? r->name : r->place.ptr;
}

int64_t
nsx_reader_records(const struct nsx_reader *r)
{
	return r->records;
}

int64_t
nsx_reader_beyond(const struct nsx_reader *r)
{
	return r->beyond;
}

void
nsx_reader_times(const struct nsx_kind *k, int *start, int *dur)
{
	/* A kind without GPU times uses those of the host. */
	bool host = nsx_field(k->id, NSX_ROLE_START) < 0;

	*start = nsx_field(k->id, host ? NSX_ROLE_HOST_START : NSX_ROLE_START);
	*dur = nsx_field(k->id, host ? NSX_ROLE_HOST_DUR : NSX_ROLE_DUR);
	/* Columns that are not needed do not matter. */
	if (*start < 0 || *dur < 0 || (k->unasked >> *start | k->unasked >> *dur) & 1)
		*start = *dur = -1;
}

static inline const struct nsx_kind_times *
times_of(struct nsx_reader *r, const struct nsx_kind *k)
{
	struct nsx_kind_times *t = &r->times[k->id];

	if (k != t->of) {
		nsx_reader_times(t->of = k, &t->start, &t->dur);
		nsx_order_slots(k->id, t->order);
	}
	return t;
}

/* Whether the end of rec does not fit a time. */
static inline bool
ends_beyond(const struct nsx_kind_times *t, const struct nsx_rec *rec)
{
	int64_t end;

	return t->start >= 0 && rec->has >> t->start & rec->has >> t->dur & 1
	       && __builtin_add_overflow(rec->v[t->start].i, rec->v[t->dur].i, &end);
}

void
nsx_reader_listen(struct nsx_reader *r, nsx_take_fn *also, void *state)
{
	r->also = also;
	r->also_state = state;
}

void
nsx_reader_runs(struct nsx_reader *r, const struct nsx_run_kinds *runs)
{
	r->runs = *runs;
}

bool
nsx_reader_runs_of(const struct nsx_reader *r, struct nsx_str name, bool *compare)
{
	enum nsx_kind_id kind = nsx_kind_find(name);

	if (kind == NSX_NKINDS || !r->all || r->also || !(r->runs.kinds >> kind & 1))
		return false;
	*compare = r->runs.compare >> kind & 1;
	return true;
}

/* Two that take a record, the one who listens first. */
struct both { nsx_take_fn *also, *take; void *also_state, *state; };

static int
take_both(void *state, const struct nsx_rec *rec)
{
	const struct both *b = state;

	return b->also(b->also_state, rec) == NSX_OK ? b->take(b->state, rec) : NSX_ERR;
}

int
nsx_read_all(struct nsx_reader *r, const char *require, nsx_take_fn *take, void *state, struct nsx_err *err)
{
	struct both both = { r->also, take, r->also_state, state };
	const struct nsx_kind *last = NULL;
	enum nsx_kind_id must = require ? nsx_kind_find(nsx_str_c(require)) : NSX_NKINDS;
	struct nsx_rec rec;
	int rc;

	if (r->also) {
		take = take_both;
		state = &both;
	}
	r->all = true;
	r->run_state = state;
	/* For a kind of which only the presence matters, no columns. */
	if (require && r->needs)
		nsx_reader_need(r, must, 0);
	while ((rc = nsx_read(r, &rec)) == NSX_OK) {
		if (require && rec.kind != last && strcmp((last = rec.kind)->name, require) == 0)
			require = NULL;
		if (take(state, &rec) != NSX_OK)
			return NSX_ERR;
		/* nsx_read looks into each diag, and a required kind is looked for here. */
		if (r->dec == &nsx_binary_decoder && rec.kind->id != NSX_DIAG && !require
		    && nsx_binary_rest(r, &rec, take, state) != NSX_OK)
			return NSX_ERR;
	}
	if (rc == NSX_EOF && require && !r->lacking[must] && !(r->ran >> must & 1))
		return nsx_err_set(err, "no %s record", require);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

const struct nsx_kind *const *
nsx_reader_kinds(const struct nsx_reader *r, int *n)
{
	*n = (int)r->kinds.n;
	return r->kinds.p;
}

/* ---- reading ---- */

static bool
is_beginning(const char *p, size_t n, const char *of, size_t len)
{
	return n > 0 && n < len && memcmp(p, of, n) == 0;
}

/* What is no stream: profiles are those of which nsysx-prepare makes one. An XSpace begins with planes, whose lengths
 * and numbers are no text. */
static int
refuse_other(struct nsx_reader *r, const char *p, size_t n)
{
	const char *what = NULL;
	size_t i = 0;

	if (n >= 2 && memcmp(p, "\x1f\x8b", 2) == 0)
		what = "gzip data, such as a trace of PyTorch's profiler (JSON)";
	else if (n >= 2 && p[0] == '\n' && (unsigned char)p[1] != '\n' && memchr(p, '\x12', n < 16 ? n : 16))
		what = "an XSpace";
	while (i < n && strchr(" \t\r\n", p[i]) && p[i])
		i++;
	if (!what && i < n && (p[i] == '{' || p[i] == '['))
		what = "JSON, such as a trace of PyTorch's profiler";
	if (what)
		return nsx_err_set(r->err, "%s: %s: nsysx-prepare makes a stream of such a profile", r->name, what);
	return nsx_err_set(r->err, "%s: not an nsysx stream: want one that nsysx-prepare or nsysx-extract made",
	                   r->name);
}

/* Recognise the encoding by the first bytes. */
static int
begin(struct nsx_reader *r)
{
	static const char sqlite[] = "SQLite format 3";
	static const char text[] = "#nsysx\t";
	int rc = nsx_input_need(&r->in, sizeof sqlite);
	const char *p = r->in.buf + r->in.pos;
	size_t n = r->in.end - r->in.pos;

	if (rc == NSX_ERR)
		return NSX_ERR;
	if (n == 0 && !(r->flags & NSX_READ_PARTIAL))
		return nsx_err_set(r->err, "%s: empty: not an nsysx stream (did the command before it fail?)", r->name);
	if (n >= sizeof sqlite && memcmp(p, sqlite, sizeof sqlite) == 0)
		return nsx_err_set(r->err, "%s: an SQLite file: nsysx-prepare makes a stream of such an export",
		                   r->name);
	if (nsx_binary_magic(p, n))
		r->dec = &nsx_binary_decoder;
	else if ((n >= sizeof text - 1 && memcmp(p, text, sizeof text - 1) == 0) || (r->flags & NSX_READ_PARTIAL))
		r->dec = &nsx_text_decoder;
	else if (is_beginning(p, n, text, sizeof text - 1) || is_beginning(p, n, "\x0a\x09\x0a\x05nsysx",
		NSX_MAGIC_BYTES))
		return nsx_reader_cut(r);
	else
		return refuse_other(r, p, n);
	return r->dec->begin(r);
}

static int
disorder(struct nsx_reader *r, const struct nsx_rec *rec, const struct nsx_order_key *key)
{
	const char *sort = "the program that wrote it must keep the order of nsysx-format(5)";
	const char *kind = rec->kind->name, *last = r->last_kind->name;

	if (r->last.section != key->section)
		return nsx_reader_fail(r, "out of order: %s after %s; %s", kind, last, sort);
	if (key->section == NSX_SECTION_COMPILE && key->first != r->last.first)
		return nsx_reader_fail(r, "out of order: %s of profile %" PRId64 " after one of %" PRId64 "; %s", kind,
		                       key->first,
		                       r->last.first, sort);
	bool compile = key->section == NSX_SECTION_COMPILE;
	int64_t time = compile ? key->second : key->first, was = compile ? r->last.second : r->last.first;
	return nsx_reader_fail(r, "out of order: %s at %" PRId64 " after %s at %" PRId64 "; %s", kind, time, last, was,
	                       sort);
}

/* docs/format.md, "Order", except for ties: no program depends on those. */
int
nsx_reader_check_order(struct nsx_reader *r, const struct nsx_rec *rec)
{
	struct nsx_order_key key = { .section = nsx_rec_section(rec) };

	if (key.section == NSX_SECTION_ANY)
		return NSX_OK;
	/* Most records are work, whose duration is not compared. */
	bool placed = key.section == NSX_SECTION_WORK ? nsx_order_time(rec, &key.first) : nsx_order_key(rec, &key);
	if (!placed)
		return nsx_reader_fail(r, "%s without a start cannot be ordered", rec->kind->name);
	if (key.section == NSX_SECTION_WORK)
		key.second = rec->kind->id;
	key.third = 0;
	if (r->last_kind && nsx_order_key_cmp(&key, &r->last) < 0)
		return disorder(r, rec, &key);
	r->last_kind = rec->kind;
	r->last = key;
	return NSX_OK;
}

/* Whether rec lacks the value without which records of its kind are not needed. */
static bool
lacks(const struct nsx_reader *r, const struct nsx_rec *rec)
{
	int8_t value = r->value[rec->kind->id];

	return value && !(rec->has >> (value - 1) & 1);
}

int
nsx_read(struct nsx_reader *r, struct nsx_rec *rec)
{
	int rc = r->status;

	if (rc != NSX_OK)
		return rc;
	if (!r->dec)
		rc = begin(r);
	while (rc == NSX_OK) {
		rec->v = r->v;
		rc = r->dec->next(r, rec);
		if (rc != NSX_OK)
			break;
		const struct nsx_kind_times *t = times_of(r, rec->kind);
		r->records++;
		r->beyond += ends_beyond(t, rec);
		if (rec->kind->id == NSX_DIAG) {
			r->diags++;
			r->unsteady |= nsx_says_unsteady(rec);
		}
		if (r->flags & NSX_READ_ORDERED && !nsx_reader_comes_after(r, t->order, rec))
			rc = nsx_reader_check_order(r, rec);
		if (!lacks(r, rec))
			break;
		r->lacking[rec->kind->id]++;
	}
	if (rc != NSX_OK)
		r->status = rc;
	return rc;
}
