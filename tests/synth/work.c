/* work.c -- instructions of --work: fusions of scalar arithmetic, moves, instructions of unknown work, and
 * (work_matrix.c) products; and the module of all. */
#include <stdio.h>

#include "work.h"

/* ---- scalar arithmetic */

/* A computation that adds two numbers. */
static int64_t
adds(struct work_module *m, int type)
{
	pb body = { 0 };
	struct work_comp c = { &body, 0 };
	struct work_array one = work_array(type, 0);
	int64_t a = work_parameter(m, &c, &one), b = work_parameter(m, &c, &one);

	return work_close(m, &body, work_op(m, &c, "add", &one, NULL, 2, a, b), false);
}

/* A chain of `depth` elementwise instructions over two arrays, each read once. */
static void
plant_loop(struct work_plant *p)
{
	static const char *const opcodes[] = { "add", "multiply", "maximum", "exponential", "tanh", "negate", "rsqrt",
	                                       "log" };
	struct work_array a = work_array(work_maybe(p->m) ? F32 : BF16, 2, work_between(p->m, 1, 2000),
	                                 work_between(p->m, 1, 500));
	int64_t depth = work_between(p->m, 1, 200), x, y;
	pb body = { 0 };
	struct work_comp c = { &body, 0 };

	p->w.vector = depth * work_elements(&a);
	p->w.bytes = 3 * work_bytes_of(&a);
	work_reads(p, a);
	work_reads(p, a);
	x = work_parameter(p->m, &c, &a);
	y = work_parameter(p->m, &c, &a);
	for (int64_t k = 0; k < depth; k++) {
		size_t o = k ? (size_t)work_between(p->m, 0, 7) : 0;

		x = o < 3 ? work_op(p->m, &c, opcodes[o], &a, NULL, 2, x, y) : work_op(p->m, &c, opcodes[o], &a, NULL,
			1, x);
	}
	work_fuses(p, &body, x, &a, "kLoop");
}

/* Sums of exponentials: n exponentials, and for each sum one addition less than its number of terms. */
static void
plant_reduce(struct work_plant *p)
{
	struct work_module *m = p->m;
	struct work_array a = work_array(F32, 2, work_between(m, 1, 900), work_between(m, 1, 900)),
	    one = work_array(F32, 0), out = work_array(F32, 1, a.dim[0]);
	int64_t across = 1, add = adds(m, F32), x, zero;
	pb body = { 0 }, more = { 0 };
	struct work_comp c = { &body, 0 };

	p->w.vector = a.dim[0] * a.dim[1] + a.dim[0] * (a.dim[1] - 1);
	p->w.bytes = 4 * (a.dim[0] * a.dim[1] + 1 + a.dim[0]);
	work_reads(p, a);
	work_reads(p, one);
	x = work_parameter(m, &c, &a);
	zero = work_parameter(m, &c, &one);
	x = work_op(m, &c, "exponential", &a, NULL, 1, x);
	work_packed(&more, 14, &across, 1);
	work_packed(&more, 38, &add, 1);
	x = work_op(m, &c, "reduce", &out, &more, 2, x, zero);
	work_fuses(p, &body, x, &out, "kInput");
}

/* Pooling: each output takes one addition less than its window has elements. */
static void
plant_pool(struct work_plant *p)
{
	struct work_module *m = p->m;
	int64_t size = work_between(m, 1, 6), rows = work_between(m, 1, 60), columns = work_between(m, 1, 60),
	    add = adds(m, F32);
	struct work_array a = work_array(F32, 2, rows * size, columns + size - 1), out = work_array(F32, 2, rows,
		columns);
	pb more = { 0 }, windows = { 0 };

	for (int k = 0; k < 2; k++) {
		pb one = { 0 };

		pb_int(&one, 1, size);
		pb_int(&one, 2, k ? 1 : size);
		pb_int(&one, 5, 1);
		pb_int(&one, 6, 1);
		work_sub(&windows, 1, &one);
	}
	work_sub(&more, 15, &windows);
	work_packed(&more, 38, &add, 1);
	p->w.opcode = "reduce-window";
	p->w.vector = (size * size - 1) * rows * columns;
	p->w.bytes = work_bytes_of(&a) + 4 + work_bytes_of(&out);
	work_reads(p, a);
	work_reads(p, work_array(F32, 0));
	work_stands(p, &out, false, &more);
}

/* ---- moves */

static void
plant_copy(struct work_plant *p)
{
	struct work_array a = work_array(BF16, 2, work_between(p->m, 1, 3000), work_between(p->m, 1, 300));

	p->w.opcode = "copy";
	p->w.bytes = 2 * work_reads(p, a);
	work_stands(p, &a, false, NULL);
}

/* A part of an array that is read, and only that part. */
static void
plant_slice(struct work_plant *p)
{
	struct work_array a = work_array(F32, 2, work_between(p->m, 100, 3000), work_between(p->m, 1, 300)),
	    out = work_array(F32, 2, work_between(p->m, 1, 99), a.dim[1]);
	pb body = { 0 };
	struct work_comp c = { &body, 0 };
	int64_t x = work_parameter(p->m, &c, &a);

	p->w.vector = work_elements(&out);
	p->w.bytes = 2 * work_bytes_of(&out);
	work_reads(p, a);
	x = work_op(p->m, &c, "slice", &out, NULL, 1, x);
	x = work_op(p->m, &c, "negate", &out, NULL, 1, x);
	work_fuses(p, &body, x, &out, "kLoop");
}

/* Rows written into an array in place: the array itself is not read. */
static void
plant_update(struct work_plant *p)
{
	struct work_array a = work_array(F32, 2, work_between(p->m, 100, 3000), work_between(p->m, 1, 300)),
	    rows = work_array(F32, 2, work_between(p->m, 1, 99), a.dim[1]);
	struct work_array one = work_array(S32, 0);
	pb body = { 0 };
	struct work_comp c = { &body, 0 };
	int64_t x = work_parameter(p->m, &c, &a), y = work_parameter(p->m, &c, &rows), i = work_parameter(p->m, &c,
		&one), j = work_parameter(p->m, &c, &one);

	p->w.vector = work_elements(&rows);
	p->w.bytes = 2 * work_bytes_of(&rows) + 2 * 4;
	work_reads(p, a);
	work_reads(p, rows);
	work_reads(p, one);
	work_reads(p, one);
	y = work_op(p->m, &c, "negate", &rows, NULL, 1, y);
	x = work_op(p->m, &c, "dynamic-update-slice", &a, NULL, 4, x, y, i, j);
	work_fuses(p, &body, x, &a, "kLoop");
}

/* Instructions whose work does not follow from their shapes. */
static void
plant_unknown(struct work_plant *p)
{
	static const char *const opcodes[] = { "sort", "fft", "cholesky", "custom-call" };
	struct work_array a = work_array(F32, 2, work_between(p->m, 1, 300), work_between(p->m, 1, 300));
	pb more = { 0 };

	p->w.opcode = opcodes[work_between(p->m, 0, 3)];
	p->w.modelled = false;
	work_reads(p, a);
	if (strcmp(p->w.opcode, "custom-call") == 0)
		pb_str(&more, 28, "cusolver_potrf");
	work_stands(p, &a, false, &more);
}

/* ---- the module */

void
work_plant(struct work_module *m, int64_t of)
{
	enum { KINDS = 16 };
	static const char *const names[KINDS] = { "dot", "cublas-gemm", "gemm_fusion_dot", "convolution", "cudnn-conv",
	                                          "cudnn-conv-input", "cudnn-conv-filter",
		"cudnn-fmha", "loop_fusion", "input_reduce_fusion", "reduce-window", "copy", "loop_slice_fusion",
		"loop_dynamic_update_slice_fusion", "unknown", "dot" };
	int64_t kind = of < KINDS ? of : work_between(m, 0, KINDS - 1);
	struct work_plant p = { .m = m, .entry = { &m->entry, m->parameters }, .w = { .modelled = true } };

	snprintf(p.w.name, sizeof p.w.name, "%s.%lld", names[kind], (long long)of);
	switch (kind) {
	case 1:  work_plant_dot(&p, true); break;
	case 2:  work_plant_fused_dot(&p); break;
	case 3: case 4: case 5: case 6:
		work_plant_convolution(&p, (int)kind - 3);
		break;
	case 7:  work_plant_attention(&p); break;
	case 8:  plant_loop(&p); break;
	case 9:  plant_reduce(&p); break;
	case 10: plant_pool(&p); break;
	case 11: plant_copy(&p); break;
	case 12: plant_slice(&p); break;
	case 13: plant_update(&p); break;
	case 14: plant_unknown(&p); break;
	default: work_plant_dot(&p, false);
	}
	m->parameters = p.entry.local;
	syn_add(&m->work, p.w);
}

pb
work_proto(struct work_module *m, const char *name, int64_t id)
{
	pb out = { 0 }, module = { 0 }, entry = { 0 }, schedule = { 0 }, pair = { 0 }, sequence = { 0 };

	pb_str(&module, 1, name);
	pb_str(&module, 2, "main");
	nsx_buf_str(&module, nsx_buf_view(&m->callees));
	nsx_buf_free(&m->callees);
	pb_str(&entry, 1, "main");
	nsx_buf_str(&entry, nsx_buf_view(&m->entry));
	nsx_buf_free(&m->entry);
	pb_int(&entry, 5, 1);
	pb_int(&entry, 6, m->order.p[m->order.n - 1]);
	work_sub(&module, 3, &entry);
	pb_int(&module, 5, id);
	pb_int(&module, 6, 1);
	work_packed(&sequence, 1, m->order.p, (int)m->order.n);
	pb_int(&pair, 1, 1);
	work_sub(&pair, 2, &sequence);
	work_sub(&schedule, 1, &pair);
	work_sub(&module, 7, &schedule);
	work_sub(&out, 1, &module);
	free(m->order.p);
	return out;
}
