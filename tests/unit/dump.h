/* dump.h -- encode HLO dumps instruction by instruction, read them, and look up the result. */
#ifndef NSX_TEST_DUMP_H
#define NSX_TEST_DUMP_H

#include "pb.h"
#include "tap.h"
#include "xla/hlo_int.h"

enum { PRED = 1, S8 = 2, S32 = 4, F32 = 11, TUPLE = 13, BF16 = 16, TOKEN = 17, C128 = 18, S4 = 21, BUFFER = 34 };

/* ---- spelling dumps */

static inline pb
shape(int type, const char *dims, int space, int bits)
{
	pb s = { 0 }, layout = { 0 };

	pb_int(&s, 2, type);
	pb_packed(&s, 3, dims);
	if (bits)
		pb_int(&layout, 7, bits);
	if (space)
		pb_int(&layout, 8, space);
	if (layout.len)
		pb_msg(&s, 5, &layout);
	return s;
}

/* An instruction that is still open: more fields may be added, then add() puts it into its computation. */
static inline pb
inst(const char *name, const char *opcode, int64_t id, const char *operands)
{
	pb i = { 0 };

	pb_str(&i, 1, name);
	pb_str(&i, 2, opcode);
	pb_int(&i, 35, id);
	pb_packed(&i, 36, operands);
	return i;
}

static inline void
add(pb *computation, pb *i)
{
	pb_msg(computation, 2, i);
}

static inline pb
shaped(const char *name, const char *opcode, int64_t id, const char *operands, int type, const char *dims, int space)
{
	pb i = inst(name, opcode, id, operands), s = shape(type, dims, space, 0);

	pb_msg(&i, 3, &s);
	return i;
}

/* An array that others read. */
static inline void
param(pb *computation, int64_t id, int type, const char *dims)
{
	char name[32];
	snprintf(name, sizeof name, "param.%d", (int)id);
	pb i = shaped(name, "parameter", id, "", type, dims, 0);
	add(computation, &i);
}

static inline void
place(pb *i, const char *op_name, const char *file, int line, int frame)
{
	pb m = { 0 };

	if (*op_name)
		pb_str(&m, 2, op_name);
	if (*file) {
		pb_str(&m, 3, file);
		pb_int(&m, 4, line);
	}
	if (frame)
		pb_int(&m, 15, frame);
	pb_msg(i, 7, &m);
}

static inline void
call(pb *i, const char *ids)
{
	pb_packed(i, 38, ids);
}

static inline pb
computation(const char *name)
{
	pb c = { 0 };

	pb_str(&c, 1, name);
	return c;
}

/* Into the module. Of a fusion: fused. */
static inline void
close_computation(pb *module, pb *c, int64_t id, bool fused)
{
	pb_int(c, 5, id);
	if (fused)
		pb_int(c, 7, 1);
	pb_msg(module, 3, c);
}

static inline pb
module(int64_t entry)
{
	pb m = { 0 };

	pb_str(&m, 1, "jit_f");
	pb_int(&m, 5, 7);
	pb_int(&m, 6, entry);
	return m;
}

/* A replica group message at field of b. */
static inline void
group(pb *b, uint32_t field, const char *ids)
{
	pb g = { 0 };

	pb_packed(&g, 1, ids);
	pb_msg(b, field, &g);
}

/* Device p,r: rows separated by '/', a row a partition. */
static inline void
devices(pb *m, int replicas, int partitions, const char *rows)
{
	pb d = { 0 };

	pb_int(&d, 1, replicas);
	pb_int(&d, 2, partitions);
	for (const char *s = rows; s; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL) {
		pb c = { 0 };
		pb_packed(&c, 1, s);
		pb_msg(&d, 3, &c);
	}
	pb_msg(m, 15, &d);
}

/* ---- reading them */

static struct nsx_diags diags;
static struct nsx_err err;

static inline void
reset(void)
{
	nsx_diags_free(&diags);
	err = (struct nsx_err){ "" };
}

/* The whole dump of module m, which is emptied. */
static inline pb
dump_of(pb *m)
{
	pb d = { 0 };

	pb_msg(&d, 1, m);
	return d;
}

static inline int
parse_bytes(const void *p, size_t n, struct nsx_hlo *h)
{
	struct nsx_dumpfile f;
	/* Exactly that long, so that a sanitizer sees reads past the end. */
	char *copy = malloc(n ? n : 1);

	reset();
	if (n)
		memcpy(copy, p, n);
	nsx_dumpfile_memory(&f, copy, n, "dump", &err);
	int rc = nsx_hlo_parse(&f, h, &diags);
	nsx_dumpfile_close(&f);
	free(copy);
	return rc;
}

/* NSX_CORPUS=DIR: leave every dump that is read there, as seeds for the fuzz target. */
static inline void
leave(const pb *d)
{
	char path[512];
	FILE *f;

	if (!getenv("NSX_CORPUS"))
		return;
	snprintf(path, sizeof path, "%s/%016" PRIx64, getenv("NSX_CORPUS"), nsx_hash(d->ptr, d->len));
	if (!(f = fopen(path, "wb")) || fwrite(d->ptr, 1, d->len, f) != d->len || fclose(f) != 0)
		ok(false, "%s can be written", path);
}

static inline struct nsx_hlo
parse(pb *m)
{
	struct nsx_hlo h;
	pb d = dump_of(m);

	leave(&d);
	ok(parse_bytes(d.ptr, d.len, &h) == NSX_OK, "a dump is read: '%s'", err.msg);
	nsx_buf_free(&d);
	return h;
}

static inline int64_t
diag(const char *part)
{
	for (size_t i = 0; i < diags.list.n; i++)
		if (strstr(diags.list.p[i].text, part) && strcmp(diags.list.p[i].source, "jit_f") == 0)
			return diags.list.p[i].count;
	return 0;
}

static inline const char *
text(struct nsx_str s)
{
	static char buf[4][512];
	static int next;

	next = (next + 1) % 4;
	snprintf(buf[next], sizeof buf[next], "%.*s", (int)s.len, s.len ? s.ptr : "");
	return buf[next];
}

static inline const struct nsx_hlo_inst *
find(const struct nsx_hlo *h, const char *name)
{
	static const struct nsx_hlo_inst none;
	const struct nsx_hlo_inst *i = nsx_hlo_find(h, nsx_str_c(name));

	return i ? i : &none;
}

static inline const char *
groups(const struct nsx_hlo *h, const char *name)
{
	uint32_t g = find(h, name)->groups;

	return g == NSX_NONE ? "none" : g < h->ngroups ? text(h->groups[g]) : "out of range";
}

static inline const char *
stack(const struct nsx_hlo *h, uint32_t s)
{
	return s == NSX_NONE ? "none" : s < h->nstacks ? text(h->stacks[s]) : "out of range";
}

#endif
