/* order.c -- the order of a stream's records. */
#include "stream/order.h"

#include "base/num.h"
#include "stream/fields.h"

/* Of compilation and work. */
static inline bool
time_of(const struct nsx_rec *r, int64_t *time)
{
	enum nsx_kind_id kind = r->kind->id;

	if (kind == NSX_RANGE && nsx_has(r, NSX_RANGE_start) && nsx_has(r, NSX_RANGE_host_start)) {
		int64_t gpu = r->v[NSX_RANGE_start].i, host = r->v[NSX_RANGE_host_start].i;
		*time = gpu < host ? gpu : host;
		return true;
	}
	int slot = nsx_field(kind, NSX_ROLE_START);
	if (slot < 0 || (kind == NSX_RANGE && !nsx_has(r, slot)))
		slot = nsx_field(kind, NSX_ROLE_HOST_START);
	if (!nsx_has(r, slot))
		return false;
	*time = r->v[slot].i;
	return true;
}

bool
nsx_order_time(const struct nsx_rec *r, int64_t *time)
{
	enum nsx_kind_id kind = r->kind->id;

	return kind >= NSX_COMPILE && kind < NSX_SKEW && time_of(r, time);
}

void
nsx_order_slots(enum nsx_kind_id kind, int8_t slots[2])
{
	int start = nsx_field(kind, NSX_ROLE_START), host = nsx_field(kind, NSX_ROLE_HOST_START);
	bool work = nsx_section_of(kind) == NSX_SECTION_WORK;

	slots[0] = (int8_t)(!work ? -1 : start >= 0 ? start : host);
	slots[1] = (int8_t)(work && kind == NSX_RANGE ? host : slots[0]);
}

uint64_t
nsx_order_columns(enum nsx_kind_id kind)
{
	int start = nsx_field(kind, NSX_ROLE_START), host_start = nsx_field(kind, NSX_ROLE_HOST_START);
	uint64_t columns = kind == NSX_COMPILE ? NSX_C(COMPILE, profile) : 0;

	if (kind < NSX_COMPILE || kind >= NSX_SKEW)
		return 0;
	if (start >= 0)
		columns |= 1ULL << start;
	if (start < 0 || kind == NSX_RANGE)
		columns |= 1ULL << host_start;
	return columns;
}

int64_t
nsx_order_end(const struct nsx_rec *r)
{
	static const enum nsx_role times[][2] = { { NSX_ROLE_START, NSX_ROLE_DUR }, { NSX_ROLE_HOST_START,
		NSX_ROLE_HOST_DUR } };
	int64_t end = INT64_MIN;

	for (int i = 0; i < 2; i++) {
		if (!nsx_field_has(r, times[i][0]))
			continue;
		int64_t e = nsx_add_sat(nsx_field_int(r, times[i][0], 0), nsx_field_int(r, times[i][1], 0), NULL);
		end = e > end ? e : end;
	}
	return end;
}

struct nsx_order_key
nsx_order_work(enum nsx_kind_id kind, int64_t time, const int64_t *dur)
{
	/* ~dur decreases as dur increases, for every dur. */
	return (struct nsx_order_key){ NSX_SECTION_WORK, time, kind, dur ? ~*dur : INT64_MIN };
}

bool
nsx_order_key(const struct nsx_rec *r, struct nsx_order_key *key)
{
	enum nsx_kind_id kind = r->kind->id;
	enum nsx_section section = nsx_section_of(kind);
	int64_t time = INT64_MIN;

	*key = (struct nsx_order_key){ .section = section };
	if (section != NSX_SECTION_COMPILE && section != NSX_SECTION_WORK)
		return true;
	bool placed = time_of(r, &time);
	if (section == NSX_SECTION_COMPILE) {
		key->first = nsx_int(r, NSX_COMPILE_profile, INT64_MIN);
		key->second = time;
		return placed;
	}
	/* For a range the host's time, which determines its position; call and overhead have no other. */
	int slot = kind == NSX_RANGE && nsx_has(r, NSX_RANGE_host_start) ? NSX_RANGE_host_dur
	    : nsx_field(kind, NSX_ROLE_DUR);
	if (slot < 0)
		slot = nsx_field(kind, NSX_ROLE_HOST_DUR);
	/* Without nsx_has: if the duration was not declared, it is absent. Memory has none. */
	*key = nsx_order_work(kind, time, slot >= 0 && r->has >> slot & 1 ? &r->v[slot].i : NULL);
	return placed;
}

static int64_t
number_of(const void *of, enum nsx_role role)
{
	return nsx_field_int(of, role, INT64_MIN);
}

static struct nsx_str
name_of(const void *of)
{
	return nsx_field_str(of, NSX_ROLE_NAME);
}

/* An operation refers to its call, too. */
static int64_t
last_of(const struct nsx_order_view *v)
{
	return v->number(v->of, nsx_field(v->kind, NSX_ROLE_OP) >= 0 ? NSX_ROLE_OP : NSX_ROLE_CALL);
}

int
nsx_order_tie_cmp(const struct nsx_order_view *a, const struct nsx_order_view *b)
{
	static const enum nsx_role by[] = { NSX_ROLE_PROFILE, NSX_ROLE_DEVICE, NSX_ROLE_PID, NSX_ROLE_TID,
	                                    NSX_ROLE_RANGE };

	for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
		int64_t x = a->number(a->of, by[i]), y = b->number(b->of, by[i]);
		if (x != y)
			return x < y ? -1 : 1;
	}
	int c = nsx_str_cmp(a->name(a->of), b->name(b->of));
	if (c)
		return c;
	int64_t x = last_of(a), y = last_of(b);
	return (x > y) - (x < y);
}

int
nsx_order_cmp_tied(const struct nsx_rec *a, const struct nsx_rec *b)
{
	return nsx_order_tie_cmp(&(struct nsx_order_view){ a->kind->id, a, number_of, name_of },
	                         &(struct nsx_order_view){ b->kind->id, b, number_of, name_of });
}

int
nsx_order_cmp(const struct nsx_rec *a, const struct nsx_rec *b)
{
	struct nsx_order_key x, y;

	nsx_order_key(a, &x);
	nsx_order_key(b, &y);
	int c = nsx_order_key_cmp(&x, &y);
	return c || x.section != NSX_SECTION_WORK ? c : nsx_order_cmp_tied(a, b);
}
