/* reading.h -- a stream's collectives, instance by instance: what every table of them sums up. The
 * stream's own records if it has marks, otherwise paired here (job/comm/pairing.h). */
#ifndef NSX_JOB_COMM_READING_H
#define NSX_JOB_COMM_READING_H

#include "job/comm/pairing.h"
#include "stream/reader.h"

struct nsx_collective_marked;

/* What to do with a stream. {0} with these set. */
struct nsx_collective_reading {
	nsx_collective_instance_fn *instance;   /* members by their order in the stream */
	int       (*other)(void *state, const struct nsx_rec *rec);   /* all other records; may be NULL */
	void       *state;
	unsigned    keep;          /* further metadata, enum nsx_cat_keep */
	bool        thunks;        /* those of thunks are enough; a stream with marks gives all */
	const char *require;       /* fail unless the stream has a record of this kind; NULL: none */
	/* Set by the call. */
	struct nsx_comm *comm;     /* metadata: from the first call of these functions on */
	struct nsx_pairing pairing;
	struct nsx_collective_marked *marked;   /* own */
};

/* Read all of `in`, from which nothing has been read; what `other` uses was declared to it. NSX_OK, or NSX_ERR with err
 * filled; r is to be freed in both cases. */
int nsx_collective_instances(struct nsx_reader *in, struct nsx_collective_reading *r, struct nsx_diags *diags,
                             struct nsx_err *err);

/* Whether instances come by their last start, as a stream's marks do; otherwise those of communicators come by
 * communicator, kind, pair of ranks and number. In calls of `instance`. */
bool nsx_collective_by_time(const struct nsx_collective_reading *r);

/* The last end of the records of an instance. */
int64_t nsx_collective_end(const struct nsx_collective *of, size_t n);

void nsx_collective_reading_free(struct nsx_collective_reading *r);

#endif
