/* pair.c -- nsx-pair: two commands, run in turn, as a ratio. What else a machine does hits both alike.
 * usage: pair TIMES NAME COMMAND-A COMMAND-B
 * Runs each command (by sh, standard output discarded) once to warm up and then TIMES times, A and B alternating, and prints
 * one line: name, median seconds of A and of B, median ratio B/A of wall time, of CPU time, peak memory of A and B in KiB.
 * A command that fails ends it. */
#define _DEFAULT_SOURCE   /* wait4 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TIMES = 101 };

struct cost { double wall, cpu; long kib; };

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static struct cost
run(const char *command)
{
	struct timespec a, b;
	struct rusage use;
	int status, null;

	clock_gettime(CLOCK_MONOTONIC, &a);
	pid_t pid = fork();
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			_exit(127);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	pid_t got = -1;
	while (pid > 0 && (got = wait4(pid, &status, 0, &use)) < 0 && errno == EINTR)
		;
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (got < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "nsx-pair: failed: %s\n", command);
		exit(1);
	}
	return (struct cost){ (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9,
	                      seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss };
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

int
main(int argc, char **argv)
{
	double a[MAX_TIMES], b[MAX_TIMES], wall[MAX_TIMES], cpu[MAX_TIMES];
	long a_kib = 0, b_kib = 0;
	int times = argc == 5 ? atoi(argv[1]) : 0;

	if (times < 1 || times > MAX_TIMES) {
		fprintf(stderr, "usage: pair TIMES NAME COMMAND-A COMMAND-B\n");
		return 2;
	}
	run(argv[3]);
	run(argv[4]);
	for (int i = 0; i < times; i++) {
		struct cost x = run(argv[3]), y = run(argv[4]);
		a[i] = x.wall;
		b[i] = y.wall;
		wall[i] = y.wall / x.wall;
		cpu[i] = y.cpu / x.cpu;
		if (x.kib > a_kib)
			a_kib = x.kib;
		if (y.kib > b_kib)
			b_kib = y.kib;
	}
	printf("%s\t%.3f\t%.3f\t%.3f\t%.3f\t%ld\t%ld\n", argv[2], median(a, times), median(b, times), median(wall, times),
	       median(cpu, times), a_kib, b_kib);
	return fflush(stdout) != 0;
}
