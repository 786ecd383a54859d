/* blob.c -- see blob.h. */
#include "nsys/blob.h"

#include "base/num.h"

uint64_t
nsx_blob_number(const unsigned char *p, int64_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

/* s if it is not hexadecimal, else the decoded bytes, in buf. The header of a binary payload never consists of
 * hexadecimal digits only. */
static struct nsx_str
unhex(struct nsx_str s, struct nsx_buf *buf)
{
	size_t from = nsx_str_starts(s, "0x") || nsx_str_starts(s, "\\x") ? 2 : 0;

	if ((s.len - from) % 2 || s.len - from < 2 * NSX_BLOB_HEADER)
		return s;
	for (size_t i = from; i < s.len; i++)
		if (nsx_hex(s.ptr[i]) < 0)
			return s;
	buf->len = 0;
	for (size_t i = from; i < s.len; i += 2)
		nsx_buf_char(buf, (char)(nsx_hex(s.ptr[i]) << 4 | nsx_hex(s.ptr[i + 1])));
	return nsx_buf_view(buf);
}

struct nsx_blob
nsx_blob_of(sqlite3_value *v, struct nsx_buf *buf)
{
	int type = sqlite3_value_type(v);
	const char *at = type == SQLITE_TEXT || type == SQLITE_BLOB ? sqlite3_value_blob(v) : NULL;
	struct nsx_str s = { at, at ? (size_t)sqlite3_value_bytes(v) : 0 };
	struct nsx_blob blob = { 0 };

	if (at)
		s = unhex(s, buf);
	if (buf->failed || s.len < NSX_BLOB_HEADER)
		return blob;
	blob.header = (const unsigned char *)s.ptr;
	blob.size = nsx_blob_number(blob.header + NSX_BLOB_SIZE, 8);
	if (blob.size <= s.len - NSX_BLOB_HEADER)
		blob.payload = blob.header + NSX_BLOB_HEADER;
	return blob;
}
