/* range_book.h -- the NVTX ranges to which later operations may refer: a range precedes the operations that it launched
 * in the stream, and is kept until both its end on the host and its end on the GPU have passed. Memory holds the ranges
 * that are open on either side, not all ranges of the stream. */
#ifndef NSX_JOB_RANGE_BOOK_H
#define NSX_JOB_RANGE_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "job/names.h"
#include "stream/kinds.h"
#include "stream/reader.h"

/* `name`, `mark` and `values` belong to the caller; mark is NSX_NONE at first, values are 0. If the book has a
 * `past`: `own` is the time of the operations whose innermost range this is, `time` is `own` plus the time of the
 * operations launched in ranges inside it, both in ns; `worked`: there are such operations. A range with GPU work has
 * no operations if a filter such as nsysx-warmup removed them all: then the time of its work is unknown, not 0.
 * `inner`: it is in one of the same name, whose time includes its own. Private: `around`, bits of the names around it;
 * `up`, the place in the list of the range around it, NSX_NONE if that is not there. */
struct nsx_range_entry {
	int64_t  profile, range, parent, end;
	uint32_t name, mark;
	int64_t  own, time;
	bool     worked, inner;
	uint32_t up;
	uint64_t around;
	int64_t  values[3];
};

/* {0} is empty. */
struct nsx_range_book {
	NSX_VEC(struct nsx_range_entry) list;
	uint32_t      *at;      /* hash table of (profile, range): indices of list, NSX_NONE where there is none */
	unsigned       bits;    /* of its number of slots */
	size_t         limit;   /* remove ended ranges when there are this many */
	struct nsx_buf text, scratch;
	/* Set by the caller: only operations are looked up, so a range is over when its work on the GPU, which contains
	 * them all, is. `now`, the time in ns that the stream has reached, is then set by nsx_range_book_reach. Of a
	 * stream without the operations, the latest million ranges or so are kept. */
	bool           ops_only;
	int64_t        now;
	/* NULL, or called once for each range, when all operations launched in it have been added. False: out of
	 * memory. */
	bool         (*past)(void *arg, const struct nsx_range_entry *range);
	void          *arg;
};

/* Declare to a reader what the book uses of ranges, including their names, and of the operations whose range is looked
 * up in it. ops_only: as in the book. */
void nsx_range_book_need(struct nsx_reader *in, bool ops_only);

/* Add the range of a record. NSX_OK, or NSX_ERR (out of memory). */
int nsx_range_book_add(struct nsx_range_book *b, const struct nsx_rec *range, uint32_t name, struct nsx_err *err);

/* The same where no record is at hand, for a book with ops_only: `end` is that of its work on the GPU. The entry, whose
 * `values` are 0, until the next one is added; NULL on failure. */
struct nsx_range_entry *nsx_range_book_enter(struct nsx_range_book *b, int64_t profile, int64_t range, int64_t parent,
                                             int64_t end, uint32_t name, struct nsx_err *err);

/* An operation of a book with ops_only was read: the stream has reached its start. */
static inline void
nsx_range_book_reach(struct nsx_range_book *b, const struct nsx_rec *op)
{
	b->now = nsx_int(op, NSX_OP_start, b->now);
}

/* The range of that id in the profile, NULL if it has not been read or has ended. Valid until the next one is added. */
struct nsx_range_entry *nsx_range_book_find(const struct nsx_range_book *b, int64_t profile, int64_t range);

/* Add `ns`, the duration of an operation launched in that range, and therefore in the ranges around it. False if the
 * book has no such range. */
bool nsx_range_book_launched(struct nsx_range_book *b, int64_t profile, int64_t range, int64_t ns);

/* The same for a range of the book. */
static inline void
nsx_range_book_add_time(struct nsx_range_entry *range, int64_t ns)
{
	range->own = nsx_add_sat(range->own, ns, NULL);
	range->time = nsx_add_sat(range->time, ns, NULL);
	range->worked = true;
}

/* After the last record: report the remaining ranges to `past`. NSX_OK, or NSX_ERR (out of memory). */
int nsx_range_book_end(struct nsx_range_book *b, struct nsx_err *err);

/* DOMAIN:NAME, or NAME in the default domain, "[unnamed]" without one, with names in the requested form (nsx_name).
 * Valid until the next call for this book; empty when out of memory. */
struct nsx_str nsx_range_book_name(struct nsx_range_book *b, const struct nsx_rec *range, enum nsx_names names);
struct nsx_str nsx_range_book_title(struct nsx_range_book *b, struct nsx_str domain, struct nsx_str name,
                                    enum nsx_names names);

void nsx_range_book_free(struct nsx_range_book *b);

#endif
