/* texts.c -- see texts.h. A code is one byte, the length of the rest, then varints: twice the number of the template,
 * and each number taken out of the text; if the first varint is odd the template is the text itself.
 *
 *     "aten::to, op_id = 990347", whose template "aten::to, op_id = \1" has number 5
 *     4 bytes follow   2 x 5   990347
 *     04               0a      8b b9 3c
 *
 * A text with 07 keeps these digits, since 7 would be written back as "7". */
#include "source/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum {
	MARK = '\1',          /* replaces a number in a template */
	MAX_NUMBERS = 6,      /* replaced in a text */
	MAX_DIGITS = 18,      /* of one such number */
	MAX_TEMPLATE = 1024,  /* longer texts are stored unchanged */
	MAX_VARINT = 10,
	MAX_CODES = 1 << 30
};

static char *
put_varint(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

static inline const char *
get_varint(const char *p, uint64_t *v)
{
	*v = 0;
	for (int shift = 0; ; shift += 7) {
		unsigned char c = (unsigned char)*p++;
		*v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return p;
	}
}

/* A word in which the top bit is set of each byte that is a digit or MARK. */
static inline uint64_t
stops(uint64_t w)
{
	const uint64_t ones = 0x0101010101010101ULL, low = w & 127 * ones, ascii = ~w & 128 * ones;
	uint64_t digit = ((127 + '9' + 1) * ones - low) & (low + (127 - '0' + 1) * ones);
	uint64_t mark = ((127 + MARK + 1) * ones - low) & (low + (127 - MARK + 1) * ones);

	return (digit | mark) & ascii;
}

/* Copy the bytes before the next digit or MARK, eight at a time; the destination has space for eight more than s
 * has. */
static inline const char *
copy_plain(const char *p, const char *end, char **out)
{
	while (end - p >= 8) {
		uint64_t w, stop;

		memcpy(&w, p, 8);
		memcpy(*out, &w, 8);
		stop = stops(w);
		if (stop) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			int n = __builtin_ctzll(stop) / 8;
#else
			int n = __builtin_clzll(stop) / 8;
#endif
			*out += n;
			return p + n;
		}
		*out += 8;
		p += 8;
	}
	while (p < end && !nsx_is_digit(*p) && *p != MARK)
		*(*out)++ = *p++;
	return p;
}

/* Split s into a template and its numbers: false if it must be stored unchanged. */
static bool
split(struct nsx_str s, char *template, size_t *len, uint64_t *numbers, int *n)
{
	const char *p = s.ptr, *end = s.ptr + s.len;
	char *out = template;

	*n = 0;
	if (s.len > MAX_TEMPLATE)
		return false;
	while ((p = copy_plain(p, end, &out)) < end) {
		const char *from = p;
		uint64_t v = 0;

		if (*p == MARK)
			return false;
		while (p < end && nsx_is_digit(*p) && p - from < MAX_DIGITS)
			v = v * 10 + (uint64_t)(*p++ - '0');
		/* Only numbers that are written back with the same digits. */
		if ((p < end && nsx_is_digit(*p)) || (*from == '0' && p - from > 1) || *n == MAX_NUMBERS) {
			while (p < end && nsx_is_digit(*p))
				p++;
			memcpy(out, from, (size_t)(p - from));
			out += p - from;
			continue;
		}
		numbers[(*n)++] = v;
		*out++ = MARK;
	}
	*len = (size_t)(out - template);
	return true;
}

uint32_t
nsx_texts_add(struct nsx_texts *t, struct nsx_str s)
{
	char template[MAX_TEMPLATE + 8], code[1 + (MAX_NUMBERS + 1) * MAX_VARINT], *p = code + 1;
	uint64_t numbers[MAX_NUMBERS], odd = 0;
	size_t len;
	int n;

	if (!split(s, template, &len, numbers, &n)) {
		odd = 1;
		n = 0;
	} else {
		s = (struct nsx_str){ template, len };
	}
	uint32_t at = nsx_intern(&t->templates, s);
	if (at == NSX_NONE || t->codes.len > MAX_CODES)
		return NSX_NONE;
	p = put_varint(p, (uint64_t)at << 1 | odd);
	for (int i = 0; i < n; i++)
		p = put_varint(p, numbers[i]);
	code[0] = (char)(p - code - 1);
	at = (uint32_t)t->codes.len;
	nsx_buf_add(&t->codes, code, (size_t)(p - code));
	return t->codes.failed ? NSX_NONE : at;
}

void
nsx_texts_get(const struct nsx_texts *t, uint32_t code, struct nsx_buf *out)
{
	uint64_t v;
	const char *p = get_varint(t->codes.ptr + code + 1, &v);
	struct nsx_str s = nsx_intern_str(&t->templates, (uint32_t)(v >> 1));

	if (v & 1) {
		nsx_buf_str(out, s);
		return;
	}
	/* Reserve the maximum size once. */
	if (!nsx_buf_room(out, s.len + MAX_NUMBERS * (size_t)NSX_INT_CHARS))
		return;
	char *to = out->ptr + out->len;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] != MARK) {
			*to++ = s.ptr[i];
			continue;
		}
		p = get_varint(p, &v);
		to = nsx_put_int(to, (int64_t)v);
	}
	out->len = (size_t)(to - out->ptr);
}

uint64_t
nsx_texts_key(const struct nsx_texts *t, uint32_t code)
{
	const char *p = t->codes.ptr + code;
	uint64_t key = 0;

	/* A code contains its own length, so zeros after it add no ambiguity. */
	if (p[0] > 7)
		return 0;
	memcpy(&key, p + 1, (size_t)p[0]);
	return key + 1;
}

void
nsx_texts_free(struct nsx_texts *t)
{
	nsx_intern_free(&t->templates);
	nsx_buf_free(&t->codes);
}

const struct nsx_part_texts *
nsx_part_texts_at(const struct nsx_part_texts *list, int n, uint32_t code, const struct nsx_part_texts *last)
{
	int lo = 0, hi = n;

	if (last && code >= last->first && code - last->first < last->texts.codes.len)
		return last;
	while (hi - lo > 1) {
		int mid = lo + (hi - lo) / 2;
		if (list[mid].first <= code)
			lo = mid;
		else
			hi = mid;
	}
	return &list[lo];
}

void
nsx_part_texts_free(struct nsx_part_texts *list, int n)
{
	for (int i = 0; i < n; i++)
		nsx_texts_free(&list[i].texts);
	free(list);
}
