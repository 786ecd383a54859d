/* rows.c -- an event to rows, by its category: the pid of a GPU's row is the device, that of a host's row the process,
 * so nothing but the category tells them apart. */
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "kineto/reading.h"
#include "kineto/times.h"

enum what { KERNEL, COPY, SET, CALL, OP, ANNOTATION, PYTHON, OVERHEAD, SYNC, NOTHING, OTHER };

static enum what
what_of(struct nsx_str cat)
{
	/* The second names are those of 2020 to 2022. */
	static const struct { struct nsx_str cat; enum what what; } known[] = {
		{ { "cpu_op", 6 }, OP }, { { "python_function", 15 }, PYTHON }, { { "ac2g", 4 }, NOTHING },
		{ { "cuda_runtime", 12 }, CALL }, { { "kernel", 6 }, KERNEL }, { { "cuda_driver", 11 }, CALL },
		{ { "user_annotation", 15 }, ANNOTATION }, { { "gpu_memcpy", 10 }, COPY },
		{ { "gpu_memset", 10 }, SET },
		{ { "gpu_user_annotation", 19 }, NOTHING }, { { "fwdbwd", 6 }, NOTHING },
		{ { "cpu_instant_event", 17 }, NOTHING }, { { "cuda_sync", 9 }, SYNC }, { { "overhead", 8 }, OVERHEAD },
		{ { "Trace", 5 }, NOTHING }, { { "Kernel", 6 }, KERNEL }, { { "Memcpy", 6 }, COPY },
		{ { "Memset", 6 }, SET }, { { "Runtime", 7 }, CALL }, { { "Operator", 8 }, OP },
		{ { "async_cpu_to_gpu", 16 }, NOTHING }, { { "async_gpu", 9 }, NOTHING },
		{ { "forward_backward", 16 }, NOTHING },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].cat.len == cat.len && memcmp(known[i].cat.ptr, cat.ptr, cat.len) == 0)
			return known[i].what;
	return OTHER;
}

static int
nomem(struct nsx_kineto *r)
{
	return nsx_err_nomem(r->err, r->path);
}

static int
ignore(struct nsx_kineto *r, struct nsx_str cat)
{
	enum { MOST = 16, LONGEST = 60 };
	struct nsx_kineto_ignored *x = &r->ignored;

	if (cat.len > LONGEST || (x->cats.n >= MOST && nsx_intern_find(&x->cats, cat) == NSX_NONE)) {
		x->others++;
		return NSX_OK;
	}
	uint32_t at = nsx_intern(&x->cats, cat);
	if (at == NSX_NONE || (at == x->n.n && !nsx_vec_push(&x->n, 0)))
		return nomem(r);
	x->n.p[at]++;
	return NSX_OK;
}

/* ---- members */

static int64_t
number_or(struct nsx_str s, int64_t none)
{
	int64_t v;

	return s.len && nsx_get_int(s, &v) ? v : none;
}

/* s without escapes, valid until the next one. */
static struct nsx_str
plain(struct nsx_kineto *r, struct nsx_str s)
{
	if (!s.len || !memchr(s.ptr, '\\', s.len))
		return s;
	r->text.len = 0;
	nsx_json_unescape(&r->text, s);
	return nsx_buf_view(&r->text);
}

static bool
intern(struct nsx_kineto *r, struct nsx_str s, uint32_t *name)
{
	*name = r->text.failed ? (uint32_t)NSX_NONE : nsx_intern_recall(&r->t->names, r->recall, s);
	return *name != NSX_NONE;
}

/* The thread as exports number threads: the process in bits 24 to 47, its thread in the bits below. Numbers that do not
 * fit become others: those of threads are above 2^23, processes are told apart by the bits from 48 on. *known: there is
 * a thread. False when out of memory. */
static bool
thread_of(struct nsx_kineto *r, const struct nsx_kineto_event *e, uint64_t *gtid, bool *known)
{
	const int64_t fits = 1 << 24;
	int64_t pid, tid;
	struct { uint64_t gpid; char text[32]; } far = { 0 };

	pid = number_or(e->pid, -1);
	tid = number_or(e->tid, -1);
	/* Process 0 is no process that runs Python: the profiler numbers threads so that it does not know. */
	*known = e->pid.len && e->tid.len && (pid || tid);
	if (!*known)
		return true;
	if (pid >= 0 && pid < fits) {
		*gtid = (uint64_t)pid << 24;
	} else {
		uint32_t at = nsx_intern(&r->far_processes, e->pid);
		if (at == NSX_NONE)
			return false;
		*gtid = (uint64_t)(at + 1) << 48 | ((uint64_t)pid & (uint64_t)(fits - 1)) << 24;
	}
	if (tid >= 0 && tid < fits) {
		*gtid |= (uint64_t)tid;
		return true;
	}
	far.gpid = *gtid;
	memcpy(far.text, e->tid.ptr, e->tid.len < sizeof far.text ? e->tid.len : sizeof far.text);
	uint32_t at = nsx_intern(&r->far_threads, (struct nsx_str){ (const char *)&far, sizeof far });
	*gtid |= (uint64_t)(fits / 2) | (at & (uint64_t)(fits / 2 - 1));
	return at != NSX_NONE;
}

/* False: it has no such times, and is counted. */
static bool
times_of(struct nsx_kineto *r, const struct nsx_kineto_event *e, int64_t *start, int64_t *end)
{
	enum { EXACT = 15 };   /* digits of a double */
	const int64_t farthest = INT64_C(1) << 62;   /* so that differences of times fit */
	int whole, part, of_dur, part_of_dur;
	int64_t dur;

	if (!nsx_kineto_ns(e->ts, start, &whole, &part) || !nsx_kineto_ns(e->dur, &dur, &of_dur, &part_of_dur) ||
	    dur < 0 || __builtin_add_overflow(*start, dur, end) || *start < -farthest || *end > farthest) {
		r->bad_times++;
		return false;
	}
	r->fraction |= part > 0 || part_of_dur > 1;
	r->doubled |= whole > EXACT && part > 0;
	return true;
}

static int64_t
correlation_of(const struct nsx_kineto_event *e)
{
	int64_t id = number_or(e->args[KA_CORRELATION], 0);

	return id ? id : NSX_NO_CORRELATION;
}

/* ---- rows */

static int
put_op(struct nsx_kineto *r, const struct nsx_kineto_event *e, enum what what, int64_t start, int64_t end)
{
	int64_t from = number_or(e->args[KA_FROM], -1), to = number_or(e->args[KA_TO], -1),
	    device = number_or(e->args[KA_DEVICE], number_or(e->args[KA_IN_DEVICE], number_or(e->pid, -1)));
	struct nsx_build_op op = nsx_build_op_of(start, end, r->at, correlation_of(e));
	struct nsx_str name = plain(r, e->name);
	int64_t node = number_or(e->args[KA_NODE], 0);

	if (device < 0) {
		r->no_thread++;
		return NSX_OK;
	}

	op.stream = number_or(e->args[KA_STREAM], number_or(e->tid, 0));
	if (node > 0)
		op.graph_node = node;
	if (what == COPY) {
		op.type = NSX_OP_MEMCPY;
		name = nsx_kineto_copy(name, &op.src, &op.dst, &op.peer);
		if (from >= 0 && to >= 0)
			op.peer = from != to;
	} else if (what == SET) {
		op.type = NSX_OP_MEMSET;
		op.dst = nsx_kineto_set(name);
		name = NSX_STR("[CUDA memset]");
	}
	if (what != KERNEL)
		op.bytes = number_or(e->args[KA_BYTES], -1);
	op.device = nsx_build_device(&r->build, device);
	if (op.device == NSX_NONE || !intern(r, name, &op.name)
	    || (what == KERNEL && e->args[KA_COLLECTIVE].len && !nsx_kineto_comm_of(r, e, &op.comm)))
		return nomem(r);
	return nsx_build_op(&r->build, &op) ? NSX_OK : nomem(r);
}

/* `/home/me/train.py(7): step` without folders: a '/' in the name of a function separates none. */
static struct nsx_str
last_component(struct nsx_str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.len && s.ptr[i] != '('; i++)
		if (s.ptr[i] == '/')
			from = i + 1;
	return from ? (struct nsx_str){ s.ptr + from, s.len - from } : s;
}

/* What is known of an operator beside its name. False when out of memory. */
static bool
note_operator(struct nsx_kineto *r, const struct nsx_kineto_event *e)
{
	struct nsx_operator o = { r->at, number_or(e->args[KA_SEQ], -1), NSX_NONE };
	struct nsx_str sizes = e->args[KA_SIZES];

	/* As emit_nvtx writes them: a blank after each comma. */
	r->text.len = 0;
	for (size_t i = 0; i < sizes.len && sizes.ptr[0] == '['; i++) {
		if (!memchr(" \t\r\n", sizes.ptr[i], 4))
			nsx_buf_char(&r->text, sizes.ptr[i]);
		if (sizes.ptr[i] == ',')
			nsx_buf_char(&r->text, ' ');
	}
	if (r->text.len && !intern(r, nsx_buf_view(&r->text), &o.sizes))
		return false;
	return (o.seq < 0 && o.sizes == NSX_NONE) || nsx_vec_push(&r->t->operators, o);
}

static int
put_host(struct nsx_kineto *r, const struct nsx_kineto_event *e, enum what what, int64_t start, int64_t end)
{
	struct nsx_str name = plain(r, e->name);
	uint64_t gtid = 0;
	uint32_t number;
	bool known;

	if (!thread_of(r, e, &gtid, &known))
		return nomem(r);
	if (!known) {
		r->no_thread++;
		return NSX_OK;
	}
	if (what == PYTHON && r->opts->strip_paths)
		name = last_component(name);
	if (!intern(r, name, &number))
		return nomem(r);
	if (what == CALL) {
		struct nsx_build_call c = { .start = start, .end = end, .id = r->at, .correlation = correlation_of(e),
		                            .gtid = gtid, .name = number };
		return nsx_build_call(&r->build, &c) ? NSX_OK : nomem(r);
	}
	if (what == OP && !note_operator(r, e))
		return nomem(r);
	struct nsx_build_range range = { .start = start, .end = end, .id = r->at, .gtid = gtid, .name = number, .kind =
		what == OP ? NSX_RANGE_OP : what == PYTHON ? NSX_RANGE_PYTHON : NSX_RANGE_ANNOTATION };
	return nsx_build_range(&r->build, &range) ? NSX_OK : nomem(r);
}

static int
put_overhead(struct nsx_kineto *r, const struct nsx_kineto_event *e, int64_t start, int64_t end)
{
	struct nsx_str name = plain(r, e->name);
	struct nsx_overhead o = { .start = start, .end = end, .gtid = NSX_NO_GTID, .process = NSX_NONE,
	                          .class = (uint8_t)nsx_kineto_overhead(name) };

	return intern(r, name, &o.name) && nsx_build_overhead(&r->build, &o) ? NSX_OK : nomem(r);
}

static int
put_sync(struct nsx_kineto *r, const struct nsx_kineto_event *e, int64_t start)
{
	int64_t stream = number_or(e->args[KA_STREAM], -1), device = number_or(e->args[KA_DEVICE], -1);
	struct nsx_build_wait w = { device, stream, start };

	r->syncs = true;
	if (!nsx_str_eq(e->args[KA_SYNC].len ? e->args[KA_SYNC] : e->name, NSX_STR("Stream Wait Event")) || device < 0
	    || stream < 0)
		return NSX_OK;
	return nsx_build_wait(&r->build, &w) ? NSX_OK : nomem(r);
}

int
nsx_kineto_row(struct nsx_kineto *r, const struct nsx_kineto_event *e)
{
	int64_t start, end;
	enum what what;

	if (e->ph.len != 1 || e->ph.ptr[0] != 'X') {
		r->apart += e->ph.len == 1 && e->ph.ptr[0] == 'B' && e->cat.len && what_of(e->cat) < NOTHING;
		r->xprof |= e->ph.len == 1 && e->ph.ptr[0] == 'M' && nsx_str_starts(e->args[KA_NAME], "/device:");
		return NSX_OK;
	}
	what = what_of(e->cat);
	if (what == NOTHING || (what == OTHER && !e->cat.len))
		return NSX_OK;
	if (what == OTHER)
		return ignore(r, e->cat);
	if (!times_of(r, e, &start, &end))
		return NSX_OK;
	if (what == PYTHON && !r->opts->python) {
		/* Times must not depend on options. */
		nsx_build_reach(&r->build, start);
		r->python++;
		return NSX_OK;
	}
	switch (what) {
	case KERNEL: case COPY: case SET: return put_op(r, e, what, start, end);
	case OVERHEAD: return put_overhead(r, e, start, end);
	case SYNC:     return put_sync(r, e, start);
	default:       return put_host(r, e, what, start, end);
	}
}
