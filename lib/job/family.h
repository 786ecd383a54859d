/* family.h -- what a GPU operation is, by its name: attention and of which kind, matrix products and in which type,
 * casts, elementwise kernels, copies (frameworks.def has the names). */
#ifndef NSX_JOB_FAMILY_H
#define NSX_JOB_FAMILY_H

#include <stdbool.h>

#include "base/str.h"

/* family: "attention", "gemm", ...; kind: within it, "flash 2", "bf16"; "": not known, or there is only one. Static. */
struct nsx_family { const char *family, *kind; };

/* Of a kernel that does not communicate, by its name as the stream has it. */
struct nsx_family nsx_family_of_kernel(struct nsx_str name);

/* The same of an instruction whose kernel that is: of a product whose kernel does not tell the type, math is its
 * kind, and a kernel of another name that makes a product is one. math: as inst.math, NULL or "": it makes none. It
 * must live as long as the result. */
struct nsx_family nsx_family_of_inst(struct nsx_family kernel, const char *math);

/* Of copies, sets and whole graphs: type and name as op has them; kernels give no family. */
bool nsx_family_of_type(struct nsx_str type, struct nsx_str name, struct nsx_family *f);

/* Whether a name matches a pattern, in which '*' stands for any characters and '#' for digits, at least one; what
 * follows a '*' is not found in "fbgemm" behind its "fb". */
bool nsx_family_matches(struct nsx_str name, const char *pattern);

#endif
