/* nccl_known.c -- the communication of operations where the source says what each executes: nothing is to be found in
 * ranges and payloads. */
#include "extract/nccl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
put(struct ex_profile *p, const struct nsx_op_comm *c, uint32_t *number)
{
	struct ex_carried out;
	char text[64];

	memset(&out, 0, sizeof out);   /* the padding too: they are compared by bytes */
	out.kind = c->kind;
	out.bytes = c->bytes;
	out.calls = c->calls;
	out.group = c->group;
	if (c->has_comm) {
		snprintf(text, sizeof text, "%016" PRIx64, c->comm_id);
		out.comm_id = nsx_extract_keep(p, nsx_str_c(text));
	}
	if (c->low >= 0) {
		snprintf(text, sizeof text, "%" PRId64 "-%" PRId64, c->low, c->high);
		out.pair = nsx_extract_keep(p, nsx_str_c(text));
	}
	*number = nsx_intern(&p->nccl->carried, (struct nsx_str){ (const char *)&out, sizeof out });
	return *number != NSX_NONE && p->rc == NSX_OK;
}

int
nsx_nccl_take_known(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	struct ex_nccl *n = p->nccl;
	uint32_t *numbers = malloc(((size_t)t->ncomms + 1) * sizeof *numbers);
	bool good = numbers && (n->op_carried = malloc(((size_t)t->nops + 1) * sizeof *n->op_carried)) != NULL;

	for (uint32_t i = 0; good && i < t->ncomms; i++)
		good = put(p, &t->comms[i], &numbers[i]);
	for (uint32_t i = 0; good && i < t->nops; i++)
		n->op_carried[i] = t->op_comm[i] == NSX_NONE ? (uint32_t)NSX_NONE : numbers[t->op_comm[i]];
	for (uint32_t i = 0; good && i < t->nplaces; i++)
		good = nsx_vec_push(&n->places, ((struct nccl_place){ .comm = t->places[i].comm_id,
			.process = t->devices[0].process, .device = 0, .cuda = t->devices[0].cuda,
			.rank = t->places[i].rank, .ranks = t->places[i].ranks,
			.name = nsx_extract_keep(p, t->places[i].name) }));
	good &= p->rc == NSX_OK;
	free(numbers);
	return good ? NSX_OK : p->rc != NSX_OK ? p->rc : nsx_err_nomem(&p->err, p->input->path);
}
