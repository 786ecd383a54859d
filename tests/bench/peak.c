/* peak.c -- run a command and record its peak memory.
 * usage: peak FILE COMMAND [ARG]...
 * FILE gets one line, the maximum resident set of the command in KiB. Standard streams and the exit status are the command's; 127 if it could not
 * be run, 128 + N if signal N ended it. */
#define _DEFAULT_SOURCE   /* wait4 */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rusage use;
	int status = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: peak FILE COMMAND [ARG]...\n");
		return 2;
	}
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	pid_t got = -1;
	while (pid > 0 && (got = wait4(pid, &status, 0, &use)) < 0 && errno == EINTR)
		;
	if (got < 0) {
		perror("peak");
		return 127;
	}
	FILE *f = fopen(argv[1], "w");
	if (!f || fprintf(f, "%ld\n", use.ru_maxrss) < 0 || fclose(f) != 0) {
		perror(argv[1]);
		return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
