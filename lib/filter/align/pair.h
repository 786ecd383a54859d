/* pair.h -- declarations shared by pairing executions and comparing two devices. */
#ifndef NSX_FILTER_ALIGN_PAIR_H
#define NSX_FILTER_ALIGN_PAIR_H

#include "filter/align/aligning.h"

/* The records of one device: executions of one collective, its first occurrence in each. */
struct series { uint32_t collective, program, device, first, n; };

/* The same collective on two devices. */
struct couple { uint32_t v, u; };

/* Two devices of one program, v (known) and u, by collectives that both take part in. v's numbers of executions are u's
 * plus shift. */
struct edge {
	uint32_t program, v, u;
	uint32_t tree;       /* the index of the first edge of its tree: edges of a tree follow each other */
	uint32_t first, n;   /* couples; the first has the most executions */
	int32_t  shift;
	bool     sure, lost;
	size_t   intervals;
};

/* Comparing more collectives than this does not improve the result. */
enum { MOST_COUPLES = 16 };

struct pairing {
	struct al_job  *j;
	NSX_VEC(struct series) series;          /* by collective, then device */
	NSX_VEC(struct couple) couples;
	NSX_VEC(struct edge) edges;             /* a device's comes after its v's */
	uint32_t       *parent;                 /* of devices; .. */
	int64_t        *ahead;                  /* .. how far the clock is ahead of the parent's */
	int64_t        *a, *b;                  /* space for the longest series */
};

/* By intervals only: set shift, sure, lost, intervals. */
void nsx_align_compare(const struct pairing *p, struct edge *e);

/* With the clocks known to be `apart`: the shift that fits best; lost if it does not fit well enough. */
void nsx_align_place(const struct pairing *p, struct edge *e, int64_t apart);

/* How far u's clock is ahead of v's at this shift. */
int64_t nsx_align_apart(const struct pairing *p, const struct edge *e, int32_t shift);

#endif
