/* records.h -- random records, and streams of them in every encoding, for unit tests of lib/stream. */
#ifndef NSX_RECORDS_H
#define NSX_RECORDS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "stream/codec.h"
#include "tap.h"

/* The encodings: every one that a stream may be written in. */
static const struct { const char *name; bool binary; int zlevel; } forms[] = {
	{ "text", false, 0 }, { "binary", true, 0 }, { "compressed text", false, 3 }, { "compressed binary", true, 1 },
};
enum { FORMS = 4 };

static uint64_t seed = 1;

static uint64_t
draw(void)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return nsx_hash_u64(seed);
}

/* ---- records in memory: the expected result ---- */

struct kept { const struct nsx_kind *kind; uint64_t has; union nsx_val *v; };
static NSX_VEC(struct kept) kept;
static struct nsx_arena memory;

static void
forget(void)
{
	kept.n = 0;
	nsx_arena_reset(&memory);
}

static struct nsx_rec
new_record(const struct nsx_kind *k)
{
	struct kept one = { k, 0, nsx_arena_alloc(&memory, NSX_MAX_COLS * sizeof(union nsx_val)) };

	if (!one.v || !nsx_vec_push(&kept, one))
		abort();
	return (struct nsx_rec){ k, 0, one.v };
}

static void
keep(const struct nsx_rec *rec)
{
	kept.p[kept.n - 1].has = rec->has;
}

static struct nsx_str
random_string(void)
{
	char bytes[64];
	size_t n = 1 + draw() % sizeof bytes;
	unsigned how = draw() % 4;

	for (size_t i = 0; i < n; i++)
		bytes[i] = how == 0 ? (char)draw() : how == 1 ? "\t\n\r\\x0#:;"[draw() % 9]
		         : (char)((how == 2 ? 'a' : 0x80) + draw() % (how == 2 ? 3 : 128));
	return nsx_arena_str(&memory, (struct nsx_str){ bytes, n });
}

static int64_t
random_int(void)
{
	static const int64_t edges[] = { 0, 1, -1, 9, 10, 99999999, 100000000, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1,
	                                 999999999999999999, 1000000000000000000, -999999999999999999, INT32_MAX, 1LL << 32 };

	return draw() % 3 ? (int64_t)(draw() >> draw() % 64) : edges[draw() % (sizeof edges / sizeof *edges)];
}

static double
random_double(void)
{
	static const double edges[] = { 0.0, -0.0, 0.1, 1e300, -1e-300, 5e-324, 1.7976931348623157e308, INFINITY, -INFINITY, 1.0 / 3 };
	uint64_t bits = draw();
	double d;

	memcpy(&d, &bits, sizeof d);
	return draw() % 2 && !isnan(d) ? d : edges[draw() % (sizeof edges / sizeof *edges)];
}

/* A record of k with values in about `share` of 8 columns of its header. */
static void
random_record(const struct nsx_kind *k, unsigned share)
{
	struct nsx_rec rec = new_record(k);

	for (int i = 0; i < k->ncols; i++) {
		int slot = k->order[i];

		if (draw() % 8 >= share)
			continue;
		if (k->cols[slot].type == 'i')
			nsx_set_i(&rec, slot, random_int());
		else if (k->cols[slot].type == 'f')
			nsx_set_f(&rec, slot, random_double());
		else
			nsx_set_s(&rec, slot, random_string());
	}
	keep(&rec);
}

/* A kind that the library does not know. */
static struct nsx_kind *
make_kind(const char *name, const char *types)
{
	struct nsx_kind *k = nsx_arena_alloc(&memory, sizeof *k);
	struct nsx_col *cols = nsx_arena_alloc(&memory, NSX_MAX_COLS * sizeof *cols);

	*k = (struct nsx_kind){ .id = NSX_NKINDS, .name = nsx_arena_str(&memory, nsx_str_c(name)).ptr, .cols = cols };
	for (; types[k->ncols]; k->ncols++, k->nslots++) {
		char column[16];

		snprintf(column, sizeof column, "c%d", k->ncols);
		cols[k->ncols] = (struct nsx_col){ nsx_arena_str(&memory, nsx_str_c(column)).ptr, types[k->ncols], NULL, NULL };
		k->order[k->ncols] = (uint8_t)k->ncols;
	}
	return k;
}

/* ---- writing and reading ---- */

struct bytes { char *p; size_t n; };

static struct bytes
slurp(int fd)
{
	struct nsx_buf b = { 0 };
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	do {
		nsx_buf_room(&b, 65536);
		n = read(fd, b.ptr + b.len, 65536);
		b.len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(fd);
	return (struct bytes){ b.ptr, b.len };
}

/* End a filter between r and w, which writes to fd, after reading ended with rc: what it wrote, NULL if it failed. */
__attribute__((unused)) static struct bytes
filtered(struct nsx_reader *r, struct nsx_writer *w, int fd, int rc)
{
	if (rc == NSX_EOF)
		rc = nsx_writer_finish(w);
	nsx_writer_free(w);
	nsx_reader_close(r);
	if (rc == NSX_OK)
		return slurp(fd);
	close(fd);
	return (struct bytes){ NULL, 0 };
}

/* All that is kept, as a stream. */
static struct bytes
write_kept(int form)
{
	struct nsx_err err = { "" };
	int fd = nsx_tmpfile(&err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", forms[form].binary, forms[form].zlevel, &err);
	bool good = w != NULL;

	for (size_t i = 0; i < kept.n && good; i++) {
		struct nsx_rec rec = { kept.p[i].kind, kept.p[i].has, kept.p[i].v };

		good = nsx_write(w, &rec) == NSX_OK;
	}
	if (!good || nsx_writer_finish(w) != NSX_OK)
		printf("# %s\n", err.msg);
	nsx_writer_free(w);
	return slurp(fd);
}

static bool
same_value(char type, union nsx_val a, union nsx_val b)
{
	return type == 'i' ? a.i == b.i : type == 's' ? nsx_str_eq(a.s, b.s) : memcmp(&a.f, &b.f, sizeof a.f) == 0;
}

/* Whether rec equals k in all columns. */
static bool
same_record(const struct nsx_rec *rec, const struct kept *k)
{
	if (strcmp(rec->kind->name, k->kind->name) != 0)
		return false;
	for (int i = 0; i < k->kind->ncols; i++) {
		int from = k->kind->order[i], to = nsx_kind_slot(rec->kind, nsx_str_c(k->kind->cols[from].name));
		bool has = k->has >> from & 1;

		if (to < 0 || nsx_has(rec, to) != has || (has && !same_value(k->kind->cols[from].type, k->v[from], rec->v[to])))
			return false;
	}
	return true;
}

/* The stream holds all that is kept, in order, and ends well. */
__attribute__((unused)) static bool
reads_back(struct bytes b)
{
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, &err);
	struct nsx_rec rec;
	size_t n = 0;
	int rc;

	while ((rc = nsx_read(r, &rec)) == NSX_OK && n < kept.n && same_record(&rec, &kept.p[n]))
		n++;
	if (rc != NSX_EOF)
		printf("# record %zu: %s\n", n, rc == NSX_ERR ? err.msg : "differs");
	nsx_reader_close(r);
	return rc == NSX_EOF && n == kept.n;
}

/* The stream in another form, by reader and writer. */
__attribute__((unused)) static struct bytes
convert(struct bytes from, int form)
{
	struct nsx_err err = { "" };
	int fd = nsx_tmpfile(&err), rc;
	struct nsx_reader *r = nsx_reader_mem(from.p, from.n, "test", 0, &err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", forms[form].binary, forms[form].zlevel, &err);
	struct nsx_rec rec;

	nsx_writer_follow(w, r);
	while ((rc = nsx_read(r, &rec)) == NSX_OK)
		if (nsx_write(w, &rec) != NSX_OK)
			break;
	if (rc != NSX_EOF || nsx_writer_finish(w) != NSX_OK)
		printf("# %s\n", err.msg);
	nsx_writer_free(w);
	nsx_reader_close(r);
	return slurp(fd);
}

__attribute__((unused)) static bool
equal(struct bytes a, struct bytes b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

#endif
