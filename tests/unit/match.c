/* match.c -- programs of several profiles are matched by the rules of job/match/match.h, for any order of aliases. */
#include "job/match/match.h"
#include "job/match/similar.h"

#include <stdlib.h>

#include "tap.h"

enum { MANY = 60 };

/* "" and -1 are absent; unit 0 is no unit. */
struct alias { int unit; int64_t profile, id; const char *name, *fingerprint, *digest; };

static struct nsx_str
text(const char *s)
{
	return nsx_str_c(s && *s ? s : NULL);
}

/* The letters of "x:abc" are the names executed; "x:1" has none that are known. */
static struct nsx_str
names_of(const char *digest)
{
	static char all[2 * MANY][300];
	static int next;
	struct nsx_str names[26];
	struct nsx_buf b = { 0 };
	size_t n = 0;
	char *to = all[next++ % (2 * MANY)];

	for (const char *p = digest && digest[0] == 'x' ? digest + 2 : ""; *p >= 'a' && n < 26; p++)
		names[n++] = (struct nsx_str){ p, 1 };
	nsx_names_put(&b, names, n);
	snprintf(to, sizeof all[0], "%.*s", (int)b.len, b.len ? b.ptr : "");
	nsx_buf_free(&b);
	return text(to);
}

static void
convert(const struct alias *from, size_t n, struct nsx_match_alias *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (struct nsx_match_alias){
			from[i].profile, from[i].id, from[i].unit - 1, text(from[i].name), text(from[i].fingerprint), text(from[i].digest), names_of(from[i].digest)
		};
}

/* "KEY:0,2 KEY:1": the programs with their aliases. */
static const char *
matched(const struct alias *a, size_t n, enum nsx_match_by mode)
{
	static char out[4096];
	struct nsx_match_alias list[MANY];
	struct nsx_match m;
	struct nsx_err err = { "" };
	size_t len = 0;

	convert(a, n, list);
	out[0] = '\0';
	if (nsx_match(list, n, mode, &m, &err) == NSX_OK)
		for (size_t p = 0; p < m.nprograms; p++) {
			const char *sep = ":";
			len += (size_t)snprintf(out + len, sizeof out - len, "%s%.*s", p ? " " : "", (int)m.programs[p].key.len, m.programs[p].key.ptr);
			for (size_t i = 0; i < n; i++)
				if (m.program[i] == p) {
					len += (size_t)snprintf(out + len, sizeof out - len, "%s%zu", sep, i);
					sep = ",";
				}
		}
	nsx_match_free(&m);
	return out;
}

#define MATCH(mode, want, claim, ...) do { \
	static const struct alias a_[] = { __VA_ARGS__ }; \
	is_str(matched(a_, sizeof a_ / sizeof *a_, (mode)), (want), claim); \
} while (0)

static void
rules(void)
{
	MATCH(NSX_MATCH_AUTO, "f@1:0,1", "same name, digest and id are one", { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 1, "f", "B", "d:1" });
	MATCH(NSX_MATCH_AUTO, "f@A:0,1", "ids that disagree: the fingerprint is the key", { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 2, "f", "A", "d:1" });
	MATCH(NSX_MATCH_AUTO, "f@d:1:0,1", "fingerprints that disagree too: the digest", { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 2, "f", "B", "d:1" });
	MATCH(NSX_MATCH_AUTO, "f@A:0 f@B:1", "one id with two digests is two programs", { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 1, "f", "B", "d:2" });
	MATCH(NSX_MATCH_AUTO, "f@d:1:0 f@d:2:1", "whose digests are keys if fingerprints agree", { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 1, "f", "A", "d:2" });
	MATCH(NSX_MATCH_AUTO, "f@1:0 g@1:1", "other names are other programs", { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 1, "g", "A", "d:1" });
	MATCH(NSX_MATCH_AUTO, "f@1:0 f@2:1", "two ids of a profile are two programs", { 0, 0, 1, "f", "A", "d:1" }, { 0, 0, 2, "f", "A", "d:1" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,3 f@2:1,2", "which others have by equal id",
	      { 0, 0, 1, "f", "", "x:1" }, { 0, 0, 2, "f", "", "x:1" }, { 0, 1, 2, "f", "", "x:1" }, { 0, 1, 1, "f", "", "x:1" });
	MATCH(NSX_MATCH_AUTO, "f@A:0,3 f@B:1,2", "or the k-th by id",
	      { 0, 0, 1, "f", "A", "x:1" }, { 0, 0, 2, "f", "B", "x:1" }, { 0, 1, 6, "f", "B", "x:1" }, { 0, 1, 5, "f", "A", "x:1" });
	MATCH(NSX_MATCH_AUTO, "f@A:0,3 f@2:1,2", "or the k-th of those left",
	      { 0, 0, 1, "f", "A", "x:1" }, { 0, 0, 2, "f", "", "x:1" }, { 0, 1, 2, "f", "", "x:1" }, { 0, 1, 9, "f", "A", "x:1" });
	MATCH(NSX_MATCH_AUTO, "f@A:0,3 f@2:1,2,4", "the worked example of lib/job/match/match.c",
	      { 0, 0, 1, "f", "A", "x:1" }, { 0, 0, 2, "f", "", "x:1" }, { 0, 1, 2, "f", "", "x:1" }, { 0, 1, 9, "f", "A", "x:1" },
	      { 0, 2, 2, "f", "", "" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,2,4 f@9:1,3", "the longest list of ids rules",
	      { 0, 1, 1, "f", "", "x:1" }, { 0, 1, 9, "f", "", "x:1" }, { 0, 2, 1, "f", "", "x:1" }, { 0, 0, 9, "f", "", "x:1" }, { 0, 3, 1, "f", "", "x:1" });
	MATCH(NSX_MATCH_AUTO, "f@4:0,2,4,6 f@8:1,3,5,7", "of several the most frequent",
	      { 0, 0, 4, "f", "", "x:1" }, { 0, 0, 8, "f", "", "x:1" }, { 0, 1, 5, "f", "", "x:1" }, { 0, 1, 9, "f", "", "x:1" },
	      { 0, 2, 5, "f", "", "x:1" }, { 0, 2, 9, "f", "", "x:1" }, { 0, 3, 8, "f", "", "x:1" }, { 0, 3, 9, "f", "", "x:1" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,1", "unlike marks join by id", { 0, 0, 1, "f", "", "d:1" }, { 0, 1, 1, "f", "", "x:9" });
	MATCH(NSX_MATCH_AUTO, "f@1:0 f@2:1", "and not without", { 0, 0, 1, "f", "", "d:1" }, { 0, 1, 2, "f", "", "x:9" });
	/* Both digests have a program of id 3, but profile 1 would be in it twice. */
	MATCH(NSX_MATCH_AUTO, "f@d:1:0,1 f@x:1:2,3", "never two ids of a profile in one program",
	      { 0, 0, 1, "f", "", "d:1" }, { 0, 1, 3, "f", "", "d:1" }, { 0, 2, 3, "f", "", "x:1" }, { 0, 1, 5, "f", "", "x:1" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,1,2 f@2:3", "what was only compiled joins by id",
	      { 0, 0, 1, "f", "", "d:1" }, { 0, 1, 1, "f", "", "" }, { 0, 2, 1, "f", "", "" }, { 0, 2, 2, "f", "", "" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,1", "also if nobody executed it", { 0, 0, 1, "f", "", "" }, { 0, 1, 1, "f", "", "" });
	MATCH(NSX_MATCH_AUTO, "f@7:2 f:0,1", "programs without id are one by name, and last",
	      { 0, 0, -1, "f", "", "x:1" }, { 0, 1, -1, "f", "", "x:2" }, { 0, 1, 7, "f", "", "x:1" });
	MATCH(NSX_MATCH_ID, "f@1:0,1 f@2:2", "--match id", { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 1, "f", "B", "d:2" }, { 0, 1, 2, "f", "A", "d:1" });
	MATCH(NSX_MATCH_FINGERPRINT, "f@1:1 f@A:0,2", "--match fingerprint",
	      { 0, 0, 1, "f", "A", "d:1" }, { 0, 1, 1, "f", "B", "d:1" }, { 0, 2, 2, "f", "A", "d:2" });
	MATCH(NSX_MATCH_FINGERPRINT, "f@1:0,3 f@2:1,2", "but never two ids of a profile in one program",
	      { 0, 0, 1, "f", "A", "d:1" }, { 0, 0, 2, "f", "A", "d:1" }, { 0, 1, 2, "f", "A", "d:1" }, { 0, 1, 1, "f", "A", "d:1" });
	MATCH(NSX_MATCH_AUTO, "f@A:0,1 f@3:2", "a unit is one program", { 1, 0, 1, "f", "A", "d:1" }, { 1, 0, 2, "f", "A", "d:2" }, { 0, 0, 3, "f", "", "d:3" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,1 f@1#2:2,3", "keys are distinct in the end",
	      { 1, 0, 1, "f", "", "d:1" }, { 1, 0, 2, "f", "", "d:2" }, { 1, 1, 1, "f", "", "d:3" }, { 1, 1, 2, "f", "", "d:4" });
	MATCH(NSX_MATCH_AUTO, "a@1:1 b@1:0,3 a@2:2", "order: by id, then name",
	      { 0, 0, 1, "b", "", "d:1" }, { 0, 0, 1, "a", "", "d:1" }, { 0, 0, 2, "a", "", "d:1" }, { 0, 1, 1, "b", "", "d:1" });
}

/* Without dumps: sets of executed names. */
static void
similar(void)
{
	MATCH(NSX_MATCH_AUTO, "f@1:0,1", "one set holds the other, equal id: one program", { 0, 0, 1, "f", "", "x:abcdefghij" }, { 0, 1, 1, "f", "", "x:abc" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,1", "each lacks one of ten, equal id", { 0, 0, 1, "f", "", "x:abcdefghi" }, { 0, 1, 1, "f", "", "x:bcdefghij" });
	MATCH(NSX_MATCH_AUTO, "f@x:abcdefgh:0 f@x:abcdefij:1", "six of ten in common: two programs, of one id too",
	      { 0, 0, 1, "f", "", "x:abcdefgh" }, { 0, 1, 1, "f", "", "x:abcdefij" });
	MATCH(NSX_MATCH_AUTO, "f@1:0 f@2:1", "other ids: a set that the other holds is another program", { 0, 0, 1, "f", "", "x:abc" }, { 0, 1, 2, "f", "", "x:ab" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,1", "other ids: one of sixteen names lacks", { 0, 0, 1, "f", "", "x:abcdefghijklmnop" }, { 0, 1, 2, "f", "", "x:abcdefghijklmno" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,2 f@2:1,3", "two programs of one name, of which one process did not run all",
	      { 0, 0, 1, "f", "", "x:abc" }, { 0, 0, 2, "f", "", "x:ab" }, { 0, 1, 1, "f", "", "x:bc" }, { 0, 1, 2, "f", "", "x:ab" });
	MATCH(NSX_MATCH_AUTO, "f@1:0,1,2", "a dump joins both", { 0, 0, 1, "f", "", "x:abcdefghij" }, { 0, 1, 1, "f", "", "x:abcdefgh" }, { 0, 2, 1, "f", "", "d:1" });
	MATCH(NSX_MATCH_AUTO, "f@1:0 g@1:1", "other names are other programs, whatever they ran", { 0, 0, 1, "f", "", "x:abcdefghij" }, { 0, 1, 1, "g", "", "x:abcdefghij" });
	MATCH(NSX_MATCH_AUTO, "f@x:1:0 f@x:2:1", "sets that are not known are not compared", { 0, 0, 1, "f", "", "x:1" }, { 0, 1, 1, "f", "", "x:2" });
	MATCH(NSX_MATCH_ID, "f@1:0 f@2:1", "--match id does not compare them", { 0, 0, 1, "f", "", "x:abcdefghijklmnop" }, { 0, 1, 2, "f", "", "x:abcdefghijklmno" });
}

/* Sets of n names of which `common` are in both: the share as sampled, in thousandths. */
static int
sampled(size_t n, size_t m, size_t common, bool *holds)
{
	static char text[8000][12];
	struct nsx_str a[4000], b[4000];
	struct nsx_buf x = { 0 }, y = { 0 };

	for (size_t i = 0; i < n + m - common; i++) {
		struct nsx_str s = { text[i], (size_t)snprintf(text[i], sizeof text[i], "fusion.%zu", i) };
		if (i < n)
			a[i] = s;
		if (i >= n - common)
			b[i - (n - common)] = s;
	}
	nsx_names_put(&x, a, n);
	nsx_names_put(&y, b, m);
	double share = nsx_names_share(nsx_buf_view(&x), nsx_buf_view(&y), holds);
	nsx_buf_free(&x);
	nsx_buf_free(&y);
	return (int)(share * 1000 + (share < 0 ? -0.5 : 0.5));
}

static void
samples(void)
{
	bool holds;

	is_int(sampled(100, 100, 90, &holds), 818, "small sets are compared as a whole");
	ok(!holds, "and neither holds the other");
	is_int(sampled(128, 100, 100, &holds), 781, "up to 128 names");
	ok(holds, "one holds the other");
	is_int(sampled(3000, 3000, 3000, &holds), 1000, "of large ones a sample: equal sets");
	int most = sampled(2576, 2570, 2560, &holds), half = sampled(2000, 2000, 1400, &holds);
	ok(most > 950, "nearly equal ones");
	ok(half > 300 && half < 750, "a share of 54 %% is not taken for 80");
	is_int(sampled(3000, 6, 6, &holds), -1000, "six names of three thousand: nothing is concluded");
	is_int((int)nsx_names_share(text("3:00000001"), text("x"), &holds), -1, "what is no set is not compared");
}

/* Small domains, so that everything collides. */
static void
make(struct alias *a, size_t n)
{
	static const char *const names[] = { "f", "g" }, *const digests[] = { "", "d:1", "d:2", "x:1", "x:abcdefghij", "x:abcdefghi", "x:bcdefghij", "x:abc", "x:abcxyz" }, *const fps[] = { "", "A", "B" };

	for (size_t i = 0; i < n; i++)
		a[i] = (struct alias){ 0, rand() % 5, rand() % 7 - 1, names[rand() % 2], fps[rand() % 3], digests[rand() % 9] };
}

static bool
same_program(const struct nsx_match_program *x, const struct nsx_match_program *y)
{
	return x->id == y->id && nsx_str_eq(x->name, y->name) && nsx_str_eq(x->key, y->key) && nsx_str_eq(x->fingerprint, y->fingerprint);
}

/* One random set: the error in its result, NULL if there is none. */
static const char *
check(enum nsx_match_by mode)
{
	struct alias a[MANY], b[MANY];
	struct nsx_match_alias x[MANY], y[MANY];
	struct nsx_match m, o;
	struct nsx_err err = { "" };
	size_t n = (size_t)(rand() % MANY), at[MANY];
	const char *wrong = NULL;

	make(a, n);
	for (size_t i = 0; i < n; i++)
		at[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)rand() % i, t = at[i - 1];
		at[i - 1] = at[k];
		at[k] = t;
	}
	for (size_t i = 0; i < n; i++)
		b[i] = a[at[i]];
	convert(a, n, x);
	convert(b, n, y);
	if (nsx_match(x, n, mode, &m, &err) != NSX_OK || nsx_match(y, n, mode, &o, &err) != NSX_OK)
		return "failed";
	if (m.nprograms != o.nprograms)
		wrong = "the order of aliases changes how many programs there are";
	for (size_t p = 0; p < m.nprograms && !wrong; p++)
		if (!same_program(&m.programs[p], &o.programs[p]))
			wrong = "the order of aliases changes a program";
	for (size_t p = 1; p < m.nprograms && !wrong; p++)
		for (size_t q = 0; q < p; q++)
			if (nsx_str_eq(m.programs[p].key, m.programs[q].key))
				wrong = "two programs have one key";
	for (size_t i = 0; i < n && !wrong; i++) {
		if (o.program[i] != m.program[at[i]])
			wrong = "the order of aliases changes a match";
		for (size_t k = 0; k < i; k++) {
			bool one = m.program[i] == m.program[k];
			if (one && !nsx_str_eq(x[i].name, x[k].name))
				wrong = "two names are one program";
			if (one && a[i].profile == a[k].profile && a[i].id != a[k].id)
				wrong = "two ids of a profile are one program";
			if (mode == NSX_MATCH_ID && one != (a[i].id == a[k].id && strcmp(a[i].name, a[k].name) == 0))
				wrong = "name and id do not decide";
		}
	}
	nsx_match_free(&m);
	nsx_match_free(&o);
	return wrong;
}

int
main(void)
{
	static const char *const modes[] = { "auto", "id", "fingerprint" };

	rules();
	similar();
	samples();
	for (int mode = NSX_MATCH_AUTO; mode <= NSX_MATCH_FINGERPRINT; mode++) {
		const char *wrong = NULL;
		srand(1);
		for (int i = 0; i < 3000 && !wrong; i++)
			wrong = check((enum nsx_match_by)mode);
		is_str(wrong ? wrong : "", "", "3000 random sets, %s", modes[mode]);
	}
	return done();
}
