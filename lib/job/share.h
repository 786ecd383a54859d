/* share.h -- the programs that account for most of the time. */
#ifndef NSX_JOB_SHARE_H
#define NSX_JOB_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/num.h"
#include "base/str.h"

/* The share of the time to account for: num/den, more than 0 and at most 1. */
struct nsx_cover { int64_t num, den; };

/* Parses "0.99" exactly, with up to nine digits after the point; false if it is not a share. */
bool nsx_cover_parse(const char *s, struct nsx_cover *c);

struct nsx_cover_row {
	nsx_u128       time;     /* ns */
	struct nsx_str key;      /* orders rows of equal time, before index */
	int64_t        number;
	size_t         index;    /* belongs to the caller */
	bool           kept;     /* set by nsx_cover_pick */
};

/* Sort the rows by time, the longest first, and keep them until c of the total is reached, the one that reaches it
 * included; a share of 1 keeps all. */
void nsx_cover_pick(struct nsx_cover_row *rows, size_t n, struct nsx_cover c);

#endif
