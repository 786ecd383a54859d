/* cpu.c -- what host threads did, in the stream: OS calls, time off the CPU, waits for the GIL, samples, and the
 * threads and stacks that these records refer to. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "extract/profile.h"

/* What the four kinds have in common. */
struct common { int64_t start, end; uint32_t thread; };

static struct common
common_of(const struct nsx_cpu *c, uint32_t kind, uint32_t i)
{
	switch (kind) {
	case NSX_OS:  return (struct common){ c->os.p[i].start, c->os.p[i].end, c->os.p[i].thread };
	case NSX_OFF: return (struct common){ c->offs.p[i].start, c->offs.p[i].end, c->offs.p[i].thread };
	case NSX_GIL: return (struct common){ c->gils.p[i].start, c->gils.p[i].end, c->gils.p[i].thread };
	default:      return (struct common){ c->samples.p[i].start, c->samples.p[i].end, c->samples.p[i].thread };
	}
}

static size_t
count_of(const struct nsx_cpu *c, uint32_t kind)
{
	return kind == NSX_OS ? c->os.n : kind == NSX_OFF ? c->offs.n : kind == NSX_GIL ? c->gils.n : c->samples.n;
}

static bool
is_kept(const struct ex_profile *p, uint32_t kind, uint32_t i)
{
	struct common c = common_of(p->trace.cpu, kind, i);

	return nsx_extract_in_window(p->opts, c.start, c.end) &&
	       nsx_extract_process_kept(p, p->trace.cpu->threads.p[c.thread].process);
}

size_t
nsx_extract_cpu_most(const struct ex_profile *p)
{
	size_t n = 0;

	for (uint32_t kind = NSX_OS; p->trace.cpu && kind <= NSX_SAMPLE; kind++)
		n += count_of(p->trace.cpu, kind);
	return n;
}

size_t
nsx_extract_cpu_collect(const struct ex_profile *p, struct nsx_sort_start *out, size_t n)
{
	for (uint32_t kind = NSX_OS; p->trace.cpu && kind <= NSX_SAMPLE; kind++)
		for (size_t i = 0; i < count_of(p->trace.cpu, kind); i++)
			if (is_kept(p, kind, (uint32_t)i))
				out[n++] = (struct nsx_sort_start){ common_of(p->trace.cpu, kind, (uint32_t)i).start,
				                                    (uint32_t)i, kind };
	return n;
}

/* ---- order */

int64_t
nsx_extract_cpu_dur(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	struct common c = common_of(p->trace.cpu, e->tag, e->i);

	return nsx_extract_dur(c.start, c.end);
}

static const struct nsx_cpu_thread *
thread_of(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	return &p->trace.cpu->threads.p[common_of(p->trace.cpu, e->tag, e->i).thread];
}

int64_t
nsx_extract_cpu_number(const struct ex_profile *p, const struct nsx_sort_start *e, enum nsx_role role)
{
	switch (role) {
	case NSX_ROLE_PID: return p->trace.processes[thread_of(p, e)->process].pid;
	case NSX_ROLE_TID: return nsx_extract_tid(thread_of(p, e)->gtid);
	default:           return INT64_MIN;
	}
}

struct nsx_str
nsx_extract_cpu_name(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	return e->tag == NSX_OS ? nsx_extract_text(&p->trace, p->trace.cpu->os.p[e->i].name) : NSX_STR("");
}

/* ---- records */

static void
set_stack(const struct ex_profile *p, uint32_t stack, struct nsx_rec *r, int slot)
{
	if (stack != NSX_NONE)
		nsx_set_i(r, slot, p->cpu_stacks[stack]);
}

static void
set_os(const struct ex_profile *p, const struct nsx_os_call *c, struct nsx_rec *r)
{
	nsx_set_i(r, NSX_OS_os, c->id);
	nsx_set_s(r, NSX_OS_name, nsx_extract_text(&p->trace, c->name));
	set_stack(p, c->stack, r, NSX_OS_stack);
}

static void
set_off(const struct nsx_off *o, struct nsx_rec *r)
{
	nsx_set_s(r, NSX_OFF_state, nsx_str_c(nsx_off_state(o->state)));
	if (o->unended)
		nsx_set_i(r, NSX_OFF_unended, 1);
}

static void
set_gil(const struct nsx_gil_wait *w, struct nsx_rec *r)
{
	static const struct nsx_str how[] = {
		[NSX_GIL_THREAD] = { "thread", 6 }, [NSX_GIL_SAMPLER] = { "sampler", 7 },
		[NSX_GIL_FREE] = { "free", 4 }, [NSX_GIL_UNKNOWN] = { "unknown", 7 }
	};

	if (w->by)
		nsx_set_i(r, NSX_GIL_by, nsx_extract_tid(w->by));
	nsx_set_s(r, NSX_GIL_how, how[w->how]);
}

static void
set_sample(const struct ex_profile *p, const struct nsx_cpu_sample *s, struct nsx_rec *r)
{
	nsx_set_i(r, NSX_SAMPLE_at, s->at);
	set_stack(p, s->stack, r, NSX_SAMPLE_stack);
	nsx_set_s(r, NSX_SAMPLE_lang, s->python ? NSX_STR("python") : NSX_STR("native"));
}

/* The columns that all four kinds have, by role. */
static void
set_role(struct nsx_rec *r, enum nsx_role role, int64_t v)
{
	nsx_set_i(r, nsx_field(r->kind->id, role), v);
}

void
nsx_extract_set_cpu(const struct ex_profile *p, const struct nsx_sort_start *e, struct nsx_rec *r)
{
	const struct nsx_cpu *c = p->trace.cpu;
	struct common x = common_of(c, e->tag, e->i);

	set_role(r, NSX_ROLE_PROFILE, p->number);
	set_role(r, NSX_ROLE_PID, nsx_extract_cpu_number(p, e, NSX_ROLE_PID));
	set_role(r, NSX_ROLE_TID, nsx_extract_cpu_number(p, e, NSX_ROLE_TID));
	set_role(r, NSX_ROLE_HOST_START, x.start);
	set_role(r, NSX_ROLE_HOST_DUR, nsx_extract_dur(x.start, x.end));
	switch (e->tag) {
	case NSX_OS:  set_os(p, &c->os.p[e->i], r); break;
	case NSX_OFF: set_off(&c->offs.p[e->i], r); break;
	case NSX_GIL: set_gil(&c->gils.p[e->i], r); break;
	default:      set_sample(p, &c->samples.p[e->i], r); break;
	}
}

/* ---- metadata */

/* The stack of an OS call or a sample, if it is kept; NSX_NONE: none. */
static uint32_t
stack_of(const struct ex_profile *p, uint32_t kind, uint32_t i)
{
	uint32_t stack = kind == NSX_OS       ? p->trace.cpu->os.p[i].stack
			 : kind == NSX_SAMPLE ? p->trace.cpu->samples.p[i].stack
					      : NSX_NONE;

	return stack != NSX_NONE && is_kept(p, kind, i) ? stack : NSX_NONE;
}

static int
number_stacks(struct ex_job *job, struct ex_profile *p)
{
	const struct nsx_cpu *c = p->trace.cpu;

	p->cpu_stacks = malloc((c->stacks.n + 1) * sizeof *p->cpu_stacks);
	if (!p->cpu_stacks)
		return nsx_err_nomem(job->err, p->input->path);
	memset(p->cpu_stacks, 0xff, (c->stacks.n + 1) * sizeof *p->cpu_stacks);
	for (uint32_t kind = NSX_OS; kind <= NSX_SAMPLE; kind++)
		for (size_t i = 0; i < count_of(c, kind); i++) {
			uint32_t stack = stack_of(p, kind, (uint32_t)i);

			if (stack == NSX_NONE || p->cpu_stacks[stack] != NSX_NONE)
				continue;
			struct nsx_str frames = nsx_extract_keep_frames(p, nsx_intern_str(&c->stacks, stack));
			if (!frames.ptr || (p->cpu_stacks[stack] = nsx_intern(&job->stacks, frames)) == NSX_NONE)
				return nsx_err_nomem(job->err, p->input->path);
		}
	return NSX_OK;
}

int
nsx_extract_number_cpu(struct ex_job *job)
{
	for (int i = 0; i < job->n; i++)
		if (job->profiles[i].trace.cpu && number_stacks(job, &job->profiles[i]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* By pid and tid, the lower 48 bits; the one with data first. */
NSX_ORDER(by_thread, struct nsx_extract_thread, NSX_CMP(a->gtid << 16, b->gtid << 16),
          NSX_CMP(b->data != NULL, a->data != NULL))

struct nsx_extract_thread *
nsx_extract_cpu_threads(const struct ex_profile *p, size_t *n)
{
	const struct nsx_cpu *c = p->trace.cpu;
	NSX_VEC(struct nsx_extract_thread) list = { 0 };
	bool *seen = calloc(c->threads.n + 1, sizeof *seen), good = seen && nsx_vec_room(&list, c->threads.n + 1);
	uint64_t by = 0;

	for (uint32_t kind = NSX_OS; good && kind <= NSX_SAMPLE; kind++)
		for (size_t i = 0; i < count_of(c, kind); i++)
			seen[common_of(c, kind, (uint32_t)i).thread] = true;

	for (size_t i = 0; i < c->threads.n && good; i++)
		if ((seen[i] || c->threads.p[i].scheduled) && nsx_extract_process_kept(p, c->threads.p[i].process))
			list.p[list.n++] = (struct nsx_extract_thread){ c->threads.p[i].gtid, &c->threads.p[i] };
	for (size_t i = 0; i < c->gils.n && good; i++)
		/* One holder of the GIL follows another seldom. */
		if (c->gils.p[i].by && c->gils.p[i].by != by && is_kept(p, NSX_GIL, (uint32_t)i))
			good = nsx_vec_push(&list, ((struct nsx_extract_thread){ by = c->gils.p[i].by, NULL }));
	free(seen);
	if (!good) {
		free(list.p);
		return NULL;
	}
	qsort(list.p, list.n, sizeof *list.p, by_thread);
	*n = 0;
	for (size_t i = 0; i < list.n; i++)
		if (!i || list.p[i].gtid != list.p[i - 1].gtid)
			list.p[(*n)++] = list.p[i];
	return list.p;
}
