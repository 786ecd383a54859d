/* diagnose.h -- declarations shared by the files of nsysx-diagnose; private to this folder.
 *
 * diagnose.c reads the stream twice. First for the steps: their periods make the windows of each device, so that the
 * time between steps is included and activities add up. Then once for the analyses (table/analysis.h), most of which
 * get only the records that start within a window of their device:
 *
 *   idle/      parts and causes of the windows      collectives.c  which device waited for which, slow instances
 *   copies.c   copies by kind                       layout.c       time in transposes and copies that kernels make
 *   launch.c   kernels that wait for their launch   kernels.c      kernels of devices by name
 *   roofline/  instructions far from their limit    diagnose.c     counts, diags, initialisation
 *   families.c kernels by what they are
 *
 * rules*.c turn the results of these into findings, which catalogue.c names; screen.c and tables.c print them. */
#ifndef NSX_TABLE_DIAGNOSE_DIAGNOSE_H
#define NSX_TABLE_DIAGNOSE_DIAGNOSE_H

#include "base/num.h"
#include "job/comm/communication.h"
#include "job/comm/pairing.h"
#include "job/comm/nccl.h"
#include "job/family.h"
#include "job/overruns.h"
#include "job/pace.h"
#include "job/steps/windows.h"
#include "job/steps/steps.h"
#include "job/doing/doing.h"
#include "table/analysis.h"
#include "table/copies.h"
#include "table/diagnose.h"
#include "table/idle/idle.h"
#include "table/sums.h"
#include "table/launch.h"
#include "table/whatif/gains.h"
#include "table/roofline/rows.h"

/* ---- analyses, in the order in which they are reported */
enum nsx_look {
	NSX_LOOK_STEPS, NSX_LOOK_IDLE, NSX_LOOK_EXPOSED, NSX_LOOK_SLOW, NSX_LOOK_WAITS, NSX_LOOK_COPIES,
	NSX_LOOK_LAUNCH, NSX_LOOK_LAYOUT, NSX_LOOK_ROOFLINE, NSX_LOOK_VARIABILITY, NSX_NLOOKS
};

/* Steps vary if their p99 is this many times their p50. */
#define NSX_LOOK_VARIABLE 1.1

/* Analyses of the second reading, at most. */
enum { NSX_LOOK_RUNS = 14 };

/* First steps that are slow because the stream was not filtered by nsysx-warmup. */
enum { NSX_LOOK_FIRST = 2 };

/* Kinds of findings; their order means nothing. */
enum nsx_finding_kind {
#define FINDING(id, name, rank, subject, whose, change, action) NSX_FIND_##id,
#include "table/diagnose/findings.def"
#undef FINDING
	NSX_NFINDS
};

/* gain: ns of a step. Texts are in nsx_look_at.texts; subject: for example a device, may be empty. cause: of
 * NSX_FIND_IDLE. */
struct nsx_finding {
	enum nsx_finding_kind kind;
	enum nsx_cause        cause;
	double                gain;
	struct wi_gain        forecast;  /* of the change */
	bool                  forecasts; /* there is one */
	bool                  ranges;    /* and it is a range, for something is not known (nsysx-whatif(1), Ranges) */
	bool                  nothing;   /* it is of less than 0.1 % of a step, whatever is not known */
	bool                  more;      /* the change removes more than it, whatever its kind has */
	uint32_t              change;    /* of nsysx-whatif; NSX_NONE: none is a forecast of it */
	uint32_t              evidence, command, subject;
	const char           *action;    /* static; NULL: that of its kind and cause */
	double                single;    /* ns of a step that one change gives, of a gain of several; 0: all of it */
};

/* A device and its windows. */
struct nsx_look_device {
	int64_t  number, time;   /* ns of all its windows, without removed time */
	int64_t  periods;        /* steps in the windows; 1 if they are not made of steps */
	uint32_t window;         /* in idle.windows; NSX_NONE: none */
	uint32_t host;           /* devices of one number are on one host, as far as is known; its name, in texts */
	uint32_t report;         /* the name of its report, in texts */
};

/* ---- collectives.c */

/* A device's record of an instance; times in ns. */
struct nsx_look_record { int64_t device, start, end, hidden; bool late; };

/* Instances that should have equal durations: an instruction in one group, or NCCL operations of one communicator, kind
 * and size. */
struct nsx_look_unit {
	uint32_t name, kind;     /* in nsx_look_at.texts */
	uint32_t comm;           /* in nsx_look_at.texts, for NCCL: the communicator */
	uint32_t like;           /* units of one number may be compared: same kind and participants */
	bool     nccl;           /* of a communicator */
	int64_t  bytes, group;   /* -1: unknown */
	int64_t  instances, records, partial;   /* partial: instances some of whose devices are not in the stream */
	int64_t  least;          /* the minimum of all */
	double   rates;          /* sum over instances: bytes / the shortest of its devices, bytes/ns */
	nsx_u128 shortest_each;  /* sum over records: the shortest of their instance */
	nsx_u128 exposed, waited;/* sums over records; exposed: without the waiting time */
	double   excess;         /* the part of it, in ns, above the time at the bandwidth of similar units */
	bool     reported;           /* the excess is included in a finding */
	double   busbw, like_busbw;   /* GB/s; 0: unknown */
};

/* Devices that take part in one collective: members[first..first + n) of nsx_look_comm. */
struct nsx_look_group { size_t first, n; };

/* For a device, sums over collectives in ns.
 *
 *   wait = min(start of the last device - own start, dur - hidden)      of a record
 *   gain = sum over instances of n * m / l   m: the time that at least half of its n devices wait; l: the number of
 *                                            devices that wait m / 2 at most, of which it is one */
struct nsx_look_late {
	int64_t  device;
	nsx_u128 gain, most;     /* of the instances in which it was late; most: the maximum of one */
	nsx_u128 waited, exposed;/* of its own records; exposed includes waited */
	int64_t  last;           /* instances to which it came last and others waited */
};

struct nsx_look_comm {
	struct nsx_look_at  *at;
	struct nsx_pairing   pairing;
	uint64_t             came;      /* records of collectives */
	struct nsx_map       unit_of, like_of, late_of;
	NSX_VEC(struct nsx_look_unit) units;
	NSX_VEC(struct nsx_look_late) late;
	NSX_VEC(struct nsx_look_record) scratch;
	NSX_VEC(int64_t)     waits;
	NSX_VEC(struct nsx_look_group) groups;   /* distinct ones with several devices, in order of occurrence */
	NSX_VEC(int64_t)     members;   /* numbers of devices, sorted in each group */
	struct nsx_intern    group_of;  /* groups by their members */
	nsx_u128 waited;                /* of all records */
	double   all, share, most;      /* nsx_look_comm_bound; most: ns per step */
	int64_t  most_device;           /* NSX_ABSENT: none */
	bool     known;                 /* that all of `all` is exposed */
	int64_t  records, together, apart, no_hidden, lone;   /* lone: operations in no known instance */
};

/* ---- forecasts.c: what changes would save, and the critical path */
struct nsx_look_forecasts {
	struct wi_graph    graph;
	struct wi_path     path;
	struct wi_gains    gains;
	bool               known;        /* findings have forecasts */
	struct nsx_buf     why;          /* why not, or why they are ranges; may be empty */
	int64_t            device;       /* with the most of it; */
	int64_t            on;           /* ns of it there */
	int64_t            steps, of;    /* steps of the path, if they are not all */
};

/* State of the whole diagnosis. */
/* host.c: what the host did while devices were idle. */
struct nsx_look_host {
	struct nsx_doing   doing;
	struct nsx_intern  texts;        /* of calls and lines; number 0 is empty */
	struct nsx_sums    did;
	struct nsx_map     counted;      /* (row, sample) */
	NSX_VEC(int64_t)   until;        /* by device: start of its latest stretch; INT64_MAX: it has had none */
	size_t             passed;       /* stretches since `until` was looked at */
	bool               known;        /* the stream has host threads */
};

/* ---- families.c */

/* Kernels about which there are findings. */
enum nsx_kin { NSX_KIN_FLASH, NSX_KIN_F32, NSX_KIN_CAST, NSX_KIN_ELEMENTWISE, NSX_NKINS };

/* What an operation is where attention is computed kernel by kernel (softmax.c): a product of matrices, softmax, what
 * may be between these, what may and is not counted, and what is not part of attention. */
enum nsx_around { NSX_AROUND_PRODUCT, NSX_AROUND_SOFTMAX, NSX_AROUND_GLUE, NSX_AROUND_PASSES, NSX_AROUND_ENDS };

/* Kernels of a name. family.family: NULL: not looked at. hopper: it is for GPUs of compute capability 9.0 and later.
 * by_name: what the name alone tells; kin: if it has any time. attended: ns between products of matrices, where it is
 * the softmax. */
struct nsx_look_named {
	struct nsx_family family;
	bool              hopper;
	enum nsx_kin      by_name, kin;
	enum nsx_around   around;
	nsx_u128          time, attended;
};

/* device: in the catalogue of the reading. chained: ns that chains take beyond the longest of each; links: kernels in
 * chains behind the first. attended, softmaxes: between products of matrices (softmax.c). */
struct nsx_look_kin_device {
	uint32_t device;
	int64_t  count[NSX_NKINS], links, softmaxes;
	nsx_u128 time[NSX_NKINS], chained, attended;
};

/* What runs on a stream: elementwise kernels so far, the longest of them, and the end of the last, ns; tid: that of the
 * last launch. Since the last product of matrices, if nothing that is not part of attention came between: ns, how many
 * softmaxes, and the name of the last of these. */
struct nsx_look_chain {
	int64_t kernels, longest, end, tid;
	struct { bool open; int64_t ns, softmaxes; uint32_t name; } since;
};

struct nsx_look_kins {
	struct nsx_look_at *at;
	NSX_VEC(struct nsx_look_named) of;               /* by name, in the names of the reading */
	NSX_VEC(struct nsx_look_kin_device) devices;     /* by index of the catalogue */
	struct nsx_map     chain_of;                     /* (profile and device, stream) -> chains; */
	struct nsx_recent  recent[NSX_RECENT];           /* those of it that were asked for lately */
	NSX_VEC(struct nsx_look_chain) chains;
	bool               hopper;                       /* some kernel is for such GPUs */
	/* Instructions by index of the catalogue: the kin of their kernels that count, and the time of these. */
	NSX_VEC(struct nsx_look_kin_inst { enum nsx_kin kin; int64_t time; }) insts;
};

/* Calls that waited, in windows. first: (profile, process id) -> a device in steps.cat; next: by device, another of
 * that process. */
struct nsx_look_waits { int64_t count; nsx_u128 ns; struct nsx_map first; NSX_VEC(uint32_t) next; };

struct nsx_look_at {
	const struct nsx_diagnose_options *options;
	struct nsx_err    *err;
	struct nsx_diags  *diags;
	struct nsx_step_set steps;
	bool               stepped;      /* windows are of steps */
	uint32_t           class;        /* in steps.names; NSX_NONE: none */
	NSX_VEC(struct nsx_look_device) devices;   /* by number */
	NSX_VEC(struct nsx_window_given)  windows;
	NSX_VEC(int64_t)   periods;      /* of all devices, sorted */
	nsx_u128           time;         /* ns of all windows */
	int64_t            count;        /* steps of all windows */
	NSX_VEC(int64_t)   first_periods;   /* those that count of the first NSX_LOOK_FIRST steps of each device */
	double             period;       /* ns: time / count */
	struct nsx_idle_options idle_options;
	bool               marked;       /* idle time is that of marks */
	bool               hosts;        /* the stream has host threads */
	int64_t            beyond;       /* ranges that are not in reach, if only that is looked at; */
	uint32_t           ranges_block; /* the last block of which they were */
	struct nsx_analyses reading;     /* of: */
	struct nsx_analysis_run runs[NSX_LOOK_RUNS];
	size_t             nruns;
	struct nsx_analysis_run *all_copies;   /* with options->gaps: of all the stream; one of them */
	struct nsx_diags   of_copies;
	struct idle       *idle;         /* the states of some of them */
	const void        *copies, *launch, *overlap;
	struct nsx_roof   *roof;
	nsx_u128           cells[NSX_IDLE_CELLS], blocked[NSX_NCAUSES];
	struct nsx_look_comm comm;
	struct nsx_look_host host;
	struct nsx_look_kins kins;
	struct nsx_intern  texts;
	struct nsx_map     layout_of;    /* name -> layouts */
	/* word: the word in the names of these kernels; NULL: name is an instruction's */
	NSX_VEC(struct nsx_look_layout { uint32_t name; const char *word; int64_t count; nsx_u128 time; }) layouts;
	NSX_VEC(uint8_t)   insts;        /* by index of the catalogue: what layout.c found */
	NSX_VEC(double)    roofed;       /* by index of the catalogue: what the roofline finding has of it, ns */
	bool               misnamed;     /* an instruction that computes has a name of those */
	NSX_VEC(const char *) moves;     /* by name in the reading's names (nsx_look_kernel_word) */
	NSX_VEC(uint32_t)  kernel_of;    /* by nsx_event.of_name -> kernel_times; NSX_NONE: none */
	NSX_VEC(struct nsx_pace_time) kernel_times;
	struct nsx_paces   paces;
	NSX_VEC(double)    slow;         /* by device: how much longer its kernels take, 0.03: 3 %; 0: it is not slow */
	int64_t            thunks, ops, calls;   /* in windows */
	struct nsx_look_waits waits;
	int64_t            graphs, graph_ns;     /* operations that are whole CUDA graphs, in windows */
	struct nsx_overruns overruns;    /* of operations in windows */
	struct nsx_step_windows kept;    /* the windows of all devices */
	struct nsx_map     compiled;     /* (profile, program): the stream has its compilation */
	bool               any_comm;     /* an instruction communicates */
	bool               unsteady;     /* nothing in the stream is steady: no gain is known */
	bool               initialises;  /* windows contain executions that nsysx-warmup drops */
	struct nsx_look_forecasts forecasts;
	struct nsx_buf     text, subject;
	struct nsx_buf     named;        /* what the change of the next finding is of */
	struct nsx_buf     command;      /* of the finding that is being made */
	NSX_VEC(struct nsx_finding) findings;
	NSX_VEC(uint32_t)  warnings;     /* in texts: what nsys says about the recording */
	const char        *unseen[NSX_NLOOKS];   /* NULL: it was analysed; else why not, and a remedy */
	struct nsx_buf     others;       /* the text of unseen for steps of another class */
	struct nsx_buf     turns;        /* kinds of steps that take turns, for a sentence; empty: there are none */
	uint32_t           other;        /* in steps.names: a class with steps between those examined; NSX_NONE:
	                                  * none */
	bool               mixed;        /* periods with such a step count */
};

/* The device of that number; NULL if it has no window. */
const struct nsx_look_device *nsx_look_device(const struct nsx_look_at *a, int64_t number);

/* The data of idle/ on the device's window; NULL: none. */
static inline const struct idle_window *
nsx_look_window(const struct nsx_look_at *a, const struct nsx_look_device *d)
{
	return d->window == NSX_NONE ? NULL : &a->idle->windows.p[d->window];
}

/* Whether a record of a device, by start, is in its window. */
bool nsx_look_within(const struct nsx_look_at *a, int64_t device, int64_t start);

/* ns from a time of a device to the end of its window; less than 0: the time is in none. */
int64_t nsx_look_rest(const struct nsx_look_at *a, int64_t device, int64_t start);

/* Mean of a sum over all windows, per step of a device. */
static inline double nsx_look_mean(const struct nsx_look_at *a, nsx_u128 sum) { return (double)sum / (double)a->count; }

/* Whether devices have so many steps that a single one is not typical of the cost of each. */
static inline bool
nsx_look_has_several(const struct nsx_look_at *a)
{
	return a->stepped && a->count >= 3 * (int64_t)a->devices.n;
}

/* A number in words, for a call with %s, as nsx_ns_text makes one of a time. */
struct nsx_look_number { char s[48]; };
/* The number per step of a sum over `steps` of them, to a tenth: "3 kernels", "2.5 kernels"; what: the singular noun,
 * "" for the number alone. */
struct nsx_look_number nsx_look_each(int64_t sum, int64_t steps, const char *what);
/* "1.5 MB" */
struct nsx_look_number nsx_look_bytes(int64_t bytes);
/* a->text is that and no more. */
void nsx_look_say(struct nsx_look_at *a, const char *fmt, ...) NSX_PRINTF(2, 3);

/* Whether any activity of devices is known; otherwise there is nothing to find. */
static inline bool nsx_look_any_work(const struct nsx_look_at *a)
{
	return a->count || a->ops || a->thunks || a->comm.records;
}

/* Whether the stream has records of the kind, which may count or not: in the reading for findings. */
static inline bool
nsx_look_came(const struct nsx_look_at *a, enum nsx_kind_id kind)
{
	return a->reading.came[kind] > 0;
}

/* The unit of gains: "step", or "device" if a device's whole time counts as one. */
static inline const char *nsx_look_unit(const struct nsx_look_at *a) { return a->stepped ? "step" : "device"; }

/* The number of the text in a->texts; NSX_NONE with err filled when out of memory. */
uint32_t nsx_look_text(struct nsx_look_at *a, struct nsx_str s);
struct nsx_str nsx_look_str(const struct nsx_look_at *a, uint32_t text);

/* ---- collectives.c */
/* Its state is a struct nsx_look_comm with `at` set. */
extern const struct nsx_analysis nsx_look_collectives;
/* Sets comm.all, the ns in which devices only communicated, each moment once, and comm.most, the mean per step of the
 * device of which that is the maximum, most_device. Records of a device may overlap, so the sum of their waits can
 * exceed its exposed time: comm.share, at most 1, is the factor by which waiting is multiplied for that.
 *
 *   share = sum over devices of min(waited, exposed) / sum over devices of waited */
void nsx_look_comm_bound(struct nsx_look_at *a);

/* ---- late_set.c */

/* A set of devices: `has` by index in nsx_look_at.devices. */
struct nsx_look_set {
	bool  *has;
	size_t size;            /* 0: there is none */
	bool   host;            /* it is a host, several, or a report */
	bool   plural;          /* its name is */
	struct nsx_buf name, also;   /* also: another name of the same devices, as a sentence; may be empty */
};

/* The smallest set of two devices or more, and of at most half of all, that explains why others wait. late: by index in
 * a->devices, what each is to blame for; all: their sum. The result is to be freed. NSX_OK or NSX_ERR. */
int nsx_look_late_set(struct nsx_look_at *a, const double *late, double all, struct nsx_look_set *out);
void nsx_look_set_free(struct nsx_look_set *s);

/* ---- slow.c */

/* Sets a->paces, and which devices are slow. NSX_OK or NSX_ERR. */
int nsx_look_pace(struct nsx_look_at *a);
/* Whether the device takes longer than others for the same kernels, by more than chance; *share: by that much, 0.03:
 * 3 % longer. */
bool nsx_look_is_slow(const struct nsx_look_at *a, int64_t device, double *share);
/* What to do about a slow device; static. */
const char *nsx_look_slow_action(const struct nsx_look_at *a);
/* The finding about the slowest, unless `told`, which another finding names. */
int nsx_look_judge_slow(struct nsx_look_at *a, int64_t told);

/* ---- rules_late.c */

/* The devices that others wait for. *reported: ns per step of the finding; *told: the device of the finding;
 * NSX_ABSENT: it is not about a single one. NSX_OK or NSX_ERR. */
int nsx_look_judge_waits(struct nsx_look_at *a, double *reported, int64_t *told);
/* The gain per step if the devices that wait continued `gain` ns earlier, in all steps of one of them together. */
double nsx_look_saved(const struct nsx_look_at *a, double gain);

/* ---- layout.c */

/* The regular expression for kernels whose names contain `word`, that of a nsx_look_layout. */
const char *nsx_look_layout_pattern(const char *word);
bool nsx_look_moves_by_name(struct nsx_str name);
/* Whether a kernel of no instruction, or an instruction that has run, by index of the catalogue, only moves data: the
 * layout finding counts it. *word: of the kernel's name, a number in the reading's names, the word that tells, NULL:
 * none; static. NSX_OK or NSX_ERR. */
int nsx_look_kernel_word(struct nsx_look_at *a, uint32_t name, const char **word);
bool nsx_look_inst_moves(const struct nsx_look_at *a, uint32_t inst);
/* Thunks and operations of windows, to the layouts and to the times of kernels. Its state is a struct nsx_look_at. */
extern const struct nsx_analysis nsx_look_names;

/* ---- kernels.c */

/* A kernel of a window. */
int nsx_look_add_kernel(struct nsx_look_at *a, const struct nsx_event *e, int64_t dur);
/* To a->text: whether all kernels of the device take longer than those of the median of the other devices, or which
 * ones do. *action, which is static, is what to do about that; NULL if it is not known. NSX_OK or NSX_ERR. */
int nsx_look_put_kernels(struct nsx_look_at *a, int64_t device, const char **action);

/* ---- between.c */

/* Sets other and mixed. */
void nsx_look_other(struct nsx_look_at *a);
/* Whether steps of another class are in the periods that count. Then variability is unknown, and a->unseen has the
 * reason. NSX_OK or NSX_ERR. */
int nsx_look_between(struct nsx_look_at *a, bool *explained);

/* ---- alternate.c */

/* Sets turns. NSX_OK or NSX_ERR. */
int nsx_look_turns(struct nsx_look_at *a);

/* ---- rules.c, rules_idle.c, rules_work.c, rules_comm.c */

/* Derive findings from the data, ranked. NSX_OK or NSX_ERR. */
int nsx_look_judge(struct nsx_look_at *a);
/* Whether its gain, or its forecast as far as that is known yet, is as large as findings that are shown. */
bool nsx_look_shows(const struct nsx_look_at *a, const struct nsx_finding *f);
int nsx_look_judge_comm(struct nsx_look_at *a);
int nsx_look_judge_idle(struct nsx_look_at *a);       /* idle time, copies, calls that block */
int nsx_look_judge_work(struct nsx_look_at *a);       /* launches, layouts, limits */
int nsx_look_judge_families(struct nsx_look_at *a);   /* attention, types, casts, elementwise kernels, links */

/* ---- softmax.c: attention that is computed kernel by kernel */

/* Of operations of a name and of kernels of that family. */
enum nsx_around nsx_look_around_of(struct nsx_str name, const struct nsx_family *family);
/* The next operation on a stream, whose chain that is. */
void nsx_look_take_around(struct nsx_look_kins *k, struct nsx_look_chain *c, struct nsx_look_kin_device *d,
                          enum nsx_around around, uint32_t name, int64_t dur);
int nsx_look_judge_around(struct nsx_look_at *a);
/* rules_work.c: the gain of an instruction, by index of the reading's catalogue, in the roofline finding, ns; 0: it is
 * not in it. */
double nsx_look_roofed(const struct nsx_look_at *a, uint32_t inst);

/* families.c: its state is a struct nsx_look_kins with `at` set. */
extern const struct nsx_analysis nsx_look_families;
void nsx_look_kins_free(struct nsx_look_kins *k);
int nsx_look_judge_overlap(struct nsx_look_at *a);    /* what hiding costs: rules_overlap.c */

/* Add a finding of a->text, which is its evidence, a->subject and a->named, which are cleared, if it has a gain. */
int nsx_look_find(struct nsx_look_at *a, enum nsx_finding_kind kind, enum nsx_cause cause, double gain,
                  const char *command);

const char *nsx_look_name(enum nsx_look look);
/* Append to a->text and a->subject the place of most of the window's time of a cause, if that is a large part. what:
 * that time, in words. */
void nsx_look_put_reason(struct nsx_look_at *a, const struct idle_window *w, enum nsx_cause cause, const char *what);

/* ---- advice.c */

/* What to do about idle time of a cause that is mostly in ranges of a framework whose meaning is known; NULL: nothing
 * more than its cause tells. If there is advice, a->text gets the share of `what`, that time in words. Static. */
const char *nsx_look_advise(struct nsx_look_at *a, enum nsx_cause cause, const char *what);

/* ---- host.c: what the host did */
extern const struct nsx_analysis nsx_look_host;   /* of a struct nsx_look_host */
/* For idle/: a gap, or its part in a window (nsx_idle_options.heard). */
int nsx_look_heard(void *host, const struct nsx_stretch *s, int64_t device, int64_t from, int64_t to);
/* The same: nothing before `start` is asked for of that device (nsx_idle_options.passed). */
int nsx_look_passed(void *host, uint32_t device, int64_t start);
/* Append to a->text what the device's host did in its idle time of the cause, and in which line, if that is known. What
 * to do about that, NULL: nothing in particular. *lines: whether lines of Python are known there. */
const char *nsx_look_put_host(struct nsx_look_at *a, const struct nsx_look_device *device, enum nsx_cause cause,
                              bool *lines);

/* ---- waits.c */
/* A call, which counts if it waited for the GPU. NSX_OK or NSX_ERR. */
int nsx_look_take_wait(struct nsx_look_at *a, const struct nsx_rec *call);
/* Append to a->text how often and how long the host waits in calls, if it does many times a step; whether it does. */
bool nsx_look_put_waits(struct nsx_look_at *a);
void nsx_look_waits_free(struct nsx_look_waits *w);

/* ---- commands.c */

/* Append the option by which the steps were selected here, with a space before it; nothing if there was none. */
void nsx_look_put_steps(const struct nsx_look_at *a, struct nsx_buf *to);
/* Append to a->command the name of the stream, with a space before it. */
void nsx_look_put_file(struct nsx_look_at *a);
/* Append to a->command: nsysx-idle with the options for the examined windows only. */
void nsx_look_put_idle(struct nsx_look_at *a);
/* Append to a->command: the tool, with options, that reads the stream; of the steps alone if there are any. */
void nsx_look_put_over(struct nsx_look_at *a, const char *tool);
/* The whole command, for nsx_look_find: that tool alone; NULL with err filled when out of memory. The tool may be in a
 * buffer, which is freed. */
const char *nsx_look_over(struct nsx_look_at *a, const char *tool);
const char *nsx_look_over_text(struct nsx_look_at *a, struct nsx_buf *tool);
/* Append a regular expression that matches n > 0 names, and nothing else. */
void nsx_look_put_names(struct nsx_buf *to, const struct nsx_str *names, size_t n);
/* Append the option for the rows whose column has one of n > 0 names. */
void nsx_look_put_only(struct nsx_buf *to, const char *column, const struct nsx_str *names, size_t n);
/* a->command with a NUL at the end, for nsx_look_find; NULL with err filled when out of memory. */
const char *nsx_look_command(struct nsx_look_at *a);

/* ---- catalogue.c */
void nsx_look_put_name(const struct nsx_finding *f, struct nsx_buf *to);
const char *nsx_look_action(const struct nsx_finding *f);   /* what to do first; static */
/* The change that would remove it, in which % is what the rule names; static; NULL: none is a forecast of it. */
const char *nsx_look_change(const struct nsx_finding *f);
/* Whether the change removes the finding alone; else it removes more, and its forecast is an upper bound. */
bool nsx_look_is_own(const struct nsx_finding *f);
int nsx_look_rank(const struct nsx_finding *f);             /* of equal gains the lowest comes first */
/* Whether the gain belongs to the subject alone, a device or a call; else the subject is the largest of several. */
bool nsx_look_is_one(const struct nsx_finding *f);

/* ---- forecasts.c */
/* Before the second reading: of which steps there will be forecasts. */
void nsx_look_forecasts_begin(struct nsx_look_at *a);
/* After it: set the forecasts of findings, and the critical path. NSX_OK or NSX_ERR. */
int nsx_look_forecast(struct nsx_look_at *a);
void nsx_look_forecasts_free(struct nsx_look_forecasts *f);
/* Append what is forecast, in percent: ", forecast 1.4 to 2.2%", ", forecast at most 2.2%", in a `cell` without the
 * words before it; of what is 0.0 % why that is, ", saves nothing while the host sets the pace". Nothing if nothing
 * is. */
void nsx_look_put_forecast(const struct nsx_look_at *a, const struct nsx_finding *f, bool cell, struct nsx_buf *to);
/* Where something is not known: whether a finding that is printed has a range for it, or no forecast; false: all come
 * to one number. */
bool nsx_look_ranges(const struct nsx_look_at *a);
/* The median and the slowest of the steps that count, one if they are the same. false when out of memory. */
bool nsx_look_picks(const struct nsx_look_at *a, const struct nsx_step_of *picks[2], size_t *n);
/* A gap is seen in a picture if it is at least this part of the picked step. */
enum { NSX_LOOK_SEEN = 4000 };
/* Set `shown` to the time of the steps that the page draws; without steps that of all. false when out of memory. */
bool nsx_look_shown(const struct nsx_look_at *a, struct nsx_idle_options *o);
/* The path of the median and of the slowest step, in order of time, without rows where there are no forecasts; NULL
 * when out of memory. */
struct nsx_table *nsx_look_path(const struct nsx_look_at *a);
/* Append a sentence: where the critical path is, and of which parts it is. false: it is not known, as forecasts. */
bool nsx_look_put_path(const struct nsx_look_at *a, struct nsx_buf *to);

/* ---- screen.c, tables.c */
int nsx_look_screen(struct nsx_look_at *a, bool markdown, struct nsx_buf *to);
struct nsx_table *nsx_look_findings(const struct nsx_look_at *a);
struct nsx_table *nsx_look_where(const struct nsx_look_at *a);

#endif
