/* each_dump.c -- see each_dump.h. */
#include "table/each_dump.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "source/trace.h"
#include "xla/hlo.h"
#include "xplane/xplane.h"

int64_t
nsx_dump_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
}

/* The programs of a profile. NSX_EOF: the file is none. */
static int
each_of_profile(const char *path, const struct nsx_each_dump *each, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_trace t;
	int rc = nsx_xplane_programs(path, &t, err);

	for (uint32_t i = 0; rc == NSX_OK && i < t.nprograms; i++)
		rc = each->program(each->state, t.programs[i].bytes, path, err);
	if (rc == NSX_OK && !t.nprograms)
		nsx_diag_add(diags, NSX_WARNING, path, 1, "no program with its HLO in this profile");
	if (rc != NSX_EOF)
		nsx_trace_free(&t);
	return rc;
}

static int
each_of_file(const char *path, const struct nsx_each_dump *each, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_err why = { "" };
	struct stat st;

	if (each->dump(each->state, path, false, &why) == NSX_OK)
		return NSX_OK;
	int rc = each->program && stat(path, &st) == 0 && S_ISREG(st.st_mode) ? each_of_profile(path, each, diags, err)
	                                                                      : NSX_EOF;
	return rc == NSX_EOF ? nsx_err_set(err, "%s", why.msg) : rc;
}

static int
each_of_folder(const char *path, const struct nsx_each_dump *each, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_dump_dir *d = nsx_dump_dir_open(path, err);
	const char *dump;
	size_t next = 0;
	int rc = d ? NSX_OK : NSX_ERR;

	while (d && (dump = nsx_dump_dir_next(d, &next)))
		nsx_progress_expect(nsx_dump_size(dump));
	next = 0;
	while (rc == NSX_OK && (dump = nsx_dump_dir_next(d, &next))) {
		rc = each->dump(each->state, dump, true, err);
		nsx_progress_done((uint64_t)nsx_dump_size(dump));
	}
	if (d && next == 0)
		nsx_diag_add(diags, NSX_WARNING, path, 1, "no dump of an optimized program in this folder");
	nsx_dump_dir_free(d);
	return rc;
}

int
nsx_each_dump(const char *path, const struct nsx_each_dump *each, struct nsx_diags *diags, struct nsx_err *err)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return each_of_file("/dev/stdin", each, diags, err);
	if (stat(path, &st) != 0)
		return nsx_err_set(err, "%s: %s", path, strerror(errno));
	return (S_ISDIR(st.st_mode) ? each_of_folder : each_of_file)(path, each, diags, err);
}
