/* text_numbers.c -- numbers of texts are found in their block, and for texts that are like them, and nowhere else. */
#include "job/text_numbers.h"

#include "tap.h"

static void
in_a_block(void)
{
	static const uint32_t first[] = { 0, 0, 2, 0 };
	struct nsx_run_texts texts = { .n = 4, .block = 1, .first = first }, next = { .n = 3, .block = 2, .first = first },
	                     alone = { .n = 4, .block = 3 };
	struct nsx_text_numbers n = { 0 };

	is_int(nsx_text_number(&n, &texts, NSX_ABSENT, 0), NSX_NONE, "nothing was set");
	ok(nsx_text_number_set(&n, &texts, NSX_ABSENT, 1, 7, false), "one text");
	is_int(nsx_text_number(&n, &texts, NSX_ABSENT, 1), 7, "is found");
	is_int(nsx_text_number(&n, &texts, NSX_ABSENT, 0), NSX_NONE, "one that is like it is not");
	is_int(nsx_text_number(&n, &texts, 2, 1), NSX_NONE, "nor the same beside another text");
	is_int(nsx_text_number(&n, &texts, 0, 1), NSX_NONE, "be that the first of the block");
	ok(nsx_text_number_set(&n, &texts, 2, 3, 8, true), "a text and those like it");
	is_int(nsx_text_number(&n, &texts, 2, 0), 8, "are found: the first");
	is_int(nsx_text_number(&n, &texts, 2, 1), 8, "another one");
	is_int(nsx_text_number(&n, &texts, 2, 2), NSX_NONE, "not one that differs");
	is_int(nsx_text_number(&n, &texts, NSX_ABSENT, 3), NSX_NONE, "not beside another text");
	is_int(nsx_text_number(&n, &texts, NSX_ABSENT, 1), 7, "the one text still is");
	is_int(nsx_text_number(&n, &next, 2, 0), NSX_NONE, "nothing of it in the next block");
	ok(nsx_text_number_set(&n, &texts, 2, NSX_ABSENT, 9, false), "no text has no number");
	is_int(nsx_text_number(&n, &texts, 2, NSX_ABSENT), NSX_NONE, "and none is found");
	ok(nsx_text_number_set(&n, &alone, 2, 1, 5, false), "where texts are not compared");
	is_int(nsx_text_number(&n, &alone, 2, 1), 5, "a text is found");
	is_int(nsx_text_number(&n, &alone, 2, 0), NSX_NONE, "by itself");
	nsx_text_numbers_free(&n);
}

static struct nsx_stem_numbers stems;

static void
of_any_block(void)
{
	char text[100];
	int lost = 0, wrong = 0;

	is_int((int)nsx_stem(NSX_STR("op_id = 45")).len, 8, "a stem ends before digits");
	is_int((int)nsx_stem(NSX_STR("45")).len, 0, "of digits there is none");
	is_int((int)nsx_stem(NSX_STR("4 x")).len, 3, "digits elsewhere do not matter");
	is_int(nsx_stem_number(&stems, NSX_STR("aten::mm, op_id = ")), NSX_NONE, "nothing was set");
	nsx_stem_number_set(&stems, NSX_STR("aten::mm, op_id = "), 3);
	is_int(nsx_stem_number(&stems, NSX_STR("aten::mm, op_id = ")), 3, "a stem is found");
	is_int(nsx_stem_number(&stems, NSX_STR("aten::mv, op_id = ")), NSX_NONE, "another one is not");
	nsx_stem_number_set(&stems, NSX_STR("short"), 4);
	is_int(nsx_stem_number(&stems, NSX_STR("short")), NSX_NONE, "too short for it");
	for (int i = 0; i < 2000; i++) {
		int n = snprintf(text, sizeof text, "name %d of several lengths%.*s, op_id = ", i, i % 60,
		                 "............................................................");

		nsx_stem_number_set(&stems, (struct nsx_str){ text, (size_t)n }, (uint32_t)i);
	}
	for (int i = 0; i < 2000; i++) {
		int n = snprintf(text, sizeof text, "name %d of several lengths%.*s, op_id = ", i, i % 60,
		                 "............................................................");
		uint32_t at = nsx_stem_number(&stems, (struct nsx_str){ text, (size_t)n });

		lost += at == NSX_NONE;
		wrong += at != NSX_NONE && at != (uint32_t)i;
	}
	is_int(wrong, 0, "of many none is taken for another");
	ok(lost < 2000 && lost >= 2000 - 512, "the latest are kept (%d of 2000 are not)", lost);
}

int
main(void)
{
	in_a_block();
	of_any_block();
	return done();
}
