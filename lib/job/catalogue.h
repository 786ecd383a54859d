/* catalogue.h -- the metadata of a stream: profiles, devices and their clocks, programs and their names in each
 * profile, instructions with source locations and costs, replica groups. An analysis passes each record to the
 * catalogue and queries it, instead of reading metadata itself.
 *
 * A record refers to an entity by its *number*, which may have any value; the catalogue uses its *index*: 0, 1, ... in
 * order of first occurrence. An entity that records refer to and that has no record of its own has an entry too, which
 * is not `listed`. An absent number is NSX_ABSENT, an absent index or string NSX_NONE. Of two records of one number the
 * later counts.
 *
 *   program 7 ...          programs.p[0] = { .number = 7, .listed = true, ... }
 *   inst    7 3 fusion.1   insts.p[0] = { .program = 0, .number = 3, .listed = true, .name = "fusion.1", ... }
 *   thunk   .. 7 .. 3 ..   nsx_cat_inst gives 0
 *   thunk   .. 7 .. 4 ..   nsx_cat_inst gives 1: insts.p[1] = { .program = 0, .number = 4, .listed = false, ... } */
#ifndef NSX_JOB_CATALOGUE_H
#define NSX_JOB_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/catalogue_index.h"
#include "stream/fields.h"
#include "stream/kinds.h"
#include "stream/order.h"
#include "stream/reader.h"

/* Data that an analysis needs in addition to numbers, communication flags, and names other than those of instructions;
 * anything else reads as absent and takes neither memory nor time. */
enum nsx_cat_keep {
	NSX_CAT_OP_NAMES = 1,   /* of instructions and their further source locations */
	NSX_CAT_STACKS   = 2,   /* of those: stacks and their frames */
	NSX_CAT_LOCS     = 4,   /* further source locations */
	NSX_CAT_PLACES   = NSX_CAT_OP_NAMES | NSX_CAT_STACKS | NSX_CAT_LOCS,
	NSX_CAT_ALIASES  = 8,   /* names of programs in each profile */
	NSX_CAT_RUNNERS  = 16,  /* how many devices may run a program */
	NSX_CAT_NAMES    = 32,  /* of instructions: name, scheduling_name */
	NSX_CAT_COSTS    = 64   /* of instructions: flops, math, vector, mem_bytes */
};

/* Strings are numbers in nsx_catalogue.strings, NSX_NONE if absent; other members are columns of the same name. */
struct nsx_cat_profile {
	int64_t  number;
	bool     listed;
	uint32_t name, host, product, schema;
	int64_t  start_utc;   /* ns since 1970-01-01 UTC */
	int64_t  from, to;    /* the time that was seen, ns; INT64_MIN, INT64_MAX: no limit is known */
	uint32_t ndevices;    /* that are listed */
};

struct nsx_cat_device {
	int64_t  number;
	bool     listed, known;
	uint32_t profile;     /* in profiles; NSX_NONE if unknown */
	uint32_t name, uuid;
	int64_t  process, local, partition, cuda, pid;
	int64_t  last;        /* ns: no operation of the device starts later */
	int64_t  sms, clock, mem_bandwidth, cc;   /* multiprocessors, Hz, bytes/s, 10 major + minor */
	int64_t  memory;      /* bytes of its memory */
	bool     aligned;     /* it has a `clock` record */
	int64_t  component;   /* of that record: devices with one number share a clock */
	double   offset, rate;/* of that record: ns at ref, change per ns; 0 if it has none */
	int64_t  ref;         /* of that record, ns */
	double   error;       /* of that record, ns; less than 0: unknown */
};

struct nsx_cat_program {
	int64_t  number, id;
	bool     listed;
	uint32_t name, fingerprint, key;
	uint32_t runners;     /* for nsx_cat_runners; NSX_NONE: no alias was read */
	struct nsx_cat_index insts;
};

/* before: in aliases, the previous one of the same profile and program; NSX_NONE if it is the first. */
struct nsx_cat_alias { uint32_t profile, program; int64_t id; uint32_t fingerprint, digest, before; };

struct nsx_cat_inst {
	uint32_t program;     /* in programs */
	uint32_t nth_comm;    /* number of instructions that communicate and were listed before it; NSX_NONE if it does
	                       * not communicate */
	int64_t  number;
	bool     listed, comm;
	bool     settles;     /* comm holds for its operations, too (nsx_comm_settles) */
	uint32_t name, opcode, collective, scheduling_name, math;
	uint32_t op_name, stack;   /* stack: in stacks, one that has frames */
	uint32_t locs;        /* further source locations: the first of a list in nsx_catalogue.locs; NSX_NONE ends the
	                       * list */
	int64_t  bytes, groups;    /* groups: a number, for job/comm/replica_groups.h */
	int64_t  flops, vector, mem_bytes;
};

struct nsx_cat_loc { uint32_t op_name, stack, next; };

/* {0} with `keep` set is empty. The vectors are read-only for callers; pointers into them are valid until the next call
 * that is not const. */
struct nsx_catalogue {
	unsigned keep;
	struct nsx_intern strings;
	NSX_VEC(struct nsx_cat_profile) profiles;
	NSX_VEC(struct nsx_cat_device)  devices;
	NSX_VEC(struct nsx_cat_program) programs;
	NSX_VEC(struct nsx_cat_alias)   aliases;
	NSX_VEC(struct nsx_cat_inst)    insts;
	NSX_VEC(struct nsx_cat_loc)     locs;
	NSX_VEC(uint32_t)               stacks;   /* frames, by index of the stack */
	struct nsx_cat_index profile_at, device_at, program_at, stack_at;
	struct { int64_t number; uint32_t at; bool any; } last_program;   /* the previous lookup: equal ones come in
	                                                                   * runs */
	struct nsx_map    alias_at;               /* (profile, program) -> aliases, the last of them */
	bool              any_comm;               /* some instruction communicates */
	uint32_t          ncomm;                  /* number of instructions that communicate */
	uint32_t          ndevices;               /* that are listed */
	int64_t           contradictions;         /* of nsx_cat_communicates */
	struct nsx_map    awaited;                /* numbers of stacks that were referred to before their frames were
	                                           * read */
	int64_t           no_stack;               /* references to a stack that has no record with frames before them */
};

/* Declare to a reader what nsx_cat_take uses; columns that refer to metadata are declared by the caller. */
void nsx_cat_need(const struct nsx_catalogue *c, struct nsx_reader *in);

/* Add a record of metadata; records of other kinds are ignored. NSX_OK, or NSX_ERR (out of memory) with err filled. */
int nsx_cat_take_metadata(struct nsx_catalogue *c, const struct nsx_rec *rec, struct nsx_err *err);
static inline int
nsx_cat_take(struct nsx_catalogue *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	return nsx_rec_section(rec) == NSX_SECTION_METADATA ? nsx_cat_take_metadata(c, rec, err) : NSX_OK;
}

/* The index of the entity that a record of any kind refers to (of a record of metadata: the entity that it describes),
 * created if it is new. A record without the column refers to the entry whose number is NSX_ABSENT. NSX_NONE when out
 * of memory, or if the kind has no such column. */
uint32_t nsx_cat_profile(struct nsx_catalogue *c, const struct nsx_rec *rec);
uint32_t nsx_cat_device(struct nsx_catalogue *c, const struct nsx_rec *rec);
uint32_t nsx_cat_program(struct nsx_catalogue *c, const struct nsx_rec *rec);
uint32_t nsx_cat_inst(struct nsx_catalogue *c, const struct nsx_rec *rec);

/* One more than the highest number of a device that is listed; 0: there is none. */
int64_t nsx_cat_numbers(const struct nsx_catalogue *c);

/* Whether all devices are CPUs that run instructions of XLA: nothing is launched there, and no GPU is to be tuned. */
bool nsx_cat_on_cpu(const struct nsx_catalogue *c);

/* Whether the device of that index belongs to the process that the record identifies by profile and pid: a range
 * without a device may have GPU work on any of them. */
bool nsx_cat_of_process(const struct nsx_catalogue *c, uint32_t device, const struct nsx_rec *rec);

/* Whether a thunk or an operation communicates; decided only here. The column of its instruction decides, except for an
 * operation whose instruction does not communicate and runs others (call, while, conditional, custom-call, an async
 * wrapper, a command buffer), and for a record without a listed instruction: there the record's own column decides.
 * Absent means no. Contradictions to the instruction are counted, so call this once per record. Other kinds do not
 * communicate. */
bool nsx_cat_communicates(struct nsx_catalogue *c, const struct nsx_rec *rec);

/* The same for further calls with one record: nothing is counted. */
bool nsx_cat_communicates_again(struct nsx_catalogue *c, const struct nsx_rec *rec);

/* Whether the instruction that rec refers to communicates; false if it refers to none. */
bool nsx_cat_inst_communicates(struct nsx_catalogue *c, const struct nsx_rec *rec);

/* Report how many records contradicted their instruction; source: of the diag. */
void nsx_cat_comm_diags(const struct nsx_catalogue *c, const char *source, struct nsx_diags *diags);

/* Declare what nsx_cat_communicates reads. */
#define NSX_CAT_COMM_ROLES (NSX_R(PROGRAM) | NSX_R(INST) | NSX_R(COMM))

/* The op_name and the frames of an instruction, from the first of its further locations that has one if the instruction
 * itself has none: strings of the catalogue, NSX_NONE if there is none in these either. */
void nsx_cat_place(const struct nsx_catalogue *c, const struct nsx_cat_inst *inst, uint32_t *op_name, uint32_t *frames);

/* The name of a source line: the innermost frame; without frames the last part of op_name; without both, or if
 * that is cut (job/phase.h), "[Unknown]".
 * Either may be empty; the result is a part of one of them, or a constant. */
struct nsx_str nsx_cat_source(struct nsx_str frames, struct nsx_str op_name);

/* Whether rec is a stack that an earlier record refers to before it was defined; to be called before it is added. */
bool nsx_cat_is_late_stack(const struct nsx_catalogue *c, const struct nsx_rec *rec);

/* The index of that number, NSX_NONE if there is none. */
uint32_t nsx_cat_find_profile(const struct nsx_catalogue *c, int64_t number);
uint32_t nsx_cat_find_device(const struct nsx_catalogue *c, int64_t number);
uint32_t nsx_cat_find_program(const struct nsx_catalogue *c, int64_t number);

/* The alias of a program in a profile, NULL if it has none there; both are indices. If there are several, the last one
 * read. */
const struct nsx_cat_alias *nsx_cat_alias(const struct nsx_catalogue *c, uint32_t profile, uint32_t program);

/* How many devices may run the program of that index: those of the profiles that have an alias of it; all listed
 * devices if none has one. Based on the records so far; needs NSX_CAT_RUNNERS. */
uint32_t nsx_cat_runners(const struct nsx_catalogue *c, uint32_t program);

/* The fingerprint of a program in a profile: of the last alias that has one, NSX_NONE if none does or without
 * NSX_CAT_ALIASES. */
uint32_t nsx_cat_fingerprint(const struct nsx_catalogue *c, uint32_t profile, uint32_t program);

/* The string of that number, empty for NSX_NONE. It lives as long as the catalogue. */
static inline struct nsx_str
nsx_cat_str(const struct nsx_catalogue *c, uint32_t id)
{
	return id == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&c->strings, id);
}

/* Store a string with those of the catalogue and return its number; NSX_NONE for an empty one and, with err filled,
 * when out of memory. */
uint32_t nsx_cat_intern(struct nsx_catalogue *c, struct nsx_str s, struct nsx_err *err);

/* The name to show for a program: its key, else its name; empty if it has neither. */
struct nsx_str nsx_cat_program_label(const struct nsx_catalogue *c, uint32_t program);

void nsx_cat_free(struct nsx_catalogue *c);

/* The frames of the stack of that number, outermost first, separated by ';'; empty if there is none. With
 * NSX_CAT_STACKS. */
struct nsx_str nsx_cat_frames(const struct nsx_catalogue *c, int64_t stack);

#endif
