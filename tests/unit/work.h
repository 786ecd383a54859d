/* work.h -- dumps whose work a test counts: shapes, dots, convolutions, fusions, and the library's results for them. */
#ifndef NSX_TEST_WORK_H
#define NSX_TEST_WORK_H

#include "dump.h"

enum { F16 = 10, F64 = 12, RANK_MAX = 8 };

/* ---- chance, the same in each run */

static uint64_t chance = 20240717;

/* 0 .. n - 1 */
static inline int
any(int n)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (int)((chance >> 33) % (uint64_t)n);
}

/* lo .. hi */
static inline int64_t
between(int lo, int hi)
{
	return lo + any(hi - lo + 1);
}

/* The numbers 0 .. n - 1 in any order. */
static inline void
shuffled(int n, int64_t *out)
{
	for (int i = 0; i < n; i++) {
		int k = any(i + 1);
		out[i] = out[k];
		out[k] = i;
	}
}

/* ---- spelling */

/* Numbers as text, for pb_packed. */
static inline const char *
list(const int64_t *p, int n)
{
	static char buf[8][256];
	static int next;
	size_t at = 0;

	next = (next + 1) % 8;
	buf[next][0] = '\0';
	for (int i = 0; i < n; i++)
		at += (size_t)snprintf(buf[next] + at, sizeof buf[next] - at, "%lld ", (long long)p[i]);
	return buf[next];
}

static inline int64_t
product(const int64_t *d, int n)
{
	int64_t p = 1;

	for (int i = 0; i < n; i++)
		p *= d[i];
	return p;
}

static inline void
close_with_root(pb *m, pb *c, int64_t id, int64_t root, bool fused)
{
	pb_int(c, 6, root);
	close_computation(m, c, id, fused);
}

static inline void
parameter(pb *c, int64_t id, int64_t number, int type, const char *dims)
{
	char name[32];
	snprintf(name, sizeof name, "p%lld.%lld", (long long)number, (long long)id);
	pb i = shaped(name, "parameter", id, "", type, dims, 0);

	pb_int(&i, 9, number);
	add(c, &i);
}

static inline void
op(pb *c, const char *opcode, int64_t id, const char *operands, int type, const char *dims)
{
	char name[64];
	snprintf(name, sizeof name, "%s.%lld", opcode, (long long)id);
	pb i = shaped(name, opcode, id, operands, type, dims, 0);

	add(c, &i);
}

/* A computation of two scalars: `adds` additions, one after the other. */
static inline void
scalar_computation(pb *m, int64_t id, int adds)
{
	pb c = computation("scalar");

	parameter(&c, 1, 0, F32, "");
	parameter(&c, 2, 1, F32, "");
	for (int i = 0; i < adds; i++) {
		char operands[32];
		snprintf(operands, sizeof operands, "%d 2", i ? 2 + i : 1);
		op(&c, "add", 3 + i, operands, F32, "");
	}
	close_with_root(m, &c, id, 2 + adds, false);
}

/* ---- reading */

static inline struct nsx_hlo
quietly(pb *m)
{
	struct nsx_hlo h = { 0 };
	pb d = dump_of(m);

	leave(&d);
	if (parse_bytes(d.ptr, d.len, &h) != NSX_OK)
		ok(false, "a dump is read: %s", err.msg);
	nsx_buf_free(&d);
	return h;
}

/* "flops math vector mem_bytes", or "none". */
static inline const char *
cost_text(const struct nsx_hlo_cost *c)
{
	static char buf[4][160];
	static int next;
	struct nsx_str math = nsx_hlo_math_name(c->math);

	next = (next + 1) % 4;
	if (!c->modelled)
		return "none";
	snprintf(buf[next], sizeof buf[next], "%" PRId64 " %.*s %" PRId64 " %" PRId64, c->flops, c->flops ? (int)math.len : 1, c->flops ? math.ptr : "-", c->vector, c->mem_bytes);
	return buf[next];
}

/* The cost of `name` in module m, which is emptied. */
static inline const char *
cost_of(pb *m, const char *name)
{
	struct nsx_hlo h = quietly(m);
	const char *s = nsx_hlo_find(&h, nsx_str_c(name)) ? cost_text(&find(&h, name)->cost) : "no such instruction";

	nsx_hlo_free(&h);
	return s;
}

#endif
