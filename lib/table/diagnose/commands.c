/* commands.c -- the commands that show the evidence: like findings, of the steps alone if there are steps. They have no
 * backslash, which TSV would escape, and address columns by name. */
#include <string.h>

#include "table/diagnose/diagnose.h"

/* Append a word, quoted for the shell. */
static void
put_quoted(struct nsx_buf *to, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")]) {
		nsx_buf_c(to, word);
		return;
	}
	nsx_buf_char(to, '\'');
	for (; *word; word++)
		if (*word == '\'')
			nsx_buf_c(to, "'\"'\"'");
		else
			nsx_buf_char(to, *word);
	nsx_buf_char(to, '\'');
}

void
nsx_look_put_steps(const struct nsx_look_at *a, struct nsx_buf *to)
{
	const char *option = a->options->step ? a->options->step : a->options->module;

	if (!option)
		return;
	nsx_buf_c(to, a->options->step ? " --step " : " --module ");
	put_quoted(to, option);
}

void
nsx_look_put_file(struct nsx_look_at *a)
{
	const char *file = a->options->file;

	nsx_buf_char(&a->command, ' ');
	if (!file || strcmp(file, "-") == 0)
		nsx_buf_c(&a->command, "STREAM");
	else
		put_quoted(&a->command, file);
}

void
nsx_look_put_idle(struct nsx_look_at *a)
{
	nsx_buf_c(&a->command, "nsysx-idle");
	if (a->stepped) {
		nsx_buf_c(&a->command, " --steps");
		nsx_look_put_steps(a, &a->command);
	}
}

void
nsx_look_put_over(struct nsx_look_at *a, const char *tool)
{
	if (a->stepped) {
		nsx_buf_c(&a->command, "nsysx-steps --cut -b");
		nsx_look_put_steps(a, &a->command);
		nsx_look_put_file(a);
		nsx_buf_c(&a->command, " | ");
	}
	nsx_buf_c(&a->command, tool);
	if (!a->stepped)
		nsx_look_put_file(a);
}

/* Append the name as part of a regular expression that matches it. Characters that would need a backslash become
 * '.'. */
static void
put_pattern(struct nsx_buf *to, struct nsx_str name)
{
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.ptr[i];

		if (c < ' ' || c == '^' || c == '\\')
			nsx_buf_char(to, '.');
		else if (strchr(".[]()*+?{}|$", c))
			nsx_buf_fmt(to, "[%c]", c);
		else
			nsx_buf_char(to, (char)c);
	}
}

/* Whether the name can be written in --only COLUMN=NAME. */
static bool
is_plain(struct nsx_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == '\\')
			return false;
	return true;
}

void
nsx_look_put_names(struct nsx_buf *to, const struct nsx_str *names, size_t n)
{
	nsx_buf_c(to, n == 1 ? "^" : "^(");
	for (size_t i = 0; i < n; i++) {
		nsx_buf_c(to, i ? "|" : "");
		put_pattern(to, names[i]);
	}
	nsx_buf_c(to, n == 1 ? "$" : ")$");
}

void
nsx_look_put_only(struct nsx_buf *to, const char *column, const struct nsx_str *names, size_t n)
{
	struct nsx_buf word = { .len = 0 };
	bool plain = n == 1 && is_plain(names[0]);

	nsx_buf_c(&word, column);
	nsx_buf_c(&word, plain ? "=" : "~");
	if (plain)
		nsx_buf_str(&word, names[0]);
	else
		nsx_look_put_names(&word, names, n);
	nsx_buf_char(&word, '\0');
	to->failed |= word.failed;
	nsx_buf_c(to, " --only ");
	if (!word.failed)
		put_quoted(to, word.ptr);
	nsx_buf_free(&word);
}

const char *
nsx_look_over(struct nsx_look_at *a, const char *tool)
{
	a->command.len = 0;
	nsx_look_put_over(a, tool);
	return nsx_look_command(a);
}

const char *
nsx_look_over_text(struct nsx_look_at *a, struct nsx_buf *tool)
{
	nsx_buf_char(tool, '\0');
	a->command.failed |= tool->failed;
	const char *command = nsx_look_over(a, tool->failed ? "" : tool->ptr);

	nsx_buf_free(tool);
	return command;
}

const char *
nsx_look_command(struct nsx_look_at *a)
{
	nsx_buf_char(&a->command, '\0');
	if (a->command.failed) {
		nsx_err_nomem(a->err, NULL);
		return NULL;
	}
	return a->command.ptr;
}
