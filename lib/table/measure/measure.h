/* measure.h -- declarations shared by the files of nsysx-measure: spans collected from a stream, and tables made of
 * them; private to this folder. */
#ifndef NSX_TABLE_MEASURE_MEASURE_H
#define NSX_TABLE_MEASURE_MEASURE_H

#include "table/measure.h"
#include "base/map.h"
#include "base/near.h"
#include "base/vec.h"

/* A measured subject: a program, or one instance of a range. Numbers of names are in nsx_spans.names. */
struct nsx_subject {
	int64_t  id;            /* of the program or the range; INT64_MIN: none */
	int64_t  host_start;    /* of a range: orders its executions */
	uint32_t name;
	uint32_t outer;         /* of a range: the next measured one around it; NSX_NONE: none */
	bool     cut;           /* of a range: part of it was not seen */
};

/* One execution of it on one device. */
struct nsx_span_of { uint32_t subject; int64_t execution, device, start, end, kernels, ops; bool cut; };

/* An operation of a span. */
struct nsx_span_op { uint32_t span, type, name; int64_t start, dur; };

struct nsx_spans {
	const struct nsx_measure_options *options;
	struct nsx_err               *err;
	struct nsx_intern             names;
	NSX_VEC(struct nsx_subject)   subjects;
	NSX_VEC(struct nsx_span_of)   spans;
	struct nsx_map                executions, span_of;   /* (subject, execution) -> dense; (that, device) ->
	                                                      * spans */
	NSX_VEC(struct nsx_span_op)   ops;                   /* only for lists */
	int64_t                       met;                   /* number of op records */
	int64_t                       timeless, no_range;    /* without a duration; whose range is missing */
	int64_t                       cut;                   /* executions that were not seen whole */
	int64_t                       helper;                /* operations that helper threads launched meanwhile */
	int64_t                       candidates, matching;  /* programs or ranges; of that name */
	struct nsx_near               near;                  /* similar names */
	bool                          required;              /* a record of the required kind was read */
	int64_t                       diags;
};

/* Collect all of `in`. NSX_OK or NSX_ERR. */
int nsx_spans_read(struct nsx_spans *s, struct nsx_reader *in);
void nsx_spans_free(struct nsx_spans *s);

/* The requested table; NULL when out of memory. */
struct nsx_table *nsx_spans_table(struct nsx_spans *s);

#endif
