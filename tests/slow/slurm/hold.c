/* hold.c -- preloaded, stops a tool when its output is complete and has only to get its name: the moment to kill it at.
 * Where the folder HOLD has a file of the output's name, it gets NAME.held with the process's id, and the process waits for a signal. */
#define _GNU_SOURCE   /* RTLD_NEXT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
hold(const char *path)
{
	const char *slash = strrchr(path, '/'), *folder = getenv("HOLD");
	char name[4096];

	if (!folder || snprintf(name, sizeof name - 5, "%s/%s", folder, slash ? slash + 1 : path) >= (int)sizeof name - 5
	    || access(name, F_OK) != 0)
		return;
	strcat(name, ".held");
	FILE *f = fopen(name, "w");
	if (f) {
		fprintf(f, "%ld\n", (long)getpid());
		fclose(f);
	}
	for (;;)
		pause();
}

int
rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *);
	void *found = dlsym(RTLD_NEXT, "rename");

	memcpy(&real, &found, sizeof real);
	hold(to);
	return real(from, to);
}
