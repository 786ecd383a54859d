/* debug_options.c -- see debug_options.h. */
#include "xla/debug_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 1 << 16 };

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

static struct nsx_debug_option *
find(const struct nsx_debug_options *o, struct nsx_str name)
{
	for (size_t i = 0; i < o->list.n; i++)
		if (nsx_str_eq(o->list.p[i].name, name))
			return &o->list.p[i];
	return NULL;
}

/* Append a value. False when out of memory. */
static bool
append(struct nsx_debug_options *o, struct nsx_debug_option *to, struct nsx_str value)
{
	struct nsx_buf b = { 0 };

	nsx_buf_str(&b, to->value);
	if (to->value.len)
		nsx_buf_char(&b, ' ');
	nsx_buf_str(&b, value);
	to->value = b.failed ? (struct nsx_str){ NULL, 0 } : nsx_arena_str(&o->arena, nsx_buf_view(&b));
	nsx_buf_free(&b);
	return to->value.ptr != NULL;
}

/* A line, without its end. False when out of memory. */
static bool
take_line(struct nsx_debug_options *o, struct nsx_str line)
{
	size_t n = 0;

	while (n < line.len && line.ptr[n] != ':' && line.ptr[n] != ' ' && line.ptr[n] != '{' && line.ptr[n] != '}')
		n++;
	struct nsx_str name = { line.ptr, n }, value = { line.ptr + n, line.len - n };

	while (value.len && (*value.ptr == ':' || *value.ptr == ' ')) {
		value.ptr++;
		value.len--;
	}
	/* Within brackets: of the option before. */
	if (!n)
		return !value.len || !o->list.n || append(o, &o->list.p[o->list.n - 1], value);
	if (nsx_str_starts(name, "xla_dump_"))
		return true;
	struct nsx_debug_option *known = find(o, name), new = { nsx_arena_str(&o->arena, name), { "", 0 } };

	if (known)
		return append(o, known, value);
	return new.name.ptr && nsx_vec_push(&o->list, new) && append(o, &o->list.p[o->list.n - 1], value);
}

int
nsx_debug_options_read(const char *path, struct nsx_str module, struct nsx_debug_options *o, struct nsx_err *err)
{
	struct nsx_buf name = path_of(path, module);
	char *line = NULL;
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
	while (f && good && o->list.n < OPTIONS_MAX && (n = getline(&line, &room, f)) >= 0) {
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			n--;
		good = take_line(o, (struct nsx_str){ line, (size_t)n });
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
	const struct nsx_debug_option *at = find(o, name);

	return at ? at->value : (struct nsx_str){ "", 0 };
}

void
nsx_debug_options_free(struct nsx_debug_options *o)
{
	free(o->list.p);
	nsx_arena_free(&o->arena);
	*o = (struct nsx_debug_options){ .known = false };
}
