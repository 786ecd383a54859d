/* flame_kind.c -- frames of libraries, against the regular expression that says what they are. */
#include "draw/flame/kind.h"

#include <regex.h>
#include <string.h>

#include "tap.h"

enum { NAMES = 200000, PIECES = 38, ENDS = 18, MOST = 9 };

static const char expression[] =
	"(^|/)((site|dist)-packages|lib/python[0-9.]+|absl|flax|haiku|jax|jaxlib|optax|paxml|praxis|torch)/"
	".*\\.pyx?:[0-9]";

static uint64_t state = 7;

static uint32_t
next(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % n;
}

/* A frame of a library, or nearly one. */
static void
make_name(char *name)
{
	static const char *const pieces[PIECES] = {
		"/", "/", "/", "/",
		"site-packages", "dist-packages", "lib/python3.11", "lib/python", "lib/python3", "absl", "flax", "haiku",
		"jax", "jaxlib", "optax", "paxml", "praxis", "torch",
		".py:1", ".pyx:2",
		"site", "dist", "-packages", "lib", "python3.11", "3", ".", "a", "x", "\n", ".py", ".py:", ".pyx", ":",
		"9", "[f]", "\xc3\xa9", "\xff",
	};

	/* Where the pieces of /FOLDER/NAME.py:LINE begin in the list, and how many there are. */
	static const struct { uint32_t from, n; } slots[] = { { 0, 4 }, { 4, ENDS - 4 }, { 0, 4 }, { 0, PIECES },
	                                                      { ENDS, 2 }, { 0, PIECES } };

	*name = 0;
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		strcat(name, pieces[next(6) ? slots[i].from + next(slots[i].n) : next(PIECES)]);
	for (uint32_t n = next(4); n; n--)
		strcat(name, pieces[next(PIECES)]);
}

int
main(void)
{
	char name[MOST * 16 + 1];
	int libraries = 0, wrong = 0;
	regex_t re;

	if (regcomp(&re, expression, REG_EXTENDED | REG_NOSUB) != 0)
		return 1;
	for (int i = 0; i < NAMES; i++) {
		make_name(name);
		bool want = regexec(&re, name, 0, NULL, 0) == 0;
		bool got = nsx_flame_is_library((struct nsx_str){ name, strlen(name) });
		libraries += want;
		if (want != got && wrong++ < 5)
			printf("# %s: want %d\n", name, want);
	}
	regfree(&re);
	ok(wrong == 0, "frames of libraries are those that the expression matches");
	ok(libraries > NAMES / 100 && libraries < NAMES / 4 * 3, "%d of %d names are", libraries, NAMES);
	return done();
}
