/* tsv.c -- an answers file: a header and rows, kept until complete; on request, one number is made wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "synth.h"

static bool falsified;

void
syn_tsv_open(struct syn_tsv *t, const char *name, const char *header)
{
	*t = (struct syn_tsv){ name, { 0 } };
	syn_tsv_row(t, "%s", header);
}

void
syn_tsv_row(struct syn_tsv *t, const char *fmt, ...)
{
	va_list ap;
	char text[8192];
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof text)
		syn_die("%s.tsv: a row is too long", t->name);
	nsx_buf_add(&t->buf, text, (size_t)n);
	nsx_buf_char(&t->buf, '\n');
}

/* Change a digit of the last number of a row in the middle: in column `dur` if there is one, else the last number of
 * the row. */
static void
make_wrong(struct syn_tsv *t)
{
	char *p = t->buf.ptr, *line = p, *row, *stop;
	size_t lines = 0, column = SIZE_MAX, k = 0;

	for (size_t i = 0; i < t->buf.len; i++)
		lines += p[i] == '\n';
	if (lines < 2)
		syn_die("%s.tsv has no number to falsify", t->name);
	stop = memchr(p, '\n', t->buf.len);
	for (char *c = p; c < stop; k++) {
		char *e = c + strcspn(c, "\t\n");

		if (e - c == 3 && memcmp(c, "dur", 3) == 0)
			column = k;
		c = e + 1;
	}
	for (size_t i = 0; i < lines / 2; i++)
		line = (char *)memchr(line, '\n', (size_t)(p + t->buf.len - line)) + 1;
	row = line;
	stop = line + strcspn(line, "\n");
	for (k = 0; k < column && line + strcspn(line, "\t\n") < stop; k++)
		line += strcspn(line, "\t\n") + 1;
	stop = line + strcspn(line, "\t\n");
	while (stop > row && (stop[-1] < '0' || stop[-1] > '9'))
		stop--;
	if (stop == row)
		syn_die("%s.tsv has no number to falsify", t->name);
	stop[-1] = stop[-1] == '7' ? '3' : '7';
	falsified = true;
}

void
syn_tsv_close(struct syn_tsv *t)
{
	struct nsx_err err = { "" };
	char path[4096];
	struct nsx_outfile *f;

	nsx_buf_char(&t->buf, '\0');
	if (t->buf.failed)
		syn_die("out of memory");
	t->buf.len--;
	if (syn_opt.falsify && strcmp(syn_opt.falsify, t->name) == 0)
		make_wrong(t);
	if (snprintf(path, sizeof path, "%s/answers/%s.tsv", syn_opt.dir, t->name) >= (int)sizeof path)
		syn_die("%s: the name is too long", syn_opt.dir);
	f = nsx_outfile_open(path, &err);
	if (!f || nsx_outfile_write(f, t->buf.ptr, t->buf.len) != NSX_OK || nsx_outfile_commit(f) != NSX_OK)
		syn_die("%s", err.msg);
	nsx_outfile_free(f);
	nsx_buf_free(&t->buf);
}

void
syn_tsv_checked(void)
{
	if (syn_opt.falsify && !falsified)
		syn_die("--break %s: there is no such answer", syn_opt.falsify);
}
