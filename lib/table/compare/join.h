/* join.h -- declarations shared by the files of comparing; private to lib/table/compare. */
#ifndef NSX_TABLE_COMPARE_JOIN_H
#define NSX_TABLE_COMPARE_JOIN_H

#include "table/compare.h"
#include "job/activity.h"
#include "job/program_time.h"
#include "job/steps/detect.h"
#include "base/map.h"
#include "base/num.h"
#include "base/stat.h"
#include "table/compare/witness.h"
#include "table/compare/work.h"

struct nsx_step_set;
struct nsx_steps_options;
struct nsx_spool;
struct cmp_value;
struct cmp_result;
struct cmp_way;
struct cmp_why;

/* How two groups, or two rows, were matched; the first that applies. */
enum cmp_how { CMP_NOT, CMP_FINGERPRINT, CMP_DIGEST, CMP_KEY, CMP_NAME, CMP_PLACE, CMP_OP_NAME };

/* What rows belong to: a program, a class of steps, a device, or everything. Strings are numbers in cmp.strs, NSX_NONE:
 * none. `pair` is an index on the other side, NSX_NONE: none. */
struct cmp_group {
	int64_t      number;     /* a device's own; of others the order of their first use */
	uint32_t     name, key;
	int64_t      id;         /* a program's; NSX_ABSENT: it has none, or is no program */
	uint32_t     fingerprint, dumped, run;   /* of a program; digests of its dump and of the program that ran */
	uint32_t     pair;
	enum cmp_how how;
	uint32_t     whole;      /* the row of the group itself: of a program's modules */
	uint32_t     executed;   /* the row of a program's executions, whose times are 0; NSX_NONE: it is no program */
	int64_t      last_device, last_execution;   /* the last one of these */
	int64_t      execs;      /* over all devices */
	int64_t      periods;    /* of a class of steps: of these, those that have one */
	int64_t      ran;        /* of a device: executions of any program, or its steps */
	int64_t      devices;    /* that executed it */
	int64_t      runs;       /* of several base runs, that have it */
	nsx_u128     time;       /* of its rows */
	bool         examined, trains;   /* whether the program has a backward pass (label.c) */
	double       flops, ops; /* of a step or execution on a device, FLOPs of its matrix products, and number of
	                          * operations; 0: not known */
};

/* The time of a row per execution on a device, ns. */
struct cmp_time {
	int64_t  n;
	nsx_u128 sum;
	double   mean;
	double   variance;   /* of a row of a table that has no values; below 0: not known, either */
	int64_t  p50, p99;   /* of samples */
};

/* Of cmp_side.values: those of a row, in the order of steps; of several devices the mean of the same step. */
struct cmp_series { size_t first, n; };

/* The key of a row of collectives, and the bandwidth of its instances, GB/s. */
struct cmp_comm {
	uint32_t kind;
	int64_t  bytes, group, instances;
	bool     has_busbw;
	double   busbw;
	double   transfer;   /* mean over instances from last start to last end, ns; 0: not known */
	double   shortest;   /* the same of the record that waited least */
	uint32_t axis;       /* by axis; else NSX_NONE */
};

/* What a row is in one of several base runs: its number of values, and their mean, median and 99th percentile. */
struct cmp_run { size_t n; double mean, median, p99; struct cmp_series values; };

struct cmp_row {
	uint32_t     group;
	bool         whole;      /* the group itself: its program's modules */
	uint32_t     name;       /* of an instruction, or the opcode or source line */
	uint32_t     stem;       /* name without its number */
	int64_t      number;     /* that number; for times of steps the device, NSX_ABSENT: several devices */
	int          at;         /* of the times of a class of steps, or of a device: which one; 0 contains the
	                          * others: the period, or of a whole run the span */
	bool         leads;      /* the first of these that is known: the period, else the span */
	int64_t      device;     /* the row is a detail of a row of several devices; NSX_ABSENT: it is not */
	uint32_t     opcode, op_name, stack;
	uint32_t     math;       /* of an instruction: what its products are computed in; NSX_NONE: none, or unknown */
	bool         detail;     /* its time is also included in other rows */
	bool         untold;     /* shown, but not judged: a change of it is neither slower nor faster */
	bool         computes;   /* not all of it is communication, or that is not known */
	bool         optional;   /* not shown if its time is 0 on both sides */
	uint32_t     of;         /* row whose time is the reference for percent; NSX_NONE: itself */
	uint32_t     decider;    /* row of the same side without whose verdict it is neither slower nor faster, which
	                          * precedes it: of a span the period; NSX_NONE: none */
	uint32_t     pair;
	enum cmp_how how;
	uint32_t     cells;      /* linked, NSX_NONE ends */
	nsx_u128     sum;        /* ns */
	uint32_t     inner;      /* the row, without a name, of other times that this one may be of: spans of the same
	                          * ranges, the same operations in executions of programs, a device's time in its
	                          * steps; NSX_NONE: there are none */
	uint32_t     batch;      /* the hidden row of the batches of the steps that its times are of (strata.c);
	                          * NSX_NONE: not known; */
	uint32_t     strata;     /* the number of strata that they are in; 0: they are not; */
	bool         numbered;   /* of a row of batches: its samples are the numbers of these; */
	uint32_t     alike, kinds;   /* of one: samples whose batch the other side has, too, and of how many batches
	                          * these are; */
	bool         other_batches;   /* of NEW: BASE has others, and the mean is as of those of BASE */
	struct cmp_time   time;  /* of all cells, or of a table; n is 0 if it has none */
	struct cmp_series samples;   /* tables have none */
	struct cmp_comm  *comm;  /* of a row of collectives; owned */
	NSX_VEC(struct cmp_run) runs;   /* of several base runs, those that have it */
};

/* A row on one device: its times, and the numbers of the steps or executions that they are of, in any order and more
 * than once; instances have none, they are 0, 1, ... In their place later the mean, and cells are in the order of
 * devices. */
struct cmp_cell {
	uint32_t next;
	int64_t  device;
	NSX_VEC(int64_t) numbers;
	NSX_VEC(int64_t) times;
	double   mean;
};

/* The columns of a table of nsysx-steps --each: times, and these. */
enum cmp_each_col { CMP_EACH_PERIOD, CMP_EACH_COMPUTE, CMP_EACH_EXPOSED, CMP_EACH_COPY, CMP_EACH_IDLE, CMP_EACH_SPAN,
                    CMP_EACH_TIMES, CMP_EACH_CLASS = CMP_EACH_TIMES, CMP_EACH_DEVICE, CMP_EACH_NUMBER,
                    CMP_EACH_KEPT };

/* What times of devices are of. */
enum cmp_basis { CMP_OF_RUN, CMP_OF_EXECUTION, CMP_OF_STEP };

struct cmp_side {
	struct cmp_why   *why;               /* with options.why */
	const char       *name;              /* for messages */
	struct nsx_reader *in;
	struct nsx_top    top;
	NSX_VEC(struct cmp_group) groups;    /* of programs: by index in top */
	NSX_VEC(uint32_t) row_of_inst;       /* by index in the catalogue; NSX_NONE before its first execution */
	NSX_VEC(struct cmp_row) rows;
	struct nsx_map    row_of;            /* (program, label) or (type, name) -> rows, for rows that are not
	                                      * instructions */
	NSX_VEC(struct cmp_cell) cells;
	struct nsx_map    cell_of;           /* (row, device's number) -> cells */
	NSX_VEC(uint32_t) models;            /* names of GPU models */
	struct nsx_map    program_of;        /* of tables: (name, id) -> groups */
	size_t            devices;           /* number of those that executed something */
	nsx_u128          time;              /* of the rows that are compared */
	double            most;              /* of one of them */
	bool              warm;              /* it was filtered by nsysx-warmup */
	struct nsx_intern overlapping;       /* classes whose steps overlap (job/steps/warn.h): told of one side */
	int64_t           diags;
	int64_t           start;             /* of the first session, ns since 1970; NSX_ABSENT: not known; by STEP */
	bool              summed;            /* it is a table that was computed from a stream */
	NSX_VEC(double)   values;            /* samples, row by row */
	size_t            nruns;             /* several runs as one side: their number; 0: it is one */
	uint32_t          class;             /* the name of these steps, if there are any */
	bool              windows;           /* times of devices are of the windows of their operations */
	enum cmp_basis    basis;             /* what these are divided by */
	int64_t           ops;               /* of a stream by device: number of operations */
	bool              gpu_time;          /* times are the GPU time of ranges */
	bool              placed;            /* operations are known to be in executions of programs */
	int64_t           outside;           /* number of operations in none, */
	nsx_u128          outside_time;      /* and their time */
	struct cmp_work   work;              /* of a run without steps, */
	int64_t           seen;              /* and the time of its operations' devices, ns; 0: not known */
	struct nsx_spool *again;             /* the stream, a file, */
	struct nsx_step_classes classes;     /* for its ranges that may be steps, of a way with rates, */
	bool              marked;            /* if nsysx-steps has not marked them */
	bool              each;              /* the occurrences of each row are counted separately, instead of
	                                      * executions of programs */
};

struct cmp {
	struct nsx_err   *err;
	struct nsx_compare_options options;
	bool              tables;            /* both sides are tables, or were converted to tables */
	const struct cmp_way *way;
	const char       *unit;              /* of what the times are */
	char              unlike[256];       /* why times may belong to different programs or amounts of work; empty:
	                                      * they do not */
	char             *repeat;            /* the class that repeats in BASE, if it has no steps; owned; NULL: none */
	struct nsx_map    places;            /* of cmp_side.work, */
	struct cmp_same_work same;           /* and what is the same in both sides, */
	bool              compares_work;     /* if that is compared */
	bool              has_steps;         /* both sides have steps, or what repeats, of the same class: what occurs
	                                      * less often in a second does so because these take longer */
	char              note[256];         /* what is compared, or not, for a line below the table; empty: nothing */
	struct nsx_intern strs;
	uint32_t          recall[NSX_RECALL];   /* of strs */
	struct nsx_buf    text;
	struct cmp_side   side[2];
};

static inline struct nsx_str
cmp_str(const struct cmp *c, uint32_t id)
{
	return id == NSX_NONE ? NSX_STR("") : nsx_intern_str(&c->strs, id);
}

/* The text in cmp.text as one of cmp.strs; NSX_NONE when out of memory. */
static inline uint32_t
cmp_intern(struct cmp *c)
{
	return c->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&c->strs, nsx_buf_view(&c->text));
}

/* For "%.*s": a string cut to n bytes. */
#define CMP_CUT(s, n) (int)((s).len < (n) ? (s).len : (n)), (s).ptr

/* load.c: read all of the side's stream. NSX_OK or NSX_ERR. */
int nsx_compare_read(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);

/* All times of rows and executions are added: make samples of them, and sum up groups. False when out of memory. */
bool nsx_compare_settle_executions(struct cmp *c, struct cmp_side *s);
/* Note what a diag of the stream tells; of any other record nothing. */
void nsx_compare_take_diag(struct cmp_side *s, const struct nsx_rec *rec);
/* Warn if communication counts whole though exposed time was requested. */
void nsx_compare_tell_not_hidden(const struct cmp *c, const struct cmp_side *s, struct nsx_diags *diags);

/* Add the GPU models of a catalogue, or one, a string; false when out of memory. */
bool nsx_compare_take_models(struct cmp *c, struct cmp_side *s, const struct nsx_catalogue *cat);
bool nsx_compare_add_model(struct cmp_side *s, uint32_t model);
bool nsx_compare_has_model(const struct cmp_side *s, uint32_t model);

/* names.c: read all of the side's stream, by ranges or operations. NSX_OK or NSX_ERR. */
int nsx_compare_read_names(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
/* Both sides are read. Ranges are compared by GPU time if both have it, unless spans were requested; operations, if
 * both know executions of programs, only inside of them. False when out of memory. */
bool nsx_compare_settle_ranges(struct cmp *c, struct nsx_diags *diags);
bool nsx_compare_settle_operations(struct cmp *c, struct nsx_diags *diags);

/* runs.c: begin a side of several base runs, of n: that is the first one. False when out of memory. */
bool nsx_compare_begin_runs(struct cmp_side *s, size_t n);
/* c->side[1], a further base run, is read: match it with c->side[0], and add it there. NSX_OK or NSX_ERR. */
int nsx_compare_add_run(struct cmp *c);
/* All base runs are read: a row of theirs has the means over the runs. False when out of memory. */
bool nsx_compare_end_runs(struct cmp_side *s);
/* The row of BASE in its runs that have it, and of NEW. */
struct cmp_between {
	size_t runs, least;           /* that have it, and the number of values of one, at least */
	double mean, lowest, highest; /* of their means, or with `tail` of their 99th percentiles, */
	double deviation;             /* as is this; 0 of one run */
};
/* Fewer values of a run do not tell its 99th percentile, between runs: it would be the largest of them. */
#define NSX_TAIL_OF_RUN 100
struct cmp_between nsx_compare_between(const struct cmp_row *r, bool tail);
struct cmp_result;
/* Let the noise between base runs judge, where at least two of them have the row. False when out of memory. */
bool nsx_compare_hear_runs(const struct cmp *c, struct cmp_result *r);

/* steps.c: read all of the side's stream, by steps. NSX_OK or NSX_ERR. */
int nsx_compare_read_steps(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
/* again.c: read the stream of the steps of a side a second time: *causes is idle time by cause from each start to the
 * next, of step i of the list [i * NSX_NCAUSES ...], ns, which the caller frees; NULL: without calls no cause is
 * known. With
 * cmp_side.why also for what else filled the steps, of a run without steps for its work. NSX_OK or NSX_ERR. */
int nsx_compare_read_again(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, struct nsx_spool *again,
                           int64_t **causes, struct nsx_diags *diags);

/* Add a row of a table of steps; all steps have been added: give the rows of the side their samples. False when out of
 * memory. */
bool nsx_compare_take_step(struct cmp *c, struct cmp_side *s, const struct cmp_value *v);
bool nsx_compare_end_steps(struct cmp_side *s);

/* devices.c: sum up the stream of the side by devices, and read it by their steps. NSX_OK or NSX_ERR. */
int nsx_compare_read_devices(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
/* Add the device of a row of a table by device. False when out of memory. */
bool nsx_compare_take_device(struct cmp *c, struct cmp_side *s, const struct cmp_value *v);
/* Convert the times of both sides' devices to times per step or per execution, if all devices have them. Otherwise fill
 * c->unlike if the amount of work may differ. If the sides have no device number in common, as for different processes
 * of a job, but equal numbers of devices: match them in order of their numbers. False when out of memory. */
bool nsx_compare_settle_devices(struct cmp *c, struct nsx_diags *diags);
/* The side is read, one of several base runs: convert its times likewise, and match its devices with those of the first
 * one. NSX_OK, or NSX_ERR if they are not of the same as those of that one, or of another amount of work. */
int nsx_compare_settle_device_run(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
/* Rows are matched: fill c->unlike if a side is a table, which may omit programs, and a matched device has different
 * numbers of executions on the two sides. */
void nsx_compare_check_devices(struct cmp *c);

/* steps.c: the name of a class of steps: executions have the key NAME@ID, of which only NAME is the same after
 * recompilation. */
struct nsx_str nsx_compare_class_name(const struct nsx_step_set *set, uint32_t class);
/* Read the stream of the side for its steps, which `keep` gets (false: out of memory): a reader that reads it once
 * more, which the caller closes; NULL on failure. wanted: diags tell if there are no steps. */
typedef bool nsx_compare_keep(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, void *state);
struct nsx_reader *nsx_compare_find_steps(struct cmp *c, struct cmp_side *s, nsx_compare_keep *keep, void *state,
                                          bool wanted, struct nsx_diags *diags);

/* phases.c: read all of the side's stream, without thunks by phases in each step. NSX_OK or NSX_ERR. */
int nsx_compare_read_phases(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);

/* collectives.c: read all of the side's stream, by collectives. NSX_OK or NSX_ERR. */
int nsx_compare_read_collectives(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);

/* label.c: add a group with the row of itself: its index; NSX_NONE when out of memory. */
uint32_t nsx_compare_group_add(struct cmp_side *s, struct cmp_group g);
/* The same with a row of its executions, to which each is added with a time of 0. */
uint32_t nsx_compare_executed_add(struct cmp_side *s, struct cmp_group g);
/* Put all rows of the side into one nameless group, and count the occurrences of each row separately. False when out of
 * memory. */
bool nsx_compare_begin_each(struct cmp_side *s);
/* A group of that number, of which no more is known. */
static inline struct cmp_group
cmp_group_new(int64_t number, uint32_t name, uint32_t key)
{
	return (struct cmp_group){ .number = number, .name = name, .key = key, .id = NSX_ABSENT,
	                           .fingerprint = NSX_NONE, .dumped = NSX_NONE, .run = NSX_NONE };
}
/* A row that has no data. */
static inline struct cmp_row
cmp_row_in(uint32_t group)
{
	return (struct cmp_row){ .group = group, .name = NSX_NONE, .stem = NSX_NONE, .device = NSX_ABSENT,
	                         .opcode = NSX_NONE, .op_name = NSX_NONE, .stack = NSX_NONE,
	                         .math = NSX_NONE };
}
/* compare.c: free what the side holds. */
void nsx_compare_side_free(struct cmp_side *s);
/* math.c: note which products are computed in another type. False when out of memory. */
bool nsx_compare_tell_math(const struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table *t);
/* history.c: when the first session of a stream started, ns since 1970; NSX_ABSENT: not known. */
int64_t nsx_compare_start_of(const struct nsx_catalogue *cat);
/* compare.c: report the diags of reading that side. Frees own. */
void nsx_compare_pass_diags(const struct cmp_side *s, struct nsx_diags *own, struct nsx_diags *diags);

/* tables.c: a cell of a table that is read: an integer, a double, or a string that is one of cmp.strs. */
struct cmp_value { bool has; int64_t i; double f; uint32_t s; };
/* Columns of a table by device, in the order in which nsx_compare_take_device has them: times, and these. The first one
 * contains the others, which are judged against it: the period of its steps, else the window of its operations, else,
 * where thunks are all that is known, the span of its modules. */
enum cmp_device_col { CMP_SPAN, CMP_MODULES, CMP_COMPUTE, CMP_EXPOSED, CMP_COPY, CMP_IDLE, CMP_HIDDEN_TIME,
                      CMP_COPY_HIDDEN, CMP_DEVICE_TIMES, CMP_DEVICE = CMP_DEVICE_TIMES, CMP_EXECS, CMP_WINDOW };
/* Whether the input is a table and not a stream, and by what: *by is -1 for a stream. NSX_OK or NSX_ERR. */
int nsx_compare_is_table(struct nsx_reader *in, int *by);
/* Read the side, a table. NSX_OK or NSX_ERR. */
int nsx_compare_read_table(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
/* Read the side, a stream, as the table that nsx_summary makes of it. NSX_OK or NSX_ERR. */
int nsx_compare_sum_up(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
/* Both sides are read: if they are tables, report what these do not know. True. */
bool nsx_compare_settle_tables(struct cmp *c, struct nsx_diags *diags);

/* label.c: the row of an instruction that is executed for the first time, which is described as a row of its own:
 * created if it is new; NSX_NONE when out of memory. */
uint32_t nsx_compare_row_of(struct cmp *c, struct cmp_side *s, struct cmp_row inst);
/* A row of the group, without any cell; NSX_NONE when out of memory. */
uint32_t nsx_compare_row_add(struct cmp_side *s, struct cmp_row row);

/* pair.c: match programs, and rows, of both sides. NSX_OK or NSX_ERR. */
int nsx_compare_pair(struct cmp *c);
/* Match two groups, indices in BASE and NEW. */
void nsx_compare_join_groups(struct cmp *c, uint32_t base, uint32_t new, enum cmp_how how);

/* samples.c: add a time of the row, of the step or execution with that number on that device, to which all of its times
 * add up; NSX_ABSENT: of the next instance. False when out of memory. */
bool nsx_compare_add(struct cmp_side *s, uint32_t row, int64_t device, int64_t number, int64_t ns);
/* Make the times of a row those of another one: it is none then. False when out of memory. */
bool nsx_compare_move(struct cmp_side *s, uint32_t row, uint32_t to);
/* Rows have the times of their inner rows in place of their own, or none; and then those of either: without the others
 * make samples of all times. False when out of memory. */
void nsx_compare_use_inner(struct cmp_side *s);
bool nsx_compare_settle_inner(struct cmp_side *s);
/* All times of the side are added: make samples of them. A row without any keeps the time that it is given. False when
 * out of memory. */
bool nsx_compare_settle_samples(struct cmp_side *s);
/* The samples of a row; n is 0 if it has none. */
static inline struct nsx_sample
cmp_sample(const struct cmp_side *s, const struct cmp_row *r)
{
	return (struct nsx_sample){ r->samples.n ? s->values.p + r->samples.first : NULL, r->samples.n };
}

/* strata.c: a batch as a time, to which times of a step's hidden row add up; NSX_ABSENT: not known. */
int64_t nsx_compare_batch(int64_t requests, int64_t tokens);
/* Rows are matched: put steps of batches that both sides have into strata, unless there are several base runs, and let
 * the means of NEW be as if it had the batches of BASE. False when out of memory. */
bool nsx_compare_settle_strata(struct cmp *c);
/* The stratum of each sample of a row that is in strata. */
static inline const double *
cmp_strata(const struct cmp_side *s, const struct cmp_row *r)
{
	return s->values.p + s->rows.p[r->batch].samples.first;
}

enum cmp_verdict { CMP_SAME, CMP_SLOWER, CMP_FASTER, CMP_NEW, CMP_GONE, CMP_UNKNOWN, CMP_SHIFTED, CMP_MINOR,
                   CMP_UNEVEN, CMP_HIDDEN, CMP_VERDICTS };

/* A row of either side or both. */
struct cmp_result {
	const struct cmp_row *row[2];   /* NULL: not present */
	struct cmp_time  time[2];
	double           diff, effect;  /* of means */
	double           judged[2];     /* what is judged: means, or with options.tail 99th percentiles, ns, */
	double           noise;         /* and how much of their difference is chance, */
	bool             has_noise;     /* if that is known */
	bool             sampled;       /* the witnesses judge it: both sides have samples, or deviations of tables */
	struct nsx_witness witness;
	double           rate[2];       /* occurrences for each second of a device; 0: not known, or compared */
	bool             by_time, by_rate;   /* which of the two the verdict is of; neither: of samples */
	bool             mixed;         /* of steps of batches that are known, but are judged as if of one */
	bool             by_work;       /* of samples: no witness spoke, but the same work does (work.h) */
	struct nsx_tail  tail;          /* with options.tail, */
	bool             has_tail;      /* if there are enough values for it */
	size_t runs; /* of BASE that have the row, between which the noise is; 0: it is within runs */
	double           unseen;        /* between runs: the largest difference that no witness would see, ns */
	enum cmp_verdict verdict;
	const struct cmp_row *unsure;   /* of a part that is slower: BASE's row of the whole, if that is not; or NULL */
	enum cmp_verdict whole;         /* and what is said of it */
};

/* rate.c: an operation of a side whose steps are not known, of that device (its index in a catalogue); of one with
 * executions nothing is kept. name: its name in cmp.strs; NSX_NONE: the record's. False when out of memory. */
bool nsx_compare_take_work(struct cmp *c, struct cmp_side *s, uint32_t device, const struct nsx_rec *op, uint32_t name);
/* Declare to a reader what that uses. */
void nsx_compare_need_work(struct nsx_reader *in);
/* Declare to the reader of a way with rates what steps are found by, before it is read; any record of the side: of
 * ranges, steps may be found. They are read by a second reading, if one is needed, of a file that can be read again.
 * NSX_OK or NSX_ERR. */
int nsx_compare_need_classes(struct cmp *c, struct cmp_side *s);
int nsx_compare_take_classes(struct cmp_side *s, const struct nsx_rec *rec);
/* Both sides are read: compare their work, if the steps of neither are known. NSX_OK or NSX_ERR. */
int nsx_compare_work(struct cmp *c);
/* Whether more or fewer occurrences of a row, with a time that is `was`, make it slower or faster: its verdict. */
enum cmp_verdict nsx_compare_judge_rate(const struct cmp *c, struct cmp_result *r, enum cmp_verdict was);
/* What was compared, as a sentence; empty if nothing was. */
void nsx_compare_tell_work(const struct cmp *c, struct nsx_buf *text);

/* judge.c: all rows. Those of programs as a whole, which are the total of the others, come first, n of them in *whole,
 * unless they are what is compared; then come the rows of the table in its order. The caller frees them. NULL when out
 * of memory. */
struct cmp_result *nsx_compare_judge(struct cmp *c, size_t *whole, size_t *n);
/* The difference as a share of what BASE has. NAN where that is not known, or says nothing, because BASE has next to
 * none: of a part of a step or device, less than noise, or less than --percent of the whole and no more than half of
 * what NEW has. nsx_compare_of_whole: as a share of BASE's whole step, or device; NAN if it is no part of one. */
double nsx_compare_change(const struct cmp *c, const struct cmp_result *r);
double nsx_compare_of_whole(const struct cmp *c, const struct cmp_result *r);
/* Append " (+12.3%)", or " (+1.2% of the step)". */
void nsx_compare_put_change(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text);
/* The names of a result: its group and name in NEW, or in BASE only. */
const struct cmp_group *nsx_compare_group_of(const struct cmp *c, const struct cmp_result *r);
const struct cmp_row *nsx_compare_row_shown(const struct cmp_result *r);

/* steps.c: if the result is a period, append to a sentence the parts that grew, the largest first, down to a hundredth
 * of the difference. */
void nsx_compare_tell_growth(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text);
/* What was compared, and what the verdicts do not say, as lines below the table and diags. */
void nsx_compare_tell_steps(const struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table *table,
                            struct nsx_diags *diags);

/* Whose time the row of an instruction is: its own, or that of all of its program with the same label. */
enum cmp_label { CMP_LABEL_NONE, CMP_LABEL_OPCODE, CMP_LABEL_SOURCE, CMP_LABEL_PHASE };

/* A value of --by. Functions that are NULL are not called. */
struct cmp_way {
	const char *name;
	const char *things, *unit;       /* what is compared, plural; one of what has a time */
	const char *instead;             /* continues "BASE has no THINGS" */
	const char *shown;               /* the columns of its table: names of those in ways.c, each with a space behind
	                                  * it */
	const char *rank, *brief;        /* nsx_table_rank, nsx_table_brief */
	int  (*read)(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);   /* a stream */
	int  (*sum_up)(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
	                                 /* one that is compared with a table; NULL: likewise */
	int  (*settle_run)(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags);
	                                 /* one of several base runs is read */
	bool (*settle)(struct cmp *c, struct nsx_diags *diags);   /* both sides are read; false: no memory */
	void (*check)(struct cmp *c);                             /* groups and rows are matched */
	void (*tell)(const struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table *table,
	             struct nsx_diags *diags);
	void (*tell_growth)(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text);
	                                 /* and if what decides is slower, its parts are not told */
	enum cmp_label label;
	bool whole;                      /* rows are groups themselves */
	bool parts;                      /* a row is one of many that the time of its group consists of */
	bool each;                       /* occurrences of rows are counted: of runs without steps also how often a row
	                                  * occurs */
	bool nested;                     /* rows contain each other */
	bool waits;                      /* communication contains waiting, which no group's time shows */
	bool within;                     /* a row that is part of another is judged with it */
	bool devices;                    /* groups are devices */
	bool listed;                     /* results are by group, device and time, instead of the largest effect first;
	                                  * the row that leads a group decides whether runs can be compared, and is the
	                                  * only one that --changed shows of a group that one side has */
	bool runs;                       /* BASE may be several runs */
	bool axes;                       /* rows of collectives are also by axis of the mesh */
};

/* Whether rows of this kind are compared (rows of modules always exist). */
static inline bool
cmp_counts(const struct cmp *c, const struct cmp_row *r)
{
	return !r->detail && r->whole == c->way->whole;
}

/* ways.c: the way of that name. */
const struct cmp_way *nsx_compare_way(enum nsx_compare_by by);

/* Whether it tells of its group whether the runs can be compared: of a class of steps over all devices the period, or,
 * if a side has none, as of a single step, the span. */
static inline bool
cmp_decides(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_row *b = r->row[NSX_COMPARE_BASE], *n = r->row[NSX_COMPARE_NEW];

	return c->way->listed && (n ? n : b)->device == NSX_ABSENT && ((b && b->leads) || (n && n->leads));
}

/* Whether the table shows the result. */
static inline bool
cmp_shows(const struct cmp *c, const struct cmp_result *r)
{
	return !c->options.changed || (r->verdict != CMP_SAME && r->verdict != CMP_UNKNOWN &&
	                               r->verdict != CMP_MINOR && r->verdict != CMP_UNEVEN && r->verdict != CMP_HIDDEN);
}

/* Whether it is not judged because a side has too few samples. */
static inline bool
cmp_is_few(const struct cmp *c, const struct cmp_result *r)
{
	return r->verdict == CMP_UNKNOWN && r->sampled && (c->options.tail ? !r->has_tail : !r->witness.judged);
}

/* "slower", ...: its verdict in a table. */
const char *nsx_compare_verdict_name(enum cmp_verdict v);

/* compare.c: append the sentence about a slower row. */
void nsx_compare_sentence(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text);

/* Percent of a period above which its noise is reported; between base runs it is not judged then. */
#define NSX_BLIND 10
/* comparable.c: whether enough of both sides is matched, and their samples are enough: out->comparable and why. */
void nsx_compare_judge_coverage(const struct cmp *c, struct nsx_compare *out, struct nsx_diags *diags);
void nsx_compare_judge_samples(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n,
                               struct nsx_diags *diags);
/* What differs between the runs that are compared, with what would make them alike. */
void nsx_compare_tell_differences(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_diags *diags);

/* junit.c: the results, of programs as a whole and of rows, as XML to out->junit. */
void nsx_compare_junit(struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n);

/* judge.c: whether what is judged of a result grew by more than noise and --minor, but by no more than the minimum
 * differences, which makes it the same. */
bool nsx_compare_is_allowed(const struct cmp *c, const struct cmp_result *r);

/* ways.c, folded.c: the results. NSX_OK or NSX_ERR. */
int nsx_compare_print(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table,
                      struct nsx_diags *diags);
int nsx_compare_folded(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_outfile *out);

#endif
