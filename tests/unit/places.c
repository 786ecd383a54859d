/* places.c -- source locations and HLO as XLA writes them into NVTX payloads. */
#include "xla/places.h"

#include "tap.h"
#include "xla/hlotext.h"

/* The places of a text, one a line: op_name @ frames. */
static bool
reads(const char *common, const char *text, const char *op_name, int64_t odd, const char *want)
{
	struct nsx_places p = { 0 };
	struct nsx_buf b = { 0 };
	bool good = nsx_places_read(nsx_str_c(common), nsx_str_c(text), nsx_str_c(op_name), &p) && p.odd == odd;

	for (size_t i = 0; i < p.list.n; i++) {
		nsx_buf_str(&b, p.list.p[i].op_name);
		nsx_buf_c(&b, "@");
		nsx_buf_str(&b, p.list.p[i].frames);
		nsx_buf_c(&b, "\n");
	}
	good = good && !b.failed && nsx_str_eq(nsx_buf_view(&b), nsx_str_c(want));
	if (!good)
		printf("# odd %" PRId64 ", got %.*s", p.odd, (int)b.len, b.ptr);
	nsx_buf_free(&b);
	nsx_places_free(&p);
	return good;
}

static void
places(void)
{
	ok(reads("", "\n- a.py:1:2[main] add\n", "", 0, "add@a.py:1:2[main]\n"), "one frame");
	ok(reads("", "\n- a.py:1\n", "", 0, "@a.py:1\n"), "neither column nor function nor op_name");
	ok(reads("", "\n- a.py:1 mul[x=(0, 1)] b:2\n", "", 0, "mul[x=(0, 1)] b:2@a.py:1\n"), "an op_name with blanks, brackets and colons");
	ok(reads("", "\n- a.py:1:0[f] x\n", "", 0, "x@a.py:1[f]\n"), "a column of 0 is omitted");
	ok(reads("", "\n- <frozen a>;b.py:3[&lt;module&gt;] a&lt;b&amp;c\n", "", 0, "a<b&c@<frozen a>,b.py:3[<module>]\n"), "markup is undone, ';' is no separator within a frame");
	ok(reads("", "\n- /a b:3c/x-y.py:12[f.<locals>.g] op\n", "", 0, "op@/a b:3c/x-y.py:12[f.<locals>.g]\n"), "blanks and colons in a path");
	ok(reads("", "\n- v.py:143[m]\n-- v.py:127[run]\n--- v.py:125[body]\n---- v.py:124[lam]\n----- v.py:122[body] t[p=(1, 0)]\n"
	         "--- v.py:126[body] add\n--- v.py:126[body] mul\n", "", 0,
	         "t[p=(1, 0)]@v.py:143[m];v.py:127[run];v.py:125[body];v.py:124[lam];v.py:122[body]\n"
	         "add@v.py:143[m];v.py:127[run];v.py:126[body]\nmul@v.py:143[m];v.py:127[run];v.py:126[body]\n"), "a tree of stacks");
	ok(reads("", "\n- a:1[f]\n-- b:2[g]\n- c:3[h]\n", "", 0, "@a:1[f];b:2[g]\n@c:3[h]\n"), "stacks without op_names end at leaves");
	ok(reads("", "\n- a:1[f] x\n-- b:2[g] y\n", "", 0, "x@a:1[f]\ny@a:1[f];b:2[g]\n"), "a frame with an op_name ends a stack though others go on");
	ok(reads("\nt:1[m]\nt:2[n]\n", "\n- a:1[f] x\n- a:1[f] y\n", "P/Q", 0, "P/Q/x@t:1[m];t:2[n];a:1[f]\nP/Q/y@t:1[m];t:2[n];a:1[f]\n"), "frames and op_name that all have in common");
	ok(reads("", "\n- a:1[f]\n", "P", 0, "P@a:1[f]\n"), "an op_name that becomes empty");
	ok(reads("", "\n- a:1[f] x\n- a:1[f] x\n", "", 0, "x@a:1[f]\n"), "each place once");
	ok(reads("", "\n", "P", 0, "") && reads("", "", "", 0, "") && reads("\nt:1\n", "\n", "", 0, ""), "no places");
	ok(reads("", "\n- nonsense\n-- b:2[g] y\n- c:3[h] z\n", "", 1, "z@c:3[h]\n"), "children of an invalid line are omitted with it");
	ok(reads("", "\n- a:1[f]\n--- b:2[g] y\n", "", 0, "y@a:1[f];b:2[g]\n"), "a depth that skips one is the next");
	ok(reads("", "\n-- b:2[g] y\n", "", 0, "y@b:2[g]\n"), "the first line has no parent, for any number");
	ok(reads("", "\n- a:1[f\n- :1[f] x\n- a:[f] x\n- a:1:[f] x\n-\n--- \n", "", 5, ""), "broken lines");
	ok(reads("", "\n- a:1[f] x\n- a:2[f] some\n[truncated]\n", "", 1, "x@a:1[f]\n"), "an incomplete line of a truncated text is omitted");
	ok(reads("", "a:1[f] x\nb:2[f] y", "", 0, "x@a:1[f]\ny@b:2[f]\n"), "lines without dashes, no newline at the end");
	struct nsx_buf deep = { 0 };
	for (int i = 1; i <= 5000; i++) {
		for (int k = 0; k < i; k++)
			nsx_buf_char(&deep, '-');
		nsx_buf_c(&deep, " a:1\n");
	}
	struct nsx_places p = { 0 };
	ok(nsx_places_read(nsx_str_c(""), nsx_buf_view(&deep), nsx_str_c(""), &p) && p.odd > 0 && p.list.n == 1, "stacks that are too deep are cut and counted");
	nsx_places_free(&p);
	nsx_buf_free(&deep);
}

static bool
op_name(const char *prefix, const char *name, const char *want)
{
	struct nsx_buf b = { 0 };

	nsx_places_op_name(nsx_str_c(prefix), name ? nsx_str_c(name) : (struct nsx_str){ NULL, 0 }, &b);
	bool good = !b.failed && nsx_str_eq(nsx_buf_view(&b), nsx_str_c(want));
	nsx_buf_free(&b);
	return good;
}

static void
titles(void)
{
	ok(op_name("jit(f)/jit(main)", "a/add", "jit(f)/jit(main)/a/add"), "a name comes after the prefix of its module");
	ok(op_name("", "a/add", "a/add"), "no prefix");
	ok(op_name("jit(f)/jit(main)", "", "jit(f)/jit(main)"), "an empty name is the prefix");
	ok(op_name("jit(f)/jit(main)", NULL, ""), "no name, no op_name");
	ok(op_name("jit(f)/jit(main)", "jit(f)/jit(g)/add", "jit(f)/jit(g)/add"), "a name that lacks the prefix is whole");
	ok(op_name("jit(f)", "jit(f)/add", "jit(f)/jit(f)/add"), "a name that begins with the whole prefix had it twice");
	ok(op_name("jit(f)/jit(main)", "jit(fg)/add", "jit(f)/jit(main)/jit(fg)/add"), "components are compared whole");
}

static bool
hlo(const char *text, const char *name, const char *opcode, const char *op, bool whole)
{
	struct nsx_hlotext h;
	struct nsx_buf b = { 0 };
	bool good = nsx_hlotext_read(nsx_str_c(text), &h) && nsx_str_eq(h.name, nsx_str_c(name)) && nsx_str_eq(h.opcode, nsx_str_c(opcode)) && h.whole == whole;

	nsx_hlotext_unescape(h.op_name, &b);
	good = good && !b.failed && nsx_str_eq(nsx_buf_view(&b), nsx_str_c(op));
	nsx_buf_free(&b);
	return good;
}

static void
instructions(void)
{
	struct nsx_hlotext h;

	ok(hlo("%fusion.3 = f32[8]{0} fusion(%a), metadata={op_name=\"x\"}", "fusion.3", "fusion", "x", true), "an instruction with its marks");
	ok(hlo("ROOT add.1 = f32[] add(a, b)", "add.1", "add", "", true), "without marks and metadata");
	ok(hlo("ar = (f32[2]{0}, /*index=5*/bf16[4,2]{1,0:T(8,128)S(5)}) all-reduce-start(a)", "ar", "all-reduce-start", "", true), "a tuple");
	ok(hlo("c = s32[]{:T(128)} custom-call(), custom_call_target=\"metadata={\", metadata={op_type=\"q op_name=\\\"n\\\"\" op_name=\"a\\\"b\\303\\251\"}", "c",
	       "custom-call", "a\"b\xc3\xa9", true), "strings with braces, quotes and escapes");
	ok(hlo("c = s32[] fusion(), backend_config={\"a\":{\"metadata={op_name=\\\"no\\\"}\":1}}", "c", "fusion", "", true), "text like metadata within other metadata is ignored");
	ok(hlo("c = s32[] fusion(), metadata={op_name=\"a/b\n[truncated]\n", "c", "fusion", "", false), "in a truncated text a missing op_name is unknown");
	ok(hlo("c = s32[] fusion(), metadata={op_name=\"a\"}, backend_config={\"x\n[truncated]\n", "c", "fusion", "a", true), "an op_name before the cut is known");
	static const char *const none[] = { "", " ", "a", "a =", "a = ", "a = f32[8]", "a = f32[8] ", "a = f32[8] add", "a = (f32[8] add(", "= f32[] add()", "\n[truncated]\n",
		"a = f32[8](((", "ROOT ", "%" };
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		ok(!nsx_hlotext_read(nsx_str_c(none[i]), &h), "no instruction: text %zu", i);
}

static bool
groups(const char *text, const char *want)
{
	struct nsx_buf b = { 0 };
	bool good = nsx_hlotext_groups(nsx_str_c(text), &b) == (want != NULL) && !b.failed && nsx_str_eq(nsx_buf_view(&b), nsx_str_c(want ? want : ""));

	nsx_buf_free(&b);
	return good;
}

static void
replica_groups(void)
{
	ok(groups("{{0,1},{2,3}}", "0,1;2,3") && groups("{{0}}", "0") && groups("{{0, 1}, {10, 11}}", "0,1;10,11"), "lists");
	ok(groups("{}", "") && groups("{{}}", "") && groups("", ""), "no groups");
	ok(groups("[2,4]<=[8]", "0,1,2,3;4,5,6,7"), "counted up");
	/* 0 1 2 3 / 4 5 6 7 read by columns. */
	ok(groups("[4,2]<=[2,4]T(1,0)", "0,4;1,5;2,6;3,7"), "transposed");
	/* Element (i, j, k) of 2 x 2 x 2 is 4 i + 2 j + k; in the order (k, i, j): 0 2 4 6 / 1 3 5 7. */
	ok(groups("[2,4]<=[2,2,2]T(2,0,1)", "0,2,4,6;1,3,5,7"), "three dimensions");
	ok(groups("[128,8]<=[1024]", "0-7*128+8") && groups("[8,128]<=[128,8]T(1,0)", "0-1016/8*8+1"), "of many devices ranges");
	static const char *const bad[] = { "{{0,1}", "{{0,,1}}", "{{0,1},", "{0,1}", "{{a}}", "[2,4]<=[7]", "[2,4]", "[2,4]<=[8]T(1)", "[2,2]<=[2,2]T(0,0)", "[0,4]<=[0]",
		"[2,4]<=[8]x", "[99999999,99999999]<=[2]", "[1,1]<=[9999999999999999999]", "@mesh{a=2}", "{{99999999999999999999}}", "{{0,1},{}}", "{{0,1}}}" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(groups(bad[i], NULL), "not understood: %s", bad[i]);
}

int
main(void)
{
	places();
	titles();
	instructions();
	replica_groups();
	return done();
}
