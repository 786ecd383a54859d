/* warn.c -- see warn.h. */
#include "job/steps/warn.h"

#include <string.h>

#include "base/escape.h"
#include "base/num.h"
#include "job/serving.h"

/* Steps overlap if the sum of their spans exceeds that of their periods by this factor. */
#define OVERLAPPING 1.25

/* ---- steps of another class between */

void
nsx_steps_report_between(const struct nsx_step_set *s, bool compared, struct nsx_diags *diags)
{
	for (size_t i = 0, n; i < s->list.n; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];
		struct nsx_str class = nsx_intern_str(&s->names, o->class), other = { "", 0 };
		int64_t mixed = 0, kept = 0;

		for (n = 0; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device; n++) {
			if (o[n].period == NSX_ABSENT || o[n].other == NSX_NONE)
				continue;
			other = nsx_intern_str(&s->names, o[n].other);
			mixed++;
			kept += o[n].kept;
		}
		if (!mixed)
			continue;
		nsx_diag_add(diags, kept ? NSX_INFO : NSX_WARNING, "", mixed,
		             "periods of '%.*s' contain a step of '%.*s', too, %s", (int)class.len, class.ptr,
		             (int)other.len, other.ptr, kept ? "and count, as fewer than two do not"
		             : compared ? "and are not compared"
		             : "and do not count: --step REGEX that matches both makes them one class");
	}
}

/* ---- steps that overlap */

/* Steps of a server, of a phase or all: also of marked steps, which were named elsewhere. */
static bool
is_served(struct nsx_str class)
{
	return nsx_serving_is_phase(class) || nsx_serving_is_class(class);
}

/* Steps of a class overlap if they last longer than the time until the next one starts: their first operations, such as
 * copies on another stream, do not wait for the step before. For example three steps that last 100 and start 10 after
 * each other take 120, and have periods of 10. Of a server they prepare a step while the one before runs, which is no
 * fault of names: its steps are one sequence, whose periods are what each costs. */
bool
nsx_steps_report_overlapping(struct nsx_step_set *s, const struct nsx_intern *told, struct nsx_diags *diags)
{
	bool good = true;

	for (size_t i = 0, n; i < s->list.n && good; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];
		struct nsx_str class = nsx_intern_str(&s->names, o->class);
		double spans = 0, periods = 0;
		int64_t longer = 0, count = 0;

		for (n = 0; i + n < s->list.n && o[n].class == o->class; n++) {
			double span = (double)o[n].last - (double)o[n].first;

			if (o[n].period == NSX_ABSENT)
				continue;
			spans += span;
			periods += (double)o[n].period;
			longer += span > (double)o[n].period;
			count++;
		}
		if (longer > count / 2 && spans > OVERLAPPING * periods && !is_served(class)) {
			bool again = told && nsx_intern_find(told, class) != NSX_NONE;

			nsx_diag_add(diags, again ? NSX_INFO : NSX_WARNING, "", longer,
			             "steps of '%.*s' overlap: they last %s on average and "
				"start %s after each other, so a period is not the time that a step takes: compare "
				"spans, "
			             "or name steps whose first operation waits for the step before",
			             (int)(class.len < 200 ? class.len : 200), class.ptr,
			             nsx_ns_text(spans / (double)count).s, nsx_ns_text(periods / (double)count).s);
			good = nsx_intern(&s->overlapping, class) != NSX_NONE;
		}
	}
	return good;
}

/* ---- groups */

/* The end of the bracket expression that begins at p. */
static const char *
past_bracket(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	p += *p == ']';
	while (*p && *p != ']') {
		const char *end = *p == '[' && (p[1] == ':' || p[1] == '.' || p[1] == '=')
		                  ? strstr(p + 2, (char[]){ p[1], ']', '\0' }) : NULL;

		p = end ? end + 2 : p + 1;
	}
	return *p ? p + 1 : p;
}

/* Append the expression without its groups, and return true: false if it does not mean the same without them. */
static bool
ungroup(struct nsx_buf *to, const char *p)
{
	int depth = 0;

	while (*p) {
		const char *end = *p == '[' ? past_bracket(p) : *p == '\\' && p[1] ? p + 2 : p + 1;

		depth += (*p == '(') - (*p == ')');
		/* An alternative or a repetition of a group. */
		if ((*p == '|' && depth) || (*p == ')' && p[1] && strchr("*+?{", p[1])))
			return false;
		if (*p != '(' && *p != ')')
			nsx_buf_add(to, p, (size_t)(end - p));
		p = end;
	}
	return true;
}

int
nsx_steps_single(const struct nsx_step_set *s, const char *step, struct nsx_diags *diags)
{
	struct nsx_buf without = { 0 }, word = { 0 };
	int64_t classes = 0;

	for (size_t i = 0; i < s->list.n; i++) {
		if (s->list.p[i].period != NSX_ABSENT)
			return NSX_OK;
		classes += !i || s->list.p[i].class != s->list.p[i - 1].class;
	}
	if (!s->groups || classes < 2)
		return NSX_OK;
	bool same = ungroup(&without, step);

	nsx_buf_shell(&word, nsx_buf_view(&without));
	nsx_buf_char(&word, '\0');
	bool good = !without.failed && !word.failed;

	if (good && same)
		nsx_diag_add(diags, NSX_WARNING, "", classes, "classes have one step each and so no period, because "
		             "groups in --step make classes; without groups: --step %s", word.ptr);
	else if (good)
		nsx_diag_add(diags, NSX_WARNING, "", classes, "classes have one step each and so no period, because "
		             "groups in --step make classes: name the steps without groups");
	nsx_buf_free(&without);
	nsx_buf_free(&word);
	return good ? NSX_OK : nsx_err_nomem(s->err, NULL);
}
