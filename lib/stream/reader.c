/* reader.c -- reading that all encodings share: opening, recognising the encoding, kinds, the end, the order. A stream
 * that is truncated, or not in order if that is required, is always reported as an error. */
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
	struct nsx_rec rec;
	int rc;

	if (r->also) {
		take = take_both;
		state = &both;
	}
	r->all = true;
	/* For a kind of which only the presence matters, no columns. */
	if (require && r->needs)
		nsx_reader_need(r, nsx_kind_find(nsx_str_c(require)), 0);
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
	if (rc == NSX_EOF && require && !r->lacking[nsx_kind_find(nsx_str_c(require))])
		return nsx_err_set(err, "no %s record", require);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

const struct nsx_kind *const *
nsx_reader_kinds(const struct nsx_reader *r, int *n)
{
	*n = (int)r->kinds.n;
	return r->kinds.p;
}

/* ---- kinds ---- */

bool
nsx_kind_word(struct nsx_str s)
{
	if (s.len == 0 || s.ptr[0] < 'a' || s.ptr[0] > 'z')
		return false;
	for (size_t i = 1; i < s.len; i++) {
		char c = s.ptr[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return true;
}

int
nsx_reader_add_column(struct nsx_reader *r, enum nsx_kind_id kind, const char *column, char type)
{
	struct nsx_str name = nsx_arena_str(&r->arena, nsx_str_c(column));

	if (!name.ptr || !nsx_vec_push(&r->added, ((struct nsx_added){ kind, name.ptr, type })))
		return nsx_err_nomem(r->err, r->name);
	return NSX_OK;
}

int
nsx_reader_add_columns(struct nsx_reader *r, enum nsx_kind_id kind)
{
	const struct nsx_kind *k = nsx_kind_builtin(kind);
	int rc = NSX_OK;

	for (int i = 0; i < k->ncols && rc == NSX_OK; i++)
		rc = nsx_reader_add_column(r, kind, k->cols[i].name, k->cols[i].type);
	return rc;
}

void
nsx_reader_need(struct nsx_reader *r, enum nsx_kind_id kind, uint64_t columns)
{
	r->needs = r->asked[kind] = true;
	r->need[kind] |= columns;
}

void
nsx_reader_need_value(struct nsx_reader *r, enum nsx_kind_id kind, int slot)
{
	r->value[kind] = (int8_t)(slot + 1);
	nsx_reader_need(r, kind, 1ULL << slot);
}

int64_t
nsx_reader_lacking(const struct nsx_reader *r, enum nsx_kind_id kind)
{
	return r->lacking[kind];
}

/* The slots of a kind that are needed. */
static uint64_t
needed(const struct nsx_reader *r, enum nsx_kind_id kind)
{
	return !r->needs ? NSX_EVERY : !r->asked[kind] ? 0
	       : r->need[kind] | (r->flags & NSX_READ_ORDERED ? nsx_order_columns(kind) : 0);
}

uint64_t
nsx_reader_wanted(const struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols, size_t ncols,
                  bool *skip)
{
	enum nsx_kind_id kind = nsx_kind_find(name);
	uint64_t slots = needed(r, kind), wanted = 0;

	*skip = r->needs && !r->asked[kind] && kind != NSX_END;
	if (slots == NSX_EVERY || kind == NSX_END)
		return NSX_EVERY;
	for (size_t i = 0; i < ncols && i < NSX_MAX_COLS; i++) {
		int slot = kind == NSX_NKINDS ? -1 : nsx_kind_slot(nsx_kind_builtin(kind), cols[i].name);

		wanted |= (uint64_t)(slot >= 0 && slots >> slot & 1) << i;
	}
	return wanted;
}

int
nsx_reader_value(const struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols, size_t ncols)
{
	enum nsx_kind_id kind = nsx_kind_find(name);
	size_t i = 0;

	/* With NSX_READ_ORDERED all records of a kind are needed: their order is checked. */
	if (!r->value[kind] || r->flags & NSX_READ_ORDERED)
		return -1;
	while (i < ncols && nsx_kind_slot(nsx_kind_builtin(kind), cols[i].name) != r->value[kind] - 1)
		i++;
	return (int)i;
}

struct nsx_met *
nsx_reader_met(struct nsx_reader *r, struct nsx_str name)
{
	uint32_t i = nsx_intern_find(&r->names, name);

	return i == NSX_NONE ? NULL : r->met.p[i];
}

/* A kind under construction. */
struct making {
	struct nsx_kind *kind;
	struct nsx_col  *cols;
	int              known;   /* number of columns of the built-in kind */
};

/* Add a column to the kind: NSX_OK; NSX_EOF if it exists already; NSX_ERR. */
static int
add_column(struct nsx_reader *r, struct making *m, struct nsx_str name, char type)
{
	struct nsx_kind *k = m->kind;
	int slot = nsx_kind_slot(k, name);

	if (slot >= 0 && m->cols[slot].type != type)
		return nsx_reader_fail(r, "column %s of %s: want type %c, got %c", m->cols[slot].name, k->name,
		                       m->cols[slot].type, type);
	if (slot >= 0 && nsx_kind_has(k, slot))
		return NSX_EOF;
	if (slot < 0) {
		if (k->nslots == NSX_MAX_COLS)
			return nsx_reader_fail(r, "kind %s has more than %d columns, known ones counted", k->name,
			                       NSX_MAX_COLS);
		struct nsx_str copy = nsx_arena_str(&r->arena, name);
		if (!copy.ptr)
			return nsx_err_nomem(r->err, r->name);
		slot = k->nslots++;
		m->cols[slot] = (struct nsx_col){ copy.ptr, type, NULL, NULL };
	}
	k->order[k->ncols++] = (uint8_t)slot;
	return NSX_OK;
}

static int
start_kind(struct nsx_reader *r, struct making *m, struct nsx_str name)
{
	struct nsx_kind *k = m->kind = nsx_arena_alloc(&r->arena, sizeof *k);
	struct nsx_str copy = nsx_arena_str(&r->arena, name);

	m->cols = nsx_arena_alloc(&r->arena, NSX_MAX_COLS * sizeof *m->cols);
	if (!k || !copy.ptr || !m->cols)
		return nsx_err_nomem(r->err, r->name);
	*k = (struct nsx_kind){ .id = nsx_kind_find(name), .name = copy.ptr, .cols = m->cols };
	m->known = 0;
	if (k->id != NSX_NKINDS) {
		const struct nsx_kind *b = nsx_kind_builtin(k->id);

		k->name = b->name;
		k->meaning = b->meaning;
		k->nslots = m->known = b->nslots;
		memcpy(m->cols, b->cols, (size_t)b->nslots * sizeof *b->cols);
	}
	return NSX_OK;
}

static uint64_t
print_of(const struct nsx_kind *k)
{
	uint64_t h = nsx_hash(k->name, strlen(k->name));

	for (int i = 0; i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];

		h = nsx_hash_u64(h ^ nsx_hash(c->name, strlen(c->name)) ^ (uint64_t)c->type << 56 ^ k->order[i]);
	}
	return h | 1ULL << 63;
}

static bool
is_builtin(const struct making *m)
{
	const struct nsx_kind *k = m->kind;

	if (k->id == NSX_NKINDS || k->nslots != m->known || k->ncols != m->known)
		return false;
	for (int i = 0; i < k->ncols; i++)
		if (k->order[i] != i)
			return false;
	return true;
}

struct nsx_met *
nsx_reader_declare(struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols, size_t ncols)
{
	int shown = name.len > 40 ? 40 : (int)name.len;
	struct making m;
	struct nsx_met *met;

	if (!nsx_kind_word(name)) {
		nsx_reader_fail(r, "want a kind (a lower-case word), got \"%.*s\"", shown, name.ptr);
		return NULL;
	}
	if (nsx_reader_met(r, name)) {
		nsx_reader_fail(r, "second header of %.*s", shown, name.ptr);
		return NULL;
	}
	/* `end` is not counted. */
	if (r->kinds.n - (nsx_reader_met(r, NSX_STR("end")) != NULL) >= NSX_MAX_KINDS && nsx_kind_find(name) != NSX_END)
	    {
		nsx_reader_fail(r, "more than %d kinds", NSX_MAX_KINDS);
		return NULL;
	}
	if (start_kind(r, &m, name) != NSX_OK)
		return NULL;
	for (size_t i = 0; i < ncols; i++) {
		int wide = cols[i].name.len > 40 ? 40 : (int)cols[i].name.len;
		int rc;

		if (!nsx_kind_word(cols[i].name))
			rc = nsx_reader_fail(r, "want a column (a lower-case word), got \"%.*s\"", wide,
			                     cols[i].name.ptr);
		else if (!cols[i].type || !strchr("ifs", cols[i].type))
			rc = nsx_reader_fail(r, "column %.*s of %.*s: want type i, f or s, got %c: from a newer nsysx?",
			                     wide, cols[i].name.ptr, shown, name.ptr, cols[i].type ? cols[i].type
			                     : '?');
		else
			rc = add_column(r, &m, cols[i].name, cols[i].type);
		if (rc == NSX_EOF)
			nsx_reader_fail(r, "column %.*s of %.*s twice", wide, cols[i].name.ptr, shown, name.ptr);
		if (rc != NSX_OK)
			return NULL;
	}
	for (size_t i = 0; i < r->added.n; i++)
		if (r->added.p[i].kind == m.kind->id
		    && add_column(r, &m, nsx_str_c(r->added.p[i].name), r->added.p[i].type) == NSX_ERR)
			return NULL;
	m.kind->print = print_of(m.kind);

	met = nsx_arena_alloc(&r->arena, sizeof *met);
	if (!met || !nsx_vec_room(&r->kinds, 1) || !nsx_vec_room(&r->met, 1) || nsx_intern(&r->names, name) == NSX_NONE)
	    {
		nsx_err_nomem(r->err, r->name);
		return NULL;
	}
	met->wanted = nsx_reader_wanted(r, name, cols, ncols, &met->skip);
	if (m.kind->id != NSX_END)
		m.kind->unasked = ~needed(r, m.kind->id);
	met->kind = is_builtin(&m) && !m.kind->unasked ? nsx_kind_builtin(m.kind->id) : m.kind;
	met->n = (int)ncols;
	for (size_t i = 0; i < ncols; i++)
		met->type[i] = cols[i].type;
	r->kinds.p[r->kinds.n++] = met->kind;
	r->met.p[r->met.n++] = met;
	return met;
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
		return nsx_err_set(r->err, "%s: an SQLite file: nsysx-extract reads those", r->name);
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
		if (rec->kind->id == NSX_DIAG)
			r->unsteady |= nsx_says_unsteady(rec);
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
