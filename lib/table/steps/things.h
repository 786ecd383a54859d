/* things.h -- the busy time of devices in windows, such as steps, by what they did: each instant is assigned to one
 * thing, so the times of the things of a window and its idle time add up to the window.
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
#include "table/windows.h"

/* The kind of thing. Idle time is not assigned here: nsysx-idle's causes are. */
enum nsx_thing { NSX_THING_INSTRUCTION, NSX_THING_RANGE, NSX_THING_KERNEL, NSX_THING_COLLECTIVE, NSX_THING_COPY,
                 NSX_THING_IDLE, NSX_NTHINGS };
/* "instruction", ... */
const char *nsx_thing_name(enum nsx_thing thing);

/* ns of the window of that key belong to the thing; name: in the names, with `placed` a number for nsx_things_place.
 * False when out of memory. */
typedef bool nsx_thing_fn(void *state, int64_t key, enum nsx_thing thing, uint32_t name, int64_t ns);

/* A name, and where it is: of a kernel its innermost range, of an instruction its opcode; NSX_NONE: nowhere. */
struct nsx_thing_place { uint32_t name, where; };

struct nsx_things_device;

/* {0} with the members before `book` set is empty. Windows are as nsx_window_given_sort leaves them, and may
 * overlap. */
struct nsx_things {
	struct nsx_err       *err;
	struct nsx_catalogue *cat;           /* the caller's, who passes metadata to it, with names */
	struct nsx_intern    *names;         /* the caller's */
	nsx_thing_fn         *count;
	void                 *state;
	const struct nsx_window_given *windows;
	size_t                n;
	bool                  placed;        /* kernels in ranges are things, instead of the ranges */
	struct nsx_range_book book;
	struct nsx_intern     places;        /* with placed: of struct nsx_thing_place */
	NSX_VEC(struct nsx_things_device) devices;   /* by index of the catalogue */
};

/* Declare to a reader what nsx_things_take uses. */
void nsx_things_need(struct nsx_reader *in);
/* Any record, after the catalogue has it; and after the last. NSX_OK, or NSX_ERR with err filled. */
int nsx_things_take(struct nsx_things *t, const struct nsx_rec *rec);
int nsx_things_finish(struct nsx_things *t);
/* What the number is. */
struct nsx_thing_place nsx_things_place(const struct nsx_things *t, uint32_t number);
void nsx_things_free(struct nsx_things *t);

#endif
