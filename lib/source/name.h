/* name.h -- the name of a profile, from the path of its file. */
#ifndef NSX_SOURCE_NAME_H
#define NSX_SOURCE_NAME_H

#include "base/str.h"

/* The last component of path without the first of the endings, ended by NULL, that it has; part of path. */
struct nsx_str nsx_source_name(const char *path, const char *const *endings);

#endif
