/* title.c -- XLA's titles of 2024, 2025 and 2026, taken apart by key. */
#include "xla/title.h"

#include <string.h>
#include <time.h>

#include "tap.h"

static bool
is(struct nsx_str s, const char *want)
{
	return nsx_str_eq(s, nsx_str_c(want));
}

static struct nsx_title
parse(const char *text)
{
	struct nsx_title t;

	nsx_title_parse(nsx_str_c(text), &t);
	return t;
}

static bool
strips_to(const char *text, bool drop_op, const char *want)
{
	struct nsx_buf b = { 0 };

	nsx_title_strip(nsx_str_c(text), drop_op, &b);
	bool same = !b.failed && is(nsx_buf_view(&b), want);
	nsx_buf_free(&b);
	return same;
}

static void
modules(void)
{
	struct nsx_title t = parse("XlaModule:#hlo_module=jit_f,program_id=40#");
	ok(t.kind == NSX_TITLE_MODULE && is(t.module, "jit_f") && t.program_id == 40 && !t.prefix.len, "a module");
	t = parse("XlaModule:#prefix=jit(f)/jit(main)/a[b=(0,),c=1],hlo_module=jit_f,program_id=7#");
	ok(is(t.prefix, "jit(f)/jit(main)/a[b=(0,),c=1]") && is(t.module, "jit_f") && t.program_id == 7, "a prefix with commas and '='");
	t = parse("XlaModule:#hlo_module=jit_f,program_id=3");
	ok(t.kind == NSX_TITLE_MODULE && is(t.module, "jit_f") && t.program_id == 3, "early 2024 titles lack the last '#'");
	t = parse("XlaModule:#hlo_module=extracted#");
	ok(t.kind == NSX_TITLE_MODULE && t.program_id == -1, "an autotuner's module has no program id");
	nsx_title_parse((struct nsx_str){ NULL, 0 }, &t);
	ok(t.kind == NSX_TITLE_OTHER && t.program_id == -1 && !t.label.len, "an empty text is not a title");
	t = parse("XlaModule:#hlo_module=f,program_id=x#");
	ok(t.program_id == -1, "a program id that is not a number is ignored");
	t = parse("XlaModule:#hlo_module=f,program_id=99999999999999999999#");
	ok(t.program_id == -1, "a program id beyond 64 bits is ignored");
}

static void
thunks(void)
{
	struct nsx_title t = parse("Thunk:#hlo_op=wrapped_copy.83#");
	ok(t.kind == NSX_TITLE_THUNK && is(t.hlo_op, "wrapped_copy.83") && !t.name.len && t.op_id == -1, "a thunk without op_name");
	t = parse("Thunk:#name=a/reduce_sum[axes=(0,), x=1],hlo_op=fusion.5#");
	ok(is(t.name, "a/reduce_sum[axes=(0,), x=1]") && is(t.hlo_op, "fusion.5"), "an op_name with commas, brackets and '='");
	t = parse("Thunk:#name=a,hlo_op=b,hlo_op=fusion.5#");
	ok(is(t.name, "a,hlo_op=b") && is(t.hlo_op, "fusion.5"), "the last ,hlo_op= ends the op_name");
	t = parse("Thunk:#name=a,b=c,hlo_op=fusion.5,unique_hlo_op_id=12884901891#");
	ok(is(t.name, "a,b=c") && is(t.hlo_op, "fusion.5") && t.op_id == 12884901891, "2026: unique_hlo_op_id");
	t = parse("Thunk:#unique_hlo_op_id=5,hlo_op=x,name=q,r=1#");
	ok(t.op_id == 5 && is(t.hlo_op, "x") && is(t.name, "q,r=1"), "keys in another order");
	t = parse("Thunk:#future=1,hlo_op=x,other=y#");
	ok(is(t.hlo_op, "x"), "unknown keys are ignored");
	t = parse("Thunk:#name=a#b,hlo_op=x#");
	ok(is(t.name, "a#b") && is(t.hlo_op, "x"), "a '#' within an op_name");
	t = parse("Thunk:#name=jit(f)/aaaa\n[truncated]\n");
	ok(t.kind == NSX_TITLE_THUNK && t.truncated && !t.hlo_op.len, "a title truncated by XLA is marked");
}

static void
others(void)
{
	struct nsx_title t = parse("XlaCompile:#module=jit_f,program_id=2#");
	ok(t.kind == NSX_TITLE_COMPILE && is(t.module, "jit_f") && t.program_id == 2, "a compilation");
	ok(parse("XlaCompileBackend:#module=jit_f,program_id=2#").kind == NSX_TITLE_BACKEND, "its backend");
	ok(parse("XlaAutotunerCompilation").kind == NSX_TITLE_AUTOTUNER, "the autotuner, without keys");
	ok(parse("XlaCompileGpuAsm:#module=f#").kind == NSX_TITLE_OTHER, "another range of XLA");
	ok(parse("").kind == NSX_TITLE_OTHER && parse("#").kind == NSX_TITLE_OTHER && parse(":#").kind == NSX_TITLE_OTHER &&
	   parse("Thunk:#").kind == NSX_TITLE_THUNK && parse("Thunk:##").kind == NSX_TITLE_THUNK, "degenerate titles");
	ok(strips_to("XlaPass:#name=algsimp,module=jit_f,program_id=40#", false, "XlaPass:#name=algsimp#"), "strip module and program id");
	ok(strips_to("XlaEmitLlvmIr:#module=jit_f,program_id=40#", false, "XlaEmitLlvmIr"), "strip marks without keys");
	ok(strips_to("XlaModule:#,program_id=40#", false, "XlaModule"), "strip commas without keys");
	ok(strips_to("XlaAutotunerMeasurement:#hlo_op=a.1#", true, "XlaAutotunerMeasurement") &&
	   strips_to("XlaAutotunerMeasurement:#hlo_op=a.1#", false, "XlaAutotunerMeasurement:#hlo_op=a.1#"), "strip hlo_op on request");
	ok(strips_to("XlaModule:#hlo_module=extracted#", false, "XlaModule:#hlo_module=extracted#"), "hlo_module stays");
	ok(strips_to("no title", false, "no title"), "other text is unchanged");
}

/* A title of a megabyte, part after part: taken apart in time that grows with its length. */
static void
long_title(const char *part)
{
	struct nsx_buf b = { 0 }, out = { 0 };
	struct nsx_title t;
	clock_t before = clock();

	nsx_buf_c(&b, "Thunk:#");
	while (b.len < 1 << 20)
		nsx_buf_c(&b, part);
	nsx_title_parse(nsx_buf_view(&b), &t);
	nsx_title_strip(nsx_buf_view(&b), true, &out);
	ok(!b.failed && !out.failed && t.kind == NSX_TITLE_THUNK && clock() - before < 5 * CLOCKS_PER_SEC, "a megabyte of %s", part);
	nsx_buf_free(&b);
	nsx_buf_free(&out);
}

static void
devices(void)
{
	struct nsx_device_title d;
	ok(nsx_device_title_parse(NSX_STR("Xla:#global=5,local=1,process=2,partition=3#"), false, &d) &&
	   d.global == 5 && d.local == 1 && d.process == 2 && d.partition == 3, "a device's name");
	ok(nsx_device_title_parse(NSX_STR("XlaLauncher:#global=0,local=0,process=0,slice=4#"), true, &d) && d.partition == 4, "a launcher's; slice is partition");
	ok(!nsx_device_title_parse(NSX_STR("Xla:#global=0#"), true, &d) && !nsx_device_title_parse(NSX_STR("python"), false, &d) &&
	   !nsx_device_title_parse(NSX_STR("Xla:#local=0#"), false, &d), "anything else is not");
}

int
main(void)
{
	modules();
	thunks();
	others();
	long_title(",");
	long_title("A,");
	long_title("a=,");
	long_title("name=a,hlo_op=b,");
	long_title("\n[truncated");
	devices();
	return done();
}
