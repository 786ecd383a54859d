/* stragglers.c -- which device is late: what its analyses share. */

#include "table/stragglers/lockstep.h"
#include "base/num.h"
#include "job/missing.h"

bool
nsx_late_wanted(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *name, uint32_t program)
{
	const struct nsx_cat_program *p = &cat->programs.p[program];
	struct nsx_str want = nsx_str_c(name);
	int64_t id;

	if (!name)
		return true;
	if (p->id != NSX_ABSENT && nsx_get_int(want, &id) && id == p->id)
		return true;
	return want.len && (nsx_str_eq(want, nsx_cat_str(cat, p->key)) ||
	                    nsx_str_eq(want, nsx_cat_str(cat, nsx_top_name(top, program))));
}

int
nsx_late_check_program(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want,
                       struct nsx_err *err)
{
	for (size_t i = 0; i < cat->programs.n; i++)
		if (nsx_late_wanted(cat, top, want, (uint32_t)i))
			return NSX_OK;
	if (!want)
		return NSX_OK;
	struct nsx_buf meant = { 0 };
	nsx_missing_put_program(cat, want, &meant);
	if (meant.failed)
		nsx_err_nomem(err, NULL);
	else
		nsx_err_set(err, "no program with the key, name or id %s%.*s", want, (int)meant.len,
		            meant.len ? meant.ptr : "");
	nsx_buf_free(&meant);
	return NSX_ERR;
}

int
nsx_late_not_aligned(struct nsx_reader *in, struct nsx_err *err)
{
	return nsx_err_set(err, "%s: work of several reports whose clocks are not aligned: run nsysx-align first",
	                   nsx_reader_where(in));
}

int
nsx_stragglers(struct nsx_reader *in, const void *options, struct nsx_table **tables, struct nsx_diags *diags,
               struct nsx_err *err)
{
	const struct nsx_stragglers_options *o = options;

	tables[0] = NULL;
	switch (o->show) {
	case NSX_STRAGGLERS_PACE:  return nsx_stragglers_pace(in, o, tables, diags, err);
	case NSX_STRAGGLERS_INSTRUCTIONS:
	case NSX_STRAGGLERS_WAITS: return nsx_stragglers_waits(in, o, tables, NULL, NULL, diags, err);
	case NSX_STRAGGLERS_PAIRS: return nsx_stragglers_waits(in, o, NULL, tables, NULL, diags, err);
	default:                   return nsx_stragglers_lockstep(in, o, tables, diags, err);
	}
}

int
nsx_stragglers_all(struct nsx_reader *in, const void *options, struct nsx_table **tables, struct nsx_diags *diags,
                   struct nsx_err *err)
{
	struct lockstep f = { .err = err, .in = in, .options = options, .curve = true };
	struct nsx_diags of_waits = { .failed = false };

	for (int i = 0; i < NSX_STRAGGLERS_TOGETHER; i++)
		tables[i] = NULL;
	nsx_lockstep_begin(&f);
	int rc = nsx_stragglers_waits(in, options, &tables[NSX_STRAGGLERS_WAITS], &tables[NSX_STRAGGLERS_PAIRS], &f,
	                              &of_waits, err);

	if (rc == NSX_OK)
		rc = nsx_lockstep_finish(&f, &tables[NSX_STRAGGLERS_DEVICES], &tables[NSX_STRAGGLERS_CURVE], diags);
	nsx_diags_cover(diags, &of_waits);
	nsx_diags_free(&of_waits);
	nsx_lockstep_free(&f);
	return rc;
}
