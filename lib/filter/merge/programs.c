/* programs.c -- matches the programs of all streams again, and unites their instructions. An instruction's attributes
 * are those of the first profile whose dump has them. */
#include "filter/merge/merging.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "job/comm/communicates.h"

static struct nsx_rec
rec_of(const struct mg_held *h)
{
	return (struct nsx_rec){ h->kind, h->has, h->v };
}

static struct nsx_key
use_key(uint32_t profile, uint32_t program)
{
	return (struct nsx_key){ profile, program };
}

/* ---- matching */

static int
match(struct mg *m)
{
	struct nsx_match_alias *a = calloc(m->aliases.n + 1, sizeof *a);
	int rc;

	if (!a)
		return nsx_err_nomem(m->err, NULL);
	for (size_t i = 0; i < m->aliases.n; i++) {
		const struct mg_alias *from = &m->aliases.p[i];
		struct nsx_rec alias = rec_of(&from->rec), program = rec_of(&m->programs.p[from->program].rec);
		a[i] = (struct nsx_match_alias){
			.profile = m->profiles.p[from->profile].number, .id = from->id, .unit = from->program,
			.name = nsx_string(&program, NSX_PROGRAM_name),
			.fingerprint = nsx_string(&alias, NSX_ALIAS_fingerprint),
			.digest = nsx_string(&alias, NSX_ALIAS_digest),
			.names = nsx_string(&alias, NSX_ALIAS_names),
		};
	}
	rc = nsx_match(a, m->aliases.n, m->opts->match, &m->match, m->err);
	for (size_t i = 0; i < m->aliases.n && rc == NSX_OK; i++)
		m->aliases.p[i].ours = m->match.program[i];
	free(a);
	return rc;
}

/* The use that maps the stream's program to that of the merged stream, created if it is new; NSX_NONE when out of
 * memory. */
static uint32_t
use_for(struct mg *m, struct mg_program *p, uint32_t ours)
{
	uint32_t u = p->uses;

	while (u != NSX_NONE && m->uses.p[u].program != ours)
		u = m->uses.p[u].next;
	if (u != NSX_NONE)
		return u;
	u = (uint32_t)m->uses.n;
	if (!nsx_vec_push(&m->uses, ((struct nsx_merge_use){ .program = ours, .next = p->uses, .rank = INT64_MAX,
	    .dumped = INT64_MAX })))
		return NSX_NONE;
	p->uses = u;
	return u;
}

static int
find_uses(struct mg *m)
{
	for (size_t i = 0; i < m->aliases.n; i++) {
		const struct mg_alias *a = &m->aliases.p[i];
		struct nsx_rec rec = rec_of(&a->rec);
		int64_t profile = m->profiles.p[a->profile].number;
		uint32_t u = use_for(m, &m->programs.p[a->program], a->ours);
		uint32_t *at = u == NSX_NONE ? NULL : nsx_map_at(&m->use_of, use_key(a->profile, a->program));

		if (!at)
			return nsx_err_nomem(m->err, NULL);
		*at = u;
		if (profile < m->uses.p[u].rank)
			m->uses.p[u].rank = profile;
		if (!nsx_str_starts(nsx_string(&rec, NSX_ALIAS_digest), "d:"))
			continue;
		m->programs.p[a->program].dumped = true;
		if (profile < m->uses.p[u].dumped)
			m->uses.p[u].dumped = profile;
	}
	return NSX_OK;
}

/* ---- instructions */

static struct mg_row
row_of(const struct mg *m, uint32_t row)
{
	struct mg_row r;

	memcpy(&r, nsx_intern_str(&m->rows, row).ptr, sizeof r);
	return r;
}

static bool
differ(int64_t a, int64_t b)
{
	return a != INT64_MIN && b != INT64_MIN && a != b;
}

/* Work that only one of the two has is no contradiction. */
static bool
work_differs(const struct mg_row *x, const struct mg_row *y)
{
	return differ(x->flops, y->flops) || differ(x->vector, y->vector) || differ(x->mem_bytes, y->mem_bytes) ||
	       (x->math && y->math && x->math != y->math);
}

static int
contradict(struct mg *m, const struct mg_inst *inst, uint32_t row)
{
	struct mg_row x = row_of(m, inst->row), y = row_of(m, row);

	/* Data derived from a name only is no contradiction. */
	if (!x.opcode || !y.opcode || (x.opcode == y.opcode && !differ(x.comm, y.comm) && !differ(x.bytes, y.bytes) &&
	    !work_differs(&x, &y)))
		return NSX_OK;
	return nsx_merge_diag_say(m, NSX_WARNING, m->match.programs[inst->program].name,
		"dumps disagree on opcode, comm, bytes or work of an instruction: the first report is used");
}

/* An earlier merge may have joined programs that more reports show to be different: then a dump's attributes stay with
 * the reports of that dump, and the others keep what they contain themselves. NSX_NONE when out of memory. */
static uint32_t
own_row(struct mg *m, const struct mg_have *h, const struct nsx_merge_use *u)
{
	struct mg_row row = row_of(m, h->row), bare = {
		.bytes = INT64_MIN, .comm = row.comm, .flops = INT64_MIN, .vector = INT64_MIN, .mem_bytes = INT64_MIN,
		.name = row.name
	};

	if (!row.opcode || u->dumped != INT64_MAX || !m->programs.p[h->program].dumped)
		return h->row;
	return nsx_intern(&m->rows, (struct nsx_str){ (const char *)&bare, sizeof bare });
}

/* One stream's instruction in a program of the merged stream. */
static int
unite(struct mg *m, const struct mg_have *h, struct nsx_merge_use *u)
{
	uint32_t own = own_row(m, h, u);
	if (own == NSX_NONE)
		return nsx_err_nomem(m->err, NULL);
	struct mg_row row = row_of(m, own);
	uint32_t *at = nsx_map_at(&m->inst_of, (struct nsx_key){ u->program, row.name });
	struct mg_inst new = { .program = u->program, .name = row.name, .row = own, .rank = u->rank,
	                       .bare = !row.opcode };

	if (!at)
		return nsx_err_nomem(m->err, NULL);
	if (!new.bare && u->dumped != INT64_MAX)
		new.rank = u->dumped;
	if (*at == NSX_NONE) {
		*at = (uint32_t)m->insts.n;
		if (!nsx_vec_push(&m->insts, new))
			return nsx_err_nomem(m->err, NULL);
	}
	struct mg_inst *old = &m->insts.p[*at];
	if (old->row != new.row) {
		if (contradict(m, old, new.row) != NSX_OK)
			return NSX_ERR;
		if (new.bare < old->bare || (new.bare == old->bare && new.rank < old->rank))
			*old = new;
	} else if (new.rank < old->rank) {
		old->rank = new.rank;
	}
	return nsx_merge_remap_put(&u->insts, h->inst, *at) ? NSX_OK : nsx_err_nomem(m->err, NULL);
}

/* Find streams with instructions of which another stream has better data. */
static void
suspect(struct mg *m)
{
	for (size_t i = 0; i < m->haves.n; i++) {
		const struct mg_have *h = &m->haves.p[i];
		const struct mg_program *p = &m->programs.p[h->program];
		int64_t comm = row_of(m, h->row).comm;

		for (uint32_t u = p->uses; u != NSX_NONE; u = m->uses.p[u].next)
			m->sources[p->source].suspect |= differ(comm,
			                                        row_of(m,
			                                        	m->insts.p[nsx_merge_remap_get(
			                                        		&m->uses.p[u].insts,
			                                        		h->inst)].row).comm);
	}
}

struct program_name { uint32_t program, at; struct nsx_str name; };

NSX_ORDER(by_name, struct program_name, NSX_CMP(a->program, b->program), nsx_str_cmp(a->name, b->name))

static int
number_insts(struct mg *m)
{
	struct program_name *order = malloc((m->insts.n + 1) * sizeof *order);
	int64_t next = 0;

	if (!order)
		return nsx_err_nomem(m->err, NULL);
	for (size_t i = 0; i < m->insts.n; i++)
		order[i] = (struct program_name){ m->insts.p[i].program, (uint32_t)i,
		                                  nsx_merge_text(m, m->insts.p[i].name) };
	qsort(order, m->insts.n, sizeof *order, by_name);
	for (size_t i = 0; i < m->insts.n; i++) {
		struct mg_row row = row_of(m, m->insts.p[i].row);
		m->insts.p[i].comm = row.comm;
		m->insts.p[i].collective = row.collective;
		m->insts.p[i].settles = row.comm != INT64_MIN && nsx_comm_settles(row.comm == 1,
			nsx_merge_text(m, row.opcode));
		next = i && order[i].program == order[i - 1].program ? next + 1 : 0;
		m->insts.p[order[i].at].number = next;
	}
	free(order);
	return NSX_OK;
}

int
nsx_merge_programs(struct mg *m)
{
	if (match(m) != NSX_OK || find_uses(m) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < m->haves.n; i++) {
		const struct mg_have *h = &m->haves.p[i];
		for (uint32_t u = m->programs.p[h->program].uses; u != NSX_NONE; u = m->uses.p[u].next)
			if (unite(m, h, &m->uses.p[u]) != NSX_OK)
				return NSX_ERR;
	}
	suspect(m);
	free(m->haves.p);
	m->haves.p = NULL;
	m->haves.n = m->haves.cap = 0;
	return number_insts(m);
}

/* ---- for the records that follow */

struct nsx_merge_use *
nsx_merge_use(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, int profile, int device, int program)
{
	int64_t old = rec->v[program].i, of = profile >= 0 ? nsx_int(rec, profile, INT64_MIN) : INT64_MIN;
	uint32_t p, q = NSX_NONE, u;

	if (s->last.use != NSX_NONE && s->last.profile == of && s->last.program == old &&
	    (of != INT64_MIN || device < 0))
		return &m->uses.p[s->last.use];
	p = nsx_merge_remap_get(&s->program_of, old);
	if (p == NSX_NONE) {
		nsx_merge_fail(m, s, "%s of program %" PRId64 ", which has no record", rec->kind->name, old);
		return NULL;
	}
	if (of != INT64_MIN)
		q = nsx_merge_remap_get(&s->profile_of, of);
	else if (device >= 0 && nsx_has(rec, device) &&
	    (u = nsx_merge_remap_get(&s->device_of, rec->v[device].i)) != NSX_NONE)
		q = m->devices.p[u].profile;
	u = q == NSX_NONE ? NSX_NONE : nsx_map_get(&m->use_of, use_key(q, p));
	/* A profile without a name for the program uses that of another profile. */
	if (u == NSX_NONE)
		u = m->programs.p[p].uses;
	if (u == NSX_NONE) {
		nsx_merge_fail(m, s, "%s of program %" PRId64 ", which no report has", rec->kind->name, old);
		return NULL;
	}
	s->last.profile = of;
	s->last.program = old;
	s->last.use = u;
	return &m->uses.p[u];
}
