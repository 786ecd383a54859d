/* pipeline.c -- fuzz what follows extraction: any bytes as a stream through merge, warmup, align, overlap and
 * collectives, then into every table and fold. The output of each is accepted by the next; a refusal has a message. */
#include "bytes.h"
#include "tests/fuzz/listed.h"

#include "filter/align.h"
#include "table/bandwidth.h"
#include "filter/collectives.h"
#include "draw/fold.h"
#include "table/idle.h"
#include "table/measure.h"
#include "filter/merge.h"
#include "filter/overlap.h"
#include "table/diagnose.h"
#include "table/stragglers.h"
#include "table/summary.h"
#include "filter/warmup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FOLDS = NSX_FOLD_KERNEL + 1, SUMMARIES = NSX_SUMMARY_KERNEL + 1, SHOWS = NSX_STRAGGLERS_PAIRS + 1, MEASURES = NSX_MEASURE_LIST + 1,
	DIAGNOSES = NSX_DIAGNOSE_MARKDOWN + 1, IDLES = 4 * NSX_WINDOWS_GIVEN,
#define ONE(NAME, ...) + 1
	LISTED = 0 FUZZ_LISTED(ONE, ONE),
	TABLES = FOLDS + SUMMARIES + SHOWS + MEASURES + DIAGNOSES + IDLES + LISTED + 1
};

/* Outputs of filters: in binary they copy blocks without decoding them. */
static bool binary;

/* One filter at work, from one file to another. */
struct stage {
	const char        *from;
	struct nsx_err     err, read_err, write_err;
	struct nsx_diags   diags;
	struct nsx_reader *in;
	struct nsx_writer *out;
};

static void
begin(struct stage *s, const char *from, struct fuzz_file *to, bool follow)
{
	*s = (struct stage){ .from = from };
	fuzz_file_clear(to);
	s->in = nsx_reader_open(from, NSX_READ_ORDERED, &s->read_err);
	s->out = nsx_writer_fd(to->fd, "out", binary, 0, &s->write_err);
	fuzz_must(s->in && s->out);
	if (follow)
		nsx_writer_follow(s->out, s->in);
}

static bool
end(struct stage *s, int rc)
{
	/* Records that were read can be written. */
	fuzz_must(!s->write_err.msg[0]);
	fuzz_must(rc == NSX_OK || s->err.msg[0] || s->read_err.msg[0]);
	if (rc == NSX_OK)
		fuzz_must(nsx_writer_finish(s->out) == NSX_OK);
	nsx_writer_free(s->out);
	nsx_reader_close(s->in);
	nsx_diags_free(&s->diags);
	return rc == NSX_OK;
}

/* Records of the stream, of which ours are in order. */
static int64_t
count(const char *path, enum nsx_kind_id kind)
{
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_open(path, NSX_READ_ORDERED, &err);
	struct nsx_rec rec;
	int64_t n = 0;
	int rc;

	while ((rc = nsx_read(r, &rec)) == NSX_OK)
		n += rec.kind->id == kind;
	fuzz_must(rc == NSX_EOF);
	nsx_reader_close(r);
	return n;
}

static bool
merge(const char *from, struct fuzz_file *to)
{
	const char *const paths[] = { from };
	const struct nsx_merge_opts opts = { .match = NSX_MATCH_AUTO };
	struct stage s;

	begin(&s, from, to, false);
	return end(&s, nsx_merge(paths, 1, &opts, s.out, &s.diags, &s.err));
}

static bool
warmup(const char *from, struct fuzz_file *to, enum nsx_warmup_mode mode)
{
	struct stage s;

	begin(&s, from, to, true);
	return end(&s, nsx_warmup(s.in, s.out, mode, &s.diags, &s.err));
}

/* Every execution is in exactly one part. */
static bool
parts(const char *from, struct fuzz_file *steady, struct fuzz_file *init)
{
	if (!warmup(from, steady, NSX_WARMUP_STEADY))
		return false;
	int64_t n = count(steady->path, NSX_MODULE);
	fuzz_must(warmup(from, init, NSX_WARMUP_INIT));
	n += count(init->path, NSX_MODULE);
	fuzz_must(warmup(from, init, NSX_WARMUP_MARK));
	fuzz_must(n == count(from, NSX_MODULE) && n == count(init->path, NSX_MODULE));
	return true;
}

static bool
align(const char *from, struct fuzz_file *to, bool drift, size_t hold_bytes)
{
	const struct nsx_align_opts opts = { .drift = drift, .hold_bytes = hold_bytes };
	struct stage s;

	begin(&s, from, to, false);
	return end(&s, nsx_align(from, &opts, s.out, &s.diags, &s.err));
}

static bool
overlap(const char *from, struct fuzz_file *to, size_t hold_bytes)
{
	struct stage s;

	begin(&s, from, to, false);
	return end(&s, nsx_overlap(s.in, s.out, hold_bytes, &s.diags, &s.err));
}

static bool
collectives(const char *from, struct fuzz_file *to)
{
	struct stage s;

	begin(&s, from, to, true);
	return end(&s, nsx_collectives(s.in, s.out, 4096, &s.diags, &s.err));
}

/* Make one of the tables that tests/tools.list has. */
static int
listed(struct nsx_reader *in, int number, struct nsx_table **t, struct nsx_diags *diags, struct nsx_err *err)
{
#define TABLE(NAME, ...) if (number-- == 0) { \
		const struct nsx_##NAME##_options opts = { __VA_ARGS__ }; \
		return nsx_##NAME(in, &opts, t, diags, err); \
	}
#define ANALYSIS(NAME, ...) if (number-- == 0) { \
		const struct nsx_##NAME##_options opts = { __VA_ARGS__ }; \
		struct nsx_analysis_run run = { .is = &nsx_##NAME##_analysis, .options = &opts }; \
		return nsx_analyse_tables(&run, 1, in, NULL, t, diags, err); \
	}
	FUZZ_LISTED(TABLE, ANALYSIS)
	return NSX_ERR;
}

/* Make and print one of the tables. */
static void
table(const char *from, int number)
{
	struct nsx_err err = { "" }, read_err = { "" };
	struct nsx_diags diags = { 0 };
	struct nsx_reader *in = nsx_reader_open(from, NSX_READ_ORDERED, &read_err);
	struct nsx_outfile *out = nsx_outfile_open("/dev/null", &err);
	struct nsx_table *t = NULL;
	int rc;

	fuzz_must(in && out);
	if (number < SUMMARIES) {
		const struct nsx_summary_options opts = { .by = (enum nsx_summary_by)number, .cover = { 99, 100 } };
		rc = nsx_summaries(in, &(struct nsx_summaries_of){ &opts, 1 }, &t, &diags, &err);
	} else if ((number -= SUMMARIES) < SHOWS) {
		const struct nsx_stragglers_options opts = { (enum nsx_stragglers_show)number, NULL, NULL, NULL };
		rc = nsx_stragglers(in, &opts, &t, &diags, &err);
	} else if ((number -= SHOWS) < FOLDS) {
		const struct nsx_fold_options opts = { .by = (enum nsx_fold_by)number, .cover = { 99, 100 }, .names = (enum nsx_names)(number % 3), .exposed = number % 2 };
		rc = nsx_folds(in, &opts, 1, &out, &diags, &err);
	} else if ((number -= FOLDS) < MEASURES) {
		const struct nsx_measure_options opts = { .what = (enum nsx_measure_what)number, .module = number ? "jit_f" : NULL, .range = number ? NULL : "f" };
		rc = nsx_measure(in, &opts, &t, &diags, &err);
	} else if ((number -= MEASURES) < DIAGNOSES) {
		const struct nsx_diagnose_options opts = { .form = (enum nsx_diagnose_form)number, .min = 0, .step = number == 1 ? "f" : NULL };
		struct nsx_diagnosis diagnosis;

		rc = nsx_diagnose(in, &opts, &diagnosis, &diags, &err);
		if (rc == NSX_OK)
			nsx_diagnosis_free(&diagnosis);
	} else if ((number -= DIAGNOSES) < IDLES) {
		const struct nsx_idle_options opts = {
			.by = (enum nsx_windows_by)(number % NSX_WINDOWS_GIVEN), .form = (enum nsx_idle_form)(number / NSX_WINDOWS_GIVEN), .range = "f",
			.module = "jit_f", .every = 1 << 30, .latency = NSX_IDLE_LATENCY, .list = 3, .zeros = number % 2
		};

		rc = nsx_idle(in, &opts, out, &t, &diags, &err);
	} else if ((number -= IDLES) < LISTED) {
		rc = listed(in, number, &t, &diags, &err);
	} else {
		const struct nsx_bandwidth_options opts = { .by = NSX_BANDWIDTH_GROUP };

		rc = nsx_bandwidth(in, &opts, &t, &diags, &err);
	}
	fuzz_must(rc == NSX_OK || err.msg[0] || read_err.msg[0]);
	if (rc == NSX_OK && t)
		fuzz_must(nsx_table_write(t, number % 2 ? NSX_TABLE_ALIGNED : NSX_TABLE_TSV, 0, out, &err) == NSX_OK);
	nsx_table_free(t);
	nsx_outfile_free(out);
	nsx_reader_close(in);
	nsx_diags_free(&diags);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file given, file[5];
	const struct fuzz_file *at = &given;
	/* Random, but the same for the same input: files instead of memory, and drift. */
	unsigned chance = size ? data[size / 2] : 0;
	size_t hold_bytes = chance % 16 == 0 ? 0 : 1 << 20;

	fuzz_file_fill(&given, data, size);
	binary = chance % 4 && chance / 4 % 2;
	/* Tools that refuse the input are skipped. */
	if (merge(at->path, &file[0]))
		at = &file[0];
	if (chance % 4 == 0 ? parts(at->path, &file[1], &file[2]) : warmup(at->path, &file[1], NSX_WARMUP_STEADY))
		at = &file[1];
	if (align(at->path, &file[2], chance & 1, hold_bytes))
		at = &file[2];
	if (overlap(at->path, &file[3], hold_bytes))
		at = &file[3];
	if (collectives(at->path, &file[4]))
		at = &file[4];
	/* Some of the tables, or it takes long. */
	for (int i = 0; i < 3; i++)
		table(at->path, (int)((chance + (unsigned)i * 7) % TABLES));
	return 0;
}
