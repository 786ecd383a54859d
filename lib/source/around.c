/* around.c -- the innermost range around each call of a thread: one sweep with a stack where ranges nest, as in
 * project.c, else as project_any.c does it. */
#include <stdlib.h>

#include "source/around.h"
#include "source/project.h"
#include "source/range_stack.h"

/* 1: range i is open now, or contains no call; 0: it does not nest; NSX_ERR: out of memory. */
static int
push(struct nsx_range_stack *s, uint32_t i)
{
	/* Calls have a length: a range that ended before this one starts, or has no length, contains no later call. */
	while (s->depth && nsx_range_stack_end(s) <= s->r[i].start)
		s->depth--;
	return s->r[i].start == s->r[i].end ? 1 : nsx_range_stack_push(s, i);
}

static uint32_t
innermost(struct nsx_range_stack *s, const struct nsx_host_call *c)
{
	while (s->depth && nsx_range_stack_end(s) < c->start)
		s->depth--;
	return nsx_range_stack_around(s, c->end);
}

/* Returns as nsx_around: 1 done, 0 the ranges do not nest. */
static int
nested(const struct nsx_range *r, uint32_t first, uint32_t nranges, struct nsx_host_call *calls, uint32_t n)
{
	struct nsx_range_stack s = { .r = r };
	uint32_t k = 0;
	int rc = 1;

	for (uint32_t i = 0; i <= nranges && rc == 1; i++) {
		for (; k < n && (i == nranges || calls[k].start < r[first + i].start); k++) {
			/* A call of no length where ranges touch may also be in a range that is already closed. */
			if (calls[k].start == calls[k].end) {
				rc = 0;
				break;
			}
			calls[k].range = innermost(&s, &calls[k]);
		}
		if (i < nranges && rc == 1)
			rc = push(&s, first + i);
	}
	free(s.p);
	return rc;
}

static bool
anyhow(struct nsx_range *r, uint32_t first, uint32_t nranges, struct nsx_host_call *calls, uint32_t n)
{
	struct nsx_call *c = malloc(((size_t)n + 1) * sizeof *c);
	bool good = c != NULL;

	for (uint32_t i = 0; good && i < n; i++)
		c[i] = (struct nsx_call){ calls[i].start, calls[i].end, INT64_MAX, INT64_MIN, NSX_NONE, 0, NSX_NONE,
		                          NSX_NONE };
	/* Each range gets its parent. */
	good = good && nsx_project(r + first, nranges, first, c, n, NULL) == NSX_OK;
	for (uint32_t i = 0; good && i < n; i++)
		calls[i].range = c[i].range;
	free(c);
	return good;
}

bool
nsx_around(struct nsx_range *r, uint32_t first, uint32_t nranges, struct nsx_host_call *calls, uint32_t n)
{
	int rc = nested(r, first, nranges, calls, n);

	return rc == 1 || (rc == 0 && anyhow(r, first, nranges, calls, n));
}
