/* progress.c -- the progress line on standard error: drawn by a separate thread, so that the work pays for the counters
 * only, and removed before anything else is written there. The programs of a pipeline share a terminal: a lock on it
 * lets one of them draw. */
#define _GNU_SOURCE   /* locks of open files */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "tool.h"

#define MS INT64_C(1000000)

/* A program that reads files knows its progress, which is also that of the programs after it in a pipeline: those let
 * it draw first. */
enum { TICK_MS = 200, DELAY_MS = 1000, DELAY_UNKNOWN_MS = 2000, COLUMNS = 80, LINE_MAX_BYTES = 512 };

static const char erase[] = "\r\033[K";

static struct {
	const char     *tool;
	char            name[256];
	bool            phases;        /* show phases of one file; those of several would alternate */
	bool            forced;        /* NSYSX_PROGRESS=1: from the start, for any standard error */
	int             terminal;      /* opened for its lock; -1: not available */
	bool            locked;
	bool            drawing;       /* until output is written */
	pthread_mutex_t lock;          /* for all of this */
	int64_t         began, known_from;   /* ns; known_from 0: the total was not known yet */
	uint64_t        done_then;
} screen = { .terminal = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* State that a signal handler reads. */
static atomic_bool shown, ending;

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Failing to show progress is not an error. */
static void
put(int fd, const char *p, size_t n)
{
	ssize_t done = write(fd, p, n);

	(void)done;
}

static int
columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
		return w.ws_col;
	return COLUMNS;
}

/* ---- one at a time */

/* Bytes of the terminal that are locked: DRAW by the program that draws; OUTPUT, shared, by those whose output goes
 * there. */
enum part { DRAW, OUTPUT };

/* The lock belongs to the open file, so that another descriptor of the same terminal may be closed. */
static bool
locks(int command, enum part part, short type)
{
	struct flock f = { .l_type = type, .l_whence = SEEK_SET, .l_start = part, .l_len = 1 };

	return fcntl(screen.terminal, command, &f) == 0 && (command != F_OFD_GETLK || f.l_type == F_UNLCK);
}

static int
open_terminal(void)
{
	char path[256];

	if (ttyname_r(STDERR_FILENO, path, sizeof path) != 0 && ttyname_r(STDOUT_FILENO, path, sizeof path) != 0)
		return -1;
	return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
}

/* Whether this program may draw on the terminal. If it cannot be locked, `without` decides. */
static bool
take_terminal(bool without)
{
	if (screen.terminal < 0)
		return without;
	if (!screen.locked)
		screen.locked = locks(F_OFD_SETLK, DRAW, F_WRLCK);
	return screen.locked && locks(F_OFD_GETLK, OUTPUT, F_WRLCK);
}

static void
release_terminal(void)
{
	if (screen.locked)
		locks(F_OFD_SETLK, DRAW, F_UNLCK);
	screen.locked = false;
}

/* ---- drawing */

/* Programs in the background do not draw. */
static bool
in_foreground(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group < 0 || group == getpgrp();
}

static void
draw(void)
{
	char line[LINE_MAX_BYTES] = "\r";
	struct nsx_progress p;
	int64_t at = now(), elapsed = at - screen.began, left = -1;

	nsx_progress_get(&p);
	if (!screen.phases)
		p.phase = NULL;
	if (!p.total) {
		screen.known_from = 0;
	} else if (!screen.known_from) {
		/* Known from the start, or since an input of unknown size has ended. */
		bool first = elapsed < 2 * TICK_MS * MS;
		screen.known_from = first ? screen.began : at;
		screen.done_then = first ? 0 : p.done;
	}
	if (p.total)
		left = nsx_progress_left(&p, screen.done_then, at - screen.known_from);
	/* Nothing was read from the pipe yet: there is nothing to show. */
	if (!p.total && !p.records)
		return;
	if (!screen.forced && (elapsed < (p.total ? DELAY_MS : DELAY_UNKNOWN_MS) * MS || !in_foreground() ||
	    !take_terminal(p.total)))
		return;
	/* The last column stays empty: some terminals move to the next line when it is written. */
	size_t n = nsx_progress_line(line + 1, sizeof line - sizeof erase, columns() - 1, screen.tool, screen.name, &p,
	                             left, elapsed) + 1;
	memcpy(line + n, erase + 1, sizeof erase - 1);
	n += sizeof erase - 2;
	if (atomic_load(&ending))
		return;
	atomic_store(&shown, true);
	put(STDERR_FILENO, line, n);
}

static void *
draw_on(void *arg)
{
	const struct timespec tick = { 0, TICK_MS * MS };
	bool go_on = true;

	(void)arg;
	while (go_on) {
		pthread_mutex_lock(&screen.lock);
		go_on = screen.drawing;
		if (go_on)
			draw();
		pthread_mutex_unlock(&screen.lock);
		if (go_on)
			nanosleep(&tick, NULL);
	}
	return NULL;
}

/* Another program's line is removed like our own: text written now must not follow it. */
static bool
others_draw(void)
{
	return screen.terminal >= 0 && !screen.locked && !locks(F_OFD_GETLK, DRAW, F_WRLCK);
}

static void
hide(enum nsx_progress_hide why)
{
	pthread_mutex_lock(&screen.lock);
	if (why == NSX_HIDE_FOR_OUTPUT && screen.terminal >= 0)
		locks(F_OFD_SETLK, OUTPUT, F_RDLCK);
	if (why != NSX_HIDE_FOR_NOW && screen.drawing && screen.forced)
		draw();
	if (atomic_load(&shown))
		put(STDERR_FILENO, erase, sizeof erase - 1);
	else if (why != NSX_HIDE_FOR_GOOD && others_draw())
		put(screen.terminal, erase, sizeof erase - 1);
	atomic_store(&shown, false);
	if (why != NSX_HIDE_FOR_NOW) {
		screen.drawing = false;
		release_terminal();
	}
	pthread_mutex_unlock(&screen.lock);
}

static void
end(void)
{
	nsx_progress_hide(NSX_HIDE_FOR_GOOD);
}

/* Called within a signal handler. */
static void
leave(void)
{
	atomic_store(&ending, true);
	if (atomic_load(&shown))
		put(STDERR_FILENO, erase, sizeof erase - 1);
}

/* ---- starting */

static bool
start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool made = pthread_create(&thread, &attr, draw_on, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return made;
}

/* The file's name without folders, or the number of files. */
static void
set_name(int n, char *const *files)
{
	struct nsx_buf b = { .ptr = NULL };
	const char *slash = n ? strrchr(files[0], '/') : NULL;

	if (n > 1)
		nsx_buf_fmt(&b, "%d files", n);
	else if (n && strcmp(files[0], "-") != 0)
		nsx_buf_c(&b, slash && slash[1] ? slash + 1 : files[0]);
	size_t len = b.failed ? 0 : b.len < sizeof screen.name ? b.len : sizeof screen.name - 1;
	if (len)
		memcpy(screen.name, b.ptr + b.len - len, len);
	screen.name[len] = '\0';
	screen.phases = n <= 1;
	nsx_buf_free(&b);
}

static void
start(const struct nsx_cli *cli, int n, char *const *files)
{
	screen.tool = cli->name;
	set_name(n, files);
	screen.began = now();
	screen.drawing = true;
	nsx_outfile_at_signal(leave);
	nsx_progress_drawn_by(hide);
	atexit(end);
	if (!start_thread())
		screen.drawing = false;
}

void
nsx_tool_progress(const struct nsx_cli *cli, int n, char *const *files)
{
	const char *asked = getenv("NSYSX_PROGRESS"), *type = getenv("TERM");

	if (asked && *asked && strcmp(asked, "0") != 0 && strcmp(asked, "1") != 0)
		nsx_cli_misuse(cli, "NSYSX_PROGRESS: want 0 or 1, got \"%s\"", asked);
	bool off = nsx_cli_quiet() || (asked && strcmp(asked, "0") == 0);
	screen.forced = !off && asked && strcmp(asked, "1") == 0;
	screen.terminal = screen.forced ? -1 : open_terminal();
	/* A terminal that cannot erase would be filled with lines. */
	bool fit = isatty(STDERR_FILENO) && type && strcmp(type, "dumb") != 0;
	if (screen.forced || (fit && !off))
		start(cli, n, files);
	else if (screen.terminal >= 0)
		nsx_progress_drawn_by(hide);   /* output on the terminal is still reported to the other programs */
}
