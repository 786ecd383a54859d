/* device_groups.c -- see device_groups.h. */
#include "job/device_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"

/* In the order of enum nsx_group_by. */
static const struct { const char *name, *column; } ways[] = {
	{ "node", "node" }, { "rack", "rack" }, { "partition", "partition" }, { "group", NULL }, { "axis", "at" },
	{ "block:", "block" }
};

bool
nsx_grouping_parse(const char *text, struct nsx_grouping *g)
{
	for (int i = NSX_BY_NODE; i < NSX_BY_BLOCK; i++)
		if (strcmp(text, ways[i].name) == 0) {
			*g = (struct nsx_grouping){ (enum nsx_group_by)i, 0 };
			return true;
		}
	g->by = NSX_BY_BLOCK;
	return strncmp(text, "block:", 6) == 0 && nsx_get_int(nsx_str_c(text + 6), &g->block) && g->block > 0;
}

struct nsx_str
nsx_rack_of_host(struct nsx_str host)
{
	const char *dot = host.len ? memchr(host.ptr, '.', host.len) : NULL;
	size_t n = dot ? (size_t)(dot - host.ptr) : host.len;

	/* An address has no name to take apart. */
	if (!n || !nsx_is_digit(host.ptr[n - 1]) || (dot && nsx_is_digit(host.ptr[0])))
		return (struct nsx_str){ "", 0 };
	while (n && nsx_is_digit(host.ptr[n - 1]))
		n--;
	while (n && nsx_is_letter(host.ptr[n - 1]))
		n--;
	while (n && !nsx_is_digit(host.ptr[n - 1]) && !nsx_is_letter(host.ptr[n - 1]))
		n--;
	/* A rack has a number, too: node-17 is a machine's alone. */
	for (size_t i = 0; i < n; i++)
		if (nsx_is_digit(host.ptr[i]))
			return (struct nsx_str){ host.ptr, n };
	return (struct nsx_str){ "", 0 };
}

const char *
nsx_grouping_column(const struct nsx_grouping *g)
{
	return ways[g->by].column;
}

bool
nsx_grouping_has_axes(const struct nsx_grouping *g)
{
	return g->by == NSX_BY_GROUP || g->by == NSX_BY_AXIS;
}

void
nsx_device_groups_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_PROFILE, NSX_EVERY);
	nsx_reader_need(in, NSX_DEVICE, NSX_EVERY);
	nsx_reader_need(in, NSX_GROUPS, NSX_EVERY);
	nsx_group_axes_need(in);
}

void
nsx_device_groups_listen(struct nsx_device_groups *g, struct nsx_reader *in)
{
	nsx_device_groups_need(in);
	nsx_reader_listen(in, nsx_device_groups_take, g);
}

int
nsx_device_groups_take(void *state, const struct nsx_rec *rec)
{
	struct nsx_device_groups *g = state;

	switch (rec->kind->id) {
	case NSX_PROFILE: case NSX_DEVICE: case NSX_GROUPS:
		return nsx_comm_take(&g->comm, rec, g->err);
	case NSX_COMMUNICATOR:
		return nsx_group_axes_take(&g->axes, rec, g->err);
	default:
		return NSX_OK;
	}
}

/* ---- groups by a key of each device */

/* The text in g->text; NSX_NONE when out of memory. */
static uint32_t
keep(struct nsx_device_groups *g)
{
	return g->text.failed ? NSX_NONE : nsx_intern(&g->names, nsx_buf_view(&g->text));
}

/* Put the key of a device as text: false if it has none. axes: of an axis. */
static bool
put_key(struct nsx_device_groups *g, const struct nsx_grouping *by, uint64_t axes, int64_t device)
{
	const struct nsx_catalogue *cat = &g->comm.cat;
	uint32_t at = nsx_cat_find_device(cat, device);
	const struct nsx_cat_device *d = at == NSX_NONE ? NULL : &cat->devices.p[at];
	struct nsx_str host = { "", 0 };
	int64_t first;

	switch (by->by) {
	case NSX_BY_NODE:
	case NSX_BY_RACK:
		if (d && d->profile != NSX_NONE)
			host = nsx_cat_str(cat, cat->profiles.p[d->profile].host);
		if (by->by == NSX_BY_RACK)
			host = nsx_rack_of_host(host);
		nsx_buf_str(&g->text, host);
		return host.len;
	case NSX_BY_PARTITION:
		if (d && d->partition != NSX_ABSENT)
			nsx_buf_fmt(&g->text, "%" PRId64, d->partition);
		return d && d->partition != NSX_ABSENT;
	case NSX_BY_AXIS:
		if (device >= 0)
			nsx_buf_fmt(&g->text, "%" PRId64, nsx_axes_coordinate(&g->axes.axes, axes, device));
		return device >= 0;
	case NSX_BY_BLOCK:
		if (device < 0)
			return false;
		first = device / by->block * by->block;
		nsx_buf_fmt(&g->text, "%" PRId64 "-%" PRId64, first, nsx_add_sat(first, by->block - 1, NULL));
		return true;
	case NSX_BY_GROUP:
		break;
	}
	return false;
}

/* A device, its key, and the order of keys: that of their first devices. */
struct keyed { uint32_t order, name; int64_t device; bool known; };

NSX_ORDER(by_order, struct keyed, NSX_CMP(a->order, b->order), NSX_CMP(a->device, b->device))

/* Groups of the devices that have one key. axis: its name. */
static int
make_keyed(struct nsx_device_groups *g, const struct nsx_grouping *by, uint32_t axis, uint64_t axes,
           const int64_t *devices, size_t n)
{
	struct keyed *k = malloc((n + 1) * sizeof *k);
	struct nsx_map order = { 0 };
	bool good = k && nsx_vec_room(&g->devices, n);

	for (size_t i = 0; good && i < n; i++) {
		g->text.len = 0;
		bool known = put_key(g, by, axes, devices[i]);
		if (!known)
			nsx_buf_c(&g->text, "[unknown]");
		uint32_t name = keep(g);
		uint32_t at = name == NSX_NONE ? name : nsx_map_number(&order, (struct nsx_key){ name, known });

		k[i] = (struct keyed){ at, name, devices[i], known };
		good = at != NSX_NONE;
	}
	if (good)
		qsort(k, n, sizeof *k, by_order);
	for (size_t i = 0, m; good && i < n; i += m) {
		struct nsx_device_group new = { axis, k[i].name, g->devices.n, 0, k[i].known };

		for (m = 0; i + m < n && k[i + m].order == k[i].order; m++)
			g->devices.p[g->devices.n++] = k[i + m].device;
		new.n = m;
		good = nsx_vec_push(&g->list, new);
	}
	nsx_map_free(&order);
	free(k);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* ---- groups of axes */

/* A group of the mesh; those of one axis are neighbours in order. */
struct of_axis { uint64_t axes; uint32_t group; bool all; };

/* The outermost axis is the lowest bit; irregular groups, which have none, are last. */
NSX_ORDER(by_axes, struct of_axis, NSX_CMP(b->all, a->all), NSX_CMP(a->axes - 1, b->axes - 1),
          NSX_CMP(a->group, b->group))

/* Add the devices of a group that are among the n. */
static int
add_group(struct nsx_device_groups *g, uint32_t axis, const struct nsx_axis_group *group, const int64_t *devices,
          size_t n)
{
	struct nsx_device_group new = { axis, 0, g->devices.n, 0, true };
	const int64_t *of = g->axes.axes.members.p + group->first;

	if (!nsx_vec_room(&g->devices, group->known))
		return nsx_err_nomem(g->err, NULL);
	for (size_t i = 0; i < group->known; i++)
		if (bsearch(&of[i], devices, n, sizeof *devices, nsx_sort_by_int))
			g->devices.p[g->devices.n++] = of[i];
	new.n = g->devices.n - new.first;
	g->text.len = 0;
	new.name = keep(g);
	return new.name != NSX_NONE && (!new.n || nsx_vec_push(&g->list, new)) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* A group of the n devices that are in none of the list from `from` on, if there are any. */
static int
add_rest(struct nsx_device_groups *g, uint32_t axis, size_t from, const int64_t *devices, size_t n)
{
	struct nsx_device_group new = { axis, 0, g->devices.n, 0, false };
	size_t begin = from < g->list.n ? g->list.p[from].first : g->devices.n;
	size_t have = g->devices.n - begin;
	int64_t *in = malloc((have + 1) * sizeof *in);

	if (!in || !nsx_vec_room(&g->devices, n)) {
		free(in);
		return nsx_err_nomem(g->err, NULL);
	}
	for (size_t i = 0; i < have; i++)
		in[i] = g->devices.p[begin + i];
	qsort(in, have, sizeof *in, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++)
		if (!bsearch(&devices[i], in, have, sizeof *in, nsx_sort_by_int))
			g->devices.p[g->devices.n++] = devices[i];
	free(in);
	new.n = g->devices.n - new.first;
	g->text.len = 0;
	nsx_buf_c(&g->text, "[unknown]");
	new.name = keep(g);
	return new.name != NSX_NONE && (!new.n || nsx_vec_push(&g->list, new)) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

static int
make_axes(struct nsx_device_groups *g, const struct nsx_grouping *by, const int64_t *devices, size_t n)
{
	const struct nsx_axes *axes = &g->axes.axes;
	struct of_axis *order;
	int rc = NSX_OK;

	if (!nsx_group_axes_settle(&g->axes, &g->comm.groups, n ? nsx_add_sat(devices[n - 1], 1, NULL) : 0)
	    || !(order = malloc((axes->groups.n + 1) * sizeof *order)))
		return nsx_err_nomem(g->err, NULL);
	for (uint32_t i = 0; i < axes->groups.n; i++)
		order[i] = (struct of_axis){ axes->groups.p[i].axes, i, axes->groups.p[i].all };
	qsort(order, axes->groups.n, sizeof *order, by_axes);
	for (size_t i = 0, m; rc == NSX_OK && i < axes->groups.n; i += m) {
		size_t from = g->list.n;
		uint32_t axis;

		g->text.len = 0;
		nsx_axes_name(axes, order[i].group, &g->text);
		axis = keep(g);
		if (axis == NSX_NONE)
			rc = nsx_err_nomem(g->err, NULL);
		for (m = 0; i + m < axes->groups.n && order[i + m].axes == order[i].axes
		     && order[i + m].all == order[i].all && (m == 0 || order[i].axes); m++)
			if (rc == NSX_OK && by->by == NSX_BY_GROUP)
				rc = add_group(g, axis, &axes->groups.p[order[i + m].group], devices, n);
		if (rc == NSX_OK && by->by == NSX_BY_AXIS && order[i].axes)
			rc = make_keyed(g, by, axis, order[i].axes, devices, n);
		if (rc == NSX_OK && by->by == NSX_BY_GROUP && order[i].axes)
			rc = add_rest(g, axis, from, devices, n);
	}
	free(order);
	return rc;
}

int
nsx_device_groups_make(struct nsx_device_groups *g, const struct nsx_grouping *by, const int64_t *devices, size_t n)
{
	uint32_t none;

	g->list.n = 0;
	g->devices.n = 0;
	if (!n)
		return NSX_OK;
	if (nsx_grouping_has_axes(by))
		return make_axes(g, by, devices, n);
	g->text.len = 0;
	none = keep(g);
	return none == NSX_NONE ? nsx_err_nomem(g->err, NULL) : make_keyed(g, by, none, 0, devices, n);
}

void
nsx_device_groups_free(struct nsx_device_groups *g)
{
	nsx_comm_free(&g->comm);
	nsx_group_axes_free(&g->axes);
	free(g->list.p);
	free(g->devices.p);
	nsx_intern_free(&g->names);
	nsx_buf_free(&g->text);
}
