/* heap.h -- heap memory of programs, from their dumps, as a table. */
#ifndef NSX_TABLE_HEAP_H
#define NSX_TABLE_HEAP_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"

enum nsx_heap_what {
	NSX_HEAP_CURVE,     /* a row for each change: id name trace step bytes */
	NSX_HEAP_PEAK,      /* a row for each trace, the largest peak first: id name trace peak points memory */
	NSX_HEAP_SUMMARY,   /* a row for each memory that a program has: id name memory arguments outputs aliased
	                     * constants temp heap peak fragmentation reserved */
	NSX_HEAP_AT_PEAK    /* a row for each live buffer at the peak, the largest first: id name trace buffer size
	                     * share instruction op_name source */
};

struct nsx_heap_options {
	enum nsx_heap_what what;
	bool               stacks;   /* source is the whole stack; else its innermost frame */
	bool               arguments;  /* AT_PEAK: a row for each argument, result and constant, too, and a column kind;
	                                * share is of all memory of the program at its peak */
	int64_t            capacity;   /* bytes of a device's memory; above 0: SUMMARY also has capacity and share */
};

/* The size of the smallest memory of the devices of a stream, nothing of which has been read; 0: it has none. NSX_OK,
 * or NSX_ERR with err filled. */
int nsx_heap_capacity(struct nsx_reader *in, int64_t *bytes, struct nsx_err *err);

/* The table of n paths, each a dump, a folder of dumps or an XSpace, in the order given, those of a folder by id; "-"
 * is standard input. NULL with err filled on failure; the caller frees it. */
struct nsx_table *nsx_heap_table(char *const *paths, int n, const struct nsx_heap_options *options,
                                 struct nsx_diags *diags,
                                 struct nsx_err *err);

/* Several tables of one reading, tables[i] by options[i]. NSX_OK, or NSX_ERR with err filled and tables NULL. */
int nsx_heap_tables(char *const *paths, int n, const struct nsx_heap_options *options, struct nsx_table **tables,
                    size_t ntables, struct nsx_diags *diags, struct nsx_err *err);

#endif
