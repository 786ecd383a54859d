/* diagnose.h -- what limits a job, what its steps consist of, and possible gains: ranked findings of the other
 * analyses. Rules, thresholds and formulas of gain: docs/man/nsysx-diagnose.1. */
#ifndef NSX_TABLE_DIAGNOSE_H
#define NSX_TABLE_DIAGNOSE_H

#include "base/diag.h"
#include "base/err.h"
#include "base/str.h"
#include "base/table.h"
#include "stream/reader.h"

enum nsx_diagnose_form {
	NSX_DIAGNOSE_FINDINGS,   /* a table: a row for each finding */
	NSX_DIAGNOSE_WHERE,      /* a table: the step, and the activities of devices in it */
	NSX_DIAGNOSE_SCREEN,     /* text for a terminal: verdict, step, its activities, the largest gains */
	NSX_DIAGNOSE_MARKDOWN    /* the same as Markdown */
};

#define NSX_DIAGNOSE_MIN 0.5   /* minimum gain of a finding, in percent of a step */
#define NSX_DIAGNOSE_TOP 3     /* findings on the screen */

struct nsx_diagnose_options {
	enum nsx_diagnose_form form;
	bool        all;       /* findings, where, steps and Markdown at once, for any form */
	const char *step;      /* as in nsx_steps_options; NULL: none */
	const char *module;
	double      min;       /* percent of a step: findings with a smaller gain are dropped */
	int64_t     gaps;      /* with all: the table of nsx_idle, too, and this many of the longest gaps; 0: neither */
	int64_t     top;       /* findings on the screen; 0: all */
	size_t      width;     /* columns of the screen, 40 to 100; 0: 100 */
	const char *file;      /* the stream's name, for commands; NULL or "-": STREAM is used */
	const char *require;   /* fail unless the stream has a record of this kind; NULL: none */
};

struct nsx_diagnosis {
	struct nsx_table *table;   /* of the first two forms; NULL for the others */
	struct nsx_table *where;   /* with options.all: the second form's, beside the first one in `table` */
	struct nsx_table *steps;   /* and each step, as in nsx_steps */
	struct nsx_table *idle, *gaps;   /* with options.gaps; */
	struct nsx_table *path;    /* and the critical path of the median and of the slowest step */
	struct nsx_table *copies;  /* and that of nsx_copies, with what it has to say */
	struct nsx_diags  of_copies;
	struct nsx_buf    text;    /* of the others; with options.all, Markdown */
	int64_t           diags;   /* diag records in the stream */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet) into a spool, which is read again when the steps
 * are known. Fills d, which nsx_diagnosis_free ends; NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_diagnose(struct nsx_reader *in, const struct nsx_diagnose_options *options, struct nsx_diagnosis *d,
                 struct nsx_diags *diags, struct nsx_err *err);

void nsx_diagnosis_free(struct nsx_diagnosis *d);

#endif
