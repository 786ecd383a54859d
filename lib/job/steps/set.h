/* set.h -- the steps of a job as data: what steps.h collects, and what the files beside it make of it. */
#ifndef NSX_JOB_STEPS_SET_H
#define NSX_JOB_STEPS_SET_H

#include <regex.h>

#include "base/err.h"
#include "base/near.h"
#include "base/vec.h"
#include "job/activity.h"
#include "job/catalogue.h"
#include "job/names.h"
#include "job/overruns.h"
#include "job/range_book.h"
#include "job/steps/step_of.h"
#include "job/threads.h"

/* Which records are steps. */
enum nsx_step_kind { NSX_STEP_PATTERN, NSX_STEP_CLASS, NSX_STEP_MODULE, NSX_STEP_SERVING };

/* cut: it is not wholly inside the time that was seen. name: 1 + its name in nsx_step_set.names, 0: not kept. tag: the
 * number that its name carries (numbers.h), NSX_ABSENT: none. */
struct nsx_step {
	int64_t  profile, pid, range, host_start, host_end;
	uint32_t class, thread;
	bool     cut;
	uint32_t name;
	int64_t  tag;
};

/* Requests and tokens of a server's step; NSX_ABSENT: not known. */
struct nsx_step_batch { int64_t requests, tokens; };

/* Something that may be a step of another class, on a device: ns. */
struct nsx_step_other { uint32_t device, class; int64_t start, dur; };

/* 32 bytes: the data kept of an operation that a helper thread may have launched. */
struct nsx_step_op { int64_t call, start, end; uint32_t device; bool comm; };

struct nsx_step_thread {
	int64_t profile, pid, tid;
	NSX_VEC(uint32_t) steps;            /* by start */
	int64_t until;                      /* end of its latest step: a match that begins before it is inside that
	                                     * step */
	size_t  nclasses;                   /* number of classes of its steps */
	NSX_VEC(struct nsx_step_op) ops;
};

/* The longest range between a step and the next one: ns of its work; name: in nsx_step_set.names. */
struct nsx_between_longest { int64_t dur; uint32_t name; };

/* A range after the thread's last step. */
struct nsx_between_range { int64_t to, device, dur; uint32_t name; };

struct nsx_between_thread { size_t nsteps; NSX_VEC(struct nsx_between_range) open; };

/* What lies between steps (between.h). */
struct nsx_between {
	struct nsx_map    longest_of;                   /* (step, device number) -> longest */
	NSX_VEC(struct nsx_between_longest) longest;
	NSX_VEC(struct nsx_between_thread)  threads;    /* as in the steps */
};

/* {0} with kind, pattern or label, err set is empty. */
struct nsx_step_set {
	enum nsx_step_kind kind;
	const regex_t     *pattern;         /* NSX_STEP_PATTERN: of DOMAIN:NAME */
	size_t             groups;          /* its groups */
	bool               phases;          /* NSX_STEP_SERVING: each phase of a server's steps is a class; else all
	                                     * steps of a server are one, */
	bool               shaped;          /* the names of steps are kept, and marks of steps not used */
	bool               bounds;          /* of steps only their bounds are in question, not what devices do in
	                                     * them, which takes memory by operation */
	bool               batched;         /* the batches of a server's steps are kept (batch.h), */
	struct nsx_intern  overlapping;     /* names of classes whose steps overlap (warn.h) */
	struct nsx_map     batch_of;        /* by profile and range */
	NSX_VEC(struct nsx_step_batch) batches;
	const char        *label;           /* NSX_STEP_PATTERN: the expression; NSX_STEP_CLASS: the class
	                                     * (nsx_step_class_name); NSX_STEP_MODULE: name or key, NULL: any */
	bool               suffixed;        /* NSX_STEP_CLASS: as in nsx_step_class_name */
	bool               brief;           /* only marks of steps are read (nsx_steps_wanted) */
	struct nsx_err    *err;
	struct nsx_catalogue  cat;
	struct nsx_range_book book;         /* for names only */
	struct nsx_intern  names;
	struct nsx_buf     text;
	NSX_VEC(struct nsx_timeline) timelines;     /* by device of the catalogue */
	NSX_VEC(struct nsx_removed) removed;        /* by device */
	struct nsx_overruns overruns;               /* of the operations in them; not with `bounds` */
	NSX_VEC(struct nsx_step_thread) threads;
	struct nsx_threads thread_of;
	NSX_VEC(struct nsx_step) steps;
	NSX_VEC(struct nsx_step_of) list;   /* after nsx_steps_finish by class (bytewise), device number, start */
	struct nsx_map     list_of;         /* (step, device) -> list; of modules (device and program, execution) */
	NSX_VEC(struct nsx_step_of) marks;  /* of `step` records of these steps (marks.h), */
	NSX_VEC(struct nsx_step) marked;    /* and their steps: they become list and steps */
	uint32_t           by;              /* how the marked steps were named: 1 + a number in names; 0: found */
	struct nsx_between between;         /* ranges between steps */
	NSX_VEC(struct nsx_step_other) others;   /* executions of other programs, or steps of other classes */
	NSX_VEC(int64_t)   cut;             /* by class: steps that are not wholly inside the time that was seen, */
	NSX_VEC(struct nsx_step_of) dropped;     /* and what devices have of those that are known, as in list */
	struct nsx_map     uses;            /* (thread and class, device) */
	size_t             nclasses;
	struct nsx_map     has_class;       /* (thread, class): has steps of it; (NSX_NONE, class): there are steps of
	                                     * it */
	bool               matched;         /* NSX_STEP_PATTERN: some range did */
	struct nsx_near    near;            /* NSX_STEP_PATTERN: names, as long as none matches */
	bool               came;            /* an operation, even if it does not count */
	bool               warm;            /* nsysx-warmup has told something of the stream */
	bool               excerpt;         /* the stream has the periods of steps alone (excerpt.h), */
	bool               elsewhere;       /* and the steps are not those */
	int64_t calls, ops, modules, nested, unended, empty, timeless, beyond, no_call, odd;
};

#endif
