/* idle_marked.c -- see idle_marked.h. */
#include "filter/idle_marked.h"

#include "stream/spool.h"

/* Whether the file has an `idle` record: up to the first one nothing else is decoded. NSX_OK or NSX_ERR. */
static int
has_marks(const struct nsx_reader *in, bool *yes, struct nsx_err *err)
{
	struct nsx_spool *s = nsx_spool_open_all(in, err);
	struct nsx_reader *again = NULL;
	struct nsx_rec rec;
	int rc = s ? NSX_EOF : NSX_ERR;

	*yes = false;
	if (s && !nsx_spool_keeps(s)) {
		again = nsx_spool_reader(s);
		if (again)
			nsx_reader_need(again, NSX_IDLE, 0);
		rc = again ? NSX_OK : NSX_ERR;
		/* Diags are never skipped. */
		while (rc == NSX_OK && !*yes && (rc = nsx_read(again, &rec)) == NSX_OK)
			*yes = rec.kind->id == NSX_IDLE;
	}
	nsx_reader_close(again);
	nsx_spool_free(s);
	return rc == NSX_ERR ? NSX_ERR : NSX_OK;
}

int
nsx_idle_marked(struct nsx_reader **in, int64_t latency, const char *require, struct nsx_diags *diags,
                struct nsx_err *err)
{
	struct nsx_spool *s;
	bool marked;
	int rc = has_marks(*in, &marked, err);

	if (rc != NSX_OK || marked)
		return rc;
	s = nsx_spool_open(err);
	rc = s ? nsx_idle_mark(*in, latency, require, nsx_spool_writer(s), diags, err) : NSX_ERR;
	nsx_reader_close(*in);
	*in = NULL;
	if (rc == NSX_OK)
		rc = (*in = nsx_spool_reader_of(s, NSX_READ_ORDERED)) ? NSX_OK : NSX_ERR;
	nsx_spool_free(s);
	return rc;
}
