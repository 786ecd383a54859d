/* parts.c -- the activity of a device at each time. */
#include "job/parts.h"

const char *
nsx_part_name(enum nsx_part part)
{
	static const char *const names[NSX_NPARTS] = { "compute", "comm", "copy", "idle" };

	return names[part];
}

enum nsx_part
nsx_part_of(const struct nsx_rec *op, bool communicates)
{
	struct nsx_str type = nsx_string(op, NSX_OP_type);

	if (communicates)
		return NSX_PART_COMM;
	return nsx_str_eq(type, NSX_STR("memcpy")) || nsx_str_eq(type, NSX_STR("memset")) ? NSX_PART_COPY
	       : NSX_PART_COMPUTE;
}

int64_t
nsx_parts_end(const struct nsx_parts *p)
{
	int64_t end = INT64_MIN;

	for (int i = 0; p->begun && i < NSX_PART_IDLE; i++)
		end = p->end[i] > end ? p->end[i] : end;
	return end;
}

/* Report the runs from p->at to `to`, given the operations that have started. */
static int
settle(struct nsx_parts *p, int64_t to, nsx_part_fn *settled, void *state)
{
	int rc = NSX_OK;

	for (int i = 0; i < NSX_NPARTS && rc == NSX_OK && p->at < to; i++) {
		int64_t end = i < NSX_PART_IDLE && p->end[i] < to ? p->end[i] : to;

		if (end > p->at) {
			rc = settled(state, (enum nsx_part)i, p->at, end);
			p->at = end;
		}
	}
	return rc;
}

int
nsx_parts_add(struct nsx_parts *p, enum nsx_part part, int64_t start, int64_t end, nsx_part_fn *settled, void *state)
{
	if (!p->begun) {
		*p = (struct nsx_parts){ true, start, start, { start, start, start } };
	} else {
		int rc = settle(p, start, settled, state);

		if (rc != NSX_OK)
			return rc;
	}
	/* An operation of no length takes no time, but the device's own time extends to it. */
	end = end > start ? end : start;
	if (end > p->end[part])
		p->end[part] = end;
	return NSX_OK;
}

int
nsx_parts_finish(struct nsx_parts *p, nsx_part_fn *settled, void *state)
{
	return p->begun ? settle(p, nsx_parts_end(p), settled, state) : NSX_OK;
}
