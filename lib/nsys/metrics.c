/* metrics.c -- samples of GPU metrics (nsys profile --gpu-metrics-devices), which an export has as one row for each
 * metric and sampling interval.
 *
 *   TARGET_INFO_GPU_METRICS   typeId metricId metricName     a metric of a GPU: its number is typeId & 0xFF
 *   GPU_METRICS               rawTimestamp typeId metricId value     value, from rawTimestamp on until the next sample
 *
 * metricIds differ between exports, and are unique for a typeId only. A sample lasts until the next one of its GPU and
 * metric, but no longer than twice the shortest such distance: sampling may pause. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "nsys/load.h"

struct metrics {
	struct nsx_loader *l;
	struct nsx_map     name_of;     /* (typeId, metricId) -> metric_names */
	struct nsx_map     cuda_of;     /* number of a GPU -> its CUDA ordinal */
	NSX_VEC(struct nsx_metric) rows;
	int64_t            early, unnamed, no_device, shared;
};

static int
name_row(void *ctx, sqlite3_value **v)
{
	struct metrics *m = ctx;
	struct nsx_str name = nsx_db_text(v[2]);
	int64_t type, metric;
	uint32_t *at, id;

	if (!nsx_db_int(v[0], &type) || !nsx_db_int(v[1], &metric) || !name.len)
		return NSX_OK;
	id = nsx_intern(&m->l->t->metric_names, name);
	at = nsx_map_at(&m->name_of, (struct nsx_key){ (uint64_t)type, (uint64_t)metric });
	if (id == NSX_NONE || !at)
		return nsx_load_nomem(m->l);
	*at = id;
	return NSX_OK;
}

static int
gpu_row(void *ctx, sqlite3_value **v)
{
	struct metrics *m = ctx;
	int64_t id, cuda;
	uint32_t *at;

	if (!nsx_db_int(v[0], &id) || !nsx_db_int(v[1], &cuda) || cuda < 0 || cuda >= NSX_NONE)
		return NSX_OK;
	at = nsx_map_at(&m->cuda_of, (struct nsx_key){ (uint64_t)id, 0 });
	if (!at)
		return nsx_load_nomem(m->l);
	*at = (uint32_t)cuda;
	return NSX_OK;
}

/* The device that is the GPU of that type: of several processes' the first. NSX_NONE: none of the export's. */
static uint32_t
device_of(struct metrics *m, int64_t type)
{
	uint32_t cuda = nsx_map_get(&m->cuda_of, (struct nsx_key){ (uint64_t)(type & 0xFF), 0 }), found = NSX_NONE;
	int64_t ordinal = cuda == NSX_NONE ? type & 0xFF : cuda;

	for (uint32_t i = 0; i < m->l->t->ndevices; i++) {
		if (m->l->t->devices[i].cuda != ordinal)
			continue;
		m->shared += found != NSX_NONE;
		found = found == NSX_NONE ? i : found;
	}
	return found;
}

static int
sample_row(void *ctx, const struct nsx_db_cell *v)
{
	struct metrics *m = ctx;
	struct nsx_metric x = { 0, 0, 0, NSX_NONE, NSX_NONE };
	int64_t raw, type, metric;
	bool has_time = nsx_cell_int(&v[1], &x.start);

	/* rawTimestamp is the beginning of the interval, unless it counts on another clock. */
	if (nsx_cell_int(&v[0], &raw) && (!has_time || (raw <= x.start && x.start - raw < 1000000000))) {
		x.start = raw;
		has_time = true;
	}
	if (!has_time || !nsx_cell_int(&v[2], &type) || !nsx_cell_int(&v[3], &metric)
	    || !nsx_cell_int(&v[4], &x.value))
		return NSX_OK;
	if (x.start < 0) {
		m->early++;
		return NSX_OK;
	}
	x.name = nsx_map_get(&m->name_of, (struct nsx_key){ (uint64_t)type, (uint64_t)metric });
	x.device = device_of(m, type);
	m->unnamed += x.name == NSX_NONE;
	m->no_device += x.name != NSX_NONE && x.device == NSX_NONE;
	if (x.name == NSX_NONE || x.device == NSX_NONE)
		return NSX_OK;
	return nsx_vec_push(&m->rows, x) ? NSX_OK : nsx_load_nomem(m->l);
}

NSX_ORDER(by_metric, struct nsx_metric, NSX_CMP(a->device, b->device), NSX_CMP(a->name, b->name),
          NSX_CMP(a->start, b->start))

/* Set the ends of the samples of one metric, n > 0 of them by start. */
static void
set_ends(struct nsx_metric *x, size_t n)
{
	int64_t period = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		int64_t gap = nsx_sub_sat(x[i + 1].start, x[i].start, NULL);

		period = gap > 0 && (!period || gap < period) ? gap : period;
	}
	for (size_t i = 0; i < n; i++) {
		int64_t gap = i + 1 < n ? nsx_sub_sat(x[i + 1].start, x[i].start, NULL) : period;

		x[i].end = nsx_add_sat(x[i].start, gap > 2 * period ? period : gap, NULL);
	}
}

static int
read_all(struct metrics *m)
{
	static const struct nsx_db_col names[] = {
		{ "typeId", false }, { "metricId", false }, { "metricName", false }
	};
	static const struct nsx_db_col gpus[] = { { "id", true }, { "cuDevice", true } };
	static const struct nsx_db_col samples[] = {
		{ "rawTimestamp", true }, { "timestamp", true }, { "typeId", false }, { "metricId", false },
		{ "value", false }
	};
	struct nsx_loader *l = m->l;
	struct nsx_db_scan scans[] = {
		{ "TARGET_INFO_GPU_METRICS", names, 3, .row = name_row, .ctx = m },
		{ "TARGET_INFO_GPU", gpus, 2, .row = gpu_row, .ctx = m },
		{ "GPU_METRICS", samples, 5, .cells = sample_row, .ctx = m }
	};

	for (size_t i = 0; i < sizeof scans / sizeof *scans; i++)
		if (nsx_db_has(&l->db, scans[i].table) && nsx_db_run(&l->db, &scans[i], l->err) != NSX_OK)
			return NSX_ERR;
	if (m->rows.n >= NSX_NONE)
		return nsx_err_set(l->err, "%s: more than %" PRIu32 " samples of GPU metrics", l->db.path,
		                   (uint32_t)NSX_NONE);
	if (m->rows.n > 1)
		qsort(m->rows.p, m->rows.n, sizeof *m->rows.p, by_metric);
	for (size_t i = 0, to; i < m->rows.n; i = to) {
		for (to = i + 1; to < m->rows.n && m->rows.p[to].device == m->rows.p[i].device
		     && m->rows.p[to].name == m->rows.p[i].name; to++)
			;
		set_ends(&m->rows.p[i], to - i);
	}
	return NSX_OK;
}

int
nsx_metrics_read(struct nsx_loader *l)
{
	struct metrics m = { .l = l };
	int rc;

	if (!l->opts->metrics)
		return NSX_OK;
	rc = read_all(&m);
	if (rc == NSX_OK) {
		nsx_load_diag(l, NSX_WARNING, !m.rows.n && !m.unnamed && !m.no_device && !m.early,
			"no samples of GPU metrics: record with nsys profile --gpu-metrics-devices");
		nsx_load_diag(l, NSX_INFO, (uint64_t)m.early, "samples of GPU metrics before the session: ignored");
		nsx_load_diag(l, NSX_WARNING, (uint64_t)m.unnamed,
			"samples of GPU metrics that the export does not name: ignored");
		nsx_load_diag(l, NSX_INFO, (uint64_t)m.no_device,
			"samples of GPU metrics of GPUs on which nothing ran: ignored");
		nsx_load_diag(l, NSX_WARNING, m.shared > 0,
			"GPU metrics of GPUs that several processes use: they are those of the first");
		l->t->metrics = m.rows.p;
		l->t->nmetrics = (uint32_t)m.rows.n;
		m.rows.p = NULL;
	}
	free(m.rows.p);
	nsx_map_free(&m.name_of);
	nsx_map_free(&m.cuda_of);
	return rc;
}
