/* profile.c -- one export from file to modules, thunks and compile records. */
#include "extract/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/match/similar.h"
#include "job/overruns.h"
#include "nsys/payload.h"

static bool
is_ours(const struct ex_profile *p, const struct nsx_range *range)
{
	return nsx_str_eq(nsx_intern_str(&p->trace.domains, range->domain), NSX_STR(NSX_XLA_DOMAIN));
}

bool
nsx_extract_may_be(const struct ex_profile *p, uint32_t r, const char *label)
{
	const struct nsx_range *range = &p->trace.ranges[r];

	return range->name != NSX_NONE && ((range->flags & NSX_RANGE_NO_DOMAIN) || is_ours(p, range)) &&
	       nsx_str_starts(nsx_intern_str(&p->trace.names, range->name), label);
}

const struct nsx_title *
nsx_extract_title(struct ex_profile *p, uint32_t r)
{
	const struct nsx_range *range = &p->trace.ranges[r];

	if (range->name == NSX_NONE)
		return NULL;
	bool ours = is_ours(p, range);
	if (!ours && !(range->flags & NSX_RANGE_NO_DOMAIN))
		return NULL;
	uint32_t t = p->title_of[range->name];
	if (t == NSX_NONE) {
		struct nsx_title title;
		nsx_title_parse(nsx_intern_str(&p->trace.names, range->name), &title);
		if (!nsx_vec_push(&p->titles, title)) {
			p->rc = nsx_err_nomem(&p->err, p->input->path);
			return NULL;
		}
		t = p->title_of[range->name] = (uint32_t)p->titles.n - 1;
	}
	/* A capture that lost the names of its domains: only titles in XLA's syntax. */
	if (!ours && p->titles.p[t].kind == NSX_TITLE_OTHER)
		return NULL;
	return &p->titles.p[t];
}

uint32_t
nsx_extract_program(struct ex_profile *p, int64_t id, struct nsx_str name, uint32_t process)
{
	uint32_t n = nsx_intern(&p->strings, name);
	uint32_t *at = n == NSX_NONE ? NULL : nsx_map_at(&p->program_of, (struct nsx_key){ (uint64_t)id,
		(uint64_t)process << 32 | n });

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		struct nsx_extract_program program = { .id = id, .name = nsx_intern_str(&p->strings, n),
		                                       .process = process, .number = NSX_NONE };
		if (!nsx_vec_push(&p->programs, program))
			return NSX_NONE;
		*at = (uint32_t)p->programs.n - 1;
	}
	return *at;
}

uint32_t
nsx_extract_inst(struct ex_profile *p, uint32_t program, struct nsx_str name, int64_t op_id)
{
	uint32_t n = nsx_intern(&p->inst_names, name);
	uint32_t *at = n == NSX_NONE ? NULL : nsx_map_at(&p->inst_of, (struct nsx_key){ program, n });

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (!nsx_vec_push(&p->insts, ((struct nsx_extract_inst){ .program = program, .name = n,
		    .number = NSX_NONE, .info = NSX_NONE, .op_id = op_id })))
			return NSX_NONE;
		*at = (uint32_t)p->insts.n - 1;
	}
	return *at;
}

struct nsx_str
nsx_extract_misnamed_key(struct ex_profile *p, int64_t program_id, struct nsx_str name)
{
	p->scratch.len = 0;
	nsx_buf_fmt(&p->scratch, "%" PRId64 " ", program_id);
	nsx_buf_str(&p->scratch, name);
	if (p->scratch.failed)
		p->rc = nsx_err_nomem(&p->err, p->input->path);
	return nsx_buf_view(&p->scratch);
}

NSX_ORDER(compare_names, struct nsx_str, nsx_str_cmp(*a, *b))

/* The digest of executed names, sorted: distinguishes programs of one name without a dump. */
static int
digest_programs(struct ex_profile *p)
{
	static const char hex[] = "0123456789abcdef";
	struct nsx_str *names = malloc((p->insts.n + 1) * sizeof *names);
	uint32_t *first = calloc(p->programs.n + 2, sizeof *first);
	struct nsx_buf all = { 0 };

	if (!names || !first)
		goto nomem;
	for (size_t i = 0; i < p->insts.n; i++)
		first[p->insts.p[i].program + 2]++;
	for (size_t i = 2; i < p->programs.n + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < p->insts.n; i++)
		names[first[p->insts.p[i].program + 1]++] = nsx_intern_str(&p->inst_names, p->insts.p[i].name);
	for (size_t i = 0; i < p->programs.n; i++) {
		struct nsx_extract_program *program = &p->programs.p[i];
		size_t n = first[i + 1] - first[i];
		if (!program->executed)
			continue;
		qsort(names + first[i], n, sizeof *names, compare_names);
		all.len = 0;
		for (size_t k = 0; k < n; k++) {
			nsx_buf_str(&all, names[first[i] + k]);
			nsx_buf_char(&all, '\n');
		}
		if (all.failed)
			goto nomem;
		uint64_t h = nsx_hash(all.ptr, all.len);
		memcpy(program->digest, "x:", 2);
		for (int k = 0; k < 16; k++)
			program->digest[2 + k] = hex[h >> (60 - 4 * k) & 15];
		program->digest[18] = '\0';
		all.len = 0;
		nsx_names_put(&all, names + first[i], n);
		program->names = nsx_arena_str(&p->trace.arena, nsx_buf_view(&all));
		if (all.failed || !program->names.ptr)
			goto nomem;
	}
	free(names);
	free(first);
	nsx_buf_free(&all);
	return NSX_OK;
nomem:
	free(names);
	free(first);
	nsx_buf_free(&all);
	return nsx_err_nomem(&p->err, p->input->path);
}

static bool
clamped(int64_t start, int64_t end)
{
	bool clipped = false;

	nsx_sub_sat(end, start, &clipped);
	return clipped;
}

/* Durations that nsx_extract_dur clamps. */
static void
report_clamped(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	int64_t n = 0;

	for (uint32_t i = 0; i < t->nranges; i++)
		n += clamped(t->ranges[i].start, t->ranges[i].end);
	for (uint32_t i = 0; i < t->nspans; i++)
		n += clamped(t->spans[i].start, t->spans[i].end);
	for (uint32_t i = 0; i < t->nops; i++)
		n += clamped(t->ops[i].start, t->ops[i].end);
	for (uint32_t i = 0; i < t->ncalls; i++)
		n += clamped(t->calls[i].start, t->calls[i].end);
	for (uint32_t i = 0; i < t->noverheads; i++)
		n += clamped(t->overheads[i].start, t->overheads[i].end);
	nsx_diag_add(&p->diags, NSX_WARNING, t->name.ptr, n, "durations beyond 63 bits: cut to the maximum");
}

/* Operations that run longer than they can. */
static int
report_overruns(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	struct nsx_overruns o = { .early = 0 };
	bool good = true;

	/* They are in order of start. */
	for (uint32_t i = 0; i < t->nops && p->opts->ops && good; i++) {
		const struct nsx_gpu_op *op = &t->ops[i];

		if (op->graph_node < 0 && op->type != NSX_OP_GRAPH && nsx_extract_in_window(p->opts, op->start,
		    op->end))
			good = nsx_overruns_take(&o, op->device, op->stream, op->start, op->end, i);
	}
	nsx_diag_add(&p->diags, NSX_INFO, t->name.ptr, o.early - o.outlasting,
	             "operations still run when the next one of their stream begins, for %s in all, as with "
	             "programmatic dependent launch", nsx_ns_text((double)(o.early_ns - o.outlasting_ns)).s);
	if (good && o.outlasting) {
		struct nsx_str name = NSX_STR("an operation without a name");

		if (t->ops[o.longest_op].name != NSX_NONE)
			name = nsx_intern_str(&t->names, t->ops[o.longest_op].name);
		nsx_diag_add(&p->diags, NSX_WARNING, t->name.ptr, o.outlasting,
			"operations still run when a later one of their stream has ended, which a GPU does not do, for "
		             "%s in all, the longest is '%.*s' with %s: their durations may be wrong, "
		             "and idle time under them is not seen", nsx_ns_text((double)o.outlasting_ns).s,
		             (int)(name.len < 200 ? name.len : 200), name.ptr, nsx_ns_text((double)o.longest).s);
	}
	nsx_overruns_free(&o);
	return good ? NSX_OK : nsx_err_nomem(&p->err, p->input->path);
}

/* Whether operations that were not requested must be read: the contents of command buffers depend on them. */
static bool
lacks_ops(const struct ex_profile *p)
{
	return p->thunks.n && !p->trace.ops;
}

/* bytes: the part of progress that loading the export represents. */
static int
load(struct ex_profile *p, bool ops, uint64_t bytes, int jobs)
{
	static const char *const xla[] = { NSX_XLA_DOMAIN, NULL }, *const both[] = { NSX_XLA_DOMAIN, NSX_NCCL_DOMAIN,
		NULL };
	struct nsx_trace_opts opts = {
		/* NCCL's ranges determine the calls that operations execute. */
		.domains = p->opts->ranges != NSX_RANGES_NONE ? NULL : p->opts->ops ? both : xla,
		.captures = p->opts->ops,
		.busy = p->opts->ranges != NSX_RANGES_ALL,
		/* Communication may be known by kernel names only, and command buffers are analysed by operations. */
		.ops = ops || p->opts->ops || p->input->dumps, .issues = p->opts->ops, .calls = p->opts->calls,
		.metrics = p->opts->metrics, .memory = p->opts->memory,
		.cpu = p->opts->cpu, .cpu_all = p->opts->cpu_all, .os_min = p->opts->os_min,
		.ops_if = "Thunk:#", .host = p->opts->host, .python = p->opts->python,
		.strip_paths = p->opts->strip_paths, .jobs = jobs,
		.sqlite_alone = p->opts->sqlite_alone, .bytes = bytes
	};

	enum nsx_source source;

	if (nsx_extract_read(p->input->path, &opts, &p->trace, &source, &p->diags, &p->err) != NSX_OK)
		return NSX_ERR;
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, p->input->dumps && source == NSX_SOURCE_KINETO,
	             "HLO dumps ignored: a trace of PyTorch's profiler has no programs of XLA");
	report_clamped(p);
	if (report_overruns(p) != NSX_OK)
		return NSX_ERR;
	p->title_of = malloc((p->trace.names.n + 1) * sizeof *p->title_of);
	p->devices = calloc(p->trace.ndevices + 1, sizeof *p->devices);
	if (!p->title_of || !p->devices)
		return nsx_err_nomem(&p->err, p->input->path);
	memset(p->title_of, 0xff, (p->trace.names.n + 1) * sizeof *p->title_of);
	return nsx_extract_find_devices(p) == NSX_OK && nsx_extract_find_runs(p) == NSX_OK ? NSX_OK : NSX_ERR;
}

/* The state before loading, except for what dumps recorded about fusions. */
static void
reset(struct ex_profile *p)
{
	struct ex_profile fresh = { .input = p->input, .opts = p->opts, .bytes = p->bytes, .shelf = p->shelf,
	                            .number = p->number, .misnamed = p->misnamed };

	p->misnamed = (struct nsx_intern){ 0 };
	nsx_extract_free(p);
	*p = fresh;
}

static int
load_and_join(struct ex_profile *p, bool ops, uint64_t bytes, int jobs)
{
	if (load(p, ops, bytes, jobs) != NSX_OK)
		return NSX_ERR;
	/* Titles that are not strings of the export are known only now. */
	if (lacks_ops(p)) {
		reset(p);
		if (load(p, true, 0, jobs) != NSX_OK)
			return NSX_ERR;
	}
	/* Without any range of XLA there is no compilation. */
	if (p->module_at && nsx_extract_find_compiles(p) != NSX_OK)
		return NSX_ERR;
	nsx_progress_phase(p->input->dumps ? "HLO dumps" : "programs");
	return digest_programs(p) == NSX_OK && nsx_extract_read_dumps(p) == NSX_OK ? NSX_OK : NSX_ERR;
}

void
nsx_extract_load(struct ex_profile *p, int jobs)
{
	p->rc = load_and_join(p, false, ex_load_bytes(p), jobs);
	/* Repeated as long as dumps add information about fusions; there is a finite amount of it. */
	while (p->rc == NSX_OK && p->again) {
		reset(p);
		p->rc = load_and_join(p, false, 0, jobs);
	}
	if (p->rc == NSX_OK)
		p->rc = nsx_extract_read_payloads(p);
	/* Last: payloads are read for instructions with ranges. */
	if (p->rc == NSX_OK)
		p->rc = nsx_extract_open_other_graphs(p);
	if (p->rc == NSX_OK)
		p->rc = nsx_extract_find_comm(p);
	if (p->rc == NSX_OK)
		p->rc = nsx_extract_name_comm(p);
	if (p->rc == NSX_OK)
		p->rc = nsx_extract_find_nccl(p);
	if (p->rc == NSX_OK)
		p->rc = nsx_extract_await_starts(p);
	nsx_payload_close(&p->trace);
}

void
nsx_extract_free(struct ex_profile *p)
{
	nsx_trace_free(&p->trace);
	nsx_diags_free(&p->diags);
	free(p->devices);
	free(p->title_of);
	free(p->titles.p);
	nsx_intern_free(&p->strings);
	nsx_intern_free(&p->inst_names);
	free(p->programs.p);
	nsx_map_free(&p->program_of);
	free(p->insts.p);
	free(p->infos.p);
	free(p->info_locs.p);
	nsx_map_free(&p->inst_of);
	free(p->modules.p);
	free(p->thunks.p);
	free(p->compiles.p);
	free(p->cpu_stacks);
	free(p->thunk_at);
	free(p->module_at);
	free(p->op_thunk);
	nsx_extract_nccl_free(p);
	free(p->op_named);
	free(p->kernel_kind);
	nsx_extract_buffers_free(&p->buffers);
	free(p->holders.p);
	nsx_map_free(&p->holder_of);
	nsx_intern_free(&p->misnamed);
	nsx_buf_free(&p->scratch);
}
