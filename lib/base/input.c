/* input.c -- reads bytes into the window, through zstd or zlib if the first bytes are theirs. A frame or member that
 * ends early is an error. */
#include "base/input.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/progress.h"
#include "base/worker.h"

enum { CHUNK = 256 << 10, ZSTD_WINDOW_LOG = 27 };

struct nsx_unzip {
	ZSTD_DCtx *ctx;         /* NULL: gzip */
	z_stream   z;
	char      *buf;         /* compressed bytes: [pos, end) not yet used */
	size_t     pos, end;
	bool       open;        /* within a frame or member */
	uint64_t   out;         /* bytes decompressed */

	/* With a thread beside: it fills `ahead` from an input of its own, `from`, while the caller uses the window. */
	struct nsx_worker *worker;
	char              *ahead;
	size_t             nahead;
	int                rc;      /* NSX_EOF, NSX_ERR: nothing follows `ahead` */
	struct nsx_input   from;
	struct nsx_err     err;
};

void
nsx_input_watch(struct nsx_input *in, const int64_t *records)
{
	struct stat st;
	off_t at = in->fd < 0 || fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode) ? -1 : lseek(in->fd, 0, SEEK_CUR);

	in->records = records;
	if (at >= 0) {
		in->watched = NSX_SIZED;
		in->left = st.st_size > at ? st.st_size - at : 0;
		nsx_progress_expect(in->left);
	} else {
		in->watched = NSX_UNSIZED;
		nsx_progress_unknown(1);
	}
}

/* Report `got` more bytes to progress; 0: there will be no more. */
static void
tell(struct nsx_input *in, ssize_t got)
{
	if (in->watched == NSX_SIZED && got) {
		in->left -= got;
		nsx_progress_done((uint64_t)got);
	} else if (in->watched == NSX_UNSIZED && !got) {
		nsx_progress_unknown(-1);
	}
	nsx_progress_records((uint64_t)(*in->records - in->told));
	in->told = *in->records;
	if (!got) {
		nsx_progress_expect(in->watched == NSX_SIZED ? -in->left : 0);
		in->watched = NSX_UNWATCHED;
	}
}

static int
copy(struct nsx_input *in, const char *p, size_t n)
{
	while (n) {
		ssize_t put = write(in->copy, p, n);

		if (put < 0 && errno != EINTR)
			return nsx_err_set(in->err, "temporary file: %s", strerror(errno));
		p += put < 0 ? 0 : put;
		n -= put < 0 ? 0 : (size_t)put;
	}
	return NSX_OK;
}

int
nsx_input_copy(struct nsx_input *in, int fd)
{
	if (in->unzip)
		return NSX_EOF;
	in->copy = fd;
	in->has_copy = true;
	return copy(in, in->buf + in->pos, in->end - in->pos);
}

/* Read bytes: returns how many, 0 at the end; -1 with err filled. */
static ssize_t
fetch(struct nsx_input *in, char *p, size_t n)
{
	if (in->fd < 0) {
		if (n > in->mem_left)
			n = in->mem_left;
		if (n)
			memcpy(p, in->mem, n);
		in->mem += n;
		in->mem_left -= n;
		return (ssize_t)n;
	}
	for (;;) {
		ssize_t got = read(in->fd, p, n);

		if (got >= 0) {
			if (in->watched)
				tell(in, got);
			return in->has_copy && copy(in, p, (size_t)got) != NSX_OK ? -1 : got;
		}
		if (errno != EINTR) {
			nsx_err_set(in->err, "%s: %s", in->name, strerror(errno));
			return -1;
		}
	}
}

static bool
make_room(struct nsx_input *in)
{
	if (in->pos) {
		memmove(in->buf, in->buf + in->pos, in->end - in->pos);
		in->end -= in->pos;
		in->pos = 0;
	}
	if (in->cap - in->end >= CHUNK + NSX_SLACK)
		return true;
	size_t cap = in->cap + in->cap / 2 + CHUNK + NSX_SLACK;
	char *p = realloc(in->buf, cap);
	if (!p)
		return false;
	in->buf = p;
	in->cap = cap;
	return true;
}

static int
unzip_open(struct nsx_input *in, bool gzip)
{
	enum { GZIP_ONLY = 16 };
	struct nsx_unzip *u = calloc(1, sizeof *u);

	if (!u)
		return nsx_err_nomem(in->err, in->name);
	u->buf = malloc(CHUNK);
	if (!gzip)
		u->ctx = ZSTD_createDCtx();
	if (!u->buf || (gzip ? inflateInit2(&u->z, MAX_WBITS + GZIP_ONLY) != Z_OK
	    : !u->ctx || ZSTD_isError(ZSTD_DCtx_setParameter(u->ctx, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))) {
		ZSTD_freeDCtx(u->ctx);
		free(u->buf);
		free(u);
		return nsx_err_nomem(in->err, in->name);
	}
	in->unzip = u;
	return NSX_OK;
}

/* Decompress of the compressed bytes as many as fit into the n bytes at p: how many there are then, in *out. */
static int
unzstd(struct nsx_input *in, char *p, size_t n, size_t *out)
{
	struct nsx_unzip *u = in->unzip;
	ZSTD_outBuffer to = { p, n, 0 };
	ZSTD_inBuffer src = { u->buf, u->end, u->pos };
	size_t left = ZSTD_decompressStream(u->ctx, &to, &src);

	if (ZSTD_isError(left))
		return nsx_err_set(in->err, "%s: damaged zstd data: %s", in->name, ZSTD_getErrorName(left));
	/* With no input left zstd may still hold output; no progress at all means that the frame is truncated. */
	if (in->dry && src.pos == u->pos && to.pos == 0 && left != 0)
		return nsx_err_set(in->err, "%s: cut short: the zstd frame is not complete", in->name);
	u->pos = src.pos;
	u->open = left != 0;
	*out = to.pos;
	return NSX_OK;
}

static int
gunzip(struct nsx_input *in, char *p, size_t n, size_t *out)
{
	struct nsx_unzip *u = in->unzip;

	u->z.next_in = (unsigned char *)u->buf + u->pos;
	u->z.avail_in = (unsigned)(u->end - u->pos);
	u->z.next_out = (unsigned char *)p;
	u->z.avail_out = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
	uInt room = u->z.avail_out, before = u->z.avail_in;
	int rc = inflate(&u->z, Z_NO_FLUSH);
	*out = room - u->z.avail_out;
	u->pos = u->end - u->z.avail_in;
	u->open = true;
	if (rc == Z_MEM_ERROR)
		return nsx_err_nomem(in->err, in->name);
	if (rc == Z_STREAM_END) {
		u->open = false;
		return inflateReset(&u->z) == Z_OK ? NSX_OK : nsx_err_nomem(in->err, in->name);
	}
	if (rc != Z_OK && rc != Z_BUF_ERROR)
		return nsx_err_set(in->err, "%s: damaged gzip data after %" PRIu64 " bytes of text: %s", in->name,
		                   u->out + *out, u->z.msg ? u->z.msg : "a dictionary is missing");
	if (in->dry && !before && !*out)
		return nsx_err_set(in->err, "%s: the gzip data end early, after %" PRIu64
		                   " bytes of text: the file was cut off", in->name, u->out);
	return NSX_OK;
}

/* Decompress up to n bytes, at least one, to p: how many, in *out. NSX_EOF: there are no more. */
static int
unzip_to(struct nsx_input *in, char *p, size_t n, size_t *out)
{
	struct nsx_unzip *u = in->unzip;

	for (*out = 0; *out == 0;) {
		if (u->pos == u->end && !in->dry) {
			ssize_t got = fetch(in, u->buf, CHUNK);

			if (got < 0)
				return NSX_ERR;
			u->pos = 0;
			u->end = (size_t)got;
			in->dry = got == 0;
		}
		if (u->pos == u->end && !u->open)
			return NSX_EOF;
		if ((u->ctx ? unzstd : gunzip)(in, p, n, out) != NSX_OK)
			return NSX_ERR;
	}
	u->out += *out;
	return NSX_OK;
}

static void
unzip_ahead(void *ctx)
{
	struct nsx_unzip *u = ctx;
	size_t out;

	for (u->nahead = 0; u->rc == NSX_OK && u->nahead < CHUNK; u->nahead += out)
		u->rc = unzip_to(&u->from, u->ahead + u->nahead, CHUNK - u->nahead, &out);
}

/* Without memory or a second processor the caller's thread decompresses. */
static void
begin_ahead(struct nsx_input *in)
{
	struct nsx_unzip *u = in->unzip;

	if (!(u->ahead = malloc(CHUNK)) || !(u->worker = nsx_worker_new(unzip_ahead, u)))
		return;
	u->from = *in;
	u->from.err = &u->err;
	nsx_worker_begin(u->worker);
}

/* Decompress into the free part of the window, which is n bytes. */
static int
unzip(struct nsx_input *in, size_t n)
{
	struct nsx_unzip *u = in->unzip;
	size_t out;
	int rc;

	if (!u->worker) {
		rc = unzip_to(in, in->buf + in->end, n, &out);
		in->end += rc == NSX_OK ? out : 0;
		return rc;
	}
	nsx_worker_wait(u->worker);
	if (!u->nahead)
		return u->rc == NSX_ERR ? nsx_err_set(in->err, "%s", u->err.msg) : u->rc;
	assert(u->nahead <= n);
	memcpy(in->buf + in->end, u->ahead, u->nahead);
	in->end += u->nahead;
	u->nahead = 0;
	if (u->rc == NSX_OK)
		nsx_worker_begin(u->worker);
	return NSX_OK;
}

static bool
is_zstd(const char *p, size_t n)
{
	/* A frame, or a skippable frame (RFC 8878, 3.1). */
	return n >= 4 && (memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0
	                  || (((unsigned char)p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0));
}

static bool
is_gzip(const char *p, size_t n)
{
	return n >= 2 && memcmp(p, "\x1f\x8b", 2) == 0;
}

static int
more_plain(struct nsx_input *in, size_t n)
{
	if (in->dry)
		return NSX_EOF;
	ssize_t got = fetch(in, in->buf + in->end, n);
	if (got < 0)
		return NSX_ERR;
	in->dry = got == 0;
	in->end += (size_t)got;
	return got ? NSX_OK : NSX_EOF;
}

/* Read as many first bytes as are needed to recognise zstd or gzip; then they are moved to the decompressor. */
static int
begin(struct nsx_input *in)
{
	int rc = NSX_OK;

	in->begun = true;
	while (rc == NSX_OK && in->end < 4)
		rc = more_plain(in, CHUNK - in->end);
	if (rc == NSX_ERR)
		return rc;
	bool gzip = in->gzip && is_gzip(in->buf, in->end);
	if (!gzip && !is_zstd(in->buf, in->end))
		return in->end ? NSX_OK : NSX_EOF;
	if (unzip_open(in, gzip) != NSX_OK)
		return NSX_ERR;
	memcpy(in->unzip->buf, in->buf, in->end);
	in->unzip->end = in->end;
	in->end = 0;
	if (gzip && in->beside)
		begin_ahead(in);
	return unzip(in, in->cap - NSX_SLACK);
}

int
nsx_input_more(struct nsx_input *in)
{
	int rc;

	if (!make_room(in))
		return nsx_err_nomem(in->err, in->name);
	size_t room = in->cap - in->end - NSX_SLACK;
	if (!in->begun)
		rc = begin(in);
	else if (in->unzip)
		rc = unzip(in, room);
	else
		rc = more_plain(in, room);
	memset(in->buf + in->end, 0, NSX_SLACK);
	return rc;
}

int
nsx_input_need(struct nsx_input *in, size_t n)
{
	int rc = NSX_OK;

	while (rc == NSX_OK && in->end - in->pos < n)
		rc = nsx_input_more(in);
	return rc;
}

int
nsx_input_peek(struct nsx_input *in, size_t n, struct nsx_str *bytes)
{
	int rc = nsx_input_need(in, n);

	*bytes = (struct nsx_str){ "", 0 };
	if (rc != NSX_ERR && in->end > in->pos)
		*bytes = (struct nsx_str){ in->buf + in->pos, in->end - in->pos };
	return rc;
}

void
nsx_input_take(struct nsx_input *in, size_t n)
{
	assert(n <= in->end - in->pos);
	in->pos += n;
}

void
nsx_input_close(struct nsx_input *in)
{
	if (in->watched)
		tell(in, 0);
	if (in->unzip) {
		nsx_worker_free(in->unzip->worker);
		free(in->unzip->ahead);
		if (in->unzip->ctx)
			ZSTD_freeDCtx(in->unzip->ctx);
		else
			inflateEnd(&in->unzip->z);
		free(in->unzip->buf);
		free(in->unzip);
	}
	free(in->buf);
	if (in->fd >= 0)
		close(in->fd);
	*in = (struct nsx_input){ .fd = -1 };
}
