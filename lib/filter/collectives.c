/* collectives.c -- a stream with records of its collectives (job/comm/marks.h). Headers of the input stay where
 * they are among its records, although these wait. */
#include "filter/collectives.h"

#include <stdlib.h>

#include "job/comm/marks.h"
#include "job/diags_of.h"
#include "stream/backlog.h"

struct adding {
	struct nsx_reader *in;
	struct nsx_backlog *from;        /* it, with what waits for its end */
	struct nsx_writer *out;
	struct nsx_err    *err;
	uint64_t           came, left;   /* records of the input that are passed on, and that are written */
	NSX_VEC(uint64_t)  headers;      /* of each kind of the input: `came` when its header did */
	int                declared;
};

/* Write the headers that came before the next record. */
static int
declare(struct adding *a)
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
	struct adding *a = state;

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
note_headers(struct adding *a)
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
	struct adding *a = state;
	int rc;

	while ((rc = nsx_backlog_again(a->from, rec)) == NSX_OK && is_stale(rec))
		;
	return rc == NSX_EOF ? nsx_err_set(a->err, "a temporary file holds too few records") : rc;
}

static int
pass(struct adding *a, struct nsx_collective_marks *marks, size_t hold_bytes)
{
	uint64_t look[NSX_NKINDS + 1];
	bool begun = false, more;
	struct nsx_rec rec;
	int rc;

	nsx_collective_marks_look(look);
	while ((rc = nsx_backlog_read(a->from, &rec, &more)) == NSX_OK) {
		if (is_stale(&rec))
			continue;
		if (note_headers(a) != NSX_OK)
			return NSX_ERR;
		a->came++;
		if (nsx_collective_marks_take(marks, &rec, more) != NSX_OK)
			return NSX_ERR;
		if (begun || !nsx_collective_marks_wait(marks))
			continue;
		begun = true;
		if (nsx_backlog_begin(a->from, look, hold_bytes) != NSX_OK)
			return NSX_ERR;
	}
	if (rc != NSX_EOF || nsx_collective_marks_finish(marks) != NSX_OK || note_headers(a) != NSX_OK)
		return NSX_ERR;
	return declare(a);
}

int
nsx_collectives(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
                struct nsx_err *err)
{
	struct adding a = { .in = in, .out = out, .err = err, .from = nsx_backlog_new(in, err) };
	struct nsx_collective_marks *marks = a.from ? nsx_collective_marks_new(put, again, &a, hold_bytes, err) : NULL;
	int rc = marks ? nsx_reader_add_columns(in, NSX_COLLECTIVE) : NSX_ERR;

	nsx_writer_follow(out, NULL);
	if (rc == NSX_OK)
		rc = pass(&a, marks, hold_bytes);
	if (rc == NSX_OK)
		nsx_collective_marks_diags(marks, diags);
	nsx_collective_marks_free(marks);
	nsx_backlog_free(a.from);
	free(a.headers.p);
	return rc;
}
