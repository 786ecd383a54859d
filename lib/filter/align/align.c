/* align.c -- read the stream once to estimate the corrections of clocks, and once to apply them; or only once, with
 * corrections that were estimated before. solve.c has a worked example. */
#include "filter/align.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/align/aligning.h"
#include "base/inputs.h"
#include "base/progress.h"
#include "stream/spool.h"

/* An input that can be read twice: a regular file from its current position, anything else through a spool. */
struct rereadable {
	const char       *name;
	int               fd;
	off_t             from;      /* -1: not a regular file */
	int64_t           size;      /* of a regular file from there on */
	unsigned          flags;
	struct nsx_spool *spool;
	struct nsx_reader *first;    /* kept while the spool is read, which follows its headers */
	struct nsx_err   *err;
};

static int
source_open(struct rereadable *s, const char *path)
{
	bool std = !path || strcmp(path, "-") == 0;
	struct stat st;

	s->name = std ? "standard input" : path;
	/* A separate descriptor, so that closing it does not close standard input. */
	s->fd = std ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return nsx_err_set(s->err, "%s: %s", s->name, strerror(errno));
	nsx_inputs_note(s->fd);
	s->from = -1;
	if (fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode))
		s->from = lseek(s->fd, 0, SEEK_CUR);
	if (s->from >= 0 && st.st_size > s->from)
		s->size = st.st_size - s->from;
	return NSX_OK;
}

/* A reader of all of it; NULL on failure. */
static struct nsx_reader *
source_reader(struct rereadable *s)
{
	int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);

	if (fd < 0) {
		nsx_err_set(s->err, "%s: %s", s->name, strerror(errno));
		return NULL;
	}
	struct nsx_reader *r = nsx_reader_fd(fd, s->name, s->flags, s->err);
	if (r)
		nsx_reader_watch(r);
	return r;
}

/* The first pass, over all of the input. */
static int
read_first(struct rereadable *s, struct al_job *j)
{
	s->first = source_reader(s);
	if (!s->first)
		return NSX_ERR;
	/* It will be read a second time. */
	nsx_progress_expect(s->size);
	nsx_progress_phase("first pass");
	if (s->from < 0 && nsx_spool_open_bytes(s->first, &s->spool, s->err) != NSX_OK)
		return NSX_ERR;
	if (s->from < 0 && !s->spool) {
		s->spool = nsx_spool_open(s->err);
		if (!s->spool)
			return NSX_ERR;
		nsx_spool_follow(s->spool, s->first);
	}
	return nsx_align_gather(j, s->first, s->spool && nsx_spool_keeps(s->spool) ? s->spool : NULL);
}

static struct nsx_reader *
read_again(struct rereadable *s)
{
	struct nsx_reader *again;

	nsx_progress_phase("second pass");
	if (s->spool) {
		again = nsx_spool_reader_of(s->spool, nsx_spool_keeps(s->spool) ? 0 : s->flags);
		if (again)
			nsx_reader_watch(again);
		return again;
	}
	/* Its buffers are as large as those of the next pass. */
	nsx_reader_close(s->first);
	s->first = NULL;
	if (lseek(s->fd, s->from, SEEK_SET) < 0) {
		nsx_err_set(s->err, "%s: %s", s->name, strerror(errno));
		return NULL;
	}
	again = source_reader(s);
	nsx_progress_expect(-s->size);
	return again;
}

static void
source_close(struct rereadable *s)
{
	nsx_spool_free(s->spool);
	nsx_reader_close(s->first);
	if (s->fd >= 0)
		close(s->fd);
}

/* Write only what comparing clocks needs. */
static int
sample(struct rereadable *s, const struct nsx_align_opts *opts, struct nsx_writer *out, struct nsx_err *err)
{
	/* What is missing will be said of the whole job. */
	struct nsx_diags unsaid = { 0 };
	struct al_job j = { .err = err, .diags = &unsaid, .opts = opts };
	struct nsx_reader *again = NULL;
	int rc;

	rc = read_first(s, &j);
	if (rc == NSX_OK)
		rc = (again = read_again(s)) ? nsx_align_write_sample(&j, again, out) : NSX_ERR;
	nsx_reader_close(again);
	nsx_align_job_free(&j);
	nsx_diags_free(&unsaid);
	return rc;
}

static int
estimate(struct rereadable *s, const struct nsx_align_opts *opts, struct nsx_writer *out, struct nsx_diags *diags,
         struct nsx_err *err)
{
	struct al_job j = { .err = err, .diags = diags, .opts = opts, .comm.cat.keep = NSX_CAT_ALIASES };
	struct al_corrections g = { 0 };
	struct nsx_reader *again = NULL;
	int rc = read_first(s, &j);

	if (rc == NSX_OK)
		rc = nsx_align_assign_clocks(&j);
	if (rc == NSX_OK)
		rc = j.nccl.ops.n || j.bare.ops.n ? nsx_align_use_nccl(&j) : nsx_align_pair(&j);
	if (rc == NSX_OK)
		rc = nsx_align_solve(&j, &g);
	if (rc == NSX_OK)
		rc = nsx_align_note_executions(&j, &g);
	if (rc == NSX_OK && !(again = read_again(s)))
		rc = NSX_ERR;
	if (rc == NSX_OK)
		rc = opts->estimate ? nsx_align_write_estimate(again, out, &g, &j, err) : nsx_align_apply(again, out,
			&g, &j, opts, diags, err);
	nsx_reader_close(again);
	nsx_align_corrections_free(&g);
	nsx_align_job_free(&j);
	return rc;
}

static int
apply(struct rereadable *s, const struct nsx_align_opts *opts, struct nsx_writer *out, struct nsx_diags *diags,
      struct nsx_err *err)
{
	struct al_corrections g = { 0 };
	struct nsx_reader *in = NULL;
	int rc = nsx_align_corrections_load(&g, opts->apply, diags, err);

	if (rc == NSX_OK && !(in = source_reader(s)))
		rc = NSX_ERR;
	if (rc == NSX_OK)
		rc = nsx_align_apply(in, out, &g, NULL, opts, diags, err);
	nsx_reader_close(in);
	nsx_align_corrections_free(&g);
	return rc;
}

int
nsx_align(const char *path, const struct nsx_align_opts *opts, struct nsx_writer *out, struct nsx_diags *diags,
          struct nsx_err *err)
{
	struct rereadable s = { .fd = -1, .flags = opts->read_flags | NSX_READ_ORDERED, .err = err };
	int rc = source_open(&s, path);

	if (rc == NSX_OK)
		rc = opts->apply ? apply(&s, opts, out, diags, err) : opts->sample ? sample(&s, opts, out, err)
		   : estimate(&s, opts, out, diags, err);
	source_close(&s);
	return rc;
}
