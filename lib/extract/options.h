/* options.h -- the options of an extraction. */
#ifndef NSX_EXTRACT_OPTIONS_H
#define NSX_EXTRACT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "job/comm/names.h"
#include "job/match/match.h"
#include "base/diag.h"
#include "base/err.h"
#include "stream/writer.h"

enum nsx_extract_ranges { NSX_RANGES_NONE, NSX_RANGES_GPU, NSX_RANGES_ALL };

/* One export, and the folder of its HLO dumps (NULL: none). */
struct nsx_extract_input { const char *path, *dumps; };

/* Merge the streams of single exports at n paths, which messages refer to by names, into out (not finished), with diag
 * records; these are also appended to diags. NSX_OK, or NSX_ERR with err filled. */
typedef int nsx_extract_merge_fn(const char *const *paths, const char *const *names, size_t n,
                                 enum nsx_match_by match, struct nsx_writer *out, struct nsx_diags *diags,
                                 struct nsx_err *err);

struct nsx_extract_opts {
	enum nsx_extract_ranges ranges;      /* range records: none, those with GPU work, every one */
	bool                    ops;         /* op records */
	bool                    calls;       /* call and overhead records; needs ops */
	bool                    cpu;         /* thread, os, off, gil and sample records; needs calls */
	bool                    python;      /* Python functions as ranges, where the source has them so */
	bool                    cpu_all;     /* with cpu: of every thread, not only of those that make CUDA calls */
	int64_t                 os_min;      /* with cpu: ignore calls of the OS library that are shorter, ns */
	bool                    metrics;     /* metric records */
	bool                    memory;      /* memory records */
	bool                    autotune;    /* keep autotuner runs, and the contents of their compile ranges */
	bool                    host;        /* name the host in profile records */
	bool                    strip_paths; /* keep only the last component of source paths */
	enum nsx_match_by       match;       /* how programs of several exports are recognised as one */
	int64_t                 from, to;    /* keep records that overlap [from, to) ns, GPU time (host time for records
	                                      * without it) */
	const int64_t          *devices;     /* keep only these devices of the job; ndevices 0: all */
	int                     ndevices;
	const int64_t          *processes;   /* keep only devices of these processes of the job; nprocesses 0: all */
	int                     nprocesses;
	int                     jobs;        /* threads; 0: as many as there are processors */
	bool                    sqlite_alone;   /* SQLite reads all tables, and nothing is checked: for tests */
	struct nsx_comm_rules   comm;        /* which kernels communicate, before the built-in rules; owned by the
	                                      * caller */
	bool                    spool;       /* hold only as many exports at a time as there are threads, for any size
	                                      * of exports */
	nsx_extract_merge_fn   *merge;       /* merges exports that were held one after another: nsx_merge; NULL: all
	                                      * are held at once, for any size */
};

#endif
