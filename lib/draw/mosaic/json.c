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

int
nsx_mosaic_json(const struct nsx_mosaic *m, struct nsx_outfile *out, struct nsx_err *err)
{
	struct nsx_buf b = { 0 }, all = { 0 };
	size_t *ends = spell_names(m, &all);
	int rc = ends && !all.failed ? NSX_OK : nsx_err_nomem(err, NULL);
	const char *between = "";
	char time[NSX_DOUBLE_CHARS];

	nsx_buf_c(&b, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
	for (size_t i = 0; rc == NSX_OK && i < m->tracks.n; i++) {
		const struct nsx_mosaic_track *t = &m->tracks.p[i];
		for (size_t k = t->first; rc == NSX_OK && k < t->first + t->n; k++) {
			const struct nsx_mosaic_event *e = &m->events.p[k];
			size_t from = e->name ? ends[e->name - 1] : 0;

			nsx_buf_fmt(&b, "%s{\"name\": ", between);
			nsx_buf_add(&b, all.ptr + from, ends[e->name] - from);
			nsx_buf_fmt(&b, ", \"ph\": \"%c\", \"ts\": ", e->end ? 'E' : 'B');
			nsx_buf_add(&b, time, (size_t)(nsx_put_thousandths(time, e->time) - time));
			nsx_buf_fmt(&b, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 "}", 1 + t->sm, 1 + t->slot);
			between = ", ";
			if (b.len >= FLUSH || b.failed)
				rc = flush(&b, out, err);
		}
	}
	nsx_buf_c(&b, "]}");
	if (rc == NSX_OK)
		rc = flush(&b, out, err);
	nsx_buf_free(&b);
	nsx_buf_free(&all);
	free(ends);
	return rc;
}
