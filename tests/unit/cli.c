/* cli.c -- options: results of command lines, and messages for invalid ones. */
#define _XOPEN_SOURCE 700
#include "base/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static struct {
	bool        binary;
	const char *output, *by, *compress;
	int64_t     number, time;
} opt;

static char dumps[256];

static const char *
take_dump(const char *arg, int operands)
{
	size_t n = strlen(dumps);

	snprintf(dumps + n, sizeof dumps - n, "%s@%d ", arg, operands);
	return strcmp(arg, "bad") == 0 ? "no such dump" : NULL;
}

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG  ('b', "binary",  &opt.binary, "write binary"),
	NSX_OPT_STR   ('o', "output",  &opt.output, "FILE", "write to FILE"),
	NSX_OPT_INT   ('n', "number",  &opt.number, "N", -3, 22, "a number"),
	NSX_OPT_TIME  ('d', "dur",     &opt.time, "TIME", "a time"),
	NSX_OPT_CHOICE(0,   "by",      &opt.by, "source|op-name|a-choice-that-is-too-long-for-the-column", "a choice"),
	NSX_OPT_MAYBE ('z', "zip",     &opt.compress, "LEVEL", "compress"),
	NSX_OPT_CALL  ('x', "dump",    take_dump, "DIR", "a dump"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-test", "[-b] [FILE...]", "Test options.", opts };

enum { MAX_ARGS = 16 };
static char *args[MAX_ARGS];

/* Parse the words of line; the number of operands, which are in args. */
static int
parse(const char *line)
{
	static char words[512];
	int argc = 1;

	snprintf(words, sizeof words, "%s", line);
	memset(&opt, 0, sizeof opt);
	dumps[0] = '\0';
	args[0] = (char *)"nsysx-test";
	for (char *w = strtok(words, " "); w && argc < MAX_ARGS - 1; w = strtok(NULL, " "))
		args[argc++] = w;
	args[argc] = NULL;
	return nsx_cli_parse(&cli, argc, args);
}

/* All output of a child that parses line, standard output and error together; its exit status in *status. Every parse
 * has a process of its own: getopt keeps a state. */
static const char *
said(const char *line, void (*then)(int operands), int *status)
{
	static char text[4096];
	int ends[2];
	size_t n = 0;
	ssize_t got;

	fflush(stdout);
	if (pipe(ends) != 0)
		return "no pipe";
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		int operands = parse(line);
		if (then)
			then(operands);
		exit(42);
	}
	close(ends[1]);
	while (n < sizeof text - 1 && (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(ends[0]);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
	return text;
}

static void
show(int operands)
{
	printf("b%d o=%s n=%d t=%" PRId64 " by=%s z=%s x=%s|", opt.binary, opt.output ? opt.output : "-",
	       (int)opt.number, opt.time,
	       opt.by ? opt.by : "-", opt.compress ? opt.compress : "none", dumps);
	for (int i = 0; i < operands; i++)
		printf(" %s", args[i]);
	printf("%s", args[operands] ? " no NULL" : "");
}

static void
means(const char *line, const char *want)
{
	int status;

	is_str(said(line, show, &status), want, "%s", line);
}

static void
misused(const char *line, const char *what)
{
	char want[512];
	int status;
	const char *text = said(line, show, &status);

	snprintf(want, sizeof want, "nsysx-test: %s\nusage: nsysx-test [-b] [FILE...]\n", what);
	is_str(text, want, "'%s' is refused", line);
	is_int(status, NSX_EXIT_MISUSE, "with status 2");
}

static void
lines(void)
{
	means("", "b0 o=- n=0 t=0 by=- z=none x=|");
	means("a -b c --output=f d", "b1 o=f n=0 t=0 by=- z=none x=| a c d");
	means("-bof - -- -b", "b1 o=f n=0 t=0 by=- z=none x=| - -b");
	means("--bin -n 22 --number=-3", "b1 o=- n=-3 t=0 by=- z=none x=|");
	means("-d 1.5ms --by op-name", "b0 o=- n=0 t=1500000 by=op-name z=none x=|");
	means("-z 9", "b0 o=- n=0 t=0 by=- z= x=| 9");
	means("-z9 a", "b0 o=- n=0 t=0 by=- z=9 x=| a");
	means("--zip=7", "b0 o=- n=0 t=0 by=- z=7 x=|");
	means("-x d0 r0 r1 -x d1 r2", "b0 o=- n=0 t=0 by=- z=none x=d0@0 d1@2 | r0 r1 r2");

	misused("-y", "unknown option -y");
	misused("-by", "unknown option -y");
	misused("--nothing", "unknown option --nothing");
	misused("--nothing=3", "unknown option --nothing");
	misused("--b", "ambiguous option --b");
	misused("--binary=1", "--binary takes no argument");
	misused("a -o", "--output needs an argument, FILE");
	misused("--output", "--output needs an argument, FILE");
	misused("-n 23", "--number: want a whole number from -3 to 22, got \"23\"");
	misused("-n -4", "--number: want a whole number from -3 to 22, got \"-4\"");
	misused("-n 2x", "--number: want a whole number from -3 to 22, got \"2x\"");
	misused("-d soon", "--dur: want a time such as 200, 1.5ms or 3min, got \"soon\"");
	misused("--by op", "--by: want source|op-name|a-choice-that-is-too-long-for-the-column, got \"op\"");
	misused("-x bad", "--dump: no such dump");
}

static void
help_and_version(void)
{
	int status;

	is_str(said("-b --help -y", NULL, &status),
	       "usage: nsysx-test [-b] [FILE...]\n"
	       "Test options.\n"
	       "\n"
	       "  -b, --binary           write binary\n"
	       "  -o, --output=FILE      write to FILE\n"
	       "  -n, --number=N         a number\n"
	       "  -d, --dur=TIME         a time\n"
	       "      --by=source|op-name|a-choice-that-is-too-long-for-the-column\n"
	       "                         a choice\n"
	       "  -z, --zip[=LEVEL]      compress\n"
	       "  -x, --dump=DIR         a dump\n"
	       "      --max-memory=SIZE  fail instead of using more memory, e.g. 2G\n"
	       "  -v, --verbose          print more on standard error\n"
	       "  -q, --quiet            print only errors on standard error\n"
	       "  -h, --help             show this help and exit\n"
	       "  -V, --version          show the version and exit\n","help names every option in line");
	is_int(status, 0, "with status 0");
	is_str(said("-V", NULL, &status), "nsysx-test " NSX_VERSION "\n", "the version");
	is_int(status, 0, "with status 0");
}

static void
talk(int operands)
{
	struct nsx_diags d = { 0 };

	(void)operands;
	nsx_cli_warn(&cli, "careful: %d", 3);
	nsx_cli_note(&cli, "by the way");
	nsx_diag_add(&d, NSX_INFO, "p0", 1, "assumed");
	nsx_diag_add(&d, NSX_WARNING, "p0", 7, "dropped\nranges");
	nsx_diag_add(&d, NSX_ERROR, "", 1, "broken");
	nsx_cli_diags(&cli, &d, 0);
	nsx_diags_free(&d);
	nsx_cli_die(&cli, "it is over");
}

static void
talks(void)
{
	int status;

	is_str(said("", talk, &status),
	       "nsysx-test: warning: careful: 3\nnsysx-test: warning: p0: dropped?ranges (7)\n"
	       "nsysx-test: error: broken\nnsysx-test: it is over\n", "warnings and errors, a line each");
	is_int(status, NSX_EXIT_FAILED, "dying is status 1");
	is_str(said("-q", talk, &status), "nsysx-test: error: broken\nnsysx-test: it is over\n", "-q leaves errors");
	is_str(said("-v", talk, &status),
	       "nsysx-test: warning: careful: 3\nnsysx-test: by the way\nnsysx-test: info: p0: assumed\n"
	       "nsysx-test: warning: p0: dropped?ranges (7)\nnsysx-test: error: broken\nnsysx-test: it is over\n",
	       "-v adds the rest");
}

static bool
is_time(const char *s, int64_t want)
{
	int64_t ns = -1;

	return nsx_time_parse(s, &ns) && ns == want;
}

static void
times(void)
{
	static const char *const none[] = {
		"", "-", ".", "ms", "1 ms", "1.5", "1.5ns", "1e3", "0x10", "1.0000000001s", "1m", "1,5ms", "+1", " 1",
		"1ms ", "1..5s",
		"9223372036854775808", "9223372037s", "2562048h", "99999999999999999999s",
	};
	int64_t ns;

	ok(is_time("200", 200) && is_time("200ns", 200), "nanoseconds are the default");
	ok(is_time("3us", 3000) && is_time("1.5ms", 1500000) && is_time("2s", INT64_C(2000000000)), "us, ms, s");
	ok(is_time("3min", INT64_C(180000000000)) && is_time("0.5h", INT64_C(1800000000000)), "min, h");
	ok(is_time("1.000000001s", INT64_C(1000000001)) && is_time(".5us", 500) && is_time("5.us", 5000), "decimals");
	ok(is_time("1.5000000000000000s", INT64_C(1500000000)), "zeros at the end");
	ok(is_time("0.34567891h", INT64_C(1244444076000)), "decimals of an hour are exact");
	ok(is_time("-2ms", -2000000), "before the start");
	ok(is_time("9223372036854775807", INT64_MAX), "the largest");
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		ok(!nsx_time_parse(none[i], &ns), "'%s' is no time", none[i]);
}

static bool
is_size(const char *s, int64_t want)
{
	int64_t bytes = -1;

	return nsx_size_parse(s, &bytes) && bytes == want;
}

static void
sizes(void)
{
	static const char *const none[] = { "", "K", "-1", "1.5G", "1 G", "1g", "1KB", "1P", "9223372036854775808",
	                                    "9007199254740992K", "8388608T" };
	int64_t bytes;

	ok(is_size("0", 0) && is_size("4096", 4096) && is_size("9223372036854775807", INT64_MAX), "bytes");
	ok(is_size("1K", 1024) && is_size("3M", 3 << 20) && is_size("2G", INT64_C(2) << 30) &&
	   is_size("5T", INT64_C(5) << 40), "powers of 1024");
	ok(is_size("8388607T", INT64_C(8388607) << 40), "the largest of them");
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		ok(!nsx_size_parse(none[i], &bytes), "'%s' is no size", none[i]);
}

/* The name behind descriptor fd after a parse that began with it closed, as the mode it is open in. */
static int
closed_at_start(int fd)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		close(fd);
		parse("");
		int flags = fcntl(fd, F_GETFL);
		_exit(flags < 0 ? 9 : flags & O_ACCMODE);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int
main(void)
{
	times();
	sizes();
	lines();
	help_and_version();
	talks();
	is_int(closed_at_start(0), O_WRONLY, "a closed standard input cannot be read, nor taken by another file");
	is_int(closed_at_start(1), O_RDONLY, "a closed standard output cannot be written, nor taken by another file");
	is_int(closed_at_start(2), O_RDWR, "with a closed standard error messages are lost");
	return done();
}
