/* scale.c -- one export of any size, streamed: five threads nest ranges as PyTorch does, block after block. A block is
 * 16 ranges, 7 calls and 2.2 kernels on one thread; a frame is one block on each thread; a step is 64 frames. Rows are sorted by start.
 * What the ranges project to is summed from the schedule. Memory does not grow with the number of ranges.
 * With --ties the threads run in lockstep and kernels start and end at round times, so that most starts are shared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db.h"
#include "synth.h"

enum { THREADS = 5, RANGES = 16, CALLS = 7, STEP = 64, FRAME = 160000, PID = 4242, LEVELS = 6, TICK = 10000 };

/* Relative to the block's start. The last range of a step's first block is the step itself. */
static const struct { int level, start, end; const char *name; } shape[RANGES] = {
	{ 1, 500, 140000, "nn.Module: TransformerBlock" },
	{ 2, 1000, 60000, "aten::linear" },
	{ 3, 2000, 8000, "aten::t" },
	{ 4, 3000, 6000, "aten::transpose" },
	{ 5, 3500, 5000, "aten::as_strided" },
	{ 3, 10000, 55000, "aten::addmm" },
	{ 4, 20000, 25000, "aten::expand" },
	{ 5, 21000, 23000, "aten::as_strided" },
	{ 2, 62000, 90000, "aten::gelu" },
	{ 3, 63000, 66000, "aten::empty" },
	{ 2, 92000, 130000, "aten::layer_norm" },
	{ 3, 93000, 120000, "aten::native_layer_norm" },
	{ 4, 94000, 97000, "aten::empty" },
	{ 3, 121000, 125000, "aten::view" },
	{ 2, 131000, 138000, "aten::add" },
	{ 2, 138500, 139500, "aten::detach" }
};
enum { IS_CAPTURING = 1, LAUNCH, RECORD, GEMM, GELU, NORM };   /* StringIds */
static const char *const strings[] = { NULL, "cudaStreamIsCapturing_v10000", "cudaLaunchKernel_v7000", "cudaEventRecord_v3020",
	"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "void at::native::vectorized_elementwise_kernel<(int)8, at::native::GeluCUDAKernelImpl>(int, T2, T3)",
	"void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, T2, const T1 *)" };
/* kernel: 0 none, else its name; the third runs in every fifth block only. */
static const struct { int start, end, name, kernel; } calls[CALLS] = {
	{ 12000, 13000, IS_CAPTURING, 0 }, { 15000, 16500, IS_CAPTURING, 0 }, { 30000, 35000, LAUNCH, GEMM }, { 70000, 74000, LAUNCH, GELU },
	{ 99000, 99800, IS_CAPTURING, 0 }, { 100000, 104000, LAUNCH, NORM }, { 133000, 134500, RECORD, 0 }
};
/* Launches of kernels: ranges around each launching call. */
static const struct { int call, range; } around[] = { { 2, 1 }, { 2, 5 }, { 3, 8 }, { 5, 10 }, { 5, 11 } };

struct event { int64_t start, end; int64_t block; int which; };
struct sums { int64_t projected[LEVELS], ops[LEVELS], dur[LEVELS], kernels, kernel_time, calls; };

static int64_t blocks, frames;

static int64_t
begin_of(int64_t block)
{
	int64_t thread = block % THREADS;

	if (syn_opt.ties)
		return 2000000000 + block / THREADS * FRAME;
	return 2000000000 + block / THREADS * FRAME + thread * 311 + (int64_t)(nsx_hash_u64((uint64_t)block * 2 + (uint64_t)syn_opt.seed) % 2000);
}

static bool
runs(int64_t block, int call)
{
	return calls[call].kernel && (calls[call].kernel != NORM || block % 5 == 0);
}

/* The next multiple of TICK with --ties: kernels of a block stay in order, and share start times with those of other
 * threads. */
static int64_t
tick(int64_t t)
{
	return syn_opt.ties ? (t + TICK - 1) / TICK * TICK : t;
}

static void
kernel_of(int64_t block, int call, int64_t *start, int64_t *end)
{
	uint64_t h = nsx_hash_u64((uint64_t)block * CALLS + (uint64_t)call + 77);

	*start = tick(begin_of(block) + calls[call].end + 1500 + (int64_t)(h % 3000));
	*end = tick(*start + 3000 + (int64_t)((h >> 20) % 20000));
}

static bool
is_step(int64_t block, int range)
{
	return range == RANGES - 1 && block / THREADS % STEP == 0;
}

/* The last block of a thread in the step of `block`. */
static int64_t
last_of_step(int64_t block)
{
	int64_t frame = block / THREADS, last = frame - frame % STEP + STEP - 1, b;

	if (last >= frames)
		last = frames - 1;
	b = last * THREADS + block % THREADS;
	return b < blocks ? b : b - THREADS;
}

static int
by_start(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

static int64_t
gtid(int64_t block)
{
	return ((int64_t)1 << 48) + ((int64_t)PID << 24) + PID + block % THREADS;
}

static void
ranges(struct db *d)
{
	struct db_table *t = db_table(d, "NVTX_EVENTS");
	int start = db_col(t, "start"), end = db_col(t, "end"), type = db_col(t, "eventType"), text = db_col(t, "text"), tid = db_col(t, "globalTid");
	struct event ev[THREADS * RANGES];
	char name[96];

	db_int(t, type, SYN_PUSHPOP);
	db_int(t, db_col(t, "domainId"), 0);
	for (int64_t f = 0; f < frames; f++) {
		size_t n = 0;

		for (int64_t b = f * THREADS; b < (f + 1) * THREADS && b < blocks; b++)
			for (int r = 0; r < RANGES; r++) {
				int64_t at = begin_of(b);

				ev[n++] = is_step(b, r) ? (struct event){ at, begin_of(last_of_step(b)) + 150000, b, r }
				                        : (struct event){ at + shape[r].start, at + shape[r].end, b, r };
			}
		qsort(ev, n, sizeof *ev, by_start);
		for (size_t i = 0; i < n; i++) {
			if (is_step(ev[i].block, ev[i].which))
				snprintf(name, sizeof name, "ProfilerStep#%" PRId64, f / STEP);
			else
				snprintf(name, sizeof name, "%s, op_id = %" PRId64, shape[ev[i].which].name, ev[i].block * RANGES + ev[i].which);
			db_int(t, start, ev[i].start);
			db_int(t, end, ev[i].end);
			db_text(t, text, name);
			db_int(t, tid, gtid(ev[i].block));
			db_row(t);
		}
	}
	/* The remainder modulo 16: separate ranges at the end. */
	for (int64_t i = blocks * RANGES; i < syn_opt.scale; i++) {
		db_int(t, start, begin_of(frames * THREADS) + 1000000 + 100 * (i % RANGES));
		db_int(t, end, begin_of(frames * THREADS) + 1000050 + 100 * (i % RANGES));
		db_text(t, text, "tail");
		db_int(t, tid, gtid(0));
		db_row(t);
	}
}

static void
runtime(struct db *d, struct sums *s)
{
	struct db_table *t = db_table(d, "CUPTI_ACTIVITY_KIND_RUNTIME");
	int start = db_col(t, "start"), end = db_col(t, "end"), corr = db_col(t, "correlationId"), name = db_col(t, "nameId"), tid = db_col(t, "globalTid");
	struct event ev[THREADS * CALLS];

	db_int(t, db_col(t, "eventClass"), 0);
	for (int64_t f = 0; f < frames; f++) {
		size_t n = 0;

		for (int64_t b = f * THREADS; b < (f + 1) * THREADS && b < blocks; b++)
			for (int c = 0; c < CALLS; c++)
				ev[n++] = (struct event){ begin_of(b) + calls[c].start, begin_of(b) + calls[c].end, b, c };
		qsort(ev, n, sizeof *ev, by_start);
		for (size_t i = 0; i < n; i++) {
			db_int(t, start, ev[i].start);
			db_int(t, end, ev[i].end);
			db_int(t, corr, ev[i].block * CALLS + ev[i].which + 1);
			db_int(t, name, calls[ev[i].which].name);
			db_int(t, tid, gtid(ev[i].block));
			db_row(t);
		}
		s->calls += (int64_t)n;
	}
}

static void
kernels(struct db *d, struct sums *s)
{
	struct db_table *t = db_table(d, "CUPTI_ACTIVITY_KIND_KERNEL");
	int start = db_col(t, "start"), end = db_col(t, "end"), corr = db_col(t, "correlationId"), name = db_col(t, "demangledName"), base = db_col(t, "shortName");
	int stream = db_col(t, "streamId");
	struct event ev[THREADS * CALLS];

	db_int(t, db_col(t, "deviceId"), 0);
	db_int(t, db_col(t, "globalPid"), gtid(0) & ~(int64_t)0xffffff);
	for (int64_t f = 0; f < frames; f++) {
		size_t n = 0;

		for (int64_t b = f * THREADS; b < (f + 1) * THREADS && b < blocks; b++)
			for (int c = 0; c < CALLS; c++)
				if (runs(b, c)) {
					ev[n].block = b;
					ev[n].which = c;
					kernel_of(b, c, &ev[n].start, &ev[n].end);
					n++;
				}
		qsort(ev, n, sizeof *ev, by_start);
		for (size_t i = 0; i < n; i++) {
			db_int(t, start, ev[i].start);
			db_int(t, end, ev[i].end);
			db_int(t, corr, ev[i].block * CALLS + ev[i].which + 1);
			db_int(t, name, calls[ev[i].which].kernel);
			db_int(t, base, calls[ev[i].which].kernel);
			db_int(t, stream, 7 + ev[i].block % THREADS);
			db_row(t);
			s->kernel_time += ev[i].end - ev[i].start;
		}
		s->kernels += (int64_t)n;
	}
}

static void
project(struct sums *s, int level, int64_t start, int64_t end, int64_t ops)
{
	s->projected[level]++;
	s->ops[level] += ops;
	s->dur[level] += end - start;
}

/* Launches in a block are in order, and so are their kernels. */
static void
sum(struct sums *s)
{
	struct { int64_t start, end, ops; } step[THREADS] = { { 0, 0, 0 } };

	for (int64_t b = 0; b < blocks; b++) {
		int64_t first = 0, last = 0, n = 0, start, end;

		for (int c = 0; c < CALLS; c++)
			if (runs(b, c)) {
				kernel_of(b, c, &start, &end);
				first = n++ ? first : start;
				last = end;
			}
		for (size_t i = 0; i < sizeof around / sizeof *around; i++)
			if (runs(b, around[i].call)) {
				kernel_of(b, around[i].call, &start, &end);
				project(s, shape[around[i].range].level, start, end, 1);
			}
		project(s, 1, first, last, n);
		if (is_step(b, RANGES - 1)) {
			step[b % THREADS].start = first;
			step[b % THREADS].ops = 0;
		}
		step[b % THREADS].end = last;
		step[b % THREADS].ops += n;
		if (last_of_step(b) == b)
			project(s, 0, step[b % THREADS].start, step[b % THREADS].end, step[b % THREADS].ops);
	}
}

static void
answer(const struct sums *s)
{
	struct syn_tsv t;
	int64_t projected = 0;

	for (int l = 0; l < LEVELS; l++)
		projected += s->projected[l];
	syn_tsv_open(&t, "totals", "quantity\tvalue");
	syn_tsv_row(&t, "ranges\t%" PRId64, syn_opt.scale);
	syn_tsv_row(&t, "projected\t%" PRId64, projected);
	syn_tsv_row(&t, "calls\t%" PRId64, s->calls);
	syn_tsv_row(&t, "kernels\t%" PRId64, s->kernels);
	syn_tsv_row(&t, "kernel_time\t%" PRId64, s->kernel_time);
	for (int l = 0; l < LEVELS; l++) {
		syn_tsv_row(&t, "projected_level_%d\t%" PRId64, l, s->projected[l]);
		syn_tsv_row(&t, "ops_level_%d\t%" PRId64, l, s->ops[l]);
		syn_tsv_row(&t, "dur_level_%d\t%" PRId64, l, s->dur[l]);
	}
	syn_tsv_close(&t);
}

void
syn_scale(void)
{
	struct sums s = { { 0 }, { 0 }, { 0 }, 0, 0, 0 };
	char path[4096];
	struct db *d;

	blocks = syn_opt.scale / RANGES;
	frames = (blocks + THREADS - 1) / THREADS;
	if (snprintf(path, sizeof path, "%s/r0.sqlite", syn_opt.dir) >= (int)sizeof path)
		syn_die("%s: the name is too long", syn_opt.dir);
	d = db_open(path, db_version_of(syn_opt.schema), syn_opt.full, false, 1);
	ranges(d);
	runtime(d, &s);
	kernels(d, &s);
	for (int64_t i = 1; i < (int64_t)(sizeof strings / sizeof *strings); i++)
		db_put(d, "StringIds", "id:i value:s", i, strings[i]);
	db_put(d, "StringIds", "id:i value:s", (int64_t)99, "python3");
	for (int64_t k = 0; k < THREADS; k++)
		db_put(d, "ThreadNames", "nameId:i priority:i globalTid:i", (int64_t)99, (int64_t)20, gtid(k));
	db_put(d, "PROCESSES", "globalPid:i pid:i name:s", gtid(0) & ~(int64_t)0xffffff, (int64_t)PID, "python3");
	db_put(d, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs:i", (int64_t)1790000000000000000);
	db_put(d, db_has(d, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA", "name:s value:s", "EXPORT_SCHEMA_VERSION", syn_opt.schema);
	db_close(d);
	sum(&s);
	answer(&s);
}
