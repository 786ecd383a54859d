/* only.c -- rows selected by the contents of their columns. */
#include "base/only.h"

#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

const char *
nsx_only_add(struct nsx_only *o, const char *arg)
{
	size_t n = strcspn(arg, "=~");
	struct nsx_only_test t = { .column = { arg, n }, .matches = arg[n] == '~' };
	struct nsx_err err;
	const char *why;

	if (n == 0 || !arg[n])
		return "want COLUMN=TEXT or COLUMN~REGEX";
	t.text = nsx_str_c(arg + n + 1);
	why = t.matches ? nsx_pattern_check(t.text.ptr) : NULL;
	if (why)
		return why;
	if (t.matches && nsx_pattern_compile(t.text.ptr, REG_NOSUB, &t.pattern, &err) != NSX_OK)
		return "out of memory";
	if (nsx_vec_push(&o->tests, t))
		return NULL;
	if (t.matches)
		regfree(&t.pattern);
	return "out of memory";
}

bool
nsx_only_holds(const struct nsx_only_test *test, struct nsx_str text)
{
	return test->matches ? regexec(&test->pattern, text.ptr, 0, NULL, 0) == 0 : nsx_str_eq(test->text, text);
}

void
nsx_only_free(struct nsx_only *o)
{
	for (size_t i = 0; i < o->tests.n; i++)
		if (o->tests.p[i].matches)
			regfree(&o->tests.p[i].pattern);
	free(o->tests.p);
	*o = (struct nsx_only){ .tests = { 0 } };
}
