/* lockstep.c -- how far each device is from the mean of all when they run the same program.
 *
 * A thunk has two edges, its start and its end. In one execution the bias of a device at an edge is its time less the
 * mean over the devices that ran it on one clock:
 *
 *   device 0   thunk a  100..140     bias at the start -5, at the end -6
 *   device 1   thunk a  110..152     bias at the start +5, at the end +6
 *   device 0   thunk b  200..230     held until device 1 has run b too
 *   end of the stream                b ran on one device: counted as nothing to compare with
 *
 * A device's bias_mean is over all edges of all executions (device 0: -5.5); bias_sum adds, over the edges of a
 * program, the largest absolute bias that it had there (11); who has the largest is ranked first. Biases are kept in
 * whole 1024ths of a nanosecond, so that sums depend on no order. What is held of a thunk, once all devices have
 * executed it, is a number or three for each device. */
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

/* A device among its peers. */
struct member {
	int64_t  device, executions, biases, worst;
	__int128 sum, worst_sum;
};

/* The devices of one clock that run a program. */
struct peers {
	uint32_t program, clock;      /* program: in the catalogue */
	NSX_VEC(struct member) members;
};

/* Modules' starts in one execution of a program by peers. */
struct module_starts { __int128 sum; int64_t n; };

/* One occurrence of an instruction in an execution. */
struct occurrence { uint32_t program, inst, name; int64_t number; };   /* program and inst: in the catalogue */

/* What peers had at an occurrence, with numbers for each member at START and END: 2 * member + edge. */
struct biases {
	uint32_t peers, occurrence, cap;   /* cap: members there is room for */
	int64_t *worst;               /* largest absolute bias */
	int64_t *sum, *n;             /* for a curve alone */
	struct nsx_stat all[2];
	struct nsx_stat time[2];      /* mean over devices since the mean start of the modules */
};

struct lockstep {
	struct nsx_late  *late;
	struct nsx_instances instances;   /* of struct nsx_late_record; keys: occurrence, execution */
	struct nsx_intern names;
	struct nsx_map    occurrence_of, peers_of, member_of, starts_of, biases_of, executed;
	NSX_VEC(struct peers)  peers;
	NSX_VEC(struct module_starts) starts;
	NSX_VEC(struct occurrence) occurrences;
	NSX_VEC(struct biases) biases;
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

static struct peers *
peers_at(struct lockstep *f, uint32_t program, uint32_t clock)
{
	uint32_t at = nsx_map_number(&f->peers_of, (struct nsx_key){ program, clock });

	if (at != NSX_NONE && at == f->peers.n
	    && !nsx_vec_push(&f->peers, ((struct peers){ .program = program, .clock = clock })))
		return NULL;
	return at == NSX_NONE ? NULL : &f->peers.p[at];
}

/* The number of the device among its peers; NSX_NONE when out of memory. */
static uint32_t
member_at(struct lockstep *f, struct peers *u, int64_t device)
{
	uint32_t *at = nsx_map_at(&f->member_of, (struct nsx_key){ (uint64_t)(u - f->peers.p), (uint64_t)device });

	if (at && *at == NSX_NONE && nsx_vec_push(&u->members, ((struct member){ .device = device })))
		*at = (uint32_t)(u->members.n - 1);
	return at ? *at : NSX_NONE;
}

static struct module_starts *
starts_at(struct lockstep *f, const struct peers *u, int64_t execution)
{
	uint32_t at = nsx_map_number(&f->starts_of, (struct nsx_key){ (uint64_t)(u - f->peers.p),
		(uint64_t)execution });

	if (at != NSX_NONE && at == f->starts.n && !nsx_vec_push(&f->starts, ((struct module_starts){ 0 })))
		return NULL;
	return at == NSX_NONE ? NULL : &f->starts.p[at];
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

/* The biases of peers at an occurrence, with room for all members; NULL when out of memory. */
static struct biases *
biases_at(struct lockstep *f, const struct peers *u, uint32_t occurrence)
{
	uint32_t peers = (uint32_t)(u - f->peers.p), at = nsx_map_number(&f->biases_of, (struct nsx_key){ peers,
		occurrence });
	bool curve = f->late->options.show == NSX_STRAGGLERS_CURVE;

	if (at == NSX_NONE
	    || (at == f->biases.n && !nsx_vec_push(&f->biases,
	                                           ((struct biases){ .peers = peers, .occurrence = occurrence }))))
		return NULL;
	struct biases *s = &f->biases.p[at];
	size_t had = 2 * (size_t)s->cap, n = 2 * u->members.n;
	if (n > had) {
		if (!widen(&s->worst, had, n) || (curve && (!widen(&s->sum, had, n) || !widen(&s->n, had, n))))
			return NULL;
		s->cap = (uint32_t)u->members.n;
	}
	return s;
}

/* One edge of an occurrence that n devices of one clock executed. */
static void
add_edge(struct biases *s, struct peers *u, int edge, const struct nsx_late_record *of, size_t n,
         const uint32_t *members,
         const struct module_starts *from)
{
	__int128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += edge == START ? of[i].start : of[i].end;
	for (size_t i = 0; i < n; i++) {
		struct member *m = &u->members.p[members[i]];
		size_t at = 2 * (size_t)members[i] + (size_t)edge;
		int64_t bias = fixed((__int128)(edge == START ? of[i].start : of[i].end) * (int64_t)n - sum,
		                     (int64_t)n);

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

/* What n devices of one clock recorded of an occurrence. */
static int
add_records(struct lockstep *f, uint32_t occurrence, int64_t execution, const struct nsx_late_record *of, size_t n)
{
	struct peers *u = peers_at(f, f->occurrences.p[occurrence].program, of->clock);
	const struct module_starts *from = u ? starts_at(f, u, execution) : NULL;
	uint32_t *members = from ? malloc(n * sizeof *members) : NULL;
	struct biases *s;

	if (!members)
		return nomem(f);
	for (size_t i = 0; i < n; i++) {
		members[i] = member_at(f, u, of[i].device);
		uint32_t *seen = members[i] == NSX_NONE ? NULL : nsx_map_at(&f->executed, (struct nsx_key){
			(uint64_t)(u - f->peers.p) << 32 | members[i], (uint64_t)execution });
		if (!seen) {
			free(members);
			return nomem(f);
		}
		u->members.p[members[i]].executions += *seen == NSX_NONE;
		*seen = 1;
	}
	s = biases_at(f, u, occurrence);
	if (s) {
		add_edge(s, u, START, of, n, members, from);
		add_edge(s, u, END, of, n, members, from);
	}
	free(members);
	return s ? NSX_OK : nomem(f);
}

static int
record_cmp(const void *pa, const void *pb)
{
	const struct nsx_late_record *a = pa, *b = pb;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct lockstep *f = state;
	struct nsx_late_record *of = records;

	qsort(of, n, sizeof *of, record_cmp);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && of[k].clock == of[i].clock; k++)
			;
		if (of[k - 1].device == of[i].device)
			f->alone++;
		else if (add_records(f, (uint32_t)key.a, (int64_t)key.b, of + i, k - i) != NSX_OK)
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
	f->instances = (struct nsx_instances){ .size = sizeof(struct nsx_late_record), .complete = complete,
	                                       .state = f };
	return f;
}

static void
lockstep_free(void *state)
{
	struct lockstep *f = state;

	if (!f)
		return;
	for (size_t i = 0; i < f->peers.n; i++)
		free(f->peers.p[i].members.p);
	for (size_t i = 0; i < f->biases.n; i++) {
		free(f->biases.p[i].worst);
		free(f->biases.p[i].sum);
		free(f->biases.p[i].n);
	}
	nsx_instances_free(&f->instances);
	nsx_intern_free(&f->names);
	nsx_map_free(&f->occurrence_of);
	nsx_map_free(&f->peers_of);
	nsx_map_free(&f->member_of);
	nsx_map_free(&f->starts_of);
	nsx_map_free(&f->biases_of);
	nsx_map_free(&f->executed);
	free(f->peers.p);
	free(f->starts.p);
	free(f->occurrences.p);
	free(f->biases.p);
	free(f);
}

static int
take_module(void *state, const struct nsx_rec *rec, uint32_t program, uint32_t clock)
{
	struct lockstep *f = state;
	struct peers *u = peers_at(f, program, clock);
	struct module_starts *o = u ? starts_at(f, u, nsx_int(rec, NSX_MODULE_execution, -1)) : NULL;

	if (!o)
		return nomem(f);
	if (nsx_has(rec, NSX_MODULE_start)) {
		o->sum += rec->v[NSX_MODULE_start].i;
		o->n++;
	}
	return NSX_OK;
}

/* The occurrence that a thunk is of, one of the program of that index; NSX_NONE when out of memory. */
static uint32_t
occurrence_of(struct lockstep *f, const struct nsx_rec *thunk, uint32_t program)
{
	struct occurrence o = { program, nsx_cat_inst(&f->late->comm.cat, thunk), NSX_NONE,
	                        nsx_int(thunk, NSX_THUNK_occurrence, -1) };
	uint32_t at = o.inst == NSX_NONE ? o.inst : nsx_map_number(&f->occurrence_of, (struct nsx_key){ o.inst,
		(uint64_t)o.number });

	if (at != NSX_NONE && at == f->occurrences.n) {
		o.name = nsx_intern(&f->names, nsx_string(thunk, NSX_THUNK_name));
		if (o.name == NSX_NONE || !nsx_vec_push(&f->occurrences, o))
			return NSX_NONE;
	}
	return at;
}

static int
take_thunk(void *state, const struct nsx_rec *rec, const struct nsx_late_record *times)
{
	struct lockstep *f = state;
	const struct nsx_catalogue *cat = &f->late->comm.cat;
	uint32_t program, at;

	if (nsx_is_comm(&f->late->comm, rec))
		return NSX_OK;
	f->any_thunk = true;
	program = nsx_top_program(&f->late->top, rec);
	if (program == NSX_NONE)
		return nomem(f);
	if (!nsx_late_wanted(f->late, program))
		return NSX_OK;
	at = occurrence_of(f, rec, program);
	if (at == NSX_NONE)
		return nomem(f);
	struct nsx_key key = { at, (uint64_t)nsx_int(rec, NSX_THUNK_execution, -1) };

	return nsx_instances_add(&f->instances, key, times,
	                         nsx_cat_runners(cat, cat->insts.p[f->occurrences.p[at].inst].program), f->late->err);
}

/* ---- tables ---- */

/* What orders peers: the longest program first, then the lowest device. */
struct order { nsx_u128 time; struct nsx_str key; int64_t program, device; uint32_t peers; };

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

/* Peers that have members, in the order of rows; NULL when out of memory. */
static struct order *
order_peers(const struct lockstep *f, size_t *n)
{
	struct order *rows = malloc((f->peers.n + 1) * sizeof *rows);

	*n = 0;
	for (size_t i = 0; rows && i < f->peers.n; i++) {
		const struct peers *u = &f->peers.p[i];
		const struct nsx_cat_program *p = &f->late->comm.cat.programs.p[u->program];
		struct order o = { f->late->top.programs.p[u->program].modules, nsx_cat_str(&f->late->comm.cat, p->key),
		                   p->number, INT64_MAX, (uint32_t)i };

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
put_program(const struct lockstep *f, struct nsx_table *t, const struct peers *u)
{
	int64_t id = f->late->comm.cat.programs.p[u->program].id;

	/* Both tables begin with these. */
	nsx_table_row(t);
	nsx_table_str(t, D_PROGRAM, nsx_cat_str(&f->late->comm.cat, nsx_top_name(&f->late->top, u->program)));
	if (id != NSX_ABSENT)
		nsx_table_int(t, D_ID, id);
}

static void
put_members(const struct lockstep *f, struct nsx_table *t, struct peers *u)
{
	qsort(u->members.p, u->members.n, sizeof *u->members.p, rank_cmp);
	for (size_t i = 0; i < u->members.n; i++) {
		const struct member *m = &u->members.p[i];

		put_program(f, t, u);
		if (m->device != NSX_ABSENT)
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
	nsx_table_rank(out->table, "program device bias_mean rank bias_max executions");
	if (!out->table)
		return nomem(f);
	for (size_t i = 0; i < f->biases.n; i++) {
		const struct biases *s = &f->biases.p[i];

		for (size_t k = 0; k < 2 * (size_t)s->cap; k++)
			f->peers.p[s->peers].members.p[k / 2].worst_sum += s->worst[k];
	}
	for (size_t i = 0; i < n; i++)
		put_members(f, out->table, &f->peers.p[rows[i].peers]);
	return NSX_OK;
}

/* The devices of the curve's columns: all members of all peers, each once, ascending. */
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

	for (size_t i = 0; i < f->peers.n; i++)
		for (size_t k = 0; k < f->peers.p[i].members.n; k++)
			if (!nsx_vec_push(&c->devices, f->peers.p[i].members.p[k].device))
				return false;
	if (c->devices.n)
		qsort(c->devices.p, c->devices.n, sizeof *c->devices.p, int_cmp);
	for (size_t i = 0; i < c->devices.n; i++)
		if (i == 0 || c->devices.p[i] != c->devices.p[n - 1])
			c->devices.p[n++] = c->devices.p[i];
	c->devices.n = n;
	return true;
}

/* The table's columns: the fixed ones, then bias_DEVICE for each; names stand behind them in one block. NULL when out
 * of memory. */
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
		*(c->devices.p[i] == NSX_ABSENT ? name + 5 : nsx_put_int(name + 5, c->devices.p[i])) = '\0';
		cols[C_NCOLS + i] = (struct nsx_table_col){ name, NSX_CELL_MEAN_NS };
	}
	return cols;
}

static void
put_edge(const struct lockstep *f, struct nsx_table *t, const struct biases *s, int edge, const struct columns *c)
{
	const struct peers *u = &f->peers.p[s->peers];
	const struct occurrence *o = &f->occurrences.p[s->occurrence];
	const struct nsx_stat *all = &s->all[edge];

	put_program(f, t, u);
	nsx_table_str(t, C_NAME, nsx_intern_str(&f->names, o->name));
	if (o->number >= 0)
		nsx_table_int(t, C_OCCURRENCE, o->number);
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
			nsx_table_double(t, C_NCOLS + (int)(at - c->devices.p),
			                 (double)s->sum[k] / (double)s->n[k] / UNIT);
	}
}

/* What orders the edges of all peers. */
struct point { size_t peers; double time; int64_t inst, occurrence; const struct biases *biases; int edge; };

static int
point_cmp(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	if (a->peers != b->peers)
		return a->peers < b->peers ? -1 : 1;
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
	struct point *points = malloc((2 * f->biases.n + 1) * sizeof *points);
	size_t *rank = calloc(f->peers.n + 1, sizeof *rank), k = 0;

	out->cols = make_columns(c);
	if (out->cols)
		out->table = nsx_table_new(out->cols, C_NCOLS + (int)c->devices.n);
	nsx_table_rank(out->table, "name occurrence edge time min max std");
	if (!points || !rank || !out->table) {
		free(points);
		free(rank);
		return nomem(f);
	}
	for (size_t i = 0; i < n; i++)
		rank[rows[i].peers] = i;
	for (size_t i = 0; i < f->biases.n; i++)
		for (int edge = START; edge <= END; edge++) {
			const struct biases *s = &f->biases.p[i];
			const struct occurrence *o = &f->occurrences.p[s->occurrence];
			double time = s->time[edge].n ? nsx_stat_mean(&s->time[edge]) : 0;

			points[k++] = (struct point){ rank[s->peers], time, f->late->comm.cat.insts.p[o->inst].number,
			                              o->number, s, edge };
		}
	if (k > 1)
		qsort(points, k, sizeof *points, point_cmp);
	for (size_t i = 0; i < k; i++)
		put_edge(f, out->table, points[i].biases, points[i].edge, c);
	free(points);
	free(rank);
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
	int rc = nsx_instances_finish(&f->instances, f->late->err);
	size_t n = 0;
	struct order *rows = rc == NSX_OK ? order_peers(f, &n) : NULL;

	if (rc == NSX_OK && !rows)
		rc = nomem(f);
	if (rc == NSX_OK)
		rc = f->late->options.show == NSX_STRAGGLERS_CURVE ? put_curve(f, out, rows, n) : put_devices(f, out,
			rows, n);
	free(rows);
	if (!f->any_thunk)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no thunk records of computation: nothing to compare");
	nsx_diag_add(diags, n ? NSX_INFO : NSX_WARNING, "", f->alone,
	             "executions of thunks on one device alone: nothing to compare them with");
	return rc;
}

const struct nsx_later nsx_late_lockstep = { lockstep_open, take_module, take_thunk, lockstep_finish, lockstep_free };
