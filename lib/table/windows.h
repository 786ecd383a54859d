/* windows.h -- the windows of time by which tables sum what devices did: all of a device, programs, executions, ranges,
 * stretches of a length, or windows that the caller knows, such as steps. The caller passes the time of each device in
 * order and once, and is told which part of it belongs to which window; sums are the caller's, by number of the window.
 *
 *   every 10: [7,25) of device 0   ->   window 0 [7,10)   window 1 [10,20)   window 2 [20,25) */
#ifndef NSX_TABLE_WINDOWS_H
#define NSX_TABLE_WINDOWS_H

#include <regex.h>

#include "base/diag.h"
#include "base/near.h"
#include "job/catalogue.h"
#include "job/range_book.h"

enum nsx_windows_by {
	NSX_WINDOWS_DEVICE,      /* one for all of a device */
	NSX_WINDOWS_MODULE,      /* sums over the executions of each program, and of the time before them */
	NSX_WINDOWS_EXECUTION,   /* each execution, and the time between them */
	NSX_WINDOWS_STEP,        /* those given, within the devices' own time */
	NSX_WINDOWS_RANGE,       /* ranges that match an expression: they may overlap */
	NSX_WINDOWS_EVERY,       /* [k every, (k + 1) every) */
	NSX_WINDOWS_GIVEN        /* those given; those of one device and key are summed */
};

/* A window of a device, by number: [start, end) in ns. label: the caller's. */
struct nsx_window_given { int64_t device, start, end, key; uint32_t label; };

/* A window, or several that are summed. */
struct nsx_window {
	uint32_t device;         /* in the catalogue */
	int64_t  start, end;     /* of one */
	int64_t  length;         /* ns; 0: none of it counts */
	int64_t  before, after;  /* ns of it outside the device's own time */
	int64_t  first;          /* its earliest time */
	int64_t  key;            /* execution, start, that given; NSX_ABSENT: none */
	uint32_t label, next;    /* strings of the catalogue, or that given; NSX_NONE: none */
};

struct nsx_windows_device;

/* [start, end) of the time that was passed, start < end, belongs to that window; parts come in order of start, but of
 * windows that overlap one after the other. NSX_OK or NSX_ERR. */
typedef int nsx_window_fn(void *state, uint32_t window, int64_t start, int64_t end);
/* What was summed of one window belongs to another: NSX_OK or NSX_ERR. */
typedef int nsx_window_join_fn(void *state, uint32_t to, uint32_t from);

/* {0} with the members before `list` set is empty. */
struct nsx_windows {
	struct nsx_err       *err;
	struct nsx_catalogue *cat;           /* the caller's, who passes metadata to it */
	enum nsx_windows_by   by;
	bool                  all;           /* by device: from the first time to the last of any */
	int64_t               every;
	const char           *range;         /* POSIX extended regular expression of DOMAIN:NAME */
	enum nsx_names        names;         /* for labels of ranges */
	const struct nsx_window_given *given;   /* ngiven of them, by device and start */
	size_t                ngiven;
	nsx_window_join_fn   *join;
	void                 *state;         /* for join */

	NSX_VEC(struct nsx_window) list;
	NSX_VEC(struct nsx_windows_device) devices;   /* by index of the catalogue */
	struct nsx_map        of;            /* programs, executions -> list */
	regex_t               pattern;
	bool                  has_pattern;
	struct nsx_near       near;          /* names of ranges, as long as none matches */
	struct nsx_range_book book;          /* for names only */
	struct nsx_buf        text;
};

/* All return NSX_OK, or NSX_ERR with err filled. */
int nsx_windows_begin(struct nsx_windows *w);
/* Declare to a reader what nsx_windows_take uses; before begin, too. */
void nsx_windows_need(const struct nsx_windows *w, struct nsx_reader *in);
/* A record of a module or of a range, before the time in it is passed; others are ignored. */
int nsx_windows_take(struct nsx_windows *w, const struct nsx_rec *rec);
/* [start, end) is in the device's own time, of which parts may never be passed; its first time may be empty. */
int nsx_windows_seen(struct nsx_windows *w, uint32_t device, int64_t start, int64_t end);
/* Call `add` for each window that has a part of [start, end) of the device. */
int nsx_windows_each(struct nsx_windows *w, uint32_t device, int64_t start, int64_t end, nsx_window_fn *add,
                     void *state);
/* After the last: lengths are known, and what is before and after the devices' own time. */
int nsx_windows_finish(struct nsx_windows *w);
/* Sum the given windows of one device and key in the first of them; nothing by others. */
int nsx_windows_join(struct nsx_windows *w);
/* It is an error that no range matched, unless the stream is empty. */
int nsx_windows_report(const struct nsx_windows *w, bool empty, struct nsx_diags *diags);
void nsx_windows_free(struct nsx_windows *w);

/* ---- given windows as the time that is examined, of devices that pass their time in order */

/* Sort n given windows as nsx_windows.given has them: by device and start, then key. */
void nsx_window_given_sort(struct nsx_window_given *given, size_t n);
/* Of n given windows, sorted by device, the first of that device or, if it has none, of a higher one; n: neither. */
size_t nsx_window_given_of(const struct nsx_window_given *given, size_t n, int64_t device);
/* The first window of the device that ends after `at`; NULL: none. *from: where the search begins, left there, 0 for
 * the device's first; times of a device never decrease. */
const struct nsx_window_given *nsx_window_given_at(const struct nsx_window_given *given, size_t n, int64_t device,
                                                   int64_t at, size_t *from);

#endif
