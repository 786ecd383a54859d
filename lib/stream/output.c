/* output.c -- writes bytes, unchanged or as one zstd frame with a checksum. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/outfile.h"
#include "stream/codec.h"

struct nsx_zip {
	ZSTD_CCtx *ctx;
	char      *buf;
	size_t     cap;
};

static int
put(struct nsx_output *o, const char *p, size_t n)
{
	if (o->file)
		return nsx_outfile_write(o->file, p, n);
	while (n) {
		ssize_t done = write(o->fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return nsx_err_set(o->err, "%s: %s", o->name, strerror(errno));
		p += done;
		n -= (size_t)done;
	}
	return NSX_OK;
}

int
nsx_output_zip(struct nsx_output *o, int zlevel)
{
	struct nsx_zip *z = calloc(1, sizeof *z);

	if (!z)
		return nsx_err_nomem(o->err, o->name);
	o->zip = z;
	z->cap = ZSTD_CStreamOutSize();
	z->buf = malloc(z->cap);
	z->ctx = ZSTD_createCCtx();
	if (!z->buf || !z->ctx)
		return nsx_err_nomem(o->err, o->name);
	if (ZSTD_isError(ZSTD_CCtx_setParameter(z->ctx, ZSTD_c_compressionLevel, zlevel))
	    || ZSTD_isError(ZSTD_CCtx_setParameter(z->ctx, ZSTD_c_checksumFlag, 1)))
		return nsx_err_set(o->err, "%s: zstd refuses level %d", o->name, zlevel);
	return NSX_OK;
}

static int
zip(struct nsx_output *o, const void *p, size_t n, ZSTD_EndDirective how)
{
	struct nsx_zip *z = o->zip;
	ZSTD_inBuffer in = { p, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { z->buf, z->cap, 0 };

		left = ZSTD_compressStream2(z->ctx, &out, &in, how);
		if (ZSTD_isError(left))
			return nsx_err_set(o->err, "%s: zstd: %s", o->name, ZSTD_getErrorName(left));
		if (out.pos && put(o, z->buf, out.pos) != NSX_OK)
			return NSX_ERR;
	} while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return NSX_OK;
}

int
nsx_output_write(struct nsx_output *o, const void *p, size_t n)
{
	return o->zip ? zip(o, p, n, ZSTD_e_continue) : put(o, p, n);
}

int
nsx_output_finish(struct nsx_output *o)
{
	if (o->zip && zip(o, NULL, 0, ZSTD_e_end) != NSX_OK)
		return NSX_ERR;
	return o->file ? nsx_outfile_commit(o->file) : NSX_OK;
}

void
nsx_output_free(struct nsx_output *o)
{
	if (o->zip) {
		ZSTD_freeCCtx(o->zip->ctx);
		free(o->zip->buf);
		free(o->zip);
	}
	nsx_outfile_free(o->file);
	*o = (struct nsx_output){ .fd = -1 };
}
