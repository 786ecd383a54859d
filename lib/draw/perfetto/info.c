/* info.c -- what a stream's metadata say about slices: instructions, programs, sources, devices, clocks. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "draw/perfetto/trace.h"

static const int64_t second = 1000000000;

static struct nsx_key
key1(int64_t a)
{
	return (struct nsx_key){ (uint64_t)a, 0 };
}

/* Remember a string under a key. */
static int
keep_string(struct nsx_info *info, struct nsx_map *map, struct nsx_key key, struct nsx_str s, struct nsx_err *err)
{
	uint32_t *at = nsx_map_at(map, key);

	if (!at)
		return nsx_err_nomem(err, NULL);
	*at = s.len ? nsx_intern(&info->strings, s) : NSX_NONE;
	return s.len && *at == NSX_NONE ? nsx_err_nomem(err, NULL) : NSX_OK;
}

static struct nsx_str
innermost(struct nsx_str frames)
{
	size_t n = frames.len;

	while (n && frames.ptr[n - 1] != ';')
		n--;
	return (struct nsx_str){ frames.ptr + n, frames.len - n };
}

/* The number of a string, or NSX_NONE for an empty one; false when out of memory. */
static bool
number(struct nsx_info *info, struct nsx_str s, uint32_t *id)
{
	*id = s.len ? nsx_intern(&info->strings, s) : NSX_NONE;
	return !s.len || *id != NSX_NONE;
}

static int
take_inst(struct nsx_info *info, const struct nsx_rec *rec, struct nsx_err *err)
{
	struct nsx_info_inst i = { .source = NSX_NONE };
	uint32_t *at = nsx_map_at(&info->inst_of, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_INST_program, -1),
	                                                            (uint64_t)nsx_int(rec, NSX_INST_inst, -1) });

	if (!at || !number(info, nsx_string(rec, NSX_INST_opcode), &i.opcode) || !number(info, nsx_string(rec, NSX_INST_op_name), &i.op_name))
		return nsx_err_nomem(err, NULL);
	if (nsx_has(rec, NSX_INST_stack))
		i.source = nsx_map_get(&info->stack_of, key1(rec->v[NSX_INST_stack].i));
	*at = (uint32_t)info->insts.n;
	return nsx_vec_push(&info->insts, i) ? NSX_OK : nsx_err_nomem(err, NULL);
}

static int
take_device(struct nsx_info *info, const struct nsx_rec *rec, struct nsx_err *err)
{
	struct nsx_info_device d = { nsx_int(rec, NSX_DEVICE_profile, -1), nsx_int(rec, NSX_DEVICE_device, -1),
	                             nsx_int(rec, NSX_DEVICE_process, 0), nsx_has(rec, NSX_DEVICE_process) };
	uint32_t *at = nsx_map_at(&info->device_of, (struct nsx_key){ (uint64_t)d.profile, (uint64_t)d.device });

	if (!at || !nsx_vec_push(&info->devices, d))
		return nsx_err_nomem(err, NULL);
	*at = (uint32_t)info->devices.n - 1;
	return NSX_OK;
}

/* An aligned time is t - (offset + rate * (t - ref)), so what was 0 may be below: by whole seconds, for times that people read. */
static void
take_clock(struct nsx_info *info, const struct nsx_rec *rec)
{
	double offset = nsx_has(rec, NSX_CLOCK_offset) ? rec->v[NSX_CLOCK_offset].f : 0;
	double rate = nsx_has(rec, NSX_CLOCK_rate) ? rec->v[NSX_CLOCK_rate].f : 0;
	double below = ceil((offset - rate * (double)nsx_int(rec, NSX_CLOCK_ref, 0)) / (double)second);

	/* 30 years: what is more is no clock's offset. */
	if (below > 0 && below < 1e9 && (int64_t)below * second > info->shift)
		info->shift = (int64_t)below * second;
}

int
nsx_info_take(struct nsx_info *info, const struct nsx_rec *rec, struct nsx_err *err)
{
	if (nsx_comm_meta(&info->comm, rec, err) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_PROFILE:
		info->several |= info->profile_of.n > 0;
		return keep_string(info, &info->profile_of, key1(nsx_int(rec, NSX_PROFILE_profile, -1)), nsx_string(rec, NSX_PROFILE_name), err);
	case NSX_PROGRAM: {
		struct nsx_str key = nsx_string(rec, NSX_PROGRAM_key);
		return keep_string(info, &info->key_of, key1(nsx_int(rec, NSX_PROGRAM_program, -1)), key.len ? key : nsx_string(rec, NSX_PROGRAM_name), err);
	}
	case NSX_STACK:
		return keep_string(info, &info->stack_of, key1(nsx_int(rec, NSX_STACK_stack, -1)), innermost(nsx_string(rec, NSX_STACK_frames)), err);
	case NSX_INST:
		return take_inst(info, rec, err);
	case NSX_DEVICE:
		return take_device(info, rec, err);
	case NSX_CLOCK:
		take_clock(info, rec);
		return NSX_OK;
	default:
		return NSX_OK;
	}
}

void
nsx_info_free(struct nsx_info *info)
{
	nsx_intern_free(&info->strings);
	nsx_map_free(&info->inst_of);
	nsx_map_free(&info->key_of);
	nsx_map_free(&info->stack_of);
	nsx_map_free(&info->profile_of);
	nsx_map_free(&info->device_of);
	free(info->insts.p);
	free(info->devices.p);
	nsx_comm_free(&info->comm);
}

/* ---- names of processes ---- */

static void
put_profile(const struct nsx_info_name *n, struct nsx_buf *buf)
{
	struct nsx_str name = nsx_info_str(n->info, nsx_map_get(&n->info->profile_of, key1(n->profile)));

	if (name.len)
		nsx_buf_str(buf, name);
	else
		nsx_buf_fmt(buf, "profile %" PRId64, n->profile);
}

void
nsx_info_name_gpu(const void *name, struct nsx_buf *buf)
{
	const struct nsx_info_name *n = name;
	uint32_t at = nsx_map_get(&n->info->device_of, (struct nsx_key){ (uint64_t)n->profile, (uint64_t)n->number });

	if (n->number == INT64_MIN)
		nsx_buf_c(buf, "several GPUs");
	else
		nsx_buf_fmt(buf, "GPU %" PRId64, n->number);
	if (at != NSX_NONE && n->info->devices.p[at].has_process) {
		nsx_buf_fmt(buf, " (host process %" PRId64 ")", n->info->devices.p[at].process);
	} else if (n->info->several) {
		nsx_buf_c(buf, " of ");
		put_profile(n, buf);
	}
}

void
nsx_info_name_host(const void *name, struct nsx_buf *buf)
{
	const struct nsx_info_name *n = name;

	nsx_buf_c(buf, "host");
	if (n->info->several) {
		nsx_buf_c(buf, " of ");
		put_profile(n, buf);
	}
	if (n->number != INT64_MIN)
		nsx_buf_fmt(buf, ", pid %" PRId64, n->number);
}
