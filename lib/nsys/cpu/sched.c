/* sched.c -- SCHED_EVENTS, a row each time that a thread gets or leaves a processor, into times off the CPU: from the
 * row in which it leaves to the next in which it gets one, before the first, and after the last.
 *
 *   in 10   out 20   in 25   out 40        off [0, 10)  [20, 25)  [40, end of the export), unended
 *
 * Of repeated rows of one sort the first counts. */
#include <stdlib.h>

#include "nsys/cpu/reading.h"
#include "base/sort.h"

enum { START, IN, GTID, STATE, NCOLUMNS };
enum { STATES = 11, UNDEFINED = 255, UNDEFINED_OLD = 1000 };

static int
row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_cpu_reading *r = ctx;
	struct nsx_sched_event e = { 0 };
	int64_t in, gtid, state;
	bool good;

	if (!nsx_cell_int(&v[START], &e.start) || !nsx_cell_int(&v[IN], &in)) {
		r->bad++;
		return NSX_OK;
	}
	if (!nsx_cell_int(&v[GTID], &gtid)) {
		r->no_thread++;
		return NSX_OK;
	}
	r->last = e.start > r->last ? e.start : r->last;
	e.thread = nsx_cpu_thread_at(r, (uint64_t)gtid, &good);
	e.in = in != 0;
	if (!e.in && nsx_cell_int(&v[STATE], &state) && state != UNDEFINED && state != UNDEFINED_OLD) {
		r->unknown_states += state < 0 || state >= STATES;
		e.state = state > 0 && state < STATES ? (uint8_t)state : 0;
	}
	return good && (e.thread == NSX_NONE || nsx_vec_push(&r->events, e)) ? NSX_OK : NSX_ERR;
}

int
nsx_cpu_read_sched(struct nsx_cpu_reading *r)
{
	static const struct nsx_db_col columns[NCOLUMNS] = {
		{ "start", true }, { "isSchedIn", true }, { "globalTid", true }, { "threadState", true }
	};
	struct nsx_db_scan s = { "SCHED_EVENTS", columns, NCOLUMNS, .ctx = r, .cells = row };

	return nsx_db_has(&r->l->db, s.table) ? nsx_db_run(&r->l->db, &s, r->l->err) : NSX_OK;
}

/* Events by thread, then time; equal ones as in the table. */
static bool
sort_events(struct nsx_cpu_reading *r)
{
	struct nsx_sort_key *keys = malloc((r->events.n + 1) * sizeof *keys);

	for (size_t i = 0; keys && i < r->events.n; i++)
		keys[i] = (struct nsx_sort_key){ { r->events.p[i].thread, r->events.p[i].start, 0 }, (uint32_t)i };
	if (keys) {
		nsx_sort_keys(keys, r->events.n);
		nsx_sort_apply(r->events.p, sizeof *r->events.p, keys, r->events.n);
	}
	free(keys);
	return keys != NULL;
}

static bool
add(struct nsx_cpu_reading *r, const struct nsx_sched_event *from, int64_t start, int64_t end, bool unended)
{
	struct nsx_off off = { start, end, from->thread, unended || !from->in ? from->state : 0, unended };

	return start >= end || nsx_vec_push(&r->c->offs, off);
}

int
nsx_cpu_offs(struct nsx_cpu_reading *r)
{
	const struct nsx_sched_event *e = r->events.p, *out = NULL;
	bool good = sort_events(r);

	e = r->events.p;
	for (size_t i = 0; i < r->events.n && good; i++) {
		bool first = !i || e[i].thread != e[i - 1].thread;
		r->c->threads.p[e[i].thread].scheduled = true;
		bool last = i + 1 == r->events.n || e[i + 1].thread != e[i].thread;

		if (first) {
			out = NULL;
			good = !e[i].in || add(r, &e[i], 0, e[i].start, false);
		}
		if (e[i].in && out) {
			good = good && add(r, out, out->start, e[i].start, false);
			out = NULL;
		} else if (!e[i].in && !out) {
			out = &e[i];
		}
		if (last && out)
			good = good && add(r, out, out->start, r->last, true);
	}
	return good ? NSX_OK : nsx_load_nomem(r->l);
}
