/* matcher.h -- what matching is made of; private to lib/job/match. match.c makes clusters of aliases and programs of
 * clusters, join.c decides which clusters are one program. */
#ifndef NSX_JOB_MATCH_MATCHER_H
#define NSX_JOB_MATCH_MATCHER_H

#include "base/vec.h"
#include "job/match/names.h"

/* The kind of label that distinguishes an alias from others of its name. */
enum match_class { BY_DUMP, BY_RUN, BY_FINGERPRINT, BY_ID, BY_NAME };

struct alias_item {
	const struct nsx_match_alias *a;
	int64_t        id;        /* -1: none */
	enum match_class     class;
	struct nsx_str label;     /* digest or fingerprint, according to class */
	uint32_t       alias;
	uint32_t       profile;   /* dense */
	uint32_t       cluster;
};

struct matcher {
	struct alias_item *items;   /* one per (name, profile, id) */
	size_t            n;
	struct alias_item *twins;   /* further aliases of the same (name, profile, id); cluster is the item's number */
	size_t            ntwins;
	uint32_t          nprofiles;
	NSX_VEC(uint32_t) parent;   /* of clusters: union-find */
	NSX_VEC(uint32_t) next;     /* ring of the clusters joined with this one */
	NSX_VEC(uint32_t) first;    /* of a cluster: its first item in order of (cluster, profile) */
	NSX_VEC(bool)     taken;    /* scratch: slots of a profile */
	uint32_t         *by_cluster;
	uint32_t         *stamp, stamps;   /* per profile: scratch */
};

/* The cluster that stands for those joined with c: the one with the lowest number. */
uint32_t nsx_match_root(struct matcher *m, uint32_t c);

/* Join clusters of one name that are one program: nearly equal sets of names, marks of digests, aliases that were only
 * compiled. Items are in the order in which clusters were made. False when out of memory. */
bool nsx_match_join_names(struct matcher *m);

/* Join clusters of one name and compilation unit of a profile. False when out of memory. */
bool nsx_match_join_units(struct matcher *m);

#endif
