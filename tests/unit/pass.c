/* pass.c -- records that pass from stream to stream: for any columns looked at and any records kept, the output equals
 * that of writing the records one by one; complete blocks are unchanged; damage in what is not decoded crashes nothing,
 * and is refused where decoding would. */
#include "records.h"

#include "stream/binary.h"
#include "stream/pass.h"

enum { KINDS = 6, ROWS = NSX_BLOCK_ROWS };

/* Which records to keep of a stream of many. */
enum how { ALL, NONE, MOST, SOME, STRETCHES, HOWS };
static const char *const how_names[HOWS] = { "all", "none", "most", "some", "stretches" };

static bool
is_kept(enum how how, int64_t n)
{
	return how == ALL || (how == MOST && n % 5000) || (how == SOME && nsx_hash_u64((uint64_t)n) % 3 == 0)
	       || (how == STRETCHES && n / (3 * ROWS / 2) % 2);
}

static void
fill(int n)
{
	const struct nsx_kind *kinds[KINDS] = {
		nsx_kind_builtin(NSX_RANGE), nsx_kind_builtin(NSX_OP), nsx_kind_builtin(NSX_THUNK),
		nsx_kind_builtin(NSX_DIAG), make_kind("own", "isfis"), nsx_kind_builtin(NSX_CALL),
	};

	for (int i = 0; i < n; i++)
		/* One more kind late in the stream, and one that is rare. */
		random_record(kinds[i == n / 2 ? 5 : i % 1000 == 0 ? 4 : draw() % 3 ? draw() % 2 : draw() % 4],
		              1 + (unsigned)(draw() % 8));
}

/* A stream of the kept records of b; look NULL: only by nsx_write. */
static struct bytes
filter(struct bytes b, int form, enum how how, const uint64_t *look, struct nsx_err *err)
{
	int fd = nsx_tmpfile(err), rc;
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", forms[form].binary, forms[form].zlevel, err);
	struct nsx_pass *p = nsx_pass_new(r, w, err);
	struct nsx_rec rec;

	nsx_writer_follow(w, r);
	while ((rc = look ? nsx_pass_read(p, &rec) : nsx_read(r, &rec)) == NSX_OK) {
		int64_t n = nsx_reader_records(r);

		/* The columns to look at are set in the middle of the stream. */
		if (look && n == 100)
			nsx_pass_look(p, look);
		if (is_kept(how, n) && (rc = look ? nsx_pass_on(p, &rec) : nsx_write(w, &rec)) != NSX_OK)
			break;
	}
	nsx_pass_free(p);
	return filtered(r, w, fd, rc);
}

static void
ways(void)
{
	uint64_t look[NSX_NKINDS + 1];
	struct nsx_err err = { "" };

	for (int from = 0; from < FORMS; from++) {
		fill(6 * ROWS);
		struct bytes b = write_kept(from);

		for (int to = 1; to < FORMS; to += 2) {
			for (int how = 0; how < HOWS; how++) {
				for (int k = 0; k <= NSX_NKINDS; k++)
					look[k] = draw() % 3 ? draw() & draw() & draw() : 0;
				err.msg[0] = '\0';
				struct bytes got = filter(b, to, (enum how)how, look, &err);
				struct bytes want = filter(b, 0, (enum how)how, NULL, &err), text = convert(got, 0);

				ok(got.p && equal(text, want), "%s to %s, %s kept: %s", forms[from].name,
				   forms[to].name, how_names[how], err.msg);
				free(got.p);
				free(want.p);
				free(text.p);
			}
		}
		free(b.p);
		forget();
	}
}

static void
whole(void)
{
	uint64_t look[NSX_NKINDS + 1] = { 0 };
	struct nsx_err err = { "" };

	fill(6 * ROWS);
	struct bytes b = write_kept(1), got = filter(b, 1, ALL, look, &err);
	ok(equal(b, got), "a stream that passes whole is the same bytes");
	free(b.p);
	free(got.p);
	forget();
}

/* A block of records without common values, whose number of differences is wrong: its varint is extended. */
static void
damage(void)
{
	uint64_t look[NSX_NKINDS + 1] = { 0 };
	struct nsx_err err = { "" };
	int noticed = 0;

	fill(3 * ROWS);
	struct bytes b = write_kept(1);
	for (int i = 0; i < 300; i++) {
		size_t at = b.n / 3 + draw() % (b.n / 3 * 2);
		char was = b.p[at];

		/* The number of bytes without continuation bit, which is the length of the list, changes. */
		b.p[at] = (char)(b.p[at] ^ 0x80);
		struct bytes got = filter(b, 1, ALL, look, &err);
		noticed += !got.p;
		free(got.p);
		b.p[at] = was;
	}
	/* Of strings the bytes may be any. */
	ok(noticed > 100, "damage in lists that nobody looks at is noticed: %d of 300", noticed);
	free(b.p);
	forget();
}

/* A record with values as they are usual: that grow, repeat, follow from each other, or lack. */
static void
usual_record(const struct nsx_kind *k, int n)
{
	static const char *const names[] = { "alpha", "alphabet", "beta", "betatron", "gamma", "g" };
	struct nsx_rec rec = new_record(k);
	int64_t at = 100 * n + (int64_t)(draw() % 3);

	for (int i = 0; i < k->ncols; i++) {
		int slot = k->order[i];
		const int64_t ints[] = { n, (int64_t)(draw() % 4), at, at + 1000, 7, n < 20 ? 3000000000 : n };

		if (i % 4 == 3 && draw() % 4 == 0)
			continue;
		if (k->cols[slot].type == 'i')
			nsx_set_i(&rec, slot, ints[i % 6]);
		else if (k->cols[slot].type == 'f')
			nsx_set_f(&rec, slot, (double)(draw() % 3) / 2);
		else
			nsx_set_s(&rec, slot, nsx_str_c(names[(i + (int)(draw() % 3)) % 6]));
	}
	keep(&rec);
}

static bool
reads(struct bytes b)
{
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, &err);
	struct nsx_rec rec;
	int rc = NSX_ERR;

	while (r && (rc = nsx_read(r, &rec)) == NSX_OK)
		;
	nsx_reader_close(r);
	return rc == NSX_EOF;
}

/* Every byte of a block that is not looked at, damaged: a block that decoding refuses is not copied. */
static void
as_strict(void)
{
	static const unsigned char masks[] = { 0x80, 0x07 };
	const struct nsx_kind *few = make_kind("few", "i"), *kinds[] = {
		nsx_kind_builtin(NSX_OP), nsx_kind_builtin(NSX_RANGE), nsx_kind_builtin(NSX_THUNK),
		make_kind("own", "isfisfssi"),
	};
	enum { OF = sizeof kinds / sizeof *kinds };
	uint64_t look[NSX_NKINDS + 1] = { 0 };
	int refused = 0, slipped = 0, passed = 0;
	struct nsx_err err = { "" };

	/* Blocks with headers are decoded, including the last one, which has that of the end. */
	for (int i = 0; i < ROWS; i++)
		usual_record(i < OF ? kinds[i] : few, 1);
	struct bytes b = write_kept(1);
	size_t from = b.n - 16;
	free(b.p);
	for (int i = 0; i < 50; i++)
		usual_record(kinds[i % OF], i);
	for (int i = 0; i < 4; i++)
		random_record(kinds[OF - 1], 6);
	for (int i = 54; i <= ROWS; i++)
		usual_record(few, 1);
	b = write_kept(1);
	struct bytes got = filter(b, 1, ALL, look, &err);
	ok(equal(b, got), "the block passes whole");
	free(got.p);
	for (size_t at = from; at < b.n; at++) {
		unsigned char mask = masks[at % sizeof masks];

		b.p[at] = (char)(b.p[at] ^ mask);
		bool good = reads(b);
		got = filter(b, 1, ALL, look, &err);
		refused += !good;
		passed += good && got.p;
		if (!good && got.p && !slipped++)
			printf("# byte %zu of %zu, from %zu: %02x\n", at, b.n, from, mask);
		free(got.p);
		b.p[at] = (char)(b.p[at] ^ mask);
	}
	ok(!slipped, "of %d damages that decoding refuses %d are passed on", refused, slipped);
	ok(refused > 200 && passed > 200, "%d damages are refused, %d passed", refused, passed);
	free(b.p);
	forget();
}

int
main(void)
{
	ways();
	whole();
	damage();
	as_strict();
	return done();
}
