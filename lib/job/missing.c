/* missing.c -- messages about a requested name that does not occur. */
#include "job/missing.h"

/* Report the message as an error, or as a warning if the stream is empty. */
static int
missing(const char *what, const char *want, const struct nsx_buf *hint, bool empty, struct nsx_diags *diags,
        struct nsx_err *err)
{
	int len = (int)hint->len;

	if (hint->failed)
		return nsx_err_nomem(err, NULL);
	if (!empty)
		return nsx_err_set(err, "%s %s%.*s", what, want, len, len ? hint->ptr : "");
	nsx_diag_lack(diags, "%s %s%.*s", what, want, len, len ? hint->ptr : "");
	return NSX_OK;
}

int
nsx_missing_range(const struct nsx_near *near, const char *want, bool empty, struct nsx_diags *diags,
                  struct nsx_err *err)
{
	struct nsx_str best = nsx_near_best(near);
	struct nsx_buf hint = { .failed = near->failed };

	if (best.len)
		nsx_buf_fmt(&hint, "; did you mean %.*s?", (int)best.len, best.ptr);
	else
		nsx_buf_c(&hint, ": see nsysx-summary --by range");
	int rc = missing("no range matches", want, &hint, empty, diags, err);

	nsx_buf_free(&hint);
	return rc;
}

void
nsx_missing_put_program(const struct nsx_catalogue *cat, const char *want, struct nsx_buf *text)
{
	struct nsx_near near = { .want = nsx_str_c(want) };
	struct nsx_str best;

	for (size_t i = 0; i < cat->programs.n; i++) {
		nsx_near_offer(&near, nsx_cat_str(cat, cat->programs.p[i].name));
		nsx_near_offer(&near, nsx_cat_str(cat, cat->programs.p[i].key));
	}
	best = nsx_near_best(&near);
	if (best.len)
		nsx_buf_fmt(text, "; did you mean %.*s?", (int)best.len, best.ptr);
	text->failed |= near.failed;
	nsx_near_free(&near);
}

int
nsx_missing_program(const struct nsx_catalogue *cat, const char *want, bool empty, struct nsx_diags *diags,
                    struct nsx_err *err)
{
	struct nsx_buf hint = { 0 };

	nsx_missing_put_program(cat, want, &hint);
	if (!hint.len)
		nsx_buf_c(&hint, ": see nsysx-summary");
	int rc = missing("no program of that name was executed:", want, &hint, empty, diags, err);

	nsx_buf_free(&hint);
	return rc;
}
