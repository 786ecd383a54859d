/* fold.h -- a stream's GPU time as folded stacks. */
#ifndef NSX_DRAW_FOLD_H
#define NSX_DRAW_FOLD_H

#include "job/names.h"
#include "job/share.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "stream/reader.h"

enum nsx_fold_by {
	NSX_FOLD_SOURCE,    /* exposed time of thunks by source stack and op_name */
	NSX_FOLD_OP_NAME,   /* by op_name, split at '/' */
	NSX_FOLD_OPCODE,
	NSX_FOLD_MODULE,    /* by module and thunk */
	NSX_FOLD_NVTX,      /* time of operations by the NVTX ranges around their launch */
	NSX_FOLD_KERNEL,    /* the same, the operation's name as leaf */
	NSX_FOLD_SCOPE,     /* time of operations by module and named scope (job/scope.h) */
	NSX_FOLD_HOST       /* what host threads did (job/doing): by ranges, Python and native stacks */
};

/* The last frame of stacks that communicate, if they are marked. */
#define NSX_FOLD_COMM "[communication]"

struct nsx_fold_options {
	enum nsx_fold_by by;
	struct nsx_cover cover;     /* programs to include; not for NVTX, KERNEL and SCOPE */
	enum nsx_names   names;     /* NVTX, KERNEL, SCOPE and HOST: form of the names of ranges */
	bool             exposed;   /* NVTX and KERNEL: of operations that communicate, only the time that nsysx-overlap
	                             * found exposed */
	bool             mark_comm; /* stacks of communication end in a frame NSX_FOLD_COMM; NVTX: those of copies in a
	                             * frame with the name of the copy */
	bool idle; /* HOST: only while devices were idle because the thread had not launched; their idle
		    * time must be marked */
	uint32_t         causes;    /* HOST: bits of these causes only; 0: all */
	bool threads; /* HOST, not idle: every thread of the stream, not only those that make CUDA calls */
	bool             repeats;   /* SOURCE: keep repeated runs of frames, which repeats.c describes */
	const char      *require;   /* fail unless the stream has a record of this kind; NULL: none */
};

/* "source", "op-name", ...; -1 if there is none of that name. */
int nsx_fold_by_name(const char *name);

/* Read all of `in` once and write for each of n options (at least 1) `frame;frame NANOSECONDS` lines, sorted bytewise:
 * the result of options[i] goes to out[i], which the caller commits. For NVTX, KERNEL, SCOPE and HOST `in` must be
 * opened with NSX_READ_ORDERED. A diag that several of the options have is counted once. options->require is that of
 * the first options. NSX_OK, or NSX_ERR with err filled. */
int nsx_folds(struct nsx_reader *in, const struct nsx_fold_options *options, size_t n, struct nsx_outfile *const *out,
              struct nsx_diags *diags, struct nsx_err *err);

#endif
