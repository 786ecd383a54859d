/* captures.c -- CUDA_GRAPH_NODE_EVENTS: the host time and thread at which nodes of CUDA graphs were created, by stream
 * capture or by cloning another graph. */
#include <stdlib.h>

#include "base/sort.h"
#include "nsys/load.h"

/* A row and its position, which orders rows of equal nodes. */
struct row { struct nsx_capture c; size_t at; };
struct reading { NSX_VEC(struct row) rows; uint64_t bad; };

static int
read_row(void *ctx, const struct nsx_db_cell *v)
{
	struct reading *r = ctx;
	struct row row = { .at = r->rows.n };
	int64_t gtid;
	bool cloned;

	if (!nsx_cell_int(&v[0], &row.c.start) || !nsx_cell_int(&v[1], &gtid) || !nsx_cell_int(&v[2], &row.c.node) ||
	    !nsx_cell_int_null(&v[3], &row.c.original, &cloned)) {
		r->bad++;
		return NSX_OK;
	}
	row.c.gtid = (uint64_t)gtid;
	if (!cloned)
		row.c.original = -1;
	return nsx_vec_push(&r->rows, row) ? NSX_OK : NSX_ERR;
}

NSX_ORDER(by_node, struct row, NSX_CMP(nsx_capture_process(a->c.gtid), nsx_capture_process(b->c.gtid)),
          NSX_CMP(a->c.node, b->c.node), NSX_CMP(a->at, b->at))

int
nsx_captures_read(struct nsx_loader *l)
{
	static const struct nsx_db_col cols[] = { { "start", false }, { "globalTid", true }, { "graphNodeId", false },
	                                          { "originalGraphNodeId", true } };
	struct reading r = { .bad = 0 };
	struct nsx_db_scan scan = { "CUDA_GRAPH_NODE_EVENTS", cols, 4, .cells = read_row, .ctx = &r };
	struct nsx_trace *t = l->t;

	if (!l->opts->captures || !nsx_db_has(&l->db, scan.table))
		return NSX_OK;
	int rc = nsx_db_run(&l->db, &scan, l->err);
	if (rc == NSX_OK && r.rows.n >= NSX_NONE)
		rc = nsx_err_set(l->err, "%s: more than %u nodes of CUDA graphs", l->db.path, NSX_NONE);
	if (rc == NSX_OK && !(t->captures = malloc((r.rows.n + 1) * sizeof *t->captures)))
		rc = nsx_load_nomem(l);
	if (rc == NSX_OK && r.rows.n)
		qsort(r.rows.p, r.rows.n, sizeof *r.rows.p, by_node);
	for (size_t i = 0; i < r.rows.n && rc == NSX_OK; i++) {
		const struct nsx_capture *c = &r.rows.p[i].c, *last = t->ncaptures ? &t->captures[t->ncaptures - 1]
		    : NULL;
		if (!last || last->node != c->node || nsx_capture_process(last->gtid) != nsx_capture_process(c->gtid))
			t->captures[t->ncaptures++] = *c;
	}
	nsx_load_diag(l, NSX_WARNING, r.bad,
	              "CUDA_GRAPH_NODE_EVENTS: rows ignored: a number is missing or not an integer");
	free(r.rows.p);
	return rc;
}
