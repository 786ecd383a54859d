/* table_row.h -- the forms whose rows are written one after the other: TSV, JSON and CSV, of a table (table_forms.c) or
 * of records as they are read (stream/table_write.c). */
#ifndef NSX_BASE_TABLE_ROW_H
#define NSX_BASE_TABLE_ROW_H

#include <stdbool.h>

#include "base/str.h"
#include "base/table.h"

/* Whether a cell of this type is an integer. */
static inline bool
nsx_table_is_int(enum nsx_cell type)
{
	return (1U << NSX_CELL_INT | 1U << NSX_CELL_ID | 1U << NSX_CELL_NS | 1U << NSX_CELL_TIME | 1U << NSX_CELL_BYTES
	        | 1U << NSX_CELL_FLOPS) >> type & 1;
}

/* How a form begins, writes a row and ends. If memory runs out, `failed` of the buffer is set. */
struct nsx_row_form {
	void (*begin)(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols);
	/* row: its number, from 0 */
	void (*row)(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols,
	            const struct nsx_table_cell *cells, size_t row);
	void (*end)(struct nsx_buf *b, size_t rows);
};

/* NULL for a form that requires all rows. */
const struct nsx_row_form *nsx_row_form(enum nsx_table_form form);

/* Append a number as TSV has it, with every digit. */
void nsx_table_number(struct nsx_buf *b, enum nsx_cell type, struct nsx_table_cell c);

#endif
