/* rules_overlap.c -- a finding about hidden communication and copies that slow the kernels that hide them. */
#include "table/diagnose/diagnose.h"
#include "table/overlap.h"

/* Found if more than this share of what is hidden, as far as its cost is known, is paid for. */
#define PAID 0.5
/* That has to be so many standard errors. */
#define SIGMA 3

int
nsx_look_judge_overlap(struct nsx_look_at *a)
{
	struct nsx_overlap_sums s = nsx_overlap_sums_of(a->overlap);
	double steps = (double)a->count;

	if (s.known <= 0 || s.paid <= PAID * s.known || s.paid <= SIGMA * s.error)
		return NSX_OK;
	nsx_look_say(a, "%s paid for %s hidden in a %s: kernels take %.1f%% longer beside communication and copies "
	             "than alone", NSX_NS(s.paid / steps), NSX_NS(s.known / steps), nsx_look_unit(a),
	             100 * s.paid / s.alone);
	if (s.known < s.hidden)
		nsx_buf_fmt(&a->text, "; of %.1f%% of hidden time it is not known", 100 * (1 - s.known / s.hidden));
	return nsx_look_find(a, NSX_FIND_OVERLAP, NSX_NCAUSES, s.paid / steps,
	                     nsx_look_over(a, "nsysx-summary --by overlap"));
}
