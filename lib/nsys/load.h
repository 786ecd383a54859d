/* load.h -- what the parts of loading share; private to lib/nsys.
 *
 *   operations' tables -> launches, by (process, correlation id)          ops.c, launches.c
 *   NVTX_EVENTS -> ranges                                                 nvtx.c; at the same time, in parts
 *   RUNTIME -> calls that launched something                              runtime.c; in parts
 *   texts and string ids -> names                                         names.c
 *   parts' ranges -> one array, by thread; each thread is projected       threads.c, calls.c, project.c
 *
 * The parts of a table depend on its rowids alone, so numbers given in order of first occurrence do not depend on the
 * number of threads. */
#ifndef NSX_NSYS_LOAD_H
#define NSX_NSYS_LOAD_H

#include <stdatomic.h>

#include "base/progress.h"
#include "base/vec.h"
#include "nsys/db.h"
#include "source/calls.h"
#include "source/pile.h"
#include "source/texts.h"
#include "source/trace.h"

/* String ids in use, numbered in order of first occurrence. */
struct nsx_ids { struct nsx_map map; NSX_VEC(int64_t) list; };

/* id's number; NSX_NONE when out of memory. */
uint32_t nsx_ids_at(struct nsx_ids *ids, int64_t id);
void nsx_ids_free(struct nsx_ids *ids);

/* Data common to the rows of one thread (and domain). */
struct nsx_track {
	uint64_t gtid;
	int64_t  domain;    /* domainId; 0 where rows have none */
	uint32_t n;         /* its rows in the part */
	uint32_t thread;    /* meaning depends on the user */
	uint16_t domain_no, flags;
	bool     drop, gil;   /* its ranges are not kept; they are of the GIL */
};

enum { NSX_TRACK_CACHE = 256 };
struct nsx_tracks { struct nsx_map map; NSX_VEC(struct nsx_track) list; uint32_t cache[NSX_TRACK_CACHE]; };

/* The number of the track of (gtid, domain); NSX_NONE when out of memory. Each is counted. */
uint32_t nsx_tracks_find_(struct nsx_tracks *t, uint64_t gtid, int64_t domain);
static inline uint32_t
nsx_tracks_at(struct nsx_tracks *t, uint64_t gtid, int64_t domain)
{
	uint32_t i = t->cache[((uint32_t)gtid + (uint32_t)domain * 37) % NSX_TRACK_CACHE];

	if (i < t->list.n && t->list.p[i].gtid == gtid && t->list.p[i].domain == domain)
		return i;
	return nsx_tracks_find_(t, gtid, domain);
}
void nsx_tracks_free(struct nsx_tracks *t);

/* The tables of GPU operations, in the order of operations with equal times. */
enum nsx_op_table {
	NSX_TABLE_KERNELS, NSX_TABLE_COPIES, NSX_TABLE_DECOMPRESSIONS, NSX_TABLE_SETS, NSX_TABLE_GRAPHS, NSX_OP_TABLES
};

/* A scan to be run by a thread. */
struct nsx_task { struct nsx_db_scan scan; struct nsx_err err; bool failed; };
typedef NSX_VEC(struct nsx_task) nsx_tasks;

/* Parts of operations, ranges and calls: in ops.c, nvtx.c and runtime.c. */
struct nsx_nvtx_part;
struct nsx_op_part;
struct nsx_call_part;
struct nsx_host;
struct nsx_memory_reading;
struct nsx_cpu_reading;

struct nsx_loader {
	struct nsx_db                db;
	const struct nsx_trace_opts *opts;
	struct nsx_trace            *t;
	struct nsx_diags            *diags;
	struct nsx_err              *err;
	char                        *source;        /* t->name, for diags */

	struct nsx_op_part          *op_parts;      int nop_parts;
	struct nsx_nvtx_part        *nvtx_parts;    int nnvtx_parts;
	struct nsx_call_part        *call_parts;    int ncall_parts;

	NSX_VEC(uint64_t)            gpids;         /* of devices: sorted, distinct; t->devices[].process counts in it
	                                             * until the end */
	struct nsx_launches         *launches;      /* by (process, correlation id) */
	uint32_t                    *op_launch;     /* of each operation, in order of table and rowid; NSX_NONE: no
	                                             * correlation id */
	uint64_t                     nops, table_ops[NSX_OP_TABLES];
	struct nsx_raw_call         *calls;         /* by thread; those of threads without ranges come last */
	uint64_t                    *call_first;    /* nthreads + 2 places in it */
	struct nsx_last_call        *last_calls;    /* of each launch; only if operations are wanted */
	struct nsx_host             *host;          /* the same */
	struct nsx_memory_reading   *memory;        /* only if allocations are wanted (memory.c) */
	struct nsx_cpu_reading      *cpu;           /* only if the host's threads are wanted (cpu/reading.h) */
	pthread_mutex_t              last_lock;

	struct nsx_ids               ids;           /* of strings that are used */
	uint32_t                    *id_names;      /* their numbers in t->names */

	struct nsx_part_texts       *texts;         /* one for each part of NVTX_EVENTS */
	int                          ntexts;

	struct nsx_portion           work;          /* the work reported to progress */
	struct nsx_str               product_name, product_version;
	NSX_VEC(struct nsx_named)    device_names, thread_names;
	NSX_VEC(int64_t)             thread_name_ids;
};

/* All return NSX_OK, or NSX_ERR with l->err filled. */
int nsx_load_nomem(struct nsx_loader *l);
void nsx_load_diag(struct nsx_loader *l, enum nsx_severity severity, uint64_t count, const char *fmt, ...) NSX_PRINTF(4,
	5);

/* The number of parts of a table, 0 if it is missing or empty, and their rowids; nsx_load_part sets the rowids of part
 * i of n. */
int nsx_load_cut(struct nsx_loader *l, const char *table, int *n, int64_t *lo, int64_t *hi);
void nsx_load_part(struct nsx_db_scan *scan, int i, int n, int64_t lo, int64_t hi);

/* Shares of loading, for progress: thousandths that are done when operations and ranges have been read, and when calls
 * have been read. The rest is projection. Measured with the export of a training job; the remaining time is shown with
 * less than a second's precision anyway. */
enum { NSX_LOAD_RANGES = 500, NSX_LOAD_CALLS = 700, NSX_LOAD_ALL = 1000 };

/* `part` of the `of` steps between two such shares are done. */
void nsx_load_reached(struct nsx_loader *l, int from, int to, uint64_t part, uint64_t of);

int nsx_nvtx_tasks(struct nsx_loader *l, nsx_tasks *tasks);
int nsx_nvtx_threads(struct nsx_loader *l);       /* after they ran: domains, threads */
int nsx_nvtx_join(struct nsx_loader *l);          /* after names are known: the ranges */
int nsx_nvtx_ids(struct nsx_loader *l);           /* add its string ids to l->ids */
void nsx_nvtx_free(struct nsx_loader *l);

int nsx_project_all(struct nsx_loader *l);
/* After projection: texts of the remaining ranges become names, except those that stay as text codes. */
int nsx_texts_name(struct nsx_loader *l);
int nsx_names_read(struct nsx_loader *l);         /* l->ids -> l->id_names */
int nsx_info_read(struct nsx_loader *l);          /* everything that is not an event */
int nsx_metrics_read(struct nsx_loader *l);       /* after it: samples of GPU metrics, if they are wanted */
int nsx_memory_read(struct nsx_loader *l);        /* before names are read: allocations, if they are wanted; adds its
                                                   * string ids to l->ids */
int nsx_memory_finish(struct nsx_loader *l);      /* with ranges, devices and processes: t->memory */
void nsx_memory_free(struct nsx_loader *l);
int nsx_warnings_read(struct nsx_loader *l);      /* diags of what nsys says is missing */
int nsx_host_functions_read(struct nsx_loader *l);   /* reports how many the export has, and how long streams waited */
int nsx_captures_read(struct nsx_loader *l);      /* t->captures, if requested */
int nsx_payload_keep(struct nsx_loader *l);       /* keeps the export open for payloads, if there are any */

#endif
