/* await_xla.c -- what operations of XLA awaited where no call of their process says so: it records no events that a
 * capture shows. Two rules, for each device:
 *
 *   an asynchronous start, which communicates on another stream than the main one, awaits the last operation that was
 *   issued to the main stream before it;
 *   the next operation of the main stream after a range X-done.N, which has no GPU work, awaits the operation of the
 *   start.
 *
 *   issued:   fusion.1   all-gather-start.2   fusion.3   (all-gather-done.2)   fusion.4
 *   ->        all-gather-start.2 awaits fusion.1; fusion.4 awaits all-gather-start.2
 *
 * The start of a done is the one of its name, X-start.N, else the oldest one of its kind X that is not done yet, both
 * of the same execution of the program. */
#include "extract/profile.h"

#include <stdlib.h>

#include "base/num.h"

enum {
	LATE = 2000,       /* ns that the end of what was awaited may lie behind the start of what awaited it */
	OPEN_MAX = 1024    /* starts that are not done yet: older ones are forgotten */
};

/* A start that is not done yet. */
struct open { uint32_t op, thunk, module; struct nsx_str name; };

struct awaiting {
	struct ex_profile *p;
	int64_t  *main;                       /* by device: its main stream; meaningful where `counts` */
	bool     *counts;                     /* by device: the rules hold for it */
	uint8_t  *comm;                       /* by instruction: enum ex_comm */
	NSX_VEC(struct nsx_sort_key) order;   /* by device, host time: dones before operations */
	NSX_VEC(struct open) open;            /* of the device, oldest first */
	NSX_VEC(uint32_t) done;               /* operations that the next one of the main stream awaits */
	uint64_t  contradicted;
};

enum { DONE, OPERATION };   /* k[2] of order */

static bool
communicates(const struct awaiting *a, uint32_t op)
{
	uint32_t thunk = nsx_extract_op_thunk(a->p, op);
	uint8_t comm = thunk == NSX_NONE ? EX_COMM_BY_OP : a->comm[a->p->thunks.p[thunk].inst];

	return comm == EX_COMM_BY_OP ? nsx_extract_op_kind(a->p, op) != NULL : comm == EX_COMM_YES;
}

/* ---- devices */

/* The rules hold for devices that ran programs and of which no process records events. */
static bool
choose_devices(struct awaiting *a)
{
	const struct nsx_trace *t = &a->p->trace;
	bool *records = calloc(t->nprocesses + (size_t)1, sizeof *records);

	if (!records)
		return false;
	for (uint32_t i = 0; i < t->nhost_threads; i++) {
		const struct nsx_calling_thread *thread = &t->host_threads[i];

		for (uint32_t k = thread->first; k < thread->first + thread->n && !records[thread->process]; k++) {
			enum nsx_call_role role = t->call_names[t->calls[k].name].role;

			records[thread->process] = role == NSX_CALL_RECORDS || role == NSX_CALL_WAITS_EVENT;
		}
	}
	for (uint32_t d = 0; d < t->ndevices; d++)
		a->counts[d] = a->p->devices[d].ran && !records[t->devices[d].process];
	free(records);
	return true;
}

struct stream { uint32_t device; int64_t stream, ops; };

/* The main stream of a device: that of most operations that do not communicate; of equal ones, the first to be used. */
static bool
find_main(struct awaiting *a)
{
	const struct ex_profile *p = a->p;
	struct nsx_map at = { 0 };
	NSX_VEC(struct stream) streams = { 0 };
	int64_t *most = calloc(p->trace.ndevices + (size_t)1, sizeof *most);
	bool good = most != NULL;

	for (uint32_t i = 0; i < p->trace.nops && good; i++) {
		const struct nsx_gpu_op *op = &p->trace.ops[i];
		uint32_t n;

		if (!a->counts[op->device] || communicates(a, i))
			continue;
		n = nsx_map_number(&at, (struct nsx_key){ op->device, (uint64_t)op->stream });
		good = n != NSX_NONE && (n < streams.n ||
		       nsx_vec_push(&streams, ((struct stream){ op->device, op->stream, 0 })));
		if (good)
			streams.p[n].ops++;
	}
	for (size_t i = 0; i < streams.n && good; i++) {
		const struct stream *s = &streams.p[i];

		if (s->ops > most[s->device]) {
			most[s->device] = s->ops;
			a->main[s->device] = s->stream;
		}
	}
	/* A device that only communicates has no main stream. */
	for (uint32_t d = 0; d < p->trace.ndevices && good; d++)
		a->counts[d] &= most[d] > 0;
	free(most);
	free(streams.p);
	nsx_map_free(&at);
	return good;
}

/* ---- the order of issue */

/* The part of the name before "-done"; empty if it has none. */
static struct nsx_str
done_kind(struct nsx_str name)
{
	static const struct nsx_str mark = { "-done", 5 };

	for (size_t i = 1; i + mark.len <= name.len; i++)
		if (nsx_str_starts((struct nsx_str){ name.ptr + i, name.len - i }, mark.ptr) &&
		    (i + mark.len == name.len || name.ptr[i + mark.len] == '.'))
			return (struct nsx_str){ name.ptr, i };
	return (struct nsx_str){ "", 0 };
}

static bool
list(struct awaiting *a)
{
	struct ex_profile *p = a->p;
	const struct nsx_trace *t = &p->trace;
	bool good = true;

	for (uint32_t i = 0; i < t->nops && good; i++) {
		const struct nsx_gpu_op *op = &t->ops[i];

		if (a->counts[op->device] && op->call_start != INT64_MIN)
			good = nsx_vec_push(&a->order,
					    ((struct nsx_sort_key){ { op->device, op->call_start, OPERATION }, i }));
	}
	for (uint32_t r = 0; r < t->nranges && good; r++) {
		uint32_t module = p->module_at[r], device;
		const struct nsx_title *title;

		if (t->ranges[r].gpu != NSX_NONE || module == NSX_NONE)
			continue;
		device = p->modules.p[module].device;
		if (!a->counts[device])
			continue;
		title = nsx_extract_title(p, r);
		if (title && title->kind == NSX_TITLE_THUNK && done_kind(title->hlo_op).len)
			good =
			    nsx_vec_push(&a->order, ((struct nsx_sort_key){ { device, t->ranges[r].start, DONE }, r }));
		good = good && p->rc == NSX_OK;
	}
	nsx_sort_keys(a->order.p, good ? a->order.n : 0);
	return good;
}

/* ---- the rules */

static bool
await(struct awaiting *a, uint32_t of, uint32_t op)
{
	struct nsx_trace *t = &a->p->trace;

	if (t->ops[op].end > nsx_add_sat(t->ops[of].start, LATE, NULL)) {
		a->contradicted++;
		return true;
	}
	return nsx_vec_push(&t->after, ((struct nsx_await){ of, op }));
}

static void
forget(struct awaiting *a, size_t i)
{
	for (a->open.n--; i < a->open.n; i++)
		a->open.p[i] = a->open.p[i + 1];
}

/* An operation that communicates beside the main stream. main: the last one of that; NSX_NONE: none. */
static bool
take_start(struct awaiting *a, uint32_t op, uint32_t main)
{
	const struct ex_profile *p = a->p;
	uint32_t thunk = nsx_extract_op_thunk(p, op), module;
	struct open *last = a->open.n ? &a->open.p[a->open.n - 1] : NULL;

	if (thunk != NSX_NONE && last && last->thunk == thunk) {
		/* Another one of the same start: it follows in its stream. */
		bool follows = p->trace.ops[last->op].stream == p->trace.ops[op].stream;

		if (p->trace.ops[op].end > p->trace.ops[last->op].end)
			last->op = op;
		return follows || main == NSX_NONE || await(a, op, main);
	}
	if (main != NSX_NONE && !await(a, op, main))
		return false;
	if (thunk == NSX_NONE)
		return true;
	module = p->thunks.p[thunk].module;
	if (last && last->module != module)
		a->open.n = 0;
	if (a->open.n == OPEN_MAX)
		forget(a, 0);
	return nsx_vec_push(&a->open, ((struct open){ op, thunk, module,
		nsx_intern_str(&p->inst_names, p->insts.p[p->thunks.p[thunk].inst].name) }));
}

/* Whether the name is `kind` and `mark`, and then `rest` or, if that is NULL, anything that begins a number. */
static bool
is_start(struct nsx_str name, struct nsx_str kind, struct nsx_str mark, const struct nsx_str *rest)
{
	size_t n = kind.len + mark.len;
	struct nsx_str tail;

	if (name.len < n || !nsx_str_eq((struct nsx_str){ name.ptr, kind.len }, kind) ||
	    !nsx_str_eq((struct nsx_str){ name.ptr + kind.len, mark.len }, mark))
		return false;
	tail = (struct nsx_str){ name.ptr + n, name.len - n };
	return rest ? nsx_str_eq(tail, *rest) : !tail.len || tail.ptr[0] == '.';
}

static bool
take_done(struct awaiting *a, uint32_t range)
{
	uint32_t module = a->p->module_at[range];
	struct nsx_str name = nsx_extract_title(a->p, range)->hlo_op, kind = done_kind(name),
		rest = { name.ptr + kind.len + 5, name.len - kind.len - 5 };
	size_t found = a->open.n;
	uint32_t op;

	for (size_t i = 0; i < a->open.n && found == a->open.n; i++)
		if (a->open.p[i].module == module && is_start(a->open.p[i].name, kind, NSX_STR("-start"), &rest))
			found = i;
	for (size_t i = 0; i < a->open.n && found == a->open.n; i++)
		if (a->open.p[i].module == module && (is_start(a->open.p[i].name, kind, NSX_STR("-start"), NULL) ||
		    is_start(a->open.p[i].name, kind, NSX_STR(""), NULL)))
			found = i;
	if (found == a->open.n)
		return true;
	op = a->open.p[found].op;
	forget(a, found);
	return nsx_vec_push(&a->done, op);
}

static bool
sweep(struct awaiting *a)
{
	const struct nsx_trace *t = &a->p->trace;
	uint32_t main = NSX_NONE;
	bool good = true;

	for (size_t i = 0; i < a->order.n && good; i++) {
		const struct nsx_sort_key *k = &a->order.p[i];

		if (i && k->k[0] != k[-1].k[0]) {
			main = NSX_NONE;
			a->open.n = a->done.n = 0;
		}
		if (k->k[2] == DONE) {
			good = take_done(a, k->i);
		} else if (t->ops[k->i].stream != a->main[k->k[0]]) {
			good = !communicates(a, k->i) || take_start(a, k->i, main);
		} else {
			for (size_t n = 0; n < a->done.n && good; n++)
				good = await(a, k->i, a->done.p[n]);
			a->done.n = 0;
			main = k->i;
		}
	}
	return good;
}

int
nsx_extract_await_starts(struct ex_profile *p)
{
	size_t n = p->trace.ndevices + (size_t)1;
	struct awaiting a = { .p = p };
	bool good;

	if (!p->opts->calls || !p->modules.n || !p->trace.nops)
		return NSX_OK;
	a.main = calloc(n, sizeof *a.main);
	a.counts = calloc(n, sizeof *a.counts);
	a.comm = malloc(p->insts.n + 1);
	for (uint32_t i = 0; a.comm && i < p->insts.n; i++)
		a.comm[i] = (uint8_t)nsx_extract_inst_comm(p, i);
	good = a.main && a.counts && a.comm && choose_devices(&a) && find_main(&a) && list(&a) && sweep(&a);
	nsx_awaits_sort(&p->trace.after);
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, (int64_t)a.contradicted,
	             "operations that began before what they seem to have awaited: not taken for that");
	free(a.main);
	free(a.counts);
	free(a.comm);
	free(a.order.p);
	free(a.open.p);
	free(a.done.p);
	return good ? NSX_OK : nsx_err_nomem(&p->err, p->input->path);
}
