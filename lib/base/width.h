/* width.h -- the width of text on a terminal. */
#ifndef NSX_BASE_WIDTH_H
#define NSX_BASE_WIDTH_H

#include "base/str.h"

/* Columns that s, which is UTF-8 without control characters, takes on a terminal: 2 for an East Asian wide character,
 * 0 for a mark that combines with the character before it, else 1. Bytes that are not UTF-8 take 1 each. */
size_t nsx_width(struct nsx_str s);

/* Bytes of the longest prefix, or the longest suffix, of s that takes at most `width` columns. A prefix keeps the
 * combining marks of its last character; a suffix does not begin with one. */
size_t nsx_width_head(struct nsx_str s, size_t width);
size_t nsx_width_tail(struct nsx_str s, size_t width);

/* Append s shortened to `width` columns at most: both ends with ".." between them, the first the longer one if they
 * cannot be equal. Unchanged if it fits.
 *
 *   jit_train_step.fusion in 12 columns  ->  jit_t..usion */
void nsx_buf_shortened(struct nsx_buf *b, struct nsx_str s, size_t width);

/* Append lines of text, each ended by '\n', none wider than `width` (at least 8): broken at spaces where possible,
 * continued with an indentation of two columns. */
void nsx_buf_folded(struct nsx_buf *b, struct nsx_str lines, size_t width);

/* The same for one line, continued with an indentation of `indent` columns (less than width), without breaking words: a
 * word that does not fit `width` has a line of its own, which is wider. */
void nsx_buf_folded_words(struct nsx_buf *b, struct nsx_str line, size_t width, size_t indent);

/* Columns of the terminal fd: its own width, or COLUMNS of the environment, or 80. */
size_t nsx_terminal_width(int fd);

#endif
