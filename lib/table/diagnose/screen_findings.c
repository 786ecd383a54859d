/* screen_findings.c -- of the first screen the largest gains with their commands, and what sets the step. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/width.h"
#include "table/diagnose/screen.h"

/* The columns by which what belongs to a finding is indented. */
enum { EVIDENCE = 5 };

/* Bytes of the part of a command that fits a line of `room` columns, with a backslash after it if it continues: up to a
 * space between words, none of which is broken, nor is quoted text. */
static size_t
command_line(struct nsx_str command, size_t room)
{
	size_t cut = 0;
	bool quoted = false;

	if (nsx_width(command) <= room)
		return command.len;
	for (size_t i = 0; i < command.len; i++) {
		quoted ^= command.ptr[i] == '\'';
		if (quoted || command.ptr[i] != ' ')
			continue;
		if (cut && nsx_width((struct nsx_str){ command.ptr, i }) + 2 > room)
			return cut;
		cut = i;
	}
	return cut ? cut : command.len;
}

/* The number of bytes of quoted text that fit a line of `room` columns followed by a quote and a backslash, to the last
 * bar if there is one; 0: the text cannot be divided. */
static size_t
inside(struct nsx_str command, size_t room)
{
	size_t cut = 0;
	bool quoted = false, bar = false;

	for (size_t i = 0; i < command.len && nsx_width((struct nsx_str){ command.ptr, i }) + 2 <= room; i++) {
		bool after_bar = i && command.ptr[i - 1] == '|';

		if (quoted && i && command.ptr[i - 1] != '\'' && command.ptr[i] != '\'' && (after_bar || !bar)
		    && ((unsigned char)command.ptr[i] & 0xc0) != 0x80) {
			cut = i;
			bar = after_bar;
		}
		quoted ^= command.ptr[i] == '\'';
	}
	return cut;
}

/* A command that can be copied, on several lines if it is wider than a terminal. */
static void
put_command(struct nsx_screen *s, struct nsx_str command)
{
	size_t begin = s->to->len;
	char *copy;
	struct nsx_str left;

	if (s->markdown) {
		nsx_buf_c(s->to, " | ");
		nsx_buf_code(s->to, command);
		nsx_screen_tame(s, begin);
		nsx_buf_c(s->to, " |\n");
		return;
	}
	copy = malloc(command.len + 1);
	left = (struct nsx_str){ copy, command.len };
	if (!copy) {
		s->to->failed = true;
		return;
	}
	memcpy(copy, command.ptr, command.len);
	for (bool more = false, broken = false; left.len; more = true) {
		size_t width = s->a->options->width;
		size_t room = (width < NSX_SCREEN_NARROWEST ? NSX_SCREEN_NARROWEST : width)
		              - (broken ? 0 : EVIDENCE + 2);
		size_t n = width ? command_line(left, room) : left.len;
		size_t cut = width && nsx_width((struct nsx_str){ left.ptr, n }) > room ? inside(left, room) : 0;

		if (!broken)
			nsx_buf_fmt(s->to, "%*s%s", EVIDENCE, "", more ? "  " : "$ ");
		begin = s->to->len;
		nsx_buf_add(s->to, left.ptr, cut ? cut : n);
		nsx_screen_tame(s, begin);
		/* A space before the rest of a word would end the word, so the rest is at the beginning of the line, in
		 * quotes again. */
		broken = cut > 0;
		if (broken) {
			nsx_buf_c(s->to, "'\\\n");
			n = cut - 1;
			copy[left.ptr + n - copy] = '\'';
		}
		left = (struct nsx_str){ left.ptr + n, left.len - n };
		if (!broken)
			nsx_buf_c(s->to, left.len ? " \\\n" : "\n");
		while (left.len && *left.ptr == ' ')
			left = (struct nsx_str){ left.ptr + 1, left.len - 1 };
	}
	free(copy);
}

void
nsx_screen_findings(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;
	size_t n = a->findings.n, top = (size_t)a->options->top;
	bool known = a->forecasts.known;

	n = top && top < n ? top : n;
	if (!n && !nsx_look_any_work(a))
		return;
	if (a->unsteady) {
		nsx_screen_lines(s, NSX_STR("no gains: first executions contain what later ones do not have, such as "
		                            "loading code, autotuning and setting up communication; record some steps "
		                            "more, and nsysx-warmup leaves out the first"), 0);
		nsx_screen_end(s);
		return;
	}
	if (!n) {
		nsx_screen_say(s, 0, "no finding is worth %g%% of a %s", a->options->min,
		               a->stepped ? "step" : "device's time");
		nsx_screen_end(s);
		return;
	}
	if (s->markdown)
		nsx_buf_fmt(s->to, "| | possible gain | a %s | | %sevidence | do first | see |\n"
		            "|--:|---|--:|--:|%s---|---|---|\n", nsx_look_unit(s->a), known ? "forecast | " : "",
		            known ? "--:|" : "");
	else
		nsx_screen_lines(s, known && a->forecasts.gains.refused
		             ? NSX_STR("possible gains, each taken alone, for gains do not add up: the time lost, by "
		                       "which they are ranked, and the range of what a step may save without it "
		                       "(nsysx-whatif)")
		             : known && a->forecasts.gains.doubtful
		             ? NSX_STR("possible gains, each taken alone, for gains do not add up: the time lost, and "
		                       "what a step is forecast to save without it (nsysx-whatif), ranked by the "
		                       "loss as far as that is in the forecast")
		             : known ? NSX_STR("possible gains, each taken alone, for gains do not add up: the time "
		                               "lost, and what a step is forecast to save without it "
		                               "(nsysx-whatif), by which they are ranked")
		             : NSX_STR("possible gains, each the time lost, taken alone: gains do not add up"), 0);
	for (size_t i = 0; i < n; i++) {
		const struct nsx_finding *f = &a->findings.p[i];
		struct nsx_str evidence = nsx_look_str(a, f->evidence), command = nsx_look_str(a, f->command);
		struct nsx_buf title = { 0 };

		nsx_buf_fmt(&title, s->markdown ? "| %zu | " : "%3zu  ", i + 1);
		nsx_look_put_name(f, &title);
		nsx_buf_fmt(&title, s->markdown ? " | %s | %.1f%% | " : "  %s  %.1f%%", NSX_NS(f->gain),
		            100 * f->gain / a->period);
		nsx_look_put_forecast(a, f, s->markdown, &title);
		if (s->markdown && known)
			nsx_buf_c(&title, " | ");
		if (s->markdown)
			nsx_buf_str(s->to, nsx_buf_view(&title));
		else
			nsx_buf_folded_words(s->to, nsx_buf_view(&title), s->width, EVIDENCE);
		s->to->failed |= title.failed;
		nsx_buf_free(&title);
		nsx_screen_lines(s, evidence, EVIDENCE);
		nsx_buf_c(s->to, s->markdown ? " | " : "");
		nsx_screen_say(s, EVIDENCE, "%s%s", s->markdown ? "" : "do first: ", nsx_look_action(f));
		put_command(s, command);
	}
	if (s->markdown)
		nsx_buf_c(s->to, known ? "\nEach gain is taken alone, for gains do not add up: the time lost, and what "
		                         "a step is forecast to save without it (nsysx-whatif)."
		                       : "\nEach gain is the time lost, taken alone: gains do not add up.");
	if (n < a->findings.n && s->markdown)
		nsx_buf_fmt(s->to, " %zu more findings are not shown.", a->findings.n - n);
	if (n < a->findings.n && !s->markdown)
		nsx_screen_say(s, EVIDENCE, "and %zu more: --top 0", a->findings.n - n);
	nsx_screen_end(s);
}

void
nsx_screen_path(struct nsx_screen *s)
{
	struct nsx_look_at *a = s->a;

	a->text.len = 0;
	if (!a->findings.n || !nsx_look_put_path(a, &a->text))
		return;
	nsx_screen_lines(s, nsx_buf_view(&a->text), 0);
	a->command.len = 0;
	nsx_buf_c(&a->command, "nsysx-whatif --critical --table");
	nsx_look_put_steps(a, &a->command);
	nsx_look_put_file(a);
	if (s->markdown) {
		nsx_buf_c(s->to, "; see ");
		nsx_buf_code(s->to, nsx_buf_view(&a->command));
		nsx_buf_c(s->to, "\n\n");
	} else {
		put_command(s, nsx_buf_view(&a->command));
		nsx_buf_char(s->to, '\n');
	}
}
