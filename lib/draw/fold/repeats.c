/* repeats.c -- removes runs of frames that are repeated immediately.
 *
 * XLA prepends the whole stack of the caller to every call that it inlines, so that one line of Python has the stack
 * step;loss;step;loss;step;loss;block. Frames are taken one after the other, outermost first; whenever the last frames
 * equal the run of as many frames before them, they are dropped, the shortest such run first:
 *
 *     frame    stack             the last frames repeat
 *     step     step
 *     loss     step loss
 *     step     step loss step
 *     loss     step loss         step loss
 *     step     step loss step
 *     loss     step loss         step loss
 *     block    step loss block
 *
 * So the remaining stack contains no immediately repeated run, which makes the search for the next one cheap: in such a
 * stack, equal blocks of 2^k frames end more than 2^k frames apart (nearer ones would overlap or touch, and hold a
 * repeated run). A run of d frames, 2^k <= d < 2^(k+1), ends with a block of 2^k that ended d frames before: of all
 * positions where that block ended, only the last is possible. Blocks have numbers, those of 2^k frames by the numbers
 * of their halves, so that two runs of d are equal when their first and their last blocks have equal numbers. Each
 * frame takes one step for each k, even if it is dropped: n log n for a stack of n frames. */
#include "draw/fold/repeats.h"

#include <stdlib.h>

/* The number of a block of 2^k frames that consists of these halves, or of frame b. NSX_NONE when out of memory. */
static uint32_t
name_of(struct nsx_repeats *r, unsigned k, uint32_t a, uint32_t b)
{
	uint32_t *at = nsx_map_at(&r->names, (struct nsx_key){ (uint64_t)k << 32 | a, b });

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (!nsx_vec_push(&r->last, NSX_NONE))
			return NSX_NONE;
		*at = (uint32_t)(r->last.n - 1);
	}
	return *at;
}

/* The block of 2^k frames that ends at frame i. */
static uint32_t
block(const struct nsx_repeats *r, unsigned k, size_t i)
{
	return r->level[k].name.p[i];
}

/* Whether the d frames that end at frame i equal the d before them. Their last blocks of 2^k are equal, and 2^k <= d <
 * 2^(k+1). */
static bool
repeats(const struct nsx_repeats *r, unsigned k, size_t i, size_t d)
{
	size_t first = i - d + ((size_t)1 << k);   /* where the first block of the run ends */

	return 2 * d <= i + 1 && block(r, k, first) == block(r, k, first - d);
}

/* Add frame i. *run: how many of the last frames repeat those before; 0: none. False when out of memory. */
static bool
push(struct nsx_repeats *r, uint32_t frame, size_t *run)
{
	size_t i = r->levels.n;

	*run = 0;
	if (!nsx_vec_push(&r->levels, 0))
		return false;
	for (unsigned k = 0; k < NSX_REPEATS_LEVELS && (size_t)1 << k <= i + 1 && !*run; k++) {
		struct nsx_repeats_level *l = &r->level[k];
		size_t half = k ? (size_t)1 << (k - 1) : 0;
		uint32_t name = k ? name_of(r, k, block(r, k - 1, i - half), block(r, k - 1, i))
		    : name_of(r, 0, 0, frame);

		if (name == NSX_NONE || !nsx_vec_room(&l->name, i + 1 - l->name.n) || !nsx_vec_room(&l->before,
		    i + 1 - l->before.n))
			return false;
		/* No block of 2^k ends before frame 2^k - 1: those positions are unused. */
		while (l->name.n < i)
			l->name.p[l->name.n++] = l->before.p[l->before.n++] = NSX_NONE;
		uint32_t before = r->last.p[name];
		l->name.p[l->name.n++] = name;
		l->before.p[l->before.n++] = before;
		r->last.p[name] = (uint32_t)i;
		r->levels.p[i] = (uint8_t)(k + 1);
		if (before != NSX_NONE && i - before >= (size_t)1 << k && i - before < (size_t)2 << k &&
		    repeats(r, k, i, i - before))
			*run = i - before;
	}
	return true;
}

/* Remove the last frame: the last positions of its blocks are restored. */
static void
pop(struct nsx_repeats *r)
{
	size_t i = --r->levels.n;

	for (unsigned k = 0; k < r->levels.p[i]; k++) {
		struct nsx_repeats_level *l = &r->level[k];
		r->last.p[l->name.p[i]] = l->before.p[i];
		l->name.n = l->before.n = i;
	}
}

/* Whether a frame occurs twice: a stack with a repeated run has one, and most stacks do not. */
static bool
any_twice(struct nsx_repeats *r, const uint32_t *frames, size_t n, bool *twice)
{
	*twice = false;
	r->round++;
	for (size_t i = 0; i < n && !*twice; i++) {
		while (frames[i] >= r->seen.n)
			if (!nsx_vec_push(&r->seen, 0))
				return false;
		*twice = r->seen.p[frames[i]] == r->round;
		r->seen.p[frames[i]] = r->round;
	}
	return true;
}

bool
nsx_repeats_drop(struct nsx_repeats *r, uint32_t *frames, size_t *n)
{
	size_t kept = 0, run;
	bool good, twice;

	good = any_twice(r, frames, *n, &twice);
	if (!good || !twice)
		return good;
	for (size_t i = 0; good && i < *n; i++) {
		good = push(r, frames[i], &run);
		frames[kept++] = frames[i];
		for (size_t d = 0; d < run; d++)
			pop(r);
		kept -= run;
	}
	while (r->levels.n)
		pop(r);
	if (good)
		*n = kept;
	return good;
}

void
nsx_repeats_free(struct nsx_repeats *r)
{
	nsx_map_free(&r->names);
	free(r->last.p);
	for (unsigned k = 0; k < NSX_REPEATS_LEVELS; k++) {
		free(r->level[k].name.p);
		free(r->level[k].before.p);
	}
	free(r->levels.p);
	free(r->seen.p);
	*r = (struct nsx_repeats){ 0 };
}
