/* load.c -- reads the files of a Mosaic GPU profile: the buffer, plain or as NumPy saves it, and the names of its
 * events. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw/mosaic.h"
#include "base/inputs.h"
#include "base/num.h"

enum { CHUNK = 1 << 18 };

int
nsx_mosaic_slurp(const char *path, struct nsx_buf *out, struct nsx_err *err)
{
	bool standard = !path || strcmp(path, "-") == 0;
	const char *name = standard ? "standard input" : path;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : 1;

	if (fd >= 0)
		nsx_inputs_note(fd);

	while (got > 0) {
		if (!nsx_buf_room(out, CHUNK)) {
			nsx_err_nomem(err, name);
			break;
		}
		got = read(fd, out->ptr + out->len, CHUNK);
		if (got > 0)
			out->len += (size_t)got;
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	if (got < 0)
		nsx_err_set(err, "%s: %s", name, strerror(errno));
	if (!standard && fd >= 0)
		close(fd);
	return got == 0 ? NSX_OK : NSX_ERR;
}

/* ---- names */

/* Undo the escapes of s into out, which has enough space; returns the length, SIZE_MAX if an escape is invalid. */
static size_t
unescape(struct nsx_str s, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (c == '\\') {
			if (++i == s.len)
				return SIZE_MAX;
			switch (s.ptr[i]) {
			case 't':  c = '\t'; break;
			case 'n':  c = '\n'; break;
			case 'r':  c = '\r'; break;
			case '\\': break;
			case 'x':
				if (s.len - i < 3 || nsx_hex(s.ptr[i + 1]) < 0 || nsx_hex(s.ptr[i + 2]) < 0)
					return SIZE_MAX;
				c = (char)(nsx_hex(s.ptr[i + 1]) << 4 | nsx_hex(s.ptr[i + 2]));
				i += 2;
				break;
			default:
				return SIZE_MAX;
			}
		}
		out[n++] = c;
	}
	return n;
}

static int
add_name(struct nsx_mosaic_names *names, struct nsx_str line, const char *path, int64_t number, struct nsx_err *err)
{
	const char *tab = line.len ? memchr(line.ptr, '\t', line.len) : NULL;
	int64_t id;

	if (!tab || !nsx_get_int((struct nsx_str){ line.ptr, (size_t)(tab - line.ptr) }, &id) || id < 0 ||
	    id > INT32_MAX)
		return nsx_err_set(err, "%s:%lld: want an id below 2^31, a tab and a name", path, (long long)number);
	struct nsx_str text = { tab + 1, line.len - (size_t)(tab + 1 - line.ptr) };
	char *out = nsx_arena_alloc(&names->arena, text.len + 1);
	uint32_t *at = nsx_map_at(&names->index, (struct nsx_key){ (uint64_t)id, 0 });
	if (!out || !at || !nsx_vec_room(&names->list, 1))
		return nsx_err_nomem(err, path);
	if (*at != NSX_NONE)
		return nsx_err_set(err, "%s:%lld: a second name of id %lld", path, (long long)number, (long long)id);
	size_t n = unescape(text, out);
	if (n == SIZE_MAX)
		return nsx_err_set(err, "%s:%lld: a backslash that does not begin any of \\t \\n \\r \\\\ \\xHH", path,
		                   (long long)number);
	*at = (uint32_t)names->list.n;
	names->list.p[names->list.n++] = (struct nsx_str){ out, n };
	return NSX_OK;
}

int
nsx_mosaic_names_parse(struct nsx_mosaic_names *names, struct nsx_str text, const char *path, struct nsx_err *err)
{
	const char *p = text.ptr, *end = text.len ? text.ptr + text.len : p;

	for (int64_t number = 1; p < end; number++) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((eol ? eol : end) - p);
		if (add_name(names, (struct nsx_str){ p, n }, path, number, err) != NSX_OK)
			return NSX_ERR;
		p = eol ? eol + 1 : end;
	}
	return NSX_OK;
}

void
nsx_mosaic_names_free(struct nsx_mosaic_names *names)
{
	nsx_map_free(&names->index);
	free(names->list.p);
	nsx_arena_free(&names->arena);
	*names = (struct nsx_mosaic_names){ 0 };
}

/* ---- NumPy's files: "\x93NUMPY", version, length of the header, the header: a Python dictionary in text */

struct header {
	const char *p, *end;
	struct nsx_str descr;
	bool has_fortran, fortran, has_shape;
	uint64_t numbers;
	int dims;
};

static void
blanks(struct header *h)
{
	while (h->p < h->end && (*h->p == ' ' || *h->p == '\n' || *h->p == '\t'))
		h->p++;
}

/* Consume c if it is the next character after blanks. */
static bool
next(struct header *h, char c)
{
	blanks(h);
	if (h->p == h->end || *h->p != c)
		return false;
	h->p++;
	return true;
}

static bool
quoted(struct header *h, struct nsx_str *s)
{
	char quote = next(h, '\'') ? '\'' : next(h, '"') ? '"' : '\0';
	const char *begin = h->p;

	while (quote && h->p < h->end && *h->p != quote)
		h->p++;
	if (!quote || h->p == h->end)
		return false;
	*s = (struct nsx_str){ begin, (size_t)(h->p++ - begin) };
	return true;
}

static bool
word(struct header *h, const char *w)
{
	size_t n = strlen(w);

	blanks(h);
	if ((size_t)(h->end - h->p) < n || memcmp(h->p, w, n) != 0)
		return false;
	h->p += n;
	return true;
}

/* "(3, 4)", "(5,)", "()": their product. */
static bool
shape(struct header *h)
{
	h->numbers = 1;
	if (!next(h, '('))
		return false;
	while (!next(h, ')')) {
		const char *begin = h->p;
		int64_t v;

		while (h->p < h->end && nsx_is_digit(*h->p))
			h->p++;
		if (!nsx_get_int((struct nsx_str){ begin, (size_t)(h->p - begin) }, &v)
		    || (v && h->numbers > UINT64_MAX / 4 / (uint64_t)v))
			return false;
		h->numbers *= (uint64_t)v;
		h->dims++;
		word(h, "L");   /* NumPy under Python 2 */
		blanks(h);
		if (!next(h, ',') && (h->p == h->end || *h->p != ')'))
			return false;
	}
	return true;
}

static bool
entry(struct header *h)
{
	struct nsx_str key;

	if (!quoted(h, &key) || !next(h, ':'))
		return false;
	if (nsx_str_eq(key, NSX_STR("descr")))
		return quoted(h, &h->descr);
	if (nsx_str_eq(key, NSX_STR("fortran_order"))) {
		h->has_fortran = true;
		h->fortran = word(h, "True");
		return h->fortran || word(h, "False");
	}
	if (nsx_str_eq(key, NSX_STR("shape")))
		return h->has_shape = shape(h);
	return false;
}

static bool
dictionary(struct header *h)
{
	if (!next(h, '{'))
		return false;
	while (!next(h, '}'))
		if (!entry(h) || (!next(h, ',') && (h->p == h->end || *h->p != '}')))
			return false;
	return h->descr.ptr && h->has_fortran && h->has_shape;
}

int
nsx_mosaic_npy(struct nsx_str *bytes, const char *path, struct nsx_err *err)
{
	static const char magic[] = "\x93NUMPY";
	enum { MAGIC = sizeof magic - 1 };
	const unsigned char *p = (const unsigned char *)bytes->ptr;
	size_t at = MAGIC + 4, len;

	if (bytes->len < MAGIC || memcmp(p, magic, MAGIC) != 0)
		return NSX_OK;
	if (bytes->len < at + 2)
		return nsx_err_set(err, "%s: a NumPy file cut short", path);
	if (p[MAGIC] < 1 || p[MAGIC] > 3)
		return nsx_err_set(err, "%s: a NumPy file of version %d, want 1 to 3", path, p[MAGIC]);
	len = p[MAGIC + 2] | (size_t)p[MAGIC + 3] << 8;
	if (p[MAGIC] > 1) {
		len |= (size_t)p[MAGIC + 4] << 16 | (size_t)p[MAGIC + 5] << 24;
		at += 2;
	}
	if (len > bytes->len - at)
		return nsx_err_set(err, "%s: a NumPy file cut short", path);
	struct header h = { .p = bytes->ptr + at, .end = bytes->ptr + at + len };
	if (!dictionary(&h))
		return nsx_err_set(err, "%s: the header of the NumPy file cannot be parsed", path);
	if (!nsx_str_eq(h.descr, NSX_STR("<u4")) && !nsx_str_eq(h.descr, NSX_STR("<i4")))
		return nsx_err_set(err, "%s: a NumPy file of %.*s, want <u4: 32-bit numbers, little-endian", path,
		                   (int)(h.descr.len > 16 ? 16 : h.descr.len), h.descr.ptr);
	if (h.fortran && h.dims > 1)
		return nsx_err_set(err, "%s: a NumPy file in Fortran order, want C order", path);
	at += len;
	if (h.numbers * 4 != bytes->len - at)
		return nsx_err_set(err, "%s: a NumPy file of %llu numbers has %zu bytes of data", path,
		                   (unsigned long long)h.numbers,
		                   bytes->len - at);
	*bytes = (struct nsx_str){ bytes->ptr + at, bytes->len - at };
	return NSX_OK;
}
