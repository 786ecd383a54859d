/* comm_names.h -- what names say of communication: those of GPU kernels, of executed instructions, and the user's own
 * rules.
 *
 * Extraction asks, once per distinct name, and writes the answer into the stream; nothing downstream looks at names. */
#ifndef NSX_JOB_COMM_NAMES_H
#define NSX_JOB_COMM_NAMES_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* The user's rules in the order given. {0} is empty. Matching changes nothing in them: threads may share them. */
struct nsx_comm_rule;
struct nsx_comm_rules { struct nsx_comm_rule *rule; size_t n; bool failed; };

/* Add `REGEX=KIND`: a POSIX extended regular expression that is searched in the head of a kernel's name, and the kind
 * of collective that such kernels carry out; none if KIND is empty: they compute. Split at the last '='. KIND is
 * borrowed from text, which must outlive the rules. NSX_OK, NSX_ERR with err filled if text is no rule or memory ran
 * out, which `failed` tells apart. */
int nsx_comm_rules_add(struct nsx_comm_rules *rules, const char *text, struct nsx_err *err);
void nsx_comm_rules_free(struct nsx_comm_rules *rules);

/* The head of a kernel's demangled name, which rules are held against: without a leading `void `, without `(anonymous
 * namespace)::` and `<unnamed>::`, cut at the first '<' or '('; namespaces stay. Put into buf from its start, with a
 * NUL behind it; empty when memory ran out (buf->failed). */
struct nsx_str nsx_kernel_head(struct nsx_str demangled, struct nsx_buf *buf);

/* The kind of collective that a kernel of this head carries out, by the built-in rules; NULL: it computes. */
const char *nsx_comm_by_head(struct nsx_str head);

/* The same of a demangled name: the user's rules (NULL: none) first. buf is scratch, to be checked for failed. */
const char *nsx_comm_by_kernel(const struct nsx_comm_rules *rules, struct nsx_str demangled, struct nsx_buf *buf);

/* The kind of collective that an executed instruction's name stands for, '_' read as '-': kind, maybe `-start`, and
 * what XLA and JAX put behind names to tell them apart, numbers; NULL: none. What stands in for the opcode where there
 * is no dump. */
const char *nsx_comm_by_instruction(struct nsx_str name);

#endif
