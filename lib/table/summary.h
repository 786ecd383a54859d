/* summary.h -- tables of where GPU time goes. */
#ifndef NSX_TABLE_SUMMARY_H
#define NSX_TABLE_SUMMARY_H

#include "job/names.h"
#include "job/share.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"

/* The meaning of a row. */
enum nsx_summary_by {
	NSX_SUMMARY_MODULE,       /* a program */
	NSX_SUMMARY_THUNK,        /* an instruction */
	NSX_SUMMARY_OPCODE,
	NSX_SUMMARY_COLLECTIVE,   /* a kind of collective */
	NSX_SUMMARY_DEVICE,
	NSX_SUMMARY_TOTAL,        /* a sum over the whole stream */
	NSX_SUMMARY_RANGE,        /* an NVTX domain, and a name in the form of options.names */
	NSX_SUMMARY_KERNEL,       /* a type and name of GPU operation */
	NSX_SUMMARY_SOURCE,       /* a source line, as nsx_cat_source calls it */
	NSX_SUMMARY_PHASE,        /* forward, backward, ...: a phase of a training step (job/phase.h) */
	NSX_SUMMARY_SCOPE,        /* a module or named scope, with those inside it (job/scope.h) */
	NSX_SUMMARY_FAMILY,       /* a family of GPU operations, such as attention (job/family.h) */
	NSX_SUMMARY_OVERLAP       /* a kernel beside communication or copies */
};

struct nsx_summary_options {
	enum nsx_summary_by by;
	struct nsx_cover cover;     /* programs to include; for THUNK, OPCODE, SOURCE, DEVICE, TOTAL */
	int64_t          variable;  /* THUNK: only this many of the slowest computations whose durations vary; 0: all
	                             * instructions */
	bool             no_compile; /* KERNEL and RANGE: omit what runs in ranges of compilation, such as autotuning */
	enum nsx_names   names;     /* RANGE, SCOPE: those with the same shown name are one row */
	bool             helpers;   /* RANGE: also what other threads of the process launched while a range was open */
	const char      *require;   /* fail unless the stream has a record of this kind; NULL: none. If there are
	                             * several options, that of the first is used */
};

/* "module", "thunk", ...; -1 if there is none of that name. */
int nsx_summary_by_name(const char *name);

/* n of them, at least one. */
struct nsx_summaries_of { const struct nsx_summary_options *options; size_t n; };

/* Read all of `in` (open, not read from yet; metadata before what refers to it) and make a table for each of the
 * options, which the caller frees. Rows do not depend on the order of records of one kind. of: struct nsx_summaries_of;
 * a diag that several tables have is counted once. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_summaries(struct nsx_reader *in, const void *of, struct nsx_table **tables, struct nsx_diags *diags,
                  struct nsx_err *err);

#endif
