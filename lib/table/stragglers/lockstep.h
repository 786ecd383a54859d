/* lockstep.h -- the data by which devices in lockstep are compared: collected in lockstep.c, put into tables in
 * lockstep_rows.c; private to lib/table/stragglers. */
#ifndef NSX_TABLE_STRAGGLERS_LOCKSTEP_H
#define NSX_TABLE_STRAGGLERS_LOCKSTEP_H

#include "base/stat.h"
#include "job/comm/communication.h"
#include "job/instances.h"
#include "table/stragglers/rows.h"

/* Biases are in whole 1024ths of a nanosecond. */
enum { NSX_BIAS_UNIT = 1024 };

/* The edges of a thunk. */
enum { NSX_EDGE_START = 0, NSX_EDGE_END = 1 };

/* A device among its peers. */
struct lag_member {
	int64_t  device, executions, biases, worst;
	__int128 sum, worst_sum;
};

/* The devices of one clock that run a program. */
struct lag_peers {
	uint32_t program, clock;      /* program: in the catalogue */
	NSX_VEC(struct lag_member) members;
	int64_t  place;               /* in the order of rows, set at the end */
};

/* Modules' starts in one execution of a program by peers. */
struct lag_starts { __int128 sum; int64_t n; };

/* One occurrence of an instruction in an execution. */
struct lag_occurrence { uint32_t program, inst, name; int64_t number; };   /* program and inst: in the catalogue */

/* The data of peers at an occurrence, with numbers for each member at each edge: 2 * member + edge. */
struct lag_biases {
	uint32_t peers, occurrence, cap;   /* cap: members for which there is space */
	int64_t *worst;               /* largest absolute bias */
	int64_t *sum, *n;             /* for a curve only */
	struct nsx_stat all[2];
	struct nsx_stat time[2];      /* mean over devices since the mean start of the modules */
};

/* A device's record of an execution of an instruction: GPU times, on the clock of that number; device: its number in
 * the stream, NSX_ABSENT if it has none. */
struct lag_record { int64_t device, start, end; uint32_t clock; };

struct lockstep {
	struct nsx_err    *err;
	struct nsx_reader *in;
	const struct nsx_stragglers_options *options;
	struct nsx_comm    comm;
	struct nsx_top     top;           /* on the catalogue of comm */
	struct nsx_instances instances;   /* of struct lag_record; keys: occurrence, execution */
	struct nsx_intern names;
	struct nsx_map    occurrence_of, peers_of, member_of, starts_of, biases_of, executed;
	NSX_VEC(struct lag_peers)  peers;
	NSX_VEC(struct lag_starts) starts;
	NSX_VEC(struct lag_occurrence) occurrences;
	NSX_VEC(struct lag_biases) biases;
	int64_t           alone;      /* executions of thunks on one device */
	int64_t           timeless, diags;   /* thunks without start or duration; diag records */
	bool              any;        /* there is a thunk that computes */
};

/* Make the requested table in out; *n: peers that have rows. NSX_OK or NSX_ERR. */
int nsx_lockstep_table(struct lockstep *f, struct nsx_stragglers *out, size_t *n);

#endif
