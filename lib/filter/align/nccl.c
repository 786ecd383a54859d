/* nccl.c -- jobs without XLA's collectives: instances of NCCL's communicators (job/comm/nccl.h) are used like those of
 * XLA. Without NCCL's payloads the communicators are unknown: kernels of one name are then taken for one communicator,
 * and a clock is used only if they end together with those of another (end_together).
 *
 * Instances are found by equal ends, so the offsets between clocks are estimated first, by votes. Operations of two
 * clocks that are equal in communicator, kind, bytes and calls may be one instance: each pair of them votes for the
 * difference of its ends. Pairs of one instance agree, the others scatter:
 *
 *   clock a ends at  10  50  90     clock b ends at  1010  1050  1090     differences 1000 three times, 960 and 1040
 *     twice, 920 and 1080 once
 *
 * The offset is taken from the window of 100 us with most votes. Captures may begin thousands of calls apart, and ends
 * that are thinned out on both clocks would have no instance in common: only one of the two lists is, so that each end
 * that remains meets its partner. In a job whose steps are all equally long other offsets have nearly as many votes:
 * among those the one that the starts of the sessions tell is taken. */
#include <stdlib.h>

#include "base/sort.h"
#include "filter/align/aligning.h"
#include "stream/fields.h"

/* PAIRS: of one like that are compared without thinning out; DIFFS: compared for two clocks; LIST: ends of one clock
 * and like; SAMPLES, THIN: the most and the fewest ends to which a list is thinned out. */
enum { WINDOW = 100000, SAMPLES = 64, PAIRS = SAMPLES * SAMPLES, DIFFS = 1 << 20, LIST = 1 << 16, THIN = DIFFS / LIST };

/* Operations of one clock that are alike: [first, first + n) of `sample`. */
struct votes { uint32_t like, clock, device; uint32_t first, n; };

struct voting {
	struct al_job *j;
	NSX_VEC(struct votes)  list;      /* by like, then clock */
	NSX_VEC(int64_t)       samples;   /* ends */
	NSX_VEC(int64_t)       diffs;
	int64_t               *offset;    /* by clock */
	bool                  *placed;
	bool                  *apart;     /* clocks that cannot be compared */
	int64_t                guessed, told;   /* clocks for which several offsets have about as many votes */
	int64_t                unlike;    /* clocks whose operations do not end with those of others */
};

/* Whether all devices of an instance end together: in other kinds a device need not wait for all. */
static bool
ends_together(struct nsx_str kind)
{
	static const char *const kinds[] = { "all-reduce", "all-gather", "reduce-scatter", "all-to-all" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (nsx_str_eq(kind, nsx_str_c(kinds[i])))
			return true;
	return false;
}

/* A kernel of NCCL's whose communicator is unknown, because the export has no payloads. */
static bool
is_bare(const struct nsx_rec *op)
{
	return !nsx_has(op, NSX_OP_comm_id) && nsx_has(op, NSX_OP_start) && nsx_int(op, NSX_OP_dur, 0) >= 0 &&
	       nsx_str_starts(nsx_string(op, NSX_OP_name), "nccl");
}

/* A copy of an operation's record in which columns are replaced; what it has of its own may not outlive it. */
struct named { union nsx_val v[NSX_MAX_COLS]; char alike[2 * NSX_INT_CHARS + 1]; struct nsx_rec rec; };

static void
name_op(struct named *n, const struct nsx_rec *rec)
{
	char *end = n->alike;

	n->rec = (struct nsx_rec){ rec->kind, rec->has, n->v };
	for (int i = 0; i < NSX_MAX_COLS; i++)
		if (rec->has >> i & 1)
			n->v[i] = rec->v[i];
	/* All devices' kernels of one name are taken for one communicator. */
	if (is_bare(rec))
		nsx_set_s(&n->rec, NSX_OP_comm_id, nsx_string(rec, NSX_OP_name));
	/* Operations of a communicator and kind that differ in size are numbered apart, so that all those of a size can
	 * be left out. What devices exchange in an all-to-all need not be equal. */
	if (is_bare(rec) || nsx_str_eq(nsx_string(rec, NSX_OP_collective), NSX_STR("all-to-all")))
		return;
	end = nsx_put_int(end, nsx_int(rec, NSX_OP_bytes, -1));
	*end++ = '*';
	end = nsx_put_int(end, nsx_int(rec, NSX_OP_calls, -1));
	nsx_set_s(&n->rec, NSX_OP_pair, (struct nsx_str){ n->alike, (size_t)(end - n->alike) });
}

/* Whether clocks can be compared by an operation. */
static bool
is_usable(struct al_job *j, const struct nsx_rec *rec)
{
	return (is_bare(rec) || nsx_nccl_is(rec)) && ends_together(nsx_string(rec, NSX_OP_collective))
	       && nsx_cat_communicates(&j->comm.cat, rec);
}

bool
nsx_align_compares_op(struct al_job *j, const struct nsx_rec *rec)
{
	struct named n;

	if (!is_usable(j, rec))
		return false;
	if (is_bare(rec))
		return !j->nccl.ops.n;
	name_op(&n, rec);
	uint32_t key = nsx_nccl_find_key(&j->nccl, &n.rec);
	return key != NSX_NONE && (!j->nccl_sample.taken || nsx_align_sample_has(&j->nccl_sample, key, 0));
}

int
nsx_align_take_op(struct al_job *j, const struct nsx_rec *rec)
{
	struct named n;
	size_t before = j->nccl.ops.n;

	if (!is_usable(j, rec))
		return NSX_OK;
	uint32_t at = nsx_cat_find_device(&j->comm.cat, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));
	if (at == NSX_NONE) {
		j->unusable++;
		return NSX_OK;
	}
	if (is_bare(rec) && j->nccl.ops.n)
		return NSX_OK;
	name_op(&n, rec);
	/* The index of the device is used as its clock at first. */
	if (nsx_nccl_take(is_bare(rec) ? &j->bare : &j->nccl, &n.rec, at, j->err) != NSX_OK)
		return NSX_ERR;
	return j->nccl.ops.n > before ? nsx_align_sample_take_op(j) : NSX_OK;
}

static uint32_t
device_of(const struct al_job *j, const struct nsx_nccl_op *o)
{
	return j->nccl.devices.p[o->device].clock;
}

static int64_t
end_of(const struct nsx_nccl_op *o)
{
	return nsx_add_sat(o->start, o->dur, NULL);
}

/* ---- votes */

NSX_ORDER(by_like, struct votes, NSX_CMP(a->like, b->like), NSX_CMP(a->clock, b->clock),
          NSX_CMP(a->device, b->device))

/* Those of one like and device, in order of start. */
static bool
add_votes(struct voting *v, struct votes of, const struct nsx_sort_key *keys, size_t n)
{
	of.first = (uint32_t)v->samples.n;
	of.n = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		if (!nsx_vec_push(&v->samples, end_of(&v->j->nccl.ops.p[keys[i].i])))
			return false;
	return nsx_vec_push(&v->list, of);
}

/* For each clock and like, the votes of its lowest device. */
static bool
find_votes(struct voting *v)
{
	struct al_job *j = v->j;
	size_t n = j->nccl.ops.n, kept = 0;
	struct nsx_sort_key *keys = malloc((n + 1) * sizeof *keys);
	struct nsx_map like_of = { 0 }, size_of = { 0 };
	bool good = keys != NULL;

	for (uint32_t i = 0; good && i < n; i++) {
		const struct nsx_nccl_op *o = &j->nccl.ops.p[i];
		uint32_t *size = nsx_map_at(&size_of, (struct nsx_key){ (uint64_t)o->bytes, (uint64_t)o->calls });
		if (size && *size == NSX_NONE)
			*size = (uint32_t)size_of.n - 1;
		uint32_t *like = size ? nsx_map_at(&like_of, (struct nsx_key){ o->key, *size }) : NULL;
		if (like && *like == NSX_NONE)
			*like = (uint32_t)like_of.n - 1;
		good = like != NULL;
		if (good)
			keys[i] = (struct nsx_sort_key){ { *like, device_of(j, o), o->start }, i };
	}
	if (good)
		nsx_sort_keys(keys, n);
	for (size_t a = 0, b; good && a < n; a = b) {
		for (b = a + 1; b < n && keys[b].k[0] == keys[a].k[0] && keys[b].k[1] == keys[a].k[1]; b++)
			;
		uint32_t device = (uint32_t)keys[a].k[1];
		good = add_votes(v, (struct votes){ .like = (uint32_t)keys[a].k[0], .clock = j->devices.p[device].clock,
		                                    .device = device }, keys + a, b - a);
	}
	if (v->list.n)
		qsort(v->list.p, v->list.n, sizeof *v->list.p, by_like);
	for (size_t i = 0; i < v->list.n; i++)
		if (!kept || v->list.p[kept - 1].like != v->list.p[i].like ||
		    v->list.p[kept - 1].clock != v->list.p[i].clock)
			v->list.p[kept++] = v->list.p[i];
	v->list.n = kept;
	free(keys);
	nsx_map_free(&like_of);
	nsx_map_free(&size_of);
	return good;
}

static int64_t
size_of(int64_t v)
{
	return v < 0 ? nsx_sub_sat(0, v, NULL) : v;
}

/* A window of differences. */
struct window { size_t n; int64_t width, median; };

/* How far from the offset that the starts of the sessions tell; from 0 if they tell none. */
static int64_t
off(int64_t offset, int64_t told)
{
	return size_of(nsx_sub_sat(offset, told == NSX_ABSENT ? 0 : told, NULL));
}

/* The window with most differences of those with at least `least` whose median is at most `near` from `told`; of equal
 * ones the narrowest, then the nearest. n 0: there is none. The differences are sorted. */
static struct window
fullest(const struct voting *v, size_t least, int64_t told, int64_t near)
{
	const int64_t *d = v->diffs.p;
	struct window best = { 0, 0, 0 };

	for (size_t i = 0, k = 0; i < v->diffs.n; i++) {
		while (k < v->diffs.n && nsx_sub_sat(d[k], d[i], NULL) <= WINDOW)
			k++;
		struct window w = { k - i, d[k - 1] - d[i], d[i + (k - i - 1) / 2] };
		if (w.n < least || w.n < best.n || off(w.median, told) > near)
			continue;
		if (w.n > best.n || w.width < best.width || (w.width == best.width &&
		    off(w.median, told) < off(best.median, told)))
			best = w;
	}
	return best;
}

/* The offset: the median of the fullest window, or of one that has nearly as many and that the sessions tell. There is
 * at least one difference. */
static int64_t
elect(struct voting *v, int64_t told)
{
	int64_t nearest = INT64_MAX;

	qsort(v->diffs.p, v->diffs.n, sizeof *v->diffs.p, nsx_sort_by_int);
	struct window best = fullest(v, 1, told, INT64_MAX);
	size_t many = best.n - best.n / 4;
	bool several = false;
	const int64_t *d = v->diffs.p;
	for (size_t i = 0, k = 0; i < v->diffs.n; i++) {
		while (k < v->diffs.n && nsx_sub_sat(d[k], d[i], NULL) <= WINDOW)
			k++;
		int64_t median = d[i + (k - i - 1) / 2], from = off(median, told);
		if (k - i < many)
			continue;
		/* Windows that overlap the fullest one are not others. */
		several |= size_of(nsx_sub_sat(median, best.median, NULL)) > WINDOW;
		nearest = from < nearest ? from : nearest;
	}
	v->guessed += several && told == NSX_ABSENT;
	v->told += several && told != NSX_ABSENT;
	if (told != NSX_ABSENT && nsx_sub_sat(off(best.median, told), nearest, NULL) > WINDOW)
		best = fullest(v, many, told, nearest + WINDOW);
	return best.median;
}

/* At most n of the middle of a list. */
static struct votes
middle(struct votes x, uint32_t n)
{
	if (x.n > n) {
		x.first += (x.n - n) / 2;
		x.n = n;
	}
	return x;
}

/* The differences of one like, if there are few or, with `many`, if there are many. False when out of memory. */
static bool
differ_like(struct voting *v, const struct votes *a, const struct votes *b, bool many)
{
	struct votes x = middle(*a, LIST), y = middle(*b, LIST);
	uint32_t longer = x.n > y.n ? x.n : y.n;
	size_t thin = DIFFS / longer > THIN ? DIFFS / longer : THIN;

	if (((uint64_t)a->n * b->n > PAIRS) != many)
		return true;
	if (thin > SAMPLES)
		thin = SAMPLES;
	size_t p = x.n <= y.n && many && x.n > thin ? thin : x.n, q = x.n > y.n && many && y.n > thin ? thin : y.n;
	if (many && v->diffs.n && v->diffs.n + p * q > DIFFS)
		return true;
	for (size_t i = 0; i < p; i++)
		for (size_t k = 0; k < q; k++)
			if (!nsx_vec_push(&v->diffs, nsx_sub_sat(v->samples.p[y.first + k * y.n / q],
			    v->samples.p[x.first + i * x.n / p], NULL)))
				return false;
	return true;
}

/* Differences between the ends of clocks a and b that may belong to one instance. False when out of memory. */
static bool
differ(struct voting *v, uint32_t a, uint32_t b)
{
	const struct votes *l = v->list.p;

	v->diffs.n = 0;
	for (int many = 0; many < 2; many++)
		for (size_t i = 0, k; i < v->list.n; i = k) {
			const struct votes *x = NULL, *y = NULL;
			for (k = i; k < v->list.n && l[k].like == l[i].like; k++) {
				x = l[k].clock == a ? &l[k] : x;
				y = l[k].clock == b ? &l[k] : y;
			}
			if (x && y && !differ_like(v, x, y, many))
				return false;
		}
	return true;
}

/* How far clock b should be ahead of clock a according to the start of their sessions; NSX_ABSENT: unknown. In an
 * aligned stream it is not ahead. */
static int64_t
told_apart(const struct voting *v, uint32_t a, uint32_t b)
{
	int64_t start[2] = { NSX_ABSENT, NSX_ABSENT };

	for (uint32_t i = (uint32_t)v->j->devices.n; i-- > 0;) {
		if (v->j->devices.p[i].clock == a)
			start[0] = nsx_align_session_start(v->j, i);
		if (v->j->devices.p[i].clock == b)
			start[1] = nsx_align_session_start(v->j, i);
	}
	if (v->j->aligned)
		return 0;
	return start[0] == NSX_ABSENT || start[1] == NSX_ABSENT ? NSX_ABSENT : nsx_sub_sat(start[0], start[1], NULL);
}

/* FEWEST: operations that must end together for clocks to be compared without communicators; NEAR: within so many ns,
 * and within 1 / PART of the distance between operations. */
enum { FEWEST = 8, NEAR = 20000, PART = 8 };

/* How many of y's ends that are in the time of x's, and of how many, have one of x's near, if y is ahead by offset. */
static void
count_near(const struct voting *v, const struct votes *x, const struct votes *y, int64_t offset, size_t *near,
           size_t *all)
{
	const int64_t *a = v->samples.p + x->first, *b = v->samples.p + y->first;
	int64_t limit = nsx_sub_sat(a[x->n - 1], a[0], NULL) / x->n / PART;

	limit = limit < 0 || limit > NEAR ? NEAR : limit;
	for (uint32_t i = 0, k = 0; i < y->n; i++) {
		int64_t end = nsx_sub_sat(b[i], offset, NULL);

		if (end < nsx_sub_sat(a[0], NEAR, NULL) || end > nsx_add_sat(a[x->n - 1], NEAR, NULL))
			continue;
		while (k + 1 < x->n && size_of(nsx_sub_sat(a[k + 1], end, NULL)) <= size_of(nsx_sub_sat(a[k], end,
		       NULL)))
			k++;
		++*all;
		*near += size_of(nsx_sub_sat(a[k], end, NULL)) <= limit;
	}
}

/* Whether operations of clocks a and b end together at this offset: at least three of four in the time that both
 * captures have. Without communicators nothing else says that they belong together. */
static bool
end_together(const struct voting *v, uint32_t a, uint32_t b, int64_t offset)
{
	const struct votes *l = v->list.p;
	size_t near = 0, all = 0, back = 0, others = 0;

	for (size_t i = 0, k; i < v->list.n; i = k) {
		const struct votes *x = NULL, *y = NULL;
		for (k = i; k < v->list.n && l[k].like == l[i].like; k++) {
			x = l[k].clock == a ? &l[k] : x;
			y = l[k].clock == b ? &l[k] : y;
		}
		if (!x || !y)
			continue;
		count_near(v, x, y, offset, &near, &all);
		count_near(v, y, x, nsx_sub_sat(0, offset, NULL), &back, &others);
	}
	return near >= FEWEST && near >= all - all / 4 && back >= FEWEST && back >= others - others / 4;
}

/* Without communicators an offset is used only if it is the only one, or the starts of the sessions tell it. */
static void
place_clock(struct voting *v, uint32_t from, uint32_t c)
{
	int64_t guessed = v->guessed, told = v->told, offset = elect(v, told_apart(v, from, c));

	if (v->j->by_order && (v->guessed > guessed || !end_together(v, from, c, offset))) {
		v->guessed = guessed;
		v->told = told;
		v->unlike++;
		v->apart[c] = true;
	}
	v->offset[c] = nsx_add_sat(v->offset[from], offset, NULL);
	v->placed[c] = true;
}

/* A clock that has its offset and shares a like with clock c, the lowest; NSX_NONE: none. */
static uint32_t
neighbour(const struct voting *v, uint32_t c)
{
	const struct votes *l = v->list.p;
	uint32_t least = NSX_NONE;

	for (size_t i = 0, k; i < v->list.n; i = k) {
		uint32_t lowest = NSX_NONE;
		bool has = false;
		for (k = i; k < v->list.n && l[k].like == l[i].like; k++) {
			has |= l[k].clock == c;
			if (v->placed[l[k].clock] && !v->apart[l[k].clock] && lowest == NSX_NONE)
				lowest = l[k].clock;
		}
		if (has && lowest < least)
			least = lowest;
	}
	return least;
}

/* Offsets relative to the lowest clock of those that are connected. */
static bool
vote(struct voting *v)
{
	uint32_t n = v->j->nclocks, left = n;

	while (left) {
		bool found = false;
		for (uint32_t c = 0; c < n; c++) {
			uint32_t from = v->placed[c] ? NSX_NONE : neighbour(v, c);
			if (from == NSX_NONE)
				continue;
			if (!differ(v, from, c))
				return false;
			place_clock(v, from, c);
			found = true;
			left--;
		}
		for (uint32_t c = 0; c < n && !found; c++)
			if (!v->placed[c]) {
				v->placed[c] = found = true;
				left--;
			}
	}
	return true;
}

/* ---- instances */

/* Move starts by their clock's offset, or back. */
static void
move(struct al_job *j, const int64_t *offset, bool back)
{
	for (size_t i = 0; i < j->nccl.ops.n; i++) {
		struct nsx_nccl_op *o = &j->nccl.ops.p[i];
		int64_t by = offset[j->devices.p[device_of(j, o)].clock];
		o->start = back ? nsx_add_sat(o->start, by, NULL) : nsx_sub_sat(o->start, by, NULL);
	}
}

/* Operations of clocks that cannot be compared are in no instance. */
static void
drop_apart(const struct voting *v)
{
	struct al_job *j = v->j;
	size_t n = 0;

	for (size_t i = 0; i < j->nccl.ops.n; i++)
		if (!v->apart[j->devices.p[device_of(j, &j->nccl.ops.p[i])].clock])
			j->nccl.ops.p[n++] = j->nccl.ops.p[i];
	j->nccl.ops.n = n;
}

/* A collective is a key; it has no instruction or program. */
static bool
add_obs(struct al_job *j)
{
	struct nsx_nccl_set *s = &j->nccl;

	for (uint32_t i = 0; i < s->keys.n; i++)
		if (!nsx_vec_push(&j->collectives, ((struct al_collective){ .inst = NSX_NONE, .name = NSX_NONE,
		    .known = !j->by_order })))
			return false;
	for (size_t a = 0, b; a < s->ops.n; a = b) {
		b = nsx_nccl_instance(s, a);
		for (size_t i = a; i < b && b - a > 1; i++) {
			const struct nsx_nccl_op *o = &s->ops.p[i];
			if (!nsx_vec_push(&j->obs, ((struct al_obs){ end_of(o), o->key, device_of(j, o),
			    (int32_t)o->seq, 0 })))
				return false;
		}
	}
	return true;
}

int
nsx_align_use_nccl(struct al_job *j)
{
	struct voting v = { .j = j, .offset = calloc(j->nclocks + 1, sizeof *v.offset), .placed = calloc(j->nclocks + 1,
		sizeof *v.placed) };
	int rc = NSX_OK;
	bool good;

	v.apart = calloc(j->nclocks + 1, sizeof *v.apart);
	good = v.offset && v.placed && v.apart;
	j->by_nccl = true;
	if (!j->nccl.ops.n) {
		j->nccl = j->bare;
		j->bare = (struct nsx_nccl_set){ 0 };
		j->by_order = true;
	}
	for (size_t i = 0; i < j->nccl.devices.n; i++)
		j->devices.p[j->nccl.devices.p[i].clock].profiled = true;
	good = good && find_votes(&v) && vote(&v);
	if (good) {
		drop_apart(&v);
		move(j, v.offset, false);
		rc = nsx_nccl_number(&j->nccl, j->err);
		move(j, v.offset, true);
		j->collectives.n = 0;
		good = rc != NSX_OK || add_obs(j);
	}
	nsx_diag_add(j->diags, NSX_WARNING, "", v.told,
		"clocks whose offset is uncertain: several fit NCCL's operations about equally well, the one nearest "
		"to the offset of the sessions' starts is used");
	nsx_diag_add(j->diags, NSX_WARNING, "", v.guessed,
		"clocks whose offset is uncertain: several fit NCCL's operations about equally well, and the starts of "
	             "the sessions are unknown");
	nsx_diag_add(j->diags, NSX_WARNING, "", v.unlike,
		"clocks not compared: NCCL's communicators are unknown, and its operations do not clearly end together "
		"with those of other clocks");
	nsx_diag_add(j->diags, NSX_INFO, "", j->by_order && j->obs.n,
		"NCCL's communicators are unknown: operations of one kernel are taken for those of one communicator of "
		"all devices");
	free(v.apart);
	free(v.list.p);
	free(v.samples.p);
	free(v.diffs.p);
	free(v.offset);
	free(v.placed);
	return good ? rc : nsx_err_nomem(j->err, NULL);
}
