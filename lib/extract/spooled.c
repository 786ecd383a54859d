/* spooled.c -- extracts many exports with the memory of a few: each is extracted separately into a temporary file, and
 * the files are merged by a function of the caller. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "extract/profile.h"
#include "base/outfile.h"
#include "base/par.h"

/* The memory for exports held together is about the size of their files. A fixed limit, so that the choice never
 * depends on the machine. */
#define LARGE ((int64_t)4 << 30)

struct part {
	const struct nsx_extract_input *input;
	struct nsx_extract_opts         opts;
	struct nsx_hlo_shelf           *shelf;
	struct nsx_diags                diags;
	struct nsx_err                  err;
	int                             fd, rc;
	char                            path[32];   /* of the open descriptor */
};

bool
nsx_extract_wants_spools(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts)
{
	int64_t size = 0;
	struct stat st;

	/* A device without a number of its own gets one only among all devices. */
	if (n < 2 || opts->ndevices || !opts->merge)
		return false;
	for (int i = 0; i < n; i++)
		if (stat(inputs[i].path, &st) == 0)
			size += st.st_size;
	return opts->spool || size > LARGE;
}

static void
extract_part(void *ctx, int i)
{
	struct part *p = (struct part *)ctx + i;

	p->rc = NSX_ERR;
	p->fd = nsx_tmpfile(&p->err);
	if (p->fd < 0)
		return;
	struct nsx_writer *w = nsx_writer_fd(p->fd, "temporary file", true, 1, &p->err);
	if (w && nsx_extract_extract(p->input, 1, &p->opts, p->shelf, w, &p->diags, &p->err) == NSX_OK)
		p->rc = nsx_writer_finish(w);
	nsx_writer_free(w);
	snprintf(p->path, sizeof p->path, "/proc/self/fd/%d", p->fd);
}

static int
merge_parts(const struct part *parts, int n, const struct nsx_extract_opts *opts, struct nsx_writer *out,
            struct nsx_diags *diags, struct nsx_err *err)
{
	nsx_progress_phase("merging");
	const char **paths = calloc((size_t)n * 2, sizeof *paths);

	if (!paths)
		return nsx_err_nomem(err, NULL);
	for (int i = 0; i < n; i++) {
		paths[i] = parts[i].path;
		paths[n + i] = parts[i].input->path;
	}
	int rc = opts->merge(paths, paths + n, (size_t)n, opts->match, out, diags, err);
	free(paths);
	return rc;
}

int
nsx_extract_extract_spooled(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
                   struct nsx_hlo_shelf *shelf, struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err)
{
	int threads = opts->jobs ? opts->jobs : nsx_par_cpus(), rc = NSX_OK;
	struct part *parts = calloc((size_t)n, sizeof *parts);

	if (!parts)
		return nsx_err_nomem(err, NULL);
	for (int i = 0; i < n; i++) {
		parts[i] = (struct part){ .input = &inputs[i], .opts = *opts, .shelf = shelf, .fd = -1 };
		parts[i].opts.jobs = n < threads ? threads / n : 1;
	}
	nsx_par_run(n, threads < n ? threads : n, extract_part, parts);
	for (int i = 0; i < n && rc == NSX_OK; i++)
		if (parts[i].rc != NSX_OK)
			rc = nsx_err_set(err, "%s", parts[i].err.msg[0] ? parts[i].err.msg : "out of memory");
	for (int i = 0; i < n; i++)
		nsx_diags_join(diags, &parts[i].diags);
	nsx_diags_sort(diags);
	if (rc == NSX_OK)
		rc = merge_parts(parts, n, opts, out, diags, err);
	for (int i = 0; i < n; i++) {
		nsx_diags_free(&parts[i].diags);
		if (parts[i].fd >= 0)
			close(parts[i].fd);
	}
	free(parts);
	return rc;
}
