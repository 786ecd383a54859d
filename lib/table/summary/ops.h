/* summary/ops.h -- the state of a table by kernel or range, which records add to one by one (ops.c) or in runs
 * (ops_runs.c). Private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_OPS_H
#define NSX_TABLE_SUMMARY_OPS_H

#include "base/map.h"
#include "base/stat.h"
#include "base/vec.h"
#include "job/range_book.h"
#include "job/text_numbers.h"
#include "table/analysis.h"
#include "table/summary/helpers.h"
#include "table/sums.h"

/* The sums of operations or ranges of a row; for operations only `dur` is used. */
struct nsx_ops_sums { struct nsx_stat dur; nsx_u128 ops, host; };

struct nsx_ops_row {
	uint32_t type, name;   /* the key: type, or domain, which may be 0: absent; in `strs` */
	struct nsx_ops_sums sums;
	struct nsx_ops_sums unworked;   /* ranges none of whose operations are in the stream: the row if it has no
	                                 * operations */
	nsx_u128 gpu, self;    /* for ranges: the time of operations launched in them, and of those that are in no inner
	                        * range */
	nsx_u128 helper;       /* of those that other threads launched meanwhile */
	int64_t  inner;        /* ranges in one of the same name, with operations */
	/* Set at the end. of_type: the time of all rows of this type. gpu_all: with that of helpers. of: the number of
	 * ranges in none of the same name, if GPU time is known */
	nsx_u128 of_type, gpu_all;
	int64_t  of;
};

/* In the book, `values` of a range are what it adds to its row once it is known whether its operations are in the
 * stream; its mark is NSX_NONE until one of them has been read, and the helpers know the thread of the outermost
 * range around it. */
enum { NSX_OPS_DUR, NSX_OPS_OPS, NSX_OPS_HOST };

struct nsx_ops {
	NSX_STATE;                 /* rows: of struct nsx_ops_row */
	enum nsx_names  names;
	struct nsx_buf  scratch;
	bool            kernel;
	bool            no_compile;
	bool            placed;    /* KERNEL: operations are known to be in executions of programs, */
	nsx_u128        outside;   /* and the time of those in none */
	struct nsx_map  compiling; /* (profile, range) of compilation and ranges in it; with no_compile only */
	int64_t         compiling_last;   /* the largest of these numbers of ranges */
	struct nsx_intern strs;   /* 0 is the empty string */
	uint32_t        recall[NSX_RECALL];
	struct nsx_text_numbers numbers;   /* rows of a block's texts: type or domain, and name; */
	struct nsx_stem_numbers stems;     /* and of names in the default domain */
	NSX_VEC(uint32_t) last;    /* by name: the last row with that name; NSX_NONE: none yet */
	struct nsx_range_book book;  /* RANGE: ranges in which operations may still be launched; names are rows, */
	nsx_u128        all_ops;   /* time of operations in any range or none */
	int64_t         timeless, no_work, timeless_ops, lost, beyond;
	bool            any, any_op, linked;   /* linked: some operation was launched in a range */
	struct nsx_helpers helpers;   /* RANGE: the threads that launched operations */
	const struct nsx_reader *in;
};

/* The number of the row of that type or domain, and name; NSX_NONE when out of memory. */
uint32_t nsx_ops_row_at(struct nsx_ops *f, struct nsx_str type, struct nsx_str name);

/* The same for a range of that domain and name, as names are shown. */
uint32_t nsx_ops_row_of_range(struct nsx_ops *f, struct nsx_str domain, struct nsx_str name);

/* Add an operation that takes dur >= 0 ns to the row of that number; placed: it is in an execution. NSX_NONE there
 * means out of memory. NSX_OK, or NSX_ERR with f->err filled, as below. */
int nsx_ops_add(struct nsx_ops *f, uint32_t at, int64_t dur, bool placed);

/* A range with GPU work from start on, which takes dur >= 0 ns; NSX_ABSENT where it has no number, none or less of
 * `ops` and `host` count as 0. */
struct nsx_ops_range { int64_t profile, range, parent, start, dur, ops, host; };

/* Add it to the row of that number. */
static inline int
nsx_ops_add_range(struct nsx_ops *f, uint32_t at, const struct nsx_ops_range *r)
{
	struct nsx_range_entry *e = nsx_range_book_enter(&f->book, r->profile, r->range, r->parent,
	                                                 nsx_add_sat(r->start, r->dur, NULL), at, f->err);

	if (!e)
		return NSX_ERR;
	e->values[NSX_OPS_DUR] = r->dur;
	e->values[NSX_OPS_OPS] = r->ops > 0 ? r->ops : 0;
	e->values[NSX_OPS_HOST] = r->host > 0 ? r->host : 0;
	return NSX_OK;
}

/* Add the time of an operation to the range in which it was launched. start: NSX_ABSENT if it has none; its duration
 * may be below 0: it is unknown. */
int nsx_ops_add_launched(struct nsx_ops *f, int64_t start, const struct nsx_helper_launch *op);

/* Take a run of operations or ranges, with none left out and no helpers kept (nsx_take_run_fn). */
int nsx_ops_take_run(void *state, const struct nsx_run *run);

#endif
