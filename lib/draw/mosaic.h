/* mosaic.h -- the events that warpgroups, or warps, of a Mosaic GPU kernel recorded in their profiler buffer: as a
 * Chrome trace, as ranges. */
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

/* The meaning of the third word of a trace: buffers do not record it, but an odd number can only be the first. */
enum nsx_mosaic_layout {
	NSX_MOSAIC_AUTO,
	NSX_MOSAIC_ENTRIES,   /* all words in use, including the three of the header */
	NSX_MOSAIC_TRACES     /* words of events only */
};

/* What has a trace of its own. Auto: warps where the buffer has headers of traces at the places of warps. */
enum nsx_mosaic_scope { NSX_MOSAIC_ANY, NSX_MOSAIC_WARPGROUP, NSX_MOSAIC_WARP };

struct nsx_mosaic_shape {
	int64_t                blocks;       /* of the grid */
	int64_t                threads;      /* of a block */
	enum nsx_mosaic_layout layout;
	enum nsx_mosaic_scope  scope;
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

/* The events of one warpgroup or warp: n events from index first. */
struct nsx_mosaic_track { int64_t slot, sm; size_t first, n; };

/* A decoded buffer. Tracks are sorted by the times of their first events, equal ones by slot; those without events
 * have none. Times within a track increase strictly. */
struct nsx_mosaic {
	const struct nsx_mosaic_names *names;   /* owned by the caller */
	NSX_VEC(struct nsx_mosaic_event) events;
	NSX_VEC(struct nsx_mosaic_track) tracks;
	int64_t overhead;                       /* cycles that recording an event costs */
};

/* The whole of a file in memory; NULL or "-" is standard input. NSX_OK, or NSX_ERR with err filled. The caller frees
 * out. */
int nsx_mosaic_slurp(const char *path, struct nsx_buf *out, struct nsx_err *err);

/* Add names from text, lines of id, tab, name, escaped as in a stream; path is for messages. NSX_OK, or NSX_ERR with
 * err filled. */
int nsx_mosaic_names_parse(struct nsx_mosaic_names *names, struct nsx_str text, const char *path, struct nsx_err *err);
void nsx_mosaic_names_free(struct nsx_mosaic_names *names);

/* Narrow bytes, a NumPy file of unsigned 32-bit numbers, to its data; other bytes are unchanged. NSX_OK or NSX_ERR. */
int nsx_mosaic_npy(struct nsx_str *bytes, const char *path, struct nsx_err *err);

/* Decode the numbers at bytes (32 bits each, little-endian). NSX_OK; NSX_ERR with err filled and m as after
 * nsx_mosaic_free: another shape, events that did not fit, an event without name. */
int nsx_mosaic_decode(struct nsx_str bytes, const char *path, const struct nsx_mosaic_shape *shape,
                      const struct nsx_mosaic_names *names, struct nsx_mosaic *m, struct nsx_diags *diags,
                      struct nsx_err *err);
void nsx_mosaic_free(struct nsx_mosaic *m);

/* Write the trace as JSON for Chrome's viewer or Perfetto; ranges that are open after a track's last event end with it.
 * The caller commits out. NSX_OK or NSX_ERR. */
int nsx_mosaic_json(const struct nsx_mosaic *m, struct nsx_outfile *out, struct nsx_diags *diags, struct nsx_err *err);

/* Write it as a stream instead: a `range` for each pair of begin and end, an `op` for each period in which a range is
 * the innermost one; profile is the name of the one profile. The caller finishes out. NSX_OK or NSX_ERR. */
int nsx_mosaic_stream(const struct nsx_mosaic *m, struct nsx_str profile, struct nsx_writer *out,
                      struct nsx_diags *diags,
                      struct nsx_err *err);

#endif
