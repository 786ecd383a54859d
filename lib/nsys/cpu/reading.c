/* reading.c -- reading.h in order: tables, then names, then what follows from them. */
#include "nsys/cpu/reading.h"

#include <stdlib.h>

#include "base/num.h"

enum { DEFAULT_PERIOD = 1000000 };   /* of Python sampling, 1 kHz */

uint32_t
nsx_cpu_thread_at(struct nsx_cpu_reading *r, uint64_t gtid, bool *good)
{
	uint32_t at = nsx_map_get(&r->thread_of, (struct nsx_key){ gtid, 0 }), *slot;

	*good = true;
	if (at != NSX_NONE || !r->l->opts->cpu_all)
		return at;
	slot = nsx_map_at(&r->thread_of, (struct nsx_key){ gtid, 0 });
	*good = slot && nsx_vec_push(&r->c->threads, ((struct nsx_cpu_thread){ .gtid = gtid }));
	if (!*good)
		return NSX_NONE;
	return *slot = (uint32_t)r->c->threads.n - 1;
}

static int
rate_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_cpu_reading *r = ctx;
	struct nsx_str value = nsx_cell_text(&v[1]);
	int64_t hz;

	if (nsx_str_eq(nsx_cell_text(&v[0]), NSX_STR("PYTHON_BACKTRACE_SAMPLING_OPTIONS:SAMPLING_RATE")) && value.ptr &&
	    nsx_get_int(value, &hz) && hz > 0 && hz <= 1000000000)
		r->period = 1000000000 / hz;
	return NSX_OK;
}

static int
read_rate(struct nsx_cpu_reading *r)
{
	static const struct nsx_db_col columns[] = { { "name", true }, { "value", true } };
	struct nsx_db_scan s = { "META_DATA_CAPTURE", columns, 2, .ctx = r, .cells = rate_row };

	r->period = DEFAULT_PERIOD;
	return nsx_db_has(&r->l->db, s.table) ? nsx_db_run(&r->l->db, &s, r->l->err) : NSX_OK;
}

int
nsx_cpu_read(struct nsx_loader *l)
{
	struct nsx_cpu_reading *r = l->cpu;
	const struct nsx_trace *t = l->t;

	if (!r)
		return NSX_OK;
	for (uint32_t i = 0; i < t->nhost_threads; i++) {
		struct nsx_cpu_thread thread = { .gtid = t->host_threads[i].gtid, .launches = true };
		uint32_t *at = nsx_map_at(&r->thread_of, (struct nsx_key){ thread.gtid, 0 });

		if (!at || !nsx_vec_push(&r->c->threads, thread))
			return nsx_load_nomem(l);
		*at = (uint32_t)r->c->threads.n - 1;
	}
	if (read_rate(r) != NSX_OK || nsx_cpu_read_sched(r) != NSX_OK || nsx_cpu_read_os(r) != NSX_OK ||
	    nsx_cpu_read_samples(r) != NSX_OK)
		return NSX_ERR;
	return nsx_cpu_read_python(r);
}

static void
add_diags(struct nsx_cpu_reading *r)
{
	struct nsx_loader *l = r->l;

	nsx_load_diag(l, NSX_WARNING, r->bad, "records of host threads ignored: a time or a number is missing");
	nsx_load_diag(l, NSX_WARNING, r->no_thread, "records of host threads ignored: without a thread");
	nsx_load_diag(l, NSX_WARNING, r->backward, "OS calls ignored: they end before they start");
	nsx_load_diag(l, NSX_INFO, r->short_calls, "OS calls ignored: shorter than --os-min");
	nsx_load_diag(l, NSX_WARNING, r->disordered, "rows of stacks out of order: ignored");
	nsx_load_diag(l, NSX_INFO, r->unknown_states, "states of threads off the CPU that are not known");
	nsx_load_diag(l, NSX_INFO, r->broken, "stacks of samples that could not be unwound to their beginning");
	nsx_load_diag(l, NSX_INFO, r->untold, "Python samples of threads that could not be told: ignored");
	nsx_load_diag(l, NSX_WARNING, r->unreadable, "Python samples whose payload is missing or of an unknown form: "
	              "ignored");
}

/* Shapes become stacks. */
static int
name_stacks(struct nsx_cpu_reading *r)
{
	for (size_t i = 0; i < r->c->os.n; i++) {
		struct nsx_os_call *c = &r->c->os.p[i];
		const struct nsx_shape *shape;

		if (c->stack == NSX_NONE)
			continue;
		if (!(shape = nsx_cpu_shape(r, c->stack)))
			return nsx_load_nomem(r->l);
		c->stack = shape->stack;
	}
	for (size_t i = 0; i < r->c->samples.n; i++) {
		struct nsx_cpu_sample *s = &r->c->samples.p[i];
		const struct nsx_shape *shape;

		if (s->stack == NSX_NONE)
			continue;
		if (!(shape = nsx_cpu_shape(r, s->stack)))
			return nsx_load_nomem(r->l);
		r->broken += !s->python && shape->broken;
		s->stack = shape->stack;
	}
	return NSX_OK;
}

int
nsx_cpu_finish(struct nsx_loader *l)
{
	struct nsx_cpu_reading *r = l->cpu;

	if (!r)
		return NSX_OK;
	for (size_t i = 0; i < r->c->os.n; i++)
		if (r->c->os.p[i].name != NSX_NONE)
			r->c->os.p[i].name = l->id_names[r->c->os.p[i].name];
	if (l->t->stop != INT64_MIN && l->t->stop > r->last)
		r->last = l->t->stop;
	if (nsx_cpu_offs(r) != NSX_OK || nsx_cpu_gil(r) != NSX_OK || nsx_cpu_python_threads(r) != NSX_OK ||
	    nsx_cpu_stays(r) != NSX_OK || name_stacks(r) != NSX_OK)
		return NSX_ERR;
	add_diags(r);
	l->t->cpu = r->c;
	r->c = NULL;
	return NSX_OK;
}

void
nsx_cpu_reading_free(struct nsx_loader *l)
{
	struct nsx_cpu_reading *r = l->cpu;

	if (!r)
		return;
	nsx_cpu_free(r->c);
	nsx_map_free(&r->thread_of);
	nsx_map_free(&r->python_domains);
	nsx_intern_free(&r->frames);
	free(r->shapes.p);
	free(r->chain.p);
	nsx_map_free(&r->chain_of);
	free(r->chain_shapes.p);
	free(r->rows.p);
	free(r->gil.p);
	free(r->marks.p);
	free(r->events.p);
	nsx_buf_free(&r->text);
	free(r);
	l->cpu = NULL;
}
