/* sample_write.c -- the sample of a stream as a stream: all metadata, and the records that compare clocks. */
#include "filter/align/aligning.h"
#include "stream/order.h"

/* Whether a record that communicates is in the sample. */
static int
is_sampled(struct al_job *j, const struct nsx_rec *rec, bool *yes)
{
	struct nsx_comm_record r;
	uint32_t collective;

	*yes = false;
	if (rec->kind->id != NSX_THUNK || !nsx_is_comm(&j->comm, rec))
		return NSX_OK;
	if (nsx_comm_describe(&j->comm, rec, &r, j->err) != NSX_OK)
		return NSX_ERR;
	collective = nsx_map_get(&j->collective_of, (struct nsx_key){ nsx_comm_collective(&r), 0 });
	*yes = collective != NSX_NONE
	       && nsx_align_sample_has(&j->sample, collective, nsx_int(rec, NSX_THUNK_occurrence, -1));
	return NSX_OK;
}

/* Whether it is the first work of its device, which shows that the device has any. */
static bool
is_first(struct al_job *j, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_find_device(&j->comm.cat, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));
	bool first = at != NSX_NONE && j->devices.p[at].profiled;

	/* The first pass has set it. */
	if (first)
		j->devices.p[at].profiled = false;
	return first;
}

/* The same of operations. */
static bool
is_first_op(struct al_job *j, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_find_device(&j->comm.cat, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));
	bool first = at != NSX_NONE && j->devices.p[at].worked;

	if (first)
		j->devices.p[at].worked = false;
	return first;
}

static int
take(struct al_job *j, const struct nsx_rec *rec, bool *yes)
{
	switch (rec->kind->id) {
	case NSX_MODULE:
		*yes = is_first(j, rec);
		return NSX_OK;
	case NSX_THUNK:
		if (is_sampled(j, rec, yes) != NSX_OK)
			return NSX_ERR;
		*yes = is_first(j, rec) || *yes;
		return NSX_OK;
	case NSX_OP:
		/* NCCL's are compared where no instruction communicates. */
		*yes = !j->obs.n && (is_first_op(j, rec) | nsx_align_compares_op(j, rec));
		return NSX_OK;
	default:
		*yes = nsx_rec_section(rec) == NSX_SECTION_METADATA;
		return NSX_OK;
	}
}

int
nsx_align_write_sample(struct al_job *j, struct nsx_reader *in, struct nsx_writer *out)
{
	struct nsx_rec rec;
	bool yes;
	int rc = NSX_OK;

	for (enum nsx_kind_id k = 0; k < NSX_NKINDS; k++)
		if (nsx_section_of(k) == NSX_SECTION_METADATA || k == NSX_MODULE || k == NSX_THUNK
		    || (k == NSX_OP && !j->obs.n))
			nsx_reader_need(in, k, NSX_EVERY);
	while (rc == NSX_OK && (rc = nsx_read(in, &rec)) == NSX_OK) {
		rc = take(j, &rec, &yes);
		if (rc == NSX_OK && yes)
			rc = nsx_write(out, &rec);
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}
