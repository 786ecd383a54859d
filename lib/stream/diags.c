/* diags.c -- collected diags as records. */
#include "stream/diags.h"

#include <string.h>

int
nsx_write_diags(struct nsx_writer *w, const char *tool, const struct nsx_diags *d)
{
	union nsx_val v[NSX_MAX_COLS];
	int rc = NSX_OK;

	for (size_t i = 0; i < d->list.n && rc == NSX_OK; i++) {
		const struct nsx_diag *g = &d->list.p[i];
		struct nsx_rec rec = { nsx_kind_builtin(NSX_DIAG), 0, v };
		struct nsx_buf source = { 0 };

		bool own = strcmp(g->source, NSX_DIAG_OF_NSYS) != 0;

		nsx_buf_c(&source, own ? tool : NSX_DIAG_OF_NSYS);
		if (own && g->source[0])
			nsx_buf_fmt(&source, ": %s", g->source);
		nsx_set_s(&rec, NSX_DIAG_severity, nsx_str_c(nsx_severity_name(g->severity)));
		nsx_set_s(&rec, NSX_DIAG_source, nsx_buf_view(&source));
		nsx_set_s(&rec, NSX_DIAG_text, nsx_str_c(g->text));
		nsx_set_i(&rec, NSX_DIAG_count, g->count);
		rc = source.failed ? NSX_ERR : nsx_write(w, &rec);
		nsx_buf_free(&source);
	}
	return rc;
}

void
nsx_diags_beyond(struct nsx_diags *d, const struct nsx_reader *r)
{
	nsx_diag_add(d, NSX_WARNING, "", nsx_reader_beyond(r),
	             "records that end beyond 63 bits: their ends are clamped to the maximum");
}
