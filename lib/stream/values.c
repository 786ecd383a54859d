/* values.c -- the numbers of one column in a binary block, as they are stored. */
#include "stream/values.h"

bool
nsx_values_open(struct nsx_unread s, struct nsx_values *v)
{
	struct nsx_wire_field f;
	int rc;

	*v = (struct nsx_values){ 0 };
	while ((rc = nsx_get_field(&s, &f)) > 0) {
		bool bytes = (f.field == VALUES_PRESENCE || f.field >= VALUES_DIFFERENCES) && f.field <= VALUES_DOUBLES;

		if (f.field > VALUES_DOUBLES)
			continue;
		if (f.wire != (bytes ? WIRE_BYTES : WIRE_VARINT))
			return false;
		if (!bytes && f.field != VALUES_FIRST && f.number > 255)
			return false;
		switch (f.field) {
		case VALUES_COLUMN:          v->column = (unsigned)f.number; break;
		case VALUES_PRESENCE:        v->presence = f.bytes; break;
		case VALUES_BASE:            v->base = f.number; break;
		case VALUES_OF:              v->of = (unsigned)f.number; break;
		case VALUES_KEY:             v->key = (unsigned)f.number; break;
		case VALUES_PLUS:            v->plus = (unsigned)f.number; break;
		case VALUES_MINUS:           v->minus = (unsigned)f.number; break;
		case VALUES_FIRST:           v->first = nsx_zag(f.number); break;
		case VALUES_DIFFERENCES:     v->differences = f.bytes; break;
		case VALUES_RUN_DIFFERENCES: v->run_differences = f.bytes; break;
		case VALUES_RUN_COUNTS:      v->run_counts = f.bytes; break;
		case VALUES_DOUBLES:         v->doubles = f.bytes; break;
		}
	}
	return rc == 0;
}

size_t
nsx_values_count(struct nsx_unread runs, size_t rows)
{
	uint64_t n;
	size_t at = 0, values = 0;
	bool now = true;

	for (; runs.p < runs.end; now = !now) {
		if (!nsx_get_varint(&runs, &n) || n > rows - at)
			return SIZE_MAX;
		values += now ? n : 0;
		at += n;
	}
	return at == rows ? values : SIZE_MAX;
}

static bool
read_runs(struct nsx_unread diffs, struct nsx_unread counts, uint64_t *v, size_t n)
{
	uint64_t x, count;
	size_t at = 0;

	while (diffs.p < diffs.end) {
		if (!nsx_get_varint(&diffs, &x) || !nsx_get_varint(&counts, &count) || count > n - at)
			return false;
		x = nsx_zag(x);
		for (size_t end = at + count; at < end; at++)
			v[at] = x;
	}
	return at == n && counts.p == counts.end;
}

/* The same with base TOP, whose results are values, not differences. Runs of 0 are consecutive numbers. */
static bool
read_tops(struct nsx_unread diffs, struct nsx_unread counts, uint64_t *v, size_t n, uint64_t top)
{
	uint64_t x, count;
	size_t at = 0;

	while (diffs.p < diffs.end) {
		if (!nsx_get_varint(&diffs, &x) || !nsx_get_varint(&counts, &count) || count > n - at)
			return false;
		x = nsx_zag(x);
		if (x == 0) {
			for (size_t end = at + count; at < end; at++)
				v[at] = top++;
			continue;
		}
		for (size_t end = at + count; at < end; at++) {
			v[at] = top + x;
			top = (int64_t)v[at] >= (int64_t)top ? v[at] + 1 : top;
		}
	}
	return at == n && counts.p == counts.end;
}

static void
read_doubles(const unsigned char *p, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++, p += 8) {
		v[i] = 0;
		for (int b = 0; b < 8; b++)
			v[i] |= (uint64_t)p[b] << 8 * b;
	}
}

const char *
nsx_values_data(const struct nsx_values *s, uint64_t *v, size_t n)
{
	struct nsx_unread diffs = s->differences;

	if (s->doubles.p != s->doubles.end) {
		if ((size_t)(s->doubles.end - s->doubles.p) / 8 != n || (size_t)(s->doubles.end - s->doubles.p) % 8)
			return "doubles that do not match their records";
		read_doubles(s->doubles.p, v, n);
		return NULL;
	}
	if (s->run_differences.p != s->run_differences.end)
		return (s->base == BASE_TOP ? read_tops(s->run_differences, s->run_counts, v, n, s->first)
		        : read_runs(s->run_differences, s->run_counts, v, n)) ? NULL
		       : "runs that do not match their records";
	return nsx_get_signed(&diffs, v, n) && diffs.p == diffs.end ? NULL : "values that do not match their records";
}
