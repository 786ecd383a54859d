/* mosaic.h -- what warpgroups of a Mosaic GPU kernel recorded into their profiler buffer: as a Chrome trace, as
 * ranges. */
#ifndef NSX_DRAW_MOSAIC_H
#define NSX_DRAW_MOSAIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/outfile.h"
#include "base/str.h"
#include "base/vec.h"
#include "stream/writer.h"

/* What the third word of a warpgroup counts: buffers do not say it, but one that is odd can only be the former. */
enum nsx_mosaic_layout {
	NSX_MOSAIC_AUTO,
	NSX_MOSAIC_ENTRIES,   /* all words in use, the three of the header too */
	NSX_MOSAIC_TRACES     /* words of events alone */
};

struct nsx_mosaic_shape {
	int64_t                blocks;       /* of the grid */
	int64_t                threads;      /* of a block */
	enum nsx_mosaic_layout layout;
};

/* Names of events by their ids; {0} is empty. */
struct nsx_mosaic_names {
	struct nsx_map        index;
	NSX_VEC(struct nsx_str) list;
	struct nsx_arena      arena;
};

struct nsx_mosaic_event {
	int64_t  time;    /* ns of %globaltimer's lower half at the kernel's start, plus clock cycles since */
	uint32_t name;    /* in names.list */
	bool     end;
};

/* The events of one warpgroup: n of them from first. */
struct nsx_mosaic_track { int64_t slot, sm; size_t first, n; };

/* A buffer taken apart. Tracks are in order of their first events' times, equal ones by slot; those without events are
 * not there. Times within a track increase strictly. */
struct nsx_mosaic {
	const struct nsx_mosaic_names *names;   /* the caller's */
	NSX_VEC(struct nsx_mosaic_event) events;
	NSX_VEC(struct nsx_mosaic_track) tracks;
	int64_t overhead;                       /* cycles that recording an event took */
};

/* The whole of a file in memory; NULL or "-" is standard input. NSX_OK, or NSX_ERR with err filled. The caller frees
 * out. */
int nsx_mosaic_slurp(const char *path, struct nsx_buf *out, struct nsx_err *err);

/* Add names from text, lines of id, tab, name, escaped as in a stream; path is for messages. NSX_OK, or NSX_ERR with
 * err filled. */
int nsx_mosaic_names_parse(struct nsx_mosaic_names *names, struct nsx_str text, const char *path, struct nsx_err *err);
void nsx_mosaic_names_free(struct nsx_mosaic_names *names);

/* Narrow bytes, a NumPy file of unsigned 32-bit numbers, to its data; what is no NumPy file stays what it is. NSX_OK or
 * NSX_ERR. */
int nsx_mosaic_npy(struct nsx_str *bytes, const char *path, struct nsx_err *err);

/* Take the numbers at bytes (32 bits each, little-endian) apart. NSX_OK; NSX_ERR with err filled and m as after
 * nsx_mosaic_free: not of that shape, events that did not fit, an event of no name. */
int nsx_mosaic_decode(struct nsx_str bytes, const char *path, const struct nsx_mosaic_shape *shape,
                      const struct nsx_mosaic_names *names, struct nsx_mosaic *m, struct nsx_diags *diags,
                      struct nsx_err *err);
void nsx_mosaic_free(struct nsx_mosaic *m);

/* Write the trace as JSON for Chrome's viewer or Perfetto; committing out is the caller's. NSX_OK or NSX_ERR. */
int nsx_mosaic_json(const struct nsx_mosaic *m, struct nsx_outfile *out, struct nsx_err *err);

/* Write it as a stream instead: a `range` for each pair of begin and end, an `op` for each stretch of time in which a
 * range is the innermost one; profile is the name of the one profile. Finishing out is the caller's. NSX_OK or
 * NSX_ERR. */
int nsx_mosaic_stream(const struct nsx_mosaic *m, struct nsx_str profile, struct nsx_writer *out,
                      struct nsx_diags *diags,
                      struct nsx_err *err);

#endif
