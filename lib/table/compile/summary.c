/* summary.c -- the text that lists, for each compilation, the kinds of ranges that make up 99 % of it. Rows are those
 * of nvtx_pushpop_trace, or equivalent `range` records of a stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/compile/compile.h"
#include "base/escape.h"
#include "base/num.h"
#include "base/width.h"
#include "base/csv.h"
#include "base/sort.h"
#include "xla/title.h"

enum { SHORTEST = 8 };   /* minimum columns of a name on a terminal */

/* A place in the tree of ranges. `near`: the nearest compilation around it. */
struct node { uint32_t parent, near, block; int64_t child; };
enum { NOT_YET = NSX_NONE - 1, ON_THE_WAY = NSX_NONE - 2, MOST_NODES = NSX_NONE - 3 };

/* A range. own: exclusive ns. */
struct row { uint32_t node, name; int64_t own; };

/* A compilation: a row of the output's headers. */
struct block { uint32_t node, name; int64_t profile, start, dur, id; };

struct entry { uint32_t block, key; int64_t ns; };   /* block, key: the key */
static const struct nsx_sum_def of_entries = { .size = sizeof(struct entry), .key = 2 * sizeof(uint32_t) };

struct summary {
	struct nsx_reader *in;
	struct nsx_err    *err;
	struct nsx_diags  *diags;
	const char        *where;
	bool               full;
	size_t             width;    /* columns of a terminal, 0: no terminal */
	struct nsx_buf     after, name, line;   /* of put_line */
	struct nsx_intern  names;    /* names of rows, then their keys */
	struct nsx_buf     text;
	NSX_VEC(struct node) nodes;
	struct nsx_map     node_at;
	NSX_VEC(struct row) rows;
	NSX_VEC(struct block) blocks;
	struct nsx_sums    entries;    /* of struct entry */
	NSX_VEC(uint32_t)  path;
	int64_t            compiles;   /* compile records */
};

static int
fail_nomem(struct summary *s)
{
	return nsx_err_nomem(s->err, s->where);
}

static int
fail_large(struct summary *s)
{
	return nsx_err_overflow(s->err, s->where);
}

/* ---- numbers in the form of the summary ---- */

/* Append the text of a number, with ".0" if it would read as an integer. */
static void
put_number(struct nsx_buf *b, const char *text, size_t n)
{
	nsx_buf_add(b, text, n);
	if (strcspn(text, ".en") >= n)
		nsx_buf_c(b, ".0");
}

void
nsx_compile_put_seconds(struct nsx_buf *b, double v)
{
	char text[NSX_DOUBLE_CHARS + 1], *end = nsx_put_double(text, v);

	*end = '\0';
	put_number(b, text, (size_t)(end - text));
}

void
nsx_compile_put_four(struct nsx_buf *b, double v)
{
	char text[32], *e;

	/* %.4g writes 1234 where this form is 1.234e+03. */
	snprintf(text, sizeof text, "%.3e", v);
	e = strstr(text, "e+03");
	if (e) {
		size_t n = (size_t)(e - text);

		while (text[n - 1] == '0')
			n--;
		nsx_buf_add(b, text, n - (text[n - 1] == '.'));
		nsx_buf_c(b, e);
	} else {
		snprintf(text, sizeof text, "%.4g", v);
		put_number(b, text, strlen(text));
	}
}

/* ---- the tree ---- */

static uint32_t
new_node(struct summary *s, uint32_t parent)
{
	struct node n = { .parent = parent, .near = NOT_YET, .block = NSX_NONE };

	if (s->nodes.n >= MOST_NODES || !nsx_vec_push(&s->nodes, n)) {
		fail_nomem(s);
		return NSX_NONE;
	}
	return (uint32_t)s->nodes.n - 1;
}

/* The node of that key, created if it is new; NSX_NONE when out of memory. */
static uint32_t
node_of(struct summary *s, struct nsx_key key, uint32_t parent)
{
	uint32_t *at = nsx_map_at(&s->node_at, key);

	if (!at) {
		fail_nomem(s);
		return NSX_NONE;
	}
	if (*at == NSX_NONE)
		*at = new_node(s, parent);
	return *at;
}

/* Whether that is the name of a compilation. */
static bool
is_compilation(struct nsx_str name)
{
	static const char domain[] = NSX_XLA_DOMAIN ":";
	struct nsx_title title;

	if (!nsx_str_starts(name, domain))
		return false;
	nsx_title_parse((struct nsx_str){ name.ptr + sizeof domain - 1, name.len - (sizeof domain - 1) }, &title);
	return title.kind == NSX_TITLE_COMPILE && title.module.len;
}

static int
add_row(struct summary *s, uint32_t node, struct nsx_str name, int64_t own, const struct block *block)
{
	uint32_t id = nsx_intern(&s->names, name);

	if (id == NSX_NONE || !nsx_vec_push(&s->rows, ((struct row){ node, id, own })))
		return fail_nomem(s);
	if (!is_compilation(name))
		return NSX_OK;
	if (!nsx_vec_push(&s->blocks, *block))
		return fail_nomem(s);
	s->blocks.p[s->blocks.n - 1].node = node;
	s->blocks.p[s->blocks.n - 1].name = id;
	/* Two rows of one node share the first one's sums. */
	if (s->nodes.p[node].block == NSX_NONE)
		s->nodes.p[node].block = (uint32_t)s->blocks.n - 1;
	return NSX_OK;
}

/* Find the compilation around each node, from its parents. */
static int
find_near(struct summary *s)
{
	for (uint32_t i = 0; i < s->nodes.n; i++) {
		uint32_t k = i, near;

		s->path.n = 0;
		for (;;) {
			struct node *n = &s->nodes.p[k];

			if (n->near == ON_THE_WAY)
				return nsx_err_set(s->err, "%s: a range that is its own ancestor", s->where);
			if (n->near != NOT_YET) {
				near = n->near;
				break;
			}
			n->near = ON_THE_WAY;
			if (!nsx_vec_push(&s->path, k))
				return fail_nomem(s);
			if (n->parent == NSX_NONE) {
				near = NSX_NONE;
				s->nodes.p[k].near = NSX_NONE;
				s->path.n--;
				break;
			}
			k = n->parent;
		}
		/* Node k is done, and near is the compilation around it; now set the nodes on the path below k,
		 * beginning with the last. */
		while (s->path.n) {
			if (s->nodes.p[k].block != NSX_NONE)
				near = k;
			k = s->path.p[--s->path.n];
			s->nodes.p[k].near = near;
		}
	}
	return NSX_OK;
}

/* ---- from CSV ---- */

/* The node of a RangeStack, ":1:2:3": NSX_OK with *node, NSX_EOF if it is none, NSX_ERR. */
static int
stack_node(struct summary *s, struct nsx_str stack, uint32_t *node)
{
	size_t i = 0;

	*node = NSX_NONE;
	if (stack.len == 0)
		return NSX_EOF;
	while (i < stack.len) {
		const char *end = memchr(stack.ptr + i + 1, ':', stack.len - i - 1);
		size_t to = end ? (size_t)(end - stack.ptr) : stack.len;
		int64_t id;

		if (stack.ptr[i] != ':' || !nsx_get_int((struct nsx_str){ stack.ptr + i + 1, to - i - 1 }, &id))
			return NSX_EOF;
		*node = node_of(s, (struct nsx_key){ (uint64_t)id, *node }, *node);
		if (*node == NSX_NONE)
			return NSX_ERR;
		i = to;
	}
	return NSX_OK;
}

static int
read_csv(struct summary *s)
{
	enum { NAME, ID, STACK, OWN, NCOLUMNS };
	static const char *const columns[NCOLUMNS] = { "Name", "RangeId", "RangeStack", "DurNonChild (ns)" };
	struct nsx_csv *csv = nsx_csv_open(nsx_reader_input(s->in), s->err);
	struct nsx_str *fields;
	int at[NCOLUMNS], rc = csv ? NSX_OK : NSX_ERR;

	for (int i = 0; i < NCOLUMNS && rc == NSX_OK; i++)
		if ((at[i] = nsx_csv_column(csv, columns[i])) < 0)
			rc = NSX_ERR;
	while (rc == NSX_OK && (rc = nsx_csv_next(csv, &fields)) == NSX_OK) {
		int64_t own, id;
		uint32_t node = NSX_NONE;

		if (!nsx_get_int(fields[at[OWN]], &own) || !nsx_get_int(fields[at[ID]], &id))
			rc = NSX_EOF;
		else
			rc = stack_node(s, fields[at[STACK]], &node);
		if (rc == NSX_EOF) {
			nsx_csv_reject(csv);
			rc = NSX_OK;
		} else if (rc == NSX_OK) {
			/* Blocks come in the order of the file. */
			rc = add_row(s, node, fields[at[NAME]], own, &(struct block){ .start = (int64_t)s->blocks.n });
		}
	}
	if (rc == NSX_EOF) {
		nsx_diag_add(s->diags, NSX_WARNING, "", nsx_csv_rejected(csv), NSX_CSV_REJECTED);
		rc = NSX_OK;
	}
	nsx_csv_close(csv);
	return rc;
}

/* ---- from a stream ---- */

static int
take_range(struct summary *s, const struct nsx_rec *rec)
{
	int64_t profile = nsx_int(rec, NSX_RANGE_profile, 0), dur = nsx_int(rec, NSX_RANGE_host_dur, 0);
	struct nsx_key key = { (uint64_t)nsx_int(rec, NSX_RANGE_range, 0), (uint64_t)profile };
	uint32_t node, up = NSX_NONE;

	if (nsx_has(rec, NSX_RANGE_parent)) {
		up = node_of(s, (struct nsx_key){ (uint64_t)rec->v[NSX_RANGE_parent].i, (uint64_t)profile }, NSX_NONE);
		if (up == NSX_NONE)
			return NSX_ERR;
		if (__builtin_add_overflow(s->nodes.p[up].child, dur, &s->nodes.p[up].child))
			return fail_large(s);
	}
	node = node_of(s, key, up);
	if (node == NSX_NONE)
		return NSX_ERR;
	/* The node may have been created earlier for a child. */
	s->nodes.p[node].parent = up;
	s->text.len = 0;
	if (nsx_has(rec, NSX_RANGE_domain)) {
		nsx_buf_str(&s->text, rec->v[NSX_RANGE_domain].s);
		nsx_buf_char(&s->text, ':');
	}
	nsx_buf_str(&s->text, nsx_string(rec, NSX_RANGE_name));
	if (s->text.failed)
		return fail_nomem(s);
	return add_row(s, node, nsx_buf_view(&s->text), dur,
	               &(struct block){ .profile = profile, .start = nsx_int(rec, NSX_RANGE_host_start, 0), .dur = dur,
	                                .id = (int64_t)key.a });
}

NSX_ORDER(by_start, struct block, NSX_CMP(a->profile, b->profile), NSX_CMP(a->start, b->start),
          NSX_CMP(a->dur, b->dur), NSX_CMP(a->id, b->id))

static int
read_stream(struct summary *s)
{
	struct nsx_rec rec;
	int rc;

	nsx_reader_need(s->in, NSX_COMPILE, 0);
	nsx_reader_need(s->in, NSX_RANGE, NSX_C(RANGE, profile) | NSX_C(RANGE, range) | NSX_C(RANGE, parent)
	                                  | NSX_C(RANGE, domain) | NSX_C(RANGE, name) | NSX_C(RANGE, host_start)
	                                  | NSX_C(RANGE, host_dur));
	while ((rc = nsx_read(s->in, &rec)) == NSX_OK) {
		s->compiles += rec.kind->id == NSX_COMPILE;
		if (rec.kind->id == NSX_RANGE && take_range(s, &rec) != NSX_OK)
			return NSX_ERR;
	}
	if (rc == NSX_ERR)
		return rc;
	for (size_t i = 0; i < s->rows.n; i++)
		if (__builtin_sub_overflow(s->rows.p[i].own, s->nodes.p[s->rows.p[i].node].child, &s->rows.p[i].own))
			return fail_large(s);
	nsx_sort(s->blocks.p, s->blocks.n, by_start);
	for (size_t i = 0; i < s->blocks.n; i++)
		s->nodes.p[s->blocks.p[i].node].block = (uint32_t)i;
	if (s->blocks.n == 0 && s->compiles)
		nsx_diag_add(s->diags, NSX_WARNING, "", 1,
			"the stream has compile records, but not their ranges: for --summary extract with "
			"--ranges=all");
	return NSX_OK;
}

/* ---- sums ---- */

/* The key under which rows of that name are summed up; NSX_NONE when out of memory. */
static uint32_t
key_of(struct summary *s, uint32_t name)
{
	struct nsx_str text = nsx_intern_str(&s->names, name);
	const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;

	if (s->full || !colon)
		return name;
	struct nsx_str key = { colon + 1, (size_t)(text.ptr + text.len - colon - 1) };
	colon = key.len ? memchr(key.ptr, ':', key.len) : NULL;
	if (colon)
		key.len = (size_t)(colon - key.ptr);
	if (nsx_str_eq(key, NSX_STR("XlaPassPipeline")))
		key = NSX_STR("XlaPass");
	return nsx_intern(&s->names, key);
}

static int
add_up(struct summary *s)
{
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct row *r = &s->rows.p[i];
		uint32_t near = s->nodes.p[r->node].near;
		uint32_t key = near == NSX_NONE ? 0 : key_of(s, r->name);

		for (; near != NSX_NONE; near = s->nodes.p[near].near) {
			uint32_t of[2] = { s->nodes.p[near].block, key };
			struct entry *e = key == NSX_NONE ? NULL : nsx_sums_row(&s->entries, of);

			if (!e)
				return fail_nomem(s);
			if (__builtin_add_overflow(e->ns, r->own, &e->ns))
				return fail_large(s);
		}
	}
	return NSX_OK;
}

struct ordered { uint32_t block; int64_t ns; struct nsx_str key; };

NSX_ORDER(by_ns, struct ordered, NSX_CMP(a->block, b->block), NSX_CMP(b->ns, a->ns), nsx_str_cmp(a->key, b->key))

/* ---- text ---- */

/* A line: `before`, name, s->after. On a terminal the name is shortened to fit, and control characters are replaced. */
static void
put_line(struct summary *s, const char *before, struct nsx_str name)
{
	size_t others = strlen(before) + s->after.len;

	if (!s->width) {
		nsx_buf_c(&s->text, before);
		nsx_buf_str(&s->text, name);
		nsx_buf_str(&s->text, nsx_buf_view(&s->after));
		nsx_buf_char(&s->text, '\n');
		return;
	}
	s->name.len = s->line.len = 0;
	nsx_buf_escaped(&s->name, name);
	nsx_buf_c(&s->line, before);
	nsx_buf_shortened(&s->line, nsx_buf_view(&s->name),
	                  s->width > others + SHORTEST ? s->width - others : SHORTEST);
	nsx_buf_str(&s->line, nsx_buf_view(&s->after));
	nsx_buf_folded(&s->text, nsx_buf_view(&s->line), s->width < SHORTEST ? SHORTEST : s->width);
	s->text.failed |= s->name.failed || s->line.failed;
}

/* The lines of a block, whose n sums are e; the one that reaches 99 % is not among them. */
static void
put_block(struct summary *s, struct nsx_str name, const struct ordered *e, size_t n, int64_t total)
{
	double sum = 0;

	s->after.len = 0;
	nsx_buf_c(&s->after, ": ");
	nsx_compile_put_seconds(&s->after, (double)total / 1e9);
	put_line(s, "Compilation: ", name);
	for (size_t i = 0; i < n && total; i++) {
		double part = (double)e[i].ns / (double)total;

		sum += part;
		if (!(sum < 0.99))
			break;
		s->after.len = 0;
		nsx_buf_fmt(&s->after, " %.2f%% ", part * 100);
		nsx_compile_put_four(&s->after, (double)e[i].ns / 1e9);
		put_line(s, " ", e[i].key);
	}
	s->text.failed |= s->after.failed;
}

static int
write_blocks(struct summary *s, const struct ordered *sorted, const size_t *first, struct nsx_outfile *out)
{
	for (size_t i = 0; i < s->blocks.n; i++) {
		uint32_t of = s->nodes.p[s->blocks.p[i].node].block;
		int64_t total = 0;

		s->text.len = 0;
		for (size_t k = first[of]; k < first[of + 1]; k++)
			if (__builtin_add_overflow(total, sorted[k].ns, &total))
				return fail_large(s);
		put_block(s, nsx_intern_str(&s->names, s->blocks.p[i].name), sorted + first[of],
		          first[of + 1] - first[of], total);
		if (s->text.failed)
			return fail_nomem(s);
		if (nsx_outfile_write(out, s->text.ptr, s->text.len) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int
print(struct summary *s, struct nsx_outfile *out)
{
	size_t n = nsx_sums_count(&s->entries);
	struct ordered *sorted = malloc((n + 1) * sizeof *sorted);
	size_t *first = calloc(s->blocks.n + 2, sizeof *first);
	int rc = NSX_ERR;

	if (!sorted || !first) {
		fail_nomem(s);
	} else {
		for (size_t i = 0; i < n; i++) {
			const struct entry *e = nsx_sums_at(&s->entries, i);

			sorted[i] = (struct ordered){ e->block, e->ns, nsx_intern_str(&s->names, e->key) };
			first[e->block + 1]++;
		}
		for (size_t i = 0; i < s->blocks.n; i++)
			first[i + 1] += first[i];
		nsx_sort(sorted, n, by_ns);
		rc = write_blocks(s, sorted, first, out);
	}
	free(sorted);
	free(first);
	return rc;
}

int
nsx_compile_summary(struct nsx_reader *in, bool full, size_t width, struct nsx_outfile *out,
                    int64_t *compilations, struct nsx_diags *diags, struct nsx_err *err)
{
	struct summary s = { .in = in, .err = err, .diags = diags, .where = nsx_reader_input(in)->name, .full = full,
	                     .width = width, .entries = { .def = &of_entries } };
	bool csv;
	int rc = nsx_csv_is(nsx_reader_input(in), &csv);

	if (rc == NSX_OK)
		rc = csv ? read_csv(&s) : read_stream(&s);
	if (rc == NSX_OK)
		rc = find_near(&s);
	if (rc == NSX_OK)
		rc = add_up(&s);
	if (rc == NSX_OK)
		rc = print(&s, out);
	if (rc == NSX_OK && !s.compiles)
		nsx_diag_add(diags, NSX_WARNING, "", s.blocks.n == 0,
		             "no compilation: nothing was compiled while the profile was taken");
	*compilations = (int64_t)s.blocks.n;
	nsx_intern_free(&s.names);
	nsx_buf_free(&s.text);
	nsx_buf_free(&s.after);
	nsx_buf_free(&s.name);
	nsx_buf_free(&s.line);
	nsx_map_free(&s.node_at);
	nsx_sums_free(&s.entries);
	free(s.nodes.p);
	free(s.rows.p);
	free(s.blocks.p);
	free(s.path.p);
	return rc;
}
