/* gaps.c -- one export of a thread and a device that is idle repeatedly, each time for a known cause: a late host in
 * each of its states, a copy that blocks, a wait for an event, a graph, a missing call. The expected output of
 * nsysx-idle is summed up while gaps are planted.
 *
 *   kernel [0,60000)   what the host does meanwhile: [g0, g0 + a)   its launch [c0, c1)   kernel again at g1
 *   a ns of the planted cause, from there to c1 launch, from c1 to g1 on its way */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db.h"
#include "synth.h"

enum { PID = 4242, BUSY = 60000, STREAM = 7, OTHER_STREAM = 13 };
enum { PAGEABLE = 0, DEVICE = 2, TO_HOST = 2 };   /* kinds of memory and of copies */

enum what { HOST, RANGE, COMPILE, SYNC, COPY, LOADING, ALLOC, API, PROFILER, QUEUE_FULL, LATENCY, DEPENDENCY, UNRESOLVED, GRAPH, NO_CALL, NWHATS };

/* Names of StringIds. */
enum { KERNEL = 1, LAUNCH, GRAPH_LAUNCH, MEMCPY, MEMCPY_ASYNC, SYNCHRONIZE, WAIT_EVENT, LOAD, MALLOC, GET_DEVICE, FLUSH, FULL, NSTRINGS };
static const char *const strings[NSTRINGS] = { NULL, "gemm_kernel", "cudaLaunchKernel_v7000", "cudaGraphLaunch_v10000", "cudaMemcpy_v3020", "cudaMemcpyAsync_v3020",
	"cudaStreamSynchronize_v3020", "cudaStreamWaitEvent_v3020", "cuModuleLoadData", "cudaMalloc_v3020", "cudaGetDevice_v3020", "Buffer Flush", "Command Buffer Full" };

/* Sums by the cause in nsysx-idle. */
enum cause { C_COMPUTE, C_COPY, C_GRAPH, C_NO_CALL, C_PROFILER, C_QUEUE_FULL, C_LOADING, C_SYNC, C_LAUNCH, C_ALLOC, C_API, C_COMPILE, C_RANGE, C_HOST, C_LATENCY,
	C_DEPENDENCY, C_UNRESOLVED, NCAUSES };
static const char *const causes[NCAUSES] = { "compute", "copy", "graph", "no-call", "profiler", "queue-full", "loading", "sync", "launch", "alloc", "api", "compile", "range",
	"host", "latency", "dependency", "unresolved" };

struct job {
	struct db *d;
	uint64_t   random;
	int64_t    busy;          /* end of the device's work so far */
	int64_t    correlation;
	int64_t    ns[NCAUSES], count[NCAUSES], longest[NCAUSES], drained[NCAUSES];
};

static int64_t
between(struct job *j, int64_t from, int64_t to)
{
	j->random += 0x9e3779b97f4a7c15ULL;
	return from + (int64_t)(nsx_hash_u64(j->random) % (uint64_t)(to - from + 1));
}

static int64_t process(void) { return INT64_C(1) << 48 | (int64_t)PID << 24; }
static int64_t thread(void) { return process() | PID; }

static void
told(struct job *j, enum cause c, int64_t ns, bool drained)
{
	if (ns <= 0)
		return;
	j->ns[c] += ns;
	j->count[c]++;
	j->longest[c] = ns > j->longest[c] ? ns : j->longest[c];
	j->drained[c] += drained ? ns : 0;
}

/* A call [start, end); its correlation id. */
static int64_t
call(struct job *j, int64_t name, int64_t start, int64_t end)
{
	db_put(j->d, "CUPTI_ACTIVITY_KIND_RUNTIME", "start:i end:i eventClass:i globalTid:i correlationId:i nameId:i", start, end,
	       (int64_t)(strncmp(strings[name], "cuda", 4) != 0), thread(), ++j->correlation, name);
	return j->correlation;
}

static void
kernel(struct job *j, int64_t start, int64_t end, int64_t stream, int64_t correlation, int64_t node)
{
	if (node)
		db_put(j->d, "CUPTI_ACTIVITY_KIND_KERNEL", "start:i end:i deviceId:i streamId:i correlationId:i globalPid:i demangledName:i shortName:i graphNodeId:i", start, end,
		       (int64_t)0, stream, correlation, process(), (int64_t)KERNEL, (int64_t)KERNEL, node);
	else
		db_put(j->d, "CUPTI_ACTIVITY_KIND_KERNEL", "start:i end:i deviceId:i streamId:i correlationId:i globalPid:i demangledName:i shortName:i", start, end, (int64_t)0, stream,
		       correlation, process(), (int64_t)KERNEL, (int64_t)KERNEL);
	told(j, C_COMPUTE, end - start, false);
	j->busy = end;
}

static void
range(struct job *j, int64_t start, int64_t end, const char *text)
{
	db_put(j->d, "NVTX_EVENTS", "start:i end:i eventType:i text:s globalTid:i domainId:i", start, end, (int64_t)59, text, thread(), (int64_t)0);
}

/* Put the host into a state from the beginning of the gap, for a ns. Returns whether the state blocks and the thread
 * was in it when the device became idle. */
static bool
host_is_in(struct job *j, enum what what, int64_t g0, int64_t a, enum cause *cause)
{
	static const struct { int64_t name; enum cause cause; } by_call[NWHATS] = {
		[SYNC] = { SYNCHRONIZE, C_SYNC }, [LOADING] = { LOAD, C_LOADING }, [ALLOC] = { MALLOC, C_ALLOC }, [API] = { GET_DEVICE, C_API }
	};

	*cause = C_HOST;
	if (by_call[what].name) {
		call(j, by_call[what].name, g0 - 2000, g0 + a);
		*cause = by_call[what].cause;
		return what == SYNC;
	}
	if (what == COPY) {
		/* This copy is the last work of the device. */
		int64_t id = call(j, MEMCPY, g0 - 2000, g0 + a);

		db_put(j->d, "CUPTI_ACTIVITY_KIND_MEMCPY", "start:i end:i deviceId:i streamId:i correlationId:i globalPid:i bytes:i copyKind:i srcKind:i dstKind:i", g0 - 800, g0, (int64_t)0,
		       (int64_t)STREAM, id, process(), (int64_t)4096, (int64_t)TO_HOST, (int64_t)DEVICE, (int64_t)PAGEABLE);
		told(j, C_COPY, 800, false);
		*cause = C_SYNC;
		return true;
	}
	if (what == RANGE || what == COMPILE) {
		range(j, g0 - 1000, g0 + a, what == RANGE ? "next batch" : "XlaCompile");
		*cause = what == RANGE ? C_RANGE : C_COMPILE;
	}
	if (what == PROFILER || what == QUEUE_FULL) {
		db_put(j->d, "CUPTI_ACTIVITY_KIND_OVERHEAD", "start:i end:i eventClass:i globalTid:i nameId:i overheadType:i", g0 - 500, g0 + a, (int64_t)103, thread(),
		       (int64_t)(what == PROFILER ? FLUSH : FULL), (int64_t)(what == PROFILER ? 3 : 8));
		*cause = what == PROFILER ? C_PROFILER : C_QUEUE_FULL;
	}
	return false;
}

/* Something that was issued long before: its gap is the GPU's. */
static void
plant_issued(struct job *j, enum what what)
{
	int64_t g0 = j->busy, c0 = g0 - between(j, 30000, 40000), gap = what == LATENCY ? between(j, 500, 20000) : between(j, 20001, 90000), id;

	if (what == GRAPH) {
		int64_t first;

		id = call(j, GRAPH_LAUNCH, c0, c0 + 4000);
		first = between(j, 500, 2000);
		told(j, C_LATENCY, first, false);
		kernel(j, g0 + first, g0 + first + 3000, STREAM, id, 71);
		told(j, C_GRAPH, gap, false);
		kernel(j, j->busy + gap, j->busy + gap + BUSY, OTHER_STREAM, id, 72);
		return;
	}
	if (what == NO_CALL) {
		told(j, C_NO_CALL, gap, false);
		kernel(j, g0 + gap, g0 + gap + BUSY, STREAM, INT64_C(1000000) + j->correlation++, 0);
		return;
	}
	if (what == DEPENDENCY) {
		id = call(j, WAIT_EVENT, c0 - 3000, c0 - 1000);
		db_put(j->d, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start:i end:i deviceId:i contextId:i streamId:i correlationId:i globalPid:i syncType:i eventId:i", c0 - 3000, c0 - 1000,
		       (int64_t)0, (int64_t)1, (int64_t)STREAM, id, process(), (int64_t)2, (int64_t)5);
	}
	id = call(j, LAUNCH, c0, c0 + 4000);
	told(j, what == LATENCY ? C_LATENCY : what == DEPENDENCY ? C_DEPENDENCY : C_UNRESOLVED, gap, false);
	kernel(j, g0 + gap, g0 + gap + BUSY, STREAM, id, 0);
}

/* The host is late. */
static void
plant_starved(struct job *j, enum what what)
{
	int64_t g0, a = between(j, 1000, 400000), launch = between(j, 2000, 9000), way = between(j, 500, 15000), id;
	enum cause cause;
	bool drained;

	if (what == COPY)
		j->busy += 800;
	g0 = j->busy;
	drained = host_is_in(j, what, g0, a, &cause);
	told(j, cause, a, drained);
	told(j, C_LAUNCH, launch, drained);
	told(j, C_LATENCY, way, drained);
	id = call(j, LAUNCH, g0 + a, g0 + a + launch);
	kernel(j, g0 + a + launch + way, g0 + a + launch + way + BUSY, STREAM, id, 0);
}

static void
answer(const struct job *j)
{
	struct syn_tsv t;

	syn_tsv_open(&t, "idle", "cause\tns\tcount\tlongest\tdrained");
	for (int c = 0; c < NCAUSES; c++)
		if (j->ns[c])
			syn_tsv_row(&t, "%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64, causes[c], j->ns[c], j->count[c], j->longest[c], j->drained[c]);
	syn_tsv_close(&t);
}

void
syn_gaps(void)
{
	struct job j = { .random = (uint64_t)syn_opt.seed * 0xd1342543de82ef95ULL, .correlation = 100 };
	const int64_t begin = 2000000000;
	char path[4096];

	if (snprintf(path, sizeof path, "%s/r0.sqlite", syn_opt.dir) >= (int)sizeof path)
		syn_die("%s: the name is too long", syn_opt.dir);
	j.d = db_open(path, db_version_of(syn_opt.schema), syn_opt.full, syn_opt.shuffle, (uint64_t)syn_opt.seed);
	kernel(&j, begin, begin + BUSY, STREAM, call(&j, LAUNCH, begin - 9000, begin - 5000), 0);
	/* Each kind once, then random ones. */
	for (int64_t i = 0; i < syn_opt.gaps; i++) {
		enum what what = (enum what)(i < NWHATS ? i : between(&j, 0, NWHATS - 1));

		if (!db_has(j.d, "CUPTI_ACTIVITY_KIND_OVERHEAD") && (what == PROFILER || what == QUEUE_FULL))
			what = HOST;
		if (what >= LATENCY)
			plant_issued(&j, what);
		else
			plant_starved(&j, what);
	}
	for (int64_t i = 1; i < NSTRINGS; i++)
		db_put(j.d, "StringIds", "id:i value:s", i, strings[i]);
	db_put(j.d, "StringIds", "id:i value:s", (int64_t)99, "python3");
	db_put(j.d, "ThreadNames", "nameId:i priority:i globalTid:i", (int64_t)99, (int64_t)20, thread());
	db_put(j.d, "PROCESSES", "globalPid:i pid:i name:s", process(), (int64_t)PID, "python3");
	db_put(j.d, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs:i", (int64_t)1790000000000000000);
	db_put(j.d, db_has(j.d, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA", "name:s value:s", "EXPORT_SCHEMA_VERSION", syn_opt.schema);
	db_close(j.d);
	answer(&j);
}
