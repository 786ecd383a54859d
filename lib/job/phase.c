/* phase.c -- see phase.h. */
#include "job/phase.h"

#include <string.h>

#include "job/frameworks.h"
#include "job/names.h"
#include "stream/kinds.h"

enum { LONGEST = 32 };   /* bytes of a name that is CALLED_... in frameworks.def */

const char *
nsx_phase_name(enum nsx_phase phase)
{
	static const char *const names[NSX_NPHASES] = { "forward", "backward", "recompute", "optimizer", "other",
	                                                "unknown" };

	return names[phase];
}

/* Whether s has the word at i. */
static bool
has_at(struct nsx_str s, size_t i, struct nsx_str word)
{
	return i + word.len <= s.len && memcmp(s.ptr + i, word.ptr, word.len) == 0;
}

/* It does so to save memory, and appends ".remat" and a number. */
bool
nsx_phase_is_again(struct nsx_str name)
{
	for (size_t i = 0; i + 6 <= name.len; i++)
		if (memcmp(name.ptr + i, ".remat", 6) == 0
		    && (i + 6 == name.len || name.ptr[i + 6] == '.' || nsx_is_digit(name.ptr[i + 6])))
			return true;
	return false;
}

bool
nsx_op_name_is_cut(struct nsx_str op_name)
{
	static const char main[] = "jit(main)";
	size_t n = sizeof main - 1;

	while (op_name.len && op_name.ptr[op_name.len - 1] == '/')
		op_name.len--;
	if (op_name.len > n && memcmp(op_name.ptr + op_name.len - n, main, n) == 0
	    && op_name.ptr[op_name.len - n - 1] == '/')
		op_name.len -= n + 1;
	if (!op_name.len || op_name.ptr[op_name.len - 1] != ')' || memchr(op_name.ptr, '/', op_name.len))
		return false;
	return (op_name.len > 4 && memcmp(op_name.ptr, "jit(", 4) == 0)
	       || (op_name.len > 5 && memcmp(op_name.ptr, "pjit(", 5) == 0);
}

enum nsx_phase
nsx_phase_of_op_name(struct nsx_str op_name)
{
	enum nsx_phase found = NSX_PHASE_UNKNOWN;

	/* A word is no part of a longer name: a slash, a bracket or nothing is before it. */
	for (size_t i = 0; i < op_name.len; i++) {
		if (i && op_name.ptr[i - 1] != '/' && op_name.ptr[i - 1] != '(')
			continue;
		if (has_at(op_name, i, NSX_STR("rematted_computation")))
			return NSX_PHASE_RECOMPUTE;
		if (has_at(op_name, i, NSX_STR("transpose(")))
			found = NSX_PHASE_BACKWARD;
		else if (found == NSX_PHASE_UNKNOWN && has_at(op_name, i, NSX_STR("jvp(")))
			found = NSX_PHASE_FORWARD;
	}
	if (found != NSX_PHASE_UNKNOWN)
		return found;
	if (nsx_op_name_is_cut(op_name))
		return NSX_PHASE_CUT;
	return op_name.len ? NSX_PHASE_OUTSIDE : NSX_PHASE_UNKNOWN;
}

enum nsx_phase
nsx_phase_of_inst(struct nsx_str name, struct nsx_str op_name)
{
	return nsx_phase_is_again(name) ? NSX_PHASE_RECOMPUTE : nsx_phase_of_op_name(op_name);
}

/* Whether it is named as a node of the graph that autograd runs: AddmmBackward0, FlashAttnFuncBackward. */
static bool
is_node(struct nsx_str key)
{
	while (key.len && nsx_is_digit(key.ptr[key.len - 1]))
		key.len--;
	return nsx_str_ends(key, "Backward");
}

/* What programs call these parts, in any case of letters: the whole name. */
static enum nsx_phase
phase_called(struct nsx_str name)
{
	static const struct { enum nsx_framework_use use; enum nsx_phase phase; } calls[] = {
		{ NSX_FRAMEWORK_CALLED_FORWARD, NSX_PHASE_FORWARD },
		{ NSX_FRAMEWORK_CALLED_BACKWARD, NSX_PHASE_BACKWARD },
		{ NSX_FRAMEWORK_CALLED_OPTIMIZER, NSX_PHASE_OPTIMIZER }
	};
	char lower[LONGEST];

	if (name.len > sizeof lower)
		return NSX_PHASE_UNKNOWN;
	for (size_t i = 0; i < name.len; i++)
		lower[i] = name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? (char)(name.ptr[i] | 32) : name.ptr[i];
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (nsx_framework_has(calls[i].use, (struct nsx_str){ lower, name.len }))
			return calls[i].phase;
	return NSX_PHASE_UNKNOWN;
}

enum nsx_phase
nsx_phase_of_range(struct nsx_str name, int64_t seq, bool *recorded)
{
	enum nsx_phase called;

	*recorded = false;
	if (nsx_framework_is(NSX_FRAMEWORK_RECOMPUTE, name))
		return NSX_PHASE_RECOMPUTE;
	if (nsx_framework_is(NSX_FRAMEWORK_BACKWARD, name) || nsx_framework_is(NSX_FRAMEWORK_BACKWARD_PART, name))
		return NSX_PHASE_BACKWARD;
	if (nsx_framework_is(NSX_FRAMEWORK_OPTIMIZER, name))
		return NSX_PHASE_OPTIMIZER;
	if ((called = phase_called(name)) != NSX_PHASE_UNKNOWN)
		return called;
	/* A node has the number of the operator whose derivative it is. */
	*recorded = seq != NSX_ABSENT && !is_node(nsx_name_key(name));
	return NSX_PHASE_UNKNOWN;
}

enum nsx_phase
nsx_phase_in(enum nsx_phase own, bool recorded, enum nsx_phase outer)
{
	/* A forward pass in the backward pass is one that a checkpoint runs again. */
	if (own == NSX_PHASE_FORWARD && (outer == NSX_PHASE_BACKWARD || outer == NSX_PHASE_RECOMPUTE))
		return NSX_PHASE_RECOMPUTE;
	if (own != NSX_PHASE_UNKNOWN)
		return own;
	/* The engine records nothing of what it runs, unless for a checkpoint. */
	if (outer == NSX_PHASE_BACKWARD && recorded)
		return NSX_PHASE_RECOMPUTE;
	if (outer < NSX_PHASE_OTHER)
		return outer;
	return recorded ? NSX_PHASE_FORWARD : NSX_PHASE_INSIDE;
}
