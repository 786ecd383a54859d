/* align.h -- put the times of several reports on one clock, by collectives, which end on all their devices at the same
 * time. */
#ifndef NSX_FILTER_ALIGN_H
#define NSX_FILTER_ALIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "stream/writer.h"

/* The standard error of a median of so many is 0.04 of the standard deviation of one, of NCCL's operations 0.055: these
 * take twice the memory. */
enum { NSX_ALIGN_KEEP = 1024, NSX_ALIGN_KEEP_OPS = 512 };

struct nsx_align_opts {
	bool        estimate;     /* write only clock and skew records, and the metadata they refer to */
	bool        sample;       /* write only the records of collectives that would be compared, with all metadata */
	int64_t     keep;         /* compare so many executions of the collectives of a set of devices (sample.c); 0:
	                           * NSX_ALIGN_KEEP, NSX_ALIGN_KEEP_OPS where there are many, else all */
	bool        drift;        /* clocks run at different rates: fit them too */
	bool        per_device;   /* devices of one report have separate clocks */
	const char *apply;        /* a stream with clock records to use instead of estimating; NULL: estimate */
	unsigned    read_flags;   /* enum nsx_read_flags for path; NSX_READ_ORDERED is added */
	size_t      hold_bytes;   /* about how many bytes may be held in memory to restore the order; the rest goes to
	                           * temporary files */
};

/* Read the stream at path (NULL or "-": standard input), write it on one clock to out (not finished, and not following
 * a reader). Without `apply` the stream is read twice: a regular file again, anything else through a compressed
 * temporary file. NSX_OK, or NSX_ERR with err filled. Reports that cannot be aligned are unchanged, with a diag. */
int nsx_align(const char *path, const struct nsx_align_opts *opts, struct nsx_writer *out, struct nsx_diags *diags,
              struct nsx_err *err);

#endif
