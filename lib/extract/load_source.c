/* load_source.c -- reads a profile of any source: looks at its first bytes and calls the reader that they are for. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/inputs.h"
#include "extract/profile.h"
#include "kineto/kineto.h"
#include "nsys/export.h"
#include "source/source.h"
#include "xplane/xplane.h"

/* What the gzip file at fd has in it. */
static enum nsx_source
zipped(int fd)
{
	struct nsx_err unheard = { "" };
	struct nsx_input in = { .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .gzip = true, .name = "", .err = &unheard };
	struct nsx_str first = { "", 0 };
	enum nsx_source is = NSX_SOURCE_KINETO;

	if (in.fd < 0)
		return is;
	if (nsx_input_peek(&in, NSX_SOURCE_BYTES, &first) != NSX_ERR && nsx_source_of(first) == NSX_SOURCE_XSPACE)
		is = NSX_SOURCE_XSPACE;
	nsx_input_close(&in);
	lseek(fd, 0, SEEK_SET);
	return is;
}

/* The reader for the regular file at fd; others are for that of exports, which says why it cannot read them. NSX_OK, or
 * NSX_ERR with err filled. */
static int
find_source(const char *path, int fd, enum nsx_source *source, struct nsx_err *err)
{
	char first[NSX_SOURCE_BYTES];
	struct stat st;
	size_t n = 0;
	ssize_t got;

	*source = NSX_SOURCE_NSYS;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return NSX_OK;
	while (n < sizeof first) {
		got = pread(fd, first + n, sizeof first - n, (off_t)n);
		if (got < 0 && errno != EINTR)
			return nsx_err_set(err, "%s: %s", path, strerror(errno));
		if (got == 0)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	*source = nsx_source_of((struct nsx_str){ first, n });
	if (*source == NSX_SOURCE_GZIP)
		*source = zipped(fd);
	return NSX_OK;
}

int
nsx_extract_read(const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t, enum nsx_source *source,
                 struct nsx_diags *diags, struct nsx_err *err)
{
	*source = NSX_SOURCE_KINETO;
	/* A trace is read once, from front to back: it may come through a pipe. */
	if (strcmp(path, "-") == 0) {
		int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			return nsx_err_set(err, "stdin: %s", strerror(errno));
		return nsx_kineto_load(fd, "stdin", opts, t, diags, err);
	}
	/* Non-blocking: opening a FIFO must not wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return nsx_err_set(err, "%s: %s", path, strerror(errno));
	if (find_source(path, fd, source, err) != NSX_OK) {
		close(fd);
		return NSX_ERR;
	}
	if (*source == NSX_SOURCE_KINETO || *source == NSX_SOURCE_XSPACE) {
		nsx_inputs_note(fd);
		return *source == NSX_SOURCE_KINETO ? nsx_kineto_load(fd, path, opts, t, diags, err)
		    : nsx_xplane_load(fd, path, opts, t, diags, err);
	}
	/* The same file, although another may have its name by now. */
	struct nsx_trace_opts opened = *opts;
	opened.fd = fd;
	return nsx_trace_load(path, &opened, t, diags, err);
}
