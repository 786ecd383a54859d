/* codec.h -- declarations shared by reader.c, writer.c and the encodings; private to lib/stream. Text and binary are
 * two encodings of the same records: each is a table of operations for reading and one for writing. */
#ifndef NSX_STREAM_CODEC_H
#define NSX_STREAM_CODEC_H

#include "base/arena.h"
#include "base/input.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/order.h"
#include "stream/reader.h"
#include "stream/run.h"
#include "stream/writer.h"

enum {
	NSX_STREAM_VERSION = 2,
	NSX_LINE_MAX = 256 << 20,   /* bytes of one line of text */
	NSX_NO_SLOT = 255
};

/* An output of bytes, compressed if zlevel is not 0. */
struct nsx_output {
	struct nsx_outfile *file;   /* NULL: fd */
	int                 fd;
	const char         *name;
	struct nsx_err     *err;
	struct nsx_zip     *zip;
};

int nsx_output_zip(struct nsx_output *o, int zlevel);
int nsx_output_write(struct nsx_output *o, const void *p, size_t n);
int nsx_output_finish(struct nsx_output *o);   /* writes the rest; the file gets its name */
void nsx_output_free(struct nsx_output *o);

/* One column in a stream's header. */
struct nsx_head { struct nsx_str name; char type; };

/* A kind of an open stream. The first n slots of kind->order are the stream's own columns; the others were added by
 * nsx_reader_add_column. */
struct nsx_met {
	const struct nsx_kind *kind;
	int  n;
	char type[NSX_MAX_COLS];   /* of the stream's columns, in its order */
	uint64_t wanted;           /* those of these that are needed */
	bool skip;                 /* its records are not needed */
};

struct nsx_decoder {
	/* Called once, with the first bytes in the window. */
	int (*begin)(struct nsx_reader *r);
	/* The next record except `end`: rec->kind, rec->has and r->v. NSX_EOF after a valid end. */
	int (*next)(struct nsx_reader *r, struct nsx_rec *rec);
	/* "FILE:LINE" of the record read last, into r->place. */
	void (*where)(struct nsx_reader *r);
	void (*close)(struct nsx_reader *r);
};
extern const struct nsx_decoder nsx_text_decoder, nsx_binary_decoder;

/* The block that a binary stream is being read from. message: its bytes in the stream, with tag and length, contents:
 * without these; valid in the window until the next block is read. */
struct nsx_block {
	bool    looked;       /* decoded only as far as r->look requires */
	size_t  rows;
	int64_t first;        /* records of the stream before it */
	struct nsx_str message, contents;
	size_t  met, declared;   /* kinds before it, and with those that it declares */
	size_t  nruns;        /* of its order: */
	const uint64_t *kinds, *counts;
};
struct nsx_block nsx_binary_block(const struct nsx_reader *r);
/* Whether all of its records were returned. */
bool nsx_binary_done(const struct nsx_reader *r);

/* Pass the records of the block that follow the last one, which is in rec, to take, up to those of a kind that was not
 * declared before, or to diags. NSX_OK or NSX_ERR. */
int nsx_binary_rest(struct nsx_reader *r, struct nsx_rec *rec, nsx_take_fn *take, void *state);

/* Decode that block whole, whatever columns were decoded before: the decoder's next returns its records again. */
int nsx_binary_again(struct nsx_reader *r);

/* After the end: the decoder's next returns the records of a block again, whose contents were kept. */
int nsx_binary_replay(struct nsx_reader *r, struct nsx_str contents, size_t met, size_t declared);

struct nsx_added { enum nsx_kind_id kind; const char *name; char type; };

struct nsx_reader {
	struct nsx_err   *err;
	char             *name;
	unsigned          flags;
	struct nsx_input  in;
	const struct nsx_decoder *dec;   /* NULL until the first read */
	void             *state;         /* the decoder's */
	int64_t           line;          /* text: of the record read last */
	int64_t           records;
	int64_t           beyond;        /* number of them whose end does not fit 64 bits */
	int64_t           diags;         /* of kind diag; */
	bool              unsteady;      /* one of them says that nothing is steady */
	int               status;        /* the status that ended it; NSX_OK while it continues */
	struct nsx_buf    place;
	struct nsx_arena  arena;         /* kinds and added columns */
	NSX_VEC(const struct nsx_kind *) kinds;
	NSX_VEC(struct nsx_met *) met;   /* the same numbers */
	struct nsx_intern names;         /* the same numbers */
	NSX_VEC(struct nsx_added) added;
	bool              needs;         /* nsx_reader_need was called */
	bool              asked[NSX_NKINDS + 1];
	uint64_t          need[NSX_NKINDS + 1];   /* slots */
	int8_t            value[NSX_NKINDS + 1];  /* one more than the slot that records must have, 0: none */
	int64_t           lacking[NSX_NKINDS + 1];
	nsx_take_fn      *also;          /* nsx_reader_listen; NULL: nobody */
	void             *also_state;
	struct nsx_run_kinds   runs;          /* nsx_reader_runs */
	void             *run_state;     /* the state for it; and those of its kinds that came */
	uint64_t          ran;
	bool              all;           /* it is read to its end, in nsx_read_all: blocks may be decoded ahead */
	bool              looks;         /* nsx_pass_look was called */
	uint64_t          look[NSX_NKINDS + 1];   /* slots, for blocks to come */
	union nsx_val     v[NSX_MAX_COLS];

	/* nsx_reader_times and nsx_order_slots of the kinds read last, by id. */
	struct nsx_kind_times { const struct nsx_kind *of; int start, dur; int8_t order[2]; } times[NSX_NKINDS + 1];

	/* NSX_READ_ORDERED: the last record that has a position in the order. */
	const struct nsx_kind *last_kind;
	struct nsx_order_key   last;
};

/* A reader over bytes in memory, which must outlive it (fuzzing, tests). */
struct nsx_reader *nsx_reader_mem(const void *p, size_t n, const char *name, unsigned flags, struct nsx_err *err);

/* For a header: check it and create its kind. The new entry of r->met, NULL with r->err filled. */
struct nsx_met *nsx_reader_declare(struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols,
                                   size_t ncols);
/* The columns of a header that are needed; *skip: its kind is not needed. */
uint64_t nsx_reader_wanted(const struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols,
                           size_t ncols, bool *skip);
/* The column of a header that records must have to be needed, -1 if there is none; ncols: they must have one that the
 * header lacks. A decoder that skips the others counts them in r->lacking. */
int nsx_reader_value(const struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols, size_t ncols);
/* Whether records of that kind come in runs where they are in columns, and if so, whether their texts are compared. */
bool nsx_reader_runs_of(const struct nsx_reader *r, struct nsx_str name, bool *compare);
/* The kind of that name, NULL if its header has not been read. */
struct nsx_met *nsx_reader_met(struct nsx_reader *r, struct nsx_str name);
/* The slots of start and duration that determine the ends of records of kind k; -1: it has none, or they are not
 * needed. */
void nsx_reader_times(const struct nsx_kind *k, int *start, int *dur);
/* With NSX_READ_ORDERED, for each record: NSX_OK, or NSX_ERR if it does not come after the one before. */
int nsx_reader_check_order(struct nsx_reader *r, const struct nsx_rec *rec);

/* The same where it is easily seen, of work that comes after other work; false: nsx_reader_check_order
 * decides. slots: nsx_order_slots of its kind. */
static inline bool
nsx_reader_comes_after(struct nsx_reader *r, const int8_t slots[2], const struct nsx_rec *rec)
{
	int at = slots[0], other = slots[1];

	if (at < 0 || !(rec->has >> at & 1))
		at = other;
	if (at < 0 || !(rec->has >> at & 1) || r->last.section != NSX_SECTION_WORK)
		return false;
	int64_t time = rec->v[at].i;
	if (rec->has >> other & 1 && rec->v[other].i < time)
		time = rec->v[other].i;
	/* At one time, kinds have an order. */
	if (time < r->last.first || (time == r->last.first && rec->kind->id < r->last.second))
		return false;
	r->last.first = time;
	r->last.second = rec->kind->id;
	r->last_kind = rec->kind;
	return true;
}
/* Fails with "PLACE: ...". */
int nsx_reader_fail(struct nsx_reader *r, const char *fmt, ...) NSX_PRINTF(2, 3);
/* Fails with the message that FILE is truncated after N records. */
int nsx_reader_cut(struct nsx_reader *r);
/* Fails for a stream of another, unsupported version. */
int nsx_reader_refuse(struct nsx_reader *r, uint64_t version);
/* [a-z][a-z0-9_]* */
bool nsx_kind_word(struct nsx_str s);

/* A kind in the form in which the writer has written its header. */
struct nsx_put {
	const char   *name;
	enum nsx_kind_id id;
	int           index;        /* in order of headers */
	int           ncols;
	struct nsx_head *cols;
	int64_t       records;
	/* The kind for which `from` is valid: header column i is slot from[i] of its records, or NSX_NO_SLOT. */
	const struct nsx_kind *kind;
	uint64_t      print;
	uint64_t      mask;         /* slots that have a column */
	unsigned      matches;      /* incremented when `from` changes */
	uint8_t       from[NSX_MAX_COLS];
	void         *state;        /* the encoder's, which frees it unless the arena has it */
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
	struct nsx_buf     buf;          /* bytes not yet written to out */
	const struct nsx_encoder *enc;
	void              *state;        /* owned by the encoder */
	const struct nsx_row_form *form; /* of a table */
	int64_t            records;
	bool               failed;         /* or finished */
	const struct nsx_reader *follow;
	size_t             followed;     /* number of its kinds that are declared */
	const char        *require;      /* kind that must have a record, NULL if none */
	struct nsx_arena   arena;
	NSX_VEC(struct nsx_put *) puts;  /* in order of headers */
	struct nsx_intern  names;        /* the same numbers */
	struct nsx_put    *known[NSX_NKINDS];
	struct nsx_put    *last;
};

/* A writer with another encoder, which writes nothing to an output; state: the encoder's. NULL on failure, with err
 * filled; the state is then the caller's, unless the encoder's free had it. */
struct nsx_writer *nsx_writer_of(const struct nsx_encoder *enc, void *state, const char *name, struct nsx_err *err);

/* Where `in` and `out` (NULL: any) are binary: decode the columns of nsx_pass_look only, in blocks to come. */
void nsx_look(struct nsx_reader *in, const struct nsx_writer *out, const uint64_t columns[NSX_NKINDS + 1]);

/* Copy a block of a binary stream, whose kinds have the same numbers and columns here, to the output. The caller counts
 * the records in it. */
int nsx_binary_put_block(struct nsx_writer *w, struct nsx_str message);
/* Number of records that wait for their block to be full. */
size_t nsx_binary_waiting(const struct nsx_writer *w);

/* Write the headers that w->follow has read. */
int nsx_writer_catch_up(struct nsx_writer *w);

/* Write w->buf to the output. */
int nsx_writer_flush(struct nsx_writer *w);

#endif
