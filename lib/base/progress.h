/* progress.h -- the progress of the work of this process: the amount to read and the amount read, counted by the
 * readers, and the line that shows them. Nothing is drawn here: a program that draws the line says how it is removed.
 * The counters belong to the process, as its terminal does; any thread may increment them. Each increment costs one
 * relaxed atomic addition: count blocks, not records. */
#ifndef NSX_BASE_PROGRESS_H
#define NSX_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* ---- counting */

/* Add this number (which may be negative) to the bytes to read. */
void nsx_progress_expect(int64_t bytes);

/* Add this number to the bytes that are done. */
void nsx_progress_done(uint64_t bytes);

/* An input of unknown size was opened (1) or has ended (-1). While there is one, only records are shown. */
void nsx_progress_unknown(int change);

/* Add this number to the records read. */
void nsx_progress_records(uint64_t n);

/* The current activity, a string that stays valid: "projection". NULL: none to show. */
void nsx_progress_phase(const char *what);

/* A share of the expected bytes that is processed in steps that are not bytes. */
struct nsx_portion { uint64_t bytes; _Atomic uint64_t given; };

/* `part` of the `of` steps of p are done (part > of counts as of; of == 0: all). The share never decreases. */
void nsx_portion_reach(struct nsx_portion *p, uint64_t part, uint64_t of);

/* ---- reading the counters */

struct nsx_progress {
	uint64_t    done, total;   /* bytes; total 0: not known */
	uint64_t    records;
	const char *phase;         /* NULL: none */
};
void nsx_progress_get(struct nsx_progress *p);

/* Nanoseconds left, if the known work was at `done0` when `elapsed` ns had not yet passed; -1: no estimate (yet). */
int64_t nsx_progress_left(const struct nsx_progress *p, uint64_t done0, int64_t elapsed);

/* The line, without end of line, at most width columns (and size - 1 bytes) of printable text, terminated by a NUL;
 * its length in bytes.
 *     TOOL: NAME: PHASE 43 %  1.2 GB of 2.8 GB  8 s left
 *     TOOL: NAME: 12.3 M records  1.5 M/s                   where the end is not known
 * name: "" for none; it is shortened if the line is too long. left: -1 for none. elapsed: ns, for the rate. */
size_t nsx_progress_line(char *out, size_t size, int width, const char *tool, const char *name,
                         const struct nsx_progress *p,
                         int64_t left, int64_t elapsed);

/* ---- removing the line */

enum nsx_progress_hide {
	NSX_HIDE_FOR_NOW,      /* a message follows */
	NSX_HIDE_FOR_OUTPUT,   /* from here on the output of the program goes to a terminal: nothing may be drawn
	                        * there */
	NSX_HIDE_FOR_GOOD      /* the work is done */
};

/* The program that draws the line: hide is called, from any thread, before something else is written. NULL: no line is
 * drawn. */
void nsx_progress_drawn_by(void (*hide)(enum nsx_progress_hide why));
void nsx_progress_hide(enum nsx_progress_hide why);

#endif
