/* summary/helpers.h -- GPU work that no range of a name launched, but which belongs to it in time: what a thread
 * without such ranges launched while one was open on another thread of its process, as autograd's threads do for the
 * range around loss.backward(), and XLA's for a range around a call of a jitted function.
 *
 *   thread 1   step 0 [0,100)    call [10,12) of 5 ns    -> in step 0: gpu_time
 *   thread 2                     call [15,17) of 7 ns    -> launched while step 0 was open: helps it
 *   thread 3   step 1 [20,80)    call [30,32) of 3 ns    -> in step 1; thread 3 has steps, so it does not help step 0
 *
 * Names that differ in numbers only are of one class, as for nsysx-steps, and a thread helps no range of a class of
 * which it has ranges itself. If ranges of a class are open on several threads (above, at 50, steps 0 and 1), an
 * operation helps those of one thread: of the threads that launched work on its device in ranges, otherwise of all
 * threads, the one whose outermost range of the class started last. So it counts once in a row, and in one of the steps
 * that are open beside each other. Private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_HELPERS_H
#define NSX_TABLE_SUMMARY_HELPERS_H

#include "base/diag.h"
#include "base/table.h"
#include "base/vec.h"
#include "job/range_book.h"
#include "job/threads.h"
#include "stream/reader.h"
#include "table/summary/summary.h"

/* A thread: the GPU time of its operations, of those in no range, and their number. */
struct nsx_helper_thread {
	int64_t  profile, pid, tid;
	uint32_t process;
	nsx_u128 launched, alone;
};

struct nsx_helper_range { int64_t start, end; uint32_t thread, row; };
struct nsx_helper_op { int64_t call, dur; uint32_t thread, device; };

enum { NSX_HELPER_LAST = 16 };

/* {0} is empty. Memory holds the threads and classes; if `keep`, also 24 bytes for each range and each operation. */
struct nsx_helpers {
	bool           keep;
	struct nsx_map device_at;             /* number of a device -> its place in pids */
	NSX_VEC(int64_t) pids;
	struct nsx_threads number;
	NSX_VEC(struct nsx_helper_thread) threads;   /* by that number */
	uint32_t       last[NSX_HELPER_LAST]; /* the threads of previous lookups, if there are threads */
	bool           device_known;          /* of the operation before: its device, and the device's place in pids */
	int64_t        device;
	uint32_t       device_place;
	struct nsx_range_book book;           /* for names only */
	struct nsx_intern classes;            /* DOMAIN:NAME with digits as # */
	NSX_VEC(uint32_t) class_of;           /* of a row */
	struct nsx_map has;                   /* keep: (thread, class) of all ranges */
	struct nsx_map uses;                  /* keep: (thread, device) of operations in ranges */
	NSX_VEC(struct nsx_helper_range) ranges;
	NSX_VEC(struct nsx_helper_op) ops;
	NSX_VEC(uint64_t) outer;              /* by class: which of the first 64 threads launched work in such ranges
	                                       * that are in no other */
	nsx_u128       alone, threadless;     /* time of operations in no range; of those whose thread is unknown */
	int64_t        nalone, no_call;       /* number of operations in no range; of those without a call */
};

/* An operation that took dur >= 0 ns; its other values are those of its record, NSX_ABSENT where that has none. */
struct nsx_helper_launch { int64_t profile, device, tid, range, host_start, dur; };

/* Declare to the reader what the functions below read. */
void nsx_helpers_need(const struct nsx_helpers *h, struct nsx_reader *in);

/* Add a record of a device; of a range, counted in that row; an operation, whose thread's number is then in *thread,
 * NSX_NONE if it is not known. False when out of memory. */
bool nsx_helpers_device(struct nsx_helpers *h, const struct nsx_rec *rec);
bool nsx_helpers_range(struct nsx_helpers *h, const struct nsx_rec *rec, uint32_t row);
bool nsx_helpers_op(struct nsx_helpers *h, const struct nsx_helper_launch *op, uint32_t *thread);

/* Without keep, for the ranges of a row whose records are not at hand: the domain and the name of one of them. False
 * when out of memory. */
bool nsx_helpers_row(struct nsx_helpers *h, struct nsx_str domain, struct nsx_str name, uint32_t row);

/* That thread launched an operation in a range of that row, which is in no other range. */
void nsx_helpers_outer(struct nsx_helpers *h, uint32_t row, uint32_t thread);

/* After the last record, with keep: add the time of each row's helpers to helped[row], nrows of them. False when out of
 * memory. */
bool nsx_helpers_assign(struct nsx_helpers *h, nsx_u128 *helped, size_t nrows);

/* After the last record: report the time of operations in no range and the threads that launched them, and without keep
 * that gpu_time is of a range's own thread, where threads of a process that launched work have different ranges. `all`:
 * the time of all operations. False when out of memory. */
bool nsx_helpers_report(const struct nsx_helpers *h, nsx_u128 all, struct nsx_table *t, struct nsx_diags *diags);

void nsx_helpers_free(struct nsx_helpers *h);

#endif
