/* kernels.c -- kernels of a device that computes longer, compared with those of another device by name: whether all of
 * them take longer, as on a slow device, or only some, as with uneven work.
 *
 *   name   this device   the other     of a step
 *   a      2 x 30 ns     2 x 20 ns     20 longer
 *   b      1 x 15 ns     1 x 10 ns      5 longer: all kernels take 1.5 times as long */
#include <inttypes.h>
#include <stdlib.h>

#include "base/kernel_name.h"
#include "base/sort.h"
#include "base/width.h"
#include "table/diagnose/diagnose.h"

/* All are slower if kernels with this share of the time are slower by at least half of the mean. */
#define ALL 0.8
/* Only a few are reported by name: those that make up this share, at most TOLD. */
#define MOST 0.8
enum { TOLD = 3, NAME = 80 };

int
nsx_look_add_kernel(struct nsx_look_at *a, const struct nsx_event *e, int64_t dur)
{
	struct nsx_pace_time fresh = { .device = e->number, .name = e->name };
	uint32_t none = NSX_NONE, *at;

	if (!nsx_vec_reach(&a->kernel_of, e->of_name, &none))
		return nsx_err_nomem(a->err, NULL);
	at = &a->kernel_of.p[e->of_name];
	if (*at == NSX_NONE && nsx_vec_push(&a->kernel_times, fresh))
		*at = (uint32_t)(a->kernel_times.n - 1);
	if (*at == NSX_NONE)
		return nsx_err_nomem(a->err, NULL);
	a->kernel_times.p[*at].count++;
	a->kernel_times.p[*at].ns += (nsx_u128)dur;
	return NSX_OK;
}

/* The times of kernels of a name, in the reading's names, on a device; NULL: none. */
static const struct nsx_pace_time *
times_of(const struct nsx_look_at *a, int64_t device, uint32_t name)
{
	uint32_t at = nsx_cat_find_device(&a->reading.cat, device);

	at = at == NSX_NONE ? at : nsx_map_get(&a->reading.of_name.of, (struct nsx_key){ at, name });
	at = at < a->kernel_of.n ? a->kernel_of.p[at] : (uint32_t)NSX_NONE;
	return at == NSX_NONE ? NULL : &a->kernel_times.p[at];
}

/* ns: of kernels of the device, per step. */
struct timed { const struct nsx_look_device *device; double ns; };

NSX_ORDER(by_time, struct timed, NSX_CMP(a->ns, b->ns), NSX_CMP(a->device->number, b->device->number))

/* Among the other devices, the one whose kernels take the median time; *median is NULL if there is none. NSX_OK or
 * NSX_ERR. */
static int
find_median(struct nsx_look_at *a, const struct nsx_look_device *late, const struct nsx_look_device **median)
{
	NSX_VEC(struct timed) others = { 0 };
	bool good = true;
	size_t kept = 0;

	for (size_t i = 0; i < a->devices.n && good; i++)
		good = nsx_vec_push(&others, ((struct timed){ &a->devices.p[i], 0 }));
	for (size_t i = 0; i < a->kernel_times.n && good; i++) {
		const struct nsx_look_device *d = nsx_look_device(a, a->kernel_times.p[i].device);

		if (d)
			others.p[d - a->devices.p].ns += (double)a->kernel_times.p[i].ns / (double)d->periods;
	}
	for (size_t i = 0; i < others.n; i++)
		if (others.p[i].device != late)
			others.p[kept++] = others.p[i];
	others.n = kept;
	nsx_sort(others.p, others.n, by_time);
	*median = others.n ? others.p[(others.n - 1) / 2].device : NULL;
	free(others.p);
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

/* A name, and how much longer its kernels take in a step. */
struct longer { uint32_t name; double ns; };

NSX_ORDER(by_longer, struct longer, NSX_CMP(b->ns, a->ns), NSX_CMP(a->name, b->name))

static void
put_few(struct nsx_look_at *a, const struct longer *of, size_t n, const struct nsx_look_device *than)
{
	double all = 0, told = 0;
	size_t few = 0;

	for (size_t i = 0; i < n; i++)
		all += of[i].ns > 0 ? of[i].ns : 0;
	while (few < n && few < TOLD && of[few].ns > 0 && told < MOST * all)
		told += of[few++].ns;
	if (!few)
		return;
	nsx_buf_fmt(&a->text, "; %.0f%% of the extra kernel time compared with device %" PRId64 " %s in ",
	            100 * told / all, than->number, few > 1 ? "are" : "is");
	for (size_t i = 0; i < few; i++) {
		nsx_buf_c(&a->text, i ? ", " : "");
		nsx_buf_kernel_shortened(&a->text, nsx_intern_str(&a->reading.names, of[i].name), NAME);
		nsx_buf_fmt(&a->text, " %s", NSX_NS(of[i].ns));
	}
}

int
nsx_look_put_kernels(struct nsx_look_at *a, int64_t device, const char **action)
{
	const struct nsx_look_device *late = nsx_look_device(a, device), *median = NULL;
	NSX_VEC(struct longer) names = { 0 };
	double here = 0, there = 0, slower = 0, time = 0, share;   /* ns of kernels of both, for as many executions */
	int rc = late ? find_median(a, late, &median) : NSX_OK;
	bool good = true;

	*action = NULL;
	if (rc != NSX_OK || !median)
		return rc;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < a->kernel_times.n && good; i++) {
			const struct nsx_pace_time *k = &a->kernel_times.p[i], *m;
			double as_there;

			if (k->device != device)
				continue;
			m = times_of(a, median->number, k->name);
			as_there = m ? (double)m->ns / (double)m->count * (double)k->count : 0;
			if (pass == 0) {
				double more = (double)k->ns / (double)late->periods;

				more -= m ? (double)m->ns / (double)median->periods : 0;
				good = nsx_vec_push(&names, ((struct longer){ k->name, more }));
				here += m ? (double)k->ns : 0;
				there += as_there;
				time += (double)k->ns;
			} else if (m && (double)k->ns >= as_there * (1 + (here / there - 1) / 2)) {
				slower += (double)k->ns;
			}
		}
	if (nsx_look_is_slow(a, device, &share) && slower >= ALL * time && names.n > 1) {
		nsx_buf_fmt(&a->text, "; all kernels are slower than on the median device, by %.1f%%", 100 * share);
		*action = nsx_look_slow_action(a);
	} else if (names.n) {
		qsort(names.p, names.n, sizeof *names.p, by_longer);
		put_few(a, names.p, names.n, median);
		*action = "see why it has more to do in these kernels: uneven batches, experts or pipeline stages";
	}
	free(names.p);
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}
