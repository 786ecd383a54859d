/* analysis.h -- one reading of a stream for any number of analyses.
 *
 * An analysis is a state that takes records, and a table at the end. The runner reads the stream once, keeps the
 * catalogue of its metadata, finds for each record once what several of them would look up (struct nsx_event), and
 * gives it to those that take records of its kind. The smallest one counts the operations of each device:
 *
 *   struct counts { NSX_STATE; };
 *
 *   static int
 *   begin(void *state, const void *options, const struct nsx_analysis_at *at)
 *   {
 *       ((struct counts *)state)->rows.def = &def;
 *       return NSX_OK;
 *   }
 *   static void need(void *state, struct nsx_reader *in) { nsx_event_need(in, NSX_OP); }
 *   static int
 *   take(void *state, const struct nsx_event *e)
 *   {
 *       struct counts *c = state;
 *       struct row *r = nsx_sums_row(&c->rows, &e->number);
 *
 *       return r ? (r->count++, NSX_OK) : nsx_err_nomem(c->err, NULL);
 *   }
 *
 *   const struct nsx_analysis nsx_counts = { sizeof(struct counts), NSX_K(OP), true | NSX_STATED, begin, need, take };
 *
 *   { { .is = &nsx_counts }, { .is = &nsx_copies_analysis, .options = &o } }         two in one reading */
#ifndef NSX_TABLE_ANALYSIS_H
#define NSX_TABLE_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/series.h"
#include "base/table.h"
#include "job/catalogue.h"
#include "job/activity.h"
#include "job/steps/windows.h"
#include "stream/kinds.h"
#include "stream/reader.h"
#include "table/sums.h"

/* A set of kinds. */
#define NSX_K(kind) (UINT64_C(1) << NSX_##kind)
#define NSX_K_METADATA (NSX_K(COMPILE) - 1)

/* A record, and what is found of it. All but `rec` is set for analyses that are `shared` only; what a record of that
 * kind does not have is absent. Valid during the call. */
struct nsx_event {
	const struct nsx_rec *rec;
	bool          reaches;      /* its times are in reach (job/reach.h): sums of a few of them are safe */
	/* Of modules, thunks and operations. */
	uint32_t      device;       /* in the catalogue; NSX_NONE: another kind */
	int64_t       number;       /* of the device; NSX_ABSENT: the record has none */
	int64_t       start, end;   /* on the GPU, ns; NSX_ABSENT: it has no start; no duration, or one below 0, for
	                             * which only `end` is absent */
	bool          communicates; /* nsx_cat_communicates, counted once; of thunks and operations */
	uint32_t      name;         /* of an operation, in nsx_analysis_at.names; */
	uint32_t      of_name;      /* a dense number for that name on its device: both for those that are NSX_NAMED */
	enum nsx_type type;         /* of an operation; */
	enum nsx_part part;         /* its activity */
	const struct nsx_step_window *window;   /* in which it starts; NULL without windows or beyond reach */
};

/* What an analysis gets of its reading; all of it outlives the state. names: of operations. In `begin` it may add to
 * cat->keep, and set *runs, which is {0}: kinds, none of them `shared`, whose records runs->take gets with the state
 * instead of `take`, where the stream has them in columns and all analyses that take them want that. It must do with a
 * run what `take` does with each of its records. came: records that the reading has met so far, by kind, but those of
 * kinds that come in runs. */
struct nsx_analysis_at {
	struct nsx_err *err;
	struct nsx_catalogue *cat;
	struct nsx_intern *names;
	struct nsx_run_kinds *runs;
	const int64_t *came;
};

#define NSX_REACHING_KINDS (NSX_K(MODULE) | NSX_K(THUNK) | NSX_K(OP) | NSX_K(RANGE))

enum { NSX_NAMED = 2, NSX_TIMED = 4, NSX_REACHING = 8, NSX_STATED = 16 };

/* Functions return NSX_OK, or NSX_ERR with at->err filled; begin, finish and free may be NULL. */
struct nsx_analysis {
	size_t   size;     /* bytes of a state; 0: it is the caller's, for one that adds to what the caller has */
	uint64_t kinds;    /* that `take` gets, NSX_K(...); 0: all that the reading meets */
	/* false; true: events are filled, and the catalogue has all metadata up to the record; NSX_NAMED: as well, and
	 * names of operations, a column that it declares, have numbers; NSX_TIMED: as with true, and records beyond
	 * reach and operations without a start or duration do not come: diags tell how many. The last two may be
	 * joined. NSX_REACHING: events as with false, but records of NSX_REACHING_KINDS beyond reach do not come; with
	 * any of the others the same of those. `need` declares its kinds with nsx_reach_need or nsx_event_need.
	 * NSX_STATED, with any of them: the state begins with NSX_STATE. */
	unsigned shared;
	/* A state of `size` is all 0. options: the caller's, which outlive it. */
	int  (*begin)(void *state, const void *options, const struct nsx_analysis_at *at);
	/* Declare to the reader, which lives until `finish` returns, the kinds and columns that are read; if it is
	 * `shared`, each kind but metadata and diags with nsx_event_need. */
	void (*need)(void *state, struct nsx_reader *in);
	/* Records in the order of the stream. */
	int  (*take)(void *state, const struct nsx_event *e);
	/* After the last record. table: NULL if only the sums in the state are wanted; then nobody reads diags, either.
	 * Else *table is NULL, and is made unless there is none to make. */
	int  (*finish)(void *state, struct nsx_table **table, struct nsx_diags *diags);
	void (*free)(void *state);   /* after `begin`, whatever that returned */
};

/* What a state may begin with (NSX_STATED): of the reading, set before `begin`; and rows, which are freed with the
 * state. If they have a definition they are the table, unless `finish` or `again` made one. */
#define NSX_STATE struct { struct nsx_err *err; struct nsx_catalogue *cat; const int64_t *came; struct nsx_sums rows; }

/* An analysis in a reading. {0} with `is` set. */
struct nsx_analysis_run {
	const struct nsx_analysis *is;
	const void       *options;
	bool              steps;   /* of the windows only: other modules, thunks and operations do not come, nor do
	                            * records that are beyond reach */
	bool              sums;    /* no table, no diags: the caller reads the state */
	struct nsx_diags *diags;   /* the caller's, which get its diags alone; NULL: all have the same */
	/* NULL, or a run before it that takes records for both: then `again` makes a further table of its finished
	 * state, by the options of this run (NULL: its rows again), and no function of `is` is called. */
	const struct nsx_analysis_run *of;
	int             (*again)(void *state, const void *options, struct nsx_table **table, struct nsx_diags *diags);
	void             *state;   /* set by nsx_analyse, or with size 0 by the caller */
	struct nsx_table *table;   /* set by nsx_analyse; who takes it leaves NULL */
	/* Own. */
	struct nsx_run_kinds runs;
	int64_t           beyond, timeless;
};

/* A run that takes records of a kind. refuses: what keeps a record from it, as bits of analysis.c; named: it wants the
 * numbers of names. */
struct nsx_taker {
	int                    (*take)(void *state, const struct nsx_event *e);
	void                    *state;
	struct nsx_analysis_run *run;
	unsigned                 refuses;
	bool                     named;
};

/* A reading. {0} with runs and n set; cat.keep and windows may be. */
struct nsx_analyses {
	struct nsx_analysis_run *runs;
	size_t               n;
	const struct nsx_step_windows *windows;   /* NULL: there are none */
	struct nsx_catalogue cat;                 /* of all analyses that are shared */
	int64_t              beyond;              /* records that are not in reach, of kinds that are looked up */
	/* Own. */
	int64_t              came[NSX_NKINDS + 1];
	uint64_t             shared, reaching;    /* kinds of those that are */
	struct nsx_intern    names;
	uint32_t             recall[NSX_RECALL];
	struct nsx_series    of_name;             /* (device, name) */
	NSX_VEC(uint32_t)    last_name;           /* by device: of_name of its last operation; */
	NSX_VEC(const struct nsx_step_window *) within;   /* the last window that was found; NULL: none */
	struct nsx_taker    *takers;   /* by kind those that take it, and where those of each begin */
	size_t               first[NSX_NKINDS + 2];
	struct nsx_err      *err;
};

/* Declare to a reader the columns of which events of that kind are made. */
void nsx_event_need(struct nsx_reader *in, enum nsx_kind_id kind);
/* The columns alone by which it is known whether a record of that kind is in reach. */
void nsx_reach_need(struct nsx_reader *in, enum nsx_kind_id kind);

/* Begin all of them, read all of `in` (nothing read yet), and finish them in their order. require: a kind of which the
 * stream must have a record, NULL: none. A diag that several of them have is counted once: of different counts the
 * largest. NSX_OK, or NSX_ERR with err filled; a is to be freed in both cases, and err must outlive it. */
int nsx_analyse(struct nsx_analyses *a, struct nsx_reader *in, const char *require, struct nsx_diags *diags,
                struct nsx_err *err);

/* The answer in a sentence: a note below the table, and a diag. */
void nsx_analysis_tell(struct nsx_table *t, struct nsx_diags *diags, const char *fmt, ...) NSX_PRINTF(3, 4);

/* States, the tables that nobody took, and the catalogue; not the runs themselves. */
void nsx_analyses_free(struct nsx_analyses *a);

/* A reading for n tables, which the caller frees, a run each; of runs, `is` and what goes before `state` may be set.
 * NSX_OK, or NSX_ERR with err filled, tables NULL and nothing to free. */
int nsx_analyse_tables(struct nsx_analysis_run *runs, size_t n, struct nsx_reader *in, const char *require,
                       struct nsx_table **tables, struct nsx_diags *diags, struct nsx_err *err);

#endif
