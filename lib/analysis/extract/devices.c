/* devices.c -- which GPU of the job is it? By the names that XLA gives devices and launcher threads through NVTX. */
#include "analysis/extract/profile.h"

#include <stdlib.h>

static void
name_device(struct ex_device *d, const struct nsx_device_title *title)
{
	d->global = title->global;
	d->local = title->local;
	d->process = title->process;
	d->partition = title->partition;
	d->known = true;
}

/* The device of the first GPU work that the thread launched; NSX_NONE if there is none. */
static uint32_t
device_of_thread(const struct nsx_trace *t, const struct nsx_thread *thread)
{
	for (uint32_t r = thread->first; r < thread->first + thread->n; r++)
		if (t->ranges[r].gpu != NSX_NONE && t->spans[t->ranges[r].gpu].device != NSX_NONE)
			return t->spans[t->ranges[r].gpu].device;
	return NSX_NONE;
}

/* A device's name in the export has no process: it tells only where one process alone has that CUDA ordinal. */
static void
by_device_names(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;

	for (uint32_t d = 0; d < t->ndevices; d++) {
		struct nsx_device_title title = { -1, -1, -1, -1 }, found;
		int sharing = 0, names = 0;
		for (uint32_t e = 0; e < t->ndevices; e++)
			sharing += t->devices[e].cuda == t->devices[d].cuda;
		for (uint32_t n = 0; n < t->ndevice_names; n++) {
			if ((int64_t)t->device_names[n].key != t->devices[d].cuda ||
			    !nsx_device_title_parse(t->device_names[n].name, false, &found))
				continue;
			if (!names || found.global != title.global)
				names++;
			title = found;
		}
		if (sharing == 1 && names == 1)
			name_device(&p->devices[d], &title);
	}
}

static void
by_launchers(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;

	for (uint32_t n = 0; n < t->nthread_names; n++) {
		struct nsx_device_title title;
		if (!nsx_device_title_parse(t->thread_names[n].name, true, &title))
			continue;
		for (uint32_t i = 0; i < t->nthreads; i++) {
			if (t->threads[i].gtid != t->thread_names[n].key)
				continue;
			uint32_t d = device_of_thread(t, &t->threads[i]);
			if (d != NSX_NONE && !p->devices[d].known)
				name_device(&p->devices[d], &title);
		}
	}
}

int
ex_find_devices(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	int64_t twice = 0;

	for (uint32_t d = 0; d < t->ndevices; d++)
		p->devices[d] = (struct ex_device){ -1, -1, -1, -1, false, true, false };
	by_device_names(p);
	by_launchers(p);
	for (uint32_t d = 0; d < t->ndevices; d++)
		for (uint32_t e = 0; e < d && p->devices[d].known; e++)
			if (p->devices[e].known && p->devices[e].global == p->devices[d].global) {
				p->devices[d] = (struct ex_device){ -1, -1, -1, -1, false, true, false };
				twice++;
			}
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, twice, "devices with the name of another: numbered anew");
	for (uint32_t d = 0, local = 0; d < t->ndevices; d++) {
		/* Sorted by process and CUDA ordinal. */
		local = d && t->devices[d].process == t->devices[d - 1].process ? local + 1 : 0;
		if (!p->devices[d].known || p->devices[d].local < 0)
			p->devices[d].local = local;
	}
	return NSX_OK;
}
