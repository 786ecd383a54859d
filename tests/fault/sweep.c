/* sweep.c -- run a command repeatedly, each time with another call failing, until none is left. Each run must end
 * with status 0 and the very bytes of a run without faults, or with status 1, words that fit the fault, and no file left.
 *
 *   sweep [-o | -q | -w] [-d DENSE] [-s STRIDE] [-i FILE | -p FILE] [-m FILE] SHIM DIR CLASS[:on] COMMAND [ARG]...
 *
 * -o: the command writes to a file of its option -o, not to standard output; -q: of its option --sqlite; -w: files into the folder of its option -d, each of
 * which is whole or not there. Calls 1 .. DENSE fail in turn, then each
 * STRIDEth, then the last few. -m: a word @ of the command is the name of a copy of FILE, made anew for each run, for classes that
 * change it. -i: standard input; -p: the same through a pipe (up to 1 MB). Prints one line, `CALLS calls, RUNS runs, FAILED ended with status 1`;
 * exits 1 when a run broke the promise, which is then described on standard error. DIR is empty, and used for all. */
#define _GNU_SOURCE   /* memmem */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 30, LAST = 4, MOST_WRONG = 5 };

static struct {
	bool        to_file, to_folder, pipe;
	const char *option;   /* that names it */
	long        dense, stride;
	const char *in, *shim, *dir, *class, *model;
	char      **argv;
} opt = { .dense = 1L << 40, .stride = 1, .in = "/dev/null" };

static struct fault_report *report;
static char shown[4096];   /* the command */

struct bytes { char *p; size_t n; };
struct end { int status; struct bytes out, err; bool there; int others; };

static void
die(const char *what)
{
	fprintf(stderr, "sweep: %s: %s\n", what, strerror(errno));
	exit(2);
}

static const char *
in_dir(const char *name)
{
	static char paths[4][4096];
	static int next;
	char *p = paths[next++ % 4];

	snprintf(p, sizeof paths[0], "%s/%s", opt.dir, name);
	return p;
}

static struct bytes
slurp(const char *path)
{
	struct bytes b = { NULL, 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		die(path);
	b.p = malloc((size_t)st.st_size + 1);
	if (!b.p)
		die("memory");
	while (b.n < (size_t)st.st_size) {
		ssize_t got = read(fd, b.p + b.n, (size_t)st.st_size - b.n);
		if (got <= 0)
			die(path);
		b.n += (size_t)got;
	}
	b.p[b.n] = '\0';
	close(fd);
	return b;
}

static bool
same(struct bytes a, struct bytes b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static void
put_at(int to, const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
	close(fd);
}

/* A pipe that holds all of the input and has no writer any more, as standard input. */
static void
put_pipe(void)
{
	struct bytes b = slurp(opt.in);
	int ends[2];

	if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0 || b.n > 1 << 20 || write(ends[1], b.p, b.n) != (ssize_t)b.n ||
	    dup2(ends[0], 0) < 0)
		_exit(126);
	close(ends[0]);
	close(ends[1]);
}

static void
copy_to(struct bytes b, const char *name)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, b.p, b.n) != (ssize_t)b.n)
		die(name);
	close(fd);
}

/* The file that is changed, and its replacement. */
static void
make_model(void)
{
	struct bytes b = slurp(opt.model);

	unlink(in_dir("input"));
	copy_to(b, "input");
	b.n /= 2;
	copy_to(b, "input.new");
	free(b.p);
}

static void
child(const char *fault)
{
	static const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	if (opt.pipe)
		put_pipe();
	else
		put_at(0, opt.in, O_RDONLY);
	put_at(1, in_dir("stdout"), O_WRONLY | O_CREAT | O_TRUNC);
	put_at(2, in_dir("stderr"), O_WRONLY | O_CREAT | O_TRUNC);
	setenv("TMPDIR", in_dir("work"), 1);
	setenv("FAULT", fault, 1);
	setenv("FAULT_REPORT", in_dir("report"), 1);
	if (opt.model)
		setenv("FAULT_FILE", in_dir("input"), 1);
	setenv("LD_PRELOAD", opt.shim, 1);
	alarm(SECONDS);
	execvp(opt.argv[0], opt.argv);
	_exit(127);
}

/* Files of the output in the working folder, and the number of others; all are removed. For -w their bytes are added to out. */
static int
clear_work(struct bytes *out)
{
	struct dirent **names;
	int n = scandir(in_dir("work"), &names, NULL, alphasort), others = 0;
	char path[4096];

	for (int i = 0; i < n; free(names[i++])) {
		const char *name = names[i]->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		snprintf(path, sizeof path, "%s/work/%s", opt.dir, name);
		if (opt.to_folder && out && *name != '.') {
			struct bytes b = slurp(path);
			out->p = realloc(out->p, out->n + b.n + 1);
			memcpy(out->p + out->n, b.p, b.n + 1);
			out->n += b.n;
			free(b.p);
		} else {
			others += strcmp(name, "out") != 0;
		}
		unlink(path);
	}
	if (n >= 0)
		free(names);
	return others;
}

static struct end
run(const char *fault)
{
	struct end e = { 0 };

	memset((void *)report, 0, sizeof *report);
	if (opt.model)
		make_model();
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		child(fault);
	while (waitpid(pid, &e.status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	e.err = slurp(in_dir("stderr"));
	e.there = access(in_dir("work/out"), F_OK) == 0;
	e.out = slurp(opt.to_file && e.there ? in_dir("work/out") : in_dir("stdout"));
	e.others = clear_work(&e.out);
	return e;
}

static void
end_free(struct end *e)
{
	free(e->out.p);
	free(e->err.p);
}

/* Words that a message about the fault has one of. */
static bool
fits(const char *class, const char *said)
{
	static const struct { const char *class, *words[4]; } fit[] = {
		{ "alloc", { "memory" } }, { "mmap", { "memory" } }, { "open", { "Too many open files", "unable to open" } },
		{ "read", { "Input/output error", "I/O error" } }, { "write", { "No space left" } }, { "close", { "Input/output error" } },
		{ "sync", { "Input/output error" } }, { "rename", { "Input/output error" } }, { "thread", { "Resource temporarily" } }
	};

	for (size_t i = 0; i < sizeof fit / sizeof *fit; i++)
		for (size_t w = 0; w < 4 && fit[i].words[w] && strncmp(class, fit[i].class, strlen(fit[i].class)) == 0; w++)
			if (strstr(said, fit[i].words[w]))
				return true;
	return false;
}

/* The error in the way a run ended; NULL if there is none. */
static const char *
wrong(const struct end *e, const struct end *sound)
{
	const char *name = strrchr(opt.argv[0], '/') ? strrchr(opt.argv[0], '/') + 1 : opt.argv[0];

	if (WIFSIGNALED(e->status))
		return WTERMSIG(e->status) == SIGALRM ? "it hangs" : "it dies of a signal";
	if (e->others)
		return "a temporary file stays";
	if (WEXITSTATUS(e->status) == 0) {
		if (opt.to_file && !e->there)
			return "status 0 and no output";
		if (!same(e->out, sound->out))
			return "status 0 and other bytes";
		return same(e->err, sound->err) ? NULL : "status 0 and other words on standard error";
	}
	if (WEXITSTATUS(e->status) != 1)
		return "a status other than 0 and 1";
	if (opt.to_file && e->there)
		return "status 1 and a file under the name of the output";
	if (opt.to_folder && (e->out.n > sound->out.n || !memmem(sound->out.p, sound->out.n, e->out.p, e->out.n)))
		return "status 1 and files that are not whole";
	if (strcmp(opt.class, "short") == 0 || strcmp(opt.class, "intr") == 0)
		return "what is no failure fails it";
	if (strncmp(e->err.p, name, strlen(name)) != 0)
		return "status 1 without a message of its own";
	/* A file that changes during reading has several messages. */
	if (opt.model)
		return strcmp(opt.class, "shrink") == 0 || strcmp(opt.class, "grow") == 0 ? NULL : "what is no failure fails it";
	/* What SQLite says has words of its own. */
	if (opt.option && strcmp(opt.option, "--sqlite") == 0)
		return NULL;
	return fits(opt.class, e->err.p) ? NULL : "status 1 and a message that says something else";
}

/* Before each run that is to fail something: which. */
static bool
is_due(long n, long calls)
{
	return n <= opt.dense || n > calls - LAST || (n - opt.dense) % opt.stride == 0;
}

static int
sweep(void)
{
	const char *mode = strchr(opt.class, ':') ? strchr(opt.class, ':') : "";
	int name = (int)(strlen(opt.class) - strlen(mode));
	bool periodic = strcmp(opt.class, "short") == 0 || strcmp(opt.class, "intr") == 0;
	/* If every call were interrupted, no call would complete. */
	long calls = periodic ? 5 : 0, runs = 0, failed = 0, bad = 0, n = strcmp(opt.class, "intr") == 0;
	struct end sound = run("count:0");
	char fault[64];

	if (sound.status != 0 || !sound.out.n) {
		fprintf(stderr, "%s: fails without any fault: %s", shown, sound.err.p);
		return 1;
	}
	for (int i = 0; i < FAULT_NCLASSES; i++)
		if (strlen(fault_names[i]) == (size_t)name && strncmp(fault_names[i], opt.class, (size_t)name) == 0)
			calls = atomic_load(&report->calls[i]);
	for (bool fired = true; fired && bad < MOST_WRONG;) {
		/* Continue after the last call, until no fault occurs. */
		for (n++; n <= calls && !is_due(n, calls); n++)
			;
		if (periodic && n > calls)
			break;
		snprintf(fault, sizeof fault, "%.*s:%ld%s", name, opt.class, n, mode);
		struct end e = run(fault);
		fired = atomic_load(&report->fired) > 0 || periodic;
		const char *why = wrong(&e, &sound);
		runs++;
		failed += WIFEXITED(e.status) && WEXITSTATUS(e.status) == 1;
		if (why) {
			fprintf(stderr, "FAULT=%s %s: %s (wait status %d): %.300s\n", fault, shown, why, e.status, e.err.n ? e.err.p : "\n");
			bad++;
		}
		end_free(&e);
	}
	end_free(&sound);
	printf("%ld calls, %ld runs, %ld ended with status 1\n", periodic ? 0 : n - 1, runs, failed);
	return bad > 0;
}

/* The command with -o FILE, --sqlite FILE or -d FOLDER. */
static char **
with_output(char **argv, int argc)
{
	char **v = calloc((size_t)argc + 3, sizeof *v);

	if (!v)
		die("memory");
	memcpy(v, argv, (size_t)argc * sizeof *v);
	v[argc] = strdup(opt.option);
	v[argc + 1] = strdup(in_dir(opt.to_file ? "work/out" : "work"));
	return v;
}

static void
map_report(void)
{
	int fd = open(in_dir("report"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof *report) != 0)
		die(in_dir("report"));
	report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (report == MAP_FAILED)
		die("mmap");
	close(fd);
}

int
main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+oqwd:s:i:p:m:")) != -1)
		switch (c) {
		case 'o': case 'q':
			opt.to_file = true;
			opt.option = c == 'o' ? "-o" : "--sqlite";
			break;
		case 'm': opt.model = optarg; break;
		case 'w':
			opt.to_folder = true;
			opt.option = "-d";
			break;
		case 'd': opt.dense = atol(optarg); break;
		case 's': opt.stride = atol(optarg); break;
		case 'p': opt.pipe = true; /* fall through */
		case 'i': opt.in = optarg; break;
		default: return 2;
		}
	if (argc - optind < 4 || opt.stride < 1) {
		fprintf(stderr, "usage: sweep [-o | -q | -w] [-d DENSE] [-s STRIDE] [-i FILE | -p FILE] [-m FILE] SHIM DIR CLASS[:on] COMMAND [ARG]...\n");
		return 2;
	}
	opt.shim = argv[optind];
	opt.dir = argv[optind + 1];
	opt.class = argv[optind + 2];
	opt.argv = argv + optind + 3;
	for (char **a = opt.argv; *a; a++)
		snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s%s", a == opt.argv ? "" : " ", *a);
	for (char **a = opt.argv; opt.model && *a; a++)
		if (strcmp(*a, "@") == 0)
			*a = strdup(in_dir("input"));
	if (opt.to_file || opt.to_folder)
		opt.argv = with_output(opt.argv, argc - optind - 3);
	if (mkdir(in_dir("work"), 0700) != 0 && errno != EEXIST)
		die(in_dir("work"));
	clear_work(NULL);
	map_report();
	return sweep();
}
