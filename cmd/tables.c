/* tables.c -- programs that print tables: which, how much of them, and where to. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/width.h"
#include "stream/steady.h"
#include "table/analysis.h"
#include "table/by_groups.h"

enum { WHOLE = 25 };   /* a table of up to that many rows is not cut */

void
nsx_tool_sort(const struct nsx_cli *cli, struct nsx_table *const *tables, size_t n)
{
	struct nsx_err err = { .msg = "" };
	bool done = !nsx_tool_table.sort;

	for (size_t i = 0; i < n && nsx_tool_table.sort; i++)
		done |= !tables[i] || nsx_table_sort(tables[i], nsx_tool_table.sort, &err) == NSX_OK;
	if (!done)
		nsx_cli_misuse(cli, "--sort: %s", err.msg);
}

/* How much of a table in this form is shown: rows, and columns of the terminal. */
static struct nsx_table_look
look_of(enum nsx_table_form form, const struct nsx_table *table)
{
	bool whole = nsx_tool_table.top < 0 && nsx_table_rows(table) <= WHOLE;

	bool fits = form == NSX_TABLE_ALIGNED && nsx_tool_to_terminal() && !nsx_tool_table.wide;

	return (struct nsx_table_look){ whole ? 0 : nsx_tool_top(form),
	                                fits ? nsx_terminal_width(STDOUT_FILENO) : 0, nsx_tool_table.wide };
}

static char *
path_of(const char *path, const char *name)
{
	const char *place = strchr(path, '%');
	struct nsx_buf b = { 0 };

	nsx_buf_add(&b, path, (size_t)(place - path));
	nsx_buf_c(&b, name);
	nsx_buf_c(&b, place + 1);
	nsx_buf_add(&b, "", 1);
	if (b.failed)
		nsx_buf_free(&b);
	return b.ptr;
}

struct nsx_tool_part *
nsx_tool_parts(const struct nsx_cli *cli, const char *list, const char *path, size_t *n)
{
	struct nsx_tool_part *parts;

	*n = 1;
	for (const char *p = list; *p; p++)
		*n += *p == ',';
	if (*n > 1 && (!path || !strchr(path, '%')))
		nsx_cli_misuse(cli,
		               "several at once: want -o FILE with a %% in its name, which stands for each, got %s",
		               path ? path : "none");
	parts = calloc(*n, sizeof *parts);
	for (size_t i = 0; i < *n; i++, list += strcspn(list, ",") + 1) {
		if (parts)
			parts[i].name = nsx_str_dup((struct nsx_str){ list, strcspn(list, ",") });
		if (parts && parts[i].name)
			parts[i].path = *n > 1 ? path_of(path, parts[i].name)
			                : nsx_str_dup(nsx_str_c(path ? path : "-"));
		if (!parts || !parts[i].path)
			nsx_cli_die(cli, "out of memory");
	}
	return parts;
}

void
nsx_tool_parts_free(struct nsx_tool_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(parts[i].name);
		free(parts[i].path);
	}
	free(parts);
}

/* An empty table must not be mistaken for a result: some warning says why, or t->empty does. */
static void
explain_empty(struct nsx_tool *t)
{
	for (size_t i = 0; i < t->diags.list.n; i++)
		if (t->diags.list.p[i].severity != NSX_INFO)
			return;
	nsx_diag_add(&t->diags, NSX_WARNING, "", t->empty != NULL, "%s", t->empty ? t->empty : "");
}

int
nsx_tool_write_table(struct nsx_tool *t, struct nsx_table *table, int64_t diags)
{
	return nsx_tool_write_table_to(t, table, diags, nsx_tool_output.path);
}

int
nsx_tool_write_table_to(struct nsx_tool *t, struct nsx_table *table, int64_t diags, const char *path)
{
	size_t rows = nsx_table_rows(table);

	if (rows == 0)
		explain_empty(t);
	if (nsx_table_only(table, &nsx_tool_rows, &t->err) != NSX_OK)
		nsx_cli_misuse(t->cli, "--only: %s", t->err.msg);
	if (rows && nsx_table_rows(table) == 0)
		nsx_cli_warn(t->cli, "--only: none of %zu rows matches", rows);
	struct nsx_outfile *f = nsx_outfile_open(path, &t->err);
	enum nsx_table_form form = nsx_tool_table_form(t->cli);
	int rc = NSX_ERR;

	bool unsteady = t->unsteady || (t->in && nsx_reader_unsteady(t->in));
	bool seen = form == NSX_TABLE_ALIGNED || form == NSX_TABLE_MARKDOWN;

	if (unsteady && seen)
		nsx_table_lead(table, NSX_STEADY_SAYS);
	nsx_diag_add(&t->diags, NSX_WARNING, "", unsteady && !seen, NSX_STEADY_SAYS);
	/* Who reads only the first rows of a pipe ends this program while it writes. */
	if (f && !t->diags.failed)
		nsx_tool_say_diags(t);

	nsx_table_metric(table, t->cli->name);
	if (f && nsx_table_show(table, form, look_of(form, table), diags, f, &t->err) == NSX_OK)
		rc = nsx_tool_commit(t, f);
	nsx_outfile_free(f);
	return rc;
}

int
nsx_tool_finish_tables(struct nsx_tool *t, int rc, struct nsx_tool_part *parts, struct nsx_table **tables, size_t n,
                       int64_t diags)
{
	if (rc == NSX_OK)
		nsx_tool_sort(t->cli, tables, n);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = nsx_tool_write_table_to(t, tables[i], diags, parts ? parts[i].path : nsx_tool_output.path);
	rc = nsx_tool_finish(t, rc);
	for (size_t i = 0; i < n; i++)
		nsx_table_free(tables[i]);
	if (parts)
		nsx_tool_parts_free(parts, n);
	return rc;
}

/* Whether the rows of a part are groups of devices. */
static bool
is_grouped(const struct nsx_tool_tables *p, const struct nsx_tool_part *part, struct nsx_grouping *g)
{
	return p->groups && nsx_grouping_parse(p->by ? p->by : part->name, g);
}

int
nsx_tool_print(const struct nsx_cli *cli, int nops, char **ops, const struct nsx_tool_tables *p)
{
	struct nsx_device_groups groups = { .err = NULL };
	struct nsx_grouping g;
	struct nsx_tool t;
	size_t n;

	nsx_tool_table_form(cli);
	struct nsx_tool_part *parts = nsx_tool_parts(cli, p->parts ? p->parts : "", nsx_tool_output.path, &n);
	struct nsx_table **tables = calloc(n, sizeof *tables);
	if (!tables)
		nsx_cli_die(cli, "out of memory");
	nsx_tool_open_in(&t, cli, nops, ops, p->flags);
	t.empty = p->empty;
	groups.err = &t.err;
	for (size_t i = 0; i < n; i++)
		if (is_grouped(p, &parts[i], &g)) {
			nsx_device_groups_listen(&groups, t.in);
			break;
		}
	const char *require = nsx_tool_input.require;
	int rc = p->runs ? nsx_analyse_tables(p->runs, n, t.in, require, tables, &t.diags, &t.err)
	                 : p->read(t.in, p->options, tables, &t.diags, &t.err);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		if (is_grouped(p, &parts[i], &g))
			rc = nsx_table_by_groups(&tables[i], p->groups, &g, &groups, &t.diags, &t.err);
	nsx_device_groups_free(&groups);
	rc = nsx_tool_finish_tables(&t, rc, parts, tables, n, nsx_reader_diags(t.in));
	free(tables);
	return rc;
}
