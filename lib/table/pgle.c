/* pgle.c -- costs of instructions, by fingerprint of their program. Holds a line for each instruction, and a number for
 * each execution of a collective. */
#include "table/pgle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "table/pgle_transfers.h"
#include "table/pgle_wants.h"
#include "base/num.h"
#include "base/outfile.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "job/comm/reading.h"
#include "table/sums.h"

/* Strings are numbers in the catalogue's, NSX_NONE: none. Data of programs and instructions are indexed by the
 * catalogue's index. */
struct program {
	bool has_opcodes;    /* it was extracted with a dump */
	bool ran;
};
struct inst { bool ran, timed; };
/* The current execution of a profile: the program, NSX_NONE if none, and the data for both; file: NSX_NONE until its
 * first use. */
struct now { uint32_t program, fingerprint, file; bool compiled; };
/* By fingerprint and name. timed: 1 if least and most are known. transfer: NSX_ABSENT if it is not wanted, or no
 * instance is known. */
struct cost { uint32_t fingerprint, name; int64_t timed, least, most, transfer; bool comm; };
/* By fingerprint. */
struct file {
	uint32_t fingerprint, key;   /* key: of its first program; known: it is */
	bool     known, completed;
	int64_t  in_buffers;         /* ns assigned to command buffers */
};

#define NSX_ROW struct cost
static const struct nsx_sum_col cost_cols[] = {
	NSX_COL("fingerprint", STRING, fingerprint), NSX_COL("name", STRING, name), NSX_COL("timed", INT, timed),
};
static const struct nsx_sum_def of_costs = {
	NSX_ROWS(cost_cols), .key = 2 * sizeof(uint32_t), .order = "-timed fingerprint name"
}, of_files = { .size = sizeof(struct file), .key = sizeof(uint32_t) };

struct pgle {
	struct nsx_err        *err;
	struct nsx_catalogue  *cat;           /* that of the reading */
	struct nsx_collective_reading reading;
	const struct nsx_pgle_options *options;
	NSX_VEC(struct program) programs;
	NSX_VEC(struct inst)   insts;
	NSX_VEC(struct now)    now;           /* by index of the profile in the catalogue */
	struct nsx_sums        costs, files;  /* of struct cost, struct file */
	struct nsx_map         compiled;      /* (profile, program) */
	struct nsx_pgle_transfers transfers;
	NSX_VEC(int64_t)       counted;       /* by number of the cost: the last instance that counted for it, from 1 */
	int64_t                instances;
	int64_t                thunks, early, unknown;
};

static struct nsx_str
string(const struct pgle *p, uint32_t id)
{
	return nsx_cat_str(p->cat, id);
}

static struct nsx_key
key_of(int64_t a, int64_t b)
{
	return (struct nsx_key){ (uint64_t)a, (uint64_t)b };
}

/* ---- metadata */

/* Create an entry for each program and each instruction of the catalogue; false when out of memory. */
static bool
grow(struct pgle *p)
{
	return (!p->cat->programs.n || nsx_vec_reach(&p->programs, p->cat->programs.n - 1, NULL))
	       && (!p->cat->insts.n || nsx_vec_reach(&p->insts, p->cat->insts.n - 1, NULL));
}

static int
take_inst(struct pgle *p, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_inst(p->cat, rec);

	if (at == NSX_NONE || !grow(p))
		return NSX_NOMEM(p);
	const struct nsx_cat_inst *i = &p->cat->insts.p[at];
	p->programs.p[i->program].has_opcodes |= i->opcode != NSX_NONE;
	return NSX_OK;
}

static int
take_compile(struct pgle *p, const struct nsx_rec *rec)
{
	uint32_t profile = nsx_cat_profile(p->cat, rec), program, *at;

	if (!nsx_has(rec, NSX_COMPILE_program))
		return NSX_OK;
	program = nsx_cat_program(p->cat, rec);
	at = profile == NSX_NONE || program == NSX_NONE ? NULL : nsx_map_at(&p->compiled, key_of(profile, program));
	if (!at)
		return NSX_NOMEM(p);
	*at = 1;
	p->now.n = 0;
	return NSX_OK;
}

/* Whether the stream has records of the instruction and of its program. */
static bool
is_known(const struct pgle *p, size_t inst)
{
	const struct nsx_cat_inst *i = &p->cat->insts.p[inst];

	return i->listed && p->cat->programs.p[i->program].listed;
}

/* The displayed name of a program; NSX_NONE if it has none. */
static uint32_t
label_of(const struct pgle *p, uint32_t program)
{
	const struct nsx_cat_program *g = &p->cat->programs.p[program];

	return g->key != NSX_NONE ? g->key : g->name;
}

/* ---- executions */

/* The file of a program that is executed now; NULL when out of memory. */
static struct file *
file_of(struct pgle *p, struct now *now)
{
	struct file *f;

	if (now->file == NSX_NONE)
		now->file = nsx_sums_number(&p->files, &now->fingerprint);
	if (now->file == NSX_NONE)
		return NULL;
	f = nsx_sums_at(&p->files, now->file);
	f->key = f->known ? f->key : label_of(p, now->program);
	f->known = true;
	return f;
}

/* dur -1: it ran, with unknown duration. */
static int
add_cost(struct pgle *p, uint32_t fingerprint, uint32_t name, bool comm, int64_t dur)
{
	struct cost *c = nsx_sums_row(&p->costs, &(uint32_t[2]){ fingerprint, name });

	if (!c)
		return NSX_NOMEM(p);
	c->comm |= comm;
	if (dur < 0)
		return NSX_OK;
	if (!c->timed)
		c->transfer = NSX_ABSENT;
	c->least = !c->timed || dur < c->least ? dur : c->least;
	c->most = dur > c->most ? dur : c->most;
	c->timed = 1;
	return NSX_OK;
}

/* Whether the profile compiles the program, and its fingerprint there, or else in any profile with a dump of it; NULL
 * when out of memory. */
static struct now *
now_of(struct pgle *p, uint32_t profile, uint32_t program)
{
	if (!nsx_vec_reach(&p->now, profile, &(struct now){ .program = NSX_NONE }))
		return NULL;
	struct now *now = &p->now.p[profile];

	if (now->program != program) {
		*now = (struct now){ program, nsx_cat_fingerprint(p->cat, profile, program), NSX_NONE,
		                     nsx_map_get(&p->compiled, key_of(profile, program)) != NSX_NONE };
		if (now->fingerprint == NSX_NONE)
			now->fingerprint = p->cat->programs.p[program].fingerprint;
	}
	return now;
}

static int
take_thunk(struct pgle *p, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_THUNK_dur, -1);
	uint32_t profile = nsx_cat_profile(p->cat, rec), at = nsx_cat_inst(p->cat, rec);

	if (profile == NSX_NONE || at == NSX_NONE || !grow(p))
		return NSX_NOMEM(p);
	p->thunks++;
	if (!is_known(p, at)) {
		p->unknown++;
		return NSX_OK;
	}
	const struct nsx_cat_inst *i = &p->cat->insts.p[at];
	struct program *g = &p->programs.p[i->program];
	struct now *now = now_of(p, profile, i->program);

	if (!now)
		return NSX_NOMEM(p);
	uint32_t fingerprint = now->fingerprint, name = i->scheduling_name != NSX_NONE ? i->scheduling_name : i->name;
	p->early += nsx_int(rec, NSX_THUNK_execution, INT64_MAX) < (int64_t)now->compiled + p->cat->any_comm;
	p->insts.p[at].ran = g->ran = true;
	p->insts.p[at].timed |= dur >= 0;
	if (fingerprint == NSX_NONE || name == NSX_NONE)
		return NSX_OK;
	struct file *f = file_of(p, now);
	if (!f)
		return NSX_NOMEM(p);
	if (!g->has_opcodes || i->opcode != NSX_NONE)
		return add_cost(p, fingerprint, name, i->comm, dur);
	if (dur > 0 && nsx_str_starts(string(p, name), "command_buffer"))
		f->in_buffers += dur;
	return NSX_OK;
}

/* ---- transfers */

/* The fingerprint that a device's record counts for; NSX_NONE: it has none. */
static uint32_t
fingerprint_of(const struct pgle *p, const struct nsx_collective *of)
{
	uint32_t program = p->cat->insts.p[of->inst].program;
	uint32_t profile = of->at == NSX_NONE ? NSX_NONE : p->cat->devices.p[of->at].profile;
	uint32_t fingerprint = profile == NSX_NONE ? NSX_NONE : nsx_cat_fingerprint(p->cat, profile, program);

	return fingerprint == NSX_NONE ? p->cat->programs.p[program].fingerprint : fingerprint;
}

/* The transfer of an instance is that of each fingerprint that takes part: processes may have compiled the same
 * program with different ones. */
static int
take_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct pgle *p = state;
	uint32_t last = NSX_NONE;

	if (p->options->longest || of->inst == NSX_NONE || of->dur < 0)
		return NSX_OK;
	int64_t ns = nsx_pgle_transfer_of(&p->transfers, of, n);

	p->instances++;
	for (size_t i = 0; i < n; i++) {
		if (of[i].inst == NSX_NONE)
			continue;
		const struct nsx_cat_inst *inst = &p->cat->insts.p[of[i].inst];
		uint32_t name = inst->scheduling_name != NSX_NONE ? inst->scheduling_name : inst->name;
		uint32_t fingerprint = fingerprint_of(p, &of[i]);

		if (fingerprint == last || fingerprint == NSX_NONE || name == NSX_NONE)
			continue;
		last = fingerprint;
		uint32_t at = nsx_sums_number(&p->costs, &(uint32_t[2]){ fingerprint, name });
		if (at == NSX_NONE || !nsx_vec_reach(&p->counted, at, NULL))
			return NSX_NOMEM(p);
		if (p->counted.p[at] != p->instances && !nsx_pgle_transfers_add(&p->transfers, at, ns))
			return NSX_NOMEM(p);
		p->counted.p[at] = p->instances;
	}
	return NSX_OK;
}

static void
give_transfer(void *state, uint32_t cost, int64_t ns)
{
	((struct cost *)nsx_sums_at(&((struct pgle *)state)->costs, cost))->transfer = ns;
}

/* ---- instructions that did not run */

/* The number of the cost of a name in the profile; NSX_NONE: none. */
static uint32_t
cost_of(const struct pgle *p, uint32_t fingerprint, struct nsx_str name)
{
	uint32_t n = nsx_intern_find(&p->cat->strings, name);

	return n == NSX_NONE ? n : nsx_sums_find(&p->costs, &(uint32_t[2]){ fingerprint, n });
}

static int64_t
value(const struct cost *c)
{
	return !c->comm ? c->least : c->transfer != NSX_ABSENT ? c->transfer : c->most;
}

/* Add to the file the instructions that its program, whose dump is h, needs and that the stream does not have. */
static int
complete_file(struct pgle *p, struct file *f, const struct nsx_hlo *h, struct nsx_diags *diags)
{
	struct nsx_pgle_wants w = { { 0 } };
	int64_t idle = 0, starts = 0;
	size_t ran = nsx_sums_count(&p->costs);
	int rc = nsx_pgle_ask(h, &w) ? NSX_OK : NSX_NOMEM(p);

	for (size_t i = 0; rc == NSX_OK && i < w.v.n; i++) {
		const struct nsx_pgle_want *want = &w.v.p[i];
		uint32_t at = want->wrapped.len ? cost_of(p, f->fingerprint, want->wrapped) : NSX_NONE, name;
		/* Costs are copied only from those that existed before. */
		bool runs = at < ran;
		const struct cost *wrapped = runs ? nsx_sums_at(&p->costs, at) : NULL;
		if (cost_of(p, f->fingerprint, want->name) != NSX_NONE || (!runs && !want->idle)
		    || (runs && !wrapped->timed))
			continue;
		int64_t ns = runs ? value(wrapped) : 0;
		name = nsx_cat_intern(p->cat, want->name, p->err);
		rc = want->name.len && name == NSX_NONE ? NSX_ERR : add_cost(p, f->fingerprint, name, false, ns);
		*(runs ? &starts : &idle) += 1;
	}
	free(w.v.p);
	f->completed = true;
	char *source = nsx_str_dup(h->name);
	if (!source)
		return rc == NSX_OK ? NSX_NOMEM(p) : rc;
	nsx_diag_add(diags, NSX_INFO, source, idle, "instructions that did not run: cost 0");
	nsx_diag_add(diags, NSX_INFO, source, starts, "starts cost the time of the work in them");
	free(source);
	return rc;
}

static int
complete_by(struct pgle *p, const char *path, struct nsx_diags *diags)
{
	struct nsx_diags others = { 0 };
	struct nsx_hlo h = { 0 };
	int rc = nsx_hlo_read(path, &h, &others, p->err);
	uint32_t n = rc == NSX_OK && h.fingerprint.len ? nsx_intern_find(&p->cat->strings, h.fingerprint)
	    : (uint32_t)NSX_NONE;
	uint32_t at = n == NSX_NONE ? n : nsx_sums_find(&p->files, &n);
	struct file *f = at == NSX_NONE ? NULL : nsx_sums_at(&p->files, at);

	/* Processes of a job have dumps of the same programs. */
	if (f && !f->in_buffers && !f->completed)
		rc = complete_file(p, f, &h, diags);
	/* Diags of reading instructions concern communication. */
	nsx_diags_free(&others);
	nsx_hlo_free(&h);
	return rc;
}

static int
complete_from(struct pgle *p, const char *dumps, struct nsx_diags *diags)
{
	struct nsx_dump_dir *d = nsx_dump_dir_open(dumps, p->err);
	const char *path;
	size_t next = 0;
	int rc = d ? NSX_OK : NSX_ERR;

	while (rc == NSX_OK && (path = nsx_dump_dir_next(d, &next)))
		rc = complete_by(p, path, diags);
	nsx_dump_dir_free(d);
	return rc;
}

static int
complete_all(struct pgle *p, struct nsx_diags *diags)
{
	struct nsx_buf dumps = { 0 };
	int64_t lost = 0;
	int rc = NSX_OK;

	for (size_t i = 0; i < p->options->ncomplete && rc == NSX_OK; i++) {
		nsx_buf_fmt(&dumps, "%s%s", i ? ", " : "", p->options->complete[i]);
		rc = complete_from(p, p->options->complete[i], diags);
	}
	nsx_buf_char(&dumps, '\0');
	if (rc == NSX_OK && dumps.failed)
		rc = NSX_NOMEM(p);
	for (size_t i = 0; rc == NSX_OK && i < nsx_sums_count(&p->files); i++) {
		const struct file *f = nsx_sums_at(&p->files, i);
		if (f->in_buffers)
			nsx_diag_add(diags, NSX_WARNING, string(p, f->key == NSX_NONE ? f->fingerprint : f->key).ptr, 1,
			             "not completed: %" PRId64
				" ns are in command buffers, where instructions that did not run cannot be determined",
			             f->in_buffers);
		else
			lost += !f->completed;
	}
	if (rc == NSX_OK)
		nsx_diag_add(diags, NSX_WARNING, "", lost,
		             "profiles not completed: no dump of their fingerprint in %s", dumps.ptr);
	nsx_buf_free(&dumps);
	return rc;
}

/* ---- files */

/* s in quotes in protobuf's text format. */
static void
put_quoted(struct nsx_buf *b, struct nsx_str s)
{
	nsx_buf_char(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		if (c == '"' || c == '\\')
			nsx_buf_char(b, '\\');
		if (c >= ' ' && c <= '~')
			nsx_buf_char(b, (char)c);
		else
			nsx_buf_fmt(b, "\\%03o", c);
	}
	nsx_buf_char(b, '"');
}

/* Whether s can be the name of a file in a folder, unambiguously. */
static bool
is_file_name(struct nsx_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (!nsx_is_word(c) && c != '-')
			return false;
	}
	return s.len > 0 && s.len <= 200;
}

/* The file of n costs, all of one fingerprint. */
static int
write_file(struct pgle *p, const char *dir, const struct cost *c, size_t n)
{
	struct nsx_str fingerprint = string(p, c->fingerprint);
	struct nsx_buf path = { 0 }, text = { 0 };
	struct nsx_outfile *f = NULL;
	char us[NSX_DOUBLE_CHARS];
	int rc = NSX_ERR;

	nsx_buf_fmt(&path, "%s/%.*s.pbtxt", dir, (int)fingerprint.len, fingerprint.ptr);
	nsx_buf_char(&path, '\0');
	for (size_t i = 0; i < n; i++) {
		nsx_buf_c(&text, "costs { name: ");
		put_quoted(&text, string(p, c[i].name));
		nsx_buf_c(&text, " cost_us: ");
		nsx_buf_add(&text, us, (size_t)(nsx_put_thousandths(us, value(&c[i])) - us));
		nsx_buf_c(&text, " }\n");
	}
	if (path.failed || text.failed)
		NSX_NOMEM(p);
	else
		f = nsx_outfile_open(path.ptr, p->err);
	if (f && nsx_outfile_write(f, text.ptr, text.len) == NSX_OK)
		rc = nsx_outfile_commit(f);
	nsx_outfile_free(f);
	nsx_buf_free(&path);
	nsx_buf_free(&text);
	return rc;
}

static int
write_files(struct pgle *p, const char *dir, int64_t *files, struct nsx_diags *diags)
{
	int rc = NSX_OK;

	*files = 0;
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return nsx_err_set(p->err, "%s: %s", dir, strerror(errno));
	nsx_sums_sort(&p->costs);
	const struct cost *c = nsx_sums_at(&p->costs, 0);
	size_t n = 0;
	while (n < nsx_sums_count(&p->costs) && c[n].timed)
		n++;
	for (size_t from = 0, to; rc == NSX_OK && from < n; from = to) {
		for (to = from + 1; to < n && c[to].fingerprint == c[from].fingerprint; to++)
			;
		if (!is_file_name(string(p, c[from].fingerprint))) {
			nsx_diag_add(diags, NSX_WARNING, "", 1, "fingerprints that cannot be file names: ignored");
			continue;
		}
		rc = write_file(p, dir, &c[from], to - from);
		*files += rc == NSX_OK;
	}
	return rc;
}

/* ---- diags */

struct coverage { int64_t all, costs, other, idle, timeless; };

static void
report_program(const struct pgle *p, uint32_t program, const struct coverage *c, struct nsx_diags *diags)
{
	struct nsx_buf text = { 0 };
	uint32_t label = label_of(p, program);
	char *source = nsx_str_dup(label == NSX_NONE ? NSX_STR("program without a name") : string(p, label));

	nsx_buf_fmt(&text, "%" PRId64 " of %" PRId64 " instructions have a cost", c->costs, c->all);
	if (c->idle)
		nsx_buf_fmt(&text, "; %" PRId64 " did not run in this stream", c->idle);
	if (c->other)
		nsx_buf_fmt(&text, "; %" PRId64 " are no instructions in the dump", c->other);
	if (c->timeless)
		nsx_buf_fmt(&text, "; %" PRId64 " have no duration", c->timeless);
	nsx_buf_char(&text, '\0');
	if (!source || text.failed)
		diags->failed = true;
	else
		nsx_diag_add(diags, c->costs < c->all ? NSX_WARNING : NSX_INFO, source, 1, "%s", text.ptr);
	free(source);
	nsx_buf_free(&text);
}

static int
report(const struct pgle *p, struct nsx_diags *diags)
{
	struct coverage *c = calloc(p->programs.n + 1, sizeof *c);
	int64_t silent = 0;

	if (!c)
		return NSX_NOMEM(p);
	for (size_t i = 0; i < p->insts.n; i++) {
		const struct inst *n = &p->insts.p[i];
		const struct nsx_cat_inst *of = &p->cat->insts.p[i];
		struct coverage *v = &c[of->program];
		bool other = p->programs.p[of->program].has_opcodes && of->opcode == NSX_NONE;
		if (!is_known(p, i))
			continue;
		v->all++;
		v->other += other;
		v->idle += !other && !n->ran;
		v->timeless += !other && n->ran && !n->timed;
		v->costs += !other && n->timed;
	}
	for (size_t i = 0; i < p->programs.n; i++) {
		bool has_fingerprint = p->cat->programs.p[i].fingerprint != NSX_NONE;
		silent += p->programs.p[i].ran && !has_fingerprint;
		if (p->programs.p[i].ran && has_fingerprint)
			report_program(p, (uint32_t)i, &c[i], diags);
	}
	free(c);
	nsx_diag_add(diags, NSX_WARNING, "", silent,
	             "programs without a fingerprint, which HLO dumps have: extract with -x");
	nsx_diag_add(diags, NSX_WARNING, "", p->unknown, "executions of instructions that have no record: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", p->early,
	             "times include executions of initialisation: nsysx-warmup removes them");
	nsx_pgle_transfers_diags(&p->transfers, diags);
	if (!p->thunks)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no thunk records, which come from XLA's NVTX ranges: nothing to write a profile of");
	return NSX_OK;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct pgle *p = state;

	switch (rec->kind->id) {
	case NSX_THUNK:   return take_thunk(p, rec);
	case NSX_COMPILE: return take_compile(p, rec);
	case NSX_INST:    return nsx_cat_take(p->cat, rec, p->err) == NSX_OK ? take_inst(p, rec) : NSX_ERR;
	case NSX_PROGRAM:
	case NSX_ALIAS:
		p->now.n = 0;
		return nsx_cat_take(p->cat, rec, p->err);
	default:
		return nsx_cat_take(p->cat, rec, p->err);
	}
}

int
nsx_pgle(struct nsx_reader *in, const char *dir, const struct nsx_pgle_options *options, int64_t *files,
         struct nsx_diags *diags, struct nsx_err *err)
{
	struct pgle p = { .err = err, .options = options, .cat = &p.reading.pairing.comm.cat,
	                  .reading = { .instance = take_instance, .other = take,
	                               .keep = NSX_CAT_NAMES | NSX_CAT_ALIASES, .thunks = true },
	                  .costs = { .def = &of_costs }, .files = { .def = &of_files } };

	p.costs.texts = &p.cat->strings;
	p.reading.state = &p;
	nsx_reader_need(in, NSX_COMPILE, NSX_EVERY);
	int rc = nsx_collective_instances(in, &p.reading, diags, err);

	if (!nsx_pgle_transfers_medians(&p.transfers, give_transfer, &p) && rc == NSX_OK)
		rc = NSX_NOMEM(&p);
	if (rc == NSX_OK && options->ncomplete)
		rc = complete_all(&p, diags);
	if (rc == NSX_OK)
		rc = write_files(&p, dir, files, diags);
	if (rc == NSX_OK)
		rc = report(&p, diags);
	nsx_collective_reading_free(&p.reading);
	nsx_pgle_transfers_free(&p.transfers);
	free(p.counted.p);
	free(p.programs.p);
	free(p.insts.p);
	free(p.now.p);
	nsx_sums_free(&p.costs);
	nsx_sums_free(&p.files);
	nsx_map_free(&p.compiled);
	return rc;
}
