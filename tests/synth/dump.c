/* dump.c -- DIR/dumpN/module_ID.NAME...hlo.pb: dumps of the programs of process N, each one HloProto. */
#include "dump.h"

#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/outfile.h"
#include "x26.h"

/* ---- the parts of a module */

/* Callees first, the entry last, as XLA writes them. */
static void
computations(struct dump *d, pb *module, pb *schedule)
{
	for (uint32_t n = (uint32_t)d->pr->home.n; n-- > 0;) {
		const struct syn_home *h = &d->pr->home.p[n];
		struct dump_comp c = { .home = n };
		pb m = { 0 }, entry = { 0 }, sequence = { 0 }, ids = { 0 };
		int64_t root = dump_instructions(d, &c);

		pb_str(&m, 1, h->name);
		nsx_buf_str(&m, nsx_buf_view(&c.body));
		pb_int(&m, 5, h->id);
		pb_int(&m, 6, root);
		if (h->kind == SYN_FUSED)
			pb_int(&m, 7, 1);
		if (c.body.failed)
			syn_die("out of memory");
		nsx_buf_free(&c.body);
		dump_msg(module, 3, &m);
		for (size_t i = 0; i < c.order.n; i++)
			pb_raw(&ids, (uint64_t)c.order.p[i]);
		if (h->kind != SYN_FUSED) {
			dump_msg(&sequence, 1, &ids);
			pb_int(&entry, 1, h->id);
			dump_msg(&entry, 2, &sequence);
			dump_msg(schedule, 1, &entry);
		}
		nsx_buf_free(&ids);
		free(c.order.p);
	}
}

static void
device_assignment(struct dump *d, pb *module)
{
	int n = (int)d->p->dev.n, rows = d->pr->replicas ? 1 : n;
	pb m = { 0 };

	pb_int(&m, 1, n / rows);
	pb_int(&m, 2, rows);
	for (int r = 0; r < rows; r++) {
		pb row = { 0 }, ids = { 0 };

		for (int k = 0; k < n / rows; k++)
			pb_raw(&ids, (uint64_t)syn_logical_device(d->p, r + k));
		dump_msg(&row, 1, &ids);
		dump_msg(&m, 3, &row);
	}
	dump_msg(module, 15, &m);
}

/* Each frame has a separate file, function and location: sharing is not guaranteed. */
static void
frames(struct dump *d, pb *module)
{
	pb m = { 0 }, places = { 0 }, list = { 0 };

	if (strcmp(syn_opt.titles, "early") == 0)
		return;
	for (size_t i = 0; i < d->p->frame.n; i++) {
		const struct syn_frame *f = &d->p->frame.p[i];
		pb place = { 0 }, frame = { 0 };

		pb_str(&m, 1, f->file);
		pb_str(&m, 2, f->function);
		pb_int(&place, 1, (int64_t)i + 1);
		pb_int(&place, 2, (int64_t)i + 1);
		pb_int(&place, 3, f->line);
		if (syn_recent() && f->column) {
			pb_int(&place, 4, f->column);
			pb_int(&place, 5, f->line);
			pb_int(&place, 6, f->column + 12);
		}
		dump_msg(&places, 3, &place);
		pb_int(&frame, 1, (int64_t)i + 1);
		if (f->parent != SYN_NONE)
			pb_int(&frame, 2, (int64_t)f->parent + 1);
		dump_msg(&list, 4, &frame);
	}
	nsx_buf_str(&m, nsx_buf_view(&places));
	nsx_buf_str(&m, nsx_buf_view(&list));
	if (places.failed || list.failed)
		syn_die("out of memory");
	nsx_buf_free(&places);
	nsx_buf_free(&list);
	dump_msg(module, 17, &m);
}

static void
attribute(pb *to, const char *key, const char *value)
{
	pb m = { 0 };

	pb_str(&m, 1, key);
	pb_str(&m, 2, value);
	dump_msg(to, 1, &m);
}

/* ---- memory */

static void
heap_trace(struct dump *d, pb *to, const struct syn_trace *t, int64_t base, int number)
{
	pb m = { 0 }, e = { 0 };

	for (size_t i = 0; i < t->event.n; i++) {
		const struct syn_event *ev = &t->event.p[i];

		if (ev->kind)
			pb_int(&e, 1, ev->kind);
		pb_int(&e, 2, base + ev->buffer);
		pb_str(&e, 3, d->pr->home.p[0].name);
		pb_str(&e, 4, d->pr->inst.p[ev->inst].name);
		if (ev->kind == 2)
			pb_int(&e, 5, base + ev->shares);
		dump_msg(&m, 1, &e);
	}
	pb_int(&m, 3, number);
	dump_msg(to, 4, &m);
}

/* A logical buffer is defined by the instruction of the event that adds it. */
static void
logical_buffers(struct dump *d, pb *to, const struct syn_trace *t, int64_t base)
{
	for (size_t i = 0; i < t->event.n; i++) {
		const struct syn_event *ev = &t->event.p[i];
		pb m = { 0 }, at = { 0 };

		if (ev->kind == 1)
			continue;
		pb_int(&m, 1, base + ev->buffer);
		pb_int(&m, 2, t->size.p[ev->buffer]);
		pb_int(&at, 4, dump_id(d, ev->inst));
		dump_msg(&m, 3, &at);
		if (t->color)
			pb_int(&m, 4, t->color);
		dump_msg(to, 1, &m);
	}
}

/* Fields of an allocation with its purpose. */
enum { TRACE = 0, LOCAL = 3, PARAMETER = 5, LIVE_OUT = 7, CONSTANT = 12 };

static pb
reserved(const struct syn_trace *t, int *number, int64_t size, int what)
{
	pb m = { 0 };

	if (*number)
		pb_int(&m, 1, *number);
	++*number;
	pb_int(&m, 2, size);
	if (what)
		pb_int(&m, (uint32_t)what, 1);
	if (t->color)
		pb_int(&m, 8, t->color);
	return m;
}

/* All allocations of the memory of a trace; returns the number of the trace's own allocation. */
static int
allocations(pb *to, const struct syn_trace *t, int64_t base, int *number)
{
	pb m = reserved(t, number, t->arguments - t->shared, PARAMETER), part = { 0 };

	dump_msg(to, 3, &m);
	m = reserved(t, number, t->shared, PARAMETER);
	pb_int(&m, LIVE_OUT, 1);
	dump_msg(to, 3, &m);
	m = reserved(t, number, t->outputs - t->shared, LIVE_OUT);
	dump_msg(to, 3, &m);
	m = reserved(t, number, t->constants, CONSTANT);
	dump_msg(to, 3, &m);
	m = reserved(t, number, t->local, LOCAL);
	dump_msg(to, 3, &m);
	m = reserved(t, number, t->peak + t->slack, TRACE);
	for (size_t i = 0; i < t->size.n; i++) {
		pb_int(&part, 1, base + (int64_t)i);
		pb_int(&part, 3, t->size.p[i]);
		dump_msg(&m, 9, &part);
	}
	dump_msg(to, 3, &m);
	return *number - 1;
}

static void
memory(struct dump *d, pb *to)
{
	struct syn_trace trace[2];
	int n = syn_heap(d->p, d->prog, trace);
	pb m = { 0 };
	const int64_t base[2] = { 100, 100 + (int64_t)trace[0].size.n };
	int number = 0, own[2];

	for (int k = 0; k < n; k++)
		logical_buffers(d, &m, &trace[k], base[k]);
	for (int k = 0; k < n; k++)
		own[k] = allocations(&m, &trace[k], base[k], &number);
	for (int k = 0; k < n; k++) {
		heap_trace(d, &m, &trace[k], base[k], own[k]);
		free(trace[k].size.p);
		free(trace[k].event.p);
	}
	dump_msg(to, 3, &m);
}

/* ---- the whole */

struct nsx_buf
syn_hlo(struct syn_plan *p, uint32_t proc, uint32_t prog)
{
	struct dump d = { .p = p, .pr = &p->prog.p[prog], .proc = proc, .prog = prog };
	pb out = { 0 }, module = { 0 }, schedule = { 0 }, attributes = { 0 };

	d.next = 11 + 2 * (int64_t)d.pr->inst.n;
	d.start = syn_check(calloc(d.pr->inst.n + 1, sizeof *d.start));
	pb_str(&module, 1, d.pr->name);
	pb_str(&module, 2, d.pr->home.p[0].name);
	computations(&d, &module, &schedule);
	pb_int(&module, 5, syn_program_id(proc, d.pr));
	pb_int(&module, 6, d.pr->home.p[0].id);
	dump_msg(&module, 7, &schedule);
	device_assignment(&d, &module);
	frames(&d, &module);
	attribute(&attributes, "xla.sdy.tuple_results", "True");
	attribute(&attributes, "fingerprint_before_lhs", syn_fingerprint(p, proc, prog));
	dump_msg(&module, 19, &attributes);
	dump_msg(&out, 1, &module);
	if (!d.pr->tree)
		memory(&d, &out);
	free(d.start);
	return out;
}

static pb
compressed(const pb *m)
{
	bool xz = strcmp(syn_opt.dumps, "xz") == 0;
	size_t room = xz ? lzma_stream_buffer_bound(m->len) : ZSTD_compressBound(m->len), n = 0;
	pb out = { 0 };

	if (!nsx_buf_room(&out, room))
		syn_die("out of memory");
	if (xz) {
		if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (const uint8_t *)m->ptr, m->len, (uint8_t *)out.ptr, &n, room) != LZMA_OK)
			syn_die("xz: a dump cannot be compressed");
	} else {
		n = ZSTD_compress(out.ptr, room, m->ptr, m->len, 1);
		if (ZSTD_isError(n))
			syn_die("zstd: a dump cannot be compressed");
	}
	out.len = n;
	return out;
}

void
syn_write_file(const char *path, const struct nsx_buf *bytes)
{
	struct nsx_err err = { "" };
	struct nsx_outfile *f = nsx_outfile_open(path, &err);

	if (bytes->failed)
		syn_die("out of memory");
	if (!f || nsx_outfile_write(f, bytes->ptr, bytes->len) != NSX_OK || nsx_outfile_commit(f) != NSX_OK)
		syn_die("%s", err.msg);
	nsx_outfile_free(f);
}

/* One file of a dump, compressed on request: PATH, PATH.xz or PATH.zst. */
void
syn_write_dump(const char *path, const struct nsx_buf *bytes)
{
	bool plain = strcmp(syn_opt.dumps, "plain") == 0;
	char name[4096];
	pb z = { 0 };

	if (!plain)
		z = compressed(bytes);
	if (snprintf(name, sizeof name, "%s%s%s", path, plain ? "" : ".", plain ? "" : syn_opt.dumps) >= (int)sizeof name)
		syn_die("%s: the name is too long", path);
	syn_write_file(name, plain ? bytes : &z);
	nsx_buf_free(&z);
}

static void
dump_program(struct syn_plan *p, const char *dir, uint32_t proc, uint32_t prog)
{
	const struct syn_program *pr = &p->prog.p[prog];
	const char *base = syn_fmt(p, "%s/module_%04lld.%s", dir, (long long)syn_program_id(proc, pr), pr->name);
	pb m = syn_hlo(p, proc, prog), older = { 0 };

	syn_write_dump(syn_fmt(p, "%s.sm_9.0_gpu_after_optimizations.hlo.pb", base), &m);
	nsx_buf_c(&older, "from before the optimizations: not for us");
	syn_write_file(syn_fmt(p, "%s.before_optimizations.hlo.pb", base), &older);
	nsx_buf_free(&older);
	nsx_buf_free(&m);
	if (pr->tree)
		x26_write_lists(p, prog, base);
}

void
syn_dumps(struct syn_plan *p)
{
	for (uint32_t r = 0; r < p->proc.n; r++) {
		const char *dir = syn_fmt(p, "%s/dump%u", syn_opt.dir, r);

		if (mkdir(dir, 0777) != 0 && errno != EEXIST)
			syn_die("%s: %s", dir, strerror(errno));
		for (uint32_t g = 0; g < p->prog.n; g++)
			dump_program(p, dir, r, g);
	}
}
