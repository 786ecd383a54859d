/* await.h -- finding out which operations an operation awaited through events, and which a call awaited; private to
 * lib/nsys.
 *
 * The calls of a process are walked in order. A record of an event is a position in the walk, and its stream; what it
 * stands for is the last operation that was issued to that stream before. A wait of a stream is for a record, and makes
 * the next operation of the stream await what that stands for:
 *
 *   launch a to stream 7   record on 7   launch b to 7   stream 9 waits for the record   launch c to 9
 *   ->  c awaits a
 *
 * An export says of a wait for which record it is, and of a record on which stream, in more or less detail; the rest is
 * learned, once for each site in the program (await_learn.c). */
#ifndef NSX_NSYS_AWAIT_H
#define NSX_NSYS_AWAIT_H

#include "nsys/host.h"

/* An operation that was issued to a stream, at a place in the walk; 0: before the capture. */
struct nsx_issued { uint32_t at, op; };

/* A CUDA stream of a device. */
struct nsx_stream_of {
	int64_t  id;
	uint32_t device, next;             /* next: of the device's, NSX_NONE ends */
	NSX_VEC(struct nsx_issued) issued; /* by `at` */
	NSX_VEC(uint32_t) pending;         /* waits for the next operation */
	uint32_t records;                  /* of the process, at its last wait */
};

/* A call that records an event. name, stream: of the operation that its thread had issued last; stream -1: none. */
struct nsx_record_call { uint32_t at, call; uint32_t name; int64_t stream; };

enum { NSX_AWAIT_BACK = 24 };   /* records back at most, where nothing says which one it is */

/* Something that waits for an event: an operation through its stream, or a call. */
struct nsx_event_wait {
	uint32_t at, sync;        /* of the wait; its row in nsx_host.syncs */
	uint32_t stream;          /* that waits; NSX_NONE: the call does */
	uint32_t device;
	uint32_t of;              /* operation behind it, or call; NSX_NONE: no operation came */
	uint32_t name;            /* of that */
	int64_t  issue, until;    /* when its call began; when it went on: start of the operation, end of the call */
	int64_t  before;          /* end of the operation before it in the stream; INT64_MIN: none */
	uint32_t records;         /* index behind the last record before it */
	uint32_t first_record;    /* of its process */
	uint32_t since;           /* records since the last wait of its stream */
	uint32_t record;          /* in records: exactly known; NSX_NONE */
	uint32_t from;            /* the stream of the record, in streams; NSX_NONE: not known */
	bool     known;           /* that the export says the stream */
};

struct nsx_awaiting {
	struct nsx_loader *l;
	struct nsx_map     stream_of;      /* (device, stream) -> streams */
	NSX_VEC(struct nsx_stream_of) streams;
	NSX_VEC(uint32_t)  first_stream;   /* by device */
	NSX_VEC(struct nsx_record_call) records;
	struct nsx_map     record_of;      /* call -> records */
	NSX_VEC(struct nsx_event_wait) waits;
	uint64_t           unresolved, contradicted;
};

/* The last operation that was issued to the stream before that place; NSX_NONE: none. */
uint32_t nsx_await_last(const struct nsx_stream_of *s, uint32_t at);

/* The stream of that number on the device; NSX_NONE: none. */
uint32_t nsx_await_stream(const struct nsx_awaiting *a, uint32_t device, int64_t id);

/* await_learn.c: sets record and from of waits of which they are not known. False when out of memory. */
bool nsx_await_learn(struct nsx_awaiting *a);

#endif
