/* columns_check.c -- checks columns of a block whose values nobody needs as decoding them would. */
#include "stream/columns.h"

static bool
is_sound(const struct nsx_decoding *d, uint64_t column)
{
	return column < NSX_MAX_COLS && d->sound >> column & 1;
}

/* Check what key_prev checks. */
static bool
check_key(const struct nsx_decoding *d, struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t col;
	int n = 0, rc;

	while ((rc = nsx_get_field(&s, &f)) > 0) {
		if (f.field != KEY_COLUMNS)
			continue;
		if (f.wire != WIRE_BYTES)
			return false;
		for (; f.bytes.p < f.bytes.end; n++)
			if (!nsx_get_varint(&f.bytes, &col) || !is_sound(d, col) || n == NSX_MAX_COLS)
				return false;
	}
	return rc == 0;
}

/* Check what resolve_own and expect check: NULL, or what is wrong. */
static const char *
check_bases(const struct nsx_decoding *d, const struct nsx_values *s)
{
	bool last = s->base == BASE_LAST || s->base == BASE_LAST_OR_TOP;

	if (s->base >= NSX_NBASES)
		return "a column stored in a way that this version does not know";
	if (s->base == BASE_ZERO || s->base == BASE_TOP)
		return NULL;
	if (last && s->key >= d->nkeys)
		return "a column with a missing key column";
	if (last && !check_key(d, d->keys[s->key]))
		return "a damaged key";
	return (s->base == BASE_SAME && !is_sound(d, s->of)) || (s->plus && !is_sound(d, s->plus - 1))
	       || (s->minus && !is_sound(d, s->minus - 1)) ? "a column relative to a missing column" : NULL;
}

const char *
nsx_columns_check(const struct nsx_decoding *d, const struct nsx_values *s)
{
	struct nsx_unread counts = s->run_counts;
	size_t n = s->presence.p == s->presence.end ? d->rows : nsx_values_count(s->presence, d->rows), at = 0;
	const char *wrong = check_bases(d, s);
	uint64_t count;

	if (wrong)
		return wrong;
	if (n == SIZE_MAX)
		return "presence that does not match the records";
	if (n == 0)
		return "a column without values";
	if (s->doubles.p != s->doubles.end) {
		if (d->k->type[s->column] != 'f' || s->base != BASE_ZERO)
			return "doubles in a column of another type";
		return (size_t)(s->doubles.end - s->doubles.p) == n * 8 ? NULL
		       : "doubles that do not match their records";
	}
	if (s->run_differences.p == s->run_differences.end)
		return nsx_list_check(s->differences) == n ? NULL : "values that do not match their records";
	for (; counts.p < counts.end; at += count)
		if (!nsx_get_varint(&counts, &count) || count > n - at)
			return "runs that do not match their records";
	return at == n && nsx_list_check(s->run_differences) == nsx_list_count(s->run_counts) ? NULL
	       : "runs that do not match their records";
}
