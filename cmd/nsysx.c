/* nsysx -- run a tool by its short name: `nsysx fold ARGS` is `nsysx-fold ARGS`. It becomes the tool, whose
 * exit status, signals and output are then its own. */
#define _XOPEN_SOURCE 700   /* readlink, strdup, scandir */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/near.h"
#include "base/str.h"

static const struct nsx_opt opts[] = { NSX_OPT_END };
static const struct nsx_cli cli = { "nsysx", "[-h] [-V] TOOL [ARGS] | help [TOOL]", "Run nsysx-TOOL.", opts };

static const char prefix[] = "nsysx-";

/* The directory of this program, which the caller frees; NULL if it cannot be determined. */
static char *
own_dir(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	char *slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return nsx_str_dup(nsx_str_c(path));
}

/* "DIR/nsysx-NAME", or without dir "nsysx-NAME"; the caller frees it. Exits when out of memory. */
static char *
path_of(const char *dir, const char *name)
{
	struct nsx_buf b = { 0 };

	if (dir)
		nsx_buf_fmt(&b, "%s/", dir);
	nsx_buf_fmt(&b, "%s%s", prefix, name);
	nsx_buf_char(&b, '\0');
	if (b.failed)
		nsx_cli_die(&cli, "out of memory");
	return b.ptr;
}

/* The second line of what `path --help` prints is the tool's summary; "" if it has none. */
static void
summary_of(const char *path, char *line, size_t size)
{
	int ends[2];

	line[0] = '\0';
	if (pipe(ends) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(path, path, "--help", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	FILE *f = fdopen(ends[0], "r");
	if (f) {
		if (!fgets(line, (int)size, f) || !fgets(line, (int)size, f))
			line[0] = '\0';
		line[strcspn(line, "\n")] = '\0';
		/* Read to the end, so that the tool is not killed by a closed pipe. */
		while (getc(f) != EOF)
			;
		fclose(f);
	} else {
		close(ends[0]);
	}
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

static int
is_tool(const struct dirent *e)
{
	return strncmp(e->d_name, prefix, sizeof prefix - 1) == 0;
}

static void
list(const char *dir)
{
	struct dirent **names;
	int n = dir ? scandir(dir, &names, is_tool, alphasort) : -1;
	char line[512];

	if (n < 0)
		nsx_cli_die(&cli, "the directory of the tools cannot be read");
	printf("\nTools:\n");
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name + sizeof prefix - 1;
		char *path = path_of(dir, name);
		if (access(path, X_OK) == 0) {
			summary_of(path, line, sizeof line);
			printf("  %-12s  %s\n", name, line);
		}
		free(path);
		free(names[i]);
	}
	free(names);
	if (fflush(stdout) != 0 || ferror(stdout))
		nsx_cli_die(&cli, "standard output: cannot be written");
}

/* The tool in dir with a name similar to one that is not a tool's name. */
static struct nsx_near_hint
hint_of(const char *dir, const char *name)
{
	struct nsx_near near = { .want = nsx_str_c(name) };
	struct dirent **names;
	int n = dir ? scandir(dir, &names, is_tool, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		nsx_near_offer(&near, nsx_str_c(names[i]->d_name + sizeof prefix - 1));
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	struct nsx_near_hint hint = nsx_near_hint(&near);
	nsx_near_free(&near);
	return hint;
}

/* Execute the tool argv[0], in the directory of this program or else on PATH. */
static void
run(const char *dir, char **argv)
{
	char *path = NULL, *name = path_of(NULL, argv[0]);

	if (strchr(argv[0], '/') || !*argv[0])
		nsx_cli_misuse(&cli, "\"%s\" is not a tool", argv[0]);
	argv[0] = name;
	if (dir) {
		path = path_of(dir, name + sizeof prefix - 1);
		execv(path, argv);
	}
	if (!dir || errno == ENOENT)
		execvp(name, argv);
	if (errno == ENOENT) {
		free(path);
		nsx_cli_misuse(&cli, "\"%s\" is not a tool; nsysx --help lists them%s", name + sizeof prefix - 1,
		               hint_of(dir, name + sizeof prefix - 1).text);
	}
	struct nsx_err err = { "" };
	nsx_err_set(&err, "%s: %s", path ? path : name, strerror(errno));
	nsx_cli_die(&cli, err.msg);
}

int
main(int argc, char **argv)
{
	char *dir = own_dir();

	/* `help TOOL` is `TOOL --help`, `help` is `--help`. */
	if (argc > 1 && strcmp(argv[1], "help") == 0) {
		static char help[] = "--help";

		if (argc > 3)
			nsx_cli_misuse(&cli, "help: one TOOL at most");
		argv[1] = argc > 2 ? argv[2] : help;
		if (argc > 2)
			argv[2] = help;
	}
	/* Options after the name of the tool belong to the tool. */
	if (argc > 1 && argv[1][0] != '-')
		run(dir, argv + 1);
	if (argc > 1 && strcmp(argv[1], "-h") != 0 && strcmp(argv[1], "--help") != 0) {
		argc = nsx_cli_parse(&cli, argc, argv);
		if (argc > 0)
			run(dir, argv);
		nsx_cli_misuse(&cli, "which TOOL?");
	}
	nsx_cli_help(&cli);
	list(dir);
	free(dir);
	return NSX_EXIT_OK;
}
