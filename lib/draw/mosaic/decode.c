/* decode.c -- decodes a Mosaic GPU profiler buffer.
 *
 * The buffer is a slot of N words for each warpgroup, or each warp, block by block:
 *
 *	0          lower half of %globaltimer, ns, at the kernel's start
 *	1          number of the SM
 *	2          words in use: see enum nsx_mosaic_layout
 *	3, 4; ...  an event: its name's id, with the top bit when it ends; %clock, lower half
 *
 * Words after those in use were never written. Unless the kernel was told to drop what does not fit, the device checks
 * no bounds: a trace of too many events overwrites the next slot. */
#include <stdlib.h>

#include "base/sort.h"
#include "draw/mosaic.h"

enum {
	WARPGROUP = 128,      /* threads */
	WARP = 32,
	WARPS = WARPGROUP / WARP,
	HEADER = 3,           /* words */
	OVERHEAD_MAX = 12,    /* cycles: upper limit of the assumed cost of an event, plus one */
	BACK_MAX = 10,        /* cycles that a clock may step back without a warning */
	SAID_MAX = 100,       /* such steps reported one by one */
	TOGETHER = 1 << 20    /* ns in which all warps of a warpgroup start */
};
#define END (UINT32_C(1) << 31)

struct decoding {
	struct nsx_mosaic *m;
	struct nsx_diags  *diags;
	struct nsx_err    *err;
	const char        *path;
	const unsigned char *bytes;
	size_t             slots, words;   /* words of a slot */
	enum nsx_mosaic_layout layout;
	const char        *unit;           /* what has a slot, for messages */
	int64_t            said;           /* steps back reported */
};

static uint32_t
word(const struct decoding *d, size_t slot, size_t i)
{
	const unsigned char *p = d->bytes + (slot * d->words + i) * 4;

	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static size_t
event_count(const struct decoding *d, size_t slot)
{
	return (word(d, slot, 2) - (d->layout == NSX_MOSAIC_ENTRIES ? HEADER : 0)) / 2;
}

static uint32_t
clock_of(const struct decoding *d, size_t slot, size_t event)
{
	return word(d, slot, HEADER + 2 * event + 1);
}

/* ---- checks of every slot */

static int
divide(struct decoding *d, size_t bytes, const struct nsx_mosaic_shape *s, bool warps)
{
	int64_t unit = warps ? WARP : WARPGROUP;

	d->unit = warps ? "warp" : "warpgroup";
	if (s->threads <= 0 || s->threads % unit)
		return nsx_err_set(d->err, "a block of %lld threads is not of whole %ss of %lld",
		                   (long long)s->threads, d->unit, (long long)unit);
	int64_t groups = s->threads / unit;
	if (s->blocks <= 0 || groups > INT64_MAX / s->blocks)
		return nsx_err_set(d->err, "a grid of %lld blocks of %lld threads", (long long)s->blocks,
		                   (long long)s->threads);
	if (bytes % 4)
		return nsx_err_set(d->err, "%s: %zu bytes are not whole 32-bit words", d->path, bytes);
	uint64_t slots = (uint64_t)(groups * s->blocks);
	if (slots > SIZE_MAX / HEADER || bytes / 4 < slots * HEADER || bytes / 4 % slots)
		return nsx_err_set(d->err, "%s: %zu words do not divide into %llu %ss of at least %d each",
		                   d->path, bytes / 4, (unsigned long long)slots, d->unit, HEADER);
	d->slots = (size_t)slots;
	d->words = bytes / 4 / d->slots;
	return NSX_OK;
}

/* Is each slot in truth the slots of four warps? A header is written to the buffer only, never to the memory of the
 * SM, which the words between are a copy of: on the same SM at nearly the same time, it is no remainder. */
static bool
of_warps(const struct decoding *d)
{
	size_t part = d->words / WARPS;
	bool used = false;

	if (d->words % WARPS || part < HEADER)
		return false;
	for (size_t s = 0; s < d->slots; s++)
		for (size_t i = 1; i < WARPS; i++) {
			uint32_t apart = word(d, s, i * part) - word(d, s, 0), n = word(d, s, i * part + 2);

			if (word(d, s, i * part + 1) != word(d, s, 1) || apart + TOGETHER > 2 * TOGETHER ||
			    n % 2 || n > part - HEADER)
				return false;
			used = used || n;
		}
	return used;
}

/* Divide the buffer into slots. Only newer versions, which count events only, have traces of warps. */
static int
find_slots(struct decoding *d, size_t bytes, const struct nsx_mosaic_shape *s)
{
	bool any = s->scope == NSX_MOSAIC_ANY;
	bool warps = s->scope == NSX_MOSAIC_WARP || (any && s->threads % WARPGROUP && s->threads % WARP == 0);

	if (divide(d, bytes, s, warps) != NSX_OK)
		return NSX_ERR;
	return any && !warps && s->layout != NSX_MOSAIC_ENTRIES && of_warps(d) ? divide(d, bytes, s, true) : NSX_OK;
}

static int
guess_layout(struct decoding *d)
{
	bool odd = word(d, 0, 2) % 2;

	for (size_t s = 1; s < d->slots; s++)
		if (word(d, s, 2) % 2 != odd)
			return nsx_err_set(d->err,
				"%s: %ss 0 and %zu use %u and %u words, one odd and one even: the layout cannot "
				"be determined", d->path, d->unit, s, (unsigned)word(d, 0, 2), (unsigned)word(d, s, 2));
	d->layout = odd ? NSX_MOSAIC_ENTRIES : NSX_MOSAIC_TRACES;
	return NSX_OK;
}

static int
check_space(const struct decoding *d)
{
	bool entries = d->layout == NSX_MOSAIC_ENTRIES;

	for (size_t s = 0; s < d->slots; s++) {
		uint64_t used = word(d, s, 2);
		/* Layout with entries: two words must be free, which the next event would have used. */
		if (entries ? used + 2 > d->words : used + HEADER > d->words)
			return nsx_err_set(d->err,
				"%s: %s %zu: not enough space for all events: %llu words in use of %zu", d->path,
				d->unit, s, (unsigned long long)used, d->words);
	}
	for (size_t s = 0; s < d->slots; s++) {
		uint32_t used = word(d, s, 2);
		if ((entries && used < HEADER) || (used - (entries ? HEADER : 0)) % 2)
			return nsx_err_set(d->err,
				"%s: %s %zu: %u words in use is no whole number of events in a buffer of layout %s",
				d->path, d->unit, s, (unsigned)used, entries ? "entries" : "traces");
	}
	return NSX_OK;
}

/* Two events of a track are at least the cost of recording apart. */
static int64_t
overhead(const struct decoding *d)
{
	uint32_t least = OVERHEAD_MAX;

	for (size_t s = 0; s < d->slots; s++)
		for (size_t e = 1, n = event_count(d, s); e < n; e++) {
			uint32_t between = clock_of(d, s, e) - clock_of(d, s, e - 1);
			if (between < least)
				least = between;
		}
	return least ? (int64_t)least - 1 : 0;
}

/* ---- events */

static void
say_backward(struct decoding *d, struct nsx_str name, bool end, int64_t from, int64_t to)
{
	if (d->said++ >= SAID_MAX)
		nsx_diag_add(d->diags, NSX_WARNING, "", 1, "more events whose clock went backwards");
	else
		nsx_diag_add(d->diags, NSX_WARNING, "", 1, "clock went backwards for event %s `%.*s`: %lld -> %lld", end
		             ? "end" : "start",
		             (int)(name.len > 200 ? 200 : name.len), name.len ? name.ptr : "", (long long)from,
		             (long long)to);
}

static int
decode_slot(struct decoding *d, size_t s)
{
	struct nsx_mosaic *m = d->m;
	size_t n = event_count(d, s), first = m->events.n;
	int64_t start = word(d, s, 0), last = -1;

	if (!n)
		return NSX_OK;
	if (!nsx_vec_room(&m->events, n) || !nsx_vec_room(&m->tracks, 1))
		return nsx_err_nomem(d->err, d->path);
	for (size_t e = 0; e < n; e++) {
		uint32_t tag = word(d, s, HEADER + 2 * e);
		int64_t t = (int64_t)(uint32_t)(clock_of(d, s, e) - clock_of(d, s, 0)) - (int64_t)e * m->overhead;
		if (t < 0) {
			m->events.n = first;
			nsx_diag_add(d->diags, NSX_WARNING, "", 1, "%ss ignored: their clock wrapped around", d->unit);
			return NSX_OK;
		}
		uint32_t name = nsx_map_get(&m->names->index, (struct nsx_key){ tag & ~END, 0 });
		if (name == NSX_NONE)
			return nsx_err_set(d->err, "%s: %s %zu: event %zu: no name has the id %u", d->path,
			                   d->unit, s, e, (unsigned)(tag & ~END));
		if (t <= last) {
			if (last - t > BACK_MAX)
				say_backward(d, m->names->list.p[name], tag & END, last, t);
			t = last + 1;
		}
		last = t;
		m->events.p[m->events.n++] = (struct nsx_mosaic_event){ start + t, name, (tag & END) != 0 };
	}
	m->tracks.p[m->tracks.n++] = (struct nsx_mosaic_track){ (int64_t)s, word(d, s, 1), first, n };
	/* Where the device checks bounds, events that found no room leave only this. */
	if (HEADER + 2 * n + 2 > d->words)
		nsx_diag_add(d->diags, NSX_WARNING, "", 1,
			"traces that fill their space: events that came after, if any, are missing");
	return NSX_OK;
}

/* Sorting needs the times of first events, which a track does not have: it stores them temporarily. */
struct turn { int64_t time; struct nsx_mosaic_track track; };

NSX_ORDER(by_first_event, struct turn, NSX_CMP(a->time, b->time), NSX_CMP(a->track.slot, b->track.slot))

static int
sort_tracks(struct decoding *d)
{
	struct nsx_mosaic *m = d->m;
	struct turn *turns;

	if (m->tracks.n < 2)
		return NSX_OK;
	turns = malloc(m->tracks.n * sizeof *turns);
	if (!turns)
		return nsx_err_nomem(d->err, d->path);
	for (size_t i = 0; i < m->tracks.n; i++)
		turns[i] = (struct turn){ m->events.p[m->tracks.p[i].first].time, m->tracks.p[i] };
	qsort(turns, m->tracks.n, sizeof *turns, by_first_event);
	for (size_t i = 0; i < m->tracks.n; i++)
		m->tracks.p[i] = turns[i].track;
	free(turns);
	return NSX_OK;
}

static int
decode(struct decoding *d, size_t bytes, const struct nsx_mosaic_shape *shape)
{
	d->layout = shape->layout;
	if (find_slots(d, bytes, shape) != NSX_OK || (d->layout == NSX_MOSAIC_AUTO && guess_layout(d) != NSX_OK) ||
	    check_space(d) != NSX_OK)
		return NSX_ERR;
	d->m->overhead = overhead(d);
	for (size_t s = 0; s < d->slots; s++)
		if (decode_slot(d, s) != NSX_OK)
			return NSX_ERR;
	if (!d->m->tracks.n)
		nsx_diag_add(d->diags, NSX_WARNING, "", 1, "no events");
	return sort_tracks(d);
}

int
nsx_mosaic_decode(struct nsx_str bytes, const char *path, const struct nsx_mosaic_shape *shape,
                  const struct nsx_mosaic_names *names, struct nsx_mosaic *m, struct nsx_diags *diags,
                  struct nsx_err *err)
{
	struct decoding d = { .m = m, .diags = diags, .err = err, .path = path,
	                      .bytes = (const unsigned char *)bytes.ptr };

	*m = (struct nsx_mosaic){ .names = names };
	if (decode(&d, bytes.len, shape) == NSX_OK)
		return NSX_OK;
	nsx_mosaic_free(m);
	return NSX_ERR;
}

void
nsx_mosaic_free(struct nsx_mosaic *m)
{
	free(m->events.p);
	free(m->tracks.p);
	*m = (struct nsx_mosaic){ 0 };
}
