/* err.c -- statuses, and the one message that says why something failed. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"

int
nsx_err_set(struct nsx_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->msg[0])
		return NSX_ERR;
	va_start(ap, fmt);
	int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof err->msg)
		memcpy(err->msg + sizeof err->msg - 4, "...", 4);
	/* Names from profiles may hold any bytes; a message must be one printable line. */
	nsx_one_line(err->msg, strlen(err->msg));
	return NSX_ERR;
}

int
nsx_err_nomem(struct nsx_err *err, const char *path)
{
	const char *limit = nsx_memory_limit();

	return nsx_err_set(err, "%s%sout of memory%s%s", path ? path : "", path ? ": " : "", limit
	                   ? ": more than --max-memory=" : "", limit ? limit : "");
}

int
nsx_err_overflow(struct nsx_err *err, const char *path)
{
	return nsx_err_set(err, "%s%sthe sum of times exceeds 64 bits", path ? path : "", path ? ": " : "");
}
