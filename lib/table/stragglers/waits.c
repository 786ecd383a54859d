/* waits.c -- which devices waited in collectives, and for which.
 *
 * In one instance of a collective, an execution of it by a group, a device waits from its own start to the start of the
 * last device, for which it waits; from there to the last end is transfer:
 *
 *   device 0   100..150    waits 30 for device 2
 *   device 1   110..150    waits 20 for device 2
 *   device 2   130..151    made others wait 50; transfer of all three: 21
 *
 * Holds instances until all devices of the group have recorded them, and a sum for each row. */
#include <stdlib.h>

#include "table/stragglers/rows.h"
#include "base/num.h"
#include "job/clock_error.h"

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
	struct nsx_late_state begin;
	struct nsx_map   device_of, row_of;
	NSX_VEC(struct row) rows;
	bool             any;
	int64_t          apart, incomplete;
};

static int
nomem(struct waits *f)
{
	return nsx_err_nomem(f->begin.late->err, NULL);
}

/* The row of a kind, a device and, for pairs, the device that it waited for; NULL when out of memory. */
static struct row *
row_at(struct waits *f, uint32_t kind, int64_t device, int64_t cause)
{
	bool pairs = f->begin.late->options.show == NSX_STRAGGLERS_PAIRS;
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
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct waits *f = state;
	const struct nsx_late_record *of = records, *last = of;
	int64_t end = of->end;
	nsx_u128 caused = 0;
	bool pairs = f->begin.late->options.show == NSX_STRAGGLERS_PAIRS;
	uint32_t kind = f->begin.late->comm.cat.insts.p[nsx_comm_collective_inst(key.a)].collective;

	for (size_t i = 1; i < n; i++) {
		if (of[i].clock != of->clock) {
			f->apart++;
			return NSX_OK;
		}
		if (of[i].start > last->start || (of[i].start == last->start && of[i].device < last->device))
			last = &of[i];
		end = of[i].end > end ? of[i].end : end;
	}
	for (size_t i = 0; i < n && n > 1; i++) {
		nsx_u128 wait = (uint64_t)last->start - (uint64_t)of[i].start;
		int64_t shown = wait > INT64_MAX ? INT64_MAX : (int64_t)wait;

		if (pairs && &of[i] == last)
			continue;
		struct row *r = row_at(f, kind, of[i].device, last->device);
		if (!r)
			return nomem(f);
		r->count++;
		r->wait += wait;
		r->wait_max = shown > r->wait_max ? shown : r->wait_max;
		r->transfer += (uint64_t)end - (uint64_t)last->start;
		caused += wait;
	}
	if (n > 1 && !pairs) {
		struct row *r = row_at(f, kind, last->device, 0);

		if (!r)
			return nomem(f);
		r->last++;
		r->caused += caused;
	}
	return NSX_OK;
}

static void
waits_free(void *state)
{
	struct waits *f = state;

	nsx_map_free(&f->device_of);
	nsx_map_free(&f->row_of);
	free(f->rows.p);
}

static int
take_thunk(void *state, const struct nsx_rec *rec, uint32_t program, const struct nsx_late_record *times)
{
	struct waits *f = state;
	struct nsx_late *late = f->begin.late;
	struct nsx_comm_record r;
	struct nsx_key key;

	(void)program;
	f->any = true;
	if (nsx_comm_describe(&late->comm, rec, &r, late->err) != NSX_OK)
		return NSX_ERR;
	f->incomplete += r.incomplete;
	if (!nsx_comm_instance(&late->comm, rec, &r, &key))
		return nomem(f);
	return nsx_instances_add(&f->begin.instances, key, times, r.participants, late->err);
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
	if (nsx_table_sum(t, W_WAIT, r->wait, f->begin.late->err) != NSX_OK)
		return NSX_ERR;
	return nsx_table_sum(t, W_CAUSED, r->caused, f->begin.late->err);
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
	return nsx_table_sum(t, P_WAIT, r->wait, f->begin.late->err);
}

static bool
within_error(const struct waits *f, const struct row *r)
{
	return r->wait && (double)r->wait <= nsx_clock_error(&f->begin.late->comm.cat) * (double)r->count;
}

static int
waits_finish(void *state, struct nsx_stragglers *out, struct nsx_diags *diags)
{
	struct waits *f = state;
	bool pairs = f->begin.late->options.show == NSX_STRAGGLERS_PAIRS;
	struct order *rows;
	int rc = NSX_OK;
	int64_t within = 0;

	rows = malloc((f->rows.n + 1) * sizeof *rows);
	out->table = pairs ? nsx_table_new(pair_cols, P_NCOLS) : nsx_table_new(wait_cols, W_NCOLS);
	nsx_table_rank(out->table, pairs ? "collective device waited_for wait count"
	                                  : "collective device wait caused last count");
	if (!rows || !out->table)
		rc = nomem(f);
	for (size_t i = 0; i < f->rows.n && rc == NSX_OK; i++) {
		const struct row *r = &f->rows.p[i];

		within += within_error(f, r);
		rows[i] = (struct order){ r->kind == NSX_NONE ? NSX_STR("[unknown]")
		                          : nsx_cat_str(&f->begin.late->comm.cat,
			r->kind),
		                          pairs ? r->wait : r->caused, r };
	}
	if (rc == NSX_OK && f->rows.n > 1)
		qsort(rows, f->rows.n, sizeof *rows, order_cmp);
	for (size_t i = 0; i < f->rows.n && rc == NSX_OK; i++)
		rc = pairs ? put_pair(f, out->table, &rows[i]) : put_wait(f, out->table, &rows[i]);
	free(rows);
	if (!f->any && f->begin.late->nccl)
		nsx_diag_add(diags, NSX_WARNING, "", f->begin.late->nccl,
		             "kernels communicate, but none belongs to a collective of an XLA program, which waits "
		             "need: nsysx-collectives --instances --sort skew shows which rank NCCL's others wait for");
	else if (!f->any)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no communication");
	else if (f->rows.n == 0)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no collective has two devices of the stream on one clock: no waits");
	nsx_clock_error_diag(&f->begin.late->comm.cat, within, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->apart,
	             "executions of collectives on devices whose clocks cannot be compared: ignored");
	nsx_comm_group_diags(&f->begin.late->comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->incomplete,
		"thunks of collectives whose group has devices that are not in the stream: waits for those are not "
		"known");
	return rc;
}

const struct nsx_later nsx_late_waits = { sizeof(struct waits), true, complete, NULL, take_thunk, waits_finish,
                                          waits_free };
