/* scope.c -- see scope.h. */
#include "job/scope.h"

#include <stdlib.h>
#include <string.h>

#include "job/frameworks.h"
#include "job/operator_work.h"
#include "job/serving.h"

/* ---- names ---- */

/* The length of s before the first slash outside of brackets, or the first ';': XLA joins the op_names of instructions
 * that it made one. */
static size_t
part_end(struct nsx_str s)
{
	int depth = 0;
	size_t i;

	for (i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		/* Most bytes are letters. */
		if (c >= 'a' || nsx_is_digit(c))
			continue;
		if (depth == 0 && (c == '/' || c == ';'))
			break;
		if (c == '[' || c == '(')
			depth++;
		else if ((c == ']' || c == ')') && depth > 0)
			depth--;
	}
	return i;
}

/* X of jvp(X), transpose(jvp(X)) and so on; else s. */
static struct nsx_str
unwrapped(struct nsx_str s)
{
	for (;;) {
		size_t i = 0, n = nsx_framework_next(NSX_FRAMEWORK_WRAP, s, &i);

		if (!n || s.ptr[s.len - 1] != ')')
			return s;
		s = (struct nsx_str){ s.ptr + n, s.len - n - 1 };
	}
}

static bool
is_structure(struct nsx_str s)
{
	return nsx_framework_has(NSX_FRAMEWORK_STRUCTURE, s) || nsx_framework_is(NSX_FRAMEWORK_BRANCH, s);
}

/* Where the path of a backward pass begins again: of a checkpoint JAX repeats that of the forward pass behind its own,
 * transpose(jvp(fwd))/Model/jvp(fwd)/Model/checkpoint/layer. The length of what comes before that, 0: it does not.
 * part: transpose(jvp(fwd)); rest: what is behind it. */
static size_t
repeated(struct nsx_str part, struct nsx_str rest)
{
	static const char transpose[] = "transpose(";
	size_t before = sizeof transpose - 1, found = 0, n;

	if (!nsx_str_starts(part, "transpose(jvp(") || part.ptr[part.len - 1] != ')')
		return 0;
	part = (struct nsx_str){ part.ptr + before, part.len - before - 1 };
	for (size_t at = 0; at < rest.len; at += n + 1) {
		struct nsx_str from = { rest.ptr + at, rest.len - at };

		n = part_end(from);
		if (nsx_str_eq((struct nsx_str){ from.ptr, n }, part))
			found = at;
	}
	return found;
}

/* Whether it is an operation with parameters, transpose[permutation=(1, 0)], which is no scope. */
static bool
is_operation(struct nsx_str s)
{
	const char *open = memchr(s.ptr, '[', s.len);

	return open && memchr(open, '=', s.len - (size_t)(open - s.ptr));
}

bool
nsx_scope_next(struct nsx_str op_name, size_t *at, struct nsx_str *part)
{
	while (*at < op_name.len) {
		struct nsx_str rest = { op_name.ptr + *at, op_name.len - *at };
		size_t n = part_end(rest);

		if (n == rest.len || rest.ptr[n] == ';')
			return false;
		*at += n + 1;
		*part = (struct nsx_str){ rest.ptr, n };
		n = repeated(*part, (struct nsx_str){ op_name.ptr + *at, op_name.len - *at });
		*at += n;
		if (n)
			continue;
		if (is_structure(*part) || is_operation(*part))
			continue;
		size_t whole = part->len;
		*part = unwrapped(*part);
		if (part->len && (part->len == whole || !is_structure(*part)))
			return true;
	}
	return false;
}

/* ---- */

void
nsx_scopes_need(struct nsx_reader *in)
{
	nsx_range_book_need(in, true);
	nsx_backwards_need(in);
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, pid) | NSX_C(RANGE, kind) | NSX_C(RANGE, start)
	                               | NSX_C(RANGE, domain) | NSX_C(RANGE, seq)
	                               | NSX_C(RANGE, sizes));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, range) | NSX_C(OP, program) | NSX_C(OP, inst)
	                            | NSX_C(OP, start));
}

static uint32_t
none(struct nsx_scopes *s)
{
	if (!s->none)
		s->none = nsx_stacks_push(s->tree, NSX_STACKS_ROOT, NSX_STR("[no scope]"));
	return s->none;
}

static uint32_t
child(struct nsx_scopes *s, uint32_t node, struct nsx_str name)
{
	name = nsx_name(s->form, NSX_STR(""), name, &s->scratch);
	return s->scratch.failed ? (uint32_t)NSX_NONE : nsx_stacks_push(s->tree, node, name);
}

static struct nsx_scope_place
nowhere(struct nsx_scopes *s)
{
	nsx_err_nomem(s->err, NULL);
	return (struct nsx_scope_place){ NSX_NONE, NSX_PHASE_UNKNOWN, NSX_NONE };
}

/* ---- instructions ---- */

/* The place that an op_name tells, which is seen for the first time. */
static struct nsx_scope_place
place_of_path(struct nsx_scopes *s, struct nsx_str op_name)
{
	uint32_t node = NSX_STACKS_ROOT;
	struct nsx_str part;
	size_t at = 0;

	while (node != NSX_NONE && nsx_scope_next(op_name, &at, &part))
		node = child(s, node, part);
	if (node == NSX_STACKS_ROOT)
		node = none(s);
	return (struct nsx_scope_place){ node, nsx_phase_of_op_name(op_name), NSX_NONE };
}

/* The place of an instruction that is seen for the first time. */
static struct nsx_scope_place
place_of(struct nsx_scopes *s, uint32_t inst)
{
	const struct nsx_scope_place unseen = { NSX_NONE, NSX_PHASE_UNKNOWN, NSX_NONE };
	const struct nsx_cat_inst *i = &s->cat->insts.p[inst];
	uint32_t op_name = i->op_name, frames;
	struct nsx_scope_place place;

	if (op_name == NSX_NONE && i->locs != NSX_NONE)
		nsx_cat_place(s->cat, i, &op_name, &frames);
	if (op_name == NSX_NONE)
		place = place_of_path(s, NSX_STR(""));
	else if (!nsx_vec_reach(&s->paths, op_name, &unseen))
		return unseen;
	else if ((place = s->paths.p[op_name]).node == NSX_NONE)
		place = s->paths.p[op_name] = place_of_path(s, nsx_cat_str(s->cat, op_name));
	place.inst = inst;
	if (nsx_phase_is_again(nsx_cat_str(s->cat, i->name)))
		place.phase = NSX_PHASE_RECOMPUTE;
	return place;
}

/* The node and those around it, but not that of the program, have an instruction that is differentiated. */
static bool
note_differentiated(struct nsx_scopes *s, uint32_t node)
{
	while (s->differs.n < s->tree->nodes.n)
		if (!nsx_vec_push(&s->differs, false))
			return false;
	for (uint32_t up; node != NSX_STACKS_ROOT && !s->differs.p[node]; node = up) {
		up = s->tree->nodes.p[node].parent;
		s->differs.p[node] = up != NSX_STACKS_ROOT;
	}
	return true;
}

/* Whether that holds for the node or for one around it. */
static bool
is_differentiated(const struct nsx_scopes *s, uint32_t node)
{
	for (; node != NSX_STACKS_ROOT; node = s->tree->nodes.p[node].parent)
		if (node < s->differs.n && s->differs.p[node])
			return true;
	return false;
}

struct nsx_scope_place
nsx_scopes_inst(struct nsx_scopes *s, uint32_t inst)
{
	uint32_t program = s->cat->insts.p[inst].program;

	if (!nsx_vec_reach(&s->insts, inst, &(struct nsx_scope_place){ NSX_NONE, NSX_PHASE_UNKNOWN, NSX_NONE }))
		return nowhere(s);
	if (!nsx_vec_reach(&s->trains, program, NULL))
		return nowhere(s);
	struct nsx_scope_place *p = &s->insts.p[inst];

	if (p->node == NSX_NONE) {
		*p = place_of(s, inst);
		s->trains.p[program] |= p->phase == NSX_PHASE_BACKWARD;
		if (p->node != NSX_NONE && p->phase < NSX_PHASE_OPTIMIZER && !note_differentiated(s, p->node))
			return nowhere(s);
	}
	return p->node == NSX_NONE ? nowhere(s) : *p;
}

/* ---- ranges ---- */

/* Whether a name to which emit_nvtx appended something is an operator's: it does so to ranges of the user's as well. */
static bool
is_operator(struct nsx_str name, struct nsx_str key)
{
	for (size_t i = 0; i + 1 < key.len; i++)
		if (key.ptr[i] == ':' && key.ptr[i + 1] == ':')
			return true;
	return nsx_name_seq(name) != NSX_ABSENT;
}

/* The name of the module or of the part of the program that the range stands for; empty: of none. */
static struct nsx_str
scope_name(const struct nsx_rec *rec)
{
	struct nsx_str name = nsx_string(rec, NSX_RANGE_name), key = nsx_name_key(name),
	    kind = nsx_string(rec, NSX_RANGE_kind);
	size_t i = 0, n;
	struct nsx_serving step;

	/* The dictionary of a layer hook has a key that does not begin as it does. */
	if (key.len && key.ptr != name.ptr)
		return key;
	if ((n = nsx_framework_next(NSX_FRAMEWORK_MODULE, key, &i)) > 0)
		return (struct nsx_str){ key.ptr + n, key.len - n };
	if (nsx_framework_is(NSX_FRAMEWORK_NO_SCOPE, name) || nsx_framework_is(NSX_FRAMEWORK_STEP, name)
	    || nsx_serving_of(name, &step)
	    || nsx_str_eq(nsx_string(rec, NSX_RANGE_domain), NSX_STR("TSL"))
	    || nsx_str_eq(kind, NSX_STR("op")) || nsx_str_eq(kind, NSX_STR("python"))
	    || (key.len < name.len && is_operator(name, key)))
		return (struct nsx_str){ "", 0 };
	return key;
}

/* A range is over: its place can be used again. */
static bool
past(void *arg, const struct nsx_range_entry *range)
{
	struct nsx_scopes *s = arg;

	s->ranges.p[range->mark].next = s->vacant;
	s->vacant = range->mark + 1;
	return true;
}

static uint32_t
range_at(struct nsx_scopes *s)
{
	uint32_t at = s->vacant;

	if (!at)
		return nsx_vec_push(&s->ranges, (struct nsx_scope_range){ 0 }) ? (uint32_t)(s->ranges.n - 1) : NSX_NONE;
	s->vacant = s->ranges.p[at - 1].next;
	return at - 1;
}

/* The node of the operator with that sequence number; noted where the operator is found. NSX_NONE: not known. */
static uint32_t
forward_of(struct nsx_scopes *s, int64_t profile, const struct nsx_scope_range *r)
{
	uint32_t process = nsx_map_get(&s->processes, (struct nsx_key){ (uint64_t)profile, (uint64_t)r->pid });

	return process == NSX_NONE || r->seq == NSX_ABSENT ? (uint32_t)NSX_NONE
	       : nsx_map_get(&s->forward, (struct nsx_key){ process, (uint64_t)r->seq });
}

static bool
note_forward(struct nsx_scopes *s, int64_t profile, int64_t pid, int64_t seq, uint32_t node)
{
	uint32_t process = nsx_map_number(&s->processes, (struct nsx_key){ (uint64_t)profile, (uint64_t)pid });
	uint32_t *at = process == NSX_NONE ? NULL : nsx_map_at(&s->forward, (struct nsx_key){ process, (uint64_t)seq });

	if (at)
		*at = node;
	return at != NULL;
}

/* The name of a module without that of the module around it. */
static struct nsx_str
without_outer(struct nsx_str name, struct nsx_str outer)
{
	if (outer.len && name.len > outer.len + 1 && memcmp(name.ptr, outer.ptr, outer.len) == 0
	    && name.ptr[outer.len] == '.')
		return (struct nsx_str){ name.ptr + outer.len + 1, name.len - outer.len - 1 };
	return name;
}

/* Of what a checkpoint runs again: the node of the module of that name around it, NSX_NONE if there is none. */
static uint32_t
again(const struct nsx_scopes *s, uint32_t node, uint32_t name)
{
	for (; node != NSX_STACKS_ROOT; node = s->tree->nodes.p[node].parent)
		if (node < s->module_of.n && s->module_of.p[node] == name)
			return node;
	return NSX_NONE;
}

/* The node of a module of that name in another, NSX_NONE when out of memory. */
static uint32_t
module_node(struct nsx_scopes *s, uint32_t outer, uint32_t name, uint32_t module)
{
	struct nsx_str text = nsx_intern_str(&s->names, name);
	uint32_t node = child(s, outer, module == NSX_NONE ? text
		: without_outer(text, nsx_intern_str(&s->names, module)));

	if (node != NSX_NONE && !nsx_vec_reach(&s->module_of, node, &(uint32_t){ NSX_NONE }))
		return NSX_NONE;
	if (node != NSX_NONE)
		s->module_of.p[node] = name;
	return node;
}

/* Set what is launched in a range, in one whose module and place those are. */
static bool
settle(struct nsx_scopes *s, int64_t profile, struct nsx_scope_range *r, uint32_t module, struct nsx_scope_place outer)
{
	uint32_t node = outer.node;

	r->place.phase = r->xla ? outer.phase : nsx_phase_in(r->own, r->recorded, outer.phase);
	r->module = module;
	s->ranges_train |= r->place.phase == NSX_PHASE_BACKWARD;
	if (r->frame != NSX_NONE) {
		node = outer.phase == NSX_PHASE_BACKWARD || outer.phase == NSX_PHASE_RECOMPUTE
		       ? again(s, node, r->frame) : NSX_NONE;
		if (node == NSX_NONE)
			node = module_node(s, outer.node, r->frame, module);
		r->module = r->frame;
	} else if (!r->recorded && forward_of(s, profile, r) != NSX_NONE) {
		node = forward_of(s, profile, r);
		r->module = node < s->module_of.n ? s->module_of.p[node] : NSX_NONE;
	}
	r->place.node = node;
	r->place.inst = NSX_NONE;
	r->resolved = node != NSX_NONE;
	if (!r->resolved || !r->recorded || node == NSX_STACKS_ROOT)
		return r->resolved;
	return note_forward(s, profile, r->pid, r->seq, node);
}

/* Resolve a range of the book, and those around it. A parent may come after its child if both start at the same time,
 * so this waits for an operation. */
static bool
resolve(struct nsx_scopes *s, struct nsx_range_entry *at)
{
	struct nsx_scope_place outer = { NSX_STACKS_ROOT, NSX_PHASE_UNKNOWN, NSX_NONE };
	uint32_t module = NSX_NONE;

	s->chain.n = 0;
	/* A chain that is longer than the list goes in a circle. */
	while (at && !s->ranges.p[at->mark].resolved && s->chain.n <= s->book.list.n) {
		if (!nsx_vec_push(&s->chain, at))
			return false;
		at = at->parent == NSX_ABSENT ? NULL : nsx_range_book_find(&s->book, at->profile, at->parent);
	}
	if (at && s->ranges.p[at->mark].resolved) {
		outer = s->ranges.p[at->mark].place;
		module = s->ranges.p[at->mark].module;
	}
	while (s->chain.n > 0) {
		const struct nsx_range_entry *e = s->chain.p[--s->chain.n];
		struct nsx_scope_range *r = &s->ranges.p[e->mark];

		if (!settle(s, e->profile, r, module, outer))
			return false;
		outer = r->place;
		module = r->module;
	}
	return true;
}

/* An operator that launched nothing may have a backward pass that does: note where it is. */
static int
take_idle(struct nsx_scopes *s, const struct nsx_rec *rec, int64_t seq)
{
	int64_t profile = nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT);
	struct nsx_range_entry *up = nsx_range_book_find(&s->book, profile, nsx_int(rec, NSX_RANGE_parent, NSX_ABSENT));

	if (!up || seq == NSX_ABSENT)
		return NSX_OK;
	const struct nsx_scope_range *r = &s->ranges.p[up->mark];

	if (!r->resolved && !resolve(s, up))
		return nsx_err_nomem(s->err, NULL);
	return r->place.node == NSX_STACKS_ROOT || r->place.phase == NSX_PHASE_BACKWARD
	       || note_forward(s, profile, nsx_int(rec, NSX_RANGE_pid, NSX_ABSENT), seq, r->place.node)
	       ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

/* Of a range with work on a GPU the name of its scope, too; NULL when out of memory. */
static const struct nsx_scope_said *
framed(struct nsx_scopes *s, struct nsx_scope_said *known, const struct nsx_rec *rec)
{
	struct nsx_str scope;

	if (known->framed || !nsx_has(rec, NSX_RANGE_start))
		return known;
	scope = scope_name(rec);
	if (scope.len && known->own != NSX_PHASE_BACKWARD && known->own != NSX_PHASE_RECOMPUTE
	    && (known->frame = nsx_intern(&s->names, scope)) == NSX_NONE)
		return NULL;
	known->framed = true;
	return known;
}

/* What the name of a range says, with its domain and kind; NULL when out of memory. */
static const struct nsx_scope_said *
said_of(struct nsx_scopes *s, const struct nsx_rec *rec)
{
	struct nsx_str name = nsx_string(rec, NSX_RANGE_name), kind = nsx_string(rec, NSX_RANGE_kind), text;
	bool xla = nsx_str_eq(nsx_string(rec, NSX_RANGE_domain), NSX_STR("TSL"));
	bool runs = nsx_str_eq(kind, NSX_STR("op")) || nsx_str_eq(kind, NSX_STR("python"));
	bool fits = name.len && name.len <= sizeof s->said->name;
	struct nsx_scope_said *known = fits ? &s->said[nsx_hash(name.ptr, name.len) % NSX_SCOPES_SAID] : &s->other;

	if (fits && known->len == name.len && known->xla == xla && known->runs == runs
	    && memcmp(known->name, name.ptr, name.len) == 0)
		return framed(s, known, rec);
	known->len = 0;
	known->xla = xla;
	known->runs = runs;
	known->seq = nsx_name_seq(name);
	known->own = nsx_phase_of_range(name, 0, &known->recorded);
	known->called = known->own == NSX_PHASE_BACKWARD && !nsx_framework_is(NSX_FRAMEWORK_BACKWARD_PART, name);
	text = nsx_name_sizes(name);
	known->sizes = (uint32_t)text.len;
	known->sizes_at = text.len ? (uint32_t)(text.ptr - name.ptr) : 0;
	known->frame = NSX_NONE;
	known->framed = false;
	if (fits) {
		memcpy(known->name, name.ptr, name.len);
		known->len = (uint8_t)name.len;
	}
	return framed(s, known, rec);
}

int
nsx_scopes_range(struct nsx_scopes *s, const struct nsx_rec *rec)
{
	const struct nsx_scope_said *known = said_of(s, rec);
	struct nsx_str name = nsx_string(rec, NSX_RANGE_name), sizes;
	uint32_t at;

	if (!known)
		return nsx_err_nomem(s->err, NULL);
	sizes = nsx_has(rec, NSX_RANGE_sizes) ? rec->v[NSX_RANGE_sizes].s
	        : (struct nsx_str){ name.ptr + known->sizes_at, known->sizes };
	/* emit_nvtx appends the number to the name. */
	struct nsx_scope_range r = { .pid = nsx_int(rec, NSX_RANGE_pid, NSX_ABSENT), .flops = NSX_ABSENT,
	                             .seq = nsx_has(rec, NSX_RANGE_seq) ? rec->v[NSX_RANGE_seq].i : known->seq,
	                             .frame = known->frame, .xla = known->xla, .own = known->own };

	r.recorded = known->recorded && r.seq != NSX_ABSENT;
	/* Also one whose own thread launched nothing: it waited for the engine's. The engine's own ranges, of which a
	 * pass has as many as nodes, are in its thread. */
	if (known->called && !nsx_backwards_add(&s->backwards, rec))
		return nsx_err_nomem(s->err, NULL);
	if (!nsx_has(rec, NSX_RANGE_start))
		return r.recorded ? take_idle(s, rec, r.seq) : NSX_OK;
	s->any_sizes |= sizes.len > 0;
	if (sizes.len)
		r.flops = nsx_operator_flops(nsx_name_key(name), sizes);
	s->book.ops_only = true;
	s->book.past = past;
	s->book.arg = s;
	if (nsx_range_book_add(&s->book, rec, 0, s->err) != NSX_OK)
		return NSX_ERR;
	at = range_at(s);
	s->book.list.p[s->book.list.n - 1].mark = at;
	if (at == NSX_NONE) {
		s->book.list.n--;
		return nsx_err_nomem(s->err, NULL);
	}
	s->ranges.p[at] = r;
	return NSX_OK;
}

struct nsx_scope_place
nsx_scopes_op(struct nsx_scopes *s, const struct nsx_rec *op)
{
	struct nsx_scope_place place = { NSX_STACKS_ROOT, NSX_PHASE_UNKNOWN, NSX_NONE };
	struct nsx_range_entry *at = NULL;

	nsx_range_book_reach(&s->book, op);
	if (nsx_has(op, NSX_OP_inst)) {
		uint32_t inst = nsx_cat_inst(s->cat, op);

		return inst == NSX_NONE ? nowhere(s) : nsx_scopes_inst(s, inst);
	}
	if (nsx_has(op, NSX_OP_range))
		at = nsx_range_book_find(&s->book, nsx_int(op, NSX_OP_profile, NSX_ABSENT), op->v[NSX_OP_range].i);
	s->lost += !at && nsx_has(op, NSX_OP_range);
	if (at && !s->ranges.p[at->mark].resolved && !resolve(s, at))
		return nowhere(s);
	if (at)
		place = s->ranges.p[at->mark].place;
	else if (!nsx_has(op, NSX_OP_range) && nsx_backwards_have(&s->backwards, s->cat, op)) {
		place.phase = NSX_PHASE_BACKWARD;
		s->ranges_train = true;
	}
	if (place.node == NSX_STACKS_ROOT)
		place.node = none(s);
	return place.node == NSX_NONE ? nowhere(s) : place;
}

int64_t
nsx_scopes_work(struct nsx_scopes *s, const struct nsx_rec *op)
{
	const struct nsx_range_entry *at = nsx_has(op, NSX_OP_range)
		? nsx_range_book_find(&s->book, nsx_int(op, NSX_OP_profile, NSX_ABSENT), op->v[NSX_OP_range].i) : NULL;
	int64_t flops = at ? s->ranges.p[at->mark].flops : NSX_ABSENT;

	if (flops > 0)
		s->ranges.p[at->mark].flops = 0;
	return flops;
}

enum nsx_phase
nsx_scopes_phase(const struct nsx_scopes *s, struct nsx_scope_place place)
{
	bool trains = place.inst == NSX_NONE ? s->ranges_train : s->trains.p[s->cat->insts.p[place.inst].program];

	if (trains && place.phase == NSX_PHASE_OUTSIDE && is_differentiated(s, place.node))
		return NSX_PHASE_FORWARD;
	return nsx_phase_settled(place.phase, trains);
}

void
nsx_scopes_free(struct nsx_scopes *s)
{
	nsx_range_book_free(&s->book);
	nsx_intern_free(&s->names);
	nsx_map_free(&s->forward);
	nsx_map_free(&s->processes);
	nsx_backwards_free(&s->backwards);
	nsx_buf_free(&s->scratch);
	free(s->ranges.p);
	free(s->chain.p);
	free(s->insts.p);
	free(s->paths.p);
	free(s->trains.p);
	free(s->differs.p);
	free(s->module_of.p);
}
