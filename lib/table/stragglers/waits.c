/* waits.c -- which devices waited in collectives, and for which: sums over instances (job/comm/reading.h).
 *
 * In one instance of a collective, an execution of it by a group, a device waits from its own start to the start of the
 * last device, for which it waits; from there to the last end is transfer:
 *
 *   device 0   100..150    waits 30 for device 2
 *   device 1   110..150    waits 20 for device 2
 *   device 2   130..151    made others wait 50; transfer of all three: 21 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/stragglers/lockstep.h"
#include "base/num.h"
#include "base/sort.h"
#include "job/clock_error.h"
#include "job/comm/reading.h"
#include "job/device_groups.h"
#include "job/remedy.h"
#include "table/by_groups.h"
#include "table/sums.h"

/* The times of a device in collectives of a kind, or those with one other device. inst: 1 + that of the catalogue where
 * rows are by instruction, 0: of none, or they are not. */
struct key { int64_t device, cause; uint32_t kind, inst; };
struct row {
	struct key key;
	int64_t    count, last, wait_max;
	nsx_u128   wait, caused, transfer;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("collective", STRING, key.kind), NSX_COL("device", ID, key.device),
	NSX_COL("waited_for", ID, key.cause), NSX_COL("count", INT, count), NSX_COL("wait", NS, wait),
	NSX_COL_PER("wait_mean", MEAN_NS, wait, count), NSX_COL("wait_max", NS, wait_max), NSX_COL("last", INT, last),
	NSX_COL("caused", NS, caused), NSX_COL_PER("transfer_mean", MEAN_NS, transfer, count),
};
/* By kind, then the device that made others wait longest, or the pair in which one waited longest. */
static const struct nsx_sum_def waits_of_devices = {
	NSX_ROWS(cols), .key = sizeof(struct key),
	.shown = "collective device count wait wait_mean wait_max last caused transfer_mean",
	.order = "collective -caused device", .rank = "collective device wait caused last count"
}, waits_of_pairs = {
	NSX_ROWS(cols), .key = sizeof(struct key),
	.shown = "collective device waited_for count wait wait_mean wait_max",
	.order = "collective -wait device waited_for", .rank = "collective device waited_for wait count"
};

/* The times of all devices in an instruction. caused, last: of the device that made others wait most. */
struct line {
	uint32_t   kind, inst;
	struct nsx_str program, name, op_name;
	int64_t    instances, count, device, last, wait_max;
	nsx_u128   wait, caused, transfer;
};

#undef NSX_ROW
#define NSX_ROW struct line
static const struct nsx_sum_col line_cols[] = {
	NSX_COL("program", STRING, program), NSX_COL("name", STRING, name), NSX_COL("collective", STRING, kind),
	NSX_COL("instances", INT, instances), NSX_COL("wait", NS, wait), NSX_COL_SHARE("wait_share", wait),
	NSX_COL_PER("wait_mean", MEAN_NS, wait, count), NSX_COL("wait_max", NS, wait_max),
	NSX_COL("waited_for", ID, device), NSX_COL("caused", NS, caused), NSX_COL("last", INT, last),
	NSX_COL_PER("transfer_mean", MEAN_NS, transfer, count), NSX_COL("op_name", STRING, op_name),
};
static const struct nsx_sum_def waits_of_instructions = {
	NSX_ROWS(line_cols), .key = 2 * sizeof(uint32_t), .order = "-wait program name collective",
	.rank = "name wait wait_share waited_for caused instances collective wait_mean last program wait_max",
	.adds = "wait"
};

struct waits {
	struct nsx_err  *err;
	const struct nsx_stragglers_options *options;
	struct nsx_collective_reading reading;
	struct nsx_top   top;              /* on the catalogue of the reading */
	struct nsx_sums  devices, pairs;
	bool             by_device, by_pair;   /* which of them are wanted */
	bool             by_inst;              /* devices are of each instruction */
	struct lockstep *also;             /* takes records, too; NULL: none */
	int64_t          instances, apart, incomplete, alone;
	int64_t          within;           /* rows of the tables whose waits are within the error of the clocks */
};

/* The row of a kind, an instruction, a device and, for pairs, the device that it waited for; NULL when out of
 * memory. */
static struct row *
row_at(struct nsx_sums *sums, uint32_t kind, uint32_t inst, int64_t device, int64_t cause)
{
	struct key key = { device, cause, kind, inst };

	return nsx_sums_row(sums, &key);
}

/* A device's record of an instance. */
static void
add_wait(struct row *r, int64_t wait, int64_t transfer)
{
	r->count++;
	r->wait += (nsx_u128)wait;
	r->wait_max = wait > r->wait_max ? wait : r->wait_max;
	r->transfer += (nsx_u128)transfer;
}

static int
add_pairs(struct waits *f, const struct nsx_collective *of, size_t n, const struct nsx_collective *late,
          int64_t transfer)
{
	for (size_t i = 0; i < n; i++) {
		struct row *r = &of[i] == late ? NULL : row_at(&f->pairs, of->kind, 0, of[i].device, late->device);

		if (!r && &of[i] != late)
			return NSX_NOMEM(f);
		if (r)
			add_wait(r, of[i].wait, transfer);
	}
	return NSX_OK;
}

static int
add_devices(struct waits *f, const struct nsx_collective *of, size_t n, const struct nsx_collective *late,
            int64_t transfer)
{
	uint32_t inst = f->by_inst && of->inst != NSX_NONE ? of->inst + 1 : 0;
	nsx_u128 caused = 0;
	struct row *r;

	for (size_t i = 0; i < n; i++) {
		if (!(r = row_at(&f->devices, of->kind, inst, of[i].device, 0)))
			return NSX_NOMEM(f);
		add_wait(r, of[i].wait, transfer);
		caused += (nsx_u128)of[i].wait;
	}
	if (!(r = row_at(&f->devices, of->kind, inst, late->device, 0)))
		return NSX_NOMEM(f);
	r->last++;
	r->caused += caused;
	return NSX_OK;
}

static int
add_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct waits *f = state;
	const struct nsx_collective *late = of;
	int64_t transfer;

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
	transfer = nsx_sub_sat(nsx_collective_end(of, n), nsx_add_sat(of->start, of->wait, NULL), NULL);
	for (size_t i = 0; i < n; i++) {
		late = of[i].late ? &of[i] : late;
		/* A wait that long was cut to the largest number. */
		if (of[i].wait == INT64_MAX)
			return nsx_err_overflow(f->err, NULL);
	}
	if (f->by_pair && add_pairs(f, of, n, late, transfer) != NSX_OK)
		return NSX_ERR;
	return f->by_device ? add_devices(f, of, n, late, transfer) : NSX_OK;
}

static int
take_other(void *state, const struct nsx_rec *rec)
{
	struct waits *f = state;

	f->top.given = &f->reading.comm->cat;
	if (rec->kind->id == NSX_MODULE && nsx_top_module(&f->top, rec) == NSX_NONE)
		return NSX_NOMEM(f);
	return f->also ? nsx_lockstep_take(f->also, rec) : NSX_OK;
}

/* Whether the waits of a row, of so many records, are within the error of the clocks. */
static bool
is_within_error(const struct waits *f, nsx_u128 wait, int64_t count)
{
	return wait && (double)wait <= nsx_clock_error(&f->reading.comm->cat) * (double)count;
}

/* The rows of devices as a table by instruction. NULL with err filled. */
static struct nsx_table *
instructions(struct waits *f)
{
	const struct nsx_catalogue *cat = &f->reading.comm->cat;
	struct nsx_sums sums = { .def = &waits_of_instructions, .texts = &cat->strings, .none = "[unknown]" };
	struct nsx_table *t;

	NSX_SUMS_EACH(const struct row, r, &f->devices) {
		struct line *l = nsx_sums_row(&sums, (uint32_t [2]){ r->key.kind, r->key.inst });

		if (!l) {
			nsx_sums_free(&sums);
			NSX_NOMEM(f);
			return NULL;
		}
		/* Each instance has one device that is the last. */
		l->instances += r->last;
		l->count += r->count;
		l->wait += r->wait;
		l->transfer += r->transfer;
		l->wait_max = r->wait_max > l->wait_max ? r->wait_max : l->wait_max;
		sums.whole += r->wait;
		if (l->count == r->count || r->caused > l->caused ||
		    (r->caused == l->caused && r->key.device < l->device)) {
			l->device = r->key.device;
			l->caused = r->caused;
			l->last = r->last;
		}
	}
	NSX_SUMS_EACH(struct line, l, &sums) {
		f->within += is_within_error(f, l->wait, l->count);
		if (!l->wait)
			l->device = l->last = NSX_ABSENT;
		if (!l->inst)
			continue;
		const struct nsx_cat_inst *inst = &cat->insts.p[l->inst - 1];

		l->program = nsx_cat_program_label(cat, inst->program);
		l->name = nsx_cat_str(cat, inst->name);
		l->op_name = nsx_cat_str(cat, inst->op_name);
	}
	t = nsx_sums_table(&sums, f->err);
	nsx_sums_free(&sums);
	return t;
}

/* The rows as a table. NULL with err filled. */
static struct nsx_table *
table_of(struct waits *f, struct nsx_sums *sums)
{
	NSX_SUMS_EACH(const struct row, r, sums)
		f->within += is_within_error(f, r->wait, r->count);
	return nsx_sums_table(sums, f->err);
}

/* ---- totals, as lines below the table of devices */

/* The devices that have a line of their own. */
enum { TOLD = 16 };

/* Sums, of which no table is made. */
static const struct nsx_sum_def totals_of_devices = { .size = sizeof(struct row), .key = sizeof(struct key) };

static void
add_row(struct row *to, const struct row *r)
{
	to->count += r->count;
	to->last += r->last;
	to->wait += r->wait;
	to->caused += r->caused;
}

NSX_ORDER(by_caused, struct row, NSX_CMP(b->caused, a->caused), NSX_CMP(a->key.device, b->key.device))

static void
tell_total(struct nsx_table *t, const char *whose, const struct row *r, bool group)
{
	nsx_table_note(t, "[all]%s: %" PRId64 " record%s, waited %s, last %" PRId64 " time%s, %s waited %s for %s",
	               whose, r->count, r->count == 1 ? "" : "s", nsx_ns_text((double)r->wait).s, r->last,
	               r->last == 1 ? "" : "s", group ? "others" : "the others", nsx_ns_text((double)r->caused).s,
	               group ? "its devices" : "it");
}

/* Each instance has one device that is the last. */
static void
tell_all(struct nsx_table *t, const struct row *all)
{
	nsx_table_note(t, "[all]: %" PRId64 " records of %" PRId64 " instance%s, waited %s", all->count, all->last,
	               all->last == 1 ? "" : "s", nsx_ns_text((double)all->wait).s);
}

/* The sums over all kinds of collectives, of each device if there are several kinds, and of all devices. NSX_OK or
 * NSX_ERR. */
static int
tell_totals(struct waits *f, struct nsx_table *t)
{
	struct nsx_sums sums = { .def = &totals_of_devices };
	struct row all = { .count = 0 }, rest = { .count = 0 };
	size_t n = nsx_sums_count(&f->devices), devices;
	char whose[48];

	for (size_t i = 0; i < n; i++) {
		const struct row *r = nsx_sums_at(&f->devices, i);
		struct row *to = row_at(&sums, 0, 0, r->key.device, 0);

		if (!to) {
			nsx_sums_free(&sums);
			return NSX_NOMEM(f);
		}
		add_row(to, r);
		add_row(&all, r);
	}
	devices = nsx_sums_count(&sums);
	struct row *list = devices ? nsx_sums_at(&sums, 0) : NULL;

	if (devices)
		qsort(list, devices, sizeof *list, by_caused);
	for (size_t i = 0; i < devices && devices < n; i++) {
		if (i >= TOLD) {
			add_row(&rest, &list[i]);
			continue;
		}
		snprintf(whose, sizeof whose, " of device %" PRId64, list[i].key.device);
		tell_total(t, whose, &list[i], false);
	}
	if (rest.count)
		nsx_table_note(t, "[all] of %zu further device%s: %" PRId64 " records, waited %s", devices - TOLD,
		               devices - TOLD == 1 ? "" : "s", rest.count, nsx_ns_text((double)rest.wait).s);
	if (all.count)
		tell_all(t, &all);
	nsx_sums_free(&sums);
	return NSX_OK;
}

/* The same of groups of devices, in which devices wait for each other, too. */
static void
tell_group(struct nsx_table *t, struct nsx_str of, const int64_t *sums)
{
	struct row r = { .count = sums[0], .wait = (nsx_u128)sums[1], .last = sums[2], .caused = (nsx_u128)sums[3] };
	struct nsx_buf whose = { 0 };

	nsx_buf_str(&whose, of);
	nsx_buf_char(&whose, '\0');
	if (!of.len)
		tell_all(t, &r);
	else if (!whose.failed)
		tell_total(t, whose.ptr, &r, true);
	nsx_buf_free(&whose);
}

const struct nsx_by_groups nsx_groups_of_waits = {
	.keys = "collective", .sums = "count wait last caused", .main = "caused",
	.as = { "caused_mean", "caused_p50", "caused_p99", "caused_max" }, .zeros = true, .total = tell_group
};

/* Idle time tells who is late, of the same groups; instructions have none. */
static void
add_unknown(const struct waits *f, struct nsx_diags *diags)
{
	const struct nsx_catalogue *cat = &f->reading.comm->cat;
	const char *by = f->options->show == NSX_STRAGGLERS_INSTRUCTIONS ? NULL : f->options->by;
	struct nsx_grouping g;

	/* Groups and axes are those of the members that are not known. */
	if (by && (!nsx_grouping_parse(by, &g) || g.by == NSX_BY_GROUP || g.by == NSX_BY_AXIS))
		by = NULL;
	nsx_diag_add(diags, NSX_WARNING, "", f->alone,
	             "operations communicate, but those of other devices that belong to them are not known: %s%s%s%s",
	             nsx_remedy(cat, NSX_LACK_MEMBERS),
	             cat->ndevices > 1 ? "; without them, who is late is told by nsysx-idle --steps" : "",
	             cat->ndevices > 1 && by ? " --by " : "", cat->ndevices > 1 && by ? by : "");
}

static void
add_diags(const struct waits *f, struct nsx_diags *diags)
{
	if (!f->instances && !f->alone)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no communication between devices: nothing waits");
	else if (!f->instances)
		add_unknown(f, diags);
	else if (!nsx_sums_count(&f->devices) && !nsx_sums_count(&f->pairs))
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no collective has two devices of the stream on one clock: no waits");
	nsx_clock_error_diag(&f->reading.comm->cat, f->within, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->apart,
	             "executions of collectives on devices whose clocks cannot be compared: ignored");
	nsx_comm_group_diags(f->reading.comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->incomplete,
		"records of collectives whose group has devices that are not in the stream: waits for those are not "
		"known");
}

int
nsx_stragglers_waits(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_table **devices,
                     struct nsx_table **pairs, struct lockstep *also, struct nsx_diags *diags, struct nsx_err *err)
{
	struct waits f = { .err = err, .options = options, .also = also, .by_device = devices, .by_pair = pairs,
	                   .by_inst = options->show == NSX_STRAGGLERS_INSTRUCTIONS };
	int rc;

	f.devices = f.pairs = (struct nsx_sums){ .texts = &f.reading.pairing.comm.cat.strings, .none = "[unknown]" };
	f.devices.def = &waits_of_devices;
	f.pairs.def = &waits_of_pairs;
	f.reading = (struct nsx_collective_reading){ .instance = add_instance, .other = take_other, .state = &f,
	                                             .require = options->require };
	f.reading.keep = f.by_inst ? NSX_CAT_NAMES | NSX_CAT_OP_NAMES : 0;
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	rc = nsx_collective_instances(in, &f.reading, diags, err);
	if (rc == NSX_OK && f.instances && f.reading.comm->own_clocks > 1)
		rc = nsx_late_not_aligned(in, err);
	if (rc == NSX_OK)
		rc = nsx_late_check_program(&f.reading.comm->cat, &f.top, options->program, err);
	if (rc == NSX_OK && devices)
		rc = (*devices = f.by_inst ? instructions(&f) : table_of(&f, &f.devices)) ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK && devices && !f.by_inst)
		rc = tell_totals(&f, *devices);
	if (rc == NSX_OK && pairs)
		rc = (*pairs = table_of(&f, &f.pairs)) ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK)
		add_diags(&f, diags);
	nsx_collective_reading_free(&f.reading);
	nsx_top_free(&f.top);
	nsx_sums_free(&f.devices);
	nsx_sums_free(&f.pairs);
	return rc;
}
