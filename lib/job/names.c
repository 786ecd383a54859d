/* names.c -- normalises names of NVTX ranges so that equal operations have equal names. */
#include "job/names.h"

#include <string.h>

#include "base/num.h"
#include "job/frameworks.h"
#include "stream/kinds.h"

bool
nsx_names_parse(const char *s, enum nsx_names *names)
{
	static const char *const words[] = { [NSX_NAMES_KEY] = "key", [NSX_NAMES_FULL] = "full",
	                                     [NSX_NAMES_DIGITS] = "digits", [NSX_NAMES_STEPS] = "steps" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(s, words[i]) == 0) {
			*names = (enum nsx_names)i;
			return true;
		}
	return false;
}

/* If the rest of s from `at` begins with word, skip it. */
static inline bool
skip(struct nsx_str s, size_t *at, const char *word)
{
	size_t n = strlen(word);

	/* Most do not begin with word: compare the first byte first. */
	if (s.len - *at < n || s.ptr[*at] != *word || memcmp(s.ptr + *at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

static bool
skip_digits(struct nsx_str s, size_t *at)
{
	size_t i = *at, from = i;

	while (i < s.len && nsx_is_digit(s.ptr[i]))
		i++;
	*at = i;
	return i > from;
}

/* Skip digits and characters of `set`. */
static void
skip_set(struct nsx_str s, size_t *at, const char *set)
{
	while (*at < s.len && (nsx_is_digit(s.ptr[*at]) || (s.ptr[*at] && strchr(set, s.ptr[*at]))))
		++*at;
}

/* ", seq = N", ", seq=N", ", stashed seq=N"; *at moves to the end of it if it is there. */
static void
skip_seq(struct nsx_str s, size_t *at)
{
	size_t i = *at;

	if (!skip(s, &i, ", "))
		return;
	skip(s, &i, "stashed ");
	if (!skip(s, &i, "seq"))
		return;
	skip(s, &i, " ");
	if (!skip(s, &i, "="))
		return;
	skip(s, &i, " ");
	if (skip_digits(s, &i))
		*at = i;
}

static void
skip_op_id(struct nsx_str s, size_t *at)
{
	size_t i = *at;

	if (skip(s, &i, ", op_id = ") && skip_digits(s, &i))
		*at = i;
}

/* A list of lists of sizes. Its characters include the ", " after it, so it ends at the last ']' of the run. */
static void
skip_sizes(struct nsx_str s, size_t *at)
{
	size_t i = *at, from;

	if (!skip(s, &i, ", sizes = ["))
		return;
	from = i;
	skip_set(s, &i, "-, []");
	while (i > from && s.ptr[i - 1] != ']')
		i--;
	if (i > from)
		*at = i;
}

static void
skip_inputs(struct nsx_str s, size_t *at)
{
	size_t i = *at;

	if (!skip(s, &i, ", input_op_ids = ["))
		return;
	skip_set(s, &i, "-, ()");
	if (skip(s, &i, "]"))
		*at = i;
}

/* The letter that follows ", " at `at`, or '\0'. */
static char
letter_at(struct nsx_str s, size_t at)
{
	return s.len - at > 2 ? s.ptr[at + 2] : '\0';
}

/* Whether all of s from `at` on was appended by emit_nvtx. Most names have one of its parts, which its first letter
 * tells. */
static bool
is_tail(struct nsx_str s, size_t at)
{
	if (letter_at(s, at) == 's')
		skip_seq(s, &at);
	if (letter_at(s, at) == 'o')
		skip_op_id(s, &at);
	if (letter_at(s, at) == 's')
		skip_sizes(s, &at);
	if (letter_at(s, at) == 'i')
		skip_inputs(s, &at);
	return at == s.len;
}

/* X of {'Module': 'X', ...}, as Python prints a dictionary; empty if the name is of another form. */
static struct nsx_str
module_of(struct nsx_str name)
{
	size_t at = 0, from;

	if (!skip(name, &at, "{'Module': ") || at == name.len || (name.ptr[at] != '\'' && name.ptr[at] != '"'))
		return (struct nsx_str){ "", 0 };
	from = at + 1;
	const char *end = memchr(name.ptr + from, name.ptr[at], name.len - from);

	return end ? (struct nsx_str){ name.ptr + from, (size_t)(end - name.ptr) - from } : (struct nsx_str){ "", 0 };
}

struct nsx_str
nsx_name_key(struct nsx_str name)
{
	struct nsx_str module = module_of(name);

	if (module.len)
		return module;
	/* Each attempt ends at the first letter that does not match, so all of them together are linear. */
	for (size_t i = 1; i + 1 < name.len; i++) {
		const char *comma = memchr(name.ptr + i, ',', name.len - i);

		if (!comma)
			break;
		i = (size_t)(comma - name.ptr);
		if (is_tail(name, i))
			return (struct nsx_str){ name.ptr, i };
	}
	return name;
}

int64_t
nsx_name_seq(struct nsx_str name)
{
	struct nsx_str key = nsx_name_key(name);
	size_t at = key.len, from;
	int64_t seq;

	if (key.ptr != name.ptr || key.len == name.len)
		return NSX_ABSENT;
	skip_seq(name, &at);
	for (from = at; from > key.len && nsx_is_digit(name.ptr[from - 1]);)
		from--;
	return from < at && nsx_get_int((struct nsx_str){ name.ptr + from, at - from }, &seq) ? seq : NSX_ABSENT;
}

/* Whether what stands before `at` ends in a word of steps and at most two other characters: "train_step ", "Iter #". */
static bool
is_behind_step(struct nsx_str s, size_t at)
{
	static const char *const words[] = { "step", "iteration", "iter", "epoch" };
	size_t end = at, begin;

	while (end && at - end < 2 && !nsx_is_letter(s.ptr[end - 1]) && !nsx_is_digit(s.ptr[end - 1]))
		end--;
	for (begin = end; begin && nsx_is_letter(s.ptr[begin - 1]);)
		begin--;
	for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
		size_t n = strlen(words[w]), i = 0;

		while (end - begin == n && i < n && (s.ptr[begin + i] | 32) == words[w][i])
			i++;
		if (i == n)
			return true;
	}
	return false;
}

/* Whether the key of a name, which has digits, is that of a step. */
static bool
is_of_step(struct nsx_str key)
{
	for (size_t i = 1; i < key.len; i++)
		if (nsx_is_digit(key.ptr[i]) && !nsx_is_letter(key.ptr[i - 1]) && !nsx_is_digit(key.ptr[i - 1])
		    && is_behind_step(key, i))
			return true;
	return nsx_framework_is(NSX_FRAMEWORK_STEP, key);
}

struct nsx_str
nsx_name(enum nsx_names names, struct nsx_str domain, struct nsx_str name, struct nsx_buf *scratch)
{
	struct nsx_str key;
	bool number = false;

	if (names == NSX_NAMES_FULL || nsx_str_eq(domain, NSX_STR("TSL")))
		return name;
	key = nsx_name_key(name);
	if (names == NSX_NAMES_KEY)
		return key;
	for (size_t i = 0; i < key.len && !number; i++)
		number = nsx_is_digit(key.ptr[i]);
	if (!number || (names == NSX_NAMES_STEPS && !is_of_step(key)))
		return key;
	scratch->len = 0;
	for (size_t i = 0; i < key.len;) {
		bool behind = i && (nsx_is_letter(key.ptr[i - 1]) || nsx_is_digit(key.ptr[i - 1]));

		if (!nsx_is_digit(key.ptr[i]) || behind) {
			nsx_buf_char(scratch, key.ptr[i++]);
			continue;
		}
		nsx_buf_char(scratch, '#');
		while (i < key.len && nsx_is_digit(key.ptr[i]))
			i++;
	}
	return scratch->failed ? (struct nsx_str){ "", 0 } : nsx_buf_view(scratch);
}

bool
nsx_name_is_of_many(enum nsx_names names, struct nsx_str domain, struct nsx_str name)
{
	struct nsx_str key;
	size_t n = name.len;

	if (names == NSX_NAMES_FULL || nsx_str_eq(domain, NSX_STR("TSL")))
		return false;
	while (n && nsx_is_digit(name.ptr[n - 1]))
		n--;
	/* A name without a key is shown whole. Else its grammar takes any digits at the end where it takes one. */
	key = nsx_name_key(name);
	return key.ptr + key.len <= name.ptr + n && n < name.len;
}

struct nsx_str
nsx_name_sizes(struct nsx_str name)
{
	size_t from = nsx_name_key(name).len, to;

	if (nsx_name_key(name).ptr != name.ptr)
		return (struct nsx_str){ "", 0 };
	skip_seq(name, &from);
	skip_op_id(name, &from);
	to = from;
	skip_sizes(name, &to);
	from = to > from ? from + sizeof ", sizes = " - 1 : to;
	return (struct nsx_str){ name.ptr + from, to - from };
}
