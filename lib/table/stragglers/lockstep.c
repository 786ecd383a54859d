/* lockstep.c -- how far each device is from the mean of all when they run the same program.
 *
 * A thunk has two edges, its start and its end. In one execution the bias of a device at an edge is its time less the mean over
 * the devices. Biases are kept in whole 1024ths of a nanosecond, so that sums depend on no order. What is held of a thunk, once all
 * devices have executed it, is a number or three for each device. */
#include <stdlib.h>
#include <string.h>

#include "table/stragglers/rows.h"
#include "base/num.h"
#include "base/stat.h"

enum { UNIT = 1024, START = 0, END = 1 };

enum { D_PROGRAM, D_ID, D_DEVICE, D_EXECUTIONS, D_BIAS_MEAN, D_BIAS_MAX, D_BIAS_SUM, D_RANK, D_NCOLS };

static const struct nsx_table_col device_cols[D_NCOLS] = {
	[D_PROGRAM]    = { "program", NSX_CELL_STRING },
	[D_ID]         = { "id", NSX_CELL_INT },
	[D_DEVICE]     = { "device", NSX_CELL_INT },
	[D_EXECUTIONS] = { "executions", NSX_CELL_INT },
	[D_BIAS_MEAN]  = { "bias_mean", NSX_CELL_MEAN_NS },
	[D_BIAS_MAX]   = { "bias_max", NSX_CELL_MEAN_NS },
	[D_BIAS_SUM]   = { "bias_sum", NSX_CELL_MEAN_NS },
	[D_RANK]       = { "rank", NSX_CELL_INT },
};

enum { C_PROGRAM, C_ID, C_NAME, C_OCCURRENCE, C_EDGE, C_TIME, C_MIN, C_MAX, C_STD, C_NCOLS };

static const struct nsx_table_col curve_cols[C_NCOLS] = {
	[C_PROGRAM]    = { "program", NSX_CELL_STRING },
	[C_ID]         = { "id", NSX_CELL_INT },
	[C_NAME]       = { "name", NSX_CELL_STRING },
	[C_OCCURRENCE] = { "occurrence", NSX_CELL_INT },
	[C_EDGE]       = { "edge", NSX_CELL_STRING },
	[C_TIME]       = { "time", NSX_CELL_MEAN_NS },
	[C_MIN]        = { "min", NSX_CELL_MEAN_NS },
	[C_MAX]        = { "max", NSX_CELL_MEAN_NS },
	[C_STD]        = { "std", NSX_CELL_MEAN_NS },
};

/* A device of a unit. */
struct member {
	int64_t  device, executions, biases, worst;
	__int128 sum, worst_sum;
};

/* A program on devices of one clock. */
struct unit {
	uint32_t program, clock;
	NSX_VEC(struct member) members;
};

/* Modules' starts in one execution of a unit. */
struct origin { __int128 sum; int64_t n; };

/* One occurrence of an instruction. */
struct thing { uint32_t program, name; int64_t inst, occurrence; };

/* A thing of a unit, with numbers for each member at START and END: 2 * member + edge. */
struct spot {
	uint32_t unit, thing, cap;    /* cap: members there is room for */
	int64_t *worst;               /* largest absolute bias */
	int64_t *sum, *n;             /* for a curve alone */
	struct nsx_stat all[2];
	struct nsx_stat time[2];      /* mean over devices since the mean start of the modules */
};

struct lockstep {
	struct nsx_late  *late;
	struct nsx_meet   meet;       /* keys: thing, execution */
	struct nsx_intern names;
	struct nsx_map    inst_of, thing_of, unit_of, member_of, origin_of, spot_of, executed;
	NSX_VEC(struct unit)   units;
	NSX_VEC(struct origin) origins;
	NSX_VEC(struct thing)  things;
	NSX_VEC(struct spot)   spots;
	bool              any_thunk;
	int64_t           alone;      /* executions of thunks on one device */
};

static int
nomem(struct lockstep *f)
{
	return nsx_err_nomem(f->late->err, NULL);
}

/* num / den in 1024ths, rounded to the nearest. */
static int64_t
fixed(__int128 num, int64_t den)
{
	__int128 twice = num * (2 * UNIT), q = (twice < 0 ? twice - den : twice + den) / (2 * (__int128)den);

	return q > INT64_MAX ? INT64_MAX : q < -INT64_MAX ? -INT64_MAX : (int64_t)q;
}

static int64_t
size_of(int64_t v)
{
	return v < 0 ? -v : v;
}

static struct unit *
unit_at(struct lockstep *f, uint32_t program, uint32_t clock)
{
	uint32_t at = nsx_late_dense(&f->unit_of, program, clock);

	if (at != NSX_NONE && at == f->units.n
	    && !nsx_vec_push(&f->units, ((struct unit){ .program = program, .clock = clock })))
		return NULL;
	return at == NSX_NONE ? NULL : &f->units.p[at];
}

/* The number of the device in a unit; NSX_NONE when out of memory. */
static uint32_t
member_at(struct lockstep *f, struct unit *u, int64_t device)
{
	uint32_t *at = nsx_map_at(&f->member_of, (struct nsx_key){ (uint64_t)(u - f->units.p), (uint64_t)device });

	if (at && *at == NSX_NONE && nsx_vec_push(&u->members, ((struct member){ .device = device })))
		*at = (uint32_t)(u->members.n - 1);
	return at ? *at : NSX_NONE;
}

static struct origin *
origin_at(struct lockstep *f, const struct unit *u, int64_t execution)
{
	uint32_t at = nsx_late_dense(&f->origin_of, (uint64_t)(u - f->units.p), (uint64_t)execution);

	if (at != NSX_NONE && at == f->origins.n && !nsx_vec_push(&f->origins, ((struct origin){ 0 })))
		return NULL;
	return at == NSX_NONE ? NULL : &f->origins.p[at];
}

/* *p with room for n numbers instead of `had`, new ones 0; false when out of memory. */
static bool
widen(int64_t **p, size_t had, size_t n)
{
	int64_t *wide = realloc(*p, n * sizeof *wide);

	if (!wide)
		return false;
	memset(wide + had, 0, (n - had) * sizeof *wide);
	*p = wide;
	return true;
}

/* The spot of a thing in a unit, with room for all members; NULL when out of memory. */
static struct spot *
spot_at(struct lockstep *f, const struct unit *u, uint32_t thing)
{
	uint32_t unit = (uint32_t)(u - f->units.p), at = nsx_late_dense(&f->spot_of, unit, thing);
	bool curve = f->late->options.show == NSX_STRAGGLERS_CURVE;

	if (at == NSX_NONE
	    || (at == f->spots.n && !nsx_vec_push(&f->spots, ((struct spot){ .unit = unit, .thing = thing }))))
		return NULL;
	struct spot *s = &f->spots.p[at];
	size_t had = 2 * (size_t)s->cap, n = 2 * u->members.n;
	if (n > had) {
		if (!widen(&s->worst, had, n) || (curve && (!widen(&s->sum, had, n) || !widen(&s->n, had, n))))
			return NULL;
		s->cap = (uint32_t)u->members.n;
	}
	return s;
}

/* One edge of a thing that n devices of one clock executed. */
static void
add_edge(struct spot *s, struct unit *u, int edge, const struct nsx_meet_part *parts, size_t n, const uint32_t *members,
         const struct origin *from)
{
	__int128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += edge == START ? parts[i].start : parts[i].end;
	for (size_t i = 0; i < n; i++) {
		struct member *m = &u->members.p[members[i]];
		size_t at = 2 * (size_t)members[i] + (size_t)edge;
		int64_t bias = fixed((__int128)(edge == START ? parts[i].start : parts[i].end) * (int64_t)n - sum, (int64_t)n);

		m->biases++;
		m->sum += bias;
		m->worst = size_of(bias) > m->worst ? size_of(bias) : m->worst;
		s->worst[at] = size_of(bias) > s->worst[at] ? size_of(bias) : s->worst[at];
		if (s->sum) {
			s->sum[at] = nsx_add_sat(s->sum[at], bias, NULL);
			s->n[at]++;
			nsx_stat_add(&s->all[edge], bias);
		}
	}
	if (s->sum && from->n)
		nsx_stat_add(&s->time[edge], nsx_sub_sat(fixed(sum, (int64_t)n), fixed(from->sum, from->n), NULL));
}

/* What n devices of one clock did of a thing. */
static int
add_parts(struct lockstep *f, uint32_t thing, int64_t execution, const struct nsx_meet_part *parts, size_t n)
{
	struct unit *u = unit_at(f, f->things.p[thing].program, parts->clock);
	const struct origin *from = u ? origin_at(f, u, execution) : NULL;
	uint32_t *members = from ? malloc(n * sizeof *members) : NULL;
	struct spot *s;

	if (!members)
		return nomem(f);
	for (size_t i = 0; i < n; i++) {
		members[i] = member_at(f, u, parts[i].device);
		uint32_t *seen = members[i] == NSX_NONE ? NULL : nsx_map_at(&f->executed, (struct nsx_key){
			(uint64_t)(u - f->units.p) << 32 | members[i], (uint64_t)execution });
		if (!seen) {
			free(members);
			return nomem(f);
		}
		u->members.p[members[i]].executions += *seen == NSX_NONE;
		*seen = 1;
	}
	s = spot_at(f, u, thing);
	if (s) {
		add_edge(s, u, START, parts, n, members, from);
		add_edge(s, u, END, parts, n, members, from);
	}
	free(members);
	return s ? NSX_OK : nomem(f);
}

static int
part_cmp(const void *pa, const void *pb)
{
	const struct nsx_meet_part *a = pa, *b = pb;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static int
whole(void *state, struct nsx_key key, struct nsx_meet_part *parts, size_t n)
{
	struct lockstep *f = state;

	qsort(parts, n, sizeof *parts, part_cmp);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && parts[k].clock == parts[i].clock; k++)
			;
		if (parts[k - 1].device == parts[i].device)
			f->alone++;
		else if (add_parts(f, (uint32_t)key.a, (int64_t)key.b, parts + i, k - i) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static void *
lockstep_open(struct nsx_late *late)
{
	struct lockstep *f = calloc(1, sizeof *f);

	if (!f) {
		nsx_err_nomem(late->err, NULL);
		return NULL;
	}
	f->late = late;
	f->meet = (struct nsx_meet){ .whole = whole, .state = f };
	return f;
}

static void
lockstep_free(void *state)
{
	struct lockstep *f = state;

	if (!f)
		return;
	for (size_t i = 0; i < f->units.n; i++)
		free(f->units.p[i].members.p);
	for (size_t i = 0; i < f->spots.n; i++) {
		free(f->spots.p[i].worst);
		free(f->spots.p[i].sum);
		free(f->spots.p[i].n);
	}
	nsx_meet_free(&f->meet);
	nsx_intern_free(&f->names);
	nsx_map_free(&f->inst_of);
	nsx_map_free(&f->thing_of);
	nsx_map_free(&f->unit_of);
	nsx_map_free(&f->member_of);
	nsx_map_free(&f->origin_of);
	nsx_map_free(&f->spot_of);
	nsx_map_free(&f->executed);
	free(f->units.p);
	free(f->origins.p);
	free(f->things.p);
	free(f->spots.p);
	free(f);
}

static int
take_module(void *state, const struct nsx_rec *rec, uint32_t program, uint32_t clock)
{
	struct lockstep *f = state;
	struct unit *u = unit_at(f, program, clock);
	struct origin *o = u ? origin_at(f, u, nsx_int(rec, NSX_MODULE_execution, -1)) : NULL;

	if (!o)
		return nomem(f);
	if (nsx_has(rec, NSX_MODULE_start)) {
		o->sum += rec->v[NSX_MODULE_start].i;
		o->n++;
	}
	return NSX_OK;
}

static int
take_thunk(void *state, const struct nsx_rec *rec, const struct nsx_meet_part *part)
{
	struct lockstep *f = state;
	int64_t inst = nsx_int(rec, NSX_THUNK_inst, INT64_MIN);
	int64_t occurrence = nsx_int(rec, NSX_THUNK_occurrence, -1);
	uint32_t program, at;

	if (nsx_is_comm(&f->late->comm, rec))
		return NSX_OK;
	f->any_thunk = true;
	program = nsx_top_program(&f->late->top, rec);
	if (program == NSX_NONE)
		return nomem(f);
	if (!nsx_late_wanted(f->late, program))
		return NSX_OK;
	at = nsx_late_dense(&f->inst_of, program, (uint64_t)inst);
	if (at != NSX_NONE)
		at = nsx_late_dense(&f->thing_of, at, (uint64_t)occurrence);
	if (at != NSX_NONE && at == f->things.n) {
		struct thing t = { program, nsx_intern(&f->names, nsx_string(rec, NSX_THUNK_name)), inst, occurrence };

		if (t.name == NSX_NONE || !nsx_vec_push(&f->things, t))
			at = NSX_NONE;
	}
	if (at == NSX_NONE)
		return nomem(f);
	return nsx_meet_add(&f->meet, (struct nsx_key){ at, (uint64_t)nsx_int(rec, NSX_THUNK_execution, -1) }, part,
	                    nsx_crew_of(&f->late->crew, nsx_int(rec, NSX_THUNK_program, NSX_ABSENT)), f->late->err);
}

/* ---- tables ---- */

/* What orders units: the longest program first, then the lowest device. */
struct order { nsx_u128 time; struct nsx_str key; int64_t program, device; uint32_t unit; };

static int
order_cmp(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	int c = nsx_str_cmp(a->key, b->key);

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (c == 0)
		c = (a->program > b->program) - (a->program < b->program);
	return c ? c : (a->device > b->device) - (a->device < b->device);
}

static int
rank_cmp(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	if (a->worst_sum != b->worst_sum)
		return a->worst_sum > b->worst_sum ? -1 : 1;
	/* Always so of two devices: then the later of them. */
	double x = (double)a->sum / (double)a->biases, y = (double)b->sum / (double)b->biases;
	if (x != y)
		return x > y ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

/* Units that have members, in the order of rows; NULL when out of memory. */
static struct order *
order_units(const struct lockstep *f, size_t *n)
{
	struct order *rows = malloc((f->units.n + 1) * sizeof *rows);

	*n = 0;
	for (size_t i = 0; rows && i < f->units.n; i++) {
		const struct unit *u = &f->units.p[i];
		const struct nsx_cat_program *p = &f->late->comm.cat.programs.p[u->program];
		struct order o = { f->late->top.programs.p[u->program].modules, nsx_cat_str(&f->late->comm.cat, p->key), p->number, INT64_MAX, (uint32_t)i };

		for (size_t k = 0; k < u->members.n; k++)
			o.device = u->members.p[k].device < o.device ? u->members.p[k].device : o.device;
		if (u->members.n)
			rows[(*n)++] = o;
	}
	if (*n > 1)
		qsort(rows, *n, sizeof *rows, order_cmp);
	return rows;
}

static void
put_program(const struct lockstep *f, struct nsx_table *t, const struct unit *u)
{
	int64_t id = f->late->comm.cat.programs.p[u->program].id;

	/* Both tables begin with these. */
	nsx_table_row(t);
	nsx_table_str(t, D_PROGRAM, nsx_cat_str(&f->late->comm.cat, nsx_top_name(&f->late->top, u->program)));
	if (id != NSX_ABSENT)
		nsx_table_int(t, D_ID, id);
}

static void
put_members(const struct lockstep *f, struct nsx_table *t, struct unit *u)
{
	qsort(u->members.p, u->members.n, sizeof *u->members.p, rank_cmp);
	for (size_t i = 0; i < u->members.n; i++) {
		const struct member *m = &u->members.p[i];

		put_program(f, t, u);
		if (m->device != INT64_MIN)
			nsx_table_int(t, D_DEVICE, m->device);
		nsx_table_int(t, D_EXECUTIONS, m->executions);
		nsx_table_double(t, D_BIAS_MEAN, (double)m->sum / (double)m->biases / UNIT);
		nsx_table_double(t, D_BIAS_MAX, (double)m->worst / UNIT);
		nsx_table_double(t, D_BIAS_SUM, (double)m->worst_sum / UNIT);
		nsx_table_int(t, D_RANK, (int64_t)i + 1);
	}
}

static int
put_devices(struct lockstep *f, struct nsx_stragglers *out, const struct order *rows, size_t n)
{
	out->table = nsx_table_new(device_cols, D_NCOLS);
	if (!out->table)
		return nomem(f);
	for (size_t i = 0; i < f->spots.n; i++) {
		const struct spot *s = &f->spots.p[i];

		for (size_t k = 0; k < 2 * (size_t)s->cap; k++)
			f->units.p[s->unit].members.p[k / 2].worst_sum += s->worst[k];
	}
	for (size_t i = 0; i < n; i++)
		put_members(f, out->table, &f->units.p[rows[i].unit]);
	return NSX_OK;
}

/* The devices of the curve's columns: all members of all units, each once, ascending. */
struct columns { NSX_VEC(int64_t) devices; };

static int
int_cmp(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

static bool
list_devices(const struct lockstep *f, struct columns *c)
{
	size_t n = 0;

	for (size_t i = 0; i < f->units.n; i++)
		for (size_t k = 0; k < f->units.p[i].members.n; k++)
			if (!nsx_vec_push(&c->devices, f->units.p[i].members.p[k].device))
				return false;
	if (c->devices.n)
		qsort(c->devices.p, c->devices.n, sizeof *c->devices.p, int_cmp);
	for (size_t i = 0; i < c->devices.n; i++)
		if (i == 0 || c->devices.p[i] != c->devices.p[n - 1])
			c->devices.p[n++] = c->devices.p[i];
	c->devices.n = n;
	return true;
}

/* The table's columns: the fixed ones, then bias_DEVICE for each; names stand behind them in one block. NULL when out of memory. */
static struct nsx_table_col *
make_columns(const struct columns *c)
{
	enum { LONGEST = sizeof "bias_" + NSX_INT_CHARS };
	size_t ncols = C_NCOLS + c->devices.n;
	struct nsx_table_col *cols = malloc(ncols * sizeof *cols + c->devices.n * LONGEST);

	if (!cols)
		return NULL;
	memcpy(cols, curve_cols, sizeof curve_cols);
	for (size_t i = 0; i < c->devices.n; i++) {
		char *name = (char *)(cols + ncols) + i * LONGEST;

		memcpy(name, "bias_", 5);
		*(c->devices.p[i] == INT64_MIN ? name + 5 : nsx_put_int(name + 5, c->devices.p[i])) = '\0';
		cols[C_NCOLS + i] = (struct nsx_table_col){ name, NSX_CELL_MEAN_NS };
	}
	return cols;
}

static void
put_edge(const struct lockstep *f, struct nsx_table *t, const struct spot *s, int edge, const struct columns *c)
{
	const struct unit *u = &f->units.p[s->unit];
	const struct thing *thing = &f->things.p[s->thing];
	const struct nsx_stat *all = &s->all[edge];

	put_program(f, t, u);
	nsx_table_str(t, C_NAME, nsx_intern_str(&f->names, thing->name));
	if (thing->occurrence >= 0)
		nsx_table_int(t, C_OCCURRENCE, thing->occurrence);
	nsx_table_str(t, C_EDGE, nsx_str_c(edge == START ? "start" : "end"));
	if (s->time[edge].n)
		nsx_table_double(t, C_TIME, nsx_stat_mean(&s->time[edge]) / UNIT);
	nsx_table_double(t, C_MIN, (double)all->min / UNIT);
	nsx_table_double(t, C_MAX, (double)all->max / UNIT);
	nsx_table_double(t, C_STD, nsx_stat_std_all(all) / UNIT);
	for (size_t m = 0; m < s->cap; m++) {
		const int64_t *at = bsearch(&u->members.p[m].device, c->devices.p, c->devices.n, sizeof *at, int_cmp);
		size_t k = 2 * m + (size_t)edge;

		if (s->n[k])
			nsx_table_double(t, C_NCOLS + (int)(at - c->devices.p), (double)s->sum[k] / (double)s->n[k] / UNIT);
	}
}

/* What orders the edges of all units. */
struct point { size_t unit; double time; int64_t inst, occurrence; const struct spot *spot; int edge; };

static int
point_cmp(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->inst != b->inst)
		return a->inst < b->inst ? -1 : 1;
	if (a->occurrence != b->occurrence)
		return a->occurrence < b->occurrence ? -1 : 1;
	return a->edge - b->edge;
}

static int
put_points(struct lockstep *f, struct nsx_stragglers *out, const struct order *rows, size_t n, const struct columns *c)
{
	struct point *points = malloc((2 * f->spots.n + 1) * sizeof *points);
	size_t *place = calloc(f->units.n + 1, sizeof *place), k = 0;

	out->cols = make_columns(c);
	if (out->cols)
		out->table = nsx_table_new(out->cols, C_NCOLS + (int)c->devices.n);
	if (!points || !place || !out->table) {
		free(points);
		free(place);
		return nomem(f);
	}
	for (size_t i = 0; i < n; i++)
		place[rows[i].unit] = i;
	for (size_t i = 0; i < f->spots.n; i++)
		for (int edge = START; edge <= END; edge++) {
			const struct spot *s = &f->spots.p[i];
			const struct thing *t = &f->things.p[s->thing];
			double time = s->time[edge].n ? nsx_stat_mean(&s->time[edge]) : 0;

			points[k++] = (struct point){ place[s->unit], time, t->inst, t->occurrence, s, edge };
		}
	if (k > 1)
		qsort(points, k, sizeof *points, point_cmp);
	for (size_t i = 0; i < k; i++)
		put_edge(f, out->table, points[i].spot, points[i].edge, c);
	free(points);
	free(place);
	return NSX_OK;
}

static int
put_curve(struct lockstep *f, struct nsx_stragglers *out, const struct order *rows, size_t n)
{
	struct columns c = { { 0 } };
	int rc = list_devices(f, &c) ? put_points(f, out, rows, n, &c) : nomem(f);

	free(c.devices.p);
	return rc;
}

static int
lockstep_finish(void *state, struct nsx_stragglers *out, struct nsx_diags *diags)
{
	struct lockstep *f = state;
	int rc = nsx_meet_rest(&f->meet, f->late->err);
	size_t n = 0;
	struct order *rows = rc == NSX_OK ? order_units(f, &n) : NULL;

	if (rc == NSX_OK && !rows)
		rc = nomem(f);
	if (rc == NSX_OK)
		rc = f->late->options.show == NSX_STRAGGLERS_CURVE ? put_curve(f, out, rows, n) : put_devices(f, out, rows, n);
	free(rows);
	if (!f->any_thunk)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no thunk records of computation: nothing to compare");
	nsx_diag_add(diags, n ? NSX_INFO : NSX_WARNING, "", f->alone, "executions of thunks on one device alone: nothing to compare them with");
	return rc;
}

const struct nsx_later nsx_late_lockstep = { lockstep_open, take_module, take_thunk, lockstep_finish, lockstep_free };
