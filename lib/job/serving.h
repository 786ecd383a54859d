/* serving.h -- what the name of a server's step tells: whether it computes prompts (prefill), tokens of running
 * requests (decode) or both (mixed), for how many requests and tokens, and the sums of lengths that attention depends
 * on. The forms of names are in frameworks.def.
 *
 *   execute_context_1(512)_generation_6(6)      mixed: 7 requests, 518 tokens
 *   step[DECODE bs=6]                           decode: 6 requests, a token each */
#ifndef NSX_JOB_SERVING_H
#define NSX_JOB_SERVING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* EMPTY: a step of no request. */
enum nsx_serving_phase { NSX_SERVING_PREFILL, NSX_SERVING_DECODE, NSX_SERVING_MIXED, NSX_SERVING_EMPTY,
                         NSX_NSERVING };

/* NSX_ABSENT: the name does not tell. sk, pairs: over requests, the sums of the number of keys, and of pairs of a query
 * and a key that it may see. */
struct nsx_serving { enum nsx_serving_phase phase; int64_t requests, tokens, sk, pairs; const char *whose, *form; };

/* Whether a range of that name is a server's step; suffixes that frameworks append are ignored. */
bool nsx_serving_of(struct nsx_str name, struct nsx_serving *s);

/* "prefill", "decode", "mixed", "empty". */
const char *nsx_serving_phase_name(enum nsx_serving_phase phase);

/* Appends the class of a step by its phase: what its name begins with and what it does, "execute_context_*: decode". */
void nsx_serving_put_class(struct nsx_buf *out, const struct nsx_serving *s);
/* Whether a text is such a class. */
bool nsx_serving_is_phase(struct nsx_str class);
/* How steps of all phases of a framework are called together, "[vLLM]"; and whether a text is such a name. */
const char *nsx_serving_class(const struct nsx_serving *s);
bool nsx_serving_is_class(struct nsx_str text);

#endif
