/* pgle_wants.h -- the instructions of a program whose cost XLA's scheduler looks up. */
#ifndef NSX_TABLE_PGLE_WANTS_H
#define NSX_TABLE_PGLE_WANTS_H

#include "base/vec.h"
#include "xla/hlo.h"

/* Names at the time when XLA scheduled; they live as long as the dump. */
struct nsx_pgle_want {
	struct nsx_str name;
	struct nsx_str wrapped;   /* of a start: the instruction that it runs; else empty */
	bool           idle;      /* its cost is 0 if it did not run: not a collective, for which XLA has better
	                           * estimates */
};
struct nsx_pgle_wants { NSX_VEC(struct nsx_pgle_want) v; };

/* Add the instructions to *w; false when out of memory. */
bool nsx_pgle_ask(const struct nsx_hlo *h, struct nsx_pgle_wants *w);

#endif
