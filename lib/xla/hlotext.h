/* hlotext.h -- the parts that nsysx reads of HLO in text form, which XLA attaches to NVTX ranges. */
#ifndef NSX_XLA_HLOTEXT_H
#define NSX_XLA_HLOTEXT_H

#include <stdbool.h>

#include "base/str.h"

/* An instruction, `[ROOT ][%]NAME = SHAPE OPCODE(OPERANDS), ..., metadata={...}`. Strings point into the text. */
struct nsx_hlotext {
	struct nsx_str name, opcode;
	struct nsx_str op_name;    /* of its metadata, with the escapes it is written with; empty if it has none */
	bool           whole;      /* the text was not truncated: fields that are not in it do not exist */
};

/* Parse it; false if it is not an instruction. */
bool nsx_hlotext_read(struct nsx_str text, struct nsx_hlotext *out);

/* A string of metadata without its escapes, appended to out. */
void nsx_hlotext_unescape(struct nsx_str s, struct nsx_buf *out);

/* Replica groups, `{{0,1},{2,3}}` or `[2,2]<=[4]` or `[2,2]<=[2,2]T(1,0)`, as `0,1;2,3` (base/members.h), appended to
 * out. False if they could not be parsed; a list without groups is valid and empty. */
bool nsx_hlotext_groups(struct nsx_str text, struct nsx_buf *out);

#endif
