/* binary.c -- the binary encoding where its shortcuts end: numbers of every width, columns that change their ways between
 * blocks, strings that look alike. Each stream reads back, and is the same bytes by way of text. */
#include "stream/binary.h"
#include "records.h"

/* Text written by way of the form is the same text, and the form by way of text the same form. */
static void
both_ways(const char *what)
{
	struct bytes text = write_kept(0), binary = write_kept(1), a = convert(binary, 0), b = convert(text, 1);

	ok(reads_back(binary), "%s: reads back", what);
	ok(equal(a, text) && equal(b, binary), "%s: the same by way of the other encoding", what);
	free(text.p);
	free(binary.p);
	free(a.p);
	free(b.p);
	forget();
}

/* Numbers whose longest has a given number of bits, as values and as differences between records. */
static void
widths(void)
{
	char what[40];

	for (int bits = 0; bits <= 64; bits++) {
		const struct nsx_kind *k = make_kind("k", "iif");
		int64_t sum = 0;

		for (int n = 0; n < 300; n++) {
			struct nsx_rec rec = new_record(k);
			uint64_t x = bits ? draw() >> (64 - bits) : 0;
			double d;

			/* Sometimes the maximum of its width, and the minimum of the next. */
			if (bits && n % 50 == 0)
				x = UINT64_MAX >> (64 - bits);
			if (bits && bits < 64 && n % 50 == 1)
				x = 1ULL << bits >> (n % 100 == 1);
			sum = (int64_t)((uint64_t)sum + x);
			memcpy(&d, &x, sizeof d);
			nsx_set_i(&rec, 0, (int64_t)x);
			nsx_set_i(&rec, 1, sum);
			nsx_set_f(&rec, 2, isnan(d) ? (double)x : d);
			keep(&rec);
		}
		snprintf(what, sizeof what, "numbers of %d bits", bits);
		both_ways(what);
	}
}

/* The distribution of a column's values, for some records. */
static int64_t
column_value(unsigned manner, int64_t n, int64_t other)
{
	switch (manner) {
	case 0:  return 7;
	case 1:  return n * 1000;
	case 2:  return (int64_t)draw();
	case 3:  return other;
	case 4:  return n % 5;
	default: return -n * n;
	}
}

/* Distributions change at the borders of blocks and inside them; columns are absent for some records. */
static void
changes(void)
{
	const struct nsx_kind *k = make_kind("k", "iiiis");
	unsigned manner[4] = { 0 }, absent = 0;
	char name[24];

	for (int64_t n = 0; n < 40 * 8192; n++) {
		struct nsx_rec rec = new_record(k);
		int64_t other = n * 3;

		/* Mostly for several blocks, so that a way of storing has been kept. */
		if (n % (n % 3 ? 8192 : 5000) == 0 && draw() % 3 == 0) {
			for (int c = 0; c < 4; c++)
				manner[c] = (unsigned)(draw() % 6);
			absent = draw() % 2 ? 0 : (unsigned)(draw() % 32);
		}
		for (int c = 0; c < 4; c++)
			if (!(absent >> c & 1) || n % 9 == 0)
				nsx_set_i(&rec, c, other = column_value(manner[c], n, other));
		if (!(absent >> 4 & 1)) {
			snprintf(name, sizeof name, "name %" PRId64, n % (manner[0] + 2));
			nsx_set_s(&rec, 4, nsx_arena_str(&memory, nsx_str_c(name)));
		}
		keep(&rec);
	}
	both_ways("columns that change");
}

/* Strings that differ only where a glance does not look. */
static void
alike(void)
{
	const struct nsx_kind *k = make_kind("k", "ss");
	char s[40];

	for (int n = 0; n < 30000; n++) {
		struct nsx_rec rec = new_record(k);
		size_t len = 1 + draw() % (sizeof s - 1), differ = draw() % 4;

		memset(s, 'a', sizeof s);
		for (size_t i = 0; i < differ; i++)
			s[draw() % len] = (char)('a' + draw() % 3);
		nsx_set_s(&rec, 0, nsx_arena_str(&memory, (struct nsx_str){ s, len }));
		nsx_set_s(&rec, 1, nsx_arena_str(&memory, (struct nsx_str){ s + len / 2, len - len / 2 }));
		keep(&rec);
	}
	both_ways("strings that look alike");
}

/* Records of one kind, alternating between two sets of columns. */
static void
turns(void)
{
	const struct nsx_kind *k = make_kind("k", "isfisfisf");

	for (int n = 0; n < 20000; n++)
		random_record(k, n % 3 ? 8 : (unsigned)(draw() % 8));
	both_ways("records that have different columns by turns");
}

/* What a reading of a stream comes to: the records that were read, a hash of them, and the error. */
struct read { size_t n; uint64_t hash; char error[1024]; };

static int
count_record(void *state, const struct nsx_rec *rec)
{
	struct read *t = state;

	t->n++;
	t->hash = nsx_hash_u64(t->hash ^ rec->has ^ (uint64_t)rec->kind->nslots << 32);
	for (int i = 0; i < rec->kind->nslots; i++) {
		if (!nsx_has(rec, i))
			continue;
		if (rec->kind->cols[i].type == 's')
			for (size_t at = 0; at < rec->v[i].s.len; at++)
				t->hash = t->hash * 31 + (unsigned char)rec->v[i].s.ptr[at];
		else
			t->hash = nsx_hash_u64(t->hash ^ (uint64_t)rec->v[i].i);
	}
	return NSX_OK;
}

/* all: with nsx_read_all, which decodes blocks ahead, otherwise record by record. */
static struct read
read_in(struct bytes b, bool all)
{
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, &err);
	struct read t = { 0 };
	struct nsx_rec rec;

	if (all)
		nsx_read_all(r, NULL, count_record, &t, &err);
	else
		while (nsx_read(r, &rec) == NSX_OK)
			count_record(&t, &rec);
	memcpy(t.error, err.msg, sizeof t.error);
	nsx_reader_close(r);
	return t;
}

static bool
same_read(struct bytes b)
{
	struct read one = read_in(b, false), ahead = read_in(b, true);

	return one.n == ahead.n && one.hash == ahead.hash && strcmp(one.error, ahead.error) == 0;
}

/* Blocks that are decoded ahead give the same records, also around one that declares a kind, and the same error after
 * the same record, wherever the stream is damaged or ends. */
static void
ahead(void)
{
	const struct nsx_kind *k = make_kind("k", "isf"), *late = make_kind("late", "si");
	int same = 0, wrong = 0, cut = 0;

	for (int n = 0; n < 20 * NSX_BLOCK_ROWS; n++)
		random_record(n > 14 * NSX_BLOCK_ROWS && n % 3 == 0 ? late : k, 5);

	struct bytes b = write_kept(1), zip = write_kept(3);
	ok(read_in(b, true).n == kept.n && same_read(b), "blocks that are decoded ahead");
	ok(read_in(zip, true).n == kept.n && same_read(zip), "the same, compressed");
	for (int i = 0; i < 40; i++) {
		struct bytes damaged = i % 4 ? b : zip;
		size_t at = damaged.n / 2 + (size_t)(draw() % (damaged.n / 2));
		char kept_byte = damaged.p[at];

		damaged.p[at] ^= (char)(1 << draw() % 8);
		same += same_read(damaged);
		wrong += read_in(damaged, true).error[0] != '\0';
		damaged.p[at] = kept_byte;
		damaged.n = at;
		cut += same_read(damaged) && read_in(damaged, true).error[0] != '\0';
	}
	ok(same == 40 && wrong > 0, "damage is found where it is: %d of 40, %d of them with an error", same, wrong);
	ok(cut == 40, "so is an early end: %d of 40", cut);
	free(b.p);
	free(zip.p);
	forget();
}

int
main(void)
{
	ahead();
	widths();
	changes();
	alike();
	turns();
	nsx_arena_free(&memory);
	free(kept.p);
	return done();
}
