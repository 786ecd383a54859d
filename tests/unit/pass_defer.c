/* pass_defer.c -- records that wait for values of a column: for any columns looked at, any records kept and any time at
 * which values become known, the output equals that of setting the values and writing the records one by one; damage is
 * refused where decoding refuses it. */
#include "records.h"

#include "stream/binary.h"
#include "stream/pass_defer.h"

enum { KINDS = 6, ROWS = NSX_BLOCK_ROWS };

static const struct nsx_defer_column columns[] = {
	{ NSX_THUNK, NSX_THUNK_hidden, 0 }, { NSX_OP, NSX_OP_hidden, NSX_ABSENT }, { NSX_RANGE, NSX_RANGE_level, -3 },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* What a stream is made of. */
enum made { RANDOM, EMPTY, SAME, ONE_KIND, MADE };
static const char *const made_names[MADE] = {
	"random", "without values", "columns equal to those set", "of one kind"
};

static void
fill(enum made made, int n)
{
	const struct nsx_kind *kinds[KINDS] = {
		nsx_kind_builtin(NSX_RANGE), nsx_kind_builtin(NSX_OP), nsx_kind_builtin(NSX_THUNK),
		nsx_kind_builtin(NSX_DIAG), make_kind("own", "isfis"), nsx_kind_builtin(NSX_CALL),
	};

	for (int i = 0; i < n; i++) {
		const struct nsx_kind *k = kinds[i == n / 2 ? 5 : i % 1000 == 0 ? 4 : made == ONE_KIND ? 2
		                                 : draw() % 3 ? 1 + draw() % 2 : draw() % 4];

		random_record(k, made == EMPTY && k->id != NSX_DIAG ? 0 : (unsigned)(draw() % 8));
		struct kept *last = &kept.p[kept.n - 1];
		if (made == SAME && k->id == NSX_THUNK) {
			/* The one that is stored later refers to the other. */
			last->v[NSX_THUNK_hidden].i = last->v[NSX_THUNK_range].i = random_int();
			last->has |= NSX_C(THUNK, hidden) | NSX_C(THUNK, range);
		}
	}
}

/* What becomes of record n: whether it is kept, which value it gets (NSX_ABSENT: none is given), and after how many
 * records that is known. */
struct fate { bool kept; int64_t value; int64_t delay; };

static struct fate
fate_of(int64_t n, unsigned how)
{
	uint64_t x = nsx_hash_u64((uint64_t)n * 16 + how);
	struct fate f = { !(how & 1) || n % 5000, NSX_ABSENT, 0 };
	/* Every value, or now and then one, or long stretches without. */
	bool given = how & 2 ? x % 16 == 0 : how & 4 ? n / 20000 % 2 : true;

	if (given)
		f.value = x >> 8 & 1 ? (int64_t)(x >> 20) : (int64_t)(x >> 32 & 3) - 1;
	if (given && !(x >> 10 & 3))
		f.delay = x >> 12 & 63 ? (int64_t)(x >> 40 & 1023) : 30000;
	return f;
}

/* Values to come, by the number of the record before which they are known. */
struct due { uint64_t ticket; int64_t value, at; };
static NSX_VEC(struct due) dues;

static void
answer(struct nsx_defer *l, int64_t now)
{
	size_t left = 0;

	for (size_t i = 0; i < dues.n; i++)
		if (dues.p[i].at <= now)
			nsx_defer_answer(l, dues.p[i].ticket, dues.p[i].value);
		else
			dues.p[left++] = dues.p[i];
	dues.n = left;
}

static int
take(struct nsx_defer *l, struct nsx_rec *rec, int64_t n, unsigned how)
{
	struct fate f = fate_of(n, how);
	bool set = rec->kind->id == NSX_THUNK || rec->kind->id == NSX_OP || rec->kind->id == NSX_RANGE;
	struct due due = { .value = f.value, .at = n + f.delay };

	if (n % 64 == 0)
		answer(l, n);
	if (!f.kept)
		return NSX_OK;
	if (set && f.value != NSX_ABSENT) {
		if (nsx_defer_set(l, f.delay ? NSX_ABSENT : f.value, &due.ticket) != NSX_OK)
			return NSX_ERR;
		if (f.delay && !nsx_vec_push(&dues, due))
			abort();
	}
	return nsx_defer_on(l, rec);
}

/* The stream b in a form, its columns set. */
static struct bytes
deferred(struct bytes b, int form, unsigned how, const uint64_t *look, size_t hold, struct nsx_err *err)
{
	int fd = nsx_tmpfile(err), rc;
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", forms[form].binary, forms[form].zlevel, err);
	struct nsx_defer *l = nsx_defer_new(r, w, columns, COLUMNS, look, hold, err);
	struct nsx_rec rec;

	dues.n = 0;
	while ((rc = nsx_defer_read(l, &rec)) == NSX_OK)
		if ((rc = take(l, &rec, nsx_reader_records(r), how)) != NSX_OK)
			break;
	if (rc == NSX_EOF) {
		answer(l, INT64_MAX);
		rc = nsx_defer_end(l) == NSX_OK ? nsx_writer_finish(w) : NSX_ERR;
	}
	nsx_defer_free(l);
	nsx_writer_free(w);
	nsx_reader_close(r);
	if (rc == NSX_OK)
		return slurp(fd);
	close(fd);
	return (struct bytes){ NULL, 0 };
}

/* The same as text, record by record. */
static struct bytes
plain(struct bytes b, unsigned how, struct nsx_err *err)
{
	int fd = nsx_tmpfile(err), rc;
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", false, 0, err);
	struct nsx_rec rec;

	for (int i = 0; i < COLUMNS; i++)
		nsx_reader_add_column(r, columns[i].kind, nsx_kind_builtin(columns[i].kind)->cols[columns[i].slot].name,
		                      'i');
	nsx_writer_follow(w, r);
	while ((rc = nsx_read(r, &rec)) == NSX_OK) {
		struct fate f = fate_of(nsx_reader_records(r), how);

		for (int i = 0; i < COLUMNS; i++) {
			if (rec.kind->id != columns[i].kind)
				continue;
			int64_t value = f.value != NSX_ABSENT ? f.value : columns[i].otherwise;
			if (value == NSX_ABSENT)
				nsx_clear(&rec, columns[i].slot);
			else
				nsx_set_i(&rec, columns[i].slot, value);
		}
		if (f.kept && (rc = nsx_write(w, &rec)) != NSX_OK)
			break;
	}
	return filtered(r, w, fd, rc);
}

static void
draw_look(uint64_t *look)
{
	for (int k = 0; k <= NSX_NKINDS; k++)
		look[k] = draw() % 3 ? draw() & draw() & draw() : 0;
}

static void
ways(void)
{
	static const size_t holds[] = { 64 << 20, 100000, 0 };
	uint64_t look[NSX_NKINDS + 1];
	struct nsx_err err = { "" };

	for (int made = 0; made < MADE; made++) {
		fill((enum made)made, 4 * ROWS);
		struct bytes b = write_kept(1);

		for (unsigned how = 0; how < 8; how += made == RANDOM ? 1 : 3) {
			err.msg[0] = '\0';
			draw_look(look);
			struct bytes got = deferred(b, 1, how, look, holds[how % 3], &err), want = plain(b, how, &err);
			struct bytes text = convert(got, 0), again = deferred(got, 1, how & ~1U, look, 0, &err);

			ok(got.p && equal(text, want), "%s, way %u: %s", made_names[made], how, err.msg);
			/* Without a record that is dropped the numbers of records are the same. Blocks in which a
			 * column refers to one that is set are encoded anew, so that it no longer does: the next time
			 * the bytes are the same, and at once where no column refers to another. */
			if (!(how & 1)) {
				struct bytes third = deferred(again, 1, how, look, 0, &err), later = convert(again, 0);
				ok(equal(later, text), "%s, way %u, twice: the same records", made_names[made], how);
				ok(equal(third, again), "%s, way %u, thrice: the same bytes", made_names[made], how);
				if (made == EMPTY || made == ONE_KIND)
					ok(equal(again, got), "%s, way %u, twice: the same bytes", made_names[made], how);
				free(third.p);
				free(later.p);
			}
			free(got.p);
			free(want.p);
			free(text.p);
			free(again.p);
		}
		free(b.p);
		forget();
	}
}

/* From and to every form, and a header that lacks the columns. */
static void
other_forms(void)
{
	uint64_t look[NSX_NKINDS + 1];
	struct nsx_err err = { "" };

	fill(RANDOM, 3 * ROWS);
	for (int from = 0; from < FORMS; from++) {
		struct bytes b = write_kept(from), want = plain(b, 2, &err);

		for (int to = 0; to < FORMS; to++) {
			draw_look(look);
			struct bytes got = deferred(b, to, 2, look, 1000, &err), text = convert(got, 0);

			ok(equal(text, want), "%s to %s", forms[from].name, forms[to].name);
			free(got.p);
			free(text.p);
		}
		free(b.p);
		free(want.p);
	}
	forget();
	struct nsx_kind *k = make_kind("thunk", "iisi");
	static const struct nsx_col cols[] = { { "start", 'i', NULL, NULL }, { "mine", 'i', NULL, NULL },
		{ "name", 's', NULL, NULL }, { "dur", 'i', NULL, NULL } };
	k->cols = cols;
	for (int i = 0; i < 3 * ROWS; i++)
		random_record(k, 7);
	struct bytes b = write_kept(1), want = plain(b, 2, &err);
	memset(look, 0, sizeof look);
	struct bytes got = deferred(b, 1, 2, look, 1000, &err), text = convert(got, 0);
	ok(got.p && equal(text, want), "a header without the column: %s", err.msg);
	free(b.p);
	free(want.p);
	free(got.p);
	free(text.p);
	forget();
}

static void
damage(void)
{
	uint64_t look[NSX_NKINDS + 1] = { 0 };
	int refused = 0, passed = 0, differ = 0;

	fill(RANDOM, 3 * ROWS);
	struct bytes b = write_kept(1);
	for (int i = 0; i < 200; i++) {
		struct nsx_err err = { "" }, want_err = { "" };
		size_t at = b.n / 2 + draw() % (b.n / 2);
		char was = b.p[at];

		b.p[at] = (char)(b.p[at] ^ 1 << draw() % 8);
		struct bytes got = deferred(b, 1, 2, look, 1000, &err), want = plain(b, 2, &want_err);
		struct bytes text = got.p ? convert(got, 0) : got;
		if (!got.p != !want.p || (got.p && !equal(text, want)))
			differ++;
		refused += !got.p;
		passed += got.p != NULL;
		if (got.p)
			free(text.p);
		free(got.p);
		free(want.p);
		b.p[at] = was;
	}
	ok(!differ, "damaged streams, %d of which are refused, %d not: %d differ", refused, passed, differ);
	ok(refused > 5 && passed > 5, "%d are refused, %d are not", refused, passed);
	free(b.p);
	forget();
}

int
main(void)
{
	ways();
	other_forms();
	damage();
	free(dues.p);
	return done();
}
