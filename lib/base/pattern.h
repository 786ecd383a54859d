/* pattern.h -- regular expressions (POSIX extended) from the user. */
#ifndef NSX_BASE_PATTERN_H
#define NSX_BASE_PATTERN_H

#include <regex.h>

#include "base/err.h"

/* NULL, or what is wrong with one; a static string. */
const char *nsx_pattern_check(const char *pattern);

/* Compile it with `flags` in addition to REG_EXTENDED. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_pattern_compile(const char *pattern, int flags, regex_t *re, struct nsx_err *err);

#endif
