/* axis.c -- see axis.h. */
#include "job/axis.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "stream/kinds.h"

enum { AXES = 63 };   /* of a mesh */

/* ---- the form of one group */

/* The dims of n devices in ascending order. A run of equal steps is a dim; the rest must be this run again, which is a
 * dim of runs:
 *
 *   0 1 4 5 8 9     run 0 1: stride 1, size 2; runs begin at 0 4 8: stride 4, size 3
 *
 * 0: there are none. */
static int
dims_of(const int64_t *d, size_t n, struct nsx_axis_dim dims[NSX_AXIS_DIMS])
{
	int count = 0;

	for (size_t block = 1; block < n; count++) {
		int64_t stride = d[block] - d[0];
		size_t size = 1;

		if (count == NSX_AXIS_DIMS || n % block)
			return 0;
		while ((size + 1) * block <= n && d[size * block] - d[(size - 1) * block] == stride)
			size++;
		if (n % (size * block))
			return 0;
		/* Every block is the first one, moved. */
		for (size_t i = block; i < size * block; i++)
			if (d[i] - d[i - block] != stride)
				return 0;
		dims[count] = (struct nsx_axis_dim){ stride, (int64_t)size };
		block *= size;
	}
	return count;
}

/* Whether the first device has coordinate 0 in each dim, and all later ones lie beyond those before it. */
static bool
begins_at_zero(const struct nsx_axis_dim *dims, int n, int64_t first)
{
	for (int i = 0; i < n; i++)
		if (dims[i].stride < 1 || first / dims[i].stride % dims[i].size
		    || (i && dims[i].stride % (dims[i - 1].stride * dims[i - 1].size)))
			return false;
	return true;
}

bool
nsx_axes_place(struct nsx_axes *a, int64_t device, int64_t position)
{
	uint32_t at = nsx_map_number(&a->position_of, (struct nsx_key){ (uint64_t)device, 0 });

	if (!nsx_vec_next(&a->positions, at, position))
		return false;
	a->positions.p[at] = position;
	return true;
}

static int64_t
position(const struct nsx_axes *a, int64_t device)
{
	uint32_t at = a->positions.n ? nsx_map_get(&a->position_of, (struct nsx_key){ (uint64_t)device, 0 }) : NSX_NONE;

	return at == NSX_NONE ? device : a->positions.p[at];
}

uint32_t
nsx_axes_add(struct nsx_axes *a, int64_t *devices, size_t n, int64_t size)
{
	struct nsx_axis_group g = { .first = a->members.n, .known = n, .size = size };
	uint32_t number;

	qsort(devices, n, sizeof *devices, nsx_sort_by_int);
	/* Of groups whose devices are not all known, those of another size are others. */
	a->scratch.n = 0;
	if (!nsx_vec_room(&a->members, n + 1) || !nsx_vec_room(&a->scratch, n + 1))
		return NSX_NONE;
	for (size_t i = 0; i < n; i++)
		a->members.p[g.first + i] = devices[i];
	a->members.p[g.first + n] = size;
	number = nsx_intern(&a->sets, (struct nsx_str){ (const char *)(a->members.p + g.first),
	                                                (n + 1) * sizeof *devices });
	if (number == NSX_NONE || number < a->groups.n)
		return number;
	for (size_t i = 0; i < n; i++)
		a->scratch.p[i] = position(a, devices[i]);
	qsort(a->scratch.p, n, sizeof *a->scratch.p, nsx_sort_by_int);
	if ((int64_t)n == size && n && a->scratch.p[0] >= 0) {
		g.n = dims_of(a->scratch.p, n, g.dims);
		if (!begins_at_zero(g.dims, g.n, a->scratch.p[0]))
			g.n = 0;
	}
	a->members.n += n;
	if (n && a->scratch.p[n - 1] > a->highest)
		a->highest = a->scratch.p[n - 1];
	return nsx_vec_push(&a->groups, g) ? number : NSX_NONE;
}

/* ---- the mesh */

/* Strides at which axes begin, from 1 on, each a multiple of the one before it. */
struct cuts { int64_t at[AXES + 1]; int n; };

/* Add one; false if it does not fit. */
static bool
cut(struct cuts *c, int64_t at)
{
	int i = 0;

	while (i < c->n && c->at[i] < at)
		i++;
	if (i < c->n && c->at[i] == at)
		return true;
	if (c->n > AXES || (i && at % c->at[i - 1]) || (i < c->n && c->at[i] % at))
		return false;
	for (int k = c->n++; k > i; k--)
		c->at[k] = c->at[k - 1];
	c->at[i] = at;
	return true;
}

/* Add all of a form, or none. A form that reaches beyond the n devices of the job is none of its mesh. */
static bool
cut_all(struct cuts *c, const struct nsx_axis_group *g, int64_t n)
{
	struct cuts with = *c;

	if (g->n && g->dims[g->n - 1].stride > n / g->dims[g->n - 1].size)
		return false;
	for (int i = 0; i < g->n; i++)
		if (!cut(&with, g->dims[i].stride) || !cut(&with, g->dims[i].stride * g->dims[i].size))
			return false;
	*c = with;
	return true;
}

/* A form, and how many devices the groups of it have. */
struct form { const struct nsx_axis_group *g; int64_t devices; };

static int
dims_cmp(const struct nsx_axis_group *x, const struct nsx_axis_group *y)
{
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	for (int i = 0; i < x->n; i++) {
		const struct nsx_axis_dim *p = &x->dims[i], *q = &y->dims[i];

		if (p->stride != q->stride || p->size != q->size)
			return p->stride < q->stride || (p->stride == q->stride && p->size < q->size) ? -1 : 1;
	}
	return 0;
}

NSX_ORDER(by_dims, struct form, dims_cmp(a->g, b->g))

/* The most devices first, then fewer and smaller dims. */
NSX_ORDER(by_weight, struct form, NSX_CMP(b->devices, a->devices), dims_cmp(a->g, b->g))

/* The axes between the cuts of a form, which are all there; bit 0 is the outermost of n. */
static uint64_t
axes_of(const struct cuts *c, const struct nsx_axis_group *g, int n)
{
	uint64_t axes = 0;

	for (int i = 0; i < g->n; i++)
		for (int k = 0; k < n; k++)
			if (c->at[k] >= g->dims[i].stride && c->at[k] < g->dims[i].stride * g->dims[i].size)
				axes |= UINT64_C(1) << (n - 1 - k);
	return axes;
}

/* The cuts of all forms that fit, those of most devices first. */
static bool
find_cuts(const struct nsx_axes *a, struct cuts *c)
{
	struct form *forms = malloc((a->groups.n + 1) * sizeof *forms);
	size_t n = 0, kept = 0;

	if (!forms)
		return false;
	for (size_t i = 0; i < a->groups.n; i++)
		if (a->groups.p[i].n)
			forms[n++] = (struct form){ &a->groups.p[i], a->groups.p[i].size };
	qsort(forms, n, sizeof *forms, by_dims);
	for (size_t i = 0; i < n; i++) {
		if (kept && dims_cmp(forms[kept - 1].g, forms[i].g) == 0)
			forms[kept - 1].devices += forms[i].devices;
		else
			forms[kept++] = forms[i];
	}
	qsort(forms, kept, sizeof *forms, by_weight);
	for (size_t i = 0; i < kept; i++)
		cut_all(c, forms[i].g, a->devices);
	free(forms);
	return true;
}

bool
nsx_axes_settle(struct nsx_axes *a, int64_t devices)
{
	struct cuts c = { .at = { 1 }, .n = 1 };
	int n;

	a->devices = devices > a->highest || !a->groups.n ? devices : nsx_add_sat(a->highest, 1, NULL);
	if (!find_cuts(a, &c))
		return false;
	/* The rest is the outermost axis; devices that do not fill it up do not make another mesh. */
	int64_t most = c.at[c.n - 1], times = a->devices / most + (a->devices % most != 0);
	if (most < a->devices && c.n <= AXES && times <= INT64_MAX / most)
		c.at[c.n++] = times * most;
	n = c.n - 1;
	a->sizes.n = 0;
	for (int k = n; k > 0; k--)
		if (!nsx_vec_push(&a->sizes, c.at[k] / c.at[k - 1]))
			return false;
	for (size_t i = 0; i < a->groups.n; i++) {
		struct nsx_axis_group *g = &a->groups.p[i];
		struct cuts as = c;

		g->all = g->size && g->size == a->devices;
		g->axes = g->n && cut_all(&as, g, a->devices) && as.n == c.n ? axes_of(&c, g, n) : 0;
	}
	return true;
}

/* ---- answers */

void
nsx_axes_name(const struct nsx_axes *a, uint32_t group, struct nsx_buf *to)
{
	const struct nsx_axis_group *g = &a->groups.p[group];
	const char *before = "axis";

	if (g->all) {
		nsx_buf_c(to, "all");
		return;
	}
	if (!g->size) {
		nsx_buf_c(to, "unknown");
		return;
	}
	if (!g->axes) {
		nsx_buf_fmt(to, "group(%" PRId64 ")", g->size);
		return;
	}
	for (unsigned i = 0; i < AXES; i++)
		if (g->axes >> i & 1) {
			nsx_buf_fmt(to, "%s%u", before, i);
			before = "+";
		}
	nsx_buf_fmt(to, "/%" PRId64, g->size);
}

int64_t
nsx_axes_stride(const struct nsx_axes *a, uint32_t group)
{
	return a->groups.p[group].n == 1 ? a->groups.p[group].dims[0].stride : NSX_AXIS_NONE;
}

int64_t
nsx_axes_coordinate(const struct nsx_axes *a, uint64_t axes, int64_t device)
{
	int64_t stride = 1, weight = 1, at = 0, place = position(a, device);

	for (size_t k = a->sizes.n; k-- > 0; stride *= a->sizes.p[k])
		if (axes >> k & 1) {
			at += place / stride % a->sizes.p[k] * weight;
			weight *= a->sizes.p[k];
		}
	return at;
}

void
nsx_axes_free(struct nsx_axes *a)
{
	free(a->groups.p);
	free(a->members.p);
	free(a->sizes.p);
	nsx_intern_free(&a->sets);
	nsx_map_free(&a->position_of);
	free(a->positions.p);
	free(a->scratch.p);
	*a = (struct nsx_axes){ 0 };
}
