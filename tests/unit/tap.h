/* tap.h -- claims of a unit test, printed as TAP: one claim, one line. A test that dies before
 * done() has printed no plan, which the runner counts as a failure. */
#ifndef NSX_TAP_H
#define NSX_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_run, tap_failed;

__attribute__((format(printf, 2, 0), unused)) static bool
tap_line(bool good, const char *claim, va_list ap)
{
	printf("%sok %d - ", good ? "" : "not ", ++tap_run);
	vprintf(claim, ap);
	putchar('\n');
	tap_failed += !good;
	return good;
}

__attribute__((format(printf, 5, 6), unused)) static bool
tap_ok(bool good, const char *text, const char *file, int line, const char *claim, ...)
{
	va_list ap;

	va_start(ap, claim);
	if (!tap_line(good, claim, ap))
		printf("# %s:%d: %s\n", file, line, text);
	va_end(ap);
	fflush(stdout);
	return good;
}

__attribute__((format(printf, 5, 6), unused)) static bool
tap_int(int64_t got, int64_t want, const char *file, int line, const char *claim, ...)
{
	va_list ap;

	va_start(ap, claim);
	if (!tap_line(got == want, claim, ap))
		printf("# %s:%d: got %" PRId64 ", want %" PRId64 "\n", file, line, got, want);
	va_end(ap);
	fflush(stdout);
	return got == want;
}

__attribute__((format(printf, 5, 6), unused)) static bool
tap_str(const char *got, const char *want, const char *file, int line, const char *claim, ...)
{
	bool good = got && want && strcmp(got, want) == 0;
	va_list ap;

	va_start(ap, claim);
	if (!tap_line(good, claim, ap))
		printf("# %s:%d: got '%s', want '%s'\n", file, line, got ? got : "(null)", want ? want : "(null)");
	va_end(ap);
	fflush(stdout);
	return good;
}

/* Claim that cond holds; that two integers, two C strings are equal. The claim is a printf format with its
 * arguments. Each is evaluated once, and true when the claim holds. */
#define ok(cond, ...)           tap_ok((cond), #cond, __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...)  tap_int((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...)  tap_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)

/* A claim that cannot be tried here, and why. */
#define skip(claim, why)        printf("ok %d - %s # SKIP %s\n", ++tap_run, (claim), (why))

/* Print the plan; what main returns. */
static inline int
done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed != 0 || fflush(stdout) != 0;
}

#endif
