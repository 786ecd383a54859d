/* nsysx-view -- a stream in the other encoding, some of its kinds, or one kind as a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/near.h"
#include "base/num.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/vec.h"
#include "filter/through.h"
#include "stream/fields.h"
#include "stream/pass.h"
#include "table/database.h"
#include "tool.h"

static const char *keep, *table, *times, *database, *indices, *filters;
static bool schema;

static const struct nsx_opt opts[] = {
	NSX_OPT_STR('k', "kinds", &keep, "KIND,...", "keep only these kinds"),
	NSX_OPT_STR('t', "table", &table, "KIND,...",
		"print this kind as a plain table with a row of column names; for several, % in -o stands for the "
		"kind"),
	NSX_OPT_STR(0, "time", &times, "A:B,...", "with --table: only records that overlap the time from A to B"),
	NSX_TOOL_TSV,
	NSX_OPT_FLAG(0, "aligned", &nsx_tool_table.aligned,
	             "print aligned columns, integers in full [if a terminal reads it]"),
	NSX_TOOL_JSON_CSV,
	NSX_TOOL_ONLY,
	NSX_TOOL_TOP,
	NSX_TOOL_WIDE,
	NSX_OPT_STR(0, "sqlite", &database, "FILE",
		"write an SQLite database instead: of each kind a table and a view"),
	NSX_OPT_STR(0, "index", &indices, "KIND.COLUMN,...", "with --sqlite: columns that get an index"),
	NSX_OPT_STR(0, "through", &filters, "FILTER,...", "the stream as these filters leave it, one after the other"),
	NSX_OPT_FLAG(0, "schema", &schema, "print every kind and column with unit and meaning, and exit"),
	NSX_TOOL_OUTPUT,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-view",
	"[-b] [-z[LEVEL]] [-k KIND,... | -t KIND,... [--tsv | --aligned | --json | --csv] [--time A:B] "
	"[--only COLUMN=TEXT] [--top N] [--wide] | --sqlite FILE [--index KIND.COLUMN,...] | --through FILTER,...] "
	"[-o FILE] [FILE]",
                                    "Convert a stream between text and binary, select kinds, print some as tables.",
                                    opts };

/* The requested kinds, and how many of the requested records each had; some: it had any. Records are written to `out`,
 * or kept in `shown` where columns are to be aligned. */
struct wanted {
	struct nsx_str     name;
	int64_t            records;
	bool               some;
	struct nsx_writer *out;
	struct nsx_table  *shown;                 /* NULL until columns are known */
	struct nsx_table_col cols[NSX_MAX_COLS];
	int                ncols;
};
static struct wanted *wanted;
static size_t nwanted;
static struct nsx_diags alike;    /* diags that are shown, of which those of many reports become one */

/* The requested times, in ns. */
struct span { int64_t from, to; };
static NSX_VEC(struct span) spans;

static void
want_times(const char *list)
{
	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		size_t len = strcspn(p, ","), a = strcspn(p, ":");
		char *from = nsx_str_dup((struct nsx_str){ p, a < len ? a : 0 });
		char *to = nsx_str_dup((struct nsx_str){ p + a + 1, a < len ? len - a - 1 : 0 });
		int64_t x = INT64_MIN, y = INT64_MAX;

		if (!from || !to)
			nsx_cli_die(&cli, "out of memory");
		if (a >= len || (*from && !nsx_time_parse(from, &x)) || (*to && !nsx_time_parse(to, &y)) || x >= y)
			nsx_cli_misuse(&cli, "--time: want A:B with A before B, such as 10s:20s, got \"%s\"", list);
		free(from);
		free(to);
		if (!nsx_vec_push(&spans, ((struct span){ x, y })))
			nsx_cli_die(&cli, "out of memory");
	}
}

/* Whether a record has a time, and is in none of the requested windows. */
static bool
is_outside(const struct nsx_rec *rec)
{
	int64_t start, end;

	if (!spans.n || !nsx_field_has(rec, NSX_ROLE_START))
		return false;
	start = nsx_field_int(rec, NSX_ROLE_START, 0);
	end = nsx_add_sat(start, nsx_field_int(rec, NSX_ROLE_DUR, 0), NULL);
	for (size_t i = 0; i < spans.n; i++)
		if (start < spans.p[i].to && (end > spans.p[i].from || start >= spans.p[i].from))
			return false;
	return true;
}

/* Records of that kind have no such column. */
static void
misuse_column(const struct nsx_kind *k, struct nsx_str column)
{
	struct nsx_near near = { .want = column };

	for (int i = 0; i < k->ncols; i++)
		nsx_near_offer(&near, nsx_str_c(k->cols[i].name));
	nsx_cli_misuse(&cli, "--only: %s records have no column %.*s%s", k->name, (int)column.len, column.ptr,
	               nsx_near_hint(&near).text);
}

/* Whether a record satisfies --only; its values are compared in the form in which a table shows them. */
static bool
is_wanted(const struct nsx_rec *rec)
{
	static struct nsx_buf text;

	for (size_t i = 0; i < nsx_tool_rows.tests.n; i++) {
		const struct nsx_only_test *test = &nsx_tool_rows.tests.p[i];
		int slot = nsx_kind_slot(rec->kind, test->column);
		char number[NSX_DOUBLE_CHARS], *end = number;

		text.len = 0;
		if (slot < 0)
			misuse_column(rec->kind, test->column);
		if (!nsx_has(rec, slot))
			;
		else if (rec->kind->cols[slot].type == 's')
			nsx_buf_str(&text, rec->v[slot].s);
		else if (rec->kind->cols[slot].type == 'f')
			end = nsx_put_double(number, rec->v[slot].f);
		else
			end = nsx_put_int(number, rec->v[slot].i);
		nsx_buf_add(&text, number, (size_t)(end - number));
		nsx_buf_char(&text, '\0');
		if (text.failed)
			nsx_cli_die(&cli, "out of memory");
		if (!nsx_only_holds(test, (struct nsx_str){ text.ptr, text.len - 1 }))
			return false;
	}
	return true;
}

static void
want(const char *list)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");

		if (len == 0)
			nsx_cli_misuse(&cli, "want names of kinds, got \"%s\"", list);
		struct wanted *more = realloc(wanted, (nwanted + 1) * sizeof *wanted);
		if (!more)
			nsx_cli_die(&cli, "out of memory");
		wanted = more;
		wanted[nwanted++] = (struct wanted){ .name = { p, len } };
		p += len;
		if (!*p)
			return;
	}
}

static struct wanted *
find(const struct nsx_kind *k)
{
	for (size_t i = 0; i < nwanted; i++)
		if (nsx_str_eq(wanted[i].name, nsx_str_c(k->name)))
			return &wanted[i];
	return NULL;
}

/* Blocks of binary streams are checked, and copied unchanged. */
static int
copy_all(struct nsx_tool *t)
{
	static const uint64_t none[NSX_NKINDS + 1];
	struct nsx_pass *pass = nsx_pass_new(t->in, t->out, &t->err);
	struct nsx_rec rec;
	int rc = pass ? nsx_pass_read(pass, &rec) : NSX_ERR;

	/* The encoding of the input is known with its first record. */
	if (rc == NSX_OK)
		nsx_pass_look(pass, none);
	while (rc == NSX_OK && (rc = nsx_pass_on(pass, &rec)) == NSX_OK)
		rc = nsx_pass_read(pass, &rec);
	nsx_pass_free(pass);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* The columns in the order of the header of k; numbers have no units. False when out of memory. */
static bool
show_columns(struct wanted *to, const struct nsx_kind *k)
{
	for (int i = 0; i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];

		to->cols[i].name = c->name;
		to->cols[i].type = c->type == 's' ? NSX_CELL_STRING : c->type == 'f' ? NSX_CELL_DOUBLE : NSX_CELL_INT;
	}
	to->ncols = k->ncols;
	to->shown = nsx_table_new_copy(to->cols, to->ncols);
	if (strcmp(k->name, "diag") == 0 && nsx_kind_slot(k, NSX_STR("text")) >= 0)
		nsx_table_below(to->shown, "text");
	return to->shown != NULL;
}

/* Keep a diag until all are known. False: it is of a severity that this version does not know, and shown as it is. */
static bool
keep_diag(const struct nsx_rec *rec)
{
	struct nsx_str source = nsx_string(rec, NSX_DIAG_source), text = nsx_string(rec, NSX_DIAG_text);
	enum nsx_severity severity;

	if (!nsx_severity_of(nsx_string(rec, NSX_DIAG_severity), &severity))
		return false;
	char *name = nsx_str_dup(source);
	nsx_diag_add(&alike, severity, name, nsx_int(rec, NSX_DIAG_count, 1), "%.*s", (int)text.len, text.ptr);
	alike.failed |= !name;
	free(name);
	return true;
}

static void
show_record(struct wanted *to, const struct nsx_rec *rec)
{
	nsx_table_row(to->shown);
	for (int i = 0; i < to->ncols; i++) {
		int slot = nsx_kind_slot(rec->kind, nsx_str_c(to->cols[i].name));

		if (slot < 0 || !nsx_has(rec, slot))
			continue;
		if (to->cols[i].type == NSX_CELL_STRING)
			nsx_table_str(to->shown, i, rec->v[slot].s);
		else if (to->cols[i].type == NSX_CELL_DOUBLE)
			nsx_table_double(to->shown, i, rec->v[slot].f);
		else
			nsx_table_int(to->shown, i, rec->v[slot].i);
	}
}

/* The first `top` of those that are shown; 0: all. */
static void
show_diags(struct wanted *to, size_t top)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_diags shown = { 0 };

	nsx_diags_gather(&shown, &alike, 0);
	for (size_t i = 0; i < shown.list.n; i++) {
		const struct nsx_diag *d = &shown.list.p[i];

		if (top && i >= top) {
			nsx_table_beyond(to->shown, shown.list.n - i);
			break;
		}
		struct nsx_rec rec = { nsx_kind_builtin(NSX_DIAG), 0, v };

		nsx_set_s(&rec, NSX_DIAG_severity, nsx_str_c(nsx_severity_name(d->severity)));
		nsx_set_s(&rec, NSX_DIAG_source, nsx_str_c(d->source));
		nsx_set_s(&rec, NSX_DIAG_text, nsx_str_c(d->text));
		nsx_set_i(&rec, NSX_DIAG_count, d->count);
		show_record(to, &rec);
	}
	alike.failed |= shown.failed;
	nsx_diags_free(&shown);
}

/* A kind's header comes before its records, and once. */
static int
declare(struct nsx_tool *t, struct wanted *to, const struct nsx_kind *k)
{
	if (to->out)
		return nsx_writer_declare(to->out, k);
	return to->shown || show_columns(to, k) ? NSX_OK : nsx_err_nomem(&t->err, NULL);
}

/* Write the headers of requested kinds that were read since the last call. */
static int
declare_wanted(struct nsx_tool *t, int *seen)
{
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(t->in, &n);
	struct wanted *to;

	for (; *seen < n; ++*seen)
		if ((to = find(kinds[*seen])) && kinds[*seen]->id != NSX_END && declare(t, to, kinds[*seen]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* How to make a stream with records of a kind, appended to "no record of kind K"; "" if there is no way. */
static const char *
source_of(enum nsx_kind_id id)
{
	switch (id) {
	case NSX_OP:
		return ": extract with --ops";
	case NSX_RANGE:
		return ": extract with --ranges, or --ranges=all";
	case NSX_CALL:
	case NSX_OVERHEAD:
		return ": extract with --calls";
	case NSX_THREAD:
	case NSX_OS:
	case NSX_OFF:
	case NSX_GIL:
	case NSX_SAMPLE:
		return ": extract with --cpu from a report of nsysx-record --cpu";
	case NSX_COMMUNICATOR:
		return ": extract with --ops from an export made with --include-blobs=true";
	case NSX_STACK:
	case NSX_LOC:
	case NSX_GROUPS:
		return ": extract with -x DIR, the HLO dumps of the run";
	case NSX_PROGRAM:
	case NSX_INST:
	case NSX_MODULE:
	case NSX_THUNK:
	case NSX_COMPILE:
		return ": they come from XLA's NVTX ranges; nsysx-summary --by range and --by kernel work "
		       "without them";
	case NSX_COLLECTIVE:
		return ": nsysx-collectives makes them";
	case NSX_CLOCK:
	case NSX_SKEW:
		return ": nsysx-align makes them";
	default:
		return "";
	}
}

/* For a kind without requested records, report why; some: the kind has other records. With --table one that neither
 * this version nor the stream knows is an error, with the most similar name. */
static int
tell_missing(struct nsx_tool *t, struct nsx_str name, bool some)
{
	struct nsx_near near = { .want = name };
	struct nsx_str meant;
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(t->in, &n);
	enum nsx_kind_id id = nsx_kind_find(name);

	if (some) {
		nsx_cli_warn(&cli, "%s: no record of kind %.*s matches --only", t->in_name, (int)name.len, name.ptr);
		return NSX_OK;
	}
	if (id != NSX_NKINDS) {
		nsx_cli_warn(&cli, "%s: no record of kind %.*s%s", t->in_name, (int)name.len, name.ptr, source_of(id));
		return NSX_OK;
	}
	for (int k = 0; k < n; k++) {
		/* Declared, but without records. */
		if (nsx_str_eq(name, nsx_str_c(kinds[k]->name))) {
			nsx_near_free(&near);
			nsx_cli_warn(&cli, "%s: no record of kind %.*s", t->in_name, (int)name.len, name.ptr);
			return NSX_OK;
		}
		nsx_near_offer(&near, nsx_str_c(kinds[k]->name));
	}
	for (int k = 0; k < NSX_NKINDS; k++)
		nsx_near_offer(&near, nsx_str_c(nsx_kind_builtin((enum nsx_kind_id)k)->name));
	meant = nsx_near_best(&near);
	/* The error of what follows a warning is its own. */
	struct nsx_err warning = { "" }, *err = table ? &t->err : &warning;
	nsx_err_set(err, "%s: no record of kind %.*s, which this version does not know%s%.*s%s", t->in_name,
	            (int)name.len, name.ptr, meant.len ? "; did you mean " : "", (int)meant.len,
	            meant.len ? meant.ptr : "", meant.len ? "?" : "");
	t->diags.failed |= near.failed;
	nsx_near_free(&near);
	if (table)
		return NSX_ERR;
	nsx_cli_warn(&cli, "%s", warning.msg);
	return NSX_OK;
}

/* Write the requested records, of each kind the first `top`; 0: all. */
static int
copy_wanted(struct nsx_tool *t, size_t top)
{
	const struct nsx_kind *last = NULL;
	struct wanted *to = NULL;
	struct nsx_rec rec;
	int seen = 0, rc;

	while ((rc = nsx_read(t->in, &rec)) == NSX_OK) {
		if (declare_wanted(t, &seen) != NSX_OK)
			return NSX_ERR;
		if (rec.kind != last)
			to = find(last = rec.kind);
		if (!to || is_outside(&rec))
			continue;
		to->some = true;
		if (!is_wanted(&rec))
			continue;
		to->records++;
		if (to->shown && rec.kind->id == NSX_DIAG && rec.kind->ncols == nsx_kind_builtin(NSX_DIAG)->ncols
		    && keep_diag(&rec))
			continue;
		if (top && (size_t)to->records > top) {
			if (to->shown)
				nsx_table_beyond(to->shown, 1);
		} else if (to->shown) {
			show_record(to, &rec);
		} else if (nsx_write(to->out, &rec) != NSX_OK) {
			return NSX_ERR;
		}
	}
	if (rc == NSX_ERR || declare_wanted(t, &seen) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < nwanted; i++)
		if (wanted[i].records == 0)
			rc = tell_missing(t, wanted[i].name, wanted[i].some) == NSX_OK ? rc : NSX_ERR;
	return rc == NSX_EOF ? NSX_OK : rc;
}

/* The end of one table: one without rows still has a header line. */
static int
end_table(struct nsx_tool *t, struct wanted *to, const char *path, size_t top)
{
	enum nsx_kind_id id = nsx_kind_find(to->name);
	const char *require = nsx_tool_input.require;

	if (id != NSX_NKINDS && declare(t, to, nsx_kind_builtin(id)) != NSX_OK)
		return NSX_ERR;
	if (to->out)
		return nsx_writer_finish(to->out);
	if (id == NSX_DIAG && to->shown)
		show_diags(to, top);
	if (alike.failed)
		return nsx_err_nomem(&t->err, NULL);
	if (require && (!to->records || !nsx_str_eq(to->name, nsx_str_c(require))))
		return nsx_err_set(&t->err, "%s: no %s record", strcmp(path, "-") == 0 ? "standard output" : path,
		                   require);
	return to->shown ? nsx_tool_write_table_to(t, to->shown, -1, path) : NSX_OK;
}

static int
view_tables(int nops, char **ops, enum nsx_table_form form)
{
	struct nsx_tool t;
	struct nsx_out out = nsx_tool_out(&cli);
	size_t n;
	struct nsx_tool_part *parts = nsx_tool_parts(&cli, table, nsx_tool_output.path, &n);

	nsx_tool_open_in(&t, &cli, nops, ops, 0);
	t.as_is = true;
	for (size_t i = 0; i < nwanted; i++) {
		nsx_reader_need(t.in, nsx_kind_find(wanted[i].name), NSX_EVERY);
		if (form == NSX_TABLE_ALIGNED)
			continue;
		out.path = parts[i].path;
		wanted[i].out = nsx_writer_open_table(&out, form, &t.err);
		if (!wanted[i].out)
			nsx_cli_die(&cli, t.err.msg);
		if (nsx_tool_input.require)
			nsx_writer_require(wanted[i].out, nsx_tool_input.require);
	}
	int rc = copy_wanted(&t, nsx_tool_top(form));
	for (size_t i = 0; i < nwanted && rc == NSX_OK; i++)
		rc = end_table(&t, &wanted[i], parts[i].path, nsx_tool_top(form));
	rc = nsx_tool_finish(&t, rc);
	for (size_t i = 0; i < nwanted; i++) {
		nsx_writer_free(wanted[i].out);
		nsx_table_free(wanted[i].shown);
	}
	nsx_diags_free(&alike);
	nsx_tool_parts_free(parts, n);
	return rc;
}

static int
view_stream(int nops, char **ops)
{
	struct nsx_tool t;

	nsx_tool_open(&t, &cli, nops, ops, NSX_TOOL_AS_IS);
	if (!keep)
		return nsx_tool_finish(&t, copy_all(&t));
	nsx_writer_follow(t.out, NULL);
	for (size_t i = 0; i < nwanted; i++) {
		wanted[i].out = t.out;
		nsx_reader_need(t.in, nsx_kind_find(wanted[i].name), NSX_EVERY);
	}
	return nsx_tool_finish(&t, copy_wanted(&t, 0));
}

/* What a filter said, under the name of its program. */
static void
tell(struct nsx_through *f, bool well)
{
	char name[64];
	struct nsx_cli of = { name, "", "", opts };

	snprintf(name, sizeof name, "nsysx-%s", f->name);
	if (f->err.msg[0])
		nsx_cli_die(&of, f->err.msg);
	if (well)
		nsx_cli_diags(&of, &f->diags, 0);
}

/* The name of a filter, which may end with a comma. */
static const char *
filter_of(struct nsx_str name)
{
	struct nsx_near near = { .want = name };

	for (size_t i = 0; nsx_through_name(i); i++)
		if (nsx_str_eq(name, nsx_str_c(nsx_through_name(i))))
			return nsx_through_name(i);
	for (size_t i = 0; nsx_through_name(i); i++)
		nsx_near_offer(&near, nsx_str_c(nsx_through_name(i)));
	nsx_cli_misuse(&cli, "--through: %.*s is no filter that it knows%s", (int)name.len, name.ptr,
	               nsx_near_hint(&near).text);
}

static int
view_filtered(int nops, char **ops)
{
	struct nsx_through f[NSX_THROUGH_MOST] = { { .name = NULL } };
	struct nsx_tool t = { .cli = &cli, .told = true };
	size_t n = 0;
	int rc;

	if (nops > 1)
		nsx_cli_misuse(&cli, "one FILE at most: join several with nsysx-merge");
	for (const char *p = filters;; p++) {
		size_t len = strcspn(p, ",");

		if (n == NSX_THROUGH_MOST)
			nsx_cli_misuse(&cli, "--through: want %d filters at most", NSX_THROUGH_MOST);
		f[n++].name = filter_of((struct nsx_str){ p, len });
		p += len;
		if (!*p)
			break;
	}
	nsx_tool_open_out(&t);
	nsx_tool_progress(&cli, nops, ops);
	rc = nsx_through(nops ? ops[0] : "-", f, n, t.out, &t.err);
	nsx_progress_hide(NSX_HIDE_FOR_GOOD);
	for (size_t i = 0; i < n; i++) {
		tell(&f[i], rc == NSX_OK);
		nsx_diags_free(&f[i].diags);
	}
	return nsx_tool_finish(&t, rc);
}

static int
view_database(int nops, char **ops)
{
	struct nsx_database_options o = { keep, nsx_tool_input.require, indices };
	struct nsx_tool t;
	int64_t rows;
	int n, rc;

	nsx_tool_open_in(&t, &cli, nops, ops, 0);
	t.as_is = true;
	for (size_t i = 0; i < nwanted; i++)
		nsx_reader_need(t.in, nsx_kind_find(wanted[i].name), NSX_EVERY);
	rc = nsx_database_write(t.in, database, &o, &rows, &t.err);
	const struct nsx_kind *const *kinds = nsx_reader_kinds(t.in, &n);
	for (size_t i = 0; i < nwanted && rc == NSX_OK; i++) {
		bool some = false;

		for (int k = 0; k < n; k++)
			some |= nsx_str_eq(wanted[i].name, nsx_str_c(kinds[k]->name));
		if (!some)
			rc = tell_missing(&t, wanted[i].name, false);
	}
	return nsx_tool_finish(&t, rc);
}

static int
view_schema(int nops)
{
	struct nsx_err err = { "" };
	struct nsx_buf b = { 0 };
	struct nsx_out out = nsx_tool_out(&cli);
	struct nsx_outfile *f;

	if (nops)
		nsx_cli_misuse(&cli, "--schema reads no FILE");
	nsx_buf_c(&b, "kind\tcolumn\ttype\tunit\tmeaning\n");
	for (int k = 0; k < NSX_NKINDS; k++) {
		const struct nsx_kind *kind = nsx_kind_builtin((enum nsx_kind_id)k);

		nsx_buf_fmt(&b, "%s\t\t\t\t%s\n", kind->name, kind->meaning);
		for (int i = 0; i < kind->ncols; i++)
			nsx_buf_fmt(&b, "%s\t%s\t%c\t%s\t%s\n", kind->name, kind->cols[i].name, kind->cols[i].type,
			            kind->cols[i].unit, kind->cols[i].meaning);
	}
	if (b.failed)
		nsx_cli_die(&cli, "out of memory");
	f = nsx_outfile_open(out.path, &err);
	if (!f || nsx_outfile_write(f, b.ptr, b.len) != NSX_OK || nsx_outfile_commit(f) != NSX_OK)
		nsx_cli_die(&cli, err.msg);
	nsx_outfile_free(f);
	nsx_buf_free(&b);
	return NSX_EXIT_OK;
}

/* The form of tables, checked (misuse exits). */
static enum nsx_table_form
form_of(void)
{
	bool compressed = nsx_tool_output.zlevel;

	if (nsx_tool_forms() > 1)
		nsx_cli_misuse(&cli, "--tsv, --aligned, --json and --csv exclude each other");
	if (nsx_tool_table.aligned && compressed)
		nsx_cli_misuse(&cli, "--aligned is not compressed");
	if (nsx_tool_forms() == 0 && (nwanted > 1 || nsx_tool_input.require || compressed))
		return NSX_TABLE_TSV;
	return nsx_tool_table_form(&cli);
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv), rc;

	if (!!keep + !!table + schema > 1)
		nsx_cli_misuse(&cli, "--kinds, --table and --schema exclude each other");
	if (database && (table || schema))
		nsx_cli_misuse(&cli, "--sqlite goes with --kinds only");
	if (database && (nsx_tool_output.path || nsx_tool_output.binary || nsx_tool_output.zlevel))
		nsx_cli_misuse(&cli, "--sqlite FILE is the output: want no -o, -b or -z");
	if (indices && !database)
		nsx_cli_misuse(&cli, "--index goes with --sqlite");
	if (table && nsx_tool_output.binary)
		nsx_cli_misuse(&cli, "--table is text");
	if (!table && (nsx_tool_table.top >= 0 || nsx_tool_table.wide))
		nsx_cli_misuse(&cli, "--top and --wide go with --table");
	if (!table && nsx_tool_forms())
		nsx_cli_misuse(&cli, "--tsv, --aligned, --json and --csv go with --table");
	if (!table && nsx_tool_rows.tests.n)
		nsx_cli_misuse(&cli, "--only goes with --table");
	if (!table && times)
		nsx_cli_misuse(&cli, "--time goes with --table");
	if (filters && (keep || table || database || schema || nsx_tool_input.partial))
		nsx_cli_misuse(&cli, "--through goes with -b, --text, -z, -o and --require only");
	if (times)
		want_times(times);
	if (keep || table)
		want(keep ? keep : table);
	if (schema)
		rc = view_schema(nops);
	else if (database)
		rc = view_database(nops, argv);
	else if (filters)
		rc = view_filtered(nops, argv);
	else if (table)
		rc = view_tables(nops, argv, form_of());
	else
		rc = view_stream(nops, argv);
	free(wanted);
	free(spans.p);
	return rc;
}
