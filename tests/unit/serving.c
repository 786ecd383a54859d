/* serving.c -- what names of servers' steps tell (job/serving.h). The long form of vLLM's is from a profile of 2026. */
#include "job/serving.h"

#include <string.h>

#include "stream/kinds.h"
#include "tap.h"

enum { NO = -1 };   /* not told */

static int64_t
told(int64_t v)
{
	return v == NSX_ABSENT ? NO : v;
}

int
main(void)
{
	static const struct { const char *name, *phase, *class; int64_t requests, tokens, sk, pairs; } cases[] = {
		{ "execute_context_1(512)_generation_6(6)", "mixed", "[vLLM]", 7, 518, NO, NO },
		{ "execute_context_0(0)_generation_37(37)", "decode", "[vLLM]", 37, 37, NO, NO },
		{ "execute_context_1(888_788544)_generation_0(0)", "prefill", "[vLLM]", 1, 888, NO, NO },
		{ "execute_context_0(0)_generation_0(0)", "empty", "[vLLM]", 0, 0, NO, NO },
		{ "execute_context_1(512)_generation_6(6), op_id = 9", "mixed", "[vLLM]", 7, 518, NO, NO },
		{ "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)", "decode", "[vLLM]", 32, 32, 55086, 55086 },
		/* Two prompts of 3 and 4 tokens, the second behind 2 that are there: pairs 6 and 4 * 6 - 6, and 10 of a running request. */
		{ "execute_8_context_2(sq7sk9sqsq25sqsk33)_generation_1(sq1sk10sqsq1sqsk10)", "mixed", "[vLLM]", 3, 8, 19, 34 },
		/* Sums of 32 bits that overflowed are not known. */
		{ "execute_90000_context_1(sq90000sk90000sqsq-489934592sqsk-489934592)_generation_0(sq0sk0sqsq0sqsk0)", "prefill", "[vLLM]", 1, 90000,
		  90000, NO },
		/* ... if they are above 0 again: 100000^2 - 2 * 2^32, 8192 * 600000 - 2^32, and 2 * 100000^2 - 4 * 2^32. */
		{ "execute_100000_context_1(sq100000sk100000sqsq1410065408sqsk1410065408)_generation_0(sq0sk0sqsq0sqsk0)", "prefill", "[vLLM]", 1, 100000,
		  100000, NO },
		{ "execute_8192_context_1(sq8192sk600000sqsq67108864sqsk620232704)_generation_0(sq0sk0sqsq0sqsk0)", "prefill", "[vLLM]", 1, 8192,
		  600000, NO },
		{ "execute_200000_context_2(sq200000sk200000sqsq2820130816sqsk2820130816)_generation_0(sq0sk0sqsq0sqsk0)", "prefill", "[vLLM]", 2, 200000,
		  200000, NO },
		{ "execute_9_context_1(sq9223372036854775807sk1sqsq0sqsk9223372036854775807)_generation_0(sq0sk0sqsq0sqsk0)", "prefill", "[vLLM]", 1, 9, 1, NO },
		{ "execute_new_1_cached_6", "mixed", "[vLLM]", 7, NO, NO, NO },
		{ "execute_new_0_cached_6", "decode", "[vLLM]", 6, 6, NO, NO },
		{ "prefill_batch", "prefill", "[vLLM]", NO, NO, NO, NO },
		{ "step[DECODE bs=6]", "decode", "[SGLang]", 6, 6, NO, NO },
		{ "step[DECODE bs=6 toks=12]", "decode", "[SGLang]", 6, 12, NO, NO },
		{ "step[EXTEND bs=15 toks=15360]", "prefill", "[SGLang]", 15, 15360, NO, NO },
		{ "step[EXTEND bs=15]", "prefill", "[SGLang]", 15, NO, NO, NO },
		{ "step[MIXED bs=7]", "mixed", "[SGLang]", 7, NO, NO, NO },
		{ "[Executor] _forward_step 8: 1 ctx reqs, 512 ctx tokens, 6 gen reqs", "mixed", "[TensorRT-LLM]", 7, 518, NO, NO },
		{ "[Executor] _forward_step 8: 1 ctx reqs, 6 gen reqs", "mixed", "[TensorRT-LLM]", 7, NO, NO, NO },
		{ "[Executor] _forward_step 8: 0 ctx reqs, 6 gen reqs", "decode", "[TensorRT-LLM]", 6, 6, NO, NO },
		{ "prefill[3]", "prefill", "[ATOM]", NO, NO, NO, NO },
	};
	static const char *const others[] = { "", "execute_context_", "execute_context_a(1)_generation_1(1)", "execute_context_1(512)_generation_6(6)x",
	                                      "step[DECODE bs=]", "step[IDLE bs=0]", "capture_32_FULL", "decode", "ProfilerStep#3", "%c" };
	struct nsx_serving s;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ok(nsx_serving_of(nsx_str_c(cases[i].name), &s), "%s is a step", cases[i].name);
		is_str(nsx_serving_phase_name(s.phase), cases[i].phase, "... its phase");
		is_str(nsx_serving_class(&s), cases[i].class, "... whose it is");
		is_int(told(s.requests), cases[i].requests, "... requests");
		is_int(told(s.tokens), cases[i].tokens, "... tokens");
		is_int(told(s.sk), cases[i].sk, "... keys");
		is_int(told(s.pairs), cases[i].pairs, "... pairs");
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ok(!nsx_serving_of(nsx_str_c(others[i]), &s), "'%s' is none", others[i]);
	ok(nsx_serving_is_phase(NSX_STR("execute_context_*: decode")) && nsx_serving_is_phase(NSX_STR("step[*: mixed"))
	   && !nsx_serving_is_phase(NSX_STR("train: decode")) && !nsx_serving_is_phase(NSX_STR("decode")),
	   "classes by phase");
	ok(nsx_serving_is_class(NSX_STR("[vLLM]")) && !nsx_serving_is_class(NSX_STR("decode")), "names of classes");
	return done();
}
