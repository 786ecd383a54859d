/* hlo_shelf.c -- dumps of the same bytes are read once, whoever asks and from wherever; others are not taken for them. */
#include "xla/hlo_shelf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/par.h"
#include "dump.h"

static char dir[] = "/tmp/nsysx-shelf.XXXXXX";

static const char *
in_dir(const char *name)
{
	static char path[4][512];
	static int next;

	next = (next + 1) % 4;
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

/* A dump with one instruction of that name, and one that calls a missing computation. */
static pb
dump(const char *name)
{
	pb m = module(5), c = computation("main"), i = inst(name, "add", 1, ""), k = inst("k", "call", 2, "");

	call(&k, "99");
	place(&i, "jit(f)/main/add", "a.py", 3, 0);
	add(&c, &i);
	add(&c, &k);
	close_computation(&m, &c, 5, false);
	return dump_of(&m);
}

static void
test_contents(void)
{
	pb a = dump("a"), b = dump("b");
	struct nsx_hlo_shelf *s = nsx_hlo_shelf_new();
	struct nsx_hlo_entry *e = nsx_hlo_shelf_find(s, save("one", a.ptr, a.len));

	ok(e && nsx_hlo_shelf_find(s, save("two", a.ptr, a.len)) == e, "a copy is the same content");
	ok(nsx_hlo_shelf_find(s, save("other", b.ptr, b.len)) != e && a.len == b.len, "other bytes are not, of one size");
	ok(nsx_hlo_shelf_find(s, save("other", a.ptr, a.len - 1)) != e, "nor are the first of them");
	ok(!nsx_hlo_shelf_find(s, in_dir("absent")) && !nsx_hlo_shelf_find(s, dir), "an unreadable file has no digest");
	ok(mkfifo(in_dir("pipe"), 0600) == 0 && !nsx_hlo_shelf_find(s, in_dir("pipe")), "a pipe has no digest");
	save("two", b.ptr, b.len);
	/* Its time may be the same: times have steps. */
	struct timespec when[2] = { { 1, 0 }, { 1, 0 } };
	utimensat(AT_FDCWD, in_dir("two"), when, 0);
	ok(nsx_hlo_shelf_find(s, in_dir("two")) != e, "a file that has changed has another content");
	nsx_hlo_shelf_free(s);
	nsx_buf_free(&a);
	nsx_buf_free(&b);
}

static void
test_shared(void)
{
	pb a = dump("a");
	struct nsx_hlo_shelf *s = nsx_hlo_shelf_new();
	const char *one = save("one", a.ptr, a.len), *two = save("two", a.ptr, a.len);
	struct nsx_hlo_entry *e = nsx_hlo_shelf_find(s, one);
	struct nsx_hlo h, g;

	reset();
	ok(nsx_hlo_shelf_read(e, one, &h, &diags, &err) == NSX_OK && h.ninsts == 2, "it is read: '%s'", err.msg);
	is_int(diag("called computations"), 1, "its missing computation is reported");
	/* Only who reads it again would notice. */
	save("two", "no dump", 7);
	ok(nsx_hlo_shelf_read(e, two, &g, &diags, &err) == NSX_OK && g.insts == h.insts, "its copy is not: '%s'", err.msg);
	is_int(diag("called computations"), 2, "missing computations are reported for each");
	ok(g.walk != h.walk && nsx_hlo_reaches(&g, nsx_hlo_find(&g, NSX_STR("a")), NSX_STR("main/add")), "each walks alone");
	nsx_hlo_shelf_back(&h);
	ok(!h.insts && nsx_str_eq(g.insts[0].name, NSX_STR("a")), "one may be done before the other");
	nsx_hlo_shelf_back(&g);
	ok(nsx_hlo_shelf_read(e, two, &g, &diags, &err) == NSX_OK, "an unused dump is kept: '%s'", err.msg);
	nsx_hlo_shelf_clear(s);
	ok(nsx_str_eq(g.insts[0].name, NSX_STR("a")), "a dump in use outlives clearing");
	nsx_hlo_shelf_back(&g);
	ok(nsx_hlo_shelf_read(e, two, &g, &diags, &err) == NSX_ERR && strstr(err.msg, two) && !g.insts && !g.trouble,
	   "an unused one does not: '%s'", err.msg);
	ok(nsx_hlo_shelf_read(NULL, one, &g, &diags, &err) == NSX_OK, "without an entry it is read alone");
	nsx_hlo_shelf_back(&g);
	nsx_hlo_shelf_free(s);
	nsx_hlo_shelf_free(NULL);
	nsx_hlo_shelf_clear(NULL);
	nsx_buf_free(&a);
}

static void
test_damaged(void)
{
	pb a = dump("a");
	struct nsx_hlo_shelf *s = nsx_hlo_shelf_new();
	const char *one = save("one", a.ptr, a.len - 1), *two = save("two", a.ptr, a.len - 1);
	struct nsx_hlo_entry *e = nsx_hlo_shelf_find(s, one);
	struct nsx_hlo h;

	reset();
	nsx_hlo_shelf_ahead(e, one);
	ok(!nsx_hlo_shelf_busy(e), "a damaged dump is not read for later");
	ok(nsx_hlo_shelf_read(e, one, &h, &diags, &err) == NSX_ERR && strstr(err.msg, one), "it is refused: '%s'", err.msg);
	reset();
	ok(nsx_hlo_shelf_read(e, two, &h, &diags, &err) == NSX_ERR && strstr(err.msg, two), "so is its copy: '%s'", err.msg);
	reset();
	save("one", a.ptr, a.len);
	e = nsx_hlo_shelf_find(s, one);
	nsx_hlo_shelf_ahead(e, one);
	save("one", "", 0);
	ok(nsx_hlo_shelf_read(e, one, &h, &diags, &err) == NSX_OK, "a dump read ahead is available: '%s'", err.msg);
	is_int(diag("called computations"), 1, "with its missing computation");
	nsx_hlo_shelf_back(&h);
	nsx_hlo_shelf_free(s);
	nsx_buf_free(&a);
}

/* The same file name in folders of processes that come later. */
static void
test_guess(void)
{
	static const char *const names[] = { "p0", "p1", "p2", "p3" };
	pb a = dump("a"), b = dump("b");
	struct nsx_hlo_shelf *s = nsx_hlo_shelf_new();
	char folder[4][512], path[4][600];
	struct nsx_hlo h;

	for (int i = 0; i < 4; i++) {
		snprintf(folder[i], sizeof folder[i], "%s/%s", dir, names[i]);
		snprintf(path[i], sizeof path[i], "%s/f", folder[i]);
		if (mkdir(folder[i], 0700) != 0 || nsx_hlo_shelf_expect(s, folder[i]) != NSX_OK)
			ok(false, "%s can be made", folder[i]);
		/* p1 lacks it. */
		if (i == 0 || i == 2)
			save(i ? "p2/f" : "p0/f", a.ptr, a.len);
		else if (i == 3)
			save("p3/f", b.ptr, b.len);
	}
	nsx_hlo_shelf_begin(s, folder[0]);
	reset();
	ok(nsx_hlo_shelf_guess(s, "f") && nsx_hlo_shelf_guess(s, "f") && nsx_hlo_shelf_guess(s, "f"),
	   "three folders are tried");
	ok(!nsx_hlo_shelf_guess(s, "f"), "each once, and none that has begun");
	ok(nsx_hlo_shelf_guess(s, "g"), "another name is tried too, there or not");
	/* What was read is what it was then: who reads it now would notice, but for its time. */
	struct nsx_hlo_entry *e = nsx_hlo_shelf_find(s, path[3]);
	save("p3/f", "no dump", 7);
	ok(e && nsx_hlo_shelf_read(e, path[3], &h, &diags, &err) == NSX_OK && nsx_str_eq(h.insts[0].name, NSX_STR("b")),
	   "the last one was read: '%s'", err.msg);
	nsx_hlo_shelf_back(&h);
	save("p0/f", "no dump", 7);
	e = nsx_hlo_shelf_find(s, path[2]);
	ok(e && nsx_hlo_shelf_read(e, path[0], &h, &diags, &err) == NSX_OK && nsx_str_eq(h.insts[0].name, NSX_STR("a")),
	   "so was the one before it: '%s'", err.msg);
	nsx_hlo_shelf_back(&h);
	nsx_hlo_shelf_free(s);
	for (int i = 0; i < 4; i++) {
		unlink(path[i]);
		rmdir(folder[i]);
	}
	nsx_buf_free(&a);
	nsx_buf_free(&b);
}

/* ---- threads */

enum { TASKS = 64, FILES = 4 };
static struct nsx_hlo_shelf *shelf;
static const struct nsx_hlo_inst *seen[TASKS];

static void
task(void *ctx, int i)
{
	struct nsx_diags d = { 0 };
	struct nsx_err e = { "" };
	struct nsx_hlo h;
	char path[512];

	(void)ctx;
	snprintf(path, sizeof path, "%s/copy%d", dir, i % FILES);
	struct nsx_hlo_entry *entry = nsx_hlo_shelf_find(shelf, path);
	if (entry && i % 3 == 0)
		nsx_hlo_shelf_ahead(entry, path);
	if (nsx_hlo_shelf_read(entry, path, &h, &d, &e) != NSX_OK)
		return;
	if (nsx_hlo_reaches(&h, nsx_hlo_find(&h, NSX_STR("a")), NSX_STR("add")))
		seen[i] = h.insts;
	nsx_hlo_shelf_back(&h);
	nsx_diags_free(&d);
}

static void
test_threads(void)
{
	pb a = dump("a");
	int bad = 0;

	for (int i = 0; i < FILES; i++) {
		char name[32];
		snprintf(name, sizeof name, "copy%d", i);
		save(name, a.ptr, a.len);
	}
	shelf = nsx_hlo_shelf_new();
	nsx_par_run(TASKS, 8, task, NULL);
	for (int i = 0; i < TASKS; i++)
		bad += !seen[i] || seen[i] != seen[0];
	is_int(bad, 0, "many threads that request copies of it share one");
	nsx_hlo_shelf_free(shelf);
	nsx_buf_free(&a);
}

int
main(void)
{
	static const char *const left[] = { "one", "two", "other", "pipe", "copy0", "copy1", "copy2", "copy3" };

	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	test_contents();
	test_shared();
	test_damaged();
	test_guess();
	test_threads();
	for (size_t k = 0; k < sizeof left / sizeof *left; k++)
		unlink(in_dir(left[k]));
	rmdir(dir);
	reset();
	return done();
}
