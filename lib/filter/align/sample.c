/* sample.c -- which collectives of a large job are compared.
 *
 * The offset of a clock is a median; that of a few hundred collectives is as good as that of all of them. What is kept
 * is chosen by *units*: one occurrence of one collective, in all its executions. The unit has a hash of the names of
 * its program and instruction and of its occurrence, so every device keeps the same ones, in whatever order records
 * come; and a process that has only its own records keeps them too (nsysx-align --sample). Numbers of executions are
 * not in the hash: those of captures that began apart differ until pairing has compared them, for which it needs every
 * execution of a collective. Of the units of one set of devices those of lowest hash are kept until they have `keep`
 * executions:
 *
 *   keep 100, all-reduce of devices 0 to 7:   hash   7   12   31   40      unit 31 is kept, for the ones before it have
 *                                       executions  60   30   60   60      fewer than 100; 40 is not
 *
 * NCCL's operations have no names: a unit is the operations of one communicator that are alike (nccl.c), and its
 * devices are a set.
 *
 * Counts only grow, and a unit that others of lower hash rule out once is ruled out for good. So units can be dropped
 * while records come in, and those that remain at the end are those that would remain if all were counted first. */
#include <stdlib.h>

#include "base/sort.h"
#include "filter/align/aligning.h"

/* If a sample is wanted, so many records come between two looks at what to drop. */
enum { OFTEN = 1 << 16 };

/* Units of one program in a set that are kept in any case: one, which pairs its executions. Where groups are unknown
 * more, because screen.c may refuse some of them. */
enum { FEWEST = 1, FEWEST_UNKNOWN = 16 };

/* Exchanges of pairs rarely count, and end less evenly: a part of what is kept of others. */
enum { PART_OF_PAIRS = 4 };

void
nsx_align_sample_begin(struct al_sample *s, int64_t keep, size_t many)
{
	s->keep = keep;
	s->next = many ? many : OFTEN;
	s->taken = !many;
}

/* The set of devices of a unit; exchanges of pairs are another one. NSX_NONE when out of memory. */
static uint32_t
set_at(struct al_job *j, const struct nsx_comm_record *r, const struct al_unit_key *key)
{
	struct al_sample *s = &j->sample;
	const struct nsx_catalogue *cat = &j->comm.cat;
	int64_t groups = cat->insts.p[r->inst].groups;
	bool known = r->has_group && groups != NSX_ABSENT && r->group_at >= 0;
	bool pairs = j->collectives.p[key->collective].pairs;
	uint32_t *at = nsx_map_at(&s->set_of, (struct nsx_key){ known ? (uint64_t)groups : (uint64_t)NSX_ABSENT,
	                                                         (known ? (uint64_t)r->group_at << 1 : 0) | pairs });
	uint32_t devices = known && r->participants ? r->participants : (uint32_t)cat->devices.n;

	if (at && *at == NSX_NONE
	    && nsx_vec_push(&s->sets, ((struct al_sample_set){ devices ? devices : 1, known, pairs })))
		*at = (uint32_t)s->sets.n - 1;
	return at ? *at : NSX_NONE;
}

/* Executions are paired by first occurrences, which come before all others. */
static uint64_t
hash_of(const struct nsx_catalogue *cat, const struct nsx_comm_record *r, const struct al_unit_key *key)
{
	const struct nsx_cat_inst *inst = &cat->insts.p[r->inst];
	struct nsx_str program = nsx_cat_str(cat, cat->programs.p[inst->program].name);
	uint64_t h = nsx_hash(program.ptr, program.len);

	h = nsx_hash_u64(h ^ (key->name.len ? nsx_hash(key->name.ptr, key->name.len) : (uint64_t)inst->number));
	return nsx_hash_u64(h + (uint64_t)key->occurrence) >> 1 | (uint64_t)(key->occurrence > 0) << 63;
}

int
nsx_align_sample_take(struct al_job *j, const struct nsx_comm_record *r, const struct al_unit_key *key, bool *dropped)
{
	struct al_sample *s = &j->sample;
	const struct nsx_catalogue *cat = &j->comm.cat;
	uint32_t *at = nsx_map_at(&s->unit_of, (struct nsx_key){ key->collective, (uint64_t)key->occurrence });
	struct al_unit u = { .program = j->collectives.p[key->collective].program };

	if (at && *at == NSX_NONE) {
		u.hash = hash_of(cat, r, key);
		u.set = set_at(j, r, key);
		if (u.set != NSX_NONE && nsx_vec_push(&s->units, u))
			*at = (uint32_t)s->units.n - 1;
	}
	if (!at || *at == NSX_NONE)
		return nsx_err_nomem(j->err, NULL);

	struct al_unit *found = &s->units.p[*at];

	*(found->dropped ? &s->left_out : &found->count) += 1;
	*dropped = found->dropped;
	return NSX_OK;
}

/* Of a unit whose hash and set are not known yet. */
static int
add_nccl_unit(struct al_job *j, const struct nsx_nccl_key *key, uint32_t *at)
{
	struct al_sample *s = &j->nccl_sample;
	const struct nsx_intern *texts = &j->nccl.texts;
	const uint32_t parts[] = { key->comm, key->kind, key->pair };
	struct al_unit u = { 0 };
	uint32_t *set = nsx_map_at(&s->set_of, (struct nsx_key){ key->comm, 0 });

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct nsx_str text = nsx_intern_str(texts, parts[i]);

		u.hash = nsx_hash_u64(u.hash ^ nsx_hash(text.ptr, text.len));
	}
	if (set && *set == NSX_NONE && nsx_vec_push(&s->sets, ((struct al_sample_set){ 1, true, false })))
		*set = (uint32_t)s->sets.n - 1;
	if (!set || (u.set = *set) == NSX_NONE || !nsx_vec_push(&s->units, u))
		return nsx_err_nomem(j->err, NULL);
	*at = (uint32_t)s->units.n - 1;
	return NSX_OK;
}

int
nsx_align_sample_take_op(struct al_job *j)
{
	struct al_sample *s = &j->nccl_sample;
	uint32_t key = j->nccl.ops.p[j->nccl.ops.n - 1].key;
	uint32_t *at = nsx_map_at(&s->unit_of, (struct nsx_key){ key, 0 });

	if (!at)
		return nsx_err_nomem(j->err, NULL);
	if (*at == NSX_NONE && add_nccl_unit(j, &j->nccl.keys.p[key], at) != NSX_OK)
		return NSX_ERR;
	struct al_unit *u = &s->units.p[*at];

	*(u->dropped ? &s->left_out : &u->count) += 1;
	j->nccl.ops.n -= u->dropped;
	return nsx_align_sample_cut_ops(j, false);
}

/* ---- cutting */

struct place { uint32_t set, program, unit; uint64_t hash; };

NSX_ORDER(by_hash, struct place, NSX_CMP(a->set, b->set), NSX_CMP(a->hash, b->hash), NSX_CMP(a->unit, b->unit))

/* Drop what is ruled out of the units of a set, n places by hash. of: (set, program) -> units of lower hash. False when
 * out of memory. */
static bool
cut_set(struct al_sample *s, const struct place *p, size_t n, struct nsx_map *of)
{
	const struct al_sample_set *set = &s->sets.p[p->set];
	int64_t sum = 0, keep = set->pairs ? (s->keep + PART_OF_PAIRS - 1) / PART_OF_PAIRS : s->keep;

	for (size_t i = 0; i < n; i++) {
		struct al_unit *u = &s->units.p[p[i].unit];
		uint32_t *before = nsx_map_at(of, (struct nsx_key){ p[i].set, p[i].program });

		if (!before)
			return false;
		*before = *before == NSX_NONE ? 0 : *before;
		if (!u->dropped && sum / set->devices >= keep
		    && *before >= (set->known ? FEWEST : FEWEST_UNKNOWN)) {
			u->dropped = true;
			s->left_out += u->count;
		}
		++*before;
		sum = nsx_add_sat(sum, u->count, NULL);
	}
	return true;
}

static bool
mark(struct al_sample *s)
{
	struct place *p = malloc((s->units.n + 1) * sizeof *p);
	struct nsx_map of = { 0 };
	bool good = p != NULL;

	for (uint32_t i = 0; good && i < s->units.n; i++)
		p[i] = (struct place){ s->units.p[i].set, s->units.p[i].program, i, s->units.p[i].hash };
	if (good && s->units.n)
		qsort(p, s->units.n, sizeof *p, by_hash);
	for (size_t i = 0, k; good && i < s->units.n; i = k) {
		for (k = i + 1; k < s->units.n && p[k].set == p[i].set; k++)
			;
		good = cut_set(s, p + i, k - i, &of);
	}
	nsx_map_free(&of);
	free(p);
	return good;
}

bool
nsx_align_sample_has(const struct al_sample *s, uint32_t collective, int64_t occurrence)
{
	uint32_t at = nsx_map_get(&s->unit_of, (struct nsx_key){ collective, (uint64_t)occurrence });

	return at != NSX_NONE && !s->units.p[at].dropped;
}

/* Whether n records are to be cut now. */
static bool
is_due(const struct al_sample *s, size_t n, bool last)
{
	return last ? s->taken : n >= s->next;
}

/* After the cut, which left n. */
static void
look_again(struct al_sample *s, size_t n)
{
	s->next = n + n / 2 > s->next ? n + n / 2 : s->next;
}

int
nsx_align_sample_cut(struct al_job *j, bool last)
{
	struct al_sample *s = &j->sample;
	size_t n = 0;

	if (!is_due(s, j->obs.n, last))
		return NSX_OK;
	s->taken = true;
	if (!mark(s))
		return nsx_err_nomem(j->err, NULL);
	for (size_t i = 0; i < j->obs.n; i++)
		if (nsx_align_sample_has(s, j->obs.p[i].collective, j->obs.p[i].occurrence))
			j->obs.p[n++] = j->obs.p[i];
	j->obs.n = n;
	look_again(s, n);
	return NSX_OK;
}

/* The devices of each communicator that have been seen. */
static void
count_devices(struct al_job *j)
{
	struct nsx_nccl_set *c = &j->nccl;

	for (uint32_t i = 0; i < c->keys.n; i++) {
		uint32_t set = nsx_map_get(&j->nccl_sample.set_of, (struct nsx_key){ c->keys.p[i].comm, 0 });
		uint32_t comm = nsx_intern_find(&c->comms.ids, nsx_intern_str(&c->texts, c->keys.p[i].comm));

		if (set != NSX_NONE && comm != NSX_NONE && c->comms.list.p[comm].devices > 0)
			j->nccl_sample.sets.p[set].devices = (uint32_t)c->comms.list.p[comm].devices;
	}
}

int
nsx_align_sample_cut_ops(struct al_job *j, bool last)
{
	struct al_sample *s = &j->nccl_sample;
	struct nsx_nccl_op *ops = j->nccl.ops.p;
	size_t n = 0;

	if (!is_due(s, j->nccl.ops.n, last))
		return NSX_OK;
	s->taken = true;
	count_devices(j);
	if (!mark(s))
		return nsx_err_nomem(j->err, NULL);
	for (size_t i = 0; i < j->nccl.ops.n; i++)
		if (nsx_align_sample_has(s, ops[i].key, 0))
			ops[n++] = ops[i];
	j->nccl.ops.n = n;
	look_again(s, n);
	return NSX_OK;
}

void
nsx_align_sample_free(struct al_sample *s)
{
	free(s->units.p);
	free(s->sets.p);
	nsx_map_free(&s->unit_of);
	nsx_map_free(&s->set_of);
}
