/* names.h -- normalised names of NVTX ranges: suffixes that frameworks append are removed, so that a table has a row
 * for each operation and not for each call.
 *
 *   aten::copy_, seq = 7, op_id = 52, sizes = [[2, 3], []]   ->  key aten::copy_
 *   {'Module': 'model.layers.3.mlp', 'TrainableParams': ...}  ->  key model.layers.3.mlp, digits model.layers.#.mlp
 *   conv2d_5, op_id = 9                                       ->  key conv2d_5, digits conv2d_#
 *   ProfilerStep#7                                            ->  key ProfilerStep#7, steps ProfilerStep## */
#ifndef NSX_JOB_NAMES_H
#define NSX_JOB_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum nsx_names {
	NSX_NAMES_KEY,      /* without the suffix of PyTorch's emit_nvtx; for the dictionary of a layer hook its
	                     * Module */
	NSX_NAMES_FULL,     /* unchanged */
	NSX_NAMES_DIGITS,   /* the key with runs of digits not preceded by a letter or digit replaced by '#' */
	NSX_NAMES_STEPS     /* the same for names of steps, each of which has another number: those that frameworks
	                     * give, and a number behind a word such as step or iteration; the key of others */
};

/* "key", "full", "digits" or "steps"; false for anything else. */
bool nsx_names_parse(const char *s, enum nsx_names *names);

/* The key of a range's name: a part of it, never empty unless the name is. */
struct nsx_str nsx_name_key(struct nsx_str name);

/* Whether all names that differ from this one only in digits at their end, of which each has some, are shown as it is
 * (nsx_name), as those of emit_nvtx are: what is shown ends before them. */
bool nsx_name_is_of_many(enum nsx_names names, struct nsx_str domain, struct nsx_str name);

/* The sequence number that emit_nvtx appended to a name, by which PyTorch joins an operator and its backward pass;
 * NSX_ABSENT if there is none. */
int64_t nsx_name_seq(struct nsx_str name);

/* The sizes of inputs that emit_nvtx appended to a name, "[[2, 3], []]"; empty if it did not. */
struct nsx_str nsx_name_sizes(struct nsx_str name);

/* The name to show for a range of that domain ("" for the default one); names in XLA's domain TSL are unchanged. The
 * result is a part of `name`, or is in scratch (whose content is replaced) until scratch changes; empty with
 * scratch->failed when out of memory. */
struct nsx_str nsx_name(enum nsx_names names, struct nsx_str domain, struct nsx_str name, struct nsx_buf *scratch);

#endif
