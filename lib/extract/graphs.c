/* graphs.c -- assigns the operations inside command buffers: the operations of each launch become thunks of their
 * instructions, those that cannot be assigned thunks of the buffer itself. graphs.h describes how. */
#include "extract/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "job/comm/names.h"
#include "base/num.h"
#include "base/sort.h"

/* ---- functions that the sources share */

uint32_t
nsx_graph_class_of(struct graphs *g, const struct nsx_gpu_op *op)
{
	/* A kernel has no bytes; other operations are distinguished by them. */
	struct nsx_key key = { (uint64_t)op->type << 32 | op->name, (uint64_t)op->bytes };
	uint32_t *at = nsx_map_at(&g->by_class, key);

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		struct gr_class c = { .type = op->type, .name = op->name, .cat = NSX_NONE, .only = NSX_NONE,
		                      .left = NSX_NONE };
		if (!nsx_vec_push(&g->classes, c))
			return NSX_NONE;
		*at = (uint32_t)g->classes.n - 1;
	}
	return *at;
}

uint32_t
nsx_graph_inst(struct graphs *g, struct nsx_str name)
{
	struct ex_profile *p = g->p;
	uint32_t inst = nsx_extract_inst(p, g->program, name, -1);
	const struct nsx_hlo_inst *there;

	if (inst != NSX_NONE && p->insts.p[inst].info == NSX_NONE && g->dump &&
	    (there = nsx_hlo_find(g->dump->h, name)) != NULL &&
	    !nsx_extract_describe(p, inst, g->dump->h, there))
		return NSX_NONE;
	return inst;
}

const char *
nsx_graph_kind(struct graphs *g, struct nsx_str kernel)
{
	return nsx_comm_by_kernel(NULL, kernel, &g->text);
}

size_t
nsx_graph_run(const struct nsx_sort_key *keys, size_t n, size_t i, size_t *nodes)
{
	size_t end = i + 1;

	for (*nodes = 1; end < n && keys[end].k[0] == keys[i].k[0]; end++)
		*nodes += keys[end].k[1] != keys[end - 1].k[1];
	return end;
}

/* ---- a launch */

/* Sort operations by class, node and start, those that are not nodes last. */
static bool
sort_launch(struct graphs *g, const struct gr_launch *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct nsx_gpu_op *op = &g->p->trace.ops[l->ops[i]];
		g->cls[i] = op->graph_node == -1 ? (uint32_t)NSX_NONE : nsx_graph_class_of(g, op);
		if (op->graph_node != -1 && g->cls[i] == NSX_NONE)
			return false;
		g->order[i] = (struct nsx_sort_key){ { g->cls[i], op->graph_node, 0 }, i };
		g->found[i] = (struct gr_found){ NSX_NONE, NSX_NONE, EX_LEFT };
	}
	nsx_sort_keys(g->order, l->n);
	return true;
}

/* The instruction of an operation that cannot be assigned: its buffer, or for communication, which must not count as
 * computation, `BUFFER (KIND)`. */
static uint32_t
left_inst(struct graphs *g, uint32_t cls, uint32_t buffer)
{
	struct ex_profile *p = g->p;
	struct gr_class *c = cls == NSX_NONE ? NULL : &g->classes.p[cls];

	if (!c || c->type != NSX_OP_KERNEL)
		return buffer;
	if (c->left != NSX_NONE)
		return c->left;
	const char *kind = nsx_graph_kind(g, gr_name(g, c->name));
	if (!kind)
		return c->left = g->text.failed ? (uint32_t)NSX_NONE : buffer;
	struct ex_info info = { .bytes = -1, .comm = true };
	info.collective = nsx_extract_keep(p, nsx_str_c(kind));
	struct nsx_str name = nsx_intern_str(&p->inst_names, p->insts.p[buffer].name);
	g->text.len = 0;
	nsx_buf_str(&g->text, name);
	nsx_buf_fmt(&g->text, " (%s)", kind);
	uint32_t inst = g->text.failed ? NSX_NONE : nsx_extract_inst(p, g->program, nsx_buf_view(&g->text), -1);
	if (inst == NSX_NONE || p->rc != NSX_OK)
		return NSX_NONE;
	if (p->insts.p[inst].info == NSX_NONE) {
		p->insts.p[inst].info = (uint32_t)p->infos.n;
		if (!nsx_vec_push(&p->infos, info))
			return NSX_NONE;
	}
	return c->left = inst;
}

static bool
add_thunk(struct graphs *g, const struct gr_launch *l, uint32_t i)
{
	struct ex_profile *p = g->p;
	const struct nsx_gpu_op *op = &p->trace.ops[l->ops[i]];
	const struct gr_found *f = &g->found[i];
	struct ex_thunk from = p->thunks.p[l->thunk];
	uint32_t inst = f->inst != NSX_NONE ? f->inst : left_inst(g, g->cls[i], from.inst);

	if (inst == NSX_NONE)
		return false;
	uint32_t at = f->slot == NSX_NONE ? NSX_NONE : g->slots[f->slot];
	if (at != NSX_NONE) {
		struct ex_thunk *th = &p->thunks.p[at];
		th->end = op->end > th->end ? op->end : th->end;
		th->ops++;
	} else {
		struct ex_thunk th = { .range = from.range, .module = from.module, .inst = inst, .start = op->start,
		                       .end = op->end, .device = op->device, .ops = 1 };
		at = (uint32_t)p->thunks.n;
		if (!nsx_vec_push(&p->thunks, th))
			return false;
		p->modules.p[from.module].thunks++;
		if (f->slot != NSX_NONE)
			g->slots[f->slot] = at;
	}
	p->op_thunk[l->ops[i]] = at;
	p->buffers.told[f->source]++;
	p->buffers.ns[f->source] = nsx_add_sat(p->buffers.ns[f->source], nsx_extract_dur(op->start, op->end), NULL);
	return true;
}

/* Thunks of the operations, in order of start, instead of the buffer's own. */
static bool
split(struct graphs *g, const struct gr_launch *l)
{
	struct ex_profile *p = g->p;

	for (uint32_t i = 0; i < g->nslots; i++)
		g->slots[i] = NSX_NONE;
	for (uint32_t i = 0; i < l->n; i++)
		if (!add_thunk(g, l, i))
			return false;
	p->thunks.p[l->thunk].gone = true;
	p->modules.p[p->thunks.p[l->thunk].module].thunks--;
	return true;
}

static bool
tell_by_name(struct graphs *g, const struct gr_launch *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (g->found[i].inst != NSX_NONE || g->cls[i] == NSX_NONE)
			continue;
		struct gr_class *c = &g->classes.p[g->cls[i]];
		if (!c->asked && !nsx_graph_name_ask(g, c))
			return false;
		if (c->only != NSX_NONE)
			g->found[i] = (struct gr_found){ c->only, NSX_NONE, EX_NAME };
	}
	return true;
}

/* What the profile itself says: the instruction of each operation. One after the other on a stream, those of one
 * instruction are one thunk. */
static bool
tell_by_profile(struct graphs *g, const struct gr_launch *l)
{
	const struct nsx_trace *t = &g->p->trace;
	NSX_VEC(struct gr_last) last = { 0 };
	bool good = true;

	for (uint32_t i = 0; t->op_insts && good && i < l->n; i++) {
		uint32_t name = t->op_insts[l->ops[i]];
		int64_t stream = t->ops[l->ops[i]].stream;
		size_t k = 0;

		if (name == NSX_NONE || g->cls[i] == NSX_NONE)
			continue;
		while (k < last.n && last.p[k].stream != stream)
			k++;
		good = k < last.n || nsx_vec_push(&last, ((struct gr_last){ stream, NSX_NONE, NSX_NONE, NSX_NONE }));
		if (good && last.p[k].name != name) {
			last.p[k].name = name;
			last.p[k].inst = nsx_graph_inst(g, gr_name(g, name));
			last.p[k].slot = g->nslots++;
			good = last.p[k].inst != NSX_NONE;
		}
		if (good)
			g->found[i] = (struct gr_found){ last.p[k].inst, last.p[k].slot, EX_PROFILE };
	}
	free(last.p);
	return good;
}

static bool
all_told(const struct graphs *g, const struct gr_launch *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (g->found[i].inst == NSX_NONE)
			return false;
	return true;
}

static bool
open_launch(struct graphs *g, const struct gr_launch *l)
{
	if (!sort_launch(g, l) || !nsx_graph_ref_tell(g, l))
		return false;
	if (!all_told(g, l) && (!nsx_graph_list_tell(g, l) || !tell_by_name(g, l)))
		return false;
	return tell_by_profile(g, l) && split(g, l);
}

/* ---- the command buffers of all programs */

NSX_ORDER(by_program, struct ex_buffer, NSX_CMP(a->program, b->program), NSX_CMP(a->key, b->key),
          NSX_CMP(a->thunk, b->thunk))

/* Operations by thunk, of the launches and of the executions op by op. wanted: thunks to include. */
static bool
gather(struct ex_profile *p, const bool *wanted)
{
	const struct nsx_trace *t = &p->trace;
	struct ex_buffers *b = &p->buffers;
	uint32_t n = 0;

	b->first = calloc((size_t)b->nthunks + 3, sizeof *b->first);
	for (uint32_t i = 0; b->first && i < t->nops; i++) {
		uint32_t th = t->ops[i].range == NSX_NONE ? NSX_NONE : p->thunk_at[t->ops[i].range];
		if (th != NSX_NONE && wanted[th]) {
			b->first[th + 2]++;
			n++;
		}
	}
	b->ops = malloc((n + (size_t)1) * sizeof *b->ops);
	if (!b->first || !b->ops)
		return false;
	for (uint32_t i = 2; i < b->nthunks + 2; i++)
		b->first[i] += b->first[i - 1];
	for (uint32_t i = 0; i < t->nops; i++) {
		uint32_t th = t->ops[i].range == NSX_NONE ? NSX_NONE : p->thunk_at[t->ops[i].range];
		if (th != NSX_NONE && wanted[th])
			b->ops[b->first[th + 1]++] = i;
	}
	return true;
}

/* By program: the first with that id and name. Processes of an export run the same program. */
static uint32_t *
same_programs(const struct ex_profile *p)
{
	uint32_t *first = malloc((p->programs.n + 1) * sizeof *first);
	struct nsx_map seen = { 0 };

	if (!first)
		return NULL;
	for (uint32_t i = 0; i < p->programs.n; i++) {
		const struct nsx_extract_program *g = &p->programs.p[i];
		uint32_t *at = nsx_map_at(&seen, (struct nsx_key){ (uint64_t)g->id, nsx_intern_find(&p->strings,
			g->name) });
		if (!at) {
			free(first);
			first = NULL;
			break;
		}
		if (*at == NSX_NONE)
			*at = i;
		first[i] = *at;
	}
	nsx_map_free(&seen);
	return first;
}

/* Buffers that their own process never ran op by op use the execution in another process. */
static bool
share_refs(struct ex_profile *p)
{
	struct ex_buffers *b = &p->buffers;
	struct nsx_map best = { 0 };
	uint32_t *same = same_programs(p);
	bool good = same != NULL;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; good && i < b->keys.n; i++) {
			struct ex_buffer_key *k = &b->keys.p[i];
			struct nsx_key key = { (uint64_t)same[k->program] << 32 | k->name, (uint64_t)k->of << 32 |
			                       k->place };
			uint32_t *at = pass == 0 && k->ref != NSX_NONE ? nsx_map_at(&best, key) : NULL;
			if (pass == 0 && k->ref != NSX_NONE && !at)
				good = false;
			else if (at && (*at == NSX_NONE || ex_ref_ops(p, k->ref) > ex_ref_ops(p, b->keys.p[*at].ref)))
				*at = i;
			else if (pass == 1 && k->ref == NSX_NONE && nsx_map_get(&best, key) != NSX_NONE)
				k->ref = b->keys.p[nsx_map_get(&best, key)].ref;
		}
	free(same);
	nsx_map_free(&best);
	return good;
}

static bool
make_buffers(struct ex_profile *p)
{
	struct ex_buffers *b = &p->buffers;

	b->made = true;
	b->nthunks = (uint32_t)p->thunks.n;
	if (!p->trace.nops || !b->list.n)
		return true;
	qsort(b->list.p, b->list.n, sizeof *b->list.p, by_program);
	if (!share_refs(p))
		return false;
	bool *wanted = calloc((size_t)b->nthunks + 1, sizeof *wanted);
	p->op_thunk = malloc(p->trace.nops * sizeof *p->op_thunk);
	if (!wanted || !p->op_thunk) {
		free(wanted);
		return false;
	}
	memset(p->op_thunk, 0xff, p->trace.nops * sizeof *p->op_thunk);
	for (size_t i = 0; i < b->list.n; i++) {
		uint32_t first = 0, n = 0;
		wanted[b->list.p[i].thunk] = true;
		if (!i || b->list.p[i].key != b->list.p[i - 1].key)
			nsx_extract_ref_thunks(p, b->list.p[i].key, &first, &n);
		memset(wanted + first, true, n * sizeof *wanted);
	}
	bool good = gather(p, wanted);
	free(wanted);
	return good;
}

void
nsx_extract_buffers_free(struct ex_buffers *b)
{
	free(b->keys.p);
	free(b->list.p);
	nsx_map_free(&b->by_key);
	free(b->first);
	free(b->ops);
}

/* The buffers of one program; *n of them. */
static const struct ex_buffer *
buffers_of(const struct ex_profile *p, uint32_t program, size_t *n)
{
	const struct ex_buffer *list = p->buffers.list.p;
	size_t lo = 0, hi = p->buffers.list.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (list[mid].program < program)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < p->buffers.list.n && list[lo + *n].program == program; ++*n)
		;
	return *n ? list + lo : NULL;
}

/* ---- the buffers of one program */

static struct gr_launch
launch_of(const struct ex_profile *p, uint32_t thunk)
{
	const uint32_t *first = p->buffers.first + thunk;

	return (struct gr_launch){ thunk, first[1] - first[0], p->buffers.ops + first[0] };
}

/* Whether the graph was traced by node. */
static bool
has_nodes(const struct ex_profile *p, const struct gr_launch *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (p->trace.ops[l->ops[i]].graph_node != -1)
			return true;
	return false;
}

static bool
make_room(struct graphs *g, uint32_t nops)
{
	if (nops <= g->room && g->slots)
		return true;
	g->room = nops;
	free(g->cls);
	free(g->found);
	free(g->order);
	free(g->slots);
	g->cls = malloc(((size_t)nops + 1) * sizeof *g->cls);
	g->found = malloc(((size_t)nops + 1) * sizeof *g->found);
	g->order = malloc(((size_t)nops + 1) * sizeof *g->order);
	/* Each operation occupies at most one slot, and one that the profile gives it; the other thunks are those of
	 * the execution op by op. */
	g->slots = malloc((2 * (size_t)nops + g->ref.n + 1) * sizeof *g->slots);
	return g->cls && g->found && g->order && g->slots;
}

/* The launches of one buffer. */
static bool
open_buffer(struct graphs *g, const struct ex_buffer *list, size_t n)
{
	uint32_t longest = 0;

	g->key = list->key;
	g->classes.n = 0;
	nsx_map_free(&g->by_class);
	for (size_t i = 0; i < n; i++) {
		struct gr_launch l = launch_of(g->p, list[i].thunk);
		longest = l.n > longest ? l.n : longest;
	}
	if (!longest)
		return true;
	if (!nsx_graph_ref_open(g) || !nsx_graph_list_open(g))
		return false;
	free(g->slots);
	g->slots = NULL;
	if (!make_room(g, longest))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct gr_launch l = launch_of(g->p, list[i].thunk);
		if (has_nodes(g->p, &l) && !open_launch(g, &l))
			return false;
	}
	return true;
}

static bool
open_program(struct graphs *g, const struct ex_buffer *list, size_t n)
{
	if (!nsx_graph_list_read(g))
		return false;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].key == list[i].key; end++)
			;
		if (!open_buffer(g, list + i, end - i))
			return false;
	}
	return true;
}

int
nsx_extract_open_graphs(struct ex_profile *p, uint32_t program, const struct ex_dump *dump)
{
	struct graphs g = { .p = p, .dump = dump, .program = program };
	size_t n;

	if (!p->buffers.made && !make_buffers(p))
		return nsx_err_nomem(&p->err, p->input->path);
	const struct ex_buffer *list = buffers_of(p, program, &n);
	if (!n || !p->op_thunk)
		return NSX_OK;
	bool good = open_program(&g, list, n);
	free(g.classes.p);
	nsx_map_free(&g.by_class);
	nsx_graph_ref_free(&g.ref);
	nsx_graph_list_free(&g.list);
	nsx_graph_names_free(&g.names);
	free(g.cls);
	free(g.found);
	free(g.order);
	free(g.slots);
	nsx_buf_free(&g.text);
	return good ? NSX_OK : p->rc != NSX_OK ? NSX_ERR : nsx_err_nomem(&p->err, p->input->path);
}

static void
find_idle(struct ex_profile *p)
{
	for (size_t i = 0; i < p->insts.n; i++)
		p->insts.p[i].idle = true;
	for (size_t i = 0; i < p->thunks.n; i++)
		if (!p->thunks.p[i].gone)
			p->insts.p[p->thunks.p[i].inst].idle = false;
}

int
nsx_extract_open_other_graphs(struct ex_profile *p)
{
	static const char *const how[EX_LEFT] = {
		[EX_PROFILE]  = "GPU operations of CUDA graphs whose instruction the profile has (%s)",
		[EX_OP_BY_OP] =
		"GPU operations of CUDA graphs assigned by an execution that ran operation by operation (%s)",
		[EX_LIST]     = "GPU operations of CUDA graphs assigned by XLA's list of thunks (%s)",
		[EX_NAME]     =
		"GPU operations of CUDA graphs assigned by kernel names that only one instruction can have (%s)",
	};
	const struct ex_buffers *b = &p->buffers;

	for (uint32_t i = 0; i < p->programs.n; i++)
		if (p->programs.p[i].executed && !p->programs.p[i].dumped && nsx_extract_open_graphs(p, i, NULL) !=
		    NSX_OK)
			return NSX_ERR;
	for (int i = 0; i < EX_LEFT; i++)
		nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, b->told[i], how[i],
		             nsx_ns_exact(b->ns[i]).s);
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, b->told[EX_LEFT],
		"GPU operations that could not be assigned to an instruction remain with command buffers: %s",
		nsx_ns_exact(b->ns[EX_LEFT]).s);
	if (!p->op_thunk)
		return NSX_OK;
	find_idle(p);
	return nsx_extract_number_occurrences(p);
}
