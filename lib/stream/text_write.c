/* text_write.c -- writes the text encoding: docs/format.md, "Text". Equal records give equal bytes. */

#include "base/escape.h"
#include "base/num.h"
#include "stream/codec.h"

enum {
	FULL = 256 << 10,   /* bytes that are written to the output at once */
	REST = NSX_MAX_COLS * (NSX_DOUBLE_CHARS + 1) + 2   /* maximum of all numbers, tabs and the newline of one
	                                                    * line */
};

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
		nsx_buf_escaped(b, v->s);
	/* Strings reserve nothing for the rest of the line. */
	return type != 's' || nsx_buf_room(b, REST);
}

static int
text_record(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec)
{
	struct nsx_buf *b = &w->buf;
	size_t from = b->len;

	nsx_buf_c(b, p->name);
	if (!nsx_buf_room(b, REST))
		return nsx_err_nomem(w->err, w->name);
	for (int i = 0; i < p->ncols; i++) {
		unsigned slot = p->from[i];

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
