/* pace.c -- a row for each device: how much longer it takes for the same kernels (job/pace.h). Holds a sum for each
 * device and name of a kernel. */
#include <stdlib.h>

#include "job/pace.h"
#include "table/stragglers/rows.h"

enum { DEVICE, KERNELS, TIME, PACE, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[DEVICE]  = { "device", NSX_CELL_ID },
	[KERNELS] = { "kernels", NSX_CELL_INT },
	[TIME]    = { "time", NSX_CELL_NS },
	[PACE]    = { "pace", NSX_CELL_DOUBLE },
};

struct pacing {
	struct nsx_err      *err;
	struct nsx_catalogue cat;
	struct nsx_intern    names;
	uint32_t             recall[NSX_RECALL];
	struct nsx_map       of;       /* (device, name) -> times */
	NSX_VEC(struct nsx_pace_time) times;
	int64_t              kernels, diags;
};

static int
nomem(struct pacing *p)
{
	return nsx_err_nomem(p->err, NULL);
}

static int
take_op(struct pacing *p, const struct nsx_rec *op)
{
	int64_t dur = nsx_int(op, NSX_OP_dur, 0), device = nsx_int(op, NSX_OP_device, NSX_ABSENT);

	if (dur <= 0 || !nsx_str_eq(nsx_string(op, NSX_OP_type), NSX_STR("kernel"))
	    || nsx_cat_communicates(&p->cat, op))
		return NSX_OK;
	uint32_t name = nsx_intern_recall(&p->names, p->recall, nsx_string(op, NSX_OP_name)), at;

	if (name == NSX_NONE)
		return nomem(p);
	at = nsx_map_number(&p->of, (struct nsx_key){ (uint64_t)device, name });
	if (at == NSX_NONE
	    || (at == p->times.n
	        && !nsx_vec_push(&p->times, ((struct nsx_pace_time){ .device = device, .name = name }))))
		return nomem(p);
	p->kernels++;
	p->times.p[at].count++;
	p->times.p[at].ns += (nsx_u128)dur;
	return NSX_OK;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct pacing *p = state;

	p->diags += rec->kind->id == NSX_DIAG;
	return rec->kind->id == NSX_OP ? take_op(p, rec) : nsx_cat_take(&p->cat, rec, p->err);
}

struct order { double pace; const struct nsx_pace *of; };

/* The slowest first. */
static int
by_pace(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;

	if (a->pace < b->pace || a->pace > b->pace)
		return a->pace > b->pace ? -1 : 1;
	return (a->of->device > b->of->device) - (a->of->device < b->of->device);
}

static int
fill(struct pacing *p, const struct nsx_paces *paces, struct nsx_table *t)
{
	struct order *rows = malloc((paces->list.n + 1) * sizeof *rows);
	int rc = rows && t ? NSX_OK : nomem(p);

	for (size_t i = 0; i < paces->list.n && rc == NSX_OK; i++)
		rows[i] = (struct order){ paces->list.p[i].pace, &paces->list.p[i] };
	if (rc == NSX_OK && paces->list.n > 1)
		qsort(rows, paces->list.n, sizeof *rows, by_pace);
	for (size_t i = 0; i < paces->list.n && rc == NSX_OK; i++) {
		const struct nsx_pace *of = rows[i].of;

		nsx_table_row(t);
		if (of->device != NSX_ABSENT)
			nsx_table_int(t, DEVICE, of->device);
		nsx_table_int(t, KERNELS, of->kernels);
		rc = nsx_table_sum(t, TIME, of->ns, p->err);
		if (of->pace > 0)
			nsx_table_double(t, PACE, of->pace);
	}
	free(rows);
	return rc;
}

static void
say(const struct pacing *p, const struct nsx_paces *paces, struct nsx_diags *diags)
{
	if (!p->kernels)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no kernels that compute: extract with -a");
	else if (paces->list.n < 2)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "kernels of one device only: nothing to compare");
	else if (paces->list.p[0].pace <= 0)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no kernel that all devices run equally often: no pace");
	nsx_cat_comm_diags(&p->cat, "", diags);
}

int
nsx_stragglers_pace(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_stragglers *s,
                    struct nsx_diags *diags, struct nsx_err *err)
{
	struct pacing p = { .err = err };
	struct nsx_paces paces = { 0 };

	*s = (struct nsx_stragglers){ 0 };
	nsx_cat_need(&p.cat, in);
	nsx_reader_need(in, NSX_DIAG, 0);
	nsx_reader_need(in, NSX_OP, NSX_EVERY);
	int rc = nsx_read_all(in, options->require, take, &p, err);

	s->diags = p.diags;
	if (rc == NSX_OK)
		rc = nsx_paces_of(p.times.p, p.times.n, &paces, err);
	if (rc == NSX_OK) {
		s->table = nsx_table_new(cols, NCOLS);
		nsx_table_rank(s->table, "device pace time kernels");
		rc = fill(&p, &paces, s->table);
		say(&p, &paces, diags);
	}
	if (rc != NSX_OK)
		nsx_stragglers_free(s);
	free(paces.list.p);
	free(p.times.p);
	nsx_map_free(&p.of);
	nsx_intern_free(&p.names);
	nsx_cat_free(&p.cat);
	return rc;
}
