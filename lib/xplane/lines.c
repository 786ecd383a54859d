/* lines.c -- the threads of an XSpace. Calls and TraceMes of one thread are on two lines, whose names do not tell which
 * belong together: that line of TraceMes is taken whose executions hold most of the calls. */
#include <stdlib.h>

#include "base/sort.h"
#include "xplane/runs.h"

/* Numbers of marks, which are in the order of their ids. */
static void
by_place(const void *number, const void *marks, int64_t k[3])
{
	const struct nsx_xmark *m = (const struct nsx_xmark *)marks + *(const uint32_t *)number;

	k[0] = m->line;
	k[1] = m->row.start;
	k[2] = ~m->row.end;
}

static bool
list_modules(struct nsx_xruns *x)
{
	const struct nsx_xspace *s = x->s;

	for (uint32_t i = 0; i < s->marks.n; i++)
		if (s->marks.p[i].module != NSX_NONE && !nsx_vec_push(&x->modules, i))
			return false;
	if (!nsx_sort_by(x->modules.p, x->modules.n, sizeof *x->modules.p, by_place, s->marks.p))
		return false;
	for (size_t i = 0; i < x->modules.n; i++) {
		const struct nsx_xmark *m = &s->marks.p[x->modules.p[i]];
		bool later = i && s->marks.p[x->modules.p[i - 1]].line == m->line && x->reach.p[i - 1] > m->row.end;

		if (!nsx_vec_push(&x->reach, later ? x->reach.p[i - 1] : m->row.end))
			return false;
	}
	return true;
}

/* Whether that execution began up to the time, or is on an earlier line. */
static inline bool
before(const struct nsx_xruns *x, size_t module, uint32_t line, int64_t start)
{
	const struct nsx_xmark *m = &x->s->marks.p[x->modules.p[module]];

	return m->line < line || (m->line == line && m->row.start <= start);
}

uint32_t
nsx_xspace_holder(struct nsx_xruns *x, uint32_t line, uint32_t module, int64_t start, int64_t end)
{
	enum { BACK = 64 };   /* executions that began before and hold others, or are over */
	const struct nsx_xmark *marks = x->s->marks.p;
	size_t lo = 0, hi = x->modules.n;

	/* What is sought one after the other is mostly in one execution, or in the next. */
	for (int k = 0; k < 2 && x->hint < hi && before(x, x->hint, line, start); k++)
		x->hint++;
	if ((!x->hint || before(x, x->hint - 1, line, start)) && (x->hint == hi || !before(x, x->hint, line, start)))
		lo = hi = x->hint;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (before(x, mid, line, start))
			lo = mid + 1;
		else
			hi = mid;
	}
	x->hint = lo;
	for (size_t i = lo; i-- > 0 && lo - i <= BACK && marks[x->modules.p[i]].line == line && x->reach.p[i] >= end;)
		if ((module == NSX_NONE || marks[x->modules.p[i]].module == module) &&
		    marks[x->modules.p[i]].row.end >= end)
			return x->modules.p[i];
	return NSX_NONE;
}

/* Which line of TraceMes each line of calls with operations of programs is. */
static bool
match_lines(struct nsx_xruns *x)
{
	struct nsx_xspace *s = x->s;
	NSX_VEC(uint32_t) lines = { 0 };
	size_t n = s->lines.n;
	int64_t *held = calloc(n + 1, sizeof *held);
	NSX_VEC(uint32_t) ops = { 0 };
	uint32_t *first = calloc(n + 2, sizeof *first);
	bool good = held && first;

	/* Lines with executions. */
	for (size_t i = 0; good && i < x->modules.n; i++) {
		uint32_t line = s->marks.p[x->modules.p[i]].line;
		if (!lines.n || lines.p[lines.n - 1] != line)
			good = nsx_vec_push(&lines, line);
	}
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (x->op_call[i] != NSX_NONE && nsx_xop_of_program(&s->ops.p[i]))
			first[s->calls.p[x->op_call[i]].line + 1]++;
	for (size_t i = 1; good && i <= n; i++)
		first[i] += first[i - 1];
	good = good && nsx_vec_room(&ops, first[n] + 1);
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (x->op_call[i] != NSX_NONE && nsx_xop_of_program(&s->ops.p[i]))
			ops.p[first[s->calls.p[x->op_call[i]].line]++] = (uint32_t)i;
	/* first[line] is now the end of the line's. */
	for (uint32_t line = 0; good && line < n; line++) {
		uint32_t from = line ? first[line - 1] : 0, best = NSX_NONE;
		int64_t most = 0;

		for (size_t k = 0; k < lines.n && from < first[line]; k++) {
			int64_t count = 0;
			for (uint32_t i = from; i < first[line]; i++) {
				const struct nsx_xcall *c = &s->calls.p[x->op_call[ops.p[i]]];
				count += nsx_xspace_holder(x, lines.p[k], s->ops.p[ops.p[i]].module,
				                           c->row.start, c->row.end) != NSX_NONE;
			}
			if (count > most ||
			    (count && count == most && s->lines.p[lines.p[k]].id < s->lines.p[best].id)) {
				most = count;
				best = lines.p[k];
			}
		}
		s->lines.p[line].as = best;
		s->unmatched += from < first[line] && best == NSX_NONE;
		if (best != NSX_NONE && most > held[best]) {
			held[best] = most;
			s->lines.p[best].tid = s->lines.p[line].tid;
		}
	}
	free(lines.p);
	free(held);
	free(ops.p);
	free(first);
	return good;
}

static void
by_id(const void *number, const void *lines, int64_t k[3])
{
	k[0] = ((const struct nsx_xline *)lines)[*(const uint32_t *)number].id;
}

/* Threads of lines: their ids of the system; others get numbers above 2^23 in the order of their lines' ids, which also
 * number the streams of a CPU: its lines with instructions. */
static bool
number_lines(struct nsx_xruns *x)
{
	struct nsx_xspace *s = x->s;
	uint32_t *order = malloc((s->lines.n + 1) * sizeof *order), *rank = calloc(s->lines.n + 1, sizeof *rank),
	    streams = 0;
	bool good = order && rank;

	for (uint32_t i = 0; good && i < s->lines.n; i++)
		order[i] = i;
	good = good && nsx_sort_by(order, s->lines.n, sizeof *order, by_id, s->lines.p);
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (s->ops.p[i].has_run)
			rank[s->ops.p[i].row.stream] = 1;
	for (uint32_t i = 0; good && i < s->lines.n; i++) {
		struct nsx_xline *l = &s->lines.p[order[i]];
		uint64_t tid = l->tid >= 0 ? (uint64_t)l->tid : (UINT64_C(1) << 23) + i + 1;
		l->gtid = (uint64_t)s->pid << 24 | tid;
		if (rank[order[i]])
			rank[order[i]] = streams++;
	}
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (s->ops.p[i].has_run)
			s->ops.p[i].row.stream = rank[s->ops.p[i].row.stream];
	free(order);
	free(rank);
	return good;
}

bool
nsx_xspace_match(struct nsx_xruns *x)
{
	return list_modules(x) && match_lines(x) && number_lines(x);
}
