/* kinds.c -- the record model: the schema table made from kinds.def. */
#include "stream/kinds.h"

#include <pthread.h>
#include <string.h>

#define TYPE_i 'i'
#define TYPE_f 'f'
#define TYPE_s 's'

/* One array of columns for all kinds, in the order of kinds.def. */
#define KIND(id, name, meaning)
#define COL(id, name, type, unit, role, meaning) { #name, TYPE_##type, unit, meaning },
static const struct nsx_col columns[] = {
#include "stream/kinds.def"
};
#undef KIND
#undef COL

/* NSX_X_FIRST_ counts columns from 1. */
#define KIND(id, name, meaning) [NSX_##id] = { NSX_##id, #name, meaning, 0, &columns[NSX_##id##_FIRST_ - 1], 0, { 0 }, \
	0, 0, 0 },
#define COL(id, name, type, unit, role, meaning)
static struct nsx_kind kinds[NSX_NKINDS] = {
#include "stream/kinds.def"
};
#undef KIND
#undef COL

static pthread_once_t filled = PTHREAD_ONCE_INIT;

uint64_t
nsx_kind_strings(const struct nsx_kind *k)
{
	uint64_t strings = 0;

	for (int i = 0; i < k->nslots; i++)
		strings |= (uint64_t)(k->cols[i].type == 's') << i;
	return strings;
}

static void
fill(void)
{
	for (int k = 0; k < NSX_NKINDS; k++) {
		const struct nsx_col *end = k + 1 < NSX_NKINDS ? kinds[k + 1].cols
		                                               : columns + sizeof columns / sizeof *columns;
		kinds[k].nslots = kinds[k].ncols = (int)(end - kinds[k].cols);
		for (int i = 0; i < kinds[k].ncols; i++)
			kinds[k].order[i] = (uint8_t)i;
		kinds[k].print = (uint64_t)k + 1;
		kinds[k].strings = nsx_kind_strings(&kinds[k]);
	}
}

const struct nsx_kind *
nsx_kind_builtin(enum nsx_kind_id id)
{
	pthread_once(&filled, fill);
	return &kinds[id];
}

enum nsx_kind_id
nsx_kind_find(struct nsx_str name)
{
	for (int k = 0; k < NSX_NKINDS; k++)
		if (nsx_str_eq(name, nsx_str_c(kinds[k].name)))
			return (enum nsx_kind_id)k;
	return NSX_NKINDS;
}

int
nsx_kind_slot(const struct nsx_kind *k, struct nsx_str column)
{
	for (int i = 0; i < k->nslots; i++)
		if (nsx_str_eq(column, nsx_str_c(k->cols[i].name)))
			return i;
	return -1;
}

bool
nsx_kind_has(const struct nsx_kind *k, int slot)
{
	return slot >= 0 && memchr(k->order, slot, (size_t)k->ncols) != NULL;
}
