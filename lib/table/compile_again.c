/* compile_again.c -- see compile_again.h.
 *
 *   id 3   jit_step   batch f32[8,128]    lr f32[]
 *   id 9   jit_step   batch f32[16,128]   lr f32[]    like 3: shape of batch, [8,128], [16,128]
 *   id 12  jit_step   batch f32[16,128]   lr f64[]    like 9: dtype of lr, f32, f64
 *   id 15  jit_step   batch f32[16,128]   lr f64[]    like 12, with other instructions: static, 120 instructions, 140
 *
 * What a program is compiled for besides its arguments, a dump does not have in one place: static arguments, values
 * that the function captures, and options show in its result and its instructions alone. */
#include "table/compile_again.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/each_dump.h"
#include "table/sums.h"
#include "xla/debug_options.h"
#include "xla/signature.h"

/* set: programs of one folder, or of one process. */
struct program { struct nsx_signature s; struct nsx_debug_options options; int set; };

struct row { struct nsx_str name, why, argument, was, is, folder; int64_t id, like; };

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("id", ID, id), NSX_COL("name", STRING, name), NSX_COL("like", ID, like), NSX_COL("why", STRING, why),
	NSX_COL("argument", STRING, argument), NSX_COL("was", STRING, was), NSX_COL("is", STRING, is),
	NSX_COL("folder", STRING, folder),
};
static const struct nsx_sum_def def = {
	.size = sizeof(struct row), .cols = cols, .ncols = sizeof cols / sizeof *cols - 1,
	.rank = "name why argument was is id like"
}, of_folders = {
	NSX_ROWS(cols), .rank = "name why argument was is folder id like"
};

struct again {
	NSX_VEC(struct program) programs;
	int               path;      /* number of the path that is read */
	struct nsx_sums   rows;      /* not kept */
	struct nsx_str    folder;    /* of the program that is compared; empty: it was named */
	struct nsx_table *table;
	struct nsx_arena  arena;
	struct nsx_err   *err;
	bool              failed;    /* out of memory for a text */
};

static int
add_dump(void *state, const char *path, bool in_folder, struct nsx_err *err)
{
	struct again *a = state;
	/* Dumps that are named are of one process. */
	struct program p = { .set = in_folder ? a->path : -1 };

	if (nsx_signature_read(path, &p.s, err) != NSX_OK)
		return NSX_ERR;
	int rc = nsx_debug_options_read(path, p.s.name, &p.options, err);

	if (rc == NSX_OK && nsx_vec_push(&a->programs, p))
		return NSX_OK;
	nsx_signature_free(&p.s);
	nsx_debug_options_free(&p.options);
	return rc == NSX_OK ? nsx_err_nomem(err, NULL) : rc;
}

static int
add_program(void *state, struct nsx_str hlo, const char *path, struct nsx_err *err)
{
	struct again *a = state;
	struct program p = { .set = a->path };

	if (nsx_signature_memory(hlo.ptr, hlo.len, path, &p.s, err) != NSX_OK)
		return NSX_ERR;
	if (nsx_vec_push(&a->programs, p))
		return NSX_OK;
	nsx_signature_free(&p.s);
	return nsx_err_nomem(err, NULL);
}

/* ---- differences */

static bool
same_argument(const struct nsx_signature_argument *x, const struct nsx_signature_argument *y)
{
	return nsx_str_eq(x->type, y->type) && nsx_str_eq(x->dims, y->dims) && x->shards == y->shards
	       && x->donated == y->donated;
}

/* How many of the arguments differ, more than any of them if their number does, and last whether the rest does. */
static size_t
distance(const struct nsx_signature *x, const struct nsx_signature *y)
{
	size_t n = x->arguments.n < y->arguments.n ? x->arguments.n : y->arguments.n, differ = 0;

	for (size_t i = 0; i < n; i++)
		differ += !same_argument(&x->arguments.p[i], &y->arguments.p[i]);
	differ += x->arguments.n != y->arguments.n ? 1000000 : 0;
	return 2 * differ + (x->body != y->body || x->precision != y->precision || x->constants != y->constants);
}

static int
put(struct again *a, const struct nsx_signature *now, const struct nsx_signature *like, const char *why,
    struct nsx_str argument, struct nsx_str was, struct nsx_str is)
{
	return nsx_sums_put(&a->rows, a->table, &(struct row){
		.id = now->id, .name = now->name, .like = like->id, .why = nsx_str_c(why), .argument = argument,
		.was = was, .is = is, .folder = a->folder }, a->err);
}

/* A text with a number, in the arena. */
static struct nsx_str
number_text(struct again *a, const char *what, int64_t n)
{
	struct nsx_buf b = { 0 };
	struct nsx_str out = { "", 0 };

	nsx_buf_fmt(&b, "%" PRId64 " %s", n, what);
	if (!b.failed)
		out = nsx_arena_str(&a->arena, nsx_buf_view(&b));
	nsx_buf_free(&b);
	if (out.ptr && out.len)
		return out;
	a->failed = true;
	return (struct nsx_str){ "", 0 };
}

/* Of how many products each precision is, in the arena: "12 default, 81 highest". */
static struct nsx_str
products_text(struct again *a, const struct nsx_signature *s)
{
	static const char *const names[] = { "default", "high", "highest" };
	struct nsx_buf b = { 0 };
	struct nsx_str out = { "", 0 };

	for (int i = 0; i < 3; i++)
		if (s->products[i])
			nsx_buf_fmt(&b, "%s%" PRId64 " %s", b.len ? ", " : "", s->products[i], names[i]);
	if (!b.failed && b.len)
		out = nsx_arena_str(&a->arena, nsx_buf_view(&b));
	a->failed |= b.failed || !out.ptr;
	nsx_buf_free(&b);
	return out.ptr ? out : (struct nsx_str){ "", 0 };
}

/* Whether products are of another precision: of as many products, of one that the other program has none of, or, where
 * the instructions are the same, any. */
static bool
precision_differs(const struct nsx_signature *x, const struct nsx_signature *y)
{
	bool differ = false;
	int64_t more = 0;

	for (int i = 0; i < 3; i++) {
		differ |= !x->products[i] != !y->products[i];
		more += x->products[i] - y->products[i];
	}
	return (differ && !more) || (x->body == y->body && x->precision != y->precision);
}

/* The value of an option that is not there. */
static struct nsx_str
or_default(struct nsx_str value)
{
	return value.len ? value : NSX_STR("default");
}

/* A row for each option of the compiler that differs, where those of both are known; *told: there is one. */
static int
compare_options(struct again *a, const struct program *now, const struct program *like, bool *told)
{
	const struct nsx_debug_options *x = &like->options, *y = &now->options;
	int rc = NSX_OK;

	if (!x->known || !y->known)
		return NSX_OK;
	for (size_t i = 0; i < x->names.n + y->names.n && rc == NSX_OK; i++) {
		bool old = i < x->names.n;
		struct nsx_str name = old ? nsx_intern_str(&x->names, (uint32_t)i)
		                          : nsx_intern_str(&y->names, (uint32_t)(i - x->names.n));
		struct nsx_str was = nsx_debug_option(x, name), is = nsx_debug_option(y, name);

		if (nsx_str_eq(was, is) || (!old && was.len))
			continue;
		*told = true;
		rc = put(a, &now->s, &like->s, "option", name, or_default(was), or_default(is));
	}
	return rc;
}

/* The rows of a program that is most like `like`. */
static int
compare(struct again *a, const struct program *it, const struct program *before)
{
	const struct nsx_signature *now = &it->s, *like = &before->s;
	size_t n = now->arguments.n < like->arguments.n ? now->arguments.n : like->arguments.n;
	const struct nsx_str none = { "", 0 };
	bool told = now->arguments.n != like->arguments.n;
	int rc = NSX_OK;

	if (told)
		rc = put(a, now, like, "arguments", none, number_text(a, "arguments", (int64_t)like->arguments.n),
		         number_text(a, "arguments", (int64_t)now->arguments.n));
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		const struct nsx_signature_argument *x = &like->arguments.p[i], *y = &now->arguments.p[i];

		if (!nsx_str_eq(x->type, y->type))
			rc = put(a, now, like, "dtype", y->name, x->type, y->type);
		if (rc == NSX_OK && !nsx_str_eq(x->dims, y->dims))
			rc = put(a, now, like, "shape", y->name, x->dims, y->dims);
		if (rc == NSX_OK && x->shards != y->shards)
			rc = put(a, now, like, "sharding", y->name, x->sharding, y->sharding);
		if (rc == NSX_OK && x->donated != y->donated)
			rc = put(a, now, like, "donation", y->name, x->donated ? NSX_STR("donated") : NSX_STR("kept"),
			         y->donated ? NSX_STR("donated") : NSX_STR("kept"));
		told |= !same_argument(x, y);
	}
	if (rc == NSX_OK)
		rc = compare_options(a, it, before, &told);
	if (told || rc != NSX_OK)
		return rc;
	if (!nsx_str_eq(now->result, like->result))
		return put(a, now, like, "static", none, like->result, now->result);
	if (precision_differs(now, like))
		return put(a, now, like, "precision", none, products_text(a, like), products_text(a, now));
	if (now->body != like->body)
		return put(a, now, like, "static", none, number_text(a, "instructions", like->instructions),
		           number_text(a, "instructions", now->instructions));
	if (now->constants != like->constants)
		return put(a, now, like, "constant", none, none, none);
	return put(a, now, like, now->devices != like->devices ? "devices" : "same", none, none, none);
}

NSX_ORDER(by_id, struct program, NSX_CMP(a->set, b->set), NSX_CMP(a->s.id, b->s.id),
          nsx_str_cmp(a->s.name, b->s.name))

static int
add_rows(struct again *a, char *const *paths)
{
	int rc = NSX_OK;

	nsx_sort(a->programs.p, a->programs.n, by_id);
	for (size_t i = 0; i < a->programs.n && rc == NSX_OK; i++) {
		const struct program *now = &a->programs.p[i], *like = NULL;
		size_t least = 0;

		/* Of equally near ones the latest. */
		for (size_t k = i; k-- > 0 && a->programs.p[k].set == now->set;) {
			const struct program *p = &a->programs.p[k];

			if (!nsx_str_eq(p->s.name, now->s.name))
				continue;
			size_t far = distance(&p->s, &now->s);
			if (!like || far < least) {
				like = p;
				least = far;
			}
		}
		a->folder = nsx_str_c(now->set < 0 ? "" : paths[now->set]);
		if (like)
			rc = compare(a, now, like);
	}
	return rc == NSX_OK && a->failed ? nsx_err_nomem(a->err, NULL) : rc;
}

struct nsx_table *
nsx_compile_again(char *const *paths, int n, struct nsx_diags *diags, struct nsx_err *err)
{
	struct again a = { .err = err };
	const struct nsx_each_dump each = { add_dump, add_program, &a };
	int rc = NSX_OK, first = -1;
	bool several = false;

	for (a.path = 0; a.path < n && rc == NSX_OK; a.path++)
		rc = nsx_each_dump(paths[a.path], &each, diags, err);
	/* Folders and profiles, each of a process. */
	for (size_t i = 0; i < a.programs.n; i++) {
		int set = a.programs.p[i].set;

		first = first < 0 ? set : first;
		several |= set >= 0 && set != first;
	}
	a.rows.def = several ? &of_folders : &def;
	if (rc == NSX_OK)
		rc = (a.table = nsx_sums_begin(&a.rows, err)) ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK)
		rc = add_rows(&a, paths);
	if (rc == NSX_OK && !nsx_table_rows(a.table))
		nsx_diag_add(diags, NSX_INFO, "", 1, "no function was compiled twice");
	if (rc != NSX_OK) {
		nsx_table_free(a.table);
		a.table = NULL;
	}
	for (size_t i = 0; i < a.programs.n; i++) {
		nsx_debug_options_free(&a.programs.p[i].options);
		nsx_signature_free(&a.programs.p[i].s);
	}
	free(a.programs.p);
	nsx_sums_free(&a.rows);
	nsx_arena_free(&a.arena);
	return a.table;
}
