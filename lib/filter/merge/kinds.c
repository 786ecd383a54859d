/* kinds.c -- headers with the columns of all streams, and diags added up. A header is written just before the
 * first record of its kind, when every stream has been read as far as its own header of that kind; those without a
 * record come after all records. */
#include "filter/merge/merging.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* ---- headers */

static bool
declared(const struct mg *m, const struct nsx_kind *k)
{
	if (k->id != NSX_NKINDS)
		return m->kinds[k->id] != NULL;
	return nsx_intern_find(&m->others, nsx_str_c(k->name)) != NSX_NONE;
}

NSX_ORDER(by_name, struct nsx_col, strcmp(a->name, b->name))

/* Add the columns of k, which the stream called `name` has, to the n columns from `known` on. */
static int
add_columns(struct mg *m, struct nsx_kind *u, struct nsx_col *cols, const struct nsx_kind *k, const char *name)
{
	for (int i = 0; i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];
		int slot = nsx_kind_slot(u, nsx_str_c(c->name));
		if (slot >= 0 && cols[slot].type == c->type)
			continue;
		if (slot >= 0)
			return nsx_err_set(m->err, "%s: column %s of %s has type %c here, %c in another stream", name,
			                   c->name, k->name,
			                   c->type, cols[slot].type);
		if (u->nslots == NSX_MAX_COLS)
			return nsx_err_set(m->err, "%s: the streams' columns of %s together are more than %d", name,
			                   k->name, NSX_MAX_COLS);
		struct nsx_str copy = nsx_arena_str(&m->arena, nsx_str_c(c->name));
		if (!copy.ptr)
			return nsx_err_nomem(m->err, name);
		cols[u->nslots++] = (struct nsx_col){ copy.ptr, c->type, NULL, NULL };
	}
	return NSX_OK;
}

static bool
same_order(const struct nsx_kind *x, const struct nsx_kind *y)
{
	if (x->ncols != y->ncols)
		return false;
	for (int i = 0; i < x->ncols; i++)
		if (strcmp(x->cols[x->order[i]].name, y->cols[y->order[i]].name) != 0)
			return false;
	return true;
}

/* The kind with the columns of all streams: known ones as this version has them, then the others by name (of a kind
 * that we do not know: as the streams have them, if they agree). NULL with err filled. */
static struct nsx_kind *
unite(struct mg *m, const struct nsx_kind *k)
{
	struct nsx_kind *u = nsx_arena_alloc(&m->arena, sizeof *u);
	struct nsx_col *cols = nsx_arena_alloc(&m->arena, NSX_MAX_COLS * sizeof *cols);
	struct nsx_str name = nsx_arena_str(&m->arena, nsx_str_c(k->name));
	const struct nsx_kind *first = NULL;
	bool agree = true;
	int known = 0;

	if (!u || !cols || !name.ptr) {
		nsx_err_nomem(m->err, NULL);
		return NULL;
	}
	*u = (struct nsx_kind){ .id = k->id, .name = name.ptr, .cols = cols };
	if (k->id != NSX_NKINDS) {
		const struct nsx_kind *b = nsx_kind_builtin(k->id);
		u->meaning = b->meaning;
		u->nslots = known = b->nslots;
		memcpy(cols, b->cols, (size_t)known * sizeof *cols);
		agree = false;
	}
	for (size_t i = 0; i < m->n; i++) {
		int n;
		const struct nsx_kind *const *kinds = nsx_reader_kinds(m->sources[i].in, &n);
		for (int j = 0; j < n; j++) {
			if (kinds[j]->id != k->id || strcmp(kinds[j]->name, k->name) != 0)
				continue;
			if (add_columns(m, u, cols, kinds[j], m->sources[i].name) != NSX_OK)
				return NULL;
			first = first ? first : kinds[j];
			agree = agree && same_order(first, kinds[j]);
		}
	}
	if (!agree)
		qsort(cols + known, (size_t)(u->nslots - known), sizeof *cols, by_name);
	u->ncols = u->nslots;
	for (int i = 0; i < u->ncols; i++)
		u->order[i] = (uint8_t)i;
	return u;
}

int
nsx_merge_declare(struct mg *m, const struct nsx_kind *k)
{
	struct nsx_kind *u;

	if (declared(m, k))
		return NSX_OK;
	for (size_t i = 0; i < m->n; i++)
		if (nsx_merge_source_meet(m, &m->sources[i], k) != NSX_OK)
			return NSX_ERR;
	u = unite(m, k);
	if (!u)
		return NSX_ERR;
	if (k->id != NSX_NKINDS)
		m->kinds[k->id] = u;
	else if (nsx_intern(&m->others, nsx_str_c(k->name)) == NSX_NONE)
		return nsx_err_nomem(m->err, NULL);
	return nsx_writer_declare(m->out, u);
}

NSX_ORDER_PTR(by_kind, struct nsx_kind, NSX_CMP(a->id, b->id), strcmp(a->name, b->name))

int
nsx_merge_declare_rest(struct mg *m)
{
	NSX_VEC(const struct nsx_kind *) rest = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < m->n && rc == NSX_OK; i++) {
		int n;
		const struct nsx_kind *const *kinds = nsx_reader_kinds(m->sources[i].in, &n);
		for (int j = 0; j < n && rc == NSX_OK; j++)
			if (kinds[j]->id != NSX_END && !declared(m, kinds[j]) && !nsx_vec_push(&rest, kinds[j]))
				rc = nsx_err_nomem(m->err, NULL);
	}
	if (rest.n)
		qsort(rest.p, rest.n, sizeof *rest.p, by_kind);
	for (size_t i = 0; i < rest.n && rc == NSX_OK; i++)
		rc = nsx_merge_declare(m, rest.p[i]);
	free(rest.p);
	return rc;
}

/* ---- diags */

#define OURS "nsysx-merge"

/* Diags of the merge itself are found again in other groupings of the same merge, so they are not counted. */
static int
add_diag(struct mg *m, struct mg_diag d, bool ours)
{
	uint32_t *at = nsx_map_at(&m->diag_of, (struct nsx_key){ (uint64_t)d.severity << 32 | d.source,
		(uint64_t)d.text << 32 | d.extras });

	if (!at || d.severity == NSX_NONE || d.source == NSX_NONE || d.text == NSX_NONE || d.extras == NSX_NONE)
		return nsx_err_nomem(m->err, NULL);
	if (*at == NSX_NONE) {
		*at = (uint32_t)m->diags.n;
		return nsx_vec_push(&m->diags, d) ? NSX_OK : nsx_err_nomem(m->err, NULL);
	}
	struct mg_diag *old = &m->diags.p[*at];
	if (!ours)
		old->count = d.count > 0 && old->count > INT64_MAX - d.count ? INT64_MAX : old->count + d.count;
	return NSX_OK;
}

int
nsx_merge_diag_record(struct mg *m, const struct nsx_rec *rec)
{
	struct nsx_str source = nsx_string(rec, NSX_DIAG_source);
	struct mg_diag d = {
		nsx_merge_string(m, nsx_string(rec, NSX_DIAG_severity)), nsx_merge_string(m, source),
		    nsx_merge_string(m, nsx_string(rec, NSX_DIAG_text)),
		nsx_merge_extras(m, rec), nsx_int(rec, NSX_DIAG_count, 1)
	};

	return add_diag(m, d, (nsx_str_eq(source, NSX_STR(OURS)) || nsx_str_starts(source, OURS ": "))
	                      && !nsx_merge_stale_counts(nsx_string(rec, NSX_DIAG_text)));
}

/* Whether the user has already seen it. */
static bool
is_shown(const struct nsx_diags *d, const char *source, const char *text)
{
	for (size_t i = 0; i < d->list.n; i++)
		if (strcmp(d->list.p[i].text, text) == 0 && strcmp(d->list.p[i].source, source) == 0)
			return true;
	return false;
}

int
nsx_merge_diag_say(struct mg *m, enum nsx_severity severity, struct nsx_str about, const char *fmt, ...)
{
	struct nsx_buf source = { 0 };
	char text[512], *who = nsx_str_dup(about);
	struct mg_diag d;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	nsx_buf_c(&source, about.len ? OURS ": " : OURS);
	nsx_buf_str(&source, about);
	if (!who || source.failed) {
		rc = nsx_err_nomem(m->err, NULL);
	} else {
		d = (struct mg_diag){ nsx_merge_string(m, nsx_str_c(nsx_severity_name(severity))),
		                      nsx_merge_string(m, nsx_buf_view(&source)),
		                      nsx_merge_string(m, nsx_str_c(text)), 0, 1 };
		rc = add_diag(m, d, true);
		if (!is_shown(m->shown, who, text))
			nsx_diag_add(m->shown, severity, who, 1, "%s", text);
	}
	nsx_buf_free(&source);
	free(who);
	return rc;
}

int
nsx_merge_diag_count(struct mg *m, enum nsx_severity severity, struct nsx_str about, int64_t count, const char *text)
{
	struct nsx_buf source = { 0 };
	char *who;
	int rc;

	if (count == 0)
		return NSX_OK;
	who = nsx_str_dup(about);
	nsx_buf_c(&source, about.len ? OURS ": " : OURS);
	nsx_buf_str(&source, about);
	if (!who || source.failed) {
		rc = nsx_err_nomem(m->err, NULL);
	} else {
		struct mg_diag d = { nsx_merge_string(m, nsx_str_c(nsx_severity_name(severity))),
		                     nsx_merge_string(m, nsx_buf_view(&source)),
		                     nsx_merge_string(m, nsx_str_c(text)), 0, count };
		rc = add_diag(m, d, false);
		nsx_diag_add(m->shown, severity, who, count, "%s", text);
	}
	nsx_buf_free(&source);
	free(who);
	return rc;
}

struct diag_text { struct nsx_str source, text, severity; const struct mg_diag *d; };

NSX_ORDER(by_text, struct diag_text, nsx_str_cmp(a->source, b->source), nsx_str_cmp(a->text, b->text),
          nsx_str_cmp(a->severity, b->severity))

int
nsx_merge_write_diags(struct mg *m)
{
	struct diag_text *order = malloc((m->diags.n + 1) * sizeof *order);
	int rc = order ? NSX_OK : nsx_err_nomem(m->err, NULL);
	union nsx_val v[NSX_MAX_COLS];

	for (size_t i = 0; i < m->diags.n && rc == NSX_OK; i++) {
		const struct mg_diag *d = &m->diags.p[i];
		order[i] = (struct diag_text){ nsx_merge_text(m, d->source), nsx_merge_text(m, d->text),
		                           nsx_merge_text(m, d->severity), d };
	}
	if (rc == NSX_OK)
		qsort(order, m->diags.n, sizeof *order, by_text);
	if (rc == NSX_OK && m->diags.n)
		rc = nsx_merge_declare(m, nsx_kind_builtin(NSX_DIAG));
	for (size_t i = 0; i < m->diags.n && rc == NSX_OK; i++) {
		struct nsx_rec rec = { m->kinds[NSX_DIAG], 0, v };
		nsx_set_s(&rec, NSX_DIAG_severity, order[i].severity);
		nsx_set_s(&rec, NSX_DIAG_source, order[i].source);
		nsx_set_s(&rec, NSX_DIAG_text, order[i].text);
		nsx_set_i(&rec, NSX_DIAG_count, order[i].d->count);
		nsx_merge_set_extras(m, &rec, order[i].d->extras);
		rc = nsx_write(m->out, &rec);
	}
	free(order);
	return rc;
}
