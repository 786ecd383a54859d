/* peaks.c -- the peak rates of a device: multiprocessors x operations per clock x clock, from the stream or from
 * gpus.def. */
#include "table/roofline/peaks.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "base/num.h"

static const char *const math_names[NSX_NMATHS] = { "f4", "f8", "s8", "f16", "bf16", "tf32", "f64", "f32" };

/* The math that runs instead of one that a chip lacks; NSX_NMATHS: none. */
static const enum nsx_math instead[NSX_NMATHS] = {
	[NSX_MATH_F4] = NSX_MATH_F8,    [NSX_MATH_F8] = NSX_MATH_BF16,  [NSX_MATH_S8] = NSX_MATH_F32,
	[NSX_MATH_F16] = NSX_MATH_F32,
	[NSX_MATH_BF16] = NSX_MATH_F32, [NSX_MATH_TF32] = NSX_MATH_F32, [NSX_MATH_F64] = NSX_NMATHS,
	[NSX_MATH_F32] = NSX_NMATHS
};

static const struct gpu { const char *name; int64_t cc, sms, clock, matrix_clock, mem_bandwidth; bool half; } gpus[] = {
#define GPU(name, cc, sms, clock, matrix_clock, mem_bandwidth, half) { name, cc, sms, clock, matrix_clock, \
	mem_bandwidth, half },
#include "table/roofline/gpus.def"
};

static const struct ops { int64_t cc, ops[NSX_NMATHS]; } all_ops[] = {
#define OPS(cc, f4, f8, s8, f16, bf16, tf32, f64, f32) { cc, { f4, f8, s8, f16, bf16, tf32, f64, f32 } },
#include "table/roofline/gpus.def"
};

const char *
nsx_math_name(enum nsx_math m)
{
	return math_names[m];
}

enum nsx_math
nsx_math_find(struct nsx_str name)
{
	int m = 0;

	while (m < NSX_NMATHS && !nsx_str_eq(name, nsx_str_c(math_names[m])))
		m++;
	return (enum nsx_math)m;
}

const char *
nsx_peak_from_name(enum nsx_peak_from from)
{
	static const char *const names[] = { "", "option", "export", "table" };

	return names[from];
}

/* ---- peaks from the user */

/* A number above 0, small enough that arithmetic with it stays within the range of doubles. */
static bool
get_rate(struct nsx_str s, double *v)
{
	return nsx_get_double(s, v) && isfinite(*v) && *v >= 1e-6 && *v <= 1e12;
}

/* "MATH=TFLOPS" */
static bool
give_peak(struct nsx_roofline_given *given, struct nsx_str item)
{
	size_t eq = 0;
	enum nsx_math m;

	while (eq < item.len && item.ptr[eq] != '=')
		eq++;
	if (eq == item.len || (m = nsx_math_find((struct nsx_str){ item.ptr, eq })) == NSX_NMATHS)
		return false;
	return get_rate((struct nsx_str){ item.ptr + eq + 1, item.len - eq - 1 }, &given->peak[m]);
}

const char *
nsx_roofline_give_peaks(struct nsx_roofline_given *given, const char *list)
{
	static char wrong[200];

	for (const char *end;; list = end + 1) {
		for (end = list; *end && *end != ','; end++)
			continue;
		if (!give_peak(given, (struct nsx_str){ list, (size_t)(end - list) })) {
			snprintf(wrong, sizeof wrong,
				"want MATH=TFLOPS, MATH one of f4, f8, s8, f16, bf16, tf32, f64 and f32, TFLOPS above "
				"0, got \"%.*s\"",
			         (int)(end - list > 60 ? 60 : end - list), list);
			return wrong;
		}
		if (!*end)
			return NULL;
	}
}

const char *
nsx_roofline_give_bandwidth(struct nsx_roofline_given *given, const char *gbps)
{
	static char wrong[120];

	if (get_rate(nsx_str_c(gbps), &given->bandwidth))
		return NULL;
	snprintf(wrong, sizeof wrong, "want GB/s, a number above 0, got \"%.60s\"", gbps);
	return wrong;
}

/* ---- properties of a device */

/* Whether word occurs in name, in any case, with no letter or digit next to it. */
static bool
stands_in(struct nsx_str name, const char *word, size_t len)
{
	for (size_t i = 0; i + len <= name.len; i++)
		if (strncasecmp(name.ptr + i, word, len) == 0 && (i == 0 || !isalnum((unsigned char)name.ptr[i - 1]))
		    && (i + len == name.len || !isalnum((unsigned char)name.ptr[i + len])))
			return true;
	return false;
}

static const struct gpu *
gpu_of(struct nsx_str name)
{
	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
		if (stands_in(name, gpus[i].name, nsx_str_c(gpus[i].name).len))
			return &gpus[i];
	return NULL;
}

/* The record's number, else the table's; *exported is cleared when it is not the record's. */
static int64_t
either(int64_t own, int64_t table, bool *exported)
{
	if (own > 0)
		return own;
	*exported = false;
	return table;
}

struct nsx_peaks
nsx_peaks_of(const struct nsx_cat_device *d, struct nsx_str name, const struct nsx_roofline_given *given)
{
	static const struct gpu unknown = { .name = "" };
	const struct gpu *g = gpu_of(name);
	const struct ops *ops = NULL;
	struct nsx_peaks p = { .gbps = 0 };
	bool exported = true, bandwidth_exported = true;

	if (!g)
		g = &unknown;
	int64_t sms = either(d->sms, g->sms, &exported), clock = either(d->clock, g->clock, &exported),
	    cc = either(d->cc, g->cc, &exported);
	int64_t bandwidth = either(d->mem_bandwidth, g->mem_bandwidth, &bandwidth_exported);
	bool half = g->half || stands_in(name, "GeForce", 7);

	for (size_t i = 0; i < sizeof all_ops / sizeof *all_ops; i++)
		if (all_ops[i].cc == cc)
			ops = &all_ops[i];
	for (int m = 0; m < NSX_NMATHS; m++) {
		bool scalar = m == NSX_MATH_F32 || m == NSX_MATH_F64;
		bool halved = half && (m == NSX_MATH_F16 || m == NSX_MATH_BF16 || m == NSX_MATH_TF32 ||
		                       m == NSX_MATH_F8);
		int64_t hz = !scalar && g->matrix_clock ? g->matrix_clock : clock;

		if (given->peak[m] > 0) {
			p.tflops[m] = given->peak[m];
			p.from[m] = NSX_FROM_OPTION;
		} else if (ops && ops->ops[m] && sms > 0 && hz > 0) {
			p.tflops[m] = (double)sms * (double)ops->ops[m] * (double)hz / 1e12 / (halved ? 2 : 1);
			p.from[m] = exported ? NSX_FROM_EXPORT : NSX_FROM_TABLE;
		}
	}
	/* Maths that a chip runs on other units; not if the chip is unknown. The replacement comes later in the
	 * list. */
	for (int m = NSX_NMATHS - 1; ops && m >= 0; m--)
		if (p.tflops[m] == 0 && !ops->ops[m] && instead[m] != NSX_NMATHS)
			p.tflops[m] = p.tflops[instead[m]];
	p.gbps = given->bandwidth > 0 ? given->bandwidth : bandwidth > 0 ? (double)bandwidth / 1e9 : 0;
	p.gbps_from = given->bandwidth > 0 ? NSX_FROM_OPTION : bandwidth <= 0 ? NSX_FROM_NOWHERE : bandwidth_exported
	    ? NSX_FROM_EXPORT : NSX_FROM_TABLE;
	return p;
}
