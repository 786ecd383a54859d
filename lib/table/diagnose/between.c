/* between.c -- whether periods differ only by steps of another class in them (job/between.h). */
#include <stdlib.h>

#include "base/stat.h"
#include "base/width.h"
#include "table/diagnose/diagnose.h"

/* Columns of a class in a sentence. */
enum { NAME = 80 };

static int
by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Fill *alone, which is empty, with the periods without such a step, sorted; its p must be freed in any case. *name:
 * the class of the first one found, in a->between.names; NSX_NONE: none. */
static int
periods_alone(const struct nsx_look_at *a, struct nsx_look_periods *alone, uint32_t *name)
{
	bool good = true;

	*name = NSX_NONE;
	for (size_t i = 0; good && i < a->steps.list.n; i++) {
		const struct nsx_step_of *o = &a->steps.list.p[i];

		if (o->class != a->class || o->period == NSX_ABSENT)
			continue;
		if (a->between.other.p[i] == NSX_NONE)
			good = nsx_vec_push(alone, o->period);
		else if (*name == NSX_NONE)
			*name = a->between.other.p[i];
	}
	if (good && alone->n)
		qsort(alone->p, alone->n, sizeof *alone->p, by_value);
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

int
nsx_look_between(struct nsx_look_at *a, double variable, bool *explained)
{
	struct nsx_look_periods alone = { 0 };
	uint32_t name;
	int rc = periods_alone(a, &alone, &name);

	*explained = rc == NSX_OK && name != NSX_NONE && alone.n
	             && (double)nsx_percentile(alone.p, alone.n, 99)
	                < variable * (double)nsx_percentile(alone.p, alone.n, 50);
	free(alone.p);
	if (rc == NSX_OK)
		a->other = name;
	if (!*explained)
		return rc;
	nsx_buf_c(&a->others, "steps of ");
	nsx_buf_shortened(&a->others, nsx_intern_str(&a->between.names, name), NAME);
	nsx_buf_c(&a->others, " lie between: name steps with --step");
	nsx_buf_char(&a->others, '\0');
	a->unseen[NSX_LOOK_VARIABILITY] = a->others.ptr;
	return a->others.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}
