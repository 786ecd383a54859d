/* rows.c -- the lines of an XSpace, event by event: what runs on GPUs, calls, TraceMes, and the programs of the
 * metadata. Lines that the profiler derives from these are no work and are skipped. */
#include <stdlib.h>
#include <string.h>

#include "base/device_name.h"
#include "base/num.h"
#include "base/sort.h"
#include "source/words.h"
#include "xplane/reading.h"

/* Field numbers. */
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIME = 3, LINE_EVENT = 4 };
enum { EVENT_META = 1, EVENT_OFFSET = 2, EVENT_DUR = 3, EVENT_STAT = 4, EVENT_COUNT = 5 };

/* A line, and an event of it: times in ns, and in ps from the line's. */
struct line { struct nsx_str name; int64_t id, time; uint32_t at; };
struct event {
	struct nsx_xmeta *meta;
	int64_t id, start, end, from, to;
	bool    timed;                       /* it has a duration */
	struct nsx_xstats stats;
};

static bool
has(const struct event *e, enum nsx_xstat what)
{
	return nsx_xstats_have(&e->stats, what);
}

static struct nsx_str
skip(struct nsx_str s, size_t n)
{
	return (struct nsx_str){ s.ptr + n, s.len - n };
}

/* ---- lines and events */

static int
read_line(struct nsx_xspace *s, struct nsx_str message, struct line *l)
{
	struct nsx_xwire w = nsx_xwire(message);

	*l = (struct line){ .name = { "", 0 }, .at = NSX_NONE };
	while (nsx_xwire_next(&w))
		switch (w.field) {
		case LINE_ID:   l->id = (int64_t)w.value; break;
		case LINE_NAME: l->name = w.bytes.ptr ? w.bytes : l->name; break;
		case LINE_TIME: l->time = (int64_t)w.value; break;
		default: break;
		}
	return w.bad ? nsx_xspace_bad(s, &w) : NSX_OK;
}

static int64_t
floor_ns(int64_t ps)
{
	return ps / 1000 - (ps % 1000 < 0);
}

/* False: it is none, and is counted; or with *rc NSX_ERR. */
static bool
read_event(struct nsx_xspace *s, struct nsx_xplane *p, const struct line *l, struct nsx_str message,
           struct event *e, int *rc)
{
	struct nsx_xwire w = nsx_xwire(message);
	const unsigned char *at = w.at, *first_stat = NULL;
	int64_t dur = 0;
	uint64_t meta = 0;
	bool many = false;

	e->id = s->next++;
	e->from = 0;
	e->timed = false;
	for (; nsx_xwire_next(&w); at = w.at)
		switch (w.field) {
		case EVENT_STAT:   first_stat = first_stat ? first_stat : at; break;
		case EVENT_META:   meta = w.value; break;
		case EVENT_OFFSET: e->from = (int64_t)w.value; break;
		case EVENT_COUNT:  many = true; break;
		case EVENT_DUR:
			dur = (int64_t)w.value;
			e->timed = true;
			break;
		default: break;
		}
	if (w.bad) {
		*rc = nsx_xspace_bad(s, &w);
		return false;
	}
	if (many) {
		s->aggregated++;
		return false;
	}
	uint32_t number = nsx_xids_get(&p->meta_of, meta);
	e->meta = number == NSX_NONE ? &p->none : &p->metas.p[number];
	if (dur < 0 || __builtin_add_overflow(e->from, dur, &e->to)
	    || __builtin_add_overflow(l->time, floor_ns(e->from), &e->start)
	    || __builtin_add_overflow(l->time, floor_ns(e->to), &e->end)) {
		s->bad_times++;
		return false;
	}
	/* Most events of a program in Python: what they say of themselves is not read. */
	if (p->kind == XP_HOST && e->timed && nsx_str_starts(e->meta->name, "$") && !s->opts->python) {
		s->python++;
		return false;
	}
	message = first_stat ? (struct nsx_str){ (const char *)first_stat, (size_t)(w.end - first_stat) } : NSX_STR("");
	if (!nsx_xspace_stats(s, p, message, EVENT_STAT, e->meta, &e->stats)) {
		*rc = NSX_ERR;
		return false;
	}
	return true;
}

static uint32_t
keep(struct nsx_xspace *s, struct nsx_str name)
{
	return nsx_intern(&s->t->names, name);
}

/* The interned text of a statistic; NSX_NONE: it has none. False when out of memory. */
static bool
keep_stat(struct nsx_xspace *s, const struct event *e, enum nsx_xstat what, uint32_t *name)
{
	uint32_t here = NSX_NONE;

	*name = NSX_NONE;
	if (!has(e, what) || !e->stats.text[what].len)
		return true;
	*name = nsx_xspace_kept(&s->t->names, e->stats.text[what], e->stats.kept[what] ? e->stats.kept[what] : &here);
	return *name != NSX_NONE;
}

static int64_t
correlation_of(const struct event *e)
{
	return has(e, XS_CORRELATION) && e->stats.number[XS_CORRELATION] ? e->stats.number[XS_CORRELATION]
	    : NSX_NO_CORRELATION;
}

/* ---- copies and sets: "kind_src:pinned kind_dst:device size:65536 dest:0 async:1", "kind:device num_bytes:128" */

static struct nsx_str
detail(struct nsx_str s, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0, k; i < s.len; i = k + 1) {
		for (k = i; k < s.len && s.ptr[k] != ' ';)
			k++;
		if (k - i > n && memcmp(s.ptr + i, key, n) == 0 && s.ptr[i + n] == ':')
			return (struct nsx_str){ s.ptr + i + n + 1, k - i - n - 1 };
	}
	return (struct nsx_str){ "", 0 };
}

/* `unknown` tells no more than nothing does. */
static uint8_t
memory(struct nsx_str s)
{
	uint8_t kind = nsx_memory_of(s);

	return kind == NSX_MEMORY_UNKNOWN ? NSX_MEMORY_KINDS : kind;
}

/* ---- GPUs */

/* AMD's names of kernels end with what the object file calls them. */
static struct nsx_str
kernel_name(struct nsx_str s)
{
	static const char *const ends[] = { " [clone .kd]", ".kd" };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (nsx_str_ends(s, ends[i]) && s.len > strlen(ends[i]))
			return (struct nsx_str){ s.ptr, s.len - strlen(ends[i]) };
	return s;
}

static int
add_op(struct nsx_xspace *s, struct event *e, int64_t device, int64_t stream)
{
	struct nsx_xop op = { .row = nsx_build_op_of(e->start, e->end, e->id, correlation_of(e)),
	                      .program = has(e, XS_PROGRAM) ? e->stats.number[XS_PROGRAM] : NSX_NO_PROGRAM };
	struct nsx_str name = e->meta->name;
	uint32_t here = NSX_NONE, *kept = &here;

	op.row.stream = stream;
	if (has(e, XS_COPY)) {
		struct nsx_str d = e->stats.text[XS_COPY];
		op.row.type = NSX_OP_MEMCPY;
		name = nsx_copy_name(name, &op.row.peer);
		if (!nsx_get_int(detail(d, "size"), &op.row.bytes) || op.row.bytes < 0)
			op.row.bytes = -1;
		op.row.src = memory(detail(d, "kind_src"));
		op.row.dst = memory(detail(d, "kind_dst"));
	} else if (has(e, XS_SET)) {
		struct nsx_str d = e->stats.text[XS_SET];
		op.row.type = NSX_OP_MEMSET;
		name = NSX_STR("[CUDA memset]");
		if (!nsx_get_int(detail(d, "num_bytes"), &op.row.bytes) || op.row.bytes < 0)
			op.row.bytes = -1;
		op.row.dst = memory(detail(d, "kind"));
	} else if (has(e, XS_EXEC) && !has(e, XS_KERNEL)) {
		op.row.type = NSX_OP_GRAPH;
		name = NSX_STR("[CUDA graph]");
	} else {
		kept = &e->meta->kept_as;
		name = *kept == NSX_NONE ? kernel_name(name) : name;
	}
	if (has(e, XS_NODE) && op.row.type != NSX_OP_GRAPH && e->stats.number[XS_NODE] > 0)
		op.row.graph_node = e->stats.number[XS_NODE];
	op.row.device = nsx_build_device(&s->build, device);
	op.row.name = nsx_xspace_kept(&s->t->names, name, kept);
	if (op.row.device == NSX_NONE || op.row.name == NSX_NONE || !keep_stat(s, e, XS_HLO_OP, &op.hlo_op)
	    || !keep_stat(s, e, XS_HLO_MODULE, &op.module) || !nsx_vec_push(&s->ops, op))
		return nsx_xspace_nomem(s);
	return NSX_OK;
}

/* What the plane says of its GPU. Of AMD's, the compute capability is something else. */
static int
describe_device(struct nsx_xspace *s, const struct nsx_xplane *p, uint32_t device)
{
	struct nsx_device *d = &s->build.devices.p[device];
	const struct nsx_xstats *x = &p->about;
	bool nvidia = nsx_xstats_have(x, XS_VENDOR) && nsx_str_eq(x->text[XS_VENDOR], NSX_STR("Nvidia"));

	d->gpu_name = nsx_arena_str(&s->t->arena, nsx_xstats_have(x, XS_GPU) ? x->text[XS_GPU]
	    : nsx_xstats_have(x, XS_VENDOR) ? x->text[XS_VENDOR] : NSX_STR(""));
	if (nsx_xstats_have(x, XS_CORES))
		d->sms = x->number[XS_CORES];
	if (nsx_xstats_have(x, XS_CLOCK) && x->number[XS_CLOCK] >= 0 && x->number[XS_CLOCK] < INT64_MAX / 1000)
		d->clock = x->number[XS_CLOCK] * 1000;
	if (nsx_xstats_have(x, XS_BANDWIDTH))
		d->bandwidth = x->number[XS_BANDWIDTH];
	if (nsx_xstats_have(x, XS_MEMORY))
		d->memory = x->number[XS_MEMORY];
	if (nvidia && nsx_xstats_have(x, XS_MAJOR) && x->number[XS_MAJOR] >= 0 && x->number[XS_MAJOR] < 1000)
		d->cc = 10 * x->number[XS_MAJOR] + (nsx_xstats_have(x, XS_MINOR) ? x->number[XS_MINOR] : 0);
	return d->gpu_name.ptr ? NSX_OK : nsx_xspace_nomem(s);
}

/* ---- the host */

static int
add_call(struct nsx_xspace *s, const struct line *l, struct event *e)
{
	struct nsx_xcall c = {
		.row = { .start = e->start, .end = e->end, .id = e->id, .correlation = correlation_of(e) },
		.line = l->at,
		.program = has(e, XS_PROGRAM) ? e->stats.number[XS_PROGRAM] : NSX_NO_PROGRAM
	};
	struct nsx_str name = e->meta->name;

	/* "cuGraphLaunch (CudaGraph:7)" */
	for (size_t i = 0; i + 1 < name.len && e->meta->kept_as == NSX_NONE; i++)
		if (name.ptr[i] == ' ' && name.ptr[i + 1] == '(')
			name.len = i;
	c.row.name = nsx_xspace_kept(&s->t->names, name, &e->meta->kept_as);
	if (c.row.name == NSX_NONE || !keep_stat(s, e, XS_HLO_OP, &c.hlo_op)
	    || !keep_stat(s, e, XS_HLO_MODULE, &c.module) || !nsx_vec_push(&s->calls, c))
		return nsx_xspace_nomem(s);
	return NSX_OK;
}

/* An instruction that the CPU executes, as JAX without a GPU does. */
static int
add_thunk(struct nsx_xspace *s, const struct line *l, struct event *e)
{
	struct nsx_xop op = { .row = nsx_build_op_of(e->start, e->end, e->id, NSX_NO_CORRELATION),
	                      .program = has(e, XS_PROGRAM) ? e->stats.number[XS_PROGRAM] : NSX_NO_PROGRAM,
	                      .run = e->stats.number[XS_RUN], .has_run = true };

	op.row.stream = l->at;
	op.row.device = nsx_build_device(&s->build, has(e, XS_ORDINAL) ? e->stats.number[XS_ORDINAL] : 0);
	if (op.row.device == NSX_NONE || !keep_stat(s, e, XS_HLO_OP, &op.hlo_op)
	    || !keep_stat(s, e, XS_HLO_MODULE, &op.module) || !nsx_vec_push(&s->ops, op))
		return nsx_xspace_nomem(s);
	if (!s->build.devices.p[op.row.device].gpu_name.len)
		s->build.devices.p[op.row.device].gpu_name = NSX_STR(NSX_ON_CPU);
	s->ops.p[s->ops.n - 1].row.name = op.hlo_op;
	return NSX_OK;
}

/* `[1] CommonPjRtLoadedExecutable::Execute (jit_f)`: the device of that ordinal has a number in the job, which it gets
 * as from the name that XLA gives it. */
static int
name_device(struct nsx_xspace *s, const struct event *e)
{
	struct nsx_str name = e->meta->name;
	int64_t ordinal, global = e->stats.number[XS_GLOBAL];
	const char *end = name.len && name.ptr[0] == '[' ? memchr(name.ptr, ']', name.len) : NULL;

	if (!end || !nsx_get_int((struct nsx_str){ name.ptr + 1, (size_t)(end - name.ptr) - 1 }, &ordinal)
	    || ordinal < 0 || global < 0)
		return NSX_OK;
	uint32_t *at = nsx_map_at(&s->named, (struct nsx_key){ (uint64_t)ordinal, (uint64_t)global });
	if (!at)
		return nsx_xspace_nomem(s);
	if (*at != NSX_NONE)
		return NSX_OK;
	*at = (uint32_t)s->device_names.n;
	s->text.len = 0;
	nsx_buf_fmt(&s->text, "Xla:#global=%lld,local=%lld#", (long long)global, (long long)ordinal);
	struct nsx_named n = { (uint64_t)ordinal, nsx_arena_str(&s->t->arena, nsx_buf_view(&s->text)) };
	return !s->text.failed && n.name.ptr && nsx_vec_push(&s->device_names, n) ? NSX_OK : nsx_xspace_nomem(s);
}

/* A range of NVTX: `NVTX:DOMAIN:name`, or `NVTX:name` of no domain, in which two colons are part of the name. What XLA
 * itself writes, of the domain TSL, the profiler has told of the operations already. */
static int
add_nvtx(struct nsx_xspace *s, const struct line *l, struct event *e)
{
	struct nsx_xmark m = { .row = { .start = e->start, .end = e->end, .id = e->id }, .line = l->at,
	                       .module = NSX_NONE };
	struct nsx_str name = e->meta->name;

	if (!e->timed || nsx_str_starts(name, "NVTX:TSL:")) {
		s->instants += !e->timed;
		s->repeated += e->timed;
		return NSX_OK;
	}
	if (nsx_str_starts(name, "NVTX:"))
		name = skip(name, strlen("NVTX:"));
	const char *colon = name.len ? memchr(name.ptr, ':', name.len) : NULL;
	size_t at = colon ? (size_t)(colon - name.ptr) : 0;
	if (at && at + 1 < name.len && colon[1] != ':') {
		/* A number of a domain has 16 bits, of which one is left for XLA's. */
		bool crowded = s->t->domains.n >= UINT16_MAX;
		struct nsx_str text = { name.ptr, at };
		uint32_t domain = crowded ? nsx_intern_find(&s->t->domains, text) : nsx_intern(&s->t->domains, text);

		if (domain == NSX_NONE && !crowded)
			return nsx_xspace_nomem(s);
		s->crowded += domain == NSX_NONE;
		if (domain != NSX_NONE) {
			m.row.domain = (uint16_t)domain;
			name = skip(name, at + 1);
		}
	}
	m.row.name = nsx_xspace_kept(&s->t->names, name, &e->meta->kept_as);
	return m.row.name != NSX_NONE && nsx_vec_push(&s->marks, m) ? NSX_OK : nsx_xspace_nomem(s);
}

static int
add_mark(struct nsx_xspace *s, const struct line *l, struct event *e)
{
	static const char module[] = ":XLA GPU module";
	struct nsx_xmark m = { .row = { .start = e->start, .end = e->end, .id = e->id, .kind = NSX_RANGE_RUNTIME },
	                       .line = l->at, .module = NSX_NONE };
	struct nsx_str name = e->meta->name;
	uint32_t here = NSX_NONE, *kept = &e->meta->kept;

	if (has(e, XS_GLOBAL) && name_device(s, e) != NSX_OK)
		return NSX_ERR;
	if (!e->timed || nsx_str_starts(name, "end: ") || nsx_str_starts(name, "ThreadpoolListener::")) {
		s->instants++;
		return NSX_OK;
	}
	if (nsx_str_starts(name, "$"))
		m.row.kind = NSX_RANGE_PYTHON;
	if (nsx_str_ends(name, module)
	    && (m.module = keep(s, (struct nsx_str){ name.ptr, name.len - strlen(module) })) == NSX_NONE)
		return nsx_xspace_nomem(s);
	if (has(e, XS_ROOT) && e->stats.number[XS_ROOT] == 1) {
		m.row.kind = NSX_RANGE_ANNOTATION;
		s->text.len = 0;
		nsx_buf_add(&s->text, name.ptr, name.len);
		if (has(e, XS_STEP))
			nsx_buf_fmt(&s->text, "#%lld", (long long)e->stats.number[XS_STEP]);
		if (s->text.failed)
			return nsx_xspace_nomem(s);
		name = nsx_buf_view(&s->text);
		kept = &here;
	}
	m.row.name = nsx_xspace_kept(&s->t->names, name, kept);
	return m.row.name != NSX_NONE && nsx_vec_push(&s->marks, m) ? NSX_OK : nsx_xspace_nomem(s);
}

/* ---- lines */

static bool
tid_of(struct nsx_str name, int64_t *tid)
{
	static const char threads[] = "Host Threads/";
	struct nsx_str rest;

	*tid = -1;
	if (!nsx_str_starts(name, threads))
		return false;
	rest = skip(name, strlen(threads));
	for (size_t i = 0; i < rest.len; i++)
		if (rest.ptr[i] == '/')
			rest.len = i;
	/* Where the number is none of the system, they are calls of a thread of which no more is known. */
	if (!nsx_get_int(rest, tid) || *tid < 0 || *tid >= 1 << 23)
		*tid = -1;
	return true;
}

/* Thunks that hold others, such as loops, are no work of their own. first: of the line's in s->ops, which are in the
 * order of the file; from, to: their times in ps. */
struct spell { int64_t from, to; uint32_t op; };

NSX_SORT_KEYS(by_start, struct spell, a->from, ~a->to)

static bool
drop_holders(struct nsx_xspace *s, struct spell *v, size_t n, size_t first)
{
	size_t kept = first;

	if (!nsx_sort_by(v, n, sizeof *v, by_start, NULL))
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		if (v[i + 1].from >= v[i].from && v[i + 1].to <= v[i].to && v[i + 1].from < v[i].to)
			s->ops.p[v[i].op].hlo_op = NSX_NONE;
	for (size_t i = first; i < s->ops.n; i++)
		if (s->ops.p[i].hlo_op != NSX_NONE)
			s->ops.p[kept++] = s->ops.p[i];
	s->holders += (int64_t)(s->ops.n - kept);
	s->ops.n = kept;
	return true;
}

static int
read_host_line(struct nsx_xspace *s, struct nsx_xplane *p, struct nsx_str message, struct line *l)
{
	struct nsx_xwire w = nsx_xwire(message);
	NSX_VEC(struct spell) spells = { 0 };
	size_t first = s->ops.n;
	struct nsx_xline x = { .id = l->id, .as = NSX_NONE };
	int rc = NSX_OK;

	x.calls = tid_of(l->name, &x.tid) && p->kind == XP_HOST;
	l->at = (uint32_t)s->lines.n;
	if (!nsx_vec_push(&s->lines, x))
		return nsx_xspace_nomem(s);
	while (rc == NSX_OK && nsx_xwire_next(&w)) {
		struct event e;

		if (w.field != LINE_EVENT || !w.bytes.ptr || !read_event(s, p, l, w.bytes, &e, &rc))
			continue;
		if (x.calls) {
			rc = add_call(s, l, &e);
		} else if (has(&e, XS_RUN) && has(&e, XS_HLO_OP) && e.stats.text[XS_HLO_OP].len) {
			if (!nsx_vec_push(&spells, ((struct spell){ e.from, e.to, (uint32_t)s->ops.n })))
				rc = nsx_xspace_nomem(s);
			else
				rc = add_thunk(s, l, &e);
		} else {
			rc = p->kind == XP_NVTX ? add_nvtx(s, l, &e) : add_mark(s, l, &e);
		}
	}
	if (rc == NSX_OK && !drop_holders(s, spells.p, spells.n, first))
		rc = nsx_xspace_nomem(s);
	free(spells.p);
	return w.bad ? nsx_xspace_bad(s, &w) : rc;
}

/* "Stream #17(Kernel,MemcpyD2D)": the line's id is the stream. */
static int
read_gpu_line(struct nsx_xspace *s, struct nsx_xplane *p, struct nsx_str message, const struct line *l)
{
	struct nsx_xwire w = nsx_xwire(message);
	bool work = nsx_str_starts(l->name, "Stream #");
	int rc = NSX_OK;

	s->derived += !work;
	while (rc == NSX_OK && nsx_xwire_next(&w)) {
		struct event e;

		if (w.field != LINE_EVENT || !w.bytes.ptr)
			continue;
		if (!work)
			s->next++;
		else if (read_event(s, p, l, w.bytes, &e, &rc))
			rc = add_op(s, &e, p->number, l->id);
	}
	return w.bad ? nsx_xspace_bad(s, &w) : rc;
}

static int
count_events(struct nsx_xspace *s, struct nsx_str message)
{
	struct nsx_xwire w = nsx_xwire(message);

	while (nsx_xwire_next(&w))
		s->next += w.field == LINE_EVENT && w.bytes.ptr;
	return w.bad ? nsx_xspace_bad(s, &w) : NSX_OK;
}

static int
read_lines(struct nsx_xspace *s, struct nsx_xplane *p)
{
	int rc = NSX_OK;

	for (size_t i = 0; i < p->lines.n && rc == NSX_OK; i++) {
		struct line l;

		rc = read_line(s, p->lines.p[i], &l);
		if (rc != NSX_OK)
			break;
		if (p->kind == XP_GPU)
			rc = read_gpu_line(s, p, p->lines.p[i], &l);
		else if (p->kind == XP_HOST || p->kind == XP_NVTX)
			rc = read_host_line(s, p, p->lines.p[i], &l);
		else
			rc = count_events(s, p->lines.p[i]);
	}
	return rc;
}

int
nsx_xspace_rows(struct nsx_xspace *s, struct nsx_xplane *p)
{
	size_t first = s->ops.n;

	s->tpus += p->kind == XP_TPU;
	s->others += p->kind == XP_OTHER && p->lines.n;
	int rc = read_lines(s, p);
	if (rc == NSX_OK && p->kind == XP_GPU && s->ops.n > first)
		rc = describe_device(s, p, s->ops.p[first].row.device);
	if (rc == NSX_OK && p->kind == XP_PROGRAMS)
		rc = nsx_xspace_programs(s, p);
	s->t->device_names = s->device_names.p;
	s->t->ndevice_names = (uint32_t)s->device_names.n;
	return rc;
}

/* Times count from profile_start_time; one that is as large counts from 1970, whatever wrote it. */
static void
settle(const struct nsx_xspace *s, int64_t *start, int64_t *end)
{
	const int64_t unix_time = INT64_C(100000000000000000);

	if (*start > unix_time) {
		*start -= s->started;
		*end -= s->started;
	}
}

void
nsx_xspace_settle(struct nsx_xspace *s)
{
	if (s->started == INT64_MIN)
		return;
	for (size_t i = 0; i < s->ops.n; i++)
		settle(s, &s->ops.p[i].row.start, &s->ops.p[i].row.end);
	for (size_t i = 0; i < s->calls.n; i++)
		settle(s, &s->calls.p[i].row.start, &s->calls.p[i].row.end);
	for (size_t i = 0; i < s->marks.n; i++)
		settle(s, &s->marks.p[i].row.start, &s->marks.p[i].row.end);
}
