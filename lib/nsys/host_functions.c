/* host_functions.c -- functions of the program that a CUDA stream runs on the host: nodes of CUDA graphs and
 * cudaLaunchHostFunc. The GPU does no work for them, so they are no operations; the time that streams waited for them
 * is reported. */
#include "base/num.h"
#include "nsys/load.h"

enum { START, END, NCOLUMNS };

struct host_functions { uint64_t n, bad, backward; int64_t dur; };

static int
read_row(void *ctx, const struct nsx_db_cell *v)
{
	struct host_functions *h = ctx;
	int64_t start, end;

	if (!nsx_cell_int(&v[START], &start) || !nsx_cell_int(&v[END], &end)) {
		h->bad++;
	} else if (end < start) {
		h->backward++;
	} else {
		h->n++;
		h->dur = nsx_add_sat(h->dur, nsx_sub_sat(end, start, NULL), NULL);
	}
	return NSX_OK;
}

int
nsx_host_functions_read(struct nsx_loader *l)
{
	static const char table[] = "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH";
	static const struct nsx_db_col cols[NCOLUMNS] = { { "start", false }, { "end", false } };
	struct host_functions h = { 0 };
	struct nsx_db_scan scan = { table, cols, NCOLUMNS, .ctx = &h, .cells = read_row };

	if (!nsx_db_has(&l->db, table))
		return NSX_OK;
	if (nsx_db_run(&l->db, &scan, l->err) != NSX_OK)
		return NSX_ERR;
	nsx_load_diag(l, NSX_WARNING, h.bad,
	              "%s: rows ignored: a number is missing or not an integer",
	              table);
	nsx_load_diag(l, NSX_WARNING, h.backward, "host functions ignored: they end before they start");
	nsx_load_diag(l, NSX_INFO, h.n,
	              "functions on the host that CUDA streams waited for are not GPU operations: %s",
	              nsx_ns_exact(h.dur).s);
	return NSX_OK;
}
