/* analysis.c -- one reading feeds several analyses: each gets records of its kinds, with what is found of them; of
 * windows only what starts in them; a common diag is counted once. */
#include "table/analysis.h"

#include <unistd.h>

#include "tap.h"

static const char stream[] =
	"#nsysx\t2\n#device\tdevice:i\tprofile:i\ndevice\t7\t0\n"
	"#op\tdevice:i\tstart:i\tdur:i\ttype:s\tcomm:i\n"
	"op\t7\t100\t10\tmemcpy\t\n"
	"op\t7\t200\t10\tkernel\t1\n"
	"op\t9\t250\t-5\tkernel\t\n"
	"op\t7\t4000000000000000000\t10\tkernel\t\n";

struct seen { int64_t records, ended, far, comm, copies, numbers, rows; uint32_t device; };

static int
begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	((struct seen *)state)->rows = *(const int *)options;
	at->cat->keep |= NSX_CAT_NAMES;
	return NSX_OK;
}

static void
need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
}

static int
take(void *state, const struct nsx_event *e)
{
	struct seen *s = state;

	s->records++;
	s->ended += e->end != NSX_ABSENT && e->reaches ? e->end : 0;
	s->far += !e->reaches;
	s->comm += e->communicates;
	s->copies += e->part == NSX_PART_COPY;
	s->numbers += e->number;
	s->device = e->device;
	return NSX_OK;
}

static int
finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	static const struct nsx_table_col cols[] = { { "n", NSX_CELL_INT } };
	const struct seen *s = state;

	nsx_diag_add(diags, NSX_WARNING, "", s->records, "records");
	if (table) {
		*table = nsx_table_new(cols, 1);
		nsx_table_row(*table);
		nsx_table_int(*table, 0, s->rows);
	}
	return NSX_OK;
}

static const struct nsx_analysis counts = { sizeof(struct seen), NSX_K(OP), true, begin, need, take, finish, NULL };
static const struct nsx_analysis theirs = { 0, NSX_K(OP), true, NULL, need, take, NULL, NULL };

static struct nsx_reader *
open_stream(struct nsx_err *err)
{
	FILE *f = tmpfile();

	fputs(stream, f);
	fflush(f);
	rewind(f);
	return nsx_reader_fd(dup(fileno(f)), "stream", NSX_READ_PARTIAL, err);
}

int
main(void)
{
	struct nsx_step_window window = { .number = 7, .from = 150, .to = 300, .steps = 1 };
	struct nsx_step_windows windows = { .list = { .p = &window, .n = 1 } };
	struct seen own = { .records = 0 };
	const int three = 3, four = 4;
	struct nsx_analysis_run runs[] = {
		{ .is = &counts, .options = &three }, { .is = &counts, .options = &four, .steps = true },
		{ .is = &theirs, .state = &own }, { .is = &counts, .options = &four, .sums = true }
	};
	struct nsx_analyses a = { .runs = runs, .n = 4, .windows = &windows };
	struct nsx_diags diags = { .failed = false };
	struct nsx_err err = { "" };
	struct nsx_reader *in = open_stream(&err);

	if (!ok(nsx_analyse(&a, in, "op", &diags, &err) == NSX_OK, "a reading of four analyses"))
		return done();
	const struct seen *all = runs[0].state, *in_steps = runs[1].state;

	is_int(all->records, 4, "all records");
	is_int(all->ended, 110 + 210, "ends, where there is a duration");
	is_int(all->far, 1, "times that are too large");
	is_int(all->comm, 1, "what communicates");
	is_int(all->copies, 1, "copies");
	is_int(all->numbers, 7 + 7 + 9 + 7, "numbers of devices");
	is_int(all->device, 0, "the index of the first device");
	is_int(in_steps->records, 1, "in windows: what starts there, of their device");
	is_int(own.records, 4, "a state of the caller's");
	is_int(diags.list.n, 1, "a common diag is one");
	is_int(diags.list.p[0].count, 4, "with the largest count");
	ok(runs[0].table && runs[1].table && !runs[2].table && !runs[3].table, "tables of those that make one");
	nsx_analyses_free(&a);
	nsx_reader_close(in);
	in = open_stream(&err);
	runs[0].is = &counts;
	a = (struct nsx_analyses){ .runs = runs, .n = 1 };
	ok(nsx_analyse(&a, in, "thunk", &diags, &err) == NSX_ERR, "a kind that the stream lacks");
	nsx_analyses_free(&a);
	nsx_reader_close(in);
	nsx_diags_free(&diags);
	return done();
}
