/* frameworks.c -- see frameworks.h. */
#include "job/frameworks.h"

static const struct nsx_framework_name names[] = {
#define NAME(use, text, whose) { NSX_FRAMEWORK_##use, { text, sizeof(text) - 1 }, NULL },
#define COMM(use, text, kind, whose) { NSX_FRAMEWORK_##use, { text, sizeof(text) - 1 }, kind },
#define ADVICE(causes, range, also, calls, small, stepped, name, action)
#include "job/frameworks.def"
#undef NAME
#undef COMM
#undef ADVICE
};
enum { NAMES = sizeof names / sizeof *names };

const struct nsx_framework_name *
nsx_framework_at(enum nsx_framework_use use, size_t *i)
{
	/* Lines are in the order of uses. */
	while (*i < NAMES && names[*i].use < use)
		++*i;
	return *i < NAMES && names[*i].use == use ? &names[*i] : NULL;
}

size_t
nsx_framework_next(enum nsx_framework_use use, struct nsx_str s, size_t *i)
{
	const struct nsx_framework_name *name;

	for (; (name = nsx_framework_at(use, i)); ++*i)
		if (s.len >= name->text.len && s.ptr[0] == name->text.ptr[0] && nsx_str_starts(s, name->text.ptr))
			return name->text.len;
	return 0;
}
