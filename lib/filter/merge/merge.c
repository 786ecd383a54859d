/* merge.c -- one round of a merge, and as many rounds as the limit on open files requires. Merging is associative, so
 * rounds do not change the result. */
#include "filter/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/merge/merging.h"
#include "base/outfile.h"
#include "base/progress.h"

enum {
	FAN_IN = 100,    /* inputs of a round: each has buffers of its own */
	SPARE = 16       /* open files that are not inputs */
};

/* An input of a round: a path, or a temporary file (fd) with the result of an earlier round. */
struct input { const char *path, *called; int fd; char *name; };

struct job {
	const char *const           *paths;
	const struct nsx_merge_opts *opts;
	struct nsx_diags            *diags;
	struct nsx_err              *err;
	size_t                       fan_in;
	bool                         counted;   /* progress expects all paths before any is opened */
};

/* ---- one round */

static bool
start(struct mg *m)
{
	struct nsx_str none = NSX_STR("");

	return nsx_intern(&m->strings, none) == 0 && nsx_intern(&m->places, none) == 0 &&
	       nsx_intern(&m->lists, none) == 0 && nsx_intern(&m->rows, none) == 0;
}

static void
stop(struct mg *m)
{
	for (size_t i = 0; i < m->n && m->sources; i++)
		nsx_merge_source_free(&m->sources[i]);
	for (size_t i = 0; i < m->uses.n; i++)
		nsx_merge_remap_free(&m->uses.p[i].insts);
	free(m->sources);
	free(m->profiles.p);
	free(m->devices.p);
	free(m->clocks.p);
	free(m->clock_source.p);
	free(m->communicators.p);
	free(m->threads.p);
	free(m->thread_profile.p);
	free(m->stack_number);
	free(m->communicator_source.p);
	free(m->programs.p);
	free(m->aliases.p);
	free(m->haves.p);
	free(m->uses.p);
	free(m->insts.p);
	free(m->unknown.p);
	free(m->unknown_source.p);
	free(m->diags.p);
	nsx_map_free(&m->use_of);
	nsx_map_free(&m->inst_of);
	nsx_map_free(&m->diag_of);
	nsx_intern_free(&m->strings);
	nsx_map_free(&m->members);
	nsx_intern_free(&m->places);
	nsx_intern_free(&m->lists);
	nsx_intern_free(&m->rows);
	nsx_intern_free(&m->others);
	nsx_match_free(&m->match);
	nsx_arena_free(&m->arena);
}

/* The size that progress expects of path, if it is a file. */
static int64_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
}

/* Open every input; ownership of the descriptors is taken. */
static int
open_sources(struct mg *m, struct input *inputs, size_t n)
{
	unsigned flags = m->opts->read_flags | NSX_READ_ORDERED;

	m->sources = calloc(n + 1, sizeof *m->sources);
	if (!m->sources)
		return nsx_err_nomem(m->err, NULL);
	m->n = n;
	for (size_t i = 0; i < n; i++) {
		struct mg_source *s = &m->sources[i];
		s->last.use = NSX_NONE;
		s->name = inputs[i].path ? inputs[i].called : inputs[i].name;
		if (strcmp(s->name, "-") == 0)
			s->name = "standard input";
		s->in = inputs[i].path ? nsx_reader_open(inputs[i].path, flags, m->err)
		                       : nsx_reader_fd(inputs[i].fd, inputs[i].name, flags, m->err);
		inputs[i].fd = -1;
		if (!s->in)
			return NSX_ERR;
		if (!inputs[i].path)
			nsx_reader_watch(s->in);
		else if (m->counted)
			nsx_progress_expect(-size_of(inputs[i].path));
	}
	return NSX_OK;
}

static int
merge_round(const struct job *j, struct input *inputs, size_t n, struct nsx_writer *out)
{
	struct mg m = { .opts = j->opts, .out = out, .shown = j->diags, .err = j->err, .counted = j->counted };
	int rc = start(&m) ? open_sources(&m, inputs, n) : nsx_err_nomem(j->err, NULL);

	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = nsx_merge_load(&m, (uint32_t)i);
	if (rc == NSX_OK)
		rc = nsx_merge_order(&m);
	if (rc == NSX_OK)
		rc = nsx_merge_programs(&m);
	if (rc == NSX_OK)
		rc = nsx_merge_stale_find(&m);
	if (rc == NSX_OK)
		rc = nsx_merge_write_metadata(&m);
	if (rc == NSX_OK)
		rc = nsx_merge_run(&m);
	stop(&m);
	return rc;
}

/* ---- rounds */

static int merge_range(const struct job *j, size_t lo, size_t hi, struct nsx_writer *out);

static const char *
called(const struct job *j, size_t i)
{
	return j->opts->names ? j->opts->names[i] : j->paths[i];
}

/* Merge paths lo .. hi into a temporary file. */
static int
spool_range(const struct job *j, size_t lo, size_t hi, struct input *to)
{
	struct nsx_buf name = { 0 };
	struct nsx_writer *w = NULL;
	int rc;

	to->path = NULL;
	to->fd = nsx_tmpfile(j->err);
	if (to->fd < 0)
		return NSX_ERR;
	nsx_buf_fmt(&name, "%s and %zu others", called(j, lo), hi - lo - 1);
	nsx_buf_char(&name, '\0');
	if (name.failed)
		return nsx_err_nomem(j->err, NULL);
	to->name = name.ptr;
	w = nsx_writer_fd(to->fd, "temporary file", true, 1, j->err);
	rc = w ? merge_range(j, lo, hi, w) : NSX_ERR;
	if (rc == NSX_OK)
		rc = nsx_writer_finish(w);
	nsx_writer_free(w);
	if (rc == NSX_OK && lseek(to->fd, 0, SEEK_SET) != 0)
		rc = nsx_err_set(j->err, "temporary file: %s", strerror(errno));
	return rc;
}

static int
merge_range(const struct job *j, size_t lo, size_t hi, struct nsx_writer *out)
{
	size_t parts = hi - lo < j->fan_in ? hi - lo : j->fan_in;
	struct input *inputs = calloc(parts + 1, sizeof *inputs);
	int rc = inputs ? NSX_OK : nsx_err_nomem(j->err, NULL);

	for (size_t i = 0; i < parts && inputs; i++)
		inputs[i].fd = -1;
	for (size_t i = 0; i < parts && rc == NSX_OK; i++) {
		size_t from = lo + (hi - lo) * i / parts, to = lo + (hi - lo) * (i + 1) / parts;
		inputs[i].path = j->paths[from];
		inputs[i].called = called(j, from);
		if (to - from > 1)
			rc = spool_range(j, from, to, &inputs[i]);
	}
	if (rc == NSX_OK)
		rc = merge_round(j, inputs, parts, out);
	for (size_t i = 0; i < parts && inputs; i++) {
		if (inputs[i].fd >= 0)
			close(inputs[i].fd);
		free(inputs[i].name);
	}
	free(inputs);
	return rc;
}

/* The maximum number of inputs of a round such that all levels of rounds together stay within the files that may be
 * open: a level keeps its finished results open, the lowest may need two files for each input. */
static size_t
choose_fan_in(size_t n)
{
	struct rlimit lim;
	size_t files = 1024;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0)
		files = lim.rlim_cur > 1 << 20 ? 1 << 20 : (size_t)lim.rlim_cur;
	files = files > SPARE + 6 ? files - SPARE : 6;
	for (size_t levels = 1;; levels++) {
		size_t k = files / (levels + 1), reach = 1;
		if (k > FAN_IN)
			k = FAN_IN;
		for (size_t i = 0; i < levels && reach < n; i++)
			reach *= k;
		if (k < 2 || reach >= n)
			return k < 2 ? 2 : k;
	}
}

int
nsx_merge(const char *const *paths, size_t n, const struct nsx_merge_opts *opts,
          struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err)
{
	struct job j = { paths, opts, diags, err, opts->fan_in >= 2 ? (size_t)opts->fan_in : choose_fan_in(n), false };

	/* In several rounds most inputs are opened late. */
	j.counted = n > j.fan_in;
	for (size_t i = 0; i < n && j.counted; i++)
		nsx_progress_expect(size_of(paths[i]));
	if (merge_range(&j, 0, n, out) != NSX_OK)
		return NSX_ERR;
	return diags->failed ? nsx_err_nomem(err, NULL) : NSX_OK;
}
