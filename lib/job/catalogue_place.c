/* catalogue_place.c -- where in the source an instruction comes from. */
#include "job/catalogue.h"

#include "job/phase.h"

void
nsx_cat_place(const struct nsx_catalogue *c, const struct nsx_cat_inst *inst, uint32_t *op_name, uint32_t *frames)
{
	uint32_t stack = NSX_NONE;

	*op_name = NSX_NONE;
	/* The list begins with the last location. */
	for (uint32_t l = inst->locs; l != NSX_NONE; l = c->locs.p[l].next) {
		*op_name = c->locs.p[l].op_name == NSX_NONE ? *op_name : c->locs.p[l].op_name;
		stack = c->locs.p[l].stack == NSX_NONE ? stack : c->locs.p[l].stack;
	}
	*op_name = inst->op_name == NSX_NONE ? *op_name : inst->op_name;
	stack = inst->stack == NSX_NONE ? stack : inst->stack;
	*frames = stack == NSX_NONE ? (uint32_t)NSX_NONE : c->stacks.p[stack];
}

/* The part after the last separator. */
static struct nsx_str
last_part(struct nsx_str s, char separator)
{
	for (size_t i = s.len; i-- > 0;)
		if (s.ptr[i] == separator && i + 1 < s.len)
			return (struct nsx_str){ s.ptr + i + 1, s.len - i - 1 };
	return s;
}

struct nsx_str
nsx_cat_source(struct nsx_str frames, struct nsx_str op_name)
{
	if (frames.len)
		return last_part(frames, ';');
	return op_name.len && !nsx_op_name_is_cut(op_name) ? last_part(op_name, '/') : NSX_STR("[Unknown]");
}
