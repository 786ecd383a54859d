/* collectives.c -- a stream with records of its collectives (job/comm/marks.h). Headers of the input stay where
 * they are among its records, although these wait. */
#include "filter/collectives.h"

#include <stdlib.h>

#include "job/comm/marks.h"
#include "job/diags_of.h"
#include "stream/backlog.h"

struct nsx_collecting {
	struct nsx_reader *in;
	struct nsx_backlog *from;        /* it, with what waits for its end */
	struct nsx_writer *out;
	struct nsx_err    *err;
	uint64_t           came, left;   /* records of the input that are passed on, and that are written */
	NSX_VEC(uint64_t)  headers;      /* of each kind of the input: `came` when its header did */
	int                declared;
	struct nsx_collective_marks *marks;
	uint64_t           look[NSX_NKINDS + 1];
	size_t             hold_bytes;
	bool               begun;        /* some of it waits */
};

/* Write the headers that came before the next record. */
static int
declare(struct nsx_collecting *a)
{
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(a->in, &n);

	for (; (size_t)a->declared < a->headers.n && a->headers.p[a->declared] <= a->left; a->declared++)
		if (nsx_writer_declare(a->out, kinds[a->declared]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

static int
put(void *state, struct nsx_rec *rec)
{
	struct nsx_collecting *a = state;

	/* Collective records are no input: the headers before the next record of it come behind them. */
	if (rec->kind->id != NSX_COLLECTIVE) {
		if (declare(a) != NSX_OK)
			return NSX_ERR;
		a->left++;
	}
	return nsx_write(a->out, rec);
}

/* Remember the headers that came before this record. */
static int
note_headers(struct nsx_collecting *a)
{
	int n;

	nsx_reader_kinds(a->in, &n);
	while (a->headers.n < (size_t)n)
		if (!nsx_vec_push(&a->headers, a->came))
			return nsx_err_nomem(a->err, NULL);
	return NSX_OK;
}

/* Whether a record is of an earlier call, and is left out. */
static bool
is_stale(const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_COLLECTIVE || nsx_is_diag_of(rec, "nsysx-collectives");
}

static int
again(void *state, struct nsx_rec *rec)
{
	struct nsx_collecting *a = state;
	int rc;

	while ((rc = nsx_backlog_again(a->from, rec)) == NSX_OK && is_stale(rec))
		;
	return rc == NSX_EOF ? nsx_err_set(a->err, "a temporary file holds too few records") : rc;
}

static void
free_all(void *at)
{
	struct nsx_collecting *a = at;

	if (!a)
		return;
	nsx_collective_marks_free(a->marks);
	nsx_backlog_free(a->from);
	free(a->headers.p);
	free(a);
}

struct nsx_collecting *
nsx_collectives_begin(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_err *err)
{
	struct nsx_collecting *a = calloc(1, sizeof *a);

	if (!a) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	*a = (struct nsx_collecting){ .in = in, .out = out, .err = err, .hold_bytes = hold_bytes,
	                              .from = nsx_backlog_new(in, err) };
	a->marks = a->from ? nsx_collective_marks_new(put, again, a, hold_bytes, err) : NULL;
	nsx_collective_marks_look(a->look);
	nsx_writer_follow(out, NULL);
	if (a->marks && nsx_reader_add_columns(in, NSX_COLLECTIVE) == NSX_OK)
		return a;
	free_all(a);
	return NULL;
}

static int
step(void *at)
{
	struct nsx_collecting *a = at;
	struct nsx_rec rec;
	bool more;
	int rc = nsx_backlog_read(a->from, &rec, &more);

	if (rc != NSX_OK || is_stale(&rec))
		return rc;
	if (note_headers(a) != NSX_OK)
		return NSX_ERR;
	a->came++;
	if (nsx_collective_marks_take(a->marks, &rec, more) != NSX_OK)
		return NSX_ERR;
	if (a->begun || !nsx_collective_marks_wait(a->marks))
		return NSX_OK;
	a->begun = true;
	return nsx_backlog_begin(a->from, a->look, a->hold_bytes);
}

static int
end(void *at, struct nsx_diags *diags)
{
	struct nsx_collecting *a = at;
	if (nsx_collective_marks_finish(a->marks) != NSX_OK || note_headers(a) != NSX_OK || declare(a) != NSX_OK)
		return NSX_ERR;
	nsx_collective_marks_diags(a->marks, diags);
	return NSX_OK;
}

const struct nsx_stepping nsx_collectives_stepping = { step, end, free_all };

int
nsx_collectives(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
                struct nsx_err *err)
{
	return nsx_step_all(&nsx_collectives_stepping, nsx_collectives_begin(in, out, hold_bytes, err), diags);
}
