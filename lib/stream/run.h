/* run.h -- records of one kind that follow each other in a block of a binary stream, as columns: for programs that
 * add up a few values of many records, which would only be put together to be taken apart again. */
#ifndef NSX_STREAM_RUN_H
#define NSX_STREAM_RUN_H

#include "stream/kinds.h"

NSX_BEGIN_C

/* The texts of a block, by number. */
struct nsx_run_texts {
	size_t   n;
	uint32_t block;           /* another number for each block, from 1: those of texts hold for this one alone */
	/* NULL, or of kinds whose texts are compared, by text: one before it that is equal to it except for digits at
	 * the end of both, which is the same one for many, as if they had one name; itself if there is none. */
	const uint32_t *first;
	struct nsx_strings *of;   /* private */
};

/* A text, until the next block; empty for NSX_ABSENT. ptr is NULL when out of memory. */
struct nsx_str nsx_text(const struct nsx_run_texts *texts, int64_t number);

/* Records number from, ..., end - 1 of the n of the kind that are needed of the block, which all of its runs have as
 * the same columns. A run is valid until the function that gets it returns. */
struct nsx_run {
	const struct nsx_kind *kind;
	size_t from, end, n;
	struct nsx_run_texts texts;
	const int64_t *v[NSX_MAX_COLS];   /* by slot: values by number, NSX_ABSENT where absent; of doubles the bits, of
	                                   * strings the numbers of texts. Only of slots that were declared: use
	                                   * nsx_run_int. */
};

/* The value in that slot of record i, a number or the number of a text; or `otherwise` if it is absent. */
static inline int64_t
nsx_run_int(const struct nsx_run *run, size_t i, int slot, int64_t otherwise)
{
#ifdef NSX_CHECK_NEEDS
	if (run->kind->unasked >> slot & 1)
		__builtin_trap();
#endif
	int64_t v = run->v[slot][i];

	return v == NSX_ABSENT ? otherwise : v;
}

/* Receives runs one after the other. NSX_OK or NSX_ERR. */
typedef int nsx_take_run_fn(void *state, const struct nsx_run *run);

/* The known kinds (1 << id each) that come in runs, those of them whose texts are compared, and who takes them. {0}:
 * none. */
struct nsx_run_kinds { uint64_t kinds, compare; nsx_take_run_fn *take; };

NSX_END_C

#endif
