/* replay.c -- main() of a fuzz target without libFuzzer: feeds it every file of the corpus folders named, one
 * claim a file. A crash ends the test without a plan; an empty corpus is a failure. */
#define _XOPEN_SOURCE 700   /* scandir */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run;

/* The whole of path in memory that the caller frees; NULL when it cannot be read. */
static uint8_t *
load(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	long n;

	*size = 0;
	if (!f)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
		/* Exactly as long as the input, so that a sanitizer sees a read past its end. */
		data = malloc(n ? (size_t)n : 1);
		if (data && fread(data, 1, (size_t)n, f) == (size_t)n)
			*size = (size_t)n;
	}
	if (data && ferror(f)) {
		free(data);
		data = NULL;
	}
	fclose(f);
	return data;
}

static int
replay(const char *dir)
{
	struct dirent **names;
	int failed = 0, n = scandir(dir, &names, NULL, alphasort);

	if (n < 0) {
		printf("not ok %d - %s: %s\n", ++run, dir, strerror(errno));
		return 1;
	}
	for (int i = 0; i < n; i++) {
		char path[4096];
		size_t size;
		if (names[i]->d_name[0] == '.') {
			free(names[i]);
			continue;
		}
		snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
		uint8_t *data = load(path, &size);
		printf("# %s\n", names[i]->d_name);
		fflush(stdout);
		if (data)
			LLVMFuzzerTestOneInput(data, size);
		printf("%sok %d - %s\n", data ? "" : "not ", ++run, names[i]->d_name);
		failed |= !data;
		free(data);
		free(names[i]);
	}
	free(names);
	return failed;
}

int
main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	if (run == 0) {
		printf("not ok %d - the corpus holds a file\n", ++run);
		failed = 1;
	}
	printf("1..%d\n", run);
	return failed || fflush(stdout) != 0;
}
