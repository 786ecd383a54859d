/* softmax.c -- attention that is computed kernel by kernel: softmax between two products of matrices on a stream.
 *
 *   gemm 50, mul 20, tril 2, [copy Device-to-Device] 15, masked_fill 30, softmax 25, gemm 50
 *
 * One kernel of attention keeps the matrix between the products on the chip, so that what remains is about the
 * products: 20 + 15 + 30 + 25 could be saved. The loss, whose softmax is between products too, is not attention, and
 * where anything is between products that attention does not need, or whose kind is not known, nothing is counted:
 * experts, for one, are chosen by softmax and a sort, and tokens by softmax and a draw. */
#include <string.h>

#include "base/kernel_name.h"
#include "base/num.h"
#include "table/diagnose/diagnose.h"

/* Columns of a kernel's name in a sentence. */
enum { NAME = 80 };
/* It is reported from this share of a step on. */
#define NOTABLE 0.05

static bool
is_of(struct nsx_str name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (nsx_family_matches(name, patterns[i]))
			return true;
	return false;
}

/* A kernel of unknown family may be anything, so that only masks pass. */
enum nsx_around
nsx_look_around_of(struct nsx_str name, const struct nsx_family *family)
{
	/* Of softmax in a loss, and of what chooses experts or tokens by it. */
	static const char *const others[] = {
		"*LogSoftMax*", "*log_softmax*", "*nll_loss*", "*cross_entropy*",
		"*topk*", "*topK*", "*TopK*", "*moe*", "*Moe*", "*MoE*", "*ultinomial*"
	};
	static const char *const needed[] = { "*triu*", "*tril*" };
	static const struct { const char *family; enum nsx_around around; } of[] = {
		{ "gemm", NSX_AROUND_PRODUCT }, { "softmax", NSX_AROUND_SOFTMAX }, { "elementwise", NSX_AROUND_GLUE },
		{ "cast", NSX_AROUND_GLUE }, { "layout", NSX_AROUND_GLUE }, { "random", NSX_AROUND_GLUE }
	};

	if (nsx_str_starts(name, "[CUDA "))
		return nsx_str_ends(name, "Device-to-Device]") ? NSX_AROUND_GLUE
		     : nsx_str_starts(name, "[CUDA memset") ? NSX_AROUND_PASSES : NSX_AROUND_ENDS;
	if (is_of(name, others, sizeof others / sizeof *others))
		return NSX_AROUND_ENDS;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (strcmp(family->family, of[i].family) == 0)
			return of[i].around;
	return strcmp(family->family, "other") == 0 && is_of(name, needed, sizeof needed / sizeof *needed)
	       ? NSX_AROUND_PASSES : NSX_AROUND_ENDS;
}

void
nsx_look_take_around(struct nsx_look_kins *k, struct nsx_look_chain *c, struct nsx_look_kin_device *d,
                     enum nsx_around around, uint32_t name, int64_t dur)
{
	if (around == NSX_AROUND_PRODUCT && c->since.open && c->since.softmaxes) {
		d->attended += (nsx_u128)c->since.ns;
		d->softmaxes += c->since.softmaxes;
		k->of.p[c->since.name].attended += (nsx_u128)c->since.ns;
	}
	if (around == NSX_AROUND_PRODUCT || around == NSX_AROUND_ENDS) {
		c->since.open = around == NSX_AROUND_PRODUCT;
		c->since.ns = c->since.softmaxes = 0;
	} else if (around != NSX_AROUND_PASSES) {
		c->since.ns = nsx_add_sat(c->since.ns, dur, NULL);
	}
	if (around == NSX_AROUND_SOFTMAX) {
		c->since.softmaxes++;
		c->since.name = name;
	}
}

int
nsx_look_judge_around(struct nsx_look_at *a)
{
	const struct nsx_look_named *most = NULL;
	int64_t count = 0;
	double time = 0;

	for (size_t i = 0; i < a->kins.devices.n; i++) {
		count += a->kins.devices.p[i].softmaxes;
		time += (double)a->kins.devices.p[i].attended;
	}
	if (time <= NOTABLE * a->period * (double)a->count)
		return NSX_OK;
	nsx_look_say(a, "%s of softmax a %s between products of matrices, with all other kernels and copies between "
	             "these, take %s", nsx_look_each(count, a->count, "kernel").s, nsx_look_unit(a),
	             NSX_NS(time / (double)a->count));
	for (size_t i = 0; i < a->kins.of.n; i++)
		if (a->kins.of.p[i].attended > (most ? most->attended : 0))
			most = &a->kins.of.p[i];
	if (most) {
		struct nsx_str name = nsx_intern_str(&a->reading.names, (uint32_t)(most - a->kins.of.p));

		nsx_buf_c(&a->text, "; most: ");
		nsx_buf_kernel_shortened(&a->text, name, NAME);
		nsx_buf_kernel_shortened(&a->subject, name, NAME);
		nsx_buf_fmt(&a->text, ", with these %s", NSX_NS(nsx_look_mean(a, most->attended)));
	}
	return nsx_look_find(a, NSX_FIND_SOFTMAX, NSX_NCAUSES, time / (double)a->count,
	                     nsx_look_over(a, "nsysx-summary --by family"));
}
