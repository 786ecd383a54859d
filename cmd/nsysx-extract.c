/* nsysx-extract -- Nsight Systems exports to a stream. */
#include <stdlib.h>
#include <string.h>

#include "extract/extract.h"
#include "filter/merge.h"
#include "job/comm/names.h"
#include "base/near.h"
#include "base/num.h"
#include "base/vec.h"
#include "tool.h"

static bool all, no_host, no_cpu;
static const char *cpu, *ranges, *window, *devices, *processes, *match = "auto";
static int64_t jobs;
static struct nsx_extract_opts opt = { .from = INT64_MIN, .to = INT64_MAX };

/* -x DIR applies to the exports after it. */
static NSX_VEC(struct dump { const char *dir; int from; size_t lists; }) dumps;

static const struct nsx_cli cli;

static const char *
add_dump(const char *arg, int operands)
{
	if (!nsx_vec_push(&dumps, ((struct dump){ arg, operands, nsx_tool_lists() })))
		nsx_cli_die(&cli, NULL);
	return NULL;
}

static const char *
add_rule(const char *arg, int operands)
{
	struct nsx_err err = { "" };

	(void)operands;
	if (nsx_comm_rules_add(&opt.comm, arg, &err) != NSX_OK && !opt.comm.failed)
		nsx_cli_misuse(&cli, "--comm: %s", err.msg);
	if (opt.comm.failed)
		nsx_cli_die(&cli, err.msg);
	/* Any kind is allowed; a misspelled known kind would be a separate row next to it in every table. */
	const char *kind = strrchr(arg, '=') + 1;
	struct nsx_near_hint hint = nsx_near_hint_among(nsx_comm_kinds, '|', nsx_str_c(kind));
	if (*hint.text)
		nsx_cli_warn(&cli,
		             "--comm: %s is not a known kind of collective: counted as a new kind%s",
		             kind,
		             hint.text);
	return NULL;
}

static const struct nsx_opt opts[] = {
	NSX_OPT_CALL('x', "dump", add_dump, "DIR", "folder of the HLO dumps of the exports that follow"),
	NSX_TOOL_FILES_FROM,
	NSX_OPT_MAYBE(0, "ranges", &ranges, "gpu|all",
	              "also NVTX ranges: those with GPU work [gpu], or every one (all)"),
	NSX_OPT_FLAG(0, "ops", &opt.ops, "also every GPU operation"),
	NSX_OPT_FLAG(0, "calls", &opt.calls, "with --ops: also every CUDA call and overhead of the host"),
	NSX_OPT_MAYBE(0, "cpu", &cpu, "all",
	              "with --calls: also what threads that make CUDA calls did besides, or every thread (all)"),
	NSX_OPT_FLAG(0, "no-cpu", &no_cpu, "leave that out, although -a or --cpu comes before"),
	NSX_OPT_TIME(0, "os-min", &opt.os_min, "TIME", "with --cpu: leave out shorter calls of the OS library [0]"),
	NSX_OPT_FLAG('a', "all", &all, "the same as --ops --calls --ranges=all --cpu"),
	NSX_OPT_FLAG(0, "metrics", &opt.metrics, "also samples of GPU metrics"),
	NSX_OPT_FLAG(0, "memory", &opt.memory, "also the memory that CUDA allocated and freed"),
	NSX_OPT_FLAG(0, "python", &opt.python,
	             "also Python functions that PyTorch's profiler recorded, as ranges; implies --ranges"),
	NSX_OPT_CALL(0, "comm", add_rule, "REGEX=KIND",
	             "kernels whose name matches communicate, or compute if KIND is empty"),
	NSX_OPT_FLAG(0, "autotune", &opt.autotune, "keep autotuner runs and what runs within their compilation"),
	NSX_OPT_CHOICE(0, "match", &match, "auto|id|fingerprint",
	               "how programs of several exports are recognised as one"),
	NSX_OPT_STR(0, "time", &window, "A:B",
	            "only what overlaps the time from A to B of each export's session, e.g. 10s:20s"),
	NSX_OPT_STR(0, "device", &devices, "N,...", "keep only these devices of the job"),
	NSX_OPT_STR(0, "process", &processes, "N,...", "keep only these processes of the job"),
	NSX_OPT_FLAG(0, "host", &opt.host, "write the host's name into profile records"),
	NSX_OPT_FLAG(0, "no-host", &no_host, "leave it out, although --host comes before"),
	NSX_OPT_FLAG(0, "strip-paths", &opt.strip_paths, "keep only the last component of source paths"),
	NSX_OPT_INT('j', "jobs", &jobs, "N", 1, 1024, "threads to use [one for each processor]"),
	NSX_OPT_FLAG(0, "spool", &opt.spool, "hold one export per thread in memory, the others in temporary files"),
	NSX_TOOL_UNPACK,
	NSX_TOOL_REQUIRE,
	NSX_TOOL_OUTPUT,
	NSX_OPT_END
};

static const struct nsx_cli cli = { "nsysx-extract", "[OPTION]... [-x DIR] PROFILE...",
	"Read profiles of Nsight Systems (.sqlite, .sqlite.zst, .nsys-rep), traces of\n"
	"PyTorch's profiler (.json, .json.gz) and XSpaces of JAX's (.xplane.pb) and write what they\n"
	"recorded as a stream.",
	opts };

/* "A:B", either may be missing. */
static void
parse_window(const char *text)
{
	const char *colon = strchr(text, ':');
	struct nsx_str a = { text, colon ? (size_t)(colon - text) : 0 };
	char *from = nsx_str_dup(a);

	if (!from)
		nsx_cli_die(&cli, "out of memory");
	if (!colon || (*from && !nsx_time_parse(from, &opt.from)) ||
	    (colon[1] && !nsx_time_parse(colon + 1, &opt.to)) || opt.from >= opt.to)
		nsx_cli_misuse(&cli, "--time: want A:B with A before B, such as 10s:20s or 1500ms:, got \"%s\"", text);
	free(from);
}

/* "0,1,5" */
static int64_t *
parse_list(const char *option, const char *text, int *n)
{
	NSX_VEC(int64_t) list = { 0 };
	int64_t v;

	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ",");
		if (!nsx_get_int((struct nsx_str){ p, len }, &v) || v < 0)
			nsx_cli_misuse(&cli, "--%s: want numbers separated by commas, got \"%s\"", option, text);
		if (!nsx_vec_push(&list, v))
			nsx_cli_die(&cli, "out of memory");
		p += len;
		if (!*p)
			break;
	}
	*n = (int)list.n;
	return list.p;
}

static int
merge(const char *const *paths, const char *const *names, size_t n, enum nsx_match_by by, struct nsx_writer *out,
      struct nsx_diags *diags, struct nsx_err *err)
{
	const struct nsx_merge_opts how = { .match = by, .names = names };

	return nsx_merge(paths, n, &how, out, diags, err);
}

static void
parse_options(void)
{
	if (ranges) {
		if (*ranges && strcmp(ranges, "gpu") != 0 && strcmp(ranges, "all") != 0)
			nsx_cli_misuse(&cli, "--ranges: want gpu or all, got \"%s\"", ranges);
		opt.ranges = strcmp(ranges, "all") == 0 ? NSX_RANGES_ALL : NSX_RANGES_GPU;
	}
	if (opt.python && !ranges)
		opt.ranges = NSX_RANGES_GPU;
	if (all) {
		opt.ops = opt.calls = opt.cpu = true;
		opt.ranges = NSX_RANGES_ALL;
	}
	if (cpu) {
		if (*cpu && strcmp(cpu, "all") != 0)
			nsx_cli_misuse(&cli, "--cpu: want all or nothing, got \"%s\"", cpu);
		opt.cpu = true;
		opt.cpu_all = strcmp(cpu, "all") == 0;
	}
	opt.cpu &= !no_cpu;
	if (opt.calls && !opt.ops)
		nsx_cli_misuse(&cli, "--calls needs --ops");
	if (opt.cpu && !opt.calls)
		nsx_cli_misuse(&cli, "--cpu needs --ops --calls");
	opt.match = strcmp(match, "id") == 0 ? NSX_MATCH_ID : strcmp(match, "fingerprint") == 0
	    ? NSX_MATCH_FINGERPRINT : NSX_MATCH_AUTO;
	if (window)
		parse_window(window);
	if (devices)
		opt.devices = parse_list("device", devices, &opt.ndevices);
	if (processes)
		opt.processes = parse_list("process", processes, &opt.nprocesses);
	opt.jobs = (int)jobs;
	opt.merge = merge;
}

/* "10" becomes "10s"; a value with a unit and a missing value are unchanged. */
static void
put_with_unit(struct nsx_buf *b, struct nsx_str time)
{
	nsx_buf_str(b, time);
	if (time.len && nsx_is_digit(time.ptr[time.len - 1]))
		nsx_buf_char(b, 's');
}

/* The output has no executions: report whether a time window is the reason, and suggest units if the times have
 * none. */
static void
warn_window(void)
{
	struct nsx_buf meant = { 0 };
	const char *colon = strchr(window, ':');

	put_with_unit(&meant, (struct nsx_str){ window, (size_t)(colon - window) });
	nsx_buf_char(&meant, ':');
	put_with_unit(&meant, nsx_str_c(colon + 1));
	nsx_buf_char(&meant, '\0');
	if (!meant.failed && strcmp(meant.ptr, window) != 0)
		nsx_cli_warn(&cli, "--time selects nothing: %s are nanoseconds; %s?", window, meant.ptr);
	else
		nsx_cli_warn(&cli, "--time selects nothing: no GPU work and no range overlaps %s of a session", window);
	nsx_buf_free(&meant);
}

/* A folder that no export follows, or another folder before any does, would be ignored without a message. */
static void
check_dumps(int nexports)
{
	for (size_t d = 0; d < dumps.n; d++) {
		bool last = d + 1 == dumps.n;
		if (dumps.p[d].from < (last ? nexports : dumps.p[d + 1].from))
			continue;
		if (last)
			nsx_cli_misuse(&cli, "-x %s: no export follows it: want -x DIR EXPORT, such as "
			               "-x dump0 r0.sqlite -x dump1 r1.sqlite", dumps.p[d].dir);
		nsx_cli_misuse(&cli, "-x %s: -x %s replaces it before any export: want -x DIR EXPORT, such as "
		               "-x dump0 r0.sqlite -x dump1 r1.sqlite", dumps.p[d].dir, dumps.p[d + 1].dir);
	}
}

int
main(int argc, char **argv)
{
	struct nsx_tool tool = { .cli = &cli, .told = true };

	argc = nsx_cli_parse(&cli, argc, argv);
	argc = nsx_tool_files_all(&cli, argc, &argv);
	for (size_t d = 0; d < dumps.n; d++)
		dumps.p[d].from = nsx_tool_files_place(dumps.p[d].from, dumps.p[d].lists);
	parse_options();
	opt.host &= !no_host;
	if (!argc)
		nsx_cli_misuse(&cli, "no export given");
	check_dumps(argc);
	struct nsx_extract_input *inputs = calloc((size_t)argc, sizeof *inputs);
	if (!inputs)
		nsx_cli_die(&cli, "out of memory");
	for (int i = 0; i < argc; i++) {
		inputs[i].path = argv[i];
		for (size_t d = 0; d < dumps.n; d++)
			if (dumps.p[d].from <= i)
				inputs[i].dumps = dumps.p[d].dir;
	}
	nsx_tool_open_out(&tool);
	nsx_tool_progress(&cli, argc, argv);
	int rc = nsx_extract(inputs, argc, &opt, tool.out, &tool.diags, &tool.err);
	bool empty = nsx_writer_work(tool.out) == 0;
	rc = nsx_tool_finish(&tool, rc);
	if (window && empty)
		warn_window();
	free(inputs);
	free(dumps.p);
	nsx_comm_rules_free(&opt.comm);
	free((int64_t *)opt.devices);
	free((int64_t *)opt.processes);
	return rc;
}
