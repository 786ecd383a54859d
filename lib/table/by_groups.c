/* by_groups.c -- see by_groups.h. */
#include "table/by_groups.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "stream/kinds.h"

enum { COLS = 40, PLACES = 4 };

#define MAIN(name) .main = name, .as = { name "_mean", name "_p50", name "_p99", name "_max" }

const struct nsx_by_groups nsx_groups_of_summary = {
	.sums = "execs compute exposed hidden idle copy copy_hidden window", MAIN("compute")
}, nsx_groups_of_steps = {
	.keys = "class", .sums = "count", .means = "compute_mean exposed_mean copy_mean idle_mean",
	.main = "period_mean", .as = { "period_mean", "period_p50", "period_p99", "period_max" }, .notes = true
}, nsx_groups_of_idle = {
	.keys = "part group cause", .sums = "ns count drained blocked", MAIN("ns"), .notes = true, .zeros = true
}, nsx_groups_of_lockstep = {
	.keys = "program id", .sums = "executions",
	.main = "bias_mean", .as = { "bias_mean", "bias_p50", "bias_p99", "bias_max" }
}, nsx_groups_of_pace = {
	.sums = "kernels time", MAIN("pace")
};

/* A column of the old table that is used. */
struct column { size_t at; enum nsx_cell type; const char *name; };
struct columns { struct column of[COLS]; int n; };

/* A row of the old table. */
struct old { uint32_t key; int64_t device; size_t row; };

/* A row of the new one; order: of axes. */
struct new { size_t order, group; uint32_t key; double mean; };

struct grouping {
	const struct nsx_table *t;
	const struct nsx_by_groups *def;
	struct nsx_device_groups *g;
	size_t           device, main;       /* columns */
	struct columns   keys, sums, means;
	struct nsx_intern texts;             /* keys of rows, as text */
	NSX_VEC(size_t)  first;              /* by key: its first row */
	struct nsx_map   at;                 /* (key, device) -> row */
	NSX_VEC(int64_t) devices;            /* in ascending order */
	NSX_VEC(struct new) rows;
	NSX_VEC(double)  values;             /* of one row */
	int64_t          worst;
	bool             has_worst;
};

/* ---- the old table */

/* The columns of that list which the table has. */
static struct columns
columns_of(const struct nsx_table *t, const char *names)
{
	size_t n;
	const struct nsx_table_col *cols = nsx_table_columns(t, &n);
	struct columns c = { .n = 0 };

	for (const char *p = names ? names : ""; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " "), at = nsx_table_named(t, (struct nsx_str){ p, len });

		if (at < n && c.n < COLS)
			c.of[c.n++] = (struct column){ at, cols[at].type, cols[at].name };
		p += len;
	}
	return c;
}

static bool
is_real(enum nsx_cell type)
{
	return type == NSX_CELL_DOUBLE || type == NSX_CELL_MEAN_NS || type == NSX_CELL_GBPS || type == NSX_CELL_SHARE
	       || type == NSX_CELL_PERCENT;
}

/* A cell as a number; 0 if it is absent. */
static double
number_of(const struct nsx_table_cell *c, enum nsx_cell type)
{
	return !c->has ? 0 : is_real(type) ? c->v.f : (double)c->v.i;
}

/* The number of a row's key: its cells, each after its length. NSX_NONE when out of memory. */
static uint32_t
key_of(struct grouping *x, size_t row, struct nsx_buf *text)
{
	text->len = 0;
	for (int i = 0; i < x->keys.n; i++) {
		struct nsx_table_cell c = nsx_table_get(x->t, row, x->keys.of[i].at);

		if (!c.has)
			nsx_buf_char(text, '-');
		else if (x->keys.of[i].type == NSX_CELL_STRING)
			nsx_buf_fmt(text, "%zu:%.*s", c.v.s.len, (int)c.v.s.len, c.v.s.ptr);
		else
			nsx_buf_fmt(text, "%lld,", (long long)c.v.i);
	}
	uint32_t key = text->failed ? NSX_NONE : nsx_intern(&x->texts, nsx_buf_view(text));
	if (key != NSX_NONE && key == x->first.n && !nsx_vec_push(&x->first, row))
		return NSX_NONE;
	return key;
}

/* Find keys, devices and their rows. False when out of memory. */
static bool
take_rows(struct grouping *x)
{
	struct nsx_buf text = { 0 };
	bool good = true;

	for (size_t row = 0; good && row < nsx_table_rows(x->t); row++) {
		struct nsx_table_cell d = nsx_table_get(x->t, row, x->device);
		uint32_t key = key_of(x, row, &text), *at;

		if (!d.has)
			d.v.i = NSX_ABSENT;
		at = key == NSX_NONE ? NULL : nsx_map_at(&x->at, (struct nsx_key){ key, (uint64_t)d.v.i });
		good = at && nsx_vec_push(&x->devices, d.v.i);
		if (good && *at == NSX_NONE)
			*at = (uint32_t)row;
	}
	nsx_buf_free(&text);
	x->devices.n = nsx_sort_unique(x->devices.p, x->devices.n);
	return good;
}

/* ---- rows */

/* The row of a key and a device; NSX_NONE: none. */
static uint32_t
row_at(const struct grouping *x, uint32_t key, int64_t device)
{
	return nsx_map_get(&x->at, (struct nsx_key){ key, (uint64_t)device });
}

/* Set the values of the main column in a group, sorted, and the device with the largest: the number of rows that the
 * group has; 0: it has none. */
static size_t
collect(struct grouping *x, uint32_t key, const struct nsx_device_group *group, enum nsx_cell type)
{
	size_t rows = 0;
	double most = 0;

	x->values.n = 0;
	x->has_worst = false;
	for (size_t i = 0; i < group->n; i++) {
		int64_t device = x->g->devices.p[group->first + i];
		uint32_t row = row_at(x, key, device);
		struct nsx_table_cell c = { .has = false };

		if (row != NSX_NONE) {
			c = nsx_table_get(x->t, row, x->main);
			rows++;
		}
		if (!c.has && !x->def->zeros)
			continue;
		double v = number_of(&c, type);
		if (!x->has_worst || v > most) {
			most = v;
			x->worst = device;
			x->has_worst = true;
		}
		x->values.p[x->values.n++] = v;
	}
	qsort(x->values.p, x->values.n, sizeof *x->values.p, nsx_sort_by_double);
	return rows;
}

/* Of the values collected: their sum is that of the sorted ones, so that it does not depend on the order of devices. */
static double
mean(const struct grouping *x)
{
	double sum = 0;

	for (size_t i = 0; i < x->values.n; i++)
		sum += x->values.p[i];
	return x->values.n ? sum / (double)x->values.n : 0;
}

NSX_ORDER(by_mean, struct new, NSX_CMP(a->order, b->order), NSX_CMP(a->key, b->key), NSX_CMP(b->mean, a->mean),
          NSX_CMP(a->group, b->group))

/* Make the rows, by axis, key, mean. False when out of memory. */
static bool
make_rows(struct grouping *x, enum nsx_cell type)
{
	if (!nsx_vec_room(&x->values, x->devices.n + 1))
		return false;
	for (size_t i = 0, order = 0; i < x->g->list.n; i++) {
		order += i && x->g->list.p[i].axis != x->g->list.p[i - 1].axis;
		for (uint32_t key = 0; key < x->first.n; key++)
			if (collect(x, key, &x->g->list.p[i], type)
			    && !nsx_vec_push(&x->rows, ((struct new){ order, i, key, mean(x) })))
				return false;
	}
	nsx_sort(x->rows.p, x->rows.n, by_mean);
	return true;
}

/* ---- the new table */

/* Its columns. */
struct shape { struct nsx_table_col cols[COLS + 16]; int n, axis, name, members, keys, sums, means, main; };

static int
add(struct shape *s, const char *name, enum nsx_cell type)
{
	s->cols[s->n] = (struct nsx_table_col){ name, type };
	return s->n++;
}

static struct shape
shape_of(const struct grouping *x, const struct nsx_grouping *by, enum nsx_cell type)
{
	struct shape s = { .n = 0, .axis = -1, .name = -1 };
	const char *const *as = x->def->as;

	if (nsx_grouping_has_axes(by))
		s.axis = add(&s, "axis", NSX_CELL_STRING);
	if (nsx_grouping_column(by))
		s.name = add(&s, nsx_grouping_column(by), NSX_CELL_STRING);
	s.members = add(&s, "members", NSX_CELL_INT);
	add(&s, "devices", NSX_CELL_STRING);
	s.keys = s.n;
	for (int i = 0; i < x->keys.n; i++)
		add(&s, x->keys.of[i].name, x->keys.of[i].type);
	s.sums = s.n;
	for (int i = 0; i < x->sums.n; i++)
		add(&s, x->sums.of[i].name, x->sums.of[i].type);
	s.means = s.n;
	for (int i = 0; i < x->means.n; i++)
		add(&s, x->means.of[i].name, x->means.of[i].type);
	s.main = add(&s, as[0], type == NSX_CELL_NS ? NSX_CELL_MEAN_NS : type);
	for (int i = 1; i < PLACES; i++)
		add(&s, as[i], type);
	add(&s, "worst", NSX_CELL_ID);
	return s;
}

/* Put a key's cells. */
static void
put_keys(const struct grouping *x, const struct shape *s, uint32_t key, struct nsx_table *t)
{
	for (int i = 0; i < x->keys.n; i++) {
		struct nsx_table_cell c = nsx_table_get(x->t, x->first.p[key], x->keys.of[i].at);

		if (!c.has)
			continue;
		if (x->keys.of[i].type == NSX_CELL_STRING)
			nsx_table_str(t, s->keys + i, c.v.s);
		else
			nsx_table_int(t, s->keys + i, c.v.i);
	}
}

/* Put what is added up over the devices of a group. */
static int
put_sums(struct grouping *x, const struct shape *s, const struct new *r, struct nsx_table *t, struct nsx_err *err)
{
	const struct nsx_device_group *group = &x->g->list.p[r->group];
	int rc = NSX_OK;

	for (int c = 0; c < x->sums.n + x->means.n; c++) {
		const struct column *col = c < x->sums.n ? &x->sums.of[c] : &x->means.of[c - x->sums.n];
		nsx_u128 sum = 0;
		double real = 0;
		int64_t n = 0;

		for (size_t i = 0; i < group->n; i++) {
			uint32_t row = row_at(x, r->key, x->g->devices.p[group->first + i]);
			struct nsx_table_cell cell = { .has = false };

			if (row != NSX_NONE)
				cell = nsx_table_get(x->t, row, col->at);
			if (!cell.has)
				continue;
			n++;
			if (is_real(col->type))
				real += cell.v.f;
			else
				sum += (nsx_u128)cell.v.i;
		}
		if (n && c >= x->sums.n)
			nsx_table_double(t, s->sums + c, real / (double)n);
		else if (n && rc == NSX_OK)
			rc = nsx_table_sum(t, s->sums + c, sum, err);
	}
	return rc;
}

/* Put the main column's. Integers come from the values, which are exact below 2^53 ns: 104 days. */
static void
put_main(const struct grouping *x, const struct shape *s, enum nsx_cell type, struct nsx_table *t)
{
	static const int places[PLACES] = { 0, 50, 99, 100 };
	size_t n = x->values.n;

	if (!n)
		return;
	nsx_table_double(t, s->main, mean(x));
	for (int i = 1; i < PLACES; i++) {
		double v = x->values.p[nsx_percentile_rank(n, places[i])];

		if (is_real(type))
			nsx_table_double(t, s->main + i, v);
		else
			nsx_table_int(t, s->main + i, (int64_t)v);
	}
	if (x->has_worst && x->worst != NSX_ABSENT)
		nsx_table_int(t, s->main + PLACES, x->worst);
}

static void
rank(const struct grouping *x, const struct shape *s, struct nsx_table *t)
{
	int first[] = { s->axis, s->name, s->members + (s->name < 0) };

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (first[i] >= 0)
			nsx_table_rank(t, s->cols[first[i]].name);
	for (int i = 0; i < x->keys.n; i++)
		nsx_table_rank(t, s->cols[s->keys + i].name);
	nsx_table_rank(t, s->cols[s->main].name);
	nsx_table_rank(t, "worst");
	for (int i = 3; i > 0; i--)
		nsx_table_rank(t, s->cols[s->main + i].name);
	nsx_table_rank(t, "members devices");
}

/* A terminal does not call a time by its unit, which its cells have. */
static void
head(struct nsx_table *t, int ncols)
{
	static const char *const heads[][2] = {
		{ "ns", "time" }, { "ns_mean", "time_mean" }, { "ns_p50", "time_p50" }, { "ns_p99", "time_p99" },
		{ "ns_max", "time_max" }
	};

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (nsx_table_named(t, nsx_str_c(heads[i][0])) < (size_t)ncols)
			nsx_table_head(t, heads[i][0], heads[i][1]);
}

/* ---- totals, as lines below the table */

/* The groups that have a line of their own. */
enum { TOLD = 16 };

/* Sums of a group over all keys; main: that of the main column. */
struct total { size_t group; int64_t main, sums[COLS]; };

NSX_ORDER(by_main, struct total, NSX_CMP(b->main, a->main), NSX_CMP(a->group, b->group))

static void
add_to_total(const struct grouping *x, size_t row, struct total *to)
{
	for (int c = 0; c < x->sums.n; c++) {
		struct nsx_table_cell cell = nsx_table_get(x->t, row, x->sums.of[c].at);

		if (!cell.has)
			continue;
		to->sums[c] = nsx_add_sat(to->sums[c], cell.v.i, NULL);
		if (x->sums.of[c].at == x->main)
			to->main = to->sums[c];
	}
}

static struct total
total_of(const struct grouping *x, size_t group)
{
	const struct nsx_device_group *g = &x->g->list.p[group];
	struct total to = { .group = group };

	for (size_t i = 0; i < g->n; i++)
		for (uint32_t key = 0; key < x->first.n; key++) {
			uint32_t row = row_at(x, key, x->g->devices.p[g->first + i]);

			if (row != NSX_NONE)
				add_to_total(x, row, &to);
		}
	return to;
}

/* Lines of groups, if there are several kinds of rows, the first by the main column, and one of all devices: groups
 * along several axes have each device several times. False when out of memory. */
static bool
tell_totals(const struct grouping *x, const struct nsx_grouping *by, struct nsx_table *t)
{
	size_t n = x->first.n > 1 ? x->g->list.n : 0;
	struct total *list = calloc(n + 1, sizeof *list), all = { .group = 0 };
	struct nsx_buf of = { 0 };
	bool good = list;

	for (size_t i = 0; good && i < n; i++)
		list[i] = total_of(x, i);
	if (good)
		nsx_sort(list, n, by_main);
	for (size_t i = 0; good && i < n && i < TOLD; i++) {
		const struct nsx_device_group *g = &x->g->list.p[list[i].group];

		of.len = 0;
		nsx_buf_c(&of, " of");
		if (nsx_grouping_has_axes(by)) {
			nsx_buf_c(&of, " axis ");
			nsx_buf_str(&of, nsx_intern_str(&x->g->names, g->axis));
		}
		if (nsx_grouping_column(by)) {
			nsx_buf_fmt(&of, " %s ", nsx_grouping_column(by));
			nsx_buf_str(&of, nsx_intern_str(&x->g->names, g->name));
		} else {
			nsx_buf_c(&of, ", devices ");
			nsx_ranges_put(x->g->devices.p + g->first, g->n, &of);
		}
		if (!of.failed)
			x->def->total(t, nsx_buf_view(&of), list[i].sums);
		good = !of.failed;
	}
	if (n > TOLD)
		nsx_table_note(t, "... and %zu more group%s", n - TOLD, n - TOLD == 1 ? "" : "s");
	for (size_t row = 0; row < nsx_table_rows(x->t); row++)
		add_to_total(x, row, &all);
	if (good && nsx_table_rows(x->t))
		x->def->total(t, NSX_STR(""), all.sums);
	nsx_buf_free(&of);
	free(list);
	return good;
}

/* Of groups of one device each, percentiles and the maximum are that device's value, as the mean is. */
static void
spare_places(const struct grouping *x, const struct shape *s, struct nsx_table *t)
{
	size_t most = 0;

	for (size_t i = 0; i < x->rows.n; i++)
		most = x->g->list.p[x->rows.p[i].group].n > most ? x->g->list.p[x->rows.p[i].group].n : most;
	for (int i = 1; most == 1 && i < PLACES; i++)
		nsx_table_spare(t, s->cols[s->main + i].name);
}

static struct nsx_table *
make_table(struct grouping *x, const struct nsx_grouping *by, enum nsx_cell type, struct nsx_err *err)
{
	struct shape s = shape_of(x, by, type);
	struct nsx_table *t = nsx_table_new_copy(s.cols, s.n);
	struct nsx_buf text = { 0 };
	int rc = t ? NSX_OK : nsx_err_nomem(err, NULL);

	for (size_t i = 0; rc == NSX_OK && i < x->rows.n; i++) {
		const struct new *r = &x->rows.p[i];
		const struct nsx_device_group *g = &x->g->list.p[r->group];

		nsx_table_row(t);
		if (s.axis >= 0)
			nsx_table_str(t, s.axis, nsx_intern_str(&x->g->names, g->axis));
		if (s.name >= 0)
			nsx_table_str(t, s.name, nsx_intern_str(&x->g->names, g->name));
		nsx_table_int(t, s.members, (int64_t)g->n);
		text.len = 0;
		nsx_ranges_put(x->g->devices.p + g->first, g->n, &text);
		nsx_table_str(t, s.members + 1, nsx_buf_view(&text));
		put_keys(x, &s, r->key, t);
		rc = text.failed ? nsx_err_nomem(err, NULL) : put_sums(x, &s, r, t, err);
		collect(x, r->key, g, type);
		put_main(x, &s, type, t);
	}
	nsx_buf_free(&text);
	if (rc == NSX_OK && x->def->total && !tell_totals(x, by, t))
		rc = nsx_err_nomem(err, NULL);
	if (rc == NSX_OK) {
		rank(x, &s, t);
		head(t, s.n);
		spare_places(x, &s, t);
		return t;
	}
	nsx_table_free(t);
	return NULL;
}

static void
say_unknown(const struct grouping *x, const struct nsx_grouping *by, struct nsx_diags *diags)
{
	static const char *const why[] = {
		[NSX_BY_NODE] = "devices of unknown machines: nsysx-extract --host records their names",
		[NSX_BY_RACK] = "devices of machines whose names are not known, or have no part that machines share: "
		                "nsysx-extract --host records names",
		[NSX_BY_PARTITION] = "devices without the number of a partition",
		[NSX_BY_GROUP] = "devices in none of the groups along an axis",
		[NSX_BY_AXIS] = "devices without a place",
		[NSX_BY_BLOCK] = "devices without a number"
	};
	int64_t n = 0;

	for (size_t i = 0; i < x->g->list.n; i++)
		n += x->g->list.p[i].known ? 0 : (int64_t)x->g->list.p[i].n;
	nsx_diag_add(diags, NSX_WARNING, "", n, "%s", why[by->by]);
	if (!x->g->list.n && x->devices.n)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no replica groups and no communicators whose devices are known: nsysx-extract -x DIR "
		             "reads groups from the HLO dump");
}

int
nsx_table_by_groups(struct nsx_table **table, const struct nsx_by_groups *def, const struct nsx_grouping *by,
                    struct nsx_device_groups *g, struct nsx_diags *diags, struct nsx_err *err)
{
	struct grouping x = { .t = *table, .def = def, .g = g, .keys = columns_of(*table, def->keys),
	                      .sums = columns_of(*table, def->sums), .means = columns_of(*table, def->means),
	                      .device = nsx_table_named(*table, NSX_STR("device")),
	                      .main = nsx_table_named(*table, nsx_str_c(def->main)) };
	size_t ncols;
	const struct nsx_table_col *cols = nsx_table_columns(*table, &ncols);
	struct nsx_table *made = NULL;

	assert(x.device < ncols && x.main < ncols);
	if (nsx_table_failed(*table) || !take_rows(&x))
		nsx_err_nomem(err, NULL);
	else if (nsx_device_groups_make(g, by, x.devices.p, x.devices.n) == NSX_OK) {
		if (!make_rows(&x, cols[x.main].type))
			nsx_err_nomem(err, NULL);
		else
			made = make_table(&x, by, cols[x.main].type, err);
		say_unknown(&x, by, diags);
	}
	nsx_intern_free(&x.texts);
	nsx_map_free(&x.at);
	free(x.first.p);
	free(x.devices.p);
	free(x.rows.p);
	free(x.values.p);
	if (!made)
		return NSX_ERR;
	if (def->notes)
		nsx_table_notes_of(made, *table);
	nsx_table_free(*table);
	*table = made;
	return NSX_OK;
}
