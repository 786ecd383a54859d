/* input.h -- bytes of a file, a pipe or memory, decompressed if the first bytes are those of zstd or, where the caller
 * allows it, gzip: the only place that decompresses them. The caller examines a window of the input and takes from it
 * the bytes that it has used. */
#ifndef NSX_BASE_INPUT_H
#define NSX_BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* buf[pos..end) has been read and not yet taken. At least NSX_SLACK readable bytes (zeros) follow `end`, so that scans
 * may read whole words. */
enum { NSX_SLACK = 16 };

/* { .fd, .name, .err }, with .gzip, is an input before the first read; for memory:
 * { .fd = -1, .mem, .mem_left, .name, .err }. name and err are the caller's. */
struct nsx_input {
	char           *buf;
	size_t          pos, end, cap;
	const char     *name;      /* for messages */
	struct nsx_err *err;
	int             fd;        /* -1: memory; closed with the input */
	const char     *mem;
	size_t          mem_left;
	bool            gzip;      /* decompress gzip too: set before the first read, as the next one */
	bool            beside;    /* decompress gzip in a thread beside the caller's, where there are processors */
	bool            begun, dry;
	struct nsx_unzip *unzip;   /* NULL if the input is not compressed */
	enum { NSX_UNWATCHED, NSX_SIZED, NSX_UNSIZED } watched;   /* base/progress.h */
	int64_t         left;      /* with NSX_SIZED: bytes that were expected and have not been read */
	int             copy;      /* if has_copy: a file descriptor that every byte read is also written to */
	bool            has_copy;
	const int64_t  *records;   /* records read so far; the number already reported to progress */
	int64_t         told;
};

/* The rest of fd is work of the process: from here on, its bytes and *records are reported to progress. */
void nsx_input_watch(struct nsx_input *in, const int64_t *records);

/* Extend the window: NSX_OK, NSX_EOF at the end of the input, NSX_ERR. Moves the bytes in it: pointers into the window
 * become invalid. */
int nsx_input_more(struct nsx_input *in);

/* Extend it to at least n bytes: NSX_OK, NSX_EOF if the input ends before. */
int nsx_input_need(struct nsx_input *in, size_t n);

/* The same; *bytes is then all of the window, valid until the next call; nothing is taken. */
int nsx_input_peek(struct nsx_input *in, size_t n, struct nsx_str *bytes);

/* Write every byte of the input, those in the window included, to fd as well; fd stays the caller's. Call it before
 * anything is taken. NSX_OK; NSX_EOF if the input is compressed: nothing is copied; NSX_ERR. */
int nsx_input_copy(struct nsx_input *in, int fd);

/* Take n bytes of the window. */
void nsx_input_take(struct nsx_input *in, size_t n);

void nsx_input_close(struct nsx_input *in);

#endif
