/* work_run.c -- --work N: one export of a program of N instructions of known work, each of a kernel or more, with its
 * dump. The expected output of nsysx-roofline for an A100's peaks is computed from the plan: answers/work.tsv and
 * work_programs.tsv. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "db.h"
#include "dump.h"
#include "work.h"

enum { PID = 4242, STREAM = 7, TSL = 1, EXECUTIONS = 2, PROGRAM = 5 };
enum { KERNEL = 1, LAUNCH };

/* The device: 108 multiprocessors of 1.41 GHz and 1555.2 GB/s of memory; operations of one multiprocessor per clock
 * according to NVIDIA's description of the A100, where a multiply-add counts as two. Missing math (f8) runs as bf16. */
enum { SMS = 108 };
static const int64_t clock_rate = 1410000000, bandwidth = INT64_C(1555200000000);
static const struct { const char *math; int ops; } rates[] = { { "bf16", 2048 }, { "f16", 2048 }, { "f8", 2048 },
                                                               { "tf32", 1024 }, { "s8", 4096 }, { "f64", 128 },
                                                               { "f32", 128 } };

struct run { int64_t total, count, times, kernels; };   /* it runs `times` times in each execution of the program, with
                                                         * `kernels` kernels each */

struct job {
	struct db *d;
	struct work_module m;
	struct run *run;          /* by instruction */
	int64_t host, busy, correlation, executions_ns, range;
};

static int64_t process(void) { return INT64_C(1) << 48 | (int64_t)PID << 24; }
static int64_t thread(void) { return process() | PID; }

/* The nanoseconds that the work takes at the peak of a math. */
static double
at_peak(int64_t work, const char *math)
{
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		if (strcmp(rates[i].math, math) == 0)
			return (double)work / ((double)SMS * rates[i].ops * (double)clock_rate / 1e9);
	syn_die("%s has no peak", math);
}

/* The minimum time of an execution by matrix units, scalar units, memory; and its bound, the first of equal ones. */
static int
least(const struct work *w, double limits[3])
{
	int bound = 0;

	limits[0] = w->flops ? at_peak(w->flops, w->math) : 0;
	limits[1] = at_peak(w->vector, "f32");
	limits[2] = (double)w->bytes / ((double)bandwidth / 1e9);
	for (int b = 1; b < 3; b++)
		bound = limits[b] > limits[bound] ? b : bound;
	return bound;
}

/* One execution of instruction n: its range, and its kernels one after the other. */
static void
execute(struct job *j, size_t n)
{
	int64_t start = j->host, first = 0, end = 0;
	double limits[3], limit;
	char title[128];

	limit = limits[least(&j->m.work.p[n], limits)];
	/* Some are faster than the limit allows, as caches and clocks make real ones. */
	for (int64_t k = 0; k < j->run[n].kernels; k++) {
		int64_t c0 = j->host + 700, dur = 800 + (int64_t)(limit * (double)work_between(&j->m, 60,
			300) / 100 / (double)j->run[n].kernels), begin;

		j->host = c0 + 2100;
		begin = j->busy + 300 > j->host ? j->busy + 300 : j->host + 900;
		db_put(j->d, "CUPTI_ACTIVITY_KIND_RUNTIME",
		       "start:i end:i eventClass:i globalTid:i correlationId:i nameId:i", c0, j->host, (int64_t)0,
		       thread(), ++j->correlation, (int64_t)LAUNCH);
		db_put(j->d, "CUPTI_ACTIVITY_KIND_KERNEL",
		       "start:i end:i deviceId:i streamId:i correlationId:i globalPid:i demangledName:i shortName:i",
		       begin,
		       begin + dur, (int64_t)0, (int64_t)STREAM, j->correlation, process(), (int64_t)KERNEL,
		       (int64_t)KERNEL);
		first = k ? first : begin;
		j->busy = end = begin + dur;
	}
	j->host += 600;
	snprintf(title, sizeof title, "Thunk:#hlo_op=%s#", j->m.work.p[n].name);
	db_put(j->d, "NVTX_EVENTS", "start:i end:i eventType:i text:s globalTid:i domainId:i", start, j->host,
	       (int64_t)59, title, thread(), (int64_t)TSL);
	j->host += 200;
	j->run[n].total += end - first;
	j->run[n].count++;
	if (j->range < 0)
		j->range = first;
}

static void
module(struct job *j)
{
	int64_t start = j->host;

	j->host += 1000;
	j->range = -1;
	for (size_t n = 0; n < j->m.work.n; n++)
		for (int64_t k = 0; k < j->run[n].times; k++)
			execute(j, n);
	j->host += 1000;
	db_put(j->d, "NVTX_EVENTS", "start:i end:i eventType:i text:s globalTid:i domainId:i", start, j->host,
	       (int64_t)59,
	       "XlaModule:#hlo_module=jit_work,program_id=5#", thread(), (int64_t)TSL);
	j->host += 50000;
	j->executions_ns += j->busy - j->range;
}

static void
answer(const struct job *j)
{
	struct { double matrix, vector, memory, limit, headroom, peak; int64_t ns, modelled, by[3], flops; } sum =
	    { 0 };
	static const char *const bounds[] = { "matrix", "vector", "memory" };
	struct syn_tsv t;

	syn_tsv_open(&t, "work", "id\tprogram\tname\topcode\tmath\tbound\tcount\ttotal\tlimit\tflops\tvector\tbytes");
	for (size_t n = 0; n < j->m.work.n; n++) {
		const struct work *w = &j->m.work.p[n];
		int64_t count = j->run[n].count, total = j->run[n].total;
		double limits[3];
		int bound;

		sum.ns += total;
		if (!w->modelled) {
			syn_tsv_row(&t, "%d\tjit_work\t%s\t%s\t\t\t%" PRId64 "\t%" PRId64 "\t\t\t\t", PROGRAM, w->name,
			            w->opcode, count, total);
			continue;
		}
		bound = least(w, limits);
		syn_tsv_row(&t, "%d\tjit_work\t%s\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%.17g\t%" PRId64 "\t%" PRId64
		            "\t%" PRId64, PROGRAM, w->name, w->opcode,
		            w->flops ? w->math : "", bounds[bound], count, total, (double)count * limits[bound],
		            w->flops, w->vector, w->bytes);
		sum.modelled += total;
		sum.by[bound] += total;
		sum.limit += (double)count * limits[bound];
		sum.peak += (double)count * limits[0];
		sum.headroom += (double)total > (double)count * limits[bound] ? (double)total - (double)count *
		    limits[bound] : 0;
		sum.flops += count * w->flops;
	}
	syn_tsv_close(&t);
	syn_tsv_open(&t, "work_programs",
		"id\tprogram\tkey\texecutions\ttime\tcompute\tmodelled\tmatrix\tvector\tmemory\tlimit\theadroom\tflops\thfu");
	syn_tsv_row(&t, "%d\tjit_work\tjit_work@%d\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64
	            "\t%" PRId64 "\t%.17g\t%.17g\t%" PRId64 "\t%.17g",
	            PROGRAM, PROGRAM, EXECUTIONS, j->executions_ns, sum.ns, sum.modelled, sum.by[0], sum.by[1],
	            sum.by[2], sum.limit, sum.headroom, sum.flops,
	            sum.peak / (double)j->executions_ns);
	syn_tsv_close(&t);
}

static void
around(struct job *j)
{
	static const char *const strings[] = { NULL, "gemm_kernel", "cudaLaunchKernel_v7000" };

	for (int64_t i = 1; i <= LAUNCH; i++)
		db_put(j->d, "StringIds", "id:i value:s", i, strings[i]);
	db_put(j->d, "NVTX_EVENTS", "start:i eventType:i text:s globalTid:i domainId:i", (int64_t)0, (int64_t)75, "TSL",
	       thread(), (int64_t)TSL);
	db_put(j->d, "PROCESSES", "globalPid:i pid:i name:s", process(), (int64_t)PID, "python3");
	db_put(j->d, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs:i", (int64_t)1790000000000000000);
	db_put(j->d, "TARGET_INFO_GPU",
		"vmId:i id:i name:s busLocation:s isDiscrete:i memoryBandwidth:i clockRate:i smCount:i cuDevice:i "
		"computeMajor:i computeMinor:i", (int64_t)1,
	       (int64_t)0, "NVIDIA A100-SXM4-40GB", "0000:0a:00.0", (int64_t)1, bandwidth, clock_rate, (int64_t)SMS,
	       (int64_t)0, (int64_t)8, (int64_t)0);
	db_put(j->d, db_has(j->d, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA", "name:s value:s",
	       "EXPORT_SCHEMA_VERSION", syn_opt.schema);
}

void
syn_work(void)
{
	struct job j = { .host = 2000000000, .correlation = 100 };
	char path[4096], dump[4096];
	pb proto;

	j.m.random = (uint64_t)syn_opt.seed * 0xd1342543de82ef95ULL;
	if (snprintf(path, sizeof path, "%s/r0.sqlite", syn_opt.dir) >= (int)sizeof path
	    || snprintf(dump, sizeof dump, "%s/dump0", syn_opt.dir) >= (int)sizeof dump)
		syn_die("%s: the name is too long", syn_opt.dir);
	for (int64_t n = 0; n < syn_opt.work; n++)
		work_plant(&j.m, n);
	j.run = syn_check(calloc(j.m.work.n, sizeof *j.run));
	for (size_t n = 0; n < j.m.work.n; n++)
		j.run[n] = (struct run){ .times = work_between(&j.m, 1, 3), .kernels = work_between(&j.m, 1, 3) };
	j.d = db_open(path, db_version_of(syn_opt.schema), syn_opt.full, syn_opt.shuffle, (uint64_t)syn_opt.seed);
	for (int i = 0; i < EXECUTIONS; i++)
		module(&j);
	around(&j);
	db_close(j.d);
	if (mkdir(dump, 0777) != 0 && errno != EEXIST)
		syn_die("%s: %s", dump, strerror(errno));
	proto = work_proto(&j.m, "jit_work", PROGRAM);
	snprintf(path, sizeof path, "%.4000s/module_0005.jit_work.sm_8.0_gpu_after_optimizations.hlo.pb", dump);
	syn_write_dump(path, &proto);
	nsx_buf_free(&proto);
	answer(&j);
	free(j.run);
	free(j.m.work.p);
}
