/* stream.c -- records written and read back, by every encoding, are the records that were written. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "stream/spool.h"
#include "records.h"

/* The text is somewhere in it. */
static bool
holds(struct bytes b, const char *text)
{
	for (size_t i = 0, n = strlen(text); i + n <= b.n; i++)
		if (memcmp(b.p + i, text, n) == 0)
			return true;
	return false;
}

/* Every form can be read, and converting between forms gives the same bytes. */
static void
round_trips(const char *what)
{
	struct bytes made[FORMS];

	for (int f = 0; f < FORMS; f++) {
		made[f] = write_kept(f);
		ok(reads_back(made[f]), "%s: %s reads back", what, forms[f].name);
	}
	for (int f = 0; f < FORMS; f++)
		for (int g = 0; g < FORMS; g++) {
			struct bytes b = convert(made[f], g);

			ok(equal(b, made[g]), "%s: %s from %s is the same bytes", what, forms[g].name, forms[f].name);
			free(b.p);
		}
	for (int f = 0; f < FORMS; f++)
		free(made[f].p);
	forget();
}

/* Read text to its end: the message, "" if it ends well. */
static const char *
message(const char *text, unsigned flags)
{
	static struct nsx_err err;
	struct nsx_reader *r;
	struct nsx_rec rec;

	err.msg[0] = '\0';
	r = nsx_reader_mem(text, strlen(text), "f", flags, &err);
	while (nsx_read(r, &rec) == NSX_OK)
		;
	nsx_reader_close(r);
	return err.msg;
}

/* ---- the claims ---- */

static void
random_streams(void)
{
	for (int i = 0; i < 6; i++) {
		const struct nsx_kind *kinds[12];
		char what[40], name[16], types[NSX_MAX_COLS + 1];

		for (int k = 0; k < 6; k++)
			kinds[k] = nsx_kind_builtin((enum nsx_kind_id)(draw() % NSX_END));
		for (int k = 6; k < 12; k++) {
			size_t n = k == 6 ? NSX_MAX_COLS : draw() % 10;

			for (size_t c = 0; c < n; c++)
				types[c] = "ifs"[draw() % 3];
			types[n] = '\0';
			snprintf(name, sizeof name, "kind%d", k);
			kinds[k] = make_kind(name, types);
		}
		for (int n = 0; n < 3000; n++)
			random_record(kinds[draw() % 12], (unsigned)i * 2);
		snprintf(what, sizeof what, "random stream %d", i);
		round_trips(what);
	}
}

/* Like a profile: many devices, increasing times, names that follow from numbers. */
static void
long_stream(void)
{
	const struct nsx_kind *k = nsx_kind_builtin(NSX_THUNK);
	int64_t now = 1000000000, host[4] = { 0 };
	char name[40];

	for (int n = 0; n < 70000; n++) {
		struct nsx_rec rec = new_record(k);
		int64_t device = (int64_t)(draw() % 4), inst = n / 4 % 900;

		snprintf(name, sizeof name, "fusion.%" PRId64, inst);
		nsx_set_i(&rec, NSX_THUNK_profile, device / 2);
		nsx_set_i(&rec, NSX_THUNK_program, 3);
		nsx_set_i(&rec, NSX_THUNK_execution, n / 3600);
		nsx_set_i(&rec, NSX_THUNK_device, device);
		nsx_set_i(&rec, NSX_THUNK_inst, inst);
		nsx_set_s(&rec, NSX_THUNK_name, nsx_arena_str(&memory, nsx_str_c(name)));
		nsx_set_i(&rec, NSX_THUNK_start, now += (int64_t)(draw() % 5000));
		nsx_set_i(&rec, NSX_THUNK_dur, inst * 37 + (int64_t)(draw() % 16));
		nsx_set_i(&rec, NSX_THUNK_host_start, host[device] += 4000);
		nsx_set_i(&rec, NSX_THUNK_host_dur, 3000);
		if (n % 7 == 0)
			nsx_set_i(&rec, NSX_THUNK_hidden, n);
		keep(&rec);
	}
	round_trips("70,000 records");
}

static void
nans(void)
{
	static const uint64_t bits[] = { 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001 };
	const struct nsx_kind *k = make_kind("k", "f");

	for (int f = 0; f < FORMS; f++) {
		struct bytes first = { 0 };
		bool good = true;

		for (int i = 0; i < 3; i++) {
			struct nsx_rec rec = new_record(k);
			double nan;

			memcpy(&nan, &bits[i], sizeof nan);
			nsx_set_f(&rec, 0, nan);
			keep(&rec);
			struct bytes b = write_kept(f);
			kept.n = 0;
			good = good && (i == 0 || equal(b, first));
			free(first.p);
			first = b;
		}
		free(first.p);
		ok(good, "all NaNs are one in %s", forms[f].name);
	}
	forget();
}

static void
strings(void)
{
	const struct nsx_kind *k = make_kind("text", "s");
	static const char *const odd[] = {
		"\xc3\xa9", "\xc0\x80", "\xe0\x9f\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xe2\x82\xac", "a\xffz", "\\x41", "\\", "#nsysx", "end",
	};
	char pair[2];

	for (int a = 0; a < 256; a++)
		for (int n = 1; n <= 2; n++) {
			struct nsx_rec rec = new_record(k);

			pair[0] = pair[1] = (char)a;
			nsx_set_s(&rec, 0, nsx_arena_str(&memory, (struct nsx_str){ pair, (size_t)n }));
			keep(&rec);
		}
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		struct nsx_rec rec = new_record(k);

		nsx_set_s(&rec, 0, nsx_str_c(odd[i]));
		keep(&rec);
	}
	struct bytes text = write_kept(0);
	bool good = true;
	for (size_t i = 0; i < text.n; i++)
		good = good && ((unsigned char)text.p[i] >= 0x20 || text.p[i] == '\t' || text.p[i] == '\n') && text.p[i] != 0x7f;
	ok(good, "text holds no control character but tab and newline");
	text.p[text.n - 1] = '\0';
	ok(strstr(text.p, "\ntext\t\\x00\n") && strstr(text.p, "\ntext\t\\xFF\\xFF\n") && strstr(text.p, "\ntext\t\xc3\xa9\n")
	   && strstr(text.p, "\ntext\t\\xC0\\x80\n") && strstr(text.p, "\ntext\t\\xED\\xA0\\x80\n") && strstr(text.p, "\ntext\t\\t\n")
	   && strstr(text.p, "\ntext\t\\xF4\\x90\\x80\\x80\n") && strstr(text.p, "\ntext\t\\xE2\\x82\n")
	   && strstr(text.p, "\ntext\t\\xE0\\x9F\\xBF\n") && strstr(text.p, "\ntext\t\\xF0\\x8F\\xBF\\xBF\n") && strstr(text.p, "\ntext\t\xe0\xa0\x80\n") && strstr(text.p, "\ntext\t\xf4\x8f\xbf\xbf\n"),
	   "characters are unchanged, invalid bytes are written as \\xHH");
	free(text.p);
	round_trips("every byte");

	struct nsx_rec rec = new_record(k = make_kind("text", "si"));
	size_t n = 5 << 20;
	char *big = nsx_arena_alloc(&memory, n);
	for (size_t i = 0; i < n; i++)
		big[i] = (char)(i % 251 ? 'a' + i % 26 : i);
	nsx_set_s(&rec, 0, (struct nsx_str){ big, n });
	nsx_set_i(&rec, 1, 7);
	keep(&rec);
	rec = new_record(k);
	nsx_set_s(&rec, 0, (struct nsx_str){ big, n - 1 });
	keep(&rec);
	random_record(k, 8);
	round_trips("strings of five megabytes");
}

static void
many_kinds(void)
{
	char name[16];

	for (int i = 0; i < NSX_MAX_KINDS; i++) {
		snprintf(name, sizeof name, "k%d", i);
		random_record(make_kind(name, i % 2 ? "is" : ""), 6);
	}
	round_trips("a thousand kinds and end");

	struct nsx_err err = { "" };
	int fd = nsx_tmpfile(&err), rc = NSX_OK;
	struct nsx_writer *w = nsx_writer_fd(fd, "test", true, 0, &err);
	for (int i = 0; i <= NSX_MAX_KINDS && rc == NSX_OK; i++) {
		snprintf(name, sizeof name, "k%d", i);
		rc = nsx_writer_declare(w, make_kind(name, "i"));
	}
	is_int(rc, NSX_ERR, "a thousand kinds and one are refused");
	nsx_writer_free(w);
	close(fd);
	forget();
}

static void
headers(void)
{
	static const char text[] = "#nsysx\t2\n#range\tnew:s\tname:s\tstart:i\n#zebra\tx:i\nzebra\t1\n#thunk\tname:s\n#apple\nzebra\t\napple\n"
	                           "#late\ty:f\n#end\trecords:i\tmore:s\nend\t3\tlost\n";
	static const char want[] = "#nsysx\t2\n#range\tnew:s\tname:s\tstart:i\n#zebra\tx:i\nzebra\t1\n#thunk\tname:s\n#apple\nzebra\t\napple\n"
	                           "#late\ty:f\n#end\trecords:i\tmore:s\nend\t3\t\n";
	struct bytes from = { (char *)(uintptr_t)text, sizeof text - 1 }, to = { (char *)(uintptr_t)want, sizeof want - 1 };

	for (int f = 0; f < FORMS; f++) {
		struct bytes b = convert(from, f), back = convert(b, 0);

		ok(equal(back, to), "headers keep their places and columns through %s", forms[f].name);
		free(b.p);
		free(back.p);
	}
	struct bytes none = write_kept(0);
	ok(none.n == strlen("#nsysx\t2\n#end\trecords:i\nend\t0\n") && memcmp(none.p, "#nsysx\t2\n#end\trecords:i\nend\t0\n", none.n) == 0,
	   "a stream without records is its first line and its end");
	free(none.p);
	round_trips("no record");
}

static void
kinds(void)
{
	static const char text[] = "#nsysx\t2\n#thunk\tdur:i\tnew:f\tname:s\n"
	                           "#loc\tprogram:i\tinst:i\top_name:s\tstack:i\nthunk\t5\t0.5\tx\n#end\trecords:i\nend\t1\n";
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_mem(text, sizeof text - 1, "f", 0, &err);
	struct nsx_rec rec;
	int n;

	nsx_reader_add_column(r, NSX_THUNK, "hidden", 'i');
	nsx_reader_add_column(r, NSX_THUNK, "phase", 's');
	nsx_reader_add_column(r, NSX_THUNK, "name", 's');
	is_int(nsx_read(r, &rec), NSX_OK, "a record is read");
	is_int(rec.v[NSX_THUNK_dur].i, 5, "a known column is in its slot whatever the header's order");
	int fresh = nsx_kind_slot(rec.kind, NSX_STR("new")), phase = nsx_kind_slot(rec.kind, NSX_STR("phase"));
	is_int(fresh, nsx_kind_builtin(NSX_THUNK)->nslots, "an unknown column is behind the known ones");
	is_int(phase, fresh + 1, "an added one is behind that");
	ok(nsx_has(&rec, fresh) && rec.v[fresh].f == 0.5, "the unknown column has its value");
	ok(!nsx_has(&rec, phase) && !nsx_has(&rec, NSX_THUNK_hidden) && nsx_kind_has(rec.kind, phase) && nsx_kind_has(rec.kind, NSX_THUNK_hidden),
	   "added columns are there, without values");
	ok(!nsx_kind_has(rec.kind, NSX_THUNK_start), "a known column that the header lacks is not");
	const struct nsx_kind *const *met = nsx_reader_kinds(r, &n);
	ok(n == 2 && met[0] == rec.kind && met[1] == nsx_kind_builtin(NSX_LOC), "the built-in header gives the built-in kind");
	is_str(nsx_reader_where(r), "f:4", "a record has a position");

	int fd = nsx_tmpfile(&err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", false, 0, &err);
	nsx_writer_follow(w, r);
	nsx_set_i(&rec, NSX_THUNK_hidden, 3);
	nsx_set_s(&rec, phase, NSX_STR("late"));
	nsx_write(w, &rec);
	is_int(nsx_read(r, &rec), NSX_EOF, "the stream ends");
	is_int(nsx_writer_finish(w), NSX_OK, "the writer, too");
	nsx_writer_free(w);
	struct bytes b = slurp(fd);
	b.p[b.n - 1] = '\0';
	ok(strstr(b.p, "\n#thunk\tdur:i\tnew:f\tname:s\thidden:i\tphase:s\n") && strstr(b.p, "\nthunk\t5\t0.5\tx\t3\tlate\n"),
	   "added values are written after the stream's columns");
	free(b.p);
	nsx_reader_close(r);
}

/* Write one record of kind a, then one of kind b, after declaring a: the writer's message. */
static const char *
write_two(const struct nsx_kind *a, const struct nsx_kind *b, struct bytes *out)
{
	static struct nsx_err err;
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { b, 0, v };
	int fd;

	err.msg[0] = '\0';
	fd = nsx_tmpfile(&err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", false, 0, &err);
	nsx_writer_declare(w, a);
	for (int i = 0; i < b->ncols; i++)
		if (b->cols[i].type == 's')
			nsx_set_s(&rec, i, NSX_STR("s"));
		else
			nsx_set_i(&rec, i, i);
	if (nsx_write(w, &rec) == NSX_OK)
		nsx_writer_finish(w);
	nsx_writer_free(w);
	*out = slurp(fd);
	return err.msg;
}

static void
matching(void)
{
	struct nsx_kind *ab = make_kind("k", "is"), *ba = make_kind("k", "is"), *less = make_kind("k", "i"), *other = make_kind("k", "ss");
	struct nsx_col *cols = nsx_arena_alloc(&memory, 2 * sizeof *cols);
	struct bytes out;

	cols[0] = ab->cols[1];
	cols[1] = ab->cols[0];
	ba->cols = cols;
	is_str(write_two(ba, ab, &out), "", "a record of another order of columns is written");
	ok(holds(out, "\nk\ts\t0\n"), "by the names of its columns");
	free(out.p);
	is_str(write_two(ab, less, &out), "", "so is one with fewer columns");
	ok(holds(out, "\nk\t0\t\n"), "the others empty");
	free(out.p);
	is_str(write_two(less, ab, &out), "test: a value for column c1, which the header of k lacks", "a value without a column is an error");
	free(out.p);
	is_str(write_two(ab, other, &out), "test: column c0 of k has type i in the header, s in the record", "so is a column of another type");
	free(out.p);
	is_str(write_two(ab, nsx_kind_builtin(NSX_END), &out), "test: the end record is the writer's own", "so is a record of kind end");
	free(out.p);
	forget();
}

/* A kind of a reader may have the address of one that was freed. */
static void
reused_address(void)
{
	static const char *const texts[] = { "#nsysx\t2\n#k\ta:i\tb:i\nk\t1\t2\n#end\trecords:i\nend\t1\n",
	                                     "#nsysx\t2\n#k\tb:i\ta:i\nk\t2\t1\n#end\trecords:i\nend\t1\n" };
	struct nsx_err err = { "" };
	int fd = nsx_tmpfile(&err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", false, 0, &err);
	struct nsx_rec rec;

	for (int i = 0; i < 10; i++) {
		struct nsx_reader *r = nsx_reader_mem(texts[i % 2], strlen(texts[i % 2]), "f", 0, &err);

		if (nsx_read(r, &rec) == NSX_OK)
			nsx_write(w, &rec);
		nsx_reader_close(r);
	}
	nsx_writer_finish(w);
	nsx_writer_free(w);
	struct bytes b = slurp(fd);
	int good = 0;
	for (size_t i = 0; i + 6 <= b.n; i++)
		good += memcmp(b.p + i, "k\t1\t2\n", 6) == 0;
	is_int(good, 10, "ten streams of two headers: every value in its column");
	free(b.p);
}

#define HEAD "#nsysx\t2\n#end\trecords:i\n"
#define THUNK "#thunk\tprofile:i\tstart:i\n"
#define MODULE "#module\tstart:i\n"
#define COMPILE "#compile\tprofile:i\tstart:i\n"
#define RANGE "#range\tstart:i\thost_start:i\tname:s\n"
#define HOST "#call\tstart:i\n#overhead\tstart:i\n"

static void
order(void)
{
	is_str(message(HEAD "#profile\tprofile:i\n" COMPILE MODULE THUNK RANGE "#zebra\tx:i\n#skew\tdevice:i\nprofile\t0\nzebra\t1\ncompile\t0\t9\ncompile\t1\t3\nmodule\t5\n"
	               "range\t5\t\t\nrange\t7\t5\t\nrange\t5\t7\t\nrange\t\t5\t\nthunk\t0\t5\nthunk\t1\t5\nmodule\t6\nzebra\t0\nskew\t1\nskew\t1\nend\t15\n", NSX_READ_ORDERED), "",
	       "a stream in order is taken");
	is_str(message(HEAD THUNK MODULE "thunk\t0\t7\nmodule\t6\nend\t2\n", NSX_READ_ORDERED),
	       "f:6: out of order: module at 6 after thunk at 7; the program that wrote it must keep the order of nsysx-format(5)", "GPU records by start");
	is_str(message(HEAD THUNK MODULE "thunk\t0\t7\nmodule\t7\nend\t2\n", NSX_READ_ORDERED),
	       "f:6: out of order: module at 7 after thunk at 7; the program that wrote it must keep the order of nsysx-format(5)", "at one start by kind");
	is_str(message(HEAD COMPILE "compile\t1\t7\ncompile\t0\t8\nend\t2\n", NSX_READ_ORDERED),
	       "f:5: out of order: compile of profile 0 after one of 1; the program that wrote it must keep the order of nsysx-format(5)", "compile by profile");
	is_str(message(HEAD COMPILE "compile\t1\t7\ncompile\t1\t6\nend\t2\n", NSX_READ_ORDERED),
	       "f:5: out of order: compile at 6 after compile at 7; the program that wrote it must keep the order of nsysx-format(5)", "then by start");
	is_str(message(HEAD THUNK COMPILE "thunk\t0\t7\ncompile\t1\t8\nend\t2\n", NSX_READ_ORDERED),
	       "f:6: out of order: compile after thunk; the program that wrote it must keep the order of nsysx-format(5)", "compile before GPU records");
	is_str(message(HEAD RANGE "range\t\t6\tx\nrange\t5\t\tx\nend\t2\n", NSX_READ_ORDERED),
	       "f:5: out of order: range at 5 after range at 6; the program that wrote it must keep the order of nsysx-format(5)", "ranges by their time on the host or the GPU");
	is_str(message(HEAD RANGE "range\t9\t6\tx\nrange\t7\t5\tx\nend\t2\n", NSX_READ_ORDERED),
	       "f:5: out of order: range at 5 after range at 6; the program that wrote it must keep the order of nsysx-format(5)", "by the host's where that is the earlier");
	is_str(message(HEAD RANGE "range\t6\t9\tx\nrange\t5\t10\tx\nend\t2\n", NSX_READ_ORDERED),
	       "f:5: out of order: range at 5 after range at 6; the program that wrote it must keep the order of nsysx-format(5)", "by the GPU's where that is");
	is_str(message(HEAD RANGE THUNK "thunk\t0\t5\nrange\t5\t5\tx\nend\t2\n", NSX_READ_ORDERED),
	       "f:6: out of order: range at 5 after thunk at 5; the program that wrote it must keep the order of nsysx-format(5)", "a range before records with the same start");
	is_str(message(HEAD RANGE "range\t\t\tx\nend\t1\n", NSX_READ_ORDERED),
	       "f:4: range without a start cannot be ordered", "a range has one of two starts");
	is_str(message(HEAD HOST THUNK "call\t3\nthunk\t0\t4\noverhead\t5\ncall\t5\nthunk\t0\t5\nend\t5\n", NSX_READ_ORDERED), "",
	       "calls and overheads come before other records with the same time");
	is_str(message(HEAD HOST THUNK "thunk\t0\t4\ncall\t3\nend\t2\n", NSX_READ_ORDERED),
	       "f:7: out of order: call at 3 after thunk at 4; the program that wrote it must keep the order of nsysx-format(5)", "calls by the host's start");
	is_str(message(HEAD HOST "call\t3\noverhead\t3\nend\t2\n", NSX_READ_ORDERED),
	       "f:6: out of order: overhead at 3 after call at 3; the program that wrote it must keep the order of nsysx-format(5)", "overhead before calls");
	is_str(message(HEAD "#skew\tdevice:i\n" RANGE "skew\t0\nrange\t\t5\tx\nend\t2\n", NSX_READ_ORDERED),
	       "f:6: out of order: range after skew; the program that wrote it must keep the order of nsysx-format(5)", "ranges without GPU work before skews");
	is_str(message(HEAD THUNK "thunk\t0\t\nend\t1\n", NSX_READ_ORDERED), "f:4: thunk without a start cannot be ordered",
	       "a GPU record has a start");
	is_str(message(HEAD THUNK MODULE "thunk\t0\t7\nmodule\t6\nend\t2\n", 0), "", "records that are not needed are not checked");
}

static void
spool(void)
{
	struct nsx_err err = { "" };
	struct nsx_spool *s = nsx_spool_open(&err);
	struct nsx_rec rec;
	size_t n = 0;

	for (int i = 0; i < 20000; i++)
		random_record(nsx_kind_builtin(i % 3 ? NSX_THUNK : NSX_RANGE), 5);
	for (size_t i = 0; i < kept.n; i++)
		nsx_spool_write(s, &(struct nsx_rec){ kept.p[i].kind, kept.p[i].has, kept.p[i].v });
	is_int(nsx_spool_records(s), 20000, "a spool counts its records");
	struct nsx_reader *r = nsx_spool_reader(s);
	nsx_spool_free(s);
	while (r && nsx_read(r, &rec) == NSX_OK && n < kept.n && same_record(&rec, &kept.p[n]))
		n++;
	is_int((int64_t)n, 20000, "and gives them back");
	nsx_reader_close(r);
	forget();
}

static void
require(void)
{
	struct nsx_err err = { "" };
	int fd = nsx_tmpfile(&err);
	struct nsx_writer *w = nsx_writer_fd(fd, "test", false, 0, &err);

	nsx_writer_require(w, "thunk");
	nsx_writer_declare(w, nsx_kind_builtin(NSX_THUNK));
	is_int(nsx_writer_finish(w), NSX_ERR, "a required kind needs a record, not a header");
	is_str(err.msg, "test: no thunk record", "with that message");
	nsx_writer_free(w);
	close(fd);
}

static void
numbers(void)
{
	is_str(message(HEAD "#k\ti:i\tf:f\nk\t-9223372036854775808\tnan\nk\t9223372036854775807\t-inf\nk\t-0\t1e3\nk\t007\t.5\nend\t4\n", 0), "", "the limits of numbers are read");
	is_str(message(HEAD "#k\ti:i\nk\t9223372036854775808\nend\t1\n", 0), "f:4: k.i: want an integer of 64 bits, got \"9223372036854775808\"", "one more is refused");
	is_str(message(HEAD "#k\ti:i\nk\t-9223372036854775809\nend\t1\n", 0), "f:4: k.i: want an integer of 64 bits, got \"-9223372036854775809\"", "one less, too");
	is_str(message(HEAD "#k\ti:i\nk\t-\nend\t1\n", 0), "f:4: k.i: want an integer of 64 bits, got \"-\"", "a sign is no number");
	is_str(message(HEAD "#k\ti:i\nk\t12345678x\nend\t1\n", 0), "f:4: k.i: want an integer of 64 bits, got \"12345678x\"", "nor are digits and a letter");
	is_str(message(HEAD "#k\ti:i\nk\t1.5\nend\t1\n", 0), "f:4: k.i: want an integer of 64 bits, got \"1.5\"", "nor is a fraction an integer");
	is_str(message(HEAD "#k\tf:f\nk\t1e999x\nend\t1\n", 0), "f:4: k.f: want a number, got \"1e999x\"", "nor is any text a double");
}

int
main(void)
{
	random_streams();
	long_stream();
	nans();
	strings();
	many_kinds();
	headers();
	kinds();
	matching();
	reused_address();
	order();
	spool();
	require();
	numbers();
	nsx_arena_free(&memory);
	free(kept.p);
	return done();
}
