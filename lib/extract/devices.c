/* devices.c -- assigns the GPUs of an export to devices of the job, by the names that XLA gives devices and launcher
 * threads through NVTX.
 *
 * A device's name in the export has a CUDA ordinal and no process, so it can be used only if one process alone has that
 * ordinal. A capture of a whole node has several processes, and each may call its only GPU 0: there the launcher
 * threads decide. A launcher thread that launched work names the device that it launched to. If a process has one
 * device, XLA launches from the main thread; the launcher thread launches nothing, but its name applies to its process.
 * For example
 *
 *     device 0 of process 4242       launcher of 4242: global=1,local=0       device 1 of the job
 *     device 0 of process 4279       launcher of 4279: global=0,local=0       device 0
 *     devices 0, 3 of process 4300   launchers of 4300: local=0 to local=3    0 is of local=0, 3 of local=3
 *     devices 4, 5 of process 4400   launchers of 4400: local=0, local=1      as many: by order */
#include "extract/profile.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"

/* A launcher thread's name, and its process: its globalPid. */
struct launcher { uint64_t gpid; uint32_t thread; struct nsx_device_title title; };
struct launchers { NSX_VEC(struct launcher) v; };

static void
name_device(struct ex_device *d, const struct nsx_device_title *title)
{
	d->global = title->global;
	d->local = title->local;
	d->process = title->process;
	d->partition = title->partition;
	d->known = true;
}

/* The device of the first GPU work that the thread launched; NSX_NONE if it launched none. */
static uint32_t
device_of_thread(const struct nsx_trace *t, const struct nsx_thread *thread)
{
	for (uint32_t r = thread->first; r < thread->first + thread->n; r++)
		if (t->ranges[r].gpu != NSX_NONE && t->spans[t->ranges[r].gpu].device != NSX_NONE)
			return t->spans[t->ranges[r].gpu].device;
	return NSX_NONE;
}

/* What is known of a CUDA ordinal: how many processes have it, and its names. */
struct ordinal { uint32_t sharing, names; struct nsx_device_title title; };
struct ordinals { struct nsx_map at; NSX_VEC(struct ordinal) v; };

/* NULL when out of memory. */
static struct ordinal *
ordinal_at(struct ordinals *o, int64_t number)
{
	uint32_t *at = nsx_map_at(&o->at, (struct nsx_key){ (uint64_t)number, 0 });

	if (!at || (*at == NSX_NONE && !nsx_vec_push(&o->v, ((struct ordinal){ .title = { -1, -1, -1, -1 } }))))
		return NULL;
	if (*at == NSX_NONE)
		*at = (uint32_t)o->v.n - 1;
	return &o->v.p[*at];
}

static bool
find_ordinals(const struct nsx_trace *t, struct ordinals *o)
{
	struct nsx_device_title found;
	struct ordinal *at;

	for (uint32_t d = 0; d < t->ndevices; d++) {
		if (!(at = ordinal_at(o, t->devices[d].cuda)))
			return false;
		at->sharing++;
	}
	for (uint32_t n = 0; n < t->ndevice_names; n++) {
		if (!nsx_device_title_parse(t->device_names[n].name, false, &found))
			continue;
		if (!(at = ordinal_at(o, (int64_t)t->device_names[n].key)))
			return false;
		at->names += !at->names || found.global != at->title.global;
		at->title = found;
	}
	return true;
}

/* The device names in the export for an ordinal that one process alone has. False when out of memory. */
static bool
by_device_names(struct ex_profile *p)
{
	struct ordinals o = { .v = { 0 } };
	bool good = find_ordinals(&p->trace, &o);

	for (uint32_t d = 0; d < p->trace.ndevices && good; d++) {
		const struct ordinal *at = ordinal_at(&o, p->trace.devices[d].cuda);

		if (at->sharing == 1 && at->names == 1)
			name_device(&p->devices[d], &at->title);
	}
	nsx_map_free(&o.at);
	free(o.v.p);
	return good;
}

/* By process, local number, global number. */
NSX_ORDER(compare_launchers, struct launcher, NSX_CMP(a->gpid, b->gpid), NSX_CMP(a->title.local, b->title.local),
          NSX_CMP(a->title.global, b->title.global))

static bool
find_launchers(const struct nsx_trace *t, struct launchers *l)
{
	const uint64_t thread_bits = 0xffffff;

	for (uint32_t n = 0; n < t->nthread_names; n++) {
		uint64_t gtid = t->thread_names[n].key;
		struct launcher new = { gtid & ~thread_bits, nsx_trace_thread_at(t, gtid), { -1, -1, -1, -1 } };
		if (nsx_device_title_parse(t->thread_names[n].name, true, &new.title) && !nsx_vec_push(&l->v, new))
			return false;
	}
	if (l->v.n)
		qsort(l->v.p, l->v.n, sizeof *l->v.p, compare_launchers);
	return true;
}

static void
by_launched_work(struct ex_profile *p, const struct launchers *l)
{
	for (size_t i = 0; i < l->v.n; i++) {
		uint32_t thread = l->v.p[i].thread, d = NSX_NONE;
		if (thread != NSX_NONE)
			d = device_of_thread(&p->trace, &p->trace.threads[thread]);
		if (d != NSX_NONE && !p->devices[d].known)
			name_device(&p->devices[d], &l->v.p[i].title);
	}
}

/* The last of the launchers l[0] .. l[n - 1], by local number, with this one; n: none. */
static size_t
last_local(const struct launcher *l, size_t n, int64_t local)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (l[mid].title.local <= local)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && l[lo - 1].title.local == local ? lo - 1 : n;
}

/* The first launcher of a process or of a later one. */
static size_t
first_of_process(const struct launchers *l, size_t n, uint64_t gpid)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (l->v.p[mid].gpid < gpid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Devices first .. end - 1 are all devices of a process, by ordinal; l[0] .. l[n - 1] its launchers, by local
 * number. */
static void
name_process(struct ex_profile *p, uint32_t first, uint32_t end, const struct launcher *l, size_t n)
{
	bool in_order = n == end - first;

	for (uint32_t d = first; d < end && in_order; d++)
		in_order = !p->devices[d].known || p->devices[d].global == l[d - first].title.global;
	for (uint32_t d = first; d < end; d++) {
		if (p->devices[d].known)
			continue;
		size_t i = in_order ? d - first : last_local(l, n, p->trace.devices[d].cuda);
		if (i < n)
			name_device(&p->devices[d], &l[i].title);
	}
}

static void
by_process(struct ex_profile *p, struct launchers *l)
{
	const struct nsx_trace *t = &p->trace;
	size_t n = 0;

	/* The name of a thread may be in the export twice. */
	for (size_t i = 0; i < l->v.n; i++)
		if (!n || l->v.p[i].gpid != l->v.p[n - 1].gpid || l->v.p[i].title.global != l->v.p[n - 1].title.global)
			l->v.p[n++] = l->v.p[i];
	for (uint32_t first = 0, end; first < t->ndevices; first = end) {
		uint64_t gpid = t->processes[t->devices[first].process].gpid;
		size_t from = first_of_process(l, n, gpid), to;
		for (end = first + 1; end < t->ndevices && t->devices[end].process == t->devices[first].process; end++)
			;
		for (to = from; to < n && l->v.p[to].gpid == gpid; to++)
			;
		if (to > from)
			name_process(p, first, end, l->v.p + from, to - from);
	}
}

/* Devices that have the number of an earlier one get another. False when out of memory. */
static bool
forget_twice(struct ex_profile *p)
{
	struct nsx_map seen = { 0 };
	int64_t twice = 0;
	bool good = true;

	for (uint32_t d = 0; d < p->trace.ndevices && good; d++) {
		uint32_t *at;

		if (!p->devices[d].known)
			continue;
		at = nsx_map_at(&seen, (struct nsx_key){ (uint64_t)p->devices[d].global, 0 });
		good = at != NULL;
		if (good && *at != NSX_NONE) {
			p->devices[d] = (struct ex_device){ -1, -1, -1, -1, false, true, false };
			twice++;
		}
		if (good)
			*at = 0;
	}
	nsx_map_free(&seen);
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, twice,
	             "devices with the same name as another: renumbered");
	return good;
}

/* A source that records the process's number in the job: its only device has that number too. */
static void
by_rank(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;

	for (uint32_t d = 0; d < t->ndevices && t->rank >= 0; d++) {
		p->devices[d].process = t->rank;
		p->devices[d].local = t->devices[d].cuda;
		p->devices[d].known = t->ndevices == 1;
		if (p->devices[d].known)
			p->devices[d].global = t->rank;
	}
}

int
nsx_extract_find_devices(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	struct launchers l = { { 0 } };

	if (!find_launchers(t, &l)) {
		free(l.v.p);
		return nsx_err_nomem(&p->err, p->input->path);
	}
	for (uint32_t d = 0; d < t->ndevices; d++)
		p->devices[d] = (struct ex_device){ -1, -1, -1, -1, false, true, false };
	by_rank(p);
	bool good = by_device_names(p);
	by_launched_work(p, &l);
	by_process(p, &l);
	free(l.v.p);
	if (!good || !forget_twice(p))
		return nsx_err_nomem(&p->err, p->input->path);
	for (uint32_t d = 0, local = 0; d < t->ndevices && t->rank < 0; d++) {
		/* Sorted by process and CUDA ordinal. */
		local = d && t->devices[d].process == t->devices[d - 1].process ? local + 1 : 0;
		if (!p->devices[d].known || p->devices[d].local < 0)
			p->devices[d].local = local;
	}
	return NSX_OK;
}
