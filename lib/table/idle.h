/* idle.h -- why devices were not computing: the activities of their time, and the causes of idle time. Definitions:
 * docs/man/nsysx-idle.1. */
#ifndef NSX_TABLE_IDLE_H
#define NSX_TABLE_IDLE_H

#include "base/diag.h"
#include "base/err.h"
#include "base/outfile.h"
#include "base/table.h"
#include "job/causes.h"
#include "stream/reader.h"
#include "table/windows.h"

struct nsx_stretch;   /* job/idle/idle.h */

enum nsx_idle_form { NSX_IDLE_TABLE, NSX_IDLE_LIST, NSX_IDLE_FOLDED, NSX_IDLE_VERDICT };

struct nsx_idle_options {
	enum nsx_windows_by by;
	enum nsx_idle_form form;
	const char   *range;      /* by range: POSIX extended regular expression of DOMAIN:NAME */
	bool          steps;      /* only time in steps (job/steps/windows.h); by device, module, execution or every */
	const char   *step;       /* by step, and with `steps`: the same for ranges that are steps, where groups make
	                           * classes; NULL: steps are those of `module` */
	const char   *module;     /* the same: name or key of a program; NULL, too: steps are found */
	uint32_t      causes;     /* only these of NSX_IDLE_TABLE, NSX_IDLE_LIST, NSX_IDLE_FOLDED, as
	                           * nsx_causes_parse has them; 0: all, and busy parts too */
	bool          drained;    /* only gaps that count as drained, in the same forms */
	int64_t       every;      /* by every: ns, above 0 */
	const struct nsx_window_given *given;   /* NSX_WINDOWS_GIVEN: ngiven of them, by device and start */
	size_t        ngiven;
	int64_t       latency;    /* ns of a gap after the call returned that count as launch latency;
	                           * default 20,000 */
	int64_t       list;       /* rows of NSX_IDLE_LIST */
	bool          gaps;       /* NSX_WINDOWS_GIVEN: gaps are kept for a list, too: besides the longest those that a
	                           * picture shows */
	/* At a time in [from, to), and at least so long. */
	struct nsx_idle_shown { int64_t from, to, least; } shown[2];
	size_t        nshown;
	bool          all;        /* by device: one window for all devices, from the first start to the last end */
	bool          zeros;      /* rows of 0 ns, too */
	bool          notes;      /* a table by device ends with its verdicts in words */
	enum nsx_names names;
	const char   *require;    /* fail unless the stream has a record of this kind; NULL: none */
	/* Called for the part [from, to) of each gap that is in a window; device: its number. NULL: it is not. NSX_OK,
	 * or NSX_ERR with the analysis' err filled. */
	int         (*heard)(void *hearer, const struct nsx_stretch *s, int64_t device, int64_t from, int64_t to);
	/* Called for every stretch before it is looked at, gap or not, of a device by its index: what its device did
	 * before `start` will not be heard any more. The same. */
	int         (*passed)(void *hearer, uint32_t device, int64_t start);
	void         *hearer;
};

/* A table of the causes, with their groups, how pictures draw them, and what they mean; the caller frees it. NULL
 * with err filled when out of memory. */
struct nsx_table *nsx_idle_known(struct nsx_err *err);

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). NSX_IDLE_FOLDED writes stacks to out, and *table
 * stays NULL; the other forms make *table, which the caller frees. NSX_OK, or NSX_ERR with err filled and nothing to
 * free. */
int nsx_idle(struct nsx_reader *in, const struct nsx_idle_options *options, struct nsx_outfile *out,
             struct nsx_table **table, struct nsx_diags *diags, struct nsx_err *err);

#endif
