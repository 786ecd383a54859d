/* diag.h -- diagnostics of a run: data that was dropped, truncated, assumed or repaired. Collected here,
 * written into the stream as `diag` records and shown on standard error. */
#ifndef NSX_BASE_DIAG_H
#define NSX_BASE_DIAG_H

#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

NSX_BEGIN_C

/* An error does not end the run, but the data are hardly those that are meant; it is shown whatever -q. */
enum nsx_severity { NSX_INFO, NSX_WARNING, NSX_ERROR };

struct nsx_diag {
	enum nsx_severity severity;
	char             *source;   /* its subject: a profile, a program; "" for the whole run */
	char             *text;     /* one sentence without its count */
	int64_t           count;    /* how many times */
	bool              lack;     /* of nsx_diag_lack */
};

/* The source of diags that repeat what the recorder says: they are not of the tool that writes them. */
#define NSX_DIAG_OF_NSYS "nsys"

/* Diags in order of first occurrence; {0} is empty. */
struct nsx_diags { NSX_VEC(struct nsx_diag) list; bool failed; struct nsx_map index; };

/* Add `count` to the diag with source `source` and the text of `fmt`; equal texts of one source are one diag. A count
 * of 0 adds nothing. When memory runs out `failed` is set. */
void nsx_diag_add(struct nsx_diags *d, enum nsx_severity severity, const char *source, int64_t count,
                  const char *fmt, ...) NSX_PRINTF(5, 6);

/* A warning, for the whole run, of what an analysis misses in its data. Who runs several of them, and has one reason
 * for all that they miss, may leave these out. */
void nsx_diag_lack(struct nsx_diags *d, const char *fmt, ...) NSX_PRINTF(2, 3);
void nsx_diags_drop_lacks(struct nsx_diags *d);

/* Append all of `from` to `d`, adding up equal ones. */
void nsx_diags_join(struct nsx_diags *d, const struct nsx_diags *from);

/* Append all of `from` to `d`; of equal ones the larger count remains. For several analyses that examined the same
 * data. */
void nsx_diags_cover(struct nsx_diags *d, const struct nsx_diags *from);

/* Append those of `from` from number `first` on to `to`, so that a person can read what many reports say alike: more
 * than NSX_DIAG_ALIKE diags that differ only in the subject at the end of their source, and in numbers in their text,
 * become one with the sum of their counts. Its source names the first three, its text has N for numbers that differ:
 *
 *   r0: 3 ranges dropped (2)  r1: 4 ranges dropped (1)  ...   ->   r0, r1, r2 and 253 others: N ranges dropped (300) */
enum { NSX_DIAG_ALIKE = 8 };
void nsx_diags_gather(struct nsx_diags *to, const struct nsx_diags *from, size_t first);

/* Sort d by source, then text, bytewise: for work whose tasks end in any order. Nothing may be added afterwards. */
void nsx_diags_sort(struct nsx_diags *d);

/* "info", "warning" or "error". */
const char *nsx_severity_name(enum nsx_severity s);
/* Whether that is the name of one, which is then in *s. */
bool nsx_severity_of(struct nsx_str name, enum nsx_severity *s);

void nsx_diags_free(struct nsx_diags *d);

NSX_END_C

#endif
