/* fold/fold.h -- the two ways to fold; private to lib/draw/fold. */
#ifndef NSX_DRAW_FOLD_FOLD_H
#define NSX_DRAW_FOLD_FOLD_H

#include "draw/fold.h"
#include "job/stacks.h"

/* One way to fold records of `in`: take() gets every record of the stream, finish() adds the last times to the stacks.
 * Both return NSX_OK or NSX_ERR with err filled. */
struct nsx_folder {
	void *(*open)(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_stacks *stacks,
	              struct nsx_err *err);
	void (*need)(const void *state, struct nsx_reader *in);   /* declare to the reader what take() uses */
	int (*take)(void *state, const struct nsx_rec *rec);
	int (*finish)(void *state, struct nsx_diags *diags);
	void (*free)(void *state);
};

/* programs.c: thunks by the source of their instructions. ranges.c: operations by NVTX range. scopes.c: by module and
 * named scope. host.c: what threads did. */
extern const struct nsx_folder nsx_fold_programs, nsx_fold_ranges, nsx_fold_scopes, nsx_fold_host;

#endif
