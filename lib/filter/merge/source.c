/* source.c -- one input stream of the merge: its head, the records read ahead, its position in the order. Reading ahead
 * holds at most a fixed number of records in memory; the rest goes to a spool. */
#include "filter/merge/merging.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
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
	/* Only for a record that came directly from the reader can the reader give its position. */
	return nsx_err_set(m->err, "%s: %s", s->live && !s->rest ? nsx_reader_where(s->in) : s->name, text);
}

int
nsx_merge_no_record(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, int slot)
{
	return nsx_merge_fail(m, s, "%s of %s %" PRId64 ", which has no record", rec->kind->name,
	                      rec->kind->cols[slot].name, rec->v[slot].i);
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

/* From the stream or spool, not the queue. */
static int
read_on(struct mg_source *s, struct nsx_rec *rec)
{
	if (!s->rest)
		return s->dry ? NSX_EOF : read_in(s, rec);
	int rc = s->rest_dry ? NSX_EOF : nsx_read(s->rest, rec);
	/* It stays open: records of the queue have its kinds. */
	s->rest_dry = rc == NSX_EOF;
	return rc;
}

/* Take the head from the queue. */
static void
take(struct mg_source *s)
{
	const struct mg_held *h = &s->queue.p[s->taken++];

	s->rec = (struct nsx_rec){ h->kind, h->has, h->v };
	s->live = false;
}

int
nsx_merge_source_next(struct mg *m, struct mg_source *s)
{
	(void)m;
	s->in_order -= s->in_order != 0;
	if (s->taken < s->queue.n) {
		take(s);
		return NSX_OK;
	}
	s->taken = s->queue.n = 0;
	if (s->arena.total)
		nsx_arena_reset(&s->arena);
	s->live = true;
	int rc = read_on(s, &s->rec);
	if (rc == NSX_EOF)
		s->ended = true;
	return rc;
}

static bool
push(struct mg_source *s, const struct nsx_rec *rec)
{
	struct mg_held h;

	return nsx_merge_hold(&s->arena, rec, &h) && nsx_vec_push(&s->queue, h);
}

/* Reading ahead overwrites the reader's values: the head gets a copy. If the head is the reader's, the queue is empty;
 * otherwise the head is the one taken from it last. */
static bool
hold_head(struct mg_source *s)
{
	if (!s->live || s->ended || !s->rec.kind)
		return true;
	if (!push(s, &s->rec))
		return false;
	take(s);
	return true;
}

/* The rest of the stream goes to a spool. */
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
	nsx_merge_remap_free(&s->stack_of);
	free(s->stacks.p);
	*s = (struct mg_source){ 0 };
}

/* ---- order */

int
nsx_merge_key_of(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, struct nsx_order_key *key)
{
	nsx_order_key(rec, key);
	if (key->section == NSX_SECTION_COMPILE && nsx_has(rec, NSX_COMPILE_profile)) {
		uint32_t p = nsx_merge_remap_get(&s->profile_of, rec->v[NSX_COMPILE_profile].i);
		if (p == NSX_NONE)
			return nsx_merge_no_record(m, s, rec, NSX_COMPILE_profile);
		key->first = m->profiles.p[p].number;
	}
	if (key->section == NSX_SECTION_SKEW && nsx_has(rec, NSX_SKEW_device)) {
		uint32_t d = nsx_merge_remap_get(&s->device_of, rec->v[NSX_SKEW_device].i);
		if (d == NSX_NONE)
			return nsx_merge_no_record(m, s, rec, NSX_SKEW_device);
		key->first = m->devices.p[d].number;
	}
	return NSX_OK;
}

/* A reference to a missing record is reported when the record is written. */
static int64_t
number_of(const void *of, enum nsx_role role)
{
	const struct mg_record *x = of;
	int64_t v = nsx_field_int(&x->rec, role, INT64_MIN);
	uint32_t to;

	if (v == INT64_MIN)
		return v;
	if (role == NSX_ROLE_PROFILE && (to = nsx_merge_remap_get(&x->s->profile_of, v)) != NSX_NONE)
		return x->m->profiles.p[to].number;
	if (role == NSX_ROLE_DEVICE && (to = nsx_merge_remap_get(&x->s->device_of, v)) != NSX_NONE)
		return x->m->devices.p[to].number;
	return v;
}

static struct nsx_str
name_of(const void *of)
{
	const struct mg_record *x = of;

	return nsx_field_str(&x->rec, NSX_ROLE_NAME);
}

int
nsx_merge_tie_cmp(const struct mg_record *x, const struct mg_record *y)
{
	if (nsx_rec_section(&x->rec) != NSX_SECTION_WORK)
		return 0;
	return nsx_order_tie_cmp(&(struct nsx_order_view){ x->rec.kind->id, x, number_of, name_of },
	                         &(struct nsx_order_view){ y->rec.kind->id, y, number_of, name_of });
}

/* A record of a run; leads: the last one up to it that has a position in the order. */
struct sorted { struct nsx_order_key key; size_t at; struct mg_record leads; struct mg_held rec; };

NSX_ORDER(in_merged_order, struct sorted, nsx_order_key_cmp(&a->key, &b->key),
          nsx_merge_tie_cmp(&a->leads, &b->leads), NSX_CMP(a->at, b->at))

/* The head goes back into the queue, and used memory of the queue is freed occasionally: if every run is read to one
 * record after its end, the queue is never empty. */
static bool
put_back(struct mg_source *s)
{
	struct nsx_arena arena = { 0 };

	if (!hold_head(s))
		return false;
	size_t left = s->queue.n - --s->taken;
	if (s->taken < AHEAD || s->taken < left)
		return true;
	for (size_t i = 0; i < left; i++) {
		const struct mg_held *h = &s->queue.p[s->taken + i];
		if (!nsx_merge_hold(&arena, &(struct nsx_rec){ h->kind, h->has, h->v }, &s->queue.p[i])) {
			nsx_arena_free(&arena);
			return false;
		}
	}
	nsx_arena_free(&s->arena);
	s->arena = arena;
	s->queue.n = left;
	s->taken = 0;
	return true;
}

int
nsx_merge_source_sort_run(struct mg *m, struct mg_source *s)
{
	NSX_VEC(struct sorted) run = { 0 };
	struct nsx_order_key first = s->key, key = first;
	struct mg_record leads = { m, s, s->rec };
	int rc = put_back(s) ? NSX_OK : NSX_ERR;

	for (size_t i = s->taken; rc == NSX_OK; i++) {
		struct nsx_rec rec;
		if (i == s->queue.n) {
			rc = read_on(s, &rec);
			if (rc == NSX_OK && !push(s, &rec))
				rc = NSX_ERR;
		}
		if (rc != NSX_OK)
			break;
		const struct mg_held *h = &s->queue.p[i];
		rec = (struct nsx_rec){ h->kind, h->has, h->v };
		if (nsx_rec_section(&rec) != NSX_SECTION_ANY) {
			rc = nsx_merge_key_of(m, s, &rec, &key);
			leads.rec = rec;
		}
		if (rc != NSX_OK || key.section != first.section
		    || (key.section != NSX_SECTION_COMPILE && nsx_order_key_cmp(&key, &first) != 0))
			break;
		struct sorted next = { key, run.n, leads, *h };
		if (!nsx_vec_push(&run, next))
			rc = NSX_ERR;
	}
	if (rc != NSX_ERR) {
		qsort(run.p, run.n, sizeof *run.p, in_merged_order);
		for (size_t i = 0; i < run.n; i++)
			s->queue.p[s->taken + i] = run.p[i].rec;
		take(s);
		s->in_order = run.n - 1;
	} else if (!m->err->msg[0]) {
		nsx_err_nomem(m->err, s->name);
	}
	free(run.p);
	return rc == NSX_ERR ? rc : NSX_OK;
}
