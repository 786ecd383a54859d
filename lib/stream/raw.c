/* raw.c -- the bytes of an input before it is read as a stream, or instead. */
#include "stream/raw.h"

#include <assert.h>

#include "stream/codec.h"

int
nsx_raw_peek(struct nsx_reader *r, size_t n, struct nsx_str *bytes)
{
	int rc = nsx_input_need(&r->in, n);

	*bytes = (struct nsx_str){ "", 0 };
	if (rc != NSX_ERR && r->in.end > r->in.pos)
		*bytes = (struct nsx_str){ r->in.buf + r->in.pos, r->in.end - r->in.pos };
	return rc;
}

void
nsx_raw_take(struct nsx_reader *r, size_t n)
{
	assert(n <= r->in.end - r->in.pos);
	r->in.pos += n;
}

const char *
nsx_raw_name(const struct nsx_reader *r)
{
	return r->name;
}
