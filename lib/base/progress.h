/* progress.h -- how far the work of this process is: what there is to read and what was read of it, counted by whoever
 * reads, and the line that tells of it. Nothing is drawn here: a program that draws says how its line is taken away.
 * The counters belong to the process, as its terminal does; any thread may raise them. They cost one relaxed atomic
 * addition each: count blocks, not records. */
#ifndef NSX_BASE_PROGRESS_H
#define NSX_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* ---- counting */

/* So many more (or less) bytes are to be read. */
void nsx_progress_expect(int64_t bytes);

/* So many of the expected bytes are done with. */
void nsx_progress_done(uint64_t bytes);

/* An input whose size nobody knows was opened (1) or has ended (-1). While there is one, only records are told. */
void nsx_progress_unknown(int change);

/* So many more records were read. */
void nsx_progress_records(uint64_t n);

/* What is being done now, a string that stays: "projection". NULL: nothing to be said. */
void nsx_progress_phase(const char *what);

/* A share of the expected bytes that is worked off in steps which are no bytes. */
struct nsx_portion { uint64_t bytes; _Atomic uint64_t given; };

/* `part` of the `of` steps of p are done (part > of counts as of; of == 0: all). Never goes back. */
void nsx_portion_reach(struct nsx_portion *p, uint64_t part, uint64_t of);

/* ---- reading the counters */

struct nsx_progress {
	uint64_t    done, total;   /* bytes; total 0: not known */
	uint64_t    records;
	const char *phase;         /* NULL: none */
};
void nsx_progress_get(struct nsx_progress *p);

/* Nanoseconds left, if the known work was at `done0` when `elapsed` ns had not yet passed; -1: not to be told (yet). */
int64_t nsx_progress_left(const struct nsx_progress *p, uint64_t done0, int64_t elapsed);

/* The line, without end of line, at most width columns (and size - 1 bytes) of printable text, terminated by a NUL;
 * its length in bytes.
 *     TOOL: NAME: PHASE 43 %  1.2 GB of 2.8 GB  8 s left
 *     TOOL: NAME: 12.3 M records  1.5 M/s                   where the end is not known
 * name: "" for none; it is what gives way where the line is too long. left: -1 for none. elapsed: ns, for the rate. */
size_t nsx_progress_line(char *out, size_t size, int width, const char *tool, const char *name,
                         const struct nsx_progress *p,
                         int64_t left, int64_t elapsed);

/* ---- taking the line away */

enum nsx_progress_hide {
	NSX_HIDE_FOR_NOW,      /* a message follows */
	NSX_HIDE_FOR_OUTPUT,   /* from here on the program's output goes to a terminal: nobody is to draw there */
	NSX_HIDE_FOR_GOOD      /* the work is done */
};

/* Who draws: hide is called, from any thread, before something else is written. NULL: nobody draws. */
void nsx_progress_drawn_by(void (*hide)(enum nsx_progress_hide why));
void nsx_progress_hide(enum nsx_progress_hide why);

#endif
