/* solving.h -- declarations that the files which turn records of collectives into corrections share: sets.c chooses the
 * collectives, solve.c finds the skews of clocks, corrections.c turns these into corrections of devices. */
#ifndef NSX_FILTER_ALIGN_SOLVING_H
#define NSX_FILTER_ALIGN_SOLVING_H

#include "filter/align/aligning.h"

/* Devices that take part in the same collectives. */
struct al_set {
	uint32_t ndev, ninst, npairs;   /* number of collectives; of pairwise exchanges */
	uint32_t first;       /* obs of one of its instances, which gives the members */
	uint32_t clock;       /* one of its clocks */
	bool     pairs;       /* of permutations only */
	bool     apart;       /* contains several clocks */
	bool     used;
};

/* A clock's skew in a set. */
struct al_skew { uint32_t set, clock; size_t n; al_wide twice; uint32_t ndev; double value, rate; };

struct al_solving {
	struct al_job           *j;
	struct nsx_intern        members;  /* devices of a set, by set */
	NSX_VEC(struct al_set)   sets;
	NSX_VEC(struct al_skew)  skews;
	uint32_t             *parent;      /* of clocks; a root stands for its component */
	uint32_t             *weight;      /* of clocks: profiled devices */
	uint32_t             *enough;      /* by root: the set of all its devices if it is enough, NSX_NONE */
	uint32_t             *devices;     /* by root: profiled devices */
	double               *x, *rate;    /* by clock */
	double               *value;       /* by clock: x before it was rounded */
	double               *error;       /* by clock: standard error of x, ns; less than 0: unknown */
	double               *half;        /* by root: half of what its collectives span, ns; 0 without drift */
	int64_t              *ref;
	int64_t              *count;       /* by clock: collectives */
};

/* The clock that stands for the component of clock c. */
static inline uint32_t
al_root_of(struct al_solving *s, uint32_t c)
{
	while (s->parent[c] != c)
		c = s->parent[c] = s->parent[s->parent[c]];
	return c;
}

/* The number of collectives of a set that are used. */
static inline uint32_t
al_set_size(const struct al_set *set)
{
	return set->pairs ? set->npairs : set->ninst;
}

/* ---- sets.c */

/* Find the instances among obs, which are sorted by instance, and their sets. NSX_OK or NSX_ERR. */
int nsx_align_find_instances(struct al_solving *s);

/* Choose which sets are used, and connect their clocks. Devices that exchange only in pairs end at different times:
 * such sets are used only where nothing else connects clocks. */
void nsx_align_choose_sets(struct al_solving *s);

/* Whether an instance is used, after sets were chosen. A set that holds only pairwise exchanges is used as such; in
 * others these do not count. */
bool nsx_align_counts(const struct al_solving *s, const struct al_instance *in);

/* ---- corrections.c */

/* Set corrections of a stream that is already aligned to none, in a component whose clocks would move by less than a
 * nanosecond relative to each other, with drift by less than five, at both ends of the time that was compared. The
 * median of a clock's skews need not be 0 after a correction, and half a nanosecond is rounded away from zero: without
 * this rule each further pass would move all clocks together. Lines fitted to times that the previous pass rounded
 * differ from its lines by a few nanoseconds. NSX_OK or NSX_ERR. */
int nsx_align_rest(struct al_solving *s);

/* Add the correction of each device to g; diags say what could not be aligned. NSX_OK or NSX_ERR. */
int nsx_align_give(struct al_solving *s, struct al_corrections *g);

#endif
