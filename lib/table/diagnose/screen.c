/* screen.c -- the first screen as text: what the job is bound by, the step, where it goes, and the largest gains; and
 * as Markdown. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/width.h"
#include "table/diagnose/diagnose.h"

/* Columns of the screen, of a bar, of names beside it, and of a row of those without its bar. */
enum { NARROWEST = 40, WIDEST = 100, BAR = 30, NAMES = 24, ROW = 51 };

/* Rows of idle time below this share of a step are one. */
#define LITTLE 0.001

struct screen { struct nsx_look_at *a; struct nsx_buf *to; bool markdown; size_t width; };

/* ---- text */

/* Names come from profiles: what was put behind `from` is to steer no terminal. */
static void
tame(struct screen *s, size_t from)
{
	if (!s->to->failed && s->to->len > from)
		nsx_one_line(s->to->ptr + from, s->to->len - from);
}

/* Text as it is; in Markdown what would be taken for marks is marked. */
static void
put_text(struct screen *s, struct nsx_str text)
{
	size_t begin = s->to->len;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if ((unsigned char)c < ' ' || c == 127)
			c = ' ';
		if (s->markdown && strchr("\\`*_[]<>|#~$", c))
			nsx_buf_char(s->to, '\\');
		nsx_buf_char(s->to, c);
	}
	tame(s, begin);
}

/* On lines that fit the screen, by words, each behind the indent; a word is never broken. In Markdown on one line. */
static void
put_lines(struct screen *s, struct nsx_str text, int indent)
{
	size_t room = s->width - (size_t)indent, from = 0;

	if (s->markdown) {
		put_text(s, text);
		return;
	}
	while (from < text.len) {
		struct nsx_str rest = { text.ptr + from, text.len - from };
		size_t end = from + nsx_width_head(rest, room), cut = end;

		while (cut < text.len && cut > from && text.ptr[cut] != ' ')
			cut--;
		if (cut == from)
			for (cut = end; cut < text.len && text.ptr[cut] != ' ';)
				cut++;
		nsx_buf_fmt(s->to, "%*s", indent, "");
		put_text(s, (struct nsx_str){ text.ptr + from, cut - from });
		nsx_buf_char(s->to, '\n');
		for (from = cut; from < text.len && text.ptr[from] == ' ';)
			from++;
	}
}

/* ---- parts of it */

/* A verdict, how many devices have it, and the first of them. */
struct word { const char *word; size_t n; const struct nsx_look_device *first; };
enum { NWORDS = 8 };

/* Verdicts of devices, what most devices have first; of equal ones in order of devices. How many there are. */
static size_t
count_words(const struct nsx_look_at *a, struct word words[NWORDS])
{
	size_t nwords = 0;

	for (size_t i = 0; i < a->devices.n && a->ops; i++) {
		const struct nsx_look_device *d = &a->devices.p[i];
		const char *word = d->window == NSX_NONE ? NULL : nsx_idle_verdict_word(&a->idle, d->window);
		size_t k = 0;

		if (!word || a->idle.windows.p[d->window].length <= 0)
			continue;
		while (k < nwords && strcmp(words[k].word, word) != 0)
			k++;
		if (k == nwords && nwords < NWORDS)
			words[nwords++] = (struct word){ word, 0, d };
		if (k < nwords)
			words[k].n++;
	}
	for (size_t i = 1; i < nwords; i++)
		for (size_t k = i; k > 0 && words[k].n > words[k - 1].n; k--) {
			struct word w = words[k];

			words[k] = words[k - 1];
			words[k - 1] = w;
		}
	return nwords;
}

/* The finding that ranks first, above the verdict: that is of most devices, and a late one has another. */
static void
put_first(struct screen *s)
{
	struct nsx_look_at *a = s->a;

	if (!a->findings.n)
		return;
	struct nsx_str subject = nsx_look_str(a, a->findings.p[0].subject);

	a->text.len = 0;
	nsx_buf_c(&a->text, "look first at ");
	nsx_buf_str(&a->text, subject);
	nsx_buf_c(&a->text, subject.len ? ": " : "");
	nsx_look_put_name(&a->findings.p[0], &a->text);
	nsx_buf_c(&a->text, ", up to ");
	nsx_look_put_ns(&a->text, a->findings.p[0].gain);
	nsx_buf_fmt(&a->text, " of a %s, %.1f %%", nsx_look_unit(a), 100 * a->findings.p[0].gain / a->period);
	if (s->markdown)
		nsx_buf_c(s->to, "**");
	put_lines(s, nsx_buf_view(&a->text), 0);
	nsx_buf_c(s->to, s->markdown ? "**\n\n" : "\n");
}

static void
put_verdict(struct screen *s)
{
	struct nsx_look_at *a = s->a;
	struct word words[NWORDS];
	size_t n = count_words(a, words), judged = 0;

	for (size_t i = 0; i < n; i++)
		judged += words[i].n;
	a->text.len = 0;
	if (n)
		nsx_idle_verdict_text(&a->idle, words[0].first->window, &a->text);
	else
		nsx_buf_c(&a->text, a->count
		          ? "what devices did is not known: no operations in the stream, extract with -a"
		                             : "no GPU work in the stream");
	if (s->markdown)
		nsx_buf_c(s->to, "**");
	put_lines(s, nsx_buf_view(&a->text), 0);
	if (s->markdown)
		nsx_buf_c(s->to, "**  \n");
	if (judged > 1) {
		a->text.len = 0;
		nsx_buf_fmt(&a->text, "of %zu devices:", judged);
		for (size_t i = 0; i < n; i++)
			nsx_buf_fmt(&a->text, "%s %zu %s", i ? "," : "", words[i].n, words[i].word);
		put_lines(s, nsx_buf_view(&a->text), 0);
	}
	nsx_buf_c(s->to, s->markdown ? "\n\n" : "\n");
}

static void
put_step(struct screen *s)
{
	struct nsx_look_at *a = s->a;
	size_t n = a->periods.n;

	if (!a->count)
		return;
	a->text.len = 0;
	if (a->stepped) {
		nsx_buf_c(&a->text, "step: ");
		nsx_look_put_ns(&a->text, a->period);
		nsx_buf_c(&a->text, " mean, ");
		nsx_look_put_ns(&a->text, (double)nsx_percentile(a->periods.p, n, 50));
		nsx_buf_c(&a->text, " p50, ");
		nsx_look_put_ns(&a->text, (double)nsx_percentile(a->periods.p, n, 99));
		nsx_buf_fmt(&a->text, " p99, from start to start, of %" PRId64 " on %zu device%s; class ", a->count,
		            a->devices.n,
		            a->devices.n == 1 ? "" : "s");
		nsx_buf_str(&a->text, nsx_intern_str(&a->steps.names, a->class));
	} else {
		nsx_buf_c(&a->text, "no steps are known; the whole time of a device counts as one: ");
		nsx_look_put_ns(&a->text, a->period);
		nsx_buf_fmt(&a->text, " in mean of %zu device%s. Name steps with --step or --module", a->devices.n,
		            a->devices.n == 1 ? "" : "s");
	}
	put_lines(s, nsx_buf_view(&a->text), 0);
	nsx_buf_c(s->to, s->markdown ? "\n\n" : "\n");
}

static void
put_share(struct screen *s, const char *part, const char *cause, nsx_u128 ns)
{
	double share = (double)ns / (double)s->a->time;
	int room = s->width < ROW + BAR ? s->width < ROW ? 0 : (int)s->width - ROW : BAR;
	int bar = (int)(share * room + 0.5), used = (int)(strlen(part) + strlen(cause));

	s->a->text.len = 0;
	nsx_look_put_ns(&s->a->text, nsx_look_mean(s->a, ns));
	if (s->markdown) {
		nsx_buf_fmt(s->to, "| %s%s | %.*s | %.1f %% |\n", part, cause, (int)s->a->text.len, s->a->text.ptr,
		            100 * share);
		return;
	}
	nsx_buf_fmt(s->to, "  %s%s%*s %14.*s %5.1f %%", part, cause, used < NAMES ? NAMES - used : 0, "",
	            (int)s->a->text.len, s->a->text.ptr, 100 * share);
	if (bar)
		nsx_buf_fmt(s->to, "  %.*s", bar, "##############################");
	nsx_buf_char(s->to, '\n');
}

static void
put_where(struct screen *s)
{
	struct nsx_look_at *a = s->a;
	nsx_u128 rest = 0;

	if (!a->count || !a->ops)
		return;
	nsx_buf_fmt(s->to, s->markdown ? "| where %s goes | time | share |\n|---|--:|--:|\n" : "where %s goes\n",
	            a->stepped ? "the period of a step" : "the time of a device");
	put_share(s, "compute", "", a->cells[NSX_PART_COMPUTE]);
	put_share(s, "exposed communication", "", a->cells[NSX_PART_COMM]);
	put_share(s, "copies", "", a->cells[NSX_PART_COPY]);
	for (int c = 0; c < NSX_NCAUSES; c++) {
		nsx_u128 ns = a->cells[nsx_cause_cell((enum nsx_cause)c)];

		if ((double)ns < LITTLE * (double)a->time)
			rest += ns;
		else
			put_share(s, "idle: ", nsx_cause_name((enum nsx_cause)c), ns);
	}
	if (rest)
		put_share(s, "idle: ", "other causes", rest);
	nsx_buf_char(s->to, '\n');
}

/* A command as it can be copied. */
static void
put_command(struct screen *s, struct nsx_str command)
{
	size_t begin;

	nsx_buf_c(s->to, s->markdown ? " | " : "     $ ");
	begin = s->to->len;
	if (s->markdown)
		nsx_buf_code(s->to, command);
	else
		nsx_buf_str(s->to, command);
	tame(s, begin);
	nsx_buf_c(s->to, s->markdown ? " |\n" : "\n");
}

static void
put_findings(struct screen *s)
{
	struct nsx_look_at *a = s->a;
	size_t n = a->findings.n, top = (size_t)a->options->top;

	n = top && top < n ? top : n;
	if (!n) {
		nsx_buf_fmt(s->to, "nothing was found that is worth %g %% of a %s\n\n", a->options->min,
		            a->stepped ? "step" : "device's time");
		return;
	}
	if (s->markdown)
		nsx_buf_c(s->to, "| | what there is to gain | a step | | evidence | do first | see |\n"
		                 "|--:|---|--:|--:|---|---|---|\n");
	else
		put_lines(s, NSX_STR("what there is to gain, at most and each by itself: gains do not add"), 0);
	for (size_t i = 0; i < n; i++) {
		const struct nsx_finding *f = &a->findings.p[i];
		struct nsx_str evidence = nsx_look_str(a, f->evidence), command = nsx_look_str(a, f->command);

		nsx_buf_fmt(s->to, s->markdown ? "| %zu | " : "%3zu  ", i + 1);
		nsx_look_put_name(f, s->to);
		nsx_buf_c(s->to, s->markdown ? " | " : "  ");
		nsx_look_put_ns(s->to, f->gain);
		nsx_buf_fmt(s->to, s->markdown ? " | %.1f %% | " : "  %.1f %%\n", 100 * f->gain / a->period);
		put_lines(s, evidence, 5);
		a->text.len = 0;
		nsx_buf_c(&a->text, s->markdown ? "" : "do first: ");
		nsx_buf_c(&a->text, nsx_look_action(f));
		nsx_buf_c(s->to, s->markdown ? " | " : "");
		put_lines(s, nsx_buf_view(&a->text), 5);
		put_command(s, command);
	}
	if (s->markdown)
		nsx_buf_c(s->to, "\nEach gain is the most there is, by itself: gains do not add.");
	if (n < a->findings.n)
		nsx_buf_fmt(s->to, s->markdown ? " %zu more findings are not shown." : "     and %zu more: --top 0\n",
		            a->findings.n - n);
	nsx_buf_c(s->to, s->markdown ? "\n\n" : "\n");
}

static void
put_looked(struct screen *s)
{
	struct nsx_look_at *a = s->a;
	const char *between = "";

	a->text.len = 0;
	nsx_buf_c(&a->text, "looked at: ");
	for (int l = 0; l < NSX_NLOOKS; l++)
		if (!a->unseen[l]) {
			nsx_buf_fmt(&a->text, "%s%s", between, nsx_look_name((enum nsx_look)l));
			between = ", ";
		}
	if (!*between)
		nsx_buf_c(&a->text, "nothing");
	put_lines(s, nsx_buf_view(&a->text), 0);
	for (int l = 0; l < NSX_NLOOKS; l++)
		if (a->unseen[l]) {
			a->text.len = 0;
			nsx_buf_fmt(&a->text, "not known: %s: %s", nsx_look_name((enum nsx_look)l), a->unseen[l]);
			if (s->markdown)
				nsx_buf_c(s->to, "  \n");
			put_lines(s, nsx_buf_view(&a->text), 0);
		}
	nsx_buf_c(s->to, s->markdown ? "\n\n" : "\n");
}

/* Distinct names among n of them: ", A, B". `of` gives the i-th. */
static void
put_distinct(struct nsx_look_at *a, uint32_t (*of)(const struct nsx_catalogue *cat, size_t i), size_t n)
{
	const struct nsx_catalogue *cat = &a->steps.cat;
	size_t told = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t name = of(cat, i);
		bool new = name != NSX_NONE;

		for (size_t k = 0; k < i && new; k++)
			new = of(cat, k) != name;
		if (new && told++ < 4) {
			nsx_buf_c(&a->text, a->text.len ? ", " : "");
			nsx_buf_str(&a->text, nsx_cat_str(cat, name));
		}
	}
}

static uint32_t gpu(const struct nsx_catalogue *cat, size_t i) { return cat->devices.p[i].name; }
static uint32_t product(const struct nsx_catalogue *cat, size_t i) { return cat->profiles.p[i].product; }

/* GPU, versions, date, devices. */
static void
put_job(struct screen *s)
{
	struct nsx_look_at *a = s->a;
	const struct nsx_catalogue *cat = &a->steps.cat;
	int64_t start = NSX_ABSENT;

	for (size_t i = 0; i < cat->profiles.n; i++)
		if (cat->profiles.p[i].start_utc != NSX_ABSENT
		    && (start == NSX_ABSENT || cat->profiles.p[i].start_utc < start))
			start = cat->profiles.p[i].start_utc;
	a->text.len = 0;
	nsx_buf_fmt(&a->text, "%zu device%s in %zu report%s", cat->devices.n, cat->devices.n == 1 ? "" : "s",
	            cat->profiles.n,
	            cat->profiles.n == 1 ? "" : "s");
	put_distinct(a, gpu, cat->devices.n);
	put_distinct(a, product, cat->profiles.n);
	if (start != NSX_ABSENT) {
		time_t t = (time_t)(start / 1000000000 - (start % 1000000000 < 0));
		struct tm tm;
		char date[32];

		if (gmtime_r(&t, &tm) && strftime(date, sizeof date, "%Y-%m-%d", &tm))
			nsx_buf_fmt(&a->text, ", %s", date);
	}
	put_lines(s, nsx_buf_view(&a->text), 0);
	if (s->markdown)
		nsx_buf_char(s->to, '\n');
}

int
nsx_look_screen(struct nsx_look_at *a, bool markdown, struct nsx_buf *to)
{
	size_t width = a->options->width;
	struct screen s = { a, to, markdown, width };

	if (width == 0 || width > WIDEST)
		s.width = WIDEST;
	else if (width < NARROWEST)
		s.width = NARROWEST;
	put_first(&s);
	put_verdict(&s);
	put_step(&s);
	put_where(&s);
	put_findings(&s);
	put_looked(&s);
	put_job(&s);
	return to->failed || a->text.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}
