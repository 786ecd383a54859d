/* nvtx.c -- NVTX_EVENTS into ranges: read in parts, each with its own numbers for names, threads and domains; then
 * joined into one array by thread. */
#include <stdlib.h>

#include "base/par.h"
#include "base/sort.h"
#include "nsys/cpu/reading.h"
#include "nsys/load.h"

enum event_type {
	PUSHPOP = 59, STARTEND = 60, NVTXT_PUSHPOP = 70, NVTXT_STARTEND = 71,   /* ranges; NVTXT is imported text */
	MARK = 34, DOMAIN_CREATE = 75
};

/* In a part the top bits of a name say what its number refers to. */
enum { NAME_BITS = 30, NAME_TEXT = 0, NAME_ID = 1, NAME_BOTH = 2, NAME_MAX = (1 << NAME_BITS) - 1 };

struct both { uint32_t id, text; };
struct domain_row { int64_t domain, start; uint64_t pid; uint32_t name; };
/* Ranges of a part that lie in one thread. */
struct part_thread { uint64_t gtid; uint32_t n, thread; uint64_t next; };

struct nsx_nvtx_part {
	bool               named_only;  /* no ranges of the default domain are kept */
	struct nsx_pile    ranges;      /* struct nsx_range; parent is the track, name as above, end of unfinished ones
	                                 * open */
	struct nsx_texts  *texts;       /* the loader's */
	struct nsx_ids     ids;
	struct nsx_map     both_map;
	NSX_VEC(struct both) both;
	struct nsx_tracks  tracks;
	struct nsx_intern  domain_names;
	NSX_VEC(struct domain_row) domains;
	NSX_VEC(struct nsx_mark_row) marks;          /* only if the host's threads are read */
	NSX_VEC(struct nsx_gil_range) gil;
	int64_t            latest;      /* of all starts and ends */
	bool               any, any_end, out_of_memory;
	uint64_t           bad, backward, elsewhere, unfinished;

	struct nsx_loader *l;           /* for joining */
	NSX_VEC(struct part_thread) threads;
	uint32_t          *ids_at;
	uint32_t           first_text;  /* number of its first text code among all */
};

/* ---- reading */

static const struct nsx_db_col columns[] = {
	{ "eventType", false }, { "rowid", false }, { "start", false }, { "end", false }, { "globalTid", false },
	{ "domainId", true }, { "endGlobalTid", true }, { "textId", true }, { "text", false }
};
enum { EVENT_TYPE, ROWID, START, END, GLOBAL_TID, DOMAIN_ID, END_GLOBAL_TID, TEXT_ID, TEXT, NCOLUMNS };

static inline uint64_t
pid_bits(uint64_t gtid)
{
	return gtid & 0x0000FFFFFF000000ULL;
}

static int
domain_row(struct nsx_nvtx_part *p, const struct nsx_db_cell *v)
{
	struct nsx_str name = nsx_cell_text(&v[TEXT]);
	struct domain_row d;
	int64_t gtid;

	if (!nsx_cell_int(&v[START], &d.start) || !nsx_cell_int(&v[GLOBAL_TID], &gtid) || !nsx_cell_int(&v[DOMAIN_ID],
	    &d.domain)) {
		p->bad++;
		return NSX_OK;
	}
	if (!name.ptr)
		return NSX_OK;
	d.pid = pid_bits((uint64_t)gtid);
	d.name = nsx_intern(&p->domain_names, name);
	return d.name != NSX_NONE && nsx_vec_push(&p->domains, d) ? NSX_OK : NSX_ERR;
}

/* A mark may be a Python sample. */
static int
mark_row(struct nsx_nvtx_part *p, const struct nsx_db_cell *v)
{
	struct nsx_mark_row m;
	int64_t gtid;

	if (!p->l->cpu || !nsx_cell_int(&v[DOMAIN_ID], &m.domain) || !nsx_cell_int(&v[ROWID], &m.id) ||
	    !nsx_cell_int(&v[START], &m.start) || !nsx_cell_int(&v[GLOBAL_TID], &gtid))
		return NSX_OK;
	m.gtid = (uint64_t)gtid;
	return nsx_vec_push(&p->marks, m) ? NSX_OK : NSX_ERR;
}

/* Both a string id and a text: the text is used if the id is not found. */
static uint32_t
name_both(struct nsx_nvtx_part *p, uint32_t id, uint32_t text)
{
	uint32_t *at = nsx_map_at(&p->both_map, (struct nsx_key){ id, text });

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (p->both.n >= NAME_MAX || !nsx_vec_push(&p->both, ((struct both){ id, text })))
			return NSX_NONE;
		*at = (uint32_t)p->both.n - 1;
	}
	return *at | (uint32_t)NAME_BOTH << NAME_BITS;
}

/* Returns NSX_ERR when out of memory. */
static inline int
range_name(struct nsx_nvtx_part *p, const struct nsx_db_cell *v, bool has_id, int64_t text_id, uint32_t *name)
{
	struct nsx_str s = nsx_cell_text(&v[TEXT]);
	uint32_t id = NSX_NONE, text = NSX_NONE;

	*name = NSX_NONE;
	if (has_id && (id = nsx_ids_at(&p->ids, text_id)) > NAME_MAX)
		return NSX_ERR;
	if (s.ptr && (text = nsx_texts_add(p->texts, s)) > NAME_MAX)
		return NSX_ERR;
	if (has_id && s.ptr)
		return (*name = name_both(p, id, text)) == NSX_NONE ? NSX_ERR : NSX_OK;
	if (has_id)
		*name = id | (uint32_t)NAME_ID << NAME_BITS;
	else if (s.ptr)
		*name = text | (uint32_t)NAME_TEXT << NAME_BITS;
	return NSX_OK;
}

static int
read_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_nvtx_part *p = ctx;
	struct nsx_range r = { .gpu = NSX_NONE };
	int64_t type, gtid, domain = 0, end_gtid = 0, text_id = 0;
	bool has_end, has_domain, has_end_gtid, has_id;

	if (!nsx_cell_int(&v[EVENT_TYPE], &type)) {
		p->bad++;
		return NSX_OK;
	}
	if (type == DOMAIN_CREATE)
		return domain_row(p, v);
	if (type == MARK)
		return mark_row(p, v);
	if (type == PUSHPOP || type == NVTXT_PUSHPOP)
		r.flags = NSX_RANGE_PUSHPOP;
	else if (type != STARTEND && type != NVTXT_STARTEND)
		return NSX_OK;
	if (!nsx_cell_int(&v[ROWID], &r.id) || !nsx_cell_int(&v[START], &r.start) ||
	    !nsx_cell_int(&v[GLOBAL_TID], &gtid) || !nsx_cell_int_null(&v[END], &r.end, &has_end) ||
	    !nsx_cell_int_null(&v[DOMAIN_ID], &domain, &has_domain) ||
	    !nsx_cell_int_null(&v[END_GLOBAL_TID], &end_gtid, &has_end_gtid) ||
	    !nsx_cell_int_null(&v[TEXT_ID], &text_id, &has_id)) {
		p->bad++;
		return NSX_OK;
	}
	if (!p->any || r.start > p->latest)
		p->latest = r.start;
	p->any = true;
	if (has_end && r.end > p->latest)
		p->latest = r.end;
	p->any_end |= has_end;
	if (has_end_gtid && end_gtid != gtid) {
		p->elsewhere++;
		return NSX_OK;
	}
	if (has_end && r.end < r.start) {
		p->backward++;
		return NSX_OK;
	}
	if (!has_end) {
		r.flags |= NSX_RANGE_UNFINISHED;
		p->unfinished++;
	}
	if (!has_domain)
		domain = 0;
	if (!domain && p->named_only)
		return NSX_OK;
	if (range_name(p, v, has_id, text_id, &r.name) != NSX_OK)
		return NSX_ERR;
	r.parent = nsx_tracks_at(&p->tracks, (uint64_t)gtid, domain);
	struct nsx_range *out = r.parent == NSX_NONE ? NULL : nsx_pile_add(&p->ranges);
	if (!out)
		return NSX_ERR;
	p->tracks.list.p[r.parent].n++;
	*out = r;
	return NSX_OK;
}

int
nsx_nvtx_tasks(struct nsx_loader *l, nsx_tasks *tasks)
{
	int64_t lo, hi;
	int n;

	if (nsx_load_cut(l, "NVTX_EVENTS", &n, &lo, &hi) != NSX_OK)
		return NSX_ERR;
	if (!n)
		return NSX_OK;
	l->nvtx_parts = calloc((size_t)n, sizeof *l->nvtx_parts);
	l->texts = calloc((size_t)n, sizeof *l->texts);
	if (!l->nvtx_parts || !l->texts || !nsx_vec_room(tasks, (size_t)n))
		return nsx_load_nomem(l);
	l->nnvtx_parts = l->ntexts = n;
	for (int i = 0; i < n; i++) {
		struct nsx_nvtx_part *p = &l->nvtx_parts[i];
		struct nsx_task *task = &tasks->p[tasks->n++];

		*p = (struct nsx_nvtx_part){ .ranges = { .size = sizeof(struct nsx_range) }, .l = l,
		                             .texts = &l->texts[i].texts,
		                              .named_only = l->opts->domains != NULL };
		*task = (struct nsx_task){ .scan = { "NVTX_EVENTS", columns, NCOLUMNS, .ctx = p, .cells = read_row } };
		nsx_load_part(&task->scan, i, n, lo, hi);
	}
	return NSX_OK;
}

/* ---- domains and threads */

/* The create rows that count: the earliest of each (process, domain), of equal starts the lowest rowid. */
struct domains { struct nsx_map map; NSX_VEC(struct nsx_str) names; NSX_VEC(int64_t) starts; };

static bool
collect_domains(struct nsx_loader *l, struct domains *d)
{
	for (int i = 0; i < l->nnvtx_parts; i++) {
		const struct nsx_nvtx_part *p = &l->nvtx_parts[i];

		for (size_t k = 0; k < p->domains.n; k++) {
			const struct domain_row *row = &p->domains.p[k];
			struct nsx_str name = nsx_intern_str(&p->domain_names, row->name);

			if (l->cpu && nsx_str_eq(name, NSX_STR(NSX_PYTHON_DOMAIN)) &&
			    !nsx_cpu_python_domain(l->cpu, row->domain, row->pid))
				return false;
			uint32_t *at = nsx_map_at(&d->map, (struct nsx_key){ (uint64_t)row->domain, row->pid });

			if (!at)
				return false;
			if (*at == NSX_NONE) {
				if (!nsx_vec_push(&d->names, name) || !nsx_vec_push(&d->starts, row->start))
					return false;
				*at = (uint32_t)d->names.n - 1;
			} else if (row->start < d->starts.p[*at]) {
				d->starts.p[*at] = row->start;
				d->names.p[*at] = name;
			}
		}
	}
	return true;
}

static bool
is_among(struct nsx_str name, const char *const *list)
{
	while (*list && !nsx_str_eq(name, nsx_str_c(*list)))
		list++;
	return *list != NULL;
}

/* The name of a track's domain, and whether its ranges are kept. False when out of memory. */
static bool
resolve_domain(struct nsx_loader *l, const struct domains *d, struct nsx_track *tr, uint64_t *crowded)
{
	uint32_t at = nsx_map_get(&d->map, (struct nsx_key){ (uint64_t)tr->domain, pid_bits(tr->gtid) });

	if (at == NSX_NONE) {
		tr->flags = tr->domain ? NSX_RANGE_NO_DOMAIN : 0;
		return true;
	}
	/* What nsys writes about Python are no ranges of the program. */
	tr->gil = nsx_str_eq(d->names.p[at], NSX_STR(NSX_GIL_DOMAIN));
	if (tr->gil || nsx_str_eq(d->names.p[at], NSX_STR(NSX_PYTHON_DOMAIN))) {
		tr->drop = true;
		return true;
	}
	if (l->opts->domains && !is_among(d->names.p[at], l->opts->domains)) {
		tr->drop = true;
		return true;
	}
	uint32_t no = nsx_intern(&l->t->domains, d->names.p[at]);
	if (no == NSX_NONE)
		return false;
	if (no > UINT16_MAX) {
		tr->flags = NSX_RANGE_NO_DOMAIN;
		*crowded += tr->n;
	} else {
		tr->domain_no = (uint16_t)no;
	}
	return true;
}

/* The threads of a part's ranges that are kept, in order of first occurrence. */
static bool
part_threads(struct nsx_nvtx_part *p)
{
	struct nsx_map map = { 0 };
	bool good = true;

	for (size_t i = 0; good && i < p->tracks.list.n; i++) {
		struct nsx_track *tr = &p->tracks.list.p[i];
		if (tr->drop)
			continue;
		uint32_t *at = nsx_map_at(&map, (struct nsx_key){ tr->gtid, 0 });
		good = at != NULL;
		if (good && *at == NSX_NONE) {
			good = nsx_vec_push(&p->threads, ((struct part_thread){ .gtid = tr->gtid }));
			*at = (uint32_t)p->threads.n - 1;
		}
		if (good) {
			tr->thread = *at;
			p->threads.p[*at].n += tr->n;
		}
	}
	nsx_map_free(&map);
	return good;
}

NSX_ORDER(by_gtid, struct nsx_thread, NSX_CMP(a->gtid, b->gtid))

/* Fills l->t->threads, and computes the position in it of each part's ranges. */
static int
all_threads(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	NSX_VEC(struct nsx_thread) all = { 0 };
	struct nsx_map map = { 0 };
	uint64_t total = 0, *next = NULL;
	int rc = NSX_OK;

	for (int i = 0; rc == NSX_OK && i < l->nnvtx_parts; i++) {
		struct nsx_nvtx_part *p = &l->nvtx_parts[i];
		for (size_t k = 0; rc == NSX_OK && k < p->threads.n; k++) {
			uint64_t gtid = p->threads.p[k].gtid;
			uint32_t *at = nsx_map_at(&map, (struct nsx_key){ gtid, 0 });
			total += p->threads.p[k].n;
			if (!at || (*at == NSX_NONE && !nsx_vec_push(&all, ((struct nsx_thread){ .gtid = gtid }))))
				rc = nsx_load_nomem(l);
			else
				*at = 0;
		}
	}
	t->threads = all.p;
	t->nthreads = (uint32_t)all.n;
	/* Half of what the type can hold: indices may be doubled. */
	if (rc == NSX_OK && total > UINT32_MAX / 2)
		rc = nsx_err_set(l->err, "%s: NVTX_EVENTS: more than %u ranges", l->db.path, UINT32_MAX / 2);
	if (rc == NSX_OK && !(next = calloc(all.n + 1, sizeof *next)))
		rc = nsx_load_nomem(l);
	if (rc == NSX_OK && all.n) {
		qsort(all.p, all.n, sizeof *all.p, by_gtid);
		for (size_t i = 0; i < all.n; i++)
			*nsx_map_at(&map, (struct nsx_key){ all.p[i].gtid, 0 }) = (uint32_t)i;   /* all are present */
		for (int i = 0; i < l->nnvtx_parts; i++)
			for (size_t k = 0; k < l->nvtx_parts[i].threads.n; k++) {
				struct part_thread *pt = &l->nvtx_parts[i].threads.p[k];
				pt->thread = nsx_map_get(&map, (struct nsx_key){ pt->gtid, 0 });
				all.p[pt->thread].n += pt->n;
			}
		uint32_t first = 0;
		for (size_t i = 0; i < all.n; i++) {
			all.p[i].first = first;
			all.p[i].tid = (uint32_t)(all.p[i].gtid & 0xFFFFFF);
			next[i] = first;
			first += all.p[i].n;
		}
		for (int i = 0; i < l->nnvtx_parts; i++)
			for (size_t k = 0; k < l->nvtx_parts[i].threads.n; k++) {
				struct part_thread *pt = &l->nvtx_parts[i].threads.p[k];
				pt->next = next[pt->thread];
				next[pt->thread] += pt->n;
			}
	}
	t->nranges = (uint32_t)total;
	nsx_map_free(&map);
	free(next);
	return rc;
}

int
nsx_nvtx_threads(struct nsx_loader *l)
{
	struct domains d = { 0 };
	uint64_t bad = 0, backward = 0, elsewhere = 0, unfinished = 0, crowded = 0, nameless = 0;
	bool any_end = false, good = nsx_intern(&l->t->domains, nsx_str_c("")) == 0 && collect_domains(l, &d);

	for (int i = 0; i < l->nnvtx_parts && good && l->cpu; i++)
		for (size_t k = 0; k < l->nvtx_parts[i].marks.n && good; k++)
			good = nsx_vec_push(&l->cpu->rows, l->nvtx_parts[i].marks.p[k]);
	for (int i = 0; i < l->nnvtx_parts; i++) {
		const struct nsx_nvtx_part *p = &l->nvtx_parts[i];
		bad += p->bad;
		backward += p->backward;
		elsewhere += p->elsewhere;
		unfinished += p->unfinished;
		any_end |= p->any_end;
	}
	for (int i = 0; good && i < l->nnvtx_parts; i++) {
		struct nsx_nvtx_part *p = &l->nvtx_parts[i];
		for (size_t k = 0; good && k < p->tracks.list.n; k++) {
			struct nsx_track *tr = &p->tracks.list.p[k];
			good = resolve_domain(l, &d, tr, &crowded);
			nameless += tr->flags & NSX_RANGE_NO_DOMAIN ? tr->n : 0;
			tr->drop |= !any_end;   /* then no end is known that could be used */
		}
		good = good && part_threads(p);
	}
	nsx_map_free(&d.map);
	free(d.names.p);
	free(d.starts.p);
	if (!good)
		return nsx_load_nomem(l);
	nsx_load_diag(l, NSX_WARNING, bad,
	              "NVTX_EVENTS: rows ignored: a number is missing or not an integer");
	nsx_load_diag(l, NSX_WARNING, backward, "NVTX ranges ignored: they end before they start");
	nsx_load_diag(l, NSX_WARNING, elsewhere,
	              "NVTX ranges ignored: they end on another thread than they started on");
	if (any_end)
		nsx_load_diag(l, NSX_WARNING, unfinished,
		              "NVTX ranges without an end: the latest end of all ranges is used");
	else
		nsx_load_diag(l, NSX_WARNING, unfinished, "NVTX ranges ignored: no range of the export has an end");
	nsx_load_diag(l, NSX_WARNING, crowded, "NVTX ranges taken as without a domain: more than %d domains",
	              UINT16_MAX);
	nsx_load_diag(l, NSX_INFO, nameless - crowded, "NVTX ranges of domains whose names are not in the export");
	return all_threads(l);
}

/* ---- names, and the final order of ranges */

int
nsx_nvtx_ids(struct nsx_loader *l)
{
	uint64_t codes = 0;

	for (int i = 0; i < l->nnvtx_parts; i++) {
		struct nsx_nvtx_part *p = &l->nvtx_parts[i];

		p->first_text = (uint32_t)codes;
		l->texts[i].first = (uint32_t)codes;
		codes += p->texts->codes.len;
		if (codes > NSX_NAME_TEXT - 2)
			return nsx_err_set(l->err, "%s: NVTX_EVENTS: too many texts", l->db.path);
		p->ids_at = malloc((p->ids.list.n + 1) * sizeof *p->ids_at);
		if (!p->ids_at)
			return nsx_load_nomem(l);
		for (size_t k = 0; k < p->ids.list.n; k++)
			if ((p->ids_at[k] = nsx_ids_at(&l->ids, p->ids.list.p[k])) == NSX_NONE)
				return nsx_load_nomem(l);
	}
	return NSX_OK;
}

static uint32_t
joined_name(const struct nsx_nvtx_part *p, uint32_t name)
{
	uint32_t at = name & NAME_MAX;

	if (name == NSX_NONE)
		return NSX_NONE;
	switch (name >> NAME_BITS) {
	case NAME_TEXT:
		return NSX_NAME_TEXT | (p->first_text + at);
	case NAME_ID:
		return p->l->id_names[p->ids_at[at]];
	default:
		at = p->l->id_names[p->ids_at[p->both.p[at].id]];
		return at != NSX_NONE ? at : NSX_NAME_TEXT | (p->first_text + p->both.p[name & NAME_MAX].text);
	}
}

/* Keep a range of the GIL. False when out of memory. */
static bool
keep_gil(struct nsx_nvtx_part *p, const struct nsx_range *r, uint64_t gtid, int64_t latest)
{
	struct nsx_gil_range g = { r->start, r->flags & NSX_RANGE_UNFINISHED ? latest : r->end, gtid, false };
	struct nsx_str name = { NULL, 0 };
	struct nsx_buf text = { 0 };

	if (r->name != NSX_NONE && r->name >> NAME_BITS == NAME_TEXT) {
		nsx_texts_get(p->texts, r->name & NAME_MAX, &text);
		name = nsx_buf_view(&text);
	} else if (r->name != NSX_NONE) {
		uint32_t id = joined_name(p, r->name);

		name = id == NSX_NONE || id & NSX_NAME_TEXT ? name : nsx_intern_str(&p->l->t->names, id);
	}
	g.holds = nsx_str_starts(name, "Holding");
	bool good = !text.failed && (!(g.holds || nsx_str_starts(name, "Waiting")) || nsx_vec_push(&p->gil, g));

	nsx_buf_free(&text);
	return good;
}

struct joining { struct nsx_loader *l; int64_t latest; };

static void
join_part(void *ctx, int i)
{
	const struct joining *j = ctx;
	struct nsx_nvtx_part *p = &j->l->nvtx_parts[i];

	for (; p->ranges.first; nsx_pile_drop(&p->ranges)) {
		const struct nsx_range *r = (const void *)p->ranges.first->data, *end = r + p->ranges.first->n;
		for (; r < end; r++) {
			const struct nsx_track *tr = &p->tracks.list.p[r->parent];
			if (tr->gil && j->l->cpu && !p->out_of_memory)
				p->out_of_memory = !keep_gil(p, r, tr->gtid, j->latest);
			if (tr->drop)
				continue;
			struct nsx_range *out = &j->l->t->ranges[p->threads.p[tr->thread].next++];
			*out = *r;
			if (r->flags & NSX_RANGE_UNFINISHED)
				out->end = j->latest;
			out->name = joined_name(p, r->name);
			out->domain = tr->domain_no;
			out->flags = r->flags | tr->flags;
			out->parent = NSX_NONE;
		}
	}
}

int
nsx_nvtx_join(struct nsx_loader *l)
{
	struct joining j = { l, INT64_MIN };

	for (int i = 0; i < l->nnvtx_parts; i++)
		if (l->nvtx_parts[i].any && l->nvtx_parts[i].latest > j.latest)
			j.latest = l->nvtx_parts[i].latest;
	l->t->ranges = nsx_big_alloc(l->t->nranges, sizeof *l->t->ranges);
	if (!l->t->ranges)
		return nsx_load_nomem(l);
	nsx_par_run(l->nnvtx_parts, l->opts->jobs, join_part, &j);
	bool good = true;
	for (int i = 0; i < l->nnvtx_parts && l->cpu && good; i++) {
		const struct nsx_nvtx_part *p = &l->nvtx_parts[i];

		good = !p->out_of_memory;
		for (size_t k = 0; k < p->gil.n && good; k++) {
			nsx_cpu_thread_at(l->cpu, p->gil.p[k].gtid, &good);
			good = good && nsx_vec_push(&l->cpu->gil, p->gil.p[k]);
		}
	}
	nsx_nvtx_free(l);
	return good ? NSX_OK : nsx_load_nomem(l);
}

void
nsx_nvtx_free(struct nsx_loader *l)
{
	for (int i = 0; i < l->nnvtx_parts; i++) {
		struct nsx_nvtx_part *p = &l->nvtx_parts[i];
		nsx_pile_free(&p->ranges);
		nsx_ids_free(&p->ids);
		nsx_map_free(&p->both_map);
		free(p->both.p);
		nsx_tracks_free(&p->tracks);
		nsx_intern_free(&p->domain_names);
		free(p->domains.p);
		free(p->marks.p);
		free(p->gil.p);
		free(p->threads.p);
		free(p->ids_at);
	}
	free(l->nvtx_parts);
	l->nvtx_parts = NULL;
	l->nnvtx_parts = 0;
}
