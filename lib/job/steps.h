/* steps.h -- collect the steps of a job from a stream: which ranges or module executions are steps, which operations
 * belong to each, and the activity of each device during them.
 *
 * A range that matches and is not inside another match of its thread is a step. Its operations are those whose call is
 * inside it, on its own thread; and, on threads of its process that have no step of its class (helper threads), those
 * whose call begins in it (backward work is launched by another thread):
 *
 *   thread 1   step [0,100)      call [10,12) -> in it             step [100,200)
 *   thread 2                     call [50,52) -> in it, a helper's                  call [150,151) -> in the second
 *
 * Of several steps that are open then, those whose own threads use the operation's device come first, and of these the
 * one that started last. Memory holds the steps, the runs of each device (timeline.h), and 32 bytes for each operation
 * of a thread that may be a helper. */
#ifndef NSX_JOB_STEPS_H
#define NSX_JOB_STEPS_H

#include <regex.h>

#include "base/diag.h"
#include "base/err.h"
#include "job/overruns.h"
#include "base/near.h"
#include "job/between.h"
#include "job/catalogue.h"
#include "job/step_of.h"
#include "job/threads.h"
#include "job/names.h"
#include "job/range_book.h"
#include "job/timeline.h"

/* Which records are steps. */
enum nsx_step_kind { NSX_STEP_PATTERN, NSX_STEP_CLASS, NSX_STEP_MODULE };

/* cut: it is not wholly inside the time that was seen. */
struct nsx_step { int64_t profile, pid, range, host_start, host_end; uint32_t class, thread; bool cut; };

/* Something that may be a step of another class, on a device: ns. */
struct nsx_step_other { uint32_t device, class; int64_t start, dur; };

/* 32 bytes: the data kept of an operation that a helper thread may have launched. */
struct nsx_step_op { int64_t call, start, end; uint32_t device; };

struct nsx_step_thread {
	int64_t profile, pid, tid;
	NSX_VEC(uint32_t) steps;            /* by start */
	int64_t until;                      /* end of its latest step: a match that begins before it is inside that
	                                     * step */
	size_t  nclasses;                   /* number of classes of its steps */
	NSX_VEC(struct nsx_step_op) ops;
};

/* {0} with kind, pattern or label, err set is empty. */
struct nsx_step_set {
	enum nsx_step_kind kind;
	const regex_t     *pattern;         /* NSX_STEP_PATTERN: of DOMAIN:NAME */
	size_t             groups;          /* its groups */
	const char        *label;           /* NSX_STEP_PATTERN: the expression; NSX_STEP_CLASS: the class
	                                     * (nsx_step_class_name); NSX_STEP_MODULE: name or key, NULL: any */
	struct nsx_err    *err;
	struct nsx_catalogue  cat;
	struct nsx_range_book book;         /* for names only */
	struct nsx_intern  names;
	struct nsx_buf     text;
	NSX_VEC(struct nsx_timeline) timelines;     /* by device of the catalogue */
	NSX_VEC(struct nsx_removed) removed;        /* by device */
	struct nsx_overruns overruns;               /* of the operations in them */
	NSX_VEC(struct nsx_step_thread) threads;
	struct nsx_threads thread_of;
	NSX_VEC(struct nsx_step) steps;
	NSX_VEC(struct nsx_step_of) list;   /* after nsx_steps_finish by class (bytewise), device number, start */
	struct nsx_map     list_of;         /* (step, device) -> list; of modules (device and program, execution) */
	NSX_VEC(struct nsx_step_of) marks;  /* of `step` records of these steps (step_marks.h), */
	NSX_VEC(struct nsx_step) marked;    /* and their steps: they become list and steps */
	uint32_t           by;              /* how the marked steps were named: 1 + a number in names; 0: found */
	struct nsx_between between;         /* ranges between steps */
	NSX_VEC(struct nsx_step_other) others;   /* executions of other programs, or steps of other classes */
	NSX_VEC(int64_t)   cut;             /* by class: steps that are not wholly inside the time that was seen */
	struct nsx_map     uses;            /* (thread and class, device) */
	size_t             nclasses;
	struct nsx_map     has_class;       /* (thread, class): has steps of it; (NSX_NONE, class): there are steps of
	                                     * it */
	bool               matched;         /* NSX_STEP_PATTERN: some range did */
	struct nsx_near    near;            /* NSX_STEP_PATTERN: names, as long as none matches */
	int64_t ndiags, calls, ops, modules, nested, unended, empty, timeless, beyond, no_call;
};

/* Declare to a reader what nsx_steps_take uses. */
void nsx_steps_need(const struct nsx_step_set *s, struct nsx_reader *in);

/* Add any record of the stream. NSX_OK or NSX_ERR. */
int nsx_steps_take(struct nsx_step_set *s, const struct nsx_rec *rec);

/* After the last record: completes and sorts `list`, with its periods (step_periods.h). NSX_OK or NSX_ERR. */
int nsx_steps_finish(struct nsx_step_set *s);

/* Whether [start, end] was seen whole: it is in the window of the profile (columns from and to), as far as is known. */
bool nsx_step_is_seen(const struct nsx_step_set *s, int64_t profile, int64_t start, int64_t end);
/* Count a step of the class that was not. NSX_OK or NSX_ERR. */
int nsx_step_cut(struct nsx_step_set *s, uint32_t class);
/* Set period and sums of a step whose first and next are set. */
void nsx_step_measure(const struct nsx_step_set *s, struct nsx_step_of *o);

/* Report which matching ranges are not steps; nsx_steps_report also reports operations that were not used. */
void nsx_steps_report_ranges(const struct nsx_step_set *s, struct nsx_diags *diags);
void nsx_steps_report(const struct nsx_step_set *s, struct nsx_diags *diags);

void nsx_steps_free(struct nsx_step_set *s);

/* The class of a range, for detecting classes of steps: DOMAIN:NAME with digits as '#'; empty if it cannot be a step:
 * it is an operator or a Python function, or its name has a suffix appended by a framework, or is NCCL's. Valid until
 * the next call for the book. The reader needs the range's kind. */
struct nsx_str nsx_step_class_name(struct nsx_range_book *book, const struct nsx_rec *range);

#endif
