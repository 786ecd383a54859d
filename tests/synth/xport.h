/* xport.h -- shared by the two halves of the exporter. */
#ifndef SYNTH_XPORT_H
#define SYNTH_XPORT_H

#include "db.h"
#include "synth.h"

struct xport {
	struct syn_plan *p;
	struct db       *d;
	uint32_t         number;
	bool             shuffle;
	uint32_t        *id;      /* by name of the plan: its id in StringIds, SYN_NONE: none */
	size_t           room;    /* of id */
	uint32_t         nids;
	uint64_t         random;
};

/* The StringIds id of a name of the plan, which is added if it has none. */
int64_t xport_string(struct xport *x, uint32_t name);
int64_t xport_cstring(struct xport *x, const char *s);
bool    xport_here(const struct xport *x, uint32_t proc);

void xport_host_fns(struct xport *x); /* host_fn.c: host functions that streams waited for */
void xport_schemas(struct xport *x);  /* payload.c: tables that describe payloads; the payload of one of the plan's ranges, NULL for none */
void xport_payload(struct xport *x, struct db_table *t, int col, uint32_t range);
bool xport_sim(struct xport *x);     /* sim_export.c: what waited for what, if the plan is of a simulated job */
void xport_metrics(struct xport *x); /* metrics.c: samples of GPU metrics */
void xport_memory(struct xport *x);  /* memory.c: what CUDA allocated and freed */
void xport_meta(struct xport *x);   /* meta.c: tables about machine, session, processes and threads */

#endif
