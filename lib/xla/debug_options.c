/* debug_options.c -- see debug_options.h. */
#include "xla/debug_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path of the options: the dump's up to the name of its module; empty if that is not in it. */
static struct nsx_buf
path_of(const char *dump, struct nsx_str module)
{
	const char *base = strrchr(dump, '/'), *dot = strchr(base ? base : dump, '.');
	struct nsx_buf out = { 0 };

	if (!dot || strncmp(dot + 1, module.ptr, module.len) != 0 || dot[1 + module.len] != '.')
		return out;
	nsx_buf_add(&out, dump, (size_t)(dot - dump) + 1 + module.len);
	nsx_buf_add(&out, ".debug_options", sizeof ".debug_options");
	return out;
}

/* A line, without its end. last: the option of which lines within brackets are; NSX_NONE: one that is left out. False
 * when out of memory. */
static bool
take_line(struct nsx_debug_options *o, struct nsx_str line, uint32_t *last)
{
	size_t n = 0;

	while (n < line.len && line.ptr[n] != ':' && line.ptr[n] != ' ' && line.ptr[n] != '{' && line.ptr[n] != '}')
		n++;
	struct nsx_str name = { line.ptr, n }, value = { line.ptr + n, line.len - n };

	while (value.len && (*value.ptr == ':' || *value.ptr == ' ')) {
		value.ptr++;
		value.len--;
	}
	if (n) {
		bool kept = !nsx_str_starts(name, "xla_dump_");

		*last = kept ? nsx_intern(&o->names, name) : (uint32_t)NSX_NONE;
		if (kept && (*last == NSX_NONE || !nsx_vec_reach(&o->values, *last, &(struct nsx_buf){ 0 })))
			return false;
	}
	if (*last == NSX_NONE || !value.len)
		return true;
	struct nsx_buf *to = &o->values.p[*last];

	if (to->len)
		nsx_buf_char(to, ' ');
	nsx_buf_str(to, value);
	return !to->failed;
}

int
nsx_debug_options_read(const char *path, struct nsx_str module, struct nsx_debug_options *o, struct nsx_err *err)
{
	struct nsx_buf name = path_of(path, module);
	char *line = NULL;
	uint32_t last = NSX_NONE;
	size_t room = 0;
	ssize_t n;
	bool good = true;

	*o = (struct nsx_debug_options){ .known = false };
	FILE *f = name.len && !name.failed ? fopen(name.ptr, "r") : NULL;
	int why = errno;

	if (name.failed || !name.len || (!f && why == ENOENT)) {
		good = !name.failed;
		nsx_buf_free(&name);
		return good ? NSX_OK : nsx_err_nomem(err, path);
	}
	while (f && good && (n = getline(&line, &room, f)) >= 0) {
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			n--;
		good = take_line(o, (struct nsx_str){ line, (size_t)n }, &last);
	}
	o->known = f != NULL;
	if (f && ferror(f)) {
		why = errno;
		fclose(f);
		f = NULL;
	}
	int rc = !f ? nsx_err_set(err, "%s: %s", name.ptr, strerror(why)) : good ? NSX_OK : nsx_err_nomem(err, path);

	if (f)
		fclose(f);
	free(line);
	nsx_buf_free(&name);
	return rc;
}

struct nsx_str
nsx_debug_option(const struct nsx_debug_options *o, struct nsx_str name)
{
	uint32_t at = nsx_intern_find(&o->names, name);

	return at != NSX_NONE ? nsx_buf_view(&o->values.p[at]) : (struct nsx_str){ "", 0 };
}

void
nsx_debug_options_free(struct nsx_debug_options *o)
{
	for (size_t i = 0; i < o->values.n; i++)
		nsx_buf_free(&o->values.p[i]);
	free(o->values.p);
	nsx_intern_free(&o->names);
	*o = (struct nsx_debug_options){ .known = false };
}
