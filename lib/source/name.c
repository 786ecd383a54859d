/* name.c -- see name.h. */
#include "source/name.h"

#include <string.h>

struct nsx_str
nsx_source_name(const char *path, const char *const *endings)
{
	const char *slash = strrchr(path, '/');
	struct nsx_str s = nsx_str_c(slash && slash[1] ? slash + 1 : path);

	for (; *endings; endings++) {
		size_t n = strlen(*endings);
		if (s.len > n && memcmp(s.ptr + s.len - n, *endings, n) == 0)
			return (struct nsx_str){ s.ptr, s.len - n };
	}
	return s;
}
