/* only.h -- rows selected by the contents of their columns: COLUMN=TEXT is that text exactly, COLUMN~REGEX a
 * POSIX extended regular expression that matches in it; of several all must hold.
 *
 *   name=all-reduce.1      this name alone
 *   name~^(dot|add)[.]     names that begin with "dot." or "add."
 *
 * Numbers are compared as TSV has them; what is absent is the empty text. */
#ifndef NSX_BASE_ONLY_H
#define NSX_BASE_ONLY_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"

/* One condition. Its texts are those of nsx_only_add's argument. */
struct nsx_only_test {
	struct nsx_str column, text;
	bool           matches;     /* `pattern` is to match, instead of equality with `text` */
	regex_t        pattern;
};

/* {0} wants all rows. */
struct nsx_only { NSX_VEC(struct nsx_only_test) tests; };

/* Add a condition: NULL, or what is wrong with it, a static string. arg must outlive o. */
const char *nsx_only_add(struct nsx_only *o, const char *arg);

/* Whether a text, which ends with a NUL behind its length, fulfils the condition. */
bool nsx_only_holds(const struct nsx_only_test *test, struct nsx_str text);

void nsx_only_free(struct nsx_only *o);

#endif
