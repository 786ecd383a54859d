/* cli.c -- one table of options is used for the parser and for --help; every message is one line, written at once. */
#include "base/cli.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/memory.h"
#include "base/near.h"
#include "base/num.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/width.h"

enum { MAX_OPTS = 96, LONG_BASE = 256, HELP_COLUMN = 30, NARROWEST = 20, INDENT = 4 };

static bool verbose, quiet, want_help, want_version;

static const char *
set_memory(const char *arg, int operands)
{
	(void)operands;
	return nsx_memory_set_limit(arg);
}

static const struct nsx_opt common[] = {
	NSX_OPT_CALL(0, "max-memory", set_memory, "SIZE", "fail instead of using more memory, e.g. 2G"),
	NSX_OPT_FLAG('v', "verbose", &verbose, "print more on standard error"),
	NSX_OPT_FLAG('q', "quiet", &quiet, "print only errors on standard error"),
	NSX_OPT_FLAG('h', "help", &want_help, "show this help and exit"),
	NSX_OPT_FLAG('V', "version", &want_version, "show the version and exit"),
	NSX_OPT_END
};

/* A line, without its end, in one write: programs of a pipeline share standard error. On a terminal it is folded
 * between words; if the terminal is too narrow or memory runs out it is written unfolded. */
static void
put_line(char *line, size_t len)
{
	struct nsx_buf folded = { 0 };
	size_t width;

	nsx_progress_hide(NSX_HIDE_FOR_NOW);
	if (isatty(STDERR_FILENO) && (width = nsx_terminal_width(STDERR_FILENO)) >= NARROWEST)
		nsx_buf_folded_words(&folded, (struct nsx_str){ line, len }, width, INDENT);
	line[len++] = '\n';
	ssize_t written = write(STDERR_FILENO, folded.len && !folded.failed ? folded.ptr : line,
	                        folded.len && !folded.failed ? folded.len : len);
	(void)written;   /* nowhere to report a failure to */
	nsx_buf_free(&folded);
}

/* NAME: [WHAT: ]TEXT as one printable line. */
static void
say(const struct nsx_cli *cli, const char *what, const char *fmt, va_list ap)
{
	char line[2048];
	int head = snprintf(line, sizeof line, "%s: %s%s", cli->name, what, *what ? ": " : "");
	int n = vsnprintf(line + head, sizeof line - (size_t)head, fmt, ap);
	size_t len = n < 0 ? (size_t)head : (size_t)head + (size_t)n;

	if (len > sizeof line - 2) {
		len = sizeof line - 2;
		memcpy(line + len - 3, "...", 3);
	}
	nsx_one_line(line, len);
	put_line(line, len);
}

static void NSX_PRINTF(3, 4)
sayf(const struct nsx_cli *cli, const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(cli, what, fmt, ap);
	va_end(ap);
}

void
nsx_cli_misuse(const struct nsx_cli *cli, const char *fmt, ...)
{
	char usage[1024];
	va_list ap;

	va_start(ap, fmt);
	say(cli, "", fmt, ap);
	va_end(ap);
	int n = snprintf(usage, sizeof usage - 1, "usage: %s%s%s", cli->name, *cli->usage ? " " : "", cli->usage);
	assert(n > 0 && (size_t)n < sizeof usage - 1);
	put_line(usage, (size_t)n);
	nsx_outfile_abandon_all();
	exit(NSX_EXIT_MISUSE);
}

void
nsx_cli_exit(const struct nsx_cli *cli, int status, const char *msg)
{
	struct nsx_err nomem = { "" };

	/* A failure without a message is lack of memory. */
	nsx_err_nomem(&nomem, NULL);
	sayf(cli, "", "%s", msg && *msg ? msg : nomem.msg);
	nsx_outfile_abandon_all();
	exit(status);
}

void
nsx_cli_die(const struct nsx_cli *cli, const char *msg)
{
	nsx_cli_exit(cli, NSX_EXIT_FAILED, msg);
}

void
nsx_cli_say(const struct nsx_cli *cli, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(cli, "", fmt, ap);
	va_end(ap);
}

void
nsx_cli_warn(const struct nsx_cli *cli, const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	say(cli, nsx_severity_name(NSX_WARNING), fmt, ap);
	va_end(ap);
}

void
nsx_cli_note(const struct nsx_cli *cli, const char *fmt, ...)
{
	va_list ap;

	if (!verbose)
		return;
	va_start(ap, fmt);
	say(cli, "", fmt, ap);
	va_end(ap);
}

void
nsx_cli_diags(const struct nsx_cli *cli, const struct nsx_diags *d, size_t from)
{
	for (size_t i = from; i < d->list.n; i++) {
		const struct nsx_diag *g = &d->list.p[i];
		char count[32] = "";

		if ((g->severity == NSX_INFO && !verbose) || (g->severity == NSX_WARNING && quiet))
			continue;
		if (g->count > 1)
			snprintf(count, sizeof count, " (%" PRId64 ")", g->count);
		sayf(cli, nsx_severity_name(g->severity), "%s%s%s%s", g->source, *g->source ? ": " : "", g->text,
		     count);
	}
	if (d->failed)
		nsx_cli_warn(cli, "out of memory: some diagnostics were lost");
}

bool
nsx_cli_verbose(void)
{
	return verbose;
}

bool
nsx_cli_quiet(void)
{
	return quiet;
}

/* "  -o, --output=FILE" for o's row of --help. */
static int
left_column(char *out, size_t size, const struct nsx_opt *o)
{
	char ch[8] = "    ";

	if (o->ch)
		snprintf(ch, sizeof ch, "-%c, ", o->ch);
	if (!o->arg)
		return snprintf(out, size, "  %s--%s", ch, o->name);
	return snprintf(out, size, o->type == NSX_OPT_T_MAYBE ? "  %s--%s[=%s]" : "  %s--%s=%s", ch, o->name, o->arg);
}

/* A line of --help, folded for a terminal. */
static void NSX_PRINTF(2, 3)
print_line(int indent, const char *fmt, ...)
{
	struct nsx_buf folded = { 0 };
	char line[2048];
	size_t width;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (isatty(STDOUT_FILENO) && (width = nsx_terminal_width(STDOUT_FILENO)) >= NARROWEST)
		nsx_buf_folded_words(&folded, nsx_str_c(line), width,
		                     (size_t)indent + NARROWEST < width ? (size_t)indent : INDENT);
	if (folded.len && !folded.failed)
		fwrite(folded.ptr, 1, folded.len, stdout);
	else
		puts(line);
	nsx_buf_free(&folded);
}

static void
print_rows(const struct nsx_opt *opts, int column)
{
	char left[256];

	for (const struct nsx_opt *o = opts; o->name; o++) {
		int n = left_column(left, sizeof left, o);
		if (n > column) {
			print_line(column, "%s", left);
			print_line(column + 2, "%*s  %s", column, "", o->help);
		} else {
			print_line(column + 2, "%-*s  %s", column, left, o->help);
		}
	}
}

static int
widest(const struct nsx_opt *opts, int column)
{
	char left[256];

	for (const struct nsx_opt *o = opts; o->name; o++) {
		int n = left_column(left, sizeof left, o);
		if (n > column && n <= HELP_COLUMN)
			column = n;
	}
	return column;
}

/* Help or version was written to standard output: exit with the result of the write. */
static void
leave(const struct nsx_cli *cli)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		sayf(cli, "", "standard output: %s", strerror(errno));
		exit(NSX_EXIT_FAILED);
	}
	exit(NSX_EXIT_OK);
}

void
nsx_cli_help(const struct nsx_cli *cli)
{
	int column = widest(common, widest(cli->opts, 0));

	print_line(INDENT, "usage: %s%s%s", cli->name, *cli->usage ? " " : "", cli->usage);
	print_line(0, "%s", cli->summary);
	putchar('\n');
	print_rows(cli->opts, column);
	print_rows(common, column);
}

/* Whether `arg` of that length is one of the items of `list`, separated by `sep`. */
static bool
is_among(const char *list, const char *sep, const char *arg, size_t len)
{
	for (const char *p = list; ; p++) {
		size_t n = strcspn(p, sep);
		if (n == len && memcmp(p, arg, n) == 0)
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

/* Whether `arg` of that length is one of the choices. One that ends in :N stands for every whole number above 0. */
static bool
is_choice(const char *choices, const char *arg, size_t len)
{
	int64_t number;

	for (const char *p = choices; *p; p += *p == '|') {
		size_t n = strcspn(p, "|");

		if (n > 2 && memcmp(p + n - 2, ":N", 2) == 0) {
			if (len > n - 1 && memcmp(p, arg, n - 1) == 0
			    && nsx_get_int((struct nsx_str){ arg + n - 1, len - n + 1 }, &number) && number > 0)
				return true;
		} else if (n == len && memcmp(p, arg, n) == 0) {
			return true;
		}
		p += n;
	}
	return false;
}

/* Whether each of the comma-separated items of `arg` is a choice and none occurs twice; *bad: the first item that
 * violates this. */
static bool
are_choices(const char *choices, const char *arg, struct nsx_str *bad)
{
	for (const char *p = arg; ; p++) {
		size_t n = strcspn(p, ",");
		*bad = (struct nsx_str){ p, n };
		if (!is_choice(choices, p, n) || (p[n] && is_among(p + n + 1, ",", p, n)))
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

/* Give o its argument (NULL: none); `operands` is the number of operands before it. */
static void
apply(const struct nsx_cli *cli, const struct nsx_opt *o, const char *arg, int operands)
{
	struct nsx_str bad;
	const char *wrong;

	switch (o->type) {
	case NSX_OPT_T_FLAG:
		*o->to.flag = true;
		break;
	case NSX_OPT_T_STRING:
		*o->to.str = arg;
		break;
	case NSX_OPT_T_INT:
		if (!nsx_get_int(nsx_str_c(arg), o->to.num) || *o->to.num < o->min || *o->to.num > o->max)
			nsx_cli_misuse(cli, "--%s: want a whole number from %" PRId64 " to %" PRId64 ", got \"%s\"",
			               o->name, o->min, o->max, arg);
		break;
	case NSX_OPT_T_TIME:
		if (!nsx_time_parse(arg, o->to.num))
			nsx_cli_misuse(cli, "--%s: want a time such as 200, 1.5ms or 3min, got \"%s\"", o->name, arg);
		break;
	case NSX_OPT_T_CHOICE:
		if (!is_choice(o->arg, arg, strlen(arg)))
			nsx_cli_misuse(cli, "--%s: want %s, got \"%s\"%s", o->name, o->arg, arg,
			               nsx_near_hint_among(o->arg, '|', nsx_str_c(arg)).text);
		*o->to.str = arg;
		break;
	case NSX_OPT_T_CHOICES:
		if (!are_choices(o->arg, arg, &bad))
			nsx_cli_misuse(cli, "--%s: want %s, or several with commas, got \"%s\"%s", o->name, o->arg, arg,
			               is_choice(o->arg, bad.ptr, bad.len) ? ""
			               : nsx_near_hint_among(o->arg, '|', bad).text);
		*o->to.str = arg;
		break;
	case NSX_OPT_T_MAYBE:
		*o->to.str = arg ? arg : "";
		break;
	case NSX_OPT_T_CALL:
		if ((wrong = o->to.call(arg, operands)) != NULL)
			nsx_cli_misuse(cli, "--%s: %s", o->name, wrong);
		break;
	case NSX_OPT_T_END:
		break;
	}
}

/* The tables in the form that getopt_long requires. */
struct spec {
	const struct nsx_opt *opts[MAX_OPTS];
	struct option         longs[MAX_OPTS + 1];
	char                  shorts[3 * MAX_OPTS + 3];
	int                   n;
};

static void
add_opts(struct spec *s, const struct nsx_opt *opts)
{
	static const int has_arg[] = { no_argument, required_argument, optional_argument };
	char *p = s->shorts + strlen(s->shorts);

	for (const struct nsx_opt *o = opts; o->name; o++) {
		int arg = o->type == NSX_OPT_T_FLAG ? 0 : o->type == NSX_OPT_T_MAYBE ? 2 : 1;

		assert(s->n < MAX_OPTS);
		assert(!o->ch || !strchr(s->shorts, o->ch));
		s->longs[s->n] = (struct option){ o->name, has_arg[arg], NULL, LONG_BASE + s->n };
		s->opts[s->n++] = o;
		if (o->ch)
			*p++ = o->ch;
		for (int i = 0; o->ch && i < arg; i++)
			*p++ = ':';
		*p = '\0';
	}
}

static const struct nsx_opt *
opt_of(const struct spec *s, int got)
{
	if (got >= LONG_BASE)
		return s->opts[got - LONG_BASE];
	for (int i = 0; i < s->n; i++)
		if (s->opts[i]->ch && s->opts[i]->ch == got)
			return s->opts[i];
	return NULL;
}

/* getopt_long returned '?' for the argument word. */
static void
refuse(const struct nsx_cli *cli, const struct spec *s, const char *word)
{
	const struct nsx_opt *o = optopt >= LONG_BASE ? opt_of(s, optopt) : NULL;
	size_t len = strcspn(word, "=");
	int similar = 0;

	if (o)
		nsx_cli_misuse(cli, "--%s takes no argument", o->name);
	if (optopt)
		nsx_cli_misuse(cli, "unknown option -%c", optopt);
	for (int i = 0; len > 2 && i < s->n; i++)
		similar += strncmp(s->opts[i]->name, word + 2, len - 2) == 0;
	struct nsx_near near = { .want = { word + 2, len > 2 ? len - 2 : 0 } };
	for (int i = 0; similar <= 1 && i < s->n; i++)
		nsx_near_offer(&near, nsx_str_c(s->opts[i]->name));
	struct nsx_str meant = nsx_near_best(&near);
	nsx_cli_misuse(cli, "%s option %.*s%s%.*s%s", similar > 1 ? "ambiguous" : "unknown", (int)len, word,
	               meant.len ? "; did you mean --" : "", (int)meant.len, meant.ptr, meant.len ? "?" : "");
}

/* A descriptor that was closed when the program started would be given to the next file opened, and output for standard
 * output would be written to that file. Fill the gaps with descriptors that can be neither read nor written. */
static void
fill_std_fds(const struct nsx_cli *cli)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
			nsx_cli_die(cli, "/dev/null: cannot be opened in place of a closed descriptor");
}

int
nsx_cli_parse(const struct nsx_cli *cli, int argc, char **argv)
{
	/* '-': operands are returned in their order, as option 1; ':': a missing argument is distinguished from an
	 * unknown option. */
	struct spec s = { .shorts = "-:" };
	int n = 0, got;

	fill_std_fds(cli);
	add_opts(&s, cli->opts);
	add_opts(&s, common);
	opterr = 0;
	while ((got = getopt_long(argc, argv, s.shorts, s.longs, NULL)) != -1) {
		if (got == 1) {
			/* n never exceeds the number of words that getopt has read. */
			argv[n++] = optarg;
			continue;
		}
		if (got == '?')
			refuse(cli, &s, argv[optind - 1]);
		const struct nsx_opt *o = opt_of(&s, got == ':' ? optopt : got);
		if (got == ':')
			nsx_cli_misuse(cli, "--%s needs an argument, %s", o->name, o->arg);
		apply(cli, o, optarg, n);
		if (want_help) {
			nsx_cli_help(cli);
			leave(cli);
		}
		if (want_version) {
			printf("%s %s\n", cli->name, NSX_VERSION);
			leave(cli);
		}
	}
	while (optind < argc)
		argv[n++] = argv[optind++];
	if (n < argc)
		argv[n] = NULL;
	return n;
}
