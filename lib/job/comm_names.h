/* comm_names.h -- recognises communication by names: of GPU kernels, of executed instructions, and by the user's rules.
 *
 * Extraction decides once per distinct name, and writes the result into the stream; no later tool examines names. */
#ifndef NSX_JOB_COMM_NAMES_H
#define NSX_JOB_COMM_NAMES_H

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

/* The kind of collective that a kernel with this head executes, by the built-in rules; NULL: it computes. */
const char *nsx_comm_by_head(struct nsx_str head);

/* The same for a demangled name, applying the user's rules (NULL: none) first. buf is scratch; check its failed. */
const char *nsx_comm_by_kernel(const struct nsx_comm_rules *rules, struct nsx_str demangled, struct nsx_buf *buf);

/* The kind of collective of an executed instruction by its name, with '_' read as '-': a kind, optionally `-start`, and
 * the numbers that XLA and JAX append to make names unique; NULL: none. Used instead of the opcode if there is no
 * dump. */
const char *nsx_comm_by_instruction(struct nsx_str name);

#endif
