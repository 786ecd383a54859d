/* python.c -- marks of the domain Python Backtrace: the stack of a Python thread, of which nothing says which thread of
 * the system it is (python_threads.c). The payload of a mark, little-endian, behind the header of payload.c:
 *
 *     0      4       8       12   16                          one frame, 24 bytes each, innermost first
 *     | state| source| frames| -  | function (8)  file (8)  line (4)  - |
 *
 * function and file are ids of strings; what "-" stands for is undefined. */
#include "nsys/cpu/reading.h"

#include <stdlib.h>

#include "base/sort.h"
#include "nsys/blob.h"

enum { STATE = 0, SOURCE = 4, COUNT = 8, FRAMES = 16, FRAME = 24, FUNCTION = 0, FILE_AT = 8, LINE = 16 };
enum { MOST_FRAMES = 1 << 16 };

struct reading_marks { struct nsx_cpu_reading *r; struct nsx_buf bytes; };

static int
category_found(void *ctx, size_t i, sqlite3_value *v)
{
	const struct reading_marks *m = ctx;
	int64_t category;

	if (nsx_db_int(v, &category))
		m->r->marks.p[i].category = category;
	return NSX_OK;
}

/* The frames of a payload of `size` bytes as a shape; NSX_NONE: *good tells whether it is of another form or memory ran
 * out. */
static uint32_t
read_frames(struct nsx_cpu_reading *r, const unsigned char *payload, uint64_t size, bool *good)
{
	uint64_t n = size < FRAMES ? MOST_FRAMES : nsx_blob_number(payload + COUNT, 4);

	*good = true;
	if (n >= MOST_FRAMES || FRAMES + n * FRAME > size)
		return NSX_NONE;
	r->chain.n = 0;
	for (uint64_t i = 0; i < n; i++) {
		const unsigned char *at = payload + FRAMES + i * FRAME;
		struct nsx_frame f = {
			nsx_ids_at(&r->l->ids, (int64_t)nsx_blob_number(at + FUNCTION, 8)),
			nsx_ids_at(&r->l->ids, (int64_t)nsx_blob_number(at + FILE_AT, 8)),
			(int32_t)(nsx_blob_number(at + LINE, 4) & INT32_MAX)
		};

		*good = f.name != NSX_NONE && f.where != NSX_NONE && nsx_vec_push(&r->chain, f);
		if (!*good)
			return NSX_NONE;
	}
	uint32_t shape = nsx_cpu_shape_at(r, r->chain.p, r->chain.n);

	r->chain.n = 0;
	*good = shape != NSX_NONE;
	return shape;
}

static int
payload_found(void *ctx, size_t i, sqlite3_value *v)
{
	struct reading_marks *m = ctx;
	struct nsx_python_mark *mark = &m->r->marks.p[i];
	struct nsx_blob blob = nsx_blob_of(v, &m->bytes);
	bool good;

	if (m->bytes.failed)
		return NSX_ERR;
	if (!blob.payload || blob.size < FRAMES)
		return NSX_OK;
	mark->state = (int32_t)nsx_blob_number(blob.payload + STATE, 4);
	mark->source = (int32_t)nsx_blob_number(blob.payload + SOURCE, 4);
	mark->shape = read_frames(m->r, blob.payload, blob.size, &good);
	return good ? NSX_OK : NSX_ERR;
}

/* By process, category, time; equal ones as in the table. Those without a stack, of which there may be one in each pass
 * of the sampler, are counted. */
static bool
sort_marks(struct nsx_cpu_reading *r)
{
	struct nsx_sort_key *keys = malloc((r->marks.n + 1) * sizeof *keys);
	size_t n = 0;

	for (size_t i = 0; i < r->marks.n; i++)
		if (r->marks.p[i].shape != NSX_NONE)
			r->marks.p[n++] = r->marks.p[i];
	r->unreadable += r->marks.n - n;
	r->marks.n = n;
	for (size_t i = 0; keys && i < n; i++) {
		const struct nsx_python_mark *m = &r->marks.p[i];

		keys[i] = (struct nsx_sort_key){ { (int64_t)nsx_cpu_process(m->by), m->category, m->at }, (uint32_t)i };
	}
	if (keys) {
		nsx_sort_keys(keys, n);
		nsx_sort_apply(r->marks.p, sizeof *r->marks.p, keys, n);
	}
	free(keys);
	return keys != NULL;
}

/* Processes are told by the bits of a globalTid that have their number. */
static struct nsx_key
domain_key(int64_t domain, uint64_t gtid)
{
	return (struct nsx_key){ (uint64_t)domain, gtid & UINT64_C(0x0000FFFFFF000000) };
}

bool
nsx_cpu_python_domain(struct nsx_cpu_reading *r, int64_t domain, uint64_t process)
{
	return nsx_map_number(&r->python_domains, domain_key(domain, process)) != NSX_NONE;
}

int
nsx_cpu_read_python(struct nsx_cpu_reading *r)
{
	struct reading_marks m = { r, { 0 } };
	NSX_VEC(int64_t) ids = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < r->rows.n && rc == NSX_OK; i++) {
		const struct nsx_mark_row *row = &r->rows.p[i];
		struct nsx_python_mark mark = { .at = row->start, .by = row->gtid, .shape = NSX_NONE };

		if (nsx_map_get(&r->python_domains, domain_key(row->domain, row->gtid)) == NSX_NONE)
			continue;
		bool good;

		/* One of the Python threads is the main one. */
		nsx_cpu_thread_at(r, nsx_cpu_main_thread(row->gtid), &good);
		if (!good || !nsx_vec_push(&r->marks, mark) || !nsx_vec_push(&ids, row->id))
			rc = nsx_load_nomem(r->l);
	}
	if (rc == NSX_OK && ids.n)
		rc = nsx_db_column(&r->l->db, "NVTX_EVENTS", "category", ids.p, ids.n, category_found, &m, r->l->err);
	if (rc == NSX_OK && ids.n)
		rc = nsx_db_column(&r->l->db, "NVTX_EVENTS", "binaryData", ids.p, ids.n, payload_found, &m, r->l->err);
	free(ids.p);
	nsx_buf_free(&m.bytes);
	return rc == NSX_OK && !sort_marks(r) ? nsx_load_nomem(r->l) : rc;
}
