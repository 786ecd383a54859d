/* source.c -- see source.h. */
#include "source/source.h"

#include <string.h>

static bool
begins(struct nsx_str s, const char *bytes, size_t n)
{
	return s.len >= n && memcmp(s.ptr, bytes, n) == 0;
}

static bool
is_zstd(struct nsx_str s)
{
	return begins(s, "\x28\xb5\x2f\xfd", 4)
	       || (s.len >= 4 && ((unsigned char)s.ptr[0] & 0xf0) == 0x50 && memcmp(s.ptr + 1, "\x2a\x4d\x18", 3) == 0);
}

enum nsx_source
nsx_source_of(struct nsx_str s)
{
	size_t i = 0;

	if (begins(s, "SQLite format 3", 16) || is_zstd(s))
		return NSX_SOURCE_NSYS;
	if (begins(s, "\x1f\x8b", 2))
		return NSX_SOURCE_KINETO;
	while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t' || s.ptr[i] == '\n' || s.ptr[i] == '\r'))
		i++;
	return i < s.len && (s.ptr[i] == '{' || s.ptr[i] == '[') ? NSX_SOURCE_KINETO : NSX_SOURCE_NONE;
}

int
nsx_source_refuse(const char *path, struct nsx_str first, struct nsx_err *err)
{
	if (!first.len)
		return nsx_err_set(err, "%s: empty: want a profile", path);
	if (begins(first, "#nsysx\t", 7) || (first.len >= 9 && memcmp(first.ptr + 2, "\x0a\x05nsysx", 7) == 0))
		return nsx_err_set(err, "%s: is already an nsysx stream: give it to the next tool", path);
	return nsx_err_set(err,
		"%s: not a profile that nsysx reads: want an SQLite export of nsys, or a Kineto trace of PyTorch's "
		"profiler (JSON, plain or gzip)", path);
}
