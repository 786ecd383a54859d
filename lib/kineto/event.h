/* event.h -- one event of a trace, its members as text. */
#ifndef NSX_KINETO_EVENT_H
#define NSX_KINETO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Members of an event's args that are read. */
enum nsx_kineto_arg {
	KA_CORRELATION, KA_DEVICE, KA_STREAM, KA_BYTES, KA_NODE, KA_FROM, KA_TO, KA_IN_DEVICE, KA_SYNC, KA_NAME,
	KA_COLLECTIVE, KA_IN, KA_OUT, KA_GROUP_SIZE, KA_DTYPE, KA_GROUP, KA_RANKS, KA_CALLED, KA_SOURCE, KA_DESTINATION,
	KA_SEQ, KA_SIZES, KA_ARGS
};

/* Bytes of the text: strings without quotes and with escapes; empty if the event does not have the member. */
struct nsx_kineto_event {
	struct nsx_str ph, cat, name, pid, tid, ts, dur;
	bool           object;     /* it is an event at all, not null or a number */
	struct nsx_str args[KA_ARGS];
	uint32_t       has;        /* the args that are not empty, as bits */
};

/* NSX_CUT: the text ends within it. */
enum nsx_kineto_parse { NSX_PARSED, NSX_CUT, NSX_NOT_JSON };

/* Read the value at the start of text into *e, which is {0} or has the event before. *len: its bytes; with
 * NSX_NOT_JSON: what precedes the error. A value that may go on where the text ends is NSX_CUT unless the text is
 * complete. */
enum nsx_kineto_parse nsx_kineto_event(struct nsx_str text, bool complete, struct nsx_kineto_event *e, size_t *len);

/* The extent of any value at the start of text, in the same way. */
enum nsx_kineto_parse nsx_kineto_value(struct nsx_str text, bool complete, size_t *len);

#endif
