/* hlo_work.h -- the work of an instruction. */
#ifndef NSX_XLA_HLO_WORK_H
#define NSX_XLA_HLO_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The arithmetic of dots and convolutions, slowest first. */
enum nsx_hlo_math {
	NSX_HLO_F64, NSX_HLO_F32, NSX_HLO_TF32, NSX_HLO_BF16, NSX_HLO_F16, NSX_HLO_S8, NSX_HLO_F8, NSX_HLO_F4,
	    NSX_HLO_MATHS
};

/* "bf16", ...; static. */
struct nsx_str nsx_hlo_math_name(enum nsx_hlo_math m);

/* The work of an instruction: lower bounds. */
struct nsx_hlo_cost {
	bool              modelled;    /* if false the work is unknown and the other members are 0 */
	enum nsx_hlo_math math;        /* the arithmetic of most of flops; if flops is not 0 */
	int64_t           flops;       /* of dots and convolutions; a multiply-add is 2 */
	int64_t           vector;      /* results of other arithmetic */
	int64_t           mem_bytes;   /* that must move between the device's memory and the chip */
};

#endif
