/* stragglers.h -- which device is late: in lockstep, and in collectives. */
#ifndef NSX_TABLE_STRAGGLERS_H
#define NSX_TABLE_STRAGGLERS_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"

enum nsx_stragglers_show {
	NSX_STRAGGLERS_DEVICES,   /* a row for each program and device: its distance from the mean of all */
	NSX_STRAGGLERS_CURVE,     /* a row for each program, thunk and edge (start or end), a column for each device */
	NSX_STRAGGLERS_WAITS,     /* a row for each kind of collective and device: how long it waited, and made others
	                           * wait */
	NSX_STRAGGLERS_PAIRS,     /* a row for each kind of collective, device and device that it waited for */
	NSX_STRAGGLERS_TOGETHER,  /* number of the tables above, which nsx_stragglers_all makes in one reading */
	/* A row for each device: how much longer it takes for the same kernels. */
	NSX_STRAGGLERS_PACE = NSX_STRAGGLERS_TOGETHER,
	/* A row for each instruction that communicates, or kind of collective without one: how long devices waited in
	 * it, and for which of them most. */
	NSX_STRAGGLERS_INSTRUCTIONS
};

struct nsx_stragglers_options {
	enum nsx_stragglers_show show;
	const char *program;      /* only programs of this key, name or id; NULL: all */
	const char *by;           /* the groups of devices that rows become, for advice; NULL: devices */
	const char *require;      /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in`, open with NSX_READ_ORDERED and not read from yet, and make the table, which the caller frees;
 * options: struct nsx_stragglers_options. A stream with work of several reports whose clocks were not aligned is an
 * error. NSX_OK, or NSX_ERR with err filled and *tables NULL or to be freed. */
int nsx_stragglers(struct nsx_reader *in, const void *options, struct nsx_table **tables, struct nsx_diags *diags,
                   struct nsx_err *err);

/* The same for the first NSX_STRAGGLERS_TOGETHER tables, in their order, in one reading; options->show is ignored. */
int nsx_stragglers_all(struct nsx_reader *in, const void *options, struct nsx_table **tables, struct nsx_diags *diags,
                       struct nsx_err *err);

#endif
