/* flame/pool.c -- stacks as sequences of frame numbers, from which the tree is built at the end.
 *
 * A hash table of (parent, frame) costs a cache miss for each frame of each line. Here each line is appended as a few
 * words,
 *
 *     file and number of frames | n, low and high | name | name | ...
 *
 * and at the end they are sorted by their first frame, those with the same first frame by their second, and so on: each
 * group of stacks with a common prefix is a frame of the tree.
 *
 *     a;b 5        a: 3 stacks   ->  b: 2 stacks  ->  ends here: 5;  c: 1 stack
 *     d 1                            c: 1 stack
 *     a;c 2        d: 1 stack
 *     a;b;c 7
 *
 * Recent stacks are found in a small table, and the number is added to them. When the words reach a limit, equal stacks
 * are merged; if that does not free half of the words the limit doubles. So memory grows with the number of distinct
 * stacks. */
#include "draw/flame/pool.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 3, RECENT = 1 << 14, FIRST_LIMIT = 64 << 20, INSERTION = 40, AHEAD = 12 };

static const uint32_t FILE_BIT = UINT32_C(1) << 31;
static const uint32_t NOWHERE = UINT32_MAX;

/* ---- words */

static uint32_t
frames_of(const uint32_t *stack)
{
	return stack[0] & ~FILE_BIT;
}

static int
file_of(const uint32_t *stack)
{
	return (stack[0] & FILE_BIT) != 0;
}

static int64_t
value_of(const uint32_t *stack)
{
	return (int64_t)((uint64_t)stack[2] << 32 | stack[1]);
}

static void
set_value(uint32_t *stack, int64_t n)
{
	stack[1] = (uint32_t)n;
	stack[2] = (uint32_t)((uint64_t)n >> 32);
}

/* ---- groups of stacks with a common prefix */

/* items[lo, hi) have the first `depth` frames in common; the last of these is `name`, below `parent`. */
struct group { uint32_t lo, hi, depth, parent, name; };

struct walk {
	struct nsx_flame_pool          *pool;
	const struct nsx_flame_planter *to;     /* NULL: equal stacks are only merged */
	struct nsx_flame_item          *room;   /* for sorting */
	NSX_VEC(struct group)           todo;
};

static void
insertion_sort(struct nsx_flame_item *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct nsx_flame_item x = a[i];
		size_t k = i;

		for (; k && a[k - 1].key > x.key; k--)
			a[k] = a[k - 1];
		a[k] = x;
	}
}

/* Radix sort by key, byte by byte; stable. */
static void
sort(struct nsx_flame_item *a, size_t n, uint32_t max, struct nsx_flame_item *room)
{
	struct nsx_flame_item *from = a, *to = room;

	if (n <= INSERTION) {
		insertion_sort(a, n);
		return;
	}
	for (unsigned shift = 0; shift < 32 && max >> shift; shift += 8) {
		uint32_t at[256] = { 0 }, sum = 0;

		for (size_t i = 0; i < n; i++)
			at[from[i].key >> shift & 255]++;
		for (int i = 0; i < 256; i++) {
			uint32_t count = at[i];
			at[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[at[from[i].key >> shift & 255]++] = from[i];
		struct nsx_flame_item *was = from;
		from = to;
		to = was;
	}
	if (from != a)
		memcpy(a, from, n * sizeof *a);
}

/* The keys of items[lo, hi) at that depth. *max: the largest; true if all are the same. */
static bool
load_keys(struct nsx_flame_pool *p, size_t lo, size_t hi, uint32_t depth, uint32_t *max)
{
	const uint32_t *words = p->words.p;
	uint32_t all = 0, common = UINT32_MAX, most = 0;

	for (size_t i = lo; i < hi; i++) {
		struct nsx_flame_item *item = &p->items.p[i];
		const uint32_t *stack = &words[item->at];

		if (i + AHEAD < hi)
			__builtin_prefetch(&words[p->items.p[i + AHEAD].at + HEADER + depth]);
		item->key = depth < frames_of(stack) ? stack[HEADER + depth] + 1 : 0;
		all |= item->key;
		common &= item->key;
		if (item->key > most)
			most = item->key;
	}
	*max = most;
	return all == common;
}

/* items[lo, hi) are the same stack, which ends in node. */
static void
end_stacks(struct walk *w, uint32_t node, size_t lo, size_t hi)
{
	uint32_t *words = w->pool->words.p, *first[2] = { NULL, NULL };

	for (size_t i = lo; i < hi; i++) {
		uint32_t *stack = &words[w->pool->items.p[i].at];
		int file = file_of(stack);

		if (w->to) {
			w->to->give(w->to->state, node, file, value_of(stack));
		} else if (!first[file]) {
			first[file] = stack;
		} else {
			set_value(first[file], value_of(first[file]) + value_of(stack));
			set_value(stack, 0);
		}
	}
}

static uint32_t
child(struct walk *w, uint32_t parent, uint32_t name)
{
	return w->to ? w->to->child(w->to->state, parent, name) : 0;
}

/* The remaining frames of a group with one distinct stack. */
static bool
end_alone(struct walk *w, uint32_t node, size_t i, uint32_t depth)
{
	const uint32_t *stack = w->pool->words.p + w->pool->items.p[i].at;

	if (!w->to)
		return true;
	for (; depth < frames_of(stack) && node != NOWHERE; depth++)
		node = child(w, node, stack[HEADER + depth]);
	if (node != NOWHERE)
		w->to->give(w->to->state, node, file_of(stack), value_of(stack));
	return node != NOWHERE;
}

/* Sorted items[lo, hi): those with the same frame are a group; those that end here are done. */
static bool
split(struct walk *w, uint32_t node, size_t lo, size_t hi, uint32_t depth)
{
	const struct nsx_flame_item *items = w->pool->items.p;

	for (size_t end; lo < hi; lo = end) {
		struct group g = { (uint32_t)lo, 0, depth + 1, node, items[lo].key - 1 };

		for (end = lo + 1; end < hi && items[end].key == items[lo].key; end++)
			;
		g.hi = (uint32_t)end;
		if (items[lo].key == 0)
			end_stacks(w, node, lo, end);
		else if (!nsx_vec_push(&w->todo, g))
			return false;
	}
	return true;
}

static bool
take_group(struct walk *w, struct group g)
{
	uint32_t node = g.depth ? child(w, g.parent, g.name) : 0, max;

	while (node != NOWHERE) {
		if (g.hi - g.lo == 1)
			return end_alone(w, node, g.lo, g.depth);
		if (!load_keys(w->pool, g.lo, g.hi, g.depth, &max)) {
			sort(w->pool->items.p + g.lo, g.hi - g.lo, max, w->room);
			return split(w, node, g.lo, g.hi, g.depth);
		}
		if (max == 0) {
			end_stacks(w, node, g.lo, g.hi);
			return true;
		}
		node = child(w, node, max - 1);
		g.depth++;
	}
	return false;
}

static bool
walk(struct nsx_flame_pool *p, const struct nsx_flame_planter *to)
{
	struct walk w = { .pool = p, .to = to, .room = malloc((p->items.n + 1) * sizeof *w.room) };
	bool good = w.room && (p->items.n == 0
	                       || nsx_vec_push(&w.todo, ((struct group){ 0, (uint32_t)p->items.n, 0, 0, 0 })));

	while (good && w.todo.n)
		good = take_group(&w, w.todo.p[--w.todo.n]);
	free(w.room);
	free(w.todo.p);
	return good;
}

/* ---- adding */

/* Merge equal stacks; the remaining words are moved together. */
static bool
compact(struct nsx_flame_pool *p)
{
	size_t n = 0;

	if (!walk(p, NULL))
		return false;
	p->items.n = 0;
	for (size_t at = 0, next; at < p->words.n; at = next) {
		next = at + HEADER + frames_of(&p->words.p[at]);
		if (value_of(p->words.p + at) == 0)
			continue;
		memmove(&p->words.p[n], &p->words.p[at], (next - at) * sizeof *p->words.p);
		p->items.p[p->items.n++] = (struct nsx_flame_item){ 0, (uint32_t)n };
		n += next - at;
	}
	p->words.n = n;
	memset(p->recent, 0xff, RECENT * sizeof *p->recent);
	while (p->limit < 2 * n)
		p->limit *= 2;
	return true;
}

static bool
prepare(struct nsx_flame_pool *p)
{
	p->recent = malloc(RECENT * sizeof *p->recent);
	if (p->recent)
		memset(p->recent, 0xff, RECENT * sizeof *p->recent);
	if (!p->limit)
		p->limit = FIRST_LIMIT;
	return p->recent != NULL;
}

static uint32_t
hash(const uint32_t *names, size_t frames, int file)
{
	uint64_t h = (uint64_t)file;

	for (size_t i = 0; i < frames; i++)
		h = (h ^ names[i] ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

bool
nsx_flame_pool_add(struct nsx_flame_pool *p, const uint32_t *names, size_t frames, int file, int64_t n)
{
	size_t need = HEADER + frames;

	if ((!p->recent && !prepare(p)) || frames >= FILE_BIT)
		return false;
	uint32_t h = hash(names, frames, file);
	struct nsx_flame_recent *recent = &p->recent[h % RECENT];
	if (recent->hash == h && recent->at != NOWHERE) {
		uint32_t *stack = p->words.p + recent->at;
		if (frames_of(stack) == frames && file_of(stack) == file
		    && memcmp(stack + HEADER, names, frames * sizeof *names) == 0) {
			set_value(stack, value_of(stack) + n);
			return true;
		}
	}
	if (p->words.n + need > p->limit && !compact(p))
		return false;
	if (p->words.n + need >= NOWHERE || !nsx_vec_room(&p->words, need) || !nsx_vec_room(&p->items, 1))
		return false;
	uint32_t *stack = p->words.p + p->words.n;
	*recent = (struct nsx_flame_recent){ h, (uint32_t)p->words.n };
	p->items.p[p->items.n++] = (struct nsx_flame_item){ 0, (uint32_t)p->words.n };
	stack[0] = (uint32_t)frames | (file ? FILE_BIT : 0);
	set_value(stack, n);
	memcpy(stack + HEADER, names, frames * sizeof *names);
	p->words.n += need;
	return true;
}

bool
nsx_flame_pool_plant(struct nsx_flame_pool *p, const struct nsx_flame_planter *to)
{
	return walk(p, to);
}

void
nsx_flame_pool_free(struct nsx_flame_pool *p)
{
	free(p->words.p);
	free(p->items.p);
	free(p->recent);
	*p = (struct nsx_flame_pool){ 0 };
}
