/* codec.c -- nsx-codec: how fast each encoding of the stream is written and read, on one core.
 * usage: codec [RECORDS [RUNS [NAME]]]
 * Thunk records with all their columns, from a fixed seed: of two programs that eight devices run in step ("program"), and of names
 * and numbers that hardly repeat ("varied"). They are written to /dev/null and read from memory. A table on standard
 * output, a row per encoding, direction and mix: seconds are CPU time, the least of RUNS; mb_per_s counts 1e6
 * bytes of the encoding. NAME: only the row of that name. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/outfile.h"
#include "stream/codec.h"

enum { DEVICES = 8, PROGRAMS = 2, INSTS = 400, RECORDS = 400000, RUNS = 7, VARIED = 1 << 16 };

/* The values of a record, and names: few enough that reading them takes little time. */
struct thunk {
	int64_t  start, host_start;
	uint32_t dur, hidden, host_dur, name, range, execution;
	uint16_t program, inst;
	uint8_t  device, occurrence, ops, comm;
};

struct mix {
	const char     *name;
	struct thunk   *p;
	size_t          n;
	struct nsx_str *names;
	size_t          nnames;
};

static uint64_t seed = 1;

static uint64_t
draw(uint64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return nsx_hash_u64(seed) % below;
}

static void
die(const char *what)
{
	fprintf(stderr, "nsx-codec: %s\n", what);
	exit(1);
}

static void *
need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static struct nsx_str *
make_names(size_t n)
{
	static const char *const stem[] = { "loop_fusion", "input_reduce_fusion", "cublas-gemm", "all-reduce-start", "wrapped_convert",
	                                    "loop_broadcast_fusion", "input_reduce_select_transpose_fusion", "copy" };
	struct nsx_str *names = need(calloc(n, sizeof *names));
	struct nsx_buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		b.len = 0;
		nsx_buf_fmt(&b, "%s.%d", stem[draw(8)], (int)(i * 7919 % n));
		names[i] = nsx_str_c(need(nsx_str_dup(nsx_buf_view(&b))));
	}
	nsx_buf_free(&b);
	return names;
}

/* Devices run the same instructions a little apart; every instruction takes about as long each time. */
static struct mix
program_mix(size_t n)
{
	struct mix m = { "program", need(calloc(n, sizeof *m.p)), n, make_names(PROGRAMS * INSTS), PROGRAMS * INSTS };
	uint32_t dur[PROGRAMS * INSTS];
	int64_t now[DEVICES], host[DEVICES];

	for (int i = 0; i < PROGRAMS * INSTS; i++)
		dur[i] = (uint32_t)(1000 + draw(30000));
	for (int d = 0; d < DEVICES; d++) {
		now[d] = 1000000000 + (int64_t)draw(1000);
		host[d] = now[d] - 5000000;
	}
	for (size_t i = 0; i < n; i++) {
		size_t step = i / DEVICES, inst = step % INSTS, execution = step / INSTS;
		uint32_t device = i % DEVICES, program = execution % PROGRAMS;
		uint32_t name = (uint32_t)(program * INSTS + inst);
		bool comm = dur[name] % 20 == 0;
		struct thunk *t = &m.p[i];

		*t = (struct thunk){ .program = (uint16_t)program, .inst = (uint16_t)inst, .execution = (uint32_t)(execution / PROGRAMS),
		                     .device = (uint8_t)device, .name = name, .ops = (uint8_t)(1 + dur[name] % 16 / 15), .comm = comm,
		                     .dur = dur[name] / 32 * 32 + (uint32_t)draw(9) * 32, .range = (uint32_t)(100 + i + step / 5) };
		t->hidden = comm ? t->dur / 2 : 0;
		t->start = now[device];
		t->host_start = host[device];
		t->host_dur = (uint32_t)(4000 + draw(4000));
		now[device] += t->dur + 1000 + (int64_t)draw(500);
		host[device] += t->host_dur + 500 + (int64_t)draw(500);
	}
	return m;
}

static struct mix
varied_mix(size_t n)
{
	struct mix m = { "varied", need(calloc(n, sizeof *m.p)), n, make_names(VARIED), VARIED };
	int64_t now = 1000000000;

	for (size_t i = 0; i < n; i++) {
		struct thunk *t = &m.p[i];

		*t = (struct thunk){ .program = (uint16_t)draw(50), .inst = (uint16_t)draw(5000), .execution = (uint32_t)draw(1000),
		                     .device = (uint8_t)draw(DEVICES), .name = (uint32_t)(i % VARIED), .ops = (uint8_t)draw(20),
		                     .comm = (uint8_t)draw(2), .occurrence = (uint8_t)draw(4), .dur = (uint32_t)draw(1000000),
		                     .hidden = (uint32_t)draw(100000), .range = (uint32_t)draw(1 << 30), .host_dur = (uint32_t)draw(100000) };
		t->start = now += (int64_t)draw(3000);
		t->host_start = now - (int64_t)draw(5000000);
	}
	return m;
}

static void
fill(struct nsx_rec *rec, const struct mix *m, const struct thunk *t)
{
	union nsx_val *v = rec->v;

	rec->has = (1ULL << (NSX_THUNK_range + 1)) - 1;
	v[NSX_THUNK_profile].i = 0;
	v[NSX_THUNK_program].i = t->program;
	v[NSX_THUNK_execution].i = t->execution;
	v[NSX_THUNK_device].i = t->device;
	v[NSX_THUNK_inst].i = t->inst;
	v[NSX_THUNK_occurrence].i = t->occurrence;
	v[NSX_THUNK_name].s = m->names[t->name];
	v[NSX_THUNK_start].i = t->start;
	v[NSX_THUNK_dur].i = t->dur;
	v[NSX_THUNK_hidden].i = t->hidden;
	v[NSX_THUNK_host_start].i = t->host_start;
	v[NSX_THUNK_host_dur].i = t->host_dur;
	v[NSX_THUNK_ops].i = t->ops;
	v[NSX_THUNK_comm].i = t->comm;
	v[NSX_THUNK_range].i = t->range;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double
write_all(const struct mix *m, bool binary, int fd)
{
	struct nsx_err err = { "" };
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_THUNK), 0, v };
	double from = seconds();
	struct nsx_writer *w = nsx_writer_fd(fd, "codec", binary, 0, &err);

	for (size_t i = 0; w && i < m->n; i++) {
		fill(&rec, m, &m->p[i]);
		if (nsx_write(w, &rec) != NSX_OK)
			break;
	}
	if (!w || nsx_writer_finish(w) != NSX_OK)
		die(err.msg);
	nsx_writer_free(w);
	return seconds() - from;
}

/* Reads the stream and sums its values, so that reading cannot be optimised away. */
static double
read_all(const struct mix *m, struct nsx_str bytes, int64_t *sum)
{
	struct nsx_err err = { "" };
	struct nsx_rec rec;
	double from = seconds();
	struct nsx_reader *r = nsx_reader_mem(bytes.ptr, bytes.len, "codec", 0, &err);
	size_t n = 0;
	int rc = NSX_ERR;

	*sum = 0;
	while (r && (rc = nsx_read(r, &rec)) == NSX_OK) {
		*sum += rec.v[NSX_THUNK_start].i ^ rec.v[NSX_THUNK_range].i ^ (int64_t)rec.v[NSX_THUNK_name].s.len;
		n++;
	}
	if (rc != NSX_EOF || n != m->n)
		die(err.msg[0] ? err.msg : "records lost");
	nsx_reader_close(r);
	return seconds() - from;
}

static struct nsx_str
encode(const struct mix *m, bool binary)
{
	struct nsx_err err = { "" };
	int fd = nsx_tmpfile(&err);

	if (fd < 0)
		die(err.msg);
	write_all(m, binary, fd);
	off_t len = lseek(fd, 0, SEEK_END);
	char *p = need(malloc((size_t)len + 1));
	for (off_t at = 0; at < len;) {
		ssize_t got = pread(fd, p + at, (size_t)(len - at), at);
		if (got <= 0)
			die("cannot read back");
		at += got;
	}
	close(fd);
	return (struct nsx_str){ p, (size_t)len };
}

/* One row: a mix, an encoding, a direction. */
static void
measure(const struct mix *m, bool binary, bool write, int runs, const char *only)
{
	char name[64];
	double best = 0;
	int64_t sum, want = 0;

	snprintf(name, sizeof name, "%s-%s-%s", binary ? "binary" : "text", write ? "write" : "read", m->name);
	if (only && strcmp(only, name) != 0)
		return;
	struct nsx_str bytes = encode(m, binary);
	int null = open("/dev/null", O_WRONLY);
	if (null < 0)
		die("cannot open /dev/null");
	for (size_t i = 0; i < m->n; i++)
		want += m->p[i].start ^ m->p[i].range ^ (int64_t)m->names[m->p[i].name].len;
	for (int i = 0; i < runs; i++) {
		double s = write ? write_all(m, binary, null) : read_all(m, bytes, &sum);

		if (!write && sum != want)
			die("other records than were written");
		best = i && best < s ? best : s;
	}
	printf("%s\t%zu\t%zu\t%.6f\t%.0f\t%.1f\n", name, m->n, bytes.len, best, (double)m->n / best, (double)bytes.len / best * 1e-6);
	close(null);
	free((char *)bytes.ptr);
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : RECORDS, runs = argc > 2 ? atol(argv[2]) : RUNS;

	if (argc > 4 || n < 1 || runs < 1 || runs > 1000) {
		fprintf(stderr, "usage: codec [RECORDS [RUNS [NAME]]]\n");
		return 2;
	}
	struct mix mixes[] = { program_mix((size_t)n), varied_mix((size_t)n) };
	printf("codec\trecords\tbytes\tseconds\trecords_per_s\tmb_per_s\n");
	for (int i = 0; i < 8; i++)
		measure(&mixes[i / 4], i / 2 % 2, i % 2 == 0, (int)runs, argc > 3 ? argv[3] : NULL);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < mixes[i].nnames; k++)
			free((char *)mixes[i].names[k].ptr);
		free(mixes[i].names);
		free(mixes[i].p);
	}
	return fflush(stdout) != 0;
}
