/* near.c -- the most similar name, by edit distance, which is compared with its definition by exhaustive search. */
#include "base/near.h"

#include <string.h>

#include "tap.h"

/* By the recursion that defines it. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned change, more, less;

	if (!*a || !*b)
		return (unsigned)(strlen(a) + strlen(b));
	change = distance(a + 1, b + 1) + (*a != *b);
	more = 1 + distance(a, b + 1);
	less = 1 + distance(a + 1, b);
	if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0] && distance(a + 2, b + 2) + 1 < change)
		change = distance(a + 2, b + 2) + 1;
	return change < more ? (change < less ? change : less) : more < less ? more : less;
}

static const char *
best(const char *want, const char *const *names, size_t n)
{
	static char out[NSX_NEAR_BYTES + 1];
	struct nsx_near near = { .want = nsx_str_c(want) };

	for (size_t i = 0; i < n; i++)
		nsx_near_offer(&near, nsx_str_c(names[i]));
	snprintf(out, sizeof out, "%.*s", (int)nsx_near_best(&near).len, nsx_near_best(&near).ptr);
	nsx_near_free(&near);
	return out;
}

static void
examples(void)
{
	static const char *const names[] = { "aten::linear", "aten::mm", "NCCL:ncclAllReduce", "c10d::all_reduce_", "c10d::all_reduce_coalesced", "step", "stop" };
	size_t n = sizeof names / sizeof *names;

	is_str(best("aten::liner", names, n), "aten::linear", "a letter is missing");
	is_str(best("ATEN::MM", names, n), "aten::mm", "in other case");
	is_str(best("all_reduce", names, n), "c10d::all_reduce_", "of names that contain it the shorter");
	is_str(best("NCCL:ncclAllreduce", names, n), "NCCL:ncclAllReduce", "with its domain");
	is_str(best("stp", names, n), "step", "of equal ones the first");
	is_str(best("setp", names, n), "step", "neighbours are swapped");
	is_str(best("st", names, n), "", "of two letters, two differ");
	is_str(best("forward", names, n), "", "no name is similar");
	is_str(best("", names, n), "", "an empty name");
}

static void
hints(void)
{
	is_str(nsx_near_hint_among("module|kernel|range", '|', NSX_STR("kernl")).text, "; did you mean kernel?", "a question");
	is_str(nsx_near_hint_among("module|kernel|range", '|', NSX_STR("kernel")).text, "", "no suggestion for an existing name");
	is_str(nsx_near_hint_among("module|kernel|range", '|', NSX_STR("xyz")).text, "", "no suggestion without a similar name");
	is_str(nsx_near_hint_among("", '|', NSX_STR("xyz")).text, "", "no suggestion without names");
}

/* All words of up to 4 letters from an alphabet of two: the best has the minimum distance. */
static void
everything(void)
{
	static char words[32][5];
	size_t n = 0, wrong = 0;

	for (unsigned len = 1; len <= 4; len++)
		for (unsigned bits = 0; bits < 1u << len; bits++, n++)
			for (unsigned i = 0; i < len; i++)
				words[n][i] = bits >> i & 1 ? 'b' : 'a';
	for (size_t w = 0; w < n; w++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = a + 1; b < n; b++) {
				const char *two[] = { words[a], words[b] }, *got = best(words[w], two, 2);
				unsigned of_a = distance(words[a], words[w]), of_b = distance(words[b], words[w]), least = of_a < of_b ? of_a : of_b;
				bool inside = strlen(words[w]) >= 3 && (strstr(words[a], words[w]) || strstr(words[b], words[w]));

				wrong += least <= 1 || inside ? !*got || (!inside && distance(got, words[w]) != least) : *got != '\0';
			}
	is_int((long long)wrong, 0, "pairs of words for each word");
}

/* The time of a search is bounded. */
static void
limits(void)
{
	char name[NSX_NEAR_BYTES + 2];
	struct nsx_near near = { .want = NSX_STR("wanted") };

	memset(name, 'x', sizeof name);
	nsx_near_offer(&near, (struct nsx_str){ name, sizeof name });
	is_int((long long)near.seen.n, 0, "a name too long is not kept");
	for (int i = 0; i < 2 * NSX_NEAR_NAMES; i++)
		nsx_near_offer(&near, (struct nsx_str){ name, (size_t)snprintf(name, sizeof name, "name %d", i) });
	is_int((long long)near.seen.n, NSX_NEAR_NAMES, "so many names are kept");
	nsx_near_free(&near);
}

int
main(void)
{
	examples();
	hints();
	everything();
	limits();
	return done();
}
