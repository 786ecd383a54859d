/* threads.h -- dense numbers for the threads of all processes of a job.
 *
 *   report 0, process 7, thread 9    0
 *   report 0, process 9, thread 9    1
 *   report 0, process 7, thread 9    0 */
#ifndef NSX_JOB_THREADS_H
#define NSX_JOB_THREADS_H

#include <stdint.h>

#include "base/map.h"

enum { NSX_THREADS_RECENT = 1024 };

/* {0} is empty. */
struct nsx_threads {
	struct nsx_map process_of;   /* (report, pid) -> a number */
	struct nsx_map thread_of;    /* (that, tid) -> the thread's */
	/* The last one of each report, by some of its bits, and its number + 1; 0: none. */
	struct nsx_recent_thread { int64_t profile, pid, tid; uint32_t last; } recent[NSX_THREADS_RECENT];
};

/* 0, 1, ... in order of first occurrence, for any numbers; absent numbers count as one value. NSX_NONE when out of
 * memory. */
static inline uint32_t
nsx_thread_number(struct nsx_threads *t, int64_t profile, int64_t pid, int64_t tid)
{
	struct nsx_recent_thread *r = &t->recent[(uint64_t)profile % NSX_THREADS_RECENT];
	uint32_t process, n;

	/* Often several records of one thread of a report come one after the other. */
	if (r->last && r->tid == tid && r->pid == pid && r->profile == profile)
		return r->last - 1;
	process = nsx_map_number(&t->process_of, (struct nsx_key){ (uint64_t)profile, (uint64_t)pid });
	n = process == NSX_NONE ? (uint32_t)NSX_NONE
	    : nsx_map_number(&t->thread_of, (struct nsx_key){ process, (uint64_t)tid });
	*r = (struct nsx_recent_thread){ profile, pid, tid, n == NSX_NONE ? 0 : n + 1 };
	return n;
}

/* The same without numbering a thread that has no number yet: NSX_NONE. */
static inline uint32_t
nsx_thread_find(const struct nsx_threads *t, int64_t profile, int64_t pid, int64_t tid)
{
	uint32_t process = nsx_map_get(&t->process_of, (struct nsx_key){ (uint64_t)profile, (uint64_t)pid });

	return process == NSX_NONE ? (uint32_t)NSX_NONE
	                           : nsx_map_get(&t->thread_of, (struct nsx_key){ process, (uint64_t)tid });
}

static inline void
nsx_threads_free(struct nsx_threads *t)
{
	nsx_map_free(&t->process_of);
	nsx_map_free(&t->thread_of);
}

#endif
