/* perfetto.h -- a stream as a trace for timeline viewers: Perfetto's protocol buffers, or Chrome's JSON. */
#ifndef NSX_DRAW_PERFETTO_H
#define NSX_DRAW_PERFETTO_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/outfile.h"
#include "stream/reader.h"

/* Numbers of devices, both included. */
struct nsx_perfetto_range { int64_t from, to; };

struct nsx_perfetto_options {
	bool               chrome;    /* JSON, not protocol buffers */
	bool               flows;     /* draw arrows from launches to operations, and between the records of a
	                               * collective */
	const char *const *dumps;     /* folders of HLO dumps: counters of heap memory for the programs in them */
	int                ndumps;
	/* Draw only these: ndevices of them; none: all, or of more than 64 the 32 that matter most, as in
	 * docs/man/nsysx-perfetto.1. */
	const struct nsx_perfetto_range *devices;
	size_t             ndevices;
	const char        *require;   /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in`, opened with NSX_READ_ORDERED, and write the trace to out while reading; the caller commits out.
 * Holds the metadata, the allocating instructions of dumps, the open slices, and some 4096 slices per device or thread
 * that wait for earlier ones. NSX_OK, or NSX_ERR with err filled. */
int nsx_perfetto(struct nsx_reader *in, const struct nsx_perfetto_options *options, struct nsx_outfile *out,
                 struct nsx_diags *diags, struct nsx_err *err);

#endif
