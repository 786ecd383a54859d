/* measure.h -- declarations shared by the files of nsysx-measure: spans collected from a stream, and tables made of
 * them; private to this folder. */
#ifndef NSX_TABLE_MEASURE_MEASURE_H
#define NSX_TABLE_MEASURE_MEASURE_H

#include "table/measure.h"
#include "base/map.h"
#include "base/near.h"
#include "base/vec.h"
#include "table/sums.h"

/* A measured subject: a program, or one instance of a range. Numbers of names are in nsx_spans.names. */
struct nsx_subject {
	int64_t  id;            /* of the program or the range; INT64_MIN: none */
	int64_t  host_start;    /* of a range: orders its executions */
	uint32_t name;
	uint32_t outer;         /* of a range: the next measured one around it; NSX_NONE: none */
	bool     cut;           /* of a range: part of it was not seen */
};

/* One execution of it on one device: a row of nsx_spans.rows. Executions of ranges are counted when all are known. */
struct nsx_span_key { int64_t subject, execution, device; };
struct nsx_span_sum {
	struct nsx_span_key key;
	int64_t  id, number, start, end, events, kernels, ops;
	uint32_t name;
	bool     cut;
};

/* An operation of the span of that number. */
struct nsx_span_op { int64_t span, start, dur; uint32_t type, name; };

struct nsx_spans {
	const struct nsx_measure_options *options;
	struct nsx_err               *err;
	struct nsx_intern             names;
	NSX_VEC(struct nsx_subject)   subjects;
	struct nsx_sums               rows;
	size_t                        all, whole;            /* number of executions; of those that were seen whole */
	NSX_VEC(struct nsx_span_op)   ops;                   /* only for lists */
	int64_t                       met;                   /* number of op records */
	int64_t                       timeless, no_range;    /* without a duration; whose range is missing */
	int64_t                       cut;                   /* executions that were not seen whole */
	int64_t                       helper;                /* operations that helper threads launched meanwhile */
	int64_t                       candidates, matching;  /* programs or ranges; of that name */
	struct nsx_near               near;                  /* similar names */
};

/* Of programs, of ranges. */
extern const struct nsx_sum_def nsx_span_rows[2];

/* Collect all of `in`. NSX_OK or NSX_ERR. */
int nsx_spans_read(struct nsx_spans *s, struct nsx_reader *in);
void nsx_spans_free(struct nsx_spans *s);

#endif
