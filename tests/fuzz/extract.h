/* extract.h -- shared by fuzz targets of exports: everything that nsysx-extract does with one. */
#ifndef NSX_FUZZ_EXTRACT_H
#define NSX_FUZZ_EXTRACT_H

#include "bytes.h"

#include "extract/extract.h"

static inline void
fuzz_extract_once(const char *path, const char *dumps, int n, const struct nsx_extract_opts *opts)
{
	static struct fuzz_file stream;
	struct nsx_extract_input inputs[2] = { { path, dumps }, { path, NULL } };
	struct nsx_err err = { "" }, write_err = { "" }, read_err = { "" };
	struct nsx_diags diags = { 0 };
	struct nsx_rec rec;

	fuzz_file_clear(&stream);
	struct nsx_writer *w = nsx_writer_fd(stream.fd, "stream", false, 0, &write_err);
	int rc = nsx_extract(inputs, n, opts, w, &diags, &err);
	/* A refusal has a message; the result can be written, and is a sorted stream. */
	fuzz_must(rc == NSX_OK || err.msg[0] || write_err.msg[0]);
	if (rc == NSX_OK) {
		fuzz_must(nsx_writer_finish(w) == NSX_OK);
		fuzz_must(lseek(stream.fd, 0, SEEK_SET) == 0);
		struct nsx_reader *r = nsx_reader_fd(dup(stream.fd), "stream", NSX_READ_ORDERED, &read_err);
		while ((rc = nsx_read(r, &rec)) == NSX_OK)
			;
		fuzz_must(rc == NSX_EOF);
		nsx_reader_close(r);
	} else {
		fuzz_must(!write_err.msg[0]);
	}
	nsx_writer_free(w);
	nsx_diags_free(&diags);
}

/* dumps: the folder of its HLO dumps, or NULL. chance: selects options other than the default. */
static inline void
fuzz_extract(const char *path, const char *dumps, unsigned chance)
{
	struct nsx_extract_opts all = { .ranges = NSX_RANGES_ALL, .ops = true, .autotune = true, .host = true,
	                                .from = INT64_MIN, .to = INT64_MAX, .jobs = 1 };
	struct nsx_extract_opts plain = { .strip_paths = true, .from = INT64_MIN, .to = INT64_MAX, .jobs = 1 };
	struct nsx_extract_opts some = { .ranges = NSX_RANGES_GPU, .ops = true, .from = 1000000, .to = INT64_MAX, .jobs = 1 };

	fuzz_extract_once(path, dumps, 1, &all);
	if (chance % 4 == 0)
		fuzz_extract_once(path, dumps, 2, &plain);   /* the same profile twice: two processes whose programs are matched */
	if (chance % 4 == 1)
		fuzz_extract_once(path, dumps, 1, &some);
}

/* Options selected by bytes of the input that also have another meaning. */
static inline unsigned
fuzz_chance(const uint8_t *data, size_t size)
{
	return size ? data[size / 2] : 0;
}

#endif
