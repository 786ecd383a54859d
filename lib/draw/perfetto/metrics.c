/* metrics.c -- samples of GPU metrics as counters of their GPU, one for each metric. */
#include <stdlib.h>

#include "draw/perfetto/trace.h"

/* Behind the counters of heap. */
enum { PLACE = 1 << 23 };

static struct nsx_metric_counter *
counter_at(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process, struct nsx_str name)
{
	uint32_t id = nsx_intern(&m->names, name), at;
	struct nsx_metric_counter c = { .track = { .value = true } };

	if (id == NSX_NONE)
		return NULL;
	at = nsx_map_number(&m->counter_of, (struct nsx_key){ process, id });
	if (at == NSX_NONE)
		return NULL;
	if (at < m->counters.n)
		return &m->counters.p[at];
	c.track.name = nsx_intern_str(&m->names, id);
	if (nsx_tracks_counter(tracks, process, PLACE + at, &c.track) != NSX_OK || !nsx_vec_push(&m->counters, c))
		return NULL;
	return &m->counters.p[at];
}

int
nsx_metric_draw(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process,
                const struct nsx_rec *rec)
{
	struct nsx_metric_counter *c;
	int64_t value = nsx_int(rec, NSX_METRIC_value, 0);

	if (!nsx_has(rec, NSX_METRIC_start) || rec->v[NSX_METRIC_start].i < 0)
		return NSX_OK;
	c = counter_at(m, tracks, process, nsx_string(rec, NSX_METRIC_name));
	if (!c)
		return nsx_err_nomem(tracks->trace->err, NULL);
	if (c->drawn && c->last == value)
		return NSX_OK;
	c->drawn = true;
	c->last = value;
	return tracks->trace->form->counter(tracks->trace, &c->track, rec->v[NSX_METRIC_start].i, value);
}

void
nsx_metric_counters_free(struct nsx_metric_counters *m)
{
	nsx_intern_free(&m->names);
	nsx_map_free(&m->counter_of);
	free(m->counters.p);
}
