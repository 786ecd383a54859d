/* title.c -- the grammar of XLA's NVTX titles. Keys are found by name, never by position. */
#define _GNU_SOURCE   /* memrchr */
#include "xla/title.h"

#include <string.h>

#include "base/num.h"

/* A title is LABEL:#KEY=VALUE,KEY=VALUE,...#; versions of early 2024 omit the last '#'. */
struct fields { struct nsx_str rest; };
struct field { struct nsx_str key, value, whole; };

static struct nsx_str
until(struct nsx_str s, size_t n)
{
	return (struct nsx_str){ s.ptr, n };
}

static struct nsx_str
after(struct nsx_str s, size_t n)
{
	return (struct nsx_str){ s.ptr + n, s.len - n };
}

/* The position of the last (or first) occurrence of needle in s; s.len if there is none. */
static size_t
find_last(struct nsx_str s, const char *needle)
{
	size_t n = strlen(needle), end = s.len;
	const char *p;

	while (end && (p = memrchr(s.ptr, *needle, end))) {
		end = (size_t)(p - s.ptr);
		if (s.len - end >= n && memcmp(p, needle, n) == 0)
			return end;
	}
	return s.len;
}

/* The number of characters at the beginning of s that form a key. */
static size_t
key_length(struct nsx_str s)
{
	size_t n = 0;

	while (n < s.len && ((s.ptr[n] >= 'a' && s.ptr[n] <= 'z') || nsx_is_digit(s.ptr[n]) ||
	                     s.ptr[n] == '_'))
		n++;
	return n;
}

/* op_names contain commas and '='; they end at the last of the keys that may follow one. */
static size_t
end_of_wild(struct nsx_str s)
{
	static const char *const next[] = { ",hlo_op=", ",hlo_module=", ",module=", ",unique_hlo_op_id=", ",program_id="
	                                    };
	size_t i = s.len;

	for (size_t k = 0; k < sizeof next / sizeof *next && i == s.len; k++)
		i = find_last(s, next[k]);
	return i;
}

static bool
next_field(struct fields *f, struct field *out)
{
	struct nsx_str s = f->rest;

	if (!s.len)
		return false;
	size_t k = key_length(s), end;
	out->key = until(s, k);
	if (!k || k == s.len || s.ptr[k] != '=') {
		/* Not a key: skip to the next comma. */
		const char *comma = memchr(s.ptr, ',', s.len);
		end = comma ? (size_t)(comma - s.ptr) : s.len;
		out->key = until(s, 0);
		out->value = until(s, end);
	} else {
		struct nsx_str value = after(s, k + 1);
		const char *comma = memchr(value.ptr, ',', value.len);
		size_t n = comma ? (size_t)(comma - value.ptr) : value.len;
		if (nsx_str_eq(out->key, NSX_STR("name")) || nsx_str_eq(out->key, NSX_STR("prefix")))
			n = end_of_wild(value);
		out->value = until(value, n);
		end = k + 1 + n;
	}
	out->whole = until(s, end);
	f->rest = end < s.len ? after(s, end + 1) : after(s, s.len);
	return true;
}

/* Split text into the label and the part between the '#' marks; false if it is not a title. */
static bool
split(struct nsx_str text, struct nsx_str *label, struct nsx_str *body, bool *truncated)
{
	static const char cut[] = "\n[truncated]";
	size_t t = find_last(text, cut);

	*label = text;
	*body = until(text, 0);
	*truncated = t < text.len && text.len - t <= sizeof cut;
	if (*truncated)
		text = until(text, t);
	/* An empty text may have a null pointer. */
	const char *hash = text.len ? memchr(text.ptr, '#', text.len) : NULL;
	if (!hash || hash == text.ptr || hash[-1] != ':')
		return false;
	size_t at = (size_t)(hash - text.ptr);
	*label = until(text, at - 1);
	*body = after(text, at + 1);
	if (body->len && body->ptr[body->len - 1] == '#')
		body->len--;
	else
		body->len = find_last(*body, "#");
	return true;
}

static int64_t
whole_number(struct nsx_str s)
{
	int64_t v;

	return nsx_get_int(s, &v) && v >= 0 ? v : -1;
}

void
nsx_title_parse(struct nsx_str text, struct nsx_title *t)
{
	struct fields fields;
	struct field f;

	*t = (struct nsx_title){ .program_id = -1, .op_id = -1 };
	split(text, &t->label, &fields.rest, &t->truncated);
	while (next_field(&fields, &f)) {
		if (nsx_str_eq(f.key, NSX_STR("name")))
			t->name = f.value;
		else if (nsx_str_eq(f.key, NSX_STR("prefix")))
			t->prefix = f.value;
		else if (nsx_str_eq(f.key, NSX_STR("hlo_module")) || nsx_str_eq(f.key, NSX_STR("module")))
			t->module = f.value;
		else if (nsx_str_eq(f.key, NSX_STR("hlo_op")))
			t->hlo_op = f.value;
		else if (nsx_str_eq(f.key, NSX_STR("program_id")))
			t->program_id = whole_number(f.value);
		else if (nsx_str_eq(f.key, NSX_STR("unique_hlo_op_id")))
			t->op_id = whole_number(f.value);
	}
	t->fusion = nsx_str_starts(t->hlo_op, "wrapped_") || find_last(t->hlo_op, "fusion") < t->hlo_op.len;
	if (nsx_str_eq(t->label, NSX_STR("XlaModule")))
		t->kind = NSX_TITLE_MODULE;
	else if (nsx_str_eq(t->label, NSX_STR("Thunk")))
		t->kind = NSX_TITLE_THUNK;
	else if (nsx_str_eq(t->label, NSX_STR("XlaCompile")))
		t->kind = NSX_TITLE_COMPILE;
	else if (nsx_str_eq(t->label, NSX_STR("XlaCompileBackend")))
		t->kind = NSX_TITLE_BACKEND;
	else if (nsx_str_eq(t->label, NSX_STR("XlaAutotunerMeasurement")) ||
	         nsx_str_eq(t->label, NSX_STR("XlaAutotunerCompilation")))
		t->kind = NSX_TITLE_AUTOTUNER;
}

void
nsx_title_strip(struct nsx_str text, bool drop_op, struct nsx_buf *out)
{
	struct nsx_str label;
	struct fields fields;
	struct field f;
	bool truncated, any = false;

	if (!split(text, &label, &fields.rest, &truncated)) {
		nsx_buf_str(out, text);
		return;
	}
	nsx_buf_str(out, label);
	while (next_field(&fields, &f)) {
		if (!f.whole.len || nsx_str_eq(f.key, NSX_STR("module")) || nsx_str_eq(f.key, NSX_STR("program_id")) ||
		    (drop_op && nsx_str_eq(f.key, NSX_STR("hlo_op"))))
			continue;
		nsx_buf_c(out, any ? "," : ":#");
		nsx_buf_str(out, f.whole);
		any = true;
	}
	if (any)
		nsx_buf_char(out, '#');
}

bool
nsx_device_title_parse(struct nsx_str text, bool launcher, struct nsx_device_title *d)
{
	struct nsx_str label;
	struct fields fields;
	struct field f;
	bool truncated;

	*d = (struct nsx_device_title){ -1, -1, -1, -1 };
	if (!split(text, &label, &fields.rest, &truncated) || !nsx_str_eq(label, launcher ? NSX_STR("XlaLauncher")
	    : NSX_STR("Xla")))
		return false;
	while (next_field(&fields, &f)) {
		if (nsx_str_eq(f.key, NSX_STR("global")))
			d->global = whole_number(f.value);
		else if (nsx_str_eq(f.key, NSX_STR("local")))
			d->local = whole_number(f.value);
		else if (nsx_str_eq(f.key, NSX_STR("process")))
			d->process = whole_number(f.value);
		else if (nsx_str_eq(f.key, NSX_STR("partition")) || nsx_str_eq(f.key, NSX_STR("slice")))
			d->partition = whole_number(f.value);
	}
	return d->global >= 0;
}
