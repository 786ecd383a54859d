/* tables.h -- the tables that a graph of events gives. */
#ifndef NSX_TABLE_WHATIF_TABLES_H
#define NSX_TABLE_WHATIF_TABLES_H

#include "table/whatif/changes.h"
#include "table/whatif/path.h"

/* A table in *table, which the caller frees. NSX_OK, or NSX_ERR with nothing to free. */
int nsx_wi_forecast(struct wi_graph *g, const struct nsx_whatif_options *o, struct nsx_table **table,
                    struct nsx_diags *diags);
int nsx_wi_critical(const struct wi_graph *g, enum nsx_whatif_form form, struct nsx_table **table,
                    struct nsx_diags *diags);
int nsx_wi_slack(const struct wi_graph *g, bool each, struct nsx_table **table);

#endif
