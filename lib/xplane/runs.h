/* runs.h -- finding executions; shared by runs.c and lines.c. */
#ifndef NSX_XPLANE_RUNS_H
#define NSX_XPLANE_RUNS_H

#include "xplane/reading.h"

/* An execution on the thread of its calls. */
struct nsx_xrun {
	uint64_t gtid;
	int64_t  start, end, program;
	uint32_t module;
	bool     unmarked;   /* no TraceMe holds it */
};
/* An operation of an execution. run: of runs; before these are known, of marks. line: of its call. */
struct nsx_xpart { uint32_t run, line, device, op, name; int64_t start, end, id; };
/* A thread for what has no calls, and until when it is taken. */
struct nsx_xlane { uint32_t device; int64_t end; uint64_t gtid; };

struct nsx_xruns {
	struct nsx_xspace *s;
	uint32_t          *op_call;      /* by operation: of calls; NSX_NONE: none */
	NSX_VEC(uint32_t)  modules;      /* of marks that are executions, by line and start */
	NSX_VEC(int64_t)   reach;        /* the latest end of those of the line up to there */
	size_t             hint;         /* of modules: behind the one that began before what was sought last */
	struct nsx_map     run_of, title_of;   /* title_of: of a name and a program, in names */
	NSX_VEC(struct nsx_xrun)  runs;
	NSX_VEC(struct nsx_xpart) parts, alone;
	NSX_VEC(struct nsx_xlane) lanes;
	uint16_t           domain;       /* XLA's */
	uint32_t           buffer;       /* name of a command buffer whose launch does not say which */
	int64_t            silent;       /* the next correlation id of a call that is no record */
};

static inline bool
nsx_xop_of_program(const struct nsx_xop *o)
{
	return o->program != NSX_NO_PROGRAM && o->hlo_op != NSX_NONE && o->module != NSX_NONE;
}

/* lines.c. After op_call is set: lists executions, tells which line of TraceMes each line of calls with operations of
 * programs is, and numbers threads. False when out of memory. */
bool nsx_xspace_match(struct nsx_xruns *x);
/* The innermost execution of the module, or with NSX_NONE of any, on that line that holds the time, as a number of
 * marks; NSX_NONE: none. */
uint32_t nsx_xspace_holder(struct nsx_xruns *x, uint32_t line, uint32_t module, int64_t start, int64_t end);

#endif
