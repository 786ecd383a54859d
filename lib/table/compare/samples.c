/* samples.c -- the times of a row as samples: one for each step, execution or instance, in the order of their numbers,
 * the mean over the devices that have it. The one form in which rows of all kinds are read, and by which the witnesses
 * (witness.h) judge them. For example, of an instruction that runs on two devices, in executions 0 and 1 of its program
 * of which device 1 has only the second, twice in one of them:
 *
 *     device 0   execution 0: 10 + 20   execution 1: 30
 *     device 1                          execution 1: 50      samples 30, 40; the mean of all three times is 36.7 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "table/compare/join.h"

/* The row's cell of that device, created if it is new; NULL when out of memory. */
static struct cmp_cell *
cell_at(struct cmp_side *s, uint32_t row, int64_t device)
{
	uint32_t newest = s->rows.p[row].cells;

	if (newest != NSX_NONE && s->cells.p[newest].device == device)
		return &s->cells.p[newest];
	uint32_t *at = nsx_map_at(&s->cell_of, (struct nsx_key){ row, (uint64_t)device });

	if (at && *at == NSX_NONE) {
		struct cmp_cell new = { .device = device, .next = s->rows.p[row].cells };

		if (s->cells.n >= NSX_NONE - 1 || !nsx_vec_push(&s->cells, new))
			return NULL;
		*at = s->rows.p[row].cells = (uint32_t)(s->cells.n - 1);
	}
	return at ? &s->cells.p[*at] : NULL;
}

/* Remove the times of a row's cells. */
static void
drop_times(struct cmp_side *s, uint32_t row)
{
	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next) {
		struct cmp_cell *c = &s->cells.p[at];

		free(c->times.p);
		free(c->numbers.p);
		c->times.p = c->numbers.p = NULL;
		c->times.n = c->times.cap = c->numbers.n = c->numbers.cap = 0;
	}
}

bool
nsx_compare_add(struct cmp_side *s, uint32_t row, int64_t device, int64_t number, int64_t ns)
{
	struct cmp_cell *c = row == NSX_NONE ? NULL : cell_at(s, row, device);
	size_t n = c ? c->numbers.n : 0;

	if (!c)
		return false;
	s->rows.p[row].sum += (nsx_u128)ns;
	if (number == NSX_ABSENT)
		return nsx_vec_push(&c->times, ns);
	if (n && c->numbers.p[n - 1] == number) {
		c->times.p[n - 1] = nsx_add_sat(c->times.p[n - 1], ns, NULL);
		return true;
	}
	return nsx_vec_push(&c->numbers, number) && nsx_vec_push(&c->times, ns);
}

bool
nsx_compare_move(struct cmp_side *s, uint32_t row, uint32_t to)
{
	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next)
		for (size_t i = 0; i < s->cells.p[at].times.n; i++)
			if (!nsx_compare_add(s, to, s->cells.p[at].device, s->cells.p[at].numbers.n
			                     ? s->cells.p[at].numbers.p[i] : NSX_ABSENT, s->cells.p[at].times.p[i]))
				return false;
	struct cmp_row *r = &s->rows.p[row];

	drop_times(s, row);
	s->rows.p[to].computes |= r->computes;
	r->cells = r->name = r->stem = r->opcode = NSX_NONE;
	r->sum = 0;
	r->detail = true;
	return true;
}

void
nsx_compare_use_inner(struct cmp_side *s)
{
	s->time = 0;
	for (size_t i = 0; i < s->rows.n; i++) {
		struct cmp_row *row = &s->rows.p[i], *inner = row->inner == NSX_NONE ? NULL : &s->rows.p[row->inner];

		if (row->name == NSX_NONE)
			continue;
		drop_times(s, (uint32_t)i);
		row->cells = inner ? inner->cells : (uint32_t)NSX_NONE;
		row->sum = inner ? inner->sum : 0;
		s->time += row->detail ? 0 : row->sum;
	}
}

bool
nsx_compare_settle_inner(struct cmp_side *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.p[i].inner != NSX_NONE) {
			struct cmp_row *inner = &s->rows.p[s->rows.p[i].inner];

			if (inner->cells != s->rows.p[i].cells)
				drop_times(s, s->rows.p[i].inner);
			inner->cells = NSX_NONE;
		}
	return nsx_compare_settle_samples(s);
}

/* ---- samples of a row */

/* Space for the times of a row: as keys of number and device, with the time behind them; and the times of devices. */
struct space { NSX_VEC(struct nsx_sort_key) keys; NSX_VEC(int64_t) times; NSX_VEC(uint32_t) cells; };

/* Add the times of a row to the space; none: with a time of 0. False when out of memory. */
static bool
gather(const struct cmp_side *s, uint32_t row, bool none, struct space *to)
{
	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next) {
		const struct cmp_cell *c = &s->cells.p[at];

		if (!nsx_vec_room(&to->keys, c->times.n))
			return false;
		for (size_t i = 0; i < c->times.n; i++)
			to->keys.p[to->keys.n++] = (struct nsx_sort_key){
				{ c->numbers.p[i], c->device, none ? 0 : c->times.p[i] }, 0 };
	}
	return true;
}

/* The sample of the steps, executions or instances with the number of the key at *at, which becomes that of the next
 * number; the times of devices are added to the space, which has room for them. */
static double
next_sample(struct space *of, size_t *at)
{
	const struct nsx_sort_key *k = of->keys.p;
	size_t from = of->times.n, i = *at, n = of->keys.n;
	double sum = 0;

	for (int64_t number = k[i].k[0]; i < n && k[i].k[0] == number;) {
		int64_t device = k[i].k[1], time = 0;

		for (; i < n && k[i].k[0] == number && k[i].k[1] == device; i++)
			time = nsx_add_sat(time, k[i].k[2], NULL);
		of->times.p[of->times.n++] = time;
		sum += (double)time;
	}
	*at = i;
	return sum / (double)(of->times.n - from);
}

/* The statistics of all times of devices, which are put into another order. */
static struct cmp_time
time_of_all(int64_t *times, size_t n)
{
	struct cmp_time t = { .n = (int64_t)n };

	for (size_t i = 0; i < n; i++)
		t.sum += (nsx_u128)times[i];
	t.mean = (double)t.sum / (double)n;
	size_t half = nsx_percentile_rank(n, 50);

	t.p50 = nsx_sort_nth(times, n, half);
	t.p99 = nsx_sort_nth(times + half, n - half, nsx_percentile_rank(n, 99) - half);
	return t;
}

/* Give the row the samples of instances, or of times of the same numbers on all devices: the first of each device, the
 * second, ... False when out of memory. */
static bool
settle_aligned(struct cmp_side *s, uint32_t row, struct space *space)
{
	struct cmp_series *to = &s->rows.p[row].samples;
	size_t all;

	space->cells.n = 0;
	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next) {
		const struct cmp_cell *c = &s->cells.p[at];

		if (!nsx_vec_push(&space->cells, at) || !nsx_vec_room(&space->times, c->times.n))
			return false;
		for (size_t i = 0; i < c->times.n; i++)
			space->times.p[space->times.n++] = c->times.p[i];
	}
	all = space->times.n;
	to->first = s->values.n;
	/* Cells that have no more times are left out. */
	for (size_t i = 0, n = space->cells.n; n; i++) {
		double sum = 0;
		size_t have = 0;

		for (size_t k = 0; k < n; k++) {
			const struct cmp_cell *c = &s->cells.p[space->cells.p[k]];

			if (i < c->times.n) {
				sum += (double)c->times.p[i];
				space->cells.p[have++] = space->cells.p[k];
			}
		}
		if (have && !nsx_vec_push(&s->values, sum / (double)have))
			return false;
		n = have;
	}
	to->n = s->values.n - to->first;
	s->rows.p[row].time = time_of_all(space->times.p, all);
	return true;
}

/* Whether the times of all devices of a row are of the same numbers, in the same order, each once. */
static bool
is_aligned(const struct cmp_side *s, uint32_t row)
{
	const struct cmp_cell *first = NULL;

	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next) {
		const struct cmp_cell *c = &s->cells.p[at];

		for (size_t i = 1; !first && i < c->numbers.n; i++)
			if (c->numbers.p[i] <= c->numbers.p[i - 1])
				return false;
		first = first ? first : c;
		if (c->numbers.n != first->numbers.n
		    || (c->numbers.n && memcmp(c->numbers.p, first->numbers.p, c->numbers.n * sizeof *c->numbers.p)))
			return false;
	}
	return true;
}

/* Whether an aligned row ran in each execution of its program. */
static bool
always_ran(const struct cmp_side *s, uint32_t row, uint32_t executed)
{
	size_t more = 0;

	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next, more--) {
		const struct cmp_cell *c = &s->cells.p[at];
		uint32_t all = nsx_map_get(&s->cell_of, (struct nsx_key){ executed, (uint64_t)c->device });

		if (c->times.n != s->cells.p[all].times.n)
			return false;
	}
	for (uint32_t at = s->rows.p[executed].cells; at != NSX_NONE; at = s->cells.p[at].next)
		more++;
	return more == 0;
}

/* Give the row its samples. False when out of memory. */
static bool
settle_row(struct cmp_side *s, uint32_t row, struct space *space)
{
	uint32_t executed = s->rows.p[row].whole ? (uint32_t)NSX_NONE : s->groups.p[s->rows.p[row].group].executed;
	struct cmp_series *to = &s->rows.p[row].samples;

	space->keys.n = space->times.n = 0;
	if (s->rows.p[row].cells == NSX_NONE)
		return true;
	if (is_aligned(s, row) && (executed == NSX_NONE || always_ran(s, row, executed)))
		return settle_aligned(s, row, space);
	/* An execution in which a row did not run counts with a time of 0. */
	if (!gather(s, row, false, space) || (executed != NSX_NONE && !gather(s, executed, true, space)))
		return false;
	nsx_sort_keys(space->keys.p, space->keys.n);
	to->first = s->values.n;
	if (!nsx_vec_room(&space->times, space->keys.n) || !nsx_vec_room(&s->values, space->keys.n))
		return false;
	for (size_t i = 0; i < space->keys.n;)
		s->values.p[s->values.n++] = next_sample(space, &i);
	to->n = s->values.n - to->first;
	s->rows.p[row].time = time_of_all(space->times.p, space->times.n);
	return true;
}

/* Executions of programs by device, each once, in order of their numbers. */
static void
settle_executions(struct cmp_side *s)
{
	for (size_t i = 0; i < s->groups.n; i++) {
		uint32_t row = s->groups.p[i].executed, at = row == NSX_NONE ? row : s->rows.p[row].cells;

		for (; at != NSX_NONE; at = s->cells.p[at].next) {
			struct cmp_cell *c = &s->cells.p[at];

			c->numbers.n = c->times.n = nsx_sort_unique(c->numbers.p, c->numbers.n);
		}
	}
}

/* The mean of each device that has the row, in place of its times, in the order of devices. False when out of
 * memory. */
static bool
settle_devices(struct cmp_side *s, uint32_t row, struct space *space)
{
	uint32_t executed = s->rows.p[row].whole ? (uint32_t)NSX_NONE : s->groups.p[s->rows.p[row].group].executed;

	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next) {
		struct cmp_cell *c = &s->cells.p[at];
		uint32_t all = executed == NSX_NONE ? at : nsx_map_get(&s->cell_of, (struct nsx_key){ executed,
			(uint64_t)c->device });
		nsx_u128 sum = 0;

		for (size_t i = 0; i < c->times.n; i++)
			sum += (nsx_u128)c->times.p[i];
		c->mean = (double)sum / (double)s->cells.p[all].times.n;
	}
	if (executed != row)
		drop_times(s, row);
	space->keys.n = 0;
	for (uint32_t at = s->rows.p[row].cells; at != NSX_NONE; at = s->cells.p[at].next)
		if (!nsx_vec_push(&space->keys, ((struct nsx_sort_key){ { s->cells.p[at].device, 0, 0 }, at })))
			return false;
	nsx_sort_keys(space->keys.p, space->keys.n);
	uint32_t next = NSX_NONE;

	for (size_t i = space->keys.n; i-- > 0;) {
		s->cells.p[space->keys.p[i].i].next = next;
		next = s->rows.p[row].cells = space->keys.p[i].i;
	}
	return true;
}

bool
nsx_compare_settle_samples(struct cmp_side *s)
{
	struct space space = { .keys = { 0 } };
	bool good = true;

	settle_executions(s);
	for (uint32_t row = 0; row < s->rows.n && good; row++)
		good = settle_row(s, row, &space) && settle_devices(s, row, &space);
	for (size_t i = 0; i < s->groups.n; i++)
		if (s->groups.p[i].executed != NSX_NONE)
			drop_times(s, s->groups.p[i].executed);
	free(space.keys.p);
	free(space.times.p);
	free(space.cells.p);
	return good;
}
