/* between.c -- steps of another class between those examined (job/steps/periods.h). */
#include <stdlib.h>

#include "base/stat.h"
#include "base/width.h"
#include "table/diagnose/diagnose.h"

/* Columns of a class in a sentence. */
enum { NAME = 80 };

void
nsx_look_other(struct nsx_look_at *a)
{
	a->other = NSX_NONE;
	a->mixed = false;
	for (size_t i = 0; i < a->steps.list.n; i++) {
		const struct nsx_step_of *o = &a->steps.list.p[i];

		if (o->class != a->class || o->period == NSX_ABSENT || o->other == NSX_NONE)
			continue;
		a->other = a->other == NSX_NONE ? o->other : a->other;
		a->mixed |= o->kept;
	}
}

int
nsx_look_between(struct nsx_look_at *a, bool *explained)
{
	*explained = a->mixed;
	if (!a->mixed)
		return NSX_OK;
	nsx_buf_c(&a->others, "steps of ");
	nsx_buf_shortened(&a->others, nsx_intern_str(&a->steps.names, a->other), NAME);
	nsx_buf_c(&a->others, " lie between: name steps with --step");
	nsx_buf_char(&a->others, '\0');
	a->unseen[NSX_LOOK_VARIABILITY] = a->others.ptr;
	return a->others.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}
