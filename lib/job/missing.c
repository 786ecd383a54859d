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
	diags->failed |= near->failed;
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

void
nsx_missing_program(const struct nsx_catalogue *cat, const char *want, struct nsx_diags *diags)
{
	struct nsx_buf text = { 0 };

	nsx_missing_put_program(cat, want, &text);
	if (!text.len)
		nsx_buf_c(&text, ": see nsysx-summary");
	if (text.failed)
		diags->failed = true;
	else
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no program of that name was executed%.*s", (int)text.len,
		             text.ptr);
	nsx_buf_free(&text);
}
