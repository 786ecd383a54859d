/* compare.h -- compares two streams: the time per execution of each program, instruction, opcode or source line, the
 * time of each NVTX range or GPU operation, or the length of steps and the parts of them that grew, before and
 * after. */
#ifndef NSX_TABLE_COMPARE_H
#define NSX_TABLE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/outfile.h"
#include "base/table.h"
#include "base/vec.h"
#include "job/names.h"
#include "stream/reader.h"

/* The meaning of a row; the first five belong to programs, and all of these except MODULE are within one. */
enum nsx_compare_by {
	NSX_COMPARE_THUNK,    /* an instruction */
	NSX_COMPARE_MODULE,   /* a program, by the durations of its modules */
	NSX_COMPARE_OPCODE,
	NSX_COMPARE_SOURCE,   /* the innermost source line, or else the last part of the op_name */
	NSX_COMPARE_PHASE,    /* forward, backward, ...: of training, by the op_name */
	NSX_COMPARE_RANGE,    /* NVTX ranges of a name, by the GPU time of what was launched in them */
	NSX_COMPARE_KERNEL,   /* GPU operations of a type and name */
	NSX_COMPARE_STEP,     /* a time of the steps of a class: from start to start, the activities of devices in it,
	                       * from first to last operation */
	NSX_COMPARE_DEVICE,   /* a time of a device, as nsysx-summary --by device has it */
	NSX_COMPARE_COLLECTIVE, /* collectives of a kind, message size and group size, by the durations of their
	                         * records */
	NSX_COMPARE_AXIS,       /* the same along an axis of the mesh of devices (job/axis.h) */
	NSX_COMPARE_STEP_PHASE  /* phases without thunks, by the GPU time of their operations in each step; named as
	                         * PHASE */
};

enum { NSX_COMPARE_BASE, NSX_COMPARE_NEW };   /* the sides */

struct nsx_compare_options {
	enum nsx_compare_by by;
	bool    any;          /* by the `by` of the tables, if a side is a table */
	bool    whole;        /* whole time was requested, which is the default; tables do not have it, and report
	                       * that */
	bool    exposed;      /* communication counts without what is hidden; not for MODULE, RANGE, STEP and DEVICE */
	bool    span;         /* RANGE: by the spans of their GPU work, not the time of what was launched in them */
	bool    changed;      /* only rows that differ */
	bool    why;          /* STEP, of two streams: what made the periods differ, instead of the times of steps */
	bool    renamed;      /* with `why`, the names that changed instead */
	bool    junit;        /* the results as JUnit's XML, too */
	bool    tail;         /* rows are judged by their 99th percentiles */
	double  sigma;        /* confidence in a difference, as that many deviations of a normal distribution; 0 to
	                       * 30 */
	double  percent;      /* differences of up to this percentage of BASE do not count */
	int64_t absolute;     /* nor do those of up to this many ns per execution */
	double  minor;        /* nor do those of up to this percentage of the time of the row's program */
	double  coverage;     /* streams are comparable if at least this share of the time of each is matched; 0 to 1 */
	double  unjudged;     /* STEP, DEVICE: nor are they if what cannot be judged has more than this share of the
	                       * time; 0 to 1 */
	int     fold;         /* the side whose folded stacks are requested */
	enum nsx_names names; /* which ranges and operations have one name; RANGE and KERNEL */
	const char *step, *module;   /* which records are steps, as in struct nsx_steps_options; STEP,
	                              * DEVICE */
};

struct nsx_compare {
	struct nsx_table *table;         /* NULL if folded stacks are requested */
	bool              comparable;
	char              why[384];      /* the reason if not */
	bool              blind;         /* which is noise: they are not judged */
	char              hidden[256];   /* which rows noise hides, with `changed`, which omits them; empty: none */
	bool              none;          /* two streams, of which neither has any of what rows are of */
	NSX_VEC(char *)   regressions;   /* rows, and programs as a whole, that are slower: a sentence each */
	struct nsx_buf    junit;         /* XML: a test for each row, or an error if the streams are not comparable */
};

/* What they are that are not comparable, before `why`. */
static inline const char *
nsx_compare_refusal(const struct nsx_compare *c)
{
	return c->blind ? "not judged" : "not comparable";
}

/* The names that nsx_compare_by_name accepts, in the form of a choice in an option's help. */
#define NSX_COMPARE_NAMES "thunk|module|opcode|source|phase|range|kernel|step|device|collective|axis"

/* The name of a value ("thunk", "module", ...); and the value of a name, -1 if no value has that name. */
const char *nsx_compare_name(enum nsx_compare_by by);
int nsx_compare_by_name(const char *name);

/* Read the streams whole (opened with NSX_READ_ORDERED, not read from yet): the last one is NEW, the one before it
 * BASE, or by STEP and DEVICE several, two or more, are base runs. Either side may be a table of nsx_summary by thunk,
 * module, opcode or device, or of steps, as TSV instead; a stream compared with a table of nsx_summary is first summed
 * up in the same way, and there are no folded stacks.
 *
 * What rows are, when they are slower, faster, minor, uneven, shifted, hidden or unknown, and when the streams are not
 * comparable, is in nsysx-compare(1). A row is judged by samples (compare/samples.c): one for each execution, step or
 * instance, the mean of the devices in it. As these depend on each other, their n is that of independent ones; two
 * tests judge them, of means and of ranks (compare/witness.h). With several base runs the noise is that between them
 * (compare/runs.c).
 *
 * If `folded` (which the caller commits) is not NULL (it must be by RANGE and all that follow it), folded stacks of
 * side options->fold are written to it, in which matched rows have the same name, and times are scaled to the number of
 * executions of NEW. Otherwise the table is made. NSX_OK, or NSX_ERR with err filled; free c in both cases. Holds about
 * 300 bytes for each row, 100 for each device of it, 8 to 32 for each time, and of a table 300 bytes a row. */
int nsx_compare(struct nsx_reader *const *runs, size_t nruns, const struct nsx_compare_options *options,
                struct nsx_outfile *folded,
                struct nsx_compare *c, struct nsx_diags *diags, struct nsx_err *err);

void nsx_compare_free(struct nsx_compare *c);

/* ---- a history of runs */

/* A run: where it is, its name in the table, and when it was, ns since 1970 UTC, if its stream does not tell;
 * NSX_ABSENT: not known. */
struct nsx_compare_run { char *path; const char *name; int64_t time; };

/* The table: a row for each run that has steps, in the order of time, and a column CLASS:STATISTIC for each statistic
 * of the steps of a class, ns; and the names of these columns. */
struct nsx_history { struct nsx_table *table; struct nsx_intern names; };

/* Read the runs, each a stream or a table by step, one after the other; flags: enum nsx_read_flags. NSX_OK, or NSX_ERR
 * with err filled; free the history in both cases. Holds one run at a time, and 24 bytes for each value. */
int nsx_compare_history(const struct nsx_compare_run *runs, size_t n, unsigned flags,
			const struct nsx_compare_options *options, struct nsx_history *out, struct nsx_diags *diags,
			struct nsx_err *err);
void nsx_history_free(struct nsx_history *h);

/* The first date in the name of a file, as 2026-11-27 or 20261127, and the time of day behind it, if there is one, as
 * T02:30:00, _0230 or -02-30: ns since 1970, in UTC; NSX_ABSENT if there is none. */
int64_t nsx_compare_date_in(const char *path);

/* Append the XML of streams that cannot be compared: a test with an error. */
void nsx_compare_junit_error(struct nsx_buf *b, const char *why);

#endif
