/* link.h -- a writer and a reader that are connected in memory: the records of a stream as they pass from one filter to
 * the next in one process, without being encoded. Who writes a record calls who reads it. */
#ifndef NSX_STREAM_LINK_H
#define NSX_STREAM_LINK_H

#include "stream/reader.h"
#include "stream/writer.h"

NSX_BEGIN_C

struct nsx_link;

/* What the reading filter does for each record that was written, and once at the end: one nsx_read, which returns that
 * record or NSX_EOF, and its work. It returns what writing it or finishing the stream returns: NSX_OK or NSX_ERR. */
typedef int nsx_link_step(void *state);

/* A connection. name: of the stream, in messages; flags: enum nsx_read_flags. Its two ends belong to the caller and are
 * closed before it is freed. err: of the reader; if a step fails, the writer's says nothing. NULL on failure, with err
 * filled. Not for a reader that skips records (nsx_reader_need). */
struct nsx_link *nsx_link_new(const char *name, unsigned flags, struct nsx_err *err);
struct nsx_reader *nsx_link_reader(struct nsx_link *l);
/* NULL on failure, with err filled. */
struct nsx_writer *nsx_link_writer(struct nsx_link *l, nsx_link_step *step, void *state, struct nsx_err *err);

void nsx_link_free(struct nsx_link *l);   /* NULL allowed */

NSX_END_C

#endif
