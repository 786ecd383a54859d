/* hlotext.h -- the little that nsysx reads of HLO in the form of text, which XLA attaches to NVTX ranges. */
#ifndef NSX_XLA_HLOTEXT_H
#define NSX_XLA_HLOTEXT_H

#include <stdbool.h>

#include "base/str.h"

/* An instruction, `[ROOT ][%]NAME = SHAPE OPCODE(OPERANDS), ..., metadata={...}`. Strings point into the text. */
struct nsx_hlotext {
	struct nsx_str name, opcode;
	struct nsx_str op_name;    /* of its metadata, with the escapes it is written with; empty if it has none */
	bool           whole;      /* the text was not cut: what it does not say is not there */
};

/* Take it apart; false when it is none. */
bool nsx_hlotext_read(struct nsx_str text, struct nsx_hlotext *out);

/* A string of metadata without its escapes, appended to out. */
void nsx_hlotext_unescape(struct nsx_str s, struct nsx_buf *out);

/* Replica groups, `{{0,1},{2,3}}` or `[2,2]<=[4]` or `[2,2]<=[2,2]T(1,0)`, as `0,1;2,3`, appended to out. False when
 * they could not be understood; no groups at all are understood and empty. */
bool nsx_hlotext_groups(struct nsx_str text, struct nsx_buf *out);

#endif
