/* hlo_file.c -- HLO dumps as files, valid and damaged; places in the source, ids, and how dumps are assigned to programs. */
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "dump.h"

static char dir[] = "/tmp/nsysx-hlo.XXXXXX";

static const char *
in_dir(const char *name)
{
	static char path[2][512];
	static int next;

	next = !next;
	snprintf(path[next], sizeof path[next], "%s/%s", dir, name);
	return path[next];
}

static const char *
save(const char *name, const void *p, size_t n)
{
	const char *path = in_dir(name);
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		ok(false, "%s can be written", path);
	return path;
}

/* ---- places */

static void
frame(pb *index, int place_id, int parent)
{
	pb f = { 0 };

	if (place_id)
		pb_int(&f, 1, place_id);
	if (parent)
		pb_int(&f, 2, parent);
	pb_msg(index, 4, &f);
}

static void
file_place(pb *index, int file, int function, int line, int column)
{
	pb p = { 0 };

	pb_int(&p, 1, file);
	if (function)
		pb_int(&p, 2, function);
	pb_int(&p, 3, line);
	if (column)
		pb_int(&p, 4, column);
	pb_msg(index, 3, &p);
}

static pb
frames(void)
{
	pb x = { 0 };

	pb_str(&x, 1, "/a/main.py");
	pb_str(&x, 1, "b;\tc.py");
	pb_str(&x, 2, "<module>");
	pb_str(&x, 2, "f;g");
	file_place(&x, 1, 1, 10, 0);    /* 1 */
	file_place(&x, 2, 2, 20, 5);    /* 2 */
	file_place(&x, 2, 0, 30, 0);    /* 3: no function */
	file_place(&x, 9, 1, 1, 0);     /* 4: no such file */
	frame(&x, 1, 0);                /* 1 main */
	frame(&x, 2, 1);                /* 2 main; b */
	frame(&x, 3, 2);                /* 3 main; b; c */
	frame(&x, 1, 5);                /* 4 and 5 call each other */
	frame(&x, 2, 4);
	frame(&x, 2, 77);               /* 6 no such parent */
	frame(&x, 4, 1);                /* 7 no such file */
	frame(&x, 0, 0);                /* 8 nowhere */
	return x;
}

static void
one_place(pb *c, const char *name, int64_t id, const char *op_name, const char *file, int line, int fr)
{
	pb i = inst(name, "add", id, "");

	place(&i, op_name, file, line, fr);
	add(c, &i);
}

static void
test_stacks(void)
{
	static const char *const A = "/a/main.py:10[<module>]";
	pb m = module(1), c = computation("main"), x = frames();

	one_place(&c, "i1", 1, "op", "other.py", 3, 1);
	one_place(&c, "i2", 2, "", "", 0, 2);
	one_place(&c, "i3", 3, "", "", 0, 3);
	one_place(&c, "i4", 4, "", "x\ny;.py", 7, 0);
	one_place(&c, "i5", 5, "", "", 0, 4);
	one_place(&c, "i6", 6, "", "", 0, 6);
	one_place(&c, "i7", 7, "", "", 0, 7);
	one_place(&c, "i8", 8, "", "s.py", 9, 8);
	one_place(&c, "i9", 9, "", "s.py", 9, 1000);
	one_place(&c, "j1", 10, "", "", 0, 1);
	one_place(&c, "j2", 11, "only", "", 0, 0);
	close_computation(&m, &c, 1, false);
	/* After the computations, which is where XLA writes it. */
	pb_msg(&m, 17, &x);
	struct nsx_hlo h = parse(&m);
	is_str(stack(&h, find(&h, "i1")->stack), A, "a frame, before the instruction's own source line");
	is_str(stack(&h, find(&h, "i2")->stack), "/a/main.py:10[<module>];b, c.py:20:5[f,g]", "outermost first; a column; separators are replaced");
	is_str(stack(&h, find(&h, "i3")->stack), "/a/main.py:10[<module>];b, c.py:20:5[f,g];b, c.py:30", "a frame without function");
	is_str(stack(&h, find(&h, "i4")->stack), "x y,.py:7", "a source line without frame");
	is_str(stack(&h, find(&h, "i5")->stack), "b, c.py:20:5[f,g];/a/main.py:10[<module>]", "frames in a cycle are used once");
	is_str(stack(&h, find(&h, "i6")->stack), "b, c.py:20:5[f,g]", "a parent that is not there ends a stack");
	is_str(stack(&h, find(&h, "i7")->stack), A, "a missing file is omitted");
	is_str(stack(&h, find(&h, "i8")->stack), "s.py:9", "with an unknown frame the source line is used");
	is_str(stack(&h, find(&h, "i9")->stack), "s.py:9", "and so does one that is not there");
	is_int(diag("stacks with"), 5, "each is reported");
	ok(find(&h, "i1")->stack == find(&h, "j1")->stack, "equal stacks are one");
	is_str(stack(&h, find(&h, "j2")->stack), "none", "no stack");
	is_str(text(find(&h, "j2")->op_name), "only", "but an op name");
	nsx_hlo_free(&h);
}

static void
test_places(void)
{
	pb m = module(1), c = computation("main"), x = frames();

	pb i = inst("f", "fusion", 1, "");
	place(&i, "own", "", 0, 1);
	call(&i, "2 3");
	add(&c, &i);
	i = inst("g", "fusion", 2, "");
	call(&i, "2");
	add(&c, &i);
	one_place(&c, "h", 3, "own", "", 0, 1);
	close_computation(&m, &c, 1, false);
	c = computation("fused");
	one_place(&c, "p", 11, "arg", "", 0, 0);
	one_place(&c, "a", 12, "own", "", 0, 1);     /* as the fusion itself */
	one_place(&c, "b", 13, "own", "", 0, 2);
	one_place(&c, "b2", 14, "own", "", 0, 2);    /* again */
	one_place(&c, "n", 15, "", "", 0, 0);        /* nowhere */
	i = inst("deep", "fusion", 16, "");
	call(&i, "4");
	add(&c, &i);
	close_computation(&m, &c, 2, true);
	c = computation("fused2");
	one_place(&c, "d", 21, "arg", "", 0, 0);     /* as in the first */
	one_place(&c, "e", 22, "", "", 0, 1);
	close_computation(&m, &c, 3, true);
	c = computation("fused3");
	one_place(&c, "q", 31, "indirect", "", 0, 0);
	close_computation(&m, &c, 4, true);
	pb_msg(&m, 17, &x);
	struct nsx_hlo h = parse(&m);
	const struct nsx_hlo_inst *f = find(&h, "f"), *g = find(&h, "g");
	is_int(f->nlocs, 3, "places of direct instructions of all called computations, each once, except that of the instruction itself");
	is_str(text(h.locs[f->locs].op_name), "arg", "in order: a parameter's");
	is_str(stack(&h, h.locs[f->locs].stack), "none", "which has no stack");
	is_str(text(h.locs[f->locs + 1].op_name), "own", "the same op name");
	is_str(stack(&h, h.locs[f->locs + 1].stack), "/a/main.py:10[<module>];b, c.py:20:5[f,g]", "with another stack");
	is_str(text(h.locs[f->locs + 2].op_name), "", "a stack");
	is_str(stack(&h, h.locs[f->locs + 2].stack), "/a/main.py:10[<module>]", "without op name");
	is_int(g->nlocs, 3, "an instruction without a place has all of them");
	is_int(find(&h, "h")->nlocs, 0, "an instruction without calls has none");
	nsx_hlo_free(&h);
}

/* ---- names, ids */

static pb
named(int64_t entry_id, bool reversed)
{
	pb m = module(entry_id), c = computation("main"), d = computation("body"), i, a = { 0 }, e = { 0 }, md = { 0 };

	pb_str(&e, 1, "fingerprint_before_lhs");
	pb_str(&e, 2, "0123abcd");
	pb_msg(&a, 1, &e);
	i = inst("b", "while", 1, "");
	call(&i, "9");
	pb_str(&md, 16, "b.before");
	pb_msg(&i, 7, &md);
	add(&c, &i);
	i = inst("a", "add", 2, "");
	pb_str(&md, 16, "a");
	pb_msg(&i, 7, &md);
	add(&c, &i);
	i = inst("c", "add", 1, "");
	add(&d, &i);
	i = inst("d", "add", INT64_C(9) << 32 | 5, "");
	add(&d, &i);
	if (reversed) {
		pb_msg(&m, 19, &a);
		close_computation(&m, &d, 9, false);
		close_computation(&m, &c, 3, false);
	} else {
		close_computation(&m, &c, 3, false);
		close_computation(&m, &d, 9, false);
		pb_msg(&m, 19, &a);
	}
	return m;
}

static void
test_ids(void)
{
	char digest[32];
	pb m = named(3, false);
	struct nsx_hlo h = parse(&m);

	is_str(text(h.name), "jit_f", "name");
	is_int(h.id, 7, "id");
	is_str(text(h.fingerprint), "0123abcd", "fingerprint");
	is_int(h.ninsts, 4, "instructions");
	is_str(text(h.insts[0].name), "a", "sorted by name");
	is_str(text(find(&h, "b")->scheduling_name), "b.before", "the name at scheduling time");
	is_str(text(find(&h, "a")->scheduling_name), "", "unless it is the name");
	ok(nsx_hlo_find_id(&h, 2) == nsx_hlo_find(&h, NSX_STR("a")), "found by an id that is unique");
	ok(nsx_hlo_find_id(&h, INT64_C(3) << 32 | 2) == nsx_hlo_find(&h, NSX_STR("a")), "and with its computation's in the upper half");
	ok(!nsx_hlo_find_id(&h, 1), "an id that two share finds neither");
	ok(nsx_hlo_find_id(&h, INT64_C(9) << 32 | 1) == nsx_hlo_find(&h, NSX_STR("c")), "but with the computation's it does");
	is_int(find(&h, "c")->unique_id, INT64_C(9) << 32 | 1, "which is its unique id then");
	ok(nsx_hlo_find_id(&h, INT64_C(9) << 32 | 5) == nsx_hlo_find(&h, NSX_STR("d")), "64-bit ids as they are");
	ok(!nsx_hlo_find_id(&h, 5) && !nsx_hlo_find_id(&h, -1) && !nsx_hlo_find(&h, NSX_STR("")) && !nsx_hlo_find(&h, NSX_STR("aa")), "a missing file");
	ok(find(&h, "a")->entry && !find(&h, "c")->entry, "entry computation");
	is_int((int64_t)h.digest.len, 18, "digest");
	snprintf(digest, sizeof digest, "%s", text(h.digest));
	nsx_hlo_free(&h);

	m = named(3, true);
	h = parse(&m);
	is_str(text(h.digest), digest, "the order of parts does not matter for the digest");
	is_str(text(h.fingerprint), "0123abcd", "nor for the fingerprint");
	ok(find(&h, "a")->entry && find(&h, "c")->unique_id == (INT64_C(9) << 32 | 1), "nor for the rest");
	nsx_hlo_free(&h);
	m = named(9, false);
	h = parse(&m);
	ok(strcmp(text(h.digest), digest) != 0 && !find(&h, "a")->entry && find(&h, "c")->entry, "another entry computation is another digest");
	nsx_hlo_free(&h);
	m = named(77, false);
	h = parse(&m);
	is_int(diag("entry computation"), 1, "a missing entry computation is reported");
	nsx_hlo_free(&h);

	/* Operands in the form with the computation's id, on either side. */
	m = module(3);
	pb c = computation("main");
	param(&c, 4, F32, "4");
	pb i = shaped("ar", "all-reduce", INT64_C(3) << 32 | 6, "12884901892", F32, "4", 0);
	add(&c, &i);
	i = shaped("ar", "all-reduce", 7, "4", F32, "4", 0);
	add(&c, &i);
	i = inst("", "add", 8, "");
	add(&c, &i);
	close_computation(&m, &c, 3, false);
	h = parse(&m);
	is_int(find(&h, "ar")->bytes, 16, "operands by an id with the computation's");
	is_int(diag("same name as another"), 1, "a duplicate name is reported");
	is_int(diag("without a name"), 1, "and one that does not come");
	nsx_hlo_free(&h);
}

/* ---- unknown contents of dumps */

static void
test_unknown(void)
{
	pb m = module(1), c = computation("main"), i = shaped("c", "all-reduce", 2, "1", F32, "4", 0);
	char *zeros = calloc(1, 1 << 20);

	param(&c, 1, F32, "4");
	pb_int(&i, 92, 2);                 /* another meaning of this number, as one snapshot has it */
	group(&i, 49, "0 1");
	pb_bytes(&i, 8, zeros, 1 << 20);   /* a large constant */
	pb_int(&i, 5000, 3);
	pb_str(&i, 536870911, "future");
	pb_raw(&i, 6000 << 3 | 1);
	nsx_buf_add(&i, "12345678", 8);
	pb_raw(&i, 6001 << 3 | 5);
	nsx_buf_add(&i, "1234", 4);
	pb_str(&i, 35, "no number");
	pb_int(&i, 7, 1);
	add(&c, &i);
	pb_int(&c, 2, 5);
	close_computation(&m, &c, 1, false);
	pb_str(&m, 6, "no number either");
	pb_int(&m, 17, 5);
	pb_bytes(&m, 99, zeros, 1 << 20);
	struct nsx_hlo h = parse(&m);
	is_int(find(&h, "c")->bytes, 16, "a field of another wire type is skipped, others are read");
	is_str(groups(&h, "c"), "0,1", "its groups are there");
	/* 92; 35 and 7 once for each question; the computation's 2; the module's 6 and 17. */
	ok(diag("wire type") >= 6, "and they are counted");
	nsx_hlo_free(&h);
	free(zeros);
}

static pb
nested(int depth)
{
	pb s = shape(F32, "2", 0, 0);

	for (int k = 0; k < depth; k++) {
		pb t = shape(TUPLE, "", 0, 0);
		pb_msg(&t, 4, &s);
		s = t;
	}
	pb m = module(1), c = computation("main"), p = inst("p", "parameter", 1, ""), i = inst("c", "all-reduce", 2, "1");
	pb_msg(&p, 3, &s);
	add(&c, &p);
	add(&c, &i);
	close_computation(&m, &c, 1, false);
	return m;
}

static void
refuse(pb *m, const char *why, const char *claim)
{
	struct nsx_hlo h;
	pb d = dump_of(m);

	ok(parse_bytes(d.ptr, d.len, &h) == NSX_ERR && strstr(err.msg, why) && !h.insts && !h.ninsts, "%s: '%s'", claim, err.msg);
	nsx_buf_free(&d);
}

static void
test_refused(void)
{
	struct nsx_hlo h;
	pb m = nested(50);

	h = parse(&m);
	is_int(find(&h, "c")->bytes, 8, "tuples in tuples");
	nsx_hlo_free(&h);
	m = nested(5000);
	refuse(&m, "nested more than", "no nesting without end");
	m = module(1);
	refuse(&m, "no computation", "a module alone");
	m = (pb){ 0 };
	pb c = computation("main");
	close_computation(&m, &c, 1, false);
	refuse(&m, "no module with a name", "a module without name");
	ok(parse_bytes("", 0, &h) == NSX_ERR && strstr(err.msg, "no module"), "an empty file: '%s'", err.msg);
	ok(parse_bytes("HloModule jit_f, is_scheduled=true\n", 35, &h) == NSX_ERR, "a dump as text: '%s'", err.msg);
	m = module(1);
	c = computation("main");
	pb i = inst("a", "add", 1, "");
	pb_bytes(&i, 38, "\x80\x80", 2);
	add(&c, &i);
	close_computation(&m, &c, 1, false);
	refuse(&m, "packed numbers", "packed numbers that do not end");
	m = module(1);
	c = computation("main");
	pb_bytes(&c, 2, "\x0b", 1);
	close_computation(&m, &c, 1, false);
	refuse(&m, "wire type", "a wire type that is none");
	m = module(1);
	c = computation("main");
	pb_bytes(&c, 2, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
	close_computation(&m, &c, 1, false);
	refuse(&m, "a tag", "a tag without end");
}

/* A dump with some of everything. */
static pb
rich(void)
{
	pb m = named(3, false), c = computation("comm"), x = frames();

	param(&c, 11, F32, "8");
	pb i = shaped("rs", "reduce-scatter", 12, "11", F32, "4", 0), l = { 0 }, g = { 0 };
	pb_int(&i, 26, 1);
	pb_int(&i, 71, 1);
	pb_int(&g, 1, 1);
	pb_int(&g, 2, 2);
	pb_msg(&l, 2, &g);
	pb_msg(&i, 87, &l);
	place(&i, "op/name", "s.py", 3, 3);
	add(&c, &i);
	close_computation(&m, &c, 20, false);
	devices(&m, 1, 2, "0/1");
	pb_msg(&m, 17, &x);
	return m;
}

static void
test_broken(void)
{
	struct nsx_hlo h;
	pb m = rich(), d = dump_of(&m);
	size_t read = 0, flipped = 0, module_end = d.len;
	pb buffers = { 0 };

	pb_str(&buffers, 1, "buffers");
	pb_msg(&d, 3, &buffers);
	for (size_t n = 0; n < d.len; n++)
		if (parse_bytes(d.ptr, n, &h) == NSX_OK) {
			read++;
			ok(n == module_end && h.ninsts == 6, "cut at byte %d only the part that is not read is lost", (int)n);
			nsx_hlo_free(&h);
		} else if (!err.msg[0] || h.insts) {
			ok(false, "cut at byte %d: an error has a message", (int)n);
		}
	is_int((int64_t)read, 1, "cut anywhere else it is refused");
	for (size_t n = 0; n < d.len; n++)
		for (int bit = 0; bit < 8; bit++) {
			d.ptr[n] ^= (char)(1 << bit);
			if (parse_bytes(d.ptr, d.len, &h) == NSX_OK)
				nsx_hlo_free(&h);
			else if (!err.msg[0] || h.insts)
				ok(false, "byte %d flipped: an error has a message", (int)n);
			d.ptr[n] ^= (char)(1 << bit);
			flipped++;
		}
	ok(flipped == d.len * 8, "%d bits flipped, one by one: read or refused", (int)flipped);
	nsx_buf_free(&d);
}

/* ---- files */

static void
reads(const char *path, const char *claim)
{
	struct nsx_hlo h;

	reset();
	int rc = nsx_hlo_read(path, &h, &diags, &err);
	ok(rc == NSX_OK && h.ninsts == 6 && find(&h, "rs")->bytes == 16, "%s is read: '%s'", claim, err.msg);
	nsx_hlo_free(&h);
}

static void
refuses(const char *path, const char *why, const char *claim)
{
	struct nsx_hlo h;

	reset();
	ok(nsx_hlo_read(path, &h, &diags, &err) == NSX_ERR && !h.insts && strstr(err.msg, why) && strstr(err.msg, path),
	   "%s is refused: '%s'", claim, err.msg);
}

static void
test_files(void)
{
	pb m = rich(), d = dump_of(&m);
	size_t room = d.len + 4096, n = 0;
	uint8_t *z = malloc(room);

	reads(save("plain", d.ptr, d.len), "a plain file");
	refuses(save("plain", d.ptr, d.len - 1), "cut short", "a plain file that was cut");
	struct nsx_dumpfile f;
	struct nsx_hlo h;
	reset();
	ok(nsx_dumpfile_open(&f, save("plain", d.ptr, d.len), &err) == NSX_OK && truncate(in_dir("plain"), 9) == 0, "a file is cut after it was opened");
	ok(nsx_hlo_parse(&f, &h, &diags) == NSX_ERR && strstr(err.msg, "became shorter"), "which is refused: '%s'", err.msg);
	nsx_dumpfile_close(&f);
	refuses(save("empty", "", 0), "not a dump", "an empty file");
	refuses(in_dir("absent"), "No such file", "a file that is not there");
	refuses(dir, "directory", "a folder");
	ok(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (uint8_t *)d.ptr, d.len, z, &n, room) == LZMA_OK, "xz");
	reads(save("x", z, n), "an xz file, told by its first bytes");
	refuses(save("x", z, n - 1), "cut short", "an xz file that was cut");
	refuses(save("x", z, n / 2), "cut short", "an xz file that was cut in the middle");
	z[n / 2] ^= 1;
	refuses(save("x", z, n), "damaged", "a damaged xz file");
	n = ZSTD_compress(z, room, d.ptr, d.len, 1);
	reads(save("z", z, n), "a zstd file");
	refuses(save("z", z, n - 1), "cut short", "a zstd file that was cut");
	z[4] |= 8;   /* a bit that must be 0 */
	refuses(save("z", z, n), "zstd", "a damaged zstd file");

	/* Larger than the memory for dumps: constants that are not read. */
	pb big = { 0 }, i = inst("constant", "constant", 1, ""), c = computation("constants"), more = rich();
	char *zeros = calloc(1, 3 << 20);
	for (int k = 0; k < 3; k++)
		pb_bytes(&i, 8, zeros, 3 << 20);
	add(&c, &i);
	close_computation(&big, &c, 30, true);
	nsx_buf_add(&big, more.ptr, more.len);
	nsx_buf_free(&more);
	nsx_buf_free(&d);
	d = dump_of(&big);
	reads(save("big", d.ptr, d.len), "a large file");
	free(z);
	z = malloc(d.len);
	n = ZSTD_compress(z, d.len, d.ptr, d.len, 1);
	reads(save("big", z, n), "a large zstd file");
	size_t xz = 0;
	ok(lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, (uint8_t *)d.ptr, d.len, z, &xz, d.len) == LZMA_OK, "xz");
	reads(save("big", z, xz), "a large xz file");
	nsx_buf_free(&d);
	free(z);
	free(zeros);
}

static void
finds(const struct nsx_dump_dir *d, int64_t id, const char *name, enum nsx_dump_found want, const char *file, const char *claim)
{
	const char *path = NULL;
	enum nsx_dump_found got = nsx_dump_dir_find(d, id, nsx_str_c(name), &path);

	ok(got == want && (file ? path && strstr(path, file) && strcmp(strrchr(path, '/') + 1, file) == 0 : !path), "%s: %s", claim, path ? path : "none");
}

static void
test_folder(void)
{
	static const char *const files[] = {
		"module_0001.jit_f.sm_9.0_gpu_after_optimizations.hlo.pb", "module_0001.jit_f.before_optimizations.hlo.pb",
		"module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt", "module_0002.jit_g.sm_9.0_gpu_after_optimizations.hlo.pb.xz",
		"module_0003.a.gpu_after_optimizations.hlo.pb.zst", "module_0003.a.sm_8.0_gpu_after_optimizations.hlo.pb.zst",
		"module_0004.b.gpu_after_optimizations.hlo.pb", "module_0004.b.gpu_after_optimizations.hlo.pb.xz",
		"1700000000.module_0005.c.gpu_after_optimizations.hlo.pb", "module_0006._lambda_.x.gpu_after_optimizations.hlo.pb",
		"module_123456789012345678901234.d.gpu_after_optimizations.hlo.pb", "module_.e.gpu_after_optimizations.hlo.pb", "module_0007.hlo.pb",
		"module_0008.after_optimizations.hlo.pb"
	};
	size_t n = sizeof files / sizeof *files;

	if (mkdir(in_dir("dumps"), 0700) != 0)
		ok(false, "a folder is created");
	for (size_t k = 0; k < n; k++) {
		char name[256];
		snprintf(name, sizeof name, "dumps/%s", files[k]);
		save(name, "", 0);
	}
	reset();
	struct nsx_dump_dir *d = nsx_dump_dir_open(in_dir("dumps"), &err);
	ok(d != NULL, "a folder of dumps: '%s'", err.msg);
	finds(d, 1, "jit_f", NSX_DUMP_ONE, files[0], "the dump after optimizations");
	finds(d, 1, "jit_g", NSX_DUMP_NONE, NULL, "a dump of another name");
	finds(d, 1, "jit", NSX_DUMP_NONE, NULL, "of a name it begins with");
	finds(d, 2, "jit_g", NSX_DUMP_ONE, files[3], "a compressed one");
	finds(d, 3, "a", NSX_DUMP_AMBIGUOUS, NULL, "two");
	finds(d, 4, "b", NSX_DUMP_ONE, files[6], "one, plain and compressed");
	finds(d, 5, "c", NSX_DUMP_ONE, files[8], "one that begins with a time");
	finds(d, 6, "<lambda>.x", NSX_DUMP_ONE, files[9], "characters that file names lack");
	finds(d, 6, "<lambda>", NSX_DUMP_ONE, files[9], "a name that ends at a dot");
	finds(d, 7, "", NSX_DUMP_NONE, NULL, "a file without name");
	finds(d, 8, "after_optimizations", NSX_DUMP_NONE, NULL, "a file that is only a name");
	finds(d, 99, "jit_f", NSX_DUMP_NONE, NULL, "no such id");
	finds(d, -1, "jit_f", NSX_DUMP_NONE, NULL, "no such negative id");
	nsx_dump_dir_free(d);
	ok(!nsx_dump_dir_open(in_dir("dumps/absent"), &err) && strstr(err.msg, "absent"), "a folder that is not there: '%s'", err.msg);
	nsx_dump_dir_free(NULL);
	for (size_t k = 0; k < n; k++) {
		char name[256];
		snprintf(name, sizeof name, "dumps/%s", files[k]);
		unlink(in_dir(name));
	}
	rmdir(in_dir("dumps"));
}

int
main(void)
{
	static const char *const left[] = { "plain", "empty", "x", "z", "big" };

	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	test_stacks();
	test_places();
	test_ids();
	test_unknown();
	test_refused();
	test_broken();
	test_files();
	test_folder();
	for (size_t k = 0; k < sizeof left / sizeof *left; k++)
		unlink(in_dir(left[k]));
	rmdir(dir);
	reset();
	return done();
}
