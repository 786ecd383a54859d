/* serving.c -- see serving.h. */
#include "job/serving.h"

#include <string.h>

#include "base/num.h"
#include "job/names.h"
#include "stream/kinds.h"

#define NSX_SERVING_ANY NSX_NSERVING
static const struct { int phase; const char *form, *whose, *class; } forms[] = {
#define NAME(use, text, whose)
#define COMM(use, text, kind, whose)
#define ADVICE(causes, range, also, calls, small, stepped, name, action)
#define SERVE(phase, form, whose) { NSX_SERVING_##phase, form, whose, "[" whose "]" },
#include "job/frameworks.def"
#undef NAME
#undef COMM
#undef ADVICE
};
enum { FORMS = sizeof forms / sizeof *forms };

/* The numbers of a name by their letters in its form; of a letter that occurs twice the sum. */
struct numbers { struct { bool seen, unknown; int64_t sum; } of[128]; };

/* A number in s from *at on, which moves behind it, is one of that letter. A negative one, as sums that overflowed are,
 * is not known. */
static bool
take_number(struct numbers *n, char letter, struct nsx_str s, size_t *at)
{
	bool negative = *at < s.len && s.ptr[*at] == '-';
	size_t from = *at + negative, end = from;
	int64_t v = 0;

	while (end < s.len && nsx_is_digit(s.ptr[end]))
		end++;
	if (end == from)
		return false;
	n->of[(unsigned char)letter].seen = true;
	if (negative || !nsx_get_int((struct nsx_str){ s.ptr + from, end - from }, &v))
		n->of[(unsigned char)letter].unknown = true;
	n->of[(unsigned char)letter].sum = nsx_add_sat(n->of[(unsigned char)letter].sum, v, NULL);
	*at = end;
	return true;
}

/* Whether the name has the form, in which %* is anything up to the character behind it, or to the end. */
static bool
has_form(struct nsx_str s, const char *form, struct numbers *n)
{
	size_t at = 0;

	*n = (struct numbers){ { { false, false, 0 } } };
	for (; *form; form++) {
		if (*form != '%') {
			if (at == s.len || s.ptr[at++] != *form)
				return false;
			continue;
		}
		if (*++form != '*') {
			if (!take_number(n, *form, s, &at))
				return false;
			continue;
		}
		if (!form[1])
			return true;
		while (at < s.len && s.ptr[at] != form[1])
			at++;
	}
	return at == s.len;
}

static int64_t
get(const struct numbers *n, char letter)
{
	return n->of[(unsigned char)letter].seen && !n->of[(unsigned char)letter].unknown
	       ? n->of[(unsigned char)letter].sum : NSX_ABSENT;
}

static int64_t
sum(int64_t a, int64_t b)
{
	return a == NSX_ABSENT || b == NSX_ABSENT ? NSX_ABSENT : nsx_add_sat(a, b, NULL);
}

/* Pairs of a query and a key, from sums over requests: of squares of numbers of queries, and of products of queries and
 * keys. The queries of a request are its last tokens: query i of n sees all keys but the n - i behind it. Some servers
 * sum in 32 bits, so that sums may have overflowed: not known if they cannot be the sums of so many requests, each of
 * which has a query or more, and a key for each query. */
static int64_t
pairs_of(int64_t requests, int64_t queries, int64_t keys, int64_t squares, int64_t products)
{
	double n = (double)requests, q = (double)queries, most = q * (double)keys;
	bool one = requests == 1;

	if (requests == NSX_ABSENT || queries == NSX_ABSENT || keys == NSX_ABSENT || squares == NSX_ABSENT
	    || products == NSX_ABSENT || products < squares || products < keys || squares < queries
	    || (double)products > most || (one && (double)products < most) || n * (double)squares < q * q)
		return NSX_ABSENT;
	return products - (squares - queries) / 2;
}

/* Fill s from the numbers. Each running request gets a token, if its step does not say otherwise. */
static void
fill(struct nsx_serving *s, const struct numbers *n, int phase)
{
	int64_t context = get(n, 'c'), context_tokens = get(n, 'C'), running = get(n, 'g'), tokens = get(n, 'G');
	int64_t queries, squares = get(n, 'q'), products = get(n, 'a');

	if (n->of['g'].seen && !n->of['G'].seen)
		tokens = running;
	if (!n->of['c'].seen)
		context = context_tokens = 0;
	if (!n->of['g'].seen)
		running = tokens = 0;
	if (context == 0)
		context_tokens = 0;
	s->requests = n->of['r'].seen ? get(n, 'r') : n->of['c'].seen || n->of['g'].seen ? sum(context, running)
	                                                                              : NSX_ABSENT;
	queries = n->of['c'].seen || n->of['g'].seen ? sum(context_tokens, tokens) : NSX_ABSENT;
	s->tokens = n->of['t'].seen ? get(n, 't') : queries;
	s->sk = get(n, 'k');
	s->pairs = pairs_of(s->requests, queries, s->sk, squares, products);
	s->phase = phase < NSX_NSERVING ? (enum nsx_serving_phase)phase
	           : context > 0 ? running > 0 ? NSX_SERVING_MIXED : NSX_SERVING_PREFILL
	           : running > 0 ? NSX_SERVING_DECODE : NSX_SERVING_EMPTY;
}

/* Whether a form may begin with c: a bit for each that one begins with. */
static bool
may_begin(char c)
{
#define NAME(use, text, whose)
#define COMM(use, text, kind, whose)
#define ADVICE(causes, range, also, calls, small, stepped, name, action)
#define SERVE(phase, form, whose) | UINT64_C(1) << ((form)[0] & 63)
	const uint64_t begins = 0
#include "job/frameworks.def"
	;
#undef NAME
#undef COMM
#undef ADVICE

	return begins >> (c & 63) & 1;
}

/* Whether s begins with what the form has before its first number. */
static bool
begins_as(struct nsx_str s, const char *form)
{
	size_t i = 0;

	while (i < s.len && form[i] && form[i] != '%' && s.ptr[i] == form[i])
		i++;
	return !form[i] || form[i] == '%';
}

bool
nsx_serving_of(struct nsx_str name, struct nsx_serving *s)
{
	struct nsx_str key;
	struct numbers n;

	/* Most names begin otherwise than all forms do. */
	if (!name.len || !may_begin(name.ptr[0]))
		return false;
	for (size_t i = 0; i < FORMS; i++) {
		if (!begins_as(name, forms[i].form))
			continue;
		key = nsx_name_key(name);
		if (!has_form(key, forms[i].form, &n))
			continue;
		s->whose = forms[i].whose;
		s->form = forms[i].form;
		fill(s, &n, forms[i].phase);
		return true;
	}
	return false;
}

const char *
nsx_serving_phase_name(enum nsx_serving_phase phase)
{
	static const char *const names[NSX_NSERVING] = { "prefill", "decode", "mixed", "empty" };

	return names[phase];
}

void
nsx_serving_put_class(struct nsx_buf *out, const struct nsx_serving *s)
{
	nsx_buf_str(out, (struct nsx_str){ s->form, strcspn(s->form, "%") });
	nsx_buf_str(out, NSX_STR("*: "));
	nsx_buf_str(out, nsx_str_c(nsx_serving_phase_name(s->phase)));
}

bool
nsx_serving_is_phase(struct nsx_str class)
{
	for (int phase = 0; phase < NSX_NSERVING; phase++) {
		const char *name = nsx_serving_phase_name((enum nsx_serving_phase)phase);
		size_t n = strlen(name);

		if (class.len > n + 3 && memcmp(class.ptr + class.len - n, name, n) == 0
		    && memcmp(class.ptr + class.len - n - 3, "*: ", 3) == 0)
			return true;
	}
	return false;
}

const char *
nsx_serving_class(const struct nsx_serving *s)
{
	for (size_t i = 0; i < FORMS; i++)
		if (strcmp(forms[i].whose, s->whose) == 0)
			return forms[i].class;
	return "";
}

bool
nsx_serving_is_class(struct nsx_str text)
{
	for (size_t i = 0; i < FORMS; i++)
		if (nsx_str_eq(text, nsx_str_c(forms[i].class)))
			return true;
	return false;
}
