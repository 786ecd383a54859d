/* compile.h -- private to nsysx-compile.
 *
 * load.c gives the ranges of one profile at a time, share.c shares the time of parallel ones, tally.c adds it up by
 * row, table.c turns the sums into rows. summary.c stands by itself. */
#ifndef NSX_TABLE_COMPILE_COMPILE_H
#define NSX_TABLE_COMPILE_COMPILE_H

#include "table/compile.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/activity.h"
#include "job/catalogue.h"
#include "table/sums.h"

/* Nanoseconds with 64 fractional bits; FINE_NS is one nanosecond. */
typedef __int128 fine_time;
#define FINE_NS ((fine_time)1 << 64)
#define TIME_MAX (INT64_MAX / 4)   /* ns; a time beyond it is not valid */

/* A range of a compilation. */
struct compile_range {
	int64_t  pid, tid;
	int64_t  start, dur;     /* host ns; dur >= 0; no time of a range is beyond TIME_MAX */
	int64_t  child, self;    /* ns; of its direct children on its thread, and dur less that */
	int64_t  program;        /* number; -1: unknown */
	uint32_t parent;         /* index of the range it is in, which comes before it; NSX_NONE: none */
	uint32_t name;           /* in struct compiling.names */
	bool     inner;          /* it has children on its thread */
	bool     orphan;         /* its parent is missing */
};

/* The part of its compilation's time that is assigned to a range. */
struct compile_part { fine_time self, child; bool owns; /* ranges of other threads are directly in it */ };

/* Share the time of n ranges, sorted by start, into parts. Ranges of the compiling thread have their own exclusive
 * time. If ranges of other threads are inside such a range, the time in which any of them is open, and none of its own
 * children, is assigned to those ranges in proportion to their exclusive times, not to their parent. NSX_OK or
 * NSX_ERR. */
int nsx_compile_share(const struct compile_range *r, size_t n, struct compile_part *part, struct nsx_err *err);

/* A row of ranges, passes, phases or modules. */
struct compiling_row {
	int64_t  key;
	struct nsx_str name;
	int64_t  program;        /* by module: number, -1 if unknown; else -1 */
	fine_time self, child, work;
	int64_t  compilations, longest;
	/* Set for the table. */
	nsx_u128 fraction;       /* of self */
	int64_t  id, self_ns, child_ns, work_ns;
	struct nsx_str program_key;
	double   share;
};
extern const struct nsx_sum_def nsx_compile_rows;

/* The rows of a table. */
struct compile_rows { enum nsx_compile_by by; struct nsx_sums rows; };

struct nsx_compile_profile {
	int64_t        number;
	struct nsx_str name;
	int64_t        first, last;   /* ns: of all its records; last < first: none */
	bool           compiles;
};

/* A process of a profile. busy: the time in which a compilation of it runs. */
struct compile_process { size_t profile; int64_t pid, compilations; struct nsx_union busy; bool loaded; };

struct compiling {
	const struct nsx_compile_opts *opts;
	struct nsx_diags  *diags;
	struct nsx_err    *err;
	const char        *where;        /* the input's name */
	struct nsx_arena   arena;
	struct nsx_intern  names;
	struct nsx_catalogue cat;        /* programs only */
	NSX_VEC(struct nsx_compile_profile) profiles;
	struct nsx_map     profile_at;
	size_t             last_profile;   /* the one that was asked for last */
	NSX_VEC(struct compile_process) processes;
	struct compile_rows   *tables, *at;   /* opts->nby of them; the one that is being added to or printed */
	NSX_VEC(struct compile_range) ranges;   /* of the current profile */
	size_t             profile;      /* the current profile */
	int64_t            records, orphans;
};

/* The profile of that number, created if it is new: its index in c->profiles; SIZE_MAX when out of memory. */
size_t nsx_compile_profile(struct compiling *c, int64_t number);

/* Record that the profile covers [start, start + dur]. */
void nsx_compile_span(struct nsx_compile_profile *p, int64_t start, int64_t dur);

/* Whether all times of r are within TIME_MAX and its duration is not negative. */
bool nsx_compile_sound(const struct compile_range *r);

/* c->ranges contains a whole profile: add it up and clear it. */
int nsx_compile_tally(struct compiling *c);

/* Name of the row for the time of library loading (opts->loading). */
#define LOADING_NAME "[non-leaf time in 0th XlaCompile range]"

/* The rows of c->at as a table; NULL with c->err filled. */
struct nsx_table *nsx_compile_table(struct compiling *c);

/* Append a number in the form of the summary: the shortest that reads back, with a ".0" if whole; and with four
 * digits. */
void nsx_compile_put_seconds(struct nsx_buf *b, double v);
void nsx_compile_put_four(struct nsx_buf *b, double v);

#endif
