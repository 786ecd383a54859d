/* renumber.c -- numbers of executions that are the same on all devices: what pairing found is kept by name, in the
 * column `executions` of clock records, and added to the numbers in the second pass.
 *
 *   device 0, step@5, execution   0 1 2 3     device 1, step@5, execution   0 1 2
 *   pairing: device 1's execution 0 is device 0's 1
 *   clock of device 1: executions "step@5:1"; its records have executions 1 2 3
 *
 * Programs are named, because their numbers differ between a stream of one report and one of several. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "filter/align/aligning.h"

/* What is added to the numbers of a program on a device; id: XLA's in the device's report, NSX_ABSENT if unknown. */
struct renumber { struct nsx_str name; int64_t id, by; };

/* A larger shift is not one of a capture, and could overflow a number. */
static const int64_t MOST = INT32_MAX;

/* ---- text */

/* Names in the text have no ';'. */
static int
name_cmp(struct nsx_str x, struct nsx_str y)
{
	for (size_t i = 0; i < x.len && i < y.len; i++) {
		char a = x.ptr[i] == ';' ? ':' : x.ptr[i], b = y.ptr[i] == ';' ? ':' : y.ptr[i];

		if (a != b)
			return (unsigned char)a < (unsigned char)b ? -1 : 1;
	}
	return (x.len > y.len) - (x.len < y.len);
}

NSX_ORDER(by_name, struct renumber, name_cmp(a->name, b->name), NSX_CMP(a->id, b->id))

static size_t
last_at(struct nsx_str s, char c)
{
	size_t i = s.len;

	while (i > 0 && s.ptr[i - 1] != c)
		i--;
	return i;
}

/* NAME@ID:SHIFT, or NAME@:SHIFT; false if it is something else. */
static bool
parse(struct nsx_str s, struct renumber *r)
{
	size_t colon = last_at(s, ':'), at = colon ? last_at((struct nsx_str){ s.ptr, colon - 1 }, '@') : 0;
	struct nsx_str id;

	if (!at)
		return false;
	id = (struct nsx_str){ s.ptr + at, colon - 1 - at };
	*r = (struct renumber){ .name = { s.ptr, at - 1 }, .id = NSX_ABSENT };
	return (!id.len || nsx_get_int(id, &r->id)) &&
	       nsx_get_int((struct nsx_str){ s.ptr + colon, s.len - colon }, &r->by) && r->by >= -MOST && r->by <= MOST;
}

/* The next entry of *text, which is shortened by it; false at its end. What cannot be read is skipped. */
static bool
next(struct nsx_str *text, struct renumber *r)
{
	while (text->len) {
		const char *end = memchr(text->ptr, ';', text->len);
		struct nsx_str one = { text->ptr, end ? (size_t)(end - text->ptr) : text->len };

		text->ptr += one.len + (end != NULL);
		text->len -= one.len + (end != NULL);
		if (parse(one, r))
			return true;
	}
	return false;
}

static void
put(struct nsx_buf *b, const struct renumber *r)
{
	if (b->len)
		nsx_buf_char(b, ';');
	for (size_t i = 0; i < r->name.len; i++)
		nsx_buf_char(b, r->name.ptr[i] == ';' ? ':' : r->name.ptr[i]);
	nsx_buf_char(b, '@');
	if (r->id != NSX_ABSENT)
		nsx_buf_fmt(b, "%" PRId64, r->id);
	nsx_buf_fmt(b, ":%" PRId64, r->by);
}

typedef NSX_VEC(struct renumber) renumbers;

/* Sorted, those of one program added up. */
static void
put_all(struct nsx_buf *b, renumbers *list)
{
	if (list->n)
		qsort(list->p, list->n, sizeof *list->p, by_name);
	for (size_t i = 0, k; i < list->n; i = k) {
		struct renumber sum = list->p[i];

		for (k = i + 1; k < list->n && by_name(&list->p[k], &sum) == 0; k++)
			sum.by += list->p[k].by;
		if (sum.by)
			put(b, &sum);
	}
}

bool
nsx_align_executions_add(struct nsx_buf *b, struct nsx_str first, struct nsx_str second)
{
	renumbers list = { 0 };
	struct renumber r;
	bool good = true;

	b->len = 0;
	while (good && next(&first, &r))
		good = nsx_vec_push(&list, r);
	while (good && next(&second, &r))
		good = nsx_vec_push(&list, r);
	if (good)
		put_all(b, &list);
	free(list.p);
	return good && !b->failed;
}

/* ---- of programs */

/* What the report of a device calls a program: the id of its alias, else that of the program. */
static int64_t
id_in(const struct nsx_catalogue *cat, uint32_t profile, uint32_t program)
{
	uint32_t at = profile == NSX_NONE ? NSX_NONE
	    : nsx_map_get(&cat->alias_at, (struct nsx_key){ profile, program });

	return at == NSX_NONE ? cat->programs.p[program].id : cat->aliases.p[at].id;
}

int
nsx_align_note_executions(const struct al_job *j, struct al_corrections *g)
{
	const struct nsx_catalogue *cat = &j->comm.cat;
	struct nsx_buf b = { 0 };
	int rc = NSX_OK;

	for (uint32_t d = 0; d < j->devices.n && j->shifts.n && rc == NSX_OK; d++) {
		renumbers list = { 0 };
		uint32_t at = nsx_map_get(&g->of, (struct nsx_key){ (uint64_t)cat->devices.p[d].number, 0 });

		for (uint32_t p = 0; p < cat->programs.n && at != NSX_NONE; p++) {
			uint32_t ours = nsx_map_get(&j->program_number, (struct nsx_key){ p, 0 });
			int32_t by = ours == NSX_NONE ? 0 : nsx_align_shift(j, ours, d);

			if (by != 0 && by != AL_UNPAIRED && !nsx_vec_push(&list,
			    ((struct renumber){ nsx_cat_str(cat, cat->programs.p[p].name),
			                        id_in(cat, cat->devices.p[d].profile, p), by })))
				rc = nsx_err_nomem(j->err, NULL);
		}
		b.len = 0;
		put_all(&b, &list);
		free(list.p);
		if (at != NSX_NONE && b.len)
			g->clocks.p[at].executions = nsx_arena_str(&g->arena, nsx_buf_view(&b));
		if (b.failed || (at != NSX_NONE && b.len && !g->clocks.p[at].executions.ptr))
			rc = nsx_err_nomem(j->err, NULL);
	}
	nsx_buf_free(&b);
	return rc;
}

int64_t
nsx_align_executions_by(struct nsx_str text, const struct nsx_catalogue *cat, uint32_t device, uint32_t program)
{
	int64_t id = id_in(cat, cat->devices.p[device].profile, program), sum = 0;
	struct nsx_str name = nsx_cat_str(cat, cat->programs.p[program].name);
	struct renumber r;

	while (next(&text, &r))
		if (r.id == id && name_cmp(r.name, name) == 0)
			sum += r.by;
	return sum;
}
