/* only.h -- rows selected by the contents of their columns. COLUMN=TEXT selects rows whose column is exactly that text,
 * COLUMN~REGEX rows in whose column that POSIX extended regular expression matches; several conditions must all hold.
 *
 *   name=all-reduce.1      this name alone
 *   name~^(dot|add)[.]     names that begin with "dot." or "add."
 *
 * Numbers are compared as TSV writes them; an absent value is the empty text. */
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
	bool           matches;     /* `pattern` must match; else the value must equal `text` */
	regex_t        pattern;
};

/* {0} selects all rows. */
struct nsx_only { NSX_VEC(struct nsx_only_test) tests; };

/* Add a condition: NULL, or what is wrong with it, a static string. arg must outlive o. */
const char *nsx_only_add(struct nsx_only *o, const char *arg);

/* Whether a text, which has a NUL after its last byte, satisfies the condition. */
bool nsx_only_holds(const struct nsx_only_test *test, struct nsx_str text);

void nsx_only_free(struct nsx_only *o);

#endif
