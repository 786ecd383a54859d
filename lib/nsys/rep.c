/* rep.c -- converts an .nsys-rep with `nsys export`, in a private folder that is removed before the result is read. */
#define _XOPEN_SOURCE 700   /* mkdtemp */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "nsys/db.h"

extern char **environ;

/* Signals that would end us while the folder exists. They are deferred; nsys gets them at once. */
static void
ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

/* Wait for the child, forwarding signals that we receive meanwhile; *sig is the signal, 0 if there was none. Returns
 * the child's status, -1 on failure. */
static int
wait_for(pid_t pid, int *sig)
{
	const struct timespec while_waiting = { 0, 50 * 1000 * 1000 };
	sigset_t set;
	int status;
	pid_t got;

	ending_signals(&set);
	while ((got = waitpid(pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
		int came = sigtimedwait(&set, NULL, &while_waiting);
		if (came > 0) {
			*sig = came;
			kill(pid, came);
		}
	}
	return got < 0 ? -1 : status;
}

/* Run nsys with our signals blocked, its standard error discarded if quiet: NSX_OK if it exits with status 0. */
static int
run_nsys(const char *path, char **argv, bool quiet, const sigset_t *old, int *sig, struct nsx_err *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid;

	if (posix_spawn_file_actions_init(&files) != 0)
		return nsx_err_nomem(err, path);
	if (posix_spawnattr_init(&attr) != 0) {
		posix_spawn_file_actions_destroy(&files);
		return nsx_err_nomem(err, path);
	}
	int rc = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!rc && quiet)
		rc = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!rc)
		rc = posix_spawnattr_setsigmask(&attr, old);
	if (!rc)
		rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	nsx_memory_lift();
	if (!rc)
		rc = posix_spawnp(&pid, "nsys", &files, &attr, argv, environ);
	nsx_memory_lower();
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (rc == ENOENT)
		return nsx_err_set(err,
			"%s: a report, and no nsys on PATH to export it: where Nsight Systems is installed, run `nsys "
			"export --type=sqlite --include-blobs=true %s` and use its .sqlite", path,
		                   path);
	if (rc)
		return nsx_err_set(err, "%s: nsys export: %s", path, strerror(rc));
	int status = wait_for(pid, sig);
	if (status < 0)
		return nsx_err_set(err, "%s: nsys export: %s", path, strerror(errno));
	if (WIFSIGNALED(status))
		return nsx_err_set(err, "%s: nsys export: ended by signal %d", path, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return nsx_err_set(err, "%s: nsys export: exit status %d", path, WEXITSTATUS(status));
	return NSX_OK;
}

/* Export into the folder: a descriptor of the result, which is already unlinked. */
static int
export_into(const char *path, const char *dir, const sigset_t *old, int *sig, struct nsx_err *err)
{
	struct nsx_buf out = { 0 }, in = { 0 }, opt = { 0 };
	int fd = -1;

	nsx_buf_fmt(&out, "%s/export.sqlite", dir);
	nsx_buf_char(&out, '\0');
	nsx_buf_fmt(&opt, "--output=%s/export.sqlite", dir);
	nsx_buf_char(&opt, '\0');
	nsx_buf_fmt(&in, "%s%s", path[0] == '-' ? "./" : "", path);
	nsx_buf_char(&in, '\0');
	if (out.failed || in.failed || opt.failed) {
		nsx_err_nomem(err, path);
	} else {
		char *argv[] = { "nsys", "export", "--type=sqlite", "--force-overwrite=true", "--quiet=true", opt.ptr,
		                 in.ptr,
		                 "--include-blobs=true", NULL };
		struct nsx_err first = { "" };
		bool done = run_nsys(path, argv, true, old, sig, &first) == NSX_OK;

		/* Versions without support for payloads (before 2022.4) refuse the option; any other error occurs again
		 * without it. */
		if (!done && !*sig) {
			argv[7] = NULL;
			done = run_nsys(path, argv, false, old, sig, err) == NSX_OK;
		}
		if (done && (fd = open(out.ptr, O_RDONLY | O_CLOEXEC)) < 0)
			nsx_err_set(err, "%s: nsys export left no file: %s", path, strerror(errno));
		if (!done && *sig)
			nsx_err_set(err, "%s", first.msg);
		unlink(out.ptr);
	}
	nsx_buf_free(&out);
	nsx_buf_free(&in);
	nsx_buf_free(&opt);
	return fd;
}

int
nsx_rep_open(const char *path, struct nsx_err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct nsx_buf dir = { 0 };
	sigset_t set, old;
	int fd = -1, sig = 0;

	nsx_buf_fmt(&dir, "%s/nsysx.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	nsx_buf_char(&dir, '\0');
	if (dir.failed) {
		nsx_buf_free(&dir);
		nsx_err_nomem(err, path);
		return -1;
	}
	ending_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	if (!mkdtemp(dir.ptr)) {
		nsx_err_set(err, "temporary folder %s: %s", dir.ptr, strerror(errno));
	} else {
		fd = export_into(path, dir.ptr, &old, &sig, err);
		if (rmdir(dir.ptr) != 0) {
			/* A log left by a writer that failed. */
			struct nsx_buf log = { 0 };
			nsx_buf_fmt(&log, "%s/export.sqlite-journal", dir.ptr);
			nsx_buf_char(&log, '\0');
			if (!log.failed)
				unlink(log.ptr);
			nsx_buf_free(&log);
			rmdir(dir.ptr);
		}
	}
	nsx_buf_free(&dir);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (sig)
		raise(sig);
	return fd;
}
