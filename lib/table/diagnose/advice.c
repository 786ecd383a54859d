/* advice.c -- what to do about idle time in ranges of frameworks whose meaning is known: more specific than its cause
 * alone allows. It is given only if at least half of the idle time of the cause is in such ranges. */
#include <string.h>

#include "table/diagnose/diagnose.h"

#define HALF 0.5
/* Gaps up to this mean are those between small kernels: an operator, or some of them, keeps a host that is recorded
 * busy for some 100 us. Longer ones have another reason. ns. */
enum { SMALL_GAP = 1000000 };

enum { SYNC = 1U << NSX_CAUSE_SYNC, LAUNCH = 1U << NSX_CAUSE_LAUNCH, RANGE = 1U << NSX_CAUSE_RANGE,
       ALLOC = 1U << NSX_CAUSE_ALLOC, HOSTS = SYNC | RANGE | ALLOC | 1U << NSX_CAUSE_API };

/* A rule is for idle time of these causes in a range of this name ('*': any end), and in one of the name `also` (NULL:
 * any), and in calls (NULL: any; else separated by '|', without the version at the end of a name). small: only between
 * small kernels; stepped: only if steps are known. name: of the range in words, NULL: as `range`. The first rule that
 * applies is used; a rule without an action gives no advice. */
static const struct advice {
	unsigned    causes;
	const char *range, *also, *calls;
	bool        small, stepped;
	const char *name, *action;
} rules[] = {
#define NAME(use, text, whose)
#define COMM(use, text, kind, whose)
#define ADVICE(causes, range, also, calls, small, stepped, name, action) \
	{ causes, range, also, calls, small, stepped, name, action },
#include "job/frameworks.def"
#undef NAME
#undef COMM
#undef ADVICE
};
enum { RULES = sizeof rules / sizeof *rules };

/* Whether some range of the path has the name. */
static bool
is_in(const struct idle *f, uint32_t path, const char *name)
{
	size_t n = strcspn(name, "*");

	for (; path != NSX_NONE && path != NSX_STACKS_ROOT; path = f->paths.nodes.p[path].parent) {
		struct nsx_str frame = nsx_intern_str(&f->paths.frames, f->paths.nodes.p[path].frame);
		if (frame.len >= n && memcmp(frame.ptr, name, n) == 0 && (name[n] || frame.len == n))
			return true;
	}
	return false;
}

/* Whether a call is one of the list: cudaMalloc_v3020 is cudaMalloc, cudaMallocAsync is not. */
static bool
is_call(struct nsx_str call, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, "|");
		if (call.len >= n && memcmp(call.ptr, list, n) == 0 &&
		    (call.len == n || (call.len > n + 1 && memcmp(call.ptr + n, "_v", 2) == 0)))
			return true;
		list += n + (list[n] == '|');
	}
	return false;
}

static int
rule_of(const struct nsx_look_at *a, const struct idle_reason *r, enum nsx_cause cause, bool small)
{
	const struct idle *f = a->idle;

	for (int i = 0; i < RULES; i++) {
		const struct advice *x = &rules[i];
		if (!(x->causes & 1U << cause) || (x->small && !small) || (x->stepped && !a->stepped)
		    || !is_in(f, r->path, x->range) || (x->also && !is_in(f, r->path, x->also)))
			continue;
		if (!x->calls || (r->leaf != NSX_NONE && is_call(nsx_intern_str(&f->paths.frames, r->leaf), x->calls)))
			return i;
	}
	return RULES;
}

const char *
nsx_look_advise(struct nsx_look_at *a, enum nsx_cause cause, const char *what)
{
	nsx_u128 ns[RULES + 1] = { 0 }, all = 0;
	int64_t gaps = 0;
	int most = 0;

	for (size_t i = 0; i < a->devices.n; i++) {
		const struct idle_window *w = nsx_look_window(a, &a->devices.p[i]);
		all += w ? (nsx_u128)w->cells[nsx_cause_cell(cause)].ns : 0;
		gaps += w ? w->cells[nsx_cause_cell(cause)].count : 0;
	}
	for (size_t i = 0; i < a->devices.n; i++) {
		const struct idle_window *w = nsx_look_window(a, &a->devices.p[i]);
		for (uint32_t k = w ? w->reason : NSX_NONE; k != NSX_NONE; k = a->idle->reasons.p[k].next) {
			const struct idle_reason *r = &a->idle->reasons.p[k];
			if ((int)r->cell == nsx_cause_cell(cause))
				ns[rule_of(a, r, cause, all <= (nsx_u128)gaps * SMALL_GAP)] += (nsx_u128)r->ns;
		}
	}
	for (int i = 1; i < RULES; i++)
		most = ns[i] > ns[most] ? i : most;
	if (!all || !rules[most].action || (double)ns[most] < HALF * (double)all)
		return NULL;
	nsx_buf_fmt(&a->text, "; %.0f%% of %s in %s", 100 * (double)ns[most] / (double)all, what,
	            rules[most].name ? rules[most].name : rules[most].range);
	return rules[most].action;
}
