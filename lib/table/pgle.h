/* pgle.h -- what instructions cost, in the form in which XLA's profile-guided latency estimator takes it. */
#ifndef NSX_TABLE_PGLE_H
#define NSX_TABLE_PGLE_H

#include "base/diag.h"
#include "base/err.h"
#include "stream/reader.h"

/* Read all of `in` (open, not read from yet) and write DIR/FINGERPRINT.pbtxt for each fingerprint of a program that
 * ran, DIR being made if it is not there: the largest duration of each instruction that communicates, the smallest of
 * every other. complete: a folder of dumps, or NULL; with it a file also holds what XLA asks for of its program and the
 * stream has no cost of, as pgle_wants.c says. *files: how many were written. NSX_OK, or NSX_ERR with err filled; each
 * file that has its name then is complete. */
int nsx_pgle(struct nsx_reader *in, const char *dir, const char *complete, int64_t *files, struct nsx_diags *diags,
             struct nsx_err *err);

#endif
