/* aligning.h -- declarations that the files of align share: the job that is aligned, the data of the first pass, the
 * corrections. */
#ifndef NSX_FILTER_ALIGN_ALIGNING_H
#define NSX_FILTER_ALIGN_ALIGNING_H

#include "filter/align.h"
#include "job/comm/communication.h"
#include "job/comm/nccl.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "stream/reader.h"

typedef __int128 al_wide;

/* A correction: t becomes t - round(offset + rate * (t - ref)), halves away from zero. */
struct al_fix { double offset, rate; int64_t ref; };

/* Larger rates do not occur; below this a correction keeps times in order. */
#define AL_RATE_LIMIT 1e-3

int64_t nsx_align_fixed(const struct al_fix *f, int64_t t);

/* The composition of `first` and then `second`, on the clock before both. */
struct al_fix nsx_align_compose(const struct al_fix *first, const struct al_fix *second);

/* Whether a diag's source is this tool; if so it is cut to the subject of the diag. */
bool nsx_align_own(struct nsx_str *source);

/* Whether f changes any time. */
static inline bool al_moves(const struct al_fix *f) { return f->offset != 0 || f->rate != 0; }

/* ---- corrections by device, from an estimate or from a file (clock_file.c) ---- */

struct al_clock {
	int64_t       device;
	struct nsx_str report;        /* name of its profile; empty if it has none */
	struct al_fix fix;
	int64_t       collectives, component;
	double        error;          /* of the offset, ns; less than 0: unknown */
	struct nsx_str executions;    /* what is added to numbers of executions (renumber.c) */
};
struct al_corrections {
	struct nsx_arena arena;
	struct nsx_map   of;              /* device -> clocks */
	NSX_VEC(struct al_clock) clocks;
	struct nsx_spool *skews;          /* of a file; NULL: none */
};

/* Add a clock; NULL report: none. The first one of a device counts. NSX_OK or NSX_ERR. */
int nsx_align_corrections_add(struct al_corrections *g, const struct al_clock *c, struct nsx_err *err);
/* NULL if there is none */
const struct al_clock *nsx_align_corrections_get(const struct al_corrections *g, int64_t device);

/* Read clocks, skews, and the diags of nsysx-align (into diags) from the stream at path. */
int nsx_align_corrections_load(struct al_corrections *g, const char *path, struct nsx_diags *diags,
                               struct nsx_err *err);
void nsx_align_corrections_free(struct al_corrections *g);

/* Fill a `clock` record: device d of the catalogue, corrected by f; c (NULL: the record is unchanged) has the data of
 * the estimate. */
void nsx_align_clock_set(struct nsx_rec *rec, const struct nsx_catalogue *cat, const struct nsx_cat_device *d,
                         const struct al_fix *f, const struct al_clock *c);

/* ---- numbers of executions (renumber.c) ---- */

/* The two texts of `executions`, one applied after the other, into b, which is emptied first. False when out of
 * memory. */
bool nsx_align_executions_add(struct nsx_buf *b, struct nsx_str first, struct nsx_str second);

/* What a text adds to the numbers of a program on a device, by their index in the catalogue, which keeps aliases. */
int64_t nsx_align_executions_by(struct nsx_str text, const struct nsx_catalogue *cat, uint32_t device,
                                uint32_t program);

/* ---- data of the first pass (gather.c) ---- */

/* A device, by its index in the catalogue. */
struct al_device {
	uint32_t clock;       /* number of its clock, one for each that is corrected separately */
	bool     profiled;    /* has a module or thunk */
	bool     worked;      /* has GPU work of any kind */
};

/* An operation with instances on several devices: an instruction in one of its groups, or a key of NCCL's
 * (job/comm/nccl.h). */
struct al_collective {
	uint32_t inst;        /* in the catalogue; NSX_NONE of NCCL's */
	uint32_t program;     /* programs are numbered in order of their first collectives; 0 of NCCL's */
	uint32_t name;        /* of its thunks, a string of the catalogue; NSX_NONE if they have none */
	bool     pairs;       /* of a permutation */
	bool     known;       /* its group is known */
};

/* The number of the stack of an instruction of the catalogue, which communicates. */
struct al_stack { uint32_t inst; int64_t stack; };

/* A device's record of an instance. `execution` is the device's own number; pairing makes it that of the job. */
struct al_obs { int64_t end; uint32_t collective, device; int32_t execution, occurrence; };

/* An instance: records first .. first + n - 1 of obs. Instances on the same set of devices are treated alike. */
struct al_instance { uint32_t first, n, set; };

/* ---- a sample of the collectives of a large job (sample.c) ---- */

/* An occurrence of a collective in all its executions, of NCCL's a key; a set of devices, and whether it is known. */
struct al_unit { uint64_t hash; int64_t count; uint32_t set, program; bool dropped; };
struct al_sample_set { uint32_t devices; bool known, pairs; };

struct al_sample {
	int64_t        keep;         /* executions of the units of a set that are enough */
	size_t         next;         /* records held at the next look at what to drop */
	bool           taken;        /* a sample is taken: there were so many, or it is wanted */
	struct nsx_map unit_of;      /* (collective, occurrence) -> units; of NCCL's (key, 0) */
	struct nsx_map set_of;
	NSX_VEC(struct al_unit) units;
	NSX_VEC(struct al_sample_set) sets;
	int64_t        left_out;     /* records */
};

struct al_job {
	struct nsx_err                *err;
	struct nsx_diags              *diags;
	const struct nsx_align_opts   *opts;
	struct nsx_comm                comm;       /* its catalogue has profiles, devices and instructions, but not the
	                                            * clocks of the stream */
	struct nsx_map                 collective_of;   /* nsx_comm_collective -> collectives */
	struct nsx_map                 program_number;  /* program of the catalogue -> as in al_collective */
	NSX_VEC(struct al_device)      devices;
	NSX_VEC(struct al_collective)  collectives;
	NSX_VEC(struct al_stack)       stacks;
	NSX_VEC(struct al_obs)         obs;
	NSX_VEC(struct al_instance)    instances;  /* those used, after nsx_align_solve: sorted for skew records */
	int64_t                       *num;        /* by obs: n * (end - mean end), n: devices of its collective */
	struct nsx_map                 shift_of;   /* (program, device) -> shifts; missing: 0 */
	NSX_VEC(int32_t)               shifts;
	uint32_t                       nclocks;
	bool                           aligned;    /* the stream has clock records already */
	int64_t                        unusable;   /* thunks and operations that communicate */
	struct nsx_nccl_set            nccl;       /* operations of NCCL's, until a collective of XLA's is read */
	struct nsx_nccl_set            bare;       /* the same, of operations whose communicator is unknown */
	bool                           by_nccl;    /* obs are of NCCL's operations */
	bool                           by_order;   /* .. whose communicators are unknown */
	struct al_sample               sample;     /* of obs of XLA's */
	struct al_sample               nccl_sample;   /* of operations in nccl */
};

/* A sample is taken when there are `many` records; 0: in any case. */
void nsx_align_sample_begin(struct al_sample *s, int64_t keep, size_t many);
/* Count a record of an occurrence of a collective, which has that name: *dropped if it need not be kept. NSX_OK or
 * NSX_ERR. */
struct al_unit_key { uint32_t collective; int32_t occurrence; struct nsx_str name; };
int nsx_align_sample_take(struct al_job *j, const struct nsx_comm_record *r, const struct al_unit_key *key,
                          bool *dropped);
/* Remove from obs what is not in the sample, if obs are many; at the end, if a sample is taken. NSX_OK or NSX_ERR. */
int nsx_align_sample_cut(struct al_job *j, bool last);
/* Whether records of that occurrence of a collective are in the sample. */
bool nsx_align_sample_has(const struct al_sample *s, uint32_t collective, int64_t occurrence);
/* The same for the operation that was added to j->nccl last, which is removed if it need not be kept; and for all of
 * them. */
int nsx_align_sample_take_op(struct al_job *j);
int nsx_align_sample_cut_ops(struct al_job *j, bool last);
void nsx_align_sample_free(struct al_sample *s);
/* Write all metadata of `in`, the sample, and the first work of each device (sample_write.c). NSX_OK or NSX_ERR. */
int nsx_align_write_sample(struct al_job *j, struct nsx_reader *in, struct nsx_writer *out);

/* Read the records of `in` that are used here; if spool is not NULL everything is read and also written to it. */
int nsx_align_gather(struct al_job *j, struct nsx_reader *in, struct nsx_spool *spool);

/* Assign clocks to devices; call once after nsx_align_gather. */
int nsx_align_assign_clocks(struct al_job *j);

/* Add an operation, for nsx_align_use_nccl (nccl.c). NSX_OK or NSX_ERR. */
int nsx_align_take_op(struct al_job *j, const struct nsx_rec *rec);
/* Whether an operation that nsx_align_take_op took is compared: it is in the sample of its kind. */
bool nsx_align_compares_op(struct al_job *j, const struct nsx_rec *rec);

/* Fill obs with instances of NCCL's communicators, paired; after nsx_align_assign_clocks, if XLA's collectives are not
 * available. */
int nsx_align_use_nccl(struct al_job *j);

/* The profile of a device, both by their index in the catalogue; the number of profiles for a device without one. */
uint32_t nsx_align_profile_at(const struct al_job *j, uint32_t device);

/* When its session started, ns since 1970-01-01 UTC; NSX_ABSENT if unknown. */
int64_t nsx_align_session_start(const struct al_job *j, uint32_t device);

/* The name of its profile, empty if it has none. */
struct nsx_str nsx_align_report_name(const struct al_job *j, uint32_t device);

/* Write the skew records of the instances used; there are none for NCCL's, which have no instructions. */
int nsx_align_write_skews(const struct al_job *j, struct nsx_writer *out);
void nsx_align_job_free(struct al_job *j);

/* Find equal executions (pair.c): fills shifts, none of them less than 0, and removes obs that cannot be paired.
 * Executions of the others are then those of the job. Sorts obs. */
int nsx_align_pair(struct al_job *j);
enum { AL_UNPAIRED = INT32_MIN };
int32_t nsx_align_shift(const struct al_job *j, uint32_t program, uint32_t device);

/* Write what pairing found into the clocks of g (renumber.c). NSX_OK or NSX_ERR. */
int nsx_align_note_executions(const struct al_job *j, struct al_corrections *g);

/* Remove obs, sorted by instance, of collectives that do not involve all devices though it was assumed (screen.c). */
int nsx_align_screen(struct al_job *j);

/* From records to corrections (solve.c, whose parts share solving.h). */
int nsx_align_solve(struct al_job *j, struct al_corrections *g);

/* ---- arithmetic (least_deviations.c) ---- */

/* a / b, b > 0, to the nearest whole number, halves away from zero, clamped to 64 bits. */
int64_t nsx_align_round_div(al_wide a, al_wide b);

/* Median of n > 0 numbers, which are reordered; of an even number the mean of the two in the middle, rounded down. */
int64_t nsx_align_median(int64_t *v, size_t n);

/* The line a + b * t of least absolute deviations through n > 0 points; work: room for 2n. If all t are equal b is
 * 0. */
void nsx_align_line(const double *t, const double *s, size_t n, double *a, double *b, double *work);

/* Entry i is the equation x[node[i]] + (an unknown of star star[i]) = y[i], with weight w[i]. */
struct al_star_data { size_t n; const uint32_t *node, *star; const double *y, *w; };

/* The x of least absolute deviations, starting from the given x; the mean over each component is arbitrary. False when
 * out of memory. */
bool nsx_align_stars(const struct al_star_data *d, uint32_t nodes, uint32_t stars, double *x);

/* ---- sorting corrected records (queue.c) ---- */

struct al_queue;
struct al_queue *nsx_align_queue_new(size_t limit, struct nsx_writer *out, struct nsx_err *err);

/* Add a copy of rec, which is of section 2 and has its new start. *full is set when nsx_align_queue_release should be
 * called. */
int nsx_align_queue_add(struct al_queue *q, const struct nsx_rec *rec, bool *full);

/* Write, in order, the records that start before `bound`; no record added later does. */
int nsx_align_queue_release(struct al_queue *q, int64_t bound);

/* Write all remaining records. */
int nsx_align_queue_flush(struct al_queue *q);
void nsx_align_queue_free(struct al_queue *q);   /* NULL allowed */

/* ---- the second pass (apply.c) ---- */

/* Write `in` corrected by g. job: NULL with an applied file; else its skews are written (otherwise those of the
 * file). */
int nsx_align_apply(struct nsx_reader *in, struct nsx_writer *out, const struct al_corrections *g,
                    const struct al_job *job,
             const struct nsx_align_opts *opts, struct nsx_diags *diags, struct nsx_err *err);

/* Write only clocks, skews and the metadata that they refer to. */
int nsx_align_write_estimate(struct nsx_reader *in, struct nsx_writer *out, const struct al_corrections *g,
                             struct al_job *job, struct nsx_err *err);

#endif
