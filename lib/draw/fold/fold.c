/* fold.c -- a stream's GPU time as folded stacks: the table of ways to do it, and reading the stream for them. */
#include "draw/fold/fold.h"

#include <stdlib.h>
#include <string.h>

/* In the order of enum nsx_fold_by. */
static const struct { const char *name; const struct nsx_folder *folder; } ways[] = {
	{ "source",  &nsx_fold_programs },
	{ "op-name", &nsx_fold_programs },
	{ "opcode",  &nsx_fold_programs },
	{ "module",  &nsx_fold_programs },
	{ "nvtx",    &nsx_fold_ranges },
	{ "kernel",  &nsx_fold_ranges },
	{ "scope",   &nsx_fold_scopes },
	{ "host",    &nsx_fold_host },
};

int
nsx_fold_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(name, ways[i].name) == 0)
			return (int)i;
	return -1;
}

/* One of the results that are computed together. */
struct folding { const struct nsx_folder *folder; void *state; struct nsx_stacks stacks; struct nsx_diags diags; };
struct all { struct folding *p; size_t n; };

static int
take(void *state, const struct nsx_rec *rec)
{
	struct all *all = state;
	int rc = NSX_OK;

	for (size_t i = 0; i < all->n && rc == NSX_OK; i++)
		rc = all->p[i].folder->take(all->p[i].state, rec);
	return rc;
}

static int
read_for(struct nsx_reader *in, const struct nsx_fold_options *options, struct all *all, struct nsx_err *err)
{
	for (size_t i = 0; i < all->n; i++) {
		struct folding *f = &all->p[i];

		f->folder = ways[options[i].by].folder;
		f->state = f->folder->open(in, &options[i], &f->stacks, err);
		if (!f->state)
			return NSX_ERR;
		f->folder->need(f->state, in);
	}
	return nsx_read_all(in, options->require, take, all, err);
}

int
nsx_folds(struct nsx_reader *in, const struct nsx_fold_options *options, size_t n, struct nsx_outfile *const *out,
          struct nsx_diags *diags, struct nsx_err *err)
{
	struct all all = { calloc(n, sizeof *all.p), n };
	int rc = all.p ? read_for(in, options, &all, err) : nsx_err_nomem(err, NULL);

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		struct folding *f = &all.p[i];

		rc = f->folder->finish(f->state, &f->diags);
		if (rc == NSX_OK)
			rc = nsx_stacks_print(&f->stacks, out[i], err);
		nsx_diags_cover(diags, &f->diags);
	}
	for (size_t i = 0; i < n && all.p; i++) {
		if (all.p[i].state)
			all.p[i].folder->free(all.p[i].state);
		nsx_stacks_free(&all.p[i].stacks);
		nsx_diags_free(&all.p[i].diags);
	}
	free(all.p);
	return rc;
}
