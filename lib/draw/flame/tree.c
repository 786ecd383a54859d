/* flame/tree.c -- folded stacks into a tree. The prefix that a line shares with the line before it is not split again;
 * the tree is built after all lines have been read (pool.c). */
#include "draw/flame/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "stream/reader.h"
#include "base/num.h"

enum { LINE_MAX_BYTES = 256 << 20 };

struct parse {
	struct nsx_flame_tree *tree;
	struct nsx_reader     *in;
	struct nsx_err        *err;
	int                    file;
	int64_t                line;
	struct nsx_buf         last;       /* the stack of the line before */
	NSX_VEC(uint32_t)      names;      /* of its frames, the one next to the root first */
	NSX_VEC(size_t)        ends;       /* where each ends in that line */
};

static int
wrong(struct parse *p, const char *what)
{
	return nsx_err_set(p->err, "%s:%" PRId64 ": %s", nsx_reader_input(p->in)->name, p->line, what);
}

static bool
make_root(struct nsx_flame_tree *t)
{
	return t->nodes.n || nsx_vec_push(&t->nodes, ((struct nsx_flame_node){ .parent = NSX_NONE, .name = NSX_NONE }));
}

/* The length of the common prefix of both. */
static size_t
common(struct nsx_str a, struct nsx_str b)
{
	size_t n = a.len < b.len ? a.len : b.len, i = 0;

	while (i + 64 <= n && memcmp(a.ptr + i, b.ptr + i, 64) == 0)
		i += 64;
	while (i < n && a.ptr[i] == b.ptr[i])
		i++;
	return i;
}

/* Keep the frames of the previous line that stack has too; returns where the first new one begins, SIZE_MAX if there is
 * none. */
static size_t
keep(struct parse *p, struct nsx_str stack)
{
	size_t same = common(nsx_buf_view(&p->last), stack);

	for (; p->ends.n; p->ends.n = --p->names.n) {
		size_t end = p->ends.p[p->ends.n - 1];

		if (end == stack.len && end <= same)
			return SIZE_MAX;
		if (end <= same && end < stack.len && stack.ptr[end] == ';')
			return end + 1;
	}
	return 0;
}

static bool
add_stack(struct parse *p, struct nsx_str stack, int64_t n)
{
	size_t at = keep(p, stack);

	while (at != SIZE_MAX) {
		const char *cut = at < stack.len ? memchr(stack.ptr + at, ';', stack.len - at) : NULL;
		size_t end = cut ? (size_t)(cut - stack.ptr) : stack.len;
		uint32_t name = nsx_intern(&p->tree->names, (struct nsx_str){ stack.ptr + at, end - at });

		if (name == NSX_NONE || !nsx_vec_push(&p->names, name) || !nsx_vec_push(&p->ends, end))
			return false;
		at = cut ? end + 1 : SIZE_MAX;
	}
	p->last.len = 0;
	nsx_buf_str(&p->last, stack);
	return !p->last.failed && nsx_flame_pool_add(&p->tree->pool, p->names.p, p->names.n, p->file, n);
}

/* Add a line without its line feed. Empty ones are ignored. */
static int
take_line(struct parse *p, struct nsx_str line)
{
	int64_t n = -1, *total = &p->tree->total[p->file];
	size_t cut;

	p->line++;
	if (line.len && line.ptr[line.len - 1] == '\r')
		line.len--;
	if (line.len == 0)
		return NSX_OK;
	for (cut = line.len; cut > 0 && line.ptr[cut - 1] != ' '; cut--)
		;
	if (p->line == 1 && nsx_str_starts(line, "#nsysx\t"))
		return wrong(p, "a stream, want folded stacks: nsysx-fold writes them");
	if (cut < 2 || !nsx_get_int((struct nsx_str){ line.ptr + cut, line.len - cut }, &n))
		return wrong(p, "want FRAME;FRAME NUMBER, a whole number");
	if (n < 0)
		return wrong(p, "want a number that is not negative");
	if (__builtin_add_overflow(*total, n, total))
		return wrong(p, "the sum of the numbers exceeds 64 bits");
	p->tree->lines[p->file]++;
	if (n && !add_stack(p, (struct nsx_str){ line.ptr, cut - 1 }, n))
		return nsx_err_nomem(p->err, nsx_reader_input(p->in)->name);
	return NSX_OK;
}

/* Add every line in the window; *used is the number of its bytes used. At the end of the input the last line needs no
 * line feed. */
static int
take_lines(struct parse *p, struct nsx_str window, bool at_end, size_t *used)
{
	*used = 0;
	while (*used < window.len) {
		const char *from = window.ptr + *used, *end = memchr(from, '\n', window.len - *used);
		size_t len = end ? (size_t)(end - from) : window.len - *used;

		if (!end && !at_end)
			break;
		if (take_line(p, (struct nsx_str){ from, len }) != NSX_OK)
			return NSX_ERR;
		*used += len + (end != NULL);
	}
	return NSX_OK;
}

static int
parse(struct parse *p)
{
	size_t want = 1, used;
	struct nsx_str window;
	int rc;

	while ((rc = nsx_input_peek(nsx_reader_input(p->in), want, &window)) != NSX_ERR) {
		if (take_lines(p, window, rc == NSX_EOF, &used) != NSX_OK)
			return NSX_ERR;
		nsx_input_take(nsx_reader_input(p->in), used);
		if (rc == NSX_EOF)
			return NSX_OK;
		/* The rest is part of a line, which is longer than the window. Increased by half, for lines of any
		 * length. */
		want = window.len - used;
		if (want > LINE_MAX_BYTES) {
			p->line++;
			return wrong(p, "want a shorter line");
		}
		want += want / 2 + 1;
	}
	return NSX_ERR;
}

int
nsx_flame_read(struct nsx_flame_tree *t, const char *path, int file, struct nsx_err *err)
{
	struct parse p = { .tree = t, .err = err, .file = file, .in = nsx_reader_open(path, 0, err) };
	int rc = NSX_ERR;

	if (p.in)
		rc = parse(&p);
	nsx_reader_close(p.in);
	nsx_buf_free(&p.last);
	free(p.names.p);
	free(p.ends.p);
	return rc;
}

static uint32_t
child(void *state, uint32_t parent, uint32_t name)
{
	struct nsx_flame_tree *t = state;

	if (t->nodes.n >= NSX_NONE
	    || !nsx_vec_push(&t->nodes, ((struct nsx_flame_node){ .parent = parent, .name = name })))
		return NSX_NONE;
	return (uint32_t)(t->nodes.n - 1);
}

static void
give(void *state, uint32_t node, int file, int64_t n)
{
	struct nsx_flame_tree *t = state;

	t->nodes.p[node].self[file] += n;
}

bool
nsx_flame_sum(struct nsx_flame_tree *t)
{
	struct nsx_flame_planter to = { child, give, t };
	bool good = make_root(t) && nsx_flame_pool_plant(&t->pool, &to);

	nsx_flame_pool_free(&t->pool);
	for (int file = 0; good && file < NSX_FLAME_FILES; file++) {
		for (size_t i = 0; i < t->nodes.n; i++)
			t->nodes.p[i].total[file] = t->nodes.p[i].self[file];
		for (size_t i = t->nodes.n; i-- > 1;)
			t->nodes.p[t->nodes.p[i].parent].total[file] += t->nodes.p[i].total[file];
	}
	return good;
}

void
nsx_flame_tree_free(struct nsx_flame_tree *t)
{
	nsx_intern_free(&t->names);
	nsx_flame_pool_free(&t->pool);
	free(t->nodes.p);
	*t = (struct nsx_flame_tree){ 0 };
}
