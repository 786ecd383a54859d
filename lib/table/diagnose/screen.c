/* screen.c -- the first screen as text: the limit of the job, the step, its activities, and the largest gains; and as
 * Markdown. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/stat.h"
#include "base/width.h"
#include "job/remedy.h"
#include "stream/steady.h"
#include "table/diagnose/screen.h"

/* Columns of names, of a time, of the rest of a row; the most of a screen; minimum of a bar, if there is one. */
enum { WIDEST = 100, BAR = 30, LEAST = 8, NAMES = 24, TIME = 14, REST = 11, CLOSE = 10, SHORTEST = 12 };

/* Rows of idle time below this share of a step are merged. */
#define LITTLE 0.001

/* A verdict, the number of devices that have it, and the one of these with the largest share (among equal ones, the
 * first). */
struct word { const char *word; size_t n; const struct nsx_look_device *most; double share; };
enum { NWORDS = 16 };

/* The verdicts of devices, the most frequent first; equally frequent ones in order of devices. Returns the number of
 * distinct ones. */
static size_t
count_words(const struct nsx_look_at *a, struct word words[NWORDS])
{
	size_t nwords = 0;

	for (size_t i = 0; i < a->devices.n && a->ops; i++) {
		const struct nsx_look_device *d = &a->devices.p[i];
		const char *word = d->window == NSX_NONE ? NULL : nsx_idle_verdict_word(a->idle, d->window);
		size_t k = 0;

		if (!word || nsx_idle_length(&a->idle->windows.p[d->window]) <= 0)
			continue;
		while (k < nwords && strcmp(words[k].word, word) != 0)
			k++;
		if (k == nwords && nwords < NWORDS)
			words[nwords++] = (struct word){ word, 0, d, -1 };
		if (k == nwords)
			continue;
		double share = nsx_idle_verdict_share(a->idle, d->window);

		words[k].n++;
		if (share > words[k].share) {
			words[k].most = d;
			words[k].share = share;
		}
	}
	for (size_t i = 1; i < nwords; i++)
		for (size_t k = i; k > 0 && words[k].n > words[k - 1].n; k--) {
			struct word w = words[k];

			words[k] = words[k - 1];
			words[k - 1] = w;
		}
	return nwords;
}

/* Text in bold. */
static void
put_bold(struct nsx_screen *s, struct nsx_str text)
{
	nsx_buf_c(s->to, s->markdown ? "**" : "");
	nsx_screen_lines(s, text, 0);
	nsx_buf_c(s->to, s->markdown ? "**" : "");
}

/* The finding that ranks first is shown above the verdict: the verdict is that of most devices, and a late device may
 * have another. */
static void
put_first(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;

	if (a->unsteady) {
		put_bold(s, NSX_STR(NSX_STEADY_SAYS));
		nsx_screen_end(s);
	}
	if (!a->findings.n)
		return;
	const struct nsx_finding *f = &a->findings.p[0];
	struct nsx_str subject = nsx_look_str(a, f->subject);
	bool one = subject.len && nsx_look_is_one(f);

	/* What comes first has most of what is forecast. */
	nsx_look_say(a, f->nothing ? "none of the findings would shorten the step by itself: see nsysx-whatif "
	             "--table for what would; first among them: " : "look first at ");
	if (one) {
		nsx_buf_str(&a->text, subject);
		nsx_buf_c(&a->text, ": ");
	}
	nsx_look_put_name(f, &a->text);
	nsx_buf_fmt(&a->text, ", %s%s of a %s, %.1f%%", f->nothing || (f->forecasts && f->forecast.single
	            && f->forecast.high > f->gain) ? "" : "up to ",
	            NSX_NS(f->gain), a->stepped ? "step" : "device's time", 100 * f->gain / a->period);
	nsx_look_put_forecast(a, f, false, &a->text);
	if (subject.len && !one) {
		nsx_buf_c(&a->text, "; the largest part: ");
		nsx_buf_str(&a->text, subject);
	}
	put_bold(s, nsx_buf_view(&a->text));
	nsx_screen_end(s);
}

/* The mean over devices of the time that the verdict is about. */
static double
share_of(const struct nsx_look_at *a, const struct word *word)
{
	double sum = 0;

	for (size_t i = 0; i < a->devices.n; i++)
		if (a->devices.p[i].window != NSX_NONE)
			sum += (double)nsx_idle_verdict_of(a->idle, word->most->window, a->devices.p[i].window);
	return sum / (double)a->time;
}

/* What is lost is time other than computation: if computation is more, it comes first, with the share that the table
 * below has. */
static void
put_largest(struct nsx_look_at *a, const struct word *word)
{
	double compute = (double)a->cells[NSX_PART_COMPUTE] / (double)a->time;
	double share = share_of(a, word);

	nsx_buf_c(&a->text, compute > share ? "computation is the largest part" : "the largest part");
	if (a->stepped)
		nsx_buf_fmt(&a->text, " of %" PRId64 " step%s", a->count, a->count == 1 ? "" : "s");
	if (compute > share)
		nsx_buf_fmt(&a->text, ", %.1f%%; the largest loss", 100 * compute);
	if (a->devices.n > 1)
		nsx_buf_fmt(&a->text, ", %.1f%% in mean", 100 * share);
	nsx_buf_c(&a->text, ": ");
}

static void
put_verdict(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;
	struct word words[NWORDS];
	size_t n = count_words(a, words), judged = 0;

	for (size_t i = 0; i < n; i++)
		judged += words[i].n;
	a->text.len = 0;
	if (n) {
		put_largest(a, &words[0]);
		nsx_idle_loss_text(a->idle, words[0].most->window, &a->text);
	} else if (a->count && !nsx_look_came(a, NSX_OP)) {
		nsx_buf_c(&a->text, "what devices did is not known: no operations in the stream, extract with -a");
	} else if (nsx_look_any_work(a)) {
		nsx_buf_c(&a->text, "what devices did is not known: no operation counts");
	} else if (nsx_look_came(a, NSX_OP) || nsx_look_came(a, NSX_THUNK)) {
		nsx_buf_c(&a->text, "no GPU work counts: all of it lacks a device, a start or a duration, or has times "
		                    "beyond 73 years");
	} else {
		nsx_buf_fmt(&a->text, "no GPU work in the stream: %s", nsx_remedy(&a->steps.cat, NSX_LACK_WORK));
	}
	put_bold(s, nsx_buf_view(&a->text));
	if (s->markdown)
		nsx_buf_c(s->to, "  \n");
	if (judged > 1) {
		nsx_look_say(a, "of %zu devices:", judged);
		for (size_t i = 0; i < n; i++)
			nsx_buf_fmt(&a->text, "%s %zu %s", i ? "," : "", words[i].n, words[i].word);
		nsx_screen_lines(s, nsx_buf_view(&a->text), 0);
	}
	nsx_screen_end(s);
}

/* The named steps, of which there are some, but none that the next one ends. */
static void
put_unfit(struct nsx_look_at *a)
{
	size_t n = a->steps.list.n;
	const char *option = a->options->step ? "--step" : "--module";

	if (n == 1)
		nsx_buf_fmt(&a->text, "%s matches one step, which has no period", option);
	else if (n)
		nsx_buf_fmt(&a->text, "%s matches %zu steps on all devices, none of which has a period", option, n);
	else
		nsx_buf_fmt(&a->text, "%s matches no step whose work on a device is known", option);
	nsx_buf_c(&a->text, n ? ": that is from its start to the next one's of its class on the device; record more "
	                        "steps" : "");
}

struct class_time { int64_t ns; uint32_t class; };
NSX_ORDER(by_time, struct class_time, NSX_CMP(b->ns, a->ns), NSX_CMP(a->class, b->class))

/* Steps of other classes, none of which is within a step of this one: the share of the time that each has. */
static void
put_others(struct nsx_look_at *a)
{
	enum { MOST = 3 };
	const struct nsx_step_set *s = &a->steps;
	NSX_VEC(struct class_time) others = { 0 };
	double all = 0;

	for (size_t i = 0, n; i < s->list.n; i += n) {
		int64_t pure[2];
		uint32_t class = s->list.p[i].class;

		n = nsx_step_class_time(s, i, pure);
		all += (double)pure[0];
		if (class != a->class && pure[0] > 0 && !nsx_vec_push(&others, ((struct class_time){ pure[0], class })))
			a->text.failed = true;
	}
	nsx_sort(others.p, others.n, by_time);
	for (size_t i = 0; i < others.n && i < MOST; i++) {
		nsx_buf_fmt(&a->text, "%s %.1f%% is of ", i ? "," : "; of the time of all steps",
		            100 * (double)others.p[i].ns / all);
		nsx_buf_str(&a->text, nsx_intern_str(&s->names, others.p[i].class));
	}
	if (others.n > MOST)
		nsx_buf_fmt(&a->text, ", and %zu more classes", others.n - MOST);
	free(others.p);
}

static void
put_step(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;
	size_t n = a->periods.n;

	if (!a->count)
		return;
	if (a->stepped) {
		nsx_look_say(a, "step: %s mean, %s p50, %s p99%s, from start to start, of %" PRId64 " on %zu "
		             "device%s; class ", NSX_NS(a->period), NSX_NS(nsx_percentile(a->periods.p, n, 50)),
		             NSX_NS(nsx_percentile(a->periods.p, n, 99)),
		             nsx_percentile_rank(n, 99) == n - 1 ? " (the largest)" : "", a->count, a->devices.n,
		             a->devices.n == 1 ? "" : "s");
		nsx_buf_str(&a->text, nsx_intern_str(&a->steps.names, a->class));
		if (a->other != NSX_NONE) {
			nsx_buf_c(&a->text, a->mixed ? ", some periods with a step of "
			                             : ", without periods that have a step of ");
			nsx_buf_str(&a->text, nsx_intern_str(&a->steps.names, a->other));
			nsx_buf_c(&a->text, " in them");
		}
		nsx_buf_str(&a->text, nsx_buf_view(&a->turns));
		if (a->other == NSX_NONE)
			put_others(a);
	} else {
		nsx_look_say(a, "no steps are known; the whole time of a device counts as one: %s in mean of %zu "
		             "device%s. ", NSX_NS(a->period), a->devices.n, a->devices.n == 1 ? "" : "s");
		if (a->options->step || a->options->module)
			put_unfit(a);
		else
			nsx_buf_c(&a->text, "Name steps with --step or --module");
	}
	nsx_screen_lines(s, nsx_buf_view(&a->text), 0);
	nsx_screen_end(s);
}

/* Columns of a row's fields: if there is no space for a bar the time moves left, then names are shortened, and if
 * little of the names would remain the time is dropped. */
struct row { int names, time, bar; };

static struct row
row_of(size_t width)
{
	int room = (int)width - REST;
	struct row r = { NAMES, TIME, room - NAMES - TIME - 2 };

	if (r.bar < LEAST) {
		r.time = room - NAMES < CLOSE ? CLOSE : room - NAMES < TIME ? room - NAMES : TIME;
		r.names = room - r.time < NAMES ? room - r.time : NAMES;
		r.bar = 0;
	}
	if (r.names < SHORTEST) {
		r.time = 0;
		r.names = room < NAMES ? room : NAMES;
	}
	r.bar = r.bar > BAR ? BAR : r.bar;
	return r;
}

static void
put_share(struct nsx_screen *s, const char *part, const char *cause, nsx_u128 ns)
{
	struct row r = row_of(s->width);
	double share = (double)ns / (double)s->a->time;
	int bar = (int)(share * r.bar + 0.5), used;
	struct nsx_ns_text time = nsx_ns_text(nsx_look_mean(s->a, ns));
	char name[64];

	if (s->markdown) {
		nsx_buf_fmt(s->to, "| %s%s | %s | %.1f%% |\n", part, cause, time.s, 100 * share);
		return;
	}
	nsx_buf_c(s->to, "  ");
	used = snprintf(name, sizeof name, "%s%s", part, cause);
	nsx_buf_shortened(s->to, nsx_str_c(name), (size_t)r.names);
	nsx_buf_fmt(s->to, "%*s", used < r.names ? r.names - used : 0, "");
	if (r.time)
		nsx_buf_fmt(s->to, " %*s", r.time, time.s);
	nsx_buf_fmt(s->to, " %5.1f%%", 100 * share);
	if (bar)
		nsx_buf_fmt(s->to, "  %.*s", bar, "##############################");
	nsx_buf_char(s->to, '\n');
}

static void
put_where(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;
	const char *whole = a->stepped ? "the period of a step" : "the time of a device";
	nsx_u128 rest = 0;

	if (!a->count || !a->ops)
		return;
	if (s->markdown)
		nsx_buf_fmt(s->to, "| where %s goes | time | share |\n|---|--:|--:|\n", whole);
	else
		nsx_screen_say(s, 0, "where %s goes", whole);
	put_share(s, "compute", "", a->cells[NSX_PART_COMPUTE]);
	put_share(s, "exposed communication", "", a->cells[NSX_PART_COMM]);
	put_share(s, "copies", "", a->cells[NSX_PART_COPY]);
	for (int c = 0; c < NSX_NCAUSES; c++) {
		nsx_u128 ns = c == NSX_CAUSE_REMOVED ? 0 : a->cells[nsx_cause_cell((enum nsx_cause)c)];

		if ((double)ns < LITTLE * (double)a->time)
			rest += ns;
		else
			put_share(s, "idle: ", nsx_cause_name((enum nsx_cause)c), ns);
	}
	if (rest)
		put_share(s, "idle: ", "other causes", rest);
	nsx_buf_char(s->to, '\n');
}

/* The text, behind a line. */
static void
put_next(struct nsx_screen *s)
{
	if (s->markdown)
		nsx_buf_c(s->to, "  \n");
	nsx_screen_lines(s, nsx_buf_view(&s->a->text), 0);
}

static void
put_looked(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;
	const char *between = "";

	/* It is in the verdict. */
	if (!nsx_look_any_work(a))
		return;
	nsx_look_say(a, "looked at: ");
	for (int l = 0; l < NSX_NLOOKS; l++)
		if (!a->unseen[l]) {
			nsx_buf_fmt(&a->text, "%s%s", between, nsx_look_name((enum nsx_look)l));
			between = ", ";
		}
	if (!*between)
		nsx_buf_c(&a->text, "nothing");
	nsx_screen_lines(s, nsx_buf_view(&a->text), 0);
	if (a->findings.n && a->forecasts.why.len) {
		nsx_look_say(a, !a->forecasts.known ? "no forecasts: "
		             : nsx_look_ranges(a) ? "forecasts are ranges, of whatever is not known: "
		             : "forecasts hold, although something is not known: ");
		nsx_buf_str(&a->text, nsx_buf_view(&a->forecasts.why));
		put_next(s);
	}
	for (int l = 0; l < NSX_NLOOKS; l++)
		if (a->unseen[l]) {
			nsx_look_say(a, "not known: %s: %s", nsx_look_name((enum nsx_look)l), a->unseen[l]);
			put_next(s);
		}
	for (size_t i = 0; i < a->warnings.n; i++) {
		nsx_look_say(a, "nsys warns: ");
		nsx_buf_str(&a->text, nsx_look_str(a, a->warnings.p[i]));
		put_next(s);
	}
	if (a->graphs) {
		nsx_look_say(a, "not known: what runs in CUDA graphs that are recorded as a whole, %s of a %s, %.1f%%: "
		             "it counts as computation; record with --cuda-graph-trace=node",
		             NSX_NS((double)a->graph_ns / (double)a->count), nsx_look_unit(a),
		             100 * (double)a->graph_ns / (double)a->time);
		put_next(s);
	}
	if (a->overruns.outlasting) {
		nsx_look_say(a, "not sure: how much computes and how much is idle: %" PRId64 " operation%s still ran "
		             "when a later one of the same stream had ended, which a GPU does not do, for %s of all "
		             "%ss together; they count whole", a->overruns.outlasting,
		             a->overruns.outlasting == 1 ? "" : "s", NSX_NS(a->overruns.outlasting_ns),
		             nsx_look_unit(a));
		put_next(s);
	}
	nsx_screen_end(s);
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
put_job(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;
	const struct nsx_catalogue *cat = &a->steps.cat;
	int64_t start = NSX_ABSENT;

	for (size_t i = 0; i < cat->profiles.n; i++)
		if (cat->profiles.p[i].start_utc != NSX_ABSENT
		    && (start == NSX_ABSENT || cat->profiles.p[i].start_utc < start))
			start = cat->profiles.p[i].start_utc;
	nsx_look_say(a, "%zu device%s in %zu report%s", cat->devices.n, cat->devices.n == 1 ? "" : "s", cat->profiles.n,
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
	nsx_screen_lines(s, nsx_buf_view(&a->text), 0);
	if (s->markdown)
		nsx_buf_char(s->to, '\n');
}

int
nsx_look_screen(struct nsx_look_at *a, bool markdown, struct nsx_buf *to)
{
	size_t width = a->options->width;
	struct nsx_screen s = { a, to, markdown, width };

	if (width == 0 || width > WIDEST)
		s.width = WIDEST;
	else if (width < NSX_SCREEN_NARROWEST)
		s.width = NSX_SCREEN_NARROWEST;
	put_first(&s);
	put_verdict(&s);
	put_step(&s);
	put_where(&s);
	nsx_screen_path(&s);
	nsx_screen_findings(&s);
	put_looked(&s);
	put_job(&s);
	return to->failed || a->text.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}
