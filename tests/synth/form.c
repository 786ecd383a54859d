/* form.c -- see form.h: what both forms need. */
#include "form.h"

#include <string.h>

const char *
form_call(struct syn_plan *p, uint32_t name)
{
	const char *s = syn_str(p, name), *version = strrchr(s, '_');

	if (version && version[1] == 'v' && version[2] && strspn(version + 2, "0123456789") == strlen(version + 2))
		return syn_fmt(p, "%.*s", (int)(version - s), s);
	return s;
}
