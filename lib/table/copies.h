/* copies.h -- copies and sets of memory: time, bandwidth, the part hidden behind other work; and inefficient ones.
 * Definitions: docs/man/nsysx-copies.1. */
#ifndef NSX_TABLE_COPIES_H
#define NSX_TABLE_COPIES_H

#include <stdbool.h>

#include "base/str.h"
#include "table/analysis.h"

struct nsx_copies_options {
	bool        by_size;    /* a row for each size class too */
	bool        findings;   /* instead, the copies that break a rule, the longest first */
	bool        minor;      /* also the findings that take less than a thousandth of the time of all copies; without
	                         * it, a note below the table gives their number and time */
	bool        in_windows; /* of the windows of the reading only; what began before one may hide its copies */
};

/* Why a table without findings has no rows. */
#define NSX_COPIES_EMPTY "no operation copies or sets memory"

/* Copies of a kind, between the same kinds of memory, called in one way. time, hidden: ns; hidden: the part behind
 * other work; host: host ns of their calls, as far as known. */
struct nsx_copies_sum { struct nsx_str name, src, dst; bool sync; int64_t count, bytes, time, hidden, host; };

/* An analysis (table/analysis.h) with nsx_copies_options. */
extern const struct nsx_analysis nsx_copies_analysis;

/* The i-th of the sums in its state, after `finish`, the longest time first; false after the last. Strings live as long
 * as the state. */
bool nsx_copies_sum(const void *state, size_t i, struct nsx_copies_sum *sum);

#endif
