/* load.c -- an XSpace from its bytes to a trace in memory, a plane at a time: the names of a plane come behind what
 * uses them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/unpack.h"
#include "source/source.h"
#include "xplane/reading.h"

/* Field numbers. */
enum { SPACE_PLANE = 1, SPACE_ERROR = 2, SPACE_WARNING = 3, SPACE_HOST = 4 };

static int
keep(struct nsx_xspace *s, struct nsx_str bytes, struct nsx_str *text)
{
	*text = nsx_arena_str(&s->t->arena, bytes);
	return text->ptr ? NSX_OK : nsx_xspace_nomem(s);
}

static int
take_field(struct nsx_xspace *s, uint32_t field, struct nsx_str bytes)
{
	struct nsx_xplane p = { .name = { "", 0 }, .none = { { "", 0 }, { "", 0 }, NSX_NONE, NSX_NONE } };
	struct nsx_str text;
	int rc;

	switch (field) {
	case SPACE_HOST: return keep(s, bytes, &s->host);
	case SPACE_ERROR: case SPACE_WARNING:
		if (keep(s, bytes, &text) != NSX_OK)
			return NSX_ERR;
		return nsx_vec_push(&s->warnings, text) ? NSX_OK : nsx_xspace_nomem(s);
	case SPACE_PLANE:
		rc = nsx_xspace_index(s, bytes, &p);
		if (rc == NSX_OK && (!s->bare || p.kind == XP_PROGRAMS))
			rc = nsx_xspace_rows(s, &p);
		nsx_xplane_free(&p);
		return rc;
	default: return NSX_OK;
	}
}

/* The bytes that the field at the start of the window needs, as far as the window tells; 0: it has all. */
static uint64_t
lacks(const struct nsx_xwire *w)
{
	uint64_t have = (uint64_t)(w->end - w->bad);

	return w->want && w->want - w->left <= UINT64_MAX - have ? have + (w->want - w->left) : 0;
}

/* The field at the start of the window, as soon as it is there whole. */
static int
read_field(struct nsx_xspace *s)
{
	/* As for exports in zstd; and what a tag and a length need. */
	const uint64_t unpacked_max = UINT64_C(64) << 30;
	enum { HEAD = 32 };
	uint64_t need = HEAD;

	for (;;) {
		struct nsx_str window;
		int rc = nsx_input_peek(&s->in, need < SIZE_MAX ? (size_t)need : SIZE_MAX, &window);

		if (rc == NSX_ERR)
			return NSX_ERR;
		if (s->in.unzip && nsx_unpack_check(s->path, s->taken + window.len, unpacked_max, s->err) != NSX_OK)
			return NSX_ERR;
		if (!window.len)
			return NSX_EOF;
		struct nsx_xwire w = nsx_xwire(window);
		if (nsx_xwire_next(&w)) {
			size_t n = (size_t)(w.at - (const unsigned char *)window.ptr);
			if (w.bytes.ptr && take_field(s, w.field, w.bytes) != NSX_OK)
				return NSX_ERR;
			s->taken += n;
			nsx_input_take(&s->in, n);
			return NSX_OK;
		}
		if (rc == NSX_EOF || !(need = lacks(&w)))
			return nsx_xspace_bad(s, &w);
	}
}

static int
read_all(struct nsx_xspace *s)
{
	static const char repaired[] = "\xef\xbf\xbd";
	enum { LOOK = 1 << 16 };
	struct nsx_str first;
	int rc = nsx_input_peek(&s->in, LOOK, &first);

	if (rc == NSX_ERR)
		return NSX_ERR;
	for (size_t i = 0; i + 3 <= first.len && i < LOOK && !s->repaired; i++)
		s->repaired = memcmp(first.ptr + i, repaired, 3) == 0;
	do
		rc = read_field(s);
	while (rc == NSX_OK);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static bool
set_profile(struct nsx_xspace *s)
{
	if (s->opts->host && s->host.len)
		s->t->host = s->host;
	return nsx_build_about(&s->build, s->started, s->jax.len ? "JAX profiler" : "XSpace", s->jax,
	                       NSX_STR("xspace"));
}

/* What the profiler itself reports, without the name of the host unless it is asked for. */
static bool
report_warnings(struct nsx_xspace *s, const char *who, struct nsx_diags *d)
{
	struct nsx_str host = s->opts->host ? (struct nsx_str){ NULL, 0 } : s->host;

	for (size_t i = 0; i < s->warnings.n; i++) {
		struct nsx_str w = s->warnings.p[i];

		s->text.len = 0;
		for (size_t k = 0, n; k < w.len; k += n) {
			bool named = host.len && w.len - k >= host.len && memcmp(w.ptr + k, host.ptr, host.len) == 0;
			n = named ? host.len : 1;
			if (named)
				nsx_buf_c(&s->text, "HOST");
			else
				nsx_buf_add(&s->text, w.ptr + k, 1);
		}
		if (s->text.failed)
			return false;
		nsx_diag_add(d, NSX_WARNING, who, 1, "profiler: %.*s", (int)s->text.len, s->text.ptr);
	}
	return true;
}

static void
report(const struct nsx_xspace *s, const char *who, struct nsx_diags *d)
{
	/* Nothing marks the end of the file: where it was cut between two planes, only what is missing tells. */
	nsx_diag_add(d, NSX_WARNING, who, s->started == INT64_MIN,
	             "profiles that do not say when they started: old, or cut off between two planes");
	nsx_diag_add(d, NSX_WARNING, who, s->starts,
	             "profiles in the file behind another that started at another time: the times of all count from "
	             "the same, and devices of one number are one");
	nsx_diag_add(d, NSX_WARNING, who, s->bad_times, "events ignored: a time is negative or too large");
	nsx_diag_add(d, NSX_WARNING, who, s->tpus, "planes ignored: of devices that are not supported (TPU, custom)");
	nsx_diag_add(d, NSX_INFO, who, s->aggregated, "events ignored: sums of several, without times");
	nsx_diag_add(d, NSX_INFO, who, s->python, "Python functions ignored: --python keeps them as ranges");
	nsx_diag_add(d, NSX_INFO, who, s->derived, "lines ignored: derived from others, or no work of the GPU");
	nsx_diag_add(d, NSX_INFO, who, s->others, "planes ignored: of no known kind");
	nsx_diag_add(d, NSX_INFO, who, s->repeated, "NVTX ranges ignored: XLA's, which repeat what operations tell");
	nsx_diag_add(d, NSX_WARNING, who, s->crowded, "NVTX ranges taken as without a domain, which is a part of their "
	             "name: more than %d domains", UINT16_MAX - 1);
	nsx_diag_add(d, NSX_INFO, who, s->instants, "TraceMes ignored: instants, and what ends others");
	nsx_diag_add(d, NSX_INFO, who, s->on_cpu,
	             "instructions that ran on a CPU: they have no calls, so why it was idle between them is not "
	             "known");
	nsx_diag_add(d, NSX_INFO, who, s->holders, "instructions of CPUs ignored: they hold others, as loops do");
	nsx_diag_add(d, NSX_WARNING, who, s->nameless,
	             "operations of instructions whose program is not in the profile: they count as of none");
	nsx_diag_add(d, NSX_WARNING, who, s->unmatched,
	             "threads whose calls are in no execution of a program that the profile has");
	nsx_diag_add(d, NSX_WARNING, who, s->outside, "operations of programs whose execution is not in the profile: "
	             "those that a thread launches without one of another program between count as one execution");
	nsx_diag_add(d, NSX_WARNING, who, s->alone, "operations of programs whose call is not in the profile: "
	             "those of one program on one device count as one execution");
	nsx_build_report(&s->build, who, "profile", d);
	nsx_diag_add(d, NSX_INFO, who, 1,
		     "an XSpace does not record, and these columns are empty: waits of operations, time "
		     "that calls lose to a full queue and to loading code, sizes and groups of NCCL's operations, "
		     "UUIDs of GPUs");
}

static int
load(struct nsx_xspace *s, struct nsx_diags *diags)
{
	nsx_progress_phase("events");
	/* Times count from the start of the profile. */
	nsx_build_reach(&s->build, 0);
	if (read_all(s) != NSX_OK)
		return NSX_ERR;
	nsx_input_close(&s->in);
	nsx_xspace_settle(s);
	if (nsx_xspace_runs(s) != NSX_OK)
		return NSX_ERR;
	nsx_progress_phase("projection");
	if (nsx_build_finish(&s->build, s->opts, s->path, s->err) != NSX_OK)
		return NSX_ERR;
	if (!set_profile(s))
		return nsx_xspace_nomem(s);
	report(s, s->t->name.ptr, diags);
	return !report_warnings(s, s->t->name.ptr, diags) || diags->failed ? nsx_xspace_nomem(s) : NSX_OK;
}

static void
free_all(struct nsx_xspace *s)
{
	nsx_input_close(&s->in);
	free(s->lines.p);
	free(s->ops.p);
	free(s->calls.p);
	free(s->marks.p);
	free(s->warnings.p);
	nsx_map_free(&s->named);
	nsx_build_free(&s->build);
	nsx_buf_free(&s->text);
}

static struct nsx_xspace
new(const struct nsx_input *in, const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t,
    struct nsx_err *err)
{
	struct nsx_xspace s = { .t = t, .opts = opts, .path = path, .err = err, .started = INT64_MIN, .in = *in };

	s.in.name = path;
	s.in.err = err;
	return s;
}

int
nsx_xplane_load(struct nsx_input *in, const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t,
                struct nsx_diags *diags, struct nsx_err *err)
{
	static const char *const endings[] = { ".xplane.pb.gz", ".xplane.pb.zst", ".xplane.pb", ".pb", NULL };
	struct nsx_err unheard = { "" };
	struct nsx_xspace s = new(in, path, opts, t, err ? err : &unheard);

	int rc = nsx_build_begin(&s.build, t, path, endings) ? load(&s, diags) : nsx_xspace_nomem(&s);
	free_all(&s);
	if (rc != NSX_OK)
		nsx_trace_free(t);
	return rc;
}

int
nsx_xplane_programs(const char *path, struct nsx_trace *t, struct nsx_err *err)
{
	const struct nsx_trace_opts opts = { .jobs = 1 };
	struct nsx_err unheard = { "" };
	struct nsx_str first;
	struct nsx_input in = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), .gzip = true };
	int rc = NSX_EOF;

	*t = (struct nsx_trace){ 0 };
	if (in.fd < 0)
		return nsx_err_set(err, "%s: %s", path, strerror(errno));
	struct nsx_xspace s = new(&in, path, &opts, t, &unheard);
	nsx_build_open(&s.build, t);
	s.bare = true;
	if (nsx_input_peek(&s.in, NSX_SOURCE_BYTES, &first) != NSX_ERR && nsx_source_of(first) == NSX_SOURCE_XSPACE) {
		s.err = s.in.err = err;
		rc = read_all(&s);
	}
	free_all(&s);
	if (rc != NSX_OK)
		nsx_trace_free(t);
	return rc;
}
