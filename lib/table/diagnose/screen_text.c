/* screen_text.c -- text of the first screen: names of profiles made harmless, lines that fit. */
#include <string.h>

#include "base/escape.h"
#include "base/width.h"
#include "table/diagnose/screen.h"

void
nsx_screen_tame(struct nsx_screen *s, size_t from)
{
	if (!s->to->failed && s->to->len > from)
		nsx_utf8_line(s->to->ptr + from, s->to->len - from);
}

/* Text unchanged; in Markdown, characters with a meaning are escaped. */
static void
put_text(struct nsx_screen *s, struct nsx_str text)
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
	nsx_screen_tame(s, begin);
}

void
nsx_screen_lines(struct nsx_screen *s, struct nsx_str text, int indent)
{
	struct nsx_buf line = { 0 };
	struct nsx_screen to = { s->a, &line, false, 0 };

	if (s->markdown) {
		put_text(s, text);
		return;
	}
	nsx_buf_fmt(&line, "%*s", indent, "");
	put_text(&to, text);
	nsx_buf_folded_words(s->to, nsx_buf_view(&line), s->width, (size_t)indent);
	s->to->failed |= line.failed;
	nsx_buf_free(&line);
}

void
nsx_screen_say(struct nsx_screen *s, int indent, const char *fmt, ...)
{
	va_list ap;

	s->a->text.len = 0;
	va_start(ap, fmt);
	nsx_buf_vfmt(&s->a->text, fmt, ap);
	va_end(ap);
	nsx_screen_lines(s, nsx_buf_view(&s->a->text), indent);
}

void
nsx_screen_end(struct nsx_screen *s)
{
	nsx_buf_c(s->to, s->markdown ? "\n\n" : "\n");
}
