/* lockstep.h -- the data by which devices in lockstep are compared: collected in lockstep.c, put into tables in
 * lockstep_rows.c; and what the analyses of stragglers share. Private to lib/table/stragglers. */
#ifndef NSX_TABLE_STRAGGLERS_LOCKSTEP_H
#define NSX_TABLE_STRAGGLERS_LOCKSTEP_H

#include "base/stat.h"
#include "job/comm/communication.h"
#include "job/instances.h"
#include "job/program_time.h"
#include "table/stragglers.h"

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
	int64_t           timeless;   /* thunks without start or duration */
	bool              any;        /* there is a thunk that computes */
	bool               curve;     /* also what the table of edges needs */
};

/* Begin f, of which err, in, options and curve are set, and declare to its reader what is read. */
void nsx_lockstep_begin(struct lockstep *f);

/* The next record. NSX_OK, or NSX_ERR with f->err filled. */
int nsx_lockstep_take(struct lockstep *f, const struct nsx_rec *rec);

/* After the last record: the tables, where `devices` and `edges` are not NULL. NSX_OK, or NSX_ERR with f->err
 * filled. */
int nsx_lockstep_finish(struct lockstep *f, struct nsx_table **devices, struct nsx_table **edges,
                        struct nsx_diags *diags);

void nsx_lockstep_free(struct lockstep *f);

/* Number the peers in the order of rows, for the tables: *n of them have rows. NSX_OK or NSX_ERR. */
int nsx_lockstep_order(struct lockstep *f, size_t *n);

/* The table of edges in out. NSX_OK or NSX_ERR. */
int nsx_lockstep_edges(struct lockstep *f, struct nsx_table **out);

/* The table of devices, for which members are reordered: edges come before. NSX_OK or NSX_ERR. */
int nsx_lockstep_devices(struct lockstep *f, struct nsx_table **out);

/* ---- what the analyses of stragglers share */

/* NSX_STRAGGLERS_DEVICES and NSX_STRAGGLERS_CURVE, with the results of nsx_stragglers. */
int nsx_stragglers_lockstep(struct nsx_reader *in, const struct nsx_stragglers_options *options,
                            struct nsx_table **table, struct nsx_diags *diags, struct nsx_err *err);

/* NSX_STRAGGLERS_PACE. */
int nsx_stragglers_pace(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_table **table,
                        struct nsx_diags *diags, struct nsx_err *err);

/* NSX_STRAGGLERS_WAITS, or NSX_STRAGGLERS_INSTRUCTIONS if options->show is that, where `devices` is not NULL, and
 * NSX_STRAGGLERS_PAIRS, where `pairs` is not. also: NULL, or takes the records of the reading, too. */
int nsx_stragglers_waits(struct nsx_reader *in, const struct nsx_stragglers_options *options,
                         struct nsx_table **devices, struct nsx_table **pairs, struct lockstep *also,
                         struct nsx_diags *diags, struct nsx_err *err);

/* Whether the program of that index is the one of that name, key or id; NULL: every one is. */
bool nsx_late_wanted(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want, uint32_t program);
/* Whether there is one; NSX_ERR with err filled. */
int nsx_late_check_program(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want,
                           struct nsx_err *err);

/* That devices' clocks are not aligned; NSX_ERR with err filled. */
int nsx_late_not_aligned(struct nsx_reader *in, struct nsx_err *err);

#endif
