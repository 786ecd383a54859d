/* predict.h -- how the binary encoder stores columns: the prediction of each, chosen by measuring; private to
 * lib/stream. */
#ifndef NSX_STREAM_PREDICT_H
#define NSX_STREAM_PREDICT_H

#include "stream/binary.h"
#include "stream/codec.h"

enum { NSX_OWN_KEYS = 3 };

/* One way to store a column. Columns are positions in the header, NSX_NO_SLOT if not used. */
struct nsx_way { enum nsx_base base; uint8_t of, key, plus, minus; };

/* The prediction that was the best for a column in an earlier block, its cost on the sample then, and for how many more
 * blocks it is used while its cost stays as low. */
struct nsx_habit { struct nsx_way way; uint64_t cost; unsigned blocks; };

/* Data that depend on the names of a kind's columns, computed once per kind: the order in which columns are stored (a
 * prediction may use columns before it) and the keys under which records may be alike; and the best predictions so
 * far. */
struct nsx_layout {
	int     ncols;
	uint8_t list[NSX_MAX_COLS];
	char    type[NSX_MAX_COLS];
	bool    start[NSX_MAX_COLS];        /* a time whose duration is the next column */
	uint8_t key[NSX_OWN_KEYS][2];
	int     nkey[NSX_OWN_KEYS];         /* number of columns of each key; key 0 has none, other keys without columns
	                                     * do not exist */
	struct nsx_habit habit[NSX_MAX_COLS];
};

void nsx_layout_plan(struct nsx_layout *l, const struct nsx_head *cols, int ncols);

/* The records of one kind in a block. */
struct nsx_predicted {
	struct nsx_layout *layout;
	size_t          n;
	const uint64_t *has;
	uint64_t        all, any;           /* columns that every record has; that at least one has */
	const uint64_t *v[NSX_MAX_COLS];
};

/* Scratch memory that is reused for every block; {0} is empty. */
struct nsx_predictor {
	uint64_t *scratch;
	size_t    cap;                      /* numbers in scratch */
	uint64_t *diff, *top;               /* NSX_BLOCK_ROWS each, as all below */
	int32_t  *prev[NSX_OWN_KEYS], *last[NSX_OWN_KEYS], *table;
	struct nsx_buf records, values, list, key;
};

/* Reserve n numbers in scratch: false when out of memory. */
bool nsx_predictor_room(struct nsx_predictor *p, size_t n);
void nsx_predictor_free(struct nsx_predictor *p);

/* Append the records of t as a field of a block; false when out of memory. */
bool nsx_put_records(struct nsx_predictor *p, struct nsx_buf *out, uint32_t kind, const struct nsx_predicted *t);

#endif
