/* verdict.c -- what limits a window, as a word and as a sentence. */
#include <inttypes.h>

#include "base/num.h"
#include "table/idle/idle.h"

/* Of a window that computes for this share of its time no loss is named: little can be gained elsewhere. */
#define COMPUTE_BOUND 0.9

enum group { COMM, COPY, STARVED, ISSUED, GRAPH, NO_CALL, DOUBTFUL, NGROUPS };

/* Of the largest group: the verdict where it is more than computation, and where it is less, what devices have in
 * common. */
static const struct { const char *verdict, *loss, *besides, *says; } words[NGROUPS] = {
	[COMM]    = { "comm-bound", "communication", "compute-bound and losing most to communication",
	              "communication that no computation overlaps" },
	[COPY]    = { "copy-bound", "copies", "compute-bound and losing most to copies",
	              "copies that no computation overlaps" },
	[STARVED] = { "host-bound", "host", "compute-bound and losing most to the host",
	              "idle time in which the host had not launched the next work" },
	[ISSUED]  = { "latency-bound", "latency", "compute-bound and losing most to latency",
	              "idle time in which the next work was launched and had not started" },
	[GRAPH]   = { "graph-bound", "graphs", "compute-bound and losing most within graphs",
	              "idle time between the nodes of CUDA graphs" },
	[NO_CALL] = { "unknown", "unknown", "compute-bound and idle for unknown reasons",
	              "idle time before work whose launch is not in the profile" },
	[DOUBTFUL] = { "unknown", "unknown", "compute-bound and idle for unknown reasons",
	               "idle time before work whose launch took 1 ns or less by the export, which none does" },
};

/* ns: of the verdict; lost: of the group, which is the largest one besides computation, or -1; in: of the cause with
 * that path and call. */
struct verdict { const char *word, *says; int group; int64_t ns, lost, in; int cause; uint32_t path, leaf; };

static int
group_of(enum nsx_cause c)
{
	static const int of[NSX_NCAUSE_GROUPS] = {
		[NSX_CAUSES_EDGE] = -1, [NSX_CAUSES_REMOVED] = -1, [NSX_CAUSES_GRAPH] = GRAPH,
		[NSX_CAUSES_NO_CALL] = NO_CALL, [NSX_CAUSES_STARVED] = STARVED, [NSX_CAUSES_ISSUED] = ISSUED
	};

	return of[nsx_causes[c].group];
}

int64_t
nsx_idle_reason(const struct idle *f, const struct idle_window *w, enum nsx_cause cause, uint32_t *path, uint32_t *leaf)
{
	int64_t longest = 0;

	*path = *leaf = NSX_NONE;
	/* The list is in reverse order of arrival, and among equal ones the first is used. */
	for (uint32_t i = w->reason; i != NSX_NONE; i = f->reasons.p[i].next) {
		const struct idle_reason *r = &f->reasons.p[i];

		if ((int)r->cell == nsx_cause_cell(cause) && r->ns >= longest) {
			longest = r->ns;
			*path = r->path;
			*leaf = r->leaf;
		}
	}
	return longest;
}

/* Time of a cause that a verdict may rest on. */
static int64_t
sound(const struct idle_window *w, int cause)
{
	const struct idle_cell *c = &w->cells[nsx_cause_cell((enum nsx_cause)cause)];

	return c->ns - c->doubtful;
}

static void
add_groups(const struct idle_window *w, int64_t sum[NGROUPS])
{
	sum[COMM] += w->cells[NSX_PART_COMM].ns;
	sum[COPY] += w->cells[NSX_PART_COPY].ns;
	for (int c = 0; c < NSX_NCAUSES; c++)
		if (group_of((enum nsx_cause)c) >= 0) {
			sum[group_of((enum nsx_cause)c)] += sound(w, c);
			sum[DOUBTFUL] += w->cells[nsx_cause_cell((enum nsx_cause)c)].doubtful;
		}
}

/* Whether a window computes for more of its time than it loses to its largest loss, which is named. */
static bool
loses(const struct verdict *v)
{
	return v->group >= 0 && v->word != words[v->group].verdict;
}

/* Among equal ones the first, in the order of rows. */
static struct verdict
judge(const struct idle *f, const struct idle_window *w)
{
	int64_t sum[NGROUPS] = { 0 }, most = -1;
	int64_t compute = w->cells[NSX_PART_COMPUTE].ns;
	struct verdict v = { "compute-bound", "computation", -1, compute, 0, 0, -1, NSX_NONE, NSX_NONE };
	int best = -1;

	add_groups(w, sum);
	for (int g = 0; g < NGROUPS; g++)
		if (sum[g] > most) {
			most = sum[g];
			best = g;
		}
	if ((double)compute >= COMPUTE_BOUND * (double)nsx_idle_length(w) || most <= 0)
		return v;
	if (most > compute) {
		v.word = words[best].verdict;
		v.ns = most;
	}
	v.says = best == NO_CALL && nsx_cat_on_cpu(f->cat) ? "idle time between instructions of a CPU"
	         : words[best].says;
	v.group = best;
	v.lost = most;
	for (int c = 0; c < NSX_NCAUSES; c++)
		if (group_of((enum nsx_cause)c) == best
		    && (v.cause < 0 || sound(w, c) > sound(w, v.cause)))
			v.cause = c;
	if (v.cause >= 0)
		v.in = nsx_idle_reason(f, w, (enum nsx_cause)v.cause, &v.path, &v.leaf);
	return v;
}

/* What there is to say of the cause of a loss. */
static void
put_why(struct idle *f, const struct idle_window *w, const struct verdict *v, struct nsx_buf *b)
{
	int64_t cause = v->cause < 0 ? 0 : sound(w, v->cause);

	/* The largest of many causes need not be most of their time. */
	if (v->cause >= 0)
		nsx_buf_fmt(b, "; %s %s, %s", cause >= v->lost - cause ? "mostly" : "the largest cause is",
		            nsx_cause_name((enum nsx_cause)v->cause), NSX_NS(cause));
	if (cause && v->path != NSX_NONE && (v->path != NSX_STACKS_ROOT || v->leaf != NSX_NONE)) {
		nsx_buf_fmt(b, ", %.0f%% of that in ", 100 * (double)v->in / (double)cause);
		nsx_idle_put_place(f, v->path, v->leaf, b);
	}
}

static void
put_text(struct idle *f, const struct idle_window *w, const struct verdict *v, struct nsx_buf *b)
{
	double length = (double)nsx_idle_length(w);

	nsx_buf_fmt(b, "device %" PRId64 " is %s: %.1f%% of %s is %s", f->cat->devices.p[w->device].number, v->word,
	            100 * (double)v->ns / length, NSX_NS(length), loses(v) ? "computation" : v->says);
	if (loses(v))
		nsx_buf_fmt(b, "; it loses %.1f%% to %s", 100 * (double)v->lost / length, v->says);
	put_why(f, w, v, b);
}

void
nsx_idle_loss_text(struct idle *f, uint32_t window, struct nsx_buf *text)
{
	const struct idle_window *w = &f->windows.p[window];
	struct verdict v = judge(f, w);

	if (!loses(&v)) {
		put_text(f, w, &v, text);
		return;
	}
	nsx_buf_fmt(text, "device %" PRId64 " loses %.1f%% of %s to %s", f->cat->devices.p[w->device].number,
	            100 * (double)v.lost / (double)nsx_idle_length(w), NSX_NS(nsx_idle_length(w)), v.says);
	put_why(f, w, &v, text);
}

void
nsx_idle_verdict_text(struct idle *f, uint32_t window, struct nsx_buf *text)
{
	const struct idle_window *w = &f->windows.p[window];
	struct verdict v = judge(f, w);

	put_text(f, w, &v, text);
}

const char *
nsx_idle_verdict_word(const struct idle *f, uint32_t window)
{
	struct verdict v = judge(f, &f->windows.p[window]);

	return loses(&v) ? words[v.group].besides : v.word;
}

double
nsx_idle_verdict_share(const struct idle *f, uint32_t window)
{
	const struct idle_window *w = &f->windows.p[window];
	struct verdict v = judge(f, w);

	return nsx_idle_length(w) > 0 ? (double)(v.group < 0 ? v.ns : v.lost) / (double)nsx_idle_length(w) : 0;
}

int64_t
nsx_idle_verdict_of(const struct idle *f, uint32_t like, uint32_t window)
{
	struct verdict v = judge(f, &f->windows.p[like]);
	int64_t sum[NGROUPS] = { 0 };

	if (v.group < 0)
		return f->windows.p[window].cells[NSX_PART_COMPUTE].ns;
	add_groups(&f->windows.p[window], sum);
	return sum[v.group];
}

struct verdict_row {
	struct idle_keys keys;
	int64_t ns, lost, per;
	const char *word, *cause, *loss;
	struct nsx_str path, call, text;
};

#define NSX_ROW struct verdict_row
static const struct nsx_sum_col cols[] = {
	IDLE_KEY_COLS, NSX_COL("verdict", STRING, word), NSX_COL("ns", NS, ns), NSX_COL_PER("share", SHARE, ns, per),
	NSX_COL("cause", STRING, cause), NSX_COL("path", STRING, path), NSX_COL("call", STRING, call),
	NSX_COL("text", STRING, text), NSX_COL("loss", STRING, loss), NSX_COL("lost", NS, lost),
};
#define DEF(keys) { NSX_ROWS(cols), .shown = keys " verdict ns share cause path call text loss lost", \
	            .rank = keys " verdict share loss lost cause ns", .heads = { { "ns", "time" } } }
static const struct nsx_sum_def defs[] = { IDLE_BY(DEF) };

static int
put_verdict(struct idle *f, const struct nsx_sums *s, struct nsx_table *t, uint32_t window)
{
	const struct idle_window *w = &f->windows.p[window];
	struct verdict v = judge(f, w);
	struct verdict_row r = { .keys = nsx_idle_keys(f, window), .ns = v.ns,
		.per = nsx_idle_length(w), .lost = v.group < 0 ? NSX_ABSENT : v.lost, .word = v.word,
		.loss = v.group < 0 ? NULL : words[v.group].loss,
		.cause = v.cause < 0 ? NULL : nsx_cause_name((enum nsx_cause)v.cause) };
	struct nsx_buf *b = &f->scratch;

	if (r.per <= 0)
		return NSX_OK;
	b->len = 0;
	nsx_idle_put_frames(f, v.path, NSX_NONE, b);
	r.path.len = b->len;
	nsx_idle_put_frames(f, NSX_NONE, v.leaf, b);
	r.call.len = b->len - r.path.len;
	put_text(f, w, &v, b);
	if (b->failed)
		return nsx_err_nomem(f->err, NULL);
	r.path.ptr = b->ptr;
	r.call.ptr = b->ptr + r.path.len;
	r.text = (struct nsx_str){ r.call.ptr + r.call.len, b->len - r.path.len - r.call.len };
	return nsx_sums_put(s, t, &r, f->err);
}

struct nsx_table *
nsx_idle_verdicts(struct idle *f)
{
	struct nsx_table *t = nsx_idle_windows_table(f, defs, put_verdict);

	nsx_table_below(t, "text");
	return t;
}
