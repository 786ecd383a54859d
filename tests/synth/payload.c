/* payload.c -- payloads of XLA's ranges: structures of numbers and string handles, and the tables that describe them.
 * The texts follow XLA's rules: merged call stacks without the frames that the whole module shares, op_names without
 * the part that is in the title. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xport.h"

enum { DEEPEST = 32, MOST = 16 };
enum { HANDLE = 80, INT = 5, INT32 = 15, INT64 = 17, UINT64 = 18, UINT8 = 12, SIZE = 22 };
/* Those of --nccl follow: of NCCL 2.25 and later, then of earlier versions, in the order of enum syn_shape_of. */
enum { S_MODULE, S_BASIC, S_DETAILED, S_COLLECTIVE, S_NCCL, S_NEW, S_OLD = S_NEW + SYN_N_SHAPES };


/* Innermost frame and the whole op_name; SYN_NONE: no frame. */
struct stack { uint32_t frame; const char *op; };
struct stacks { struct stack v[MOST]; int n; };

/* The frames of a stack, outermost first; returns their number. */
static uint32_t
at(const struct syn_plan *p, uint32_t frame, uint32_t *chain)
{
	uint32_t n = 0;

	for (uint32_t f = frame; f != SYN_NONE; f = p->frame.p[f].parent)
		n++;
	if (n > DEEPEST)
		syn_die("too many frames");
	for (uint32_t k = n; k > 0; frame = p->frame.p[frame].parent)
		chain[--k] = frame;
	return n;
}

static int
compare_frame(const struct syn_frame *a, const char *op_a, const struct syn_frame *b, const char *op_b)
{
	int c = strcmp(a->file, b->file);

	if (!c)
		c = a->line != b->line ? (a->line < b->line ? -1 : 1) : 0;
	if (!c)
		c = a->column != b->column ? (a->column < b->column ? -1 : 1) : 0;
	if (!c)
		c = strcmp(a->function, b->function);
	return c ? c : strcmp(op_a, op_b);
}

/* Stacks as XLA sorts them: frame by frame, where only the innermost has an op_name. *same is the number of equal
 * frames, from the outermost on. */
static int
compare(const struct syn_plan *p, const struct stack *a, const struct stack *b, uint32_t *same)
{
	uint32_t x[DEEPEST], y[DEEPEST], n = at(p, a->frame, x), m = at(p, b->frame, y), i;

	for (i = 0; i < n && i < m; i++) {
		int c = compare_frame(&p->frame.p[x[i]], i + 1 == n ? a->op : "", &p->frame.p[y[i]], i + 1 == m ? b->op : "");
		if (c) {
			*same = i;
			return c;
		}
	}
	*same = i;
	return n < m ? -1 : n > m;
}

/* An op_name without its prefix and the slash after it. */
static const char *
rest(const char *op, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(op, prefix, n) == 0)
		op += n;
	return *op == '/' ? op + 1 : op;
}

/* Keep sorted and distinct. */
static void
add(const struct syn_plan *p, struct stacks *s, uint32_t frame, const char *op)
{
	struct stack new = { frame, op };
	uint32_t same;
	int i = 0, c = 1;

	if (frame == SYN_NONE)
		return;
	while (i < s->n && (c = compare(p, &new, &s->v[i], &same)) > 0)
		i++;
	if (i < s->n && !c)
		return;
	if (s->n == MOST)
		syn_die("too many stacks");
	memmove(&s->v[i + 1], &s->v[i], (size_t)(s->n - i) * sizeof *s->v);
	s->v[i] = new;
	s->n++;
}

/* The longest common prefix of two op_names, cut at a slash. */
static const char *
common(struct syn_plan *p, const char *a, const char *b)
{
	size_t i = 0, cut = 0;

	for (;; i++) {
		if ((!a[i] || a[i] == '/') && (!b[i] || b[i] == '/'))
			cut = i;
		if (!a[i] || a[i] != b[i])
			return syn_fmt(p, "%.*s", (int)cut, a);
	}
}

static const char *
common_op_name(struct syn_plan *p, const struct syn_program *pr, const struct syn_inst *in)
{
	const char *op = *in->op_name ? in->op_name : NULL;

	for (uint32_t k = 0; in->body != SYN_NONE && k < pr->comp.p[in->body].n; k++) {
		const char *s = pr->inner.p[pr->comp.p[in->body].first + k].op_name;
		if (*s)
			op = op ? common(p, op, s) : s;
	}
	return op ? op : "";
}

/* The text for the instruction's stacks. */
static struct stacks
stacks_of(struct syn_plan *p, const struct syn_program *pr, const struct syn_inst *in)
{
	const char *prefix = common_op_name(p, pr, in);
	struct stacks s = { .n = 0 };

	add(p, &s, in->frame, rest(in->op_name, prefix));
	for (uint32_t k = 0; in->body != SYN_NONE && k < pr->comp.p[in->body].n; k++) {
		const struct syn_inst *inner = &pr->inner.p[pr->comp.p[in->body].first + k];
		add(p, &s, inner->frame, rest(inner->op_name, prefix));
	}
	if (syn_reduces(in)) {
		struct syn_inst reducer = syn_reducer(p, pr);
		add(p, &s, reducer.frame, rest(reducer.op_name, prefix));
	}
	return s;
}

/* Common first frames of all stacks of the program: those of the first and last in sorted order. */
static uint32_t
shared_frames(struct syn_plan *p, const struct syn_program *pr, uint32_t *frame)
{
	struct stack first = { SYN_NONE, "" }, last = first;
	uint32_t same = 0, n = 0;

	struct syn_inst reducer = syn_reducer(p, pr);

	for (size_t i = 0; i <= pr->inst.n + pr->inner.n; i++) {
		const struct syn_inst *in = i < pr->inst.n ? &pr->inst.p[i] : i < pr->inst.n + pr->inner.n ? &pr->inner.p[i - pr->inst.n] : &reducer;
		struct stack s = { in->frame, in->op_name };
		if (in->frame == SYN_NONE)
			continue;
		if (!n++)
			first = last = s;
		if (compare(p, &s, &first, &same) < 0)
			first = s;
		if (compare(p, &s, &last, &same) > 0)
			last = s;
	}
	if (first.frame == SYN_NONE || compare(p, &first, &last, &same) == 0)
		return 0;
	*frame = first.frame;
	return same;
}

static void
escaped(struct nsx_buf *b, const char *s)
{
	for (; *s; s++)
		nsx_buf_fmt(b, *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : "%c", *s);
}

static void
line(struct nsx_buf *b, const struct syn_frame *f, const char *op, int depth)
{
	for (int i = 0; i < depth; i++)
		nsx_buf_char(b, '-');
	if (depth)
		nsx_buf_char(b, ' ');
	escaped(b, f->file);
	nsx_buf_fmt(b, ":%d", f->line);
	if (f->column)
		nsx_buf_fmt(b, ":%d", f->column);
	if (*f->function) {
		nsx_buf_char(b, '[');
		escaped(b, f->function);
		nsx_buf_char(b, ']');
	}
	if (*op) {
		nsx_buf_char(b, ' ');
		escaped(b, op);
	}
	nsx_buf_char(b, '\n');
}

static const char *
done(struct syn_plan *p, struct nsx_buf *b)
{
	const char *s = syn_fmt(p, "%.*s", (int)b->len, b->ptr);

	nsx_buf_free(b);
	return s;
}

/* The stacks as a tree, without the frames of the module. */
static const char *
source_text(struct syn_plan *p, const struct syn_program *pr, const struct syn_inst *in)
{
	struct stacks s = stacks_of(p, pr, in);
	uint32_t unused, skip = shared_frames(p, pr, &unused);
	struct nsx_buf b = { 0 };

	nsx_buf_char(&b, '\n');
	for (int i = 0; i < s.n; i++) {
		uint32_t chain[DEEPEST], n = at(p, s.v[i].frame, chain), from = 0;
		if (i)
			compare(p, &s.v[i - 1], &s.v[i], &from);
		for (uint32_t k = from > skip ? from : skip; k < n; k++)
			line(&b, &p->frame.p[chain[k]], k + 1 == n ? s.v[i].op : "", (int)(k - skip) + 1);
	}
	return done(p, &b);
}

static const char *
module_text(struct syn_plan *p, const struct syn_program *pr)
{
	uint32_t frame = SYN_NONE, chain[DEEPEST], n = shared_frames(p, pr, &frame);
	struct nsx_buf b = { 0 };

	at(p, frame, chain);
	nsx_buf_char(&b, '\n');
	for (uint32_t k = 0; k < n; k++)
		line(&b, &p->frame.p[chain[k]], "", 0);
	return done(p, &b);
}

static const char *
hlo_text(struct syn_plan *p, const struct syn_inst *in)
{
	bool start = strstr(in->opcode, "-start") != NULL;
	const char *shape = start ? "(bf16[8,4]{1,0:T(8,128)}, /*index=1*/bf16[16,4]{1,0})" : "bf16[8,4]{1,0}";
	struct nsx_buf b = { 0 };

	nsx_buf_fmt(&b, "%s = %s %s(param.1, s32[] constant.7)", in->name, shape, in->opcode);
	if (in->body != SYN_NONE)
		nsx_buf_fmt(&b, ", kind=kLoop, calls=fused_%s", in->name);
	if (*in->op_name) {
		nsx_buf_c(&b, ", metadata={op_type=\"a op_name=\\\"none\" op_name=\"");
		for (const char *s = in->op_name; *s; s++)
			nsx_buf_fmt(&b, *s == '"' || *s == '\\' ? "\\%c" : (unsigned char)*s >= 0x80 ? "\\%03o" : "%c", (unsigned char)*s);
		nsx_buf_c(&b, "\"}");
	}
	nsx_buf_c(&b, ", backend_config={\"note\":\"metadata={op_name=\\\"not this\\\"}\"}");
	return done(p, &b);
}

/* ---- structures */

struct field { const char *name; int type; int offset; };
static const struct { const char *name; int size; struct field f[12]; } shapes[] = {
	[S_MODULE] = { "XlaModule", 96, { { "Name", HANDLE, 72 }, { "Unique ID", INT32, 88 }, { "Common source locations", HANDLE, 80 } } },
	[S_BASIC] = { "XlaInstruction", 24, { { "Source locations", HANDLE, 8 }, { "HLO", HANDLE, 0 }, { "Called HLO", HANDLE, 16 } } },
	[S_DETAILED] = { "XlaInstructionDetailed", 80,
	                 { { "Source locations", HANDLE, 8 }, { "HLO", HANDLE, 0 }, { "Called HLO", HANDLE, 16 }, { "HLO name", HANDLE, 24 },
	                   { "HLO unique ID", INT64, 32 }, { "Framework op type", HANDLE, 40 }, { "Framework op name", HANDLE, 48 },
	                   { "Source file", HANDLE, 56 }, { "Source line", INT32, 64 }, { "Output shape", HANDLE, 72 } } },
	[S_COLLECTIVE] = { "XlaCollectiveDetailed", 128,
	                   { { "Source locations", HANDLE, 8 }, { "HLO", HANDLE, 0 }, { "Called HLO", HANDLE, 16 }, { "HLO name", HANDLE, 24 },
	                     { "HLO unique ID", INT64, 32 }, { "Framework op name", HANDLE, 48 }, { "Source file", HANDLE, 56 }, { "Source line", INT32, 64 },
	                     { "Replica groups", HANDLE, 80 }, { "Is pipelined", UINT8, 88 }, { "Combiner key", HANDLE, 104 } } },
	[S_NCCL] = { NULL, 8, { { "NCCL communicator ID", UINT64, 0 } } },
	[S_NEW + SYN_N_COLL]   = { NULL, 16, { { "NCCL communicator ID", UINT64, 0 }, { "Message size [bytes]", SIZE, 8 } } },
	[S_NEW + SYN_N_REDUCE] = { NULL, 24, { { "NCCL communicator ID", UINT64, 0 }, { "Message size [bytes]", SIZE, 8 }, { "Reduction operation", 1 << 24 | 16, 16 } } },
	[S_NEW + SYN_N_ROOTED] = { NULL, 24, { { "NCCL communicator ID", UINT64, 0 }, { "Message size [bytes]", SIZE, 8 }, { "Root", INT, 16 } } },
	[S_NEW + SYN_N_P2P]    = { NULL, 24, { { "NCCL communicator ID", UINT64, 0 }, { "Message size [bytes]", SIZE, 8 }, { "Peer rank", INT, 16 } } },
	[S_NEW + SYN_N_INIT]   = { NULL, 24, { { "NCCL communicator ID", UINT64, 0 }, { "No. of ranks", INT, 8 }, { "Rank", INT, 12 }, { "CUDA device", INT, 16 } } },
	[S_OLD + SYN_N_COLL]   = { NULL, 8, { { "Message size [bytes]", SIZE, 0 } } },
	[S_OLD + SYN_N_REDUCE] = { NULL, 16, { { "Message size [bytes]", SIZE, 0 }, { "Reduction operation", 1 << 24 | 14, 8 } } },
	[S_OLD + SYN_N_ROOTED] = { NULL, 16, { { "Message size [bytes]", SIZE, 0 }, { "Root", INT, 8 } } },
	[S_OLD + SYN_N_P2P]    = { NULL, 16, { { "Bytes", SIZE, 0 }, { "Peer rank", INT, 8 } } },
	[S_OLD + SYN_N_INIT]   = { NULL, 16, { { "No. of ranks", INT, 0 }, { "Rank", INT, 4 }, { "CUDA device", INT, 8 } } },
};

static bool
is(const char *what)
{
	return syn_opt.payloads && strcmp(syn_opt.payloads, what) == 0;
}

static bool
is_nccl(const char *what)
{
	return syn_opt.nccl && strcmp(syn_opt.nccl, what) == 0;
}

/* Newer profilers number schemas from 2^32 on. For NCCL, a number has different meanings in different versions. */
static int64_t
schema_id(int schema)
{
	if (schema >= S_NEW)
		return (1 << 24) + (is_nccl("2.27") ? 1 + schema % SYN_N_SHAPES : 16 - schema % SYN_N_SHAPES);
	return (strcmp(syn_opt.schema, "3.25.0") == 0 ? (int64_t)1 << 32 : 1 << 24) + schema;
}

static void
schema_rows(struct db_table *schemas, struct db_table *entries, int64_t domain, int s)
{
	int n = 0;

	for (; n < 12 && shapes[s].f[n].name; n++) {
		const struct field *f = &shapes[s].f[n];

		db_int(entries, db_col(entries, "domainId"), domain);
		db_int(entries, db_col(entries, "schemaId"), schema_id(s));
		db_int(entries, db_col(entries, "idx"), n);
		db_int(entries, db_col(entries, "type"), f->type);
		db_text(entries, db_col(entries, "name"), f->name);
		/* An offset of 0 is not recorded. */
		if (f->offset)
			db_int(entries, db_col(entries, "offset"), f->offset);
		else
			db_null(entries, db_col(entries, "offset"));
		db_row(entries);
	}
	db_int(schemas, db_col(schemas, "domainId"), domain);
	db_int(schemas, db_col(schemas, "schemaId"), schema_id(s));
	db_text(schemas, db_col(schemas, "name"), shapes[s].name);
	db_int(schemas, db_col(schemas, "type"), 1);
	db_int(schemas, db_col(schemas, "numEntries"), n);
	db_int(schemas, db_col(schemas, "payloadSize"), shapes[s].size);
	db_row(schemas);
}

void
xport_schemas(struct xport *x)
{
	bool nccl = syn_opt.nccl || x->p->payload.n;
	int from = nccl ? is_nccl("2.24") ? S_OLD : S_NEW : S_MODULE, to = nccl ? from + SYN_N_SHAPES - 1 : S_NCCL;

	if (!syn_opt.payloads && !nccl)
		return;
	struct db_table *schemas = db_table(x->d, "NVTX_PAYLOAD_SCHEMAS"), *entries = db_table(x->d, "NVTX_PAYLOAD_SCHEMA_ENTRIES");
	for (uint32_t r = 0; r < x->p->proc.n; r++)
		for (int s = from; s <= to && xport_here(x, r); s++)
			schema_rows(schemas, entries, x->p->proc.p[r].domain_id[s >= S_NCCL ? SYN_NCCL : SYN_TSL], s);
}

struct blob { unsigned char b[32 + 128]; int schema; };

static void
put(unsigned char *b, int64_t v, int n)
{
	for (int i = 0; i < n; i++)
		b[i] = (unsigned char)((uint64_t)v >> (8 * i));
}

/* Fields by name; a schema may lack a field. */
static void
number(struct blob *b, const char *name, int64_t v)
{
	for (int i = 0; i < 12 && shapes[b->schema].f[i].name; i++) {
		const struct field *f = &shapes[b->schema].f[i];
		if (strcmp(f->name, name) == 0)
			put(b->b + 32 + f->offset, v, f->type == UINT8 ? 1 : f->type == INT32 || f->type == INT ? 4 : 8);
	}
}

static void
text(struct xport *x, struct blob *b, const char *name, const char *s)
{
	number(b, name, *s ? xport_cstring(x, s) : 0);
}

static void
fill_inst(struct xport *x, struct blob *b, uint32_t prog, const struct syn_inst *in)
{
	struct syn_plan *p = x->p;
	const struct syn_program *pr = &p->prog.p[prog];
	const char *op = *in->op_name ? in->op_name : common_op_name(p, pr, in);

	text(x, b, "Source locations", source_text(p, pr, in));
	text(x, b, "HLO", hlo_text(p, in));
	text(x, b, "Called HLO", syn_opt.secret ? syn_opt.secret : "\n");
	text(x, b, "HLO name", in->name);
	number(b, "HLO unique ID", in->uid);
	text(x, b, "Framework op name", op);
	text(x, b, "Source file", in->frame == SYN_NONE ? "" : p->frame.p[in->frame].file);
	number(b, "Source line", in->frame == SYN_NONE ? 0 : p->frame.p[in->frame].line);
	text(x, b, "Combiner key", syn_opt.secret ? syn_opt.secret : "");
	if (in->collective && in->form != SYN_NO_GROUPS) {
		struct syn_groups g = { 0 };
		struct nsx_buf list = { 0 };

		syn_groups(p, in, &g);
		nsx_buf_c(&list, "{");
		for (size_t i = 0, k = 0; i < g.end.n; i++) {
			nsx_buf_c(&list, i ? ",{" : "{");
			for (size_t from = k; k < g.end.p[i]; k++)
				nsx_buf_fmt(&list, "%s%d", k > from ? "," : "", g.id.p[k]);
			nsx_buf_c(&list, "}");
		}
		nsx_buf_c(&list, "}");
		text(x, b, "Replica groups", done(p, &list));
		free(g.id.p);
		free(g.end.p);
	}
}

/* The thunk whose range is the plan's range i; SYN_NONE: none. */
static uint32_t
thunk_of(const struct syn_plan *p, uint32_t i)
{
	/* Thunks are in the order of the starts of their ranges. */
	for (uint32_t lo = 0, hi = (uint32_t)p->thunk.n; lo < hi;) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->thunk.p[mid].range == i)
			return mid;
		if (p->thunk.p[mid].range < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return SYN_NONE;
}

static uint32_t
module_of(const struct syn_plan *p, uint32_t i)
{
	for (uint32_t m = 0; m < p->module.n; m++)
		if (p->module.p[m].range == i)
			return m;
	return SYN_NONE;
}

/* Ways to damage a payload, each for some instructions; returns its length. */
static int
spoil(struct blob *b, uint32_t inst, int n)
{
	switch (inst % 6) {
	case 1: return 20;
	case 2: put(b->b + 8, 99, 8); break;
	case 3: put(b->b + 16, INT64_MAX, 8); break;
	case 4: put(b->b + 32 + 8, 123456789, 8); break;
	case 5: return n - 8;
	}
	return n;
}

bool
syn_payload_spoilt(uint32_t payload)
{
	return is_nccl("broken") && (payload % 6 == 1 || payload % 6 == 2 || payload % 6 == 3 || payload % 6 == 5);
}

static void
fill_nccl(struct blob *b, const struct syn_payload *pl)
{
	b->schema = (is_nccl("2.24") ? S_OLD : S_NEW) + pl->shape;
	number(b, "NCCL communicator ID", pl->comm);
	number(b, "Message size [bytes]", pl->size);
	number(b, "Bytes", pl->size);
	number(b, "Peer rank", pl->peer);
	number(b, "Root", 1);
	number(b, "No. of ranks", pl->ranks);
	number(b, "Rank", pl->rank);
	number(b, "CUDA device", pl->cuda);
}

void
xport_payload(struct xport *x, struct db_table *t, int col, uint32_t range)
{
	struct syn_plan *p = x->p;
	const struct syn_range *r = &p->range.p[range];
	struct blob b = { .schema = -1 };
	uint32_t i = SYN_NONE;
	int n;

	db_null(t, col);
	if (!(syn_opt.payloads || r->payload) || !col)
		return;
	if (r->payload) {
		fill_nccl(&b, &p->payload.p[r->payload - 1]);
	} else if (r->domain == SYN_NCCL) {
		b.schema = S_NCCL;
		number(&b, "NCCL communicator ID", INT64_MIN + 7);
	} else if ((i = thunk_of(p, range)) != SYN_NONE) {
		const struct syn_thunk *th = &p->thunk.p[i];
		uint32_t prog = th->module == SYN_NONE ? SYN_NONE : p->module.p[th->module].prog;
		const struct syn_inst *in = prog == SYN_NONE ? NULL : &p->prog.p[prog].inst.p[th->inst];
		if (!in || in->what == SYN_BUFFER)
			return;
		b.schema = !is("detailed") ? S_BASIC : in->collective ? S_COLLECTIVE : S_DETAILED;
		fill_inst(x, &b, prog, in);
	} else if ((i = module_of(p, range)) != SYN_NONE && p->module.p[i].prog != SYN_NONE) {
		const struct syn_program *pr = &p->prog.p[p->module.p[i].prog];
		b.schema = S_MODULE;
		/* The structure is larger than its schema. */
		snprintf((char *)b.b + 32, 64, "%s", syn_opt.secret ? syn_opt.secret : "title");
		text(x, &b, "Name", pr->name);
		number(&b, "Unique ID", syn_program_id(r->proc, pr));
		text(x, &b, "Common source locations", module_text(p, pr));
	}
	if (b.schema < 0)
		return;
	n = 32 + shapes[b.schema].size;
	put(b.b, p->proc.p[r->proc].domain_id[r->domain], 4);
	put(b.b + 8, schema_id(b.schema), 8);
	put(b.b + 16, n - 32, 8);
	put(b.b + 24, n, 8);
	if (is("broken") && b.schema == S_BASIC)
		n = spoil(&b, p->thunk.p[i].inst, n);
	if (is_nccl("broken"))
		n = spoil(&b, r->payload % 6 == 4 ? 0 : r->payload, n);
	if (is("hex") || is_nccl("hex")) {
		struct nsx_buf h = { 0 };
		for (int k = 0; k < n; k++)
			nsx_buf_fmt(&h, "%02X", b.b[k]);
		db_text(t, col, done(p, &h));
	} else {
		db_blob(t, col, b.b, (size_t)n);
	}
}

/* ---- answers */

/* Whether a text shows where the stack ends: it does not if another stack continues from there and this one has no
 * op_name, or if all of its frames are those of the module. */
static bool
shown(struct syn_plan *p, const struct syn_program *pr, const struct stacks *s, int i)
{
	uint32_t mine[DEEPEST], n = at(p, s->v[i].frame, mine), unused;

	if (n <= shared_frames(p, pr, &unused))
		return false;
	if (*s->v[i].op)
		return true;
	for (int k = 0; k < s->n; k++) {
		uint32_t other[DEEPEST], m = at(p, s->v[k].frame, other);
		if (m > n && memcmp(mine, other, n * sizeof *mine) == 0)
			return false;
	}
	return true;
}

/* places: op_name and frames of every instruction as far as payloads show them; an instruction without frames has one
 * row, with its op_name. */
void
syn_places(struct syn_plan *p)
{
	struct syn_tsv t;

	if (!syn_opt.payloads)
		return;
	syn_tsv_open(&t, "places", "program\tinstruction\top_name\tframes");
	for (uint32_t g = 0; g < p->prog.n; g++)
		for (size_t i = 0; i < p->prog.p[g].inst.n; i++) {
			const struct syn_inst *in = &p->prog.p[g].inst.p[i];
			struct stacks s = stacks_of(p, &p->prog.p[g], in);
			const char *prefix = common_op_name(p, &p->prog.p[g], in);

			for (int k = 0; k < s.n; k++)
				if (shown(p, &p->prog.p[g], &s, k))
					syn_tsv_row(&t, "%s\t%s\t%s%s%s\t%s", p->prog.p[g].name, in->name, prefix, *prefix && *s.v[k].op ? "/" : "", s.v[k].op,
					            syn_stack(p, s.v[k].frame));
			if (!s.n)
				syn_tsv_row(&t, "%s\t%s\t%s\t", p->prog.p[g].name, in->name, in->op_name);
		}
	syn_tsv_close(&t);
}
