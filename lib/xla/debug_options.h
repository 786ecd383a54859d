/* debug_options.h -- the options of the compiler that XLA writes beside a dump, as far as they are not its defaults:
 * module_0001.jit_step.debug_options, a line `name: value` each. */
#ifndef NSX_XLA_DEBUG_OPTIONS_H
#define NSX_XLA_DEBUG_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/* {0} is empty. */
struct nsx_debug_options {
	struct nsx_intern names;         /* in order of the file, without those that say where dumps go */
	NSX_VEC(struct nsx_buf) values;  /* as text; of an option that is there several times all, joined by ' ' */
	bool              known;         /* there was a file */
};

/* Read those beside the dump at path, of the module of that name. NSX_OK also if there is no such file; NSX_ERR with
 * err filled if it cannot be read, or when out of memory: *o is then to be freed too. */
int nsx_debug_options_read(const char *path, struct nsx_str module, struct nsx_debug_options *o, struct nsx_err *err);

/* The value of an option; empty if it is not there. */
struct nsx_str nsx_debug_option(const struct nsx_debug_options *o, struct nsx_str name);

void nsx_debug_options_free(struct nsx_debug_options *o);

#endif
