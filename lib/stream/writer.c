/* writer.c -- writing that all encodings share: kinds and their headers, columns matched by name, the end. No value is
 * dropped silently: one without a column is an error. */
#include <stdlib.h>

#include "base/outfile.h"
#include "base/table_row.h"
#include "stream/codec.h"

static struct nsx_writer *
writer_new(const struct nsx_encoder *enc, struct nsx_err *err)
{
	struct nsx_writer *w = calloc(1, sizeof *w);

	if (!w) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	w->err = err;
	w->enc = enc;
	w->out.fd = -1;
	w->out.err = err;
	return w;
}

static struct nsx_writer *
writer_begin(struct nsx_writer *w, int zlevel)
{
	w->out.name = w->name;
	if ((zlevel && nsx_output_zip(&w->out, zlevel) != NSX_OK) || w->enc->begin(w) != NSX_OK) {
		nsx_writer_free(w);
		return NULL;
	}
	return w;
}

static struct nsx_writer *
open_file(const struct nsx_out *out, const struct nsx_encoder *enc, struct nsx_err *err)
{
	struct nsx_writer *w = writer_new(enc, err);

	if (!w)
		return NULL;
	w->out.file = nsx_outfile_open(out->path, err);
	if (!w->out.file) {
		nsx_writer_free(w);
		return NULL;
	}
	w->name = nsx_outfile_name(w->out.file);
	return writer_begin(w, out->zlevel);
}

struct nsx_writer *
nsx_writer_open(const struct nsx_out *out, struct nsx_err *err)
{
	return open_file(out, out->binary ? &nsx_binary_encoder : &nsx_text_encoder, err);
}

struct nsx_writer *
nsx_writer_open_table(const struct nsx_out *out, enum nsx_table_form form, struct nsx_err *err)
{
	struct nsx_writer *w = open_file(out, &nsx_table_encoder, err);

	if (w)
		w->form = nsx_row_form(form);
	return w;
}

struct nsx_writer *
nsx_writer_fd(int fd, const char *name, bool binary, int zlevel, struct nsx_err *err)
{
	struct nsx_writer *w = writer_new(binary ? &nsx_binary_encoder : &nsx_text_encoder, err);

	if (!w)
		return NULL;
	w->out.fd = fd;
	w->name = w->name_copy = nsx_str_dup(nsx_str_c(name));
	if (!w->name) {
		nsx_err_nomem(err, name);
		nsx_writer_free(w);
		return NULL;
	}
	return writer_begin(w, zlevel);
}

struct nsx_writer *
nsx_writer_of(const struct nsx_encoder *enc, void *state, const char *name, struct nsx_err *err)
{
	struct nsx_writer *w = writer_new(enc, err);

	if (!w)
		return NULL;
	w->name = w->name_copy = nsx_str_dup(nsx_str_c(name));
	if (!w->name) {
		nsx_err_nomem(err, name);
		nsx_writer_free(w);
		return NULL;
	}
	w->state = state;
	return writer_begin(w, 0);
}

void
nsx_writer_free(struct nsx_writer *w)
{
	if (!w)
		return;
	w->enc->free(w);
	nsx_output_free(&w->out);
	nsx_buf_free(&w->buf);
	nsx_arena_free(&w->arena);
	nsx_intern_free(&w->names);
	free(w->puts.p);
	free(w->name_copy);
	free(w);
}

void
nsx_writer_follow(struct nsx_writer *w, const struct nsx_reader *in)
{
	w->follow = in;
	w->followed = 0;
}

void
nsx_writer_require(struct nsx_writer *w, const char *kind)
{
	w->require = kind;
}

int64_t
nsx_writer_records(const struct nsx_writer *w)
{
	return w->records;
}

int64_t
nsx_writer_work(const struct nsx_writer *w)
{
	int64_t work = 0;

	for (int k = NSX_COMPILE; k < NSX_SKEW; k++)
		work += w->known[k] ? w->known[k]->records : 0;
	return work;
}

int
nsx_writer_flush(struct nsx_writer *w)
{
	int rc = NSX_OK;

	if (w->buf.failed)
		return nsx_err_nomem(w->err, w->name);
	if (w->buf.len)
		rc = nsx_output_write(&w->out, w->buf.ptr, w->buf.len);
	w->buf.len = 0;
	return rc;
}

/* The declaration under the name of k, NULL if there is none. */
static struct nsx_put *
find(struct nsx_writer *w, const struct nsx_kind *k)
{
	if (k->id != NSX_NKINDS)
		return w->known[k->id];
	uint32_t i = nsx_intern_find(&w->names, nsx_str_c(k->name));
	return i == NSX_NONE ? NULL : w->puts.p[i];
}

static struct nsx_put *
declare(struct nsx_writer *w, const struct nsx_kind *k)
{
	struct nsx_put *p = nsx_arena_alloc(&w->arena, sizeof *p);
	struct nsx_str name = nsx_arena_str(&w->arena, nsx_str_c(k->name));
	struct nsx_head *cols = nsx_arena_alloc(&w->arena, (size_t)(k->ncols + 1) * sizeof *cols);
	uint32_t index = nsx_intern(&w->names, nsx_str_c(k->name));

	if (!p || !name.ptr || !cols || index == NSX_NONE || !nsx_vec_room(&w->puts, 1)) {
		nsx_err_nomem(w->err, w->name);
		return NULL;
	}
	*p = (struct nsx_put){ .name = name.ptr, .id = k->id, .index = (int)index, .ncols = k->ncols, .cols = cols };
	for (int i = 0; i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];

		cols[i] = (struct nsx_head){ nsx_arena_str(&w->arena, nsx_str_c(c->name)), c->type };
		if (!cols[i].name.ptr) {
			nsx_err_nomem(w->err, w->name);
			return NULL;
		}
	}
	if (w->puts.n - (w->known[NSX_END] != NULL) >= NSX_MAX_KINDS && k->id != NSX_END) {
		nsx_err_set(w->err, "%s: more than %d kinds", w->name, NSX_MAX_KINDS);
		return NULL;
	}
	w->puts.p[w->puts.n++] = p;
	if (k->id != NSX_NKINDS)
		w->known[k->id] = p;
	return w->enc->header(w, p) == NSX_OK ? p : NULL;
}

int
nsx_writer_declare(struct nsx_writer *w, const struct nsx_kind *k)
{
	if (w->failed)
		return NSX_ERR;
	if (find(w, k) || declare(w, k))
		return NSX_OK;
	w->failed = true;
	return NSX_ERR;
}

int
nsx_writer_catch_up(struct nsx_writer *w)
{
	int n;

	if (!w->follow)
		return NSX_OK;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(w->follow, &n);

	while (w->followed < (size_t)n)
		if (nsx_writer_declare(w, kinds[w->followed++]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* Match the columns of p with records of kind k. */
static int
match(struct nsx_writer *w, struct nsx_put *p, const struct nsx_kind *k)
{
	p->kind = NULL;
	p->mask = 0;
	for (int i = 0; i < p->ncols; i++) {
		int slot = nsx_kind_slot(k, p->cols[i].name);

		p->from[i] = slot < 0 ? NSX_NO_SLOT : (uint8_t)slot;
		if (slot < 0)
			continue;
		if (k->cols[slot].type != p->cols[i].type)
			return nsx_err_set(w->err, "%s: column %s of %s has type %c in the header, %c in the record",
			                   w->name,
			                   k->cols[slot].name, p->name, p->cols[i].type, k->cols[slot].type);
		p->mask |= 1ULL << slot;
	}
	p->kind = k;
	p->print = k->print;
	p->matches++;
	return NSX_OK;
}

static int
missing_column(struct nsx_writer *w, const struct nsx_put *p, const struct nsx_rec *rec)
{
	int slot = 0;

	while (!((rec->has & ~p->mask) >> slot & 1))
		slot++;
	return nsx_err_set(w->err, "%s: a value for column %s, which the header of %s lacks", w->name,
	                   slot < rec->kind->nslots ? rec->kind->cols[slot].name : "?", p->name);
}

static int
write_record(struct nsx_writer *w, const struct nsx_rec *rec)
{
	const struct nsx_kind *k = rec->kind;
	struct nsx_put *p = k->id != NSX_NKINDS ? w->known[k->id]
	                  : w->last && w->last->kind == k && w->last->print == k->print ? w->last : find(w, k);

	if (k->id == NSX_END)
		return nsx_err_set(w->err, "%s: the end record is the writer's own", w->name);
	if (!p && !(p = declare(w, k)))
		return NSX_ERR;
	if ((p->kind != k || p->print != k->print) && match(w, p, k) != NSX_OK)
		return NSX_ERR;
	if (rec->has & ~p->mask)
		return missing_column(w, p, rec);
	w->last = p;
	w->records++;
	p->records++;
	return w->enc->record(w, p, rec);
}

int
nsx_write(struct nsx_writer *w, const struct nsx_rec *rec)
{
	if (w->failed)
		return NSX_ERR;
	if ((w->follow && w->followed < w->follow->kinds.n && nsx_writer_catch_up(w) != NSX_OK) ||
	    write_record(w, rec) != NSX_OK) {
		w->failed = true;
		return NSX_ERR;
	}
	return NSX_OK;
}

static int
finish(struct nsx_writer *w)
{
	if (nsx_writer_catch_up(w) != NSX_OK)
		return NSX_ERR;
	if (w->require) {
		uint32_t i = nsx_intern_find(&w->names, nsx_str_c(w->require));

		if (i == NSX_NONE || w->puts.p[i]->records == 0)
			return nsx_err_set(w->err, "%s: no %s record", w->name, w->require);
	}
	if (!w->known[NSX_END] && !declare(w, nsx_kind_builtin(NSX_END)))
		return NSX_ERR;
	if (w->enc->end(w, w->known[NSX_END]) != NSX_OK || nsx_writer_flush(w) != NSX_OK)
		return NSX_ERR;
	return nsx_output_finish(&w->out);
}

int
nsx_writer_finish(struct nsx_writer *w)
{
	int rc = w->failed ? NSX_ERR : finish(w);

	/* In any case nothing more can be written. */
	w->failed = true;
	return rc;
}
