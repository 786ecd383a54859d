/* cost_read.c -- attributes of an instruction that determine its work: windows, dimension numbers, precision,
 * backend_config. */
#include "protos/xla_hlo.pb-c.h"
#include "xla/cost.h"

enum { CONFIG_MAX = 1 << 20 };     /* bytes; real ones have a few thousand */
enum { HIGHEST = 2 };              /* PrecisionConfig.Precision */

static bool
list(struct nsx_cost_graph *g, const int64_t *p, size_t n, struct nsx_cost_list *out)
{
	*out = (struct nsx_cost_list){ (uint32_t)g->numbers.n, (uint32_t)n };
	if (!nsx_vec_room(&g->numbers, n))
		return false;
	for (size_t i = 0; i < n; i++)
		g->numbers.p[g->numbers.n++] = p[i];
	return true;
}

static bool
window(struct nsx_cost_graph *g, const Nsysx__NsxHloWindow *m, struct nsx_cost_list *out)
{
	size_t n = m ? m->n_dimensions * NSX_COST_W_NUMBERS : 0;

	*out = (struct nsx_cost_list){ (uint32_t)g->numbers.n, (uint32_t)n };
	if (!nsx_vec_room(&g->numbers, n))
		return false;
	for (size_t i = 0; m && i < m->n_dimensions; i++) {
		int64_t *d = g->numbers.p + g->numbers.n;
		d[NSX_COST_W_SIZE] = m->dimensions[i]->size;
		d[NSX_COST_W_STRIDE] = m->dimensions[i]->stride;
		d[NSX_COST_W_LOW] = m->dimensions[i]->padding_low;
		d[NSX_COST_W_DILATION] = m->dimensions[i]->window_dilation;
		d[NSX_COST_W_BASE] = m->dimensions[i]->base_dilation;
		g->numbers.n += NSX_COST_W_NUMBERS;
	}
	return true;
}

/* False when out of memory. */
static bool
attributes(struct nsx_cost_graph *g, const Nsysx__NsxHloWork *m, enum nsx_cost_kind kind, struct nsx_cost_work *w,
           enum nsx_cost_state *s)
{
	const Nsysx__NsxHloDotDimensions *dot = m->ragged_dot_dimensions ? m->ragged_dot_dimensions->dot_dimensions
	    : m->dot_dimensions;
	const Nsysx__NsxHloConvolutionDimensions *c = m->convolution_dimensions;

	if (m->precision) {
		w->algorithm = m->precision->algorithm;
		for (size_t i = 0; i < m->precision->n_operand_precision; i++)
			w->highest |= m->precision->operand_precision[i] == HIGHEST;
	}
	if (!window(g, m->window, &w->window))
		return false;
	if (kind == NSX_COST_DOT) {
		if (!dot)
			nsx_cost_worse(s, NSX_COST_BAD);
		return !dot || list(g, dot->lhs_contracting_dimensions, dot->n_lhs_contracting_dimensions,
		                    &w->contracting);
	}
	if (kind != NSX_COST_CONVOLUTION && kind != NSX_COST_CUSTOM)
		return true;
	if (!c) {
		nsx_cost_worse(s, NSX_COST_BAD);
		return true;
	}
	w->input_batch = c->input_batch_dimension;
	w->input_feature = c->input_feature_dimension;
	w->output_feature = c->output_feature_dimension;
	w->feature_groups = m->feature_group_count ? m->feature_group_count : 1;
	w->batch_groups = m->batch_group_count ? m->batch_group_count : 1;
	return list(g, c->input_spatial_dimensions, c->n_input_spatial_dimensions, &w->input) &&
	       list(g, c->kernel_spatial_dimensions, c->n_kernel_spatial_dimensions, &w->kernel) &&
	       list(g, c->output_spatial_dimensions, c->n_output_spatial_dimensions, &w->output);
}

int
nsx_cost_work_read(struct nsx_cost_graph *g, struct nsx_unpacker *u, struct nsx_extent inst, struct nsx_extent config,
                   struct nsx_cost_custom custom,
                   struct nsx_cost_node *n)
{
	struct nsx_cost_work w = { .custom = custom };
	bool nomem = false;

	if (custom.target == NSX_COST_GEMM || custom.target == NSX_COST_ATTENTION) {
		/* Any text may be here: one that does not describe the work is not malformed. */
		if (config.len > CONFIG_MAX) {
			nsx_cost_worse(&n->state, NSX_COST_UNKNOWN);
			return NSX_OK;
		}
		const unsigned char *p = nsx_dumpfile_at(u->f, config.off, (size_t)config.len);
		if (!p)
			return NSX_ERR;
		if (!nsx_cost_config(g, (struct nsx_str){ (const char *)p, (size_t)config.len }, &w, &nomem))
			nsx_cost_worse(&n->state, NSX_COST_UNKNOWN);
	} else {
		const Nsysx__NsxHloWork *m = nsx_unpack_message(u, inst, &nsysx__nsx_hlo_work__descriptor);
		if (!m)
			return NSX_ERR;
		nomem = !attributes(g, m, n->kind, &w, &n->state);
	}
	n->work = (uint32_t)g->works.n;
	return !nomem && nsx_vec_push(&g->works, w) ? NSX_OK : nsx_dumpfile_nomem(u->f);
}
