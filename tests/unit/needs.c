/* needs.c -- a reader with needed columns gives exactly these, equal to those of the whole stream, also where columns
 * depend on others; other records are counted, and a stream that is cut or has a wrong count is detected. */
#include "records.h"

enum { KINDS = 6 };

/* The needs of a reader; value: one more than the slot that needed records have, 0: any record is needed. */
struct ask { bool asked[NSX_NKINDS + 1]; uint64_t need[NSX_NKINDS + 1]; int value[NSX_NKINDS + 1]; bool values; };

/* A record as streams have them: times that go on, numbers that follow one another, names that begin alike. */
static void
likely_record(const struct nsx_kind *k, int64_t n)
{
	struct nsx_rec rec = new_record(k);
	char name[64];

	for (int i = 0; i < k->nslots; i++) {
		if (draw() % 16 == 0 && strcmp(k->cols[i].name, "start") != 0)
			continue;
		if (k->cols[i].type == 'i') {
			nsx_set_i(&rec, i, i % 4 == 0 ? n * 1000 : i % 4 == 1 ? n * 1000 + (int64_t)(draw() % 7)
			                   : i % 4 == 2 ? n % 3 : (int64_t)(draw() % 500));
		} else if (k->cols[i].type == 'f') {
			nsx_set_f(&rec, i, (double)(n % 10) / 4);
		} else {
			snprintf(name, sizeof name, "aten::%s%d, seq = %d", i % 2 ? "add" : "mul", i,
			         (int)(draw() % 300));
			nsx_set_s(&rec, i, nsx_arena_str(&memory, nsx_str_c(name)));
		}
	}
	keep(&rec);
}

static void
tell(struct nsx_reader *r, const struct ask *a)
{
	for (int k = 0; k <= NSX_NKINDS; k++)
		if (a->asked[k]) {
			nsx_reader_need(r, (enum nsx_kind_id)k, a->need[k]);
			if (a->value[k])
				nsx_reader_need_value(r, (enum nsx_kind_id)k, a->value[k] - 1);
		}
}

/* Whether a record is skipped; `lacking` counts those that lack their value. */
static bool
is_skipped(const struct kept *k, const struct ask *a, int64_t *lacking)
{
	enum nsx_kind_id id = k->kind->id;

	if (!a->asked[id])
		return true;
	if (!a->value[id] || k->has >> (a->value[id] - 1) & 1)
		return false;
	++*lacking;
	return true;
}

/* The record has the needed columns of the one that was kept, and no others. */
static bool
same_part(const struct nsx_rec *rec, const struct kept *k, uint64_t need)
{
	if (strcmp(rec->kind->name, k->kind->name) != 0)
		return false;
	for (int i = 0; i < k->kind->nslots; i++) {
		int to = nsx_kind_slot(rec->kind, nsx_str_c(k->kind->cols[i].name));
		bool want = k->has >> i & 1 && (need == NSX_EVERY || (k->kind->id != NSX_NKINDS && need >> to & 1));

		if ((rec->has >> to & 1) != want || (want && !same_value(k->kind->cols[i].type, k->v[i], rec->v[to])))
			return false;
	}
	return true;
}

/* Reading b with these needs gives exactly the needed columns of the records that were kept. */
static bool
gives(struct bytes b, const struct ask *a)
{
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, &err);
	struct nsx_rec rec;
	int64_t lacking = 0, told = 0;
	size_t n = 0;
	int rc;

	tell(r, a);
	while ((rc = nsx_read(r, &rec)) == NSX_OK) {
		while (n < kept.n && is_skipped(&kept.p[n], a, &lacking))
			n++;
		if (n == kept.n || (!a->values && nsx_reader_records(r) != (int64_t)n + 1)
		    || !same_part(&rec, &kept.p[n], a->need[kept.p[n].kind->id]))
			break;
		n++;
	}
	while (n < kept.n && is_skipped(&kept.p[n], a, &lacking))
		n++;
	for (int k = 0; k < NSX_NKINDS; k++)
		told += nsx_reader_lacking(r, (enum nsx_kind_id)k);
	bool good = rc == NSX_EOF && n == kept.n && told == lacking && nsx_reader_records(r) == (int64_t)kept.n;
	if (!good)
		printf("# record %zu of %zu: %s\n", n, kept.n, rc == NSX_ERR ? err.msg : "differs");
	nsx_reader_close(r);
	return good;
}

static void
fill(int n, bool likely)
{
	const struct nsx_kind *kinds[KINDS] = {
		nsx_kind_builtin(NSX_RANGE), nsx_kind_builtin(NSX_OP), nsx_kind_builtin(NSX_THUNK),
		nsx_kind_builtin(NSX_DIAG), make_kind("own", "isfis"), nsx_kind_builtin(NSX_CALL),
	};

	for (int i = 0; i < n; i++) {
		const struct nsx_kind *k = kinds[draw() % 3 ? draw() % 2 : draw() % KINDS];

		if (likely)
			likely_record(k, i);
		else
			random_record(k, 1 + (unsigned)(draw() % 8));
	}
}

/* What every reader reads of diags: one of them says that nothing is steady. */
#define ALWAYS (NSX_C(DIAG, source) | NSX_C(DIAG, text))

static struct ask
random_ask(void)
{
	struct ask a = { .asked = { false } };

	for (int k = 0; k <= NSX_NKINDS; k++) {
		a.asked[k] = draw() % 2;
		a.need[k] = !a.asked[k] || draw() % 8 == 0 ? 0 : draw() % 4 == 0 ? NSX_EVERY : draw() & draw() & draw();
	}
	a.asked[NSX_DIAG] = true;   /* at least one kind */
	a.need[NSX_DIAG] |= ALWAYS;
	return a;
}

/* The same, of records that have a certain value alone. */
static struct ask
random_values(void)
{
	struct ask a = random_ask();

	a.values = true;
	for (int k = 0; k < NSX_NKINDS; k++) {
		int slot = (int)(draw() % (unsigned)nsx_kind_builtin((enum nsx_kind_id)k)->nslots);

		if (a.asked[k] && draw() % 4) {
			a.value[k] = slot + 1;
			a.need[k] |= 1ULL << slot;
		}
	}
	return a;
}

static void
parts(void)
{
	for (int round = 0; round < 4; round++) {
		fill(round < 2 ? 2000 : 12000, round % 2 == 0);
		for (int form = 0; form < FORMS; form++) {
			struct bytes b = write_kept(form);
			struct ask none = { .asked = { [NSX_DIAG] = true }, .need = { [NSX_DIAG] = ALWAYS } }, all = { .asked = { false } };
			bool good = true;

			for (int k = 0; k <= NSX_NKINDS; k++) {
				all.asked[k] = true;
				all.need[k] = NSX_EVERY;
			}
			for (int i = 0; i < 12 && good; i++) {
				struct ask a = random_ask();

				good = gives(b, &a);
			}
			ok(good, "round %d, %s: needed columns", round, forms[form].name);
			for (int i = 0; i < 24 && good; i++) {
				struct ask a = random_values();

				good = gives(b, &a);
			}
			ok(good, "round %d, %s: records with a needed value", round, forms[form].name);
			ok(gives(b, &all), "round %d, %s: everything", round, forms[form].name);
			ok(gives(b, &none), "round %d, %s: one kind, no columns", round, forms[form].name);
			free(b.p);
		}
		forget();
	}
}

/* Read to the end with only diags needed; the error is in err. */
static int
count(struct bytes b, unsigned flags, struct nsx_err *err)
{
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", flags, err);
	struct nsx_rec rec;
	int rc;

	nsx_reader_need(r, NSX_DIAG, 0);
	while ((rc = nsx_read(r, &rec)) == NSX_OK)
		;
	nsx_reader_close(r);
	return rc;
}

/* Records that are not needed are cut, have a wrong count, or are damaged; cuts and counts are detected, and nothing
 * crashes. */
static void
damage(void)
{
	struct nsx_err err = { "" };

	fill(20000, true);
	struct bytes b = write_kept(1);
	int cut = 0, wrong = 0;

	for (int i = 0; i < 100; i++) {
		struct bytes part = { b.p, 1 + draw() % (b.n - 1) };

		cut += count(part, 0, &err) == NSX_ERR;
	}
	is_int(cut, 100, "a cut is detected in records that are not needed");
	ok(count(b, 0, &err) == NSX_EOF, "the whole is not");
	/* The last byte is the number of records, of which there are 20000: a varint of three bytes. */
	b.p[b.n - 1] ^= 1;
	err.msg[0] = '\0';
	wrong = count(b, 0, &err);
	ok(wrong == NSX_ERR && strstr(err.msg, "but its end counts"), "records that nobody asks for are counted: %s",
	   err.msg);
	b.p[b.n - 1] ^= 1;
	for (int i = 0; i < 400; i++) {
		size_t at = draw() % b.n;
		char was = b.p[at];
		struct ask a = i % 2 ? random_values() : random_ask();
		struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, &err);
		struct nsx_rec rec;
		volatile char sink = 0;

		b.p[at] ^= (char)(1 + draw() % 255);
		tell(r, &a);
		while (nsx_read(r, &rec) == NSX_OK)
			for (int c = 0; c < rec.kind->nslots; c++)
				if (rec.has >> c & 1 && rec.kind->cols[c].type == 's')
					sink = sink ^ rec.v[c].s.ptr[0] ^ rec.v[c].s.ptr[rec.v[c].s.len - 1];
		nsx_reader_close(r);
		b.p[at] = was;
	}
	ok(true, "a damaged byte causes no crash");
	free(b.p);
	forget();
}

/* Whether the stream of that text is valid with ranges and operations needed, without columns. */
static int
ordered(const char *text, struct nsx_err *err)
{
	struct nsx_reader *r = nsx_reader_mem(text, strlen(text), "test", NSX_READ_ORDERED, err);
	struct nsx_rec rec;
	int rc;

	nsx_reader_need(r, NSX_OP, 0);
	nsx_reader_need(r, NSX_RANGE, 0);
	while ((rc = nsx_read(r, &rec)) == NSX_OK)
		;
	nsx_reader_close(r);
	return rc;
}

/* The order is checked for records that are read, with columns that are not needed. */
static void
order(void)
{
	struct nsx_err err = { "" };
#define HEAD "#nsysx\t2\n#op\tstart:i\n#range\tstart:i\thost_start:i\n#call\tstart:i\n"

	is_int(ordered(HEAD "op\t5\nop\t4\nend\n#end\n", &err), NSX_ERR, "operations out of order: %s", err.msg);
	err.msg[0] = '\0';
	is_int(ordered(HEAD "op\t5\nrange\t9\t3\n#end\trecords:i\nend\t2\n", &err), NSX_ERR,
	       "a range out of order: %s", err.msg);
	is_int(ordered(HEAD "op\t5\ncall\t4\nop\t6\n#end\trecords:i\nend\t3\n", &err), NSX_EOF,
	       "a call that nobody asks for");
}

int
main(void)
{
	parts();
	damage();
	order();
	return done();
}
