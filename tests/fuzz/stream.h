/* stream.h -- shared by the fuzz targets of the stream. */
#ifndef NSX_FUZZ_STREAM_H
#define NSX_FUZZ_STREAM_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "stream/codec.h"

static inline void
fuzz_use(volatile char *sink, struct nsx_str s)
{
	*sink = (char)(*sink ^ s.ptr[0] ^ s.ptr[s.len - 1]);
}

static inline int
fuzz_take(void *sink, const struct nsx_rec *rec)
{
	for (int i = 0; i < rec->kind->nslots; i++)
		if (rec->has >> i & 1 && rec->kind->cols[i].type == 's')
			fuzz_use(sink, rec->v[i].s);
	return NSX_OK;
}

static inline int
fuzz_take_run(void *sink, const struct nsx_run *run)
{
	for (size_t i = run->from; i < run->end; i++)
		for (int slot = 0; slot < run->kind->nslots; slot++) {
			int64_t v = run->v[slot][i];
			struct nsx_str text;

			if (v == NSX_ABSENT || run->kind->cols[slot].type != 's')
				continue;
			/* More than a block may take is refused. */
			if ((text = nsx_text(&run->texts, v)).ptr)
				fuzz_use(sink, text);
			if (run->texts.first && (text = nsx_text(&run->texts, run->texts.first[v])).ptr)
				fuzz_use(sink, text);
		}
	return NSX_OK;
}

/* Read with needs selected by the bytes, also in runs. A stream that can be read completely can be read in part, with the
 * same counts. */
static inline void
fuzz_needs(const uint8_t *data, size_t size, unsigned flags, bool whole, int64_t records)
{
	struct nsx_err err = { "" };
	struct nsx_reader *r = nsx_reader_mem(data, size, "fuzz", flags, &err);
	uint64_t bits = nsx_hash(data, size);
	volatile char sink = 0;

	if (!r)
		return;
	for (int k = 0; k <= NSX_NKINDS; k++) {
		bits = nsx_hash_u64(bits);
		if (bits & 1 || k == NSX_DIAG)
			nsx_reader_need(r, (enum nsx_kind_id)k, bits & 2 ? bits >> 2 : NSX_EVERY);
		if (bits & 1 && bits >> 62 && k < NSX_NKINDS)
			nsx_reader_need_value(r, (enum nsx_kind_id)k,
			                      (int)(bits >> 40 & 0xff) % nsx_kind_builtin((enum nsx_kind_id)k)->nslots);
	}
	if (bits & 8)
		nsx_reader_runs(r, &(struct nsx_run_kinds){ nsx_hash_u64(bits) & ~(UINT64_C(1) << NSX_DIAG), bits >> 20,
		                                            fuzz_take_run });
	int rc = nsx_read_all(r, NULL, fuzz_take, (void *)&sink, &err);

	if (whole && (rc != NSX_OK || nsx_reader_records(r) != records))
		abort();
	nsx_reader_close(r);
}

/* Read every record with all its values, and write it in the other encodings. */
static inline void
fuzz_stream(const uint8_t *data, size_t size, unsigned flags)
{
	struct nsx_err err = { "" }, werr[2] = { { "" }, { "" } };
	struct nsx_reader *r = nsx_reader_mem(data, size, "fuzz", flags, &err);
	struct nsx_writer *w[2];
	struct nsx_rec rec;
	volatile char sink = 0;
	int null = open("/dev/null", O_WRONLY), rc;

	for (int i = 0; i < 2; i++) {
		w[i] = nsx_writer_fd(null, "null", i == 1, 0, &werr[i]);
		if (r && w[i])
			nsx_writer_follow(w[i], r);
	}
	while (r && w[0] && w[1] && (rc = nsx_read(r, &rec)) != NSX_EOF) {
		if (rc == NSX_ERR) {
			if (!err.msg[0])
				abort();   /* an error has a message */
			break;
		}
		for (int i = 0; i < rec.kind->nslots; i++)
			if (nsx_has(&rec, i) && rec.kind->cols[i].type == 's') {
				if (rec.v[i].s.len == 0)
					abort();   /* a string is never empty */
				sink = sink ^ rec.v[i].s.ptr[0] ^ rec.v[i].s.ptr[rec.v[i].s.len - 1];
			}
		for (int i = 0; i < 2; i++)
			if (nsx_write(w[i], &rec) != NSX_OK)
				abort();   /* records that were read can be written */
	}
	for (int i = 0; i < 2; i++) {
		if (r && r->status == NSX_EOF && nsx_writer_finish(w[i]) != NSX_OK)
			abort();
		nsx_writer_free(w[i]);
	}
	bool whole = r && r->status == NSX_EOF;
	int64_t records = r ? nsx_reader_records(r) : 0;

	nsx_reader_close(r);
	close(null);
	fuzz_needs(data, size, flags, whole, records);
}

#endif
