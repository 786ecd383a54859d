/* tool.c -- functions that commands share: the options of outputs, opening and closing input and output of a filter,
 * diags. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "base/num.h"
#include "base/outfile.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "job/causes.h"
#include "stream/diags.h"
#include "base/unpack.h"

enum { ROWS = 20 };   /* shown of a table on a terminal or in a comment */

struct nsx_tool_output nsx_tool_output;
struct nsx_tool_input nsx_tool_input;
struct nsx_tool_steps nsx_tool_steps;
struct nsx_tool_table nsx_tool_table = { .top = -1 };

bool
nsx_tool_to_terminal(void)
{
	const char *path = nsx_tool_output.path;

	return (!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO);
}

struct nsx_out
nsx_tool_out(const struct nsx_cli *cli)
{
	const char *format = getenv("NSYSX_FORMAT");
	const char *path = nsx_tool_output.path;
	struct nsx_out out = { .path = path, .binary = nsx_tool_output.binary };
	bool terminal = nsx_tool_to_terminal();
	int64_t level;

	if (nsx_tool_output.binary && nsx_tool_output.text)
		nsx_cli_misuse(cli, "--binary and --text exclude each other");
	if (format && *format && strcmp(format, "binary") != 0 && strcmp(format, "text") != 0)
		nsx_cli_misuse(cli, "NSYSX_FORMAT: want text or binary, got \"%s\"", format);
	/* NSYSX_FORMAT applies to pipes and files between programs; output on a terminal is for a reader. */
	if (format && strcmp(format, "binary") == 0 && !nsx_tool_output.text && !terminal)
		out.binary = true;
	if (nsx_tool_output.zlevel) {
		out.zlevel = 3;
		if (*nsx_tool_output.zlevel) {
			if (!nsx_get_int(nsx_str_c(nsx_tool_output.zlevel), &level) || level < 1 || level > 19)
				nsx_cli_misuse(cli, "--compress: want a level from 1 to 19, got \"%s\"",
				               nsx_tool_output.zlevel);
			out.zlevel = (int)level;
		}
	}
	if (terminal && (out.binary || out.zlevel))
		nsx_cli_misuse(cli, "--%s to a terminal: want -o FILE or a pipe", out.binary ? "binary" : "compress");
	return out;
}

const char *
nsx_tool_max_unpacked(const char *arg, int operands)
{
	int64_t bytes;

	(void)operands;
	if (!nsx_size_parse(arg, &bytes) || bytes == 0)
		return "want a number of bytes, such as 500M or 64G";
	nsx_unpack_set_max((uint64_t)bytes);
	return NULL;
}

void
nsx_tool_open_in(struct nsx_tool *t, const struct nsx_cli *cli, int nops, char **ops, unsigned flags)
{
	*t = (struct nsx_tool){ .cli = cli };
	if (nops > 1)
		nsx_cli_misuse(cli, "one FILE at most: join several with nsysx-merge");
	const char *kind = nsx_tool_input.require;
	if (kind && nsx_kind_find(nsx_str_c(kind)) == NSX_NKINDS) {
		struct nsx_near near = { .want = nsx_str_c(kind) };
		for (int i = 0; i < NSX_NKINDS; i++)
			nsx_near_offer(&near, nsx_str_c(nsx_kind_builtin((enum nsx_kind_id)i)->name));
		struct nsx_near_hint hint = nsx_near_hint(&near);
		/* A kind of a later version may be in the stream. */
		(*hint.text ? nsx_cli_warn : nsx_cli_note)(cli, "--require: %s is not a kind that this version knows%s",
		                                           kind,
		                                           hint.text);
		nsx_near_free(&near);
	}
	t->in_name = nops ? ops[0] : "-";
	if (nsx_tool_input.partial)
		flags |= NSX_READ_PARTIAL;
	nsx_tool_progress(cli, nops, ops);
	t->in = nsx_reader_open(t->in_name, flags, &t->err);
	if (!t->in)
		nsx_cli_die(cli, t->err.msg);
}

void
nsx_tool_open_out(struct nsx_tool *t)
{
	struct nsx_out out = nsx_tool_out(t->cli);

	t->out = nsx_writer_open(&out, &t->err);
	if (!t->out)
		nsx_cli_die(t->cli, t->err.msg);
	if (nsx_tool_input.require)
		nsx_writer_require(t->out, nsx_tool_input.require);
}

void
nsx_tool_open(struct nsx_tool *t, const struct nsx_cli *cli, int nops, char **ops, unsigned flags)
{
	nsx_tool_out(cli);
	nsx_tool_open_in(t, cli, nops, ops, flags & ~(unsigned)NSX_TOOL_AS_IS);
	t->as_is = flags & NSX_TOOL_AS_IS;
	/* Our diags may follow in a stream whose header lacks some of the columns. */
	const struct nsx_kind *diag = nsx_kind_builtin(NSX_DIAG);
	for (int i = 0; i < diag->ncols && !(flags & NSX_TOOL_AS_IS); i++)
		if (nsx_reader_add_column(t->in, NSX_DIAG, diag->cols[i].name, diag->cols[i].type) != NSX_OK)
			nsx_cli_die(cli, t->err.msg);
	nsx_tool_open_out(t);
	nsx_writer_follow(t->out, t->in);
}

void
nsx_tool_say_diags(struct nsx_tool *t)
{
	/* Before other programs see that this one is done. */
	nsx_progress_hide(NSX_HIDE_FOR_GOOD);
	nsx_cli_diags(t->cli, &t->diags, t->said);
	t->said = t->diags.list.n;
}

int
nsx_tool_finish(struct nsx_tool *t, int rc)
{
	if (t->in && !t->as_is)
		nsx_diags_beyond(&t->diags, t->in);
	if (rc == NSX_OK && t->diags.failed)
		rc = nsx_err_nomem(&t->err, NULL);
	/* Before other programs see that this one is done. */
	nsx_progress_hide(NSX_HIDE_FOR_GOOD);
	if (rc == NSX_OK && t->out && !t->told)
		rc = nsx_write_diags(t->out, t->cli->name, &t->diags);
	if (rc == NSX_OK && t->out)
		rc = nsx_writer_finish(t->out);
	if (rc != NSX_OK)
		nsx_cli_die(t->cli, t->err.msg[0] ? t->err.msg : "out of memory");
	nsx_tool_say_diags(t);
	nsx_writer_free(t->out);
	nsx_reader_close(t->in);
	nsx_diags_free(&t->diags);
	return NSX_EXIT_OK;
}

void
nsx_tool_check_steps(const struct nsx_cli *cli, const char *step, const char *module)
{
	const char *why = step ? nsx_pattern_check(step) : NULL;

	if (step && module)
		nsx_cli_misuse(cli, "--step and --module exclude each other");
	if (why)
		nsx_cli_misuse(cli, "--step %s: %s", step, why);
}

uint32_t
nsx_tool_causes(const struct nsx_cli *cli, const char *option, const char *value, const char *list)
{
	uint32_t mask = 0;
	struct nsx_near near = { .want = { "", 0 } };
	struct nsx_str meant;

	if (nsx_causes_parse(list, &mask, &near.want) == NSX_OK)
		return mask;
	for (size_t i = 0; nsx_causes_known(i); i++)
		nsx_near_offer(&near, nsx_str_c(nsx_causes_known(i)));
	meant = nsx_near_best(&near);
	if (meant.len)
		nsx_cli_misuse(cli, "%s %s: %.*s is no cause; %.*s?", option, value, (int)near.want.len, near.want.ptr,
		               (int)meant.len, meant.ptr);
	nsx_cli_misuse(cli, "%s %s: %.*s is no cause; nsysx-idle --known lists causes and their groups", option, value,
	               (int)near.want.len, near.want.ptr);
}

uint32_t
nsx_tool_host_causes(const struct nsx_cli *cli, const char *option, const char *value, const char *list)
{
	uint32_t mask = nsx_tool_causes(cli, option, value, list);

	for (int c = 0; c < NSX_NCAUSES; c++)
		if (mask >> c & 1 && nsx_causes[c].group == NSX_CAUSES_STARVED)
			return mask;
	nsx_cli_misuse(cli, "%s %s: want a launch-starved cause: the host is looked at where it had not launched",
	               option, value);
}

void
nsx_tool_no_stream(const struct nsx_cli *cli)
{
	if (nsx_tool_output.binary || nsx_tool_output.text || nsx_tool_output.zlevel)
		nsx_cli_misuse(cli, "--binary, --text and --compress do not go with a table");
}

struct nsx_only nsx_tool_rows;

const char *
nsx_tool_only(const char *arg, int operands)
{
	(void)operands;
	return nsx_only_add(&nsx_tool_rows, arg);
}

int
nsx_tool_forms(void)
{
	const struct nsx_tool_table *t = &nsx_tool_table;

	return t->tsv + t->aligned + t->json + t->csv + t->metrics;
}

enum nsx_table_form
nsx_tool_table_form(const struct nsx_cli *cli)
{
	if (nsx_tool_table.markdown && nsx_tool_forms())
		nsx_cli_misuse(cli, "--markdown and --tsv, --table or --json exclude each other");
	if (nsx_tool_forms() > 1)
		nsx_cli_misuse(cli, "--tsv, --table and --json exclude each other, and so do --csv and --openmetrics");
	if (nsx_tool_table.csv || nsx_tool_table.metrics)
		return nsx_tool_table.csv ? NSX_TABLE_CSV : NSX_TABLE_OPENMETRICS;
	if (nsx_tool_table.markdown)
		return NSX_TABLE_MARKDOWN;
	if (nsx_tool_table.json)
		return NSX_TABLE_JSON;
	if (nsx_tool_table.tsv || nsx_tool_table.aligned)
		return nsx_tool_table.tsv ? NSX_TABLE_TSV : NSX_TABLE_ALIGNED;
	return nsx_tool_to_terminal() ? NSX_TABLE_ALIGNED : NSX_TABLE_TSV;
}

int
nsx_tool_commit(struct nsx_tool *t, struct nsx_outfile *f)
{
	return t->diags.failed ? nsx_err_nomem(&t->err, NULL) : nsx_outfile_commit(f);
}

size_t
nsx_tool_top(enum nsx_table_form form)
{
	if (nsx_tool_table.top >= 0)
		return (size_t)nsx_tool_table.top;
	return (form == NSX_TABLE_ALIGNED && nsx_tool_to_terminal()) || form == NSX_TABLE_MARKDOWN ? ROWS : 0;
}
