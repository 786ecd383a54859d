/* files_from.c -- --files-from: names of files from a list, for jobs whose names do not fit into a command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/inputs.h"
#include "base/str.h"
#include "base/vec.h"
#include "tool.h"

struct list { const char *path; int operands; size_t first, n; };   /* operands: how many precede it */

static NSX_VEC(struct list) lists;
static NSX_VEC(char *) names;   /* of all lists; never freed, as the command's operands */
static NSX_VEC(char *) files;

/* The text of the list and a terminator: NULL, or what is wrong. */
static const char *
read_list(const char *path, struct nsx_buf *text)
{
	bool standard_input = strcmp(path, "-") == 0;
	FILE *f = standard_input ? stdin : fopen(path, "rb");
	size_t n;

	if (!f)
		return strerror(errno);
	nsx_inputs_note(fileno(f));
	errno = 0;
	while (nsx_buf_room(text, BUFSIZ) && (n = fread(text->ptr + text->len, 1, BUFSIZ, f)) > 0)
		text->len += n;
	bool bad = ferror(f);
	int why = errno;
	if (!standard_input)
		fclose(f);
	nsx_buf_char(text, '\0');
	if (text->failed)
		return "out of memory";
	return bad ? strerror(why) : NULL;
}

static void
take(const struct nsx_cli *cli, struct list *list)
{
	struct nsx_buf text = { 0 };
	const char *wrong = read_list(list->path, &text);
	char why[512];

	list->first = names.n;
	/* One NUL besides the terminator: names may contain newlines. */
	bool lines = !wrong && memchr(text.ptr, '\0', text.len - 1) == NULL;
	for (size_t at = 0; !wrong && at < text.len;) {
		char *name = text.ptr + at;
		size_t len = lines ? strcspn(name, "\n") : strlen(name);

		name[len] = '\0';
		if (len && !nsx_vec_push(&names, name))
			wrong = "out of memory";
		at += len + 1;
	}
	list->n = names.n - list->first;
	if (!wrong && list->n == 0)
		wrong = "want the name of a file in it";
	if (!wrong)
		return;
	snprintf(why, sizeof why, "--files-from %s: %s", list->path, wrong);
	nsx_cli_die(cli, why);
}

const char *
nsx_tool_files_from(const char *arg, int operands)
{
	for (size_t i = 0; i < lists.n; i++)
		if (strcmp(arg, "-") == 0 && strcmp(lists.p[i].path, "-") == 0)
			return "standard input can be read only once";
	return nsx_vec_push(&lists, ((struct list){ .path = arg, .operands = operands })) ? NULL : "out of memory";
}

size_t
nsx_tool_lists(void)
{
	return lists.n;
}

int
nsx_tool_files_place(int operands, size_t nlists)
{
	for (size_t i = 0; i < nlists; i++)
		operands += (int)lists.p[i].n;
	return operands;
}

/* Append operands, or names: NULL elements are not among them. */
static void
append(const struct nsx_cli *cli, char **from, size_t n)
{
	if (n && !nsx_vec_room(&files, n))
		nsx_cli_die(cli, "out of memory");
	for (size_t i = 0; i < n; i++)
		files.p[files.n++] = from[i];
}

int
nsx_tool_files_all(const struct nsx_cli *cli, int nops, char ***ops)
{
	int taken = 0;
	bool standard_input = false;

	if (!lists.n)
		return nops;
	for (size_t i = 0; i < lists.n; i++) {
		take(cli, &lists.p[i]);
		append(cli, *ops + taken, (size_t)(lists.p[i].operands - taken));
		taken = lists.p[i].operands;
		append(cli, names.p + lists.p[i].first, lists.p[i].n);
		standard_input |= strcmp(lists.p[i].path, "-") == 0;
	}
	append(cli, *ops + taken, (size_t)(nops - taken));
	for (size_t i = 0; i < files.n && standard_input; i++)
		if (strcmp(files.p[i], "-") == 0)
			nsx_cli_misuse(cli, "standard input can be read only once");
	*ops = files.p;
	return (int)files.n;
}
