/* pace.c -- a row for each device: how much longer it takes for the same kernels (job/pace.h). Holds a sum for each
 * device and name of a kernel. */
#include <math.h>
#include <stdlib.h>

#include "job/pace.h"
#include "table/stragglers/lockstep.h"
#include "table/sums.h"

#define NSX_ROW struct nsx_pace
static const struct nsx_sum_col cols[] = {
	NSX_COL("device", ID, device), NSX_COL("kernels", INT, kernels), NSX_COL("time", NS, ns),
	NSX_COL("pace", DOUBLE, pace),
};
/* The slowest first. */
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .order = "-pace device", .rank = "device pace time kernels"
};

struct pacing {
	struct nsx_err      *err;
	struct nsx_catalogue cat;
	struct nsx_intern    names;
	uint32_t             recall[NSX_RECALL];
	struct nsx_map       of;       /* (device, name) -> times */
	NSX_VEC(struct nsx_pace_time) times;
	int64_t              kernels;
};

static int
take_op(struct pacing *p, const struct nsx_rec *op)
{
	int64_t dur = nsx_int(op, NSX_OP_dur, 0), device = nsx_int(op, NSX_OP_device, NSX_ABSENT);

	if (dur <= 0 || !nsx_str_eq(nsx_string(op, NSX_OP_type), NSX_STR("kernel"))
	    || nsx_cat_communicates(&p->cat, op))
		return NSX_OK;
	uint32_t name = nsx_intern_recall(&p->names, p->recall, nsx_string(op, NSX_OP_name)), at;

	if (name == NSX_NONE)
		return NSX_NOMEM(p);
	at = nsx_map_number(&p->of, (struct nsx_key){ (uint64_t)device, name });
	if (!nsx_vec_next(&p->times, at, ((struct nsx_pace_time){ .device = device, .name = name })))
		return NSX_NOMEM(p);
	p->kernels++;
	p->times.p[at].count++;
	p->times.p[at].ns += (nsx_u128)dur;
	return NSX_OK;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct pacing *p = state;

	return rec->kind->id == NSX_OP ? take_op(p, rec) : nsx_cat_take(&p->cat, rec, p->err);
}

static void
say(const struct pacing *p, const struct nsx_paces *paces, struct nsx_diags *diags)
{
	if (!p->kernels)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no kernels that compute: extract with -a");
	else if (paces->list.n < 2)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "kernels of one device only: nothing to compare");
	else if (!(paces->list.p[0].pace > 0))
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no kernel that all devices run equally often: no pace");
	nsx_cat_comm_diags(&p->cat, "", diags);
}

int
nsx_stragglers_pace(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_table **table,
                    struct nsx_diags *diags, struct nsx_err *err)
{
	struct pacing p = { .err = err };
	struct nsx_paces paces = { 0 };

	nsx_cat_need(&p.cat, in);
	nsx_reader_need(in, NSX_OP, NSX_EVERY);
	int rc = nsx_read_all(in, options->require, take, &p, err);

	if (rc == NSX_OK)
		rc = nsx_paces_of(p.times.p, p.times.n, &paces, err);
	for (size_t i = 0; i < paces.list.n; i++)
		if (paces.list.p[i].pace <= 0)
			paces.list.p[i].pace = NAN;
	if (rc == NSX_OK) {
		rc = (*table = nsx_sums_list(&def, paces.list.p, paces.list.n, err)) ? NSX_OK : NSX_ERR;
		say(&p, &paces, diags);
	}
	free(paces.list.p);
	free(p.times.p);
	nsx_map_free(&p.of);
	nsx_intern_free(&p.names);
	nsx_cat_free(&p.cat);
	return rc;
}
