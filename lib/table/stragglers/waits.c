/* waits.c -- which devices waited in collectives, and for which: sums over instances (job/collective_instances.h).
 *
 * In one instance of a collective, an execution of it by a group, a device waits from its own start to the start of the
 * last device, for which it waits; from there to the last end is transfer:
 *
 *   device 0   100..150    waits 30 for device 2
 *   device 1   110..150    waits 20 for device 2
 *   device 2   130..151    made others wait 50; transfer of all three: 21 */
#include <stdlib.h>

#include "table/stragglers/rows.h"
#include "base/num.h"
#include "job/clock_error.h"
#include "job/collective_instances.h"

enum { W_COLLECTIVE, W_DEVICE, W_COUNT, W_WAIT, W_WAIT_MEAN, W_WAIT_MAX, W_LAST, W_CAUSED, W_TRANSFER_MEAN, W_NCOLS };

static const struct nsx_table_col wait_cols[W_NCOLS] = {
	[W_COLLECTIVE]    = { "collective", NSX_CELL_STRING },
	[W_DEVICE]        = { "device", NSX_CELL_INT },
	[W_COUNT]         = { "count", NSX_CELL_INT },
	[W_WAIT]          = { "wait", NSX_CELL_NS },
	[W_WAIT_MEAN]     = { "wait_mean", NSX_CELL_MEAN_NS },
	[W_WAIT_MAX]      = { "wait_max", NSX_CELL_NS },
	[W_LAST]          = { "last", NSX_CELL_INT },
	[W_CAUSED]        = { "caused", NSX_CELL_NS },
	[W_TRANSFER_MEAN] = { "transfer_mean", NSX_CELL_MEAN_NS },
};

enum { P_COLLECTIVE, P_DEVICE, P_WAITED_FOR, P_COUNT, P_WAIT, P_WAIT_MEAN, P_WAIT_MAX, P_NCOLS };

static const struct nsx_table_col pair_cols[P_NCOLS] = {
	[P_COLLECTIVE] = { "collective", NSX_CELL_STRING },
	[P_DEVICE]     = { "device", NSX_CELL_INT },
	[P_WAITED_FOR] = { "waited_for", NSX_CELL_INT },
	[P_COUNT]      = { "count", NSX_CELL_INT },
	[P_WAIT]       = { "wait", NSX_CELL_NS },
	[P_WAIT_MEAN]  = { "wait_mean", NSX_CELL_MEAN_NS },
	[P_WAIT_MAX]   = { "wait_max", NSX_CELL_NS },
};

/* The times of a device in collectives of a kind, or those with one other device. */
struct row {
	uint32_t kind;             /* a string of the catalogue; NSX_NONE: unknown */
	int64_t  device, cause;
	int64_t  count, last, wait_max;
	nsx_u128 wait, caused, transfer;
};

struct waits {
	struct nsx_err  *err;
	const struct nsx_stragglers_options *options;
	struct nsx_collective_reading reading;
	struct nsx_top   top;              /* on the catalogue of the reading */
	struct nsx_map   device_of, row_of;
	NSX_VEC(struct row) rows;
	int64_t          diags, instances, apart, incomplete, alone;
};

static int
nomem(struct waits *f)
{
	return nsx_err_nomem(f->err, NULL);
}

/* The row of a kind, a device and, for pairs, the device that it waited for; NULL when out of memory. */
static struct row *
row_at(struct waits *f, uint32_t kind, int64_t device, int64_t cause)
{
	bool pairs = f->options->show == NSX_STRAGGLERS_PAIRS;
	uint32_t d = nsx_map_number(&f->device_of, (struct nsx_key){ (uint64_t)device, 0 });
	uint32_t c = pairs ? nsx_map_number(&f->device_of, (struct nsx_key){ (uint64_t)cause, 0 }) : 0;
	uint32_t at = d == NSX_NONE || c == NSX_NONE ? NSX_NONE : nsx_map_number(&f->row_of,
		(struct nsx_key){ (uint64_t)kind << 32 | d, c });
	struct row fresh = { .kind = kind, .device = device, .cause = cause };

	if (at == NSX_NONE || (at == f->rows.n && !nsx_vec_push(&f->rows, fresh)))
		return NULL;
	return &f->rows.p[at];
}

static int
add_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct waits *f = state;
	const struct nsx_collective *late = of;
	bool pairs = f->options->show == NSX_STRAGGLERS_PAIRS;
	int64_t last = nsx_add_sat(of->start, of->wait, NULL), end = INT64_MIN;
	nsx_u128 caused = 0;

	f->alone += of->single;
	if (of->single || (f->options->program && (of->program == NSX_NONE || !nsx_late_wanted(&f->reading.comm->cat,
	    &f->top, f->options->program, of->program))))
		return NSX_OK;
	f->instances++;
	f->incomplete += (int64_t)n < of->group ? (int64_t)n : 0;
	if (n < 2 || of->wait == NSX_ABSENT) {
		f->apart += n > 1;
		return NSX_OK;
	}
	for (size_t i = 0; i < n; i++) {
		int64_t own = nsx_add_sat(of[i].start, of[i].dur, NULL);

		late = of[i].late ? &of[i] : late;
		end = own > end ? own : end;
	}
	for (size_t i = 0; i < n; i++) {
		if (pairs && &of[i] == late)
			continue;
		/* A wait that long was cut to the largest number. */
		if (of[i].wait == INT64_MAX)
			return nsx_err_overflow(f->err, NULL);
		struct row *r = row_at(f, of->kind, of[i].device, late->device);
		if (!r)
			return nomem(f);
		r->count++;
		r->wait += (nsx_u128)of[i].wait;
		r->wait_max = of[i].wait > r->wait_max ? of[i].wait : r->wait_max;
		r->transfer += (nsx_u128)nsx_sub_sat(end, last, NULL);
		caused += (nsx_u128)of[i].wait;
	}
	if (!pairs) {
		struct row *r = row_at(f, of->kind, late->device, 0);

		if (!r)
			return nomem(f);
		r->last++;
		r->caused += caused;
	}
	return NSX_OK;
}

static int
take_other(void *state, const struct nsx_rec *rec)
{
	struct waits *f = state;

	f->diags += rec->kind->id == NSX_DIAG;
	f->top.given = &f->reading.comm->cat;
	if (rec->kind->id == NSX_MODULE && nsx_top_module(&f->top, rec) == NSX_NONE)
		return nomem(f);
	return NSX_OK;
}

/* ---- the table ---- */

/* The order of rows: by kind, then the device that made others wait longest (in pairs: that waited longest) first. */
struct order { struct nsx_str kind; nsx_u128 time; const struct row *row; };

static int
order_cmp(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	int c = nsx_str_cmp(a->kind, b->kind);

	if (c != 0)
		return c;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (a->row->device != b->row->device)
		return a->row->device < b->row->device ? -1 : 1;
	return (a->row->cause > b->row->cause) - (a->row->cause < b->row->cause);
}

static int
put_wait(struct waits *f, struct nsx_table *t, const struct order *o)
{
	const struct row *r = o->row;

	nsx_table_row(t);
	nsx_table_str(t, W_COLLECTIVE, o->kind);
	if (r->device != NSX_ABSENT)
		nsx_table_int(t, W_DEVICE, r->device);
	nsx_table_int(t, W_COUNT, r->count);
	nsx_table_double(t, W_WAIT_MEAN, (double)r->wait / (double)r->count);
	nsx_table_int(t, W_WAIT_MAX, r->wait_max);
	nsx_table_int(t, W_LAST, r->last);
	nsx_table_double(t, W_TRANSFER_MEAN, (double)r->transfer / (double)r->count);
	if (nsx_table_sum(t, W_WAIT, r->wait, f->err) != NSX_OK)
		return NSX_ERR;
	return nsx_table_sum(t, W_CAUSED, r->caused, f->err);
}

static int
put_pair(struct waits *f, struct nsx_table *t, const struct order *o)
{
	const struct row *r = o->row;

	nsx_table_row(t);
	nsx_table_str(t, P_COLLECTIVE, o->kind);
	if (r->device != NSX_ABSENT)
		nsx_table_int(t, P_DEVICE, r->device);
	if (r->cause != NSX_ABSENT)
		nsx_table_int(t, P_WAITED_FOR, r->cause);
	nsx_table_int(t, P_COUNT, r->count);
	nsx_table_double(t, P_WAIT_MEAN, (double)r->wait / (double)r->count);
	nsx_table_int(t, P_WAIT_MAX, r->wait_max);
	return nsx_table_sum(t, P_WAIT, r->wait, f->err);
}

static bool
within_error(const struct waits *f, const struct row *r)
{
	return r->wait && (double)r->wait <= nsx_clock_error(&f->reading.comm->cat) * (double)r->count;
}

static int
make(struct waits *f, struct nsx_stragglers *out)
{
	bool pairs = f->options->show == NSX_STRAGGLERS_PAIRS;
	struct order *rows = malloc((f->rows.n + 1) * sizeof *rows);
	int rc = NSX_OK;

	out->table = pairs ? nsx_table_new(pair_cols, P_NCOLS) : nsx_table_new(wait_cols, W_NCOLS);
	nsx_table_rank(out->table, pairs ? "collective device waited_for wait count"
	                                  : "collective device wait caused last count");
	if (!rows || !out->table)
		rc = nomem(f);
	for (size_t i = 0; i < f->rows.n && rc == NSX_OK; i++) {
		const struct row *r = &f->rows.p[i];

		rows[i] = (struct order){ r->kind == NSX_NONE ? NSX_STR("[unknown]")
		                          : nsx_cat_str(&f->reading.comm->cat, r->kind),
		                          pairs ? r->wait : r->caused, r };
	}
	if (rc == NSX_OK && f->rows.n > 1)
		qsort(rows, f->rows.n, sizeof *rows, order_cmp);
	for (size_t i = 0; i < f->rows.n && rc == NSX_OK; i++)
		rc = pairs ? put_pair(f, out->table, &rows[i]) : put_wait(f, out->table, &rows[i]);
	free(rows);
	return rc;
}

static void
add_diags(const struct waits *f, struct nsx_diags *diags)
{
	int64_t within = 0;

	for (size_t i = 0; i < f->rows.n; i++)
		within += within_error(f, &f->rows.p[i]);
	if (!f->instances && !f->alone)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no communication");
	else if (!f->instances)
		nsx_diag_add(diags, NSX_WARNING, "", f->alone,
		             "operations communicate, but those of other devices that belong to them are not known: NCCL's "
		             "payloads say it (nsys export --include-blobs=true)");
	else if (f->instances && !f->rows.n)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no collective has two devices of the stream on one clock: no waits");
	nsx_clock_error_diag(&f->reading.comm->cat, within, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->apart,
	             "executions of collectives on devices whose clocks cannot be compared: ignored");
	nsx_comm_group_diags(f->reading.comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->incomplete,
		"records of collectives whose group has devices that are not in the stream: waits for those are not "
		"known");
}

int
nsx_stragglers_waits(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_stragglers *s,
                     struct nsx_diags *diags, struct nsx_err *err)
{
	struct waits f = { .err = err, .options = options };
	int rc;

	*s = (struct nsx_stragglers){ 0 };
	f.reading = (struct nsx_collective_reading){ .instance = add_instance, .other = take_other, .state = &f,
	                                             .require = options->require };
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	rc = nsx_collective_instances(in, &f.reading, diags, err);
	s->diags = f.diags;
	if (rc == NSX_OK && f.instances && f.reading.comm->own_clocks > 1)
		rc = nsx_err_set(err, "%s: work of several reports whose clocks are not aligned: run nsysx-align first",
		                 nsx_reader_where(in));
	if (rc == NSX_OK)
		rc = nsx_late_check_program(&f.reading.comm->cat, &f.top, options->program, err);
	if (rc == NSX_OK)
		rc = make(&f, s);
	if (rc == NSX_OK)
		add_diags(&f, diags);
	if (rc != NSX_OK)
		nsx_stragglers_free(s);
	nsx_collective_reading_free(&f.reading);
	nsx_top_free(&f.top);
	nsx_map_free(&f.device_of);
	nsx_map_free(&f.row_of);
	free(f.rows.p);
	return rc;
}
