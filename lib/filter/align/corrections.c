/* corrections.c -- from the skews of clocks to the corrections of devices. */
#include "filter/align/solving.h"

#include <math.h>
#include <stdlib.h>

int
nsx_align_rest(struct al_solving *s)
{
	uint32_t n = s->j->nclocks;
	double *x = calloc(n + 1, sizeof *x), *rate = calloc(n + 1, sizeof *rate), least = s->j->opts->drift ? 5 : 1;
	bool *moves = calloc(n + 1, sizeof *moves);
	int rc = x && rate && moves ? NSX_OK : nsx_err_nomem(s->j->err, NULL);

	for (uint32_t c = 0; rc == NSX_OK && c < n; c++) {
		uint32_t root = al_root_of(s, c);
		x[root] += s->value[c] * s->weight[c] / fmax(s->devices[root], 1);
		rate[root] += s->rate[c] * s->weight[c] / fmax(s->devices[root], 1);
	}
	for (uint32_t c = 0; rc == NSX_OK && c < n; c++) {
		uint32_t root = al_root_of(s, c);
		moves[root] |= s->weight[c] && fabs(s->value[c] - x[root]) + fabs(s->rate[c] - rate[root]) *
		    s->half[root] >= least;
	}
	for (uint32_t c = 0; rc == NSX_OK && c < n; c++)
		if (!moves[al_root_of(s, c)])
			s->x[c] = s->rate[c] = 0;
	free(x);
	free(rate);
	free(moves);
	return rc;
}

/* The distance of each component from the mean according to start-of-session times, if all profiles have them: by root,
 * whole ns. Within a component collectives are more precise. */
static int
place_components(struct al_solving *s, int64_t *at)
{
	const struct al_job *j = s->j;
	al_wide *sum = calloc(j->nclocks + 1, sizeof *sum), all = 0;
	int64_t *n = calloc(j->nclocks + 1, sizeof *n);
	bool told = !j->aligned && j->devices.n > 0;
	int rc = sum && n ? NSX_OK : nsx_err_nomem(j->err, NULL);

	for (size_t i = 0; i < j->comm.cat.profiles.n; i++)
		told = told && (j->comm.cat.profiles.p[i].start_utc != NSX_ABSENT ||
		                !(j->comm.cat.profiles.p[i].listed || j->comm.cat.profiles.p[i].ndevices));
	for (uint32_t i = 0; i < j->devices.n; i++)
		told = told && nsx_align_session_start(j, i) != NSX_ABSENT;
	for (uint32_t i = 0; told && rc == NSX_OK && i < j->devices.n; i++) {
		uint32_t root = al_root_of(s, j->devices.p[i].clock);
		/* Relative to one of them, sums stay small. */
		al_wide utc = (al_wide)nsx_align_session_start(j, i) - nsx_align_session_start(j, 0);
		sum[root] += utc;
		n[root]++;
		all += utc;
	}
	/* The times of a session that started later are smaller: they increase by that. */
	for (uint32_t c = 0; told && rc == NSX_OK && c < j->nclocks; c++)
		if (n[c])
			at[c] = nsx_align_round_div(all * n[c] - sum[c] * (al_wide)j->devices.n,
			                            (al_wide)n[c] * (al_wide)j->devices.n);
	free(sum);
	free(n);
	return rc;
}

static void
say(const struct al_solving *s, uint32_t components, uint32_t aligned, uint32_t lone)
{
	struct al_job *j = s->j;
	uint32_t first = NSX_NONE;
	bool several = false;

	for (uint32_t i = 0; i < j->devices.n; i++) {
		const struct al_device *d = &j->devices.p[i];

		/* A stream without operations knows when the last one of a device began. */
		if (!d->worked && j->comm.cat.devices.p[i].last == NSX_ABSENT)
			continue;
		several |= first != NSX_NONE && first != d->clock;
		first = d->clock;
	}
	if (!several)
		nsx_diag_add(j->diags, NSX_INFO, "", 1, j->devices.n ? "nothing to align: all GPU work is on one clock"
		             : "nothing to align: no devices");
	else if (aligned == 0)
		nsx_diag_add(j->diags, NSX_WARNING, "", 1,
		             "clocks not compared: no collective is known to involve devices of different clocks; "
		             "their times cannot be compared");
	else if (lone)
		nsx_diag_add(j->diags, NSX_WARNING, "", lone,
		             "devices share no collective with others and could not be aligned");
	if (components > 1)
		nsx_diag_add(j->diags, NSX_WARNING, "", components,
		             "groups of devices share no collectives: each group is aligned only within itself");
}

/* The start of a clock's session; NSX_ABSENT if unknown. */
static int64_t
start_of(const struct al_job *j, uint32_t clock)
{
	for (uint32_t i = 0; i < j->devices.n; i++)
		if (j->devices.p[i].clock == clock)
			return nsx_align_session_start(j, i);
	return NSX_ABSENT;
}

/* Clocks that collectives put more than a second from where the starts of the sessions put them: hosts agree better on
 * the time than that, so it is more likely that executions of captures without a common one were paired. */
static void
doubt(const struct al_solving *s)
{
	const struct al_job *j = s->j;
	const double second = 1e9;
	int64_t far = 0;

	for (uint32_t c = 0; c < j->nclocks && !j->aligned; c++) {
		/* The root of a component is its lowest clock. */
		uint32_t root = c;
		while (s->parent[root] != root)
			root = s->parent[root];
		int64_t own = start_of(j, c), first = start_of(j, root);
		if (root == c || !s->count[c] || own == NSX_ABSENT || first == NSX_ABSENT)
			continue;
		far += fabs(s->x[c] - s->x[root] + (double)nsx_sub_sat(own, first, NULL)) > second;
	}
	nsx_diag_add(j->diags, NSX_WARNING, "", far,
		"clocks that the collectives put more than a second from where the start of their sessions puts them: "
	             "executions of captures that have none in common may have been paired");
}

int
nsx_align_give(struct al_solving *s, struct al_corrections *g)
{
	struct al_job *j = s->j;
	int64_t *at = calloc(j->nclocks + 1, sizeof *at);
	uint32_t *number = malloc((j->nclocks + 1) * sizeof *number), next = 0, components = 0, aligned = 0, lone = 0;
	int rc = at && number ? place_components(s, at) : nsx_err_nomem(j->err, NULL);

	for (uint32_t c = 0; c < j->nclocks && rc == NSX_OK; c++)
		number[c] = NSX_NONE;
	for (uint32_t i = 0; i < j->devices.n && rc == NSX_OK; i++) {
		const struct al_device *d = &j->devices.p[i];
		uint32_t c = d->clock, root = al_root_of(s, c);

		if (number[root] == NSX_NONE) {
			number[root] = next++;
			components += s->count[c] > 0;
		}
		aligned += s->count[c] > 0;
		lone += s->count[c] == 0 && d->profiled;
		struct al_clock k = { .device = j->comm.cat.devices.p[i].number, .report = nsx_align_report_name(j, i),
		                      .collectives = s->count[c],
		                      .component = number[root], .error = j->opts->drift ? -1 : s->error[c],
		                      .fix = { s->x[c] + (double)at[root], s->rate[c], s->rate[c] != 0 ? s->ref[c] : 0
		                      } };
		rc = nsx_align_corrections_add(g, &k, j->err);
	}
	if (rc == NSX_OK) {
		say(s, components, aligned, lone);
		doubt(s);
	}
	free(at);
	free(number);
	return rc;
}
