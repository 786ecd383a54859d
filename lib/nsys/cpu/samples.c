/* samples.c -- COMPOSITE_EVENTS: native samples. A sample is a moment in which its thread ran. */
#include "nsys/cpu/reading.h"

enum { ID, START, GTID, CYCLES, NCOLUMNS };

static int
row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_cpu_reading *r = ctx;
	struct nsx_cpu_sample s = { 0 };
	int64_t id, gtid, cycles;
	bool good;

	if (!nsx_cell_int(&v[ID], &id) || !nsx_cell_int(&v[START], &s.at)) {
		r->bad++;
		return NSX_OK;
	}
	/* A stack taken at a context switch is no sample. */
	if (nsx_cell_int(&v[CYCLES], &cycles) && !cycles)
		return NSX_OK;
	if (!nsx_cell_int(&v[GTID], &gtid)) {
		r->no_thread++;
		return NSX_OK;
	}
	r->last = s.at > r->last ? s.at : r->last;
	s.thread = nsx_cpu_thread_at(r, (uint64_t)gtid, &good);
	if (s.thread == NSX_NONE)
		return good ? NSX_OK : NSX_ERR;
	s.start = s.end = s.at;
	s.stack = nsx_cpu_want_chain(r, id);
	return s.stack != NSX_NONE && nsx_vec_push(&r->c->samples, s) ? NSX_OK : NSX_ERR;
}

int
nsx_cpu_read_samples(struct nsx_cpu_reading *r)
{
	static const struct nsx_db_col columns[NCOLUMNS] = {
		{ "id", true }, { "start", true }, { "globalTid", true }, { "cpuCycles", true }
	};
	struct nsx_db_scan s = { "COMPOSITE_EVENTS", columns, NCOLUMNS, .ctx = r, .cells = row };

	if (!nsx_db_has(&r->l->db, s.table))
		return NSX_OK;
	if (nsx_db_run(&r->l->db, &s, r->l->err) != NSX_OK || nsx_cpu_read_chains(r, "SAMPLING_CALLCHAINS") != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < r->c->samples.n; i++)
		r->c->samples.p[i].stack = r->chain_shapes.p[r->c->samples.p[i].stack];
	return NSX_OK;
}
