/* tracks.c -- assigns slices to tracks. A group of tracks is one row of the viewer, with further rows ("communication
 * 2") where slices overlap. A track is the stack of its open slices, so memory is that of the open slices.
 *
 *     a [0,9)  b [2,5)  c [4,7)     b is inside a: the same track; c overlaps b: track 2 */
#include <inttypes.h>
#include <stdlib.h>

#include "draw/perfetto/trace.h"
#include "base/heap.h"

enum {
	LANES = 64,       /* tracks of a group; a slice that fits none is dropped */
	DEPTH = 256,      /* open slices of a track: viewers draw about 500 */
	WAITING = 4096,   /* slices of a group that are sorted; CUDA queues fewer launches than that */
	ROOM = 128        /* bytes for the text of a waiting slice, more if its text is longer */
};

static const struct { const char *name; bool numbered, nests; const char *more; } roles[NSX_NTRACKS] = {
	[NSX_TRACK_LAUNCHES]      = { "launches", false, true, "" },
	[NSX_TRACK_RANGES]        = { "ranges", false, true, "" },
	[NSX_TRACK_MODULES]       = { "modules", false, false, "" },
	[NSX_TRACK_COMPUTATION]   = { "computation", false, true, "" },
	[NSX_TRACK_COMMUNICATION] = { "communication", false, false, "" },
	[NSX_TRACK_HEAP]          = { "heap ", false, false, "" },
	[NSX_TRACK_STREAM]        = { "stream ", true, false, "" },
	[NSX_TRACK_THREAD]        = { "thread ", true, true, "" },
	[NSX_TRACK_PYTHON]        = { "thread ", true, true, ", Python" },
	[NSX_TRACK_OS]            = { "thread ", true, true, ", OS calls" },
	[NSX_TRACK_OFF]           = { "thread ", true, true, ", off the CPU and the GIL" },
	[NSX_TRACK_NATIVE]        = { "thread ", true, true, ", native samples" },
	[NSX_TRACK_IDLE_THREAD]   = { "thread ", true, true, ", no GPU work" },
	[NSX_TRACK_COMPILE]       = { "thread ", true, true, ", compilation" },
};

/* A track, the ends of its open slices from the outermost to the innermost, and when something was last written to
 * it. */
struct lane { uint64_t id; int64_t last; NSX_VEC(int64_t) open; };

/* A slice that waits for earlier ones. */
struct waiting {
	struct nsx_buf    text;       /* its name, then its first string */
	size_t            name;       /* bytes of the former */
	int64_t           number;
	uint64_t          launch;
	enum nsx_category category;
	enum nsx_arg_key  number_key, string_key;   /* NSX_NARGS: none */
};

struct due { int64_t start, end; uint64_t came; uint32_t slot; };

struct nsx_group {
	uint32_t      process;
	enum nsx_track_role role;
	int64_t       number;
	uint32_t      seq;
	NSX_VEC(struct lane) lanes;
	/* Waiting slices, a heap: the earliest one is at the top; among equal ones the longest, then the first
	 * added. */
	NSX_VEC(struct due) due;
	NSX_VEC(struct waiting) slots;
	uint64_t      came;
};

static int
nomem(struct nsx_perfetto_tracks *t)
{
	return nsx_err_nomem(t->trace->err, NULL);
}

/* ---- processes and groups ---- */

uint32_t
nsx_tracks_process(struct nsx_perfetto_tracks *t, bool host, int64_t profile, int64_t number,
                   void (*name)(const void *arg, struct nsx_buf *buf), const void *arg)
{
	uint32_t *at = nsx_map_at(&t->process_of[host], (struct nsx_key){ (uint64_t)profile, (uint64_t)number });
	struct nsx_buf text = { 0 };
	int rc = NSX_OK;

	if (!at) {
		nomem(t);
		return 0;
	}
	if (*at != NSX_NONE)
		return *at;
	*at = ++t->processes;
	name(arg, &text);
	rc = text.failed ? nomem(t) : t->trace->form->process(t->trace, t->processes, nsx_buf_view(&text));
	nsx_buf_free(&text);
	return rc == NSX_OK ? t->processes : 0;
}

struct nsx_group *
nsx_tracks_group(struct nsx_perfetto_tracks *t, uint32_t process, enum nsx_track_role role, int64_t number)
{
	uint32_t *at = nsx_map_at(&t->group_of, (struct nsx_key){ (uint64_t)process << 8 | role, (uint64_t)number });
	struct nsx_group *g;

	if (at && *at != NSX_NONE)
		return t->groups.p[*at];
	g = at ? calloc(1, sizeof *g) : NULL;
	if (!g || !nsx_vec_push(&t->groups, g)) {
		free(g);
		nomem(t);
		return NULL;
	}
	*at = (uint32_t)t->groups.n - 1;
	g->process = process;
	g->role = role;
	g->number = number;
	g->seq = *at;
	return g;
}

/* The description of a track for the form: rank has the role, then the group, then the lane. */
static struct nsx_perfetto_track
track_of(const struct nsx_group *g, uint32_t lane)
{
	return (struct nsx_perfetto_track){ .id = g->lanes.p[lane].id, .process = g->process,
	                           .rank = (uint32_t)g->role << 24 | (g->seq & 0x3ffff) << 6 | lane };
}

static int
add_lane(struct nsx_perfetto_tracks *t, struct nsx_group *g)
{
	struct nsx_buf name = { 0 };
	struct nsx_perfetto_track track;

	if (!nsx_vec_push(&g->lanes, ((struct lane){ .id = ++t->tracks })))
		return nomem(t);
	track = track_of(g, (uint32_t)g->lanes.n - 1);
	nsx_buf_c(&name, roles[g->role].name);
	if (roles[g->role].numbered)
		nsx_buf_fmt(&name, "%" PRId64, g->number);
	nsx_buf_c(&name, roles[g->role].more);
	if (g->lanes.n > 1)
		nsx_buf_fmt(&name, roles[g->role].numbered ? " (%zu)" : " %zu", g->lanes.n);
	track.name = nsx_buf_view(&name);
	int rc = name.failed ? nomem(t) : t->trace->form->track(t->trace, &track);
	nsx_buf_free(&name);
	return rc;
}

int
nsx_tracks_counter(struct nsx_perfetto_tracks *t, uint32_t process, uint32_t place, struct nsx_perfetto_track *track)
{
	track->id = ++t->tracks;
	track->process = process;
	track->rank = (uint32_t)NSX_TRACK_HEAP << 24 | (place & 0xffffff);
	track->counter = true;
	return t->trace->form->track(t->trace, track);
}

/* ---- slices on tracks ---- */

/* End the slices that are over by `now`. */
static int
close_until(struct nsx_perfetto_tracks *t, struct nsx_group *g, uint32_t lane, int64_t now)
{
	struct lane *l = &g->lanes.p[lane];
	struct nsx_perfetto_track track = track_of(g, lane);

	while (l->open.n && l->open.p[l->open.n - 1] <= now) {
		l->last = l->open.p[--l->open.n];
		if (t->trace->form->end && t->trace->form->end(t->trace, &track, l->last) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static bool
fits(const struct nsx_group *g, const struct lane *l, const struct nsx_slice *s)
{
	if (s->start < l->last)
		return false;   /* too late to be sorted */
	return l->open.n == 0 || (roles[g->role].nests && l->open.n < DEPTH && s->end <= l->open.p[l->open.n - 1]);
}

int
nsx_tracks_add(struct nsx_perfetto_tracks *t, struct nsx_group *g, const struct nsx_slice *s)
{
	for (uint32_t i = 0; i < LANES; i++) {
		if (i == g->lanes.n && add_lane(t, g) != NSX_OK)
			return NSX_ERR;
		if (close_until(t, g, i, s->start) != NSX_OK)
			return NSX_ERR;
		if (!fits(g, &g->lanes.p[i], s))
			continue;
		struct nsx_perfetto_track track = track_of(g, i);
		g->lanes.p[i].last = s->start;
		return nsx_vec_push(&g->lanes.p[i].open, s->end) ? t->trace->form->slice(t->trace, &track, s)
		       : nomem(t);
	}
	t->crowded++;
	return NSX_OK;
}

/* ---- slices that wait ---- */

static bool
before(const struct nsx_group *g, const struct due *a, const struct due *b)
{
	(void)g;
	if (a->start != b->start)
		return a->start < b->start;
	return a->end != b->end ? a->end > b->end : a->came < b->came;
}

NSX_HEAP(due, struct due, const struct nsx_group *, before)

/* Write the first waiting slice; its slot is then free. */
static int
release(struct nsx_perfetto_tracks *t, struct nsx_group *g, uint32_t *slot)
{
	struct due d = due_pop(g, g->due.p, g->due.n--);
	const struct waiting *w = &g->slots.p[d.slot];
	struct nsx_slice s = { .name = { w->text.ptr, w->name }, .category = w->category, .start = d.start,
	                       .end = d.end, .launch = w->launch };

	if (w->number_key != NSX_NARGS)
		s.args[s.nargs++] = (struct nsx_arg){ .key = w->number_key, .i = w->number };
	if (w->string_key != NSX_NARGS)
		s.args[s.nargs++] = (struct nsx_arg){ .key = w->string_key, .s = { w->text.ptr + w->name,
			w->text.len - w->name } };
	*slot = d.slot;
	return nsx_tracks_add(t, g, &s);
}

static void
keep(struct waiting *w, const struct nsx_slice *s)
{
	w->text.len = 0;
	nsx_buf_room(&w->text, ROOM);   /* so that slots do not grow step by step as names are stored */
	nsx_buf_str(&w->text, s->name);
	w->name = w->text.len;
	w->launch = s->launch;
	w->category = s->category;
	w->number_key = w->string_key = NSX_NARGS;
	for (int i = 0; i < s->nargs; i++)
		if (s->args[i].s.ptr && w->string_key == NSX_NARGS) {
			w->string_key = s->args[i].key;
			nsx_buf_str(&w->text, s->args[i].s);
		} else if (!s->args[i].s.ptr && w->number_key == NSX_NARGS) {
			w->number_key = s->args[i].key;
			w->number = s->args[i].i;
		}
}

int
nsx_tracks_add_later(struct nsx_perfetto_tracks *t, struct nsx_group *g, const struct nsx_slice *s)
{
	uint32_t slot = (uint32_t)g->slots.n;

	if (g->due.n == WAITING) {
		if (release(t, g, &slot) != NSX_OK)
			return NSX_ERR;
	} else if (!nsx_vec_room(&g->due, 1) || !nsx_vec_push(&g->slots, ((struct waiting){ 0 }))) {
		return nomem(t);
	}
	keep(&g->slots.p[slot], s);
	due_push(g, g->due.p, g->due.n++, (struct due){ s->start, s->end, g->came++, slot });
	return g->slots.p[slot].text.failed ? nomem(t) : NSX_OK;
}

/* ---- the end ---- */

int
nsx_tracks_finish(struct nsx_perfetto_tracks *t)
{
	uint32_t slot;

	for (size_t i = 0; i < t->groups.n; i++) {
		struct nsx_group *g = t->groups.p[i];
		while (g->due.n)
			if (release(t, g, &slot) != NSX_OK)
				return NSX_ERR;
		for (uint32_t k = 0; k < g->lanes.n; k++)
			if (close_until(t, g, k, INT64_MAX) != NSX_OK)
				return NSX_ERR;
	}
	return NSX_OK;
}

void
nsx_tracks_drop(struct nsx_perfetto_tracks *t)
{
	for (size_t i = 0; i < t->groups.n; i++) {
		struct nsx_group *g = t->groups.p[i];
		for (uint32_t k = 0; k < g->lanes.n; k++)
			free(g->lanes.p[k].open.p);
		for (size_t k = 0; k < g->slots.n; k++)
			nsx_buf_free(&g->slots.p[k].text);
		free(g->lanes.p);
		free(g->slots.p);
		free(g->due.p);
		free(g);
	}
	free(t->groups.p);
	nsx_map_free(&t->process_of[0]);
	nsx_map_free(&t->process_of[1]);
	nsx_map_free(&t->group_of);
}
