/* bandwidth_rows.c -- the durations and bandwidths of collectives of each kind, message size and group size.
 *
 * Of each instance (job/collective_instances.h) only its shortest duration is kept. These are sorted before doubles are
 * added: the sums do not depend on the order of instances. */
#include "table/bandwidth_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/diags_of.h"

/* The number of a record's row; NSX_NONE when out of memory. */
static uint32_t
row_of(struct nsx_bandwidth_sums *s, uint32_t kind, int64_t bytes, int64_t group)
{
	struct nsx_bandwidth_row fresh = { .has_bytes = bytes >= 0, .has_group = group > 0,
	                                   .bytes = bytes >= 0 ? bytes : 0, .group = group > 0 ? group : 0 };
	struct nsx_key by_size = { (uint64_t)kind << 1 | fresh.has_bytes, (uint64_t)fresh.bytes };
	uint32_t size = nsx_map_number(&s->of_size, by_size), row = size;
	struct nsx_key by_group = { (uint64_t)size << 1 | fresh.has_group, (uint64_t)fresh.group };

	if (size != NSX_NONE)
		row = nsx_map_number(&s->of_group, by_group);
	if (row != NSX_NONE && row == s->rows.n) {
		fresh.number = row;
		if (kind != NSX_NONE)
			fresh.name = nsx_cat_str(&s->reading.comm->cat, kind);
		if (!nsx_vec_push(&s->rows, fresh))
			return NSX_NONE;
	}
	return row;
}

/* The wait and transfer of an instance, if they are known. */
static void
add_wait(struct nsx_bandwidth_sums *s, struct nsx_bandwidth_row *r, const struct nsx_collective *of, size_t n)
{
	int64_t last = nsx_add_sat(of->start, of->wait, NULL), end = INT64_MIN;

	if (of->wait == NSX_ABSENT) {
		s->unknown_wait += n > 1 || of->apart;
		s->alone += !of->single && n == 1 && of->group != 1;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		int64_t own = nsx_add_sat(of[i].start, of[i].dur, NULL);

		end = own > end ? own : end;
		r->wait += of[i].wait;
		r->waits++;
		r->wait_max = of[i].wait > r->wait_max ? of[i].wait : r->wait_max;
	}
	r->transfer += nsx_sub_sat(end, last, NULL);
	r->transfers++;
}

/* Add an instance to its row. */
static int
add_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct nsx_bandwidth_sums *s = state;
	int64_t bytes = -1, group = -1, shortest = 0;

	/* It is counted by the reading. */
	if (of->dur < 0)
		return NSX_OK;
	for (size_t i = 0; i < n; i++) {
		bytes = of[i].bytes > bytes ? of[i].bytes : bytes;
		group = of[i].group > group ? of[i].group : group;
		if (of[i].dur > 0 && (shortest == 0 || of[i].dur < shortest))
			shortest = of[i].dur;
	}
	uint32_t row = row_of(s, of->kind, bytes, group);
	if (row == NSX_NONE)
		return nsx_err_nomem(s->err, NULL);
	struct nsx_bandwidth_row *r = &s->rows.p[row];
	r->instances++;
	s->closed++;
	s->lone_ops += of->single && !of->apart;
	s->incomplete += !of->single && (int64_t)n < group;
	if (shortest && !nsx_vec_push(&r->shortest, shortest))
		return nsx_err_nomem(s->err, NULL);
	add_wait(s, r, of, n);
	for (size_t i = 0; i < n; i++) {
		bool there = of[i].hidden != NSX_ABSENT;
		int64_t hidden = there ? of[i].hidden : 0;

		s->over_hidden += hidden < 0 || hidden > of[i].dur;
		hidden = hidden < 0 ? 0 : hidden > of[i].dur ? of[i].dur : hidden;
		r->dur += of[i].dur;
		r->hidden += hidden;
		r->no_hidden += !there;
		s->no_hidden += !there;
		s->any_hidden |= there;
		if (s->each && !s->each(s->arg, row, of[i].at, of[i].dur, hidden))
			return nsx_err_nomem(s->err, NULL);
	}
	return NSX_OK;
}

/* ---- the rows ---- */

static int
compare_rows(const void *a, const void *b)
{
	const struct nsx_bandwidth_row *x = a, *y = b;
	int c = nsx_str_cmp(x->name, y->name);

	if (c == 0)
		c = x->has_bytes - y->has_bytes;
	if (c == 0)
		c = nsx_sort_by_int(&x->bytes, &y->bytes);
	if (c == 0)
		c = x->has_group - y->has_group;
	return c ? c : nsx_sort_by_int(&x->group, &y->group);
}

/* Mean, and standard error of the mean, over the instances of a row. */
struct nsx_bandwidth_mean
nsx_bandwidth_mean_of(struct nsx_bandwidth_row *r)
{
	double bus_sum = 0, alg_sum = 0, squares = 0, alg, bus;
	struct nsx_bandwidth_mean m = { .known = false };
	size_t n = r->shortest.n;

	if (!r->has_bytes || !r->has_group || n == 0)
		return m;
	qsort(r->shortest.p, n, sizeof *r->shortest.p, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		alg_sum += alg;
		bus_sum += bus;
	}
	m.known = true;
	m.busbw = bus_sum / (double)n;
	m.algbw = alg_sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		squares += (bus - m.busbw) * (bus - m.busbw);
	}
	m.has_stderr = n > 1;
	if (m.has_stderr)
		m.stderr_busbw = sqrt(squares / (double)(n - 1)) / sqrt((double)n);
	return m;
}

double
nsx_bandwidth_transfer(const struct nsx_bandwidth_row *r)
{
	return r->transfers ? (double)r->transfer / (double)r->transfers : 0;
}

double
nsx_bandwidth_shortest(const struct nsx_bandwidth_row *r)
{
	nsx_u128 sum = 0;

	for (size_t i = 0; i < r->shortest.n; i++)
		sum += (nsx_u128)r->shortest.p[i];
	return r->shortest.n ? (double)sum / (double)r->shortest.n : 0;
}

static void
add_diags(const struct nsx_bandwidth_sums *s, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_INFO, "", s->lone_ops,
		"communicating operations count as an instance each: their counterparts on other devices are not "
		"known");
	nsx_comm_group_diags(s->reading.comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", s->reading.pairing.backwards,
	    "communication that ends before it starts: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->incomplete,
	             "instances of collectives with devices that are not in the stream: the known devices are used");
	nsx_diag_add(diags, NSX_WARNING, "", s->over_hidden,
		"communication thunks and operations whose hidden time exceeds their duration: cut to it");
}

void
nsx_bandwidth_sums_free(struct nsx_bandwidth_sums *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		free(s->rows.p[i].shortest.p);
	free(s->rows.p);
	nsx_map_free(&s->of_size);
	nsx_map_free(&s->of_group);
	nsx_collective_reading_free(&s->reading);
}

static int
take_other(void *state, const struct nsx_rec *rec)
{
	struct nsx_bandwidth_sums *s = state;

	s->ndiags += rec->kind->id == NSX_DIAG;
	s->warm |= rec->kind->id == NSX_DIAG && nsx_is_diag_of(rec, "nsysx-warmup");
	return NSX_OK;
}

int
nsx_bandwidth_collect(struct nsx_reader *in, struct nsx_bandwidth_sums *s, struct nsx_diags *diags,
                      struct nsx_err *err)
{
	s->err = err;
	s->reading = (struct nsx_collective_reading){ .instance = add_instance, .other = take_other,
	                                              .state = s };
	if (nsx_collective_instances(in, &s->reading, diags, err) != NSX_OK)
		return NSX_ERR;
	if (s->rows.n > 1)
		qsort(s->rows.p, s->rows.n, sizeof *s->rows.p, compare_rows);
	add_diags(s, diags);
	return NSX_OK;
}
