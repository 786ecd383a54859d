/* warmup.h -- tell initialisation from steady state. */
#ifndef NSX_FILTER_WARMUP_H
#define NSX_FILTER_WARMUP_H

#include "base/diag.h"
#include "stream/reader.h"
#include "stream/writer.h"

enum nsx_warmup_mode {
	NSX_WARMUP_STEADY,   /* leave initialisation out */
	NSX_WARMUP_INIT,     /* leave steady state out */
	NSX_WARMUP_MARK      /* leave nothing out; a column `phase` of module, thunk, collective, op and range says
	                      * which it is */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet) and write what mode asks for. An execution is
 * initialisation if its number is below [the profile compiled the program] + [the stream has communication]; ops and
 * ranges that name no execution go with the module they lie in on the GPU, else by the first steady one of their
 * device. If nothing is steady, everything is, and a diag says so. Kinds that are none of these pass, those that may
 * stand anywhere without waiting. NSX_OK, or NSX_ERR with err filled. */
int nsx_warmup(struct nsx_reader *in, struct nsx_writer *out, enum nsx_warmup_mode mode, struct nsx_diags *diags,
               struct nsx_err *err);

#endif
