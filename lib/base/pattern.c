/* pattern.c -- regular expressions from the user. */
#include "base/pattern.h"

#include <stddef.h>

const char *
nsx_pattern_check(const char *pattern)
{
	static char why[256];
	regex_t re;
	int rc = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);

	if (rc == 0) {
		regfree(&re);
		return NULL;
	}
	/* Lack of memory is not an error of the expression: the caller that compiles it reports it. */
	if (rc == REG_ESPACE)
		return NULL;
	regerror(rc, &re, why, sizeof why);
	return why;
}

int
nsx_pattern_compile(const char *pattern, int flags, regex_t *re, struct nsx_err *err)
{
	int rc = regcomp(re, pattern, REG_EXTENDED | flags);

	if (rc == REG_ESPACE)
		return nsx_err_nomem(err, NULL);
	return rc == 0 ? NSX_OK : nsx_err_set(err, "%s: not a regular expression", pattern);
}
