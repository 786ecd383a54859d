/* dumps.c -- what the HLO dumps say of the instructions that were executed; copied out, so that a dump is held only while it is read. */
#include "analysis/extract/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct nsx_str
keep(struct ex_profile *p, struct nsx_str s)
{
	if (!s.len)
		return (struct nsx_str){ "", 0 };
	uint32_t n = nsx_intern(&p->strings, s);
	if (n == NSX_NONE) {
		p->rc = nsx_err_nomem(&p->err, p->input->path);
		return (struct nsx_str){ "", 0 };
	}
	return nsx_intern_str(&p->strings, n);
}

static struct nsx_str
at(const struct nsx_str *list, uint32_t i)
{
	return i == NSX_NONE ? (struct nsx_str){ "", 0 } : list[i];
}

/* Keep only the last component of each frame's path. */
static struct nsx_str
frames(struct ex_profile *p, struct nsx_str s, struct nsx_buf *tmp)
{
	if (!p->opts->strip_paths)
		return keep(p, s);
	tmp->len = 0;
	for (size_t i = 0, k; i < s.len; i = k) {
		size_t from = i;
		/* A frame is file:line[function]; a '/' within the function's name is no folder. */
		for (k = i; k < s.len && s.ptr[k] != ';' && s.ptr[k] != '['; k++)
			if (s.ptr[k] == '/')
				from = k + 1;
		while (k < s.len && s.ptr[k] != ';')
			k++;
		k += k < s.len;
		nsx_buf_add(tmp, s.ptr + from, k - from);
	}
	if (tmp->failed)
		p->rc = nsx_err_nomem(&p->err, p->input->path);
	return keep(p, nsx_buf_view(tmp));
}

bool
ex_describe(struct ex_profile *p, uint32_t inst, const struct nsx_hlo *h, const struct nsx_hlo_inst *from)
{
	struct nsx_buf *tmp = &p->scratch;
	struct ex_info info = {
		.opcode = keep(p, from->opcode), .collective = keep(p, from->collective), .op_name = keep(p, from->op_name),
		.scheduling_name = keep(p, from->scheduling_name), .frames = frames(p, at(h->stacks, from->stack), tmp),
		.groups = keep(p, at(h->groups, from->groups)), .bytes = from->bytes, .comm = from->comm,
		.locs = (uint32_t)p->info_locs.n, .nlocs = from->nlocs
	};
	for (uint32_t i = 0; i < from->nlocs; i++) {
		const struct nsx_hlo_loc *loc = &h->locs[from->locs + i];
		if (!nsx_vec_push(&p->info_locs, ((struct ex_loc){ keep(p, loc->op_name), frames(p, at(h->stacks, loc->stack), tmp) })))
			return false;
	}
	p->insts.p[inst].info = (uint32_t)p->infos.n;
	return p->rc == NSX_OK && nsx_vec_push(&p->infos, info);
}

static const struct nsx_hlo_inst *
find(const struct ex_profile *p, const struct nsx_hlo *h, const struct ex_inst *inst)
{
	struct nsx_str name = nsx_intern_str(&p->inst_names, inst->name);
	const struct nsx_hlo_inst *by_id = inst->op_id >= 0 ? nsx_hlo_find_id(h, inst->op_id) : NULL;

	/* Where both are known and disagree, the name decides: the meaning of ids has changed between versions of XLA. */
	if (by_id && nsx_str_eq(by_id->name, name))
		return by_id;
	const struct nsx_hlo_inst *by_name = nsx_hlo_find(h, name);
	return by_name ? by_name : by_id;
}

/* Names that XLA gives thunks which are no instruction. */
static bool
is_made_up(struct nsx_str name)
{
	return nsx_str_starts(name, "command_buffer") || nsx_str_starts(name, "wrapped_");
}

struct joined { int64_t executed, judged, found; };

static struct joined
count(const struct ex_profile *p, const struct nsx_hlo *h, uint32_t program)
{
	struct joined n = { 0, 0, 0 };

	for (size_t i = 0; i < p->insts.n; i++) {
		const struct ex_inst *inst = &p->insts.p[i];
		if (inst->program != program)
			continue;
		bool there = find(p, h, inst) != NULL;
		n.executed++;
		n.judged += there || !is_made_up(nsx_intern_str(&p->inst_names, inst->name));
		n.found += there;
	}
	return n;
}

static int
join(struct ex_profile *p, uint32_t program, const struct nsx_hlo *h)
{
	struct ex_program *g = &p->programs.p[program];
	struct joined n = count(p, h, program);

	if (h->id != g->id || !nsx_str_eq(h->name, g->name) || n.found * 2 < n.judged) {
		nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, n.executed,
		             "program %.*s@%" PRId64 ": the dump is of another run (it has %" PRId64 " of %" PRId64 " executed names): not used, its instructions are known by name only",
		             (int)g->name.len, g->name.ptr, g->id, n.found, n.judged);
		return NSX_OK;
	}
	g->dumped = true;
	g->fingerprint = keep(p, h->fingerprint);
	snprintf(g->digest, sizeof g->digest, "%.*s", (int)h->digest.len, h->digest.ptr);
	for (size_t i = 0, all = p->insts.n; i < all && p->rc == NSX_OK; i++) {
		const struct nsx_hlo_inst *found = p->insts.p[i].program == program ? find(p, h, &p->insts.p[i]) : NULL;
		if (found && !ex_describe(p, (uint32_t)i, h, found))
			p->rc = nsx_err_nomem(&p->err, p->input->path);
	}
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, n.executed - n.found, "executed names that are no instruction of their program's dump");
	return p->rc == NSX_OK ? ex_open_graphs(p, program, h) : p->rc;
}

static int
read_dump(struct ex_profile *p, uint32_t program, const char *path)
{
	const struct ex_program *g = &p->programs.p[program];
	struct nsx_hlo h = { 0 };
	struct nsx_err why = { "" };

	if (nsx_hlo_read(path, &h, &p->diags, &why) != NSX_OK) {
		nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, 1, "program %.*s@%" PRId64 ": dump not used, its instructions are known by name only: %s",
		             (int)g->name.len, g->name.ptr, g->id, why.msg);
		return NSX_OK;
	}
	int rc = join(p, program, &h);
	nsx_hlo_free(&h);
	return rc;
}

static int
read_dumps(struct ex_profile *p)
{
	int64_t missing = 0;
	const char *path;
	int rc = NSX_OK;

	struct nsx_dump_dir *dir = nsx_dump_dir_open(p->input->dumps, &p->err);
	if (!dir)
		return NSX_ERR;
	for (uint32_t i = 0; i < p->programs.n && rc == NSX_OK; i++) {
		const struct ex_program *g = &p->programs.p[i];
		if (!g->executed || g->id < 0)
			continue;
		switch (nsx_dump_dir_find(dir, g->id, g->name, &path)) {
		case NSX_DUMP_ONE:
			rc = read_dump(p, i, path);
			break;
		case NSX_DUMP_NONE:
			missing++;
			break;
		case NSX_DUMP_AMBIGUOUS:
			nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, 1, "program %.*s@%" PRId64 ": several dumps in %s: none used, its instructions are known by name only",
			             (int)g->name.len, g->name.ptr, g->id, p->input->dumps);
			break;
		}
	}
	nsx_dump_dir_free(dir);
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, missing, "executed programs without a dump in %s: their instructions are known by name only", p->input->dumps);
	return rc;
}

int
ex_read_dumps(struct ex_profile *p)
{
	int64_t named = 0;

	if (p->input->dumps && (read_dumps(p) != NSX_OK || (p->op_thunk && ex_number_occurrences(p) != NSX_OK)))
		return NSX_ERR;
	for (size_t i = 0; i < p->programs.n; i++)
		named += p->programs.p[i].executed && !p->programs.p[i].dumped;
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, named, "executed programs without a dump: what communicates is told by the names of instructions");
	return NSX_OK;
}
