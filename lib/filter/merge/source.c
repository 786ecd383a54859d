/* source.c -- a stream on its way through the merge: its head, what was read ahead of it, its place in the order.
 * Reading ahead never holds more than a fixed number of records in memory; what is beyond goes to a spool. */
#include "filter/merge/merging.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/spool.h"

/* Records read ahead in memory: streams made alike show all their kinds well before that. */
enum { AHEAD = 2000, DENSE = 1 << 20 };

/* ---- numbers */

bool
nsx_merge_remap_put(struct mg_remap *r, int64_t number, uint32_t to)
{
	if (number >= 0 && number < DENSE) {
		if ((size_t)number >= r->n) {
			size_t n = ((size_t)number + 1) * 2;
			uint32_t *p = realloc(r->dense, n * sizeof *p);
			if (!p)
				return false;
			memset(p + r->n, 0xff, (n - r->n) * sizeof *p);
			r->dense = p;
			r->n = n;
		}
		r->dense[number] = to;
		return true;
	}
	uint32_t *at = nsx_map_at(&r->sparse, (struct nsx_key){ (uint64_t)number, 0 });
	if (at)
		*at = to;
	return at != NULL;
}

uint32_t
nsx_merge_remap_get(const struct mg_remap *r, int64_t number)
{
	if (number >= 0 && number < DENSE)
		return (size_t)number < r->n ? r->dense[number] : NSX_NONE;
	return nsx_map_get(&r->sparse, (struct nsx_key){ (uint64_t)number, 0 });
}

void
nsx_merge_remap_free(struct mg_remap *r)
{
	free(r->dense);
	nsx_map_free(&r->sparse);
	*r = (struct mg_remap){ 0 };
}

/* ---- records */

int
nsx_merge_fail(struct mg *m, struct mg_source *s, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	/* Only what came straight from the reader has a place that the reader can tell. */
	return nsx_err_set(m->err, "%s: %s", s->live && !s->rest ? nsx_reader_where(s->in) : s->name, text);
}

bool
nsx_merge_hold(struct nsx_arena *a, const struct nsx_rec *rec, struct mg_held *h)
{
	*h = (struct mg_held){ rec->kind, rec->has, nsx_arena_alloc(a, (size_t)(rec->kind->nslots + 1) *
		sizeof *h->v) };
	if (!h->v)
		return false;
	for (int i = 0; i < rec->kind->nslots; i++) {
		if (!nsx_has(rec, i))
			continue;
		h->v[i] = rec->v[i];
		if (rec->kind->cols[i].type == 's' && !(h->v[i].s = nsx_arena_str(a, rec->v[i].s)).ptr)
			return false;
	}
	return true;
}

/* From the stream itself. */
static int
read_in(struct mg_source *s, struct nsx_rec *rec)
{
	int rc = nsx_read(s->in, rec);

	if (rc == NSX_EOF)
		s->dry = true;
	if (rc == NSX_OK) {
		enum nsx_section section = nsx_rec_section(rec);
		if (section != NSX_SECTION_ANY && section > s->section)
			s->section = section;
	}
	return rc;
}

int
nsx_merge_source_next(struct mg *m, struct mg_source *s)
{
	int rc = NSX_EOF;

	(void)m;
	if (s->taken < s->queue.n) {
		const struct mg_held *h = &s->queue.p[s->taken++];
		s->rec = (struct nsx_rec){ h->kind, h->has, h->v };
		s->live = false;
		return NSX_OK;
	}
	s->taken = s->queue.n = 0;
	if (s->arena.total)
		nsx_arena_reset(&s->arena);
	s->live = true;
	if (s->rest) {
		rc = nsx_read(s->rest, &s->rec);
		if (rc == NSX_EOF) {
			nsx_reader_close(s->rest);
			s->rest = NULL;
		}
	} else if (!s->dry) {
		rc = read_in(s, &s->rec);
	}
	if (rc == NSX_EOF)
		s->ended = true;
	return rc;
}

/* Reading ahead reuses the reader's values: the head gets its own. */
static bool
hold_head(struct mg_source *s)
{
	struct mg_held h;

	if (!s->live || s->ended || !s->rec.kind)
		return true;
	if (!nsx_merge_hold(&s->arena, &s->rec, &h))
		return false;
	s->rec = (struct nsx_rec){ h.kind, h.has, h.v };
	s->live = false;
	return true;
}

static bool
push(struct mg_source *s, const struct nsx_rec *rec)
{
	struct mg_held h;

	return nsx_merge_hold(&s->arena, rec, &h) && nsx_vec_push(&s->queue, h);
}

/* All that is left in the stream goes to a spool. */
static int
spool_rest(struct mg *m, struct mg_source *s)
{
	struct nsx_spool *spool = nsx_spool_open(m->err);
	struct nsx_rec rec;
	int rc = spool ? NSX_OK : NSX_ERR;

	while (rc == NSX_OK && (rc = read_in(s, &rec)) == NSX_OK)
		rc = nsx_spool_write(spool, &rec);
	if (rc == NSX_EOF) {
		s->rest = nsx_spool_reader(spool);
		rc = s->rest ? NSX_OK : NSX_ERR;
	}
	nsx_spool_free(spool);
	return rc;
}

int
nsx_merge_source_scan(struct mg *m, struct mg_source *s, int (*see)(struct mg *m, struct mg_source *s,
	const struct nsx_rec *rec))
{
	struct nsx_reader *from = s->rest;
	struct nsx_spool *spool = s->ended ? NULL : nsx_spool_open(m->err);
	struct nsx_rec rec;
	int rc;

	if (!spool)
		return s->ended ? NSX_OK : NSX_ERR;
	rc = see(m, s, &s->rec);
	if (rc == NSX_OK && !hold_head(s))
		rc = nsx_err_nomem(m->err, s->name);
	for (size_t i = s->taken; i < s->queue.n && rc == NSX_OK; i++) {
		rec = (struct nsx_rec){ s->queue.p[i].kind, s->queue.p[i].has, s->queue.p[i].v };
		rc = see(m, s, &rec);
	}
	while (rc == NSX_OK && (rc = from ? nsx_read(from, &rec) : s->dry ? NSX_EOF : read_in(s, &rec)) == NSX_OK)
		if ((rc = see(m, s, &rec)) == NSX_OK)
			rc = nsx_spool_write(spool, &rec);
	if (rc == NSX_EOF) {
		nsx_reader_close(from);
		s->rest = nsx_spool_reader(spool);
		rc = s->rest ? NSX_OK : NSX_ERR;
	}
	nsx_spool_free(spool);
	return rc;
}

static bool
met(const struct mg_source *s, const struct nsx_kind *k)
{
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(s->in, &n);

	for (int i = 0; i < n; i++)
		if (kinds[i]->id == k->id && strcmp(kinds[i]->name, k->name) == 0)
			return true;
	return false;
}

int
nsx_merge_source_meet(struct mg *m, struct mg_source *s, const struct nsx_kind *k)
{
	while (!s->dry && s->section <= nsx_section_of(k->id) && !met(s, k)) {
		struct nsx_rec rec;
		int rc;

		if (!hold_head(s))
			return nsx_err_nomem(m->err, s->name);
		if (s->queue.n - s->taken >= AHEAD)
			return spool_rest(m, s);
		rc = read_in(s, &rec);
		if (rc == NSX_EOF)
			return NSX_OK;
		if (rc != NSX_OK)
			return rc;
		if (!push(s, &rec))
			return nsx_err_nomem(m->err, s->name);
	}
	return NSX_OK;
}

void
nsx_merge_source_free(struct mg_source *s)
{
	nsx_reader_close(s->in);
	nsx_reader_close(s->rest);
	free(s->queue.p);
	nsx_arena_free(&s->arena);
	nsx_merge_remap_free(&s->profile_of);
	nsx_merge_remap_free(&s->device_of);
	nsx_merge_remap_free(&s->program_of);
	*s = (struct mg_source){ 0 };
}

/* ---- order */

int
nsx_merge_key_cmp(const struct mg_key *x, const struct mg_key *y)
{
	int c = nsx_order_key_cmp(&x->order, &y->order);

	return c ? c : (x->number > y->number) - (x->number < y->number);
}

static int
profile_number(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, int slot, int64_t *number)
{
	uint32_t p;

	*number = -1;
	if (!nsx_has(rec, slot))
		return NSX_OK;
	p = nsx_merge_remap_get(&s->profile_of, rec->v[slot].i);
	if (p == NSX_NONE)
		return nsx_merge_fail(m, s, "%s of profile %lld, which has no record", rec->kind->name,
		                      (long long)rec->v[slot].i);
	*number = m->profiles.p[p].number;
	return NSX_OK;
}

int
nsx_merge_key_of(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, struct mg_key *key)
{
	uint32_t d;

	nsx_order_key(rec, &key->order);
	key->number = -1;
	if (key->order.section == NSX_SECTION_COMPILE || key->order.section == NSX_SECTION_WORK) {
		if (profile_number(m, s, rec, nsx_field(rec->kind->id, NSX_ROLE_PROFILE), &key->number) != NSX_OK)
			return NSX_ERR;
		/* By the number that it will have. */
		if (key->order.section == NSX_SECTION_COMPILE)
			key->order.first = key->number;
		return NSX_OK;
	}
	if (key->order.section == NSX_SECTION_SKEW && nsx_has(rec, NSX_SKEW_device)) {
		d = nsx_merge_remap_get(&s->device_of, rec->v[NSX_SKEW_device].i);
		if (d == NSX_NONE)
			return nsx_merge_fail(m, s, "skew of device %lld, which has no record",
			                      (long long)rec->v[NSX_SKEW_device].i);
		key->number = m->devices.p[d].number;
	}
	return NSX_OK;
}

struct sorted { struct mg_key key; size_t at; struct mg_held rec; };

static int
by_key(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int c = nsx_merge_key_cmp(&x->key, &y->key);

	return c ? c : (x->at > y->at) - (x->at < y->at);
}

/* Whether the records of a run belong together: what has no place in the order stays behind what it followed. */
static bool
goes_on(const struct nsx_rec *rec, const struct mg_key *first, struct mg_key *key)
{
	return nsx_rec_section(rec) == NSX_SECTION_ANY || key->order.section == first->order.section;
}

int
nsx_merge_source_sort_run(struct mg *m, struct mg_source *s)
{
	NSX_VEC(struct sorted) run = { 0 };
	NSX_VEC(struct mg_held) left = { 0 };
	struct nsx_arena arena = { 0 };
	struct mg_key first = s->key, key = first;
	size_t n = 0;
	int rc = NSX_OK;

	while (rc == NSX_OK) {
		struct sorted x = { .key = key, .at = run.n };
		bool on = goes_on(&s->rec, &first, &key);
		if (!nsx_merge_hold(&arena, &s->rec, &x.rec) || !nsx_vec_push(&run, x))
			rc = nsx_err_nomem(m->err, s->name);
		n += on;
		if (rc != NSX_OK || !on)
			break;
		rc = nsx_merge_source_next(m, s);
		if (rc == NSX_OK && nsx_rec_section(&s->rec) != NSX_SECTION_ANY)
			rc = nsx_merge_key_of(m, s, &s->rec, &key);
	}
	if (rc != NSX_ERR) {
		qsort(run.p, n, sizeof *run.p, by_key);
		for (; rc != NSX_ERR && s->taken < s->queue.n; s->taken++) {
			struct nsx_rec rec = { s->queue.p[s->taken].kind, s->queue.p[s->taken].has,
			                       s->queue.p[s->taken].v };
			struct mg_held h;
			if (!nsx_merge_hold(&arena, &rec, &h) || !nsx_vec_push(&left, h))
				rc = nsx_err_nomem(m->err, s->name);
		}
	}
	s->queue.n = s->taken = 0;
	nsx_arena_free(&s->arena);
	s->arena = arena;
	for (size_t i = 0; i < run.n && rc != NSX_ERR; i++)
		if (!nsx_vec_push(&s->queue, run.p[i].rec))
			rc = nsx_err_nomem(m->err, s->name);
	for (size_t i = 0; i < left.n && rc != NSX_ERR; i++)
		if (!nsx_vec_push(&s->queue, left.p[i]))
			rc = nsx_err_nomem(m->err, s->name);
	free(run.p);
	free(left.p);
	if (rc == NSX_ERR)
		return rc;
	s->ended = false;
	return nsx_merge_source_next(m, s);
}
