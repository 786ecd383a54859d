/* csv.c -- the CSV that `nsys stats` prints. A row that does not fit its header is counted, never interpreted by
 * guessing; an input that ends within a row is an error. */
#include "base/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
	PEEK = 4096,
	ROW_MAX = 64 << 20,     /* bytes of one row */
	LINES_BEFORE = 64       /* lines before the header */
};

/* A field: bytes of the row, or (owned) of the scratch buffer, where doubled quotes became single. */
struct field { size_t at, len; bool owned; };

struct nsx_csv {
	struct nsx_input *in;
	struct nsx_err    *err;
	struct nsx_buf     head;     /* names of columns, each terminated by a NUL */
	NSX_VEC(size_t)    names;    /* their offsets in head */
	NSX_VEC(struct field) fields;
	NSX_VEC(struct nsx_str) row;
	struct nsx_buf     scratch;
	size_t             taken;    /* bytes of the row read last */
	int64_t            line, lines;   /* its first line, and the number of its lines */
	int64_t            rejected;
	bool               crlf;
};

static bool
is_chatter(struct nsx_str line)
{
	return nsx_str_starts(line, "Processing [") || nsx_str_starts(line, "Generating ");
}

/* The first line of s, without its end. */
static struct nsx_str
first_line(struct nsx_str s)
{
	const char *end = s.len ? memchr(s.ptr, '\n', s.len) : NULL;

	if (end)
		s.len = (size_t)(end - s.ptr);
	if (s.len && s.ptr[s.len - 1] == '\r')
		s.len--;
	return s;
}

int
nsx_csv_is(struct nsx_input *in, bool *csv)
{
	struct nsx_str s;

	*csv = false;
	if (nsx_input_peek(in, PEEK, &s) == NSX_ERR)
		return NSX_ERR;
	s = first_line(s);
	*csv = is_chatter(s);
	if (*csv || s.len == 0 || !memchr(s.ptr, ',', s.len))
		return NSX_OK;
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] < ' ')
			return NSX_OK;
	*csv = true;
	return NSX_OK;
}

/* ---- a row ---- */

/* The end of a field that begins with a quote: the quote before a comma or the end of the line; i is the position after
 * the first quote. Returns the position of that closing quote, or s.len if it is not in s. */
static size_t
closing(struct nsx_csv *c, struct nsx_str s, size_t i)
{
	while (i < s.len) {
		const char *q = memchr(s.ptr + i, '"', s.len - i);

		if (!q)
			break;
		i = (size_t)(q - s.ptr);
		if (i + 1 == s.len)
			break;
		if (s.ptr[i + 1] == '"') {
			i += 2;
			continue;
		}
		if (s.ptr[i + 1] == ',' || s.ptr[i + 1] == '\n')
			return i;
		if (c->crlf && s.ptr[i + 1] == '\r') {
			if (i + 2 == s.len)
				break;
			if (s.ptr[i + 2] == '\n')
				return i;
		}
		i++;
	}
	return s.len;
}

/* The contents s.ptr[from, to) of a quoted field, with doubled quotes made single. */
static struct field
unquote(struct nsx_csv *c, struct nsx_str s, size_t from, size_t to)
{
	struct field f = { c->scratch.len, 0, true };

	if (!memchr(s.ptr + from, '"', to - from))
		return (struct field){ from, to - from, false };
	for (size_t i = from; i < to; i++) {
		nsx_buf_char(&c->scratch, s.ptr[i]);
		if (s.ptr[i] == '"' && i + 1 < to && s.ptr[i + 1] == '"')
			i++;
	}
	f.len = c->scratch.len - f.at;
	return f;
}

/* Split s, which begins with a row: NSX_OK with c->fields and c->taken; NSX_EOF if s does not contain the end of the
 * row; NSX_ERR. */
static int
split(struct nsx_csv *c, struct nsx_str s)
{
	size_t i = 0;

	c->fields.n = 0;
	c->scratch.len = 0;
	c->lines = 1;
	for (;;) {
		struct field f;
		size_t end;

		if (i < s.len && s.ptr[i] == '"') {
			end = closing(c, s, i + 1);
			if (end == s.len)
				return NSX_EOF;
			for (const char *p = s.ptr + i; (p = memchr(p, '\n', (size_t)(s.ptr + end - p))) != NULL; p++)
				c->lines++;
			f = unquote(c, s, i + 1, end);
			end++;
			if (s.ptr[end] == '\r')
				end++;
		} else {
			for (end = i; end < s.len && s.ptr[end] != ',' && s.ptr[end] != '\n'; end++)
				;
			if (end == s.len)
				return NSX_EOF;
			f = (struct field){ i, end - i, false };
			if (c->crlf && s.ptr[end] == '\n' && f.len && s.ptr[end - 1] == '\r')
				f.len--;
		}
		if (!nsx_vec_push(&c->fields, f) || c->scratch.failed)
			return nsx_err_nomem(c->err, c->in->name);
		i = end + 1;
		if (s.ptr[end] == '\n') {
			c->taken = i;
			return NSX_OK;
		}
	}
}

/* The next complete row or blank line: returns as split, NSX_EOF at the end of the input. */
static int
fetch(struct nsx_csv *c)
{
	size_t want = 64;
	struct nsx_str s;
	int rc;

	nsx_input_take(c->in, c->taken);
	c->line += c->lines;
	c->taken = 0;
	c->lines = 0;
	for (;;) {
		int more = nsx_input_peek(c->in, want, &s);
		rc = more == NSX_ERR ? NSX_ERR : s.len == 0 ? NSX_EOF : split(c, s);

		if (rc != NSX_EOF || s.len == 0)
			break;
		if (more == NSX_EOF)
			return nsx_err_set(c->err, "%s:%" PRId64 ": cut short: the input ends within a row",
			                   c->in->name, c->line);
		if (s.len > ROW_MAX)
			return nsx_err_set(c->err, "%s:%" PRId64 ": a row of more than %d bytes", c->in->name,
			                   c->line, ROW_MAX);
		/* Twice as many bytes each time, so that a long row is not scanned again for each read. */
		want = s.len * 2;
	}
	if (rc != NSX_OK)
		return rc;
	c->row.n = 0;
	for (size_t i = 0; i < c->fields.n; i++) {
		const struct field *f = &c->fields.p[i];
		struct nsx_str text = { (f->owned ? c->scratch.ptr : s.ptr) + f->at, f->len };

		if (!nsx_vec_push(&c->row, text))
			return nsx_err_nomem(c->err, c->in->name);
	}
	return NSX_OK;
}

static bool
is_blank(const struct nsx_csv *c)
{
	return c->row.n == 1 && c->row.p[0].len == 0;
}

static int
read_header(struct nsx_csv *c)
{
	int rc;

	for (int n = 0; (rc = fetch(c)) == NSX_OK; n++) {
		struct nsx_str last = c->row.p[c->row.n - 1];

		if (c->row.n > 1 && !is_chatter(c->row.p[0])) {
			c->crlf = last.len && last.ptr[last.len - 1] == '\r';
			if (c->crlf)
				c->row.p[c->row.n - 1].len--;
			break;
		}
		if (n == LINES_BEFORE)
			return nsx_err_set(c->err, "%s: no line of column names", c->in->name);
	}
	if (rc != NSX_OK)
		return rc == NSX_ERR ? rc : nsx_err_set(c->err, "%s: no line of column names: did nsys find nothing?",
		                                        c->in->name);
	for (size_t i = 0; i < c->row.n; i++) {
		if (!nsx_vec_push(&c->names, c->head.len))
			return nsx_err_nomem(c->err, c->in->name);
		nsx_buf_str(&c->head, c->row.p[i]);
		nsx_buf_char(&c->head, '\0');
	}
	return c->head.failed ? nsx_err_nomem(c->err, c->in->name) : NSX_OK;
}

/* ---- public functions ---- */

struct nsx_csv *
nsx_csv_open(struct nsx_input *in, struct nsx_err *err)
{
	struct nsx_csv *c = calloc(1, sizeof *c);

	if (!c) {
		nsx_err_nomem(err, in->name);
		return NULL;
	}
	c->in = in;
	c->err = err;
	c->line = 1;
	if (read_header(c) != NSX_OK) {
		nsx_csv_close(c);
		return NULL;
	}
	return c;
}

int
nsx_csv_column(struct nsx_csv *c, const char *name)
{
	for (size_t i = 0; i < c->names.n; i++)
		if (strcmp(c->head.ptr + c->names.p[i], name) == 0)
			return (int)i;
	nsx_err_set(c->err, "%s: no column \"%s\": want the CSV of nsys stats --report nvtx_pushpop_trace, times in ns",
	            c->in->name, name);
	return -1;
}

int
nsx_csv_next(struct nsx_csv *c, struct nsx_str **fields)
{
	int rc;

	while ((rc = fetch(c)) == NSX_OK) {
		if (c->row.n == c->names.n) {
			*fields = c->row.p;
			return NSX_OK;
		}
		if (!is_blank(c))
			nsx_csv_reject(c);
	}
	return rc;
}

void
nsx_csv_reject(struct nsx_csv *c)
{
	c->rejected += c->lines;
}

int64_t
nsx_csv_rejected(const struct nsx_csv *c)
{
	return c->rejected;
}

void
nsx_csv_close(struct nsx_csv *c)
{
	if (!c)
		return;
	nsx_buf_free(&c->head);
	nsx_buf_free(&c->scratch);
	free(c->names.p);
	free(c->fields.p);
	free(c->row.p);
	free(c);
}
