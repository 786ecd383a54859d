/* axes.c -- see axes.h. */
#include "table/summary/axes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "stream/fields.h"
#include "table/summary/summary.h"

void
nsx_kind_axes_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_GROUPS, NSX_EVERY);
	nsx_group_axes_need(in);
}

int
nsx_kind_axes_metadata(struct nsx_kind_axes *a, const struct nsx_catalogue *cat, const struct nsx_rec *rec,
                       struct nsx_err *err)
{
	if (rec->kind->id == NSX_GROUPS)
		return nsx_replica_groups_take(&a->replicas, cat, rec, err);
	return nsx_group_axes_take(&a->axes, rec, err);
}

bool
nsx_kind_axes_add(struct nsx_kind_axes *a, const struct nsx_catalogue *cat, uint32_t kind, const struct nsx_rec *rec,
                  uint32_t inst, struct nsx_str comm_id, int64_t ns)
{
	int64_t device = nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT);
	struct nsx_kind_time t = { .kind = kind, .group = NSX_NONE };

	if (inst != NSX_NONE && cat->insts.p[inst].groups != NSX_ABSENT)
		t.group = nsx_replica_group(&a->replicas, cat->insts.p[inst].groups, device);
	if (t.group == NSX_NONE && comm_id.len) {
		t.group = nsx_intern_find(&a->axes.ids, comm_id);
		t.comm = t.group != NSX_NONE;
	}
	uint32_t at = nsx_map_number(&a->time_of, (struct nsx_key){ kind, (uint64_t)t.group << 1 | t.comm });

	if (!nsx_vec_next(&a->times, at, t))
		return false;
	a->times.p[at].ns = nsx_add_sat(a->times.p[at].ns, ns, NULL);
	return true;
}

/* In order of the kind, the longest time first. */
NSX_ORDER(by_time, struct nsx_kind_time, NSX_CMP(a->kind, b->kind), NSX_CMP(b->ns, a->ns),
          NSX_CMP(a->group, b->group), NSX_CMP(a->comm, b->comm))

bool
nsx_kind_axes_settle(struct nsx_kind_axes *a, const struct nsx_catalogue *cat)
{
	size_t n = 0;

	if (!nsx_group_axes_settle(&a->axes, &a->replicas, nsx_cat_numbers(cat)))
		return false;
	for (size_t i = 0; i < a->times.n; i++) {
		struct nsx_kind_time t = a->times.p[i];

		if (t.group != NSX_NONE)
			t.group = t.comm ? a->axes.comms.p[t.group].group : a->axes.of_replica.p[t.group];
		if (t.group != NSX_NONE)
			a->times.p[n++] = t;
	}
	a->times.n = n;
	return true;
}

bool
nsx_kind_axes_text(struct nsx_kind_axes *a, uint32_t kind, struct nsx_buf *to)
{
	struct nsx_intern names = { 0 };
	NSX_VEC(struct nsx_kind_time) of = { 0 };
	struct nsx_buf name = { 0 };
	bool good = true;

	for (size_t i = 0; i < a->times.n && good; i++) {
		if (a->times.p[i].kind != kind)
			continue;
		name.len = 0;
		nsx_axes_name(&a->axes.axes, a->times.p[i].group, &name);
		uint32_t at = name.failed ? NSX_NONE : nsx_intern(&names, nsx_buf_view(&name));

		good = at != NSX_NONE && (at < of.n || nsx_vec_push(&of, ((struct nsx_kind_time){ .group = at })));
		if (good)
			of.p[at].ns = nsx_add_sat(of.p[at].ns, a->times.p[i].ns, NULL);
	}
	nsx_sort(of.p, of.n, by_time);
	for (size_t i = 0; i < of.n && good; i++) {
		if (i)
			nsx_buf_char(to, ',');
		nsx_buf_str(to, nsx_intern_str(&names, of.p[i].group));
	}
	nsx_intern_free(&names);
	free(of.p);
	nsx_buf_free(&name);
	return good && !to->failed;
}

void
nsx_kind_note(struct nsx_table *t, int64_t count, nsx_u128 exposed, nsx_u128 hidden, bool shares)
{
	nsx_u128 total = exposed + hidden;
	char share[32] = "";

	if (shares && total)
		snprintf(share, sizeof share, " (%.1f%%)", 100 * nsx_sum_share(hidden, total));
	nsx_table_note(t, "[all]: %" PRId64 " record%s, total %s, exposed %s, hidden %s%s", count,
	               count == 1 ? "" : "s", NSX_NS(total), NSX_NS(exposed), NSX_NS(hidden), share);
}

void
nsx_kind_axes_free(struct nsx_kind_axes *a)
{
	nsx_replica_groups_free(&a->replicas);
	nsx_group_axes_free(&a->axes);
	nsx_map_free(&a->time_of);
	free(a->times.p);
}
