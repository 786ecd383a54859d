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

/* A varint at *i; false: it is not whole. */
static bool
varint(struct nsx_str s, size_t *i, uint64_t *v)
{
	*v = 0;
	for (int shift = 0; *i < s.len && shift < 63; shift += 7) {
		unsigned char c = (unsigned char)s.ptr[(*i)++];
		*v |= (uint64_t)(c & 127) << shift;
		if (c < 128)
			return true;
	}
	return false;
}

static bool
printable(struct nsx_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] < ' ')
			return false;
	return s.len > 0;
}

/* Protobuf whose first plane has a name, or what a text conversion has left of one. */
static bool
is_xspace(struct nsx_str s)
{
	enum { PLANE = 0x0a, ERROR = 0x12, WARNING = 0x1a, HOST = 0x22, NAME = 0x12 };
	uint64_t n;

	if (begins(s, "\x0a\xef\xbf\xbd", 4))
		return true;
	for (size_t i = 0; i < s.len;) {
		unsigned char tag = (unsigned char)s.ptr[i++];
		if ((tag != PLANE && tag != ERROR && tag != WARNING && tag != HOST) || !varint(s, &i, &n))
			return false;
		if (tag != PLANE) {
			if (n > s.len - i)
				return false;
			i += (size_t)n;
			continue;
		}
		/* The id comes first, and not always. */
		for (size_t k = 0; k < 4 && i < s.len; k++) {
			tag = (unsigned char)s.ptr[i++];
			if (!varint(s, &i, &n))
				return false;
			if (tag == NAME)
				return n <= s.len - i && printable((struct nsx_str){ s.ptr + i, (size_t)n });
			if ((tag & 7) == 2) {
				/* An HLO dump has a name in place of the id. */
				if (tag >> 3 == 1 || n > s.len - i)
					return false;
				i += (size_t)n;
			} else if (tag & 7) {
				return false;
			}
		}
		return false;
	}
	return false;
}

enum nsx_source
nsx_source_of(struct nsx_str s)
{
	size_t i = 0;

	if (begins(s, "SQLite format 3", 16) || is_zstd(s))
		return NSX_SOURCE_NSYS;
	if (begins(s, "\x1f\x8b", 2))
		return NSX_SOURCE_GZIP;
	if (is_xspace(s))
		return NSX_SOURCE_XSPACE;
	while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t' || s.ptr[i] == '\n' || s.ptr[i] == '\r'))
		i++;
	return i < s.len && (s.ptr[i] == '{' || s.ptr[i] == '[') ? NSX_SOURCE_KINETO : NSX_SOURCE_NONE;
}

int
nsx_source_refuse(const char *path, struct nsx_str first, struct nsx_err *err)
{
	if (!first.len)
		return nsx_err_set(err, "%s: empty: want a profile (an SQLite export of nsys, a trace of PyTorch's "
		                   "profiler or an xplane.pb): record or export it again", path);
	if (begins(first, "#nsysx\t", 7) || (first.len >= 9 && memcmp(first.ptr + 2, "\x0a\x05nsysx", 7) == 0))
		return nsx_err_set(err, "%s: is already an nsysx stream: give it to the next tool", path);
	return nsx_err_set(err,
		"%s: not a profile that nsysx reads: want an SQLite export of nsys, a Kineto trace of PyTorch's "
		"profiler (JSON, plain or gzip) or an XSpace (xplane.pb)", path);
}
