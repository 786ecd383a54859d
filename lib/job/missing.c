/* missing.c -- what to say where a name does not occur. */
#include "job/missing.h"

#include <string.h>

void
nsx_missing_range(const struct nsx_near *near, struct nsx_diags *diags)
{
	struct nsx_str best = nsx_near_best(near);

	if (best.len)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no range matches; did you mean %.*s?", (int)best.len,
		             best.ptr);
	else
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no range matches: see nsysx-summary --by range");
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
	nsx_near_free(&near);
}

void
nsx_missing_program(const struct nsx_catalogue *cat, const char *want, struct nsx_diags *diags)
{
	struct nsx_buf text = { 0 };

	nsx_missing_put_program(cat, want, &text);
	nsx_diag_add(diags, NSX_WARNING, "", 1, "no program of that name was executed%.*s",
	             text.failed || !text.len ? (int)strlen(": see nsysx-summary") : (int)text.len,
	             text.failed || !text.len ? ": see nsysx-summary" : text.ptr);
	nsx_buf_free(&text);
}
