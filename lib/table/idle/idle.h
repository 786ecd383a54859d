/* idle.h -- declarations shared by the files of nsysx-idle; private to this folder.
 *
 * job/idle makes stretches of each device's time, whose gaps are pieces of one cause each. Here they are clipped to the
 * time that is examined (kept.c), and the windows (table/windows.h) say where they belong: idle.c adds them up by
 * cause, rows.c makes tables of the sums, verdict.c determines what limits a window. */
#ifndef NSX_TABLE_IDLE_IDLE_H
#define NSX_TABLE_IDLE_IDLE_H

#include "job/idle/idle.h"
#include "table/idle.h"
#include "table/sums.h"

/* A row of a window: busy activities, then causes. */
enum { NSX_IDLE_CELLS = NSX_PART_IDLE + NSX_NCAUSES };
static inline int nsx_cause_cell(enum nsx_cause c) { return NSX_PART_IDLE + (int)c; }

/* The name of its group. */
static inline const char *nsx_cause_group(enum nsx_cause c) { return nsx_cause_group_name(nsx_causes[c].group); }

/* blocked: of drained, what the host's wait explains: no more of a gap than the host spent in the call that waited.
 * doubtful: of ns, before operations whose call cannot have been as short as it is recorded. */
/* read: ns after a copy to the host for which no call is known to have waited. */
struct idle_cell { int64_t ns, count, longest, drained, blocked, doubtful, read; };

/* The sums of the window of the same number. Rows are sorted by device, earliest time, number. */
struct idle_window {
	uint32_t device;
	int64_t  length, key;       /* as the window has them, at the end */
	struct idle_cell cells[NSX_IDLE_CELLS];
	struct nsx_map reasons;     /* (cell, place) -> idle.reasons, for verdicts */
	uint32_t reason;            /* the first of a list of them; NSX_NONE ends */
};

/* Time of one cause with one path and leaf within a window, for verdicts. */
struct idle_reason { uint32_t cell, path, leaf, next; int64_t ns; };

/* drained, blocked, own: of ns. Texts are frames. */
struct idle_gap {
	uint32_t prev, next, path, leaf, stack;
	enum nsx_cause cause;
	const char *cause_name;
	int64_t  device, start, dur, ns, drained, blocked, own, tid;
};

struct idle {
	const struct nsx_idle_options *options;
	struct nsx_err    *err;
	struct nsx_diags  *diags;
	struct nsx_catalogue *cat;         /* own, or that of a reading for several analyses, which fills it */
	struct nsx_catalogue own;
	struct nsx_stacks  paths;          /* of ranges: nodes, no time */
	struct nsx_stacks  folded;
	struct nsx_idle_finder finder;
	struct nsx_windows times;
	bool               listed;         /* gaps are kept for a list */
	bool               reasoned;       /* verdicts are requested: sums by path too */
	bool               classed;        /* there may be several classes of steps */
	struct nsx_buf     scratch, full;
	struct nsx_intern  classes;        /* of the steps */
	NSX_VEC(struct nsx_window_given) steps;     /* by step: from a first reading; labels are classes */
	NSX_VEC(struct nsx_window_given) within;    /* with options.steps: the time examined of each device */
	NSX_VEC(size_t)    within_at;      /* by device: of the time examined, the first that has not passed */
	NSX_VEC(struct idle_window) windows;
	NSX_VEC(struct idle_reason) reasons;
	NSX_VEC(uint32_t)  any_step;       /* by node of paths: that with numbers of steps as '#' */
	struct nsx_map     folded_of;      /* (device and cause, path and leaf) -> node of folded */
	struct nsx_sums    gaps;                    /* of struct idle_gap */
	struct nsx_sums    shown;                   /* of gaps that a picture shows */
	int64_t            ngaps;                   /* whether they are listed or not */
	struct idle_gap    others;                  /* the sums of all of them, at last of those that are not listed */
	NSX_VEC(struct nsx_idle_piece) pieces;      /* of a gap that is clipped */
};

/* The time of a window without that of removed work: shares are of it. */
static inline int64_t
nsx_idle_length(const struct idle_window *w)
{
	return w->length - w->cells[nsx_cause_cell(NSX_CAUSE_REMOVED)].ns;
}

/* ---- idle.c: processes a stream's records one by one, for code that reads it for other purposes too. {0} with
 * options, diags, err set, and cat if it is another's, is empty; between nsx_idle_begin and nsx_idle_free. NSX_OK or
 * NSX_ERR. */

int nsx_idle_begin(struct idle *f);
void nsx_idle_need(const struct idle *f, struct nsx_reader *in);   /* declare to a reader what nsx_idle_take uses */
int nsx_idle_take(void *f, const struct nsx_rec *rec);
/* Of another's catalogue, whose records of metadata it has taken: the same for the others, in reach. device and
 * communicates: of an operation. */
int nsx_idle_take_known(struct idle *f, const struct nsx_rec *rec, uint32_t device, bool communicates);
int nsx_idle_finish(struct idle *f);      /* after the last record: windows are complete */
int nsx_idle_report(struct idle *f);      /* diags */
void nsx_idle_free(struct idle *f);
/* ---- kept.c: restrictions of the time examined */

/* Whether gaps are looked at for some causes only. */
static inline bool
nsx_idle_filters(const struct idle *f)
{
	return f->options->causes || f->options->drained;
}
/* For the finder: whether a window that is examined ends within the gap, which begins in it. */
bool nsx_idle_is_cut(void *idle, uint32_t device, int64_t start, int64_t end);
/* Of [start, end) the first part that is examined, into *from and *to: false if none is. Times of a device are passed
 * in order; the next part begins at *to or later. */
bool nsx_idle_clip(struct idle *f, uint32_t device, int64_t start, int64_t end, int64_t *from, int64_t *to);
/* The gap in [from, to), without pieces of causes that are not kept; valid until the next call. False when out of
 * memory. */
bool nsx_idle_clip_gap(struct idle *f, const struct nsx_stretch *gap, int64_t from, int64_t to,
                       struct nsx_stretch *part);

/* ---- steps.c: read all of `in` into a spool, and collect the steps that options name, or those that are found: into
 * f->within with options.steps, else into f->steps. Returns the reader of the spool, which the caller closes, or NULL
 * on failure. */
struct nsx_reader *nsx_idle_find_steps(struct idle *f, struct nsx_reader *in);

/* ---- rows.c, verdict.c: tables are NULL with f->err filled on failure */
int nsx_idle_fold_gap(struct idle *f, const struct nsx_stretch *gap);
void nsx_idle_list_begin(struct idle *f);
int nsx_idle_list_gap(struct idle *f, const struct nsx_stretch *gap);
struct nsx_table *nsx_idle_table(struct idle *f);
struct nsx_table *nsx_idle_list_table(struct idle *f);
struct nsx_table *nsx_idle_verdicts(struct idle *f);
/* The verdict of a window as text, for a note below a table. */
void nsx_idle_verdict_text(struct idle *f, uint32_t window, struct nsx_buf *text);
/* Only what the device loses most to, if it computes more than that. */
void nsx_idle_loss_text(struct idle *f, uint32_t window, struct nsx_buf *text);
/* "comm-bound", "compute-bound and losing most to copies", ...: what devices of one verdict have in common. */
const char *nsx_idle_verdict_word(const struct idle *f, uint32_t window);
/* ns of a window that are of the largest loss of the window `like`, or computation if that has none. */
int64_t nsx_idle_verdict_of(const struct idle *f, uint32_t like, uint32_t window);
double nsx_idle_verdict_share(const struct idle *f, uint32_t window);       /* of the window: that time */
/* The path and leaf with the maximum of a window's time of a cause, NSX_NONE if unknown, and that time in ns; needs
 * verdicts. */
int64_t nsx_idle_reason(const struct idle *f, const struct idle_window *w, enum nsx_cause cause, uint32_t *path,
                        uint32_t *leaf);
/* Windows in the order of rows: their numbers, to be freed; NULL when out of memory. */
uint32_t *nsx_idle_window_order(const struct idle *f);

/* What a window's rows begin with: which columns of these a table has depends on what it is by (IDLE_BY). */
struct idle_keys { int64_t device, number, start; struct nsx_str label, next; };
struct idle_keys nsx_idle_keys(const struct idle *f, uint32_t window);
#define IDLE_KEY_COLS \
	NSX_COL("device", ID, keys.device), NSX_COL("class", STRING, keys.label), \
	NSX_COL("module", STRING, keys.label), NSX_COL("name", STRING, keys.label), \
	NSX_COL("next", STRING, keys.next), NSX_COL("execution", ID, keys.number), \
	NSX_COL("step", ID, keys.number), NSX_COL("start", TIME, keys.start)
/* A definition for each enum nsx_windows_by, and one for steps of several classes. */
enum { IDLE_BY_CLASS = NSX_WINDOWS_GIVEN + 1 };
#define IDLE_BY(DEF) \
	[NSX_WINDOWS_DEVICE] = DEF("device"),       [NSX_WINDOWS_MODULE] = DEF("device module next"), \
	[NSX_WINDOWS_RANGE] = DEF("device name start"), [NSX_WINDOWS_EXECUTION] = DEF("device module execution"), \
	[NSX_WINDOWS_STEP] = DEF("device step start"), [IDLE_BY_CLASS] = DEF("device class step start"), \
	[NSX_WINDOWS_EVERY] = DEF("device start"),  [NSX_WINDOWS_GIVEN] = DEF("device")
/* Add the rows of a window: NSX_OK or NSX_ERR. */
typedef int nsx_idle_put_fn(struct idle *f, const struct nsx_sums *s, struct nsx_table *t, uint32_t window);
/* The table of all windows that have a length, in their order. */
struct nsx_table *nsx_idle_windows_table(struct idle *f, const struct nsx_sum_def *defs, nsx_idle_put_fn *put);

/* A path's or a leaf's text; empty for none. */
void nsx_idle_put_frames(const struct idle *f, uint32_t path, uint32_t leaf, struct nsx_buf *to);
/* The same for a sentence: a title of XLA becomes the name of its instruction or program. */
void nsx_idle_put_place(const struct idle *f, uint32_t path, uint32_t leaf, struct nsx_buf *to);

#endif
