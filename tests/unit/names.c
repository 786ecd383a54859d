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
	}
	is_str(shown(NSX_NAMES_DIGITS, "TSL", "Thunk:#hlo_op=fusion.1#, op_id = 3"), "Thunk:#hlo_op=fusion.1#, op_id = 3", "XLA's names stay");
}

/* Names put together from pieces of tails, whole and broken. */
static void
random_names(void)
{
	static const char *const pieces[] = {
		", seq = 4", ", seq=5", ", stashed seq = 66", ", op_id = 7", ", sizes = [[1, 2], []]", ", sizes = []", ", input_op_ids = [(5,0), (6,1)]",
		", input_op_ids = []", ", ", "a", "]", "[", ", op_id = ", ", sizes = [", "seq", "7", ", sizes = [-3] ", "(", ")"
	};
	const char *tail = "((, (stashed )?seq ?= ?[0-9]+)?(, op_id = [0-9]+)?(, sizes = \\[[][0-9, -]*\\])?(, input_op_ids = \\[[-0-9, ()]*\\])?)$";
	int good = 0, cut = 0;
	regex_t re;

	if (regcomp(&re, tail, REG_EXTENDED) != 0) {
		ok(false, "the expression compiles");
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		char name[1024] = "";
		regmatch_t m;

		for (size_t n = 1 + draw(6); n--;)
			strcat(name, pieces[draw(sizeof pieces / sizeof *pieces)]);
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

int
main(void)
{
	rules();
	random_names();
	nsx_buf_free(&scratch);
	return done();
}
