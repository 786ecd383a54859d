/* frameworks.c -- see frameworks.h. */
#include "job/frameworks.h"

#include <string.h>

#include "base/sort.h"

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

/* The first line of that use or a later one, from number i on: lines are in the order of uses. */
static size_t
line_of(enum nsx_framework_use use, size_t i)
{
	if (i < NAMES && names[i].use < use)
		NSX_BISECT(i, i, NAMES, names[i].use >= use);
	return i;
}

const struct nsx_framework_name *
nsx_framework_at(enum nsx_framework_use use, size_t *i)
{
	*i = line_of(use, *i);
	return *i < NAMES && names[*i].use == use ? &names[*i] : NULL;
}

size_t
nsx_framework_next(enum nsx_framework_use use, struct nsx_str s, size_t *i)
{
	*i = line_of(use, *i);
	for (; *i < NAMES && names[*i].use == use; ++*i) {
		const struct nsx_str *text = &names[*i].text;

		if (s.len >= text->len && s.ptr[0] == text->ptr[0] && memcmp(s.ptr, text->ptr, text->len) == 0)
			return text->len;
	}
	return 0;
}

bool
nsx_framework_has(enum nsx_framework_use use, struct nsx_str s)
{
	for (size_t i = line_of(use, 0); i < NAMES && names[i].use == use; i++)
		if (nsx_str_eq(s, names[i].text))
			return true;
	return false;
}
