/* pair.h -- what pairing executions and comparing two devices share. */
#ifndef NSX_FILTER_ALIGN_PAIR_H
#define NSX_FILTER_ALIGN_PAIR_H

#include "filter/align/aligning.h"

/* What happened on one device: executions of one collective, its first occurrence in each. */
struct series { uint32_t collective, program, device, first, n; };

/* The same collective on two devices. */
struct couple { uint32_t v, u; };

/* Two devices of one program, v (known) and u, by collectives that both are in. v's numbers of executions are u's plus
 * shift. */
struct edge {
	uint32_t program, v, u;
	uint32_t first, n;   /* couples; the first has the most executions */
	int32_t  shift;
	bool     sure, lost;
	size_t   intervals;
};

/* Comparing more collectives than this makes no better. */
enum { MOST_COUPLES = 16 };

struct pairing {
	struct al_job  *j;
	NSX_VEC(struct series) series;          /* by collective, then device */
	NSX_VEC(struct couple) couples;
	NSX_VEC(struct edge) edges;             /* a device's comes after its v's */
	uint32_t       *parent;                 /* of devices, for which .. */
	int64_t        *ahead;                  /* .. is how far the clock is ahead of the parent's */
	int64_t        *a, *b;                  /* room for the longest series */
};

/* By intervals alone: set shift, sure, lost, intervals. */
void nsx_align_compare(const struct pairing *p, struct edge *e);

/* With the clocks known to be `apart`: the shift that comes nearest; lost if it is not near enough. */
void nsx_align_place(const struct pairing *p, struct edge *e, int64_t apart);

/* How far u's clock is ahead of v's at this shift. */
int64_t nsx_align_apart(const struct pairing *p, const struct edge *e, int32_t shift);

#endif
