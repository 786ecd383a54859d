/* payload.h -- payloads that a program attached to its NVTX ranges: named entries of structures that the export
 * describes. Nothing is read unless requested, and of a payload only the requested entries. */
#ifndef NSX_NSYS_PAYLOAD_H
#define NSX_NSYS_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/str.h"
#include "source/trace.h"

/* A requested entry: a text, or else an integer. */
struct nsx_payload_entry { const char *name; bool text; };

/* What to read: these entries of payloads of these schemas, both by name. Entries that a schema lacks have no value.
 * Without names of schemas (NULL), any schema of the export is used that has the entries, and one entry that cannot be
 * read makes the whole payload invalid. */
struct nsx_payload_ask {
	const char *const              *schemas; int nschemas;
	const struct nsx_payload_entry *entries; int nentries;
};

struct nsx_payload_value {
	bool           there;
	struct nsx_str text;      /* empty for integers */
	int64_t        num;       /* unsigned values of 2^63 and more are negative */
};

/* Read the payloads of the n ranges of these ids (struct nsx_range.id). schema[i] is the index in ask->schemas of the
 * schema of range i's payload (0 if any schema is accepted), -1 if it has no payload, one of another schema, or one
 * that does not fit its schema; values[i * ask->nentries + k] is its entry k. Texts live until nsx_payload_close.
 * Payloads that could not be decoded are counted in diags (source: the export's name). NSX_OK, or NSX_ERR with err
 * filled: the database is damaged, out of memory. */
int nsx_payload_read(struct nsx_trace *t, const int64_t *ids, size_t n, const struct nsx_payload_ask *ask,
                     int *schema, struct nsx_payload_value *values, struct nsx_diags *diags, struct nsx_err *err);

/* Free what reading needs, including an open file; nsx_trace_free does so too. */
void nsx_payload_close(struct nsx_trace *t);

#endif
