/* load_source.c -- reads a profile of any source: looks at its first bytes and calls the reader that they are for. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

/* Whether fd is a file that can be read at any place, for which exports have a reader; and if so its first bytes. */
static int
look(const char *path, int fd, bool *regular, struct nsx_str *first, struct nsx_err *err)
{
	static const size_t most = NSX_SOURCE_BYTES;
	struct stat st;
	ssize_t got;

	*regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	for (first->len = 0; *regular && first->len < most; first->len += got > 0 ? (size_t)got : 0) {
		got = pread(fd, (char *)first->ptr + first->len, most - first->len, (off_t)first->len);
		if (got < 0 && errno != EINTR)
			return nsx_err_set(err, "%s: %s", path, strerror(errno));
		if (got == 0)
			break;
	}
	return NSX_OK;
}

/* A FIFO was opened without waiting for its writer. */
static void
await_writer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

/* Which reader the input at fd is for, by its bytes unpacked, where it then stands in *in, read ahead. NSX_SOURCE_NSYS:
 * for that of exports, at fd, which also says why it cannot read what is none. */
static int
find_source(const char *path, int fd, bool beside, struct nsx_input *in, enum nsx_source *source, struct nsx_err *err)
{
	char bytes[NSX_SOURCE_BYTES];
	struct nsx_str first = { bytes, 0 };
	struct stat st;
	bool regular;

	*source = NSX_SOURCE_NSYS;
	if (look(path, fd, &regular, &first, err) != NSX_OK)
		return NSX_ERR;
	enum nsx_source plain = regular ? nsx_source_of(first) : NSX_SOURCE_NONE;
	if (regular && (plain == NSX_SOURCE_NONE || (plain == NSX_SOURCE_NSYS && nsx_str_starts(first, "SQLite"))))
		return NSX_OK;
	if (!regular && fstat(fd, &st) == 0 && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return NSX_OK;
	if (!regular)
		await_writer(fd);
	*in = (struct nsx_input){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .gzip = true, .beside = beside, .name = path,
	                          .err = err };
	if (in->fd < 0)
		return nsx_err_set(err, "%s: %s", path, strerror(errno));
	struct nsx_err unheard = { "" };
	if (plain == NSX_SOURCE_NSYS)
		in->err = &unheard;
	int rc = nsx_input_peek(in, NSX_SOURCE_BYTES, &first);
	in->err = err;
	if (rc == NSX_ERR && plain != NSX_SOURCE_NSYS) {
		nsx_input_close(in);
		return NSX_ERR;
	}
	*source = rc == NSX_ERR ? NSX_SOURCE_NSYS : nsx_source_of(first);
	/* What is none is for the reader that says so best. */
	if (*source == NSX_SOURCE_NONE || *source == NSX_SOURCE_GZIP)
		*source = plain == NSX_SOURCE_NSYS ? NSX_SOURCE_NSYS : NSX_SOURCE_KINETO;
	if (*source != NSX_SOURCE_NSYS)
		return NSX_OK;
	nsx_input_close(in);
	if (regular)
		lseek(fd, 0, SEEK_SET);
	return regular ? NSX_OK : nsx_err_set(err, "%s: an export is read in several places at once and cannot come "
	                                      "through a pipe: write it to a file", path);
}

int
nsx_extract_read(const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t, enum nsx_source *source,
                 struct nsx_diags *diags, struct nsx_err *err)
{
	bool standard = strcmp(path, "-") == 0;
	struct nsx_input in = { .fd = -1 };
	/* Non-blocking: opening a device must not wait. */
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
	    : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	path = standard ? "stdin" : path;
	if (fd < 0)
		return nsx_err_set(err, "%s: %s", path, strerror(errno));
	if (find_source(path, fd, opts->jobs != 1, &in, source, err) != NSX_OK) {
		close(fd);
		return NSX_ERR;
	}
	nsx_inputs_note(fd);
	if (*source == NSX_SOURCE_NSYS) {
		/* The same file, although another may have its name by now. */
		struct nsx_trace_opts opened = *opts;
		opened.fd = fd;
		return nsx_trace_load(path, &opened, t, diags, err);
	}
	close(fd);
	return *source == NSX_SOURCE_KINETO ? nsx_kineto_load(&in, path, opts, t, diags, err)
	    : nsx_xplane_load(&in, path, opts, t, diags, err);
}
