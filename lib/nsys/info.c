/* info.c -- what an export records besides events: its version and time, names of GPUs, devices and threads. Rows are
 * selected by name: nothing else of these tables, which contain users, commands and environments, is kept. */
#include <stdlib.h>

#include "base/sort.h"
#include "nsys/load.h"

/* A scan of a table that may be missing or, in an old export, lack these columns; then its data is not available. */
static int
scan_if_there(struct nsx_loader *l, const char *table, const struct nsx_db_col *cols, int ncols,
              int (*row)(void *ctx, sqlite3_value **v))
{
	struct nsx_db_scan scan = { table, cols, ncols, .row = row, .ctx = l };

	return nsx_db_has(&l->db, table) ? nsx_db_run(&l->db, &scan, l->err) : NSX_OK;
}

/* A copy in the trace; false when out of memory. */
static bool
keep(struct nsx_loader *l, struct nsx_str s, struct nsx_str *out)
{
	*out = nsx_arena_str(&l->t->arena, s);
	return out->ptr != NULL;
}

static int
meta_row(void *ctx, sqlite3_value **v)
{
	struct nsx_loader *l = ctx;
	struct nsx_str name = nsx_db_text(v[0]), value = nsx_db_text(v[1]);
	bool good = true;

	if (!name.ptr || !value.ptr)
		return NSX_OK;
	if (nsx_str_eq(name, NSX_STR("EXPORT_PRODUCT_NAME")))
		good = keep(l, value, &l->product_name);
	else if (nsx_str_eq(name, NSX_STR("EXPORT_PRODUCT_VERSION")))
		good = keep(l, value, &l->product_version);
	else if (nsx_str_eq(name, NSX_STR("EXPORT_SCHEMA_VERSION")))
		good = keep(l, value, &l->t->schema);
	return good ? NSX_OK : NSX_ERR;
}

static int
start_row(void *ctx, sqlite3_value **v)
{
	struct nsx_loader *l = ctx;
	int64_t utc;

	if (nsx_db_int(v[0], &utc) && l->t->start_utc == INT64_MIN)
		l->t->start_utc = utc;
	return NSX_OK;
}

/* Times are relative to the start of the session, which is startTime of this table: duration is the end of the
 * capture. */
static int
stop_row(void *ctx, sqlite3_value **v)
{
	struct nsx_loader *l = ctx;
	int64_t stop;

	if (nsx_db_int(v[0], &stop) && stop > l->t->stop)
		l->t->stop = stop;
	return NSX_OK;
}

static int
host_row(void *ctx, sqlite3_value **v)
{
	struct nsx_loader *l = ctx;
	struct nsx_str name = nsx_db_text(v[0]), value = nsx_db_text(v[1]);

	if (name.ptr && value.len && !l->t->host.len && nsx_str_eq(name, NSX_STR("Hostname")) &&
	    !keep(l, value, &l->t->host))
		return NSX_ERR;
	return NSX_OK;
}

/* Keep a property of a GPU, which is above 0 if it is valid; the first one counts. */
static void
keep_number(sqlite3_value *v, int64_t *out)
{
	int64_t n;

	if (*out < 0 && nsx_db_int(v, &n) && n > 0)
		*out = n;
}

static int
gpu_row(void *ctx, sqlite3_value **v)
{
	struct nsx_loader *l = ctx;
	struct nsx_str name = nsx_db_text(v[1]), uuid = nsx_db_text(v[2]);
	int64_t cuda, major, minor;
	int sharing = 0;

	if (!nsx_db_int(v[0], &cuda))
		return NSX_OK;
	for (uint32_t i = 0; i < l->t->ndevices; i++)
		sharing += l->t->devices[i].cuda == cuda;
	for (uint32_t i = 0; i < l->t->ndevices; i++) {
		struct nsx_device *d = &l->t->devices[i];
		if (d->cuda != cuda)
			continue;
		if (name.len && !d->gpu_name.len && !keep(l, name, &d->gpu_name))
			return NSX_ERR;
		/* One ordinal of several processes may mean several GPUs. */
		if (sharing == 1 && uuid.len && !d->uuid.len && !keep(l, uuid, &d->uuid))
			return NSX_ERR;
		keep_number(v[3], &d->sms);
		keep_number(v[4], &d->clock);
		keep_number(v[5], &d->bandwidth);
		keep_number(v[8], &d->memory);
		if (d->cc < 0 && nsx_db_int(v[6], &major) && nsx_db_int(v[7], &minor) && major > 0 && major < 1000 &&
		    minor >= 0 && minor < 10)
			d->cc = 10 * major + minor;
	}
	return NSX_OK;
}

static int
device_name_row(void *ctx, sqlite3_value **v)
{
	struct nsx_loader *l = ctx;
	struct nsx_str name = nsx_db_text(v[1]);
	struct nsx_named n;
	int64_t cuda;

	if (!nsx_db_int(v[0], &cuda) || !name.ptr)
		return NSX_OK;
	n.key = (uint64_t)cuda;
	return keep(l, name, &n.name) && nsx_vec_push(&l->device_names, n) ? NSX_OK : NSX_ERR;
}

static int
thread_name_row(void *ctx, sqlite3_value **v)
{
	struct nsx_loader *l = ctx;
	int64_t gtid, name;

	if (!nsx_db_int(v[0], &gtid) || !nsx_db_int(v[1], &name))
		return NSX_OK;
	return nsx_vec_push(&l->thread_names, ((struct nsx_named){ .key = (uint64_t)gtid }))
	       && nsx_vec_push(&l->thread_name_ids, name) ? NSX_OK : NSX_ERR;
}

static int
thread_name_found(void *ctx, size_t i, sqlite3_value *v)
{
	struct nsx_loader *l = ctx;
	struct nsx_str s = nsx_db_text(v);

	return !s.ptr || keep(l, s, &l->thread_names.p[i].name) ? NSX_OK : NSX_ERR;
}

NSX_ORDER(by_key, struct nsx_named, NSX_CMP(a->key, b->key), nsx_str_cmp(a->name, b->name))

/* Lists of indices in l->thread_name_ids: `first` has one index of each id, `next` by index the next one of the same
 * id. */
struct thread_ids { struct nsx_loader *l; struct nsx_map first; uint32_t *next; };

static int
thread_text_row(void *ctx, sqlite3_value **v)
{
	struct thread_ids *t = ctx;
	int64_t id;

	if (!nsx_db_int(v[0], &id))
		return NSX_OK;
	for (uint32_t i = nsx_map_get(&t->first, (struct nsx_key){ (uint64_t)id, 0 }); i != NSX_NONE; i = t->next[i])
		if (!t->l->thread_names.p[i].name.ptr && thread_name_found(t->l, i, v[1]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

static int
find_thread_names(struct nsx_loader *l)
{
	static const struct nsx_db_col columns[] = { { "id", false }, { "value", false } };
	struct thread_ids t = { .l = l, .next = malloc((l->thread_name_ids.n + 1) * sizeof *t.next) };
	struct nsx_db_scan scan = { "StringIds", columns, 2, .row = thread_text_row, .ctx = &t };
	int rc = t.next ? NSX_OK : nsx_load_nomem(l);

	for (size_t i = 0; i < l->thread_name_ids.n && rc == NSX_OK; i++) {
		uint32_t *at = nsx_map_at(&t.first, (struct nsx_key){ (uint64_t)l->thread_name_ids.p[i], 0 });
		if (!at)
			rc = nsx_load_nomem(l);
		else {
			t.next[i] = *at;
			*at = (uint32_t)i;
		}
	}
	if (rc == NSX_OK)
		rc = nsx_db_run(&l->db, &scan, l->err);
	nsx_map_free(&t.first);
	free(t.next);
	return rc;
}

static int
read_thread_names(struct nsx_loader *l)
{
	static const struct nsx_db_col columns[] = { { "globalTid", true }, { "nameId", true } };
	bool quick;

	if (!nsx_db_has(&l->db, "StringIds"))
		return NSX_OK;
	if (nsx_db_is_rowid(&l->db, "StringIds", "id", &quick, l->err) != NSX_OK
	    || scan_if_there(l, "ThreadNames", columns, 2, thread_name_row) != NSX_OK)
		return NSX_ERR;
	/* Without a key each look-up would read the whole table. */
	if (!quick)
		return find_thread_names(l);
	return nsx_db_lookup(&l->db, "SELECT value FROM StringIds WHERE id = ?", "StringIds", l->thread_name_ids.p,
	                     l->thread_name_ids.n, thread_name_found, l, l->err);
}

struct thread_name { struct nsx_named name; size_t row; };

NSX_ORDER(by_thread, struct thread_name, NSX_CMP(a->name.key, b->name.key), NSX_CMP(a->row, b->row))

/* By thread, and of one thread in the order of rows: the last one's name is the thread's. Rows without a name go. */
static int
sort_thread_names(struct nsx_loader *l)
{
	struct thread_name *rows = malloc((l->thread_names.n + 1) * sizeof *rows);
	size_t n = 0;

	if (!rows)
		return nsx_load_nomem(l);
	for (size_t i = 0; i < l->thread_names.n; i++)
		if (l->thread_names.p[i].name.ptr)
			rows[n++] = (struct thread_name){ l->thread_names.p[i], i };
	qsort(rows, n, sizeof *rows, by_thread);
	for (size_t i = 0; i < n; i++)
		l->thread_names.p[i] = rows[i].name;
	l->thread_names.n = n;
	free(rows);
	return NSX_OK;
}

static int
join_product(struct nsx_loader *l)
{
	struct nsx_buf b = { 0 };

	nsx_buf_str(&b, l->product_name);
	if (l->product_name.len && l->product_version.len)
		nsx_buf_char(&b, ' ');
	nsx_buf_str(&b, l->product_version);
	bool good = !b.failed && (!b.len || keep(l, nsx_buf_view(&b), &l->t->product));
	nsx_buf_free(&b);
	return good ? NSX_OK : nsx_load_nomem(l);
}

int
nsx_info_read(struct nsx_loader *l)
{
	static const struct nsx_db_col pair[] = { { "name", true }, { "value", true } };
	static const struct nsx_db_col start[] = { { "utcEpochNs", true } };
	static const struct nsx_db_col stop[] = { { "duration", true } };
	static const struct nsx_db_col gpu[] = {
		{ "cuDevice", true }, { "name", true }, { "uuid", true }, { "smCount", true }, { "clockRate", true },
		{ "memoryBandwidth", true },
		{ "computeMajor", true }, { "computeMinor", true }, { "totalMemory", true }
	};
	static const struct nsx_db_col device[] = { { "deviceId", true }, { "name", true } };

	if (scan_if_there(l, "META_DATA_EXPORT", pair, 2, meta_row) != NSX_OK
	    || scan_if_there(l, "EXPORT_META_DATA", pair, 2, meta_row) != NSX_OK
	    || join_product(l) != NSX_OK
	    || scan_if_there(l, "TARGET_INFO_SESSION_START_TIME", start, 1, start_row) != NSX_OK
	    || scan_if_there(l, "ANALYSIS_DETAILS", stop, 1, stop_row) != NSX_OK
	    || (l->opts->host && scan_if_there(l, "TARGET_INFO_SYSTEM_ENV", pair, 2, host_row) != NSX_OK)
	    || scan_if_there(l, "TARGET_INFO_GPU", gpu, sizeof gpu / sizeof *gpu, gpu_row) != NSX_OK
	    || scan_if_there(l, "TARGET_INFO_NVTX_CUDA_DEVICE", device, 2, device_name_row) != NSX_OK
	    || read_thread_names(l) != NSX_OK || sort_thread_names(l) != NSX_OK)
		return NSX_ERR;
	if (l->device_names.n)
		qsort(l->device_names.p, l->device_names.n, sizeof *l->device_names.p, by_key);
	l->t->device_names = l->device_names.p;
	l->t->ndevice_names = (uint32_t)l->device_names.n;
	l->t->thread_names = l->thread_names.p;
	l->t->nthread_names = (uint32_t)l->thread_names.n;
	l->device_names.p = NULL;
	l->thread_names.p = NULL;
	return NSX_OK;
}
