/* meta.c -- the tables of an export about its origin. Texts in them that no tool needs can contain a secret, for which
 * a test searches the outputs. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "xport.h"

/* A text that no tool needs. */
static const char *
idle(struct xport *x, const char *s)
{
	return syn_opt.secret ? syn_fmt(x->p, "%s %s", s, syn_opt.secret) : s;
}

static void
session(struct xport *x)
{
	const struct syn_proc *pr = NULL;
	int64_t utc;
	time_t seconds;
	struct tm tm;
	char text[64];

	for (uint32_t r = 0; r < x->p->proc.n && !pr; r++)
		if (xport_here(x, r))
			pr = &x->p->proc.p[r];
	utc = SYN_UTC + pr->session;
	seconds = (time_t)(utc / 1000000000);
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	db_put(x->d, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs:i utcTime:s localTime:s systemClockNs:i", utc, idle(x, text), idle(x, text), (int64_t)28254349605);
}

static void
machine(struct xport *x)
{
	struct syn_plan *p = x->p;
	static const char *const env[][2] = { { "CpuArchitecture", "x86_64" }, { "Hostname", NULL }, { "OsDescription", "Linux" },
	                                      { "DeviceEnvironment", "LANG=C;TOKEN=none" }, { "NvDriverVersion", "580.95.05" } };
	int64_t seen = 0;
	uint32_t first = 0;

	while (!xport_here(x, first))
		first++;
	for (size_t i = 0; i < sizeof env / sizeof *env; i++)
		db_put(x->d, "TARGET_INFO_SYSTEM_ENV", "globalVid:i devStateName:s name:s nameEnum:i value:s", (int64_t)1 << 48, idle(x, "Local (CLI)"),
		       env[i][0], (int64_t)(i == 1 ? 619 : 3 + i), idle(x, env[i][1] ? env[i][1] : syn_host_name(p, first)));
	if (syn_opt.secret)
		db_put(x->d, "TARGET_INFO_SYSTEM_ENV", "globalVid:i devStateName:s name:s nameEnum:i value:s", (int64_t)1 << 48, idle(x, "Local (CLI)"),
		       syn_opt.secret, (int64_t)900, syn_opt.secret);
	for (size_t i = 0; i < p->dev.n; i++) {
		const struct syn_dev *d = &p->dev.p[i];

		if (!xport_here(x, d->proc))
			continue;
		/* The number of a GPU on the machine differs from its CUDA ordinal. */
		db_put(x->d, "TARGET_INFO_GPU", "vmId:i id:i name:s busLocation:s isDiscrete:i totalMemory:i smCount:i uuid:s chipName:s cuDevice:i ctxswDevPath:s computeMajor:i "
		                                "computeMinor:i",
		       (int64_t)1, (int64_t)(7 - seen), "Example H300", idle(x, "0000:0a:00.0"), (int64_t)1, (int64_t)85899345920, (int64_t)132,
		       syn_fmt(p, "GPU-00000000-0000-4000-8000-%012d", d->global), idle(x, "GX300"), syn_opt.one_export || syn_opt.hosts ? seen : d->cuda, idle(x, "/dev/none"), (int64_t)9,
		       (int64_t)0);
		seen++;
		if (syn_opt.torch)
			continue;
		db_put(x->d, "TARGET_INFO_NVTX_CUDA_DEVICE", "name:s hwId:i vmId:i deviceId:i",
		       syn_fmt(p, "Xla:#%s", strchr(p->proc.p[d->proc].thread.p[1 + d->local].name, '#') + 1), (int64_t)0, (int64_t)1, d->cuda);
		db_put(x->d, x->p && db_has(x->d, "TARGET_INFO_CUDA_CONTEXT_INFO") ? "TARGET_INFO_CUDA_CONTEXT_INFO" : "TARGET_INFO_CUDA_NULL_STREAM",
		       db_has(x->d, "TARGET_INFO_CUDA_CONTEXT_INFO") ? "nullStreamId:i hwId:i vmId:i processId:i deviceId:i contextId:i"
		                                                      : "streamId:i hwId:i vmId:i processId:i deviceId:i contextId:i",
		       (int64_t)7, (int64_t)0, (int64_t)1, (int64_t)p->proc.p[d->proc].pid, d->cuda, (int64_t)1);
	}
}

static void
people(struct xport *x)
{
	struct syn_plan *p = x->p;

	db_put(x->d, "PROCESSES", "globalPid:i pid:i name:s", ((int64_t)1 << 48) + (1 << 24), (int64_t)1, idle(x, "init"));
	for (uint32_t r = 0; r < p->proc.n; r++) {
		const struct syn_proc *pr = &p->proc.p[r];

		if (!xport_here(x, r))
			continue;
		db_put(x->d, "PROCESSES", "globalPid:i pid:i name:s", (int64_t)syn_gpid(p, r), (int64_t)pr->pid, idle(x, "python3"));
		for (uint32_t t = 0; t < pr->thread.n; t++) {
			const char *name = pr->thread.p[t].name;

			db_put(x->d, "ThreadNames", "nameId:i priority:i globalTid:i", xport_cstring(x, strncmp(name, "XlaLauncher", 11) ? idle(x, name) : name),
			       (int64_t)20, (int64_t)syn_gtid(p, r, t));
		}
		db_put(x->d, "ProcessStreams", "globalPid:i filenameId:i contentId:i", (int64_t)syn_gpid(p, r), xport_cstring(x, idle(x, "/tmp/stdout.log")),
		       xport_cstring(x, idle(x, "loss 3.14\nloss 2.72\n")));
		db_put(x->d, "ANALYSIS_FILE", "id:i filename:s content:s contentId:i globalPid:i", (int64_t)r, idle(x, "/tmp/nsys/file"), idle(x, "hello"),
		       xport_cstring(x, idle(x, "hello")), (int64_t)syn_gpid(p, r));
		db_put(x->d, "DIAGNOSTIC_EVENT", "timestamp:i timestampType:i source:i severity:i text:s globalPid:i", p->base, (int64_t)0, (int64_t)1, (int64_t)1,
		       idle(x, "Process was launched by the profiler"), (int64_t)syn_gpid(p, r));
		db_put(x->d, "PROFILER_OVERHEAD", "start:i end:i globalTid:i nameId:i returnValue:i overheadType:i", p->base + 100, p->base + 900,
		       (int64_t)syn_gtid(p, r, 0), xport_cstring(x, "CUPTI buffer flush"), (int64_t)0, (int64_t)1);
	}
}

static void
about(struct xport *x)
{
	static const char *const products[] = { "2022.4.2", "2023.4.4", "2024.2.3", "2024.4.1", "2026.1.1", "2026.2.1", "2026.4.1" };
	const char *table = db_has(x->d, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
	int major, minor, micro;

	if (sscanf(syn_opt.schema, "%d.%d.%d", &major, &minor, &micro) != 3)
		syn_die("%s: not a version", syn_opt.schema);
	db_put(x->d, table, "name:s value:s", "EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems");
	db_put(x->d, table, "name:s value:s", "EXPORT_PRODUCT_VERSION", products[db_version_of(syn_opt.schema)]);
	db_put(x->d, table, "name:s value:s", "EXPORT_SCHEMA_VERSION", syn_opt.schema);
	db_put(x->d, table, "name:s value:s", "EXPORT_SCHEMA_VERSION_MAJOR", syn_fmt(x->p, "%d", major));
	db_put(x->d, table, "name:s value:s", "EXPORT_SCHEMA_VERSION_MINOR", syn_fmt(x->p, "%d", minor));
	db_put(x->d, table, "name:s value:s", "EXPORT_SCHEMA_VERSION_MICRO", syn_fmt(x->p, "%d", micro));
	db_put(x->d, table, "name:s value:s", "EXPORT_PARAM_LAZY", syn_opt.full ? "false" : "true");
	db_put(x->d, table, "name:s value:s", "EXPORT_HOST", idle(x, "host"));
	db_put(x->d, table, "name:s value:s", "EXPORT_USER", idle(x, "user"));
	db_put(x->d, "META_DATA_CAPTURE", "name:s value:s", "CAPTURE_EVENT_TYPE", idle(x, "NvtxEvents"));
	db_put(x->d, "META_DATA_CAPTURE", "name:s value:s", "PROCESS_0:COMMAND", idle(x, "python3 train.py"));
	db_put(x->d, "META_DATA_CAPTURE", "name:s value:s", "PROCESS_0:ENVIRONMENT_VARIABLE", idle(x, "TOKEN=none"));
	if (syn_opt.secret)
		db_put(x->d, table, "name:s value:s", syn_opt.secret, syn_opt.secret);
}

/* When the capture ended, for which the table gives a duration: event times count from its start. */
static void
details(struct xport *x)
{
	struct syn_plan *p = x->p;
	int64_t stop = 0;

	for (uint32_t r = 0; r < p->proc.n; r++)
		if (xport_here(x, r) && p->proc.p[r].cut) {
			int64_t t = syn_local(p, r, p->proc.p[r].until);

			stop = t > stop ? t : stop;
		}
	for (size_t i = 0; i < p->op.n; i++)
		if (xport_here(x, p->dev.p[p->op.p[i].dev].proc) && !p->proc.p[p->dev.p[p->op.p[i].dev].proc].cut) {
			int64_t t = syn_local(p, p->dev.p[p->op.p[i].dev].proc, p->op.p[i].end) + 3000000;

			stop = t > stop ? t : stop;
		}
	db_put(x->d, "ANALYSIS_DETAILS", "globalVid:i duration:i startTime:i stopTime:i", (int64_t)1 << 48, stop, (int64_t)28254349605, (int64_t)28254349605 + stop);
}

static void
enumerations(struct xport *x)
{
	static const char *const copies[] = { "Unknown", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array", "Array-to-Device",
	                                      "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer", NULL };
	static const struct { int64_t id; const char *name; } events[] = { { 33, "NvtxCategory" }, { 34, "NvtxMark" }, { 59, "NvtxPushPopRange" },
	                                                                   { 60, "NvtxStartEndRange" }, { 75, "NvtxDomainCreate" } };

	for (int i = 0; copies[i]; i++)
		db_put(x->d, "ENUM_CUDA_MEMCPY_OPER", "id:i name:s label:s", (int64_t)i, syn_fmt(x->p, "CUDA_MEMCPY_KIND_%d", i), copies[i]);
	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		db_put(x->d, "ENUM_NSYS_EVENT_TYPE", "id:i name:s label:s", events[i].id, events[i].name, events[i].name);
	db_put(x->d, db_has(x->d, "ENUM_CUDA_KERNEL_LAUNCH_TYPE") ? "ENUM_CUDA_KERNEL_LAUNCH_TYPE" : "ENUM_CUDA_KRENEL_LAUNCH_TYPE", "id:i name:s label:s", (int64_t)1,
	       "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular");
}

/* The nodes of CUDA graphs, as recorded at their creation. */
static void
nodes(struct xport *x)
{
	struct syn_plan *p = x->p;
	struct nsx_map seen = { 0 };
	const char *table = db_has(x->d, "CUDA_GRAPH_NODE_EVENTS") ? "CUDA_GRAPH_NODE_EVENTS" : "CUDA_GRAPH_EVENTS";

	for (size_t i = 0; i < p->capture.n; i++) {
		const struct syn_capture *c = &p->capture.p[i];
		struct db_table *to = db_table(x->d, table);
		int64_t start = syn_local(p, c->proc, c->time);
		if (!xport_here(x, c->proc) || c->time < p->proc.p[c->proc].from)
			continue;
		db_int(to, db_col(to, "start"), start);
		db_int(to, db_col(to, "end"), start + 100);
		db_int(to, db_col(to, "eventClass"), 0);
		db_int(to, db_col(to, "globalTid"), (int64_t)syn_gtid(p, c->proc, c->thread));
		db_int(to, db_col(to, "nameId"), xport_cstring(x, "cudaLaunchKernel_v7000"));
		db_int(to, db_col(to, "graphNodeId"), c->node);
		db_null(to, db_col(to, "originalGraphNodeId"));
		db_row(to);
	}
	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		uint32_t proc = p->dev.p[op->dev].proc, *at;
		int64_t t;

		if (!op->node || !xport_here(x, proc))
			continue;
		at = nsx_map_at(&seen, (struct nsx_key){ proc, (uint64_t)op->node });
		if (!at)
			syn_die("out of memory");
		if (*at != NSX_NONE)
			continue;
		*at = 0;
		t = syn_local(p, proc, p->call.p[op->call].start - 20000);
		db_put(x->d, table, "start:i end:i eventClass:i globalTid:i nameId:i graphNodeId:i originalGraphNodeId:i", t, t + 400, (int64_t)0,
		       (int64_t)syn_gtid(p, proc, p->call.p[op->call].thread), xport_cstring(x, "cudaGraphAddKernelNode_v10000"), op->node, op->node - 1);
	}
	nsx_map_free(&seen);
}

/* The host waits for a stream: rows that look like GPU work but are not. */
static void
waits(struct xport *x)
{
	struct syn_plan *p = x->p;
	uint32_t wait = syn_name(p, "cudaStreamSynchronize_v3020");

	if (xport_sim(x))
		return;
	for (size_t i = 0; i < p->call.n; i++) {
		const struct syn_call *c = &p->call.p[i];

		if (c->name != wait || c->gone || !xport_here(x, c->proc))
			continue;
		db_put(x->d, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start:i end:i deviceId:i contextId:i streamId:i correlationId:i globalPid:i syncType:i eventId:i",
		       syn_local(p, c->proc, c->start), syn_local(p, c->proc, c->end), (int64_t)0, (int64_t)1, (int64_t)7, (int64_t)c->corr, (int64_t)syn_gpid(p, c->proc),
		       (int64_t)3, (int64_t)4294967295);
	}
}

void
xport_meta(struct xport *x)
{
	bool cut = false;

	session(x);
	machine(x);
	people(x);
	about(x);
	enumerations(x);
	waits(x);
	nodes(x);
	for (uint32_t r = 0; r < x->p->proc.n; r++)
		cut = cut || (xport_here(x, r) && x->p->proc.p[r].cut && !x->p->proc.p[r].open_null);
	if (syn_opt.details || cut)
		details(x);
}
