/* text_read.c -- reads the text encoding: docs/format.md, "Text". A record's strings are decoded in place. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/num.h"
#include "stream/codec.h"

#define ONES  0x0101010101010101ULL
#define HIGHS 0x8080808080808080ULL

/* The part of a malformed field that a message shows. */
#define SHOWN(s) ((s).len > 60 ? 60 : (int)(s).len), (s).ptr

struct text {
	bool  first;            /* the first line has not been read */
	struct nsx_met *last;   /* kind of the last record */
	const char *last_name;
	size_t last_len;
};

static void
text_where(struct nsx_reader *r)
{
	nsx_buf_fmt(&r->place, "%s:%" PRId64, r->name, r->line);
}

static int
text_begin(struct nsx_reader *r)
{
	struct text *t = calloc(1, sizeof *t);

	if (!t)
		return nsx_err_nomem(r->err, r->name);
	t->first = true;
	r->state = t;
	return NSX_OK;
}

static void
text_close(struct nsx_reader *r)
{
	free(r->state);
}

/* The next line, without its newline, which stays after it in the window: NSX_OK, NSX_EOF, NSX_ERR. */
static int
next_line(struct nsx_reader *r, struct nsx_str *line)
{
	struct nsx_input *in = &r->in;
	size_t seen = 0;

	for (;;) {
		char *p = in->buf + in->pos;
		size_t have = in->end - in->pos;
		char *nl = have > seen ? memchr(p + seen, '\n', have - seen) : NULL;

		if (nl) {
			*line = (struct nsx_str){ p, (size_t)(nl - p) };
			in->pos += line->len + 1;
			r->line++;
			return NSX_OK;
		}
		seen = have;
		if (seen > NSX_LINE_MAX) {
			r->line++;
			return nsx_reader_fail(r, "a line of more than %d bytes", (int)NSX_LINE_MAX);
		}
		int rc = nsx_input_more(in);
		if (rc == NSX_ERR)
			return rc;
		if (rc == NSX_EOF && seen == 0)
			return rc;
		if (rc == NSX_EOF)
			/* A truncated number is a valid number: a line without its end is never accepted. */
			return nsx_err_set(r->err, "%s: cut short in line %" PRId64, r->name, r->line + 1);
	}
}

static bool
begins_stream(struct nsx_str line)
{
	return nsx_str_starts(line, "#nsysx") && (line.len == 6 || line.ptr[6] == '\t');
}

/* `#nsysx<TAB>VERSION`. */
static int
first_line(struct nsx_reader *r, struct nsx_str line)
{
	struct nsx_str version = line;
	int64_t v;

	version.ptr += line.len > 7 ? 7 : line.len;
	version.len -= (size_t)(version.ptr - line.ptr);
	if (!nsx_get_int(version, &v) || v < 1)
		return nsx_reader_fail(r, "want #nsysx, a tab and a version, got \"%.*s\": not an nsysx stream",
		                       SHOWN(line));
	if (v != NSX_STREAM_VERSION)
		return nsx_reader_refuse(r, (uint64_t)v);
	return NSX_OK;
}

static const char *
until(const char *p, const char *end, char c)
{
	const char *q = memchr(p, c, (size_t)(end - p));

	return q ? q : end;
}

/* `#KIND<TAB>column:type<TAB>...` */
static int
header(struct nsx_reader *r, struct nsx_str line)
{
	struct nsx_head cols[NSX_MAX_COLS];
	size_t n = 0;
	const char *end = line.ptr + line.len, *p = until(line.ptr, end, '\t');
	struct nsx_str kind = { line.ptr + 1, (size_t)(p - line.ptr) - 1 };

	while (p < end) {
		struct nsx_str field = { p + 1, 0 };

		p = until(field.ptr, end, '\t');
		field.len = (size_t)(p - field.ptr);
		if (n == NSX_MAX_COLS)
			return nsx_reader_fail(r, "kind %.*s has more than %d columns", SHOWN(kind), NSX_MAX_COLS);
		const char *colon = until(field.ptr, p, ':');
		if (p - colon != 2)
			return nsx_reader_fail(r, "want column:type, got \"%.*s\"", SHOWN(field));
		cols[n++] = (struct nsx_head){ { field.ptr, (size_t)(colon - field.ptr) }, colon[1] };
	}
	return nsx_reader_declare(r, kind, cols, n) ? NSX_OK : NSX_ERR;
}

/* End of the field at p: its tab, or the end of the line (which has a newline). *escape is set if it contains a
 * backslash. */
static char *
field_end(char *p, char **escape)
{
	*escape = NULL;
	for (;;) {
		uint64_t w;

		/* Eight bytes at once: any below 0x20 or a backslash? May be a false positive for a byte after such a
		 * one. */
		memcpy(&w, p, sizeof w);
		uint64_t slash = w ^ ONES * '\\';
		if ((((w - ONES * 0x20) & ~w) | ((slash - ONES) & ~slash)) & HIGHS) {
			for (int i = 0; i < 8; i++, p++) {
				if (*p == '\t' || *p == '\n')
					return p;
				if (*p == '\\' && !*escape)
					*escape = p;
			}
		} else {
			p += 8;
		}
	}
}

static int
bad_field(struct nsx_reader *r, const struct nsx_met *m, int i, const char *want, const char *p, const char *end)
{
	struct nsx_str s = { p, (size_t)(end - p) };

	return nsx_reader_fail(r, "%s.%s: want %s, got \"%.*s\"", m->kind->name, m->kind->cols[m->kind->order[i]].name,
	                       want, SHOWN(s));
}

/* Take eight digits at once, if there are as many. */
static bool
eight_digits(char **p, uint64_t *v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t w;

	memcpy(&w, *p, sizeof w);
	/* All between '0' and '9': upper halves are 3, also after adding 6. */
	if (((w & (w + ONES * 6)) & ONES * 0xf0) != ONES * '0')
		return false;
	w = (w & ONES * 0x0f) * 2561 >> 8;                                  /* pairs of digits */
	w = (w & 0x00ff00ff00ff00ff) * 6553601 >> 16;                       /* fours */
	w = (w & 0x0000ffff0000ffff) * 42949672960001 >> 32;                /* all eight */
	*v = *v * 100000000 + w;
	*p += 8;
	return true;
#else
	(void)p;
	(void)v;
	return false;
#endif
}

/* A field of column i begins at *pp and is not empty; *pp becomes its end. */
static int
value(struct nsx_reader *r, const struct nsx_met *m, int i, char **pp, struct nsx_rec *rec)
{
	int slot = m->kind->order[i];
	char *p = *pp, *end, *escape;

	if (m->type[i] == 'i') {
		/* Up to 18 digits cannot overflow; other numbers use the general function. */
		bool minus = *p == '-';
		char *q = p + minus;
		uint64_t v = 0;

		while (eight_digits(&q, &v))
			;
		while (nsx_is_digit(*q))
			v = v * 10 + (uint64_t)(*q++ - '0');
		if ((*q == '\t' || *q == '\n') && q - p - minus <= 18 && q > p + minus) {
			rec->v[slot].i = minus ? -(int64_t)v : (int64_t)v;
			rec->has |= 1ULL << slot;
			*pp = q;
			return NSX_OK;
		}
		end = field_end(p, &escape);
		if (!nsx_get_int((struct nsx_str){ p, (size_t)(end - p) }, &rec->v[slot].i))
			return bad_field(r, m, i, "an integer of 64 bits", p, end);
	} else if (m->type[i] == 'f') {
		end = field_end(p, &escape);
		if (!nsx_get_double((struct nsx_str){ p, (size_t)(end - p) }, &rec->v[slot].f))
			return bad_field(r, m, i, "a number", p, end);
	} else {
		end = field_end(p, &escape);
		size_t len = (size_t)(end - p);
		if (escape && (len = nsx_unescape(p, (size_t)(escape - p), len)) == SIZE_MAX)
			return nsx_reader_fail(r,
			                       "%s.%s: a backslash that does not begin any of \\t \\n \\r \\\\ \\xHH",
			                       m->kind->name,
			                       m->kind->cols[slot].name);
		rec->v[slot].s = (struct nsx_str){ p, len };
	}
	rec->has |= 1ULL << slot;
	*pp = end;
	return NSX_OK;
}

static int
fields(struct nsx_reader *r, const struct nsx_met *m, char *p, char *eol, struct nsx_rec *rec)
{
	rec->kind = m->kind;
	rec->has = 0;
	for (int i = 0; i < m->n; i++) {
		if (p == eol)
			return nsx_reader_fail(r, "%s: want %d values, got %d", m->kind->name, m->n, i);
		p++;
		if (!(m->wanted >> i & 1)) {
			while (*p != '\t' && *p != '\n')
				p++;
			continue;
		}
		if (*p != '\t' && *p != '\n' && value(r, m, i, &p, rec) != NSX_OK)
			return NSX_ERR;
	}
	if (p != eol) {
		int got = m->n;

		for (; p < eol; p++)
			got += *p == '\t';
		return nsx_reader_fail(r, "%s: want %d values, got %d", m->kind->name, m->n, got);
	}
	return NSX_OK;
}

/* The kind of a record, NULL with r->err filled. */
static struct nsx_met *
kind_of(struct nsx_reader *r, struct nsx_str name)
{
	struct text *t = r->state;
	struct nsx_met *m;

	if (t->last && name.len == t->last_len && memcmp(name.ptr, t->last_name, name.len) == 0)
		return t->last;
	m = nsx_reader_met(r, name);
	if (!m && nsx_kind_find(name) != NSX_NKINDS && r->flags & NSX_READ_PARTIAL) {
		const struct nsx_kind *b = nsx_kind_builtin(nsx_kind_find(name));
		struct nsx_head cols[NSX_MAX_COLS];

		for (int i = 0; i < b->ncols; i++)
			cols[i] = (struct nsx_head){ nsx_str_c(b->cols[i].name), b->cols[i].type };
		m = nsx_reader_declare(r, name, cols, (size_t)b->ncols);
		if (!m)
			return NULL;
	}
	if (!m && name.len == 0)
		nsx_reader_fail(r, "want a kind, got an empty field");
	else if (!m && nsx_kind_word(name))
		nsx_reader_fail(r, "record of kind %.*s before its header", SHOWN(name));
	else if (!m)
		nsx_reader_fail(r, "want a kind (a lower-case word), got \"%.*s\"", SHOWN(name));
	if (m) {
		t->last = m;
		t->last_name = m->kind->name;
		t->last_len = name.len;
	}
	return m;
}

/* After `end`: nothing may follow. */
static int
at_end(struct nsx_reader *r)
{
	struct nsx_str line;
	int rc = next_line(r, &line);

	if (rc != NSX_OK)
		return rc;
	if (begins_stream(line))
		return nsx_reader_fail(r, "two streams one after the other: use nsysx-merge");
	return nsx_reader_fail(r, "data after the end record: \"%.*s\"", SHOWN(line));
}

static int
text_next(struct nsx_reader *r, struct nsx_rec *rec)
{
	struct text *t = r->state;
	struct nsx_str line;
	int rc;

	for (;;) {
		rc = next_line(r, &line);
		if (rc == NSX_EOF)
			return r->flags & NSX_READ_PARTIAL ? NSX_EOF : nsx_reader_cut(r);
		if (rc != NSX_OK)
			return rc;
		if (line.len && *line.ptr == '#') {
			bool stream = begins_stream(line);

			if (stream && !t->first)
				return nsx_reader_fail(r, "two streams one after the other: use nsysx-merge");
			t->first = false;
			if ((stream ? first_line(r, line) : header(r, line)) != NSX_OK)
				return NSX_ERR;
			continue;
		}
		t->first = false;

		/* The window may be modified. */
		char *p = r->in.buf + (line.ptr - r->in.buf), *eol = p + line.len, *name_end = p;
		while (name_end < eol && *name_end != '\t')
			name_end++;
		struct nsx_met *m = kind_of(r, (struct nsx_str){ p, (size_t)(name_end - p) });
		if (!m)
			return NSX_ERR;
		if (m->skip) {
			r->records++;
			continue;
		}
		if (fields(r, m, name_end, eol, rec) != NSX_OK)
			return NSX_ERR;
		if (m->kind->id == NSX_END)
			return at_end(r);
		return NSX_OK;
	}
}

const struct nsx_decoder nsx_text_decoder = { text_begin, text_next, text_where, text_close };
