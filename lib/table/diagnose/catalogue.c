/* catalogue.c -- what findings.def says of a finding. */
#include "table/diagnose/diagnose.h"

enum subject { ONE, MOST };
enum whose { OWN, ALL };

static const struct {
	const char *name;
	int rank;
	enum subject subject;
	enum whose whose;
	const char *change, *action;
} kinds[NSX_NFINDS] = {
#define FINDING(id, name, rank, subject, whose, change, action) \
	[NSX_FIND_##id] = { name, rank, subject, whose, change, action },
#include "table/diagnose/findings.def"
#undef FINDING
};

void
nsx_look_put_name(const struct nsx_finding *f, struct nsx_buf *to)
{
	nsx_buf_c(to, kinds[f->kind].name);
	if (!kinds[f->kind].action)
		nsx_buf_fmt(to, ":%s", nsx_cause_name(f->cause));
}

const char *
nsx_look_action(const struct nsx_finding *f)
{
	if (f->action)
		return f->action;
	return kinds[f->kind].action ? kinds[f->kind].action : nsx_causes[f->cause].action;
}

const char *
nsx_look_change(const struct nsx_finding *f)
{
	return kinds[f->kind].action ? kinds[f->kind].change : nsx_causes[f->cause].change;
}

bool
nsx_look_is_own(const struct nsx_finding *f)
{
	return kinds[f->kind].whose == OWN && !f->more;
}

int
nsx_look_rank(const struct nsx_finding *f)
{
	return kinds[f->kind].rank;
}

bool
nsx_look_is_one(const struct nsx_finding *f)
{
	return kinds[f->kind].subject == ONE;
}
