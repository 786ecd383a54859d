/* dumps.c -- data of executed instructions from HLO dumps; copied, so that a dump is held only while it is read. */
#include "extract/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nsx_str
nsx_extract_keep(struct ex_profile *p, struct nsx_str s)
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

/* Whether the '[' at s[k] begins the name of the function: it follows a line or a column. */
static bool
opens_function(struct nsx_str s, size_t k)
{
	size_t i = k;

	while (i > 0 && nsx_is_digit(s.ptr[i - 1]))
		i--;
	return i > 0 && i < k && s.ptr[i - 1] == ':';
}

struct nsx_str
nsx_extract_keep_frames(struct ex_profile *p, struct nsx_str s)
{
	struct nsx_buf *tmp = &p->scratch;

	if (!p->opts->strip_paths)
		return nsx_extract_keep(p, s);
	tmp->len = 0;
	for (size_t i = 0, k; i < s.len; i = k) {
		size_t from = i;
		/* A frame is file:line[function]; a '/' within the function's name separates no folders. */
		for (k = i; k < s.len && s.ptr[k] != ';' && !(s.ptr[k] == '[' && opens_function(s, k)); k++)
			if (s.ptr[k] == '/')
				from = k + 1;
		while (k < s.len && s.ptr[k] != ';')
			k++;
		k += k < s.len;
		nsx_buf_add(tmp, s.ptr + from, k - from);
	}
	if (tmp->failed)
		p->rc = nsx_err_nomem(&p->err, p->input->path);
	return nsx_extract_keep(p, nsx_buf_view(tmp));
}

/* The frames of a stack of the dump that is being joined, stored once: they are long, and many instructions share
 * them. */
static struct nsx_str
frames_of(struct ex_profile *p, const struct nsx_hlo *h, uint32_t stack)
{
	if (stack == NSX_NONE)
		return (struct nsx_str){ "", 0 };
	if (!p->dump_frames[stack].ptr)
		p->dump_frames[stack] = nsx_extract_keep_frames(p, h->stacks[stack]);
	return p->dump_frames[stack];
}

bool
nsx_extract_describe(struct ex_profile *p, uint32_t inst, const struct nsx_hlo *h, const struct nsx_hlo_inst *from)
{
	struct ex_info info = {
		.opcode = nsx_extract_keep(p, from->opcode), .collective = nsx_extract_keep(p, from->collective),
		.op_name = nsx_extract_keep(p, from->op_name),
		.scheduling_name = nsx_extract_keep(p, from->scheduling_name), .frames = frames_of(p, h, from->stack),
		.groups = nsx_extract_keep(p, at(h->groups, from->groups)), .bytes = from->bytes, .comm = from->comm,
		.cost = from->cost,
		.locs = (uint32_t)p->info_locs.n, .nlocs = from->nlocs
	};
	for (uint32_t i = 0; i < from->nlocs; i++) {
		const struct nsx_hlo_loc *loc = &h->locs[from->locs + i];
		if (!nsx_vec_push(&p->info_locs, ((struct ex_loc){ nsx_extract_keep(p, loc->op_name),
		    frames_of(p, h, loc->stack) })))
			return false;
	}
	p->insts.p[inst].info = (uint32_t)p->infos.n;
	return p->rc == NSX_OK && nsx_vec_push(&p->infos, info);
}

static const struct nsx_hlo_inst *
find(const struct ex_profile *p, const struct nsx_hlo *h, const struct nsx_extract_inst *inst)
{
	struct nsx_str name = nsx_intern_str(&p->inst_names, inst->name);
	const struct nsx_hlo_inst *by_id = inst->op_id >= 0 ? nsx_hlo_find_id(h, inst->op_id) : NULL;

	/* If both are known and disagree, the name decides: the meaning of ids has changed between versions of XLA. */
	if (by_id && nsx_str_eq(by_id->name, name))
		return by_id;
	const struct nsx_hlo_inst *by_name = nsx_hlo_find(h, name);
	return by_name ? by_name : by_id;
}

/* Names of thunks that are not instructions. */
static bool
is_made_up(struct nsx_str name)
{
	return nsx_str_starts(name, "command_buffer") || nsx_str_starts(name, "wrapped_");
}

/* judged: names that a dump of this run should have, of which it has `named`; found: those that are joined, including
 * those by id alone; compared: those found whose ranges have an op_name; strange: those not found, except command
 * buffers, which no dump has. */
struct joined { int64_t executed, judged, named, found, strange, compared, contrary; };

/* The executed instructions of each program: insts[first[program]] up to first[program + 1]. */
struct by_program { uint32_t *first, *insts; };

static bool
group(const struct ex_profile *p, struct by_program *by)
{
	by->first = calloc(p->programs.n + 3, sizeof *by->first);
	by->insts = malloc((p->insts.n + 1) * sizeof *by->insts);
	if (!by->first || !by->insts)
		return false;
	for (size_t i = 0; i < p->insts.n; i++)
		by->first[p->insts.p[i].program + 2]++;
	for (size_t i = 2; i < p->programs.n + 2; i++)
		by->first[i] += by->first[i - 1];
	for (uint32_t i = 0; i < p->insts.n; i++)
		by->insts[by->first[p->insts.p[i].program + 1]++] = i;
	return true;
}

/* found: what each instruction of the program is in the dump; NULL: it is not in it. */
static struct joined
count(const struct ex_profile *p, const struct nsx_hlo *h, uint32_t program, const struct by_program *by,
      const struct nsx_hlo_inst **found)
{
	struct joined n = { 0 };

	for (uint32_t i = by->first[program]; i < by->first[program + 1]; i++) {
		const struct nsx_extract_inst *inst = &p->insts.p[by->insts[i]];
		struct nsx_str name = nsx_intern_str(&p->inst_names, inst->name);
		const struct nsx_hlo_inst *there = found[i - by->first[program]] = find(p, h, inst);
		/* Any other dump has the same small ids, so an equal id is no evidence that the dump is of this run. */
		bool named = there && nsx_str_eq(there->name, name);
		n.executed++;
		n.judged += named || !is_made_up(name);
		n.named += named;
		n.found += there != NULL;
		n.strange += !there && !nsx_str_starts(name, NSX_BUFFER_NAME);
		n.compared += there && inst->op_name.len;
		/* Ranges omit the common prefix of all op_names of the module. */
		n.contrary += there && !nsx_hlo_reaches(h, there, inst->op_name);
	}
	return n;
}

/* Whether a range that contains thunks is a fusion was guessed by its name; the dump has the opcode. */
static int
check_holders(struct ex_profile *p, uint32_t program, const struct nsx_hlo *h)
{
	for (size_t i = 0; i < p->holders.n; i++) {
		const struct ex_holder *o = &p->holders.p[i];
		struct nsx_str name = nsx_intern_str(&p->inst_names, o->name);
		const struct nsx_hlo_inst *inst = o->program == program ? nsx_hlo_find(h, name) : NULL;
		if (!inst || nsx_str_eq(inst->opcode, NSX_STR("fusion")) == o->fusion)
			continue;
		struct nsx_str key = nsx_extract_misnamed_key(p, p->programs.p[program].id, name);
		p->again |= nsx_intern_find(&p->misnamed, key) == NSX_NONE;
		if (p->rc != NSX_OK || nsx_intern(&p->misnamed, key) == NSX_NONE)
			return nsx_err_nomem(&p->err, p->input->path);
	}
	return NSX_OK;
}

static int
join_found(struct ex_profile *p, uint32_t program, const struct ex_dump *dump, const struct by_program *by,
           const struct nsx_hlo_inst **found)
{
	const struct nsx_hlo *h = dump->h;
	struct nsx_extract_program *g = &p->programs.p[program];
	struct joined n = count(p, h, program, by, found);

	/* What the profile itself has of a program is of that program. */
	if ((dump->path && (h->id != g->id || !nsx_str_eq(h->name, g->name))) || n.named * 2 < n.judged ||
	    n.contrary * 10 > n.compared) {
		nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, n.executed,
		             "program %.*s@%" PRId64 ": the dump is from another run (it has %" PRId64 " of %" PRId64
		             " executed names, %" PRId64
		             " of them with another op_name): not used, instructions are known by name only",
		             (int)g->name.len, g->name.ptr, g->id, n.named, n.judged, n.contrary);
		return NSX_OK;
	}
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, n.contrary,
	             "instructions whose op_name differs between the dump and the names of their ranges");
	g->dumped = true;
	g->fingerprint = nsx_extract_keep(p, h->fingerprint);
	snprintf(g->digest, sizeof g->digest, "%.*s", (int)h->digest.len, h->digest.ptr);
	for (uint32_t i = by->first[program]; i < by->first[program + 1] && p->rc == NSX_OK; i++) {
		const struct nsx_hlo_inst *inst = found[i - by->first[program]];
		if (inst && !nsx_extract_describe(p, by->insts[i], h, inst))
			p->rc = nsx_err_nomem(&p->err, p->input->path);
	}
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, n.strange,
	             "executed names that are not an instruction of their program's dump");
	if (p->rc != NSX_OK || check_holders(p, program, h) != NSX_OK)
		return NSX_ERR;
	/* A profile that will be loaded again need not be complete now. */
	return p->again ? NSX_OK : nsx_extract_open_graphs(p, program, dump);
}

static int
join(struct ex_profile *p, uint32_t program, const struct ex_dump *dump, const struct by_program *by)
{
	size_t n = by->first[program + 1] - by->first[program];
	const struct nsx_hlo_inst **found = malloc((n + 1) * sizeof *found);
	int rc = found ? join_found(p, program, dump, by, found) : nsx_err_nomem(&p->err, p->input->path);

	free(found);
	return rc;
}

/* Join the dump of an executed program. */
struct wanted { uint32_t program; const char *path; struct nsx_hlo_entry *entry; bool found; };

struct dumps {
	struct nsx_dump_dir *dir;
	struct by_program    by;
	NSX_VEC(struct wanted) list;
	size_t               ahead;   /* entries before this one have been read, or reading them was tried */
	size_t               guessed; /* for entries before this one, no other folder is left to read from */
};

static int
read_dump(struct ex_profile *p, const struct dumps *d, const struct wanted *w)
{
	const struct nsx_extract_program *g = &p->programs.p[w->program];
	struct nsx_hlo h = { 0 };
	struct nsx_err why = { "" };

	if (nsx_hlo_shelf_read(w->entry, w->path, &h, &p->diags, &why) != NSX_OK) {
		/* The same command must give the same stream each time. */
		if (h.trouble)
			return nsx_err_set(&p->err, "%s", why.msg);
		nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, 1, "program %.*s@%" PRId64
		             ": dump not used, instructions are known by name only: %s",
		             (int)g->name.len, g->name.ptr, g->id, why.msg);
		return NSX_OK;
	}
	p->dump_frames = calloc((size_t)h.nstacks + 1, sizeof *p->dump_frames);
	struct ex_dump dump = { .h = &h, .path = w->path, .dir = d->dir };
	int rc = p->dump_frames ? join(p, w->program, &dump, &d->by)
	                        : nsx_err_nomem(&p->err, p->input->path);
	free(p->dump_frames);
	p->dump_frames = NULL;
	nsx_hlo_shelf_back(&h);
	return rc;
}

static struct nsx_hlo_entry *
entry_of(struct ex_profile *p, struct wanted *w)
{
	if (!w->found)
		w->entry = p->shelf ? nsx_hlo_shelf_find(p->shelf, w->path) : NULL;
	w->found = true;
	return w->entry;
}

/* Read a dump that another profile will probably request: one with the file name of one of ours. False: none left. */
static bool
guess(struct ex_profile *p, struct dumps *d)
{
	/* Once no folder is left for a name, there will be none later. */
	for (; d->guessed < d->list.n; d->guessed++) {
		const char *path = d->list.p[d->guessed].path, *slash = strrchr(path, '/');
		if (nsx_hlo_shelf_guess(p->shelf, slash ? slash + 1 : path))
			return true;
	}
	return false;
}

/* While another profile's thread reads the i-th dump: read those after it that have not been read, then those of
 * profiles whose turn has not come. */
static void
read_ahead(struct ex_profile *p, struct dumps *d, size_t i)
{
	if (d->ahead <= i)
		d->ahead = i + 1;
	while (d->list.p[i].entry && d->ahead < d->list.n && nsx_hlo_shelf_busy(d->list.p[i].entry)) {
		struct wanted *w = &d->list.p[d->ahead++];
		if (entry_of(p, w))
			nsx_hlo_shelf_ahead(w->entry, w->path);
	}
	while (d->list.p[i].entry && nsx_hlo_shelf_busy(d->list.p[i].entry) && guess(p, d))
		;
}

/* Join the dumps of the programs that were executed. */
static int
list_dumps(struct ex_profile *p, struct dumps *d)
{
	int64_t missing = 0;
	const char *path;

	for (uint32_t i = 0; i < p->programs.n; i++) {
		const struct nsx_extract_program *g = &p->programs.p[i];
		if (!g->executed || g->id < 0)
			continue;
		switch (nsx_dump_dir_find(d->dir, g->id, g->name, &path)) {
		case NSX_DUMP_ONE:
			if (!nsx_vec_push(&d->list, ((struct wanted){ .program = i, .path = path })))
				return nsx_err_nomem(&p->err, p->input->path);
			break;
		case NSX_DUMP_NONE:
			missing++;
			break;
		case NSX_DUMP_AMBIGUOUS:
			nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, 1, "program %.*s@%" PRId64
			             ": several dumps in %s: none of them is used, instructions are known by name only",
			             (int)g->name.len, g->name.ptr, g->id, p->input->dumps);
			break;
		}
	}
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, missing, "executed programs without a dump in %s",
	             p->input->dumps);
	return NSX_OK;
}

static int
read_dumps(struct ex_profile *p)
{
	struct dumps d = { .dir = nsx_dump_dir_open(p->input->dumps, &p->err) };
	int rc = NSX_OK;

	if (!d.dir)
		return NSX_ERR;
	if (!group(p, &d.by))
		rc = nsx_err_nomem(&p->err, p->input->path);
	if (rc == NSX_OK)
		rc = list_dumps(p, &d);
	if (p->shelf)
		nsx_hlo_shelf_begin(p->shelf, p->input->dumps);
	for (size_t i = 0; i < d.list.n && rc == NSX_OK; i++) {
		entry_of(p, &d.list.p[i]);
		read_ahead(p, &d, i);
		rc = read_dump(p, &d, &d.list.p[i]);
	}
	nsx_dump_dir_free(d.dir);
	free(d.list.p);
	free(d.by.first);
	free(d.by.insts);
	return rc;
}

static struct nsx_key
program_key(int64_t id, struct nsx_str name)
{
	return (struct nsx_key){ (uint64_t)id, nsx_hash(name.ptr, name.len) };
}

/* Where the profile has the HLO of programs, by id and name: of two of one the first. */
static bool
place_bytes(const struct nsx_trace *t, struct nsx_map *at)
{
	for (uint32_t i = 0; i < t->nprograms; i++) {
		uint32_t *place = nsx_map_at(at, program_key(t->programs[i].id, t->programs[i].name));

		if (!place)
			return false;
		if (*place == NSX_NONE)
			*place = i;
	}
	return true;
}

/* Join the HLO that the profile itself has of executed programs. */
static int
read_bytes(struct ex_profile *p)
{
	struct by_program by = { 0 };
	struct nsx_map at = { 0 };
	int rc = group(p, &by) && place_bytes(&p->trace, &at) ? NSX_OK : nsx_err_nomem(&p->err, p->input->path);
	int64_t missing = 0;

	for (uint32_t i = 0; i < p->programs.n && rc == NSX_OK; i++) {
		const struct nsx_extract_program *g = &p->programs.p[i];
		uint32_t place = nsx_map_get(&at, program_key(g->id, g->name));
		const struct nsx_program_bytes *b = place == NSX_NONE ? NULL : &p->trace.programs[place];
		struct nsx_hlo h = { 0 };
		struct nsx_err why = { "" };

		if (!g->executed)
			continue;
		if (!b || b->id != g->id || !nsx_str_eq(b->name, g->name)) {
			missing++;
			continue;
		}
		if (nsx_hlo_read_bytes(b->bytes, p->input->path, &h, &p->diags, &why) != NSX_OK) {
			if (h.trouble)
				rc = nsx_err_set(&p->err, "%s", why.msg);
			else
				nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, 1, "program %.*s@%" PRId64
				             ": its HLO cannot be read, instructions are known by name only: %s",
				             (int)g->name.len, g->name.ptr, g->id, why.msg);
			continue;
		}
		p->dump_frames = calloc((size_t)h.nstacks + 1, sizeof *p->dump_frames);
		rc = p->dump_frames ? join(p, i, &(struct ex_dump){ .h = &h, .bytes = b->bytes }, &by)
		    : nsx_err_nomem(&p->err, p->input->path);
		free(p->dump_frames);
		p->dump_frames = NULL;
		nsx_hlo_free(&h);
	}
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, missing,
	             "executed programs without HLO in the profile: instructions are known by name only");
	nsx_map_free(&at);
	free(by.first);
	free(by.insts);
	return rc;
}

int
nsx_extract_read_dumps(struct ex_profile *p)
{
	return p->input->dumps ? read_dumps(p) : p->trace.nprograms ? read_bytes(p) : NSX_OK;
}
