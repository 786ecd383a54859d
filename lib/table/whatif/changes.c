/* changes.c -- see changes.h. */
#include "table/whatif/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "base/num.h"
#include "base/pattern.h"

static const struct { const char *name; enum wi_what what; bool has_name, must_name, has_k, zero; } words[] = {
	{ "faster",    WI_FASTER,      true,  true,  true,  false },
	{ "limit",     WI_LIMIT,       true,  false, false, false },
	{ "copies",    WI_COPIES,      false, false, true,  false },
	{ "transfer",  WI_TRANSFER,    true,  false, true,  false },
	{ "bandwidth", WI_BANDWIDTH,   true,  true,  true,  false },
	{ "nowait",    WI_NOWAIT,      true,  false, false, false },
	{ "even",      WI_EVEN,        false, false, false, false },
	{ "host",      WI_HOST,        false, false, true,  false },
	{ "api",       WI_API,         false, false, true,  false },
	{ "sync",      WI_NO_SYNC,     false, false, false, true  },
	{ "gaps",      WI_NO_GAPS,     false, false, false, true  },
	{ "profiler",  WI_NO_PROFILER, false, false, false, true  },
};
/* Of K and GBPS: with less, times of long jobs exceed 64 bits. */
static const double k_min = 0.001;

/* ---- the text of a change */

bool
nsx_wi_change_devices(const struct wi_graph *g, const struct wi_change *c, bool *named)
{
	struct nsx_members m = { .ids = { .n = 0 } };
	bool good = nsx_members_read(&m, c->name, NSX_MEMBERS_MAX) == NSX_OK && m.ends.n == 1;

	for (size_t i = 0; good && g && i < m.ids.n; i++) {
		uint32_t device = nsx_cat_find_device(&g->pairing.comm.cat, m.ids.p[i]);

		if (device != NSX_NONE)
			named[device] = true;
	}
	nsx_members_free(&m);
	return good;
}

/* A number, as 2 or, of times, 2x. */
static bool
get_times(struct nsx_str s, bool times, double *k)
{
	s.len -= times && s.len > 1 && s.ptr[s.len - 1] == 'x';
	return nsx_get_double(s, k);
}

/* How it names operations: the word before the name, if any. */
static void
read_by(struct wi_change *c)
{
	static const struct { const char *word; enum wi_by by; } by[] = {
		{ "name:", WI_BY_NAME }, { "family:", WI_BY_FAMILY }
	};

	for (size_t i = 0; i < sizeof by / sizeof *by; i++)
		if (c->by == WI_BY_ERE && nsx_str_starts(c->name, by[i].word)) {
			size_t n = strlen(by[i].word);

			c->by = by[i].by;
			c->name = (struct nsx_str){ c->name.ptr + n, c->name.len - n };
		}
}

/* Whether a change begins here. */
static bool
begins(const char *text)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].name);

		if (strncmp(text, words[i].name, n) == 0 && (text[n] == '=' || (words[i].has_name && text[n] == ':')
		    || (!words[i].has_k && !words[i].zero && (!text[n] || text[n] == ','))))
			return true;
	}
	return false;
}

size_t
nsx_wi_change_length(const char *text)
{
	for (size_t i = 0; text[i]; i++)
		if (text[i] == ',' && begins(text + i + 1))
			return i;
	return strlen(text);
}

const char *
nsx_wi_change_parse(const char *text, struct wi_change *c)
{
	size_t word = strcspn(text, ":="), len = strlen(text), n = sizeof words / sizeof *words, i = 0;
	const char *equals = strrchr(text, '='), *why;
	char *pattern;
	bool has_k;

	while (i < n && (strlen(words[i].name) != word || strncmp(words[i].name, text, word) != 0))
		i++;
	if (i == n)
		return "no such change: want faster:ERE=K, faster:name:NAME=K, faster:family:FAMILY=K, "
		       "limit[:ERE][=SHARE], copies=K, transfer[:KIND]=K, "
		       "bandwidth:KIND=GBPS, nowait[:DEVICES], even, host=K, api=K, sync=0, gaps=0 or profiler=0";
	*c = (struct wi_change){ .what = words[i].what, .by = WI_BY_ERE, .text = nsx_str_c(text), .k = 1 };
	has_k = words[i].has_k || (c->what == WI_LIMIT && equals && nsx_get_double(nsx_str_c(equals + 1), &c->k));
	if (text[word] == ':') {
		if (!words[i].has_name)
			return "it takes no name";
		len = has_k ? (size_t)((equals ? equals : text + len) - text) : len;
		c->name = (struct nsx_str){ text + word + 1, len > word ? len - word - 1 : 0 };
		if (c->what == WI_FASTER)
			read_by(c);
		if (!c->name.len)
			return "the name is empty";
	} else if (words[i].must_name) {
		return "it needs a name: faster:ERE=K, bandwidth:KIND=GBPS";
	}
	if (text[word] == '=' && equals != text + word)
		return "it takes one number; what follows it is no change";
	if (words[i].zero)
		return text[word] == '=' && strcmp(text + word, "=0") == 0 ? NULL
		       : "only 0 is possible: sync=0, gaps=0, profiler=0";
	c->k = has_k ? c->k : 1;
	if (!has_k && text[word] == '=')
		return c->what == WI_LIMIT ? "want a share of the limit, above 0 and up to 1" : "it takes no number";
	if (c->what == WI_LIMIT && !(c->k > 0 && c->k <= 1))
		return "want a share of the limit, above 0 and up to 1";
	if (c->what == WI_NOWAIT && c->name.len && !nsx_wi_change_devices(NULL, c, NULL))
		return "want numbers of devices and ranges of them, such as 0-7,12";
	if (words[i].has_k && !equals)
		return "it needs a number: K times as fast";
	if (words[i].has_k && strcmp(equals, "=inf") == 0)
		c->k = INFINITY;
	else if (words[i].has_k && (!get_times(nsx_str_c(equals + 1), c->what != WI_BANDWIDTH, &c->k)
	                            || !(c->k >= k_min) || isinf(c->k)))
		return "want a number, 0.001 or more, or inf";
	if (!c->name.len || (c->what != WI_FASTER && c->what != WI_LIMIT) || c->by != WI_BY_ERE)
		return NULL;
	pattern = nsx_str_dup(c->name);
	why = pattern ? nsx_pattern_check(pattern) : "out of memory";
	free(pattern);
	return why;
}

const char *
nsx_whatif_check(const char *text)
{
	struct wi_change c;
	const char *why = NULL;

	for (size_t n; !why; text += n + 1) {
		char *one;

		n = nsx_wi_change_length(text);
		one = nsx_str_dup((struct nsx_str){ text, n });
		why = one ? nsx_wi_change_parse(one, &c) : "out of memory";
		free(one);
		if (!text[n])
			break;
	}
	return why;
}

bool
nsx_wi_change_without(const struct wi_graph *g, const struct wi_change *c, bool *without)
{
	return c->what == WI_NOWAIT && c->name.len && nsx_wi_change_devices(g, c, without);
}
