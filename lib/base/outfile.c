/* outfile.c -- outputs written under a temporary name, which is removed however the program ends. */
#define _XOPEN_SOURCE 700   /* realpath */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/inputs.h"
#include "base/progress.h"
#include "base/str.h"

/* A temporary file that exists. A signal handler in any thread reads the list, so entries are never
 * freed and their paths live until the entry is used again. */
struct temp {
	char        *path;
	atomic_bool  live;
	struct temp *next;
};

static struct temp *_Atomic temps;
static atomic_bool ending;         /* set by a signal: no new temporary files */
static atomic_bool making;         /* a file may exist that is not yet in the list */
static pthread_mutex_t temps_lock = PTHREAD_MUTEX_INITIALIZER;   /* for writers of the list */
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;
static void (*_Atomic at_signal)(void);

struct nsx_outfile {
	int             fd;
	char           *name;   /* as the user gave it */
	char           *path;   /* the file behind it; NULL when written in place */
	struct temp    *temp;   /* NULL when written in place */
	bool            terminal;   /* standard output may show a progress line until something is written */
	struct nsx_err *err;
};

void
nsx_outfile_abandon_all(void)
{
	for (struct temp *t = atomic_load(&temps); t; t = t->next)
		if (atomic_exchange(&t->live, false))
			unlink(t->path);
}

/* Another thread may be creating a file: it continues, with signals blocked, while this thread waits. After that it
 * creates no more. */
static void
await_making(void)
{
	const struct timespec moment = { 0, 1000000 };

	while (atomic_load(&making))
		nanosleep(&moment, NULL);
}

static void
on_signal(int sig)
{
	struct sigaction act = { .sa_handler = SIG_DFL };
	int before = errno;

	/* A second signal must not interrupt the handling of the first. */
	if (!atomic_exchange(&ending, true)) {
		void (*fn)(void) = atomic_load(&at_signal);

		await_making();
		nsx_outfile_abandon_all();
		if (fn)
			fn();
		sigemptyset(&act.sa_mask);
		sigaction(sig, &act, NULL);
		raise(sig);   /* blocked until this handler returns */
	}
	errno = before;
}

static void
install_handlers(void)
{
	/* SIGPIPE: the reader of standard error may be gone while an output is being written. */
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU };
	struct sigaction act = { .sa_handler = on_signal }, old;

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
		sigaddset(&act.sa_mask, sigs[i]);
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
		/* nohup and background shells ignore these signals: keep that. */
		if (sigaction(sigs[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(sigs[i], &act, NULL);
	/* A limit on the size of files is then an error of write(2), which can be reported. */
	act.sa_handler = SIG_IGN;
	sigaction(SIGXFSZ, &act, NULL);
}

void
nsx_outfile_at_signal(void (*fn)(void))
{
	atomic_store(&at_signal, fn);
	pthread_once(&handlers_once, install_handlers);
}

/* Create the temporary file of pattern path (ownership taken, also on failure) and add it to the list before a signal
 * can be handled. NULL with errno set. */
static struct temp *
temp_make(char *path, int *fd)
{
	sigset_t all, before;
	struct temp *t;

	pthread_once(&handlers_once, install_handlers);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&temps_lock);
	for (t = atomic_load(&temps); t && (atomic_load(&t->live) || t->path); t = t->next)
		;
	if (!t && (t = calloc(1, sizeof *t))) {
		t->next = atomic_load(&temps);
		atomic_store(&temps, t);
	}
	/* `making` is set before `ending` is read, and on_signal sets `ending` before it reads `making`: one of the two
	 * sees the other. */
	atomic_store(&making, true);
	*fd = t && !atomic_load(&ending) ? mkstemp(path) : -1;
	int why = !t ? ENOMEM : atomic_load(&ending) ? EINTR : errno;
	if (*fd >= 0) {
		t->path = path;
		atomic_store(&t->live, true);
	}
	atomic_store(&making, false);
	if (*fd < 0) {
		free(path);
		t = NULL;
	}
	pthread_mutex_unlock(&temps_lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return t;
}

/* The file has been renamed or is no longer needed: unlink it if it is still ours. It stays in the list until that is
 * done, so a signal in between finds it; unlinking it twice does no harm. The thread that removes it from the list was
 * the last to use its path: if a signal handler in another thread removed it, that handler may still use the path, and
 * the program is about to end. */
static void
temp_drop(struct temp *t, bool renamed)
{
	pthread_mutex_lock(&temps_lock);
	if (!renamed && atomic_load(&t->live))
		unlink(t->path);
	if (atomic_exchange(&t->live, false)) {
		free(t->path);
		t->path = NULL;
	}
	pthread_mutex_unlock(&temps_lock);
}

/* "DIR/.NAME.XXXXXX" for "DIR/NAME", with a NAME of any length shortened to fit. NULL: out of memory. */
static char *
temp_pattern(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	struct nsx_buf b = { 0 };

	nsx_buf_add(&b, path, (size_t)(base - path));
	nsx_buf_fmt(&b, ".%.200s.XXXXXX", base);
	nsx_buf_char(&b, '\0');
	if (b.failed) {
		nsx_buf_free(&b);
		return NULL;
	}
	return b.ptr;
}

static mode_t
current_umask(void)
{
	/* The umask can only be read by setting it; a file that another thread creates meanwhile becomes private. */
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

static int
open_stdout(struct nsx_outfile *f)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return nsx_err_set(f->err, "%s: not open for writing", f->name);
	f->fd = STDOUT_FILENO;
	f->terminal = isatty(STDOUT_FILENO);
	return NSX_OK;
}

/* The file that a dangling symbolic link names, and which open(2) would create; through chains of links too. path
 * itself if it is not a link. NULL with errno set. */
static char *
behind_link(const char *path)
{
	enum { LINKS = 40, LONGEST = 1 << 16 };
	char *at = nsx_str_dup(nsx_str_c(path)), *target = malloc(LONGEST);

	errno = ENOMEM;
	for (int links = 0; at && target; links++) {
		ssize_t n = readlink(at, target, LONGEST - 1);
		struct nsx_buf b = { 0 };
		const char *slash = strrchr(at, '/');

		if (n < 0)   /* no link, or no file: opening a file beside it shows which */
			break;
		target[n] = '\0';
		if (slash && target[0] != '/')
			nsx_buf_add(&b, at, (size_t)(slash + 1 - at));
		nsx_buf_add(&b, target, (size_t)n + 1);
		free(at);
		at = b.failed || links == LINKS ? NULL : b.ptr;
		if (!at) {
			nsx_buf_free(&b);
			errno = links == LINKS ? ELOOP : ENOMEM;
		}
	}
	int why = errno;
	if (!target) {
		free(at);
		at = NULL;
	}
	free(target);
	errno = why;
	return at;
}

/* An output that is an input would replace it. Inputs may be opened later: this is asked again before that happens. */
static int
check_input(const struct nsx_outfile *f, const struct stat *st)
{
	return nsx_inputs_has(st) ? nsx_err_set(f->err, "%s: is an input, too, and would be lost: choose another name",
	                                        f->name) : NSX_OK;
}

static int
open_path(struct nsx_outfile *f)
{
	struct stat st;
	bool exists = stat(f->name, &st) == 0;

	if (exists && S_ISDIR(st.st_mode))
		return nsx_err_set(f->err, "%s: %s", f->name, strerror(EISDIR));
	if (exists && !S_ISREG(st.st_mode)) {
		f->fd = open(f->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		return f->fd < 0 ? nsx_err_set(f->err, "%s: %s", f->name, strerror(errno)) : NSX_OK;
	}
	if (exists && check_input(f, &st) != NSX_OK)
		return NSX_ERR;
	/* A rename needs no permission to write the old file; writing it does, so check it as if it were written. */
	if (exists && access(f->name, W_OK) != 0)
		return nsx_err_set(f->err, "%s: %s", f->name, strerror(errno));
	/* Replace the file behind a symbolic link, not the link. */
	f->path = exists ? realpath(f->name, NULL) : behind_link(f->name);
	char *pattern = f->path ? temp_pattern(f->path) : NULL;
	if (!pattern)
		return nsx_err_set(f->err, "%s: %s", f->name, strerror(errno));
	f->temp = temp_make(pattern, &f->fd);
	if (!f->temp && errno == ENOENT)
		return nsx_err_set(f->err, "%s: %s: create its folder first", f->name, strerror(ENOENT));
	if (!f->temp)
		return nsx_err_set(f->err, "%s: %s", f->name, strerror(errno));
	mode_t mode = exists ? st.st_mode & 0777 : 0666 & ~current_umask();
	if (fchmod(f->fd, mode) != 0 || fcntl(f->fd, F_SETFD, FD_CLOEXEC) != 0)
		return nsx_err_set(f->err, "%s: %s", f->name, strerror(errno));
	return NSX_OK;
}

struct nsx_outfile *
nsx_outfile_open(const char *path, struct nsx_err *err)
{
	bool is_stdout = !path || strcmp(path, "-") == 0;
	struct nsx_outfile *f = calloc(1, sizeof *f);

	if (!f || !(f->name = nsx_str_dup(nsx_str_c(is_stdout ? "standard output" : path)))) {
		nsx_err_nomem(err, path);
		free(f);
		return NULL;
	}
	f->fd = -1;
	f->err = err;
	if ((is_stdout ? open_stdout(f) : open_path(f)) != NSX_OK) {
		nsx_outfile_free(f);
		return NULL;
	}
	return f;
}

int
nsx_outfile_write(struct nsx_outfile *f, const void *p, size_t n)
{
	const char *at = p;

	if (f->terminal && n)
		nsx_progress_hide(NSX_HIDE_FOR_OUTPUT);
	f->terminal = false;
	while (n > 0) {
		ssize_t done = write(f->fd, at, n);
		if (done >= 0) {
			at += done;
			n -= (size_t)done;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			/* Another process that shares this pipe or terminal made it non-blocking. */
			struct pollfd wait = { .fd = f->fd, .events = POLLOUT };
			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return nsx_err_set(f->err, "%s: %s", f->name, strerror(errno));
		}
	}
	return NSX_OK;
}

int
nsx_outfile_commit(struct nsx_outfile *f)
{
	/* Closing a copy flushes as closing does, and keeps descriptor 1 from being given to another file. */
	int fd = f->fd == STDOUT_FILENO && !f->temp ? dup(f->fd) : f->fd;

	f->fd = -1;
	if (fd < 0 || (close(fd) != 0 && errno != EINTR))
		return nsx_err_set(f->err, "%s: %s", f->name, strerror(errno));
	if (!f->temp)
		return NSX_OK;
	struct stat st;

	if (stat(f->path, &st) == 0 && check_input(f, &st) != NSX_OK)
		return NSX_ERR;
	if (rename(f->temp->path, f->path) != 0)
		return nsx_err_set(f->err, "%s: %s", f->name, strerror(errno));
	temp_drop(f->temp, true);
	f->temp = NULL;
	return NSX_OK;
}

void
nsx_outfile_free(struct nsx_outfile *f)
{
	if (!f)
		return;
	if (f->fd > STDERR_FILENO || (f->fd >= 0 && f->temp))
		close(f->fd);
	if (f->temp)
		temp_drop(f->temp, false);
	free(f->name);
	free(f->path);
	free(f);
}

const char *
nsx_outfile_file(const struct nsx_outfile *f)
{
	return f->temp ? f->temp->path : NULL;
}

const char *
nsx_outfile_name(const struct nsx_outfile *f)
{
	return f->name;
}

int
nsx_tmpfile(struct nsx_err *err)
{
	const char *dir = getenv("TMPDIR");
	struct nsx_buf b = { 0 };
	int fd;

	nsx_buf_fmt(&b, "%s/nsysx.XXXXXX", dir && *dir ? dir : "/tmp");
	nsx_buf_char(&b, '\0');
	if (b.failed) {
		nsx_buf_free(&b);
		return nsx_err_nomem(err, dir);
	}
	struct temp *t = temp_make(b.ptr, &fd);
	if (!t)
		return nsx_err_set(err, "temporary file in %s, which TMPDIR can change: %s", dir && *dir ? dir : "/tmp",
		                   strerror(errno));
	temp_drop(t, false);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
		nsx_err_set(err, "temporary file: %s", strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}
