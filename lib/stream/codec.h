/* codec.h -- what reader.c and writer.c share with the encodings; private to lib/stream.
 * Text and binary are two spellings of one record: each is one table of operations on either side. */
#ifndef NSX_STREAM_CODEC_H
#define NSX_STREAM_CODEC_H

#include "base/arena.h"
#include "base/input.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/order.h"
#include "stream/reader.h"
#include "stream/writer.h"

enum {
	NSX_STREAM_VERSION = 2,
	NSX_LINE_MAX = 256 << 20,   /* bytes of one line of text */
	NSX_NO_SLOT = 255
};

/* Bytes out, compressed if zlevel is not 0. */
struct nsx_output {
	struct nsx_outfile *file;   /* NULL: fd */
	int                 fd;
	const char         *name;
	struct nsx_err     *err;
	struct nsx_zip     *zip;
};

int nsx_output_zip(struct nsx_output *o, int zlevel);
int nsx_output_write(struct nsx_output *o, const void *p, size_t n);
int nsx_output_finish(struct nsx_output *o);   /* everything out; the file gets its name */
void nsx_output_free(struct nsx_output *o);

/* One column as a stream's header has it. */
struct nsx_head { struct nsx_str name; char type; };

/* A kind of an open stream. The first n slots of kind->order are the stream's own columns; what follows was
 * added by nsx_reader_add_column. */
struct nsx_met {
	const struct nsx_kind *kind;
	int  n;
	char type[NSX_MAX_COLS];   /* of the stream's columns, in its order */
	uint64_t wanted;           /* which of these are asked for */
	bool skip;                 /* nobody asks for its records */
};

struct nsx_decoder {
	/* Called once, the first bytes in the window. */
	int (*begin)(struct nsx_reader *r);
	/* The next record but `end`: rec->kind, rec->has and r->v. NSX_EOF after a good end. */
	int (*next)(struct nsx_reader *r, struct nsx_rec *rec);
	/* "FILE:LINE" of what was read last, into r->place. */
	void (*where)(struct nsx_reader *r);
	void (*close)(struct nsx_reader *r);
};
extern const struct nsx_decoder nsx_text_decoder, nsx_binary_decoder;

/* The block that a binary stream is being read from. message: as it stands in the stream, with its tag and length; in
 * the window until the next block is read. */
struct nsx_block {
	bool    looked;       /* decoded as far as r->look says, and whole otherwise */
	bool    done;         /* all of its records were given out */
	size_t  rows;
	int64_t first;        /* records of the stream before it */
	struct nsx_str message;
	size_t  nruns;        /* of its order: */
	const uint64_t *kinds, *counts;
};
struct nsx_block nsx_binary_block(const struct nsx_reader *r);

/* Decode that block whole, whatever it was looked at for: the decoder's next gives its records again. */
int nsx_binary_again(struct nsx_reader *r);

struct nsx_added { enum nsx_kind_id kind; const char *name; char type; };

struct nsx_reader {
	struct nsx_err   *err;
	char             *name;
	unsigned          flags;
	struct nsx_input  in;
	const struct nsx_decoder *dec;   /* NULL until the first read */
	void             *state;         /* the decoder's */
	int64_t           line;          /* text: of what was read last */
	int64_t           records;
	int64_t           beyond;        /* of them, ends that are no 64-bit integer */
	int               status;        /* what ended it; NSX_OK while it goes on */
	struct nsx_buf    place;
	struct nsx_arena  arena;         /* kinds and added columns */
	NSX_VEC(const struct nsx_kind *) kinds;
	NSX_VEC(struct nsx_met *) met;   /* the same numbers */
	struct nsx_intern names;         /* the same numbers */
	NSX_VEC(struct nsx_added) added;
	bool              needs;         /* nsx_reader_need was called */
	bool              asked[NSX_NKINDS + 1];
	uint64_t          need[NSX_NKINDS + 1];   /* slots */
	bool              looks;         /* nsx_pass_look was called */
	uint64_t          look[NSX_NKINDS + 1];   /* slots, for blocks to come */
	union nsx_val     v[NSX_MAX_COLS];

	/* Where records of the kind read last have their time and duration; -1: they have none, or nobody reads it. */
	const struct nsx_kind *timed;
	int               start, dur;

	/* NSX_READ_ORDERED: the last record that has a place in the order. */
	const struct nsx_kind *last_kind;
	struct nsx_order_key   last;
};

/* A reader over bytes in memory, which must outlive it (fuzzing, tests). */
struct nsx_reader *nsx_reader_mem(const void *p, size_t n, const char *name, unsigned flags, struct nsx_err *err);

/* A header came: check it and make its kind. The new entry of r->met, NULL with r->err filled. */
struct nsx_met *nsx_reader_declare(struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols,
                                   size_t ncols);
/* Which columns of a header are asked for; *skip: nobody asks for its kind. */
uint64_t nsx_reader_wanted(const struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols,
                           size_t ncols, bool *skip);
/* The kind of that name, NULL if its header has not come. */
struct nsx_met *nsx_reader_met(struct nsx_reader *r, struct nsx_str name);
/* Fails with "PLACE: ...". */
int nsx_reader_fail(struct nsx_reader *r, const char *fmt, ...) NSX_PRINTF(2, 3);
/* Fails with "FILE: cut short after N records: no end record". */
int nsx_reader_cut(struct nsx_reader *r);
/* Fails for a stream of that version, which is not ours. */
int nsx_reader_refuse(struct nsx_reader *r, uint64_t version);
/* [a-z][a-z0-9_]* */
bool nsx_kind_word(struct nsx_str s);

/* A kind as the writer has written its header. */
struct nsx_put {
	const char   *name;
	enum nsx_kind_id id;
	int           index;        /* in order of headers */
	int           ncols;
	struct nsx_head *cols;
	int64_t       records;
	/* The kind whose columns `from` fits: header column i is slot from[i] of its records, or NSX_NO_SLOT. */
	const struct nsx_kind *kind;
	uint64_t      print;
	uint64_t      mask;         /* slots that have a column */
	unsigned      matches;      /* how often `from` was made: another number, another `from` */
	uint8_t       from[NSX_MAX_COLS];
	void         *state;        /* the encoder's; freed by it */
};

struct nsx_encoder {
	int (*begin)(struct nsx_writer *w);
	int (*header)(struct nsx_writer *w, struct nsx_put *p);
	int (*record)(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec);
	int (*end)(struct nsx_writer *w, struct nsx_put *p);   /* p: of kind `end` */
	void (*free)(struct nsx_writer *w);
};
extern const struct nsx_encoder nsx_text_encoder, nsx_table_encoder, nsx_binary_encoder;

struct nsx_writer {
	struct nsx_err    *err;
	const char        *name;
	char              *name_copy;
	struct nsx_output  out;
	struct nsx_buf     buf;          /* bytes not yet given to out */
	const struct nsx_encoder *enc;
	void              *state;        /* the encoder's */
	int64_t            records;
	bool               failed;         /* or finished */
	const struct nsx_reader *follow;
	size_t             followed;     /* kinds of it declared */
	const char        *require;      /* kind that must have a record, NULL if none */
	struct nsx_arena   arena;
	NSX_VEC(struct nsx_put *) puts;  /* in order of headers */
	struct nsx_intern  names;        /* the same numbers */
	struct nsx_put    *known[NSX_NKINDS];
	struct nsx_put    *last;
};

/* Put a block into a binary stream as it stands in another, whose kinds have the same numbers and columns, behind what
 * was written so far. The records in it are the caller's to count. */
int nsx_binary_put_block(struct nsx_writer *w, struct nsx_str message);
/* Records that wait for their block to be full. */
size_t nsx_binary_waiting(const struct nsx_writer *w);

/* Write the headers that w->follow has met. */
int nsx_writer_catch_up(struct nsx_writer *w);

/* Give w->buf to the output. */
int nsx_writer_flush(struct nsx_writer *w);

#endif
