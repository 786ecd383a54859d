/* gains.h -- what changes of a job save. */
#ifndef NSX_TABLE_WHATIF_GAINS_H
#define NSX_TABLE_WHATIF_GAINS_H

#include "table/whatif/contention.h"
#include "table/whatif/path.h"
#include "table/whatif/spans.h"

/* ns of a step. low, high: without and with contention, in order; equal where none was found. Where it is not known
 * what some events waited for, it is between low and high whatever they waited for; single: saved may be taken for it.
 * none: nothing is known of what would change. */
struct wi_gain { double saved, low, high; bool single, none; };

/* A change, and what it saves. */
struct wi_trial { struct wi_plan plan; struct wi_gain gain; };

/* {0} is empty. It stays where it was opened. */
struct wi_gains {
	const struct wi_graph *g;
	double   period;             /* as measured, ns */
	double   unexplained;        /* share of the critical path */
	double   unseen;             /* share of it in which the host may have waited (WI_UNSEEN_PART) */
	double   unrelated;          /* share of launches that contradict the launch queue */
	double   unpaired;           /* share of the path in collectives whose members are not known */
	double   late;               /* share of it in latencies much longer than usual */
	double   blind;              /* share of the time of processes in calls that wait for what is not known */
	double   idle;               /* share of it in gaps between calls that may be waits */
	bool     hostless;           /* no calls are known, and there must have been some */
	double   off;                /* share by which the period is off if latencies are constants */
	bool     judged;             /* the following three are known */
	bool     refused;            /* too much of it is not known for forecasts that are one number; that, */
	bool     doubtful;           /* or so much that they are ranges, too */
	bool     hidden;             /* doubtful, and what is not known need not show on the path */
	struct wi_gain model;        /* with constant latencies */
	struct wi_contention contention;
	struct wi_slots slots;
	const struct wi_path *path;
	struct wi_spans spans;       /* where something is not known */
	int64_t *times;              /* of events, two of each */
	bool    *without;            /* by device: left out of the period, by the change being tried */
};

/* For a graph with its path; refused, doubtful and model are known when the first gains are, which are found with
 * them. The path must stay. NSX_OK or NSX_ERR, here and below; free w in both cases. */
int nsx_wi_gains_open(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path);
/* The same, and they are known. */
int nsx_wi_gains_begin(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path);
/* Set the gains of n plans, which are tried at once. ranges: heed contention, where some was found, and what is not
 * known; else saved alone counts, and single. */
int nsx_wi_gains(struct wi_gains *w, struct wi_trial *trials, size_t n, bool ranges);
/* Append why forecasts are ranges, as a clause; nothing if they are not. */
void nsx_wi_put_doubts(const struct wi_gains *w, struct nsx_buf *to);
/* The same, what helps, and a 0 byte. false: out of memory, here and below. */
bool nsx_wi_put_refusal(const struct wi_gains *w, struct nsx_buf *to);
/* Warn of what ranges do not heed. */
void nsx_wi_say_partial(const struct wi_gains *w, struct nsx_diags *diags);
/* Warn of doubts, and of that. ranges: gains have them. */
bool nsx_wi_say_doubts(const struct wi_gains *w, bool ranges, struct nsx_diags *diags);
void nsx_wi_gains_free(struct wi_gains *w);

#endif
