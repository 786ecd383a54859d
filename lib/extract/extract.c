/* extract.c -- reads exports in parallel, then writes one stream of them. */
#include "extract/extract.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "extract/profile.h"
#include "base/par.h"
#include "stream/diags.h"

struct load { struct ex_profile *profiles; int jobs; };

static void
load_one(void *ctx, int i)
{
	struct load *load = ctx;

	nsx_extract_load(&load->profiles[i], load->jobs);
}

static int
load_all(struct ex_profile *profiles, int n, const struct nsx_extract_opts *opts, struct nsx_err *err)
{
	int threads = opts->jobs ? opts->jobs : nsx_par_cpus();
	/* Several exports: one thread each; one export: all threads. */
	int at_once = threads < n ? threads : n;
	struct load load = { profiles, threads / at_once };

	nsx_par_run(n, at_once, load_one, &load);
	for (int i = 0; i < n; i++)
		if (profiles[i].rc != NSX_OK)
			return nsx_err_set(err, "%s", profiles[i].err.msg[0] ? profiles[i].err.msg : "out of memory");
	return NSX_OK;
}

/* The warnings of a stream without records of the kinds that users expect. */
static void
report_nothing(const struct ex_profile *p, struct nsx_diags *diags)
{
	const char *who = p->trace.name.ptr;

	if (!p->trace.ndevices)
		nsx_diag_add(diags, NSX_WARNING, who, 1, "no GPU operations in the profile: was "
		             "CUDA traced (nsys --trace=cuda, torch.profiler's ProfilerActivity.CUDA)?");
	else if (!p->modules.n && !p->opts->ranges && !p->opts->ops)
		nsx_diag_add(diags, NSX_WARNING, who, 1,
			"no executions of XLA modules in the export; --ranges and --ops extract other NVTX ranges and "
			"GPU operations");
}

/* Size of the file at path, 0 if there is none: the amount that progress expects of an export. */
static uint64_t
bytes_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

int
nsx_extract_extract(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
           struct nsx_hlo_shelf *shelf, struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err)
{
	struct ex_job job = { .n = n, .opts = opts, .err = err, .diags = diags };
	int rc = NSX_ERR;

	job.profiles = calloc((size_t)n, sizeof *job.profiles);
	if (!job.profiles)
		return nsx_err_nomem(err, NULL);
	for (int i = 0; i < n; i++) {
		job.profiles[i].input = &inputs[i];
		job.profiles[i].opts = opts;
		job.profiles[i].shelf = shelf;
		job.profiles[i].bytes = bytes_of(inputs[i].path);
		job.writing.bytes += job.profiles[i].bytes - ex_load_bytes(&job.profiles[i]);
	}
	bool loaded = load_all(job.profiles, n, opts, err) == NSX_OK;
	/* A single export may be one of several of a job, each extracted like this. */
	if (n > 1)
		nsx_hlo_shelf_clear(shelf);
	if (loaded && nsx_extract_number(&job) == NSX_OK) {
		for (int i = 0; i < n; i++) {
			nsx_diags_join(diags, &job.profiles[i].diags);
			report_nothing(&job.profiles[i], diags);
		}
		nsx_diags_sort(diags);
		nsx_progress_phase("writing");
		rc = diags->failed ? nsx_err_nomem(err, NULL) : nsx_extract_emit(&job, out);
		if (rc == NSX_OK)
			rc = nsx_write_diags(out, EX_TOOL, diags);
	}
	for (int i = 0; i < n; i++)
		nsx_extract_free(&job.profiles[i]);
	free(job.profiles);
	free(job.programs.p);
	free(job.aliases.p);
	free(job.insts.p);
	free(job.loc_stacks.p);
	nsx_intern_free(&job.groups);
	nsx_intern_free(&job.stacks);
	nsx_arena_free(&job.arena);
	return rc;
}

/* The cache of the dumps of several exports; NULL when out of memory. */
static struct nsx_hlo_shelf *
open_shelf(const struct nsx_extract_input *inputs, int n)
{
	struct nsx_hlo_shelf *shelf = nsx_hlo_shelf_new();
	const char *last = NULL;

	for (int i = 0; shelf && i < n; i++) {
		if (!inputs[i].dumps || (last && strcmp(inputs[i].dumps, last) == 0))
			continue;
		last = inputs[i].dumps;
		if (nsx_hlo_shelf_expect(shelf, last) != NSX_OK) {
			nsx_hlo_shelf_free(shelf);
			return NULL;
		}
	}
	return shelf;
}

int
nsx_extract(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
            struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_hlo_shelf *shelf = NULL;
	int dumps = 0;

	for (int i = 0; i < n; i++) {
		nsx_progress_expect((int64_t)bytes_of(inputs[i].path));
		dumps += inputs[i].dumps != NULL;
	}
	/* Within one export no two dumps are the same. */
	if (dumps > 1 && !(shelf = open_shelf(inputs, n)))
		return nsx_err_nomem(err, NULL);
	int rc = nsx_extract_wants_spools(inputs, n, opts)
		? nsx_extract_extract_spooled(inputs, n, opts, shelf, out, diags, err)
		: nsx_extract_extract(inputs, n, opts, shelf, out, diags, err);
	nsx_hlo_shelf_free(shelf);
	return rc;
}
