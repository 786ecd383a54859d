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

/* The reader for the regular file at fd; others are for that of exports, which says why it cannot read them. */
static enum nsx_source
source_of(int fd)
{
	char first[NSX_SOURCE_BYTES];
	struct stat st;
	size_t n = 0;
	ssize_t got;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return NSX_SOURCE_NSYS;
	while (n < sizeof first) {
		got = pread(fd, first + n, sizeof first - n, (off_t)n);
		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	enum nsx_source is = nsx_source_of((struct nsx_str){ first, n });
	return is == NSX_SOURCE_GZIP ? zipped(fd) : is;
}

int
nsx_extract_read(const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t, struct nsx_diags *diags,
                 struct nsx_err *err)
{
	/* A trace is read once, from front to back: it may come through a pipe. */
	if (strcmp(path, "-") == 0) {
		int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			return nsx_err_set(err, "stdin: %s", strerror(errno));
		return nsx_kineto_load(fd, "stdin", opts, t, diags, err);
	}
	/* Non-blocking: opening a FIFO must not wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	enum nsx_source is = fd >= 0 ? source_of(fd) : NSX_SOURCE_NONE;
	if (is == NSX_SOURCE_KINETO || is == NSX_SOURCE_XSPACE) {
		nsx_inputs_note(fd);
		return is == NSX_SOURCE_KINETO ? nsx_kineto_load(fd, path, opts, t, diags, err)
		    : nsx_xplane_load(fd, path, opts, t, diags, err);
	}
	if (fd >= 0)
		close(fd);
	return nsx_trace_load(path, opts, t, diags, err);
}
