/* things.h -- what fills windows of devices, such as steps: each instant is assigned to one thing that the device did,
 * or to a cause of being idle (as in nsysx-idle), so that the times of a window's things and causes add up to it.
 *
 * An instant belongs to a computing operation, else to a communicating one, else to a copy; of several of a kind that
 * run at once, to the one that ends last:
 *
 *   window [0,100): gemm [0,60)  all-reduce [50,90)   ->   instruction gemm 60, collective all-reduce 30 */
#ifndef NSX_TABLE_STEPS_THINGS_H
#define NSX_TABLE_STEPS_THINGS_H

#include "job/activity.h"
#include "job/catalogue.h"
#include "job/range_book.h"
#include "table/idle/idle.h"

/* The kind of thing. */
enum nsx_thing { NSX_THING_INSTRUCTION, NSX_THING_RANGE, NSX_THING_KERNEL, NSX_THING_COLLECTIVE, NSX_THING_COPY,
                 NSX_THING_IDLE, NSX_NTHINGS };
/* "instruction", ... */
const char *nsx_thing_name(enum nsx_thing thing);

/* ns of the window of that key belong to the thing. name: in the names; where it is, with `placed`: of a kernel its
 * innermost range, of an instruction its opcode and, if it has one, a newline and its op_name, of idle time of the
 * cause range that range; NSX_NONE: nowhere. cause: of idle time. */
struct nsx_filled { int64_t key; enum nsx_thing thing; uint32_t name, where; enum nsx_cause cause; int64_t ns; };

/* False when out of memory. */
typedef bool nsx_filled_fn(void *state, const struct nsx_filled *f);

struct nsx_things_device;

/* {0} with the members before `idle` set is empty. Windows are as nsx_window_given_sort leaves them, and may
 * overlap. */
struct nsx_things {
	struct nsx_err       *err;
	struct nsx_intern    *names;         /* the caller's */
	nsx_filled_fn        *count;
	int                 (*also)(void *state, const struct nsx_rec *rec);   /* gets each record, too: NSX_OK or
	                                                                        * NSX_ERR */
	void                 *state;         /* of both */
	const struct nsx_window_given *windows;
	size_t                n;
	bool                  placed;        /* kernels in ranges are things, instead of the ranges */
	bool                  causes_only;   /* busy time is not counted */
	struct idle           idle;          /* its `own` catalogue has names, unless causes alone are counted */
	struct nsx_idle_options options;     /* of that */
	struct nsx_range_book book;
	struct nsx_intern     places;        /* with placed: of name and where */
	struct nsx_buf        text;
	NSX_VEC(struct nsx_things_device) devices;   /* by index of the catalogue */
};

/* Declare to a reader what reading uses, all or that of causes only. */
void nsx_things_need(struct nsx_reader *in, bool causes_only);
/* Read all of `in`, and count what fills the windows. The caller may report t->idle. NSX_OK, or NSX_ERR with err
 * filled. */
int nsx_things_read(struct nsx_things *t, struct nsx_reader *in, struct nsx_diags *diags);
void nsx_things_free(struct nsx_things *t);

#endif
