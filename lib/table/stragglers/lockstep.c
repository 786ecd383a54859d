/* lockstep.c -- how far each device is from the mean of all when they run the same program.
 *
 * A thunk has two edges, its start and its end. In one execution the bias of a device at an edge is its time less the
 * mean over the devices that ran it on one clock:
 *
 *   device 0   thunk a  100..140     bias at the start -5, at the end -6
 *   device 1   thunk a  110..152     bias at the start +5, at the end +6
 *   device 0   thunk b  200..230     kept until device 1 has run b too
 *   end of the stream                b ran on one device only: not compared
 *
 * bias_mean of a device is the mean over all edges of all executions (device 0: -5.5); bias_sum is the sum, over the
 * edges of a program, of the largest absolute bias of the device at the edge (11); the device with the largest bias_sum
 * has rank 1. Biases are kept in whole 1024ths of a nanosecond, so that sums do not depend on the order of records.
 * Once all devices have executed a thunk, one or three numbers for each device remain of it. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "table/stragglers/lockstep.h"

/* num / den in 1024ths, rounded to the nearest. */
static int64_t
fixed(__int128 num, int64_t den)
{
	__int128 twice = num * (2 * NSX_BIAS_UNIT), q = (twice < 0 ? twice - den : twice + den) / (2 * (__int128)den);

	return q > INT64_MAX ? INT64_MAX : q < -INT64_MAX ? -INT64_MAX : (int64_t)q;
}

static int64_t
size_of(int64_t v)
{
	return v < 0 ? -v : v;
}

static struct lag_peers *
peers_at(struct lockstep *f, uint32_t program, uint32_t clock)
{
	uint32_t at = nsx_map_number(&f->peers_of, (struct nsx_key){ program, clock });

	return nsx_vec_next(&f->peers, at, ((struct lag_peers){ .program = program, .clock = clock })) ? &f->peers.p[at]
	                                                                                           : NULL;
}

/* The number of the device among its peers; NSX_NONE when out of memory. */
static uint32_t
member_at(struct lockstep *f, struct lag_peers *u, int64_t device)
{
	uint32_t *at = nsx_map_at(&f->member_of, (struct nsx_key){ (uint64_t)(u - f->peers.p), (uint64_t)device });

	if (at && *at == NSX_NONE && nsx_vec_push(&u->members, ((struct lag_member){ .device = device })))
		*at = (uint32_t)(u->members.n - 1);
	return at ? *at : NSX_NONE;
}

static struct lag_starts *
starts_at(struct lockstep *f, const struct lag_peers *u, int64_t execution)
{
	uint32_t at = nsx_map_number(&f->starts_of, (struct nsx_key){ (uint64_t)(u - f->peers.p),
		(uint64_t)execution });

	return nsx_vec_next(&f->starts, at, ((struct lag_starts){ 0 })) ? &f->starts.p[at] : NULL;
}

/* Extend *p to n numbers from `had`, new ones 0; false when out of memory. */
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

/* The biases of peers at an occurrence, with space for all members; NULL when out of memory. */
static struct lag_biases *
biases_at(struct lockstep *f, const struct lag_peers *u, uint32_t occurrence)
{
	uint32_t peers = (uint32_t)(u - f->peers.p), at = nsx_map_number(&f->biases_of, (struct nsx_key){ peers,
		occurrence });

	if (!nsx_vec_next(&f->biases, at, ((struct lag_biases){ .peers = peers, .occurrence = occurrence })))
		return NULL;
	struct lag_biases *s = &f->biases.p[at];
	size_t had = 2 * (size_t)s->cap, n = 2 * u->members.n;
	if (n > had) {
		if (!widen(&s->worst, had, n) || (f->curve && (!widen(&s->sum, had, n) || !widen(&s->n, had, n))))
			return NULL;
		s->cap = (uint32_t)u->members.n;
	}
	return s;
}

/* One edge of an occurrence that n devices of one clock executed. */
static void
add_edge(struct lag_biases *s, struct lag_peers *u, int edge, const struct lag_record *of, size_t n,
         const uint32_t *members,
         const struct lag_starts *from)
{
	__int128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += edge == NSX_EDGE_START ? of[i].start : of[i].end;
	for (size_t i = 0; i < n; i++) {
		struct lag_member *m = &u->members.p[members[i]];
		size_t at = 2 * (size_t)members[i] + (size_t)edge;
		int64_t bias = fixed((__int128)(edge == NSX_EDGE_START ? of[i].start : of[i].end) * (int64_t)n - sum,
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

/* The records of n devices of one clock for an occurrence. */
static int
add_records(struct lockstep *f, uint32_t occurrence, int64_t execution, const struct lag_record *of, size_t n)
{
	struct lag_peers *u = peers_at(f, f->occurrences.p[occurrence].program, of->clock);
	const struct lag_starts *from = u ? starts_at(f, u, execution) : NULL;
	uint32_t *members = from ? malloc(n * sizeof *members) : NULL;
	struct lag_biases *s;

	if (!members)
		return NSX_NOMEM(f);
	for (size_t i = 0; i < n; i++) {
		members[i] = member_at(f, u, of[i].device);
		uint32_t *seen = members[i] == NSX_NONE ? NULL : nsx_map_at(&f->executed, (struct nsx_key){
			(uint64_t)(u - f->peers.p) << 32 | members[i], (uint64_t)execution });
		if (!seen) {
			free(members);
			return NSX_NOMEM(f);
		}
		u->members.p[members[i]].executions += *seen == NSX_NONE;
		*seen = 1;
	}
	s = biases_at(f, u, occurrence);
	if (s) {
		add_edge(s, u, NSX_EDGE_START, of, n, members, from);
		add_edge(s, u, NSX_EDGE_END, of, n, members, from);
	}
	free(members);
	return s ? NSX_OK : NSX_NOMEM(f);
}

NSX_ORDER(record_cmp, struct lag_record, NSX_CMP(a->clock, b->clock), NSX_CMP(a->device, b->device))

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct lockstep *f = state;
	struct lag_record *of = records;

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

/* ---- the stream */

/* Set *clock to the clock of a record's device. NSX_OK, or NSX_ERR when out of memory or if a second report has a clock
 * of its own. */
static int
find_clock(struct lockstep *f, const struct nsx_rec *rec, uint32_t *clock)
{
	*clock = nsx_comm_clock(&f->comm, rec);
	if (*clock == NSX_NONE)
		return NSX_NOMEM(f);
	return f->comm.own_clocks > 1 ? nsx_late_not_aligned(f->in, f->err) : NSX_OK;
}

static int
take_module(struct lockstep *f, const struct nsx_rec *rec)
{
	uint32_t program = nsx_top_module(&f->top, rec), clock;

	if (program == NSX_NONE)
		return NSX_NOMEM(f);
	if (find_clock(f, rec, &clock) != NSX_OK)
		return NSX_ERR;
	struct lag_peers *u = peers_at(f, program, clock);
	struct lag_starts *o = u ? starts_at(f, u, nsx_int(rec, NSX_MODULE_execution, -1)) : NULL;

	if (!o)
		return NSX_NOMEM(f);
	if (nsx_has(rec, NSX_MODULE_start)) {
		o->sum += rec->v[NSX_MODULE_start].i;
		o->n++;
	}
	return NSX_OK;
}

/* The occurrence of a thunk in the program of that index; NSX_NONE when out of memory. */
static uint32_t
occurrence_of(struct lockstep *f, const struct nsx_rec *thunk, uint32_t program)
{
	struct lag_occurrence o = { program, nsx_cat_inst(&f->comm.cat, thunk), NSX_NONE,
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
take_thunk(struct lockstep *f, const struct nsx_rec *rec)
{
	struct lag_record t = { .device = nsx_int(rec, NSX_THUNK_device, NSX_ABSENT) };
	uint32_t program, at;

	if (!nsx_has(rec, NSX_THUNK_start) || nsx_int(rec, NSX_THUNK_dur, -1) < 0) {
		f->timeless++;
		return NSX_OK;
	}
	t.start = rec->v[NSX_THUNK_start].i;
	t.end = nsx_add_sat(t.start, rec->v[NSX_THUNK_dur].i, NULL);
	if (find_clock(f, rec, &t.clock) != NSX_OK)
		return NSX_ERR;
	if (nsx_is_comm(&f->comm, rec))
		return NSX_OK;
	f->any = true;
	program = nsx_top_program(&f->top, rec);
	if (program == NSX_NONE)
		return NSX_NOMEM(f);
	if (!nsx_late_wanted(&f->comm.cat, &f->top, f->options->program, program))
		return NSX_OK;
	at = occurrence_of(f, rec, program);
	if (at == NSX_NONE)
		return NSX_NOMEM(f);
	struct nsx_key key = { at, (uint64_t)nsx_int(rec, NSX_THUNK_execution, -1) };

	return nsx_instances_add(&f->instances, key, &t,
	                         nsx_cat_runners(&f->comm.cat,
	                                         f->comm.cat.insts.p[f->occurrences.p[at].inst].program), f->err);
}

int
nsx_lockstep_take(struct lockstep *f, const struct nsx_rec *rec)
{
	switch (rec->kind->id) {
	case NSX_MODULE: return take_module(f, rec);
	case NSX_THUNK:  return take_thunk(f, rec);
	default:         return nsx_comm_take(&f->comm, rec, f->err);
	}
}

void
nsx_lockstep_free(struct lockstep *f)
{
	for (size_t i = 0; i < f->peers.n; i++)
		free(f->peers.p[i].members.p);
	for (size_t i = 0; i < f->biases.n; i++) {
		free(f->biases.p[i].worst);
		free(f->biases.p[i].sum);
		free(f->biases.p[i].n);
	}
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
	nsx_instances_free(&f->instances);
	nsx_comm_free(&f->comm);
	nsx_top_free(&f->top);
}

static void
add_diags(const struct lockstep *f, size_t peers, struct nsx_diags *diags)
{
	if (!f->any)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no thunk records of computation, which come from XLA's NVTX ranges: nothing to "
		             "compare; of NCCL's collectives nsysx-collectives --instances --sort skew shows the late "
		             "rank, of steps nsysx-steps the slow device");
	nsx_diag_add(diags, peers ? NSX_INFO : NSX_WARNING, "", f->alone,
	             "executions of thunks on one device only: nothing to compare them with");
}

void
nsx_lockstep_begin(struct lockstep *f)
{
	f->comm.cat.keep = NSX_CAT_RUNNERS;
	f->top.given = &f->comm.cat;
	f->instances = (struct nsx_instances){ .size = sizeof(struct lag_record), .complete = complete, .state = f };
	nsx_comm_need(&f->comm, f->in);
	nsx_reader_need(f->in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(f->in, NSX_THUNK, NSX_EVERY);
}

int
nsx_lockstep_finish(struct lockstep *f, struct nsx_table **devices, struct nsx_table **edges, struct nsx_diags *diags)
{
	size_t peers = 0;

	if (nsx_late_check_program(&f->comm.cat, &f->top, f->options->program, f->err) != NSX_OK
	    || nsx_instances_finish(&f->instances, f->err) != NSX_OK || nsx_lockstep_order(f, &peers) != NSX_OK)
		return NSX_ERR;
	if ((edges && nsx_lockstep_edges(f, edges) != NSX_OK)
	    || (devices && nsx_lockstep_devices(f, devices) != NSX_OK))
		return NSX_ERR;
	add_diags(f, peers, diags);
	nsx_comm_flag_diags(&f->comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless, "thunks without start or duration: ignored");
	return NSX_OK;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	return nsx_lockstep_take(state, rec);
}

int
nsx_stragglers_lockstep(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_table **table,
                        struct nsx_diags *diags, struct nsx_err *err)
{
	bool curve = options->show == NSX_STRAGGLERS_CURVE;
	struct lockstep f = { .err = err, .in = in, .options = options, .curve = curve };

	nsx_lockstep_begin(&f);
	int rc = nsx_read_all(in, options->require, take, &f, err);

	if (rc == NSX_OK)
		rc = nsx_lockstep_finish(&f, curve ? NULL : table, curve ? table : NULL, diags);
	nsx_lockstep_free(&f);
	return rc;
}
