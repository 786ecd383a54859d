/* fold.c -- a stream's GPU time as folded stacks: the table of ways to do it, and reading the stream for them. */
#include "draw/fold/fold.h"

#include <string.h>

/* In the order of enum nsx_fold_by. */
static const struct { const char *name; const struct nsx_folder *folder; } ways[] = {
	{ "source",  &nsx_fold_programs },
	{ "op-name", &nsx_fold_programs },
	{ "opcode",  &nsx_fold_programs },
	{ "module",  &nsx_fold_programs },
	{ "nvtx",    &nsx_fold_ranges },
	{ "kernel",  &nsx_fold_ranges },
};

int
nsx_fold_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(name, ways[i].name) == 0)
			return (int)i;
	return -1;
}

int
nsx_fold(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_outfile *out,
         struct nsx_diags *diags, struct nsx_err *err)
{
	const struct nsx_folder *folder = ways[options->by].folder;
	struct nsx_stacks stacks = { 0 };
	void *state = folder->open(in, options, &stacks, err);
	int rc = NSX_ERR;

	if (state)
		rc = nsx_read_all(in, options->require, folder->take, state, err);
	if (rc == NSX_OK)
		rc = folder->finish(state, diags);
	if (rc == NSX_OK)
		rc = nsx_stacks_print(&stacks, out, err);
	if (state)
		folder->free(state);
	nsx_stacks_free(&stacks);
	return rc;
}
