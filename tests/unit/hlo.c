/* hlo.c -- communication in HLO dumps: groups, kinds, bytes, what hides a collective. */
#include "dump.h"

/* ---- groups */

static pb
iota(int n, int per, const char *dims, const char *perm)
{
	pb g = { 0 };

	pb_int(&g, 1, n);
	pb_int(&g, 2, per);
	pb_packed(&g, 3, dims);
	pb_packed(&g, 4, perm);
	return g;
}

/* Axes of sizes; refs "index[:pre:size]" of the listed ones. */
static pb
mesh(const char *sizes, const char *ids, const char *refs)
{
	pb g = { 0 }, m = { 0 };
	char *end;

	for (const char *s = sizes; *s; s = end) {
		pb a = { 0 };
		pb_str(&a, 1, "axis");
		pb_int(&a, 2, strtol(s, &end, 10));
		pb_msg(&m, 1, &a);
	}
	pb_packed(&m, 2, ids);
	pb_msg(&g, 1, &m);
	for (const char *s = refs; *s; s = end) {
		pb a = { 0 }, sub = { 0 };
		pb_int(&a, 1, strtol(s, &end, 10));
		if (*end == ':') {
			pb_int(&sub, 1, strtol(end + 1, &end, 10));
			pb_int(&sub, 2, strtol(end + 1, &end, 10));
			pb_msg(&a, 2, &sub);
		}
		pb_msg(&g, 2, &a);
	}
	return g;
}

/* One collective `c` of an f32[24] that has fields `more`, which is emptied, over devices 0..7 of as many partitions. */
static struct nsx_hlo
one(const char *opcode, pb *more, bool assigned)
{
	pb m = module(1), c = computation("main"), i = shaped("c", opcode, 2, "1", F32, "24", 0);

	param(&c, 1, F32, "24");
	nsx_buf_add(&i, more->ptr, more->len);
	nsx_buf_free(more);
	add(&c, &i);
	close_computation(&m, &c, 1, false);
	if (assigned)
		devices(&m, 1, 8, "0/1/2/3/4/5/6/7");
	return parse(&m);
}

/* The groups of an instruction with flattened ids. */
static void
flat_groups(pb *more, const char *want, const char *claim)
{
	pb_int(more, 26, 1);
	pb_int(more, 71, 1);
	struct nsx_hlo h = one("all-reduce", more, true);
	is_str(groups(&h, "c"), want, "%s", claim);
	nsx_hlo_free(&h);
}

static void
in_list(uint32_t field, pb *list, const char *want, const char *claim)
{
	pb i = { 0 };

	pb_msg(&i, field, list);
	flat_groups(&i, want, claim);
}

static void
test_group_forms(void)
{
	pb i = { 0 }, l = { 0 };

	group(&i, 49, "0 2");
	group(&i, 49, "1 3");
	flat_groups(&i, "0,2;1,3", "groups as a list");
	group(&l, 1, "5 4");
	in_list(87, &l, "5,4", "groups in a device list");
	pb io = iota(2, 4, "4 2", "1 0");
	pb_msg(&l, 2, &io);
	in_list(87, &l, "0,2,4,6;1,3,5,7", "iota groups in a device list");
	io = iota(2, 4, "8", "");
	in_list(92, &io, "0,1,2,3;4,5,6,7", "iota groups by themselves");
	io = iota(4, 2, "2 2 2", "0 2 1");
	in_list(92, &io, "0,2;1,3;4,6;5,7", "iota groups, three dimensions transposed");
	io = iota(2, 4, "", "");
	in_list(92, &io, "0,1,2,3;4,5,6,7", "iota groups without dimensions");
	l = mesh("2 4", "", "1");
	in_list(93, &l, "0,1,2,3;4,5,6,7", "groups along the minor axis of a mesh");
	l = mesh("2 4", "", "0");
	in_list(93, &l, "0,4;1,5;2,6;3,7", "groups along the major axis");
	l = mesh("2 4", "", "1 0");
	in_list(93, &l, "0,4,1,5,2,6,3,7", "members in the order of the listed axes");
	l = mesh("2 4", "", "1:1:2");
	in_list(93, &l, "0,2;1,3;4,6;5,7", "groups along the major half of an axis");
	l = mesh("2 4", "", "1:2:2");
	in_list(93, &l, "0,1;2,3;4,5;6,7", "groups along the minor half of an axis");
	l = mesh("8", "", "0:4:2 0:1:2");
	in_list(93, &l, "0,4,1,5;2,6,3,7", "groups along two parts of an axis");
	l = mesh("2 4", "7 6 5 4 3 2 1 0", "0");
	in_list(93, &l, "7,3;6,2;5,1;4,0", "a mesh with its own devices");
	io = iota(128, 8, "", "");
	pb_msg(&i, 92, &io);
	pb_int(&i, 26, 1);
	pb_int(&i, 71, 1);
	struct nsx_hlo h = one("all-reduce", &i, false);
	is_str(groups(&h, "c"), "0-7*128+8", "groups of many devices are ranges");
	nsx_hlo_free(&h);
	/* The first form that is set wins. */
	group(&i, 49, "0 1");
	io = iota(1, 8, "", "");
	pb_msg(&i, 92, &io);
	flat_groups(&i, "0,1", "a list before iota groups");
}

static void
test_bad_groups(void)
{
	static const struct { int n, per; const char *dims, *perm; } bad[] = {
		{ 3, 2, "4", "" }, { 2, 2, "2 2", "0 0" }, { 2, 2, "2 2", "0 2" }, { 2, 2, "2 2", "-1 0" }, { 2, 2, "2 2", "0" },
		{ -1, 4, "4", "" }, { 0, 0, "", "" }, { 1 << 30, 1 << 30, "", "" }, { 2, 2, "0 4", "" }, { 2, 2, "-2 -2", "" }
	};
	static const char *const meshes[][3] = {
		{ "2 4", "", "2" }, { "2 4", "", "-1" }, { "2 4", "0 1", "0" }, { "2 4", "", "1:3:2" }, { "2 4", "", "1:0:2" }, { "2 4", "", "1 1" },
		{ "", "", "0" }, { "0 4", "", "1" }, { "2000000 4000000", "", "1" }, { "2 4", "", "1:1:4 1:2:2" }
	};

	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		pb i = { 0 }, io = iota(bad[k].n, bad[k].per, bad[k].dims, bad[k].perm);
		pb_msg(&i, 92, &io);
		flat_groups(&i, "none", "iota groups that cannot be");
		is_int(diag("not be parsed"), 1, "are counted (%d)", (int)k);
	}
	for (size_t k = 0; k < sizeof meshes / sizeof *meshes; k++) {
		pb i = { 0 }, l = mesh(meshes[k][0], meshes[k][1], meshes[k][2]);
		pb_msg(&i, 93, &l);
		flat_groups(&i, "none", "a mesh that cannot be");
		is_int(diag("not be parsed"), 1, "is counted (%d)", (int)k);
	}
}

/* Two replicas of two partitions: replica 0 on devices 10 and 20, replica 1 on 11 and 21. */
static void
mode(const char *opcode, int64_t channel, bool global, const char *first, const char *second, const char *want, const char *claim)
{
	pb m = module(1), c = computation("main"), i = shaped("c", opcode, 2, "1", F32, "8", 0);

	param(&c, 1, F32, "8");
	if (channel)
		pb_int(&i, 26, channel);
	if (global)
		pb_int(&i, 71, 1);
	if (strstr(opcode, "permute") && *first) {
		pb pair = { 0 };
		pb_int(&pair, 1, first[0] - '0');
		pb_int(&pair, 2, first[2] - '0');
		pb_msg(&i, 52, &pair);
	} else {
		if (*first)
			group(&i, 49, first);
		if (*second)
			group(&i, 49, second);
	}
	add(&c, &i);
	close_computation(&m, &c, 1, false);
	devices(&m, 2, 2, "10 11/20 21");
	struct nsx_hlo h = parse(&m);
	is_str(groups(&h, "c"), want, "%s", claim);
	nsx_hlo_free(&h);
}

static void
test_group_modes(void)
{
	mode("all-reduce", 0, false, "0 1", "", "10,11;20,21", "no channel: replicas, of each partition");
	mode("all-to-all", 3, false, "0 1", "", "10,20;11,21", "a channel: partitions, of each replica");
	mode("all-reduce", 3, false, "0", "1", "10,20;11,21", "a channel on an all-reduce: replicas over all partitions");
	mode("all-gather-start", 3, true, "0 3", "1 2", "10,21;20,11", "global ids: replica times partitions plus partition");
	mode("collective-permute", 3, false, "0 1", "", "10,20;11,21", "pairs of a permute, by a channel");
	mode("collective-permute-start", 0, false, "1 0", "", "11,10;21,20", "pairs of a permute, by replica, keep their direction");
	mode("all-reduce", 0, false, "", "", "10,11;20,21", "none given, no channel: all replicas");
	mode("all-reduce", 3, true, "", "", "10,20,11,21", "none given, global ids: all devices");
	mode("all-to-all", 3, false, "0 2", "", "0,2", "ids the assignment lacks are taken as they are");
	is_int(diag("device assignment"), 1, "and counted");
	mode("collective-permute", 3, false, "", "", "none", "a permute without pairs");

	pb i = { 0 };
	group(&i, 49, "4 5");
	struct nsx_hlo h = one("all-reduce", &i, false);
	is_str(groups(&h, "c"), "4,5", "without an assignment ids are devices");
	is_int(diag("no device assignment"), 1, "... a diag");
	nsx_hlo_free(&h);

	pb attr = { 0 }, map = { 0 };
	pb_str(&attr, 1, "_xla_send_recv_source_target_pairs");
	pb_str(&attr, 2, "{{0,1},{6,7},{3}}");
	pb_msg(&map, 1, &attr);
	pb_msg(&i, 68, &map);
	pb_int(&i, 26, 1);
	h = one("send", &i, true);
	is_str(groups(&h, "c"), "0,1;6,7", "pairs of a send in its attributes");
	is_str(text(find(&h, "c")->collective), "send", "which is a send");
	is_int(find(&h, "c")->bytes, 96, "of its operand");
	nsx_hlo_free(&h);
}

/* ---- transfers */

static void
test_kinds(void)
{
	static const char *const kinds[][2] = {
		{ "all-gather", "all-gather" }, { "all-gather-start", "all-gather" }, { "all-gather-done", "" },
		{ "all-reduce", "all-reduce" }, { "all-reduce-start", "all-reduce" }, { "all-reduce-done", "" },
		{ "collective-permute", "collective-permute" }, { "collective-permute-start", "collective-permute" },
		{ "collective-permute-done", "" }, { "all-to-all", "all-to-all" }, { "ragged-all-to-all", "ragged-all-to-all" },
		{ "collective-broadcast", "collective-broadcast" }, { "collective-reduce", "collective-reduce" },
		{ "recv", "recv" }, { "recv-done", "" }, { "send-done", "" }, { "add", "" }, { "sort", "" }, { "sort-start", "" },
		{ "fusion", "" }, { "async-start", "" }, { "copy-start", "" }, { "all", "" }, { "-start", "" }, { "of-the-future", "" }, { "", "" }
	};

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		pb none = { 0 };
		struct nsx_hlo h = one(kinds[k][0], &none, true);
		const struct nsx_hlo_inst *i = find(&h, "c");
		is_str(text(i->collective), kinds[k][1], "the kind of %s", kinds[k][0]);
		ok(i->comm == (kinds[k][1][0] != 0), "and whether it communicates");
		is_int(i->bytes, i->comm ? 96 : -1, "with how many bytes");
		is_str(text(i->opcode), kinds[k][0], "opcode");
		nsx_hlo_free(&h);
	}
	pb i = { 0 };
	group(&i, 49, "0 1 2 3");
	group(&i, 49, "4 5 6 7");
	pb_int(&i, 26, 1);
	pb_int(&i, 71, 1);
	struct nsx_hlo h = one("reduce-scatter", &i, true);
	is_int(find(&h, "c")->bytes, 24, "a reduce-scatter has the bytes of its output, the operand over 4");
	nsx_hlo_free(&h);
	group(&i, 49, "0 1");
	group(&i, 49, "2 3 4");
	pb_int(&i, 26, 1);
	pb_int(&i, 71, 1);
	h = one("reduce-scatter", &i, true);
	is_int(find(&h, "c")->bytes, 48, "of groups of different sizes the first counts");
	is_int(diag("different sizes"), 1, "... a diag");
	nsx_hlo_free(&h);
	h = one("reduce-scatter", &i, true);
	is_int(find(&h, "c")->bytes, 96, "a reduce-scatter of no channel among one replica keeps all");
	nsx_hlo_free(&h);
	h = one("reduce-scatter", &i, false);
	is_int(find(&h, "c")->bytes, 96, "without groups, the shape determines the bytes");
	nsx_hlo_free(&h);
	pb_int(&i, 47, 1);
	h = one("send", &i, true);
	ok(!find(&h, "c")->comm && find(&h, "c")->bytes == -1, "a send to the host is no communication");
	nsx_hlo_free(&h);
}

/* The bytes of an all-reduce of one operand of that shape, which is emptied. */
static int64_t
operand(pb *s)
{
	pb m = module(1), c = computation("main"), p = inst("p", "parameter", 1, ""), i = inst("c", "all-reduce", 2, "1");

	pb_msg(&p, 3, s);
	/* The operand comes after the instruction that reads it. */
	add(&c, &i);
	add(&c, &p);
	close_computation(&m, &c, 1, false);
	struct nsx_hlo h = parse(&m);
	int64_t n = find(&h, "c")->bytes;
	nsx_hlo_free(&h);
	return n;
}

static void
test_bytes(void)
{
	static const struct { int type; const char *dims; int bits; int64_t want; } plain[] = {
		{ F32, "2 3", 0, 24 }, { F32, "", 0, 4 }, { F32, "5 0", 0, 0 }, { BF16, "3", 0, 6 }, { PRED, "3", 0, 3 }, { C128, "2", 0, 32 },
		{ S4, "3", 0, 2 }, { S4, "4", 0, 2 }, { S8, "5", 4, 3 }, { 26, "3", 0, 1 }, { 26, "5", 0, 2 }, { 30, "9", 0, 2 }, { 32, "7", 0, 4 },
		{ 33, "7", 0, 7 }, { TOKEN, "", 0, 0 }, { 14, "", 0, 0 }, { 99, "4", 0, -1 }, { 0, "4", 0, -1 }, { -3, "4", 0, -1 }, { F32, "-1 4", 0, -1 },
		{ F32, "4611686018427387904 4", 0, -1 }, { F32, "2147483647 2147483647 2147483647", 0, -1 }, { BUFFER, "", 0, -1 }
	};

	for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
		pb s = shape(plain[k].type, plain[k].dims, 0, plain[k].bits);
		is_int(operand(&s), plain[k].want, "bytes of type %d [%s]", plain[k].type, plain[k].dims);
		is_int(diag("size"), plain[k].want < 0, "unknown groups have a diag");
	}
	pb t = shape(TUPLE, "", 0, 0), e = shape(F32, "2", 0, 0), inner = shape(TUPLE, "", 0, 0);
	pb_msg(&t, 4, &e);
	e = shape(BF16, "3", 0, 0);
	pb_msg(&inner, 4, &e);
	e = shape(S4, "1", 0, 0);
	pb_msg(&inner, 4, &e);
	pb_msg(&t, 4, &inner);
	is_int(operand(&t), 8 + 6 + 1, "bytes of a tuple of several types, one within the other");
	t = shape(TUPLE, "", 0, 0);
	for (int k = 0; k < 200; k++) {
		e = shape(S32, "3", 0, 0);
		pb_msg(&t, 4, &e);
	}
	is_int(operand(&t), 2400, "bytes of a wide tuple");
	t = shape(BUFFER, "", 0, 0);
	e = shape(F32, "4", 0, 0);
	pb_msg(&t, 4, &e);
	is_int(operand(&t), 16, "bytes of a buffer are those of the array in it");

	pb m = module(1), c = computation("main"), i = inst("c", "all-reduce", 9, "1 2 3");
	param(&c, 1, S4, "3");
	param(&c, 2, S4, "3");
	param(&c, 3, BF16, "8");
	add(&c, &i);
	i = inst("lost", "all-reduce", 10, "77");
	add(&c, &i);
	close_computation(&m, &c, 1, false);
	struct nsx_hlo h = parse(&m);
	is_int(find(&h, "c")->bytes, 2 + 2 + 16, "operands of several types add up, each in whole bytes");
	is_int(find(&h, "lost")->bytes, -1, "an operand that is not there has no size");
	nsx_hlo_free(&h);
}

static void
test_wrappers(void)
{
	pb m = module(1), c = computation("main"), i;

	/* The entry comes first: computations that it calls are not known yet. */
	param(&c, 1, F32, "32");
	i = shaped("rs-start", "async-start", 2, "1", F32, "32", 0);
	call(&i, "2");
	place(&i, "start", "", 0, 0);
	add(&c, &i);
	/* Against the order of their chain. */
	i = inst("rs-done", "async-done", 4, "3");
	add(&c, &i);
	i = inst("rs-update", "async-update", 3, "2");
	add(&c, &i);
	i = inst("fused", "fusion", 5, "1");
	call(&i, "3");
	add(&c, &i);
	i = inst("compute", "fusion", 6, "1");
	call(&i, "5");
	add(&c, &i);
	i = inst("loop", "while", 7, "1");
	call(&i, "6 99");
	add(&c, &i);
	i = inst("both", "fusion", 8, "1");
	call(&i, "7");
	add(&c, &i);
	close_computation(&m, &c, 1, false);

	c = computation("async");
	param(&c, 11, F32, "32");
	i = shaped("reduce-scatter.131", "reduce-scatter", 12, "11", F32, "16", 0);
	pb_int(&i, 26, 1);
	pb_int(&i, 71, 1);
	group(&i, 49, "0 1");
	place(&i, "wrapped", "", 0, 0);
	call(&i, "4");
	add(&c, &i);
	close_computation(&m, &c, 2, false);

	c = computation("fused_outer");
	i = inst("nested", "fusion", 21, "");
	call(&i, "8");
	add(&c, &i);
	close_computation(&m, &c, 3, true);

	c = computation("sum");
	i = inst("sum.add", "add", 31, "");
	add(&c, &i);
	close_computation(&m, &c, 4, false);

	c = computation("fused_compute");
	i = inst("mul", "multiply", 41, "");
	add(&c, &i);
	i = inst("red", "reduce", 42, "41");
	call(&i, "4");
	add(&c, &i);
	i = inst("top", "tanh", 43, "42");
	add(&c, &i);
	pb_int(&c, 6, 43);
	close_computation(&m, &c, 5, true);

	c = computation("body");
	param(&c, 51, F32, "4");
	i = inst("inner", "all-gather", 52, "51");
	add(&c, &i);
	close_computation(&m, &c, 6, false);

	c = computation("two_kinds");
	param(&c, 61, F32, "4");
	i = inst("ag", "all-gather", 62, "61");
	add(&c, &i);
	i = inst("ar", "all-reduce", 63, "61");
	add(&c, &i);
	i = inst("ag2", "all-gather", 64, "61");
	add(&c, &i);
	close_computation(&m, &c, 7, true);

	c = computation("fused_inner");
	param(&c, 71, BF16, "10");
	i = shaped("permute", "collective-permute", 72, "71", BF16, "10", 0);
	add(&c, &i);
	close_computation(&m, &c, 8, true);
	devices(&m, 1, 2, "0/1");

	struct nsx_hlo h = parse(&m);
	is_str(text(find(&h, "rs-start")->collective), "reduce-scatter", "an async-start has the kind of the instruction in it");
	is_int(find(&h, "rs-start")->bytes, 64, "with its bytes");
	is_str(groups(&h, "rs-start"), "0,1", "and its groups");
	ok(find(&h, "reduce-scatter.131")->comm && !find(&h, "reduce-scatter.131")->entry, "the wrapped one is found, and communicates");
	is_int(find(&h, "reduce-scatter.131")->bytes, 64, "with the same bytes");
	ok(!find(&h, "rs-done")->comm && !find(&h, "rs-update")->comm && find(&h, "rs-done")->entry, "a done does not communicate");
	is_int(find(&h, "rs-done")->nlocs, 1, "its place is that of the instruction that it waits for");
	is_str(text(h.locs[find(&h, "rs-done")->locs].op_name), "wrapped", "which is the wrapped one");
	is_str(text(find(&h, "fused")->collective), "collective-permute", "a fusion in a fusion may hide a collective");
	is_int(find(&h, "fused")->bytes, 20, "with its bytes");
	ok(find(&h, "permute")->comm, "a collective within a fusion is found by its name");
	ok(!find(&h, "compute")->comm && find(&h, "compute")->bytes == -1, "a fusion that computes does not communicate");
	ok(!find(&h, "loop")->comm, "nor does a loop around a collective");
	ok(find(&h, "inner")->comm && !find(&h, "inner")->entry, "but the collective in it does");
	is_str(text(find(&h, "both")->collective), "all-gather", "of several kinds the first counts");
	is_int(find(&h, "both")->bytes, 32, "with all of its kind");
	is_int(diag("several kinds"), 1, "... a diag");
	ok(!nsx_hlo_find(&h, NSX_STR("mul")), "an instruction of a fusion is no thunk");
	ok(nsx_hlo_find(&h, NSX_STR("red")), "but a reduction within one may name the thunk that clears its output");
	ok(nsx_hlo_find(&h, NSX_STR("top")), "and so may its root");
	ok(!nsx_hlo_find(&h, NSX_STR("sum.add")), "the computation applied by a collective is not a thunk");
	is_int(diag("not in the dump"), 1, "a missing called computation is reported");
	nsx_hlo_free(&h);
}

/* An update or slice of arrays in the memory spaces given, within a fusion: a copy, wherever they are. */
static void
offload(const char *opcode, int source, int update, int result)
{
	pb m = module(1), c = computation("main"), i = inst("f", "fusion", 2, "");

	call(&i, "2");
	add(&c, &i);
	close_computation(&m, &c, 1, false);
	c = computation("fused");
	i = shaped("a", "parameter", 11, "", F32, "100", source);
	add(&c, &i);
	i = shaped("u", "parameter", 12, "", F32, "10", update);
	add(&c, &i);
	i = shaped("r", opcode, 13, "11 12", F32, strcmp(opcode, "dynamic-slice") == 0 ? "10" : "100", result);
	add(&c, &i);
	close_computation(&m, &c, 2, true);
	struct nsx_hlo h = parse(&m);
	ok(!find(&h, "f")->comm && find(&h, "f")->bytes == -1, "%s from %d with %d into %d", opcode, source, update, result);
	nsx_hlo_free(&h);
}

static void
test_host_copies(void)
{
	offload("dynamic-slice", 5, 0, 0);
	offload("dynamic-slice", 0, 0, 5);
	offload("dynamic-slice", 0, 0, 0);
	offload("dynamic-slice", 5, 0, 5);
	offload("dynamic-slice", 1, 0, 0);
	offload("dynamic-update-slice", 5, 0, 5);
	offload("dynamic-update-slice", 0, 5, 0);
	offload("dynamic-update-slice", 0, 0, 0);
	offload("dynamic-update-slice", 5, 5, 5);
	offload("copy", 5, 0, 0);

	pb m = module(1), c = computation("main"), i = shaped("a", "parameter", 1, "", F32, "6", 0), t = shape(TUPLE, "", 0, 0), e = shape(F32, "6", 5, 0);
	add(&c, &i);
	i = inst("out", "copy-start", 2, "1");
	pb_msg(&t, 4, &e);
	e = shape(F32, "6", 0, 0);
	pb_msg(&t, 4, &e);
	pb_msg(&i, 3, &t);
	add(&c, &i);
	close_computation(&m, &c, 1, false);
	struct nsx_hlo h = parse(&m);
	ok(!find(&h, "out")->comm && find(&h, "out")->bytes == -1, "an asynchronous copy to the host is no communication");
	nsx_hlo_free(&h);
}

int
main(void)
{
	test_group_forms();
	test_bad_groups();
	test_group_modes();
	test_kinds();
	test_bytes();
	test_wrappers();
	test_host_copies();
	reset();
	return done();
}
