/* source.h -- which reader a file is for: by its bytes, never by its name. */
#ifndef NSX_SOURCE_SOURCE_H
#define NSX_SOURCE_SOURCE_H

#include "base/err.h"
#include "base/str.h"

enum nsx_source { NSX_SOURCE_NSYS, NSX_SOURCE_KINETO, NSX_SOURCE_XSPACE, NSX_SOURCE_GZIP, NSX_SOURCE_NONE };

enum { NSX_SOURCE_BYTES = 4096 };   /* as many first bytes of a file, or all, decide */

/* Of a file that begins with these bytes: NSYS is SQLite or zstd, KINETO is JSON, XSPACE protobuf; of GZIP what is in
 * it decides. */
enum nsx_source nsx_source_of(struct nsx_str first);

/* Why a file that begins so cannot be read: NSX_ERR. */
int nsx_source_refuse(const char *path, struct nsx_str first, struct nsx_err *err);

#endif
