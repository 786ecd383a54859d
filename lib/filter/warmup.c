/* warmup.c -- separate initialisation from steady state in one pass. Until the first steady execution is read, records
 * wait in a spool: memory does not grow with the stream. If all work so far is steady, host records before it wait
 * until some work is not steady, in which case they are initialisation, or until the end of the stream. */
#include "filter/warmup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "job/comm/communicates.h"
#include "job/compiling.h"
#include "job/stale_marks.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "stream/pass.h"
#include "stream/spool.h"
#include "stream/steady.h"

static const struct nsx_str INIT = { "init", 4 }, STEADY = { "steady", 6 };

/* The slot of the phase in records, for the kinds of one reader; -1: not looked up yet. */
struct phase_slots { int8_t of[NSX_NKINDS]; };

/* The executions of a device, or of a profile: whether a steady module ran, and the end of the latest module. */
struct ran { bool any_steady, steady; int64_t end; };

/* An operation that was removed and has not ended; stream: NSX_ABSENT if it does not matter. */
struct gone_op { int64_t stream, end; };

/* The operations of a device that were removed. A stream runs its operations one after the other: whatever their
 * recorded durations, they had ended when the next one of their stream began (job/overruns.h). */
struct gone {
	struct gone_op running[32];   /* at the last start, one per stream; of more streams the latest, as if of none */
	unsigned       n;
	int64_t        ended;         /* the latest end of the others */
	int64_t        told;          /* the latest end, as last written */
	bool           pending;       /* no operation was written since the last one was removed */
};

struct nsx_warmup {
	struct nsx_reader   *in;
	struct nsx_writer   *out;
	struct nsx_pass     *through;       /* from in to out */
	struct nsx_err      *err;
	enum nsx_warmup_mode mode;
	bool                 comm;          /* an instruction communicates */
	bool                 programs;      /* the stream has programs, of which first executions may be removed */
	struct nsx_stale_marks marks;
	struct nsx_map       compiled;      /* (profile, program) */
	struct nsx_compiling compiling;
	struct nsx_catalogue cat;           /* devices only */
	struct nsx_map       ran_on;        /* (profile, device) -> ran; device NSX_ABSENT: any of the profile */
	NSX_VEC(struct ran)  ran;
	NSX_VEC(struct gone) gone;          /* by index in cat */
	bool                 decided;       /* waiting records were written, and none waits any more */
	bool                 all_steady;    /* nothing is steady: then everything counts as steady */
	bool                 any_steady, any_init;   /* so far, of work on the GPU */
	bool                 executed;      /* there is an execution of a program */
	int64_t              first;         /* start of the first that is steady */
	struct nsx_spool    *waiting;       /* NULL if nothing waits */
	bool                 memory_waits;
	bool                 waits_on;      /* the first steady execution is among them */
	int64_t              host_least, host_most;  /* ends of the host's records so far */
	struct phase_slots   slots;
	bool                 work;          /* a record of GPU work came */
	int64_t              modules;       /* of initialisation, counted when they are classified */
	int64_t              awaiting;      /* modules that wait */
	int64_t              tuning, tuning_ns;   /* operations of compilations after the first steady execution */
};

/* ---- what is known */

static int
note(struct nsx_warmup *w, struct nsx_map *set, int64_t a, int64_t b)
{
	uint32_t *at = nsx_map_at(set, (struct nsx_key){ (uint64_t)a, (uint64_t)b });

	if (!at)
		return nsx_err_nomem(w->err, NULL);
	*at = 1;
	return NSX_OK;
}

static bool
noted(const struct nsx_map *set, int64_t a, int64_t b)
{
	return nsx_map_get(set, (struct nsx_key){ (uint64_t)a, (uint64_t)b }) != NSX_NONE;
}

static struct ran *
ran_at(struct nsx_warmup *w, int64_t profile, int64_t device)
{
	uint32_t *at = nsx_map_at(&w->ran_on, (struct nsx_key){ (uint64_t)profile, (uint64_t)device });

	if (!at || (*at == NSX_NONE && !nsx_vec_push(&w->ran, ((struct ran){ false, false, INT64_MIN })))) {
		nsx_err_nomem(w->err, NULL);
		return NULL;
	}
	if (*at == NSX_NONE)
		*at = (uint32_t)(w->ran.n - 1);
	return &w->ran.p[*at];
}

static int
note_module(struct nsx_warmup *w, const struct nsx_rec *rec, bool steady)
{
	int64_t profile = nsx_int(rec, NSX_MODULE_profile, NSX_ABSENT);
	struct ran *r = ran_at(w, profile, nsx_int(rec, NSX_MODULE_device, NSX_ABSENT));

	if (!r)
		return NSX_ERR;
	r->any_steady |= steady;
	r->steady = steady;
	r->end = nsx_add_sat(nsx_int(rec, NSX_MODULE_start, 0), nsx_int(rec, NSX_MODULE_dur, 0), NULL);
	if (!steady)
		return NSX_OK;
	r = ran_at(w, profile, NSX_ABSENT);
	if (!r)
		return NSX_ERR;
	r->any_steady = true;
	return NSX_OK;
}

/* An execution without a number is not classified as initialisation. */
static bool
steady_execution(const struct nsx_warmup *w, int64_t profile, int64_t program, int64_t execution)
{
	return execution >= (int64_t)noted(&w->compiled, profile, program) + w->comm;
}

/* Work within the latest module of its device has that module's phase; other work has the phase of the executions
 * before it. */
static bool
steady_time(const struct nsx_warmup *w, int64_t profile, int64_t device, int64_t start, int64_t dur)
{
	uint32_t at = nsx_map_get(&w->ran_on, (struct nsx_key){ (uint64_t)profile, (uint64_t)device });

	if (at == NSX_NONE)
		return false;
	return nsx_add_sat(start, dur, NULL) <= w->ran.p[at].end ? w->ran.p[at].steady : w->ran.p[at].any_steady;
}

/* A record of the host that belongs to no execution: a call, an overhead, a range. */
static bool
is_host(enum nsx_kind_id id)
{
	return nsx_field(id, NSX_ROLE_HOST_START) >= 0 && nsx_field(id, NSX_ROLE_EXECUTION) < 0;
}

/* The report of rec: its own column, or that of its device. */
static int64_t
profile_of(const struct nsx_warmup *w, const struct nsx_rec *rec)
{
	if (nsx_field(rec->kind->id, NSX_ROLE_PROFILE) >= 0)
		return nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT);
	uint32_t at = nsx_cat_find_device(&w->cat, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));
	uint32_t profile = at == NSX_NONE ? NSX_NONE : w->cat.devices.p[at].profile;

	return profile == NSX_NONE ? NSX_ABSENT : w->cat.profiles.p[profile].number;
}

static bool
is_tuning(struct nsx_warmup *w, const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_OP && nsx_compiling_launched(&w->compiling, rec);
}

/* Whether it is an operation of a compilation after the first steady execution, from which nothing follows for earlier
 * records. */
static bool
is_late(struct nsx_warmup *w, const struct nsx_rec *rec)
{
	int64_t start;

	return w->any_steady && is_tuning(w, rec) && nsx_order_time(rec, &start) && start >= w->first;
}

/* By roles that kinds share, so that a new kind needs no code here. */
static bool
is_steady(struct nsx_warmup *w, const struct nsx_rec *rec)
{
	enum nsx_kind_id id = rec->kind->id;

	/* A stream with skew records only, without the work they are derived from, is classified by these. */
	if (w->all_steady && (w->work || id != NSX_SKEW))
		return true;
	if (is_host(id))
		return !w->any_init || (w->any_steady && nsx_order_end(rec) > w->first);
	/* Operations may be in no execution, other work is part of one. */
	bool told = nsx_field_has(rec, NSX_ROLE_PROGRAM) && nsx_field_has(rec, NSX_ROLE_EXECUTION);
	bool free = nsx_field(id, NSX_ROLE_OP) >= 0 || nsx_field(id, NSX_ROLE_EXECUTION) < 0;
	int64_t profile = profile_of(w, rec);

	if (is_tuning(w, rec))
		return false;
	if (free && !told)
		return steady_time(w, profile, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT),
		                   nsx_field_int(rec, NSX_ROLE_START, 0), nsx_field_int(rec, NSX_ROLE_DUR, 0));
	return steady_execution(w, profile, nsx_field_int(rec, NSX_ROLE_PROGRAM, NSX_ABSENT),
	                        nsx_field_int(rec, NSX_ROLE_EXECUTION, INT64_MAX));
}

/* ---- what is written */

static struct gone *
gone_at(struct nsx_warmup *w, const struct nsx_rec *op)
{
	uint32_t device = nsx_cat_device(&w->cat, op);

	while (device != NSX_NONE && w->gone.n <= device)
		if (!nsx_vec_push(&w->gone, ((struct gone){ .ended = INT64_MIN, .told = INT64_MIN })))
			device = NSX_NONE;
	if (device == NSX_NONE)
		nsx_err_nomem(w->err, NULL);
	return device == NSX_NONE ? NULL : &w->gone.p[device];
}

/* Those that have ended by the start of the next operation, because of their duration or because it is of their
 * stream. */
static void
end_gone(struct gone *g, int64_t stream, int64_t start)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < g->n; i++) {
		struct gone_op *r = &g->running[i];

		if (r->end <= start || (stream != NSX_ABSENT && r->stream == stream)) {
			int64_t end = r->end < start ? r->end : start;

			g->ended = end > g->ended ? end : g->ended;
		} else {
			g->running[kept++] = *r;
		}
	}
	g->n = kept;
}

static void
add_gone(struct gone *g, int64_t stream, int64_t end)
{
	unsigned i = 0;

	if (g->n >= sizeof g->running / sizeof *g->running - 1)
		stream = NSX_ABSENT;
	while (i < g->n && g->running[i].stream != stream)
		i++;
	if (i == g->n)
		g->running[g->n++] = (struct gone_op){ stream, end };
	else if (end > g->running[i].end)
		g->running[i].end = end;
}

static int64_t
latest_gone(const struct gone *g)
{
	int64_t end = g->ended;

	for (unsigned i = 0; i < g->n; i++)
		end = g->running[i].end > end ? g->running[i].end : end;
	return end;
}

/* An operation: written, it says where those removed before it on its device ended, so that time without them is not
 * taken for idle time, and again when it shows that they ended earlier. One that is removed may say so of earlier
 * ones. */
static int
pass_op(struct nsx_warmup *w, struct nsx_rec *rec, bool written)
{
	struct gone *g = gone_at(w, rec);
	int64_t start = nsx_int(rec, NSX_OP_start, NSX_ABSENT), latest;
	/* Nodes of a graph run beside each other on one stream. */
	int64_t stream = nsx_has(rec, NSX_OP_graph_node) ? NSX_ABSENT : nsx_int(rec, NSX_OP_stream, NSX_ABSENT);

	if (!g)
		return NSX_ERR;
	if (!nsx_has(rec, NSX_OP_device) || start == NSX_ABSENT)
		return written ? nsx_pass_on(w->through, rec) : NSX_OK;
	end_gone(g, stream, start);
	if (nsx_has(rec, NSX_OP_removed))
		add_gone(g, NSX_ABSENT, nsx_sub_sat(start, rec->v[NSX_OP_removed].i, NULL));
	if (!written) {
		add_gone(g, stream, nsx_add_sat(start, nsx_int(rec, NSX_OP_dur, 0), NULL));
		g->pending = true;
		return NSX_OK;
	}
	latest = latest_gone(g);
	if (!g->pending && latest >= g->told)
		return nsx_pass_on(w->through, rec);
	g->pending = false;
	g->told = latest;
	return nsx_pass_on_with(w->through, rec, NSX_OP_removed, nsx_sub_sat(start, latest, NULL));
}

/* Write the record if its phase is requested. */
static int
pass(struct nsx_warmup *w, struct nsx_rec *rec, bool steady, struct phase_slots *slots)
{
	enum nsx_kind_id id = rec->kind->id;

	w->modules += id == NSX_MODULE && !steady;
	if (!steady && is_late(w, rec)) {
		w->tuning++;
		w->tuning_ns = nsx_add_sat(w->tuning_ns, nsx_int(rec, NSX_OP_dur, 0), NULL);
	}
	/* What was allocated in initialisation is there in steady state. */
	bool written = w->mode == NSX_WARMUP_MARK || steady == (w->mode == NSX_WARMUP_STEADY)
	    || (id == NSX_MEMORY && w->mode == NSX_WARMUP_STEADY);

	if (w->mode != NSX_WARMUP_MARK && id == NSX_OP)
		return pass_op(w, rec, written);
	if (!written)
		return NSX_OK;
	if (w->mode == NSX_WARMUP_MARK && id != NSX_SKEW) {
		if (slots->of[id] < 0)
			slots->of[id] = (int8_t)nsx_kind_slot(rec->kind, NSX_STR("phase"));
		nsx_set_s(rec, slots->of[id], steady ? STEADY : INIT);
	}
	return nsx_pass_on(w->through, rec);
}

static int
await(struct nsx_warmup *w, const struct nsx_rec *rec)
{
	if (!w->waiting && !(w->waiting = nsx_spool_open(w->err)))
		return NSX_ERR;
	w->awaiting += rec->kind->id == NSX_MODULE;
	w->memory_waits |= rec->kind->id == NSX_MEMORY;
	return nsx_spool_write(w->waiting, rec);
}

/* The phase of a record of work, or of skew. Called once for each, in the order of the stream: modules are recorded. */
static int
find_phase(struct nsx_warmup *w, const struct nsx_rec *rec, bool *steady)
{
	*steady = is_steady(w, rec);
	return rec->kind->id == NSX_MODULE ? note_module(w, rec, *steady) : NSX_OK;
}

static int
release(struct nsx_warmup *w)
{
	struct nsx_reader *back = nsx_spool_reader(w->waiting);
	struct phase_slots slots;
	struct nsx_rec rec;
	bool steady;
	int rc = NSX_ERR;

	/* The modules are read again. */
	nsx_map_free(&w->ran_on);
	w->ran.n = 0;
	memset(&slots, -1, sizeof slots);
	if (back)
		while ((rc = nsx_read(back, &rec)) == NSX_OK)
			if (find_phase(w, &rec, &steady) != NSX_OK || pass(w, &rec, steady, &slots) != NSX_OK)
				break;
	nsx_reader_close(back);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* Declare the columns that take() reads after the decision. */
static void
look(struct nsx_warmup *w)
{
	static const uint64_t host = NSX_R(HOST_START) | NSX_R(HOST_DUR);
	static const uint64_t any = NSX_R(PROFILE) | NSX_R(DEVICE) | NSX_R(PROGRAM) | NSX_R(EXECUTION) | NSX_R(START)
	                            | NSX_R(DUR);
	uint64_t columns[NSX_NKINDS + 1] = { [NSX_DEVICE] = NSX_EVERY, [NSX_INST] = NSX_EVERY,
	                                     [NSX_COMPILE] = NSX_EVERY };

	for (enum nsx_kind_id k = 0; k < NSX_NKINDS; k++)
		if (nsx_section_of(k) == NSX_SECTION_WORK || nsx_section_of(k) == NSX_SECTION_SKEW)
			columns[k] = nsx_field_slots(k, any | (is_host(k) ? host : 0));
	columns[NSX_OP] |= NSX_C(OP, type) | NSX_C(OP, tid) | NSX_C(OP, host_start) | NSX_C(OP, removed)
	                   | NSX_C(OP, stream) | NSX_C(OP, graph_node);
	nsx_stale_marks_look(columns);
	nsx_pass_look(w->through, columns);
}

/* The phase of waiting records is decided: stop waiting. */
static int
decide(struct nsx_warmup *w)
{
	int rc = NSX_OK;

	w->decided = true;
	w->all_steady = !w->any_steady;
	/* Only initialisation waits, and it is not requested: it need not be read again. */
	bool drop = w->any_steady && !w->waits_on && w->mode == NSX_WARMUP_STEADY && w->any_init &&
	    w->host_most <= w->first && !w->memory_waits;
	if (w->waiting && drop)
		w->modules += w->awaiting;
	else if (w->waiting)
		rc = release(w);
	nsx_spool_free(w->waiting);
	w->waiting = NULL;
	if (w->mode != NSX_WARMUP_MARK)
		look(w);
	return rc;
}

/* Before the decision: use rec, which waits, for it. */
static int
consider(struct nsx_warmup *w, const struct nsx_rec *rec, bool *ready)
{
	bool steady = false;

	if (is_host(rec->kind->id)) {
		int64_t end = nsx_order_end(rec);
		w->host_least = end < w->host_least ? end : w->host_least;
		w->host_most = end > w->host_most ? end : w->host_most;
	} else {
		if (find_phase(w, rec, &steady) != NSX_OK)
			return NSX_ERR;
		if (steady && !w->any_steady)
			nsx_order_time(rec, &w->first);
		w->any_steady |= steady;
		w->any_init |= !steady && !is_late(w, rec);
	}
	*ready = w->any_steady && (w->any_init || w->host_least > w->first);
	return NSX_OK;
}

/* A record that has a phase. */
static int
sort_out(struct nsx_warmup *w, struct nsx_rec *rec)
{
	enum nsx_kind_id id = rec->kind->id;
	bool steady, ready = false, waited = w->any_steady;

	w->work |= nsx_field_has(rec, NSX_ROLE_START);
	w->executed |= rec->kind->id == NSX_MODULE;
	if (!w->decided && id == NSX_SKEW && decide(w) != NSX_OK)
		return NSX_ERR;
	if (!w->decided) {
		if (consider(w, rec, &ready) != NSX_OK)
			return NSX_ERR;
		if (!ready) {
			w->waits_on |= w->any_steady;
			return await(w, rec);
		}
		w->waits_on |= waited;
		/* rec has been used; it comes after the waiting records, which are processed again. */
		if (decide(w) != NSX_OK)
			return NSX_ERR;
	}
	if (find_phase(w, rec, &steady) != NSX_OK)
		return NSX_ERR;
	w->any_init |= !steady && !is_host(id) && id != NSX_SKEW && !is_late(w, rec);
	return pass(w, rec, steady, &w->slots);
}

static int
take(struct nsx_warmup *w, struct nsx_rec *rec)
{
	enum nsx_section section = nsx_rec_section(rec);

	/* They were found with the executions that are removed; that any are is known too late. */
	if (w->mode != NSX_WARMUP_MARK && w->programs && nsx_stale_mark_of_time(&w->marks, rec))
		return NSX_OK;
	if (section == NSX_SECTION_WORK || section == NSX_SECTION_SKEW)
		return sort_out(w, rec);
	switch (rec->kind->id) {
	case NSX_DEVICE:
		if (nsx_cat_take(&w->cat, rec, w->err) != NSX_OK)
			return NSX_ERR;
		break;
	case NSX_PROGRAM:
		w->programs = true;
		break;
	case NSX_INST:
		w->comm |= nsx_comm_says(rec);
		break;
	case NSX_COMPILE:
		if (!nsx_compiling_take(&w->compiling, rec))
			return nsx_err_nomem(w->err, NULL);
		if (nsx_has(rec, NSX_COMPILE_program)
		    && note(w, &w->compiled, nsx_int(rec, NSX_COMPILE_profile, NSX_ABSENT),
		            rec->v[NSX_COMPILE_program].i) != NSX_OK)
			return NSX_ERR;
		break;
	default:
		break;
	}
	return nsx_pass_on(w->through, rec);
}

static void
report(const struct nsx_warmup *w, struct nsx_diags *diags)
{
	if (w->all_steady)
		nsx_diag_add(diags, NSX_WARNING, "", 1, w->work
		             ? w->executed ? NSX_STEADY_NONE
		             : "no execution of a program of XLA: everything counts as steady state"
		             : "no GPU work: nothing to divide into initialisation and steady state");
	else if (w->mode == NSX_WARMUP_STEADY)
		nsx_diag_add(diags, NSX_INFO, "", w->modules, "module executions of initialisation removed");
	if (!w->all_steady && w->mode == NSX_WARMUP_STEADY)
		nsx_diag_add(diags, NSX_INFO, "", w->tuning,
		             "operations launched by compilations after the first steady execution, such as those of "
		             "autotuning, removed: %" PRId64 " ns", w->tuning_ns);
}

static void
free_all(void *at)
{
	struct nsx_warmup *w = at;

	if (!w)
		return;
	nsx_pass_free(w->through);
	nsx_spool_free(w->waiting);
	nsx_map_free(&w->compiled);
	nsx_compiling_free(&w->compiling);
	nsx_cat_free(&w->cat);
	nsx_map_free(&w->ran_on);
	free(w->ran.p);
	free(w->gone.p);
	free(w);
}

struct nsx_warmup *
nsx_warmup_begin(struct nsx_reader *in, struct nsx_writer *out, enum nsx_warmup_mode mode, struct nsx_err *err)
{
	struct nsx_warmup *w = calloc(1, sizeof *w);
	int rc;

	if (!w) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	*w = (struct nsx_warmup){ .in = in, .out = out, .err = err, .mode = mode, .host_least = INT64_MAX,
	                          .host_most = INT64_MIN };
	memset(&w->slots, -1, sizeof w->slots);
	w->through = nsx_pass_new(in, out, err);
	rc = w->through ? NSX_OK : NSX_ERR;
	for (enum nsx_kind_id k = 0; mode == NSX_WARMUP_MARK && rc == NSX_OK && k < NSX_NKINDS; k++)
		if (nsx_section_of(k) == NSX_SECTION_WORK)
			rc = nsx_reader_add_column(in, k, "phase", 's');
	if (mode != NSX_WARMUP_MARK && rc == NSX_OK)
		rc = nsx_reader_add_column(in, NSX_OP, "removed", 'i');
	if (rc == NSX_OK)
		return w;
	free_all(w);
	return NULL;
}

static int
step(void *at)
{
	struct nsx_warmup *w = at;
	struct nsx_rec rec;
	int rc = nsx_pass_read(w->through, &rec);

	return rc == NSX_OK ? take(w, &rec) : rc;
}

static int
end(void *at, struct nsx_diags *diags)
{
	struct nsx_warmup *w = at;
	int rc = w->decided ? NSX_OK : decide(w);

	if (rc == NSX_OK)
		report(w, diags);
	nsx_stale_marks_diags(&w->marks, diags, "executions are removed");
	return rc;
}

const struct nsx_stepping nsx_warmup_stepping = { step, end, free_all };

int
nsx_warmup(struct nsx_reader *in, struct nsx_writer *out, enum nsx_warmup_mode mode, struct nsx_diags *diags,
           struct nsx_err *err)
{
	return nsx_step_all(&nsx_warmup_stepping, nsx_warmup_begin(in, out, mode, err), diags);
}
