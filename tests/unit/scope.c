/* scope.c -- scopes and phases of op_names and ranges: job/scope.h, job/phase.h. The op_names are those that JAX 0.10.2
 * gives a Flax model with nn.remat and nn.scan; the ranges have the names that emit_nvtx gives them. */
#include "job/scope.h"

#include "tap.h"

/* The path of an op_name. */
static const char *
path(const char *op_name)
{
	static char out[512];
	struct nsx_str part;
	size_t at = 0, n = 0;

	out[0] = '\0';
	while (nsx_scope_next(nsx_str_c(op_name), &at, &part))
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", n ? "/" : "", (int)part.len, part.ptr);
	return out;
}

static void
op_names(void)
{
	static const struct { const char *op_name, *path; enum nsx_phase phase; } cases[] = {
		{ "jit(step)/jvp(fwd)/Model/b0/up/dot_general", "step/fwd/Model/b0/up", NSX_PHASE_FORWARD },
		{ "jit(step)/transpose(jvp(fwd))/Model/b1/down/dot_general", "step/fwd/Model/b1/down", NSX_PHASE_BACKWARD },
		/* A checkpoint repeats the path of its forward pass. */
		{ "jit(step)/transpose(jvp(fwd))/Model/jvp(fwd)/Model/checkpoint/b0/mul", "step/fwd/Model/b0", NSX_PHASE_BACKWARD },
		{ "jit(step)/transpose(jvp(fwd))/Model/jvp(fwd)/Model/checkpoint/rematted_computation/b0/tanh", "step/fwd/Model/b0", NSX_PHASE_RECOMPUTE },
		{ "jit(step)/transpose(jvp(fwd))/Model/jvp(other)/checkpoint/b0/mul", "step/fwd/Model/other/b0", NSX_PHASE_BACKWARD },
		{ "jit(step)/jvp(fwd)/Model/while/body/closed_call/layers/blk/up/add", "step/fwd/Model/layers/blk/up", NSX_PHASE_FORWARD },
		{ "jit(step)/transpose(jvp(fwd))/Model/while/body/closed_call/checkpoint/layers/blk/mul", "step/fwd/Model/layers/blk", NSX_PHASE_BACKWARD },
		{ "jit(step)/transpose(jvp(fwd))/Model/while/body/closed_call/checkpoint/rematted_computation/layers/blk/up/dot_general",
		  "step/fwd/Model/layers/blk/up", NSX_PHASE_RECOMPUTE },
		{ "jit(step)/transpose(jvp())/mul;jit(step)/transpose(jvp())/broadcast_in_dim", "step", NSX_PHASE_BACKWARD },
		{ "jit(step)/jvp()/div", "step", NSX_PHASE_FORWARD },
		{ "jit(step)/opt/jit(_where)/select_n", "step/opt/_where", NSX_PHASE_OUTSIDE },
		{ "pjit(f)/jit(main)/jvp(lm.apply)/lm/x_layers_0/einsum/ABD,KDNH->KABNH/dot_general[dimension_numbers=(((1,), (2,)), ((), ())) precision=None]",
		  "f/lm.apply/lm/x_layers_0/einsum/ABD,KDNH->KABNH", NSX_PHASE_FORWARD },
		{ "jit(f)/jit(main)/vmap(transpose(jvp(m)))/transpose[permutation=(1, 0)]", "f/m", NSX_PHASE_BACKWARD },
		{ "jit(f)/cond/branch_1_fun/body_of_mine/add", "f/body_of_mine", NSX_PHASE_OUTSIDE },
		{ "jit(f)/blocks[3]/transpose[permutation=(1,0)]/dot_general", "f/blocks[3]", NSX_PHASE_OUTSIDE },
		/* Names that only contain the words. */
		{ "jit(f)/my_transpose(x)/add", "f/my_transpose(x)", NSX_PHASE_OUTSIDE },
		{ "jit(f)/transpose[permutation=(1, 0)]", "f", NSX_PHASE_OUTSIDE },
		{ "p['params']['b0']['kernel']", "", NSX_PHASE_OUTSIDE },
		{ "jit(f)/[/add", "f", NSX_PHASE_OUTSIDE },
		{ "", "", NSX_PHASE_UNKNOWN },
		{ "/", "", NSX_PHASE_OUTSIDE },
		{ "jit()/add", "", NSX_PHASE_OUTSIDE },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		is_str(path(cases[i].op_name), cases[i].path, "scope of %s", cases[i].op_name);
		is_int(nsx_phase_of_inst(NSX_STR("fusion.1"), nsx_str_c(cases[i].op_name)), cases[i].phase, "phase of %s", cases[i].op_name);
	}
	is_int(nsx_phase_of_inst(NSX_STR("fusion.7.remat2"), NSX_STR("jit(f)/jvp(m)/dot_general")), NSX_PHASE_RECOMPUTE,
	       "XLA's own rematerialization");
	is_int(nsx_phase_of_inst(NSX_STR("fusion.7.remat.1"), NSX_STR("")), NSX_PHASE_RECOMPUTE, "... without an op_name");
	is_int(nsx_phase_of_inst(NSX_STR("fusion.rematch"), NSX_STR("jit(f)/jvp(m)/dot_general")), NSX_PHASE_FORWARD, "another word");
	is_int(nsx_phase_settled(NSX_PHASE_OUTSIDE, true), NSX_PHASE_OPTIMIZER, "outside of a step that is differentiated");
	is_int(nsx_phase_settled(NSX_PHASE_OUTSIDE, false), NSX_PHASE_OTHER, "... of a program that is not");
	is_int(nsx_phase_settled(NSX_PHASE_INSIDE, true), NSX_PHASE_FORWARD, "a range beside a backward pass");
	is_int(nsx_phase_settled(NSX_PHASE_INSIDE, false), NSX_PHASE_OTHER, "... without one");
	is_int(nsx_phase_settled(NSX_PHASE_FORWARD, false), NSX_PHASE_FORWARD, "what is known stays");
}

/* The phase in the ranges named, from the outermost. */
static enum nsx_phase
in(const char *const *names)
{
	enum nsx_phase phase = NSX_PHASE_UNKNOWN;
	bool recorded;

	for (; *names; names++) {
		enum nsx_phase own = nsx_phase_of_range(nsx_str_c(*names), nsx_name_seq(nsx_str_c(*names)), &recorded);

		phase = nsx_phase_in(own, recorded, phase);
	}
	return phase;
}

#define IN(...) in((const char *const[]){ __VA_ARGS__, NULL })

static void
ranges(void)
{
#define ENGINE "autograd::engine::evaluate_function: "
	is_int(IN("aten::linear, seq = 5, op_id = 7"), NSX_PHASE_FORWARD, "an operator that autograd recorded");
	is_int(IN("aten::linear, op_id = 7"), NSX_PHASE_INSIDE, "one that it did not record");
	is_int(IN("train", "aten::linear, seq = 5, op_id = 7", "aten::addmm, op_id = 8"), NSX_PHASE_FORWARD, "... inside one");
	is_int(IN(ENGINE "AddmmBackward0, op_id = 9", "AddmmBackward0, seq = 5, op_id = 10", "aten::mm, op_id = 11"), NSX_PHASE_BACKWARD, "the engine");
	is_int(IN(ENGINE "MulBackward0", "FlashAttnFuncBackward, seq = 5", "aten::mm"), NSX_PHASE_BACKWARD, "a node of a function's");
	is_int(IN(ENGINE "AddmmBackward0, seq = 5", "AddmmBackward0, seq = 5", "aten::linear, seq = 12"), NSX_PHASE_RECOMPUTE, "a checkpoint");
	is_int(IN(ENGINE "AddmmBackward0, seq = 5", "aten::linear, seq = 12", "aten::addmm"), NSX_PHASE_RECOMPUTE, "... what it runs");
	is_int(IN(ENGINE "CheckpointFunctionBackward, op_id = 3", "CheckpointFunctionBackward, seq = 4", "aten::linear, seq = 12"), NSX_PHASE_RECOMPUTE,
	       "a reentrant checkpoint");
	is_int(IN(ENGINE "CheckpointFunctionBackward", "CheckpointFunctionBackward, seq = 4", ENGINE "AddmmBackward0", "AddmmBackward0, seq = 12"),
	       NSX_PHASE_BACKWARD, "... the backward pass in it");
	is_int(IN("ProfilerStep#3", "Optimizer.step#AdamW.step", "aten::add, op_id = 3"), NSX_PHASE_OPTIMIZER, "the optimizer");
	is_int(IN("nn.Module: Block_0"), NSX_PHASE_INSIDE, "a range of the user's tells nothing");
	is_int(nsx_name_seq(NSX_STR("aten::mm, seq = 7, op_id = 52")), 7, "a sequence number");
	is_int(nsx_name_seq(NSX_STR("MulBackward0, stashed seq=12")), 12, "... as old versions wrote it");
	ok(nsx_name_seq(NSX_STR("conv2d_5, op_id = 52")) == NSX_ABSENT && nsx_name_seq(NSX_STR("x5")) == NSX_ABSENT
	   && nsx_name_seq(NSX_STR("")) == NSX_ABSENT && nsx_name_seq(NSX_STR("{'Module': 'seq = 5'}")) == NSX_ABSENT, "none");
}

int
main(void)
{
	op_names();
	ranges();
	return done();
}
