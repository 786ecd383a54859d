/* compiles.c -- XLA's compilation ranges, with those of worker threads attached to the compilation that they belong
 * to. */
#include "extract/profile.h"

#include <stdlib.h>

#include "base/num.h"

/* In `at`, which holds for each range the record that it is or is inside. */
enum { OUTSIDE = NSX_NONE, FOLDED = NSX_NONE - 1, RUNNING = NSX_NONE - 2, LAST_RECORD = NSX_NONE - 3 };

struct root { uint32_t thread, range, record; };
/* The roots of one thread, in order of start. */
struct owner { uint32_t thread, first, n; };

struct compiles {
	struct ex_profile *p;
	uint32_t          *at;
	NSX_VEC(uint32_t)  top;       /* by record: the outermost XlaCompile it belongs to (a record) */
	NSX_VEC(struct root) roots;   /* these records, by thread and start */
	NSX_VEC(struct owner) owners; /* the threads that have roots */
	struct nsx_buf     name;
};

static bool
is_record(uint32_t at)
{
	return at <= LAST_RECORD;
}

/* Add a record for range r below record `parent` (or OUTSIDE); same: both on one thread. */
static int
add(struct compiles *x, uint32_t r, const struct nsx_title *title, uint32_t parent, bool same)
{
	struct ex_profile *p = x->p;
	const struct nsx_range *range = &p->trace.ranges[r];
	uint32_t self = (uint32_t)p->compiles.n;

	x->name.len = 0;
	nsx_title_strip(nsx_intern_str(&p->trace.names, range->name), title->kind == NSX_TITLE_AUTOTUNER &&
	                !p->opts->autotune, &x->name);
	uint32_t name = x->name.failed ? NSX_NONE : nsx_intern(&p->strings, nsx_buf_view(&x->name));
	struct ex_compile c = { .range = r, .parent = NSX_NONE, .program = NSX_NONE, .name = name };
	if (is_record(parent)) {
		struct ex_compile *up = &p->compiles.p[parent];
		c.parent = up->range;
		if (same) {
			up->child = nsx_add_sat(up->child, nsx_extract_dur(range->start, range->end), NULL);
			up->children++;
		}
	}
	if (name == NSX_NONE || !nsx_vec_push(&p->compiles, c) || !nsx_vec_push(&x->top, is_record(parent)
	    ? x->top.p[parent] : self))
		return nsx_err_nomem(&p->err, p->input->path);
	x->at[r] = self;
	return NSX_OK;
}

/* Whether the records directly below this one are added to it. */
static bool
folds(const struct compiles *x, uint32_t record)
{
	const struct nsx_title *title = nsx_extract_title(x->p, x->p->compiles.p[record].range);

	return title && title->kind == NSX_TITLE_AUTOTUNER && !x->p->opts->autotune;
}

static bool
add_root(struct compiles *x, uint32_t thread, uint32_t range)
{
	uint32_t at = (uint32_t)x->roots.n;

	if (!nsx_vec_push(&x->roots, ((struct root){ thread, range, x->at[range] })))
		return false;
	if ((!x->owners.n || x->owners.p[x->owners.n - 1].thread != thread) &&
	    !nsx_vec_push(&x->owners, ((struct owner){ thread, at, 0 })))
		return false;
	x->owners.p[x->owners.n - 1].n++;
	return true;
}

/* Add everything below an XlaCompile on its own thread. */
static int
collect_main(struct compiles *x)
{
	struct ex_profile *p = x->p;
	const struct nsx_trace *t = &p->trace;

	for (uint32_t i = 0; i < t->nthreads; i++)
		for (uint32_t r = t->threads[i].first; r < t->threads[i].first + t->threads[i].n; r++) {
			uint32_t parent = t->ranges[r].parent == NSX_NONE ? OUTSIDE : x->at[t->ranges[r].parent];
			x->at[r] = parent;
			/* Most ranges do not belong to a compilation: their titles are not parsed. */
			if (parent == OUTSIDE && !nsx_extract_may_be(p, r, "XlaCompile"))
				continue;
			const struct nsx_title *title = nsx_extract_title(p, r);
			if (p->rc != NSX_OK)
				return NSX_ERR;
			if (!title || (parent == OUTSIDE && title->kind != NSX_TITLE_COMPILE) || (is_record(parent) &&
			    folds(x, parent)))
				continue;
			if (add(x, r, title, parent, true) != NSX_OK)
				return NSX_ERR;
			if (parent == OUTSIDE && !add_root(x, i, r))
				return nsx_err_nomem(&p->err, p->input->path);
		}
	return NSX_OK;
}

/* The outermost XlaCompile of another thread of the process that contains range r completely; if there are several, the
 * one that starts last. NULL: none. */
static const struct root *
holder(const struct compiles *x, uint32_t thread, uint32_t r)
{
	const struct nsx_trace *t = &x->p->trace;
	const struct nsx_range *range = &t->ranges[r];
	const struct root *best = NULL;

	for (size_t i = 0; i < x->owners.n; i++) {
		const struct owner *owner = &x->owners.p[i];
		const struct root *last = NULL;
		size_t lo = owner->first, hi = lo + owner->n;
		if (owner->thread == thread || t->threads[owner->thread].process != t->threads[thread].process)
			continue;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;
			if (t->ranges[x->roots.p[mid].range].start <= range->start) {
				last = &x->roots.p[mid];
				lo = mid + 1;
			} else
				hi = mid;
		}
		if (last && t->ranges[last->range].end >= range->end &&
		    (!best || t->ranges[last->range].start > t->ranges[best->range].start))
			best = last;
	}
	return best;
}

/* The record of the deepest range of the root's thread that contains range r completely. */
static uint32_t
deepest(const struct compiles *x, const struct root *root, uint32_t r)
{
	const struct nsx_trace *t = &x->p->trace;
	const struct nsx_thread *thread = &t->threads[root->thread];
	uint32_t lo = root->range, hi = thread->first + thread->n;

	/* The last range that starts no later; the range that contains r is this range or one around it. */
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->ranges[mid].start <= t->ranges[r].start)
			lo = mid;
		else
			hi = mid;
	}
	while (lo != NSX_NONE && lo != root->range && t->ranges[lo].end < t->ranges[r].end)
		lo = t->ranges[lo].parent;
	return lo == NSX_NONE || !is_record(x->at[lo]) ? root->record : x->at[lo];
}

/* Ranges of other threads that are inside a compilation: parallel compilation. */
static int
collect_workers(struct compiles *x)
{
	struct ex_profile *p = x->p;
	const struct nsx_trace *t = &p->trace;

	for (uint32_t i = 0; i < t->nthreads && x->roots.n; i++)
		for (uint32_t r = t->threads[i].first; r < t->threads[i].first + t->threads[i].n; r++) {
			if (is_record(x->at[r]))
				continue;
			uint32_t parent = t->ranges[r].parent == NSX_NONE ? OUTSIDE : x->at[t->ranges[r].parent];
			/* Below a range on the compilation's own thread into which others were added, e.g. an
			 * autotuner's. */
			x->at[r] = parent;
			if (parent == FOLDED || parent == RUNNING)
				continue;
			/* Only the titles of ranges that may matter are parsed. */
			const struct root *root = is_record(parent) || !nsx_extract_may_be(p, r, "") ? NULL
			    : holder(x, i, r);
			if (!is_record(parent) && !root && !nsx_extract_may_be(p, r, "XlaModule"))
				continue;
			const struct nsx_title *title = nsx_extract_title(p, r);
			if (p->rc != NSX_OK)
				return NSX_ERR;
			if (!title)
				continue;
			if (is_record(parent)) {
				if (!folds(x, parent) && add(x, r, title, parent, true) != NSX_OK)
					return NSX_ERR;
				continue;
			}
			if (title->kind == NSX_TITLE_MODULE && title->program_id >= 0) {
				x->at[r] = RUNNING;
				continue;
			}
			if (!root)
				continue;
			uint32_t above = deepest(x, root, r);
			if (folds(x, above))
				x->at[r] = FOLDED;
			else if (add(x, r, title, above, false) != NSX_OK)
				return NSX_ERR;
		}
	return NSX_OK;
}

/* XlaCompileBackend directly under the outermost XlaCompile has the program; XlaCompile itself may too. */
static int
find_programs(struct compiles *x)
{
	struct ex_profile *p = x->p;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < p->compiles.n; i++) {
			struct ex_compile *c = &p->compiles.p[i], *top = &p->compiles.p[x->top.p[i]];
			const struct nsx_title *title = nsx_extract_title(p, c->range);
			bool tells = pass == 0 ? title->kind == NSX_TITLE_BACKEND && c->parent == top->range : c == top;
			if (!tells || title->program_id < 0 || top->program != NSX_NONE)
				continue;
			top->program = nsx_extract_program(p, title->program_id, title->module,
			                                   nsx_trace_thread(&p->trace, c->range)->process);
			if (top->program == NSX_NONE)
				return nsx_err_nomem(&p->err, p->input->path);
		}
	for (size_t i = 0; i < p->compiles.n; i++)
		p->compiles.p[i].program = p->compiles.p[x->top.p[i]].program;
	return NSX_OK;
}

int
nsx_extract_find_compiles(struct ex_profile *p)
{
	struct compiles x = { .p = p };
	int rc = NSX_ERR;

	x.at = malloc((p->trace.nranges + (size_t)1) * sizeof *x.at);
	if (!x.at)
		nsx_err_nomem(&p->err, p->input->path);
	else if (collect_main(&x) == NSX_OK && collect_workers(&x) == NSX_OK)
		rc = find_programs(&x);
	free(x.at);
	free(x.top.p);
	free(x.roots.p);
	free(x.owners.p);
	nsx_buf_free(&x.name);
	return rc;
}
