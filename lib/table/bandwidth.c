/* bandwidth.c -- the durations and bandwidths of collectives of each kind, message size and group size, and the time
 * that devices waited in them.
 *
 * Of each instance (job/comm/reading.h) only its shortest duration is kept. These are sorted before doubles are
 * added: the sums do not depend on the order of instances. */
#include "table/bandwidth.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/input.h"
#include "base/num.h"
#include "base/sort.h"
#include "job/clock_error.h"
#include "job/diags_of.h"
#include "job/hidden.h"
#include "table/bandwidth_rows.h"

#define NSX_ROW struct nsx_bandwidth_row
static const struct nsx_sum_col cols[] = {
	NSX_COL("program", STRING, program), NSX_COL("name", STRING, inst_name), NSX_COL("op_name", STRING, op_name),
	NSX_COL("collective", STRING, kind), NSX_COL("bytes", BYTES, bytes), NSX_COL("group", ID, group),
	NSX_COL("instances", INT, instances), NSX_COL("busbw_mean", GBPS, mean.busbw),
	NSX_COL("busbw_stderr", GBPS, mean.stderr_busbw), NSX_COL("algbw_mean", GBPS, mean.algbw),
	NSX_COL_PER("wait_mean", MEAN_NS, wait, waits), NSX_COL("wait_max", NS, wait_max),
	NSX_COL("hidden_share", SHARE, hidden_share), NSX_COL("total", NS, dur), NSX_COL("wait", NS, known_wait),
};
#define SIZES "collective bytes group instances busbw_mean busbw_stderr algbw_mean wait_mean wait_max hidden_share " \
	      "total wait"

static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = offsetof(struct nsx_bandwidth_row, instances), .shown = SIZES,
	.order = "-total collective bytes group",
	.rank = "collective bytes group instances total busbw_mean wait hidden_share wait_mean algbw_mean",
	.adds = "total"
}, by_inst = {
	NSX_ROWS(cols), .key = offsetof(struct nsx_bandwidth_row, instances), .shown = "program name " SIZES " op_name",
	.order = "-wait -total program name collective bytes group",
	.rank = "name wait wait_mean total instances collective bytes busbw_mean group program hidden_share algbw_mean",
	.adds = "wait"
};

/* ---- an instance */

/* The wait and transfer of an instance, if they are known. */
static void
add_wait(struct nsx_bandwidth_sums *s, struct nsx_bandwidth_row *r, const struct nsx_collective *of, size_t n)
{
	int64_t last = nsx_add_sat(of->start, of->wait, NULL);

	if (of->wait == NSX_ABSENT) {
		s->unknown_wait += n > 1 || of->apart;
		s->alone += !of->single && n == 1 && of->group != 1;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		r->wait += (nsx_u128)of[i].wait;
		r->wait_max = of[i].wait > r->wait_max ? of[i].wait : r->wait_max;
		r->waits++;
	}
	r->transfer += nsx_sub_sat(nsx_collective_end(of, n), last, NULL);
	r->transfers++;
}

/* Add an instance to its row. */
static int
add_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct nsx_bandwidth_sums *s = state;
	struct nsx_bandwidth_row key = { .bytes = NSX_ABSENT, .group = NSX_ABSENT, .kind = of->kind }, *r;
	int64_t shortest = 0;

	/* It is counted by the reading. */
	if (of->dur < 0)
		return NSX_OK;
	for (size_t i = 0; i < n; i++) {
		key.bytes = of[i].bytes >= 0 && of[i].bytes > key.bytes ? of[i].bytes : key.bytes;
		key.group = of[i].group > 0 && of[i].group > key.group ? of[i].group : key.group;
		if (of[i].dur > 0 && (shortest == 0 || of[i].dur < shortest))
			shortest = of[i].dur;
	}
	if (s->by_inst && of->inst != NSX_NONE)
		key.inst = of->inst + 1;
	if (s->axes)
		key.in = nsx_group_axes_of(s->axes, s->reading.comm, of, n);
	uint32_t row = key.in == NSX_NONE ? NSX_NONE : nsx_sums_number(&s->sums, &key);
	if (row == NSX_NONE)
		return nsx_err_nomem(s->err, NULL);
	r = nsx_sums_at(&s->sums, row);
	r->number = row;
	r->instances++;
	s->closed++;
	s->lone_ops += of->single && !of->apart;
	s->incomplete += !of->single && (int64_t)n < key.group;
	if (shortest && !nsx_vec_push(&r->shortest, shortest))
		return nsx_err_nomem(s->err, NULL);
	add_wait(s, r, of, n);
	for (size_t i = 0; i < n; i++) {
		bool there = of[i].hidden != NSX_ABSENT;
		int64_t hidden = nsx_hidden_of(of[i].dur, of[i].hidden, &s->over_hidden);

		r->dur += (nsx_u128)of[i].dur;
		r->hidden += (nsx_u128)hidden;
		r->no_hidden += !there;
		s->no_hidden += !there;
		s->any_hidden |= there;
		if (s->each && !s->each(s->arg, row, of[i].at, of[i].dur, hidden))
			return nsx_err_nomem(s->err, NULL);
	}
	return NSX_OK;
}

/* ---- the rows */

/* Mean, and standard error of the mean, over the instances of a row. */
static struct nsx_bandwidth_mean
mean_of(struct nsx_bandwidth_row *r)
{
	double bus_sum = 0, alg_sum = 0, squares = 0, alg, bus;
	struct nsx_bandwidth_mean m = { .busbw = NAN, .stderr_busbw = NAN, .algbw = NAN };
	size_t n = r->shortest.n;

	if (!r->has_bytes || !r->has_group || n == 0)
		return m;
	qsort(r->shortest.p, n, sizeof *r->shortest.p, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		alg_sum += alg;
		bus_sum += bus;
	}
	m.known = true;
	m.busbw = bus_sum / (double)n;
	m.algbw = alg_sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		squares += (bus - m.busbw) * (bus - m.busbw);
	}
	if (n > 1)
		m.stderr_busbw = sqrt(squares / (double)(n - 1)) / sqrt((double)n);
	return m;
}

double
nsx_bandwidth_transfer(const struct nsx_bandwidth_row *r)
{
	return r->transfers ? (double)r->transfer / (double)r->transfers : 0;
}

double
nsx_bandwidth_shortest(const struct nsx_bandwidth_row *r)
{
	nsx_u128 sum = 0;

	for (size_t i = 0; i < r->shortest.n; i++)
		sum += (nsx_u128)r->shortest.p[i];
	return r->shortest.n ? (double)sum / (double)r->shortest.n : 0;
}

/* All instances were added. */
static void
finish(struct nsx_bandwidth_sums *s)
{
	s->rows.p = (struct nsx_bandwidth_row *)(void *)s->sums.rows.p;
	s->rows.n = nsx_sums_count(&s->sums);
	for (size_t i = 0; i < s->rows.n; i++) {
		struct nsx_bandwidth_row *r = &s->rows.p[i];

		r->name = nsx_cat_str(&s->reading.comm->cat, r->kind);
		if (r->inst) {
			const struct nsx_cat_inst *inst = &s->reading.comm->cat.insts.p[r->inst - 1];

			r->program = nsx_cat_program_label(&s->reading.comm->cat, inst->program);
			r->inst_name = nsx_cat_str(&s->reading.comm->cat, inst->name);
			r->op_name = nsx_cat_str(&s->reading.comm->cat, inst->op_name);
		}
		r->has_bytes = r->bytes != NSX_ABSENT;
		r->has_group = r->group != NSX_ABSENT;
		r->mean = mean_of(r);
		r->hidden_share = !r->no_hidden && r->dur ? (double)r->hidden / (double)r->dur : NAN;
		r->wait_max = r->waits ? r->wait_max : NSX_ABSENT;
		r->known_wait = r->waits ? r->wait : NSX_SUM_NONE;
	}
	nsx_sums_sort(&s->sums);
}

static void
add_diags(const struct nsx_bandwidth_sums *s, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_INFO, "", s->lone_ops,
		"communicating operations count as an instance each: their counterparts on other devices are not "
		"known");
	nsx_comm_group_diags(s->reading.comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", s->reading.pairing.backwards,
	    "communication that ends before it starts: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->incomplete,
	             "instances of collectives with devices that are not in the stream: the known devices are used");
	nsx_diag_add(diags, NSX_WARNING, "", s->over_hidden,
		"communication thunks and operations whose hidden time exceeds their duration: cut to it");
}

void
nsx_bandwidth_sums_free(struct nsx_bandwidth_sums *s)
{
	for (size_t i = 0; s->sums.def && i < nsx_sums_count(&s->sums); i++)
		free(((struct nsx_bandwidth_row *)nsx_sums_at(&s->sums, i))->shortest.p);
	nsx_sums_free(&s->sums);
	nsx_collective_reading_free(&s->reading);
}

static int
take_other(void *state, const struct nsx_rec *rec)
{
	struct nsx_bandwidth_sums *s = state;

	s->warm |= rec->kind->id == NSX_DIAG && nsx_is_diag_of(rec, "nsysx-warmup");
	if (s->other && !s->other(s->arg, rec))
		return nsx_err_nomem(s->err, NULL);
	return s->axes ? nsx_group_axes_take(s->axes, rec, s->err) : NSX_OK;
}

int
nsx_bandwidth_collect(struct nsx_reader *in, struct nsx_bandwidth_sums *s, struct nsx_diags *diags,
                      struct nsx_err *err)
{
	s->err = err;
	s->sums = (struct nsx_sums){ .def = s->by_inst ? &by_inst : &def,
	                             .texts = &s->reading.pairing.comm.cat.strings };
	s->reading = (struct nsx_collective_reading){ .instance = add_instance, .other = take_other,
	                                              .state = s };
	s->reading.keep = s->by_inst ? NSX_CAT_NAMES | NSX_CAT_OP_NAMES : 0;
	if (s->axes)
		nsx_group_axes_need(in);
	if (nsx_collective_instances(in, &s->reading, diags, err) != NSX_OK)
		return NSX_ERR;
	finish(s);
	add_diags(s, diags);
	return NSX_OK;
}

/* ---- the table */

/* The sums of all rows, below them: TSV and JSON hold rows only, each of one kind and size. */
static void
put_total(struct nsx_table *t, const struct nsx_bandwidth_sums *s)
{
	nsx_u128 dur = 0, wait = 0;
	int64_t waits = 0;
	char alone[100] = "";

	for (size_t i = 0; i < s->rows.n; i++) {
		dur += s->rows.p[i].dur;
		wait += s->rows.p[i].wait;
		waits += s->rows.p[i].waits;
	}
	/* Other tables have no instances of these. */
	if (s->lone_ops)
		snprintf(alone, sizeof alone, " (%" PRId64 " are single operations, of which no counterpart is known)",
		         s->lone_ops);
	if (s->rows.n)
		nsx_table_note(t, "[all]: %" PRId64 " instance%s%s, total %s%s%s", s->closed, s->closed == 1 ? "" : "s",
		               alone, nsx_ns_text((double)dur).s, waits ? ", wait " : "",
		               waits ? nsx_ns_text((double)wait).s : "");
}

/* Notes on why cells are absent. */
static void
say_absent(const struct nsx_bandwidth_sums *s, struct nsx_diags *diags)
{
	double error = nsx_clock_error(&s->reading.comm->cat);
	int64_t within = 0;

	for (size_t i = 0; i < s->rows.n; i++)
		within += s->rows.p[i].wait && (double)s->rows.p[i].wait <= error * (double)s->rows.p[i].waits;
	nsx_clock_error_diag(&s->reading.comm->cat, within, diags);
	nsx_diag_add(diags, NSX_WARNING, "", s->unknown_wait,
		"instances of collectives on devices whose clocks cannot be compared: no wait; nsysx-align puts them "
		"on one clock");
	nsx_diag_add(diags, NSX_INFO, "", s->alone, "instances of collectives recorded on one device only: no wait");
	nsx_diag_add(diags, NSX_WARNING, "", s->no_hidden,
	             "communication thunks and operations did not pass nsysx-overlap: no hidden_share");
}

int
nsx_bandwidth(struct nsx_reader *in, const void *options, struct nsx_table **table, struct nsx_diags *diags,
              struct nsx_err *err)
{
	const struct nsx_bandwidth_options *o = options;
	struct nsx_group_axes axes = { 0 };
	struct nsx_bandwidth_sums s = { .by_inst = o->by == NSX_BANDWIDTH_INSTRUCTION,
	                                .axes = o->by >= NSX_BANDWIDTH_AXIS ? &axes : NULL };
	int rc = nsx_bandwidth_collect(in, &s, diags, err);

	*table = NULL;
	if (rc == NSX_OK && o->some && !s.closed)
		rc = nsx_err_set(err, "%s: no collective record", nsx_reader_input(in)->name);
	if (rc == NSX_OK) {
		*table = s.axes ? nsx_bandwidth_by_axis(&s, o->by == NSX_BANDWIDTH_GROUP, err)
		                : nsx_sums_table(&s.sums, err);
		rc = *table ? NSX_OK : NSX_ERR;
	}
	if (rc == NSX_OK) {
		put_total(*table, &s);
		say_absent(&s, diags);
	}
	nsx_bandwidth_sums_free(&s);
	nsx_group_axes_free(&axes);
	return rc;
}
