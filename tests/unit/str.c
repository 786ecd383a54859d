/* str.c -- borrowed strings, buffers, vectors, arenas and errors. */
#include "base/str.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "tap.h"

static void
strings(void)
{
	ok(nsx_str_eq(NSX_STR("ab"), nsx_str_c("ab")) && !nsx_str_eq(NSX_STR("ab"), NSX_STR("abc")), "equality");
	ok(nsx_str_eq(nsx_str_c(NULL), NSX_STR("")), "NULL is the empty string");
	char one[40], other[40];
	bool equal = true, differ = true;
	for (size_t n = 1; n < sizeof one; n++)
		for (size_t at = 0; at < n; at++) {
			memset(one, 'x', n);
			memset(other, 'x', n);
			equal &= nsx_str_eq((struct nsx_str){ one, n }, (struct nsx_str){ other, n });
			other[at] = 'y';
			differ &= !nsx_str_eq((struct nsx_str){ one, n }, (struct nsx_str){ other, n });
		}
	ok(equal && differ, "of every length, every byte counts");
	ok(!nsx_str_eq(NSX_STR("a\0b"), NSX_STR("a\0c")), "bytes after a NUL count");
	ok(nsx_str_cmp(NSX_STR("a"), NSX_STR("ab")) < 0 && nsx_str_cmp(NSX_STR("\xff"), NSX_STR("a")) > 0 &&
	   nsx_str_cmp(NSX_STR(""), NSX_STR("")) == 0, "order is bytewise, the shorter first");
	ok(nsx_str_natural(NSX_STR("node9"), NSX_STR("node10")) < 0
	   && nsx_str_natural(NSX_STR("r1-n2"), NSX_STR("r1-n1")) > 0
	   && nsx_str_natural(NSX_STR("a"), NSX_STR("a1")) < 0 && nsx_str_natural(NSX_STR("a01b"), NSX_STR("a1c")) < 0
	   && nsx_str_natural(NSX_STR("\xff"), NSX_STR("1")) > 0 && nsx_str_natural(NSX_STR(""), NSX_STR("")) == 0,
	   "natural order has numbers in names");
	ok(nsx_str_starts(NSX_STR("nsysx-view"), "nsysx-") && !nsx_str_starts(NSX_STR("nsy"), "nsysx"), "prefixes");
	char *copy = nsx_str_dup((struct nsx_str){ "abcd", 3 });
	is_str(copy, "abc", "a copy ends with a NUL");
	free(copy);
}

static void
buffers(void)
{
	struct nsx_buf b = { 0 };
	bool good = true;

	nsx_buf_c(&b, "a");
	nsx_buf_char(&b, '-');
	nsx_buf_str(&b, NSX_STR("b"));
	nsx_buf_fmt(&b, "%d%s", 12, "");
	nsx_buf_char(&b, '\0');
	is_str(b.ptr, "a-b12", "a buffer takes all sorts");
	b.len = 0;
	for (int i = 0; i < 100000; i++)
		nsx_buf_fmt(&b, "%05d", i);
	is_int((int64_t)b.len, 500000, "it grows");
	for (int i = 0; i < 100000; i++)
		good &= atoi(strncpy((char[6]){ 0 }, b.ptr + 5 * (size_t)i, 5)) == i;
	ok(good && !b.failed, "and keeps its contents");
	ok(!nsx_buf_room(&b, SIZE_MAX - 10) && b.failed, "an excessive size fails");
	nsx_buf_c(&b, "x");
	is_int((int64_t)b.len, 500000, "and stays so");
	nsx_buf_free(&b);
	ok(!b.ptr && !b.failed, "freed, it is empty");
}

static void
vectors(void)
{
	NSX_VEC(int64_t) v = { 0 };
	bool good = true;

	for (int64_t i = 0; i < 100000; i++)
		good &= nsx_vec_push(&v, i * i);
	for (int64_t i = 0; i < 100000; i++)
		good &= v.p[i] == i * i;
	ok(good && v.n == 100000, "a vector grows and keeps its contents");
	ok(!nsx_vec_room(&v, SIZE_MAX / 4) && v.n == 100000 && v.p[99999] == INT64_C(99999) * 99999, "an excessive size leaves it unchanged");
	free(v.p);
}

static void
arenas(void)
{
	struct nsx_arena a = { 0 };
	char *blocks[1000];
	bool good = true;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			blocks[i] = nsx_arena_alloc(&a, (size_t)i + 1);
			good &= blocks[i] && (uintptr_t)blocks[i] % _Alignof(max_align_t) == 0;
			memset(blocks[i], i & 0xff, (size_t)i + 1);
		}
		for (int i = 0; i < 1000; i++)
			good &= (blocks[i][0] & 0xff) == (i & 0xff) && (blocks[i][i] & 0xff) == (i & 0xff);
		nsx_arena_reset(&a);
	}
	ok(good, "an arena's pieces are aligned and apart, also after a reset");
	char *big = nsx_arena_alloc(&a, 10000000);
	ok(big != NULL, "a large piece");
	memset(big, 1, 10000000);
	struct nsx_str s = nsx_arena_str(&a, (struct nsx_str){ "abcd", 3 });
	ok(s.len == 3 && strcmp(s.ptr, "abc") == 0, "a string's copy ends with a NUL");
	ok(nsx_arena_alloc(&a, SIZE_MAX - 20) == NULL, "an excessive size gives NULL");
	nsx_arena_free(&a);
	ok(!a.head, "freed, it is empty");
}

static void
errors(void)
{
	struct nsx_err err = { "" };
	char longer[3000];

	is_int(nsx_err_set(&err, "%s: %d", "f", 1), NSX_ERR, "setting an error fails");
	nsx_err_set(&err, "second");
	is_str(err.msg, "f: 1", "the first wins");
	is_int(nsx_err_set(NULL, "nobody asks"), NSX_ERR, "nobody need ask");
	err.msg[0] = '\0';
	nsx_err_set(&err, "a\nb\tc");
	is_str(err.msg, "a?b?c", "a message stays one line");
	err.msg[0] = '\0';
	memset(longer, 'x', sizeof longer);
	longer[sizeof longer - 1] = '\0';
	nsx_err_set(&err, "%s", longer);
	is_str(err.msg + strlen(err.msg) - 4, "x...", "a truncated message ends with a mark");
	err.msg[0] = '\0';
	nsx_err_nomem(&err, "f");
	is_str(err.msg, "f: out of memory", "out of memory");
}

int
main(void)
{
	strings();
	buffers();
	vectors();
	arenas();
	errors();
	return done();
}
