/* programs.c -- fold thunks by what their instructions come from. Holds metadata and one sum per executed
 * instruction; stacks are made when the stream has ended. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draw/fold/fold.h"
#include "draw/fold/repeats.h"
#include "job/program_time.h"
#include "job/communicates.h"

/* Stands for a number that a record does not have. */
#define ABSENT INT64_MIN

/* A place code comes from: strings by number, the node of a source stack; NSX_NONE: none. */
struct place { uint32_t op_name, stack; };

struct loc { struct place place; uint32_t next; };

struct inst {
	uint32_t     program;
	uint32_t     label;    /* opcode or name, whichever is asked for */
	struct place place;
	uint32_t     locs;     /* further places, linked; NSX_NONE ends */
	nsx_u128     time;     /* exposed */
};

struct programs {
	struct nsx_reader *in;
	struct nsx_stacks      *stacks;
	struct nsx_err         *err;
	struct nsx_fold_options options;
	struct nsx_intern       strs;
	struct nsx_top          top;
	NSX_VEC(struct inst)    insts;
	struct nsx_map          inst_of;      /* (program, inst) -> insts */
	NSX_VEC(struct loc)     locs;
	struct nsx_map          stack_of;     /* stack -> node */
	struct nsx_map          awaited;      /* stacks that were referred to before they came */
	int64_t                 lost;         /* references to them */
	struct nsx_repeats      repeats;
	struct nsx_map          written_as;   /* node of a stack that repeats -> node without that */
	NSX_VEC(uint32_t)       frames;       /* of the stack under way */
	uint32_t                active;       /* the stack [GPU active] */
	bool                    any_place;
};

static void *
programs_open(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_stacks *stacks, struct nsx_err *err)
{
	struct programs *f = calloc(1, sizeof *f);

	if (f) {
		f->in = in;
		f->stacks = stacks;
		f->err = err;
		f->options = *options;
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

	nsx_intern_free(&f->strs);
	nsx_top_free(&f->top);
	nsx_map_free(&f->inst_of);
	nsx_map_free(&f->stack_of);
	nsx_map_free(&f->awaited);
	nsx_map_free(&f->written_as);
	nsx_repeats_free(&f->repeats);
	free(f->frames.p);
	free(f->insts.p);
	free(f->locs.p);
	free(f);
}

/* ---- metadata */

/* The string's number in *id, NSX_NONE if it is absent; false when out of memory. */
static bool
string_of(struct programs *f, const struct nsx_rec *rec, int slot, uint32_t *id)
{
	*id = NSX_NONE;
	if (!nsx_has(rec, slot))
		return true;
	*id = nsx_intern(&f->strs, rec->v[slot].s);
	return *id != NSX_NONE;
}

/* The instruction of that number, made if it is new; NULL when out of memory. */
static struct inst *
inst_at(struct programs *f, int64_t program, int64_t inst)
{
	uint32_t *at = nsx_map_at(&f->inst_of, (struct nsx_key){ (uint64_t)program, (uint64_t)inst });

	if (at && *at == NSX_NONE) {
		struct inst new = { nsx_top_at(&f->top, program), NSX_NONE, { NSX_NONE, NSX_NONE }, NSX_NONE, 0 };

		if (new.program == NSX_NONE || !nsx_vec_push(&f->insts, new))
			return NULL;
		*at = (uint32_t)(f->insts.n - 1);
	}
	return at ? &f->insts.p[*at] : NULL;
}

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

/* Places are told apart by what the stream says, so that time is shared out the same way whichever is written. */
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

static bool
take_stack(struct programs *f, const struct nsx_rec *rec)
{
	uint32_t *at;

	if (f->options.by != NSX_FOLD_SOURCE || !nsx_has(rec, NSX_STACK_frames))
		return true;
	at = nsx_map_at(&f->stack_of, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_STACK_stack, ABSENT), 0 });
	if (!at)
		return false;
	if (!split_frames(f, rec->v[NSX_STACK_frames].s))
		return false;
	*at = frames_node(f, f->frames.n);
	return *at != NSX_NONE && note_repeats(f, *at);
}

static bool
place_of(struct programs *f, const struct nsx_rec *rec, int op_name, int stack, struct place *p)
{
	*p = (struct place){ NSX_NONE, NSX_NONE };
	if (f->options.by != NSX_FOLD_SOURCE && f->options.by != NSX_FOLD_OP_NAME)
		return true;
	if (nsx_has(rec, stack) && f->options.by == NSX_FOLD_SOURCE) {
		struct nsx_key number = { (uint64_t)rec->v[stack].i, 0 };
		uint32_t *at;

		p->stack = nsx_map_get(&f->stack_of, number);
		if (p->stack == NSX_NONE && !(at = nsx_map_at(&f->awaited, number)))
			return false;
		if (p->stack == NSX_NONE) {
			*at = 1;
			f->lost++;
		}
	}
	if (!string_of(f, rec, op_name, &p->op_name))
		return false;
	f->any_place |= p->op_name != NSX_NONE || p->stack != NSX_NONE;
	return true;
}

static bool
take_inst(struct programs *f, const struct nsx_rec *rec)
{
	struct inst *i = inst_at(f, nsx_int(rec, NSX_INST_program, ABSENT), nsx_int(rec, NSX_INST_inst, ABSENT));

	if (!i)
		return false;
	if (f->options.by == NSX_FOLD_OPCODE || f->options.by == NSX_FOLD_MODULE)
		return string_of(f, rec, f->options.by == NSX_FOLD_OPCODE ? NSX_INST_opcode : NSX_INST_name, &i->label);
	return place_of(f, rec, NSX_INST_op_name, NSX_INST_stack, &i->place);
}

static bool
take_loc(struct programs *f, const struct nsx_rec *rec)
{
	struct loc l;
	struct inst *i;

	if (f->options.by != NSX_FOLD_SOURCE && f->options.by != NSX_FOLD_OP_NAME)
		return true;
	i = inst_at(f, nsx_int(rec, NSX_LOC_program, ABSENT), nsx_int(rec, NSX_LOC_inst, ABSENT));
	if (!i || f->locs.n >= NSX_NONE || !place_of(f, rec, NSX_LOC_op_name, NSX_LOC_stack, &l.place))
		return false;
	l.next = i->locs;
	i->locs = (uint32_t)f->locs.n;
	return nsx_vec_push(&f->locs, l);
}

/* ---- executions */

static bool
take_thunk(struct programs *f, const struct nsx_rec *rec)
{
	int64_t dur, hidden;
	struct inst *i = inst_at(f, nsx_int(rec, NSX_THUNK_program, ABSENT), nsx_int(rec, NSX_THUNK_inst, ABSENT));

	if (!i)
		return false;
	if (i->label == NSX_NONE && f->options.by == NSX_FOLD_MODULE && !string_of(f, rec, NSX_THUNK_name, &i->label))
		return false;
	if (nsx_top_thunk(&f->top, rec, nsx_cat_communicates(&f->top.cat, rec), &dur, &hidden))
		i->time += (nsx_u128)(dur - hidden);
	return true;
}

static int
programs_take(void *state, const struct nsx_rec *rec)
{
	struct programs *f = state;
	bool good = true;

	if (rec->kind->id == NSX_STACK && f->awaited.n
	    && nsx_map_get(&f->awaited, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_STACK_stack, ABSENT), 0 }) != NSX_NONE)
		return nsx_err_set(f->err, "%s: out of order: stack %" PRId64 " after a record that refers to it", nsx_reader_where(f->in),
		                   nsx_int(rec, NSX_STACK_stack, ABSENT));
	if (nsx_cat_take(&f->top.cat, rec, f->err) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_PROGRAM: good = nsx_top_program(&f->top, rec) != NSX_NONE; break;
	case NSX_STACK:   good = take_stack(f, rec);   break;
	case NSX_INST:    good = take_inst(f, rec);    break;
	case NSX_LOC:     good = take_loc(f, rec);     break;
	case NSX_MODULE:  good = nsx_top_module(&f->top, rec) != NSX_NONE; break;
	case NSX_THUNK:   good = take_thunk(f, rec);   break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* ---- stacks */

static struct nsx_str
string(const struct programs *f, uint32_t id)
{
	return id == NSX_NONE ? NSX_STR("") : nsx_intern_str(&f->strs, id);
}

static int
place_cmp(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return (a->op_name > b->op_name) - (a->op_name < b->op_name);
}

/* Room for the places of one instruction, used again for each. */
struct places { NSX_VEC(struct place) all; NSX_VEC(uint32_t) nodes; };

/* The distinct places of i. */
static bool
gather(const struct programs *f, const struct inst *i, struct places *to)
{
	size_t n = 0;

	to->all.n = 0;
	if (!nsx_vec_push(&to->all, i->place))
		return false;
	for (uint32_t at = i->locs; at != NSX_NONE; at = f->locs.p[at].next)
		if (!nsx_vec_push(&to->all, f->locs.p[at].place))
			return false;
	qsort(to->all.p, to->all.n, sizeof *to->all.p, place_cmp);
	for (size_t k = 0; k < to->all.n; k++)
		if (k == 0 || place_cmp(&to->all.p[k], &to->all.p[n - 1]) != 0)
			to->all.p[n++] = to->all.p[k];
	to->all.n = n;
	return true;
}

/* Places with frames alone count, if there are any; those with an op_name else. They are sorted, no stack last. */
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
	/* The set of names alone: stacks are not looked at when folding by op-name, so places differ by name. */
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

/* How many programs have each name, by the name's number; NULL when out of memory. */
static uint32_t *
count_names(const struct programs *f)
{
	const struct nsx_top *t = &f->top;
	uint32_t *count = calloc(t->strs.n + 1, sizeof *count);

	for (size_t i = 0; count && i < t->programs.n; i++)
		if (t->programs.p[i].name != NSX_NONE)
			count[t->programs.p[i].name]++;
	return count;
}

/* The stack of an instruction by opcode or by module. */
static uint32_t
label_stack(struct programs *f, const struct inst *i, const uint32_t *names)
{
	const struct nsx_top_program *p = &f->top.programs.p[i->program];
	uint32_t module = p->name, node;

	if (f->options.by == NSX_FOLD_OPCODE)
		return nsx_stacks_push(f->stacks, f->active,
		                       i->label == NSX_NONE ? NSX_STR("[no instruction]") : string(f, i->label));
	if (module == NSX_NONE || (names[module] > 1 && p->key != NSX_NONE))
		module = p->key;
	node = nsx_stacks_push(f->stacks, f->active, module == NSX_NONE ? NSX_STR("[Unknown]") : nsx_top_str(&f->top, module));
	return nsx_stacks_push(f->stacks, node, i->label == NSX_NONE ? NSX_STR("[Unknown]") : string(f, i->label));
}

static bool
fold_inst(struct programs *f, const struct inst *i, struct places *room, const uint32_t *names)
{
	if (f->options.by == NSX_FOLD_OPCODE || f->options.by == NSX_FOLD_MODULE)
		return nsx_stacks_add(f->stacks, label_stack(f, i, names), i->time);
	if (!gather(f, i, room)
	    || !(f->options.by == NSX_FOLD_SOURCE ? source_stacks(f, room) : op_name_stacks(f, room)))
		return false;
	return nsx_stacks_split(f->stacks, room->nodes.p, (uint32_t)room->nodes.n, i->time);
}

static bool
fold_insts(struct programs *f, nsx_u128 *exposed)
{
	struct places room = { { 0 }, { 0 } };
	uint32_t *names = count_names(f);
	bool good = names != NULL;

	for (size_t i = 0; good && i < f->insts.n; i++) {
		const struct inst *t = &f->insts.p[i];

		if (t->time == 0 || !f->top.programs.p[t->program].kept)
			continue;
		*exposed += t->time;
		good = fold_inst(f, t, &room, names);
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

static void
report(const struct programs *f, struct nsx_diags *diags)
{
	bool places = f->options.by == NSX_FOLD_SOURCE || f->options.by == NSX_FOLD_OP_NAME;

	if (!f->top.any_thunk)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no thunk records: no time to fold");
	else if (places && !f->any_place && !f->lost)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "the stream does not say where its code comes from: extract with -x DIR");
	nsx_diag_add(diags, NSX_WARNING, "", f->lost, "references to source stacks that the stream has no frames of");
	if (f->top.any_thunk && !f->top.any_module)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no module records: every program counts, idle time is not known");
	nsx_top_diags(&f->top, diags);
}

static int
programs_finish(void *state, struct nsx_diags *diags)
{
	struct programs *f = state;
	nsx_u128 exposed = 0, modules;
	bool good;

	for (size_t i = 0; i < f->insts.n; i++)
		f->top.programs.p[f->insts.p[i].program].exposed += f->insts.p[i].time;
	good = nsx_top_pick(&f->top, f->options.cover, diags) && fold_insts(f, &exposed);
	modules = nsx_top_modules(&f->top);
	good = good && add_idle(f, NSX_STR("[GPU idle during module execution]"), modules, exposed)
	       && add_idle(f, NSX_STR("[GPU idle between module executions]"), nsx_top_span(&f->top), modules);
	report(f, diags);
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

const struct nsx_folder nsx_fold_programs = { programs_open, programs_take, programs_finish, programs_free };
