/* families.c -- findings about what kernels are (job/family.h): attention that a newer chip has better kernels for,
 * matrix products in f32, casts, chains of elementwise kernels; and copies that are far below their link.
 *
 * A chain is elementwise kernels that one thread launched and that follow each other on a stream, at most GAP apart and
 * with nothing but casts between them; processes that share a device have streams of equal numbers. If they were one
 * kernel it would take at least as long as the longest of them:
 *
 *   add 5, mul 3, cast 4, gelu 6, gemm 50, add 5      chain of 5 + 3 + 6 = 14, of which 14 - 6 = 8 could be saved;
 *                                                     the last add is alone, the cast is counted with casts */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_name.h"
#include "base/num.h"
#include "job/family.h"
#include "table/diagnose/diagnose.h"

/* Columns of a kernel's name in a sentence. */
enum { NAME = 80 };
/* ns. Kernels that are further apart are not launched one after the other. */
enum { GAP = 20000 };

/* FlashAttention 3 is at most so many times as fast as 2 on a Hopper GPU, as its authors measured. */
#define NEWER 2.0
/* Products in f32 are reported if another type's peak is so many times that of f32. */
#define HIGHER 10.0
/* Casts and chains are reported from this share of a step on. */
#define NOTABLE 0.05
/* Copies of so many bytes or more depend on the link; below this share of it they are reported. No link carries more
 * than that share for long. */
enum { LARGE = 1 << 20 };
#define FAR 0.3
#define CARRIED 0.85

static bool
is(const struct nsx_family *f, const char *family, const char *kind)
{
	return strcmp(f->family, family) == 0 && (!kind || strcmp(f->kind, kind) == 0);
}

static enum nsx_kin
kin_of(const struct nsx_family *f)
{
	return is(f, "attention", "flash 2") ? NSX_KIN_FLASH : is(f, "gemm", "f32") ? NSX_KIN_F32
	     : is(f, "cast", NULL) ? NSX_KIN_CAST : is(f, "elementwise", NULL) ? NSX_KIN_ELEMENTWISE : NSX_NKINS;
}

static void
need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, name) | NSX_C(OP, stream) | NSX_C(OP, program)
	                            | NSX_C(OP, inst) | NSX_C(OP, tid));
}

/* The kernels of a name. NULL: out of memory. */
static struct nsx_look_named *
named(struct nsx_look_kins *k, uint32_t n)
{
	if (!nsx_vec_reach(&k->of, n, NULL))
		return NULL;
	if (!k->of.p[n].family.family) {
		struct nsx_str name = nsx_intern_str(&k->at->reading.names, n);
		struct nsx_family family = nsx_family_of_kernel(name);

		k->of.p[n] = (struct nsx_look_named){ .family = family, .by_name = kin_of(&family),
		                                      .around = nsx_look_around_of(name, &family),
		                                      .hopper = nsx_family_matches(name, "*sm90*")
		                                                || nsx_family_matches(name, "nvjet_*") };
	}
	return &k->of.p[n];
}

/* What runs on its stream. NULL: out of memory. */
static struct nsx_look_chain *
chain_of(struct nsx_look_kins *k, const struct nsx_event *e)
{
	uint64_t stream = (uint64_t)nsx_int(e->rec, NSX_OP_stream, NSX_ABSENT);
	uint64_t profile = nsx_cat_find_profile(&k->at->reading.cat, nsx_int(e->rec, NSX_OP_profile, NSX_ABSENT));
	int64_t tid = nsx_int(e->rec, NSX_OP_tid, NSX_ABSENT);
	uint32_t at = nsx_map_recall(&k->chain_of, k->recent,
	                             (struct nsx_key){ profile << 32 | e->device, stream });

	return nsx_vec_next(&k->chains, at, ((struct nsx_look_chain){ .tid = tid })) ? &k->chains.p[at] : NULL;
}

/* An elementwise kernel continues the chain of its stream, another operation ends it. */
static void
take_chain(struct nsx_look_chain *c, struct nsx_look_kin_device *d, const struct nsx_event *e, enum nsx_kin kin,
           int64_t dur)
{
	int64_t tid = nsx_int(e->rec, NSX_OP_tid, NSX_ABSENT);

	if (kin == NSX_KIN_CAST)
		return;
	if (kin != NSX_KIN_ELEMENTWISE || tid != c->tid || nsx_sub_sat(e->start, c->end, NULL) > GAP)
		c->kernels = 0;
	c->tid = tid;
	if (kin != NSX_KIN_ELEMENTWISE)
		return;
	c->end = e->end;
	/* What fusing saves of the kernels so far: all but the longest. */
	if (c->kernels++) {
		d->chained += (nsx_u128)(dur < c->longest ? dur : c->longest);
		d->links++;
		c->longest = dur > c->longest ? dur : c->longest;
	} else {
		c->longest = dur;
	}
}

/* Remember the kin and the time of an instruction's kernels. */
static bool
add_inst(struct nsx_look_kins *k, uint32_t inst, enum nsx_kin kin, int64_t dur)
{
	if (!nsx_vec_reach(&k->insts, inst, &(struct nsx_look_kin_inst){ NSX_NKINS, 0 }))
		return false;
	if (k->insts.p[inst].kin != kin)
		k->insts.p[inst] = (struct nsx_look_kin_inst){ kin, 0 };
	k->insts.p[inst].time = nsx_add_sat(k->insts.p[inst].time, dur, NULL);
	return true;
}

static int
take(void *state, const struct nsx_event *e)
{
	struct nsx_look_kins *k = state;
	int64_t dur = e->end == NSX_ABSENT ? -1 : e->end - e->start;
	struct nsx_look_named *of;
	struct nsx_look_kin_device *d;
	struct nsx_look_chain *chain;
	enum nsx_kin kin;
	enum nsx_around around;
	uint32_t inst = NSX_NONE;
	bool moves;

	if (dur < 0)
		return NSX_OK;
	while (k->devices.n <= e->device) {
		struct nsx_look_kin_device fresh = { .device = (uint32_t)k->devices.n };

		if (!nsx_vec_push(&k->devices, fresh))
			return nsx_err_nomem(k->at->err, NULL);
	}
	d = &k->devices.p[e->device];
	if (!(chain = chain_of(k, e)) || !(of = named(k, e->name)))
		return nsx_err_nomem(k->at->err, NULL);
	if (e->communicates || e->type != NSX_TYPE_KERNEL) {
		take_chain(chain, d, e, NSX_NKINS, dur);
		nsx_look_take_around(k, chain, d, e->communicates ? NSX_AROUND_ENDS : of->around, e->name, dur);
		return NSX_OK;
	}
	kin = of->by_name;
	around = of->around;
	if (nsx_has(e->rec, NSX_OP_inst)) {
		const struct nsx_catalogue *cat = &k->at->reading.cat;

		inst = nsx_cat_inst(&k->at->reading.cat, e->rec);
		if (inst == NSX_NONE)
			return nsx_err_nomem(k->at->err, NULL);
		if (cat->insts.p[inst].flops > 0) {
			const char *math = nsx_cat_str(cat, cat->insts.p[inst].math).ptr;
			struct nsx_family family = nsx_family_of_inst(of->family, math);

			kin = kin_of(&family);
			around = nsx_look_around_of(nsx_intern_str(&k->at->reading.names, e->name), &family);
		}
		moves = nsx_look_inst_moves(k->at, inst);
	} else {
		const char *word;

		if (nsx_look_kernel_word(k->at, e->name, &word) != NSX_OK)
			return NSX_ERR;
		moves = word != NULL;
	}
	k->hopper |= of->hopper;
	/* What only moves data is in the layout finding, with all of its time. */
	kin = moves ? NSX_NKINS : kin;
	take_chain(chain, d, e, kin, dur);
	nsx_look_take_around(k, chain, d, around, e->name, dur);
	if (inst != NSX_NONE && kin != NSX_NKINS && !add_inst(k, inst, kin, dur))
		return nsx_err_nomem(k->at->err, NULL);
	if (kin == NSX_NKINS)
		return NSX_OK;
	d->count[kin]++;
	d->time[kin] += (nsx_u128)dur;
	of->time += (nsx_u128)dur;
	of->kin = kin;
	return NSX_OK;
}

const struct nsx_analysis nsx_look_families = { 0, NSX_K(OP), NSX_NAMED, NULL, need, take, NULL, NULL };

void
nsx_look_kins_free(struct nsx_look_kins *k)
{
	nsx_map_free(&k->chain_of);
	free(k->of.p);
	free(k->devices.p);
	free(k->insts.p);
	free(k->chains.p);
}

/* ---- findings ---- */

/* The number of kernels of a kin and the time of those that count, on all devices. */
struct kin { int64_t count; double time, gain; };

/* "N kernels a step WHAT take T; most: NAME" to a->text, and the name to a->subject. */
static void
put_kin(struct nsx_look_at *a, enum nsx_kin kin, const struct kin *sum, const char *what)
{
	const struct nsx_look_named *most = NULL;
	uint32_t name = 0;

	for (uint32_t i = 0; i < a->kins.of.n; i++) {
		const struct nsx_look_named *n = &a->kins.of.p[i];

		if (n->time && n->kin == kin && (!most || n->time > most->time)) {
			most = n;
			name = i;
		}
	}
	nsx_look_say(a, "%s a %s %s take %s", nsx_look_each(sum->count, a->count, "kernel").s, nsx_look_unit(a), what,
	             NSX_NS(sum->time / (double)a->count));
	if (!most)
		return;
	nsx_buf_c(&a->text, "; most: ");
	nsx_buf_kernel_shortened(&a->text, nsx_intern_str(&a->reading.names, name), NAME);
	nsx_buf_kernel_shortened(&a->subject, nsx_intern_str(&a->reading.names, name), NAME);
	nsx_buf_fmt(&a->text, " %s", NSX_NS(nsx_look_mean(a, most->time)));
}

/* That part of the gain of a finding about kernels is that of the roofline finding, of their instructions; share: of
 * their time, the gain. */
static void
put_shared(struct nsx_look_at *a, enum nsx_kin kin, double share)
{
	double both = 0;

	for (uint32_t i = 0; i < a->kins.insts.n; i++) {
		double gain = share * (double)a->kins.insts.p[i].time, other;

		if (a->kins.insts.p[i].kin != kin)
			continue;
		other = nsx_look_roofed(a, i);
		both += gain < other ? gain : other;
	}
	if (both >= 1)
		nsx_buf_fmt(&a->text, "; up to %s of the gain is that of roofline, too, and counts once",
		            NSX_NS(both / (double)a->count));
}

static struct nsx_peaks
peaks_of(const struct nsx_look_at *a, const struct nsx_look_kin_device *d)
{
	const struct nsx_cat_device *device = &a->reading.cat.devices.p[d->device];

	return nsx_peaks_of(device, nsx_cat_str(&a->reading.cat, device->name),
	                    &(struct nsx_roofline_given){ .bandwidth = 0 });
}

static int
judge_attention(struct nsx_look_at *a)
{
	struct kin sum = { 0, 0, 0 };

	for (size_t i = 0; i < a->kins.devices.n; i++) {
		const struct nsx_look_kin_device *d = &a->kins.devices.p[i];
		int64_t cc = a->reading.cat.devices.p[d->device].cc;

		if (!d->count[NSX_KIN_FLASH] || (cc == NSX_ABSENT ? !a->kins.hopper : cc < 90))
			continue;
		sum.count += d->count[NSX_KIN_FLASH];
		sum.time += (double)d->time[NSX_KIN_FLASH];
	}
	put_kin(a, NSX_KIN_FLASH, &sum, "of FlashAttention 2, on GPUs that have newer ones,");
	nsx_buf_fmt(&a->text, "; the gain is of being %.0f times as fast, the most that FlashAttention 3 is said to be",
	            NEWER);
	put_shared(a, NSX_KIN_FLASH, 1 - 1 / NEWER);
	return nsx_look_find(a, NSX_FIND_ATTENTION, NSX_NCAUSES, sum.time * (1 - 1 / NEWER) / (double)a->count,
	                     nsx_look_over(a, "nsysx-summary --by family --only family=attention"));
}

static int
judge_f32(struct nsx_look_at *a)
{
	struct kin sum = { 0, 0, 0 };
	double bf16, tf32, in_tf32 = 0;

	for (size_t i = 0; i < a->kins.devices.n; i++) {
		const struct nsx_look_kin_device *d = &a->kins.devices.p[i];
		struct nsx_peaks p = peaks_of(a, d);

		if (!d->count[NSX_KIN_F32] || p.tflops[NSX_MATH_F32] <= 0
		    || p.tflops[NSX_MATH_BF16] < HIGHER * p.tflops[NSX_MATH_F32])
			continue;
		sum.count += d->count[NSX_KIN_F32];
		sum.time += (double)d->time[NSX_KIN_F32];
		in_tf32 += (double)d->time[NSX_KIN_F32] * p.tflops[NSX_MATH_F32] / p.tflops[NSX_MATH_TF32];
		sum.gain += (double)d->time[NSX_KIN_F32] * (1 - p.tflops[NSX_MATH_F32] / p.tflops[NSX_MATH_BF16]);
	}
	/* Of all devices, which may be of several kinds: the change is one. */
	bf16 = sum.gain > 0 ? sum.time / (sum.time - sum.gain) : 0;
	tf32 = in_tf32 > 0 ? sum.time / in_tf32 : 0;
	put_kin(a, NSX_KIN_F32, &sum, "that multiply matrices in f32");
	nsx_buf_fmt(&a->text, "; in TF32 (peak %.1f times as high) they would take up to %s less, in bf16 (%.1f times) "
	            "up to %s less, which is the gain", tf32, NSX_NS((sum.time - in_tf32) / (double)a->count), bf16,
	            NSX_NS(sum.gain / (double)a->count));
	put_shared(a, NSX_KIN_F32, sum.gain > 0 ? sum.gain / sum.time : 0);
	nsx_buf_fmt(&a->named, "%.4g", bf16);
	return nsx_look_find(a, NSX_FIND_F32, NSX_NCAUSES, sum.gain / (double)a->count,
	                     nsx_look_over(a, "nsysx-summary --by family --only family=gemm --only kind=f32"));
}

static int
judge_small(struct nsx_look_at *a)
{
	struct kin casts = { 0, 0, 0 }, chains = { 0, 0, 0 };
	int64_t links = 0;
	double step = a->period * (double)a->count;

	for (size_t i = 0; i < a->kins.devices.n; i++) {
		const struct nsx_look_kin_device *d = &a->kins.devices.p[i];

		casts.count += d->count[NSX_KIN_CAST];
		casts.time += (double)d->time[NSX_KIN_CAST];
		chains.count += d->count[NSX_KIN_ELEMENTWISE];
		chains.time += (double)d->time[NSX_KIN_ELEMENTWISE];
		chains.gain += (double)d->chained;
		links += d->links;
	}
	if (casts.time > NOTABLE * step) {
		put_kin(a, NSX_KIN_CAST, &casts, "that only change a type");
		put_shared(a, NSX_KIN_CAST, 1);
		if (nsx_look_find(a, NSX_FIND_CASTS, NSX_NCAUSES, casts.time / (double)a->count,
		                  nsx_look_over(a, "nsysx-summary --by family --only family=cast")) != NSX_OK)
			return NSX_ERR;
	}
	if (chains.gain <= NOTABLE * step)
		return NSX_OK;
	put_kin(a, NSX_KIN_ELEMENTWISE, &chains, "that work element by element");
	nsx_buf_fmt(&a->text, "; %s follow another at once, and the gain is of what runs in a row being as long as its "
	            "longest", nsx_look_each(links, a->count, "").s);
	put_shared(a, NSX_KIN_ELEMENTWISE, chains.gain / chains.time);
	return nsx_look_find(a, NSX_FIND_ELEMENTWISE, NSX_NCAUSES, chains.gain / (double)a->count,
	                     nsx_look_over(a, "nsysx-summary --by family --only family=elementwise"));
}

/* GB/s of the link between a GPU and its host, one way; 0: not known. PCIe of the generation that chips of that compute
 * capability have, with 16 lanes; NVLink-C2C of those that are one module with their host. */
static double
link_of(const struct nsx_cat_device *d, struct nsx_str name)
{
	static const char *const modules[] = { "*GH200*", "*GB200*", "*GB300*", "*GB10*" };

	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
		if (nsx_family_matches(name, modules[i]))
			return 0;
	if (d->cc < 70)
		return 0;
	return d->cc < 80 ? 15.75 : d->cc < 90 ? 31.5 : 63;
}

/* Large copies from and to pinned memory of the host. All devices have to have the same link. */
static int
judge_link(struct nsx_look_at *a)
{
	const struct nsx_catalogue *cat = &a->reading.cat;
	struct nsx_copies_sum s, most = { .time = 0 };
	double link = 0, gain = 0;

	for (size_t i = 0; i < cat->devices.n; i++) {
		double of = link_of(&cat->devices.p[i], nsx_cat_str(cat, cat->devices.p[i].name));

		if (!cat->devices.p[i].listed)
			continue;
		if (of <= 0 || (link > 0 && (of < link || of > link)))
			return NSX_OK;
		link = of;
	}
	for (size_t i = 0; link > 0 && nsx_copies_sum(a->copies, i, &s); i++) {
		bool host = nsx_str_eq(s.src, NSX_STR("pinned")) || nsx_str_eq(s.dst, NSX_STR("pinned"));
		double rate = s.time > 0 ? (double)s.bytes / (double)s.time : 0;

		if (!host || !s.count || s.bytes / s.count < LARGE || rate <= 0 || rate >= FAR * link)
			continue;
		gain += (double)(s.time - s.hidden) * (1 - rate / (CARRIED * link));
		if (s.time > most.time)
			most = s;
	}
	if (gain <= 0)
		return NSX_OK;
	a->text.len = 0;
	nsx_buf_str(&a->text, most.name);
	nsx_buf_fmt(&a->text,
	            " of pinned memory reaches %.1f GB/s, %.0f%% of what a link of the GPU's generation carries (PCIe,"
	            " 16 lanes: %.1f GB/s); together %s in %s a %s", (double)most.bytes / (double)most.time,
	            100 * (double)most.bytes / (double)most.time / link, link, nsx_look_bytes(most.bytes / a->count).s,
	            NSX_NS((double)most.time / (double)a->count), nsx_look_unit(a));
	nsx_buf_str(&a->subject, most.name);
	return nsx_look_find(a, NSX_FIND_LINK, NSX_NCAUSES, gain / (double)a->count,
	                     nsx_look_over(a, "nsysx-copies"));
}

int
nsx_look_judge_families(struct nsx_look_at *a)
{
	if (judge_attention(a) != NSX_OK || judge_f32(a) != NSX_OK || judge_small(a) != NSX_OK
	    || nsx_look_judge_around(a) != NSX_OK)
		return NSX_ERR;
	return judge_link(a);
}
