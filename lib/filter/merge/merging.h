/* merging.h -- private to merging: the contents of the streams of one round.
 *
 * The steps of a round: load.c reads every stream's metadata; order.c numbers profiles and devices; programs.c matches
 * programs and unites their instructions; emit.c and unknown.c write the metadata; run.c merges the records that
 * follow, which source.c reads ahead of where kinds.c must know the columns of all streams; merge.c makes rounds of
 * many inputs. */
#ifndef NSX_FILTER_MERGE_MERGING_H
#define NSX_FILTER_MERGE_MERGING_H

#include "filter/merge.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "stream/reader.h"
#include "job/stale_marks.h"

/* Numbers of a stream to those of the merged stream; dense if the stream's are small, as is usual. */
struct mg_remap { uint32_t *dense; size_t n; struct nsx_map sparse; };

bool nsx_merge_remap_put(struct mg_remap *r, int64_t number, uint32_t to);
uint32_t nsx_merge_remap_get(const struct mg_remap *r, int64_t number);   /* NSX_NONE if there is none */
void nsx_merge_remap_free(struct mg_remap *r);

/* A record kept beyond the next read. */
struct mg_held { const struct nsx_kind *kind; uint64_t has; union nsx_val *v; };

/* The part of a stream's program that belongs to one program of the merged stream. */
struct nsx_merge_use {
	uint32_t program;       /* of the merged stream */
	uint32_t next;          /* next use of the stream's program, NSX_NONE: none */
	int64_t  rank, dumped;  /* lowest profile with it, and with its dump (INT64_MAX: none) */
	struct mg_remap insts;  /* instruction of the stream -> index in mg.insts */
};

/* Whether a thunk of a device gets another `comm`, and what that invalidates (stale.c). */
struct mg_stale { bool is; int64_t hidden; };

struct mg_source {
	const char        *name;
	struct nsx_reader *in;
	struct nsx_reader *rest;     /* records that were read ahead and did not fit into the queue */
	bool     dry, rest_dry;      /* nothing remains in `in`, in `rest` */
	enum nsx_section section;    /* of the record read from `in` last */
	NSX_VEC(struct mg_held) queue;   /* read ahead */
	size_t   taken;
	struct nsx_arena arena;      /* memory for the contents of the queue */
	struct nsx_rec rec;          /* the head: next to be written */
	bool     live;               /* rec points into a reader */
	bool     ended;
	struct nsx_order_key key;    /* of the head: its position in the merged order */

	bool     aligned, devices;   /* it has clock records; device records */
	bool     suspect;            /* some of its instructions get another `comm` */
	struct mg_stale stale;       /* of thunks without a device */
	bool     disordered;         /* renumbering changes the order of its profiles or devices */
	size_t   in_order;           /* number of records after the head that are in the merged order */
	struct mg_remap profile_of, device_of, program_of;   /* -> index in mg.profiles, .devices, .programs */
	bool     threads;            /* it has thread records: records of host threads may refer to its stacks, */
	struct mg_remap stack_of;    /* -> mg.places */
	NSX_VEC(uint32_t) stacks;    /* those, in the order of the stream */
	struct { int64_t profile, program; uint32_t use; } last;   /* the use looked up last */
	const struct nsx_kind *plain[NSX_NKINDS];   /* its kinds that have every column in the slot of ours */
};

struct mg_profile {
	uint32_t       source;
	struct mg_held rec;
	struct nsx_str name, digest;   /* digest: text that is equal for equal sets of devices */
	int64_t        start_utc;      /* INT64_MIN: unknown */
	int64_t        lowest;         /* lowest known device, INT64_MAX: none */
	uint32_t       base;           /* position in the order that does not depend on other profiles */
	int64_t        number;
};

struct mg_device { uint32_t source, profile; struct mg_held rec; bool known; int64_t number; struct mg_stale stale; };

/* A program of one stream. */
struct mg_program { uint32_t source; struct mg_held rec; int64_t id; bool aliased, dumped; uint32_t uses; };

struct mg_alias { uint32_t profile, program; struct mg_held rec; int64_t id; uint32_t ours; };

/* Strings are numbers in mg.strings, and so are extras (unknown columns); stacks and groups are numbers in
 * mg.places, lists of locations in mg.lists. 0 is the empty string, which means absent. Rows are compared
 * bytewise: no padding. */
struct mg_place { uint32_t text, extras; };                    /* a stack or set of groups */
struct mg_loc { uint32_t op_name, stack, extras; };
struct mg_row {
	int64_t  bytes, comm, flops, vector, mem_bytes;        /* INT64_MIN: absent */
	uint32_t name, opcode, collective, groups, op_name, stack, scheduling_name, extras;
	uint32_t locs, math;                                   /* locs: an array of mg_loc */
};

/* An instruction of one stream's program. */
struct mg_have { uint32_t program, row; int64_t inst; };

/* An instruction of a program of the merged stream. */
struct mg_inst {
	uint32_t program, name, row, collective;
	int64_t  rank, number, comm;    /* comm: INT64_MIN if absent */
	bool     bare, settles;         /* settles: comm holds for its operations too */
};

struct mg_diag { uint32_t severity, source, text, extras; int64_t count; };

struct mg {
	const struct nsx_merge_opts *opts;
	struct mg_source  *sources;
	size_t             n;
	struct nsx_writer *out;
	struct nsx_diags  *shown;      /* diags of this and earlier rounds */
	struct nsx_err    *err;
	bool               counted;    /* the paths are already included in the total of progress */
	struct nsx_arena   arena;      /* metadata */
	struct nsx_intern  strings, places, lists, rows;
	struct nsx_map     members;           /* string of groups -> the same as nsx_members_put writes it */
	NSX_VEC(struct mg_profile) profiles;
	NSX_VEC(struct mg_device)  devices;
	NSX_VEC(struct mg_held)    clocks;
	NSX_VEC(uint32_t)          clock_source;
	NSX_VEC(struct mg_held)    communicators;
	NSX_VEC(uint32_t)          communicator_source;
	NSX_VEC(struct mg_held)    threads;
	NSX_VEC(uint32_t)          thread_profile;    /* index in profiles */
	uint32_t                  *stack_number;      /* of mg.places, in the merged stream */
	NSX_VEC(struct mg_program) programs;
	NSX_VEC(struct mg_alias)   aliases;
	NSX_VEC(struct mg_have)    haves;
	NSX_VEC(struct nsx_merge_use)     uses;
	NSX_VEC(struct mg_inst)    insts;
	NSX_VEC(struct mg_held)    unknown;     /* metadata of unknown kinds */
	NSX_VEC(uint32_t)          unknown_source;
	struct nsx_stale_marks     marks;       /* that several streams cannot have together */
	NSX_VEC(struct mg_diag)    diags;
	struct nsx_map     use_of;              /* (profile, program) -> use */
	struct nsx_map     inst_of;             /* (program of the merged stream, name) -> inst */
	struct nsx_map     diag_of;
	struct nsx_match   match;
	struct nsx_kind   *kinds[NSX_NKINDS];   /* headers written */
	struct nsx_intern  others;              /* names of other kinds whose header is written */
};

/* ---- source.c */

/* Read the next record of any kind into s->rec: NSX_OK, NSX_EOF, NSX_ERR. */
int nsx_merge_source_next(struct mg *m, struct mg_source *s);

/* Read ahead until s has read the header of that kind, or cannot contain an unread record of it. */
int nsx_merge_source_meet(struct mg *m, struct mg_source *s, const struct nsx_kind *k);

/* Read all records from s's head on before they are needed: they go to a spool. */
int nsx_merge_source_scan(struct mg *m, struct mg_source *s, int (*see)(struct mg *m, struct mg_source *s,
	const struct nsx_rec *rec));

/* s->rec, whose key is s->key, is the first of a run of records of compilation, or of work of one key (diags and
 * unknown kinds between them count as part of what they follow): sort the run by the numbers of the merged stream. It
 * is held in memory meanwhile. */
int nsx_merge_source_sort_run(struct mg *m, struct mg_source *s);

/* A copy of rec; false when out of memory. */
bool nsx_merge_hold(struct nsx_arena *a, const struct nsx_rec *rec, struct mg_held *h);
void nsx_merge_source_free(struct mg_source *s);

/* The sort key of a record of s that has a position in the order: that of the record as it will be written; of a skew
 * by device. NSX_OK, or NSX_ERR if it refers to an entity without a record. */
int nsx_merge_key_of(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, struct nsx_order_key *key);

/* A record of s with the numbers that it will have; for records of one key. */
struct mg_record { const struct mg *m; const struct mg_source *s; struct nsx_rec rec; };
int nsx_merge_tie_cmp(const struct mg_record *x, const struct mg_record *y);

/* ---- load.c */

/* Read the metadata of s; its head is then the first record after it. */
int nsx_merge_load(struct mg *m, uint32_t source);

/* The number of s in m->strings, 0 for the empty string; NSX_NONE when out of memory. */
uint32_t nsx_merge_string(struct mg *m, struct nsx_str s);
struct nsx_str nsx_merge_text(const struct mg *m, uint32_t string);

/* The values of unknown columns, as a number; 0: none, NSX_NONE: out of memory. */
uint32_t nsx_merge_extras(struct mg *m, const struct nsx_rec *rec);
/* Restore them in rec, whose kind has the columns. */
void nsx_merge_set_extras(const struct mg *m, struct nsx_rec *rec, uint32_t extras);

/* ---- order.c */

int nsx_merge_order(struct mg *m);

/* ---- programs.c */

int nsx_merge_programs(struct mg *m);

/* The use of that program of s in that profile (either may be absent: has_profile), NULL with err filled if there is no
 * such program. */
struct nsx_merge_use *nsx_merge_use(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, int profile,
                                    int device, int program);

/* ---- kinds.c */

/* Write the header of k if that is not done: all streams' columns. */
int nsx_merge_declare(struct mg *m, const struct nsx_kind *k);
/* Write the headers that streams have without a record of the kind. */
int nsx_merge_declare_rest(struct mg *m);

/* Count a diag record of an input; add a diag of the merge (once, for any number of repetitions). */
int nsx_merge_diag_record(struct mg *m, const struct nsx_rec *rec);
int nsx_merge_diag_say(struct mg *m, enum nsx_severity severity, struct nsx_str about, const char *fmt,
                       ...) NSX_PRINTF(4, 5);
/* Add a diag with a count that no other grouping of the same merge finds again. Nothing for 0. */
int nsx_merge_diag_count(struct mg *m, enum nsx_severity severity, struct nsx_str about, int64_t count,
                         const char *text);
int nsx_merge_write_diags(struct mg *m);

/* ---- stale.c */

/* Find the devices with thunks whose `comm` changes; after nsx_merge_programs. */
int nsx_merge_stale_find(struct mg *m);

/* Remove `hidden` from a thunk of such a device, and marks where several streams are merged; true if rec is a
 * collective of such a device, or a mark, and must be dropped. */
bool nsx_merge_stale_drop(struct mg *m, struct mg_source *s, struct nsx_rec *rec);
int nsx_merge_stale_say(struct mg *m);

/* Whether that is a text of these diags: their counts add up. */
bool nsx_merge_stale_counts(struct nsx_str text);

/* ---- emit.c */

int nsx_merge_write_metadata(struct mg *m);

/* ---- unknown.c */

int nsx_merge_write_unknown(struct mg *m);

/* ---- run.c */

int nsx_merge_run(struct mg *m);

/* An error about the record that s read last. */
int nsx_merge_fail(struct mg *m, struct mg_source *s, const char *fmt, ...) NSX_PRINTF(3, 4);
/* An error: it refers, in this column, to an entity without a record. */
int nsx_merge_no_record(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, int slot);

#endif
