/* csv.h -- the CSV that `nsys stats` prints, row by row. It is not RFC 4180: a field is in quotes if it holds a comma,
 * quotes in it are not doubled, line breaks in names are written as they are. */
#ifndef NSX_BASE_CSV_H
#define NSX_BASE_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/input.h"
#include "base/str.h"

struct nsx_csv;

/* Whether the next input looks like CSV and not like a stream, judged by its first line; nothing is consumed. NSX_OK,
 * or NSX_ERR with the input's err filled. */
int nsx_csv_is(struct nsx_input *in, bool *csv);

/* Read the input as CSV: consumes the header, and the text that nsys prints before it. NULL on failure, with err
 * filled; in and err must outlive it. */
struct nsx_csv *nsx_csv_open(struct nsx_input *in, struct nsx_err *err);

/* The column of that name; -1 if there is none, with err filled. */
int nsx_csv_column(struct nsx_csv *c, const char *name);

/* The next row: NSX_OK with *fields one string for each column; NSX_EOF; NSX_ERR, also for an input that ends within a
 * row. They live until the next call. Lines that are not a row are dropped and counted. */
int nsx_csv_next(struct nsx_csv *c, struct nsx_str **fields);

/* The row read last turns out not to be a row: add its lines to those dropped. */
void nsx_csv_reject(struct nsx_csv *c);

/* The text of the diag for dropped lines. */
#define NSX_CSV_REJECTED "lines of CSV ignored that do not match the header: names with line breaks or quotes?"

/* Number of lines dropped so far. */
int64_t nsx_csv_rejected(const struct nsx_csv *c);

void nsx_csv_close(struct nsx_csv *c);   /* NULL allowed */

#endif
