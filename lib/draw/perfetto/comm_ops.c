/* comm_ops.c -- operations that communicate and are in no thunk that does, such as those of NCCL in a job without XLA.
 * Their instances are known only after all have been read (job/comm/nccl.h), so they are kept until then. */
#include <stdlib.h>

#include "draw/perfetto/trace.h"

/* -1: unknown; strings in `texts`, the empty one is unknown. */
struct nsx_kept_op {
	int64_t  start, end, bytes, calls, group, hidden, seq;
	uint64_t launch;
	uint64_t instance;
	uint32_t process, name, collective, comm_id, pair;
};

int
nsx_comm_ops_keep(struct nsx_comm_ops *c, const struct nsx_rec *rec, uint32_t clock, uint32_t process,
                  const struct nsx_slice *s, struct nsx_err *err)
{
	struct nsx_kept_op op = {
		.start = s->start, .end = s->end, .launch = s->launch, .process = process, .seq = -1,
		.bytes = nsx_int(rec, NSX_OP_bytes, -1), .calls = nsx_int(rec, NSX_OP_calls, -1),
		.group = nsx_int(rec, NSX_OP_group, -1), .hidden = nsx_int(rec, NSX_OP_hidden, -1),
		.name = nsx_intern(&c->texts, s->name),
		.collective = nsx_intern(&c->texts, nsx_string(rec, NSX_OP_collective)),
		.comm_id = nsx_intern(&c->texts, nsx_string(rec, NSX_OP_comm_id)),
		.pair = nsx_intern(&c->texts, nsx_string(rec, NSX_OP_pair)),
	};
	bool good = op.name != NSX_NONE && op.collective != NSX_NONE && op.comm_id != NSX_NONE && op.pair != NSX_NONE;

	if (!good || !nsx_vec_push(&c->kept, op))
		return nsx_err_nomem(err, NULL);
	if (nsx_nccl_take(&c->nccl, rec, clock, err) != NSX_OK)
		return NSX_ERR;
	/* Numbering sorts operations by instance: each stores its position here. */
	if (nsx_nccl_is(rec))
		c->nccl.ops.p[c->nccl.ops.n - 1].op = (int64_t)c->kept.n - 1;
	return NSX_OK;
}

/* Devices in an operation's group, -1 if unknown. */
static int64_t
group_of(const struct nsx_comm_ops *c, const struct nsx_kept_op *op)
{
	struct nsx_str id = nsx_intern_str(&c->texts, op->comm_id);
	uint32_t at = op->group < 0 && id.len ? nsx_intern_find(&c->nccl.comms.ids, id) : NSX_NONE;

	if (at == NSX_NONE)
		return op->group;
	int64_t ranks = c->nccl.comms.list.p[at].ranks;
	return ranks ? ranks : c->nccl.comms.list.p[at].devices;
}

/* seq and instance of the kept operations. */
static int
number(struct nsx_comm_ops *c, bool flows, struct nsx_err *err)
{
	struct nsx_nccl_set *s = &c->nccl;
	uint64_t instances = 0;

	if (s->apart) {
		c->apart = true;
		return NSX_OK;
	}
	if (nsx_nccl_number(s, err) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0, k; i < s->ops.n; i = k) {
		k = nsx_nccl_instance(s, i);
		instances++;
		for (size_t at = i; at < k; at++) {
			struct nsx_kept_op *op = &c->kept.p[s->ops.p[at].op];
			op->seq = s->ops.p[at].seq;
			/* The uppermost bits distinguish this number from launches and from instances of thunks. */
			if (flows && k - i > 1)
				op->instance = instances | UINT64_C(1) << 63 | UINT64_C(1) << 61;
		}
	}
	return NSX_OK;
}

static void
say_number(struct nsx_slice *s, enum nsx_arg_key key, int64_t v)
{
	if (v >= 0)
		s->args[s->nargs++] = (struct nsx_arg){ .key = key, .i = v };
}

static void
say_text(struct nsx_slice *s, enum nsx_arg_key key, struct nsx_str text)
{
	if (text.len)
		s->args[s->nargs++] = (struct nsx_arg){ .key = key, .s = text };
}

int
nsx_comm_ops_draw(struct nsx_comm_ops *c, struct nsx_perfetto_tracks *t, bool flows)
{
	if (number(c, flows, t->trace->err) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < c->kept.n; i++) {
		const struct nsx_kept_op *op = &c->kept.p[i];
		struct nsx_group *g = nsx_tracks_group(t, op->process, NSX_TRACK_COMMUNICATION, 0);
		struct nsx_slice s = {
			.name = nsx_intern_str(&c->texts, op->name), .category = NSX_CAT_COMMUNICATION,
			.start = op->start, .end = op->end, .launch = op->launch, .launched = op->launch != 0,
			.instance = op->instance,
		};

		say_text(&s, NSX_ARG_COLLECTIVE, nsx_intern_str(&c->texts, op->collective));
		say_number(&s, NSX_ARG_BYTES, op->bytes);
		say_number(&s, NSX_ARG_GROUP, group_of(c, op));
		say_text(&s, NSX_ARG_COMM_ID, nsx_intern_str(&c->texts, op->comm_id));
		say_text(&s, NSX_ARG_PAIR, nsx_intern_str(&c->texts, op->pair));
		say_number(&s, NSX_ARG_SEQ, op->seq);
		say_number(&s, NSX_ARG_CALLS, op->calls);
		say_number(&s, NSX_ARG_HIDDEN, op->hidden);
		if (!g || nsx_tracks_add(t, g, &s) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

void
nsx_comm_ops_free(struct nsx_comm_ops *c)
{
	nsx_nccl_free(&c->nccl);
	nsx_intern_free(&c->texts);
	free(c->kept.p);
}
