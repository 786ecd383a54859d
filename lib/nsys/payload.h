/* payload.h -- what a program attached to its NVTX ranges: named entries of structures that the export describes.
 * Nothing is read unless it is asked for, and of a payload nothing but the entries asked for. */
#ifndef NSX_NSYS_PAYLOAD_H
#define NSX_NSYS_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/str.h"
#include "nsys/trace.h"

/* An entry that is wanted: a text, or else an integer. */
struct nsx_payload_entry { const char *name; bool text; };

/* What to read: these entries of payloads of these schemas, both by name. Entries that a schema lacks have no value.
 * Without names of schemas (NULL) a schema is any that is in the export, told by its entries alone, and one entry that
 * cannot be read makes the whole payload void. */
struct nsx_payload_ask {
	const char *const              *schemas; int nschemas;
	const struct nsx_payload_entry *entries; int nentries;
};

struct nsx_payload_value {
	bool           there;
	struct nsx_str text;      /* empty for integers */
	int64_t        num;       /* unsigned values of 2^63 and more are negative */
};

/* Whether the export has payloads at all: nsx_payload_read finds none where this says so. */
bool nsx_payload_any(const struct nsx_trace *t);

/* Read the payloads of the n ranges of these ids (struct nsx_range.id). schema[i] is the number in ask->schemas of
 * range i's (0 where any will do), -1 if it has none, one of another schema, or one that does not hold what its schema
 * says; values[i * ask->nentries + k] is its entry k. Texts live until nsx_payload_close. What is there but could not
 * be understood is counted in diags (source: the export's name). NSX_OK, or NSX_ERR with err filled: the database is
 * damaged, out of memory. */
int nsx_payload_read(struct nsx_trace *t, const int64_t *ids, size_t n, const struct nsx_payload_ask *ask,
                     int *schema, struct nsx_payload_value *values, struct nsx_diags *diags, struct nsx_err *err);

/* Give back what reading needs, an open file among it; nsx_trace_free does so too. */
void nsx_payload_close(struct nsx_trace *t);

#endif
