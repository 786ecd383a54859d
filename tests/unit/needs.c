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

/* Reading to the end, some kinds in runs. */
struct walk { const struct ask *ask; size_t at; int64_t lacking; size_t in_runs, like_others; };

static const struct kept *
next_kept(struct walk *w)
{
	while (w->at < kept.n && is_skipped(&kept.p[w->at], w->ask, &w->lacking))
		w->at++;
	return w->at < kept.n ? &kept.p[w->at++] : NULL;
}

static int
take_one(void *state, const struct nsx_rec *rec)
{
	struct walk *w = state;
	const struct kept *k = next_kept(w);

	return k && same_part(rec, k, w->ask->need[k->kind->id]) ? NSX_OK : NSX_ERR;
}

static struct nsx_str
without_digits(struct nsx_str s)
{
	while (s.len && s.ptr[s.len - 1] >= '0' && s.ptr[s.len - 1] <= '9')
		s.len--;
	return s;
}

/* The text is the one that was kept, and the first that is like it differs from it in digits at the end only, of which
 * both have some. */
static bool
same_text(struct walk *w, const struct nsx_run_texts *texts, int64_t number, struct nsx_str want)
{
	struct nsx_str text = nsx_text(texts, number), first = text;

	if (!text.ptr || number < 0 || (size_t)number >= texts->n || !nsx_str_eq(text, want))
		return false;
	if (!texts->first || texts->first[number] == number)
		return true;
	w->like_others++;
	first = nsx_text(texts, texts->first[number]);
	return texts->first[texts->first[number]] == texts->first[number]
	       && nsx_str_eq(without_digits(text), without_digits(first)) && without_digits(text).len < text.len
	       && without_digits(first).len < first.len;
}

static int
take_many(void *state, const struct nsx_run *run)
{
	struct walk *w = state;

	for (size_t i = run->from; i < run->end; i++) {
		const struct kept *k = next_kept(w);

		if (!k || k->kind->id != run->kind->id)
			return NSX_ERR;
		w->in_runs++;
		for (int slot = 0; slot < k->kind->nslots; slot++) {
			int64_t v = w->ask->need[k->kind->id] >> slot & 1 ? nsx_run_int(run, i, slot, NSX_ABSENT)
			            : run->v[slot][i];
			bool want = k->has >> slot & 1 && w->ask->need[k->kind->id] >> slot & 1;

			if (want && k->kind->cols[slot].type == 's' ? !same_text(w, &run->texts, v, k->v[slot].s)
			    : v != (want ? k->v[slot].i : NSX_ABSENT))
				return NSX_ERR;
		}
	}
	return NSX_OK;
}

/* Reading b with these needs gives the same if some kinds come in runs; *like: texts that are like others. */
static bool
gives_runs(struct bytes b, const struct ask *a, size_t *in_runs, size_t *like)
{
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_mem(b.p, b.n, "test", 0, &err);
	struct walk w = { .ask = a };

	tell(r, a);
	nsx_reader_runs(r, &(struct nsx_run_kinds){ draw() & ~(UINT64_C(1) << NSX_DIAG), draw(), take_many });
	int rc = nsx_read_all(r, NULL, take_one, &w, &err);
	bool good = rc == NSX_OK && !next_kept(&w) && nsx_reader_records(r) == (int64_t)kept.n;

	for (int k = 0; k < NSX_NKINDS; k++)
		w.lacking -= nsx_reader_lacking(r, (enum nsx_kind_id)k);
	if (!good || w.lacking)
		printf("# record %zu of %zu: %s\n", w.at, kept.n, err.msg[0] ? err.msg : "differs");
	*in_runs += w.in_runs;
	*like += w.like_others;
	nsx_reader_close(r);
	return good && !w.lacking;
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
			size_t in_runs = 0, like = 0;

			for (int i = 0; i < 24 && good; i++) {
				struct ask a = i % 2 ? random_values() : random_ask();

				good = gives_runs(b, &a, &in_runs, &like);
			}
			ok(good, "round %d, %s: in runs", round, forms[form].name);
			ok((in_runs > 0) == forms[form].binary, "round %d, %s: %zu records in runs", round, forms[form].name,
			   in_runs);
			ok(round % 2 || (like > 0) == forms[form].binary, "round %d, %s: %zu texts that are like others",
			   round, forms[form].name, like);
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

static int
use_none(void *state, const struct nsx_rec *rec)
{
	(void)state;
	return rec->kind ? NSX_OK : NSX_ERR;
}

/* Read all values and texts of a run. */
static int
use_texts(void *state, const struct nsx_run *run)
{
	volatile char *sink = state;

	for (size_t i = run->from; i < run->end; i++)
		for (int slot = 0; slot < run->kind->nslots; slot++) {
			int64_t v = run->v[slot][i];

			if (v == NSX_ABSENT || run->kind->cols[slot].type != 's')
				continue;
			struct nsx_str text = nsx_text(&run->texts, v);
			struct nsx_str first = nsx_text(&run->texts, run->texts.first ? run->texts.first[v] : v);

			*sink = (char)(*sink ^ text.ptr[text.len - 1] ^ first.ptr[0]);
		}
	return NSX_OK;
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
		if (draw() % 2) {
			nsx_reader_runs(r, &(struct nsx_run_kinds){ draw(), draw(), use_texts });
			nsx_read_all(r, NULL, use_none, (void *)&sink, &err);
		}
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
