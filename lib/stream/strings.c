/* strings.c -- the strings of one binary block. String i is a prefix of an earlier one followed by bytes of its own, so
 * strings that are not needed are skipped unless a needed one shares a prefix with them. */
#include "stream/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "stream/binary.h"

static const char damaged[] = "strings", no_memory[] = "";

enum { BACK, SHARED, LENGTH, SLACK = 32, STEPS = 24, BEFORE = 8 };

const char *
nsx_strings_open(struct nsx_strings *t, struct nsx_unread s)
{
	struct nsx_wire_field f;
	int rc;

	t->n = 0;
	t->listed = false;
	t->late_bytes = 0;
	nsx_arena_reset(&t->late);
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

static bool
make_room(struct nsx_numbers32 *to, size_t n)
{
	if (n > to->cap) {
		uint32_t *p = realloc(to->p, n * sizeof *p);
		if (!p)
			return false;
		to->p = p;
		to->cap = n;
	}
	to->n = n;
	return true;
}

/* The n numbers of a list, none of which may exceed max. */
static const char *
read_list(struct nsx_numbers32 *to, struct nsx_unread s, size_t n, uint32_t max)
{
	if (!make_room(to, n))
		return no_memory;
	return nsx_get_numbers32(&s, to->p, n, max) ? NULL : damaged;
}

static const char *
read_lists(struct nsx_strings *t)
{
	const char *wrong;

	if (t->listed)
		return NULL;
	if ((wrong = read_list(&t->back, t->span[BACK], t->n, UINT32_MAX))
	    || (wrong = read_list(&t->shared, t->span[SHARED], t->n, NSX_BLOCK_MAX))
	    || (wrong = read_list(&t->length, t->span[LENGTH], t->n, NSX_BLOCK_MAX)))
		return wrong;
	t->listed = true;
	return NULL;
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

/* The 8 strings from i on, or as many as there are. */
static size_t
end_of_8(const struct nsx_strings *t, size_t i)
{
	return t->n - i < 8 ? t->n : i + 8;
}

/* The total bytes of all needed strings, SIZE_MAX if they are damaged; stores the length of each and where its own
 * bytes begin. Iterates from the last string to the first, because strings with which a needed one shares a prefix are
 * needed too. */
static size_t
measure(struct nsx_strings *t)
{
	const uint32_t *shared = t->shared.p, *length = t->length.p;
	uint32_t *back = t->back.p;
	size_t text = (size_t)(t->text.end - t->text.p), total = 0, own, len;

	for (size_t at = (t->n + 7) / 8 * 8; at > 0;) {
		at -= 8;
		own = 0;
		for (size_t i = at; i < end_of_8(t, at); i++)
			own += length[i];
		if (own > text)
			return SIZE_MAX;
		text -= own;
		if (none_of_8(t, at))
			continue;
		for (size_t i = end_of_8(t, at), to = text + own; i-- > at;) {
			to -= length[i];
			if (!t->wanted[i])
				continue;
			len = (size_t)length[i] + shared[i];
			total += len;
			if (len == 0)
				return SIZE_MAX;
			t->p[i] = (struct nsx_str){ (const char *)t->text.p + to, len };
			if (!shared[i])
				continue;
			size_t from = i - 1 - back[i];
			if (back[i] >= i || shared[i] > (size_t)length[from] + shared[from])
				return SIZE_MAX;
			/* What that one shares itself can be had from where it has it: it may not be needed. */
			for (int step = 0; step < STEPS && !t->wanted[from] && shared[from] >= shared[i]; step++) {
				size_t up = from - 1 - back[from];

				if (back[from] >= from || shared[from] > (size_t)length[up] + shared[up])
					return SIZE_MAX;
				from = up;
				back[i] = (uint32_t)(i - 1 - from);
			}
			t->wanted[from] = 1;
		}
		if (total > NSX_BLOCK_MAX)
			return SIZE_MAX;
	}
	return text == 0 ? total : SIZE_MAX;
}

/* Check for all strings what measure checks for needed ones. */
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
copy(char *to, const char *from, size_t n)
{
	if (n <= 16)
		memmove(to, from, 16);
	else
		memcpy(to, from, n);
}

/* Copy n bytes from before `to`, usually few: 32 may be written there. */
static void
copy_shared(char *to, const char *from, size_t n)
{
	char first[16], second[16];

	if (n > 32) {
		memcpy(to, from, n);
		return;
	}
	/* The bytes after these may be the destination. */
	memcpy(first, from, 16);
	memcpy(second, from + 16, 16);
	memcpy(to, first, 16);
	memcpy(to + 16, second, 16);
}

/* Put the needed strings into t->bytes. */
static void
assemble(struct nsx_strings *t)
{
	const uint32_t *back = t->back.p, *shares = t->shared.p, *lengths = t->length.p;
	char *to = t->bytes;

	for (size_t at = 0; at < t->n; at += 8) {
		if (none_of_8(t, at))
			continue;
		for (size_t i = at, end = end_of_8(t, at); i < end; i++) {
			size_t shared = shares[i];

			if (!t->wanted[i])
				continue;
			if (shared)
				copy_shared(to, t->p[i - 1 - back[i]].ptr, shared);
			copy(to + shared, t->p[i].ptr, lengths[i]);
			t->p[i].ptr = to;
			to += shared + lengths[i];
		}
	}
}

const char *
nsx_strings_join(struct nsx_strings *t, bool all, bool check)
{
	const char *wrong;

	if (t->n == 0)
		return t->text.p == t->text.end ? NULL : damaged;
	if ((wrong = read_lists(t)))
		return wrong;
	if (check && !all_sound(t))
		return damaged;
	if (all)
		memset(t->wanted, 1, t->n);
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
	assemble(t);
	return NULL;
}

/* Copy the text, which stays where it is only while the block is decoded. Eight bytes before it may be read. */
static bool
keep_text(struct nsx_strings *t, size_t n)
{
	if (n + BEFORE > t->kept_cap) {
		char *p = realloc(t->kept, n + BEFORE);
		if (!p)
			return false;
		t->kept = p;
		t->kept_cap = n + BEFORE;
		memset(p, 0, BEFORE);
	}
	if (n)
		memcpy(t->kept + BEFORE, t->text.p, n);
	return true;
}

/* How many of the n bytes before `end` are digits, up to the last other one. */
static inline uint32_t
digits_before(const char *end, uint32_t n)
{
	uint64_t w, others;
	uint32_t digits;

	memcpy(&w, end - BEFORE, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	/* The high bit of each byte that is no digit. */
	w ^= 0x3030303030303030;
	others = (((w & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676) | w) & 0x8080808080808080;
	digits = others ? (uint32_t)__builtin_clzll(others) / 8 : BEFORE;
	while (digits >= BEFORE && digits < n && nsx_is_digit(end[-1 - (int64_t)digits]))
		digits++;
	return digits < n ? digits : n;
}

const char *
nsx_strings_compare(struct nsx_strings *t)
{
	const char *wrong = t->n ? read_lists(t) : NULL;
	size_t text = (size_t)(t->text.end - t->text.p), n = t->n, at = 0;

	if (wrong)
		return wrong;
	if (!make_room(&t->first, n) || !make_room(&t->stem, n) || !make_room(&t->at, n) || !keep_text(t, text))
		return no_memory;
	const uint32_t *lengths = t->length.p;
	uint32_t *first = t->first.p, *own_at = t->at.p;

	for (size_t i = 0; i < n; i++) {
		own_at[i] = (uint32_t)at;
		first[i] = NSX_STRINGS_UNSEEN;
		at += lengths[i];
	}
	return at == text ? NULL : damaged;
}

/* The first string of one whose stem is that of its own bytes, and is set to its first one's: NSX_NONE if it is
 * damaged. If its own bytes are digits, that of the string that it shares bytes with is known. */
static inline uint32_t
first_of(const struct nsx_strings *t, uint32_t i, const uint32_t *first, uint32_t *stem)
{
	const uint32_t *shares = t->shared.p, *lengths = t->length.p;
	uint32_t length = lengths[i], shared = shares[i], from = i - 1 - t->back.p[i], of_from;

	if (!shared || stem[i] > shared)
		return shared + length ? i : (uint32_t)NSX_NONE;
	of_from = lengths[from] + shares[from];
	if (first[from] == NSX_NONE || shared > of_from)
		return NSX_NONE;
	/* Those of the other one are digits, too, after as many bytes. */
	if (shared > stem[from] || (shared == stem[from] && length && of_from > shared)) {
		stem[i] = stem[from];
		return first[from];
	}
	return i;
}

/* Assemble one string, from its end on: of each string that it shares bytes with those that are that one's own. */
static const char *
assemble_late(struct nsx_strings *t, size_t number)
{
	const uint32_t *shares = t->shared.p, *lengths = t->length.p, *stem = t->stem.p, *first = t->first.p;
	size_t need = (size_t)lengths[number] + shares[number], at = number;

	t->late_bytes += need;
	char *to = t->late_bytes <= NSX_BLOCK_MAX ? nsx_arena_alloc(&t->late, need) : NULL;
	if (!to)
		return no_memory;
	t->p[number] = (struct nsx_str){ to, need };
	for (size_t begun = number; need > 0; begun = at) {
		size_t shared = shares[at];

		if (t->wanted[at]) {
			memcpy(to, t->p[at].ptr, need);
			break;
		}
		memcpy(to + shared, t->kept + BEFORE + t->at.p[at], need - shared);
		need = shared;
		/* One that has some of the bytes before these itself; the next one that looks for them begins there. */
		while (need > 0 && shares[at] >= need) {
			size_t from = at - 1 - t->back.p[at];

			if (from >= at || shares[at] > lengths[from] + shares[from])
				return damaged;
			at = first[from] < from && need <= stem[from] ? first[from] : from;
		}
		if (need > 0)
			t->back.p[begun] = (uint32_t)(begun - 1 - at);
	}
	t->wanted[number] = 1;
	return NULL;
}

const char *
nsx_strings_find_first(struct nsx_strings *t, uint32_t number)
{
	const uint32_t *back = t->back.p, *shares = t->shared.p, *lengths = t->length.p, *own_at = t->at.p;
	const char *text = t->kept + BEFORE;
	uint32_t *first = t->first.p, *stem = t->stem.p, i = number, next = NSX_NONE;

	/* To one that needs no other, leaving at each where to return to. */
	for (;;) {
		uint32_t length = lengths[i], shared = shares[i];
		uint32_t digits = digits_before(text + own_at[i] + length, length);

		stem[i] = shared + length - digits;
		if (!shared || digits < length)
			break;
		if (back[i] >= i)
			return damaged;
		if (first[i - 1 - back[i]] != NSX_STRINGS_UNSEEN)
			break;
		first[i] = next;
		next = i;
		i -= 1 + back[i];
	}
	first[i] = first_of(t, i, first, stem);
	while (next != NSX_NONE) {
		i = next;
		next = first[i];
		first[i] = first_of(t, i, first, stem);
	}
	i = first[number];
	return i == NSX_NONE ? damaged : t->wanted[i] ? NULL : assemble_late(t, i);
}

struct nsx_str
nsx_strings_get(struct nsx_strings *t, size_t number)
{
	return t->wanted[number] || !assemble_late(t, number) ? t->p[number] : (struct nsx_str){ NULL, 0 };
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
	free(t->first.p);
	free(t->stem.p);
	free(t->at.p);
	free(t->kept);
	nsx_arena_free(&t->late);
	*t = (struct nsx_strings){ 0 };
}
