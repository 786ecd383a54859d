/* diag.c -- collect diagnostics; equal sentences are merged into one with a count. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"

/* The key of a diag is a hash of its source and one of its text; a diag found by them is compared in full. */
static struct nsx_key
key_of(const char *source, const char *text)
{
	return (struct nsx_key){ nsx_hash(source, strlen(source)), nsx_hash(text, strlen(text)) };
}

static bool
is(const struct nsx_diag *d, const char *source, const char *text)
{
	return strcmp(d->text, text) == 0 && strcmp(d->source, source) == 0;
}

static struct nsx_diag *
find(const struct nsx_diags *d, uint32_t at, const char *source, const char *text)
{
	if (at == NSX_NONE)
		return NULL;
	if (is(&d->list.p[at], source, text))
		return &d->list.p[at];
	/* Two diags with the same hashes. */
	for (size_t i = 0; i < d->list.n; i++)
		if (is(&d->list.p[i], source, text))
			return &d->list.p[i];
	return NULL;
}

/* Add a copy of x. */
static void
add(struct nsx_diags *d, const struct nsx_diag *x)
{
	uint32_t *at = nsx_map_at(&d->index, key_of(x->source, x->text));

	if (!at) {
		d->failed = true;
		return;
	}
	struct nsx_diag *old = find(d, *at, x->source, x->text);
	if (old) {
		old->count = nsx_add_sat(old->count, x->count, NULL);
		if (x->severity > old->severity)
			old->severity = x->severity;
		old->lack &= x->lack;
		return;
	}
	struct nsx_diag new = *x;
	new.source = nsx_str_dup(nsx_str_c(x->source));
	new.text = nsx_str_dup(nsx_str_c(x->text));
	if (!new.source || !new.text || !nsx_vec_push(&d->list, new)) {
		free(new.source);
		free(new.text);
		d->failed = true;
		return;
	}
	if (*at == NSX_NONE)
		*at = (uint32_t)(d->list.n - 1);
}

/* Add x with that text. */
static void
add_text(struct nsx_diags *d, struct nsx_diag x, const char *fmt, va_list ap)
{
	char room[512];
	va_list again;

	va_copy(again, ap);
	x.text = room;
	int n = vsnprintf(room, sizeof room, fmt, ap);
	if (n >= (int)sizeof room) {
		x.text = malloc((size_t)n + 1);
		if (x.text)
			n = vsnprintf(x.text, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	if (n < 0 || !x.text)
		d->failed = true;
	else
		add(d, &x);
	if (x.text != room)
		free(x.text);
}

void
nsx_diag_add(struct nsx_diags *d, enum nsx_severity severity, const char *source, int64_t count,
             const char *fmt, ...)
{
	struct nsx_diag x = { .severity = severity, .source = (char *)(source ? source : ""), .count = count };
	va_list ap;

	if (count == 0)
		return;
	va_start(ap, fmt);
	add_text(d, x, fmt, ap);
	va_end(ap);
}

void
nsx_diag_lack(struct nsx_diags *d, const char *fmt, ...)
{
	struct nsx_diag x = { .severity = NSX_WARNING, .source = "", .count = 1, .lack = true };
	va_list ap;

	va_start(ap, fmt);
	add_text(d, x, fmt, ap);
	va_end(ap);
}

void
nsx_diags_drop_lacks(struct nsx_diags *d)
{
	struct nsx_diags all = *d;

	*d = (struct nsx_diags){ .failed = all.failed };
	for (size_t i = 0; i < all.list.n; i++)
		if (!all.list.p[i].lack)
			add(d, &all.list.p[i]);
	nsx_diags_free(&all);
}

void
nsx_diags_join(struct nsx_diags *d, const struct nsx_diags *from)
{
	for (size_t i = 0; i < from->list.n; i++)
		add(d, &from->list.p[i]);
	d->failed |= from->failed;
}

void
nsx_diags_cover(struct nsx_diags *d, const struct nsx_diags *from)
{
	for (size_t i = 0; i < from->list.n; i++) {
		struct nsx_diag x = from->list.p[i];
		uint32_t at = nsx_map_get(&d->index, key_of(x.source, x.text));
		const struct nsx_diag *old = find(d, at, x.source, x.text);
		int64_t known = old ? old->count : 0;

		x.count = x.count > known ? x.count - known : 0;
		add(d, &x);
	}
	d->failed |= from->failed;
}

/* ---- diags that are alike ---- */

/* A text with N in place of its numbers, among them 2.50. */
static void
mask(struct nsx_buf *b, const char *text)
{
	for (const char *p = text; *p; p++) {
		if (!nsx_is_digit(*p)) {
			nsx_buf_char(b, *p);
			continue;
		}
		while (nsx_is_digit(p[1]) || (p[1] == '.' && nsx_is_digit(p[2])))
			p++;
		nsx_buf_char(b, 'N');
	}
}

/* The length of what comes before the subject: "nsysx-extract: " of "nsysx-extract: r0". */
static size_t
before_subject(const char *source)
{
	const char *colon = strstr(source, ": ");

	return colon ? (size_t)(colon + 2 - source) : 0;
}

/* Diags that are alike; the first ones by number. */
struct alike { size_t first[3], n; int64_t count; enum nsx_severity severity; bool differ; };

struct gathering {
	const struct nsx_diags *from;
	struct nsx_map          of;      /* hashes -> groups */
	NSX_VEC(struct alike)   groups;
	NSX_VEC(uint32_t)       group;   /* of each diag, by number less the first; NSX_NONE: of the whole run */
	struct nsx_buf          text;
};

/* Add a diag to its group. False when out of memory. */
static bool
group_in(struct gathering *g, size_t i)
{
	const struct nsx_diag *d = &g->from->list.p[i];
	size_t tool = before_subject(d->source);
	uint32_t at = NSX_NONE;

	g->text.len = 0;
	mask(&g->text, d->text);
	nsx_buf_char(&g->text, (char)('0' + d->severity));
	if (d->source[tool])
		at = nsx_map_number(&g->of, (struct nsx_key){ nsx_hash(d->source, tool),
		                                              nsx_hash(g->text.ptr, g->text.len) });
	if (g->text.failed || (d->source[tool] && at == NSX_NONE)
	    || (at == g->groups.n && !nsx_vec_push(&g->groups, ((struct alike){ .severity = d->severity })))
	    || !nsx_vec_push(&g->group, at))
		return false;
	if (at == NSX_NONE)
		return true;
	struct alike *a = &g->groups.p[at];

	if (a->n < sizeof a->first / sizeof *a->first)
		a->first[a->n] = i;
	a->n++;
	a->count = nsx_add_sat(a->count, d->count, NULL);
	a->differ = a->differ || strcmp(d->text, g->from->list.p[a->first[0]].text) != 0;
	return true;
}

/* The one for all of a group. */
static void
add_group(struct gathering *g, struct nsx_diags *to, const struct alike *a)
{
	const struct nsx_diag *d = g->from->list.p;
	const char *first = d[a->first[0]].source;
	size_t tool = before_subject(first);
	struct nsx_buf source = { 0 };

	nsx_buf_fmt(&source, "%s, %s, %s and %zu others", first, d[a->first[1]].source + tool,
	            d[a->first[2]].source + tool, a->n - 3);
	nsx_buf_char(&source, '\0');
	g->text.len = 0;
	if (a->differ)
		mask(&g->text, d[a->first[0]].text);
	else
		nsx_buf_c(&g->text, d[a->first[0]].text);
	nsx_buf_char(&g->text, '\0');
	if (source.failed || g->text.failed)
		to->failed = true;
	else
		add(to, &(struct nsx_diag){ a->severity, source.ptr, g->text.ptr, a->count, false });
	nsx_buf_free(&source);
}

void
nsx_diags_gather(struct nsx_diags *to, const struct nsx_diags *from, size_t first)
{
	struct gathering g = { .from = from };
	bool good = true;

	for (size_t i = first; i < from->list.n && good; i++)
		good = group_in(&g, i);
	for (size_t i = first; i < from->list.n; i++) {
		const struct nsx_diag *d = &from->list.p[i];
		uint32_t at = good ? g.group.p[i - first] : (uint32_t)NSX_NONE;
		const struct alike *a = at == NSX_NONE ? NULL : &g.groups.p[at];

		if (!a || a->n <= NSX_DIAG_ALIKE)
			add(to, d);
		else if (a->first[0] == i)
			add_group(&g, to, a);
	}
	to->failed |= from->failed;
	nsx_map_free(&g.of);
	free(g.groups.p);
	free(g.group.p);
	nsx_buf_free(&g.text);
}

NSX_ORDER(by_source, struct nsx_diag, strcmp(a->source, b->source), strcmp(a->text, b->text))

void
nsx_diags_sort(struct nsx_diags *d)
{
	if (d->list.n)
		qsort(d->list.p, d->list.n, sizeof *d->list.p, by_source);
}

const char *
nsx_severity_name(enum nsx_severity s)
{
	return s == NSX_INFO ? "info" : s == NSX_WARNING ? "warning" : "error";
}

bool
nsx_severity_of(struct nsx_str name, enum nsx_severity *s)
{
	for (*s = NSX_INFO; *s <= NSX_ERROR; ++*s)
		if (nsx_str_eq(name, nsx_str_c(nsx_severity_name(*s))))
			return true;
	return false;
}

void
nsx_diags_free(struct nsx_diags *d)
{
	for (size_t i = 0; i < d->list.n; i++) {
		free(d->list.p[i].source);
		free(d->list.p[i].text);
	}
	free(d->list.p);
	nsx_map_free(&d->index);
	*d = (struct nsx_diags){ 0 };
}
