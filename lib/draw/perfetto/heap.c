/* heap.c -- the heap memory of programs as counters: for each trace of a program's dump and each GPU the bytes in use,
 * which change where a thunk starts whose instruction allocates, and are 0 between executions. */
#include "xla/heap.h"

#include <stdlib.h>

#include "draw/perfetto/trace.h"

struct value { int64_t at, after; bool known; };

/* The names of a program in the stream, and, after its first thunk, its dump. */
struct nsx_heap_program {
	uint32_t          index;      /* in the catalogue */
	struct nsx_str    name;
	NSX_VEC(int64_t)  ids;        /* the stream's first, then those of its profiles */
	NSX_VEC(uint32_t) digests;    /* in the catalogue's strings; only of dumps */
	struct nsx_intern insts;      /* names of executed instructions */
	bool              looked;
	size_t            ntraces;    /* 0: no counters */
	struct value     *values;     /* of (instruction, trace), the traces of an instruction side by side */
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

static bool
add_id(struct nsx_heap_program *p, int64_t id)
{
	for (size_t i = 0; i < p->ids.n; i++)
		if (p->ids.p[i] == id)
			return true;
	return nsx_vec_push(&p->ids, id);
}

/* The program of that index of the catalogue, by its record alone. */
static bool
add_program(struct nsx_heaps *h, uint32_t index)
{
	const struct nsx_catalogue *cat = &h->info->comm.cat;
	struct nsx_heap_program *p = calloc(1, sizeof *p);

	if (!p || !nsx_vec_push(&h->programs, p)) {
		free(p);
		return false;
	}
	p->index = index;
	p->name = nsx_cat_str(cat, cat->programs.p[index].name);
	return cat->programs.p[index].id == NSX_ABSENT || add_id(p, cat->programs.p[index].id);
}

/* The names of programs in profiles, and their instructions, for those just added. */
static bool
add_names(struct nsx_heaps *h)
{
	const struct nsx_catalogue *cat = &h->info->comm.cat;

	for (size_t i = 0; i < cat->aliases.n; i++) {
		const struct nsx_cat_alias *a = &cat->aliases.p[i];
		struct nsx_heap_program *p = h->programs.p[a->program];

		if ((a->id != NSX_ABSENT && !add_id(p, a->id))
		    || (nsx_str_starts(nsx_cat_str(cat, a->digest), "d:") && !nsx_vec_push(&p->digests, a->digest)))
			return false;
	}
	for (size_t i = 0; i < cat->insts.n; i++)
		if (cat->insts.p[i].listed && nsx_intern(&h->programs.p[cat->insts.p[i].program]->insts,
		    nsx_cat_str(cat, cat->insts.p[i].name)) == NSX_NONE)
			return false;
	return true;
}

/* The index of a thunk's program, in the catalogue and in programs; NSX_NONE with err filled on failure. Metadata are
 * complete when the first thunk comes. */
static uint32_t
program_of(struct nsx_heaps *h, const struct nsx_rec *rec)
{
	struct nsx_catalogue *cat = &h->info->comm.cat;
	uint32_t at = nsx_cat_program(cat, rec);
	bool first = h->programs.n == 0, good = at != NSX_NONE;

	while (good && h->programs.n < cat->programs.n)
		good = add_program(h, (uint32_t)h->programs.n);
	if (good && (!first || add_names(h)))
		return at;
	nomem(h);
	return NSX_NONE;
}

/* ---- dumps ---- */

/* Whether the dump is of this program: it has the same instructions, if the stream was extracted with a dump, else most
 * of the executed names. A dump of any other run may have the same id and name. */
static bool
is_of(const struct nsx_heaps *h, const struct nsx_heap_program *p, const struct nsx_hlo *hlo)
{
	size_t found = 0, judged = 0;

	for (size_t i = 0; i < p->digests.n; i++)
		if (nsx_str_eq(nsx_cat_str(&h->info->comm.cat, p->digests.p[i]), hlo->digest))
			return true;
	for (uint32_t i = 0; i < p->insts.n; i++) {
		struct nsx_str name = nsx_intern_str(&p->insts, i);
		bool there = nsx_hlo_find(hlo, name) != NULL;

		/* If names that XLA generates are missing, that is no evidence. */
		judged += there || !(nsx_str_starts(name, "command_buffer") || nsx_str_starts(name, "wrapped_"));
		found += there;
	}
	return !p->digests.n && found * 2 >= judged;
}

/* Store the steps of a trace by instruction. For an instruction that allocates several times, the maximum is used. The
 * bytes left by an instruction that is never executed itself, such as all-gather-done, are added to the one before. */
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

/* Use the dump at path if it is of the program; *used is set if so. */
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

/* Search the program's dump in every folder, by every id that it has. */
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

/* A counter for that trace of the program, named by the program's key. */
static int
add_counter(struct nsx_heaps *h, uint32_t process, const struct nsx_heap_program *p, size_t trace)
{
	struct nsx_heap_counter c = { .value = -1 };
	struct nsx_buf name = { 0 };
	uint32_t id = NSX_NONE;

	nsx_buf_c(&name, "heap ");
	nsx_buf_str(&name, nsx_cat_program_label(&h->info->comm.cat, p->index));
	if (p->ntraces > 1)
		nsx_buf_fmt(&name, " trace %zu", trace);
	bool good = !name.failed && (id = nsx_intern(&h->strings, nsx_buf_view(&name))) != NSX_NONE;
	nsx_buf_free(&name);
	if (!good || h->counters.n >= NSX_NONE)
		return nomem(h);
	c.track.name = nsx_intern_str(&h->strings, id);
	if (nsx_tracks_counter(h->tracks, process, (uint32_t)h->counters.n, &c.track) != NSX_OK)
		return NSX_ERR;
	return nsx_vec_push(&h->counters, c) ? NSX_OK : nomem(h);
}

/* The line of a program on a process, created if it is new; NULL with err filled on failure. */
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

/* The current execution ends before `now`, and nothing is in use after its end. */
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
	uint32_t at = h->dirs.n ? program_of(h, rec) : (uint32_t)NSX_NONE, inst;
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
	nsx_diag_add(h->diags, NSX_WARNING, "", h->missing,
	             "executed programs without a dump: no counter of heap memory");
	nsx_diag_add(h->diags, NSX_WARNING, "", h->other, "dumps are of another run of a program: not used");
	nsx_diag_add(h->diags, NSX_WARNING, "", h->ambiguous,
	             "programs with several dumps in a folder: none of them is used");
	nsx_diag_add(h->diags, NSX_INFO, "", h->silent, "executed programs without a heap trace in their dump");
	nsx_diag_add(h->diags, NSX_INFO, "", h->late,
	             "thunks that start after the next execution of their program: not in counters of heap memory");
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
	nsx_map_free(&h->line_of);
	nsx_intern_free(&h->strings);
}
