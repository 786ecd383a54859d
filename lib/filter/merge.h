/* merge.h -- merge several streams into one: the work of nsysx-merge. The result depends on the contents of the streams
 * only: any order, any grouping of merges gives the same bytes. */
#ifndef NSX_FILTER_MERGE_H
#define NSX_FILTER_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "job/match/match.h"
#include "base/diag.h"
#include "base/err.h"
#include "stream/writer.h"

struct nsx_merge_opts {
	enum nsx_match_by match;   /* how programs of several profiles are recognised as one */
	bool     force;            /* merge contradictory inputs: a report twice, one device in two reports, aligned
	                            * with unaligned */
	unsigned read_flags;       /* enum nsx_read_flags; NSX_READ_ORDERED is added */
	const char *const *names;  /* names of the inputs in messages; NULL: their paths */
	int      fan_in;           /* inputs of one round, at least 2; 0: as many as open files allow, at most 100 */
};

/* Merge the streams at n paths ("-" is standard input) into out, which is not finished. More inputs than fan_in are
 * merged in rounds, over compressed temporary files. Memory holds the metadata of one round, and little per input.
 * Diags are written into the stream as records and appended to diags. NSX_OK, or NSX_ERR with err filled. */
int nsx_merge(const char *const *paths, size_t n, const struct nsx_merge_opts *opts,
              struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err);

#endif
