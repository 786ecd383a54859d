/* names.c -- keys of range names, compared with an equivalent regular expression. */
#include "job/names.h"

#include <regex.h>
#include <string.h>

#include "base/map.h"
#include "tap.h"

enum { ROUNDS = 20000 };

static struct nsx_buf scratch;
static uint64_t seed = 3;

static size_t
draw(size_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (size_t)(nsx_hash_u64(seed) % below);
}

static const char *
shown(enum nsx_names names, const char *domain, const char *name)
{
	static char out[1024];
	struct nsx_str s = nsx_name(names, nsx_str_c(domain), nsx_str_c(name), &scratch);

	snprintf(out, sizeof out, "%.*s", (int)s.len, s.ptr);
	return out;
}

static void
rules(void)
{
	static const struct { const char *name, *key, *digits; } cases[] = {
		{ "aten::copy_", "aten::copy_", "aten::copy_" },
		{ "aten::copy_, op_id = 998868", "aten::copy_", "aten::copy_" },
		{ "aten::mm, seq = 7, op_id = 52, sizes = [[2, 3], [], [-1]], input_op_ids = [(5,0), (6,1)]", "aten::mm", "aten::mm" },
		{ "MulBackward0, stashed seq=12", "MulBackward0", "MulBackward0" },
		{ "mul, seq=12", "mul", "mul" },
		{ "x, op_id = 3, seq = 2", "x, op_id = 3", "x, op_id = #" },
		{ "FSDP::pre_forward (blocks.3._checkpoint_wrapped_module)", "FSDP::pre_forward (blocks.3._checkpoint_wrapped_module)",
		  "FSDP::pre_forward (blocks.#._checkpoint_wrapped_module)" },
		{ ", seq = 2", ", seq = 2", ", seq = #" },
		{ "a, sizes = []", "a", "a" },
		{ "a, sizes = [", "a, sizes = [", "a, sizes = [" },
		{ "a, b, seq = 1", "a, b", "a, b" },
		{ "conv2d bf16 AllToAll4D 12 x_5", "conv2d bf16 AllToAll4D 12 x_5", "conv2d bf16 AllToAll4D # x_#" },
		{ "{'Module': 'model.layers.3.mlp', 'TrainableParams': 12}", "model.layers.3.mlp", "model.layers.#.mlp" },
		{ "{'Module': \"it's\", 'x': 1}", "it's", "it's" },
		{ "{'Module': 'open", "{'Module': 'open", "{'Module': 'open" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		is_str(shown(NSX_NAMES_KEY, "", cases[i].name), cases[i].key, "key of %s", cases[i].name);
		is_str(shown(NSX_NAMES_DIGITS, "", cases[i].name), cases[i].digits, "digits of %s", cases[i].name);
		is_str(shown(NSX_NAMES_FULL, "", cases[i].name), cases[i].name, "in full: %s", cases[i].name);
		is_str(shown(NSX_NAMES_STEPS, "", cases[i].name), cases[i].key, "no step: %s", cases[i].name);
	}
	static const struct { const char *name, *steps; } steps[] = {
		{ "ProfilerStep#10", "ProfilerStep##" }, { "step 7", "step #" }, { "train_step_12", "train_step_#" }, { "Iteration: 3/100", "Iteration: #/#" },
		{ "Epoch [2", "Epoch [#" }, { "ITER#4", "ITER##" }, { "step 1, layer 2", "step #, layer #" }, { "step[DECODE bs=4 toks=4]", "step[DECODE bs=# toks=#]" },
		{ "execute_context_1(512)_generation_3(3)", "execute_context_#(#)_generation_#(#)" }, { "minibatch 3", "minibatch 3" },
		{ "layer 3", "layer 3" }, { "step", "step" }, { "step7", "step7" }, { "step - 3", "step - 3" }, { "Block_0 of step", "Block_0 of step" }, { "3 step", "3 step" }, { "step 7, seq = 3", "step #" },
	};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		is_str(shown(NSX_NAMES_STEPS, "", steps[i].name), steps[i].steps, "of a step? %s", steps[i].name);
	is_str(shown(NSX_NAMES_STEPS, "TSL", "Thunk:#step 3#"), "Thunk:#step 3#", "XLA's are no steps");
	is_str(shown(NSX_NAMES_DIGITS, "TSL", "Thunk:#hlo_op=fusion.1#, op_id = 3"), "Thunk:#hlo_op=fusion.1#, op_id = 3", "XLA's names stay");
}

/* Pieces of tails, whole and broken, of which names are put together. */
static const char *const pieces[] = {
	", seq = 4", ", seq=5", ", stashed seq = 66", ", op_id = 7", ", sizes = [[1, 2], []]", ", sizes = []", ", input_op_ids = [(5,0), (6,1)]",
	", input_op_ids = []", ", ", "a", "]", "[", ", op_id = ", ", sizes = [", "seq", "7", ", sizes = [-3] ", "(", ")"
};

static void
put_together(char *name)
{
	*name = '\0';
	for (size_t n = 1 + draw(6); n--;)
		strcat(name, pieces[draw(sizeof pieces / sizeof *pieces)]);
}

static void
random_names(void)
{
	const char *tail = "((, (stashed )?seq ?= ?[0-9]+)?(, op_id = [0-9]+)?(, sizes = \\[[][0-9, -]*\\])?(, input_op_ids = \\[[-0-9, ()]*\\])?)$";
	int good = 0, cut = 0;
	regex_t re;

	if (regcomp(&re, tail, REG_EXTENDED) != 0) {
		ok(false, "the expression compiles");
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		char name[1024];
		regmatch_t m;

		put_together(name);
		if (regexec(&re, name + 1, 1, &m, 0) != 0)
			continue;
		struct nsx_str key = nsx_name_key(nsx_str_c(name));

		good += key.len == (size_t)m.rm_so + 1;
		cut += key.len < strlen(name);
		if (key.len != (size_t)m.rm_so + 1)
			printf("# %s: %zu, want %d\n", name, key.len, (int)m.rm_so + 1);
	}
	regfree(&re);
	is_int(good, ROUNDS, "random names: the key ends at the end of the match");
	ok(cut > ROUNDS / 4 && cut < ROUNDS, "some names have a tail, some do not (%d of %d)", cut, ROUNDS);
}

static bool
of_many(enum nsx_names names, const char *domain, const char *name)
{
	return nsx_name_is_of_many(names, nsx_str_c(domain), nsx_str_c(name));
}

/* Other digits at the end of a name that is one of many do not show. */
static void
other_digits(void)
{
	int many = 0, same = 0;

	for (int i = 0; i < ROUNDS; i++) {
		enum nsx_names names = draw(2) ? NSX_NAMES_KEY : NSX_NAMES_DIGITS;
		char name[1024], was[1024];

		strcpy(name, draw(4) ? "" : "{'Module': 'a.7'");
		put_together(name + strlen(name));
		if (!of_many(names, "", name))
			continue;
		strcpy(was, shown(names, "", name));
		for (size_t n = strlen(name); n && name[n - 1] >= '0' && name[n - 1] <= '9';)
			name[--n] = '\0';
		for (size_t n = 1 + draw(3); n--;)
			strcat(name, draw(2) ? "3" : "80");
		many++;
		same += strcmp(shown(names, "", name), was) == 0;
		if (strcmp(shown(names, "", name), was) != 0)
			printf("# %s: %s, was %s\n", name, shown(names, "", name), was);
	}
	is_int(same, many, "names that are one of many are shown alike");
	ok(many > ROUNDS / 50 && many < ROUNDS / 2, "some are one of many, some are not (%d of %d)", many, ROUNDS);
	ok(of_many(NSX_NAMES_KEY, "", "aten::mm, seq = 3, op_id = 12"), "a number of emit_nvtx");
	ok(!of_many(NSX_NAMES_FULL, "", "aten::mm, op_id = 12"), "not in full");
	ok(!of_many(NSX_NAMES_KEY, "TSL", "aten::mm, op_id = 12"), "nor of XLA");
	ok(!of_many(NSX_NAMES_KEY, "", "step 12") && !of_many(NSX_NAMES_DIGITS, "", "conv2d_12"), "nor a number of a name");
	ok(!of_many(NSX_NAMES_KEY, "", "aten::mm, op_id = ") && !of_many(NSX_NAMES_KEY, "", ""), "nor without digits");
}

int
main(void)
{
	rules();
	other_digits();
	random_names();
	nsx_buf_free(&scratch);
	return done();
}
