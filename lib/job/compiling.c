/* compiling.c -- the times at which threads compile. */
#include "job/compiling.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"

static bool
add(struct nsx_compiling *c, int64_t profile, int64_t tid, int64_t start, int64_t end)
{
	uint32_t thread = nsx_map_number(&c->thread_of, (struct nsx_key){ (uint64_t)profile, (uint64_t)tid });

	if (!nsx_vec_next(&c->last, thread, NSX_NONE))
		return false;
	struct nsx_compiling_time *last = c->last.p[thread] == NSX_NONE ? NULL : &c->times.p[c->last.p[thread]];
	/* They are added in order of start, an inner range after the outer one. */
	if (last && start >= last->start && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return true;
	}
	c->sorted = false;
	c->last.p[thread] = (uint32_t)c->times.n;
	return nsx_vec_push(&c->times, ((struct nsx_compiling_time){ start, end, thread }));
}

bool
nsx_compiling_take(struct nsx_compiling *c, const struct nsx_rec *rec)
{
	int64_t profile = nsx_int(rec, NSX_COMPILE_profile, -1), start = nsx_int(rec, NSX_COMPILE_start, 0),
	    end = nsx_add_sat(start, nsx_int(rec, NSX_COMPILE_dur, 0), NULL);

	return add(c, profile, nsx_int(rec, NSX_COMPILE_tid, -1), start, end) &&
	       (!nsx_str_starts(nsx_string(rec, NSX_COMPILE_name), "XlaAutotuner") ||
	        add(c, profile, INT64_MIN, start, end));
}

NSX_ORDER(by_thread, struct nsx_compiling_time, NSX_CMP(a->thread, b->thread), NSX_CMP(a->start, b->start),
          NSX_CMP(a->end, b->end))

/* Sorted, and joined where they overlap: then each thread has at most one time around any instant. */
static void
sort(struct nsx_compiling *c)
{
	size_t n = 0;

	nsx_sort(c->times.p, c->times.n, by_thread);
	for (size_t i = 0; i < c->times.n; i++) {
		struct nsx_compiling_time *t = &c->times.p[i], *last = n ? &c->times.p[n - 1] : NULL;
		if (!last || last->thread != t->thread || last->end < t->start)
			c->times.p[n++] = *t;
		else if (t->end > last->end)
			last->end = t->end;
	}
	c->times.n = n;
	c->sorted = true;
}

static bool
is_at(struct nsx_compiling *c, uint32_t thread, int64_t time)
{
	const struct nsx_compiling_time *t = c->times.p;
	size_t i;

	if (!c->sorted)
		sort(c);
	NSX_BISECT(i, 0, c->times.n, t[i].thread > thread || (t[i].thread == thread && t[i].start > time));
	return i > 0 && t[i - 1].thread == thread && time <= t[i - 1].end;
}

bool
nsx_compiling_launched(struct nsx_compiling *c, const struct nsx_rec *op)
{
	uint64_t profile = (uint64_t)nsx_int(op, NSX_OP_profile, -1);

	if (!c->times.n || (nsx_has(op, NSX_OP_program) && nsx_has(op, NSX_OP_execution)) ||
	    !nsx_has(op, NSX_OP_host_start))
		return false;
	uint32_t thread = nsx_map_get(&c->thread_of, (struct nsx_key){ profile,
		(uint64_t)nsx_int(op, NSX_OP_tid, -1) });
	if (thread == NSX_NONE && nsx_str_eq(nsx_string(op, NSX_OP_type), NSX_STR("kernel")))
		thread = nsx_map_get(&c->thread_of, (struct nsx_key){ profile, (uint64_t)INT64_MIN });
	return thread != NSX_NONE && is_at(c, thread, op->v[NSX_OP_host_start].i);
}

void
nsx_compiling_free(struct nsx_compiling *c)
{
	nsx_map_free(&c->thread_of);
	free(c->times.p);
	free(c->last.p);
	*c = (struct nsx_compiling){ 0 };
}
