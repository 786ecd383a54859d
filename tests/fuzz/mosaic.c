/* mosaic.c -- fuzz target: Mosaic GPU profiler buffers and names of any bytes. Input: layout and scope, blocks, warpgroups of a block, length
 * of the names, the names, the buffer. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "draw/mosaic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
write_both(const struct nsx_mosaic *m, struct nsx_diags *diags)
{
	struct nsx_err err = { "" };
	int null = open("/dev/null", O_WRONLY);
	struct nsx_outfile *out = nsx_outfile_open("/dev/null", &err);
	struct nsx_writer *w = nsx_writer_fd(null, "null", false, 0, &err);

	if (out && w && (nsx_mosaic_json(m, out, diags, &err) != NSX_OK || nsx_mosaic_stream(m, NSX_STR("fuzz"), w, diags, &err) != NSX_OK
	                 || nsx_writer_finish(w) != NSX_OK))
		abort();   /* a valid input can be written */
	nsx_writer_free(w);
	nsx_outfile_free(out);
	close(null);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nsx_err err = { "" };
	struct nsx_diags diags = { 0 };
	struct nsx_mosaic_names names = { 0 };
	struct nsx_mosaic m;

	if (size < 4 || data[3] > size - 4)
		return 0;
	struct nsx_mosaic_shape shape = { data[1], 128 * data[2], (enum nsx_mosaic_layout)(data[0] % 3),
	                                  (enum nsx_mosaic_scope)(data[0] / 3 % 3) };
	struct nsx_str text = { (const char *)data + 4, data[3] }, bytes = { text.ptr + text.len, size - 4 - text.len };
	int rc = nsx_mosaic_names_parse(&names, text, "names", &err);
	if (rc == NSX_OK)
		rc = nsx_mosaic_npy(&bytes, "buffer", &err);
	if (rc == NSX_OK)
		rc = nsx_mosaic_decode(bytes, "buffer", &shape, &names, &m, &diags, &err);
	if (rc != NSX_OK && !err.msg[0])
		abort();   /* a refusal has a message */
	if (rc == NSX_OK) {
		for (size_t i = 0; i < m.tracks.n; i++)
			for (size_t k = m.tracks.p[i].first + 1; k < m.tracks.p[i].first + m.tracks.p[i].n; k++)
				if (m.events.p[k].time <= m.events.p[k - 1].time)
					abort();
		write_both(&m, &diags);
		nsx_mosaic_free(&m);
	}
	nsx_mosaic_names_free(&names);
	nsx_diags_free(&diags);
	return 0;
}
