/* progress.c -- counters of the work of the process, and the line that shows them. */
#include "base/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/width.h"

#define SECOND INT64_C(1000000000)

static _Atomic int64_t total;
static _Atomic uint64_t done, records;
static atomic_int unknown;
static const char *_Atomic phase;
static void (*_Atomic hider)(enum nsx_progress_hide why);

/* ---- counting */

void
nsx_progress_expect(int64_t bytes)
{
	atomic_fetch_add_explicit(&total, bytes, memory_order_relaxed);
}

void
nsx_progress_done(uint64_t bytes)
{
	atomic_fetch_add_explicit(&done, bytes, memory_order_relaxed);
}

void
nsx_progress_unknown(int change)
{
	atomic_fetch_add_explicit(&unknown, change, memory_order_relaxed);
}

void
nsx_progress_records(uint64_t n)
{
	atomic_fetch_add_explicit(&records, n, memory_order_relaxed);
}

void
nsx_progress_phase(const char *what)
{
	atomic_store_explicit(&phase, what, memory_order_relaxed);
}

void
nsx_portion_reach(struct nsx_portion *p, uint64_t part, uint64_t of)
{
	uint64_t to = part >= of ? p->bytes : (uint64_t)((unsigned __int128)p->bytes * part / of);
	uint64_t given = atomic_load_explicit(&p->given, memory_order_relaxed);

	while (given < to)
		if (atomic_compare_exchange_weak_explicit(&p->given, &given, to, memory_order_relaxed,
		    memory_order_relaxed)) {
			nsx_progress_done(to - given);
			return;
		}
}

void
nsx_progress_get(struct nsx_progress *p)
{
	int64_t all = atomic_load_explicit(&total, memory_order_relaxed);

	p->done = atomic_load_explicit(&done, memory_order_relaxed);
	p->records = atomic_load_explicit(&records, memory_order_relaxed);
	p->phase = atomic_load_explicit(&phase, memory_order_relaxed);
	p->total = all < 0 || atomic_load_explicit(&unknown, memory_order_relaxed) > 0 ? 0 : (uint64_t)all;
	/* A file that grew, or was read more than once. */
	if (p->done > p->total)
		p->done = p->total;
}

/* ---- showing */

int64_t
nsx_progress_left(const struct nsx_progress *p, uint64_t done0, int64_t elapsed)
{
	uint64_t since = p->done > done0 ? p->done - done0 : 0;

	/* The first hundredth of the work is no basis for an estimate of the rest, nor is work that took no time. */
	if (!p->total || elapsed < SECOND / 2 || since < p->total / 100 || !since)
		return -1;
	double left = (double)elapsed * (double)(p->total - p->done) / (double)since;
	return left < 1e18 ? (int64_t)left : -1;
}

/* Text of at most size - 1 bytes, to which more is appended. */
struct line { char *p; size_t n, size; };

static void
put(struct line *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(l->p + l->n, l->size - l->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->n += (size_t)n < l->size - l->n ? (size_t)n : l->size - l->n - 1;
}

/* A number with three digits, or as an integer if it is below 1000: "999", "1.23 M", "12.3 G", with the unit after
 * it. */
static void
put_scaled(struct line *l, uint64_t v, const char *unit)
{
	static const char prefix[] = " kMGTPE";   /* powers of 1000, as in tables */
	double d = (double)v;
	int k = 0;

	for (; d >= 999.5 && k < 6; k++)
		d /= 1000;
	put(l, k == 0 || d >= 99.95 ? "%.0f" : d >= 9.995 ? "%.1f" : "%.2f", d);
	if (k)
		put(l, " %c%s", prefix[k], unit);
	else if (*unit)
		put(l, " %s", unit);
}

/* Rounded up, so that the remaining time is never 0. */
static void
put_left(struct line *l, int64_t ns)
{
	int64_t s = ns / SECOND + (ns % SECOND != 0), min = s / 60 + (s % 60 != 0);

	if (s < 100)
		put(l, "%" PRId64 " s left", s > 0 ? s : 1);
	else if (min < 100)
		put(l, "%" PRId64 " min left", min);
	else
		put(l, "%" PRId64 " h %" PRId64 " min left", min / 60, min % 60);
}

static void
put_figures(struct line *l, const struct nsx_progress *p, int64_t left, int64_t elapsed)
{
	if (p->phase)
		put(l, "%s", p->phase);
	if (p->total) {
		put(l, "%s%d %%  ", p->phase ? " " : "", (int)((double)p->done / (double)p->total * 100));
		put_scaled(l, p->done, "B");
		put(l, " of ");
		put_scaled(l, p->total, "B");
		if (left >= 0) {
			put(l, "  ");
			put_left(l, left);
		}
	} else if (p->records || !p->phase) {
		put(l, "%s", p->phase ? "  " : "");
		put_scaled(l, p->records, "");
		put(l, " records");
		if (elapsed > 0) {
			put(l, "  ");
			put_scaled(l, (uint64_t)((double)p->records / ((double)elapsed / SECOND)), "");
			put(l, "/s");
		}
	}
}

/* The name escaped as in tables (nsx_buf_escaped), since it must not control the terminal, and truncated to the
 * available room. */
static struct nsx_str
shown_as(char *out, size_t size, const char *name)
{
	struct nsx_str s = nsx_str_c(name), shown = { out, 0 };

	while (s.len) {
		size_t n = nsx_utf8_char(s), bytes = n ? n : 1;
		bool whole = n > 1 ? !nsx_utf8_steers(s.ptr, n) : n && *s.ptr >= 0x20 && *s.ptr < 0x7f;

		if (shown.len + (whole ? bytes : 4 * bytes) >= size)
			break;
		if (whole)
			memcpy(out + shown.len, s.ptr, bytes);
		for (size_t i = 0; i < bytes && !whole; i++)
			snprintf(out + shown.len + 4 * i, 5, "\\x%02X", (unsigned char)s.ptr[i]);
		shown.len += whole ? bytes : 4 * bytes;
		s = (struct nsx_str){ s.ptr + bytes, s.len - bytes };
	}
	return shown;
}

size_t
nsx_progress_line(char *out, size_t size, int width, const char *tool, const char *name, const struct nsx_progress *p,
                  int64_t left, int64_t elapsed)
{
	char escaped[256], figures[128];
	struct line f = { figures, 0, sizeof figures }, l = { out, 0, size };
	struct nsx_str shown = shown_as(escaped, sizeof escaped, name);
	size_t n = nsx_width(shown), room = width < 0 ? 0 : (size_t)width;

	put_figures(&f, p, left, elapsed);
	put(&l, "%s: ", tool);
	/* The end of a name is more useful than its beginning; a few letters of either are not useful. */
	size_t others = l.n + f.n + 2, fits = room > others ? room - others : 0;
	if (n && n <= fits) {
		put(&l, "%.*s: ", (int)shown.len, shown.ptr);
	} else if (n && fits >= 8) {
		size_t tail = nsx_width_tail(shown, fits - 3);
		put(&l, "...%.*s: ", (int)tail, shown.ptr + shown.len - tail);
	}
	put(&l, "%s", figures);
	l.n = nsx_width_head((struct nsx_str){ out, l.n }, room);
	out[l.n] = '\0';
	return l.n;
}

/* ---- removing the line */

void
nsx_progress_drawn_by(void (*hide)(enum nsx_progress_hide why))
{
	atomic_store(&hider, hide);
}

void
nsx_progress_hide(enum nsx_progress_hide why)
{
	void (*hide)(enum nsx_progress_hide) = atomic_load(&hider);

	if (hide)
		hide(why);
}
