/* reading.h -- the state of reading a trace; private to lib/kineto.
 *
 *   bytes -> members and events      text.c, which knows JSON and where the file ends
 *   members -> header                header.c
 *   event -> rows of a build         rows.c, with event.c, times.c, words.c, nccl.c
 *   rows -> trace                    load.c, with source/build.h
 */
#ifndef NSX_KINETO_READING_H
#define NSX_KINETO_READING_H

#include "base/input.h"
#include "base/progress.h"
#include "kineto/event.h"
#include "source/build.h"

/* A GPU of deviceProperties; -1: not recorded. */
struct nsx_kineto_gpu { int64_t id, sms, major, minor, warp, memory; struct nsx_str name; };
/* A process group of distributedInfo: its ranks as text, joined by ','. */
struct nsx_kineto_group { struct nsx_str name, ranks; int64_t n; };

struct nsx_kineto_header {
	int64_t        base;              /* ns since 1970 that times count from; 0: since 1970 */
	int64_t        schema, rank, world;   /* -1: not recorded */
	bool           has_base, hip;     /* hip: the file names AMD's libraries */
	struct nsx_str host;
	struct nsx_buf product;           /* versions of libraries */
	NSX_VEC(struct nsx_kineto_gpu)   gpus;
	NSX_VEC(struct nsx_kineto_group) groups;
};

/* Events that are not read, by category. */
struct nsx_kineto_ignored { struct nsx_intern cats; NSX_VEC(int64_t) n; int64_t others; };

/* The communication of a kernel, before the ranks of its group are known. */
struct nsx_kineto_comm { const char *kind; int64_t bytes, calls, group, peer; uint32_t of; };   /* of: in groups */

struct nsx_kineto {
	struct nsx_input             in;
	const char                  *path;
	const struct nsx_trace_opts *opts;
	struct nsx_trace            *t;
	struct nsx_err              *err;
	struct nsx_portion           work;
	int64_t                      size;       /* of the file, -1: not known */
	uint64_t                     taken;      /* bytes of text before the window */
	struct nsx_kineto_header     header;
	struct nsx_build             build;
	uint32_t                     recall[NSX_RECALL];   /* for t->names */
	struct nsx_buf               text;       /* a name, without escapes */
	struct nsx_kineto_event      event;
	int64_t                      at;         /* position of the event in traceEvents */
	bool                         found;      /* traceEvents was there */

	/* Threads whose numbers do not fit 24 bits, and processes: (process, text) to number. */
	struct nsx_intern            far_processes, far_threads;

	struct nsx_intern            comm_rows;  /* each a struct nsx_kineto_comm */
	struct nsx_intern            comm_groups;   /* name NUL ranks NUL size NUL description, as an event has
	                                            * them */

	struct nsx_kineto_ignored    ignored;
	int64_t                      bad_times, python, no_thread, apart, unknown_kinds, unknown_widths;
	bool                         fraction, doubled;   /* times with decimals; with more digits than a double has */
	bool                         syncs, xprof;
};

/* In text.c: the whole text. In header.c: a member of the file other than traceEvents, text is its value. In rows.c: an
 * event. All return NSX_OK, or NSX_ERR with r->err filled. */
int nsx_kineto_read(struct nsx_kineto *r);
int nsx_kineto_member(struct nsx_kineto *r, struct nsx_str key, struct nsx_str text);
int nsx_kineto_row(struct nsx_kineto *r, const struct nsx_kineto_event *e);

/* In words.c. The name of a copy as exports have it, what is copied from where to where, NSX_MEMORY_KINDS if it is not
 * recorded, and whether between GPUs. */
struct nsx_str nsx_kineto_copy(struct nsx_str name, uint8_t *src, uint8_t *dst, bool *peer);
/* The kind of memory that a set sets. */
uint8_t nsx_kineto_set(struct nsx_str name);
enum nsx_overhead_class nsx_kineto_overhead(struct nsx_str name);

/* In nccl.c. The number of the event's communication in comm_rows: NSX_NONE, it has none; false when out of memory. */
bool nsx_kineto_comm_of(struct nsx_kineto *r, const struct nsx_kineto_event *e, uint32_t *number);
/* After all events: t->comms and t->places. */
bool nsx_kineto_comms(struct nsx_kineto *r);
/* Numbers in text, joined by ',': their count; -1: one is not a number. */
int64_t nsx_kineto_ranks(struct nsx_str text, struct nsx_buf *out);

#endif
