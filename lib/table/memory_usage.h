/* memory_usage.h -- the memory that CUDA allocated and freed: its peak, the curve, and what is live at the peak. */
#ifndef NSX_TABLE_MEMORY_USAGE_H
#define NSX_TABLE_MEMORY_USAGE_H

#include "table/analysis.h"

enum nsx_usage_what {
	NSX_USAGE_PEAK,    /* a row for each kind of memory of a device as a process sees it, or of its host, and one
	                    * for all: profile device pid memory peak reserved capacity share start class step end
	                    * allocs frees unknown */
	NSX_USAGE_CURVE,   /* profile device pid memory start live reserved: a row for each of at most NSX_USAGE_POINTS
	                    * changes, the highest among them; between two rows it is nowhere above both */
	NSX_USAGE_LIVE     /* profile device pid memory by path variable count bytes share: what is live at the peak, by
	                    * the call and the ranges that allocated it. Sums to the peak */
};

enum { NSX_USAGE_POINTS = 513 };

struct nsx_usage_options { enum nsx_usage_what what; };

/* Options: nsx_usage_options. Memory grows with the number of steps and, for NSX_USAGE_LIVE, of allocations; else with
 * that of live ones. */
extern const struct nsx_analysis nsx_usage_analysis;

#endif
