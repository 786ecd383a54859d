/* payloads.c -- data of instructions of programs without a dump: from the payloads that XLA attached to their NVTX
 * ranges, else from titles. One range of each instruction is used, the first. */
#include "extract/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "job/comm/names.h"
#include "nsys/payload.h"
#include "xla/hlotext.h"
#include "xla/places.h"

enum { INST_SOURCE, INST_HLO, INST_NAME, INST_OP_NAME, INST_FILE, INST_LINE, INST_GROUPS, INST_ENTRIES };
enum { COLLECTIVE = 2 };   /* in inst_schemas */
static const char *const inst_schemas[] = { "XlaInstruction", "XlaInstructionDetailed", "XlaCollectiveDetailed" };
static const struct nsx_payload_entry inst_entries[INST_ENTRIES] = {
	{ "Source locations", true }, { "HLO", true }, { "HLO name", true }, { "Framework op name", true },
	{ "Source file", true }, { "Source line", false }, { "Replica groups", true }
};
static const struct nsx_payload_ask inst_ask = { inst_schemas, 3, inst_entries, INST_ENTRIES };

enum { MODULE_NAME, MODULE_ID, MODULE_SOURCE, MODULE_ENTRIES };
static const char *const module_schemas[] = { "XlaModule" };
static const struct nsx_payload_entry module_entries[MODULE_ENTRIES] = {
	{ "Name", true }, { "Unique ID", false }, { "Common source locations", true }
};
static const struct nsx_payload_ask module_ask = { module_schemas, 1, module_entries, MODULE_ENTRIES };

/* The requested payloads: entities and the ids of their ranges, in parallel arrays. */
struct asked {
	NSX_VEC(uint32_t)         what;      /* programs, or instructions */
	NSX_VEC(uint32_t)         thunks;    /* of instructions: the thunk whose range it is */
	NSX_VEC(int64_t)          ids;
	int                      *schema;
	struct nsx_payload_value *values;
};

struct work {
	struct ex_profile *p;
	struct asked       modules, insts;
	struct nsx_str    *common;     /* by program: frames around all of it, as text */
	bool              *served;     /* by program: payloads have data about it */
	struct nsx_places  places;
	struct nsx_buf     op_name, buf;
	int64_t            foreign, odd, groups, logical;
};

static int
nomem(struct work *w)
{
	return nsx_err_nomem(&w->p->err, w->p->input->path);
}

static void
asked_free(struct asked *a)
{
	free(a->what.p);
	free(a->thunks.p);
	free(a->ids.p);
	free(a->schema);
	free(a->values);
}

static int
read_asked(struct work *w, struct asked *a, const struct nsx_payload_ask *ask)
{
	a->schema = malloc((a->ids.n + 1) * sizeof *a->schema);
	a->values = calloc(a->ids.n + 1, (size_t)ask->nentries * sizeof *a->values);
	if (!a->schema || !a->values)
		return nomem(w);
	return nsx_payload_read(&w->p->trace, a->ids.p, a->ids.n, ask, a->schema, a->values, &w->p->diags, &w->p->err);
}

/* ---- selection of ranges */

static bool
lacks_dump(const struct ex_profile *p, uint32_t program)
{
	return p->programs.p[program].executed && !p->programs.p[program].dumped;
}

static int64_t
range_id(const struct ex_profile *p, uint32_t range)
{
	return p->trace.ranges[range].id;
}

/* The first module and the first thunk of each: they are in order of their ranges. */
static int
choose(struct work *w)
{
	struct ex_profile *p = w->p;
	bool *seen = calloc(p->programs.n + p->insts.n + 1, sizeof *seen), *seen_inst = seen ? seen + p->programs.n
	    : NULL;
	bool good = seen != NULL;

	for (size_t i = 0; good && i < p->modules.n; i++) {
		uint32_t g = p->modules.p[i].program;
		if (seen[g] || !lacks_dump(p, g))
			continue;
		seen[g] = true;
		good = nsx_vec_push(&w->modules.what, g) && nsx_vec_push(&w->modules.ids,
			range_id(p, p->modules.p[i].range));
	}
	for (size_t i = 0; good && i < p->thunks.n; i++) {
		uint32_t n = p->thunks.p[i].inst;
		if (seen_inst[n] || !lacks_dump(p, p->insts.p[n].program))
			continue;
		seen_inst[n] = true;
		good = nsx_vec_push(&w->insts.what, n) && nsx_vec_push(&w->insts.thunks, (uint32_t)i) &&
		       nsx_vec_push(&w->insts.ids, range_id(p, p->thunks.p[i].range));
	}
	free(seen);
	return good ? NSX_OK : nomem(w);
}

/* ---- contents of payloads */

static void
take_modules(struct work *w)
{
	for (size_t i = 0; i < w->modules.what.n; i++) {
		const struct nsx_payload_value *v = &w->modules.values[i * MODULE_ENTRIES];
		const struct nsx_extract_program *g = &w->p->programs.p[w->modules.what.p[i]];
		if (w->modules.schema[i] < 0)
			continue;
		if ((v[MODULE_NAME].there && !nsx_str_eq(v[MODULE_NAME].text, g->name)) || (v[MODULE_ID].there &&
		    v[MODULE_ID].num != g->id))
			w->foreign++;
		else
			w->common[w->modules.what.p[i]] = v[MODULE_SOURCE].text;
	}
}

/* The op_name from titles, in w->op_name: for an instruction that calls others, their common prefix. */
static void
title_op_name(struct work *w, uint32_t thunk)
{
	struct ex_profile *p = w->p;
	const struct ex_thunk *th = &p->thunks.p[thunk];
	const struct nsx_title *module = nsx_extract_title(p, p->modules.p[th->module].range);
	struct nsx_str prefix = module ? module->prefix : (struct nsx_str){ NULL, 0 };
	/* last: parsing a title may move others */
	const struct nsx_title *title = nsx_extract_title(p, th->range);

	w->op_name.len = 0;
	if (title && !title->truncated)
		nsx_places_op_name(prefix, title->name, &w->op_name);
}

/* The instruction's own op_name in *own; returns whether it is known, including that there is none. */
static bool
own_op_name(struct work *w, const struct nsx_payload_value *v, const struct nsx_hlotext *hlo, struct nsx_str *own)
{
	w->buf.len = 0;
	if (hlo->opcode.len && (hlo->whole || hlo->op_name.len)) {
		nsx_hlotext_unescape(hlo->op_name, &w->buf);
		*own = nsx_buf_view(&w->buf);
		return true;
	}
	/* If the instruction has none, this is the common prefix of those that it calls. */
	*own = v[INST_OP_NAME].there ? v[INST_OP_NAME].text : nsx_buf_view(&w->op_name);
	return v[INST_OP_NAME].there;
}

/* The source location of the instruction itself: places.list.n if none. The others are of the instructions that it
 * calls. */
static size_t
own_place(const struct nsx_places *places, struct nsx_str own, bool known)
{
	for (size_t i = 0; i < places->list.n; i++)
		if (nsx_str_eq(places->list.p[i].op_name, own))
			return i;
	return known ? places->list.n : 0;
}

static bool
add_places(struct work *w, const struct nsx_payload_value *v, const struct nsx_hlotext *hlo, struct ex_info *info)
{
	struct ex_profile *p = w->p;
	struct nsx_places *pl = &w->places;
	struct nsx_str own;
	bool known = own_op_name(w, v, hlo, &own);
	size_t mine = own_place(pl, own, known);

	info->locs = (uint32_t)p->info_locs.n;
	if (!pl->list.n) {
		/* Only an op_name, or a line of old metadata. */
		info->op_name = nsx_extract_keep(p, own.len ? own : nsx_buf_view(&w->op_name));
		if (v[INST_FILE].there && v[INST_FILE].text.len && v[INST_LINE].there) {
			w->buf.len = 0;
			nsx_buf_fmt(&w->buf, "%.*s:%" PRId64, (int)v[INST_FILE].text.len, v[INST_FILE].text.ptr,
			            v[INST_LINE].num);
			for (size_t i = 0; i < w->buf.len; i++)
				w->buf.ptr[i] = w->buf.ptr[i] == ';' ? ',' : (unsigned char)w->buf.ptr[i] < ' '
				    ? ' ' : w->buf.ptr[i];
			info->frames = nsx_extract_keep_frames(p, nsx_buf_view(&w->buf));
		}
		return !w->buf.failed;
	}
	info->op_name = nsx_extract_keep(p, mine < pl->list.n ? pl->list.p[mine].op_name : own);
	if (mine < pl->list.n)
		info->frames = nsx_extract_keep_frames(p, pl->list.p[mine].frames);
	for (size_t i = 0; i < pl->list.n; i++)
		if (i != mine &&
		    !nsx_vec_push(&p->info_locs, ((struct ex_loc){ nsx_extract_keep(p, pl->list.p[i].op_name),
		                                  nsx_extract_keep_frames(p, pl->list.p[i].frames) })))
			return false;
	info->nlocs = (uint32_t)p->info_locs.n - info->locs;
	return !w->buf.failed;
}

static void
add_groups(struct work *w, const struct nsx_payload_value *v, struct ex_info *info)
{
	w->buf.len = 0;
	if (!v[INST_GROUPS].there)
		return;
	if (!nsx_hlotext_groups(v[INST_GROUPS].text, &w->buf)) {
		w->groups++;
		return;
	}
	w->logical += w->buf.len > 0;
	info->groups = nsx_extract_keep(w->p, nsx_buf_view(&w->buf));
}

/* Whether the payload belongs to this instruction at all. */
static bool
is_of(struct nsx_str name, const struct nsx_payload_value *v, const struct nsx_hlotext *hlo)
{
	return (!v[INST_NAME].there || nsx_str_eq(v[INST_NAME].text, name)) &&
	       (!hlo->name.len || nsx_str_eq(hlo->name, name));
}

static bool
take_inst(struct work *w, size_t i)
{
	struct ex_profile *p = w->p;
	struct nsx_extract_inst *inst = &p->insts.p[w->insts.what.p[i]];
	struct nsx_str name = nsx_intern_str(&p->inst_names, inst->name);
	const char *collective = nsx_comm_by_instruction(name);
	const struct nsx_payload_value *v = &w->insts.values[i * INST_ENTRIES];
	struct ex_info info = { .bytes = -1, .comm = collective != NULL };
	struct nsx_hlotext hlo = { .whole = false };
	bool good = true, told = w->insts.schema[i] >= 0;

	if (told && v[INST_HLO].there && !nsx_hlotext_read(v[INST_HLO].text, &hlo))
		hlo = (struct nsx_hlotext){ .whole = false };
	if (told && !is_of(name, v, &hlo)) {
		w->foreign++;
		told = false;
	}
	title_op_name(w, w->insts.thunks.p[i]);
	if (told) {
		good = nsx_places_read(w->common[inst->program], v[INST_SOURCE].text, nsx_buf_view(&w->op_name),
		                       &w->places) && add_places(w, v, &hlo, &info);
		w->odd += w->places.odd;
		info.opcode = nsx_extract_keep(p, hlo.opcode);
		info.collective = nsx_str_c(collective);
		if (collective && w->insts.schema[i] == COLLECTIVE)
			add_groups(w, v, &info);
		w->served[inst->program] = true;
	} else {
		info.op_name = nsx_extract_keep(p, nsx_buf_view(&w->op_name));
	}
	if (!good || w->op_name.failed || w->buf.failed || p->rc != NSX_OK)
		return false;
	if (!told && !info.op_name.len)
		return true;
	inst->info = (uint32_t)p->infos.n;
	return nsx_vec_push(&p->infos, info);
}

static void
report(struct work *w)
{
	const struct ex_profile *p = w->p;
	int64_t served = 0, named = 0, silent = 0;

	for (uint32_t g = 0; g < p->programs.n; g++)
		if (lacks_dump(p, g)) {
			served += w->served[g];
			named += !w->served[g];
		}
	for (size_t i = 0; i < w->insts.what.n; i++)
		silent += w->served[p->insts.p[w->insts.what.p[i]].program] && w->insts.schema[i] < 0;
	struct nsx_diags *d = &w->p->diags;
	const char *who = p->trace.name.ptr;
	nsx_diag_add(d, NSX_INFO, who, named,
		"executed programs without a dump: communication is recognised by the names of instructions and "
		"kernels");
	nsx_diag_add(d, NSX_INFO, who, served,
		"executed programs without a dump: source locations are from NVTX payloads, communication is "
		"recognised by the names of instructions and kernels");
	nsx_diag_add(d, NSX_INFO, who, silent,
		"executed names without an NVTX payload, in programs that have payloads: known by their range names "
		"only");
	nsx_diag_add(d, NSX_WARNING, who, w->foreign,
	             "NVTX payloads ignored: their module or instruction is not that of their range");
	nsx_diag_add(d, NSX_WARNING, who, w->odd,
	             "lines of source locations in NVTX payloads that were cut short or could not be parsed");
	nsx_diag_add(d, NSX_WARNING, who, w->groups,
	             "collectives whose replica groups in NVTX payloads could not be parsed");
	nsx_diag_add(d, NSX_INFO, who, w->logical,
		"collectives whose replica groups come from NVTX payloads: their ids are taken as device numbers");
}

int
nsx_extract_read_payloads(struct ex_profile *p)
{
	struct work w = { .p = p };
	int rc = NSX_OK;

	w.common = calloc(p->programs.n + 1, sizeof *w.common);
	w.served = calloc(p->programs.n + 1, sizeof *w.served);
	rc = w.common && w.served ? choose(&w) : nomem(&w);
	if (rc == NSX_OK && (rc = read_asked(&w, &w.modules, &module_ask)) == NSX_OK &&
	    (rc = read_asked(&w, &w.insts, &inst_ask)) == NSX_OK) {
		take_modules(&w);
		for (size_t i = 0; i < w.insts.what.n && rc == NSX_OK; i++)
			if (!take_inst(&w, i))
				rc = nomem(&w);
		report(&w);
	}
	asked_free(&w.modules);
	asked_free(&w.insts);
	free(w.common);
	free(w.served);
	nsx_places_free(&w.places);
	nsx_buf_free(&w.op_name);
	nsx_buf_free(&w.buf);
	return rc;
}
