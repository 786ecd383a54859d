/* reading.h -- the state of reading an XSpace; private to lib/xplane. A plane is held at a time.
 *
 *   load.c     the file, field by field; what is said of it
 *   planes.c   a plane: an index of its lines and metadata               -> struct nsx_xplane
 *   rows.c     its lines, one after the other: operations, calls, ...    -> ops, calls, marks
 *   runs.c     executions of programs, and of their instructions         -> ranges with XLA's titles
 *   lines.c    which lines are of one thread */
#ifndef NSX_XPLANE_READING_H
#define NSX_XPLANE_READING_H

#include "base/input.h"
#include "base/vec.h"
#include "source/build.h"
#include "xplane/wire.h"
#include "xplane/xplane.h"

/* Statistics that are read, by name. */
enum nsx_xstat {
	XS_CORRELATION, XS_HLO_OP, XS_HLO_MODULE, XS_PROGRAM, XS_RUN, XS_ORDINAL, XS_COPY, XS_SET, XS_KERNEL, XS_EXEC,
	XS_NODE, XS_ROOT, XS_STEP, XS_PROTO, XS_START, XS_PROCESS, XS_VENDOR, XS_GPU, XS_CLOCK, XS_CORES, XS_BANDWIDTH,
	XS_MEMORY, XS_MAJOR, XS_MINOR, XS_JAX, XS_GLOBAL, XS_COUNT
};

/* Those of an event: number and text, by nsx_xstat; of several of one name the first. */
struct nsx_xstats {
	uint64_t has;
	int64_t  number[XS_COUNT];
	struct nsx_str text[XS_COUNT];
	uint32_t *kept[XS_COUNT];      /* NULL, or where the number of the text in names is kept, as of nsx_xmeta */
};

static inline bool nsx_xstats_have(const struct nsx_xstats *x, enum nsx_xstat what) { return x->has >> what & 1; }

/* Metadata of events. stats: of the message the part that begins with the first statistic, field 5. kept, kept_as: the
 * number in names of the name, and of what is left of it for an operation or a call; NSX_NONE: not known yet. */
struct nsx_xmeta { struct nsx_str name, stats; uint32_t kept, kept_as; };
struct nsx_xstat_meta { struct nsx_str name; uint32_t kept; uint8_t what; /* enum nsx_xstat; XS_COUNT: another */ };

/* Ids to numbers: profilers count from 1, so that most are places in a list. */
struct nsx_xids { NSX_VEC(uint32_t) near; struct nsx_map far; };

static inline uint32_t
nsx_xids_get(const struct nsx_xids *x, uint64_t id)
{
	return id < x->near.n && x->near.p[id] != NSX_NONE ? x->near.p[id]
	    : nsx_map_get(&x->far, (struct nsx_key){ id, 0 });
}

enum nsx_xplane_kind { XP_GPU, XP_HOST, XP_NVTX, XP_PROGRAMS, XP_TASK, XP_TPU, XP_OTHER };

struct nsx_xplane {
	enum nsx_xplane_kind kind;
	struct nsx_str name;
	int64_t        number;                 /* of a GPU */
	NSX_VEC(struct nsx_str) lines, stats;  /* messages */
	struct nsx_xids meta_of, stat_of;      /* to numbers in the following */
	NSX_VEC(struct nsx_xmeta)      metas;
	struct nsx_xmeta               none;   /* of an event without */
	NSX_VEC(struct nsx_xstat_meta) stat_metas;
	struct nsx_xstats about;               /* the plane's own */
};

/* A line of the host. tid: of its name `Host Threads/TID`, -1: none. gtid: set when lines are matched. */
struct nsx_xline { int64_t id, tid; uint64_t gtid; uint32_t as; /* its TraceMe line; NSX_NONE */ bool calls; };

/* hlo_op, module: in names; NSX_NONE: none. program: NSX_NO_PROGRAM: none. */
#define NSX_NO_PROGRAM INT64_MIN
struct nsx_xcall { struct nsx_build_call row; uint32_t line, hlo_op, module; int64_t program; };
struct nsx_xop   { struct nsx_build_op row; uint32_t hlo_op, module; int64_t program, run; bool has_run; };
/* A TraceMe: as a range, and if it is the execution of a module, its name; NSX_NONE: it is not. */
struct nsx_xmark { struct nsx_build_range row; uint32_t line, module; };

struct nsx_xspace {
	struct nsx_trace  *t;
	const struct nsx_trace_opts *opts;
	const char        *path;
	struct nsx_err    *err;
	struct nsx_build   build;
	struct nsx_input   in;          /* its window begins with a field of the file */
	uint64_t           taken;       /* bytes before the window */
	bool               bare;        /* only the programs are read */
	bool               repaired;    /* the file begins as after a text conversion */
	struct nsx_buf     text;
	NSX_VEC(struct nsx_xline)  lines;
	NSX_VEC(struct nsx_xop)    ops;
	NSX_VEC(struct nsx_xcall)  calls;
	NSX_VEC(struct nsx_xmark)  marks;
	NSX_VEC(struct nsx_str)    warnings;   /* and errors */
	struct nsx_map     named;       /* pairs of ordinal and number that device_names has, which is the trace's */
	NSX_VEC(struct nsx_named) device_names;
	struct nsx_str     host, jax;
	int64_t            started, pid;   /* UNIX ns, INT64_MIN: not known; 0: not known */
	int64_t            next;        /* id of the next event */
	/* Counted for diags. */
	int64_t bad_times, crowded, aggregated, python, derived, instants, holders, tpus, others, outside, alone,
	    unmatched, nameless, on_cpu, repeated, starts; /* of profiles but the first */
};

/* planes.c: index the plane and read what it says of itself. NSX_OK, or NSX_ERR with err filled. */
int nsx_xspace_index(struct nsx_xspace *s, struct nsx_str message, struct nsx_xplane *p);
void nsx_xplane_free(struct nsx_xplane *p);
/* Statistics of a message whose field `field` has them, and of the event's metadata, which count less; NULL: none.
 * False, with err filled, if it is damaged. */
bool nsx_xspace_stats(struct nsx_xspace *s, const struct nsx_xplane *p, struct nsx_str message, uint32_t field,
                      const struct nsx_xmeta *meta, struct nsx_xstats *stats);
/* Keep the programs that a plane names, as `jit_f(12)`, with their HLO. NSX_OK, or NSX_ERR with err filled. */
int nsx_xspace_programs(struct nsx_xspace *s, const struct nsx_xplane *p);
/* The number of a name, which is kept in *number; NSX_NONE when out of memory. */
static inline uint32_t
nsx_xspace_kept(struct nsx_intern *names, struct nsx_str name, uint32_t *number)
{
	return *number != NSX_NONE ? *number : (*number = nsx_intern(names, name));
}
/* What is wrong at that place of the file: NSX_ERR. */
int nsx_xspace_bad(struct nsx_xspace *s, const struct nsx_xwire *w);

/* rows.c: all lines of the plane, and its programs. After the last plane: times that count from 1970 are made to count
 * from the start of the profile. */
int nsx_xspace_rows(struct nsx_xspace *s, struct nsx_xplane *p);
void nsx_xspace_settle(struct nsx_xspace *s);

/* runs.c: gives the rows to the build, with ranges of executions and instructions, and frees them. */
int nsx_xspace_runs(struct nsx_xspace *s);

static inline int
nsx_xspace_nomem(struct nsx_xspace *s)
{
	return nsx_err_nomem(s->err, s->path);
}

#endif
