/* turns.c -- nsx-turns: commands, run in turn, and the cost of each compared with the first. Other load of the machine affects all equally.
 * usage: turns [-l SECONDS] TIMES NAME COMMAND [NAME COMMAND]...
 * Runs each command (by sh, standard output discarded) once to warm up and then TIMES times, one after the other, and prints
 * a row a command: name, wall time (median, least), median CPU time of all its processes, user and system, the memory of its
 * largest process (resident, and how much of that is anonymous: what is no file's), and medians of the ratios of wall and CPU
 * time to the first command's in the same round. Anonymous memory is looked at once a millisecond in the run that warms up,
 * which is not timed: a peak between two looks is missed.
 * A command that takes longer than -l allows is ended and not run again: its row is of that one run, of the process that sh
 * became where it says exec, and has 1 in the last column, `over`. A command that fails ends it all. */
#define _DEFAULT_SOURCE   /* wait4 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TIMES = 101, MAX_COMMANDS = 32, TIMED_OUT = 124 /* the status of timeout(1) */ };

struct cost { double wall, cpu; };
struct command {
	const char *name, *text;
	struct cost cost[MAX_TIMES];
	long        kib, anon_kib;
	int         n;      /* costs */
	bool        over;
};

static const char *limit;

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void
child(const char *text)
{
	int null = open("/dev/null", O_WRONLY);

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(127);
	if (limit)
		execlp("timeout", "timeout", limit, "/bin/sh", "-c", text, (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	_exit(127);
}

/* The anonymous resident memory of a process in KiB, 0 if it has ended. */
static long
anonymous(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* The maximum over a process and its children, not their sum. */
static long
most_anonymous(pid_t pid, int depth)
{
	char path[64];
	long most = anonymous(pid), child_pid;

	snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
	FILE *f = depth < 8 ? fopen(path, "r") : NULL;
	while (f && fscanf(f, "%ld", &child_pid) == 1) {
		long kib = most_anonymous((pid_t)child_pid, depth + 1);
		most = kib > most ? kib : most;
	}
	if (f)
		fclose(f);
	return most;
}

static pid_t
watch(struct command *c, pid_t pid, int *status, struct rusage *use)
{
	pid_t got;

	while ((got = wait4(pid, status, WNOHANG, use)) == 0 || (got < 0 && errno == EINTR)) {
		long kib = most_anonymous(pid, 0);
		c->anon_kib = kib > c->anon_kib ? kib : c->anon_kib;
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	return got;
}

static struct cost
run(struct command *c, bool watched)
{
	struct timespec a, b;
	struct rusage use;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &a);
	pid_t pid = fork();
	if (pid == 0)
		child(c->text);
	pid_t got = watched && pid > 0 ? watch(c, pid, &status, &use) : -1;
	while (!watched && pid > 0 && (got = wait4(pid, &status, 0, &use)) < 0 && errno == EINTR)
		;
	clock_gettime(CLOCK_MONOTONIC, &b);
	c->over = limit && got > 0 && WIFEXITED(status) && WEXITSTATUS(status) == TIMED_OUT;
	if (!c->over && (got < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
		fprintf(stderr, "nsx-turns: failed: %s\n", c->text);
		exit(1);
	}
	if (use.ru_maxrss > c->kib)
		c->kib = use.ru_maxrss;
	return (struct cost){ (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9,
	                      seconds(use.ru_utime) + seconds(use.ru_stime) };
}

static int
by_size(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static double
median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_size);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* CPU time is counted in steps; 0 counts as one microsecond. */
static double
ratio(double x, double base)
{
	return x / (base > 1e-6 ? base : 1e-6);
}

static void
print(const struct command *c, const struct command *first)
{
	double wall[MAX_TIMES], cpu[MAX_TIMES], wall_ratio[MAX_TIMES], cpu_ratio[MAX_TIMES];
	int pairs = c->n < first->n ? c->n : first->n;

	for (int i = 0; i < c->n; i++) {
		wall[i] = c->cost[i].wall;
		cpu[i] = c->cost[i].cpu;
	}
	for (int i = 0; i < pairs; i++) {
		wall_ratio[i] = ratio(wall[i], first->cost[i].wall);
		cpu_ratio[i] = ratio(cpu[i], first->cost[i].cpu);
	}
	double wall_s = median(wall, c->n);   /* the minimum is the first */
	printf("%s\t%.6f\t%.6f\t%.6f\t%ld\t%ld\t%.4f\t%.4f\t%d\n", c->name, wall_s, wall[0], median(cpu, c->n), c->kib,
	       c->anon_kib, median(wall_ratio, pairs), median(cpu_ratio, pairs), c->over);
}

static void
take_turns(struct command *all, int n, int times)
{
	for (int i = 0; i < n; i++) {
		all[i].cost[0] = run(&all[i], true);
		all[i].n = all[i].over;   /* the warm-up run counts only if it is the only one */
	}
	for (int t = 0; t < times; t++)
		for (int i = 0; i < n; i++)
			if (!all[i].over) {
				all[i].cost[all[i].n] = run(&all[i], false);
				all[i].n++;
			}
}

int
main(int argc, char **argv)
{
	static struct command all[MAX_COMMANDS];
	int c, n = 0, times = 0;

	while ((c = getopt(argc, argv, "+l:")) == 'l')
		limit = optarg;
	if (c == -1 && argc - optind >= 3 && (argc - optind) % 2 == 1) {
		times = atoi(argv[optind]);
		n = (argc - optind) / 2;
	}
	if (times < 1 || times > MAX_TIMES || n > MAX_COMMANDS) {
		fprintf(stderr, "usage: turns [-l SECONDS] TIMES NAME COMMAND [NAME COMMAND]...\n");
		return 2;
	}
	for (int i = 0; i < n; i++)
		all[i] = (struct command){ .name = argv[optind + 1 + 2 * i], .text = argv[optind + 2 + 2 * i] };
	take_turns(all, n, times);
	for (int i = 0; i < n; i++)
		print(&all[i], &all[0]);
	return fflush(stdout) != 0;
}
