/* gains.h -- what changes of a job save. */
#ifndef NSX_TABLE_WHATIF_GAINS_H
#define NSX_TABLE_WHATIF_GAINS_H

#include "table/whatif/contention.h"
#include "table/whatif/path.h"

/* ns of a step. low, high: without and with contention, in order; equal where none was found. */
struct wi_gain { double saved, low, high; };

/* A change, and what it saves. */
struct wi_trial { struct wi_plan plan; struct wi_gain gain; };

/* {0} is empty. It stays where it was opened. */
struct wi_gains {
	const struct wi_graph *g;
	double   period;             /* as measured, ns */
	double   unexplained;        /* share of the critical path */
	double   unseen;             /* share of it in which the host may have waited (nsx_wi_unseen) */
	double   unrelated;          /* share of launches that contradict the launch queue */
	double   off;                /* share by which the period is off if latencies are constants */
	bool     judged;             /* the following three are known */
	bool     refused;            /* too much of it is not known for any forecast: that, */
	bool     doubtful;           /* or so much that gains are lower bounds */
	struct wi_gain model;        /* with constant latencies */
	struct wi_contention contention;
	struct wi_slots slots;
	int64_t *times;              /* of events */
	bool    *without;            /* by device: left out of the period, by the change being tried */
};

/* For a graph with its path; refused, doubtful and model are known when the first gains are, which are found with
 * them. NSX_OK or NSX_ERR, here and below; free w in both cases. */
int nsx_wi_gains_open(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path);
/* The same, and they are known. */
int nsx_wi_gains_begin(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path);
/* The plan of a change (nsx_wi_change_parse), whose text must stay. *named: whether it names something in the stream;
 * if not it saves nothing. The caller frees t->plan in both cases. */
int nsx_wi_try(const struct wi_gains *w, const char *change, struct wi_trial *t, bool *named);
/* Set the gains of n plans, which are tried at once. contention: heed it, where some was found. */
int nsx_wi_gains(struct wi_gains *w, struct wi_trial *trials, size_t n, bool contention);
/* Append why there are no forecasts, or why they are lower bounds, as a clause; nothing if neither is so. */
void nsx_wi_put_doubts(const struct wi_gains *w, struct nsx_buf *to);
/* Warn of the same. false: out of memory. */
bool nsx_wi_say_doubts(const struct wi_gains *w, struct nsx_diags *diags);
void nsx_wi_gains_free(struct wi_gains *w);

#endif
