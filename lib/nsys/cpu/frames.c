/* frames.c -- stacks: rows of a table of chains into shapes, and shapes into text, outermost frame first.
 *
 *   symbol       module              unresolved
 *   sem_wait     /lib/libc.so.6                    0, innermost
 *   0x5133b3     /usr/bin/python3    1             1
 *   main         /usr/bin/python3                  2         ->  python3[main];python3[?];libc.so.6[sem_wait]
 *
 * Names in brackets, such as `[Broken backtraces]`, are marks of nsys and no functions. */
#include "nsys/cpu/reading.h"

#include <string.h>

enum { ID, SYMBOL, MODULE, UNRESOLVED, DEPTH, NCOLUMNS };

uint32_t
nsx_cpu_want_chain(struct nsx_cpu_reading *r, int64_t id)
{
	uint32_t *at = nsx_map_at(&r->chain_of, (struct nsx_key){ (uint64_t)id, 0 });

	if (at && *at == NSX_NONE && nsx_vec_push(&r->chain_shapes, NSX_NONE))
		*at = (uint32_t)r->chain_shapes.n - 1;
	return at ? *at : NSX_NONE;
}

uint32_t
nsx_cpu_shape_at(struct nsx_cpu_reading *r, const struct nsx_frame *frames, size_t n)
{
	return nsx_intern(&r->frames, (struct nsx_str){ (const char *)frames, n * sizeof *frames });
}

/* The chain that was read is complete. */
static int
end_chain(struct nsx_cpu_reading *r)
{
	uint32_t at = r->chain.n ? nsx_map_get(&r->chain_of, (struct nsx_key){ (uint64_t)r->chain_id, 0 }) : NSX_NONE;

	if (at != NSX_NONE) {
		if (r->chain_shapes.p[at] != NSX_NONE)
			r->disordered += r->chain.n;
		else if ((r->chain_shapes.p[at] = nsx_cpu_shape_at(r, r->chain.p, r->chain.n)) == NSX_NONE)
			return nsx_load_nomem(r->l);
	}
	r->chain.n = 0;
	return NSX_OK;
}

static int
row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_cpu_reading *r = ctx;
	struct nsx_frame f = { NSX_NONE, NSX_NONE, NSX_FRAME_NATIVE };
	int64_t id, depth, symbol, module, unresolved;

	if (!nsx_cell_int(&v[ID], &id) || !nsx_cell_int(&v[DEPTH], &depth)) {
		r->bad++;
		return NSX_OK;
	}
	if (r->chain.n && id != r->chain_id && end_chain(r) != NSX_OK)
		return NSX_ERR;
	if (nsx_map_get(&r->chain_of, (struct nsx_key){ (uint64_t)id, 0 }) == NSX_NONE)
		return NSX_OK;
	if (r->chain.n && depth <= r->chain_depth) {
		r->disordered++;
		return NSX_OK;
	}
	r->chain_id = id;
	r->chain_depth = depth;
	if (nsx_cell_int(&v[SYMBOL], &symbol) && (f.name = nsx_ids_at(&r->l->ids, symbol)) == NSX_NONE)
		return NSX_ERR;
	if (nsx_cell_int(&v[MODULE], &module) && (f.where = nsx_ids_at(&r->l->ids, module)) == NSX_NONE)
		return NSX_ERR;
	/* Addresses differ from process to process: of an unresolved frame only its module counts. */
	if (nsx_cell_int(&v[UNRESOLVED], &unresolved) && unresolved) {
		f.line = NSX_FRAME_UNRESOLVED;
		f.name = NSX_NONE;
	}
	return nsx_vec_push(&r->chain, f) ? NSX_OK : NSX_ERR;
}

int
nsx_cpu_read_chains(struct nsx_cpu_reading *r, const char *table)
{
	static const struct nsx_db_col columns[NCOLUMNS] = {
		{ "id", true }, { "symbol", true }, { "module", true }, { "unresolved", true }, { "stackDepth", true }
	};
	struct nsx_db_scan s = { table, columns, NCOLUMNS, .ctx = r, .cells = row };

	if (r->chain_shapes.n && nsx_db_has(&r->l->db, table) &&
	    (nsx_db_run(&r->l->db, &s, r->l->err) != NSX_OK || end_chain(r) != NSX_OK))
		return NSX_ERR;
	nsx_map_clear(&r->chain_of);
	return NSX_OK;
}

/* ---- text */

struct nsx_str
nsx_cpu_text(const struct nsx_cpu_reading *r, uint32_t id)
{
	uint32_t name = id == NSX_NONE ? NSX_NONE : r->l->id_names[id];

	return name == NSX_NONE ? NSX_STR("") : nsx_intern_str(&r->l->t->names, name);
}

static struct nsx_str
last_component(struct nsx_str path)
{
	size_t from = path.len;

	while (from && path.ptr[from - 1] != '/')
		from--;
	return (struct nsx_str){ path.ptr + from, path.len - from };
}

static bool
is_mark(struct nsx_str symbol)
{
	return symbol.len > 1 && symbol.ptr[0] == '[' && symbol.ptr[symbol.len - 1] == ']';
}

/* ';' would end a frame. */
static void
put(struct nsx_buf *b, struct nsx_str text)
{
	for (size_t i = 0; i < text.len; i++)
		nsx_buf_char(b, text.ptr[i] == ';' ? ':' : text.ptr[i]);
}

/* nsys writes names of Python as HTML. */
static void
put_python(struct nsx_buf *b, struct nsx_str text)
{
	static const struct { struct nsx_str html; char c; } marks[] = { { { "&lt;", 4 }, '<' }, { { "&gt;", 4 }, '>' },
	                                                                 { { "&amp;", 5 }, '&' } };

	for (size_t i = 0; i < text.len; i++) {
		size_t k = 0;

		while (k < 3 && !nsx_str_starts((struct nsx_str){ text.ptr + i, text.len - i }, marks[k].html.ptr))
			k++;
		nsx_buf_char(b, k < 3 ? marks[k].c : text.ptr[i] == ';' ? ':' : text.ptr[i]);
		i += k < 3 ? marks[k].html.len - 1 : 0;
	}
}

static void
put_frame(const struct nsx_cpu_reading *r, const struct nsx_frame *f, struct nsx_buf *b)
{
	struct nsx_str name = nsx_cpu_text(r, f->name), where = nsx_cpu_text(r, f->where);

	if (f->line < 0 && is_mark(name))
		return;
	if (b->len)
		nsx_buf_char(b, ';');
	if (f->line >= 0) {
		put_python(b, where);
		nsx_buf_fmt(b, ":%ld[", (long)f->line);
		put_python(b, name);
	} else {
		put(b, last_component(where));
		nsx_buf_char(b, '[');
		put(b, name.len ? name : NSX_STR("?"));
	}
	nsx_buf_char(b, ']');
}

/* Whether Python's interpreter itself waits, in a call whose stack this is: from the innermost frame outwards, without
 * those of the C library and of nsys, all up to the first named as the interpreter are of one module, and none takes a
 * lock of Python's. */
static bool
interpreter_waits(const struct nsx_cpu_reading *r, const struct nsx_frame *f, size_t n)
{
	static const char *const below[] = { "libc.", "libc-", "libpthread", "ld-", "libToolsInjection" };
	uint32_t module = NSX_NONE;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		struct nsx_str name = nsx_cpu_text(r, f[i].name), where = last_component(nsx_cpu_text(r, f[i].where));
		bool skip = is_mark(name) && f[i].line == NSX_FRAME_NATIVE;

		for (size_t k = 0; k < sizeof below / sizeof *below && !skip; k++)
			skip = nsx_str_starts(where, below[k]);
		if (skip)
			continue;
		if (any && f[i].where != module)
			return false;
		any = true;
		module = f[i].where;
		if (nsx_str_starts(name, "PyThread_acquire_lock"))
			return false;
		if (nsx_str_starts(name, "_PyEval_") || nsx_str_starts(name, "PyEval_") ||
		    nsx_str_starts(name, "PyGILState_"))
			return true;
	}
	return false;
}

static bool
begins_in_threading(const struct nsx_cpu_reading *r, const struct nsx_frame *outermost)
{
	return outermost->line >= 0 &&
	       nsx_str_eq(last_component(nsx_cpu_text(r, outermost->where)), NSX_STR("threading.py")) &&
	       nsx_str_eq(nsx_cpu_text(r, outermost->name), NSX_STR("_bootstrap"));
}

/* Fill the shape, and its stack. False when out of memory. */
static bool
describe(struct nsx_cpu_reading *r, uint32_t number, struct nsx_shape *shape)
{
	struct nsx_str bytes = nsx_intern_str(&r->frames, number);
	size_t n = bytes.len / sizeof *r->chain.p;
	const struct nsx_frame *f;

	*shape = (struct nsx_shape){ .done = true, .stack = NSX_NONE };
	r->chain.n = 0;
	if (!n)
		return true;
	if (!nsx_vec_room(&r->chain, n))
		return false;
	/* Bytes of the table are not aligned. */
	memcpy(r->chain.p, bytes.ptr, bytes.len);
	f = r->chain.p;
	shape->interpreter = interpreter_waits(r, f, n);
	shape->broken = nsx_str_eq(nsx_cpu_text(r, f[n - 1].name), NSX_STR("[Broken backtraces]"));
	shape->bootstrap = begins_in_threading(r, &f[n - 1]);
	r->text.len = 0;
	for (size_t i = n; i-- > 0;)
		put_frame(r, &f[i], &r->text);
	if (r->text.failed)
		return false;
	if (!r->text.len)
		return true;
	shape->stack = nsx_intern(&r->c->stacks, nsx_buf_view(&r->text));
	return shape->stack != NSX_NONE;
}

const struct nsx_shape *
nsx_cpu_shape(struct nsx_cpu_reading *r, uint32_t shape)
{
	while (r->shapes.n < r->frames.n)
		if (!nsx_vec_push(&r->shapes, (struct nsx_shape){ .stack = NSX_NONE }))
			return NULL;
	struct nsx_shape *s = &r->shapes.p[shape];

	return s->done || describe(r, shape, s) ? s : NULL;
}
