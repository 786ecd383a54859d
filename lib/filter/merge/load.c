/* load.c -- the metadata of one stream into tables. Numbers stay those of the stream here, but every reference is
 * checked. */
#include "filter/merge/merging.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "base/sort.h"

/* Instructions of the stream while its locations are read. */
struct loading {
	struct mg        *m;
	struct mg_source *s;
	uint32_t          source;
	struct mg_remap   groups;             /* -> m->places */
	struct nsx_map    inst_at;            /* (program, inst) -> rows */
	NSX_VEC(struct mg_row) rows;
	NSX_VEC(struct mg_have) haves;        /* the same numbers */
	NSX_VEC(struct loc) locs;
};
struct loc { uint32_t row, at; struct mg_loc loc; };

uint32_t
nsx_merge_string(struct mg *m, struct nsx_str s)
{
	return nsx_intern(&m->strings, s.len ? s : NSX_STR(""));
}

struct nsx_str
nsx_merge_text(const struct mg *m, uint32_t string)
{
	return nsx_intern_str(&m->strings, string);
}

/* ---- unknown columns */

static int
known_slots(const struct nsx_kind *k)
{
	return k->id == NSX_NKINDS ? 0 : nsx_kind_builtin(k->id)->nslots;
}

/* Each value is its column's name, its type and eight bytes. */
struct extra { uint32_t column, string; int64_t type; union { int64_t i; double f; } v; };

uint32_t
nsx_merge_extras(struct mg *m, const struct nsx_rec *rec)
{
	int slot = known_slots(rec->kind), n = 0;
	struct extra x[NSX_MAX_COLS];

	if (slot >= NSX_MAX_COLS || !(rec->has >> slot))
		return 0;
	memset(x, 0, sizeof x);
	for (; slot < rec->kind->nslots; slot++) {
		char type = rec->kind->cols[slot].type;
		if (!nsx_has(rec, slot))
			continue;
		x[n].column = nsx_merge_string(m, nsx_str_c(rec->kind->cols[slot].name));
		x[n].type = type;
		if (type == 's')
			x[n].string = nsx_merge_string(m, rec->v[slot].s);
		else if (type == 'i')
			x[n].v.i = rec->v[slot].i;
		else
			x[n].v.f = rec->v[slot].f;
		if (x[n].column == NSX_NONE || x[n].string == NSX_NONE)
			return NSX_NONE;
		n++;
	}
	return nsx_merge_string(m, (struct nsx_str){ (const char *)x, (size_t)n * sizeof *x });
}

void
nsx_merge_set_extras(const struct mg *m, struct nsx_rec *rec, uint32_t extras)
{
	struct nsx_str bytes = nsx_merge_text(m, extras);

	for (size_t i = 0; i + sizeof(struct extra) <= bytes.len; i += sizeof(struct extra)) {
		struct extra x;
		memcpy(&x, bytes.ptr + i, sizeof x);
		int slot = nsx_kind_slot(rec->kind, nsx_merge_text(m, x.column));
		if (slot < 0)
			continue;
		if (x.type == 's')
			nsx_set_s(rec, slot, nsx_merge_text(m, x.string));
		else if (x.type == 'i')
			nsx_set_i(rec, slot, x.v.i);
		else
			nsx_set_f(rec, slot, x.v.f);
	}
}

/* ---- kinds */

static int
nomem(struct loading *l)
{
	return nsx_err_nomem(l->m->err, l->s->name);
}

static int
want(struct loading *l, const struct nsx_rec *rec, int slot)
{
	if (nsx_has(rec, slot))
		return NSX_OK;
	return nsx_merge_fail(l->m, l->s, "%s without %s", rec->kind->name, rec->kind->cols[slot].name);
}

/* Number `number` of the record's own kind is new: it is mapped to entry `to`. */
static int
enter(struct loading *l, struct mg_remap *r, const struct nsx_rec *rec, int slot, uint32_t to)
{
	if (want(l, rec, slot) != NSX_OK)
		return NSX_ERR;
	if (nsx_merge_remap_get(r, rec->v[slot].i) != NSX_NONE)
		return nsx_merge_fail(l->m, l->s, "second record of %s %" PRId64, rec->kind->name, rec->v[slot].i);
	return nsx_merge_remap_put(r, rec->v[slot].i, to) ? NSX_OK : nomem(l);
}

/* The entry of the entity to which the record refers. */
static int
refer(struct loading *l, const struct mg_remap *r, const struct nsx_rec *rec, int slot, uint32_t *to)
{
	if (want(l, rec, slot) != NSX_OK)
		return NSX_ERR;
	*to = nsx_merge_remap_get(r, rec->v[slot].i);
	if (*to == NSX_NONE)
		return nsx_merge_fail(l->m, l->s, "%s refers to %s %" PRId64 ", which has no record before it",
		                      rec->kind->name,
		               rec->kind->cols[slot].name, rec->v[slot].i);
	return NSX_OK;
}

static int
load_profile(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_profile p = { .source = l->source, .lowest = INT64_MAX };

	if (enter(l, &l->s->profile_of, rec, NSX_PROFILE_profile, (uint32_t)l->m->profiles.n) != NSX_OK)
		return NSX_ERR;
	if (!nsx_merge_hold(&l->m->arena, rec, &p.rec))
		return nomem(l);
	struct nsx_rec kept = { p.rec.kind, p.rec.has, p.rec.v };
	p.name = nsx_string(&kept, NSX_PROFILE_name);
	p.start_utc = nsx_int(rec, NSX_PROFILE_start_utc, INT64_MIN);
	return nsx_vec_push(&l->m->profiles, p) ? NSX_OK : nomem(l);
}

static int
load_device(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_device d = { .source = l->source, .known = nsx_int(rec, NSX_DEVICE_known, 0) == 1 };

	if (enter(l, &l->s->device_of, rec, NSX_DEVICE_device, (uint32_t)l->m->devices.n) != NSX_OK
	    || refer(l, &l->s->profile_of, rec, NSX_DEVICE_profile, &d.profile) != NSX_OK)
		return NSX_ERR;
	d.number = rec->v[NSX_DEVICE_device].i;
	l->s->devices = true;
	return nsx_merge_hold(&l->m->arena, rec, &d.rec) && nsx_vec_push(&l->m->devices, d) ? NSX_OK : nomem(l);
}

static int
load_clock(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_held h;
	uint32_t to;

	if (refer(l, &l->s->device_of, rec, NSX_CLOCK_device, &to) != NSX_OK
	    || (nsx_has(rec, NSX_CLOCK_profile) && refer(l, &l->s->profile_of, rec, NSX_CLOCK_profile, &to) != NSX_OK))
		return NSX_ERR;
	l->s->aligned = true;
	return nsx_merge_hold(&l->m->arena, rec, &h) && nsx_vec_push(&l->m->clocks, h) &&
	       nsx_vec_push(&l->m->clock_source, l->source)
	       ? NSX_OK : nomem(l);
}

static int
load_communicator(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_held h;
	uint32_t to;

	if (nsx_has(rec, NSX_COMMUNICATOR_device) &&
	    refer(l, &l->s->device_of, rec, NSX_COMMUNICATOR_device, &to) != NSX_OK)
		return NSX_ERR;
	if (nsx_has(rec, NSX_COMMUNICATOR_profile) &&
	    refer(l, &l->s->profile_of, rec, NSX_COMMUNICATOR_profile, &to) != NSX_OK)
		return NSX_ERR;
	return nsx_merge_hold(&l->m->arena, rec, &h) && nsx_vec_push(&l->m->communicators, h) &&
	       nsx_vec_push(&l->m->communicator_source, l->source)
	       ? NSX_OK : nomem(l);
}

static int
load_thread(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_held h;
	uint32_t profile;

	if (refer(l, &l->s->profile_of, rec, NSX_THREAD_profile, &profile) != NSX_OK)
		return NSX_ERR;
	l->s->threads = true;
	return nsx_merge_hold(&l->m->arena, rec, &h) && nsx_vec_push(&l->m->threads, h) &&
	       nsx_vec_push(&l->m->thread_profile, profile) ? NSX_OK : nomem(l);
}

static int
load_program(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_program p = { .source = l->source, .id = nsx_int(rec, NSX_PROGRAM_id, -1), .uses = NSX_NONE };

	if (enter(l, &l->s->program_of, rec, NSX_PROGRAM_program, (uint32_t)l->m->programs.n) != NSX_OK)
		return NSX_ERR;
	return nsx_merge_hold(&l->m->arena, rec, &p.rec) && nsx_vec_push(&l->m->programs, p) ? NSX_OK : nomem(l);
}

static int
load_alias(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_alias a = { .id = nsx_int(rec, NSX_ALIAS_id, -1) };

	if (refer(l, &l->s->profile_of, rec, NSX_ALIAS_profile, &a.profile) != NSX_OK
	    || refer(l, &l->s->program_of, rec, NSX_ALIAS_program, &a.program) != NSX_OK)
		return NSX_ERR;
	l->m->programs.p[a.program].aliased = true;
	return nsx_merge_hold(&l->m->arena, rec, &a.rec) && nsx_vec_push(&l->m->aliases, a) ? NSX_OK : nomem(l);
}

/* The text of groups as it is written now, whatever version wrote it; the same if it is of another form. NSX_NONE when
 * out of memory. */
static uint32_t
members_of(struct mg *m, struct nsx_str text)
{
	struct nsx_members groups = { 0 };
	struct nsx_buf buf = { 0 };
	uint32_t string = nsx_merge_string(m, text);
	uint32_t *known = string == NSX_NONE ? NULL : nsx_map_at(&m->members, (struct nsx_key){ string, 0 });
	int rc;

	if (!known || *known != NSX_NONE)
		return known ? *known : NSX_NONE;
	rc = nsx_members_read(&groups, text, NSX_MEMBERS_MAX);
	if (rc == NSX_OK)
		nsx_members_put(&groups, &buf);
	if (rc != NSX_EOF)
		string = rc == NSX_OK && !buf.failed ? nsx_merge_string(m, nsx_buf_view(&buf)) : NSX_NONE;
	*known = string;
	nsx_members_free(&groups);
	nsx_buf_free(&buf);
	return string;
}

/* A stack or set of groups; text is its column. */
static int
load_place(struct loading *l, struct mg_remap *r, const struct nsx_rec *rec, int slot, int text)
{
	struct mg_place p = { .extras = nsx_merge_extras(l->m, rec) };
	uint32_t to;

	p.text = rec->kind->id == NSX_GROUPS ? members_of(l->m, nsx_string(rec, text))
	                                     : nsx_merge_string(l->m, nsx_string(rec, text));

	if (p.text == NSX_NONE || p.extras == NSX_NONE)
		return nomem(l);
	to = nsx_intern(&l->m->places, (struct nsx_str){ (const char *)&p, sizeof p });
	if (to == NSX_NONE || (rec->kind->id == NSX_STACK && !nsx_vec_push(&l->s->stacks, to)))
		return nomem(l);
	return enter(l, r, rec, slot, to);
}

static int
string_of(struct loading *l, const struct nsx_rec *rec, int slot, uint32_t *to)
{
	*to = nsx_merge_string(l->m, nsx_string(rec, slot));
	return *to == NSX_NONE ? nomem(l) : NSX_OK;
}

static int
place_of(struct loading *l, const struct mg_remap *r, const struct nsx_rec *rec, int slot, uint32_t *to)
{
	*to = 0;
	return nsx_has(rec, slot) ? refer(l, r, rec, slot, to) : NSX_OK;
}

static struct nsx_key
inst_key(uint32_t program, int64_t inst)
{
	return (struct nsx_key){ program, (uint64_t)inst };
}

static int
load_inst(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_row row = {
		.bytes = nsx_int(rec, NSX_INST_bytes, INT64_MIN), .comm = nsx_int(rec, NSX_INST_comm, INT64_MIN),
		.flops = nsx_int(rec, NSX_INST_flops, INT64_MIN), .vector = nsx_int(rec, NSX_INST_vector, INT64_MIN),
		.mem_bytes = nsx_int(rec, NSX_INST_mem_bytes, INT64_MIN)
	};
	struct mg_have have = { 0 };
	uint32_t *at;

	if (want(l, rec, NSX_INST_inst) != NSX_OK || want(l, rec, NSX_INST_name) != NSX_OK ||
	    refer(l, &l->s->program_of, rec, NSX_INST_program, &have.program) != NSX_OK ||
	    string_of(l, rec, NSX_INST_name, &row.name) != NSX_OK ||
	    string_of(l, rec, NSX_INST_opcode, &row.opcode) != NSX_OK ||
	    string_of(l, rec, NSX_INST_collective, &row.collective) != NSX_OK ||
	    string_of(l, rec, NSX_INST_op_name, &row.op_name) != NSX_OK ||
	    string_of(l, rec, NSX_INST_scheduling_name, &row.scheduling_name) != NSX_OK ||
	    string_of(l, rec, NSX_INST_math, &row.math) != NSX_OK ||
	    place_of(l, &l->groups, rec, NSX_INST_groups, &row.groups) != NSX_OK ||
	    place_of(l, &l->s->stack_of, rec, NSX_INST_stack, &row.stack) != NSX_OK)
		return NSX_ERR;
	row.extras = nsx_merge_extras(l->m, rec);
	have.inst = rec->v[NSX_INST_inst].i;
	at = nsx_map_at(&l->inst_at, inst_key(have.program, have.inst));
	if (row.extras == NSX_NONE || !at)
		return nomem(l);
	if (*at != NSX_NONE)
		return nsx_merge_fail(l->m, l->s, "second record of inst %" PRId64 " of program %" PRId64, have.inst,
		                      rec->v[NSX_INST_program].i);
	*at = (uint32_t)l->rows.n;
	return nsx_vec_push(&l->rows, row) && nsx_vec_push(&l->haves, have) ? NSX_OK : nomem(l);
}

static int
load_loc(struct loading *l, const struct nsx_rec *rec)
{
	struct loc loc = { .at = (uint32_t)l->locs.n };
	uint32_t program;

	if (want(l, rec, NSX_LOC_inst) != NSX_OK ||
	    refer(l, &l->s->program_of, rec, NSX_LOC_program, &program) != NSX_OK ||
	    string_of(l, rec, NSX_LOC_op_name, &loc.loc.op_name) != NSX_OK ||
	    place_of(l, &l->s->stack_of, rec, NSX_LOC_stack, &loc.loc.stack) != NSX_OK)
		return NSX_ERR;
	loc.loc.extras = nsx_merge_extras(l->m, rec);
	loc.row = nsx_map_get(&l->inst_at, inst_key(program, rec->v[NSX_LOC_inst].i));
	if (loc.row == NSX_NONE)
		return nsx_merge_fail(l->m, l->s, "loc refers to inst %" PRId64 " of program %" PRId64
		                      ", which has no record before it",
		               rec->v[NSX_LOC_inst].i, rec->v[NSX_LOC_program].i);
	return loc.loc.extras != NSX_NONE && nsx_vec_push(&l->locs, loc) ? NSX_OK : nomem(l);
}

static int
load_record(struct loading *l, const struct nsx_rec *rec)
{
	struct mg_held h;

	switch (rec->kind->id) {
	case NSX_PROFILE: return load_profile(l, rec);
	case NSX_DEVICE:  return load_device(l, rec);
	case NSX_THREAD:  return load_thread(l, rec);
	case NSX_COMMUNICATOR: return load_communicator(l, rec);
	case NSX_CLOCK:   return load_clock(l, rec);
	case NSX_PROGRAM: return load_program(l, rec);
	case NSX_ALIAS:   return load_alias(l, rec);
	case NSX_GROUPS:  return load_place(l, &l->groups, rec, NSX_GROUPS_groups, NSX_GROUPS_members);
	case NSX_STACK:   return load_place(l, &l->s->stack_of, rec, NSX_STACK_stack, NSX_STACK_frames);
	case NSX_INST:    return load_inst(l, rec);
	case NSX_LOC:     return load_loc(l, rec);
	case NSX_DIAG:    return nsx_merge_diag_record(l->m, rec);
	default:
		return nsx_merge_hold(&l->m->arena, rec, &h) && nsx_vec_push(&l->m->unknown, h)
		       && nsx_vec_push(&l->m->unknown_source, l->source) ? NSX_OK : nomem(l);
	}
}

/* ---- what depends on all of the metadata */

NSX_ORDER(by_row, struct loc, NSX_CMP(a->row, b->row), NSX_CMP(a->at, b->at))

/* Locations to lists, rows to the table that all streams share. */
static int
finish_insts(struct loading *l)
{
	NSX_VEC(struct mg_loc) list = { 0 };
	int rc = NSX_OK;

	if (l->locs.n)
		qsort(l->locs.p, l->locs.n, sizeof *l->locs.p, by_row);
	for (size_t i = 0, j; i < l->locs.n && rc == NSX_OK; i = j) {
		list.n = 0;
		for (j = i; j < l->locs.n && l->locs.p[j].row == l->locs.p[i].row; j++)
			if (!nsx_vec_push(&list, l->locs.p[j].loc))
				rc = nomem(l);
		uint32_t n = nsx_intern(&l->m->lists, (struct nsx_str){ (const char *)list.p,
			list.n * sizeof *list.p });
		if (n == NSX_NONE)
			rc = nomem(l);
		l->rows.p[l->locs.p[i].row].locs = n;
	}
	for (size_t i = 0; i < l->rows.n && rc == NSX_OK; i++) {
		struct mg_have *h = &l->haves.p[i];
		h->row = nsx_intern(&l->m->rows, (struct nsx_str){ (const char *)&l->rows.p[i], sizeof l->rows.p[i] });
		if (h->row == NSX_NONE || !nsx_vec_push(&l->m->haves, *h))
			rc = nomem(l);
	}
	free(list.p);
	return rc;
}

/* A program without an alias in any profile: every profile of the stream has it. */
static int
claim(struct loading *l, size_t first_program, size_t first_profile)
{
	for (size_t i = first_program; i < l->m->programs.n; i++) {
		const struct mg_program *p = &l->m->programs.p[i];
		for (size_t k = first_profile; k < l->m->profiles.n && !p->aliased; k++) {
			union nsx_val v[NSX_MAX_COLS];
			struct nsx_rec from = { p->rec.kind, p->rec.has, p->rec.v },
			    rec = { nsx_kind_builtin(NSX_ALIAS), 0, v };
			struct mg_alias a = { .profile = (uint32_t)k, .program = (uint32_t)i, .id = p->id };
			if (p->id >= 0)
				nsx_set_i(&rec, NSX_ALIAS_id, p->id);
			nsx_set_s(&rec, NSX_ALIAS_fingerprint, nsx_string(&from, NSX_PROGRAM_fingerprint));
			if (!nsx_merge_hold(&l->m->arena, &rec, &a.rec) || !nsx_vec_push(&l->m->aliases, a))
				return nomem(l);
		}
	}
	return NSX_OK;
}

int
nsx_merge_load(struct mg *m, uint32_t source)
{
	struct loading l = { .m = m, .s = &m->sources[source], .source = source };
	size_t first_program = m->programs.n, first_profile = m->profiles.n;
	int rc;

	while ((rc = nsx_merge_source_next(m, l.s)) == NSX_OK) {
		enum nsx_section section = nsx_rec_section(&l.s->rec);
		if (section != NSX_SECTION_METADATA && section != NSX_SECTION_ANY)
			break;
		if ((rc = load_record(&l, &l.s->rec)) != NSX_OK)
			break;
	}
	if (rc == NSX_EOF)
		rc = NSX_OK;
	if (rc == NSX_OK)
		rc = finish_insts(&l);
	if (rc == NSX_OK)
		rc = claim(&l, first_program, first_profile);
	nsx_merge_remap_free(&l.groups);
	nsx_map_free(&l.inst_at);
	free(l.rows.p);
	free(l.haves.p);
	free(l.locs.p);
	return rc;
}
