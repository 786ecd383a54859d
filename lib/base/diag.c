/* diag.c -- collect diagnostics; equal sentences are merged into one with a count. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

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

static void
add(struct nsx_diags *d, enum nsx_severity severity, const char *source, int64_t count, const char *text)
{
	uint32_t *at = nsx_map_at(&d->index, key_of(source, text));

	if (!at) {
		d->failed = true;
		return;
	}
	struct nsx_diag *old = find(d, *at, source, text);
	if (old) {
		old->count = nsx_add_sat(old->count, count, NULL);
		if (severity > old->severity)
			old->severity = severity;
		return;
	}
	struct nsx_diag new = {
		.severity = severity, .count = count,
		.source = nsx_str_dup(nsx_str_c(source)), .text = nsx_str_dup(nsx_str_c(text)),
	};
	if (!new.source || !new.text || !nsx_vec_push(&d->list, new)) {
		free(new.source);
		free(new.text);
		d->failed = true;
		return;
	}
	if (*at == NSX_NONE)
		*at = (uint32_t)(d->list.n - 1);
}

void
nsx_diag_add(struct nsx_diags *d, enum nsx_severity severity, const char *source, int64_t count,
             const char *fmt, ...)
{
	char room[512], *text = room;
	va_list ap;

	if (count == 0)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(room, sizeof room, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof room) {
		text = malloc((size_t)n + 1);
		va_start(ap, fmt);
		if (text)
			n = vsnprintf(text, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	if (n < 0 || !text)
		d->failed = true;
	else
		add(d, severity, source ? source : "", count, text);
	if (text != room)
		free(text);
}

void
nsx_diags_join(struct nsx_diags *d, const struct nsx_diags *from)
{
	for (size_t i = 0; i < from->list.n; i++) {
		const struct nsx_diag *f = &from->list.p[i];
		add(d, f->severity, f->source, f->count, f->text);
	}
	d->failed |= from->failed;
}

void
nsx_diags_cover(struct nsx_diags *d, const struct nsx_diags *from)
{
	for (size_t i = 0; i < from->list.n; i++) {
		const struct nsx_diag *f = &from->list.p[i];
		uint32_t at = nsx_map_get(&d->index, key_of(f->source, f->text));
		const struct nsx_diag *old = find(d, at, f->source, f->text);
		int64_t known = old ? old->count : 0;

		add(d, f->severity, f->source, f->count > known ? f->count - known : 0, f->text);
	}
	d->failed |= from->failed;
}

static int
by_source(const void *a, const void *b)
{
	const struct nsx_diag *x = a, *y = b;
	int c = strcmp(x->source, y->source);

	return c ? c : strcmp(x->text, y->text);
}

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
