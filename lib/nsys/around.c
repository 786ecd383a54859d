/* around.c -- the innermost range around each call of a thread: one sweep with a stack where ranges nest, as in
 * project.c, else as project_any.c does it. */
#include <stdlib.h>
#include <string.h>

#include "nsys/host.h"
#include "nsys/project_any.h"

struct sweep {
	const struct nsx_range *r;
	uint32_t               *stack, depth, cap;
};

/* 1: range i is open now; 0: it does not nest; NSX_ERR: out of memory. */
static int
push(struct sweep *s, uint32_t i)
{
	const struct nsx_range *c = &s->r[i];

	/* Calls have a length here: what is over when this range starts, or has none, holds no further one. */
	while (s->depth && s->r[s->stack[s->depth - 1]].end <= c->start)
		s->depth--;
	if (c->start == c->end)
		return 1;
	if (s->depth && s->r[s->stack[s->depth - 1]].end < c->end)
		return 0;
	if (s->depth == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 64;
		uint32_t *p = realloc(s->stack, cap * sizeof *p);
		if (!p)
			return NSX_ERR;
		s->stack = p;
		s->cap = cap;
	}
	s->stack[s->depth++] = i;
	return 1;
}

static uint32_t
innermost(struct sweep *s, const struct nsx_host_call *c)
{
	while (s->depth && s->r[s->stack[s->depth - 1]].end < c->start)
		s->depth--;
	uint32_t lo = 0, hi = s->depth;
	if (hi && s->r[s->stack[hi - 1]].end >= c->end)
		return s->stack[hi - 1];
	/* Ends fall towards the top. */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->r[s->stack[mid]].end >= c->end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? s->stack[lo - 1] : (uint32_t)NSX_NONE;
}

/* As nsx_around: 1 done, 0 they do not nest. */
static int
nested(const struct nsx_range *r, uint32_t first, uint32_t nranges, struct nsx_host_call *calls, uint32_t n)
{
	struct sweep s = { .r = r };
	uint32_t k = 0;
	int rc = 1;

	for (uint32_t i = 0; i <= nranges && rc == 1; i++) {
		for (; k < n && (i == nranges || calls[k].start < r[first + i].start); k++) {
			/* Of no length: where ranges touch, it may be in one that is closed. */
			if (calls[k].start == calls[k].end) {
				rc = 0;
				break;
			}
			calls[k].range = innermost(&s, &calls[k]);
		}
		if (i < nranges && rc == 1)
			rc = push(&s, first + i);
	}
	free(s.stack);
	return rc;
}

static bool
anyhow(struct nsx_range *r, uint32_t first, uint32_t nranges, struct nsx_host_call *calls, uint32_t n)
{
	struct nsx_call *c = malloc(((size_t)n + 1) * sizeof *c);
	bool good = c != NULL;

	for (uint32_t i = 0; good && i < n; i++)
		c[i] = (struct nsx_call){ calls[i].start, calls[i].end, INT64_MAX, INT64_MIN, NSX_NONE, 0, NSX_NONE };
	/* The ranges get the parents that they have. */
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
