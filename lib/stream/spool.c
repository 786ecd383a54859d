/* spool.c -- records stored in an unlinked temporary file, binary and lightly compressed, to be read back once. If the
 * stream itself can be read again, nothing is stored; alternatively the bytes of the input are stored as they are
 * read. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "stream/binary.h"
#include "stream/codec.h"
#include "stream/spool.h"

struct nsx_spool {
	struct nsx_err    *err;
	int                fd;   /* -1 once a reader has it */
	struct nsx_writer *out;  /* NULL: fd is the stream itself, or its bytes */
	char              *name;
	unsigned           flags;     /* of the reader, that of a file read again has too */
	int64_t            records;
};

static const char spool_name[] = "temporary file";

/* A new descriptor of the file that is open as fd, from its beginning; -1 if the file of that name is another one or
 * not a regular file. */
static int
open_again(const char *name, int fd)
{
	struct stat first, second;
	int again;

	if (fd < 0 || fstat(fd, &first) != 0 || !S_ISREG(first.st_mode))
		return -1;
	again = open(name, O_RDONLY | O_CLOEXEC);
	if (again >= 0 && (fstat(again, &second) != 0 || first.st_dev != second.st_dev
	                   || first.st_ino != second.st_ino)) {
		close(again);
		again = -1;
	}
	return again;
}

bool
nsx_spool_again(const struct nsx_reader *in)
{
	int fd = open_again(in->name, in->in.fd);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct nsx_spool *
nsx_spool_open_all(const struct nsx_reader *in, struct nsx_err *err)
{
	int fd = open_again(in->name, in->in.fd);
	struct nsx_spool *s;

	if (fd < 0)
		return nsx_spool_open(err);
	s = calloc(1, sizeof *s);
	if (s)
		s->name = nsx_str_dup(nsx_str_c(in->name));
	if (!s || !s->name) {
		nsx_err_nomem(err, in->name);
		close(fd);
		free(s);
		return NULL;
	}
	s->err = err;
	s->fd = fd;
	s->flags = in->flags & NSX_READ_PARTIAL;
	return s;
}

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

int
nsx_spool_open_bytes(struct nsx_reader *in, struct nsx_spool **to, struct nsx_err *err)
{
	struct nsx_spool *s;
	struct nsx_str first;
	int rc = nsx_input_peek(&in->in, NSX_MAGIC_BYTES, &first);

	*to = NULL;
	if (rc != NSX_OK || !nsx_binary_magic(first.ptr, first.len) || in->in.unzip)
		return rc == NSX_ERR ? NSX_ERR : NSX_OK;
	s = calloc(1, sizeof *s);
	if (s)
		*s = (struct nsx_spool){ .err = err, .fd = -1, .name = nsx_str_dup(nsx_str_c(in->name)) };
	if (!s || !s->name)
		rc = nsx_err_nomem(err, in->name);
	else if ((s->fd = nsx_tmpfile(err)) < 0)
		rc = NSX_ERR;
	else
		rc = nsx_input_copy(&in->in, s->fd);
	if (rc == NSX_OK)
		*to = s;
	else
		nsx_spool_free(s);
	return rc;
}

bool
nsx_spool_keeps(const struct nsx_spool *s)
{
	return s->out != NULL;
}

void
nsx_spool_follow(struct nsx_spool *s, const struct nsx_reader *in)
{
	if (s->out)
		nsx_writer_follow(s->out, in);
}

struct nsx_writer *
nsx_spool_writer(struct nsx_spool *s)
{
	return s->out;
}

int
nsx_spool_write(struct nsx_spool *s, const struct nsx_rec *rec)
{
	s->records++;
	return s->out ? nsx_write(s->out, rec) : NSX_OK;
}

int64_t
nsx_spool_records(const struct nsx_spool *s)
{
	return s->records;
}

struct nsx_reader *
nsx_spool_reader(struct nsx_spool *s)
{
	return nsx_spool_reader_of(s, 0);
}

struct nsx_reader *
nsx_spool_reader_of(struct nsx_spool *s, unsigned flags)
{
	int fd = s->fd;

	if (fd < 0 || (s->out && nsx_writer_finish(s->out) != NSX_OK))
		return NULL;
	if (lseek(fd, 0, SEEK_SET) < 0) {
		nsx_err_set(s->err, "%s: %s", spool_name, strerror(errno));
		return NULL;
	}
	s->fd = -1;
	return nsx_reader_fd(fd, s->out ? spool_name : s->name, flags | s->flags, s->err);
}

void
nsx_spool_free(struct nsx_spool *s)
{
	if (!s)
		return;
	nsx_writer_free(s->out);
	if (s->fd >= 0)
		close(s->fd);
	free(s->name);
	free(s);
}
