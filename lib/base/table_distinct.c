/* table_distinct.c -- shortens the strings of a column so that those that differ remain different where there is room.
 *
 * Cells that are alike when they are shortened in the usual way form a group. A group is cut in the way that makes most
 * of its cells different: more of the start, until after the first difference; more of the end, from before the last
 * difference; both ends and the part at the first difference; or the start and the parts at the first and at the last
 * difference. Templates are cut in two other ways: more of the arguments, or the word at the first difference. Cells
 * that are still alike form a group again, for a limited number of rounds.
 *
 *   XlaPass:#name=cse,program_id=40#, XlaPass:#name=dce,program_id=40# in 24  ->  XlaPass:#name=cse,p..40#, .. */
#include "base/table_own.h"

#include <stdlib.h>

#include "base/kernel_name.h"
#include "base/sort.h"
#include "base/width.h"

enum { ROUNDS = 8, LOOK = 6, BEFORE = 2, LEAST_END = 3, LEAST_CUT = 12, LEAST_BOTH = 24 };

enum cut { START, END, MIDDLE, ARGUMENTS, DIFFERENCE, BOTH, CUTS };

struct cell {
	struct nsx_str whole, text, next, best;   /* text: as it is shown; next, best: as the cut tried last, and the
	                                           * best so far, have it */
	size_t row, at;      /* at: the byte that the last cut was made to show; 0: none */
};

/* The common beginning and end of the cells of a group, in bytes: complete characters. */
struct same { size_t head, tail; };

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

NSX_ORDER(by_text, struct cell, nsx_str_cmp(a->text, b->text), nsx_str_cmp(a->whole, b->whole),
          NSX_CMP(a->row, b->row))

NSX_ORDER(by_next, struct cell, nsx_str_cmp(a->next, b->next))

static bool
begins_character(struct nsx_str s, size_t at)
{
	return at >= s.len || ((unsigned char)s.ptr[at] & 0xc0) != 0x80;
}

/* The cells of a group are sorted, so that the first and the last have as little in common at the start as any two. */
static struct same
same_of(const struct cell *c, size_t n)
{
	struct nsx_str first = c[0].whole, last = c[n - 1].whole;
	struct same same = { 0, first.len };

	while (same.head < first.len && same.head < last.len && first.ptr[same.head] == last.ptr[same.head])
		same.head++;
	while (same.head && !begins_character(first, same.head))
		same.head--;
	for (size_t i = 1; i < n; i++) {
		struct nsx_str s = c[i].whole;
		size_t tail = 0;

		while (tail < same.tail && tail < s.len && s.ptr[s.len - 1 - tail] == first.ptr[first.len - 1 - tail])
			tail++;
		same.tail = tail;
	}
	while (same.tail && !begins_character(first, first.len - same.tail))
		same.tail--;
	return same;
}

static struct nsx_str
part(struct nsx_str s, size_t from, size_t to)
{
	return (struct nsx_str){ s.ptr + from, to - from };
}

/* Both ends of s: `head` columns of the start, the rest of `width` for the end. */
static void
put_ends(struct nsx_buf *b, struct nsx_str s, size_t width, size_t head)
{
	size_t tail = nsx_width_tail(s, width - 2 - head);

	nsx_buf_add(b, s.ptr, nsx_width_head(s, head));
	nsx_buf_c(b, "..");
	nsx_buf_add(b, s.ptr + s.len - tail, tail);
}

/* Both ends of s, and between them a part that begins shortly before byte `at`. */
static void
put_middle(struct nsx_buf *b, struct nsx_str s, size_t width, size_t at)
{
	size_t end = (width - 4) / 4, head = nsx_width_head(s, end), tail = nsx_width_tail(s, end);
	size_t before = nsx_width_tail(part(s, 0, at), BEFORE);
	struct nsx_str rest = part(s, at - before, s.len);

	nsx_buf_add(b, s.ptr, head);
	nsx_buf_c(b, "..");
	nsx_buf_add(b, rest.ptr, nsx_width_head(rest, width - 4 - 2 * end));
	nsx_buf_c(b, "..");
	nsx_buf_add(b, s.ptr + s.len - tail, tail);
}

/* The start of s, a part that begins shortly before byte `at`, and a part that ends at byte `end`. False if these parts
 * overlap or the last one is the end of s. */
static bool
put_both(struct nsx_buf *b, struct nsx_str s, size_t width, size_t at, size_t end)
{
	size_t head = nsx_width_head(s, (width - 6) / 5), before = nsx_width_tail(part(s, 0, at), BEFORE);
	size_t room = (width - 6 - (width - 6) / 5) / 2, first = nsx_width_head(part(s, at - before, s.len), room);
	size_t last = nsx_width_tail(part(s, 0, end), room);

	if (head > at - before || at - before + first > end - last || end == s.len)
		return false;
	nsx_buf_add(b, s.ptr, head);
	nsx_buf_c(b, "..");
	nsx_buf_add(b, s.ptr + at - before, first);
	nsx_buf_c(b, "..");
	nsx_buf_add(b, s.ptr + end - last, last);
	nsx_buf_c(b, "..");
	return true;
}

/* Append s, cut in that way. False if that is not possible: then nothing is appended. */
static bool
put_cut(struct nsx_buf *b, enum cut how, struct nsx_str s, size_t width, struct same same)
{
	size_t room = width - 2, most = room - LEAST_END, end = (width - 4) / 4;
	bool template = nsx_kernel_is_template(s);

	switch (how) {
	case START:
		if (!template)
			put_ends(b, s, width, smaller(nsx_width(part(s, 0, same.head)) + LOOK, most));
		return !template;
	case END:
		if (!template)
			put_ends(b, s, width,
			         room - smaller(nsx_width(part(s, s.len - same.tail, s.len)) + LOOK, most));
		return !template;
	case MIDDLE:
		if (template || same.head < nsx_width_head(s, end + BEFORE)
		    || same.head + nsx_width_tail(s, width / 2) > s.len)
			return false;
		put_middle(b, s, width, same.head);
		return true;
	case ARGUMENTS:
		return nsx_buf_kernel_arguments(b, s, width);
	case DIFFERENCE:
		return nsx_buf_kernel_difference(b, s, width, same.head);
	case BOTH:
		return !template && width >= LEAST_BOTH && put_both(b, s, width, same.head, s.len - same.tail);
	case CUTS:
		break;
	}
	return false;
}

/* Cut the whole group that way into `next`. Returns how many different texts that makes; 0 if it is not possible. */
static size_t
try_cut(struct cell *c, size_t n, enum cut how, size_t width, struct nsx_arena *arena, struct nsx_buf *b, bool *failed)
{
	struct same same = same_of(c, n);
	size_t kinds = 0;

	for (size_t i = 0; i < n; i++) {
		b->len = 0;
		struct same mine = same;

		/* The part that an earlier cut showed remains, or its cells would be alike again. */
		if (how == BOTH && c[i].at && c[i].at < same.head)
			mine.head = c[i].at;
		if (!put_cut(b, how, c[i].whole, width, mine))
			return 0;
		c[i].next = nsx_arena_str(arena, nsx_buf_view(b));
		*failed |= b->failed || !c[i].next.ptr;
		if (*failed)
			return 0;
	}
	qsort(c, n, sizeof *c, by_next);
	for (size_t i = 0; i < n; i++)
		kinds += i == 0 || !nsx_str_eq(c[i].next, c[i - 1].next);
	return kinds;
}

/* Cut the group in the way that makes most of its cells different, if any way is better than the usual one. */
static bool
cut_group(struct cell *c, size_t n, size_t width, struct nsx_arena *arena, struct nsx_buf *b)
{
	struct same same = same_of(c, n);
	size_t best = 1;
	bool failed = false, shown = false, again = c[0].at > 0;

	for (int k = 0; k < CUTS && !failed; k++) {
		int how = again ? (k + BOTH) % CUTS : k;   /* first the cut that keeps what an earlier one showed */
		size_t kinds = try_cut(c, n, (enum cut)how, width, arena, b, &failed);

		for (size_t i = 0; kinds > best && i < n; i++)
			c[i].best = c[i].next;
		shown = kinds > best ? how == START || how == MIDDLE || how == BOTH : shown;
		best = kinds > best ? kinds : best;
		qsort(c, n, sizeof *c, by_text);
	}
	for (size_t i = 0; best > 1 && i < n; i++) {
		c[i].text = c[i].best;
		c[i].at = !shown ? 0 : c[i].at && c[i].at < same.head ? c[i].at : same.head;
	}
	return !failed;
}

/* One round over all groups. */
static bool
cut_groups(struct cell *c, size_t n, size_t width, struct nsx_arena *arena, struct nsx_buf *b)
{
	bool good = true;

	qsort(c, n, sizeof *c, by_text);
	for (size_t from = 0, to; from < n && good; from = to) {
		for (to = from + 1; to < n && nsx_str_eq(c[from].text, c[to].text);)
			to++;
		if (!nsx_str_eq(c[from].whole, c[to - 1].whole))
			good = cut_group(c + from, to - from, width, arena, b);
	}
	return good;
}

/* The cells that do not fit; *n: how many. NULL when out of memory, or if there are none. */
static struct cell *
cells_of(const struct nsx_table *t, size_t rows, size_t col, size_t width, struct nsx_arena *arena, struct nsx_buf *b,
         size_t *n)
{
	struct cell *c = malloc((rows + 1) * sizeof *c);

	for (size_t row = 0; row < rows && c && !b->failed; row++) {
		b->len = 0;
		nsx_table_human(b, NSX_CELL_STRING, nsx_table_cell_of(t, row, col), true);
		if (nsx_width(nsx_buf_view(b)) <= width)
			continue;
		struct nsx_str whole = nsx_arena_str(arena, nsx_buf_view(b));
		b->len = 0;
		if (whole.ptr)
			nsx_buf_kernel_shortened(b, whole, width);
		struct nsx_str text = nsx_arena_str(arena, nsx_buf_view(b));
		b->failed |= !whole.ptr || !text.ptr;
		c[(*n)++] = (struct cell){ .whole = whole, .text = text, .row = row };
	}
	return c;
}

bool
nsx_table_distinct(const struct nsx_table *t, size_t rows, size_t col, size_t width, struct nsx_arena *arena,
                   struct nsx_str **recut)
{
	size_t most = smaller(rows, NSX_TABLE_DISTINCT), n = 0;
	struct nsx_buf b = { 0 };
	struct cell *c = width < LEAST_CUT ? NULL : cells_of(t, most, col, width, arena, &b, &n);
	bool good = (c || width < LEAST_CUT) && !b.failed;

	for (int round = 0; round < ROUNDS && good && n > 1; round++)
		good = cut_groups(c, n, width, arena, &b);
	if (good && n > 1) {
		*recut = calloc(most, sizeof **recut);
		good = *recut != NULL;
		for (size_t i = 0; good && i < n; i++)
			(*recut)[c[i].row] = c[i].text;
	}
	free(c);
	nsx_buf_free(&b);
	return good;
}
