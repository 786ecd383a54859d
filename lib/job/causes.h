/* causes.h -- the causes of idle time (causes.def), and the groups that they form. */
#ifndef NSX_JOB_CAUSES_H
#define NSX_JOB_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum nsx_cause {
#define CAUSE(id, name, group, tint, stripes, change, says, action) NSX_CAUSE_##id,
#include "job/causes.def"
	NSX_NCAUSES
};

/* EDGE: outside the device's own time. REMOVED: no idle time. STARVED: the host had not launched. ISSUED: it had. */
enum nsx_cause_group { NSX_CAUSES_EDGE, NSX_CAUSES_REMOVED, NSX_CAUSES_GRAPH, NSX_CAUSES_NO_CALL, NSX_CAUSES_STARVED,
                       NSX_CAUSES_ISSUED, NSX_NCAUSE_GROUPS };

struct nsx_cause_known {
	const char *name;
	enum nsx_cause_group group;
	const char *tint;       /* of pictures: the colour, */
	int64_t     stripes;    /* and the pattern, 1 being plain */
	const char *change;     /* of nsysx-whatif, that would remove it; NULL: none would */
	const char *says;       /* a sentence of findings, */
	const char *action;     /* and what to do first; NULL: it is in none */
};

extern const struct nsx_cause_known nsx_causes[NSX_NCAUSES];

const char *nsx_cause_name(enum nsx_cause c);
enum nsx_cause nsx_cause_named(struct nsx_str name);        /* NSX_NCAUSES: none has that name */
const char *nsx_cause_group_name(enum nsx_cause_group g);   /* "edge", "removed", "graph", "no-call", "launch-starved",
                                                             * "issued" */
/* Whether it is the cause of time between two operations. */
static inline bool
nsx_cause_is_gap(enum nsx_cause c)
{
	return nsx_causes[c].group != NSX_CAUSES_EDGE && nsx_causes[c].group != NSX_CAUSES_REMOVED;
}

/* The cause of an overhead of the host of that class, and of an innermost call of that class that does not block.
 * NSX_NCAUSES: of no overhead. *precedes: of several overheads the one with the lowest is the cause. */
enum nsx_cause nsx_cause_of_overhead(struct nsx_str class, uint32_t *precedes);
enum nsx_cause nsx_cause_of_call(struct nsx_str class);

/* Add the causes in a list to *causes, as bits of enum nsx_cause: names of causes or of groups of causes, separated by
 * commas. NSX_OK, or NSX_ERR: *bad is a name in it that is none. */
int nsx_causes_parse(const char *list, uint32_t *causes, struct nsx_str *bad);
/* The i-th name for it: of causes, then of groups that are not causes; NULL after the last. */
const char *nsx_causes_known(size_t i);

/* ns after a call returned that count as launch latency, where no others are asked for. */
#define NSX_IDLE_LATENCY INT64_C(20000)

#endif
