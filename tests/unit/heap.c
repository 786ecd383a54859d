/* heap.c -- heap traces of dumps: references, peaks, live buffers; invalid events; invalid bytes. */
#include "dump.h"
#include "xla/heap.h"

enum { ALLOC, FREE, SHARE };

static void
buffer(pb *assignment, int64_t id, int64_t size, int64_t instruction)
{
	pb b = { 0 }, at = { 0 };

	pb_int(&b, 1, id);
	pb_int(&b, 2, size);
	if (instruction) {
		pb_int(&at, 4, instruction);
		pb_msg(&b, 3, &at);
	}
	pb_msg(assignment, 1, &b);
}

static void
event(pb *trace, int kind, int64_t id, int64_t canonical, const char *instruction)
{
	pb e = { 0 };

	if (kind)
		pb_int(&e, 1, kind);
	pb_int(&e, 2, id);
	if (*instruction)
		pb_str(&e, 4, instruction);
	if (canonical)
		pb_int(&e, 5, canonical);
	pb_msg(trace, 1, &e);
}

/* "a1" allocates 1, "f1" frees it, "s2=1" makes 2 share with 1, "x1" is of a kind that nobody knows. */
static pb
trace(const char *events)
{
	pb t = { 0 };
	char *end;

	for (const char *s = events; *s; s = end + (*end == ' ')) {
		int64_t id = strtoll(s + 1, &end, 10), canonical = *end == '=' ? strtoll(end + 1, &end, 10) : 0;
		event(&t, *s == 'a' ? ALLOC : *s == 'f' ? FREE : *s == 's' ? SHARE : 77, id, canonical, "");
	}
	return t;
}

/* A dump of buffers 1 .. 4 of 100, 50, 7 and 0 bytes, and that assignment's traces. */
static pb
dump(pb *assignment)
{
	pb m = module(1), c = computation("main"), d;

	param(&c, 1, F32, "25");
	close_computation(&m, &c, 1, false);
	d = dump_of(&m);
	pb_msg(&d, 3, assignment);
	if (d.len < 1000)
		leave(&d);
	return d;
}

static pb
assignment(void)
{
	pb a = { 0 };

	buffer(&a, 1, 100, 1);
	buffer(&a, 2, 50, 1);
	buffer(&a, 3, 7, 1);
	buffer(&a, 4, 0, 1);
	return a;
}

static int
read_dump(const pb *d, bool live, struct nsx_heap *h)
{
	char *copy = malloc(d->len ? d->len : 1);

	reset();
	if (d->len)
		memcpy(copy, d->ptr, d->len);
	int rc = nsx_heap_memory(copy, d->len, "dump", live, h, &diags, &err);
	free(copy);
	return rc;
}

/* The curve as "step:bytes", separated by blanks. */
static const char *
curve(const struct nsx_heap_trace *t)
{
	static char out[1024];
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < t->npoints && n < sizeof out; i++)
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%" PRId64 ":%" PRId64, i ? " " : "", t->points[i].step, t->points[i].bytes);
	return out;
}

static const char *
live(const struct nsx_heap_trace *t)
{
	static char out[1024];
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < t->nlive && n < sizeof out; i++)
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%" PRId64, i ? " " : "", t->live[i].buffer);
	return out;
}

/* That these events give that curve and, at its peak, these buffers. */
static void
claim(const char *events, const char *want, int64_t peak, const char *alive)
{
	pb a = assignment(), t = trace(events), d;
	struct nsx_heap h;

	pb_msg(&a, 4, &t);
	d = dump(&a);
	if (ok(read_dump(&d, true, &h) == NSX_OK && h.ntraces == 1, "'%s' is read: '%s'", events, err.msg)) {
		is_str(curve(&h.traces[0]), want, "the curve of '%s'", events);
		is_int(h.traces[0].peak, peak, "its peak");
		is_str(live(&h.traces[0]), alive, "live buffers at the peak, the largest first");
	}
	nsx_heap_free(&h);
	nsx_buf_free(&d);
}

static void
replays(void)
{
	claim("a1 a2 f1 f2", "0:0 1:100 2:150 3:50 4:0", 150, "1 2");
	claim("a1 f1 a4 a1", "0:0 1:100 2:0 4:100", 100, "1");   /* the first of equal peaks */
	/* A buffer that shares memory adds nothing, and keeps the other alive. */
	claim("a1 s2=1 f1 a3 f2 f3", "0:0 1:100 4:107 5:7 6:0", 107, "1 3");
	/* One that shares with a buffer that is gone brings it back. */
	claim("a1 f1 s2=1 f2", "0:0 1:100 2:0 3:100 4:0", 100, "1");
	/* Sharing with one that shares is sharing with its memory. */
	claim("a1 s2=1 s3=2 f1 f2 f3", "0:0 1:100 6:0", 100, "1");
	claim("a4 f4", "0:0", 0, "");
	claim("", "0:0", 0, "");
	is_int((int64_t)diags.list.n, 0, "no diag");
	/* Invalid events are counted and skipped; steps include them. */
	claim("f1 a9 s1=9 s9=1 f9 x1 a1 a1 f1", "0:0 7:100", 100, "1");
	is_int(diag("not allocated"), 1, "a buffer freed that was not allocated");
	is_int(diag("does not describe"), 4, "events of unknown buffers");
	is_int(diag("of an unknown kind"), 1, "a kind that is not known");
	is_int(diag("allocated"), 1, "a buffer allocated twice");
}

/* ---- where buffers come from */

static void
name_defined(pb *assignment_, int64_t id, const char *name)
{
	pb b = { 0 }, at = { 0 };

	pb_int(&b, 1, id);
	pb_int(&b, 2, 1);
	pb_str(&at, 2, name);
	pb_msg(&b, 3, &at);
	pb_msg(assignment_, 1, &b);
}

static void
names(void)
{
	pb m = module(1), fused = computation("fused"), main_ = computation("main"), a = { 0 }, t = { 0 }, d;
	struct nsx_heap h;
	pb i = inst("inner", "add", 30, "");

	place(&i, "inner_op", "in.py", 3, 0);
	add(&fused, &i);
	i = inst("last", "add", 31, "");
	place(&i, "last_op", "last.py", 4, 0);
	add(&fused, &i);
	close_computation(&m, &fused, 2, true);
	i = inst("dot.1", "dot", 10, "");
	place(&i, "jit(f)/dot", "a.py", 7, 0);
	add(&main_, &i);
	i = inst("fusion.2", "fusion", 11, "");
	call(&i, "2");
	add(&main_, &i);
	i = inst("bare", "copy", 12, "");
	add(&main_, &i);
	close_computation(&m, &main_, 1, false);
	buffer(&a, 1, 40, 10);
	buffer(&a, 2, 30, 11);
	buffer(&a, 3, 20, 12);
	name_defined(&a, 4, "dot.1");
	buffer(&a, 5, 10, 0);
	buffer(&a, 6, 9, 999);
	event(&t, ALLOC, 1, 0, "elsewhere");
	event(&t, ALLOC, 2, 0, "");
	event(&t, ALLOC, 3, 0, "");
	event(&t, ALLOC, 4, 0, "elsewhere");
	event(&t, ALLOC, 5, 0, "fusion.2");
	event(&t, ALLOC, 6, 0, "gone");
	pb_msg(&a, 4, &t);
	d = dump_of(&m);
	pb_msg(&d, 3, &a);
	leave(&d);
	if (ok(read_dump(&d, true, &h) == NSX_OK && h.ntraces == 1 && h.traces[0].nlive == 6, "a dump with instructions: '%s'", err.msg)) {
		const struct nsx_heap_live *l = h.traces[0].live;
		is_str(text(h.name), "jit_f", "the module's name");
		is_int(h.id, 7, "and id");
		is_str(text(l[0].instruction), "dot.1", "by the instruction's number");
		is_str(text(l[0].op_name), "jit(f)/dot", "its op_name");
		is_str(text(l[0].stack), "a.py:7", "its source");
		is_str(text(l[1].instruction), "fusion.2", "a fusion");
		is_str(text(l[1].op_name), "last_op", "has the op_name of the last that it calls");
		is_str(text(l[1].stack), "last.py:4", "and its source");
		is_str(text(l[2].instruction), "bare", "an unknown instruction");
		is_str(text(l[2].op_name), "", "has none");
		is_str(text(l[3].instruction), "fusion.2", "by the name of the event if the buffer has no instruction");
		is_str(text(l[4].instruction), "gone", "and if its number is unknown, even if the name is unknown too");
		is_str(text(l[5].instruction), "dot.1", "by name");
		is_str(text(l[5].stack), "a.py:7", "which leads to the source as well");
		is_int(diag("does not have"), 1, "one instruction is not there");
	}
	nsx_heap_free(&h);
	if (ok(read_dump(&d, false, &h) == NSX_OK && h.ntraces == 1, "without live buffers"))
		ok(!h.traces[0].live && h.hlo.ninsts == 0 && h.traces[0].peak == 110, "instructions are not read, the peak is the same");
	nsx_heap_free(&h);
	nsx_buf_free(&d);
}

/* ---- invalid dumps */

/* An allocation of that size in that memory; flag: the field with its purpose, 0: none. */
static void
allocation(pb *assignment_, int64_t size, int64_t color, uint32_t flag)
{
	pb m = { 0 };

	pb_int(&m, 2, size);
	pb_int(&m, 8, color);
	if (flag)
		pb_int(&m, flag, 1);
	pb_msg(assignment_, 3, &m);
}

static void
memories(void)
{
	pb a = { 0 }, t = trace("a1 a2 f1"), b = { 0 }, d;
	struct nsx_heap h;

	buffer(&a, 1, 100, 1);
	pb_int(&b, 1, 2);
	pb_int(&b, 2, 50);
	pb_int(&b, 4, 5);
	pb_msg(&a, 1, &b);
	pb_msg(&a, 4, &t);
	allocation(&a, -8, -1, 7);
	allocation(&a, 5, 3, 12);
	pb_str(&b, 2, "no number");
	pb_msg(&a, 3, &b);
	d = dump(&a);
	if (ok(read_dump(&d, false, &h) == NSX_OK && h.nmemory == 3, "odd memories are read: '%s'", err.msg)) {
		is_int(h.memory[0].color, -1, "memories come by colour");
		is_int(h.memory[0].outputs, 0, "a negative size is 0");
		is_int(h.memory[1].color, 0, "an allocation with an invalid size has no colour");
		is_int(h.memory[1].peak, 150, "a trace of two memories is of the first's");
		is_int(h.memory[2].constants, 5, "a constant");
	}
	is_int(diag("another memory"), 1, "one buffer is of another");
	is_int(diag("allocations with a negative"), 1, "a negative size is reported");
	is_int(diag("unexpected wire type"), 1, "and the size that is a text");
	nsx_heap_free(&h);
	nsx_buf_free(&d);

	a = (pb){ 0 };
	allocation(&a, INT64_MAX / 4, 0, 0);
	allocation(&a, 1, 1, 0);
	d = dump(&a);
	ok(read_dump(&d, false, &h) == NSX_OK && h.memory[0].temp == INT64_MAX / 4, "the maximum that fits: '%s'", err.msg);
	nsx_heap_free(&h);
	nsx_buf_free(&d);
	a = (pb){ 0 };
	allocation(&a, INT64_MAX / 4, 0, 0);
	allocation(&a, 1, 0, 0);
	d = dump(&a);
	ok(read_dump(&d, false, &h) == NSX_ERR && strstr(err.msg, "dump: damaged: allocations of more than 2^61"), "a byte more: '%s'", err.msg);
	nsx_buf_free(&d);
}

static void
refusals(void)
{
	pb a = { 0 }, t = trace("a1 a2 f1 f2"), d, m;
	struct nsx_heap h;
	size_t fine = 0;

	buffer(&a, 1, INT64_MAX, 1);
	buffer(&a, 2, 1, 1);
	pb_msg(&a, 4, &t);
	d = dump(&a);
	ok(read_dump(&d, false, &h) == NSX_ERR && strstr(err.msg, "dump: damaged: buffers of more than 2^63"), "a sum that does not fit: '%s'", err.msg);
	ok(!h.traces && !h.name.ptr, "leaves an empty result");
	nsx_buf_free(&d);

	a = (pb){ 0 };
	t = trace("a1 a1 a2 f1");
	buffer(&a, 1, -5, 1);
	buffer(&a, 2, 3, 1);
	buffer(&a, 2, 4, 1);
	pb_int(&a, 1, 5);
	pb_msg(&a, 4, &t);
	d = dump(&a);
	if (ok(read_dump(&d, true, &h) == NSX_OK && h.ntraces == 1, "odd buffers are read: '%s'", err.msg))
		is_str(curve(&h.traces[0]), "0:0 3:3", "a negative size is 0, the first of two of one number counts");
	is_int(diag("negative size"), 1, "the first error is reported");
	is_int(diag("same number as another"), 1, "so is the second");
	is_int(diag("unexpected wire type"), 1, "a buffer that is a number");
	is_int(diag("allocated"), 1, "events that are odd are counted once, though replayed twice");
	nsx_heap_free(&h);

	/* Cut at any byte, it is refused or has less. */
	for (size_t n = 0; n < d.len; n++) {
		pb cut = d;
		cut.len = n;
		if (read_dump(&cut, true, &h) == NSX_OK)
			fine++;
		else if (!err.msg[0])
			ok(false, "cut to %zu bytes: refused without a word", n);
		nsx_heap_free(&h);
	}
	/* Only where the module ends and the assignment begins. */
	is_int((int64_t)fine, 1, "of all its beginnings one is a dump");
	nsx_buf_free(&d);

	memories();
	m = module(1);
	d = dump_of(&m);
	if (ok(read_dump(&d, true, &h) == NSX_OK, "a module alone is a dump: '%s'", err.msg))
		is_int((int64_t)h.ntraces, 0, "without traces");
	nsx_heap_free(&h);
	nsx_buf_free(&d);
	d = (pb){ 0 };
	ok(read_dump(&d, true, &h) == NSX_ERR && strstr(err.msg, "no module in it"), "an empty file is not a dump: '%s'", err.msg);
	pb_str(&d, 3, "");
	ok(read_dump(&d, true, &h) == NSX_ERR && strstr(err.msg, "no module in it"), "nor is one of buffers alone: '%s'", err.msg);
	nsx_buf_free(&d);
	for (int i = 0; i < 1 << 16; i++)
		pb_str(&a, 4, "");
	pb_str(&a, 4, "");
	d = dump(&a);
	ok(read_dump(&d, true, &h) == NSX_ERR && strstr(err.msg, "heap traces"), "too many traces: '%s'", err.msg);
	nsx_buf_free(&d);
}

int
main(void)
{
	replays();
	names();
	refusals();
	reset();
	return done();
}
