/* heap.c -- the heap memory of programs as counters: for each trace of a program's dump and each GPU what is in use, which changes where a
 * thunk starts whose instruction allocates, and is 0 between executions. */
#include "xla/heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "draw/perfetto/trace.h"

struct value { int64_t at, after; bool known; };

/* What the stream says of a program, and, once a thunk of it has come, its dump. */
struct nsx_heap_program {
	int64_t           number;
	struct nsx_str    name;
	NSX_VEC(int64_t)  ids;        /* the stream's first, then those of its profiles */
	NSX_VEC(uint32_t) digests;    /* in strings; of dumps alone */
	struct nsx_intern insts;      /* names that are executed */
	bool              looked;
	size_t            ntraces;    /* 0: nothing to count */
	struct value     *values;     /* of (instruction, trace): the latter runs fastest */
};

static int
nomem(const struct nsx_heaps *h)
{
	return nsx_err_nomem(h->trace->err, NULL);
}

int
nsx_heaps_open(struct nsx_heaps *h, const char *const *dirs, int n)
{
	for (int i = 0; i < n; i++) {
		struct nsx_dump_dir *d = nsx_dump_dir_open(dirs[i], h->trace->err);

		if (!d)
			return NSX_ERR;
		if (!nsx_vec_push(&h->dirs, d)) {
			nsx_dump_dir_free(d);
			return nomem(h);
		}
	}
	return NSX_OK;
}

/* ---- metadata ---- */

/* Where the program of that number is in programs, made if it is new; NSX_NONE with err filled on failure. */
static uint32_t
program_at(struct nsx_heaps *h, int64_t number)
{
	uint32_t *at = nsx_map_at(&h->program_of, (struct nsx_key){ (uint64_t)number, 0 });
	struct nsx_heap_program *p;

	if (at && *at != NSX_NONE)
		return *at;
	p = at ? calloc(1, sizeof *p) : NULL;
	if (!p || !nsx_vec_push(&h->programs, p)) {
		free(p);
		nomem(h);
		return NSX_NONE;
	}
	p->number = number;
	*at = (uint32_t)h->programs.n - 1;
	return *at;
}

/* The bytes of s for as long as h lives; false when out of memory. */
static bool
keep(struct nsx_heaps *h, struct nsx_str s, uint32_t *id)
{
	*id = nsx_intern(&h->strings, s);
	return *id != NSX_NONE;
}

static bool
add_id(struct nsx_heap_program *p, int64_t id)
{
	for (size_t i = 0; i < p->ids.n; i++)
		if (p->ids.p[i] == id)
			return true;
	return nsx_vec_push(&p->ids, id);
}

static bool
take_program(struct nsx_heaps *h, struct nsx_heap_program *p, const struct nsx_rec *rec)
{
	uint32_t name;

	if (!keep(h, nsx_string(rec, NSX_PROGRAM_name), &name))
		return false;
	p->name = nsx_intern_str(&h->strings, name);
	return !nsx_has(rec, NSX_PROGRAM_id) || add_id(p, rec->v[NSX_PROGRAM_id].i);
}

static bool
take_alias(struct nsx_heaps *h, struct nsx_heap_program *p, const struct nsx_rec *rec)
{
	struct nsx_str digest = nsx_string(rec, NSX_ALIAS_digest);
	uint32_t id;

	if (nsx_has(rec, NSX_ALIAS_id) && !add_id(p, rec->v[NSX_ALIAS_id].i))
		return false;
	return !nsx_str_starts(digest, "d:") || (keep(h, digest, &id) && nsx_vec_push(&p->digests, id));
}

int
nsx_heaps_take(struct nsx_heaps *h, const struct nsx_rec *rec)
{
	static const struct { enum nsx_kind_id kind; int program; } kinds[] = {
		{ NSX_PROGRAM, NSX_PROGRAM_program }, { NSX_ALIAS, NSX_ALIAS_program }, { NSX_INST, NSX_INST_program }
	};
	struct nsx_heap_program *p = NULL;
	bool good;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && h->dirs.n; i++)
		if (rec->kind->id == kinds[i].kind && nsx_has(rec, kinds[i].program)) {
			uint32_t at = program_at(h, rec->v[kinds[i].program].i);
			if (at == NSX_NONE)
				return NSX_ERR;
			p = h->programs.p[at];
		}
	if (!p)
		return NSX_OK;
	if (rec->kind->id == NSX_INST)
		good = nsx_intern(&p->insts, nsx_string(rec, NSX_INST_name)) != NSX_NONE;
	else
		good = rec->kind->id == NSX_PROGRAM ? take_program(h, p, rec) : take_alias(h, p, rec);
	return good ? NSX_OK : nomem(h);
}

/* ---- dumps ---- */

/* Whether the dump is of this program: of the same instructions, where the stream was made with a dump, else of most names that were
 * executed. Any other run may have the same id and name. */
static bool
is_of(const struct nsx_heaps *h, const struct nsx_heap_program *p, const struct nsx_hlo *hlo)
{
	size_t found = 0, judged = 0;

	for (size_t i = 0; i < p->digests.n; i++)
		if (nsx_str_eq(nsx_intern_str(&h->strings, p->digests.p[i]), hlo->digest))
			return true;
	for (uint32_t i = 0; i < p->insts.n; i++) {
		struct nsx_str name = nsx_intern_str(&p->insts, i);
		bool there = nsx_hlo_find(hlo, name) != NULL;

		/* Names that XLA makes up say nothing if they are not there. */
		judged += there || !(nsx_str_starts(name, "command_buffer") || nsx_str_starts(name, "wrapped_"));
		found += there;
	}
	return !p->digests.n && found * 2 >= judged;
}

/* Keep what the steps of a trace say by instruction. One that allocates in several places counts with the most. What is left behind
 * by one that is never executed itself, such as all-gather-done, is so by the one before. */
static void
keep_steps(struct nsx_heap_program *p, const struct nsx_heap_trace *t, size_t trace)
{
	struct value *last = NULL;

	for (size_t i = 0; i < t->nsteps; i++) {
		uint32_t inst = nsx_intern_find(&p->insts, t->steps[i].instruction);

		if (inst != NSX_NONE) {
			last = &p->values[inst * p->ntraces + trace];
			last->at = t->steps[i].at > last->at ? t->steps[i].at : last->at;
			last->known = true;
		}
		if (last)
			last->after = t->steps[i].after;
	}
}

static bool
keep_traces(struct nsx_heap_program *p, const struct nsx_heap *heap)
{
	p->values = calloc(p->insts.n * heap->ntraces + 1, sizeof *p->values);
	if (!p->values)
		return false;
	p->ntraces = heap->ntraces;
	for (size_t t = 0; t < heap->ntraces; t++)
		keep_steps(p, &heap->traces[t], t);
	return true;
}

/* Use the dump at path if it is of the program; *used says so. */
static int
try_dump(struct nsx_heaps *h, struct nsx_heap_program *p, int64_t id, const char *path, bool *used)
{
	struct nsx_heap heap;
	int rc = NSX_OK;

	if (nsx_heap_read(path, NSX_HEAP_STEPS, &heap, h->diags, h->trace->err) != NSX_OK)
		return NSX_ERR;
	*used = heap.id == id && nsx_str_eq(heap.name, p->name) && (!heap.ntraces || is_of(h, p, &heap.hlo));
	h->other += !*used;
	h->silent += *used && !heap.ntraces;
	if (*used && heap.ntraces && !keep_traces(p, &heap))
		rc = nomem(h);
	nsx_heap_free(&heap);
	return rc;
}

/* Look for the program's dump in every folder, by every id that it has. */
static int
look(struct nsx_heaps *h, struct nsx_heap_program *p)
{
	bool used = false, met = false;
	const char *path;

	p->looked = true;
	for (size_t i = 0; i < p->ids.n && !used; i++)
		for (size_t d = 0; d < h->dirs.n && !used; d++) {
			enum nsx_dump_found found = nsx_dump_dir_find(h->dirs.p[d], p->ids.p[i], p->name, &path);

			met |= found != NSX_DUMP_NONE;
			h->ambiguous += found == NSX_DUMP_AMBIGUOUS;
			if (found == NSX_DUMP_ONE && try_dump(h, p, p->ids.p[i], path, &used) != NSX_OK)
				return NSX_ERR;
		}
	h->missing += !met;
	return NSX_OK;
}

/* ---- counters ---- */

static int
put(struct nsx_heaps *h, struct nsx_heap_counter *c, int64_t time, int64_t value)
{
	if (c->value == value)
		return NSX_OK;
	c->value = value;
	return h->trace->form->counter(h->trace, &c->track, time, value);
}

/* A counter for that trace of the program, which is called by its key. */
static int
add_counter(struct nsx_heaps *h, uint32_t process, const struct nsx_heap_program *p, size_t trace)
{
	struct nsx_heap_counter c = { .value = -1 };
	struct nsx_str key = nsx_info_str(h->info, nsx_map_get(&h->info->key_of, (struct nsx_key){ (uint64_t)p->number, 0 }));
	struct nsx_buf name = { 0 };
	uint32_t id;

	nsx_buf_c(&name, "heap ");
	nsx_buf_str(&name, key.len ? key : p->name);
	if (p->ntraces > 1)
		nsx_buf_fmt(&name, " trace %zu", trace);
	bool good = !name.failed && keep(h, nsx_buf_view(&name), &id);
	nsx_buf_free(&name);
	if (!good || h->counters.n >= NSX_NONE)
		return nomem(h);
	c.track.name = nsx_intern_str(&h->strings, id);
	if (nsx_tracks_counter(h->tracks, process, (uint32_t)h->counters.n, &c.track) != NSX_OK)
		return NSX_ERR;
	return nsx_vec_push(&h->counters, c) ? NSX_OK : nomem(h);
}

/* The line of a program on a process, made if it is new; NULL with err filled on failure. */
static struct nsx_heap_line *
line_at(struct nsx_heaps *h, uint32_t process, uint32_t program)
{
	uint32_t *at = nsx_map_at(&h->line_of, (struct nsx_key){ process, program });
	struct nsx_heap_line l = { .program = program, .counter = (uint32_t)h->counters.n, .execution = INT64_MIN };

	if (at && *at != NSX_NONE)
		return &h->lines.p[*at];
	if (!at || !nsx_vec_push(&h->lines, l)) {
		nomem(h);
		return NULL;
	}
	*at = (uint32_t)h->lines.n - 1;
	for (size_t t = 0; t < h->programs.p[program]->ntraces; t++)
		if (add_counter(h, process, h->programs.p[program], t) != NSX_OK)
			return NULL;
	return &h->lines.p[h->lines.n - 1];
}

/* The execution under way ends, before `now`: nothing is in use then. */
static int
end_execution(struct nsx_heaps *h, struct nsx_heap_line *l, int64_t now)
{
	for (size_t t = 0; t < h->programs.p[l->program]->ntraces; t++) {
		struct nsx_heap_counter *c = &h->counters.p[l->counter + t];

		c->after = 0;
		if (l->execution != INT64_MIN && put(h, c, l->end < now ? l->end : now, 0) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

int
nsx_heaps_thunk(struct nsx_heaps *h, uint32_t process, const struct nsx_rec *rec, int64_t start, int64_t end)
{
	int64_t execution = nsx_int(rec, NSX_THUNK_execution, -1);
	uint32_t at = h->dirs.n ? program_at(h, nsx_int(rec, NSX_THUNK_program, -1)) : (uint32_t)NSX_NONE, inst;
	struct nsx_heap_program *p;
	struct nsx_heap_line *l;

	if (at == NSX_NONE)
		return h->dirs.n ? NSX_ERR : NSX_OK;
	p = h->programs.p[at];
	if (!p->looked && look(h, p) != NSX_OK)
		return NSX_ERR;
	if (!p->ntraces)
		return NSX_OK;
	l = line_at(h, process, at);
	if (!l)
		return NSX_ERR;
	if (execution < l->execution) {
		h->late++;
		return NSX_OK;
	}
	if (execution > l->execution) {
		if (end_execution(h, l, start) != NSX_OK)
			return NSX_ERR;
		l->execution = execution;
		l->end = end;
	}
	l->end = end > l->end ? end : l->end;
	inst = nsx_intern_find(&p->insts, nsx_string(rec, NSX_THUNK_name));
	for (size_t t = 0; t < p->ntraces; t++) {
		struct nsx_heap_counter *c = &h->counters.p[l->counter + t];
		const struct value *v = inst == NSX_NONE ? NULL : &p->values[inst * p->ntraces + t];
		bool known = v && v->known;

		if (put(h, c, start, known ? v->at : c->after) != NSX_OK)
			return NSX_ERR;
		if (known)
			c->after = v->after;
	}
	return NSX_OK;
}

int
nsx_heaps_finish(struct nsx_heaps *h)
{
	for (size_t i = 0; i < h->lines.n; i++)
		if (end_execution(h, &h->lines.p[i], INT64_MAX) != NSX_OK)
			return NSX_ERR;
	nsx_diag_add(h->diags, NSX_WARNING, "", h->missing, "executed programs without a dump: no counter of heap memory");
	nsx_diag_add(h->diags, NSX_WARNING, "", h->other, "dumps are of another run of a program: not used");
	nsx_diag_add(h->diags, NSX_WARNING, "", h->ambiguous, "programs with several dumps in a folder: none used");
	nsx_diag_add(h->diags, NSX_INFO, "", h->silent, "executed programs without a heap trace in their dump");
	nsx_diag_add(h->diags, NSX_INFO, "", h->late, "thunks that start after the next execution of their program has: not in counters of heap memory");
	return NSX_OK;
}

void
nsx_heaps_free(struct nsx_heaps *h)
{
	for (size_t i = 0; i < h->dirs.n; i++)
		nsx_dump_dir_free(h->dirs.p[i]);
	for (size_t i = 0; i < h->programs.n; i++) {
		struct nsx_heap_program *p = h->programs.p[i];

		free(p->ids.p);
		free(p->digests.p);
		nsx_intern_free(&p->insts);
		free(p->values);
		free(p);
	}
	free(h->dirs.p);
	free(h->programs.p);
	free(h->lines.p);
	free(h->counters.p);
	nsx_map_free(&h->program_of);
	nsx_map_free(&h->line_of);
	nsx_intern_free(&h->strings);
}
