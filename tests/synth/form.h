/* form.h -- the job as other profilers record it, beside the exports: DIR/rN.pt.trace.json (--kineto) and
 * DIR/rN.xplane.pb (--xspace) of process N. What such a profiler does not record is left out. */
#ifndef SYNTH_FORM_H
#define SYNTH_FORM_H

#include "synth.h"

void syn_kineto(struct syn_plan *p);   /* form_kineto.c */
void syn_xspace(struct syn_plan *p);   /* form_xspace.c */

/* The name of a call without the version that exports append. Kept in the plan. */
const char *form_call(struct syn_plan *p, uint32_t name);

#endif
