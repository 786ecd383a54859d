/* osrt.c -- OSRT_API: calls of the OS library. */
#include "nsys/cpu/reading.h"

#include "base/num.h"

enum { ROWID, START, END, CLASS, GTID, NAME, CHAIN, NCOLUMNS };
enum { CLASS_CALL = 27 };   /* others are marks, such as the start of profiling */

static int
row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_cpu_reading *r = ctx;
	struct nsx_os_call c = { .name = NSX_NONE, .stack = NSX_NONE };
	int64_t class, gtid, name, chain;
	bool good;

	if (nsx_cell_int(&v[CLASS], &class) && class != CLASS_CALL)
		return NSX_OK;
	if (v[CLASS].type != NSX_DB_INT || !nsx_cell_int(&v[ROWID], &c.id) || !nsx_cell_int(&v[START], &c.start) ||
	    !nsx_cell_int(&v[END], &c.end)) {
		r->bad++;
		return NSX_OK;
	}
	if (!nsx_cell_int(&v[GTID], &gtid)) {
		r->no_thread++;
		return NSX_OK;
	}
	if (c.end < c.start) {
		r->backward++;
		return NSX_OK;
	}
	r->last = c.end > r->last ? c.end : r->last;
	c.thread = nsx_cpu_thread_at(r, (uint64_t)gtid, &good);
	if (!good)
		return NSX_ERR;
	if (c.thread == NSX_NONE)
		return NSX_OK;
	if (nsx_sub_sat(c.end, c.start, NULL) < r->l->opts->os_min) {
		r->short_calls++;
		return NSX_OK;
	}
	if (nsx_cell_int(&v[NAME], &name) && (c.name = nsx_ids_at(&r->l->ids, name)) == NSX_NONE)
		return NSX_ERR;
	if (nsx_cell_int(&v[CHAIN], &chain) && chain && (c.stack = nsx_cpu_want_chain(r, chain)) == NSX_NONE)
		return NSX_ERR;
	return nsx_vec_push(&r->c->os, c) ? NSX_OK : NSX_ERR;
}

int
nsx_cpu_read_os(struct nsx_cpu_reading *r)
{
	static const struct nsx_db_col columns[NCOLUMNS] = {
		{ "rowid", true }, { "start", true }, { "end", true }, { "eventClass", true }, { "globalTid", true },
		{ "nameId", true }, { "callchainId", true }
	};
	struct nsx_db_scan s = { "OSRT_API", columns, NCOLUMNS, .ctx = r, .cells = row };

	if (!nsx_db_has(&r->l->db, s.table))
		return NSX_OK;
	if (nsx_db_run(&r->l->db, &s, r->l->err) != NSX_OK || nsx_cpu_read_chains(r, "OSRT_CALLCHAINS") != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < r->c->os.n; i++)
		if (r->c->os.p[i].stack != NSX_NONE)
			r->c->os.p[i].stack = r->chain_shapes.p[r->c->os.p[i].stack];
	return NSX_OK;
}
