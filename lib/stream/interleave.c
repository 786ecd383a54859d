/* interleave.c -- see interleave.h. */
#include "stream/interleave.h"

#include "stream/order.h"
#include "stream/pass.h"

struct weaving {
	const struct nsx_interleave *more;
	struct nsx_writer *out;
	struct nsx_pass   *through;    /* NULL: records lie between others, so blocks cannot be passed on as they are */
	size_t             at;
	union nsx_val      v[NSX_MAX_COLS];
	struct nsx_rec     next;       /* the next one, if `filled` */
	struct nsx_order_key key;
	bool               filled;
};

static void
fill(struct weaving *w)
{
	w->next = (struct nsx_rec){ nsx_kind_builtin(w->more->kind), 0, w->v };
	w->more->fill(w->more->state, w->at, &w->next);
	nsx_order_key(&w->next, &w->key);
	w->filled = true;
}

/* Whether the next one comes before the record; every one comes before what is behind the work. */
static bool
comes_before(const struct weaving *w, const struct nsx_rec *rec)
{
	struct nsx_order_key key;

	if (nsx_rec_section(rec) == NSX_SECTION_ANY)
		return false;
	nsx_order_key(rec, &key);
	return nsx_order_key_cmp(&w->key, &key) < 0;
}

/* Write those that come before the record; NULL: all. */
static int
write_before(struct weaving *w, const struct nsx_rec *rec)
{
	for (; w->at < w->more->n; w->at++, w->filled = false) {
		if (!w->filled)
			fill(w);
		if (rec && !comes_before(w, rec))
			return NSX_OK;
		if (nsx_write(w->out, &w->next) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int
take(struct weaving *w, struct nsx_rec *rec)
{
	const struct nsx_interleave *m = w->more;

	if (rec->kind->id == m->kind || (m->keep && !m->keep(m->state, rec)))
		return NSX_OK;
	if (write_before(w, rec) != NSX_OK)
		return NSX_ERR;
	return w->through ? nsx_pass_on(w->through, rec) : nsx_write(w->out, rec);
}

int
nsx_interleave(struct nsx_reader *in, struct nsx_writer *out, const struct nsx_interleave *more, struct nsx_err *err)
{
	struct weaving w = { .more = more, .out = out };
	struct nsx_rec rec;
	int rc = nsx_reader_add_columns(in, NSX_DIAG);

	if (rc == NSX_OK)
		rc = nsx_reader_add_columns(in, more->kind);
	nsx_writer_follow(out, in);
	if (rc == NSX_OK && !more->n)
		rc = (w.through = nsx_pass_new(in, out, err)) ? NSX_OK : NSX_ERR;
	while (rc == NSX_OK && (rc = w.through ? nsx_pass_read(w.through, &rec) : nsx_read(in, &rec)) == NSX_OK)
		rc = take(&w, &rec);
	if (rc == NSX_EOF && write_before(&w, NULL) != NSX_OK)
		rc = NSX_ERR;
	nsx_pass_free(w.through);
	nsx_writer_follow(out, NULL);
	return rc;
}
