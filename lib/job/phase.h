/* phase.h -- the part of a training step that an operation belongs to, from the names that frameworks give.
 *
 * Of XLA the op_name tells, in which JAX notes what it differentiates:
 *   jit(f)/jvp(Model)/layer/dot_general                                  forward
 *   jit(f)/transpose(jvp(Model))/layer/dot_general                       backward
 *   jit(f)/transpose(jvp(Model))/checkpoint/rematted_computation/dot_general   recomputed, as is what XLA itself
 *                                                                        rematerialized: fusion.7.remat2
 *   jit(f)/jit(main)                                                     cut: the op_names of a fusion have no more in
 *                                                                        common, or the recording no more room
 *   jit(f)/adam/add                                                      outside: in a program with a backward pass,
 *                                                                        the optimizer, unless scope.h knows better
 * Of PyTorch the ranges around the launch tell: those of autograd's engine, and in them operators with a sequence
 * number of their own, which were recorded for another backward pass: checkpoints compute them again. Ranges that are
 * called forward, backward or optimizer tell, too, whoever made them. */
#ifndef NSX_JOB_PHASE_H
#define NSX_JOB_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The last three are found, but mean nothing until the program or the job is known to have a backward pass. */
enum nsx_phase { NSX_PHASE_FORWARD, NSX_PHASE_BACKWARD, NSX_PHASE_RECOMPUTE, NSX_PHASE_OPTIMIZER,
                 NSX_PHASE_OTHER,      /* of a program or job without a backward pass */
                 NSX_PHASE_UNKNOWN,    /* no op_name, or a cut one, and no range */
                 NSX_NPHASES,
                 NSX_PHASE_OUTSIDE = NSX_NPHASES,   /* of XLA: not differentiated */
                 NSX_PHASE_INSIDE,                 /* of ranges: in some that tell nothing */
                 NSX_PHASE_CUT };                   /* of XLA: its op_name is cut */

/* "forward", ...; of the first NSX_NPHASES. */
const char *nsx_phase_name(enum nsx_phase phase);

/* Whether nothing follows the function in an op_name that is not empty, as in "jit(f)/jit(main)": those of instructions
 * end with an operation. */
bool nsx_op_name_is_cut(struct nsx_str op_name);

/* Of an instruction; op_name is empty where it is not known. */
enum nsx_phase nsx_phase_of_inst(struct nsx_str name, struct nsx_str op_name);

/* The same in two: whether the name tells that XLA computes it a second time; else what its op_name tells. */
bool nsx_phase_is_again(struct nsx_str name);
enum nsx_phase nsx_phase_of_op_name(struct nsx_str op_name);

/* Of a range by its name and its sequence number, NSX_ABSENT if it has none: RECOMPUTE, BACKWARD or OPTIMIZER, else
 * UNKNOWN; FORWARD if it is called that. recorded: it is an operator that autograd recorded for a backward pass. */
enum nsx_phase nsx_phase_of_range(struct nsx_str name, int64_t seq, bool *recorded);

/* Of what is launched in such a range, which is in a range of phase `outer` (NSX_PHASE_UNKNOWN: in none). */
enum nsx_phase nsx_phase_in(enum nsx_phase own, bool recorded, enum nsx_phase outer);

/* One of the first NSX_NPHASES, when it is known whether the program or the job has a backward pass. */
static inline enum nsx_phase
nsx_phase_settled(enum nsx_phase phase, bool trains)
{
	if (phase < NSX_NPHASES)
		return phase;
	return !trains ? NSX_PHASE_OTHER : phase == NSX_PHASE_CUT ? NSX_PHASE_UNKNOWN
	       : phase == NSX_PHASE_OUTSIDE ? NSX_PHASE_OPTIMIZER : NSX_PHASE_FORWARD;
}

#endif
