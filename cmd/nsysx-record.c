/* nsysx-record -- profile a program so that the profile contains everything nsysx uses. */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/escape.h"
#include "base/vec.h"
#include "nsys/record.h"

static struct nsx_record rec;

static const struct nsx_opt opts[] = {
	NSX_OPT_STR('o', "output", &rec.out, "DIR",
	            "folder for report.nsys-rep, report.sqlite and dump; %q{VAR}, %h and %p are expanded"),
	NSX_OPT_STR(0, "condition", &rec.condition, "EXPR",
	            "profile only where this shell expression is true; elsewhere only run the program"),
	NSX_OPT_FLAG(0, "cpu", &rec.cpu,
	             "also what host threads do: OS calls, scheduling, samples of Python and the CPU, the GIL"),
	NSX_OPT_FLAG(0, "force", &rec.force, "overwrite a report that is already in the folder"),
	NSX_OPT_END
};

static const struct nsx_cli cli = { "nsysx-record", "[NSYS-OPTION]... [--cpu] -o DIR -- PROGRAM [ARG]...",
	"Run a program under `nsys profile` with what nsysx needs: NVTX and CUDA, nodes of CUDA graphs, HLO dumps, "
	"deep source locations.", opts };

static bool
takes(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return strncmp(arg, name, n) == 0 && (arg[n] == '=' || !arg[n]);
}

/* Options that nsysx-record does not have are passed to nsys; its own stay in argv. Returns the number of arguments
 * that stay, without program and "--". */
static int
split(int argc, char **argv)
{
	NSX_VEC(char *) nsys = { 0 };
	int own = 1, end = 1;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	for (int i = 1; i < end; i++) {
		bool value = takes(argv[i], "--output") || takes(argv[i], "--condition") || strncmp(argv[i], "-o", 2) ==
		    0;
		static const char *const flags[] = { "--cpu",     "--force", "-h",        "--help", "-V",
						     "--version", "-v",      "--verbose", "-q",     "--quiet" };
		bool ours = value;
		for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
			ours |= strcmp(argv[i], flags[k]) == 0;
		if (!ours && !nsx_vec_push(&nsys, argv[i]))
			nsx_cli_die(&cli, "out of memory");
		if (ours)
			argv[own++] = argv[i];
		bool alone = strcmp(argv[i], "-o") == 0 || (value && argv[i][1] == '-' && !strchr(argv[i], '='));
		if (alone && i + 1 < end)
			argv[own++] = argv[++i];
	}
	rec.nsys = nsys.p;
	rec.nnsys = (int)nsys.n;
	rec.program = end < argc ? argv + end + 1 : argv + argc;
	return own;
}

/* The next command, as it can be run. */
static void
tell_next(const char *folder)
{
	struct nsx_buf word = { 0 };

	nsx_buf_shell(&word, nsx_str_c(folder));
	nsx_buf_char(&word, '\0');
	if (!word.failed)
		nsx_cli_note(&cli, "next: nsysx-prepare -o job.nsysx %s", word.ptr);
	nsx_buf_free(&word);
}

int
main(int argc, char **argv)
{
	struct nsx_err err = { "" };

	if (nsx_cli_parse(&cli, split(argc, argv), argv))
		nsx_cli_misuse(&cli, "the program to run comes after --");
	if (!rec.out)
		nsx_cli_misuse(&cli, "-o DIR is required");
	if (!*rec.program)
		nsx_cli_misuse(&cli, "no program after --");
	int rc = nsx_record(&rec, &err);
	free(rec.nsys);
	if (rc != NSX_OK && rec.status == 0)
		nsx_cli_die(&cli, err.msg);
	if (rc != NSX_OK)
		nsx_cli_warn(&cli, "%s", err.msg);
	else if (rec.killed)
		nsx_cli_note(&cli, "nsys ended the program at the end of its collection");
	if (rc == NSX_OK && rec.profiled)
		tell_next(rec.folder);
	return rec.status;
}
