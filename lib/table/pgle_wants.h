/* pgle_wants.h -- which instructions of a program XLA's scheduler asks the cost of. */
#ifndef NSX_TABLE_PGLE_WANTS_H
#define NSX_TABLE_PGLE_WANTS_H

#include "base/vec.h"
#include "xla/hlo.h"

/* Names as they were when XLA scheduled; they live as long as the dump. */
struct nsx_pgle_want {
	struct nsx_str name;
	struct nsx_str wrapped;   /* of a start: what runs in it; else empty */
	bool           idle;      /* it costs nothing if it did not run: no collective, of which XLA guesses better */
};
struct nsx_pgle_wants { NSX_VEC(struct nsx_pgle_want) v; };

/* Add what is asked for to *w; false when out of memory. */
bool nsx_pgle_ask(const struct nsx_hlo *h, struct nsx_pgle_wants *w);

#endif
