/* dump.c -- a large HLO dump, written and read: `dump make FILE MIB` writes one of about that size, `dump read FILE` reads it as nsysx-extract does
 * and prints how many instructions it kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/pb.h"
#include "xla/hlo.h"

enum { PARTS = 24, FRAMES = 2000, PLACES = 2000 };   /* instructions of a fusion; stack frames; op_names */

/* An instruction with the fields that XLA always writes: a shape, an op_name, a stack, and a backend_config that is skipped. */
static void
instruction(pb *comp, const char *name, const char *opcode, int64_t id, int64_t calls)
{
	pb inst = { 0 }, shape = { 0 }, meta = { 0 };
	char text[160];

	pb_str(&inst, 1, name);
	pb_str(&inst, 2, opcode);
	pb_int(&shape, 2, 11);
	pb_packed(&shape, 3, "8 1024 1024");
	pb_msg(&inst, 3, &shape);
	snprintf(text, sizeof text, "jit(train_step)/jit(main)/transpose(jvp(Model))/layers_%d/attention/dot_general", (int)(id % PLACES));
	pb_str(&meta, 2, text);
	/* A name comes from ten places in the source. */
	pb_int(&meta, 15, 1 + (id % PLACES + id / PLACES % 10) % FRAMES);
	pb_msg(&inst, 7, &meta);
	pb_int(&inst, 35, id);
	if (calls) {
		snprintf(text, sizeof text, "%lld", (long long)calls);
		pb_packed(&inst, 38, text);
		pb_str(&inst, 43, "{\"operation_queue_id\":\"0\",\"wait_on_operation_queues\":[],\"fusion_backend_config\":{\"kind\":\"__loop\"}}");
	}
	pb_msg(comp, 2, &inst);
}

static void
frames(pb *module)
{
	pb index = { 0 };
	char text[64];

	pb_str(&index, 1, "/opt/example/model/transformer.py");
	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof text, "Transformer.block_%d", i);
		pb_str(&index, 2, text);
	}
	for (int i = 1; i <= FRAMES; i++) {
		pb place = { 0 };
		pb_int(&place, 1, 1);
		pb_int(&place, 2, 1 + i % 50);
		pb_int(&place, 3, i);
		pb_msg(&index, 3, &place);
	}
	for (int i = 1; i <= FRAMES; i++) {
		pb frame = { 0 };
		pb_int(&frame, 1, i);
		if (i % 20 != 1)
			pb_int(&frame, 2, i - 1);
		pb_msg(&index, 4, &frame);
	}
	pb_msg(module, 17, &index);
}

static int
make(const char *path, size_t size)
{
	pb module = { 0 }, entry = { 0 }, all = { 0 };
	int64_t id = 1, fusion = 0;
	char name[48];

	pb_str(&module, 1, "jit_train_step");
	pb_str(&module, 2, "main");
	pb_int(&module, 5, 1);
	pb_int(&module, 6, 1);
	for (; module.len + entry.len < size && !module.failed; fusion++) {
		pb comp = { 0 };
		for (int i = 0; i < PARTS; i++) {
			snprintf(name, sizeof name, "multiply.%lld", (long long)id);
			instruction(&comp, name, "multiply", id++, 0);
		}
		pb_int(&comp, 5, fusion + 2);
		pb_int(&comp, 7, 1);
		pb_msg(&module, 3, &comp);
		snprintf(name, sizeof name, "loop_multiply_fusion.%lld", (long long)fusion);
		instruction(&entry, name, "fusion", id++, fusion + 2);
	}
	pb_str(&entry, 1, "main");
	pb_int(&entry, 5, 1);
	pb_msg(&module, 3, &entry);
	frames(&module);
	pb_msg(&all, 1, &module);
	FILE *f = all.failed ? NULL : fopen(path, "wb");
	bool good = f && fwrite(all.ptr, 1, all.len, f) == all.len;
	good = f && fclose(f) == 0 && good;
	nsx_buf_free(&all);
	return good ? 0 : 1;
}

int
main(int argc, char **argv)
{
	struct nsx_hlo h = { 0 };
	struct nsx_diags diags = { 0 };
	struct nsx_err err = { "" };

	if (argc == 4 && strcmp(argv[1], "make") == 0)
		return make(argv[2], (size_t)strtoull(argv[3], NULL, 10) << 20);
	if (argc != 3 || strcmp(argv[1], "read") != 0)
		return 2;
	if (nsx_hlo_read(argv[2], &h, &diags, &err) != NSX_OK) {
		fprintf(stderr, "dump: %s\n", err.msg);
		return 1;
	}
	printf("%u instructions, %u stacks, %zu diags\n", (unsigned)h.ninsts, (unsigned)h.nstacks, diags.list.n);
	nsx_hlo_free(&h);
	nsx_diags_free(&diags);
	return 0;
}
