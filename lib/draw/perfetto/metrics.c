/* metrics.c -- samples of GPU metrics as counters of their GPU, one for each metric; and of allocated memory. */
#include <stdlib.h>

#include "base/num.h"
#include "draw/perfetto/trace.h"

/* Behind the counters of heap. */
enum { PLACE = 1 << 23 };

static struct nsx_metric_counter *
counter_at(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process, struct nsx_str name,
           bool bytes)
{
	uint32_t id = nsx_intern(&m->names, name), at;
	struct nsx_metric_counter c = { .track = { .value = !bytes } };

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

static int
draw(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process, struct nsx_str name,
     bool bytes, int64_t start, int64_t value)
{
	struct nsx_metric_counter *c = counter_at(m, tracks, process, name, bytes);

	if (!c)
		return nsx_err_nomem(tracks->trace->err, NULL);
	if (c->drawn && c->last == value)
		return NSX_OK;
	c->drawn = true;
	c->last = value;
	return tracks->trace->form->counter(tracks->trace, &c->track, start, value);
}

int
nsx_metric_draw(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process,
                const struct nsx_rec *rec)
{
	if (!nsx_has(rec, NSX_METRIC_start) || rec->v[NSX_METRIC_start].i < 0)
		return NSX_OK;
	return draw(m, tracks, process, nsx_string(rec, NSX_METRIC_name), false, rec->v[NSX_METRIC_start].i,
	            nsx_int(rec, NSX_METRIC_value, 0));
}

/* `bytes` more of a memory of that process. */
static int
allocate(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process, uint32_t memory,
         int64_t bytes, int64_t start)
{
	uint32_t at = nsx_map_number(&m->sum_of, (struct nsx_key){ process, memory });
	struct nsx_buf name = { 0 };

	if (at == NSX_NONE || (at == m->sums.n && !nsx_vec_push(&m->sums, INT64_C(0))))
		return nsx_err_nomem(tracks->trace->err, NULL);
	m->sums.p[at] = nsx_add_sat(m->sums.p[at], bytes, NULL);
	nsx_buf_c(&name, "allocated: ");
	nsx_buf_str(&name, nsx_intern_str(&m->live.memories, memory));
	int rc = name.failed ? nsx_err_nomem(tracks->trace->err, NULL)
	         : draw(m, tracks, process, nsx_buf_view(&name), true, start, m->sums.p[at]);

	nsx_buf_free(&name);
	return rc;
}

int
nsx_memory_draw(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process,
                const struct nsx_rec *rec, int64_t start)
{
	struct nsx_live_change c;
	int64_t ended = 0;

	if (nsx_live_take(&m->live, rec, &c, tracks->trace->err) != NSX_OK)
		return NSX_ERR;
	if (c.frees && c.block == NSX_NONE)
		return NSX_OK;
	struct nsx_live_block *b = &m->live.blocks.p[c.block];

	/* What is freed was of the process, and memory, that allocated it. */
	if (!c.frees)
		b->mark = process;
	if (c.ended.bytes > 0 && c.ended.mark == b->mark && c.ended.memory == b->memory)
		ended = c.ended.bytes;
	else if (c.ended.bytes > 0
	         && allocate(m, tracks, c.ended.mark, c.ended.memory, -c.ended.bytes, start) != NSX_OK)
		return NSX_ERR;
	return allocate(m, tracks, b->mark, b->memory, c.frees ? -b->bytes : b->bytes - ended, start);
}

void
nsx_metric_counters_free(struct nsx_metric_counters *m)
{
	nsx_intern_free(&m->names);
	nsx_map_free(&m->counter_of);
	free(m->counters.p);
	nsx_live_free(&m->live);
	nsx_map_free(&m->sum_of);
	free(m->sums.p);
}
