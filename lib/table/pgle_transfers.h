/* pgle_transfers.h -- how long collectives transfer, without the waiting of devices that start before others: of each
 * the median over its instances. */
#ifndef NSX_TABLE_PGLE_TRANSFERS_H
#define NSX_TABLE_PGLE_TRANSFERS_H

#include "base/diag.h"
#include "base/vec.h"
#include "job/comm/pairing.h"

/* The transfer of an instance of the collective of that number, ns. */
struct nsx_pgle_transfer { uint32_t of; int64_t ns; };

/* {0} is empty. */
struct nsx_pgle_transfers {
	NSX_VEC(struct nsx_pgle_transfer) v;
	int64_t alone, apart;   /* instances of which other devices are not there; on clocks that cannot be compared */
};

/* The transfer of an instance, n records, ns; it is counted if that is not known. */
int64_t nsx_pgle_transfer_of(struct nsx_pgle_transfers *t, const struct nsx_collective *of, size_t n);

/* Add the transfer of an instance of the collective with that number of the caller's. False when out of memory. */
bool nsx_pgle_transfers_add(struct nsx_pgle_transfers *t, uint32_t number, int64_t ns);

/* Call `give` for each collective that has an instance with its median; of an even number the lower of the two in the
 * middle. None may be added afterwards. False when out of memory. */
bool nsx_pgle_transfers_medians(struct nsx_pgle_transfers *t, void (*give)(void *state, uint32_t number, int64_t ns),
                                void *state);

/* Report instances whose transfer is not known. */
void nsx_pgle_transfers_diags(const struct nsx_pgle_transfers *t, struct nsx_diags *diags);

void nsx_pgle_transfers_free(struct nsx_pgle_transfers *t);

#endif
