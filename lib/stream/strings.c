/* strings.c -- the strings of one binary block. String i is a prefix of an earlier one followed by bytes of its own, so
 * strings that are not needed are skipped unless a needed one shares a prefix with them. */
#include "stream/strings.h"

#include <stdlib.h>
#include <string.h>

#include "stream/binary.h"

static const char damaged[] = "strings", no_memory[] = "";

enum { BACK, SHARED, LENGTH, SLACK = 16 };

const char *
nsx_strings_open(struct nsx_strings *t, struct nsx_unread s)
{
	struct nsx_wire_field f;
	int rc;

	t->n = 0;
	t->text = t->span[BACK] = t->span[SHARED] = t->span[LENGTH] = (struct nsx_unread){ s.end, s.end };
	while ((rc = nsx_get_field(&s, &f)) > 0) {
		if (f.field < STRINGS_BACK || f.field > STRINGS_TEXT)
			continue;
		if (f.wire != WIRE_BYTES)
			return damaged;
		if (f.field == STRINGS_TEXT)
			t->text = f.bytes;
		else
			t->span[f.field - STRINGS_BACK] = f.bytes;
	}
	size_t n = nsx_list_count(t->span[LENGTH]);
	if (rc < 0 || n > NSX_BLOCK_MAX || nsx_list_count(t->span[BACK]) != n || nsx_list_count(t->span[SHARED]) != n)
		return damaged;
	if (n > t->cap) {
		struct nsx_str *p = realloc(t->p, n * sizeof *p);
		if (!p)
			return no_memory;
		t->p = p;
		unsigned char *wanted = realloc(t->wanted, n);
		if (!wanted)
			return no_memory;
		t->wanted = wanted;
		t->cap = n;
	}
	if (n)
		memset(t->wanted, 0, n);
	t->n = n;
	return NULL;
}

/* The n numbers of a list, none of which may exceed max. */
static const char *
read_list(struct nsx_numbers32 *to, struct nsx_unread s, size_t n, uint32_t max)
{
	if (n > to->cap) {
		uint32_t *p = realloc(to->p, n * sizeof *p);
		if (!p)
			return no_memory;
		to->p = p;
		to->cap = n;
	}
	to->n = n;
	return nsx_get_numbers32(&s, to->p, n, max) ? NULL : damaged;
}

/* Whether none of the 8 strings from i on is needed. */
static bool
none_of_8(const struct nsx_strings *t, size_t i)
{
	uint64_t w;

	if (t->n - i < 8)
		return false;
	memcpy(&w, t->wanted + i, sizeof w);
	return w == 0;
}

/* Strings with which needed strings share a prefix are needed too: false if one refers to none. */
static bool
want_beginnings(struct nsx_strings *t)
{
	const uint32_t *back = t->back.p, *shared = t->shared.p;

	for (size_t i = t->n; i-- > 0;) {
		if (i >= 7 && none_of_8(t, i - 7)) {
			i -= 7;
			continue;
		}
		if (!t->wanted[i] || !shared[i])
			continue;
		if (back[i] >= i)
			return false;
		t->wanted[i - 1 - back[i]] = 1;
	}
	return true;
}

/* The bytes of all needed strings, SIZE_MAX if they are damaged. Their lengths, and where their own bytes begin, are
 * known afterwards. */
static size_t
measure(struct nsx_strings *t)
{
	const uint32_t *back = t->back.p, *shared = t->shared.p, *length = t->length.p;
	size_t total = 0;
	uint64_t text = 0, all = (uint64_t)(t->text.end - t->text.p);

	for (size_t i = 0; i < t->n;) {
		if (none_of_8(t, i)) {
			for (size_t k = 0; k < 8; k++)
				text += length[i + k];
			i += 8;
			continue;
		}
		for (size_t end = t->n - i < 8 ? t->n : i + 8; i < end; text += length[i++]) {
			size_t len = (size_t)length[i] + shared[i];

			if (!t->wanted[i])
				continue;
			if (len == 0 || (shared[i] && (back[i] >= i || shared[i] > t->p[i - 1 - back[i]].len)))
				return SIZE_MAX;
			total += len;
			if (total > NSX_BLOCK_MAX || text + length[i] > all)
				return SIZE_MAX;
			t->p[i] = (struct nsx_str){ (const char *)t->text.p + text, len };
		}
	}
	return text == all ? total : SIZE_MAX;
}

/* What measure checks of needed strings, of all. */
static bool
all_sound(struct nsx_strings *t)
{
	const uint32_t *back = t->back.p, *shared = t->shared.p, *length = t->length.p;
	size_t total = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t len = (size_t)length[i] + shared[i];

		total += len;
		if (len == 0 || total > NSX_BLOCK_MAX
		    || (shared[i] && (back[i] >= i || shared[i] > t->p[i - 1 - back[i]].len)))
			return false;
		t->p[i].len = len;
	}
	return true;
}

/* Copy n bytes, usually few: 16 may be read and written at either address. */
static void
copy(char *to, const void *from, size_t n)
{
	if (n <= 16)
		memmove(to, from, 16);   /* a string that shares few bytes with the one before it */
	else
		memcpy(to, from, n);
}

const char *
nsx_strings_join(struct nsx_strings *t, bool all, bool check)
{
	const char *wrong;

	if (t->n == 0)
		return t->text.p == t->text.end ? NULL : damaged;
	if ((wrong = read_list(&t->back, t->span[BACK], t->n, UINT32_MAX))
	    || (wrong = read_list(&t->shared, t->span[SHARED], t->n, NSX_BLOCK_MAX))
	    || (wrong = read_list(&t->length, t->span[LENGTH], t->n, NSX_BLOCK_MAX)))
		return wrong;
	if (check && !all_sound(t))
		return damaged;
	if (all)
		memset(t->wanted, 1, t->n);
	else if (!want_beginnings(t))
		return damaged;
	size_t total = measure(t);
	if (total == SIZE_MAX)
		return damaged;
	if (total + SLACK > t->bytes_cap) {
		char *p = realloc(t->bytes, total + SLACK);
		if (!p)
			return no_memory;
		t->bytes = p;
		t->bytes_cap = total + SLACK;
	}
	char *to = t->bytes;
	for (size_t i = 0; i < t->n; i++) {
		size_t shared = t->shared.p[i], length = t->length.p[i];

		if (none_of_8(t, i)) {
			i += 7;
			continue;
		}
		if (!t->wanted[i])
			continue;
		if (shared)
			copy(to, t->p[i - 1 - t->back.p[i]].ptr, shared);
		copy(to + shared, t->p[i].ptr, length);
		t->p[i].ptr = to;
		to += shared + length;
	}
	return NULL;
}

void
nsx_strings_free(struct nsx_strings *t)
{
	free(t->p);
	free(t->wanted);
	free(t->back.p);
	free(t->shared.p);
	free(t->length.p);
	free(t->bytes);
	*t = (struct nsx_strings){ 0 };
}
