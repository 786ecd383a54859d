/* families.c -- a row for each family of GPU operations and kind in it (job/family.h): attention, matrix products by
 * type, casts, elementwise kernels, communication, copies. Holds a sum for each, and the names of kernels. */
#include <stdlib.h>

#include "job/catalogue.h"
#include "job/family.h"
#include "table/sums.h"
#include "table/summary/summary.h"

/* names: different ones. longest: the name, in `names`, that takes most. */
struct row {
	uint32_t family, kind;      /* the key, in strs */
	int64_t  count, names;
	nsx_u128 total;
	uint32_t longest;
};

/* The operations of a name in a row; the key first. */
struct named { uint32_t row, name; nsx_u128 total; };

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("family", STRING, family), NSX_COL("kind", STRING, kind), NSX_COL("count", INT, count),
	NSX_COL("total", NS, total), NSX_COL_PER("mean", MEAN_NS, total, count), NSX_COL_SHARE("share", total),
	NSX_COL("names", INT, names), NSX_COL("longest", STRING, longest),
};
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = sizeof(uint64_t),
	.order = "-total family kind", .rank = "family kind total share count mean longest names", .adds = "total"
}, by_name = { .size = sizeof(struct named), .key = sizeof(uint64_t) };

struct families {
	NSX_STATE;
	struct nsx_intern strs;     /* names of families, kinds and operations; 0 is the empty string */
	uint32_t          recall[NSX_RECALL];
	NSX_VEC(struct nsx_family) of;   /* by number of a kernel's name; family NULL: not yet */
	struct nsx_sums   named;
	int64_t           timeless;
};

static int
families_begin(void *state, const void *given, const struct nsx_analysis_at *at)
{
	struct families *f = state;

	(void)given, (void)at;
	f->cat->keep |= NSX_CAT_COSTS;
	f->rows = (struct nsx_sums){ .def = &def, .texts = &f->strs };
	f->named = (struct nsx_sums){ .def = &by_name };
	return nsx_intern(&f->strs, NSX_STR("")) == NSX_NONE ? nsx_err_nomem(f->err, NULL) : NSX_OK;
}

static void
families_need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, type) | NSX_C(OP, name) | NSX_C(OP, dur) | NSX_C(OP, program)
	                            | NSX_C(OP, inst) | NSX_C(OP, collective));
}

static void
families_free(void *state)
{
	struct families *f = state;

	nsx_intern_free(&f->strs);
	nsx_sums_free(&f->named);
	free(f->of.p);
}

/* The family of a kernel of that name, which is a number in strs. NULL: out of memory. */
static const struct nsx_family *
of_kernel(struct families *f, uint32_t name)
{
	if (!nsx_vec_reach(&f->of, name, &(struct nsx_family){ NULL, NULL }))
		return NULL;
	if (!f->of.p[name].family)
		f->of.p[name] = nsx_family_of_kernel(nsx_intern_str(&f->strs, name));
	return &f->of.p[name];
}

/* The family of an operation and its kind, in strs, whose name has that number. False when out of memory. */
static bool
find(struct families *f, const struct nsx_event *e, uint32_t name, uint32_t *family, uint32_t *kind)
{
	struct nsx_str text = nsx_string(e->rec, NSX_OP_name), collective;
	struct nsx_family of;

	if (e->communicates) {
		collective = nsx_string(e->rec, NSX_OP_collective);
		if (!collective.len && nsx_has(e->rec, NSX_OP_inst)) {
			uint32_t inst = nsx_cat_inst(f->cat, e->rec);

			if (inst == NSX_NONE)
				return false;
			collective = nsx_cat_str(f->cat, f->cat->insts.p[inst].collective);
		}
		*family = nsx_intern(&f->strs, NSX_STR("communication"));
		*kind = nsx_intern(&f->strs, collective);
		return *family != NSX_NONE && *kind != NSX_NONE;
	}
	if (!nsx_family_of_type(nsx_string(e->rec, NSX_OP_type), text, &of)) {
		const struct nsx_family *kernel = of_kernel(f, name);
		uint32_t inst = NSX_NONE;

		if (!kernel || (nsx_has(e->rec, NSX_OP_inst) && (inst = nsx_cat_inst(f->cat, e->rec)) == NSX_NONE))
			return false;
		of = *kernel;
		if (inst != NSX_NONE && f->cat->insts.p[inst].flops > 0)
			of = nsx_family_of_inst(of, nsx_cat_str(f->cat, f->cat->insts.p[inst].math).ptr);
	}
	*family = nsx_intern(&f->strs, nsx_str_c(of.family));
	*kind = nsx_intern(&f->strs, nsx_str_c(of.kind));
	return *family != NSX_NONE && *kind != NSX_NONE;
}

static int
families_take(void *state, const struct nsx_event *e)
{
	struct families *f = state;

	if (e->rec->kind->id != NSX_OP)
		return NSX_OK;
	int64_t dur = nsx_int(e->rec, NSX_OP_dur, -1);
	uint32_t name = nsx_intern_recall(&f->strs, f->recall, nsx_string(e->rec, NSX_OP_name)), key[2], at;
	struct named *named;
	struct row *r;

	if (dur < 0) {
		f->timeless++;
		return NSX_OK;
	}
	if (name == NSX_NONE || !find(f, e, name, &key[0], &key[1]))
		return nsx_err_nomem(f->err, NULL);
	at = nsx_sums_number(&f->rows, key);
	named = at == NSX_NONE ? NULL : nsx_sums_row(&f->named, &(uint32_t[2]){ at, name });
	if (!named)
		return nsx_err_nomem(f->err, NULL);
	r = nsx_sums_at(&f->rows, at);
	r->count++;
	r->total += (nsx_u128)dur;
	f->rows.whole += (nsx_u128)dur;
	named->total += (nsx_u128)dur;
	return NSX_OK;
}

static int
families_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct families *f = state;
	nsx_u128 *most = calloc(nsx_sums_count(&f->rows) + 1, sizeof *most);

	(void)table;
	if (!most)
		return nsx_err_nomem(f->err, NULL);
	NSX_SUMS_EACH(const struct named, n, &f->named) {
		struct row *r = nsx_sums_at(&f->rows, n->row);
		bool more = n->total > most[n->row] || (n->total == most[n->row] && r->names
			&& nsx_str_cmp(nsx_intern_str(&f->strs, n->name), nsx_intern_str(&f->strs, r->longest)) < 0);

		if (more || !r->names) {
			r->longest = n->name;
			most[n->row] = n->total;
		}
		r->names++;
	}
	free(most);
	if (!f->came[NSX_OP])
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no op records: extract with --ops");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless, "records without a duration: ignored");
	return NSX_OK;
}

const struct nsx_analysis nsx_sum_families = {
	sizeof(struct families), NSX_K_METADATA | NSX_K(OP), true | NSX_REACHING | NSX_STATED,
	families_begin, families_need, families_take, families_finish, families_free
};
