/* layout.c -- kernels that only move data: copies and transposes that a program makes if its arrays are not in the
 * layout that is needed. */
#include <string.h>

#include "base/kernel_name.h"
#include "table/diagnose/diagnose.h"

static bool
is_word(struct nsx_str s, const char *const *words)
{
	for (; *words; words++)
		if (nsx_str_eq(s, nsx_str_c(*words)))
			return true;
	return false;
}

/* Whether an instruction only moves data, judged by its name in XLA: it consists of these words only, including one of
 * the first ones.
 *
 *   transpose.7, wrapped_copy, loop_transpose_fusion.2   do
 *   input_reduce_transpose_fusion.1, copy-start.3        do not: it computes, too; it leaves the device */
bool
nsx_look_moves_by_name(struct nsx_str name)
{
	static const char *const moves[] = { "copy", "transpose", NULL };
	static const char *const besides[] = { "loop", "input", "wrapped", "fusion", "bitcast", "reshape", NULL };
	bool any = false;

	for (size_t i = 0, from = 0; i <= name.len; i++) {
		struct nsx_str word = { name.ptr + from, i - from };
		bool end = i == name.len || name.ptr[i] == '.';

		if (!end && name.ptr[i] != '_' && name.ptr[i] != '-')
			continue;
		if (is_word(word, moves))
			any = true;
		else if (!is_word(word, besides))
			return false;
		if (end)
			break;
		from = i + 1;
	}
	return any;
}

/* The word in a kernel's name that shows that it does; NULL: none. For PyTorch the copy of strided data, which changes
 * the type unless it is nocast, and the layout conversions of cuDNN and others. */
static const char *
kernel_moves(struct nsx_str name)
{
	static const char *const words[] = { "direct_copy_kernel", "nchwToNhwc", "nhwcToNchw", "transpose", "Transpose",
	                                     "permute" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (nsx_str_has(name, words[i]))
			return i > 0 || nsx_str_has(name, "nocast") ? words[i] : NULL;
	return NULL;
}

const char *
nsx_look_layout_pattern(const char *word)
{
	return strcmp(word, "direct_copy_kernel") == 0 ? "nocast.*direct_copy_kernel" : word;
}

int
nsx_look_kernel_word(struct nsx_look_at *a, uint32_t name, const char **word)
{
	static const char unknown[] = "";
	const char *none = unknown;

	if (!nsx_vec_reach(&a->moves, name, &none))
		return nsx_err_nomem(a->err, NULL);
	if (a->moves.p[name] == unknown)
		a->moves.p[name] = kernel_moves(nsx_intern_str(&a->reading.names, name));
	*word = a->moves.p[name];
	return NSX_OK;
}

/* word: as nsx_look_layout has it. */
static int
add(struct nsx_look_at *a, struct nsx_str name, const char *word, int64_t dur)
{
	uint32_t text = nsx_look_text(a, name), at = text == NSX_NONE ? text : nsx_map_number(&a->layout_of,
		(struct nsx_key){ text, 0 });
	struct nsx_look_layout fresh = { .name = text, .word = word };

	if (!nsx_vec_next(&a->layouts, at, fresh))
		return nsx_err_nomem(a->err, NULL);
	a->layouts.p[at].count++;
	a->layouts.p[at].time += (nsx_u128)dur;
	return NSX_OK;
}

/* Kernels are named by their function and that word. */
static int
add_kernel(struct nsx_look_at *a, struct nsx_str name, const char *word, int64_t dur)
{
	a->text.len = 0;
	nsx_buf_kernel(&a->text, name, nsx_str_c(word));
	return a->text.failed ? nsx_err_nomem(a->err, NULL) : add(a, nsx_buf_view(&a->text), word, dur);
}

enum { UNKNOWN, STAYS, MOVES };

bool
nsx_look_inst_moves(const struct nsx_look_at *a, uint32_t inst)
{
	return inst < a->insts.n && a->insts.p[inst] == MOVES;
}

/* Whether an instruction, whose own name is `name`, only moves data. */
static bool
inst_moves(struct nsx_look_at *a, const struct nsx_rec *rec, struct nsx_str opcode, struct nsx_str name)
{
	bool moves = nsx_str_eq(opcode, NSX_STR("copy")) || nsx_str_eq(opcode, NSX_STR("transpose"));

	if (!moves && (!opcode.len || nsx_str_eq(opcode, NSX_STR("fusion"))))
		moves = nsx_look_moves_by_name(name.len ? name : nsx_string(rec, NSX_THUNK_name));
	if (!moves && nsx_look_moves_by_name(name))
		a->misnamed = true;
	return moves;
}

static int
take_thunk(struct nsx_look_at *a, const struct nsx_rec *rec, int64_t dur)
{
	struct nsx_catalogue *cat = &a->reading.cat;
	uint32_t i = nsx_cat_inst(cat, rec);

	if (i == NSX_NONE)
		return nsx_err_nomem(a->err, NULL);
	struct nsx_str name = nsx_cat_str(cat, cat->insts.p[i].name);

	if (!nsx_vec_reach(&a->insts, i, &(uint8_t){ UNKNOWN }))
		return nsx_err_nomem(a->err, NULL);
	/* Without a name of its own each record has one. */
	if (a->insts.p[i] == UNKNOWN || !name.len)
		a->insts.p[i] = inst_moves(a, rec, nsx_cat_str(cat, cat->insts.p[i].opcode), name) ? MOVES : STAYS;
	return a->insts.p[i] == MOVES ? add(a, name.len ? name : nsx_string(rec, NSX_THUNK_name), NULL, dur) : NSX_OK;
}

static void
need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_THUNK);
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_THUNK, NSX_C(THUNK, name));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, name));
}

static int
take(void *state, const struct nsx_event *e)
{
	struct nsx_look_at *a = state;
	const struct nsx_rec *rec = e->rec;
	int64_t dur = e->end == NSX_ABSENT ? 0 : e->end - e->start;
	/* Operations of an instruction belong to a thunk. */
	bool several = a->devices.n > 1, alone = !nsx_has(rec, NSX_OP_inst);

	if (dur <= 0 || e->communicates)
		return NSX_OK;
	if (rec->kind->id == NSX_THUNK)
		return take_thunk(a, rec, dur);
	if ((!several && !alone) || e->type != NSX_TYPE_KERNEL)
		return NSX_OK;
	const char *word = NULL;

	if ((several && nsx_look_add_kernel(a, e, dur) != NSX_OK)
	    || (alone && nsx_look_kernel_word(a, e->name, &word) != NSX_OK))
		return NSX_ERR;
	return word ? add_kernel(a, nsx_string(rec, NSX_OP_name), word, dur) : NSX_OK;
}

const struct nsx_analysis nsx_look_names = { 0, NSX_K(OP) | NSX_K(THUNK), NSX_NAMED, NULL, need, take, NULL, NULL };
