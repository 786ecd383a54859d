/* late.c -- one export of a Python program that is late repeatedly, each time for known reasons: its main thread reads,
 * sleeps, waits for a lock, is off the CPU, waits for the GIL, or computes, in lines that are known, while the device
 * has nothing to do. The expected tables of nsysx-idle --by host are summed up while phases are planted.
 *
 *   kernel | phase | phase | phase | launch | way | kernel
 *
 * A sample of Python is taken in the last nanosecond of each phase, so it answers for that phase and no other. Native
 * samples are taken in what computes, all of one function for each line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "db.h"
#include "synth.h"

enum { PID = 4242, HOG = 4250, SAMPLER = 4260, BUSY = 60000, STREAM = 7, NLINES = 6, MOST = 256 };
enum { KERNEL = 1, LAUNCH, HOLDING, WAITING, READ, SLEEP, SEM_WAIT, COND_WAIT, NAME_MAIN, NAME_HOG, NAME_SAMPLER, PYTHON, MODULE, APP, LIBRARY, BOOT, BOOTSTRAP, QUEUE_GET, NEXT_BATCH, FIRST_FUNCTION };

enum what { READS, SLEEPS, LOCKED, COMPUTES, PREEMPTED, GIL_HOG, GIL_SAMPLER, GIL_FREE, GIL_LATE, NWHATS };

static const char *const lines[NLINES] = { "load_batch", "augment", "log_metrics", "save", "schedule", "step" };

/* A row of the expected table. */
struct row { const char *cause, *state, *what; int line; int64_t ns, off, count, longest, samples, gap, in_gap; };

struct late {
	struct db *d;
	uint64_t   random;
	int64_t    out, in;            /* when it left the processor, and got it again, as far as that is not written; 0: it is */
	int64_t    now, correlation, sample, gap, hog_samples;
	struct row rows[MOST];
	int        nrows;
	int64_t    computed[NLINES];   /* running time by line */
};

static int64_t
between(struct late *j, int64_t from, int64_t to)
{
	j->random += 0x9e3779b97f4a7c15ULL;
	return from + (int64_t)(nsx_hash_u64(j->random) % (uint64_t)(to - from + 1));
}

static int64_t process(void) { return INT64_C(1) << 48 | (int64_t)PID << 24; }
static int64_t thread(int tid) { return process() | tid; }

/* ---- the export */

static void
gil_range(struct late *j, int tid, int64_t start, int64_t end, int64_t name)
{
	db_put(j->d, "NVTX_EVENTS", "start:i end:i eventType:i textId:i globalTid:i domainId:i", start, end, (int64_t)59, name, thread(tid), (int64_t)2);
}

static void
put_scheduled(struct late *j, int64_t at, bool in)
{
	db_put(j->d, "SCHED_EVENTS", "start:i cpu:i isSchedIn:i globalTid:i", at, (int64_t)0, (int64_t)in, thread(PID));
}

/* Off the CPU from `out` to `in`. No export has two rows of a thread at one time: what touches is one. */
static void
off(struct late *j, int64_t out, int64_t in)
{
	if (j->in && j->in == out) {
		j->in = in;
		return;
	}
	if (j->in) {
		put_scheduled(j, j->out, false);
		put_scheduled(j, j->in, true);
	}
	j->out = out;
	j->in = in;
}

static void
os_call(struct late *j, int64_t start, int64_t end, int64_t name)
{
	db_put(j->d, "OSRT_API", "start:i end:i eventClass:i globalTid:i nameId:i returnValue:i nestingLevel:i callchainId:i", start, end, (int64_t)27, thread(PID), name, (int64_t)0, (int64_t)0, (int64_t)0);
}

/* n bytes of v, in hexadecimal, little-endian. */
static void
put_hex(char **p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++, v >>= 8)
		*p += sprintf(*p, "%02x", (unsigned)(v & 0xff));
}

/* A mark with the stack of the line, or of a helper. */
static void
python_sample(struct late *j, int64_t at, int category, int line, int state, bool helper)
{
	struct { int64_t function, file; int line; } frames[4];
	char text[2048], *p = text;
	int n = 0;

	/* Innermost first; every second line waits in a library. */
	if (!helper && line % 2)
		frames[n].function = QUEUE_GET, frames[n].file = LIBRARY, frames[n++].line = 171;
	frames[n].function = FIRST_FUNCTION + line, frames[n].file = APP, frames[n++].line = 10 * (line + 1);
	frames[n].function = helper ? BOOTSTRAP : MODULE, frames[n].file = helper ? BOOT : APP, frames[n++].line = helper ? 930 : 99;
	put_hex(&p, 1, 8);
	put_hex(&p, UINT64_C(1) << 32 | 3, 8);
	put_hex(&p, (uint64_t)(16 + 24 * n), 8);
	put_hex(&p, 0, 8);
	put_hex(&p, (uint64_t)state, 4);
	put_hex(&p, 1, 4);
	put_hex(&p, (uint64_t)n, 4);
	put_hex(&p, 0xdeadbeef, 4);
	for (int i = 0; i < n; i++) {
		put_hex(&p, (uint64_t)frames[i].function, 8);
		put_hex(&p, (uint64_t)frames[i].file, 8);
		put_hex(&p, (uint64_t)frames[i].line, 4);
		put_hex(&p, 0xfeedf00d, 4);
	}
	db_put(j->d, "NVTX_EVENTS", "start:i eventType:i category:i globalTid:i domainId:i binaryData:s", at, (int64_t)34, (int64_t)category, thread(SAMPLER), (int64_t)1, text);
}

static void
native_sample(struct late *j, int64_t at, int line)
{
	int64_t id = ++j->sample;

	db_put(j->d, "COMPOSITE_EVENTS", "id:i start:i cpu:i globalTid:i cpuCycles:i", id, at, (int64_t)0, thread(PID), (int64_t)1);
	db_put(j->d, "SAMPLING_CALLCHAINS", "id:i symbol:i module:i unresolved:i stackDepth:i", id, (int64_t)(FIRST_FUNCTION + line), (int64_t)PYTHON, (int64_t)0, (int64_t)0);
	db_put(j->d, "SAMPLING_CALLCHAINS", "id:i symbol:i module:i unresolved:i stackDepth:i", id, (int64_t)MODULE, (int64_t)PYTHON, (int64_t)1, (int64_t)1);
}

static void
kernel(struct late *j, int64_t start, int64_t correlation)
{
	db_put(j->d, "CUPTI_ACTIVITY_KIND_KERNEL", "start:i end:i deviceId:i streamId:i correlationId:i globalPid:i demangledName:i shortName:i", start, start + BUSY, (int64_t)0,
	       (int64_t)STREAM, correlation, process(), (int64_t)KERNEL, (int64_t)KERNEL);
	j->now = start + BUSY;
}

static int64_t
launch(struct late *j, int64_t start, int64_t end)
{
	db_put(j->d, "CUPTI_ACTIVITY_KIND_RUNTIME", "start:i end:i eventClass:i globalTid:i correlationId:i nameId:i", start, end, (int64_t)0, thread(PID), ++j->correlation, (int64_t)LAUNCH);
	return j->correlation;
}

/* ---- what is expected */

static void
expect(struct late *j, const char *cause, const char *state, const char *what, int line, int64_t ns, int64_t off)
{
	struct row *r = j->rows;

	while (r < j->rows + j->nrows && !(strcmp(r->cause, cause) == 0 && strcmp(r->state, state) == 0 && strcmp(r->what, what) == 0 && r->line == line))
		r++;
	if (r == j->rows + j->nrows) {
		if (++j->nrows > MOST)
			syn_die("too many rows");
		*r = (struct row){ .cause = cause, .state = state, .what = what, .line = line, .gap = -1 };
	}
	if (r->gap != j->gap) {
		r->gap = j->gap;
		r->in_gap = 0;
		r->count++;
	}
	r->ns += ns;
	r->off += off;
	r->in_gap += ns;
	r->longest = r->in_gap > r->longest ? r->in_gap : r->longest;
	r->samples++;
}

static void
answer(const struct late *j)
{
	struct syn_tsv t;

	syn_tsv_open(&t, "late", "device\tcause\tstate\twhat\tline\tns\toff\tcount\tlongest\tsamples");
	for (int i = 0; i < j->nrows; i++) {
		const struct row *r = &j->rows[i];

		syn_tsv_row(&t, "0\t%s\t%s\t%s\t/app/train.py:%d[%s]\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64, r->cause, r->state, r->what, 10 * (r->line + 1), lines[r->line],
		            r->ns, r->off, r->count, r->longest, r->samples);
	}
	syn_tsv_close(&t);
	syn_tsv_open(&t, "functions", "device\tstate\tfunction\tns");
	for (int i = 0; i < NLINES; i++)
		if (j->computed[i])
			syn_tsv_row(&t, "0\trunning\tpython3[%s]\t%" PRId64, lines[i], j->computed[i]);
	syn_tsv_close(&t);
}

/* ---- phases */

static void
phase(struct late *j, enum what what, const char *cause)
{
	int64_t s = j->now, e = s + between(j, 20000, 900000), a = s + between(j, 1, 9000), b = e - between(j, 1, 9000);
	int line = (int)between(j, 0, NLINES - 1);
	static const struct { int name; const char *text; } calls[] = { [READS] = { READ, "read" }, [SLEEPS] = { SLEEP, "clock_nanosleep" }, [LOCKED] = { SEM_WAIT, "sem_wait" } };

	switch (what) {
	case READS: case SLEEPS: case LOCKED:
		os_call(j, s, e, calls[what].name);
		off(j, a, b);
		expect(j, cause, "os", calls[what].text, line, e - s, b - a);
		break;
	case COMPUTES:
		gil_range(j, PID, s, e, HOLDING);
		for (int64_t at = a; at < e; at += between(j, 100000, 300000))
			native_sample(j, at, line);
		expect(j, cause, "running", "", line, e - s, 0);
		j->computed[line] += e - s;
		break;
	case PREEMPTED:
		gil_range(j, PID, s, e, HOLDING);
		off(j, s, e);
		expect(j, cause, "off", "", line, e - s, e - s);
		break;
	case GIL_HOG: case GIL_SAMPLER:
		/* The call is how it waits. */
		os_call(j, s, e, COND_WAIT);
		gil_range(j, PID, s, e, WAITING);
		gil_range(j, what == GIL_HOG ? HOG : SAMPLER, s, e, HOLDING);
		expect(j, cause, "gil", what == GIL_HOG ? "hog 4250" : "[profiler]", line, e - s, 0);
		if (what == GIL_HOG)
			python_sample(j, s + (e - s) / 2, 2, (int)(j->hog_samples++ % NLINES), 1, true);
		break;
	case GIL_FREE:
		gil_range(j, PID, s, e, WAITING);
		expect(j, cause, "gil", "", line, e - s, 0);
		break;
	case GIL_LATE:
		/* No one has it, but the thread gets no processor. */
		gil_range(j, PID, s, e, WAITING);
		off(j, s, e);
		expect(j, cause, "off", "", line, e - s, e - s);
		break;
	case NWHATS: break;
	}
	python_sample(j, e - 1, 1, line, what == COMPUTES || what == PREEMPTED ? 3 : 1, false);
	j->now = e;
}

static void
gap(struct late *j)
{
	bool in_range = between(j, 0, 1);
	const char *cause = in_range ? "range" : "host";
	int64_t g0 = j->now, c1, way = between(j, 500, 15000), id;

	j->gap++;
	for (int64_t n = between(j, 1, 4); n > 0; n--)
		phase(j, j->gap * 4 + n < NWHATS + 4 ? (enum what)((j->gap * 4 + n) % NWHATS) : (enum what)between(j, 0, NWHATS - 1), cause);
	if (in_range)
		db_put(j->d, "NVTX_EVENTS", "start:i end:i eventType:i textId:i globalTid:i domainId:i", g0, j->now, (int64_t)59, (int64_t)NEXT_BATCH, thread(PID), (int64_t)0);
	c1 = j->now + between(j, 2000, 9000);
	id = launch(j, j->now, c1);
	expect(j, "launch", "call", "cudaLaunchKernel", NLINES - 1, c1 - j->now, 0);
	python_sample(j, c1 - 1, 1, NLINES - 1, 3, false);
	gil_range(j, PID, j->now, c1 + way + BUSY, HOLDING);
	kernel(j, c1 + way, id);
}

void
syn_late(void)
{
	static const char *const strings[FIRST_FUNCTION] = { NULL, "gemm_kernel", "cudaLaunchKernel_v7000", "Holding GIL", "Waiting for GIL", "read", "clock_nanosleep", "sem_wait",
		"pthread_cond_timedwait", "trainer", "hog", "NSys PySampling", "/usr/bin/python3", "&lt;module&gt;", "/app/train.py", "/usr/lib/python3.11/queue.py", "/usr/lib/python3.11/threading.py",
		"_bootstrap", "get", "next batch" };
	static const struct { int tid; int64_t name; } threads[] = { { PID, NAME_MAIN }, { HOG, NAME_HOG }, { SAMPLER, NAME_SAMPLER } };
	struct late j = { .random = (uint64_t)syn_opt.seed * 0xd1342543de82ef95ULL, .correlation = 100 };
	const int64_t begin = 2000000000;
	char path[4096];

	/* Earlier exports have no payloads. */
	if (db_version_of(syn_opt.schema) < db_version_of("3.24.14"))
		syn_opt.schema = "3.24.14";
	if (snprintf(path, sizeof path, "%s/r0.sqlite", syn_opt.dir) >= (int)sizeof path)
		syn_die("%s: the name is too long", syn_opt.dir);
	j.d = db_open(path, db_version_of(syn_opt.schema), syn_opt.full, syn_opt.shuffle, (uint64_t)syn_opt.seed);
	put_scheduled(&j, begin - 20000, true);
	gil_range(&j, PID, begin - 20000, begin + BUSY, HOLDING);
	kernel(&j, begin, launch(&j, begin - 9000, begin - 5000));
	for (int64_t i = 0; i < syn_opt.late_gaps; i++)
		gap(&j);
	off(&j, j.now, j.now + 1000);
	off(&j, 0, 0);
	for (int i = 1; i < FIRST_FUNCTION; i++)
		db_put(j.d, "StringIds", "id:i value:s", (int64_t)i, strings[i]);
	for (int i = 0; i < NLINES; i++)
		db_put(j.d, "StringIds", "id:i value:s", (int64_t)(FIRST_FUNCTION + i), lines[i]);
	for (int i = 0; i < 3; i++)
		db_put(j.d, "ThreadNames", "nameId:i priority:i globalTid:i", threads[i].name, (int64_t)20, thread(threads[i].tid));
	db_put(j.d, "NVTX_EVENTS", "start:i eventType:i text:s globalTid:i domainId:i", (int64_t)0, (int64_t)75, "Python Backtrace", thread(PID), (int64_t)1);
	db_put(j.d, "NVTX_EVENTS", "start:i eventType:i text:s globalTid:i domainId:i", (int64_t)0, (int64_t)75, "GIL Trace", thread(PID), (int64_t)2);
	db_put(j.d, "META_DATA_CAPTURE", "name:s value:s", "PYTHON_BACKTRACE_SAMPLING_OPTIONS:SAMPLING_RATE", "1000");
	db_put(j.d, "PROCESSES", "globalPid:i pid:i name:s", process(), (int64_t)PID, "python3");
	db_put(j.d, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs:i", (int64_t)1790000000000000000);
	db_put(j.d, db_has(j.d, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA", "name:s value:s", "EXPORT_SCHEMA_VERSION", syn_opt.schema);
	db_close(j.d);
	answer(&j);
}
