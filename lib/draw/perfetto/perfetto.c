/* perfetto.c -- a stream as a trace: the slice of each record. */
#include <stdlib.h>

#include "draw/perfetto/trace.h"
#include "job/doing/doing.h"
#include "base/num.h"
#include "stream/order.h"

enum { FLUSH = 1 << 18 };

const char *const nsx_category_names[NSX_NCATEGORIES] = {
	[NSX_CAT_MODULE] = "module", [NSX_CAT_COMPUTATION] = "computation", [NSX_CAT_COMMUNICATION] = "communication",
	[NSX_CAT_OP] = "op", [NSX_CAT_RANGE] = "range", [NSX_CAT_LAUNCH] = "launch", [NSX_CAT_COMPILE] = "compile",
	[NSX_CAT_CALL] = "call", [NSX_CAT_OVERHEAD] = "overhead", [NSX_CAT_OS] = "os", [NSX_CAT_OFF] = "off",
	[NSX_CAT_GIL] = "gil", [NSX_CAT_SAMPLE] = "sample",
};
const char *const nsx_arg_names[NSX_NARGS] = {
	[NSX_ARG_PROGRAM] = "program", [NSX_ARG_EXECUTION] = "execution", [NSX_ARG_OCCURRENCE] = "occurrence",
	[NSX_ARG_OPCODE] = "opcode",
	[NSX_ARG_OP_NAME] = "op_name", [NSX_ARG_SOURCE] = "source", [NSX_ARG_HIDDEN] = "hidden",
	[NSX_ARG_COLLECTIVE] = "collective",
	[NSX_ARG_BYTES] = "bytes", [NSX_ARG_GROUP] = "group", [NSX_ARG_THUNKS] = "thunks", [NSX_ARG_OPS] = "ops",
	[NSX_ARG_DOMAIN] = "domain",
	[NSX_ARG_TYPE] = "type", [NSX_ARG_GRAPH_NODE] = "graph_node", [NSX_ARG_CLASS] = "class",
	[NSX_ARG_COMM_ID] = "comm_id", [NSX_ARG_PAIR] = "pair", [NSX_ARG_SEQ] = "seq", [NSX_ARG_CALLS] = "calls",
};

struct job {
	const struct nsx_perfetto_options *options;
	struct nsx_perfetto  trace;
	struct nsx_perfetto_tracks tracks;
	struct nsx_perfetto_devices devices;
	struct nsx_info   info;
	struct nsx_heaps  heaps;
	struct nsx_comm_ops comm_ops;
	struct nsx_err   *err;
	uint64_t          launches;      /* numbers assigned so far */
	struct nsx_pending pending;
	int64_t           early, timeless;
	struct nsx_metric_counters metrics;
};

int
nsx_trace_flush(struct nsx_perfetto *t, bool all)
{
	if (t->buf.failed)
		return nsx_err_nomem(t->err, NULL);
	if (t->buf.len < FLUSH && !all)
		return NSX_OK;
	int rc = nsx_outfile_write(t->out, t->buf.ptr, t->buf.len);
	t->buf.len = 0;
	return rc;
}

/* ---- creating slices ---- */

static int64_t
shifted(struct job *j, int64_t time)
{
	bool clipped = false;
	int64_t t = nsx_add_sat(time, j->info.shift, &clipped);

	if (t >= 0)
		return t;
	j->early++;
	return 0;
}

/* Begin a slice; false if it has no time. */
static bool
begin(struct job *j, struct nsx_slice *s, enum nsx_category category, struct nsx_str name, const struct nsx_rec *rec,
      int start, int dur)
{
	int64_t from = nsx_int(rec, start, 0), length = nsx_int(rec, dur, -1);

	if (!nsx_has(rec, start) || length < 0) {
		j->timeless++;
		return false;
	}
	*s = (struct nsx_slice){ .category = category, .name = name.len ? name : NSX_STR("[unnamed]") };
	s->end = nsx_add_sat(nsx_add_sat(from, length, NULL), j->info.shift, NULL);
	s->start = shifted(j, from);
	if (s->end < s->start)
		s->end = s->start;
	return true;
}

static void
say_int(struct nsx_slice *s, enum nsx_arg_key key, const struct nsx_rec *rec, int slot)
{
	if (nsx_has(rec, slot))
		s->args[s->nargs++] = (struct nsx_arg){ .key = key, .i = rec->v[slot].i };
}

static void
say_str(struct nsx_slice *s, enum nsx_arg_key key, struct nsx_str text)
{
	if (text.len)
		s->args[s->nargs++] = (struct nsx_arg){ .key = key, .s = text };
}

/* ---- positions of slices ---- */

static uint32_t
process_of(struct job *j, bool host, int64_t profile, const struct nsx_rec *rec, int slot)
{
	struct nsx_info_name name = { &j->info, profile, nsx_int(rec, slot, NSX_ABSENT) };

	return nsx_tracks_process(&j->tracks, host, profile, name.number, host ? nsx_info_name_host : nsx_info_name_gpu,
	                          &name);
}

static int
add(struct job *j, uint32_t process, enum nsx_track_role role, int64_t number, const struct nsx_slice *s)
{
	struct nsx_group *g = process ? nsx_tracks_group(&j->tracks, process, role, number) : NULL;

	if (!g)
		return NSX_ERR;
	/* For records not in the order of their starts: ranges are ordered by the earlier of two. */
	bool later = role == NSX_TRACK_LAUNCHES || role == NSX_TRACK_THREAD || role == NSX_TRACK_RANGES;
	return later ? nsx_tracks_add_later(&j->tracks, g, s) : nsx_tracks_add(&j->tracks, g, s);
}

/* The launch of s, if rec has its time, and the flow from there. */
static int
add_launch(struct job *j, uint32_t process, struct nsx_slice *s, const struct nsx_rec *rec, int start, int dur,
           int execution)
{
	struct nsx_slice launch;

	if (!nsx_has(rec, start) || !begin(j, &launch, NSX_CAT_LAUNCH, s->name, rec, start, dur))
		return NSX_OK;
	/* An arrow that would go backward in time, as with clocks that differ, is omitted. */
	if (j->options->flows && launch.start < s->start) {
		s->launch = launch.launch = ++j->launches;
		s->launched = true;
	}
	say_int(&launch, NSX_ARG_EXECUTION, rec, execution);
	return add(j, process, NSX_TRACK_LAUNCHES, 0, &launch);
}

/* ---- records ---- */

static int
take_module(struct job *j, const struct nsx_rec *rec)
{
	int64_t profile = nsx_int(rec, NSX_MODULE_profile, -1);
	uint32_t process = process_of(j, false, profile, rec, NSX_MODULE_device);
	struct nsx_slice s;

	if (!process)
		return NSX_ERR;
	if (!begin(j, &s, NSX_CAT_MODULE, nsx_string(rec, NSX_MODULE_name), rec, NSX_MODULE_start, NSX_MODULE_dur))
		return NSX_OK;
	say_str(&s, NSX_ARG_PROGRAM, nsx_info_program(&j->info, rec));
	say_int(&s, NSX_ARG_EXECUTION, rec, NSX_MODULE_execution);
	say_int(&s, NSX_ARG_THUNKS, rec, NSX_MODULE_thunks);
	if (add_launch(j, process, &s, rec, NSX_MODULE_host_start, NSX_MODULE_host_dur, NSX_MODULE_execution) != NSX_OK)
		return NSX_ERR;
	return add(j, process, NSX_TRACK_MODULES, 0, &s);
}

/* A number that the records of a collective on all devices share, and no other thunk has: the upper bit distinguishes
 * it from launches. */
static uint64_t
instance_of(const struct nsx_catalogue *cat, const struct nsx_rec *rec, const struct nsx_comm_record *r)
{
	const struct nsx_cat_inst *inst = &cat->insts.p[r->inst];
	/* Devices without a record of metadata are numbered from the top. */
	uint64_t h = nsx_hash_u64((inst->nth_comm != NSX_NONE ? inst->nth_comm : UINT32_MAX - r->inst) + UINT64_C(1));

	h = nsx_hash_u64(h + (uint64_t)nsx_int(rec, NSX_THUNK_execution, 0));
	h = nsx_hash_u64(h + (uint64_t)nsx_int(rec, NSX_THUNK_occurrence, 0));
	return nsx_hash_u64(h + (uint64_t)r->group_at) | UINT64_C(1) << 63;
}

static int
say_collective(struct job *j, struct nsx_slice *s, const struct nsx_rec *rec)
{
	struct nsx_comm_record r;

	if (nsx_comm_describe(&j->info.comm, rec, &r, j->err) != NSX_OK)
		return NSX_ERR;
	if (r.kind != NSX_NONE)
		say_str(s, NSX_ARG_COLLECTIVE, nsx_cat_str(&j->info.comm.cat, r.kind));
	if (r.has_bytes)
		s->args[s->nargs++] = (struct nsx_arg){ .key = NSX_ARG_BYTES, .i = r.bytes };
	if (r.has_group)
		s->args[s->nargs++] = (struct nsx_arg){ .key = NSX_ARG_GROUP, .i = r.group };
	if (j->options->flows && (r.participants > 1 || (r.participants == 0 && j->info.devices > 1)))
		s->instance = instance_of(&j->info.comm.cat, rec, &r);
	return NSX_OK;
}

static void
say_inst(struct job *j, struct nsx_slice *s, const struct nsx_rec *rec)
{
	const struct nsx_catalogue *cat = &j->info.comm.cat;
	uint32_t at = nsx_cat_inst(&j->info.comm.cat, rec);

	if (at == NSX_NONE)
		return;
	const struct nsx_cat_inst *i = &cat->insts.p[at];
	say_str(s, NSX_ARG_OPCODE, nsx_cat_str(cat, i->opcode));
	say_str(s, NSX_ARG_OP_NAME, nsx_cat_str(cat, i->op_name));
	say_str(s, NSX_ARG_SOURCE, nsx_info_source(&j->info, i->stack));
}

static int
take_thunk(struct job *j, const struct nsx_rec *rec)
{
	bool comm = nsx_is_comm(&j->info.comm, rec);
	uint32_t process = process_of(j, false, nsx_int(rec, NSX_THUNK_profile, -1), rec, NSX_THUNK_device);
	struct nsx_slice s;

	if (!process)
		return NSX_ERR;
	if (!begin(j, &s, comm ? NSX_CAT_COMMUNICATION : NSX_CAT_COMPUTATION, nsx_string(rec, NSX_THUNK_name), rec,
	    NSX_THUNK_start, NSX_THUNK_dur))
		return NSX_OK;
	say_str(&s, NSX_ARG_PROGRAM, nsx_info_program(&j->info, rec));
	say_int(&s, NSX_ARG_EXECUTION, rec, NSX_THUNK_execution);
	say_int(&s, NSX_ARG_OCCURRENCE, rec, NSX_THUNK_occurrence);
	say_inst(j, &s, rec);
	if (comm && say_collective(j, &s, rec) != NSX_OK)
		return NSX_ERR;
	if (comm)
		say_int(&s, NSX_ARG_HIDDEN, rec, NSX_THUNK_hidden);
	if (nsx_heaps_thunk(&j->heaps, process, rec, s.start, s.end) != NSX_OK)
		return NSX_ERR;
	if (add_launch(j, process, &s, rec, NSX_THUNK_host_start, NSX_THUNK_host_dur, NSX_THUNK_execution) != NSX_OK)
		return NSX_ERR;
	return add(j, process, comm ? NSX_TRACK_COMMUNICATION : NSX_TRACK_COMPUTATION, 0, &s);
}

/* A range has two times: on its thread, and that of the GPU work launched in it. */
static int
take_range(struct job *j, const struct nsx_rec *rec)
{
	int64_t profile = nsx_int(rec, NSX_RANGE_profile, -1);
	bool gpu = nsx_has(rec, NSX_RANGE_start);
	struct nsx_str name = nsx_string(rec, NSX_RANGE_name);
	struct nsx_slice s;

	if (!gpu && !nsx_has(rec, NSX_RANGE_host_start)) {
		j->timeless++;
		return NSX_OK;
	}
	if (gpu && begin(j, &s, NSX_CAT_RANGE, name, rec, NSX_RANGE_start, NSX_RANGE_dur)) {
		say_int(&s, NSX_ARG_OPS, rec, NSX_RANGE_ops);
		say_str(&s, NSX_ARG_DOMAIN, nsx_string(rec, NSX_RANGE_domain));
		if (add(j, process_of(j, false, profile, rec, NSX_RANGE_device), NSX_TRACK_RANGES, 0, &s) != NSX_OK)
			return NSX_ERR;
	}
	if (!nsx_has(rec, NSX_RANGE_host_start) || !begin(j, &s, NSX_CAT_RANGE, name, rec, NSX_RANGE_host_start,
	    NSX_RANGE_host_dur))
		return NSX_OK;
	say_int(&s, NSX_ARG_OPS, rec, NSX_RANGE_ops);
	say_str(&s, NSX_ARG_DOMAIN, nsx_string(rec, NSX_RANGE_domain));
	return add(j, process_of(j, true, profile, rec, NSX_RANGE_pid), gpu ? NSX_TRACK_THREAD : NSX_TRACK_IDLE_THREAD,
	           nsx_int(rec, NSX_RANGE_tid, -1), &s);
}

/* Arrows from calls are numbered separately from those of launches, of which there are as many as records. */
#define CALLS (UINT64_C(1) << 62)

static int
take_call(struct job *j, const struct nsx_rec *rec)
{
	int64_t profile = nsx_int(rec, NSX_CALL_profile, -1);
	struct nsx_slice s;

	if (!begin(j, &s, NSX_CAT_CALL, nsx_string(rec, NSX_CALL_name), rec, NSX_CALL_start, NSX_CALL_dur))
		return NSX_OK;
	say_int(&s, NSX_ARG_OPS, rec, NSX_CALL_ops);
	say_str(&s, NSX_ARG_CLASS, nsx_string(rec, NSX_CALL_class));
	if (j->options->flows && nsx_int(rec, NSX_CALL_ops, 0) > 0 && nsx_has(rec, NSX_CALL_call)) {
		uint32_t arrow = nsx_pending_call(&j->pending, profile, rec->v[NSX_CALL_call].i);
		if (!arrow)
			return nsx_err_nomem(j->err, NULL);
		s.launch = CALLS | arrow;
	}
	return add(j, process_of(j, true, profile, rec, NSX_CALL_pid), NSX_TRACK_THREAD, nsx_int(rec, NSX_CALL_tid, -1),
	           &s);
}

static int
take_overhead(struct job *j, const struct nsx_rec *rec)
{
	struct nsx_slice s;

	if (!begin(j, &s, NSX_CAT_OVERHEAD, nsx_string(rec, NSX_OVERHEAD_name), rec, NSX_OVERHEAD_start,
	    NSX_OVERHEAD_dur))
		return NSX_OK;
	say_str(&s, NSX_ARG_CLASS, nsx_string(rec, NSX_OVERHEAD_class));
	return add(j, process_of(j, true, nsx_int(rec, NSX_OVERHEAD_profile, -1), rec, NSX_OVERHEAD_pid),
	           NSX_TRACK_THREAD,
	           nsx_int(rec, NSX_OVERHEAD_tid, -1), &s);
}

/* What a thread did beside CUDA, each sort on a track of its own. */
static int
take_host(struct job *j, const struct nsx_rec *rec)
{
	int64_t profile = nsx_field_int(rec, NSX_ROLE_PROFILE, -1), tid = nsx_field_int(rec, NSX_ROLE_TID, -1);
	struct nsx_str frames = nsx_info_frames(&j->info, rec);
	enum nsx_track_role role = NSX_TRACK_OS;
	struct nsx_str name = nsx_field_str(rec, NSX_ROLE_NAME);
	enum nsx_category category = NSX_CAT_OS;
	struct nsx_slice s;

	if (rec->kind->id == NSX_OFF) {
		role = NSX_TRACK_OFF;
		category = NSX_CAT_OFF;
		name = NSX_STR("off the CPU");
	} else if (rec->kind->id == NSX_GIL) {
		role = NSX_TRACK_OFF;
		category = NSX_CAT_GIL;
		name = NSX_STR("waits for the GIL");
	} else if (rec->kind->id == NSX_SAMPLE) {
		role = nsx_str_eq(nsx_string(rec, NSX_SAMPLE_lang), NSX_STR("python")) ? NSX_TRACK_PYTHON
										       : NSX_TRACK_NATIVE;
		category = NSX_CAT_SAMPLE;
		name = role == NSX_TRACK_PYTHON ? nsx_doing_line(frames, false) : nsx_doing_leaf(frames);
	}
	if (!begin(j, &s, category, name, rec, nsx_field(rec->kind->id, NSX_ROLE_HOST_START),
	    nsx_field(rec->kind->id, NSX_ROLE_HOST_DUR)))
		return NSX_OK;
	say_str(&s, NSX_ARG_SOURCE, frames);
	return add(j, process_of(j, true, profile, rec, nsx_field(rec->kind->id, NSX_ROLE_PID)), role, tid, &s);
}

/* An operation that is a slice from start to end of its CUDA stream is communication too. */
static int
take_comm_op(struct job *j, const struct nsx_rec *rec, uint32_t process, const struct nsx_slice *of)
{
	struct nsx_slice s = { .category = NSX_CAT_COMMUNICATION, .name = of->name,
	                       .start = of->start, .end = of->end };
	uint32_t clock = nsx_comm_clock(&j->info.comm, rec);

	if (clock == NSX_NONE)
		return nsx_err_nomem(j->err, NULL);
	/* The launch of a graph launches all of its nodes. */
	if (!nsx_has(rec, NSX_OP_graph_node)
	    && add_launch(j, process, &s, rec, NSX_OP_host_start, NSX_OP_host_dur, NSX_OP_execution) != NSX_OK)
		return NSX_ERR;
	return nsx_comm_ops_keep(&j->comm_ops, rec, clock, process, &s, j->err);
}

static int
take_op(struct job *j, const struct nsx_rec *rec)
{
	uint32_t process = process_of(j, false, nsx_int(rec, NSX_OP_profile, -1), rec, NSX_OP_device);
	bool comm = nsx_is_comm_op(&j->info.comm, rec);
	struct nsx_slice s;

	if (!process)
		return NSX_ERR;
	if (!begin(j, &s, NSX_CAT_OP, nsx_string(rec, NSX_OP_name), rec, NSX_OP_start, NSX_OP_dur))
		return NSX_OK;
	say_str(&s, NSX_ARG_TYPE, nsx_string(rec, NSX_OP_type));
	say_int(&s, NSX_ARG_BYTES, rec, NSX_OP_bytes);
	say_int(&s, NSX_ARG_GRAPH_NODE, rec, NSX_OP_graph_node);
	uint32_t arrow = j->options->flows && nsx_has(rec, NSX_OP_call)
	                 ? nsx_pending_op(&j->pending, nsx_int(rec, NSX_OP_profile, -1), rec->v[NSX_OP_call].i) : 0;
	if (arrow) {
		s.launch = CALLS | arrow;
		s.launched = true;
	}
	if (comm && take_comm_op(j, rec, process, &s) != NSX_OK)
		return NSX_ERR;
	return add(j, process, NSX_TRACK_STREAM, nsx_int(rec, NSX_OP_stream, -1), &s);
}

static int
take_compile(struct job *j, const struct nsx_rec *rec)
{
	struct nsx_slice s;

	if (!begin(j, &s, NSX_CAT_COMPILE, nsx_string(rec, NSX_COMPILE_name), rec, NSX_COMPILE_start, NSX_COMPILE_dur))
		return NSX_OK;
	if (nsx_has(rec, NSX_COMPILE_program))
		say_str(&s, NSX_ARG_PROGRAM, nsx_info_program(&j->info, rec));
	return add(j, process_of(j, true, nsx_int(rec, NSX_COMPILE_profile, -1), rec, NSX_COMPILE_pid),
	           NSX_TRACK_COMPILE, nsx_int(rec, NSX_COMPILE_tid, -1), &s);
}

static int
take_metric(struct job *j, const struct nsx_rec *rec)
{
	uint32_t process = process_of(j, false, nsx_int(rec, NSX_METRIC_profile, -1), rec, NSX_METRIC_device);

	return process ? nsx_metric_draw(&j->metrics, &j->tracks, process, rec) : NSX_ERR;
}

static int
take_memory(struct job *j, const struct nsx_rec *rec)
{
	bool host = !nsx_has(rec, NSX_MEMORY_device);
	uint32_t process = process_of(j, host, nsx_int(rec, NSX_MEMORY_profile, -1), rec,
	                              host ? NSX_MEMORY_pid : NSX_MEMORY_device);

	if (!process)
		return NSX_ERR;
	if (!nsx_has(rec, NSX_MEMORY_start)) {
		j->timeless++;
		return NSX_OK;
	}
	return nsx_memory_draw(&j->metrics, &j->tracks, process, rec, shifted(j, rec->v[NSX_MEMORY_start].i));
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct job *j = state;

	if (rec->kind->id == NSX_DEVICE && nsx_perfetto_devices_take(&j->devices, rec, j->err) != NSX_OK)
		return NSX_ERR;
	if (nsx_rec_section(rec) != NSX_SECTION_METADATA && !nsx_perfetto_devices_has(&j->devices, rec))
		return NSX_OK;
	switch (rec->kind->id) {
	case NSX_MODULE:  return take_module(j, rec);
	case NSX_THUNK:   return take_thunk(j, rec);
	case NSX_RANGE:   return take_range(j, rec);
	case NSX_OP:      return take_op(j, rec);
	case NSX_CALL:    return take_call(j, rec);
	case NSX_OVERHEAD: return take_overhead(j, rec);
	case NSX_COMPILE: return take_compile(j, rec);
	case NSX_METRIC:  return take_metric(j, rec);
	case NSX_MEMORY:  return take_memory(j, rec);
	case NSX_OS: case NSX_OFF: case NSX_GIL: case NSX_SAMPLE: return take_host(j, rec);
	default: break;
	}
	if (nsx_rec_section(rec) != NSX_SECTION_METADATA)
		return NSX_OK;
	if (nsx_nccl_comms_take(&j->comm_ops.nccl.comms, rec, j->err) != NSX_OK)
		return NSX_ERR;
	return nsx_info_take(&j->info, rec, j->err);
}

/* ---- the whole stream ---- */

static void
say(const struct job *j, struct nsx_diags *diags)
{
	nsx_comm_flag_diags(&j->info.comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", j->timeless, "records without a time: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", j->early, "times before the start of the trace: cut");
	nsx_diag_add(diags, NSX_WARNING, "", j->tracks.crowded, "slices not drawn where more than 64 overlap");
	nsx_diag_add(diags, NSX_INFO, "", j->trace.apart,
	             "calls without an arrow: their operations were removed, or came after too many other calls");
	nsx_diag_add(diags, NSX_WARNING, "", j->tracks.groups.n == 0,
	             "nothing to draw: the stream has no times of programs, operations, ranges or calls");
	nsx_diag_add(diags, NSX_INFO, "", j->comm_ops.apart,
	             "devices of one NCCL communicator are on clocks that cannot be compared: no seq and no arrows "
	             "between them; nsysx-align puts them on one");
}

int
nsx_perfetto(struct nsx_reader *in, const struct nsx_perfetto_options *options, struct nsx_outfile *out,
             struct nsx_diags *diags, struct nsx_err *err)
{
	struct job j = { .options = options, .err = err, .info = NSX_INFO_EMPTY,
	                 .trace = { .form = options->chrome ? &nsx_trace_chrome : &nsx_trace_proto, .out = out,
	                            .err = err } };
	int rc;

	j.tracks.trace = j.heaps.trace = &j.trace;
	j.heaps.tracks = &j.tracks;
	j.heaps.info = &j.info;
	j.heaps.diags = diags;
	j.devices.ranges = options->devices;
	j.devices.nranges = options->ndevices;
	j.trace.state = calloc(1, j.trace.form->state);
	rc = j.trace.state ? j.trace.form->begin(&j.trace) : nsx_err_nomem(err, NULL);
	if (rc == NSX_OK)
		rc = nsx_heaps_open(&j.heaps, options->dumps, options->ndumps);
	if (rc == NSX_OK && !options->ndevices)
		rc = nsx_perfetto_devices_find(&j.devices, in, err);
	if (rc == NSX_OK)
		rc = nsx_read_all(in, options->require, take, &j, err);
	if (rc == NSX_OK && options->ndevices && j.devices.seen > 0 && !j.devices.numbers.n)
		rc = nsx_err_set(err, "no device of --devices is in the stream");
	if (rc == NSX_OK)
		rc = nsx_comm_ops_draw(&j.comm_ops, &j.tracks, options->flows);
	if (rc == NSX_OK)
		rc = nsx_tracks_finish(&j.tracks);
	if (rc == NSX_OK)
		rc = nsx_heaps_finish(&j.heaps);
	if (rc == NSX_OK)
		rc = j.trace.form->finish(&j.trace);
	if (rc == NSX_OK)
		rc = nsx_trace_flush(&j.trace, true);
	if (rc == NSX_OK) {
		nsx_perfetto_devices_say(&j.devices, diags);
		say(&j, diags);
	}
	if (j.trace.state)
		j.trace.form->free(&j.trace);
	free(j.trace.state);
	nsx_buf_free(&j.trace.buf);
	nsx_tracks_drop(&j.tracks);
	nsx_heaps_free(&j.heaps);
	nsx_metric_counters_free(&j.metrics);
	nsx_comm_ops_free(&j.comm_ops);
	nsx_pending_free(&j.pending);
	nsx_perfetto_devices_free(&j.devices);
	nsx_info_free(&j.info);
	return rc;
}
