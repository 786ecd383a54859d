/* screen.c -- without a dump the devices of a collective are unknown, and it is assumed that it joins all. If that is
 * wrong its ends on different devices scatter, and it is not used.
 *
 * For example, the skews of one device, in ns, in four collectives of instruction x: 10 12 11 10, median 11, median
 * deviation 1, which counts as 100 (NOISE); of instruction y: -900 300 40 -2000, median 40, median deviation 600, a
 * quarter of which exceeds 100: y is not used. */
#include <stdlib.h>

#include "base/sort.h"
#include "filter/align/aligning.h"

enum { WORSE = 4, FEW = 4, NOISE = 100 };   /* times; collectives; ns that scatter anyway */

struct device_skew { uint32_t device; int64_t skew; };

NSX_ORDER(by_device, struct device_skew, NSX_CMP(a->device, b->device), NSX_CMP(a->skew, b->skew))

/* The records of one instruction: skews from the mean of their collective. Returns the number of collectives. */
static size_t
skews(const struct al_obs *o, size_t n, struct device_skew *p)
{
	size_t instances = 0;

	for (size_t i = 0, k; i < n; i = k) {
		al_wide sum = 0;

		for (k = i; k < n && o[k].execution == o[i].execution && o[k].occurrence == o[i].occurrence; k++)
			sum += o[k].end;
		for (size_t m = i; m < k; m++)
			p[m] = (struct device_skew){ o[m].device, nsx_align_round_div(
				(al_wide)o[m].end * (al_wide)(k - i) - sum, (al_wide)(k - i)) };
		instances++;
	}
	return instances;
}

/* The median deviation of skews from their device's median. */
static int64_t
scatter(struct device_skew *p, size_t n, int64_t *room)
{
	qsort(p, n, sizeof *p, by_device);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && p[k].device == p[i].device; k++)
			;
		for (size_t m = i; m < k; m++) {
			int64_t d = nsx_sub_sat(p[m].skew, p[i + (k - i) / 2].skew, NULL);
			room[m] = d < 0 ? nsx_sub_sat(0, d, NULL) : d;
		}
	}
	return nsx_align_median(room, n);
}

/* The scatter of each instruction; -1: too few collectives. *least: the minimum. */
static int
measure(struct al_job *j, int64_t *of, int64_t *least)
{
	const struct al_obs *o = j->obs.p;
	struct device_skew *p = malloc((j->obs.n + 1) * sizeof *p);
	int64_t *room = malloc((j->obs.n + 1) * sizeof *room);
	int rc = p && room ? NSX_OK : nsx_err_nomem(j->err, NULL);

	*least = INT64_MAX;
	for (size_t i = 0, k; i < j->obs.n && rc == NSX_OK; i = k) {
		for (k = i; k < j->obs.n && o[k].collective == o[i].collective; k++)
			;
		bool told = skews(o + i, k - i, p) >= FEW;
		of[o[i].collective] = told ? scatter(p, k - i, room) : -1;
		if (told && of[o[i].collective] < *least)
			*least = of[o[i].collective] > NOISE ? of[o[i].collective] : NOISE;
	}
	free(p);
	free(room);
	return rc;
}

int
nsx_align_screen(struct al_job *j)
{
	int64_t *of, least, left_out = 0;
	size_t n = 0;
	bool known = true;

	for (size_t i = 0; i < j->collectives.n; i++)
		known = known && j->collectives.p[i].known;
	if (known)
		return NSX_OK;
	of = calloc(j->collectives.n, sizeof *of);
	if (!of)
		return nsx_err_nomem(j->err, NULL);
	if (measure(j, of, &least) != NSX_OK) {
		free(of);
		return NSX_ERR;
	}
	for (size_t i = 0; i < j->collectives.n; i++)
		left_out += !j->collectives.p[i].known && of[i] / WORSE > least;
	for (size_t i = 0; i < j->obs.n; i++) {
		struct al_obs o = j->obs.p[i];
		if (j->collectives.p[o.collective].known || of[o.collective] / WORSE <= least)
			j->obs.p[n++] = o;
	}
	j->obs.n = n;
	free(of);
	nsx_diag_add(j->diags, NSX_INFO, "", left_out,
		"collectives of unknown replica groups (no dump) that do not end together on all devices: not used");
	return NSX_OK;
}
