/* program_time.h -- the programs of a stream: the time of each, which of them account for most of it, and the totals
 * over those. */
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
#include "job/gone.h"
#include "job/steps/excerpt.h"
#include "stream/kinds.h"

/* Time of the program with the same index in the catalogue. */
struct nsx_top_program {
	uint32_t module_name;    /* of its first module, in the catalogue's strings, where no record of the program
	                          * names it; NSX_NONE if absent */
	bool     kept;           /* set by nsx_top_pick */
	nsx_u128 modules;        /* sum of module durations, ns */
	nsx_u128 exposed;        /* sum of exposed time of thunks, ns: what nsx_top_expose added */
};

/* A device's executions of a program: first start and last end. */
struct nsx_top_run { int64_t device, first, last; uint32_t program; };

/* {0} is empty. It uses a catalogue, to which the caller adds the metadata before it calls these functions. */
struct nsx_top {
	struct nsx_catalogue *given;    /* that catalogue, which the caller owns; NULL: `cat` */
	struct nsx_catalogue cat;
	NSX_VEC(struct nsx_top_program) programs;   /* those passed to nsx_top_program; all of the catalogue after
	                                             * nsx_top_pick */
	NSX_VEC(struct nsx_top_run) runs;
	struct nsx_map    run_of;       /* (program, device) -> runs */
	bool              any_module, any_thunk, any_comm, any_hidden;
	int64_t           timeless_modules, timeless_thunks, over_hidden;
	int64_t           cut;          /* modules that lie in part outside of the time that was seen */
};

static inline struct nsx_catalogue *
nsx_top_cat(struct nsx_top *t)
{
	return t->given ? t->given : &t->cat;
}

/* Index, here and in the catalogue, of the program that a record of any kind refers to; NSX_NONE when out of memory. */
uint32_t nsx_top_program(struct nsx_top *t, const struct nsx_rec *rec);

/* Add a `module` record: its program's index; NSX_NONE when out of memory. Modules without start or duration add no
 * time. */
uint32_t nsx_top_module(struct nsx_top *t, const struct nsx_rec *rec);

/* The name of a program: from its record, else from its first module; NSX_NONE if it has none. A number in the
 * catalogue's strings. */
uint32_t nsx_top_name(const struct nsx_top *t, uint32_t program);

/* Duration of a thunk and the hidden part of it, 0 <= hidden <= dur; false if it has no duration and counts nothing.
 * comm: whether its instruction communicates. */
bool nsx_top_thunk(struct nsx_top *t, const struct nsx_rec *rec, bool comm, int64_t *dur, int64_t *hidden);

/* Add to the exposed time of the program of that index; false when out of memory. */
bool nsx_top_expose(struct nsx_top *t, uint32_t program, nsx_u128 ns);

/* Keep the programs with the longest module time that make up the share c; without any module record all. Dropped
 * programs are reported as an info. False when out of memory. */
bool nsx_top_pick(struct nsx_top *t, struct nsx_cover c, struct nsx_diags *diags);

/* Totals over the programs that are kept: time of modules; from the first start to the last end on each device, less
 * what is gone of it, summed, or where something was cut away the device's windows. */
nsx_u128 nsx_top_modules(const struct nsx_top *t);
nsx_u128 nsx_top_span(struct nsx_top *t, const struct nsx_excerpt *x, const struct nsx_gone *gone);

/* Time of the modules of all programs, kept or not. */
nsx_u128 nsx_top_all_modules(const struct nsx_top *t);

/* Report inconsistent times of modules and thunks, communication that is counted in full because overlap was not
 * computed, and contradictions to the catalogue if that is `cat`. */
void nsx_top_diags(const struct nsx_top *t, struct nsx_diags *diags);

void nsx_top_free(struct nsx_top *t);

#endif
