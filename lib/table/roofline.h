/* roofline.h -- how close each instruction is to the limits of the hardware: the minimum time that its work takes at
 * the peaks of the devices that ran it, compared with its actual time. Definitions: docs/man/nsysx-roofline.1. */
#ifndef NSX_TABLE_ROOFLINE_H
#define NSX_TABLE_ROOFLINE_H

#include <stdbool.h>

#include "table/analysis.h"

/* Arithmetic of matrix units and, the last, of scalar units; in order of rows. */
enum nsx_math { NSX_MATH_F4, NSX_MATH_F8, NSX_MATH_S8, NSX_MATH_F16, NSX_MATH_BF16, NSX_MATH_TF32, NSX_MATH_F64,
                NSX_MATH_F32, NSX_NMATHS };

enum nsx_roofline_by { NSX_ROOFLINE_INST, NSX_ROOFLINE_OPCODE, NSX_ROOFLINE_OP_NAME, NSX_ROOFLINE_PROGRAM,
                       NSX_ROOFLINE_POINTS, NSX_ROOFLINE_PEAKS };

/* Peaks that the user gave; 0 if not given. */
struct nsx_roofline_given {
	double peak[NSX_NMATHS];   /* TFLOP/s */
	double bandwidth;          /* GB/s */
};

struct nsx_roofline_options {
	enum nsx_roofline_by by;
	bool        digits;        /* by op-name: names that differ in numbers alone are one */
	bool        words;         /* below the table a line for each program */
	struct nsx_roofline_given given;
};

/* Parse "MATH=TFLOPS,..." or a number of GB/s. NULL, or what is wrong with it: a string that is valid until the next
 * call. */
const char *nsx_roofline_give_peaks(struct nsx_roofline_given *given, const char *list);
const char *nsx_roofline_give_bandwidth(struct nsx_roofline_given *given, const char *gbps);

/* An analysis with nsx_roofline_options; and for its run.again of NSX_ROOFLINE_INST, the points of a plot, too. */
extern const struct nsx_analysis nsx_roofline_analysis;
int nsx_roofline_points(void *state, const void *options, struct nsx_table **table, struct nsx_diags *diags);

#endif
