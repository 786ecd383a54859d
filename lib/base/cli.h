/* cli.h -- options, help, diagnostics and exit statuses of every program.
 * The only part of lib/ that prints and exits. */
#ifndef NSX_BASE_CLI_H
#define NSX_BASE_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/num.h"

NSX_BEGIN_C

#define NSX_VERSION "0.1.0"

enum { NSX_EXIT_OK = 0, NSX_EXIT_FAILED = 1, NSX_EXIT_MISUSE = 2 };

/* What an option does with its argument. */
enum nsx_opt_type {
	NSX_OPT_T_END,
	NSX_OPT_T_FLAG,      /* no argument; sets *flag */
	NSX_OPT_T_STRING,    /* *str = the argument, borrowed from argv */
	NSX_OPT_T_INT,       /* *num = a whole number from min to max */
	NSX_OPT_T_TIME,      /* *num = nanoseconds: a number with ns (default), us, ms, s, min or h */
	NSX_OPT_T_CHOICE,    /* *str = one of `choices`, separated by '|'; "block:N" is block: and any number above 0 */
	NSX_OPT_T_CHOICES,   /* *str = some of them, separated by commas; none twice */
	NSX_OPT_T_MAYBE,     /* optional argument (-zN, --name=ARG): *str = it, or "" without one */
	NSX_OPT_T_CALL       /* call(argument, operands met before it): NULL, or what is wrong */
};

struct nsx_opt {
	char              ch;      /* 0: no short form */
	const char       *name;    /* long form without dashes; always there */
	enum nsx_opt_type type;
	union {
		bool        *flag;
		const char **str;
		int64_t     *num;
		const char *(*call)(const char *arg, int operands);
	} to;
	const char       *arg;     /* metavariable; NULL for a flag; of a CHOICE the choices "a|b|c" */
	int64_t           min, max;
	const char       *help;    /* one line, no full stop */
};

#define NSX_OPT_FLAG(ch, name, target, help)             { ch, name, NSX_OPT_T_FLAG,   { .flag = target }, NULL, 0, 0, \
	help }
#define NSX_OPT_STR(ch, name, target, arg, help)         { ch, name, NSX_OPT_T_STRING, { .str = target }, arg, 0, 0, \
	help }
#define NSX_OPT_INT(ch, name, target, arg, lo, hi, help) { ch, name, NSX_OPT_T_INT,    { .num = target }, arg, lo, hi, \
	help }
#define NSX_OPT_TIME(ch, name, target, arg, help)        { ch, name, NSX_OPT_T_TIME,   { .num = target }, arg, 0, 0, \
	help }
#define NSX_OPT_CHOICE(ch, name, target, choices, help)  { ch, name, NSX_OPT_T_CHOICE, { .str = target }, choices, 0, \
	0, help }
#define NSX_OPT_CHOICES(ch, name, target, choices, help) { ch, name, NSX_OPT_T_CHOICES, { .str = target }, choices, 0, \
	0, help }
#define NSX_OPT_MAYBE(ch, name, target, arg, help)       { ch, name, NSX_OPT_T_MAYBE,  { .str = target }, arg, 0, 0, \
	help }
#define NSX_OPT_CALL(ch, name, fn, arg, help)            { ch, name, NSX_OPT_T_CALL,   { .call = fn }, arg, 0, 0, help }
#define NSX_OPT_END                                      { 0, NULL, NSX_OPT_T_END, { .flag = NULL }, NULL, 0, 0, NULL }

/* One program. Every one also has -h/--help, -V/--version, -v/--verbose, -q/--quiet and --max-memory. */
struct nsx_cli {
	const char           *name;     /* "nsysx-fold" */
	const char           *usage;    /* "[-b] [-o FILE] [FILE]" */
	const char           *summary;  /* one sentence */
	const struct nsx_opt *opts;
};

/* Parse argv by the table. Options and operands may be mixed, "--" ends options. Leaves the
 * operands, in order, in argv[0..n-1] and returns n. Help and version print and exit 0,
 * misuse prints one line and the usage on standard error and exits 2. */
int nsx_cli_parse(const struct nsx_cli *cli, int argc, char **argv);

/* Print the text of --help on standard output, which the caller flushes. */
void nsx_cli_help(const struct nsx_cli *cli);

/* Wrong usage found after parsing: message, usage line, exit 2. */
void nsx_cli_misuse(const struct nsx_cli *cli, const char *fmt, ...) NSX_PRINTF(2, 3) __attribute__((noreturn));

/* "NAME: MSG" on standard error, temporary outputs removed, exit 1. */
void nsx_cli_die(const struct nsx_cli *cli, const char *msg) __attribute__((noreturn));

/* The same with another exit status, for programs whose status is their result. */
void nsx_cli_exit(const struct nsx_cli *cli, int status, const char *msg) __attribute__((noreturn));

/* "NAME: ..." on standard error, one line, also with -q: a result that the user requested. */
void nsx_cli_say(const struct nsx_cli *cli, const char *fmt, ...) NSX_PRINTF(2, 3);

/* A warning (not with -q) or a detail (only with -v), one line on standard error. */
void nsx_cli_warn(const struct nsx_cli *cli, const char *fmt, ...) NSX_PRINTF(2, 3);
void nsx_cli_note(const struct nsx_cli *cli, const char *fmt, ...) NSX_PRINTF(2, 3);

/* Print collected diags from number `from` on as warnings, a line each (info only with -v). */
void nsx_cli_diags(const struct nsx_cli *cli, const struct nsx_diags *d, size_t from);

bool nsx_cli_verbose(void);
bool nsx_cli_quiet(void);

NSX_END_C

#endif
