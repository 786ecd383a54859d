/* json.c -- a Mosaic GPU profile as a Chrome trace: the bytes that Mosaic's own profiler writes for it. */
#include <inttypes.h>
#include <stdlib.h>

#include "draw/mosaic.h"
#include "base/escape.h"
#include "base/num.h"

enum { FLUSH = 1 << 18 };

static uint32_t
code_point(const unsigned char *p, size_t n)
{
	uint32_t c = n == 1 ? p[0] : n == 2 ? p[0] & 0x1fu : n == 3 ? p[0] & 0x0fu : p[0] & 0x07u;

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fu);
	return c;
}

/* s as a JSON string in ASCII only, quotes included. Bytes that are not UTF-8 become the four characters \xHH. */
static void
put_string(struct nsx_buf *b, struct nsx_str s)
{
	nsx_buf_char(b, '"');
	for (size_t i = 0, n; i < s.len; i += n ? n : 1) {
		const unsigned char *p = (const unsigned char *)s.ptr + i;

		n = nsx_utf8_char((struct nsx_str){ s.ptr + i, s.len - i });
		if (n == 0) {
			nsx_buf_fmt(b, "\\\\x%02X", p[0]);
			continue;
		}
		uint32_t c = code_point(p, n);
		switch (c) {
		case '"':  nsx_buf_c(b, "\\\""); break;
		case '\\': nsx_buf_c(b, "\\\\"); break;
		case '\n': nsx_buf_c(b, "\\n"); break;
		case '\r': nsx_buf_c(b, "\\r"); break;
		case '\t': nsx_buf_c(b, "\\t"); break;
		case '\b': nsx_buf_c(b, "\\b"); break;
		case '\f': nsx_buf_c(b, "\\f"); break;
		default:
			if (c >= ' ' && c <= '~')
				nsx_buf_char(b, (char)c);
			else if (c < 0x10000)
				nsx_buf_fmt(b, "\\u%04x", (unsigned)c);
			else
				nsx_buf_fmt(b, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
				            (unsigned)(0xdc00 + ((c - 0x10000) & 0x3ff)));
		}
	}
	nsx_buf_char(b, '"');
}

static int
flush(struct nsx_buf *b, struct nsx_outfile *out, struct nsx_err *err)
{
	int rc = b->failed ? nsx_err_nomem(err, NULL) : nsx_outfile_write(out, b->ptr, b->len);

	b->len = 0;
	return rc;
}

/* The names as JSON, each once: *ends has the end of each in `all`. */
static size_t *
spell_names(const struct nsx_mosaic *m, struct nsx_buf *all)
{
	size_t *ends = malloc((m->names->list.n + 1) * sizeof *ends);

	for (size_t i = 0; ends && i < m->names->list.n; i++) {
		put_string(all, m->names->list.p[i]);
		ends[i] = all->len;
	}
	return ends;
}

/* Where a track is written to, and the ranges that it has open: their names, the innermost last. */
struct writing {
	struct nsx_buf      b;
	struct nsx_outfile *out;
	struct nsx_err     *err;
	const char         *all;        /* the names as JSON */
	const size_t       *ends;       /* of each, in all */
	const char         *between;
	NSX_VEC(uint32_t)   open;
	int64_t             unended;
};

static int
put_event(struct writing *w, uint32_t name, const struct nsx_mosaic_track *t, char phase, int64_t at)
{
	size_t from = name ? w->ends[name - 1] : 0;
	char time[NSX_DOUBLE_CHARS];

	nsx_buf_fmt(&w->b, "%s{\"name\": ", w->between);
	nsx_buf_add(&w->b, w->all + from, w->ends[name] - from);
	nsx_buf_fmt(&w->b, ", \"ph\": \"%c\", \"ts\": ", phase);
	nsx_buf_add(&w->b, time, (size_t)(nsx_put_thousandths(time, at) - time));
	nsx_buf_fmt(&w->b, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 "}", 1 + t->sm, 1 + t->slot);
	w->between = ", ";
	return w->b.len >= FLUSH || w->b.failed ? flush(&w->b, w->out, w->err) : NSX_OK;
}

/* An end closes the innermost range, whatever its name, as in Mosaic's own profiler and in the viewers. */
static int
put_track(struct writing *w, const struct nsx_mosaic_track *t, const struct nsx_mosaic_event *events)
{
	w->open.n = 0;
	for (size_t k = t->first; k < t->first + t->n; k++) {
		const struct nsx_mosaic_event *e = &events[k];

		if (put_event(w, e->name, t, e->end ? 'E' : 'B', e->time) != NSX_OK)
			return NSX_ERR;
		if (!e->end && !nsx_vec_push(&w->open, e->name))
			return nsx_err_nomem(w->err, NULL);
		if (e->end && w->open.n)
			w->open.n--;
	}
	w->unended += (int64_t)w->open.n;
	for (int64_t last = events[t->first + t->n - 1].time; w->open.n; w->open.n--)
		if (put_event(w, w->open.p[w->open.n - 1], t, 'E', last) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

int
nsx_mosaic_json(const struct nsx_mosaic *m, struct nsx_outfile *out, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_buf all = { 0 };
	size_t *ends = spell_names(m, &all);
	struct writing w = { .out = out, .err = err, .all = all.ptr, .ends = ends, .between = "" };
	int rc = ends && !all.failed ? NSX_OK : nsx_err_nomem(err, NULL);

	nsx_buf_c(&w.b, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
	for (size_t i = 0; rc == NSX_OK && i < m->tracks.n; i++)
		rc = put_track(&w, &m->tracks.p[i], m->events.p);
	nsx_buf_c(&w.b, "]}");
	if (rc == NSX_OK)
		rc = flush(&w.b, out, err);
	nsx_diag_add(diags, NSX_WARNING, "", w.unended,
		"ranges without an end: they end with the last event of their trace");
	nsx_buf_free(&w.b);
	nsx_buf_free(&all);
	free(w.open.p);
	free(ends);
	return rc;
}
