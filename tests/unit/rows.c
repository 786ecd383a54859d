/* rows.c -- data structures of loading: sorting of nearly sorted rows, texts, launches by (process, correlation id), piles. */
#include "tap.h"

#include <stdlib.h>

#include "source/launches.h"
#include "source/order.h"
#include "source/pile.h"
#include "source/texts.h"

static uint64_t seed = 0x123456789abcdefULL;

static uint32_t
rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static int
by_all(const void *x, const void *y)
{
	const struct nsx_pair_key *a = x, *b = y;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Rows that rise, but for `slips` of them (or in no order at all, or falling). */
static bool
sorts(size_t n, size_t slips, bool falling)
{
	struct nsx_pair_key *k = malloc((n + 1) * sizeof *k), *want = malloc((n + 1) * sizeof *want);
	int64_t *rows = malloc((n + 1) * sizeof *rows);
	bool good = k && want && rows;

	for (size_t i = 0; good && i < n; i++)
		k[i] = (struct nsx_pair_key){ (int64_t)(falling ? n - i : i) / 3, rnd(2), (uint32_t)i };
	for (size_t i = 0; good && i < slips; i++)
		k[rnd((uint32_t)n)].a = rnd((uint32_t)n);
	if (good && rnd(3) == 0 && n)
		k[rnd((uint32_t)n)].a = rnd(2) ? INT64_MIN : INT64_MAX;
	for (size_t i = 0; good && i < n; i++) {
		want[i] = k[i];
		rows[i] = k[i].a;
	}
	if (good) {
		qsort(want, n, sizeof *want, by_all);
		good = nsx_order_keys(k, n);
	}
	for (size_t i = 0; good && i < n; i++)
		good = by_all(&k[i], &want[i]) == 0;
	if (good)
		nsx_order_apply(rows, sizeof *rows, k, n);
	for (size_t i = 0; good && i < n; i++)
		good = rows[i] == want[i].a;
	free(k);
	free(want);
	free(rows);
	return good;
}

static void
sorting(void)
{
	bool good = true;

	for (size_t n = 0; good && n < 200; n++)
		good = sorts(n, 0, false) && sorts(n, n ? 1 : 0, false) && sorts(n, n ? 5 : 0, false) && sorts(n, n * 2, false)
		       && sorts(n, 0, true) && sorts(n, n ? 3 : 0, true);
	ok(good, "up to 200 rows, in order, nearly, not at all, falling");
	ok(sorts(100000, 0, false) && sorts(100000, 7, false) && sorts(100000, 200000, false) && sorts(100000, 0, true), "100000 rows");
}

/* Ids as processes count them up, overlapping between processes, and ids from anywhere. */
static void
launches(void)
{
	enum { N = 40000 };
	struct nsx_launches l = { 0 };
	bool good = true, found = true, unknown = true;

	for (uint32_t i = 0; good && i < N; i++)
		good = nsx_launch_at(&l, i % 3, i / 3 * 7 % 9000) != NSX_NONE;
	ok(good, "launches are added");
	is_int((int64_t)l.list.n, 3 * 9000, "each (process, id) once");
	for (uint32_t i = 0; i < N; i++)
		found &= nsx_launch_find(&l, i % 3, i / 3 * 7 % 9000) == nsx_launch_at(&l, i % 3, i / 3 * 7 % 9000);
	ok(found, "found with its number");
	for (int64_t i = 0; i < 9000; i++)
		unknown &= nsx_launch_find(&l, 3, i) == NSX_NONE && nsx_launch_find(&l, 0, -1 - i) == NSX_NONE
		           && nsx_launch_find(&l, 0, 9000 + i) == NSX_NONE;
	ok(unknown, "a missing text is not found");
	nsx_launches_free(&l);
	for (int64_t i = 0; i < 20000; i++)
		good &= nsx_launch_at(&l, 0, i << 40) == 2 * (uint32_t)i && nsx_launch_at(&l, 0, INT64_MAX - (i << 40)) == 2 * (uint32_t)i + 1;
	ok(good && l.list.n == 40000, "ids far apart");
	nsx_launches_free(&l);
}

static void
piles(void)
{
	enum { N = 300000 };
	struct nsx_pile p = { .size = sizeof(uint64_t[3]) };
	bool good = true, kept = true;
	uint64_t first = 0;

	for (uint64_t i = 0; good && i < N; i++) {
		uint64_t *x = nsx_pile_add(&p);
		good = x != NULL;
		if (good)
			x[0] = x[1] = x[2] = i;
	}
	ok(good && p.n == N, "a pile takes %d elements", N);
	for (; p.first; nsx_pile_drop(&p)) {
		const uint64_t *x = (const void *)p.first->data;
		for (size_t i = 0; i < p.first->n; i++)
			kept &= x[3 * i] == first + i && x[3 * i + 2] == first + i;
		first += p.first->n;
	}
	ok(kept && first == N, "and gives them back in order");
	is_int((int64_t)p.n, 0, "until it is empty");
	ok(nsx_pile_add(&p) != NULL && p.n == 1, "and can be filled again");
	nsx_pile_free(&p);
	char *big = nsx_big_alloc(9000001, 1);
	ok(big != NULL, "large arrays");
	memset(big, 1, 9000001);
	free(big);
	ok(nsx_big_alloc(SIZE_MAX / 2, 16) == NULL, "sizes that do not fit are refused");
}

/* Texts as programs write them, and some that nobody would. */
static struct nsx_str
random_text(char *s)
{
	static const char *const words[] = { "aten::to", ", op_id = ", "seq = ", " ", "0", "007", "\1", "", "ProfilerStep#", "é",
	                                     "18446744073709551616", "999999999999999999", "1000000000000000000", "-", "x1y" };
	size_t n = 0;

	for (uint32_t k = rnd(9); k > 0; k--) {
		const char *w = words[rnd(sizeof words / sizeof *words)];
		memcpy(s + n, w, strlen(w));
		n += strlen(w);
		if (rnd(2))
			n += (size_t)sprintf(s + n, "%u", rnd(rnd(2) ? 12 : 2000000));
		if (rnd(40) == 0)
			s[n++] = '\0';
	}
	if (rnd(200) == 0)
		for (uint32_t k = 0; k < 1500; k++)
			s[n++] = "a1"[k % 2];
	return (struct nsx_str){ s, n };
}

static void
texts(void)
{
	enum { N = 3000 };
	static uint32_t code[N];
	struct nsx_texts t = { 0 };
	struct nsx_buf got = { 0 };
	bool same = true, keys = true, added = true;
	char s[4000];

	for (uint32_t i = 0; i < N; i++) {
		struct nsx_str x = random_text(s);
		code[i] = nsx_texts_add(&t, x);
		added &= code[i] != NSX_NONE;
		got.len = 0;
		nsx_texts_get(&t, code[i], &got);
		same &= nsx_str_eq(nsx_buf_view(&got), x);
	}
	ok(added && same, "texts come back as they were");
	for (uint32_t i = 0; i < N; i += 3)
		for (uint32_t j = 0; j < N; j += 7) {
			uint64_t a = nsx_texts_key(&t, code[i]), b = nsx_texts_key(&t, code[j]);
			struct nsx_buf x = { 0 }, y = { 0 };
			nsx_texts_get(&t, code[i], &x);
			nsx_texts_get(&t, code[j], &y);
			bool equal = nsx_str_eq(nsx_buf_view(&x), nsx_buf_view(&y));
			keys &= !a || !b || (a == b) == equal;
			nsx_buf_free(&x);
			nsx_buf_free(&y);
		}
	ok(keys, "equal keys mean equal texts");
	ok(nsx_texts_key(&t, nsx_texts_add(&t, NSX_STR("aten::to, op_id = 990347"))) != 0, "usual texts have a key");
	size_t before = t.codes.len;
	nsx_texts_add(&t, NSX_STR("aten::to, op_id = 990348"));
	ok(t.codes.len - before < 8 && t.templates.n > 0, "and take a few bytes");
	nsx_texts_free(&t);
	nsx_buf_free(&got);
}

int
main(void)
{
	sorting();
	texts();
	launches();
	piles();
	return done();
}
