/* clock_error.c -- see clock_error.h. */
#include "job/clock_error.h"

double
nsx_clock_error(const struct nsx_catalogue *c)
{
	double most = 0;

	for (size_t i = 0; i < c->devices.n; i++)
		if (c->devices.p[i].aligned && c->devices.p[i].error > most)
			most = c->devices.p[i].error;
	return 2 * most;
}

void
nsx_clock_error_diag(const struct nsx_catalogue *c, int64_t rows, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_INFO, "", rows,
	             "rows with a mean wait of at most %.0f ns, which is within the error of the clocks: nsysx-view "
	             "-t clock",
	             nsx_clock_error(c));
}
