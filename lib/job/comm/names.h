/* names.h -- recognises communication by names: of GPU kernels, of executed instructions, of the ranges that
 * frameworks put around their calls, and by the user's rules.
 *
 * Extraction decides once per distinct name, and writes the result into the stream; no later tool examines names. */
#ifndef NSX_JOB_COMM_NAMES_H
#define NSX_JOB_COMM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* The user's rules in order. {0} is empty. Matching does not change them: threads may share them. */
struct nsx_comm_rule;
struct nsx_comm_rules { struct nsx_comm_rule *rule; size_t n; bool failed; };

/* Add `REGEX=KIND`: a POSIX extended regular expression that is searched in the head of a kernel's name, and the kind
 * of collective that such kernels execute; if KIND is empty they compute. Split at the last '='. KIND is borrowed from
 * text, which must outlive the rules. NSX_OK, NSX_ERR with err filled if text is not a rule or memory ran out; `failed`
 * is set for the latter. */
int nsx_comm_rules_add(struct nsx_comm_rules *rules, const char *text, struct nsx_err *err);
void nsx_comm_rules_free(struct nsx_comm_rules *rules);

/* The kinds that are known without rules, separated by '|'; a rule may name any other. */
extern const char nsx_comm_kinds[];

/* The head of a kernel's demangled name, to which rules are applied: without a leading `void `, without `(anonymous
 * namespace)::` and `<unnamed>::`, up to the first '<' or '('; other namespaces remain. Written to the start of buf,
 * followed by a NUL; empty when memory ran out (buf->failed). */
struct nsx_str nsx_kernel_head(struct nsx_str demangled, struct nsx_buf *buf);

/* The kind of collective that a kernel of this demangled name executes; NULL: it computes. Applies the user's rules
 * (NULL: none) first. buf is scratch; check its failed. */
const char *nsx_comm_by_kernel(const struct nsx_comm_rules *rules, struct nsx_str demangled, struct nsx_buf *buf);

/* The kind of collective of an executed instruction by its name, with '_' read as '-': a kind, optionally `-start`, and
 * the numbers that XLA and JAX append to make names unique; NULL: none. Used instead of the opcode if there is no
 * dump. */
const char *nsx_comm_by_instruction(struct nsx_str name);

/* Kinds that ranges name, numbered from 1; NSX_COMM_KERNEL: a range around any collectives (nccl:coalesced, a barrier),
 * whose kind follows from the kernel's name. */
enum nsx_comm_range { NSX_COMM_NO_RANGE, NSX_COMM_KERNEL, NSX_COMM_FIRST };

/* The number of the kind of communication launched in an NVTX range of PyTorch, from the name of the range:
 * `nccl:all_to_all`, `nccl:_all_gather_base, op_id = 7`, `nccl:send 0->1`, `c10d::allreduce_`,
 * `_c10d_functional::reduce_scatter_tensor`; NSX_COMM_NO_RANGE: the name is none of these. Sources:
 * ProcessGroupNCCL.cpp, the operators of torch.distributed. */
int nsx_comm_by_range(struct nsx_str name);

/* The kind of collective with that number, NSX_COMM_FIRST or higher; NULL: no kind has it. */
const char *nsx_comm_range_kind(int number);

/* Whether a kernel of this kind can execute a collective of that kind: NCCL's kernels of sends and receives, and those
 * whose names contain no kind, run others too, and PyTorch gathers and scatters parts of unequal size by broadcasts
 * and reductions. */
bool nsx_comm_can_run(const char *kernel, const char *kind);

/* Whether it is a kind that ranges name; whether kernels of this kind are known to execute others. */
bool nsx_comm_is_range_kind(const char *kind);
bool nsx_comm_is_open(const char *kernel);

#endif
