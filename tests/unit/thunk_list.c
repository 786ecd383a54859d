/* thunk_list.c -- XLA's list of thunks: kinds, nesting, names, order of leaves; lists that are refused. */
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/map.h"
#include "pb.h"
#include "tap.h"
#include "xla/hlo.h"
#include "xla/thunk_list.h"

/* One entry of the metadata. */
static void
about(pb *meta, const char *name, const char *kind)
{
	pb thunk = { 0 }, info = { 0 };

	pb_str(&info, 1, name);
	pb_msg(&thunk, 1, &info);
	pb_str(&thunk, 2, kind);
	pb_msg(meta, 1, &thunk);
}

/* Of pairs "NAME KIND", a line each. */
static pb
metadata(const char *pairs)
{
	pb meta = { 0 };
	char name[64], kind[64];
	int n;

	for (; sscanf(pairs, "%63s %63s%n", name, kind, &n) == 2; pairs += n)
		about(&meta, strcmp(name, "-") == 0 ? "" : name, kind);
	return meta;
}

static struct nsx_thunk_list list;
static struct nsx_err err;

static int
reading(const char *text, const char *pairs)
{
	pb meta = metadata(pairs);

	nsx_thunk_list_free(&list);
	err.msg[0] = '\0';
	int rc = nsx_thunk_list_memory(text, strlen(text), meta.ptr ? meta.ptr : (void *)"", meta.len, "list", &list, &err);
	nsx_buf_free(&meta);
	return rc;
}

/* Names of the leaves of thunk i, in order. */
static const char *
leaves(uint32_t i)
{
	static char out[512];

	out[0] = '\0';
	for (uint32_t k = list.thunks[i].first; k < list.thunks[i].last; k++) {
		const struct nsx_thunk *t = &list.thunks[list.leaves[k]];
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%.*s", *out ? " " : "", (int)t->name.len, t->name.ptr);
	}
	return out;
}

/* A buffer with a loop in it, and thunks outside. */
static const char text[] =
	"001: kCustomKernel   [source | next=2 (1)] loop_fusion_1 grid: [16, 1, 1] threads: [128, 1, 1]  shared_memory: 0 bytes\n"
	"000: kCommandBuffer  [prev=1 (1) | sink] \n"
	"    002: kCopy         [source | sink] kCopy\n"
	"    003: kWhile        [source | next=9 (1)]   \n"
	"    condition:\n"
	"        004: kCustomKernel [source | sink] compare grid: [1, 1, 1] threads: [1, 1, 1]\n"
	"      body:\n"
	"        006: kAsyncStart  [source | sink] stream=communication_stream[0], async_id=6\n"
	"            005: kAllReduce [source | sink] kAllReduce\n"
	"        007: kDynamicSliceFusion [source | sink] params=1, results=1\n"
	"            008: kCopy [source | sink] kCopy\n"
	"        009: kAsyncDone   [source | sink] async_id=6\n"
	"    010: kConditional  [source | sink]\n"
	"    branch_0:\n"
	"        011: kMemzero [source | sink] kMemzero\n"
	"    branch_1:\n"
	"        012: kCublasLtMatmul [source | sink] kCublasLtMatmul\n"
	"    013: kPartitionId  [source | sink] kPartitionId\n"
	"014: kNcclReduceScatterStart [source | sink]\n";
static const char pairs[] =
	"loop_fusion.1 kCustomKernel command_buffer_2 kCommandBuffer - kSequential copy.1 kCopy while.1 kWhile - kSequential compare kCustomKernel "
	"- kSequential ar.1 kAsyncStart ar.1 kAllReduce slice_fusion kDynamicSliceFusion copy.2 kCopy ar-done kAsyncDone cond kConditional - kSequential zero kMemzero "
	"- kSequential gemm kCublasLtMatmul partition-id kPartitionId rs kNcclReduceScatterStart";

static void
test_whole(void)
{
	static const enum nsx_thunk_work work[] = {
		NSX_WORK_KERNEL, NSX_WORK_NONE, NSX_WORK_COPY, NSX_WORK_NONE, NSX_WORK_KERNEL, NSX_WORK_NONE, NSX_WORK_COLLECTIVE, NSX_WORK_NONE, NSX_WORK_COPY,
		NSX_WORK_NONE, NSX_WORK_NONE, NSX_WORK_SET, NSX_WORK_LIBRARY, NSX_WORK_SET, NSX_WORK_COLLECTIVE
	};
	bool same = true;

	ok(reading(text, pairs) == NSX_OK, "a list is read: '%s'", err.msg);
	is_int(list.n, 15, "its thunks");
	for (uint32_t i = 0; i < list.n && i < 15; i++)
		same &= list.thunks[i].work == work[i];
	ok(same, "the buffers of each thunk");
	uint32_t b = nsx_thunk_list_buffer(&list, NSX_STR("command_buffer_2"));
	is_int(b, 1, "a command buffer by its name");
	is_int(nsx_thunk_list_buffer(&list, NSX_STR("while.1")), NSX_NONE, "other thunks are not");
	is_str(leaves(b), "copy.1 ar.1 copy.2 compare zero gemm partition-id", "leaves in order: a condition behind its body");
	is_str(leaves(0), "loop_fusion.1", "a thunk without children is a leaf");
	is_int(list.thunks[8].parent, 7, "parents of thunks");
	ok(nsx_str_eq(list.thunks[0].kernel, NSX_STR("loop_fusion_1")), "the name of a kernel");
	ok(list.thunks[4].condition && !list.thunks[5].condition && !list.thunks[11].condition, "conditions");
	ok(reading("", "") == NSX_OK && list.n == 0, "an empty list");
	ok(reading("000: kCommandBuffer []\n    001: kCopy [] kCopy\n000: kCommandBuffer []\n    002: kCopy [] kCopy\n",
	           "b kCommandBuffer x kCopy b kCommandBuffer y kCopy") == NSX_OK && nsx_thunk_list_buffer(&list, NSX_STR("b")) == NSX_NONE,
	   "two buffers of one name: neither is used");
	ok(reading("001: kCopy []\r\n", "x kCopy") == NSX_OK, "lines that end as others end them");
}

static void
refused(const char *t, const char *p, const char *why, const char *claim)
{
	int rc = reading(t, p);

	ok(rc == NSX_ERR && strstr(err.msg, why) && !list.n && !list.thunks && !list.trouble, "%s: '%s'", claim, err.msg);
}

static void
test_refused(void)
{
	char deep[8192] = "";
	size_t n = 0;

	refused(text, "loop_fusion.1 kCustomKernel", "not match", "metadata of fewer thunks");
	refused("001: kCopy []\n", "x kCopy y kCopy", "not match", "metadata of more thunks");
	refused("001: kCopy []\n", "x kMemzero", "not match", "metadata of other thunks");
	refused("001: kCopy []\nwhat is this\n", "x kCopy", "line 2", "a line that is neither thunk nor label");
	refused("001: Copy []\n", "x kCopy", "line 1", "an invalid kind");
	refused("001:\n", "x kCopy", "line 1", "a line without a kind");
	refused("\xff\xfe", "x kCopy", "line 1", "other bytes");
	for (int i = 0; i < 70; i++)
		n += (size_t)snprintf(deep + n, sizeof deep - n, "%*s001: kWhile []\n", i, "");
	refused(deep, "x kWhile", "nested too deep", "thunks in thunks without end");
	struct nsx_err why = { "" };
	ok(nsx_thunk_list_memory("001: kCopy []\n", 14, "\x0a\x7f\x01", 3, "list", &list, &why) == NSX_ERR && why.msg[0], "damaged metadata: '%s'", why.msg);
	/* Cut anywhere, it is read or refused. */
	pb meta = metadata(pairs);
	int good = 0;
	for (size_t i = 0; i <= meta.len; i++) {
		nsx_thunk_list_free(&list);
		good += nsx_thunk_list_memory(text, sizeof text - 1, meta.ptr, i, "list", &list, &why) == NSX_OK;
	}
	for (size_t i = 0; i <= sizeof text - 1; i++) {
		nsx_thunk_list_free(&list);
		good += nsx_thunk_list_memory(text, i, meta.ptr, meta.len, "list", &list, &why) == NSX_OK;
	}
	ok(good >= 2 && good < 60, "cut metadata and cut lists are refused, whole ones are not: %d", good);
	nsx_buf_free(&meta);
}

/* ---- files */

static void
save(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		ok(false, "%s can be written", path);
}

static void
test_files(void)
{
	char dir[] = "/tmp/nsysx-list.XXXXXX", path[4][128];
	static const char *const names[] = { "module_0007.jit_f.thunk_sequence_after_thunk_passes.txt", "module_0007.jit_f.thunk_metadata.pb.zst",
		"module_0008.jit_f.thunk_metadata.pb", "module_0007.jit_f.sm_9.0a_gpu_after_optimizations.hlo.pb" };
	pb meta = metadata(pairs);
	char packed[4096];
	const char *t, *m, *dump;

	if (!mkdtemp(dir)) {
		ok(false, "%s is created", dir);
		return;
	}
	for (int i = 0; i < 4; i++)
		snprintf(path[i], sizeof path[i], "%s/%s", dir, names[i]);
	save(path[0], text, sizeof text - 1);
	save(path[1], packed, ZSTD_compress(packed, sizeof packed, meta.ptr, meta.len, 3));
	save(path[2], meta.ptr, meta.len);
	save(path[3], "x", 1);
	struct nsx_dump_dir *d = nsx_dump_dir_open(dir, &err);
	ok(d && nsx_dump_dir_list(d, 7, NSX_STR("jit_f"), &t, &m) == NSX_DUMP_ONE && strcmp(t, path[0]) == 0 && strcmp(m, path[1]) == 0, "the list of a program");
	ok(d && nsx_dump_dir_list(d, 8, NSX_STR("jit_f"), &t, &m) == NSX_DUMP_NONE, "one file of the two is not enough");
	ok(d && nsx_dump_dir_list(d, 7, NSX_STR("jit_g"), &t, &m) == NSX_DUMP_NONE, "the list of another program is not used");
	ok(d && nsx_dump_dir_find(d, 7, NSX_STR("jit_f"), &dump) == NSX_DUMP_ONE && strcmp(dump, path[3]) == 0, "the dump is found beside it");
	size_t next = 0;
	ok(d && nsx_dump_dir_next(d, &next) && !nsx_dump_dir_next(d, &next), "lists are no dumps");
	nsx_dump_dir_free(d);
	nsx_thunk_list_free(&list);
	ok(nsx_thunk_list_read(path[0], path[1], &list, &err) == NSX_OK && list.n == 15, "files are read, compressed ones too");
	nsx_thunk_list_free(&list);
	err.msg[0] = '\0';
	ok(nsx_thunk_list_read(path[0], "/nowhere/list", &list, &err) == NSX_ERR && strstr(err.msg, "/nowhere/list") && !list.n, "a file that is not there: '%s'", err.msg);
	for (int i = 0; i < 4; i++)
		unlink(path[i]);
	rmdir(dir);
	nsx_buf_free(&meta);
}

int
main(void)
{
	test_whole();
	test_refused();
	test_files();
	nsx_thunk_list_free(&list);
	return done();
}
