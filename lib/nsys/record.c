/* record.c -- run a program under `nsys profile` so that the profile contains everything nsysx uses. Options and
 * variables that the user has set are never overwritten. */
#define _XOPEN_SOURCE 700   /* realpath */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nsys/record.h"

#include "base/memory.h"
#include "base/str.h"
#include "base/vec.h"

extern char **environ;

/* The child to which signals are forwarded while we wait. */
static volatile sig_atomic_t child;

static void
pass_on(int sig)
{
	if (child > 0)
		kill((pid_t)child, sig);
}

/* Run argv to its end, its standard error discarded if quiet: its exit status as a shell gives it; -1 with err filled
 * when it cannot be started. */
static int
run(char **argv, bool quiet, struct nsx_err *err)
{
	struct sigaction forward = { .sa_handler = pass_on, .sa_flags = SA_RESTART }, old[3];
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	posix_spawn_file_actions_t files;
	int status;
	pid_t pid;

	if (posix_spawn_file_actions_init(&files) != 0) {
		nsx_err_nomem(err, argv[0]);
		return -1;
	}
	int rc = quiet ? posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) : 0;
	/* Caught signals are reset to their defaults in the child. */
	for (int i = 0; i < 3; i++)
		sigaction(signals[i], &forward, &old[i]);
	nsx_memory_lift();
	if (!rc)
		rc = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
	nsx_memory_lower();
	posix_spawn_file_actions_destroy(&files);
	if (rc == 0) {
		child = pid;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		child = 0;
	}
	for (int i = 0; i < 3; i++)
		sigaction(signals[i], &old[i], NULL);
	if (rc) {
		nsx_err_set(err, "%s: %s", argv[0], strerror(rc));
		return -1;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- the folder */

static int
expand(struct nsx_record *r, struct nsx_err *err)
{
	struct nsx_buf b = { 0 };
	char host[256] = "";

	for (const char *p = r->out; *p; p++) {
		const char *close = strncmp(p, "%q{", 3) == 0 ? strchr(p, '}') : NULL;
		if (close) {
			char *name = nsx_str_dup((struct nsx_str){ p + 3, (size_t)(close - p - 3) });
			const char *value = name ? getenv(name) : NULL;
			if (name && !value)
				nsx_err_set(err, "%s: the environment has no %s", r->out, name);
			if (value)
				nsx_buf_c(&b, value);
			free(name);
			if (!value) {
				nsx_buf_free(&b);
				return NSX_ERR;
			}
			p = close;
		} else if (strncmp(p, "%h", 2) == 0) {
			gethostname(host, sizeof host - 1);
			nsx_buf_c(&b, host);
			p++;
		} else if (strncmp(p, "%p", 2) == 0) {
			nsx_buf_fmt(&b, "%ld", (long)getpid());
			p++;
		} else if (strncmp(p, "%%", 2) == 0) {
			nsx_buf_char(&b, '%');
			p++;
		} else
			nsx_buf_char(&b, *p);
	}
	nsx_buf_char(&b, '\0');
	int rc = b.failed ? nsx_err_nomem(err, r->out) : NSX_OK;
	if (rc == NSX_OK && (b.len > sizeof r->folder || b.len < 2))
		rc = nsx_err_set(err, "%s: not the name of a folder", r->out);
	if (rc == NSX_OK)
		memcpy(r->folder, b.ptr, b.len);
	nsx_buf_free(&b);
	return rc;
}

/* FOLDER/NAME, malloc'd; NULL when out of memory. */
static char *
in_folder(const struct nsx_record *r, const char *prefix, const char *name)
{
	struct nsx_buf b = { 0 };

	nsx_buf_fmt(&b, "%s%s/%s", prefix, r->folder, name);
	nsx_buf_char(&b, '\0');
	if (b.failed)
		nsx_buf_free(&b);
	return b.ptr;
}

static bool
exists(const struct nsx_record *r, const char *name)
{
	char *path = in_folder(r, "", name);
	bool there = path && access(path, F_OK) == 0;

	free(path);
	return there;
}

static int
make_folder(struct nsx_record *r, struct nsx_err *err)
{
	char full[PATH_MAX];

	for (char *p = r->folder + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			int rc = mkdir(r->folder, 0777);
			if (rc != 0 && errno != EEXIST)
				return nsx_err_set(err, "%s: %s", r->folder, strerror(errno));
			*p = '/';
		}
	if (mkdir(r->folder, 0777) != 0 && errno != EEXIST)
		return nsx_err_set(err, "%s: %s", r->folder, strerror(errno));
	/* The path is made absolute: the program may change its directory before it writes dumps. */
	if (!realpath(r->folder, full) || strlen(full) >= sizeof r->folder)
		return nsx_err_set(err, "%s: %s", r->folder, strerror(errno));
	memcpy(r->folder, full, strlen(full) + 1);
	if (!r->force && (exists(r, "report.nsys-rep") || exists(r, "report.sqlite")))
		return nsx_err_set(err, "%s: a report is already there; --force overwrites it", r->folder);
	return NSX_OK;
}

/* ---- the environment */

/* The value of an option in XLA_FLAGS, up to the next space; an empty ptr if it is not there. */
static struct nsx_str
flag(const char *flags, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = flags; (p = strstr(p, name)) != NULL; p += n)
		if ((p == flags || p[-1] == ' ') && (p[n] == '=' || p[n] == ' ' || !p[n])) {
			const char *v = p + n + (p[n] == '=');
			return (struct nsx_str){ v, strcspn(v, " ") };
		}
	return (struct nsx_str){ NULL, 0 };
}

static int
link_dumps(const struct nsx_record *r, struct nsx_str target, struct nsx_err *err)
{
	char *to = nsx_str_dup(target), *name = in_folder(r, "", "dump"), full[PATH_MAX];
	int rc = NSX_OK;

	if (!to || !name)
		rc = nsx_err_nomem(err, r->folder);
	else if (mkdir(to, 0777) != 0 && errno != EEXIST)
		rc = nsx_err_set(err, "%s (--xla_dump_to in XLA_FLAGS): %s", to, strerror(errno));
	else if (!realpath(to, full) || (unlink(name) != 0 && errno != ENOENT) || symlink(full, name) != 0)
		rc = nsx_err_set(err, "%s: %s", name, strerror(errno));
	free(to);
	free(name);
	return rc;
}

static int
set_environment(const struct nsx_record *r, struct nsx_err *err)
{
	const char *flags = getenv("XLA_FLAGS");
	struct nsx_buf b = { 0 };
	int rc = NSX_OK;

	nsx_buf_c(&b, flags ? flags : "");
	struct nsx_str dumps = flag(flags ? flags : "", "--xla_dump_to");
	if (dumps.ptr && dumps.len)
		rc = link_dumps(r, dumps, err);
	else {
		char *name = in_folder(r, "", "dump");
		if (!name || (mkdir(name, 0777) != 0 && errno != EEXIST))
			rc = nsx_err_set(err, "%s/dump: %s", r->folder, name ? strerror(errno) : "out of memory");
		free(name);
		nsx_buf_fmt(&b, "%s--xla_dump_to=%s/dump", b.len ? " " : "", r->folder);
	}
	if (!flag(flags ? flags : "", "--xla_dump_hlo_as_proto").ptr)
		nsx_buf_fmt(&b, " --xla_dump_hlo_as_proto=true");
	nsx_buf_char(&b, '\0');
	if (rc == NSX_OK && (b.failed || setenv("XLA_FLAGS", b.ptr, 1) != 0 ||
	    setenv("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "-1", 0) != 0 ||
	                     setenv("JAX_ENABLE_COMPILATION_CACHE", "false", 0) != 0))
		rc = nsx_err_nomem(err, r->folder);
	nsx_buf_free(&b);
	return rc;
}

/* ---- nsys */

/* Whether the user gave the option, in its long or short form. */
static bool
given(const struct nsx_record *r, const char *name, const char *letter)
{
	size_t n = strlen(name);

	for (int i = 0; i < r->nnsys; i++)
		if ((strncmp(r->nsys[i], name, n) == 0 && (r->nsys[i][n] == '=' || !r->nsys[i][n])) ||
		    (letter && strncmp(r->nsys[i], letter, strlen(letter)) == 0 && r->nsys[i][1] != '-'))
			return true;
	return false;
}

/* What nsys is asked for unless the user asks for something else; NULL: nothing. A stack with every sample, since one
 * without is an address. */
static const struct { const char *option, *letter, *plain, *cpu; } defaults[] = {
	{ "--trace", "-t", "--trace=cuda,nvtx", "--trace=cuda,nvtx,osrt,python-gil" },
	{ "--sample", "-s", "--sample=none", "--sample=process-tree" },
	{ "--cpuctxsw", NULL, "--cpuctxsw=none", "--cpuctxsw=process-tree" },
	{ "--samples-per-backtrace", NULL, NULL, "--samples-per-backtrace=1" },
	{ "--python-sampling", NULL, NULL, "--python-sampling=true" },
	{ "--cuda-graph-trace", NULL, "--cuda-graph-trace=node", "--cuda-graph-trace=node" },
};

static int
profile(struct nsx_record *r, struct nsx_err *err)
{
	NSX_VEC(char *) argv = { 0 };
	char *output = in_folder(r, "--output=", "report");
	bool good = output && nsx_vec_push(&argv, "nsys") && nsx_vec_push(&argv, "profile") &&
	    nsx_vec_push(&argv, output);

	good = good && (!r->force || nsx_vec_push(&argv, "--force-overwrite=true"));
	for (size_t i = 0; i < sizeof defaults / sizeof *defaults && good; i++) {
		const char *set = r->cpu ? defaults[i].cpu : defaults[i].plain;

		good = !set || given(r, defaults[i].option, defaults[i].letter) ||
		       nsx_vec_push(&argv, (char *)(uintptr_t)set);
	}
	for (int i = 0; i < r->nnsys; i++)
		good = good && nsx_vec_push(&argv, r->nsys[i]);
	for (char **p = r->program; *p; p++)
		good = good && nsx_vec_push(&argv, *p);
	good = good && nsx_vec_push(&argv, NULL);
	int status = good ? run(argv.p, false, err) : -1;
	if (!good)
		nsx_err_nomem(err, r->folder);
	free(argv.p);
	free(output);
	return status;
}

static int
export_report(const struct nsx_record *r, struct nsx_err *err)
{
	char *in = in_folder(r, "", "report.nsys-rep"), *out = in_folder(r, "--output=", "report.sqlite");
	char *argv[] = { "nsys", "export", "--type=sqlite", "--force-overwrite=true", "--quiet=true", out, in,
	                 "--include-blobs=true", NULL };
	int status = -1;

	if (in && out) {
		status = run(argv, true, err);
		/* Versions without support for payloads refuse the option; any other error occurs again without it. */
		if (status > 0) {
			argv[7] = NULL;
			status = run(argv, false, err);
		}
		if (status > 0)
			nsx_err_set(err, "%s: nsys export: exit status %d", in, status);
	} else
		nsx_err_nomem(err, r->folder);
	free(in);
	free(out);
	return status == 0 ? NSX_OK : NSX_ERR;
}

/* Whether nsys was told to end the program when the collection ends. */
static bool
ends_program(const struct nsx_record *r)
{
	bool limited = given(r, "--capture-range", "-c") || given(r, "--duration", "-d");

	for (int i = 0; i < r->nnsys; i++)
		if (strcmp(r->nsys[i], "--kill=none") == 0 || strcmp(r->nsys[i], "--stop-on-range-end=false") == 0 ||
		    strcmp(r->nsys[i], "--capture-range-end=stop") == 0)
			return false;
	return limited;
}

int
nsx_record(struct nsx_record *r, struct nsx_err *err)
{
	r->status = 0;
	r->profiled = r->killed = false;
	if (r->condition) {
		char *test[] = { "/bin/sh", "-c", (char *)(uintptr_t)r->condition, NULL };
		int status = run(test, false, err);
		if (status < 0)
			return NSX_ERR;
		if (status != 0) {
			status = run(r->program, false, err);
			r->status = status < 0 ? 127 : status;
			return status < 0 ? NSX_ERR : NSX_OK;
		}
	}
	if (expand(r, err) != NSX_OK || make_folder(r, err) != NSX_OK || set_environment(r, err) != NSX_OK)
		return NSX_ERR;
	int status = profile(r, err);
	if (status < 0)
		return NSX_ERR;
	r->profiled = true;
	r->status = status;
	if (!exists(r, "report.nsys-rep"))
		return nsx_err_set(err, "%s: nsys profile left no report.nsys-rep (exit status %d)", r->folder, status);
	if (export_report(r, err) != NSX_OK)
		return NSX_ERR;
	if ((status == 128 + SIGTERM || status == 128 + SIGKILL) && ends_program(r)) {
		r->killed = true;
		r->status = 0;
	}
	return NSX_OK;
}
