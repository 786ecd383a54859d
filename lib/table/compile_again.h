/* compile_again.h -- why functions were compiled again: what differs in their dumps. */
#ifndef NSX_TABLE_COMPILE_AGAIN_H
#define NSX_TABLE_COMPILE_AGAIN_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"

/* The table of n paths, each a dump or a folder of dumps, which are those of one process: a row for each difference of
 * a program that has the name of an earlier one from that which is most like it: id name like why argument was is.
 * NULL with err filled on failure; the caller frees it. */
struct nsx_table *nsx_compile_again(char *const *paths, int n, struct nsx_diags *diags, struct nsx_err *err);

#endif
