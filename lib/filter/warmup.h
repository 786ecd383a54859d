/* warmup.h -- separate initialisation from steady state. */
#ifndef NSX_FILTER_WARMUP_H
#define NSX_FILTER_WARMUP_H

#include "base/diag.h"
#include "filter/stepping.h"
#include "stream/reader.h"
#include "stream/writer.h"

enum nsx_warmup_mode {
	NSX_WARMUP_STEADY,   /* drop initialisation */
	NSX_WARMUP_INIT,     /* drop steady state */
	NSX_WARMUP_MARK      /* drop nothing; a column `phase` of module, thunk, collective, op and range has the
	                      * phase */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet) and write the records that mode selects. An
 * execution is initialisation if its number is below [the profile compiled the program] + [the stream has
 * communication]; ops and ranges that refer to no execution have the phase of the module around them on the GPU, else
 * they are steady from the first steady module of their device on. For example, in a stream with communication,
 * executions 0 and 1 of a program that the profile compiled are initialisation, and 2, 3, ... are steady; of a program
 * that it did not compile only execution 0 is initialisation. If nothing is steady, everything counts as steady, with a
 * diag. Other kinds pass; those that may be at any position do not wait. NSX_OK, or NSX_ERR with err filled. */
int nsx_warmup(struct nsx_reader *in, struct nsx_writer *out, enum nsx_warmup_mode mode, struct nsx_diags *diags,
               struct nsx_err *err);

/* The same for who calls it for each record: it has begun. NULL: err is filled. */
struct nsx_warmup;
struct nsx_warmup *nsx_warmup_begin(struct nsx_reader *in, struct nsx_writer *out, enum nsx_warmup_mode mode,
                                    struct nsx_err *err);
extern const struct nsx_stepping nsx_warmup_stepping;

#endif
