/* hlo.h -- the parts of XLA's HLO dumps that nsysx uses: instructions, collectives, replica groups, source
 * locations. */
#ifndef NSX_XLA_HLO_H
#define NSX_XLA_HLO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "xla/hlo_work.h"

/* A source location: op_name may be empty, stack NSX_NONE; not both. */
struct nsx_hlo_loc { struct nsx_str op_name; uint32_t stack; };

struct nsx_hlo_inst {
	struct nsx_str name, opcode;
	struct nsx_str op_name;          /* metadata.op_name; empty if none */
	struct nsx_str scheduling_name;  /* empty if none or equal to name */
	struct nsx_str collective;       /* all-reduce, ..., recv; empty unless comm */
	uint32_t       calls, ncalls;    /* comps that it calls: in nsx_hlo.calls */
	bool           scheduled;        /* the dump's schedule has it, or there is none and it is in no fused
	                                  * computation */
	bool           root;             /* the result of its computation */
	int64_t        unique_id;        /* instruction id as unique_hlo_op_id gives it */
	int64_t        bytes;            /* message size of one device; -1: not communication, or unknown (counted in
	                                  * diags) */
	struct nsx_hlo_cost cost;        /* not modelled: communication, control flow, instructions inside a fusion,
	                                  * unknown opcodes */
	uint32_t       groups;           /* index in nsx_hlo.groups; NSX_NONE: unknown, or not communication */
	uint32_t       stack;            /* index in nsx_hlo.stacks; NSX_NONE: none */
	uint32_t       locs, nlocs;      /* further source locations, in nsx_hlo.locs: the distinct (op_name, stack) of
	                                  * the direct instructions of the computations it calls, without its own */
	uint32_t       comp;             /* instructions of one computation have one number */
	uint32_t       order;            /* position in the order of execution */
	bool           comm;             /* it communicates */
	bool           entry;            /* in the entry computation */
	bool           thunk;            /* in a computation whose instructions run as thunks */
};

/* A computation: the distinct source locations of its own instructions, and the comps that they call, NSX_NONE: not in
 * the dump. */
struct nsx_hlo_contents { uint32_t places, nplaces, calls, ncalls; };

/* One dump; everything is owned by it. Instructions are those of the entry computation and of all computations that can
 * be executed as thunks, and of fused computations those that XLA nevertheless names thunks after: collectives, custom
 * calls, instructions that call computations (reductions: the thunk that clears their output), roots. Sorted by name
 * bytewise. */
struct nsx_hlo {
	struct nsx_str       name;          /* of the module */
	int64_t              id;            /* HloModuleProto.id */
	struct nsx_str       fingerprint;   /* frontend attribute fingerprint_before_lhs; empty if none */
	struct nsx_str       digest;        /* "d:" and 16 hex digits: hash of the sorted names of the entry
	                                     * computation's instructions */
	struct nsx_hlo_inst *insts;  uint32_t ninsts;
	struct nsx_hlo_loc  *locs;   uint32_t nlocs;
	struct nsx_str      *stacks; uint32_t nstacks;   /* frames, outermost first, file:line[:column][function],
	                                                  * joined by ';' */
	struct nsx_str      *groups; uint32_t ngroups;   /* devices, as base/members.h writes them, as the
	                                                  * instruction gives them, made global through the device
	                                                  * assignment */
	struct nsx_map       by_id;         /* unique_id -> index */
	struct nsx_hlo_contents *contents; uint32_t ncontents;   /* by comp: every computation, fused ones among them */
	uint32_t            *calls;         /* comps */
	uint32_t            *places;        /* indices in op_names */
	struct nsx_str      *op_names;      /* may be empty */
	struct nsx_hlo_walk *walk;          /* of nsx_hlo_reaches */
	struct nsx_arena     arena;
	struct nsx_hlo_entry *entry;        /* the entry that owns everything except walk (hlo_shelf.h); NULL: this
	                                     * struct does */
	bool                 trouble;       /* it could not be read for lack of memory, or because of a system error:
	                                     * the dump itself may be valid */
};

/* Read the dump at path (.hlo.pb, or .xz or .zst of one: recognised by the first bytes). Data that could not be
 * interpreted is counted in diags (source: the module's name). NSX_OK, or NSX_ERR with err filled and *h as after
 * nsx_hlo_free, but for trouble: not a dump, damaged, truncated, nested too deep. */
int nsx_hlo_read(const char *path, struct nsx_hlo *h, struct nsx_diags *diags, struct nsx_err *err);

/* The same of a serialised HloProto in memory, which the caller keeps until this returns; name: of its file, for
 * messages. */
int nsx_hlo_read_bytes(struct nsx_str bytes, const char *name, struct nsx_hlo *h, struct nsx_diags *diags,
                       struct nsx_err *err);

/* The instruction of that name, NULL if there is none. */
const struct nsx_hlo_inst *nsx_hlo_find(const struct nsx_hlo *h, struct nsx_str name);
/* The instruction with that unique id, NULL if there is none. */
const struct nsx_hlo_inst *nsx_hlo_find_id(const struct nsx_hlo *h, int64_t unique_id);

/* By instruction of h, which is the dump at path: a hash of the operations of a fusion's computation, 0 for other
 * instructions. Those of one hash may share a kernel, those of different ones do not. *bodies is malloc()ed. NSX_OK, or
 * NSX_ERR with err filled and *bodies NULL: the file has changed, or memory ran out. */
int nsx_hlo_bodies(const char *path, const struct nsx_hlo *h, uint64_t **bodies, struct nsx_err *err);
/* The same of h, which is the dump in these bytes; name: for messages. */
int nsx_hlo_bodies_of(struct nsx_str bytes, const char *name, const struct nsx_hlo *h, uint64_t **bodies,
                      struct nsx_err *err);

void nsx_hlo_free(struct nsx_hlo *h);   /* back to {0} */

/* Whether part, which is whole components of a path, occurs in the op_name of the instruction or of one reachable from
 * it through the computations it calls, however deep. The total number of comparisons for each dump is limited; no real
 * dump reaches the limit, after which the answer is always true. True as well when out of memory. */
bool nsx_hlo_reaches(const struct nsx_hlo *h, const struct nsx_hlo_inst *inst, struct nsx_str part);

/* A folder of dumps, with the program of each file. */
struct nsx_dump_dir;

/* List DIR: files `module_NNNN.NAME.*after_optimizations*.hlo.pb` (.xz, .zst). NULL on failure, with err filled. */
struct nsx_dump_dir *nsx_dump_dir_open(const char *dir, struct nsx_err *err);

enum nsx_dump_found { NSX_DUMP_ONE, NSX_DUMP_NONE, NSX_DUMP_AMBIGUOUS };

/* The dump of program id, whose module has this name (a file of another name is not accepted): d owns *path. */
enum nsx_dump_found nsx_dump_dir_find(const struct nsx_dump_dir *d, int64_t id, struct nsx_str name, const char **path);

/* The same of XLA's list of thunks beside it, `module_NNNN.NAME.thunk_sequence_after_thunk_passes.txt` and
 * `module_NNNN.NAME.thunk_metadata.pb` (.xz, .zst): both, or NSX_DUMP_NONE. */
enum nsx_dump_found nsx_dump_dir_list(const struct nsx_dump_dir *d, int64_t id, struct nsx_str name, const char **text,
                                      const char **metadata);

/* The path of the first dump at *next or after it, by id, then name; NULL after the last. *next is moved behind it;
 * begin with 0. Of a dump that also exists compressed, only the plain file is returned. */
const char *nsx_dump_dir_next(const struct nsx_dump_dir *d, size_t *next);
void nsx_dump_dir_free(struct nsx_dump_dir *d);   /* NULL allowed */

#endif
