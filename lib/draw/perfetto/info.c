/* info.c -- metadata of a stream for slices: instructions, programs, sources, devices, clocks. */
#include <inttypes.h>
#include <math.h>

#include "draw/perfetto/trace.h"

static const int64_t second = 1000000000;

/* An aligned time is t - (offset + rate * (t - ref)), so a time near 0 may become negative; all times are shifted by
 * whole seconds, so that they remain readable. */
static void
take_clock(struct nsx_info *info, const struct nsx_cat_device *d)
{
	double below = ceil((d->offset - d->rate * (double)d->ref) / (double)second);

	/* 30 years: no valid clock offset is larger. */
	if (below > 0 && below < 1e9 && (int64_t)below * second > info->shift)
		info->shift = (int64_t)below * second;
}

int
nsx_info_take(struct nsx_info *info, const struct nsx_rec *rec, struct nsx_err *err)
{
	uint32_t device;

	if (nsx_comm_take(&info->comm, rec, err) != NSX_OK)
		return NSX_ERR;
	info->devices += rec->kind->id == NSX_DEVICE;
	if (rec->kind->id != NSX_CLOCK)
		return NSX_OK;
	device = nsx_cat_device(&info->comm.cat, rec);
	if (device == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	take_clock(info, &info->comm.cat.devices.p[device]);
	return NSX_OK;
}

void
nsx_info_free(struct nsx_info *info)
{
	nsx_comm_free(&info->comm);
}

struct nsx_str
nsx_info_program(struct nsx_info *info, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_program(&info->comm.cat, rec);

	return at == NSX_NONE ? NSX_STR("") : nsx_cat_program_label(&info->comm.cat, at);
}

struct nsx_str
nsx_info_source(const struct nsx_info *info, uint32_t stack)
{
	struct nsx_str frames = stack == NSX_NONE ? NSX_STR("") : nsx_cat_str(&info->comm.cat,
		info->comm.cat.stacks.p[stack]);
	size_t n = frames.len;

	while (n && frames.ptr[n - 1] != ';')
		n--;
	return (struct nsx_str){ frames.ptr + n, frames.len - n };
}

struct nsx_str
nsx_info_frames(const struct nsx_info *info, const struct nsx_rec *rec)
{
	return nsx_cat_frames(&info->comm.cat, nsx_field_int(rec, NSX_ROLE_STACK, NSX_ABSENT));
}

/* ---- names of processes ---- */

/* " of NAME" if there are several reports. */
static void
put_profile(const struct nsx_info_name *n, struct nsx_buf *buf)
{
	const struct nsx_catalogue *cat = &n->info->comm.cat;
	uint32_t at = nsx_cat_find_profile(cat, n->profile);
	struct nsx_str name = at == NSX_NONE ? NSX_STR("") : nsx_cat_str(cat, cat->profiles.p[at].name);
	size_t listed = 0;

	for (size_t i = 0; i < cat->profiles.n; i++)
		listed += cat->profiles.p[i].listed;
	if (listed < 2)
		return;
	nsx_buf_c(buf, " of ");
	if (name.len)
		nsx_buf_str(buf, name);
	else
		nsx_buf_fmt(buf, "profile %" PRId64, n->profile);
}

/* The number of the host process of a GPU, NSX_ABSENT if unknown. */
static int64_t
process_of(const struct nsx_info_name *n)
{
	const struct nsx_catalogue *cat = &n->info->comm.cat;
	uint32_t at = nsx_cat_find_device(cat, n->number);
	uint32_t profile = at == NSX_NONE ? NSX_NONE : cat->devices.p[at].profile;

	return profile != NSX_NONE && cat->profiles.p[profile].number == n->profile ? cat->devices.p[at].process
	       : NSX_ABSENT;
}

void
nsx_info_name_gpu(const void *name, struct nsx_buf *buf)
{
	const struct nsx_info_name *n = name;
	int64_t process = process_of(n);

	if (n->number == NSX_ABSENT)
		nsx_buf_c(buf, "several GPUs");
	else
		nsx_buf_fmt(buf, "GPU %" PRId64, n->number);
	if (process != NSX_ABSENT)
		nsx_buf_fmt(buf, " (host process %" PRId64 ")", process);
	else
		put_profile(n, buf);
}

void
nsx_info_name_host(const void *name, struct nsx_buf *buf)
{
	const struct nsx_info_name *n = name;

	nsx_buf_c(buf, "host");
	put_profile(n, buf);
	if (n->number != NSX_ABSENT)
		nsx_buf_fmt(buf, ", pid %" PRId64, n->number);
}
