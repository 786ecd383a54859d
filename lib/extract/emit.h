/* emit.h -- declarations that the files which write the stream share: the state, a record, the sections. Private to
 * lib/extract. */
#ifndef NSX_EXTRACT_EMIT_H
#define NSX_EXTRACT_EMIT_H

#include "extract/outbox.h"
#include "extract/profile.h"

struct ex_emit {
	struct ex_job     *job;
	struct ex_outbox  *out;
	struct nsx_err     err;      /* separate, because the writer may set the job's at the same time */
	struct ex_place   *places;   /* of communicators */
	struct nsx_buf     name;     /* of a range, or numbers of operations */
	NSX_VEC(int64_t)   numbers;  /* of operations, while they are sorted */
	uint32_t         **levels;   /* by profile, then range: nesting level; NULL where no range is written */
};

/* A record to fill, which nsx_emit_done writes; NSX_OK or NSX_ERR. */
static inline struct nsx_rec *
nsx_emit_begin(struct ex_emit *e, enum nsx_kind_id kind)
{
	return nsx_extract_outbox_rec(e->out, nsx_kind_builtin(kind));
}

static inline int
nsx_emit_done(struct ex_emit *e)
{
	return nsx_extract_outbox_put(e->out);
}

/* The number that an operation of the profile has in the stream. */
static inline int64_t
nsx_emit_op_number(const struct ex_profile *p, uint32_t op)
{
	return p->trace.op_ids ? p->trace.op_ids[op] : op;
}

/* Values below 0 are written as absent. */
static inline void
nsx_emit_set_known(struct nsx_rec *r, int slot, int64_t v)
{
	if (v >= 0)
		nsx_set_i(r, slot, v);
}

/* Set it unless the process's id is not recorded. */
static inline void
nsx_emit_set_pid(struct nsx_rec *r, int slot, const struct nsx_trace *t, uint32_t process)
{
	if (t->processes[process].pid)
		nsx_set_i(r, slot, t->processes[process].pid);
}

/* calls.c: what the operation, the call awaited, into its record. False when out of memory. */
bool nsx_emit_after(struct ex_emit *e, const struct ex_profile *p, uint32_t op, struct nsx_rec *r);
bool nsx_emit_waited(struct ex_emit *e, const struct ex_profile *p, uint32_t call, struct nsx_rec *r);

/* Write all metadata, in the order of the stream (emit_metadata.c). NSX_OK, or NSX_ERR with e->err filled where it was
 * not the writer that failed. */
int nsx_emit_metadata(struct ex_emit *e);

#endif
