/* frameworks.c -- see frameworks.h. */
#include "job/frameworks.h"

static const struct { enum nsx_framework_use use; struct nsx_str text; } names[] = {
#define NAME(use, text, whose) { NSX_FRAMEWORK_##use, { text, sizeof(text) - 1 } },
#include "job/frameworks.def"
#undef NAME
};

size_t
nsx_framework_next(enum nsx_framework_use use, struct nsx_str s, size_t *i)
{
	for (; *i < sizeof names / sizeof *names; ++*i) {
		struct nsx_str t = names[*i].text;

		if (names[*i].use == use && s.len >= t.len && s.ptr[0] == t.ptr[0] && nsx_str_starts(s, t.ptr))
			return t.len;
	}
	return 0;
}
