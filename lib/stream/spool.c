/* spool.c -- records put aside in an unlinked temporary file: binary, lightly compressed, read back once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "stream/spool.h"

struct nsx_spool {
	struct nsx_err    *err;
	int                fd;   /* -1 once a reader has it */
	struct nsx_writer *out;
};

static const char spool_name[] = "temporary file";

struct nsx_spool *
nsx_spool_open(struct nsx_err *err)
{
	struct nsx_spool *s = calloc(1, sizeof *s);

	if (!s) {
		nsx_err_nomem(err, spool_name);
		return NULL;
	}
	s->err = err;
	s->fd = nsx_tmpfile(err);
	if (s->fd >= 0)
		s->out = nsx_writer_fd(s->fd, spool_name, true, 1, err);
	if (!s->out) {
		nsx_spool_free(s);
		return NULL;
	}
	return s;
}

void
nsx_spool_follow(struct nsx_spool *s, const struct nsx_reader *in)
{
	nsx_writer_follow(s->out, in);
}

int
nsx_spool_write(struct nsx_spool *s, const struct nsx_rec *rec)
{
	return nsx_write(s->out, rec);
}

int64_t
nsx_spool_records(const struct nsx_spool *s)
{
	return nsx_writer_records(s->out);
}

struct nsx_reader *
nsx_spool_reader(struct nsx_spool *s)
{
	int fd = s->fd;

	if (fd < 0 || nsx_writer_finish(s->out) != NSX_OK)
		return NULL;
	if (lseek(fd, 0, SEEK_SET) < 0) {
		nsx_err_set(s->err, "%s: %s", spool_name, strerror(errno));
		return NULL;
	}
	s->fd = -1;
	return nsx_reader_fd(fd, spool_name, 0, s->err);
}

void
nsx_spool_free(struct nsx_spool *s)
{
	if (!s)
		return;
	nsx_writer_free(s->out);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
