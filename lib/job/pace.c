/* pace.c -- see pace.h. */
#include "job/pace.h"

#include <stdlib.h>

#include "base/sort.h"

/* If less of the time is in kernels that run equally often, devices ran other numbers of steps. */
#define ENOUGH 0.5

NSX_SORT_KEYS(by_name, struct nsx_pace_time, a->name, a->device)
NSX_SORT_KEYS(by_number, struct nsx_pace, a->device)

static bool
list_devices(const struct nsx_pace_time *times, size_t n, struct nsx_paces *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!nsx_vec_push(&out->list, ((struct nsx_pace){ .device = times[i].device })))
			return false;
	if (!nsx_sort_by(out->list.p, out->list.n, sizeof *out->list.p, by_number, NULL))
		return false;
	for (size_t i = 0; i < out->list.n; i++)
		if (!kept || out->list.p[kept - 1].device != out->list.p[i].device)
			out->list.p[kept++] = out->list.p[i];
	out->list.n = kept;
	return true;
}

static size_t
run_of(const struct nsx_pace_time *times, size_t n, size_t i)
{
	size_t k = i + 1;

	while (k < n && times[k].name == times[i].name)
		k++;
	return k - i;
}

/* One pass over the names: each device's sums, and what the median devices take. all: by device, the number of kernels
 * of names that all devices run, by which counts are compared. */
struct passing { const struct nsx_pace_time *times; size_t n, devices; const int64_t *all; double *scratch; };

static bool
equally_often(const struct passing *p, const struct nsx_pace_time *run)
{
	for (size_t d = 1; d < p->devices; d++)
		if ((nsx_u128)run[d].count * (nsx_u128)p->all[0] != (nsx_u128)run[0].count * (nsx_u128)p->all[d])
			return false;
	return true;
}

/* The share of the time in shared names that is compared; medians: for as many kernels as the first device runs. */
static double
pass(const struct passing *p, struct nsx_pace *of)
{
	double medians = 0, compared = 0, shared = 0;

	for (size_t d = 0; d < p->devices; d++)
		of[d] = (struct nsx_pace){ .device = of[d].device };
	for (size_t i = 0, k; i < p->n; i += k) {
		const struct nsx_pace_time *run = p->times + i;

		k = run_of(p->times, p->n, i);
		if (k != p->devices)
			continue;
		for (size_t d = 0; d < k; d++)
			shared += (double)run[d].ns;
		if (!equally_often(p, run))
			continue;
		for (size_t d = 0; d < k; d++) {
			compared += (double)run[d].ns;
			p->scratch[d] = (double)run[d].ns / (double)run[d].count * (double)run[0].count;
			of[d].kernels += run[d].count;
			of[d].ns += run[d].ns;
			of[d].pace += p->scratch[d];
		}
		qsort(p->scratch, k, sizeof *p->scratch, nsx_sort_by_double);
		medians += p->scratch[(k - 1) / 2];
	}
	for (size_t d = 0; d < p->devices; d++)
		of[d].pace = medians > 0 ? of[d].pace / medians : 0;
	return shared > 0 ? compared / shared : 1;
}

int
nsx_paces_of(struct nsx_pace_time *times, size_t n, struct nsx_paces *out, struct nsx_err *err)
{
	struct passing p = { times, n, 0, NULL, NULL };
	int64_t *all = NULL;

	*out = (struct nsx_paces){ 0 };
	if (!list_devices(times, n, out))
		return nsx_err_nomem(err, NULL);
	p.devices = out->list.n;
	all = malloc((p.devices + 1) * sizeof *all);
	p.scratch = malloc((p.devices + 1) * sizeof *p.scratch);
	p.all = all;
	bool good = all && p.scratch && nsx_sort_by(times, n, sizeof *times, by_name, NULL);

	if (good) {
		for (size_t d = 0; d < p.devices; d++)
			all[d] = 1;
		if (pass(&p, out->list.p) < ENOUGH) {
			for (size_t d = 0; d < p.devices; d++)
				all[d] = 0;
			for (size_t i = 0, k; i < n; i += k)
				if ((k = run_of(times, n, i)) == p.devices)
					for (size_t d = 0; d < k; d++)
						all[d] += times[i + d].count;
			pass(&p, out->list.p);
		}
	}
	free(all);
	free(p.scratch);
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}

const struct nsx_pace *
nsx_paces_find(const struct nsx_paces *p, int64_t device)
{
	size_t at = nsx_sort_first(p->list.p, p->list.n, sizeof *p->list.p, offsetof(struct nsx_pace, device), device);

	return at < p->list.n && p->list.p[at].device == device ? &p->list.p[at] : NULL;
}
