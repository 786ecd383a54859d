/* compile.h -- where compilation time goes: a table, from a stream or from the CSV of `nsys stats --report
 * nvtx_pushpop_trace`. */
#ifndef NSX_TABLE_COMPILE_H
#define NSX_TABLE_COMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/input.h"
#include "base/outfile.h"
#include "base/table.h"
#include "stream/reader.h"

/* The meaning of a row of the table. Its columns, times in ns:
 *   range, pass, phase   name self child percent
 *   module               id name key compilations total mean max work percent
 *   process              profile name pid compilations compile wall share */
enum nsx_compile_by { NSX_COMPILE_RANGE, NSX_COMPILE_PASS, NSX_COMPILE_PHASE, NSX_COMPILE_MODULE, NSX_COMPILE_PROCESS,
                      NSX_COMPILE_NBY };

/* The value of that name ("range"); -1 if it is none. */
int nsx_compile_by_name(const char *name);

/* Pass the records of `in`, which begins with CSV, to take: programs, compilation, ranges for the time covered. NSX_OK,
 * or NSX_ERR with err filled. */
typedef int nsx_compile_csv_fn(struct nsx_input *in, nsx_take_fn *take, void *state, struct nsx_diags *diags,
                               struct nsx_err *err);

struct nsx_compile_opts {
	const enum nsx_compile_by *by;   /* a table each, nby of them, at most NSX_COMPILE_NBY */
	size_t nby;
	bool loading;    /* a row of its own for the non-leaf ranges of each process's first compilation */
	bool some;       /* fail unless there is a record of compilation */
	nsx_compile_csv_fn *csv;   /* the function that reads CSV: nsx_extract_compile_csv */
};

/* Read all of `in`, from which nothing has been read (open with NSX_READ_ORDERED), and make the tables of one reading,
 * which the caller frees. opts: struct nsx_compile_opts. NSX_OK, or NSX_ERR with err filled; tables that are not made
 * are NULL. */
int nsx_compile(struct nsx_reader *in, const void *opts, struct nsx_table **tables, struct nsx_diags *diags,
                struct nsx_err *err);

/* Write a block of lines for each compilation: its time without XlaCompile's own, and the ranges that make up 99 % of
 * that. By the kind of range, or (full) by whole names. The input is a stream with all ranges of the host, or the CSV.
 * width: columns of the terminal on which lines must fit, with names shortened; 0: no terminal. *compilations: their
 * number. NSX_OK or NSX_ERR. */
int nsx_compile_summary(struct nsx_reader *in, bool full, size_t width, struct nsx_outfile *out,
                        int64_t *compilations, struct nsx_diags *diags, struct nsx_err *err);

#endif
