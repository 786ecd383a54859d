/* load.c -- a trace from its bytes to a trace in memory, and what there is to say about it. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "kineto/kineto.h"
#include "kineto/reading.h"

/* ---- what the header says */

static void
set_device(const struct nsx_kineto *r, struct nsx_device *d)
{
	static const char *const amd[] = { "AMD", "Radeon", "Instinct" };

	for (size_t i = 0; i < r->header.gpus.n; i++) {
		const struct nsx_kineto_gpu *g = &r->header.gpus.p[i];
		bool hip = r->header.hip || g->warp == 64;

		if (g->id != d->cuda)
			continue;
		d->gpu_name = g->name;
		d->sms = g->sms;
		d->memory = g->memory;
		for (size_t k = 0; k < sizeof amd / sizeof *amd; k++)
			hip |= nsx_str_starts(g->name, amd[k]);
		/* Of AMD's GPUs these numbers mean something else. */
		if (!hip && g->major >= 0 && g->major < 1000 && g->minor >= 0 && g->minor < 10)
			d->cc = 10 * g->major + g->minor;
	}
}

static bool
set_profile(struct nsx_kineto *r)
{
	struct nsx_trace *t = r->t;
	const struct nsx_kineto_header *h = &r->header;

	for (uint32_t i = 0; i < t->ndevices; i++)
		set_device(r, &t->devices[i]);
	t->rank = h->rank;
	t->world = h->world;
	t->host = h->host;
	t->waits_known = r->syncs;
	r->text.len = 0;
	nsx_buf_c(&r->text, "kineto");
	if (h->schema >= 0)
		nsx_buf_fmt(&r->text, " %" PRId64, h->schema);
	return !r->text.failed && nsx_build_about(&r->build, h->base, "PyTorch Kineto", nsx_buf_view(&h->product),
	                                          nsx_buf_view(&r->text));
}

/* ---- diags */

static void
report_times(const struct nsx_kineto *r, const char *who, struct nsx_diags *d)
{
	if (r->header.has_base)
		return;
	if (r->doubled)
		nsx_diag_add(d, NSX_WARNING, who, 1,
			"times were rounded to 0.25 us when the trace was written: what is shorter is not exact");
	else if (!r->fraction)
		nsx_diag_add(d, NSX_WARNING, who, 1, "times are whole microseconds: what is shorter is not exact");
}

static void
report_events(const struct nsx_kineto *r, const char *who, struct nsx_diags *d)
{
	nsx_diag_add(d, NSX_WARNING, who, r->bad_times,
	             "events ignored: a time is missing, not a number, or negative");
	nsx_diag_add(d, NSX_WARNING, who, r->no_thread, "events ignored: without a process, thread or device");
	nsx_diag_add(d, NSX_WARNING, who, r->apart, "events ignored: begin and end are apart (ph B and E)");
	nsx_diag_add(d, NSX_INFO, who, r->python, "Python functions ignored: --python keeps them as ranges");
	for (size_t i = 0; i < r->ignored.cats.n; i++) {
		struct nsx_str cat = nsx_intern_str(&r->ignored.cats, (uint32_t)i);
		nsx_diag_add(d, NSX_INFO, who, r->ignored.n.p[i], "events ignored: of category '%.*s'", (int)cat.len,
		             cat.ptr);
	}
	nsx_diag_add(d, NSX_INFO, who, r->ignored.others, "events ignored: of other categories");
	nsx_diag_add(d, NSX_INFO, who, r->unknown_kinds,
	             "kernels of a collective that is not known by its name: their own names say what they execute");
	nsx_diag_add(d, NSX_INFO, who, r->unknown_widths, "collectives of a data type that is not known: no sizes");
}

static void
report_joins(const struct nsx_kineto *r, const char *who, struct nsx_diags *d)
{
	nsx_build_report(&r->build, who, "trace", d);
	nsx_diag_add(d, NSX_INFO, who, 1,
		"PyTorch's profiler does not record, and these columns are empty: %stime that calls lose to a full "
		"queue and to loading code, threads of overheads, clocks and bandwidths of GPUs",
	             r->syncs ? "" : "waits of operations, ");
}

/* ---- all */

static int
load(struct nsx_kineto *r, const struct nsx_trace_opts *opts, struct nsx_diags *diags)
{
	if (nsx_kineto_read(r) != NSX_OK)
		return NSX_ERR;
	if (r->xprof && !r->build.ops.n && !r->build.ranges.n)
		return nsx_err_set(r->err, "%s: a trace that XProf wrote for its viewer, without what nsysx needs",
		                   r->path);
	nsx_progress_phase("projection");
	if (nsx_build_finish(&r->build, opts, r->path, r->err) != NSX_OK)
		return NSX_ERR;
	if (!nsx_kineto_comms(r) || !set_profile(r))
		return nsx_err_nomem(r->err, r->path);
	report_times(r, r->t->name.ptr, diags);
	report_events(r, r->t->name.ptr, diags);
	report_joins(r, r->t->name.ptr, diags);
	return diags->failed ? nsx_err_nomem(r->err, r->path) : NSX_OK;
}

static void
free_all(struct nsx_kineto *r)
{
	nsx_input_close(&r->in);
	nsx_build_free(&r->build);
	nsx_buf_free(&r->text);
	nsx_buf_free(&r->header.product);
	free(r->header.gpus.p);
	free(r->header.groups.p);
	nsx_intern_free(&r->far_processes);
	nsx_intern_free(&r->far_threads);
	nsx_intern_free(&r->comm_rows);
	nsx_intern_free(&r->comm_groups);
	nsx_intern_free(&r->ignored.cats);
	free(r->ignored.n.p);
}

int
nsx_kineto_load(struct nsx_input *in, const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t,
                struct nsx_diags *diags, struct nsx_err *err)
{
	static const char *const endings[] = { ".pt.trace.json.gz", ".pt.trace.json.zst", ".pt.trace.json",
		".trace.json.gz", ".trace.json.zst", ".trace.json", ".json.gz", ".json.zst", ".json", NULL };
	struct nsx_err unheard = { "" };
	struct stat st;
	struct nsx_kineto r = { .path = path, .opts = opts, .t = t, .err = err ? err : &unheard,
		.in = *in, .size = fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : -1,
		.work.bytes = opts->bytes,
		.header = { .schema = -1, .rank = -1, .world = -1, .host = { "", 0 } } };

	r.in.name = path;
	r.in.err = r.err;
	nsx_progress_phase("events");
	int rc = nsx_build_begin(&r.build, t, path, endings) ? load(&r, opts, diags) : nsx_err_nomem(r.err, path);
	nsx_portion_reach(&r.work, 1, 1);
	free_all(&r);
	if (rc != NSX_OK)
		nsx_trace_free(t);
	return rc;
}
