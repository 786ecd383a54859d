/* program_time.h -- the programs of a stream: the time of each, which of them account for most of it, and the totals over those. */
#ifndef NSX_JOB_PROGRAM_TIME_H
#define NSX_JOB_PROGRAM_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "job/share.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "stream/kinds.h"

struct nsx_top_program {
	int64_t  number;         /* in the stream; INT64_MIN if records have none */
	int64_t  id;
	bool     has_id;
	uint32_t name, key;      /* in nsx_top.strs; NSX_NONE if absent */
	bool     kept;           /* set by nsx_top_pick */
	nsx_u128 modules;        /* sum of module durations, ns */
	nsx_u128 exposed;        /* sum of exposed time of thunks, ns; the caller's to add to */
};

/* What a device did of a program: its first start and last end. */
struct nsx_top_run { int64_t device, first, last; uint32_t program; };

/* {0} is empty. */
struct nsx_top {
	struct nsx_intern strs;
	struct nsx_catalogue cat;       /* the caller's to fill and to ask what communicates */
	NSX_VEC(struct nsx_top_program) programs;
	struct nsx_map    program_of;   /* number -> programs */
	NSX_VEC(struct nsx_top_run) runs;
	struct nsx_map    run_of;       /* (program, device) -> runs */
	bool              any_module, any_thunk, any_comm, any_hidden;
	int64_t           timeless_modules, timeless_thunks, over_hidden;
};

/* Index in `programs` of the program of that number, made if it is new; NSX_NONE when out of memory. */
uint32_t nsx_top_at(struct nsx_top *t, int64_t number);

/* Take in a `program` or a `module` record: its program's index; NSX_NONE when out of memory. Modules without start or duration count nothing. */
uint32_t nsx_top_program(struct nsx_top *t, const struct nsx_rec *rec);
uint32_t nsx_top_module(struct nsx_top *t, const struct nsx_rec *rec);

/* Duration of a thunk and the hidden part of it, 0 <= hidden <= dur; false if it has no duration and counts nothing.
 * comm: whether its instruction communicates. */
bool nsx_top_thunk(struct nsx_top *t, const struct nsx_rec *rec, bool comm, int64_t *dur, int64_t *hidden);

/* Keep the programs of the longest module time that make up the share c; without any module record all. What is left
 * out is said. False when out of memory. */
bool nsx_top_pick(struct nsx_top *t, struct nsx_cover c, struct nsx_diags *diags);

/* Over the programs that are kept: time of modules; from the first start to the last end on each device, summed. */
nsx_u128 nsx_top_modules(const struct nsx_top *t);
nsx_u128 nsx_top_span(struct nsx_top *t);

/* Say what was wrong with the times of modules and thunks, and that communication counts whole if it does. */
void nsx_top_diags(const struct nsx_top *t, struct nsx_diags *diags);

/* The string of that number, empty for NSX_NONE. */
struct nsx_str nsx_top_str(const struct nsx_top *t, uint32_t id);

void nsx_top_free(struct nsx_top *t);

#endif
