/* rows.h -- declarations shared by the files of nsysx-roofline; private to this folder.
 *
 * roofline.c reads the stream: metadata go to the catalogue, a thunk to the cell of its instruction and device, a
 * module to its program. After the last record rows.c makes a row of the cells of each instruction and compares it with
 * the peaks of its devices; tables.c adds rows up and prints them; reach.c tells what one change may reach; words.c
 * writes a sentence for each program. */
#ifndef NSX_TABLE_ROOFLINE_ROWS_H
#define NSX_TABLE_ROOFLINE_ROWS_H

#include "base/series.h"
#include "base/num.h"
#include "table/roofline/peaks.h"
#include "table/sums.h"

/* The share of their limit that well-tuned instructions reach. */
#define NSX_ROOF_EFFICIENT 0.8

enum nsx_bound { NSX_BOUND_MATRIX, NSX_BOUND_VECTOR, NSX_BOUND_MEMORY, NSX_NBOUNDS };

enum nsx_note { NSX_NOTE_NONE, NSX_NOTE_CACHE, NSX_NOTE_PEAK, NSX_NOTE_NO_PEAK, NSX_NOTE_UNMODELLED, NSX_NNOTES };

/* The executions of an instruction on a device; indices of the catalogue, ns. */
struct nsx_roof_cell { uint32_t inst, device; int64_t count; nsx_u128 total; };

/* An instruction. Work is that of one execution, time (ns) and count are those of all. */
struct nsx_roof_row {
	uint32_t inst, program;          /* in the catalogue */
	int64_t  count;
	nsx_u128 total;
	bool     modelled, limited;      /* its work is known; its limit, too */
	int64_t  flops, vector, bytes;   /* if modelled */
	enum nsx_math math;              /* NSX_NMATHS if flops is 0 or unknown */
	enum nsx_bound bound;            /* if limited, as are the following: on the device of the lowest number */
	double   peak, bandwidth;        /* TFLOP/s of math, of scalar units where flops is 0, or 0; GB/s */
	double   limit, headroom, gain;  /* ns; gain: beyond the limit / NSX_ROOF_EFFICIENT */
	double   at_peak;                /* ns: flops of all executions at the peak of math; negative where that is not
	                                  * known */
	enum nsx_note note;
};

/* Sums over rows: of an opcode, of an op_name, of a program. */
struct nsx_roof_sum {
	int64_t  instructions, count;
	nsx_u128 total, modelled;        /* ns: of all rows; of those with a limit */
	nsx_u128 by_bound[NSX_NBOUNDS];
	nsx_u128 flops, bytes;           /* of the executions of rows with a limit */
	nsx_u128 known_flops;            /* of all rows whose work is known */
	double   limit, headroom, gain;
	double   reached;                /* total - headroom, summed: the smaller of total and limit of each row */
	double   at_peak;                /* negative if it is unknown for a row */
};

/* Modules of programs. */
struct nsx_roof_program { int64_t executions; nsx_u128 time; };

/* The state of nsx_roofline_analysis. */
struct nsx_roof {
	const struct nsx_roofline_options *options;
	struct nsx_err      *err;
	struct nsx_catalogue *reading;               /* its catalogue, */
	const struct nsx_catalogue *cat;             /* for who only reads it */
	NSX_VEC(struct nsx_roof_cell)    cells;
	struct nsx_series                cell_of;    /* (inst, device) -> cells */
	NSX_VEC(uint32_t)                last;       /* by device: its last cell */
	NSX_VEC(struct nsx_roof_program) programs;   /* by index of the catalogue, as far as it goes */
	NSX_VEC(struct nsx_peaks)        peaks;      /* by index of the catalogue: after nsx_roof_rows */
	NSX_VEC(struct nsx_roof_row)     rows;       /* after nsx_roof_rows: in the order of the table by instruction */
	nsx_u128 total;                              /* ns: of all rows */
	bool     any_cost;                           /* an instruction has work */
	const int64_t *came;                         /* by kind */
	int64_t  timeless_thunks, timeless_modules, odd_costs, too_large;
};

/* Cells to rows. NSX_OK, or NSX_ERR with err filled. */
int nsx_roof_rows(struct nsx_roof *f, struct nsx_diags *diags);

/* 1 - headroom / modelled, 0 to 1, without the digits that this difference loses; s->modelled must be above 0. Not
 * limit / modelled: that is above 1 for a row faster than its limit, and in a sum such rows would hide the headroom of
 * others. */
static inline double
nsx_roof_efficiency(const struct nsx_roof_sum *s)
{
	return s->reached / (double)s->modelled;
}

/* The operations of an execution: those on matrix units, or if there are none, those on scalar units. */
static inline int64_t nsx_roof_ops(const struct nsx_roof_row *r) { return r->flops ? r->flops : r->vector; }

/* The op_name of an instruction with numbers as #: what is alike in the layers of a model, so that one change may reach
 * it. Empty if it has none; scratch: room for it. */
struct nsx_str nsx_roof_alike(const struct nsx_roof *f, uint32_t inst, struct nsx_buf *scratch);

/* What one change may reach: n instructions that are alike, whose name is in nsx_roof_reaches.names; or one without an
 * op_name, whose name is NSX_NONE. The other number is NSX_NONE. gain: ns. */
struct nsx_roof_reach { uint32_t name, inst; double gain; int64_t n; };
struct nsx_roof_reaches { struct nsx_sums of; struct nsx_intern names; struct nsx_buf scratch; };

void nsx_roof_reaches_begin(struct nsx_roof_reaches *s);
/* Add the gain of a row. False when out of memory. */
bool nsx_roof_reaches_add(struct nsx_roof_reaches *s, const struct nsx_roof *f, const struct nsx_roof_row *row);
/* The one with the largest gain; NULL: there is none. Valid until the next is added. */
const struct nsx_roof_reach *nsx_roof_reaches_most(const struct nsx_roof_reaches *s);
void nsx_roof_reaches_free(struct nsx_roof_reaches *s);

/* Add a row to a sum. Rows come in the order of f->rows, so that sums of doubles do not depend on the order of
 * records. */
void nsx_roof_add(struct nsx_roof_sum *s, const struct nsx_roof_row *r);

/* Sums of a program's rows and modules, the longest time first. */
struct nsx_roof_total { uint32_t program; struct nsx_roof_sum sum; struct nsx_roof_program ran; };

/* *list: the programs that have rows or modules, *n of them, which the caller frees. NSX_OK, or NSX_ERR with err filled
 * and nothing to free. */
int nsx_roof_programs(const struct nsx_roof *f, struct nsx_roof_total **list, size_t *n);

/* The table of that kind. NSX_OK, or NSX_ERR with err filled and *table NULL. */
int nsx_roof_table(struct nsx_roof *f, enum nsx_roofline_by by, struct nsx_table **table);

/* Add a line for each program, and notes on missing data, below the table. NSX_OK, or NSX_ERR with err filled. */
int nsx_roof_words(const struct nsx_roof *f, struct nsx_table *t);

#endif
