/* ops_runs.c -- what ops.c does with records, for those that come in runs: values are read off columns, and the row
 * of a name is found without looking at it where it was found before. */
#include "table/summary/ops.h"

#include "job/reach.h"
#include "table/analysis.h"

/* The row of two texts; NSX_NONE when out of memory. */
static uint32_t
row_of_strings(struct nsx_ops *f, struct nsx_str with, struct nsx_str name)
{
	uint32_t at;

	if (!with.ptr || !name.ptr)
		return NSX_NONE;
	if (f->kernel)
		return nsx_ops_row_at(f, with, name);
	at = nsx_ops_row_of_range(f, with, name);
	return at != NSX_NONE && nsx_helpers_row(&f->helpers, with, name, at) ? at : (uint32_t)NSX_NONE;
}

/* The same for a text that stands for all that are equal except for digits at the end, if it does. */
static uint32_t
row_of_many(struct nsx_ops *f, struct nsx_str with, struct nsx_str name)
{
	struct nsx_str stem = nsx_stem(name);
	bool digits = stem.len < name.len;
	uint32_t at = with.len || !digits ? (uint32_t)NSX_NONE : nsx_stem_number(&f->stems, stem);

	if (at != NSX_NONE || !with.ptr || !name.ptr || !nsx_name_is_of_many(f->names, with, name))
		return at;
	at = row_of_strings(f, with, name);
	if (!with.len && at != NSX_NONE)
		nsx_stem_number_set(&f->stems, stem, at);
	return at;
}

/* The row of two texts of a block. */
static uint32_t
row_of_texts(struct nsx_ops *f, const struct nsx_run_texts *texts, int64_t with, int64_t text)
{
	struct nsx_str first = nsx_text(texts, with);
	uint32_t at = f->kernel || !texts->first || text == NSX_ABSENT ? (uint32_t)NSX_NONE
	              : row_of_many(f, first, nsx_text(texts, texts->first[text]));
	bool many = at != NSX_NONE;

	if (!many)
		at = row_of_strings(f, first, nsx_text(texts, text));
	if (at != NSX_NONE && !nsx_text_number_set(&f->numbers, texts, with, text, at, many))
		return NSX_NONE;
	return at;
}

/* The row of record i of a run by its texts in two slots; NSX_NONE when out of memory. */
static inline uint32_t
row_in_run(struct nsx_ops *f, const struct nsx_run *run, size_t i, int with_slot, int name_slot)
{
	int64_t with = nsx_run_int(run, i, with_slot, NSX_ABSENT), name = nsx_run_int(run, i, name_slot, NSX_ABSENT);
	uint32_t at = nsx_text_number(&f->numbers, &run->texts, with, name);

	return at != NSX_NONE ? at : row_of_texts(f, &run->texts, with, name);
}

/* Whether record i is in reach (job/reach.h), else it is counted. */
static inline bool
comes(struct nsx_ops *f, const struct nsx_run *run, size_t i)
{
	bool good = nsx_run_in_reach(run, i);

	f->beyond += !good;
	return good;
}

static int
take_op_run(struct nsx_ops *f, const struct nsx_run *run)
{
	int rc = NSX_OK;

	f->any = true;
	for (size_t i = run->from; i < run->end && rc == NSX_OK; i++) {
		int64_t dur = nsx_run_int(run, i, NSX_OP_dur, -1);

		if (!comes(f, run, i))
			continue;
		if (dur < 0)
			f->timeless++;
		else
			rc = nsx_ops_add(f, row_in_run(f, run, i, NSX_OP_type, NSX_OP_name), dur,
			            nsx_run_int(run, i, NSX_OP_execution, NSX_ABSENT) != NSX_ABSENT);
	}
	return rc;
}

static int
take_range_run(struct nsx_ops *f, const struct nsx_run *run)
{
	int rc = NSX_OK;

	f->any = true;
	for (size_t i = run->from; i < run->end && rc == NSX_OK; i++) {
		int64_t start = nsx_run_int(run, i, NSX_RANGE_start, NSX_ABSENT);
		int64_t dur = nsx_run_int(run, i, NSX_RANGE_dur, -1);

		if (!comes(f, run, i))
			continue;
		f->no_work += start == NSX_ABSENT;
		f->timeless += start != NSX_ABSENT && dur < 0;
		if (start == NSX_ABSENT || dur < 0)
			continue;
		uint32_t at = row_in_run(f, run, i, NSX_RANGE_domain, NSX_RANGE_name);
		if (at == NSX_NONE)
			return nsx_err_nomem(f->err, NULL);
		rc = nsx_ops_add_range(f, at, &(struct nsx_ops_range){
			nsx_run_int(run, i, NSX_RANGE_profile, NSX_ABSENT),
			nsx_run_int(run, i, NSX_RANGE_range, NSX_ABSENT),
			nsx_run_int(run, i, NSX_RANGE_parent, NSX_ABSENT), start, dur,
			nsx_run_int(run, i, NSX_RANGE_ops, 0), nsx_run_int(run, i, NSX_RANGE_host_dur, 0) });
	}
	return rc;
}

static int
take_launched_run(struct nsx_ops *f, const struct nsx_run *run)
{
	int rc = NSX_OK;

	f->any_op = true;
	for (size_t i = run->from; i < run->end && rc == NSX_OK; i++) {
		if (!comes(f, run, i))
			continue;
		rc = nsx_ops_add_launched(f, nsx_run_int(run, i, NSX_OP_start, NSX_ABSENT), &(struct nsx_helper_launch){
			.profile = nsx_run_int(run, i, NSX_OP_profile, NSX_ABSENT),
			.device = nsx_run_int(run, i, NSX_OP_device, NSX_ABSENT),
			.tid = nsx_run_int(run, i, NSX_OP_tid, NSX_ABSENT),
			.range = nsx_run_int(run, i, NSX_OP_range, NSX_ABSENT), .host_start = NSX_ABSENT,
			.dur = nsx_run_int(run, i, NSX_OP_dur, -1)
		});
	}
	return rc;
}

int
nsx_ops_take_run(void *state, const struct nsx_run *run)
{
	struct nsx_ops *f = state;

	if (f->kernel)
		return take_op_run(f, run);
	return run->kind->id == NSX_RANGE ? take_range_run(f, run) : take_launched_run(f, run);
}
