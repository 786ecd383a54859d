/* title.h -- the grammar of XLA's NVTX titles, `Kind:#key=value,...#`, and of its device names. */
#ifndef NSX_XLA_TITLE_H
#define NSX_XLA_TITLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The NVTX domain of XLA's ranges. */
#define NSX_XLA_DOMAIN "TSL"

enum nsx_title_kind {
	NSX_TITLE_OTHER,       /* any other range of the domain */
	NSX_TITLE_MODULE,      /* XlaModule: one execution of a program */
	NSX_TITLE_THUNK,       /* Thunk: one execution of an instruction */
	NSX_TITLE_COMPILE,     /* XlaCompile: the whole compilation of a program */
	NSX_TITLE_BACKEND,     /* XlaCompileBackend: names the program that is being compiled */
	NSX_TITLE_AUTOTUNER    /* XlaAutotunerMeasurement, XlaAutotunerCompilation */
};

struct nsx_title {
	enum nsx_title_kind kind;
	struct nsx_str label;       /* the part before ":#" (the whole text if there is no ":#") */
	struct nsx_str name;        /* name= ; empty if absent, like the following */
	struct nsx_str prefix;      /* prefix= */
	struct nsx_str module;      /* hlo_module= or module= */
	struct nsx_str hlo_op;      /* hlo_op= */
	int64_t        program_id;  /* program_id=; -1 if none */
	int64_t        op_id;       /* unique_hlo_op_id=; -1 if none */
	bool           fusion;      /* hlo_op is a name that XLA gives fusions */
	bool           truncated;   /* XLA truncated the title: its end is missing */
};

/* Parse text into its keys, in any order; unknown keys are ignored. All strings point into text. Values of name= and
 * prefix= may contain commas, '=' and brackets. Never fails: a text that is not a title has kind NSX_TITLE_OTHER and a
 * label only. */
void nsx_title_parse(struct nsx_str text, struct nsx_title *t);

/* The title without its module= and program_id= keys (and hlo_op= too if drop_op), without `:##` if no key remains,
 * appended to out. */
void nsx_title_strip(struct nsx_str text, bool drop_op, struct nsx_buf *out);

struct nsx_device_title { int64_t global, local, process, partition; };   /* -1: not given */

/* `Xla:#global=G,local=L,process=P,partition=S#` or `XlaLauncher:#...#` (slice= for partition=); launcher selects which
 * of the two. False if text is not of that form. */
bool nsx_device_title_parse(struct nsx_str text, bool launcher, struct nsx_device_title *d);

#endif
