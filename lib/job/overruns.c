/* overruns.c -- operations that still run when the next one of their stream begins. */
#include "job/overruns.h"

#include <stdlib.h>

#include "base/num.h"

/* The entry of a stream, created if it is new; NULL when out of memory. */
static struct nsx_overrun_stream *
stream_of(struct nsx_overruns *o, uint64_t device, int64_t stream)
{
	uint32_t at = nsx_map_recall(&o->of, o->recent, (struct nsx_key){ device, (uint64_t)stream });

	return nsx_vec_next(&o->streams, at, ((struct nsx_overrun_stream){ .from = 0 })) ? &o->streams.p[at] : NULL;
}

/* Count an operation that outlasts a later one, when this is first known. */
static void
count(struct nsx_overruns *o, const struct nsx_overrun *x)
{
	o->outlasting++;
	o->outlasting_ns = nsx_add_sat(o->outlasting_ns, x->over, NULL);
	if (x->over > o->longest || (x->over == o->longest && x->nth < o->longest_nth)) {
		o->longest = x->over;
		o->longest_op = x->op;
		o->longest_nth = x->nth;
	}
}

bool
nsx_overruns_take(struct nsx_overruns *o, uint64_t device, int64_t stream, int64_t start, int64_t end, uint64_t op)
{
	struct nsx_overrun_stream *s = stream_of(o, device, stream);

	if (!s)
		return false;
	end = end < start ? start : end;
	struct nsx_overrun *p = s->running.p;
	if (s->running.n > s->from && p[s->running.n - 1].end > start) {
		struct nsx_overrun *last = &p[s->running.n - 1];

		last->over = nsx_sub_sat(last->end, start, NULL);
		o->early++;
		o->early_ns = nsx_add_sat(o->early_ns, last->over, NULL);
	}
	/* Counted operations are removed; the others end no later than this one. */
	for (; s->running.n > s->from && p[s->running.n - 1].end > end; s->running.n--)
		count(o, &p[s->running.n - 1]);
	while (s->from < s->running.n && p[s->from].end <= start)
		s->from++;
	nsx_vec_pass(&s->running, &s->from);
	return nsx_vec_push(&s->running, ((struct nsx_overrun){ .end = end, .nth = o->met++, .op = op }));
}

bool
nsx_overruns_take_op(struct nsx_overruns *o, uint64_t device, const struct nsx_rec *op)
{
	int64_t start = nsx_int(op, NSX_OP_start, 0);

	return nsx_has(op, NSX_OP_graph_node) || !nsx_has(op, NSX_OP_stream)
	       || nsx_str_eq(nsx_string(op, NSX_OP_type), NSX_STR("graph"))
	       || nsx_overruns_take(o, device, op->v[NSX_OP_stream].i, start,
	                            nsx_add_sat(start, nsx_int(op, NSX_OP_dur, 0), NULL), 0);
}

void
nsx_overruns_report(const struct nsx_overruns *o, struct nsx_diags *diags, const char *effect)
{
	nsx_diag_add(diags, NSX_WARNING, "", o->outlasting,
	             "operations still run when a later one of their stream has ended, which a GPU does not do, for %s "
	             "in all: %s", nsx_ns_text((double)o->outlasting_ns).s, effect);
}

void
nsx_overruns_free(struct nsx_overruns *o)
{
	nsx_map_free(&o->of);
	for (size_t i = 0; i < o->streams.n; i++)
		free(o->streams.p[i].running.p);
	free(o->streams.p);
}
