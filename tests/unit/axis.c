/* axis.c -- axes of groups of devices, against every mesh of up to 4 dimensions: groups are made from coordinates, and
 * the names that they must have from these too. */
#include "job/axis.h"
#include "stream/kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "tap.h"

enum { DIMS = 4, MOST = 256 };

struct mesh { int n; int64_t size[DIMS]; int64_t devices; };   /* the outermost first */

static int64_t
coordinate(const struct mesh *m, int64_t device, int axis)
{
	for (int i = m->n - 1; i > axis; i--)
		device /= m->size[i];
	return device % m->size[axis];
}

/* Whether two devices are in one group along these axes: their other coordinates are equal. */
static bool
together(const struct mesh *m, unsigned axes, int64_t x, int64_t y)
{
	for (int i = 0; i < m->n; i++)
		if (!(axes >> i & 1) && coordinate(m, x, i) != coordinate(m, y, i))
			return false;
	return true;
}

/* Add the groups along these axes; group[d] becomes the number of that of device d. */
static void
add_groups(struct nsx_axes *a, const struct mesh *m, unsigned axes, uint32_t *group)
{
	for (int64_t d = 0; d < m->devices; d++) {
		int64_t devices[MOST];
		size_t n = 0;

		/* In descending order, which must not matter. */
		for (int64_t e = m->devices; e-- > 0;)
			if (together(m, axes, d, e))
				devices[n++] = e;
		group[d] = nsx_axes_add(a, devices, n, (int64_t)n);
	}
}

/* The name of groups along `axes` where sets along all of `known` were seen: neighbours that are in the same of them
 * are one axis. */
static void
expected(const struct mesh *m, unsigned axes, const unsigned *known, int nknown, char *name)
{
	int64_t size = 1;
	int axis = -1, len = 0, before = -1;

	for (int i = 0; i < m->n; i++) {
		bool same = before >= 0;

		for (int k = 0; same && k < nknown; k++)
			same = (known[k] >> i & 1) == (known[k] >> before & 1);
		axis += !same;
		if (axes >> i & 1) {
			if (!same || !(axes >> before & 1))
				len += sprintf(name + len, "%s%d", len ? "+" : "axis", axis);
			size *= m->size[i];
		}
		before = i;
	}
	if (size == m->devices)
		strcpy(name, "all");
	else if (size == 1)
		strcpy(name, "group(1)");
	else
		sprintf(name + len, "/%" PRId64, size);
}

static const char *
named(const struct nsx_axes *a, uint32_t g)
{
	static char text[128];
	struct nsx_buf b = { 0 };

	nsx_axes_name(a, g, &b);
	snprintf(text, sizeof text, "%.*s", (int)b.len, b.ptr);
	nsx_buf_free(&b);
	return text;
}

static int wrong, places_wrong, meshes;

/* All sets in `known` of one mesh. */
static void
try_sets(const struct mesh *m, const unsigned *known, int n)
{
	static uint32_t group[16][MOST];
	struct nsx_axes a = { 0 };

	for (int k = 0; k < n; k++)
		add_groups(&a, m, known[k], group[k]);
	wrong += !nsx_axes_settle(&a, m->devices);
	for (int k = 0; k < n; k++)
		for (int64_t d = 0; d < m->devices; d++) {
			uint64_t axes = a.groups.p[group[k][d]].axes;
			int64_t size = a.groups.p[group[k][d]].size;
			char name[128];

			expected(m, known[k], known, n, name);
			if (strcmp(name, named(&a, group[k][d])) != 0 && wrong++ < 5)
				printf("# want %s, got %s\n", name, named(&a, group[k][d]));
			for (int64_t e = 0; e < m->devices; e++) {
				bool same = nsx_axes_coordinate(&a, axes, d) == nsx_axes_coordinate(&a, axes, e);

				/* Devices of a group are at different places, all of them below its size. */
				places_wrong += d != e && group[k][d] == group[k][e] && same;
				places_wrong += nsx_axes_coordinate(&a, axes, e) >= size;
				/* Those at one place agree in every coordinate along the axes. */
				for (int i = 0; same && i < m->n; i++)
					places_wrong += (known[k] >> i & 1) && coordinate(m, d, i) != coordinate(m, e, i);
			}
		}
	nsx_axes_free(&a);
	meshes++;
}

static void
try_mesh(const struct mesh *m)
{
	unsigned all = 1U << m->n, known[16];

	for (unsigned x = 1; x < all; x++)
		try_sets(m, &x, 1);
	for (unsigned x = 1; x < all; x++)
		for (unsigned y = x + 1; y < all; y++)
			try_sets(m, (unsigned[]){ y, x }, 2);
	for (unsigned x = 1; x < all; x++)
		known[x - 1] = x;
	try_sets(m, known, (int)all - 1);
}

/* "0,1;2,3" */
static void
add_text(struct nsx_axes *a, const char *text, int64_t size)
{
	int64_t devices[MOST];
	size_t n = 0;

	for (const char *p = text; *p;) {
		char *end;

		devices[n++] = strtoll(p, &end, 10);
		if (*end != ',') {
			nsx_axes_add(a, devices, n, size ? size : (int64_t)n);
			n = 0;
		}
		p = *end ? end + 1 : end;
	}
}

/* The names of all groups, separated by spaces. */
static const char *
names(const char *text, int64_t devices, int64_t size)
{
	static char all[1024];
	struct nsx_axes a = { 0 };

	add_text(&a, text, size);
	nsx_axes_settle(&a, devices);
	all[0] = '\0';
	for (uint32_t i = 0; i < a.groups.n; i++)
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "", named(&a, i));
	nsx_axes_free(&a);
	return all;
}

static const char *
ranges(int64_t *d, size_t n)
{
	static char text[128];
	struct nsx_buf b = { 0 };

	nsx_ranges_put(d, n, &b);
	snprintf(text, sizeof text, "%.*s", (int)b.len, b.ptr);
	nsx_buf_free(&b);
	return text;
}

int
main(void)
{
	static const int64_t sizes[] = { 2, 3, 4 };
	enum { CHOICES = sizeof sizes / sizeof *sizes };

	for (int n = 1; n <= DIMS; n++)
		for (int64_t code = 0, end = n == 1 ? 3 : n == 2 ? 9 : n == 3 ? 27 : 81; code < end; code++) {
			struct mesh m = { .n = n, .devices = 1 };

			for (int64_t i = 0, c = code; i < n; i++, c /= CHOICES) {
				m.size[i] = sizes[c % CHOICES];
				m.devices *= m.size[i];
			}
			if (m.devices <= 64)
				try_mesh(&m);
		}
	ok(meshes > 4000 && wrong == 0, "names of all groups of meshes of up to 4 dimensions");
	ok(places_wrong == 0, "devices at one place of their groups have one coordinate, those of a group different ones");

	is_str(names("0,1;2,3", 4, 0), "axis1/2 axis1/2", "neighbours are the last axis");
	is_str(names("0,2;1,3", 4, 0), "axis0/2 axis0/2", "devices far apart are the first");
	is_str(names("0,1,2,3", 4, 0), "all", "all devices");
	is_str(names("0,1,2,3", 8, 0), "axis1/4", "... of those that groups have, but not of the job");
	is_str(names("0,1,4,5;2,3,6,7;0,2", 8, 0), "axis0+2/4 axis0+2/4 axis1/2", "two axes with one between them");
	is_str(names("1,2;3,0", 4, 0), "group(2) group(2)", "pairs across the border of an axis are no axis");
	is_str(names("0,1,3", 4, 0), "group(3)", "unequal distances are no axis");
	is_str(names("0,1;2,3;4,5;0,1,2", 6, 0), "axis1/2 axis1/2 axis1/2 group(3)",
	       "an axis that does not fit those of more devices is none");
	is_str(names("0,1", 4, 8), "group(8)", "a group whose devices are not all known is no axis");
	is_str(names("0,1,2,3;4,5", 6, 0), "axis1+2/4 axis2/2", "a group of fewer devices is along a part of the axis");
	is_str(names("5", 6, 0), "group(1)", "a device alone");
	is_str(ranges((int64_t[]){ 0, 1, 2, 3 }, 4), "0-3", "devices as a range");
	is_str(ranges((int64_t[]){ 0, 2, 4, 9 }, 4), "0-4/2,9", "... with a distance");
	is_str(ranges((int64_t[]){ 0, 4 }, 2), "0,4", "... two of them");
	is_str(ranges((int64_t[]){ 0, 1, 4, 5 }, 4), "0-1,4-5", "... two ranges");
	is_str(ranges((int64_t[]){ 7 }, 1), "7", "... one device");
	is_str(ranges((int64_t[]){ NSX_ABSENT, 0, 1 }, 3), "-,0-1", "... one without a number");
	is_str(ranges((int64_t[]){ -INT64_MAX, INT64_MAX }, 2), "-9223372036854775807,9223372036854775807",
	       "... two as far apart as can be");
	is_str(names("0,9223372036854775807", 4, 0), "group(2)", "a device of the highest number has no place in a mesh");
	return done();
}
