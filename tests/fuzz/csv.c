/* csv.c -- fuzz nsysx-compile: any bytes, CSV or a stream, give a table and a summary or an error. */
#include <stdint.h>
#include <stdlib.h>

#include "extract/compile_csv.h"
#include "table/compile.h"
#include "stream/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An error has a message. */
static void
judge(int rc, const struct nsx_err *err)
{
	if (rc != NSX_OK && !err->msg[0])
		abort();
}

static void
make_table(const uint8_t *data, size_t size, enum nsx_compile_by by)
{
	struct nsx_err err = { "" }, write_err = { "" };
	struct nsx_diags diags = { 0 };
	struct nsx_table *made = NULL;
	const struct nsx_compile_opts opts = { .by = &by, .nby = 1, .csv = nsx_extract_compile_csv,
	                                       .loading = by != NSX_COMPILE_PASS && by != NSX_COMPILE_PROCESS };
	struct nsx_reader *r = nsx_reader_mem(data, size, "fuzz", NSX_READ_ORDERED, &err);
	int rc = r ? nsx_compile(r, &opts, &made, &diags, &err) : NSX_ERR;

	judge(rc, &err);
	if (rc == NSX_OK) {
		struct nsx_outfile *out = nsx_outfile_open("/dev/null", &write_err);

		if (!out || nsx_table_write(made, NSX_TABLE_ALIGNED, nsx_reader_diags(r), out, &write_err) != NSX_OK)
			abort();
		nsx_outfile_free(out);
	}
	nsx_table_free(made);
	nsx_diags_free(&diags);
	nsx_reader_close(r);
}

static void
make_summary(const uint8_t *data, size_t size, bool full)
{
	struct nsx_err err = { "" }, write_err = { "" };
	struct nsx_diags diags = { 0 };
	struct nsx_reader *r = nsx_reader_mem(data, size, "fuzz", NSX_READ_PARTIAL, &err);
	struct nsx_outfile *out = nsx_outfile_open("/dev/null", &write_err);
	int64_t compilations;

	judge(r && out ? nsx_compile_summary(r, full, 0, out, &compilations, &diags, &err) : NSX_ERR, &err);
	nsx_outfile_free(out);
	nsx_diags_free(&diags);
	nsx_reader_close(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int by = NSX_COMPILE_RANGE; by <= NSX_COMPILE_PROCESS; by++)
		make_table(data, size, (enum nsx_compile_by)by);
	make_summary(data, size, false);
	make_summary(data, size, true);
	return 0;
}
