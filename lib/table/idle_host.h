/* idle_host.h -- what the host did while a device had nothing to do: tables over job/doing. */
#ifndef NSX_TABLE_IDLE_HOST_H
#define NSX_TABLE_IDLE_HOST_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "job/names.h"
#include "stream/reader.h"

/* Rows: states of the thread that should have launched; the same by line of Python; lines alone, whatever the state and
 * the cause; native functions in running time; the longest gaps, with what the host did most in each. */
enum nsx_idle_host_rows { NSX_IDLE_HOST_STATES, NSX_IDLE_HOST_LINES, NSX_IDLE_HOST_SUMS, NSX_IDLE_HOST_FUNCTIONS,
                          NSX_IDLE_HOST_LIST };

struct nsx_idle_host_options {
	enum nsx_idle_host_rows rows;
	int64_t        list;      /* LIST: rows */
	bool           leaf;      /* LINES, SUMS and LIST: the innermost line, whoever wrote it */
	uint32_t       causes;    /* bits of enum nsx_cause; 0: all that are launch-starved */
	enum nsx_names names;
	const char    *require;   /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in`, whose idle time is marked, and make the table, which the caller frees. NSX_OK, or NSX_ERR with err
 * filled. */
int nsx_idle_host(struct nsx_reader *in, const struct nsx_idle_host_options *options, struct nsx_table **table,
                  struct nsx_diags *diags, struct nsx_err *err);

#endif
