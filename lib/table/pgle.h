/* pgle.h -- costs of instructions, in the form that XLA's profile-guided latency estimator reads. */
#ifndef NSX_TABLE_PGLE_H
#define NSX_TABLE_PGLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "stream/reader.h"

/* longest: an instruction that communicates costs its largest duration. complete: folders of dumps, ncomplete of
 * them; with them a file also has the instructions that XLA looks up and for which the stream has no cost, as described
 * in pgle_wants.c. */
struct nsx_pgle_options { bool longest; const char *const *complete; size_t ncomplete; };

/* Read all of `in` (open, not read from yet) and write DIR/FINGERPRINT.pbtxt for each fingerprint of a program that
 * ran, creating DIR if it does not exist: of each instruction that communicates the median transfer of its instances,
 * which is the time from the last start to the last end, of every other the smallest duration. *files: number of files
 * written. NSX_OK, or NSX_ERR with err filled; each file that has its name then is complete. */
int nsx_pgle(struct nsx_reader *in, const char *dir, const struct nsx_pgle_options *options, int64_t *files,
             struct nsx_diags *diags, struct nsx_err *err);

#endif
