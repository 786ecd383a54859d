/* thunk_list.c -- XLA's list of thunks. The text has kinds, kernels and nesting, a line for each thunk:
 *
 *   014: kWhile         [prev=013 (1) | next=052 (1)]
 *   condition:
 *       015: kCustomKernel [source | sink] loop_compare_fusion grid: [1, 1, 1] threads: [1, 1, 1]  shared_memory: 0
 *     bytes
 *     body:
 *       016: kCopy [source | sink] kCopy
 *
 * The metadata contain the same thunks in the same order, with the names of instructions (annotations), and in addition
 * some of kind kSequential. */
#include "xla/thunk_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "xla/dumpfile.h"
#include "xla/wire.h"

enum { DEPTH_MAX = 64, BYTES_MAX = 1 << 28, NAME_MAX_BYTES = 1 << 20 };
enum { F_THUNK = 1, F_ABOUT = 1, F_KIND = 2, F_ANNOTATION = 1 };   /* fields of the metadata */

struct reading {
	struct nsx_thunk_list *l;
	struct nsx_dumpfile    f;
	struct nsx_err        *err;
	NSX_VEC(struct nsx_thunk) thunks;
	NSX_VEC(uint32_t)      leaves, buffer;
	/* The thunks that may contain the next line, and whether their condition is being listed. */
	struct { uint32_t thunk; size_t indent; bool condition; } open[DEPTH_MAX];
	int                    depth;
	bool                   labelled, label;   /* a label was before this line; it was `condition:` */
	uint64_t               line;
};

static int
nomem(struct reading *r)
{
	return nsx_dumpfile_nomem(&r->f);
}

/* ---- kinds */

/* kAllReduce, kAllReduceStart, and in older versions kNcclAllReduce. */
static bool
is_collective(struct nsx_str kind)
{
	static const char *const kinds[] = { "AllGather", "AllReduce", "AllToAll", "RaggedAllToAll", "Collective",
	                                     "ReduceScatter", "Send", "Recv", "Group" };

	kind = (struct nsx_str){ kind.ptr + 1, kind.len - 1 };
	if (nsx_str_starts(kind, "Nccl"))
		kind = (struct nsx_str){ kind.ptr + 4, kind.len - 4 };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (nsx_str_starts(kind, kinds[i]))
			return true;
	return false;
}

static enum nsx_thunk_work
work_of(struct nsx_str kind, bool kernel)
{
	static const char *const idle[] = { "kSequential", "kWhile", "kConditional", "kCommandBuffer", "kAsyncStart",
	                                    "kWaitForStreams" };

	if (kernel)
		return NSX_WORK_KERNEL;
	if (nsx_str_ends(kind, "Done"))
		return NSX_WORK_NONE;
	for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (nsx_str_eq(kind, nsx_str_c(idle[i])))
			return NSX_WORK_NONE;
	if (is_collective(kind))
		return NSX_WORK_COLLECTIVE;
	if (nsx_str_ends(kind, "Copy"))
		return NSX_WORK_COPY;
	if (nsx_str_starts(kind, "kMem") || nsx_str_eq(kind, NSX_STR("kPartitionId")) ||
	    nsx_str_eq(kind, NSX_STR("kReplicaId")))
		return NSX_WORK_SET;
	return NSX_WORK_LIBRARY;
}

/* ---- the text */

static int
odd(struct reading *r, const char *why)
{
	return nsx_err_set(r->err, "%s: not a list of thunks: line %llu: %s", r->f.path, (unsigned long long)r->line,
	                   why);
}

static size_t
word(struct nsx_str s)
{
	size_t n = 0;

	while (n < s.len && s.ptr[n] != ' ')
		n++;
	return n;
}

static struct nsx_str
skip(struct nsx_str s, size_t n)
{
	return (struct nsx_str){ s.ptr + n, s.len - n };
}

static struct nsx_str
blanks(struct nsx_str s)
{
	size_t n = 0;

	while (n < s.len && s.ptr[n] == ' ')
		n++;
	return skip(s, n);
}

/* `condition:`, `body:`, `branch_2:`, before the thunks that they label. */
static int
read_label(struct reading *r, struct nsx_str s)
{
	if (!(s.ptr[0] >= 'a' && s.ptr[0] <= 'z') || s.ptr[s.len - 1] != ':' || word(s) != s.len)
		return odd(r, "neither a thunk nor a label");
	r->labelled = true;
	r->label = nsx_str_eq(s, NSX_STR("condition:"));
	return NSX_OK;
}

/* `NAME grid: [...]` after the brackets of the kind. */
static struct nsx_str
kernel_of(struct nsx_str rest)
{
	const char *close = rest.len && rest.ptr[0] == '[' ? memchr(rest.ptr, ']', rest.len) : NULL;

	if (close)
		rest = blanks(skip(rest, (size_t)(close + 1 - rest.ptr)));
	size_t n = word(rest);
	if (n && nsx_str_starts(blanks(skip(rest, n)), "grid:"))
		return (struct nsx_str){ rest.ptr, n };
	return (struct nsx_str){ "", 0 };
}

static int
read_thunk(struct reading *r, size_t indent, struct nsx_str s)
{
	struct nsx_thunk t = { .parent = NSX_NONE };

	t.kind = (struct nsx_str){ s.ptr, word(s) };
	if (t.kind.len < 2 || t.kind.ptr[0] != 'k')
		return odd(r, "no kind of thunk");
	t.kernel = kernel_of(blanks(skip(s, t.kind.len)));
	t.work = work_of(t.kind, t.kernel.len > 0);
	t.kind = nsx_arena_str(&r->l->arena, t.kind);
	t.kernel = nsx_arena_str(&r->l->arena, t.kernel);
	if (!t.kind.ptr || !t.kernel.ptr)
		return nomem(r);
	while (r->depth && r->open[r->depth - 1].indent >= indent)
		r->depth--;
	if (r->depth == DEPTH_MAX)
		return odd(r, "nested too deep");
	if (r->depth) {
		if (r->labelled)
			r->open[r->depth - 1].condition = r->label;
		t.parent = r->open[r->depth - 1].thunk;
		t.condition = r->open[r->depth - 1].condition;
		/* A thunk that contains others has no work of its own. */
		r->thunks.p[t.parent].work = NSX_WORK_NONE;
	}
	r->labelled = false;
	r->open[r->depth].thunk = (uint32_t)r->thunks.n;
	r->open[r->depth].indent = indent;
	r->open[r->depth++].condition = false;
	return nsx_vec_push(&r->thunks, t) ? NSX_OK : nomem(r);
}

static int
read_line(struct reading *r, struct nsx_str s)
{
	size_t digits = 0, indent;

	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\r'))
		s.len--;
	indent = s.len - blanks(s).len;
	s = blanks(s);
	if (!s.len)
		return NSX_OK;
	while (digits < s.len && nsx_is_digit(s.ptr[digits]))
		digits++;
	if (!digits || digits == s.len || s.ptr[digits] != ':')
		return read_label(r, s);
	return read_thunk(r, indent, blanks(skip(s, digits + 1)));
}

static int
read_text(struct reading *r)
{
	int rc = NSX_OK;

	if (r->f.size > BYTES_MAX)
		return nsx_err_set(r->err, "%s: not a list of thunks: more than %d bytes", r->f.path, BYTES_MAX);
	const char *p = r->f.size ? (const char *)nsx_dumpfile_at(&r->f, 0, (size_t)r->f.size) : "";
	if (!p)
		return NSX_ERR;
	for (struct nsx_str rest = { p, (size_t)r->f.size }; rest.len && rc == NSX_OK;) {
		const char *end = memchr(rest.ptr, '\n', rest.len);
		size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
		r->line++;
		rc = read_line(r, (struct nsx_str){ rest.ptr, n });
		rest = skip(rest, end ? n + 1 : n);
	}
	return rc;
}

/* ---- the metadata */

static int
read_string(struct reading *r, struct nsx_extent span, struct nsx_str *out)
{
	if (span.len > NAME_MAX_BYTES)
		return nsx_err_set(r->err, "%s: not metadata of thunks: a name of more than a megabyte", r->f.path);
	const unsigned char *p = nsx_dumpfile_at(&r->f, span.off, (size_t)span.len);
	if (!p)
		return NSX_ERR;
	*out = nsx_arena_str(&r->l->arena, (struct nsx_str){ (const char *)p, (size_t)span.len });
	return out->ptr ? NSX_OK : nomem(r);
}

static int
read_about(struct reading *r, struct nsx_extent span, struct nsx_str *name)
{
	struct nsx_wire w = nsx_wire(&r->f, span);
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == F_ANNOTATION && w.type == NSX_WIRE_LEN && read_string(r, w.span, name) != NSX_OK)
			return NSX_ERR;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
misfit(struct reading *r)
{
	return nsx_err_set(r->err, "%s: does not match the list of thunks beside it", r->f.path);
}

/* The next thunk of the metadata: its name is given to thunk *at of the list, if that is the same thunk. */
static int
read_entry(struct reading *r, struct nsx_extent span, uint32_t *at)
{
	struct nsx_wire w = nsx_wire(&r->f, span);
	struct nsx_str name = { "", 0 }, kind = { "", 0 };
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.type != NSX_WIRE_LEN)
			continue;
		if ((w.field == F_ABOUT && read_about(r, w.span, &name) != NSX_OK) || (w.field == F_KIND &&
		    read_string(r, w.span, &kind) != NSX_OK))
			return NSX_ERR;
	}
	if (rc != NSX_EOF)
		return NSX_ERR;
	bool extra = nsx_str_eq(kind, NSX_STR("kSequential"));
	if (*at == r->thunks.n || !nsx_str_eq(kind, r->thunks.p[*at].kind))
		return extra ? NSX_OK : misfit(r);
	r->thunks.p[(*at)++].name = name;
	return NSX_OK;
}

static int
read_metadata(struct reading *r)
{
	struct nsx_wire w = nsx_wire(&r->f, (struct nsx_extent){ 0, r->f.size });
	uint32_t at = 0;
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == F_THUNK && w.type == NSX_WIRE_LEN && read_entry(r, w.span, &at) != NSX_OK)
			return NSX_ERR;
	if (rc != NSX_EOF)
		return NSX_ERR;
	return at == r->thunks.n ? NSX_OK : misfit(r);
}

/* ---- order */

/* Leaves of the thunks from lo up to hi, which have one parent: those of its condition last. Recursion is as deep as
 * the nesting. */
static bool
put_leaves(struct reading *r, uint32_t lo, uint32_t hi)
{
	for (int condition = 0; condition < 2; condition++)
		for (uint32_t i = lo; i < hi; i = r->thunks.p[i].end) {
			struct nsx_thunk *t = &r->thunks.p[i];
			if (t->condition != (condition == 1))
				continue;
			t->first = (uint32_t)r->leaves.n;
			if (t->work != NSX_WORK_NONE && !nsx_vec_push(&r->leaves, i))
				return false;
			if (!put_leaves(r, i + 1, t->end))
				return false;
			t->last = (uint32_t)r->leaves.n;
		}
	return true;
}

static bool
put_in_order(struct reading *r)
{
	for (size_t i = 0; i < r->thunks.n; i++)
		r->thunks.p[i].end = (uint32_t)i + 1;
	for (size_t i = r->thunks.n; i-- > 0;) {
		struct nsx_thunk *t = &r->thunks.p[i];
		if (t->parent != NSX_NONE && r->thunks.p[t->parent].end < t->end)
			r->thunks.p[t->parent].end = t->end;
	}
	return put_leaves(r, 0, (uint32_t)r->thunks.n);
}

/* Command buffers by name. */
static bool
index_buffers(struct reading *r)
{
	for (uint32_t i = 0; i < r->thunks.n; i++) {
		if (!r->thunks.p[i].name.len || !nsx_str_eq(r->thunks.p[i].kind, NSX_STR("kCommandBuffer")))
			continue;
		size_t known = r->buffer.n;
		uint32_t n = nsx_intern(&r->l->buffers, r->thunks.p[i].name);
		if (n == NSX_NONE || (n == known && !nsx_vec_push(&r->buffer, i)))
			return false;
		if (n < known)
			r->buffer.p[n] = NSX_NONE;
	}
	return true;
}

/* ---- public functions */

struct source { const char *path; const void *p; size_t n; };   /* path: of a file, unless p has its bytes */

static int
read_source(struct reading *r, const struct source *s, int (*read)(struct reading *))
{
	if (s->p) {
		nsx_dumpfile_memory(&r->f, s->p, s->n, s->path, r->err);
	} else if (nsx_dumpfile_open(&r->f, s->path, r->err) != NSX_OK) {
		r->l->trouble |= r->f.trouble;
		return NSX_ERR;
	}
	int rc = read(r);
	r->l->trouble |= rc != NSX_OK && r->f.trouble;
	nsx_dumpfile_close(&r->f);
	return rc;
}

static int
read_both(const struct source *text, const struct source *metadata, struct nsx_thunk_list *l, struct nsx_err *err)
{
	struct reading r = { .l = l, .err = err };

	*l = (struct nsx_thunk_list){ 0 };
	int rc = read_source(&r, text, read_text);
	if (rc == NSX_OK)
		rc = read_source(&r, metadata, read_metadata);
	if (rc == NSX_OK && (!put_in_order(&r) || !index_buffers(&r))) {
		l->trouble = true;
		rc = nsx_err_nomem(err, text->path);
	}
	l->thunks = r.thunks.p;
	l->n = (uint32_t)r.thunks.n;
	l->leaves = r.leaves.p;
	l->nleaves = (uint32_t)r.leaves.n;
	l->buffer = r.buffer.p;
	if (rc != NSX_OK) {
		bool trouble = l->trouble;
		nsx_thunk_list_free(l);
		l->trouble = trouble;
	}
	return rc;
}

int
nsx_thunk_list_read(const char *text, const char *metadata, struct nsx_thunk_list *l, struct nsx_err *err)
{
	return read_both(&(struct source){ .path = text }, &(struct source){ .path = metadata }, l, err);
}

int
nsx_thunk_list_memory(const void *text, size_t ntext, const void *metadata, size_t nmetadata, const char *name,
                      struct nsx_thunk_list *l, struct nsx_err *err)
{
	return read_both(&(struct source){ name, text, ntext }, &(struct source){ name, metadata, nmetadata }, l, err);
}

uint32_t
nsx_thunk_list_buffer(const struct nsx_thunk_list *l, struct nsx_str name)
{
	uint32_t n = nsx_intern_find(&l->buffers, name);

	return n == NSX_NONE ? n : l->buffer[n];
}

void
nsx_thunk_list_free(struct nsx_thunk_list *l)
{
	free(l->thunks);
	free(l->leaves);
	free(l->buffer);
	nsx_intern_free(&l->buffers);
	nsx_arena_free(&l->arena);
	*l = (struct nsx_thunk_list){ 0 };
}
