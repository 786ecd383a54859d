/* reach.c -- gains by what one change may reach. */
#include "job/names.h"
#include "table/roofline/rows.h"

static const struct nsx_sum_def def = { .size = sizeof(struct nsx_roof_reach), .key = 2 * sizeof(uint32_t) };

struct nsx_str
nsx_roof_alike(const struct nsx_roof *f, uint32_t inst, struct nsx_buf *scratch)
{
	uint32_t op_name = f->cat->insts.p[inst].op_name;

	return op_name == NSX_NONE ? NSX_STR("")
	                           : nsx_name(NSX_NAMES_DIGITS, NSX_STR(""), nsx_cat_str(f->cat, op_name), scratch);
}

void
nsx_roof_reaches_begin(struct nsx_roof_reaches *s)
{
	*s = (struct nsx_roof_reaches){ .of = { .def = &def } };
}

bool
nsx_roof_reaches_add(struct nsx_roof_reaches *s, const struct nsx_roof *f, const struct nsx_roof_row *row)
{
	struct nsx_str name = nsx_roof_alike(f, row->inst, &s->scratch);
	struct nsx_roof_reach key = { .name = NSX_NONE, .inst = row->inst }, *r;

	if (s->scratch.failed)
		return false;
	if (name.len) {
		key = (struct nsx_roof_reach){ .name = nsx_intern(&s->names, name), .inst = NSX_NONE };
		if (key.name == NSX_NONE)
			return false;
	}
	r = nsx_sums_row(&s->of, &key);
	if (!r)
		return false;
	r->gain += row->gain;
	r->n++;
	return true;
}

const struct nsx_roof_reach *
nsx_roof_reaches_most(const struct nsx_roof_reaches *s)
{
	const struct nsx_roof_reach *most = NULL;

	NSX_SUMS_EACH(const struct nsx_roof_reach, r, &s->of)
		most = !most || r->gain > most->gain ? r : most;
	return most;
}

void
nsx_roof_reaches_free(struct nsx_roof_reaches *s)
{
	nsx_sums_free(&s->of);
	nsx_intern_free(&s->names);
	nsx_buf_free(&s->scratch);
}
