/* copies.c -- copies and sets of memory. Holds a row for each kind, the copies that are running, and the calls in
 * flight.
 *
 * A copy is hidden by the union of the kernels, graphs and communicating operations of its device, except itself.
 * Operations come in order of start, so the hidden time of a copy is the length of that union before its end less that
 * before its start (job/activity.h). A copy that itself hides others, because it communicates, has a union of its own,
 * of the parts of the others that are within it.
 *
 *   kernel [0,4)  copy [2,9)  kernel [3,5)  kernel [7,12)   ->   hidden [2,4), then [4,5), then [7,9): 5 of 7 ns */
#include "table/copies.h"

#include <stdlib.h>
#include <strings.h>

#include "base/heap.h"
#include "base/num.h"
#include "job/activity.h"
#include "job/call_book.h"
#include "job/reach.h"
#include "job/remedy.h"
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
struct row { struct key key; int64_t count, bytes, time, hidden, host; };

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

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("name", STRING, key.name), NSX_COL("src", STRING, key.src), NSX_COL("dst", STRING, key.dst),
	NSX_COL_SAID("mode", mode_text), NSX_COL_SAID("bucket", bucket_text), NSX_COL("count", INT, count),
	NSX_COL("bytes", BYTES, bytes), NSX_COL("time", NS, time), NSX_COL_PER("gbps", GBPS, bytes, time),
	NSX_COL_PER("hidden_share", SHARE, hidden, time), NSX_COL("by_mode", INT, key.mode),
	NSX_COL("by_size", INT, key.size),
};
/* The longest time first; sizes of one kind together, the smallest first. */
static const struct nsx_sum_def kinds = {
	NSX_ROWS(cols), .key = sizeof(struct key),
	.shown = "name src dst mode count bytes time gbps hidden_share", .order = "-time name src dst by_mode",
	.rank = "src dst mode time bytes count hidden_share gbps name", .adds = "time",
	.heads = { { "gbps", "GB/s" } }
}, kinds_by_size = {
	NSX_ROWS(cols), .key = sizeof(struct key),
	.shown = "name src dst mode bucket count bytes time gbps hidden_share",
	.order = "name src dst by_mode by_size",
	.rank = "bucket src dst mode time bytes count gbps hidden_share name", .adds = "time",
	.heads = { { "gbps", "GB/s" } }
};

/* A running copy that hides others, but not itself: what hides it. */
struct running_copy { uint32_t row; int64_t end; struct nsx_union hidden; };

/* A copy that does not hide others: how long others ran before it began. */
struct ending_copy { int64_t end; uint64_t before; uint32_t row; };

/* busy: of what hides copies. endings: a heap by end. */
struct device { struct nsx_union busy; NSX_VEC(struct running_copy) running; NSX_VEC(struct ending_copy) endings; };

/* A copy that breaks a rule. */
struct finding { int64_t rule, pid, device, start, dur, bytes; uint32_t src, dst, api; int64_t host_dur; };

static const char *
rule_text(const void *finding)
{
	return rules[((const struct finding *)finding)->rule];
}

#undef NSX_ROW
#define NSX_ROW struct finding
static const struct nsx_sum_col finding_cols[] = {
	NSX_COL_SAID("rule", rule_text), NSX_COL("pid", INT, pid), NSX_COL("device", ID, device),
	NSX_COL("start", TIME, start), NSX_COL("dur", NS, dur), NSX_COL("bytes", BYTES, bytes),
	NSX_COL("src", STRING, src), NSX_COL("dst", STRING, dst), NSX_COL("api", STRING, api),
	NSX_COL("host_dur", NS, host_dur), NSX_COL("by_rule", INT, rule),
};
static const struct nsx_sum_def of_findings = {
	NSX_ROWS(finding_cols),
	.shown = "rule pid device start dur bytes src dst api host_dur", .order = "-dur by_rule device start",
	.rank = "rule start device dur host_dur bytes src api dst"
};

struct copies {
	NSX_STATE;
	const struct nsx_copies_options *options;
	struct nsx_call_book calls;
	struct nsx_intern    strings;
	NSX_VEC(struct device) devices;  /* by index of the catalogue */
	struct nsx_sums      findings;   /* of struct finding */
	int64_t early;                   /* copies that came before their calls */
	bool    clipped;
};

static struct row *
row(const struct copies *f, uint32_t number)
{
	return nsx_sums_at(&f->rows, number);
}

static const struct finding *
finding(const struct copies *f, size_t i)
{
	return nsx_sums_at(&f->findings, i);
}

/* ---- hidden time */

static bool
ends_before(const void *unused, const struct ending_copy *a, const struct ending_copy *b)
{
	(void)unused;
	return a->end < b->end;
}
NSX_HEAP(endings, struct ending_copy, const void *, ends_before)

static void
hide(struct copies *f, uint32_t at, uint64_t ns)
{
	row(f, at)->hidden = nsx_add_sat(row(f, at)->hidden, (int64_t)ns, &f->clipped);
}

/* Finish the copies that ended before `now`. */
static void
book(struct copies *f, struct device *d, int64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->running.n; i++) {
		const struct running_copy *r = &d->running.p[i];

		if (r->end > now)
			d->running.p[kept++] = *r;
		else
			hide(f, r->row, r->hidden.length);
	}
	d->running.n = kept;
	while (d->endings.n && d->endings.p[0].end <= now) {
		struct ending_copy e = endings_pop(NULL, d->endings.p, d->endings.n--);

		hide(f, e.row, nsx_union_before(&d->busy, e.end) - e.before);
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
take_copy(struct copies *f, const struct nsx_event *e, bool set, struct device *d)
{
	const struct nsx_rec *op = e->rec;
	int64_t start = e->start, end = e->end, bytes = nsx_int(op, NSX_OP_bytes, 0);
	const struct nsx_cat_device *device = &f->cat->devices.p[e->device];
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
	at = nsx_sums_number(&f->rows, &new);
	if (new.name == NSX_NONE || new.src == NSX_NONE || new.dst == NSX_NONE || api_id == NSX_NONE || at == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	struct row *r = row(f, at);

	r->count++;
	r->bytes = nsx_add_sat(r->bytes, bytes, &f->clipped);
	r->time = nsx_add_sat(r->time, end - start, &f->clipped);
	/* Once for a call, which may copy several times. That of a graph's launch does not copy. */
	if (!nsx_has(op, NSX_OP_graph_node) && (!call || call->mark == NSX_NONE))
		r->host = nsx_add_sat(r->host, nsx_int(op, NSX_OP_host_dur, 0), &f->clipped);
	if (call)
		call->mark = 0;
	struct running_copy run = { at, end, { 0 } };

	if (d->busy.any)
		nsx_union_add(&run.hidden, start, d->busy.end < end ? d->busy.end : end);
	if (e->communicates ? !nsx_vec_push(&d->running, run) : !nsx_vec_room(&d->endings, 1))
		return nsx_err_nomem(f->err, NULL);
	if (!e->communicates)
		endings_push(NULL, d->endings.p, d->endings.n++,
		             (struct ending_copy){ end, nsx_union_before(&d->busy, start), at });
	enum rule rule = f->options->findings ? broken_rule(op, set, (enum mode)new.mode, api) : NRULES;
	struct finding *found = rule == NRULES ? NULL : nsx_sums_add(&f->findings);

	if (found)
		*found = (struct finding){ rule, device->pid, device->number, start, end - start,
		                           nsx_int(op, NSX_OP_bytes, NSX_ABSENT), new.src, new.dst, api_id,
		                           nsx_int(op, NSX_OP_host_dur, NSX_ABSENT) };
	else if (rule != NRULES)
		return nsx_err_nomem(f->err, NULL);
	if (call)
		nsx_call_book_done(&f->calls, call, &gone);
	return NSX_OK;
}

static int
take_op(struct copies *f, const struct nsx_event *e)
{
	bool set = e->type == NSX_TYPE_MEMSET, copy = set || e->type == NSX_TYPE_MEMCPY;
	int64_t start = e->start, end = e->end;
	struct device *d;
	size_t others;

	if (!nsx_vec_reach(&f->devices, e->device, NULL))
		return nsx_err_nomem(f->err, NULL);
	d = &f->devices.p[e->device];
	book(f, d, start);
	others = d->running.n;
	if (copy && (e->window || !f->options->in_windows) && take_copy(f, e, set, d) != NSX_OK)
		return NSX_ERR;
	if (copy && !e->communicates)
		return NSX_OK;
	for (size_t i = 0; i < others; i++) {
		struct running_copy *r = &d->running.p[i];

		nsx_union_add(&r->hidden, start, end < r->end ? end : r->end);
	}
	nsx_union_add(&d->busy, start, end);
	return NSX_OK;
}

/* Only the calls of copies and sets are looked up. */
static int
take_call(struct copies *f, const struct nsx_rec *rec)
{
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

static void
need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_call_book_need(in);
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES) | NSX_C(CALL, class));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, name) | NSX_C(OP, bytes) | NSX_C(OP, src) | NSX_C(OP, dst)
	                            | NSX_C(OP, graph_node) | NSX_C(OP, host_dur));
}

static int
take(void *state, const struct nsx_event *e)
{
	struct copies *f = state;

	switch (e->rec->kind->id) {
	case NSX_CALL: return take_call(f, e->rec);
	case NSX_OP:   return take_op(f, e);
	default:       return NSX_OK;
	}
}

/* ---- tables */

/* The number of findings, in sorted order, that the table has: the first one, and those that take at least a thousandth
 * of the time of copies. A note has the number of the others and their share of that time, because many together may
 * cost much. */
static size_t
findings_shown(struct copies *f, struct nsx_table *t)
{
	size_t all = nsx_sums_count(&f->findings), n = 0;
	int64_t total = 0, rest = 0;

	for (size_t i = 0; i < nsx_sums_count(&f->rows); i++)
		total = nsx_add_sat(total, row(f, (uint32_t)i)->time, &f->clipped);
	while (n < all && (n == 0 || finding(f, n)->dur > (total - 1) / MINOR))
		n++;
	if (f->options->minor || n == all)
		return all;
	for (size_t i = n; i < all; i++)
		rest = nsx_add_sat(rest, finding(f, i)->dur, &f->clipped);
	nsx_table_note(t, "%zu more of less than 0.1%% of the time of copies each, %.3g%% together: --top 0", all - n,
	               100.0 * (double)rest / (double)total);
	return n;
}

static struct nsx_table *
make_findings(struct copies *f)
{
	struct nsx_table *t = nsx_sums_begin(&f->findings, f->err);

	nsx_sums_sort(&f->findings);
	for (size_t i = 0, n = t ? findings_shown(f, t) : 0; i < n; i++)
		nsx_sums_put(&f->findings, t, finding(f, i), f->err);
	return t;
}

/* ---- the analysis */

static int
begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct copies *f = state;

	(void)at;
	f->options = options;
	f->rows = (struct nsx_sums){ .def = f->options->by_size ? &kinds_by_size : &kinds,
	                             .texts = &f->strings };
	f->findings = (struct nsx_sums){ .def = &of_findings, .texts = &f->strings };
	return NSX_OK;
}

static void
report(const struct copies *f, struct nsx_diags *diags)
{
	if (!f->came[NSX_OP])
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no operations in the stream: extract with --ops --calls");
	else if (!f->calls.records)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%s",
		             nsx_no_calls(f->cat, "no CUDA calls in the stream, so the calls of copies are not known: "
		                                  "extract with --calls"));
	nsx_diag_add(diags, NSX_WARNING, "", f->early,
		"copies that start before their call: the call is not used; the clocks of GPU and host disagree");
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
		nsx_sums_sort(&f->rows);
		return NSX_OK;
	}
	report(f, diags);
	return !f->options->findings || (*table = make_findings(f)) ? NSX_OK : NSX_ERR;
}

static void
free_all(void *state)
{
	struct copies *f = state;

	nsx_call_book_free(&f->calls);
	nsx_intern_free(&f->strings);
	for (size_t i = 0; i < f->devices.n; i++) {
		free(f->devices.p[i].running.p);
		free(f->devices.p[i].endings.p);
	}
	free(f->devices.p);
	nsx_sums_free(&f->findings);
}

const struct nsx_analysis nsx_copies_analysis = {
	sizeof(struct copies), NSX_K(CALL) | NSX_K(OP), NSX_TIMED | NSX_STATED, begin, need, take, finish, free_all
};

bool
nsx_copies_sum(const void *state, size_t i, struct nsx_copies_sum *sum)
{
	const struct copies *f = state;
	const struct row *r = i < nsx_sums_count(&f->rows) ? row(f, (uint32_t)i) : NULL;

	if (!r)
		return false;
	*sum = (struct nsx_copies_sum){
		nsx_intern_str(&f->strings, r->key.name), nsx_intern_str(&f->strings, r->key.src),
		nsx_intern_str(&f->strings, r->key.dst), r->key.mode == MODE_SYNC, r->count, r->bytes, r->time,
		r->hidden, r->host
	};
	return true;
}
