/* gains.h -- what changes of a job save, one after the other. */
#ifndef NSX_TABLE_WHATIF_GAINS_H
#define NSX_TABLE_WHATIF_GAINS_H

#include "table/whatif/contention.h"
#include "table/whatif/path.h"

/* ns of a step. low, high: without and with contention, in order; equal where none was found. */
struct wi_gain { double saved, low, high; };

/* {0} is empty. */
struct wi_gains {
	const struct wi_graph *g;
	double   period;             /* as measured, ns */
	double   unexplained;        /* share of the critical path */
	double   unseen;             /* share of it in which the host may have waited (nsx_wi_unseen) */
	double   unrelated;          /* share of launches that contradict the launch queue */
	double   off;                /* share by which the period is off if latencies are constants */
	bool     refused;            /* too much of it is not known for any forecast: that, */
	bool     doubtful;           /* or so much that gains are lower bounds */
	struct wi_gain model;        /* with constant latencies */
	struct wi_contention contention;
	int64_t *times;
	bool    *without;            /* by device: left out of the period, by the change being tried */
};

/* For a graph with its path. NSX_OK or NSX_ERR, here and below; free w in both cases. */
int nsx_wi_gains_begin(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path);
/* Of a change (nsx_wi_change_parse). *named: whether it names something in the stream; if not it saves nothing. */
int nsx_wi_gain(struct wi_gains *w, const char *change, struct wi_gain *gain, bool *named);
/* If operations of this name, in wi_graph.names, take 1/k of the time. */
int nsx_wi_gain_of_name(struct wi_gains *w, uint32_t name, double k, struct wi_gain *gain);
/* Append why there are no forecasts, or why they are lower bounds, as a clause; nothing if neither is so. */
void nsx_wi_put_doubts(const struct wi_gains *w, struct nsx_buf *to);
/* Warn of the same. false: out of memory. */
bool nsx_wi_say_doubts(const struct wi_gains *w, struct nsx_diags *diags);
void nsx_wi_gains_free(struct wi_gains *w);

#endif
