/* text_write.c -- writes the text encoding: docs/format.md, "Text". Equal records give equal bytes. */
#include <string.h>

#include "base/escape.h"
#include "base/num.h"
#include "stream/codec.h"

#define ONES  0x0101010101010101ULL
#define HIGHS 0x8080808080808080ULL

enum {
	FULL = 256 << 10,   /* bytes that are written to the output at once */
	REST = NSX_MAX_COLS * (NSX_DOUBLE_CHARS + 1) + 2   /* maximum of all numbers, tabs and the newline of one
	                                                    * line */
};

/* Bytes at p, n left, that are one UTF-8 character of two bytes or more; 0 if they are not. */
static size_t
utf8(const unsigned char *p, size_t n)
{
	unsigned char lead = p[0], low = 0x80, high = 0xbf;
	size_t len;

	if (lead >= 0xc2 && lead <= 0xdf)
		len = 2;
	else if (lead >= 0xe0 && lead <= 0xef)
		len = 3;
	else if (lead >= 0xf0 && lead <= 0xf4)
		len = 4;
	else
		return 0;
	/* No overlong forms, no surrogates, nothing above U+10FFFF: all decided by the second byte. */
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xf4)
		high = 0x8f;
	if (n < len || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

/* Write the string with its escapes to out, which has space for four bytes per byte; returns the end. */
static char *
put_escaped(char *out, struct nsx_str s)
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t i = 0;

	while (i < s.len) {
		unsigned char c = p[i];
		size_t wide;

		if (c >= 0x80 && (wide = utf8(p + i, s.len - i)) != 0 && !nsx_utf8_steers(p + i, wide)) {
			memcpy(out, p + i, wide);
			out += wide;
			i += wide;
			continue;
		}
		i++;
		if (c == '\\' || c == '\t' || c == '\n' || c == '\r') {
			*out++ = '\\';
			*out++ = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\\';
		} else if (c < 0x20 || c >= 0x7f) {
			*out++ = '\\';
			*out++ = 'x';
			*out++ = digits[c >> 4];
			*out++ = digits[c & 15];
		} else {
			*out++ = (char)c;
		}
	}
	return out;
}

/* Copy s to out: false if it needs escapes (or has any byte from 0x7f on). */
static bool
put_plain(char *out, struct nsx_str s)
{
	uint64_t odd = 0, w;
	size_t i = 0;

	/* Any byte below 0x20, from 0x7f on, or a backslash? A false positive only costs time. */
	for (; s.len - i >= 8; i += 8) {
		memcpy(&w, s.ptr + i, sizeof w);
		memcpy(out + i, &w, sizeof w);
		uint64_t slash = w ^ ONES * '\\';
		odd |= (w - ONES * 0x20) | (w + ONES) | w | (slash - ONES);
	}
	for (; i < s.len; i++) {
		unsigned char c = (unsigned char)(out[i] = s.ptr[i]);

		odd |= c < 0x20 || c >= 0x7f || c == '\\' ? HIGHS : 0;
	}
	return !(odd & HIGHS);
}

static bool
put_string(struct nsx_buf *b, struct nsx_str s)
{
	/* Reserve memory for the rest of the line, too. */
	if (s.len > SIZE_MAX / 8 || !nsx_buf_room(b, s.len + REST))
		return false;
	if (put_plain(b->ptr + b->len, s)) {
		b->len += s.len;
		return true;
	}
	if (!nsx_buf_room(b, s.len * 4 + REST))
		return false;
	b->len = (size_t)(put_escaped(b->ptr + b->len, s) - b->ptr);
	return true;
}

static int
text_begin(struct nsx_writer *w)
{
	nsx_buf_room(&w->buf, FULL + (64 << 10));
	nsx_buf_fmt(&w->buf, "#nsysx\t%d\n", NSX_STREAM_VERSION);
	return w->buf.failed ? nsx_err_nomem(w->err, w->name) : NSX_OK;
}

static int
text_header(struct nsx_writer *w, struct nsx_put *p)
{
	nsx_buf_fmt(&w->buf, "#%s", p->name);
	for (int i = 0; i < p->ncols; i++)
		nsx_buf_fmt(&w->buf, "\t%.*s:%c", (int)p->cols[i].name.len, p->cols[i].name.ptr, p->cols[i].type);
	nsx_buf_char(&w->buf, '\n');
	return w->buf.failed ? nsx_err_nomem(w->err, w->name) : NSX_OK;
}

/* The value in a slot; the caller has reserved memory for a number. */
static bool
put_value(struct nsx_buf *b, char type, const union nsx_val *v)
{
	if (type == 'i')
		b->len = (size_t)(nsx_put_int(b->ptr + b->len, v->i) - b->ptr);
	else if (type == 'f')
		b->len = (size_t)(nsx_put_double(b->ptr + b->len, v->f) - b->ptr);
	else
		return put_string(b, v->s);
	return true;
}

/* The record's values, each after a tab except the first if bare. */
static int
put_row(struct nsx_writer *w, const struct nsx_put *p, const struct nsx_rec *rec, bool bare)
{
	struct nsx_buf *b = &w->buf;
	size_t from = b->len;

	if (!nsx_buf_room(b, REST))
		return nsx_err_nomem(w->err, w->name);
	for (int i = 0; i < p->ncols; i++) {
		unsigned slot = p->from[i];

		if (i || !bare)
			b->ptr[b->len++] = '\t';
		if (slot != NSX_NO_SLOT && rec->has >> slot & 1 && !put_value(b, p->cols[i].type, &rec->v[slot]))
			return nsx_err_nomem(w->err, w->name);
	}
	b->ptr[b->len++] = '\n';
	/* Text that a reader would refuse is not written. */
	if (b->len - from > NSX_LINE_MAX)
		return nsx_err_set(w->err, "%s: a %s record of more than %d bytes", w->name, p->name,
		                   (int)NSX_LINE_MAX);
	return b->len >= FULL ? nsx_writer_flush(w) : NSX_OK;
}

static int
text_record(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec)
{
	nsx_buf_c(&w->buf, p->name);
	return put_row(w, p, rec, false);
}

static int
text_end(struct nsx_writer *w, struct nsx_put *p)
{
	nsx_buf_c(&w->buf, p->name);
	for (int i = 0; i < p->ncols; i++) {
		nsx_buf_char(&w->buf, '\t');
		if (nsx_str_eq(p->cols[i].name, NSX_STR("records")))
			nsx_buf_fmt(&w->buf, "%lld", (long long)w->records);
	}
	nsx_buf_char(&w->buf, '\n');
	return w->buf.failed ? nsx_err_nomem(w->err, w->name) : NSX_OK;
}

static void
text_free(struct nsx_writer *w)
{
	(void)w;
}

const struct nsx_encoder nsx_text_encoder = { text_begin, text_header, text_record, text_end, text_free };

/* ---- a plain table ---- */

static int
table_begin(struct nsx_writer *w)
{
	(void)w;
	return NSX_OK;
}

static int
table_header(struct nsx_writer *w, struct nsx_put *p)
{
	if (p->id == NSX_END)
		return NSX_OK;
	if (p->index > 0)
		return nsx_err_set(w->err, "%s: a table holds one kind: %s after another", w->name, p->name);
	for (int i = 0; i < p->ncols; i++)
		nsx_buf_fmt(&w->buf, "%s%.*s", i ? "\t" : "", (int)p->cols[i].name.len, p->cols[i].name.ptr);
	nsx_buf_char(&w->buf, '\n');
	return w->buf.failed ? nsx_err_nomem(w->err, w->name) : NSX_OK;
}

static int
table_record(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec)
{
	return put_row(w, p, rec, true);
}

static int
table_end(struct nsx_writer *w, struct nsx_put *p)
{
	(void)w;
	(void)p;
	return NSX_OK;
}

const struct nsx_encoder nsx_table_encoder = { table_begin, table_header, table_record, table_end, text_free };
