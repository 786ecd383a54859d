/* database_library.c -- see database_library.h. */
#include "table/database_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The name under which programs are linked with version 3. */
static const char library[] = "libsqlite3.so.0";

static const struct function { const char *name; size_t at; } functions[] = {
#define X(name) { "sqlite3_" #name, offsetof(struct nsx_sqlite, name) },
	NSX_SQLITE_FUNCTIONS(X)
#undef X
};

static int
failed(struct nsx_err *err)
{
	const char *why = dlerror();

	return nsx_err_set(err, "no database can be written: %s", why ? why : library);
}

int
nsx_sqlite_load(struct nsx_sqlite *l, struct nsx_err *err)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return failed(err);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found = dlsym(handle, functions[i].name);

		if (!found)
			return failed(err);
		/* POSIX has pointers to functions in pointers to void. */
		memcpy((char *)l + functions[i].at, &found, sizeof found);
	}
	return NSX_OK;
}
