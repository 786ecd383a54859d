/* signature.h -- what a dump says of why a program is compiled: the shapes of its arguments, and whether what it
 * computes with them is the same as in another dump. */
#ifndef NSX_XLA_SIGNATURE_H
#define NSX_XLA_SIGNATURE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

/* An argument. name: as the framework calls it, else that of the parameter; type: "f32", ...; dims: "[8,128]", of one
 * device; sharding: "replicated", "[4,1]", ... of the whole, empty if not recorded; shards: a hash of it; donated: the
 * program may reuse its memory. */
struct nsx_signature_argument {
	int64_t        number;
	struct nsx_str name, type, dims, sharding;
	uint64_t       shards;
	bool           donated;
};

/* Of a dump. */
struct nsx_signature {
	struct nsx_str name;     /* of the module */
	int64_t        id;
	NSX_VEC(struct nsx_signature_argument) arguments;   /* by number */
	struct nsx_str result;   /* types and sizes of its parts, "f32[8] s32[]"; empty if unknown */
	int64_t        instructions;
	uint64_t       body;     /* a hash of opcodes, shapes and attributes of all instructions */
	int64_t        products[3];/* that ask for the default precision, a high, the highest (of any operand); those
	                          * that say nothing of it are in none */
	uint64_t       precision;/* a hash of these and of the algorithms of products, in the order of instructions */
	uint64_t       constants;/* of the values of constants */
	uint64_t       devices;  /* of the assignment of devices */
	struct nsx_arena arena;
};

/* Read the dump at path. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_signature_read(const char *path, struct nsx_signature *s, struct nsx_err *err);

/* The same of the n bytes of a dump at p; name: for messages. */
int nsx_signature_memory(const void *p, size_t n, const char *name, struct nsx_signature *s, struct nsx_err *err);
void nsx_signature_free(struct nsx_signature *s);

#endif
