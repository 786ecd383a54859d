/* values.h -- the numbers of one column in a binary block, as they are stored; private to lib/stream. */
#ifndef NSX_STREAM_VALUES_H
#define NSX_STREAM_VALUES_H

#include "stream/binary.h"
#include "stream/wire.h"

/* A Values message; its lists stay where they are. */
struct nsx_values {
	unsigned column, of, key, plus, minus;
	uint64_t base, first;
	struct nsx_unread presence, differences, run_differences, run_counts, doubles;
};

/* Take a message apart: false if it is damaged. */
bool nsx_values_open(struct nsx_unread s, struct nsx_values *v);

/* The number of records with a value according to presence runs, SIZE_MAX if these do not add up to rows. */
size_t nsx_values_count(struct nsx_unread runs, size_t rows);

/* The n stored numbers, one after the other, into v: NULL, or what is wrong. For runs with base TOP these are values,
 * otherwise differences from the predictions. */
const char *nsx_values_data(const struct nsx_values *s, uint64_t *v, size_t n);

#endif
