/* input.h -- bytes of a file, a pipe or memory, through zstd where the first bytes say so: the one place that
 * unpacks zstd. Whoever reads looks at a window onto the input and takes from it what he has understood. */
#ifndef NSX_BASE_INPUT_H
#define NSX_BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* buf[pos..end) is there and not yet taken. At least NSX_SLACK readable bytes (zeros) follow `end`, so that scans
 * may look at whole words. */
enum { NSX_SLACK = 16 };

/* { .fd, .name, .err } is one whose reading has not begun; of memory: { .fd = -1, .mem, .mem_left, .name, .err }.
 * name and err are the caller's. */
struct nsx_input {
	char           *buf;
	size_t          pos, end, cap;
	const char     *name;      /* for messages */
	struct nsx_err *err;
	int             fd;        /* -1: memory; closed with the input */
	const char     *mem;
	size_t          mem_left;
	bool            begun, dry;
	struct nsx_unzip *unzip;   /* NULL if the input is not compressed */
	enum { NSX_UNWATCHED, NSX_SIZED, NSX_UNSIZED } watched;   /* base/progress.h */
	int64_t         left;      /* sized: bytes that were expected and have not come */
	const int64_t  *records;   /* read from it so far; those that progress was told of */
	int64_t         told;
};

/* What fd still gives is work of the process: from here on progress is told of its bytes, and of *records. */
void nsx_input_watch(struct nsx_input *in, const int64_t *records);

/* Widen the window: NSX_OK, NSX_EOF when the input has ended, NSX_ERR. Moves the bytes it holds: pointers into it
 * die. */
int nsx_input_more(struct nsx_input *in);

/* Widen it to at least n bytes: NSX_OK, NSX_EOF if the input ends before. */
int nsx_input_need(struct nsx_input *in, size_t n);

/* The same, and in *bytes all that the window then holds. They live until the next call; nothing is taken. */
int nsx_input_peek(struct nsx_input *in, size_t n, struct nsx_str *bytes);

/* Take n of them. */
void nsx_input_take(struct nsx_input *in, size_t n);

void nsx_input_close(struct nsx_input *in);

#endif
