/* dumpfile.c -- the bytes of a dump, compressed or not, by offset. */
#include "xla/dumpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/inputs.h"
#include "base/outfile.h"
#include "base/str.h"
#include "base/unpack.h"

enum {
	WINDOW = 256 << 10,
	CHUNK = 256 << 10,       /* bytes read, and bytes decompressed, at a time */
	IN_MEMORY = 4 << 20,     /* a dump that is larger when decompressed goes to a temporary file */
	XZ_MEMORY = 512 << 20,   /* the maximum for decoding an xz stream */
	MAGIC = 6
};
/* No dump is that large (a protobuf ends at 2 GB): this keeps a few bytes of .xz from filling a disk. */
static const uint64_t SIZE_LIMIT = UINT64_C(8) << 30;

int
nsx_dumpfile_nomem(struct nsx_dumpfile *f)
{
	f->trouble = true;
	return nsx_err_nomem(f->err, f->path);
}

/* errno as the error: permissions, or a folder in place of the file, do not count as trouble of the system. */
static int
refused(struct nsx_dumpfile *f)
{
	f->trouble = errno != EACCES && errno != EPERM && errno != ENOENT && errno != EISDIR;
	return nsx_err_set(f->err, "%s: %s", f->path, strerror(errno));
}

/* ---- destination of decompressed bytes */

struct sink {
	struct nsx_dumpfile *f;
	struct nsx_buf       mem;   /* until IN_MEMORY is exceeded */
	int                  fd;    /* -1 until then */
	uint64_t             size;
	bool                 packed;
};

static int
write_all(struct sink *s, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(s->fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			s->f->trouble = true;
			return nsx_err_set(s->f->err, "%s: decompressing to a temporary file: %s", s->f->path,
			                   strerror(errno));
		}
		p += done;
		n -= (size_t)done;
	}
	return NSX_OK;
}

static int
sink_add(struct sink *s, const char *p, size_t n)
{
	s->size += n;
	/* The size of an uncompressed file is known in advance. */
	if (s->packed && nsx_unpack_check(s->f->path, s->size, SIZE_LIMIT, s->f->err) != NSX_OK)
		return NSX_ERR;
	if (s->fd < 0 && s->size <= IN_MEMORY) {
		nsx_buf_add(&s->mem, p, n);
		return s->mem.failed ? nsx_dumpfile_nomem(s->f) : NSX_OK;
	}
	if (s->fd < 0) {
		s->fd = nsx_tmpfile(s->f->err);
		s->f->trouble |= s->fd < 0;
		if (s->fd < 0 || write_all(s, s->mem.ptr, s->mem.len) != NSX_OK)
			return NSX_ERR;
		nsx_buf_free(&s->mem);
	}
	return write_all(s, p, n);
}

/* ---- decoders: bytes in, bytes to the sink */

struct decoder {
	bool (*begin)(struct decoder *d);
	/* Decode n bytes at p; 0 bytes: the input has ended. */
	int  (*feed)(struct decoder *d, struct sink *s, const char *p, size_t n);
	void (*end)(struct decoder *d);
	lzma_stream   xz;
	ZSTD_DStream *zstd;
	size_t        want;   /* zstd: 0 between frames */
	char         *out;
};

static bool
xz_begin(struct decoder *d)
{
	d->xz = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_stream_decoder(&d->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
}

static int
xz_feed(struct decoder *d, struct sink *s, const char *p, size_t n)
{
	lzma_ret rc;

	d->xz.next_in = (const uint8_t *)p;
	d->xz.avail_in = n;
	do {
		d->xz.next_out = (uint8_t *)d->out;
		d->xz.avail_out = CHUNK;
		rc = lzma_code(&d->xz, n ? LZMA_RUN : LZMA_FINISH);
		if (sink_add(s, d->out, CHUNK - d->xz.avail_out) != NSX_OK)
			return NSX_ERR;
	} while (rc == LZMA_OK && (d->xz.avail_in || !d->xz.avail_out || !n));
	if (rc == LZMA_OK || rc == LZMA_STREAM_END)
		return NSX_OK;
	if (rc == LZMA_MEM_ERROR)
		return nsx_dumpfile_nomem(s->f);
	if (rc == LZMA_MEMLIMIT_ERROR)
		return nsx_err_set(s->f->err, "%s: xz: needs more than %d MB to decompress", s->f->path,
		                   XZ_MEMORY >> 20);
	if (rc == LZMA_BUF_ERROR && n)
		return NSX_OK;
	return nsx_err_set(s->f->err, "%s: xz: %s", s->f->path, n ? "damaged" : "cut short");
}

static void
xz_end(struct decoder *d)
{
	lzma_end(&d->xz);
}

static bool
zstd_begin(struct decoder *d)
{
	d->zstd = ZSTD_createDStream();
	return d->zstd && !ZSTD_isError(ZSTD_initDStream(d->zstd));
}

static int
zstd_feed(struct decoder *d, struct sink *s, const char *p, size_t n)
{
	ZSTD_inBuffer in = { p, n, 0 };

	if (!n && d->want)
		return nsx_err_set(s->f->err, "%s: zstd: cut short", s->f->path);
	while (in.pos < in.size) {
		ZSTD_outBuffer out;
		do {
			out = (ZSTD_outBuffer){ d->out, CHUNK, 0 };
			d->want = ZSTD_decompressStream(d->zstd, &out, &in);
			if (ZSTD_getErrorCode(d->want) == ZSTD_error_memory_allocation)
				return nsx_dumpfile_nomem(s->f);
			if (ZSTD_isError(d->want))
				return nsx_err_set(s->f->err, "%s: zstd: %s", s->f->path, ZSTD_getErrorName(d->want));
			if (sink_add(s, d->out, out.pos) != NSX_OK)
				return NSX_ERR;
		} while (out.pos == out.size && d->want);
	}
	return NSX_OK;
}

static void
zstd_end(struct decoder *d)
{
	ZSTD_freeDStream(d->zstd);
}

static bool
plain_begin(struct decoder *d)
{
	(void)d;
	return true;
}

static int
plain_feed(struct decoder *d, struct sink *s, const char *p, size_t n)
{
	(void)d;
	return sink_add(s, p, n);
}

static void
plain_end(struct decoder *d)
{
	(void)d;
}

static struct decoder
decoder_for(const unsigned char *magic, size_t n)
{
	static const unsigned char xz[] = { 0xfd, '7', 'z', 'X', 'Z', 0 }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

	if (n >= sizeof xz && memcmp(magic, xz, sizeof xz) == 0)
		return (struct decoder){ .begin = xz_begin, .feed = xz_feed, .end = xz_end };
	/* A skippable frame may come first. */
	if (n >= sizeof zstd && (memcmp(magic, zstd, sizeof zstd) == 0 ||
	                         ((magic[0] & 0xf0) == 0x50 && memcmp(magic + 1, "\x2a\x4d\x18", 3) == 0)))
		return (struct decoder){ .begin = zstd_begin, .feed = zstd_feed, .end = zstd_end };
	return (struct decoder){ .begin = plain_begin, .feed = plain_feed, .end = plain_end };
}

/* read(2) until n bytes or the end; the number of bytes, -1 with err filled. */
static ssize_t
read_full(struct nsx_dumpfile *f, int fd, char *p, size_t n)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = read(fd, p + have, n - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return refused(f);
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

/* Pass the rest of fd, the first n bytes of which have been read to `in`, through d. */
static int
decode(struct nsx_dumpfile *f, int fd, struct decoder *d, char *in, size_t n)
{
	struct sink s = { .f = f, .fd = -1, .packed = d->feed != plain_feed };
	ssize_t got = (ssize_t)n;
	int rc = NSX_OK;

	d->out = malloc(CHUNK);
	if (!d->out || !d->begin(d))
		rc = nsx_dumpfile_nomem(f);
	while (rc == NSX_OK) {
		rc = d->feed(d, &s, in, (size_t)got);
		if (rc != NSX_OK || got == 0)
			break;
		if ((got = read_full(f, fd, in, CHUNK)) < 0)
			rc = NSX_ERR;
	}
	d->end(d);
	free(d->out);
	if (rc != NSX_OK) {
		if (s.fd >= 0)
			close(s.fd);
		nsx_buf_free(&s.mem);
		return NSX_ERR;
	}
	f->size = s.size;
	f->fd = s.fd;
	f->buf = (unsigned char *)s.mem.ptr;
	f->cap = s.mem.cap;
	if (s.fd < 0) {
		f->window = f->buf;
		f->have = s.mem.len;
	}
	return NSX_OK;
}

int
nsx_dumpfile_open(struct nsx_dumpfile *f, const char *path, struct nsx_err *err)
{
	struct stat st;
	int rc = NSX_ERR;

	*f = (struct nsx_dumpfile){ .path = path, .err = err, .fd = -1 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return refused(f);
	nsx_inputs_note(fd);
	char *in = malloc(CHUNK);
	if (!in) {
		close(fd);
		return nsx_dumpfile_nomem(f);
	}
	ssize_t n = -1;
	if (fstat(fd, &st) != 0)
		refused(f);
	else
		n = read_full(f, fd, in, MAGIC);
	if (n >= 0) {
		struct decoder d = decoder_for((const unsigned char *)in, (size_t)n);
		if (d.feed == plain_feed && S_ISREG(st.st_mode)) {
			f->fd = fd;
			f->size = (uint64_t)st.st_size;
			free(in);
			return NSX_OK;
		}
		rc = decode(f, fd, &d, in, (size_t)n);
	}
	free(in);
	close(fd);
	return rc;
}

void
nsx_dumpfile_memory(struct nsx_dumpfile *f, const void *p, size_t n, const char *name, struct nsx_err *err)
{
	*f = (struct nsx_dumpfile){ .path = name, .err = err, .fd = -1, .size = n, .window = p, .have = n };
}

void
nsx_dumpfile_close(struct nsx_dumpfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->buf);
	*f = (struct nsx_dumpfile){ .fd = -1 };
}

const unsigned char *
nsx_dumpfile_load(struct nsx_dumpfile *f, uint64_t off, size_t n)
{
	if (f->fd < 0 || off > f->size || n > f->size - off) {
		nsx_err_set(f->err, "%s: byte %" PRIu64 ": cut short", f->path, off);
		return NULL;
	}
	size_t want = n > WINDOW ? n : WINDOW;
	if (f->cap < want) {
		unsigned char *buf = realloc(f->buf, want);
		if (!buf) {
			nsx_dumpfile_nomem(f);
			return NULL;
		}
		f->buf = buf;
		f->cap = want;
	}
	f->window = f->buf;
	f->start = off;
	f->have = 0;
	if (want > f->size - off)
		want = (size_t)(f->size - off);
	while (f->have < want) {
		ssize_t got = pread(f->fd, f->buf + f->have, want - f->have, (off_t)(off + f->have));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			refused(f);
			return NULL;
		}
		if (got == 0)
			break;
		f->have += (size_t)got;
	}
	if (f->have < n) {
		nsx_err_set(f->err, "%s: became shorter while it was being read", f->path);
		return NULL;
	}
	return f->buf;
}
