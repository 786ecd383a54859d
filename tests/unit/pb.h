/* pb.h -- write protobuf by hand: dumps whose truth is known because a test spelled them. */
#ifndef NSX_TEST_PB_H
#define NSX_TEST_PB_H

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* A message under way; {0} is empty. Messages added to another are emptied. */
typedef struct nsx_buf pb;

static inline void
pb_raw(pb *b, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		nsx_buf_char(b, (char)(v | 128));
	nsx_buf_char(b, (char)v);
}

static inline void
pb_int(pb *b, uint32_t field, int64_t v)
{
	pb_raw(b, (uint64_t)field << 3);
	pb_raw(b, (uint64_t)v);
}

static inline void
pb_bytes(pb *b, uint32_t field, const void *p, size_t n)
{
	pb_raw(b, (uint64_t)field << 3 | 2);
	pb_raw(b, n);
	if (n)
		nsx_buf_add(b, p, n);
}

static inline void
pb_str(pb *b, uint32_t field, const char *s)
{
	pb_bytes(b, field, s, strlen(s));
}

static inline void
pb_msg(pb *b, uint32_t field, pb *sub)
{
	pb_bytes(b, field, sub->ptr, sub->len);
	nsx_buf_free(sub);
}

/* Numbers in text, "1 2 -3", as a packed field. Nothing when there are none. */
static inline void
pb_packed(pb *b, uint32_t field, const char *numbers)
{
	pb p = { 0 };
	char *end;

	for (const char *s = numbers;; s = end) {
		long long v = strtoll(s, &end, 10);
		if (end == s)
			break;
		pb_raw(&p, (uint64_t)v);
	}
	if (p.len)
		pb_bytes(b, field, p.ptr, p.len);
	nsx_buf_free(&p);
}

#endif
