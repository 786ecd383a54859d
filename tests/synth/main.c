/* main.c -- nsysx-synth: exports of a generated training job, and the expected results of tools. The same options and
 * seed give the same bytes. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cli.h"
#include "db.h"
#include "form.h"
#include "sim.h"
#include "torch.h"
#include "x26.h"

struct syn_opts syn_opt = { .titles = "2024", .schema = "3.13.1", .seed = 1, .procs = 2, .devices = 1, .steps = 5, .layers = 4, .late = -1, .vary_seed = -1, .dumps = "plain", .lists = "good" };

static const struct nsx_opt opts[] = {
	NSX_OPT_STR   ('o', "output", &syn_opt.dir, "DIR", "write DIR/r0.sqlite, ... and DIR/answers"),
	NSX_OPT_INT   (0, "seed", &syn_opt.seed, "N", 0, INT32_MAX, "what chance depends on [1]"),
	NSX_OPT_INT   (0, "processes", &syn_opt.procs, "P", 1, 4096, "processes [2]"),
	NSX_OPT_INT   (0, "devices", &syn_opt.devices, "D", 1, 16, "devices of each process [1]"),
	NSX_OPT_INT   (0, "steps", &syn_opt.steps, "N", 2, 1000000, "training steps [5]"),
	NSX_OPT_INT   (0, "layers", &syn_opt.layers, "N", 1, 10000, "layers of the model [4]"),
	NSX_OPT_CHOICE(0, "titles", &syn_opt.titles, "early|2024|2026", "how XLA writes its ranges [2024]"),
	NSX_OPT_CHOICE(0, "schema", &syn_opt.schema, db_version_choices, "version of the export [3.13.1]"),
	NSX_OPT_FLAG  (0, "full", &syn_opt.full, "empty tables too"),
	NSX_OPT_FLAG  (0, "shuffle", &syn_opt.shuffle, "rows in random order, rowids and string ids with gaps"),
	NSX_OPT_INT   (0, "offset", &syn_opt.offset, "NS", 0, 3600000000000, "clocks are off by up to NS [0]"),
	NSX_OPT_INT   (0, "drift", &syn_opt.drift, "PPM", 0, 1000, "clocks drift by up to PPM [0]"),
	NSX_OPT_INT   (0, "sessions", &syn_opt.sessions, "NS", 0, 3600000000000, "captures start up to NS apart, which they tell [0]"),
	NSX_OPT_INT   (0, "jitter", &syn_opt.jitter, "NS", 0, 1000000, "ends of a collective scatter by up to NS [0]"),
	NSX_OPT_INT   (0, "late", &syn_opt.late, "R", 0, 4095, "the capture of process R begins a step late"),
	NSX_OPT_INT   (0, "ops-without-call", &syn_opt.no_call, "N", 0, 1000000000, "so many GPU operations have lost their call [0]"),
	NSX_OPT_INT   (0, "groups", &syn_opt.groups, "N", 0, 4096, "some collectives in groups of N devices"),
	NSX_OPT_FLAG  (0, "disagree", &syn_opt.disagree, "program ids differ between processes, programs share names"),
	NSX_OPT_FLAG  (0, "autotune", &syn_opt.autotune, "autotuner runs while compiling"),
	NSX_OPT_MAYBE (0, "graphs", &syn_opt.graphs, "nodes|whole", "the step runs in CUDA graphs, traced by node or as wholes [nodes]"),
	NSX_OPT_MAYBE (0, "torch", &syn_opt.torch, "train|checkpoints|vllm|vllm-sums|sglang|tensorrt-llm", "ranges as PyTorch writes them, no XLA; steps as training, one with checkpoints or a server of language models names them [train]"),
	NSX_OPT_MAYBE (0, "unfinished", &syn_opt.unfinished, "null|stop", "the captures stop inside the last step: its range has no end, or the capture's [both]"),
	NSX_OPT_STR   (0, "slow", &syn_opt.slow, "NAME:PERCENT,...", "instructions of these names take so much more time; with --torch kernels of ranges of these names, or of a server's steps of these phases"),
	NSX_OPT_STR   (0, "plant", &syn_opt.plant, "CAUSE",
	               "make steps slow by slow-collective, late-host, blocking, straggler or layout"),
	NSX_OPT_STR   (0, "slow-device", &syn_opt.slow_device, "DEVICE:PERCENT",
	               "computing kernels of one device take so much longer, those of the others are equal"),
	NSX_OPT_INT   (0, "racks", &syn_opt.racks, "N", 1, 4096,
	               "hosts are in N racks and have names: rack0-node000, ..."),
	NSX_OPT_STR   (0, "late-rack", &syn_opt.late_rack, "RACK:NS",
	               "with --racks: hosts of that rack begin every step so late"),
	NSX_OPT_INT   (0, "contend", &syn_opt.contend, "PERCENT", 1, 1000,
	               "computing kernels that run beside a collective take so much longer"),
	NSX_OPT_INT   (0, "shorter", &syn_opt.shorter, "N", 2, 1000,
	               "with --torch: computing kernels are N times shorter, so that devices wait for launches"),
	NSX_OPT_INT   (0, "metrics", &syn_opt.metrics, "NS", 1000, 1000000000,
	               "samples of GPU metrics, one each NS"),
	NSX_OPT_FLAG  (0, "memory", &syn_opt.memory, "allocations and frees of memory, of a job of --torch in each step"),
	NSX_OPT_INT   (0, "vary", &syn_opt.vary, "PERCENT", 1, 50,
	               "computing time of steps drifts, with this standard deviation"),
	NSX_OPT_INT   (0, "vary-seed", &syn_opt.vary_seed, "N", 0, INT32_MAX, "what the drift of --vary depends on [that of --seed]"),
	NSX_OPT_STR   (0, "alternate", &syn_opt.alternate, "N:PERCENT",
	               "computing kernels of every Nth step take so much longer"),
	NSX_OPT_INT   (0, "evaluate", &syn_opt.evaluate, "N", 2, 1000000,
	               "every Nth step runs jit_eval_step instead"),
	NSX_OPT_INT   (0, "checkpoint", &syn_opt.checkpoint, "N", 1, 1000000,
	               "after every Nth step, devices copy their state to the host, which writes it"),
	NSX_OPT_FLAG  (0, "offload", &syn_opt.offload,
	               "each layer is copied to the host's memory, and back for its backward pass"),
	NSX_OPT_FLAG  (0, "pipeline", &syn_opt.pipeline,
	               "devices are stages: they send to the next one, and some instructions run on the first or the last only"),
	NSX_OPT_FLAG  (0, "no-comm", &syn_opt.no_comm, "no communication"),
	NSX_OPT_FLAG  (0, "no-warmup", &syn_opt.no_warmup, "no compilation, no slow first executions"),
	NSX_OPT_FLAG  (0, "details", &syn_opt.details, "tell when the capture ended"),
	NSX_OPT_FLAG  (0, "outside", &syn_opt.outside, "a collective runs outside its module's range"),
	NSX_OPT_STR   (0, "secret", &syn_opt.secret, "TEXT", "put TEXT wherever tools have no need to look"),
	NSX_OPT_INT   (0, "scale", &syn_opt.scale, "N", 1, 64000000, "one export of N ranges instead, answers are sums"),
	NSX_OPT_INT   (0, "late-host", &syn_opt.late_gaps, "N", 1, 100000, "one export of a Python program that is late N times, in known states and lines, instead"),
	NSX_OPT_INT   (0, "gaps", &syn_opt.gaps, "N", 1, 100000, "one export of a device that is idle N times for known causes instead"),
	NSX_OPT_INT   (0, "work", &syn_opt.work, "N", 1, 100000, "one export of N instructions whose FLOPs and bytes are known instead, and its dump"),
	NSX_OPT_FLAG  (0, "ties", &syn_opt.ties, "with --scale: threads and kernels start at equal times"),
	NSX_OPT_MAYBE (0, "one-export", &syn_opt.one_export, "visible|ordinal", "all processes in r.sqlite; each counts its own devices, or all [visible]"),
	NSX_OPT_INT   (0, "hosts", &syn_opt.hosts, "N", 1, 4096, "N exports, each of a host's processes, in any order of pids; a process sees its devices alone"),
	NSX_OPT_CHOICE(0, "dumps", &syn_opt.dumps, "plain|xz|zst|none", "how HLO dumps are written, a folder for each process [plain]"),
	NSX_OPT_MAYBE (0, "payloads", &syn_opt.payloads, "basic|detailed|hex|broken", "what XLA of 2026 attaches to its ranges [basic]"),
	NSX_OPT_MAYBE (0, "nccl", &syn_opt.nccl, "2.28|2.27|2.24|hex|broken|none", "NCCL's calls and their payloads, no XLA: as versions number and fill them, in hexadecimal, spoilt, or none [2.28]"),
	NSX_OPT_MAYBE (0, "xla26", &syn_opt.xla26, "first|warm", "programs of 2026: command buffers run op by op, then as graphs; captures see all or begin warm [first]"),
	NSX_OPT_CHOICE(0, "lists", &syn_opt.lists, "good|none|short|other", "with --xla26: XLA's list of thunks beside each dump: as it ran, none, one thunk short, of other thunks [good]"),
	NSX_OPT_FLAG  (0, "no-uid", &syn_opt.no_uid, "with --xla26: titles without unique_hlo_op_id"),
	NSX_OPT_INT   (0, "nodes", &syn_opt.nodes, "N", 1, 20000000, "with --xla26: at least N nodes of graphs run; answers are sums"),
	NSX_OPT_CHOICE(0, "sim", &syn_opt.sim, sim_kinds, "one export of a job whose times follow from its causes instead; answers: what is true of it, and its period after changes"),
	NSX_OPT_STR   (0, "change", &syn_opt.change, "CHANGE", "with --sim: make this change first, one of nsysx-whatif; no answers about others"),
	NSX_OPT_CHOICE(0, "without", &syn_opt.without, "queue|stall|sync|wait", "with --sim: leave out of the export what launches, calls or streams waited for, or just for how long launches did"),
	NSX_OPT_INT   (0, "slack", &syn_opt.slack, "N", 1, 100000, "with --sim: for N random operations, by how much they can be longer"),
	NSX_OPT_FLAG  (0, "steady", &syn_opt.steady, "with --sim: latencies do not vary"),
	NSX_OPT_FLAG  (0, "kineto", &syn_opt.kineto, "the job as PyTorch's profiler records it too: DIR/rN.pt.trace.json of process N"),
	NSX_OPT_FLAG  (0, "xspace", &syn_opt.xspace, "the job as JAX's profiler records it too: DIR/rN.xplane.pb of process N"),
	NSX_OPT_STR   (0, "break", &syn_opt.falsify, "WHAT", "make a number of DIR/answers/WHAT.tsv wrong"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-synth", "-o DIR [OPTION]...", "Write Nsight Systems exports of a generated job and the expected results.", opts };

static void
folder(const char *path)
{
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		syn_die("%s: %s", path, strerror(errno));
}

static void
check(void)
{
	const struct syn_opts *o = &syn_opt;

	if (!o->dir)
		nsx_cli_misuse(&cli, "where to write to? -o DIR");
	if (o->late >= o->procs)
		nsx_cli_misuse(&cli, "--late %lld: there are %lld processes", (long long)o->late, (long long)o->procs);
	if (o->one_export && *o->one_export && strcmp(o->one_export, "visible") != 0 && strcmp(o->one_export, "ordinal") != 0)
		nsx_cli_misuse(&cli, "--one-export=%s: visible or ordinal", o->one_export);
	if (o->unfinished && *o->unfinished && strcmp(o->unfinished, "null") != 0 && strcmp(o->unfinished, "stop") != 0)
		nsx_cli_misuse(&cli, "--unfinished=%s: null or stop", o->unfinished);
	if (o->graphs && *o->graphs && strcmp(o->graphs, "nodes") != 0 && strcmp(o->graphs, "whole") != 0)
		nsx_cli_misuse(&cli, "--graphs=%s: nodes or whole", o->graphs);
	if (o->graphs && strcmp(o->graphs, "whole") == 0 && db_version_of(o->schema) < 2)
		nsx_cli_misuse(&cli, "schema %s has no whole graphs", o->schema);
	if (o->graphs && strcmp(o->titles, "early") == 0)
		nsx_cli_misuse(&cli, "early XLA has no command buffers");
	if (o->hosts && (o->one_export || o->disagree || o->late >= 0 || o->procs % o->hosts))
		nsx_cli_misuse(&cli, "--hosts: want as many processes on each, which share programs and window");
	if (o->one_export && (o->disagree || o->offset || o->drift))
		nsx_cli_misuse(&cli, "processes of one export share clock and programs");
	if (o->payloads && (strcmp(o->titles, "2026") != 0 || db_version_of(o->schema) < 4))
		nsx_cli_misuse(&cli, "--payloads came with these versions: add --titles 2026 --schema 3.24.14");
	if (o->payloads && *o->payloads && !strstr("basic|detailed|hex|broken", o->payloads))
		nsx_cli_misuse(&cli, "--payloads=%s: basic, detailed, hex or broken", o->payloads);
	if (!o->xla26 && (o->nodes || o->no_uid || strcmp(o->lists, "good") != 0))
		nsx_cli_misuse(&cli, "--nodes, --no-uid and --lists need --xla26");
	if (o->xla26 && *o->xla26 && strcmp(o->xla26, "first") != 0 && strcmp(o->xla26, "warm") != 0)
		nsx_cli_misuse(&cli, "--xla26=%s: first or warm", o->xla26);
	if (o->xla26 && (o->graphs || o->torch || o->no_comm || o->autotune || o->payloads || o->unfinished || o->disagree || o->outside || o->no_call || o->slow || o->groups))
		nsx_cli_misuse(&cli, "--xla26 is a job of its own");
	if (o->xla26 && o->procs * o->devices < 2)
		nsx_cli_misuse(&cli, "--xla26 needs two devices");
	if (o->torch && *o->torch && strcmp(o->torch, "train") != 0 && strcmp(o->torch, "checkpoints") != 0 && strcmp(o->torch, "vllm") != 0 && strcmp(o->torch, "vllm-sums") != 0 && strcmp(o->torch, "sglang") != 0
	    && strcmp(o->torch, "tensorrt-llm") != 0)
		nsx_cli_misuse(&cli, "--torch=%s: train, checkpoints, vllm, vllm-sums, sglang or tensorrt-llm", o->torch);
	if (o->nccl && *o->nccl && !strstr("2.28|2.27|2.24|hex|broken|none", o->nccl))
		nsx_cli_misuse(&cli, "--nccl=%s: 2.28, 2.27, 2.24, hex, broken or none", o->nccl);
	if (o->nccl && db_version_of(o->schema) < 4)
		nsx_cli_misuse(&cli, "--nccl came with schema 3.24.14: add --schema 3.24.14");
	if (o->nccl && (o->torch || o->xla26 || o->payloads || o->graphs || o->unfinished || o->no_call || o->hosts || o->slow || o->procs * o->devices > 4096))
		nsx_cli_misuse(&cli, "--nccl is a job of its own, of at most 4096 devices");
	if (o->plant && !syn_plant_known(o->plant))
		nsx_cli_misuse(&cli, "--plant %s: slow-collective, late-host, blocking, straggler or layout", o->plant);
	if (o->plant && (o->nccl || o->xla26 || o->scale || o->gaps || o->graphs || o->no_comm || o->procs < 2))
		nsx_cli_misuse(&cli, "--plant goes with the jobs of XLA and --torch that communicate");
	if (!o->sim && (o->change || o->without || o->slack || o->steady))
		nsx_cli_misuse(&cli, "--change, --without, --slack and --steady need --sim");
	if (o->torch && (o->unfinished || o->late >= 0))
		nsx_cli_misuse(&cli, "--torch has no steps to cut");
}

/* The options of vary.c, and those of programs that only the plain job of XLA has. */
static void
check_varied(void)
{
	const struct syn_opts *o = &syn_opt;
	bool varied = o->slow_device || o->racks || o->late_rack || o->vary || o->alternate || o->contend || o->evaluate || o->checkpoint
	              || o->offload || o->pipeline;
	const char *why;

	if (varied && (o->nccl || o->xla26 || o->scale || o->gaps || o->work))
		nsx_cli_misuse(&cli, "--slow-device, --racks, --contend, --vary, --alternate, --evaluate, --checkpoint, --offload and --pipeline "
		                      "go with the jobs of XLA and --torch");
	if (o->shorter && !o->torch)
		nsx_cli_misuse(&cli, "--shorter goes with --torch");
	if (!syn_vary_check(&why))
		nsx_cli_misuse(&cli, "%s", why);
	if ((o->offload || o->pipeline) && (o->graphs || o->payloads))
		nsx_cli_misuse(&cli, "--offload and --pipeline go without --graphs and --payloads");
	if (o->torch && (o->offload || o->pipeline))
		nsx_cli_misuse(&cli, "--offload and --pipeline are of the job of XLA");
	if (syn_in_lockstep() && (o->devices > 1 || (*o->torch && strcmp(o->torch, "train") != 0)))
		nsx_cli_misuse(&cli, "--torch: only processes of one device that train can run together, as planted causes need");
	if (o->pipeline && o->procs * o->devices < 2)
		nsx_cli_misuse(&cli, "--pipeline needs two devices");
}

static void
make(struct syn_plan *p)
{
	p->random = (uint64_t)syn_opt.seed * 0xd1342543de82ef95ULL;
	syn_people(p);
	if (syn_opt.nccl) {
		syn_nccl(p);
	} else if (syn_opt.torch) {
		syn_torch(p);
	} else if (syn_opt.xla26) {
		x26_model(p);
		x26_job(p);
	} else {
		syn_model(p);
		syn_job(p);
	}
	syn_show(p);
	syn_project(p);
	syn_judge(p);
	syn_export(p);
	if (!syn_opt.torch && !syn_opt.nccl && strcmp(syn_opt.dumps, "none") != 0)
		syn_dumps(p);
	if (syn_opt.kineto)
		syn_kineto(p);
	if (syn_opt.xspace)
		syn_xspace(p);
	syn_answers(p);
	if (syn_opt.plant)
		syn_plant_answer();
	syn_vary_answers(p);
	if (syn_opt.torch) {
		torch_parts_answers(p);
		torch_serving_answers(p);
	}
	if (syn_opt.nccl) {
		syn_nccl_answers(p);
		return;
	}
	if (syn_opt.xla26)
		return;
	syn_places(p);
	if (!syn_opt.torch) {
		syn_folds(p);
		syn_heap_answers(p);
	}
}

int
main(int argc, char **argv)
{
	struct syn_plan p = { 0 };

	if (nsx_cli_parse(&cli, argc, argv) > 0)
		nsx_cli_misuse(&cli, "no files are read");
	check();
	check_varied();
	/* Earlier ones have no payloads. */
	if (syn_opt.sim && db_version_of(syn_opt.schema) < 4)
		syn_opt.schema = "3.24.14";
	if (syn_opt.xla26) {
		syn_opt.titles = "2026";
		syn_opt.no_warmup = true;
		if (syn_opt.steps < 4)
			syn_opt.steps = 4;
		if (syn_opt.nodes && syn_opt.layers < 40)
			syn_opt.layers = 40;
	}
	folder(syn_opt.dir);
	folder(syn_fmt(&p, "%s/answers", syn_opt.dir));
	if (syn_opt.scale)
		syn_scale();
	else if (syn_opt.late_gaps)
		syn_late();
	else if (syn_opt.gaps)
		syn_gaps();
	else if (syn_opt.work)
		syn_work();
	else if (syn_opt.sim)
		syn_sim(&p);
	else
		make(&p);
	syn_tsv_checked();
	syn_free(&p);
	return NSX_EXIT_OK;
}
