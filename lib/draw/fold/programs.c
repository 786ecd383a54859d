/* programs.c -- fold thunks by the source of their instructions. Holds metadata and one sum per executed instruction;
 * stacks are made after the end of the stream. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "draw/fold/fold.h"
#include "draw/fold/repeats.h"
#include "job/program_time.h"
#include "job/catalogue.h"

/* A source location: an op_name in the catalogue, the node of a source stack; NSX_NONE: none. */
struct place { uint32_t op_name, stack; };

/* The time of an instruction. */
struct inst {
	nsx_u128 time;     /* exposed */
	nsx_u128 comm;     /* the part of it that is communication */
	uint32_t name;     /* of its first thunk, in the catalogue's strings, if no record names it */
};

struct programs {
	struct nsx_reader *in;
	struct nsx_stacks      *stacks;
	struct nsx_err         *err;
	struct nsx_fold_options options;
	struct nsx_top          top;
	NSX_VEC(struct inst)    insts;        /* by index of the catalogue, up to the last one that ran */
	NSX_VEC(uint32_t)       nodes;        /* of stacks, by index of the catalogue */
	struct nsx_repeats      repeats;
	struct nsx_map          written_as;   /* node of a stack with repeated runs -> node of the stack without them */
	NSX_VEC(uint32_t)       frames;       /* of the current stack */
	uint32_t                active;       /* the stack [GPU active] */
	struct nsx_excerpt      excerpt;
	struct nsx_gone         gone;
};

static void *
programs_open(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_stacks *stacks,
              struct nsx_err *err)
{
	struct programs *f = calloc(1, sizeof *f);

	if (f) {
		f->in = in;
		f->stacks = stacks;
		f->err = err;
		f->options = *options;
		f->top.cat.keep = NSX_CAT_NAMES;
		if (options->by == NSX_FOLD_SOURCE)
			f->top.cat.keep |= NSX_CAT_PLACES;
		else if (options->by == NSX_FOLD_OP_NAME)
			f->top.cat.keep |= NSX_CAT_OP_NAMES | NSX_CAT_LOCS;
		f->active = nsx_stacks_push(stacks, NSX_STACKS_ROOT, NSX_STR("[GPU active]"));
	}
	if (!f || f->active == NSX_NONE) {
		nsx_err_nomem(err, NULL);
		free(f);
		return NULL;
	}
	return f;
}

static void
programs_free(void *state)
{
	struct programs *f = state;

	nsx_top_free(&f->top);
	nsx_excerpt_free(&f->excerpt);
	nsx_gone_free(&f->gone);
	nsx_map_free(&f->written_as);
	nsx_repeats_free(&f->repeats);
	free(f->frames.p);
	free(f->insts.p);
	free(f->nodes.p);
	free(f);
}

/* ---- source stacks */

/* A stack's frames, separated by ';', by number. */
static bool
split_frames(struct programs *f, struct nsx_str text)
{
	f->frames.n = 0;
	for (;;) {
		const char *cut = text.len ? memchr(text.ptr, ';', text.len) : NULL;
		size_t len = cut ? (size_t)(cut - text.ptr) : text.len;
		uint32_t frame = nsx_stacks_frame(f->stacks, (struct nsx_str){ text.ptr, len });

		if (frame == NSX_NONE || !nsx_vec_push(&f->frames, frame))
			return false;
		if (!cut)
			return true;
		text = (struct nsx_str){ cut + 1, text.len - len - 1 };
	}
}

static uint32_t
frames_node(struct programs *f, size_t n)
{
	uint32_t node = f->active;

	for (size_t i = 0; i < n; i++)
		node = nsx_stacks_child(f->stacks, node, f->frames.p[i]);
	return node;
}

/* Locations are compared by the contents of the stream, so that time is shared in the same way for any form of the
 * written stacks. */
static bool
note_repeats(struct programs *f, uint32_t node)
{
	size_t n = f->frames.n;
	uint32_t *at;

	if (f->options.repeats || !nsx_repeats_drop(&f->repeats, f->frames.p, &n))
		return f->options.repeats;
	if (n == f->frames.n)
		return true;
	at = nsx_map_at(&f->written_as, (struct nsx_key){ node, 0 });
	if (at)
		*at = frames_node(f, n);
	return at && *at != NSX_NONE;
}

/* The nodes of all stacks of the catalogue. */
static bool
plant_stacks(struct programs *f)
{
	const struct nsx_catalogue *cat = &f->top.cat;

	for (size_t i = 0; i < cat->stacks.n; i++) {
		uint32_t node = NSX_NONE;

		if (cat->stacks.p[i] != NSX_NONE) {
			if (!split_frames(f, nsx_cat_str(cat, cat->stacks.p[i])))
				return false;
			node = frames_node(f, f->frames.n);
			if (node == NSX_NONE || !note_repeats(f, node))
				return false;
		}
		if (!nsx_vec_push(&f->nodes, node))
			return false;
	}
	return true;
}

/* ---- executions */

static bool
take_thunk(struct programs *f, const struct nsx_rec *rec)
{
	int64_t dur, hidden;
	uint32_t at = nsx_cat_inst(&f->top.cat, rec);

	if (at == NSX_NONE || !nsx_vec_reach(&f->insts, at, &(struct inst){ 0, 0, NSX_NONE }))
		return false;
	struct inst *i = &f->insts.p[at];
	if (i->name == NSX_NONE && f->options.by == NSX_FOLD_MODULE && f->top.cat.insts.p[at].name == NSX_NONE &&
	    nsx_string(rec, NSX_THUNK_name).len &&
	    (i->name = nsx_cat_intern(&f->top.cat, rec->v[NSX_THUNK_name].s, f->err)) == NSX_NONE)
		return false;
	bool comm = nsx_cat_communicates(&f->top.cat, rec);
	if (nsx_top_thunk(&f->top, rec, comm, &dur, &hidden)) {
		i->time += (nsx_u128)(dur - hidden);
		i->comm += comm ? (nsx_u128)(dur - hidden) : 0;
	}
	return true;
}

static void
programs_need(const void *state, struct nsx_reader *in)
{
	const struct programs *f = state;

	nsx_cat_need(&f->top.cat, in);
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
	nsx_excerpt_need(in);
	nsx_gone_need(in);
}

static int
programs_take(void *state, const struct nsx_rec *rec)
{
	struct programs *f = state;
	bool good = true;

	if (nsx_cat_is_late_stack(&f->top.cat, rec))
		return nsx_err_set(f->err, "%s: out of order: stack %" PRId64 " after a record that refers to it",
		                   nsx_reader_where(f->in),
		                   nsx_field_int(rec, NSX_ROLE_STACK, NSX_ABSENT));
	if (nsx_cat_take(&f->top.cat, rec, f->err) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_MODULE: good = nsx_top_module(&f->top, rec) != NSX_NONE; break;
	case NSX_THUNK:  good = take_thunk(f, rec); break;
	case NSX_OP:     good = nsx_gone_take(&f->gone, rec, nsx_cat_device(&f->top.cat, rec)); break;
	case NSX_STEP:
		good = nsx_excerpt_take(&f->excerpt, rec, nsx_cat_device(&f->top.cat, rec));
		break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* ---- stacks */

static struct nsx_str
string(const struct programs *f, uint32_t id)
{
	return nsx_cat_str(&f->top.cat, id);
}

static struct place
place_of(const struct programs *f, uint32_t op_name, uint32_t stack)
{
	return (struct place){ op_name, stack == NSX_NONE ? stack : f->nodes.p[stack] };
}

NSX_ORDER(place_cmp, struct place, NSX_CMP(a->stack, b->stack), NSX_CMP(a->op_name, b->op_name))

/* Memory for the locations of one instruction, reused for each. */
struct places { NSX_VEC(struct place) all; NSX_VEC(uint32_t) nodes; };

/* The distinct source locations of i. */
static bool
gather(const struct programs *f, const struct nsx_cat_inst *i, struct places *to)
{
	const struct nsx_catalogue *cat = &f->top.cat;
	size_t n = 0;

	to->all.n = 0;
	if (!nsx_vec_push(&to->all, place_of(f, i->op_name, i->stack)))
		return false;
	for (uint32_t at = i->locs; at != NSX_NONE; at = cat->locs.p[at].next)
		if (!nsx_vec_push(&to->all, place_of(f, cat->locs.p[at].op_name, cat->locs.p[at].stack)))
			return false;
	qsort(to->all.p, to->all.n, sizeof *to->all.p, place_cmp);
	for (size_t k = 0; k < to->all.n; k++)
		if (k == 0 || place_cmp(&to->all.p[k], &to->all.p[n - 1]) != 0)
			to->all.p[n++] = to->all.p[k];
	to->all.n = n;
	return true;
}

/* If there are locations with frames, only these are used; otherwise those with an op_name. They are sorted, those
 * without a stack last. */
static bool
source_stacks(struct programs *f, struct places *at)
{
	uint32_t unknown = nsx_stacks_push(f->stacks, f->active, NSX_STR("[Unknown]"));
	bool frames = at->all.p[0].stack != NSX_NONE;

	at->nodes.n = 0;
	for (size_t i = 0; i < at->all.n; i++) {
		const struct place *p = &at->all.p[i];
		uint32_t node = p->stack != NSX_NONE ? p->stack : unknown;
		uint32_t written = nsx_map_get(&f->written_as, (struct nsx_key){ node, 0 });

		if (written != NSX_NONE)
			node = written;
		if (frames ? p->stack == NSX_NONE : p->op_name == NSX_NONE)
			continue;
		if (p->op_name != NSX_NONE)
			node = nsx_stacks_push(f->stacks, node, string(f, p->op_name));
		if (node == NSX_NONE || !nsx_vec_push(&at->nodes, node))
			return false;
	}
	return at->nodes.n || (unknown != NSX_NONE && nsx_vec_push(&at->nodes, unknown));
}

static bool
op_name_stacks(struct programs *f, struct places *at)
{
	at->nodes.n = 0;
	/* Keep only the set of names: folding by op-name ignores stacks, so locations differ by name. */
	for (size_t i = 0; i < at->all.n; i++) {
		uint32_t node;

		if (at->all.p[i].op_name == NSX_NONE)
			continue;
		node = nsx_stacks_path(f->stacks, f->active, string(f, at->all.p[i].op_name), '/');
		if (node == NSX_NONE || !nsx_vec_push(&at->nodes, node))
			return false;
	}
	return at->nodes.n || nsx_vec_push(&at->nodes, nsx_stacks_push(f->stacks, f->active, NSX_STR("[Unknown]")));
}

/* The number of programs with each name, by the name's number; NULL when out of memory. */
static uint32_t *
count_names(const struct programs *f)
{
	const struct nsx_catalogue *cat = &f->top.cat;
	uint32_t *count = calloc(cat->strings.n + 1, sizeof *count);

	for (size_t i = 0; count && i < cat->programs.n; i++) {
		uint32_t name = nsx_top_name(&f->top, (uint32_t)i);

		if (name != NSX_NONE)
			count[name]++;
	}
	return count;
}

/* The stack of an instruction by opcode or by module. */
static uint32_t
label_stack(struct programs *f, uint32_t at, const uint32_t *names)
{
	const struct nsx_cat_inst *i = &f->top.cat.insts.p[at];
	uint32_t module = nsx_top_name(&f->top, i->program), key = f->top.cat.programs.p[i->program].key, node;
	uint32_t name = i->name != NSX_NONE ? i->name : f->insts.p[at].name;

	if (f->options.by == NSX_FOLD_OPCODE)
		return nsx_stacks_push(f->stacks, f->active, i->opcode == NSX_NONE ? NSX_STR("[no instruction]")
		                       : string(f, i->opcode));
	if (module == NSX_NONE || (names[module] > 1 && key != NSX_NONE))
		module = key;
	node = nsx_stacks_push(f->stacks, f->active, module == NSX_NONE ? NSX_STR("[Unknown]") : string(f, module));
	return nsx_stacks_push(f->stacks, node, name == NSX_NONE ? NSX_STR("[Unknown]") : string(f, name));
}

/* Add time to n stacks in equal shares; the communication part goes to the same stacks with one more frame. */
static bool
share_out(struct programs *f, uint32_t *nodes, uint32_t n, const struct inst *i)
{
	nsx_u128 marked = f->options.mark_comm ? i->comm : 0;

	if (i->time > marked && !nsx_stacks_split(f->stacks, nodes, n, i->time - marked))
		return false;
	for (uint32_t k = 0; marked && k < n; k++) {
		nodes[k] = nsx_stacks_push(f->stacks, nodes[k], NSX_STR(NSX_FOLD_COMM));
		if (nodes[k] == NSX_NONE)
			return false;
	}
	return marked == 0 || nsx_stacks_split(f->stacks, nodes, n, marked);
}

static bool
fold_inst(struct programs *f, uint32_t at, struct places *room, const uint32_t *names)
{
	if (f->options.by == NSX_FOLD_OPCODE || f->options.by == NSX_FOLD_MODULE) {
		uint32_t node = label_stack(f, at, names);

		return node != NSX_NONE && share_out(f, &node, 1, &f->insts.p[at]);
	}
	if (!gather(f, &f->top.cat.insts.p[at], room)
	    || !(f->options.by == NSX_FOLD_SOURCE ? source_stacks(f, room) : op_name_stacks(f, room)))
		return false;
	return share_out(f, room->nodes.p, (uint32_t)room->nodes.n, &f->insts.p[at]);
}

static bool
fold_insts(struct programs *f, nsx_u128 *exposed)
{
	struct places room = { { 0 }, { 0 } };
	uint32_t *names = count_names(f);
	bool good = names != NULL && plant_stacks(f);

	for (size_t i = 0; good && i < f->insts.n; i++) {
		if (f->insts.p[i].time == 0 || !f->top.programs.p[f->top.cat.insts.p[i].program].kept)
			continue;
		*exposed += f->insts.p[i].time;
		good = fold_inst(f, (uint32_t)i, &room, names);
	}
	free(room.all.p);
	free(room.nodes.p);
	free(names);
	return good;
}

/* ---- idle time */

static bool
add_idle(struct programs *f, struct nsx_str what, nsx_u128 whole, nsx_u128 part)
{
	if (whole <= part)
		return true;
	return nsx_stacks_add(f->stacks, nsx_stacks_push(f->stacks, NSX_STACKS_ROOT, what), whole - part);
}

/* Whether the stream has any source location, even if it only refers to a missing stack. */
static bool
any_place(const struct nsx_catalogue *cat)
{
	bool any = cat->no_stack > 0;

	for (size_t i = 0; i < cat->insts.n && !any; i++)
		any = cat->insts.p[i].op_name != NSX_NONE || cat->insts.p[i].stack != NSX_NONE;
	for (size_t i = 0; i < cat->locs.n && !any; i++)
		any = cat->locs.p[i].op_name != NSX_NONE || cat->locs.p[i].stack != NSX_NONE;
	return any;
}

static void
report(const struct programs *f, struct nsx_diags *diags)
{
	bool places = f->options.by == NSX_FOLD_SOURCE || f->options.by == NSX_FOLD_OP_NAME;

	if (!f->top.any_thunk)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no thunk records, which come from XLA's NVTX ranges: no time to fold; --by nvtx and --by "
			"kernel work without them");
	else if (places && !any_place(&f->top.cat))
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "the stream has no source locations: extract with -x DIR");
	nsx_diag_add(diags, NSX_WARNING, "", f->top.cat.no_stack,
	             "references to source stacks whose frames are not in the stream");
	if (f->top.any_thunk && !f->top.any_module)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no module records: every program counts; idle time is not known");
	nsx_top_diags(&f->top, diags);
}

static int
programs_finish(void *state, struct nsx_diags *diags)
{
	struct programs *f = state;
	nsx_u128 exposed = 0, modules;
	bool good = true;

	for (size_t i = 0; i < f->insts.n && good; i++)
		good = nsx_top_expose(&f->top, f->top.cat.insts.p[i].program, f->insts.p[i].time);
	good = good && nsx_top_pick(&f->top, f->options.cover, diags) && fold_insts(f, &exposed);
	modules = nsx_top_modules(&f->top);
	good = good && add_idle(f, NSX_STR("[GPU idle during module execution]"), modules, exposed)
	       && add_idle(f, NSX_STR("[GPU idle between module executions]"),
	                   nsx_top_span(&f->top, &f->excerpt, &f->gone), modules);
	report(f, diags);
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

const struct nsx_folder nsx_fold_programs = {
	programs_open, programs_need, programs_take, programs_finish, programs_free
};
