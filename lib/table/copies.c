/* copies.c -- copies and sets of memory. Holds a row for each kind, the copies that are running, and the calls in
 * flight.
 *
 * A copy is hidden by the union of the kernels, graphs and communicating operations of its device, except itself.
 * Operations come in order of start, so at any time the time up to the latest end so far is covered: the hidden time of
 * a copy is the covered time until its end less that until its start. For a copy that itself hides others, because it
 * communicates, each other operation adds the part of it beyond the end up to which its hidden time is known.
 *
 *   kernel [0,4)  copy [2,9)  kernel [3,5)  kernel [7,12)   ->   hidden [2,4), then [4,5), then [7,9): 5 of 7 ns */
#include "table/copies.h"

#include <stdlib.h>
#include <strings.h>

#include "base/heap.h"
#include "base/num.h"
#include "base/sort.h"
#include "job/call_book.h"
#include "job/reach.h"
#include "table/analysis.h"
#include "table/sums.h"

enum mode { MODE_NONE, MODE_SYNC, MODE_ASYNC };
static const char *const modes[] = { "", "sync", "async" };

static const struct { int64_t up_to; const char *name; } sizes[] = {
	{ INT64_C(4) << 10, "4 KiB" }, { INT64_C(64) << 10, "64 KiB" }, { INT64_C(1) << 20, "1 MiB" },
	{ INT64_C(16) << 20, "16 MiB" },
	{ INT64_C(256) << 20, "256 MiB" }, { INT64_MAX, "more" }
};
enum { NSIZES = sizeof sizes / sizeof *sizes };

enum rule { RULE_ASYNC_PAGEABLE, RULE_SYNC, RULE_SET_SYNC, NRULES };
static const char *const rules[NRULES] = { "memcpy-async-pageable", "memcpy-sync", "memset-sync" };

/* A synchronous copy of so few bytes to the device returns before it is done: it is not reported. */
#define SMALL_COPY 64000

/* A finding below this fraction of the time of all copies is minor. */
#define MINOR 1000

struct key { uint32_t name, src, dst, none; int64_t mode, size; };
struct row { struct key key; int64_t count, bytes, time, hidden; };

static const char *
mode_text(const void *row)
{
	return modes[((const struct row *)row)->key.mode];
}

static const char *
bucket_text(const void *row)
{
	return sizes[((const struct row *)row)->key.size].name;
}

#define AT(member) offsetof(struct row, member), 0, NULL
#define BY_TIME(member) offsetof(struct row, member), offsetof(struct row, time), NULL
#define KINDS \
	{ "name", NSX_CELL_STRING, NSX_SUM_TEXT, AT(key.name) }, \
	{ "src", NSX_CELL_STRING, NSX_SUM_TEXT, AT(key.src) }, { "dst", NSX_CELL_STRING, NSX_SUM_TEXT, AT(key.dst) }, \
	{ "mode", NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, mode_text }
#define SUMS \
	{ "count", NSX_CELL_INT, NSX_SUM_INT, AT(count) }, { "bytes", NSX_CELL_BYTES, NSX_SUM_INT, AT(bytes) }, \
	{ "time", NSX_CELL_NS, NSX_SUM_INT, AT(time) }, { "gbps", NSX_CELL_GBPS, NSX_SUM_RATIO, BY_TIME(bytes) }, \
	{ "hidden_share", NSX_CELL_SHARE, NSX_SUM_RATIO, BY_TIME(hidden) }, \
	{ "by_mode", NSX_CELL_INT, NSX_SUM_INT, AT(key.mode) }, { "by_size", NSX_CELL_INT, NSX_SUM_INT, AT(key.size) }

static const struct nsx_sum_col plain[] = { KINDS, SUMS };
static const struct nsx_sum_col by_size[] = {
	KINDS, { "bucket", NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, bucket_text }, SUMS
};
/* The longest time first; sizes of one kind together, the smallest first. */
static const struct nsx_sum_def kinds = {
	sizeof(struct row), sizeof(struct key), plain, 9, "-time name src dst by_mode",
	"src dst mode time bytes count hidden_share gbps name", "time", 2
}, kinds_by_size = {
	sizeof(struct row), sizeof(struct key), by_size, 10, "name src dst by_mode by_size",
	"bucket src dst mode time bytes count gbps hidden_share name", "time", 2
};

/* A running copy: hidden time so far, and the end up to which it is known. */
struct running { uint32_t row; int64_t start, end, cover_to, hidden; };

/* A copy that does not hide others: the covered time when it began. */
struct ending { int64_t end, covered; uint32_t row; };

/* covered_ns: length of the union. running: copies that communicate, which hide others but not themselves. endings: all
 * others, a heap by end. */
struct device { int64_t cover_end, covered_ns; bool covered; NSX_VEC(struct running) running;
                NSX_VEC(struct ending) endings; };

struct finding { enum rule rule; int64_t pid, device, start, dur, bytes; uint32_t src, dst, api; };

struct copies {
	const struct nsx_copies_options *options;
	struct nsx_err      *err;
	const struct nsx_catalogue *cat;
	struct nsx_call_book calls;
	struct nsx_intern    strings;
	struct nsx_sums      sums;       /* of struct row */
	NSX_VEC(struct device) devices;  /* by index of the catalogue */
	NSX_VEC(struct finding) findings;
	int64_t ops, timeless, beyond, early;   /* early: copies that came before their calls */
	bool    clipped;
};

static struct row *
row(const struct copies *f, uint32_t number)
{
	return nsx_sums_at(&f->sums, number);
}

/* ---- hidden time */

static void
cover(struct running *r, int64_t start, int64_t end)
{
	int64_t from = start > r->cover_to ? start : r->cover_to, to = end < r->end ? end : r->end;

	if (to > from)
		r->hidden += to - from;
	if (end > r->cover_to)
		r->cover_to = end;
}

static bool
ends_before(const void *unused, const struct ending *a, const struct ending *b)
{
	(void)unused;
	return a->end < b->end;
}
NSX_HEAP(endings, struct ending, const void *, ends_before)

/* Covered time until t, when all that started before t has been read. Operations that extend beyond t cover the time up
 * to the latest end. */
static int64_t
covered_until(const struct device *d, int64_t t)
{
	return d->covered_ns - (d->covered && d->cover_end > t ? d->cover_end - t : 0);
}

/* Finish the copies that ended before `now`. */
static void
book(struct copies *f, struct device *d, int64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->running.n; i++) {
		const struct running *r = &d->running.p[i];

		if (r->end > now)
			d->running.p[kept++] = *r;
		else
			row(f, r->row)->hidden = nsx_add_sat(row(f, r->row)->hidden, r->hidden, &f->clipped);
	}
	d->running.n = kept;
	while (d->endings.n && d->endings.p[0].end <= now) {
		struct ending e = endings_pop(NULL, d->endings.p, d->endings.n--);

		row(f, e.row)->hidden = nsx_add_sat(row(f, e.row)->hidden, covered_until(d, e.end) - e.covered,
		                                      &f->clipped);
	}
}

/* ---- one copy */

static enum mode
mode_of(const struct nsx_rec *op, struct nsx_str api)
{
	if (nsx_has(op, NSX_OP_graph_node))
		return nsx_has(op, NSX_OP_call) ? MODE_ASYNC : MODE_NONE;
	for (size_t i = 0; i + 5 <= api.len; i++)
		if (strncasecmp(api.ptr + i, "async", 5) == 0)
			return MODE_ASYNC;
	return api.len ? MODE_SYNC : MODE_NONE;
}

static int
size_of(int64_t bytes)
{
	int i = 0;

	while (i < NSIZES - 1 && bytes > sizes[i].up_to)
		i++;
	return i;
}

/* The best-practice rule that the copy breaks; NRULES: none. cudaMemcpy* and cuMemcpy* alike, names in any case. */
static enum rule
broken_rule(const struct nsx_rec *op, bool set, enum mode mode, struct nsx_str api)
{
	struct nsx_str src = nsx_string(op, NSX_OP_src), dst = nsx_string(op, NSX_OP_dst), name = nsx_string(op,
		NSX_OP_name);
	size_t prefix = api.len >= 4 && strncasecmp(api.ptr, "cuda", 4) == 0 ? 4 : api.len >= 2 &&
	    strncasecmp(api.ptr, "cu", 2) == 0 ? 2 : 0;
	bool named = prefix && api.len >= prefix + 6 && strncasecmp(api.ptr + prefix, set ? "memset" : "memcpy", 6) ==
	    0;

	if (!named || nsx_has(op, NSX_OP_graph_node))
		return NRULES;
	if (set)
		return mode == MODE_SYNC && (nsx_str_eq(dst, NSX_STR("pinned")) || nsx_str_eq(dst, NSX_STR("managed")))
		       ? RULE_SET_SYNC : NRULES;
	if (mode == MODE_ASYNC)
		return nsx_str_eq(src, NSX_STR("pageable")) || nsx_str_eq(dst, NSX_STR("pageable"))
		       ? RULE_ASYNC_PAGEABLE : NRULES;
	if (nsx_str_eq(name, NSX_STR("[CUDA memcpy Host-to-Device]")) && nsx_int(op, NSX_OP_bytes, 0) <= SMALL_COPY)
		return NRULES;
	return nsx_str_eq(name, NSX_STR("[CUDA memcpy Device-to-Device]")) ? NRULES : RULE_SYNC;
}

static int
take_copy(struct copies *f, const struct nsx_rec *op, bool set, bool comm, struct device *d, uint32_t device)
{
	int64_t start = op->v[NSX_OP_start].i, dur = op->v[NSX_OP_dur].i, end = nsx_add_sat(start, dur, NULL),
	    bytes = nsx_int(op, NSX_OP_bytes, 0);
	struct nsx_call_entry *call = NULL, gone;
	struct nsx_str api = { "", 0 };
	struct key new = { .size = f->options->by_size ? size_of(bytes) : 0 };
	uint32_t api_id, at;
	int rc = NSX_OK;

	/* Only some operations of a graph launch are copies, so its call would never be complete. */
	if (!nsx_has(op, NSX_OP_graph_node))
		call = nsx_call_book_of(&f->calls, op, &rc, f->err);
	if (rc != NSX_OK)
		return NSX_ERR;
	if (call && call->name != NSX_NONE)
		api = nsx_intern_str(&f->calls.names, call->name);
	new.mode = mode_of(op, api);
	new.name = nsx_intern(&f->strings, nsx_string(op, NSX_OP_name));
	new.src = nsx_intern(&f->strings, nsx_string(op, NSX_OP_src));
	new.dst = nsx_intern(&f->strings, nsx_string(op, NSX_OP_dst));
	api_id = nsx_intern(&f->strings, api);
	at = nsx_sums_number(&f->sums, &new);
	if (new.name == NSX_NONE || new.src == NSX_NONE || new.dst == NSX_NONE || api_id == NSX_NONE || at == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	struct row *r = row(f, at);

	r->count++;
	r->bytes = nsx_add_sat(r->bytes, bytes, &f->clipped);
	r->time = nsx_add_sat(r->time, dur, &f->clipped);
	struct running run = { at, start, end, d->covered && d->cover_end > start ? d->cover_end : start, 0 };

	run.hidden = (run.cover_to < end ? run.cover_to : end) - start;
	if (comm ? !nsx_vec_push(&d->running, run) : !nsx_vec_room(&d->endings, 1))
		return nsx_err_nomem(f->err, NULL);
	if (!comm)
		endings_push(NULL, d->endings.p, d->endings.n++, (struct ending){ end, covered_until(d, start), at });
	enum rule rule = f->options->findings ? broken_rule(op, set, (enum mode)new.mode, api) : NRULES;
	struct finding found = { rule, f->cat->devices.p[device].pid, f->cat->devices.p[device].number, start, dur,
	                         nsx_int(op, NSX_OP_bytes, NSX_ABSENT),
	                         new.src, new.dst, api_id };

	if (rule != NRULES && !nsx_vec_push(&f->findings, found))
		return nsx_err_nomem(f->err, NULL);
	if (call)
		nsx_call_book_done(&f->calls, call, &gone);
	return NSX_OK;
}

static int
take_op(struct copies *f, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	struct nsx_str type = nsx_string(rec, NSX_OP_type);
	bool set = nsx_str_eq(type, NSX_STR("memset")), copy = set || nsx_str_eq(type, NSX_STR("memcpy")),
	    comm = e->communicates;
	struct device *d;

	f->ops++;
	while (f->devices.n <= e->device)
		if (!nsx_vec_push(&f->devices, ((struct device){ 0 })))
			return nsx_err_nomem(f->err, NULL);
	if (e->end == NSX_ABSENT) {
		f->timeless++;
		return NSX_OK;
	}
	d = &f->devices.p[e->device];
	int64_t start = e->start, end = e->end;
	size_t others;

	book(f, d, start);
	others = d->running.n;
	if (copy && take_copy(f, rec, set, comm, d, e->device) != NSX_OK)
		return NSX_ERR;
	if (copy && !comm)
		return NSX_OK;
	for (size_t i = 0; i < others; i++)
		cover(&d->running.p[i], start, end);
	int64_t from = d->covered && d->cover_end > start ? d->cover_end : start;

	if (end > from)
		d->covered_ns += end - from;
	if (!d->covered || end > d->cover_end)
		d->cover_end = end;
	d->covered = true;
	return NSX_OK;
}

static void
need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_call_book_need(in);
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES) | NSX_C(CALL, class));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, name) | NSX_C(OP, bytes) | NSX_C(OP, src) | NSX_C(OP, dst)
	                            | NSX_C(OP, graph_node));
}

static int
take(void *state, const struct nsx_event *e)
{
	struct copies *f = state;
	const struct nsx_rec *rec = e->rec;

	if (!e->reaches) {
		f->beyond++;
		return NSX_OK;
	}
	switch (rec->kind->id) {
	case NSX_CALL: {
		/* Only the calls of copies and sets are looked up. */
		struct nsx_str class = nsx_string(rec, NSX_CALL_class);
		struct nsx_call_entry c;

		if (nsx_str_eq(class, NSX_STR("launch")) || nsx_str_eq(class, NSX_STR("graph-launch"))) {
			f->calls.records++;
			return NSX_OK;
		}
		if (nsx_call_book_add(&f->calls, rec, &c, f->err) != NSX_OK)
			return NSX_ERR;
		f->early += c.early;
		return NSX_OK;
	}
	case NSX_OP: return take_op(f, e);
	default:     return NSX_OK;
	}
}

/* ---- tables */

static struct nsx_str
text_of(const void *strings, uint32_t id)
{
	return nsx_intern_str(strings, id);
}

static int
begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct copies *f = state;

	f->options = options;
	f->err = at->err;
	f->cat = at->cat;
	f->sums = (struct nsx_sums){ .def = f->options->by_size ? &kinds_by_size : &kinds, .text = text_of,
	                             .state = &f->strings };
	return NSX_OK;
}

static struct nsx_table *
make_table(struct copies *f)
{
	struct nsx_table *t = nsx_sums_table(&f->sums, f->err);

	nsx_table_head(t, "gbps", "GB/s");
	return t;
}

/* The longest first. */
static int
findings_by_time(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->dur != y->dur)
		return x->dur > y->dur ? -1 : 1;
	if (x->rule != y->rule)
		return x->rule < y->rule ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

enum { F_RULE, F_PID, F_DEVICE, F_START, F_DUR, F_BYTES, F_SRC, F_DST, F_API, F_NCOLS };

/* The number of findings, in sorted order, that the table has: the first one, and those that take at least a thousandth
 * of the time of copies. A note has the number of the others and their share of that time, because many together may
 * cost much. */
static size_t
findings_shown(struct copies *f, struct nsx_table *t)
{
	int64_t total = 0, rest = 0;
	size_t n = 0;

	for (size_t i = 0; i < nsx_sums_count(&f->sums); i++)
		total = nsx_add_sat(total, row(f, (uint32_t)i)->time, &f->clipped);
	while (n < f->findings.n && (n == 0 || f->findings.p[n].dur > (total - 1) / MINOR))
		n++;
	if (f->options->minor || n == f->findings.n)
		return f->findings.n;
	for (size_t i = n; i < f->findings.n; i++)
		rest = nsx_add_sat(rest, f->findings.p[i].dur, &f->clipped);
	nsx_table_note(t, "%zu more of less than 0.1%% of the time of copies each, %.3g%% together: --top 0",
	               f->findings.n - n, 100.0 * (double)rest / (double)total);
	return n;
}

static struct nsx_table *
make_findings(struct copies *f)
{
	static const struct nsx_table_col cols[F_NCOLS] = {
		[F_RULE] = { "rule", NSX_CELL_STRING }, [F_PID] = { "pid", NSX_CELL_INT }, [F_DEVICE] = { "device",
			NSX_CELL_INT },
		[F_START] = { "start", NSX_CELL_TIME }, [F_DUR] = { "dur", NSX_CELL_NS }, [F_BYTES] = { "bytes",
			NSX_CELL_BYTES },
		[F_SRC] = { "src", NSX_CELL_STRING }, [F_DST] = { "dst", NSX_CELL_STRING },
		[F_API] = { "api", NSX_CELL_STRING }
	};
	struct nsx_table *t = nsx_table_new(cols, F_NCOLS);

	if (!t)
		nsx_err_nomem(f->err, NULL);
	nsx_table_rank(t, "rule start device dur bytes src api dst");

	if (t && f->findings.n)
		qsort(f->findings.p, f->findings.n, sizeof *f->findings.p, findings_by_time);
	size_t n = t ? findings_shown(f, t) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct finding *x = &f->findings.p[i];

		nsx_table_row(t);
		nsx_table_str(t, F_RULE, nsx_str_c(rules[x->rule]));
		if (x->pid != NSX_ABSENT)
			nsx_table_int(t, F_PID, x->pid);
		nsx_table_int(t, F_DEVICE, x->device);
		nsx_table_int(t, F_START, x->start);
		nsx_table_int(t, F_DUR, x->dur);
		if (x->bytes != NSX_ABSENT)
			nsx_table_int(t, F_BYTES, x->bytes);
		nsx_table_str(t, F_SRC, nsx_intern_str(&f->strings, x->src));
		nsx_table_str(t, F_DST, nsx_intern_str(&f->strings, x->dst));
		nsx_table_str(t, F_API, nsx_intern_str(&f->strings, x->api));
	}
	return t;
}

static int
finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct copies *f = state;

	if (f->clipped)
		return nsx_err_set(f->err, "the sum of times or bytes exceeds 64 bits");
	for (size_t i = 0; i < f->devices.n; i++)
		book(f, &f->devices.p[i], INT64_MAX);
	if (!table) {
		nsx_sums_sort(&f->sums);
		return NSX_OK;
	}
	if (!f->ops)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no operations in the stream: extract with --ops --calls");
	else if (!f->calls.records)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no CUDA calls in the stream, so the calls of copies are not known: extract with --calls");
	nsx_diag_add(diags, NSX_WARNING, "", f->early,
		"copies that start before their call: the call is not used; the clocks of GPU and host disagree");
	nsx_diag_add(diags, NSX_WARNING, "", f->beyond, NSX_BEYOND_REACH);
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless, "operations without a start or duration: ignored");
	*table = f->options->findings ? make_findings(f) : make_table(f);
	return *table ? NSX_OK : NSX_ERR;
}

static void
free_all(void *state)
{
	struct copies *f = state;

	nsx_call_book_free(&f->calls);
	nsx_intern_free(&f->strings);
	nsx_sums_free(&f->sums);
	for (size_t i = 0; i < f->devices.n; i++) {
		free(f->devices.p[i].running.p);
		free(f->devices.p[i].endings.p);
	}
	free(f->devices.p);
	free(f->findings.p);
}

const struct nsx_analysis nsx_copies_analysis = {
	sizeof(struct copies), NSX_K(CALL) | NSX_K(OP), true, begin, need, take, finish, free_all
};

int
nsx_copies(struct nsx_reader *in, const struct nsx_copies_options *options, struct nsx_table **table, int64_t *ndiags,
           struct nsx_diags *diags, struct nsx_err *err)
{
	return nsx_analyse_one(&nsx_copies_analysis, options, in, options->require, table, ndiags, diags, err);
}

bool
nsx_copies_sum(const void *state, size_t i, struct nsx_copies_sum *sum)
{
	const struct copies *f = state;
	const struct row *r = i < nsx_sums_count(&f->sums) ? row(f, (uint32_t)i) : NULL;

	if (!r)
		return false;
	*sum = (struct nsx_copies_sum){
		nsx_intern_str(&f->strings, r->key.name), nsx_intern_str(&f->strings, r->key.src),
		nsx_intern_str(&f->strings, r->key.dst), r->key.mode == MODE_SYNC, r->count, r->bytes, r->time,
		r->hidden
	};
	return true;
}
