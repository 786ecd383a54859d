/* table_write.c -- writes the records of one kind as rows of a table, in a form of base/table_row.h. */
#include "base/table_row.h"
#include "stream/codec.h"

enum { FULL = 256 << 10 };   /* bytes that are written to the output at once */

static int
table_begin(struct nsx_writer *w)
{
	(void)w;
	return NSX_OK;
}

/* The state of the one kind is its columns; their names are the header's. */
static int
table_header(struct nsx_writer *w, struct nsx_put *p)
{
	struct nsx_table_col *cols = nsx_arena_alloc(&w->arena, (size_t)(p->ncols + 1) * sizeof *cols);

	if (p->id == NSX_END)
		return NSX_OK;
	if (p->index > 0)
		return nsx_err_set(w->err, "%s: a table holds one kind: %s after another", w->name, p->name);
	if (!cols)
		return nsx_err_nomem(w->err, w->name);
	for (int i = 0; i < p->ncols; i++) {
		char type = p->cols[i].type;

		cols[i] = (struct nsx_table_col){ p->cols[i].name.ptr, type == 's' ? NSX_CELL_STRING
		                                  : type == 'f' ? NSX_CELL_DOUBLE : NSX_CELL_INT };
	}
	p->state = cols;
	w->form->begin(&w->buf, cols, (size_t)p->ncols);
	return w->buf.failed ? nsx_err_nomem(w->err, w->name) : NSX_OK;
}

static int
table_record(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec)
{
	struct nsx_table_cell cells[NSX_MAX_COLS];

	for (int i = 0; i < p->ncols; i++) {
		bool known = p->from[i] != NSX_NO_SLOT;
		unsigned slot = known ? p->from[i] : 0;

		cells[i].has = known && rec->has >> slot & 1;
		/* The member of both unions that contains the others: no branch on the type. */
		cells[i].v.s = rec->v[slot].s;
	}
	w->form->row(&w->buf, p->state, (size_t)p->ncols, cells, (size_t)p->records - 1);
	if (w->buf.failed)
		return nsx_err_nomem(w->err, w->name);
	return w->buf.len >= FULL ? nsx_writer_flush(w) : NSX_OK;
}

static int
table_end(struct nsx_writer *w, struct nsx_put *p)
{
	(void)p;
	w->form->end(&w->buf, (size_t)w->records);
	return w->buf.failed ? nsx_err_nomem(w->err, w->name) : NSX_OK;
}

static void
table_free(struct nsx_writer *w)
{
	(void)w;
}

const struct nsx_encoder nsx_table_encoder = { table_begin, table_header, table_record, table_end, table_free };
