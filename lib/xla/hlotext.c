/* hlotext.c -- reads parts of HLO text: enough to identify an instruction, not a parser of the language. */
#include "xla/hlotext.h"

#include <string.h>

#include "base/members.h"
#include "base/num.h"

enum { DEVICES_MAX = 1 << 20, DIMS_MAX = 32 };

static struct nsx_str
from(struct nsx_str s, size_t i)
{
	return (struct nsx_str){ s.ptr + i, s.len - i };
}

/* The position of the bracket that closes the one at s[i]; s.len if there is none. Brackets in strings do not count. */
static size_t
closing(struct nsx_str s, size_t i)
{
	size_t deep = 0;
	bool quoted = false;

	for (; i < s.len; i++) {
		char c = s.ptr[i];
		if (quoted) {
			i += c == '\\';
			quoted = c != '"' || i >= s.len;
		} else if (c == '"') {
			quoted = true;
		} else if (c == '(' || c == '{' || c == '[') {
			deep++;
		} else if ((c == ')' || c == '}' || c == ']') && --deep == 0) {
			return i;
		}
	}
	return s.len;
}

static bool
is_name(char c)
{
	return nsx_is_word(c) || c == '-' || c == '.';
}

/* The position after the shape at the start of s, s.len if it has no end: `(f32[2]{0}, s32[])`,
 * `bf16[8,4]{1,0:T(8)}`. */
static size_t
shape_end(struct nsx_str s)
{
	size_t i = 0;

	while (i < s.len && s.ptr[i] != ' ') {
		if (s.ptr[i] == '(' || s.ptr[i] == '[' || s.ptr[i] == '{')
			i = closing(s, i);
		i += i < s.len;
	}
	return i;
}

/* The text between the braces of metadata={...}, which comes after the operands. *whole: false if the text may have
 * been truncated before it. */
static struct nsx_str
metadata(struct nsx_str s, bool *whole)
{
	static const char key[] = "metadata={";

	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '{' || s.ptr[i] == '(' || s.ptr[i] == '[') {
			i = closing(s, i);
		} else if (nsx_str_starts(from(s, i), key)) {
			size_t open = i + sizeof key - 2, end = closing(s, open);
			if (end == s.len)
				break;
			*whole = true;
			return (struct nsx_str){ s.ptr + open + 1, end - open - 1 };
		}
	}
	return (struct nsx_str){ "", 0 };
}

/* The string of key="..." among the fields of metadata. */
static struct nsx_str
quoted(struct nsx_str s, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < s.len; i++) {
		bool here = (!i || s.ptr[i - 1] == ' ') && nsx_str_starts(from(s, i), key) && s.len - i > n &&
		    s.ptr[i + n] == '"';
		size_t open = here ? i + n : i;
		if (s.ptr[open] != '"')
			continue;
		size_t end = open + 1;
		while (end < s.len && s.ptr[end] != '"')
			end += s.ptr[end] == '\\' ? 2 : 1;
		if (end >= s.len)
			break;
		if (here)
			return (struct nsx_str){ s.ptr + open + 1, end - open - 1 };
		i = end;
	}
	return (struct nsx_str){ "", 0 };
}

bool
nsx_hlotext_read(struct nsx_str text, struct nsx_hlotext *out)
{
	size_t i = 0, n;

	*out = (struct nsx_hlotext){ .whole = true };
	for (size_t k = 0; k + 12 <= text.len; k++)
		if (memcmp(text.ptr + k, "\n[truncated]", 12) == 0)
			out->whole = false;
	while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\n'))
		i++;
	if (nsx_str_starts(from(text, i), "ROOT "))
		i += 5;
	if (i < text.len && text.ptr[i] == '%')
		i++;
	for (n = i; n < text.len && is_name(text.ptr[n]); n++)
		;
	out->name = (struct nsx_str){ text.ptr + i, n - i };
	if (n == i || !nsx_str_starts(from(text, n), " = "))
		return false;
	i = n + 3;
	n = i + shape_end(from(text, i));
	if (n == i || n >= text.len)
		return false;
	i = n + 1;
	for (n = i; n < text.len && is_name(text.ptr[n]); n++)
		;
	if (n == i || n == text.len || text.ptr[n] != '(')
		return false;
	out->opcode = (struct nsx_str){ text.ptr + i, n - i };
	out->op_name = quoted(metadata(from(text, n), &out->whole), "op_name=");
	return true;
}

static int
octal(struct nsx_str s, size_t i)
{
	int v = 0;

	for (size_t k = i; k < i + 3; k++) {
		if (k >= s.len || s.ptr[k] < '0' || s.ptr[k] > '7')
			return -1;
		v = v * 8 + (s.ptr[k] - '0');
	}
	return v < 256 ? v : -1;
}

void
nsx_hlotext_unescape(struct nsx_str s, struct nsx_buf *out)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] != '\\' || i + 1 == s.len) {
			nsx_buf_char(out, s.ptr[i]);
			continue;
		}
		int v = octal(s, i + 1);
		char c = s.ptr[++i];
		nsx_buf_char(out, v >= 0 ? (char)v : c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
		i += v >= 0 ? 2 : 0;
	}
}

/* ---- replica groups */

/* Numbers separated by commas between two brackets; *at moves behind the second. Returns how many, -1 on another
 * syntax. */
static int
numbers(struct nsx_str s, size_t *at, char open, char close, int64_t *list, int max)
{
	size_t i = *at;
	int n = 0;

	if (i >= s.len || s.ptr[i] != open)
		return -1;
	for (i++;; i++) {
		int64_t v = 0;
		size_t digits = i;
		while (i < s.len && nsx_is_digit(s.ptr[i]) && v <= DEVICES_MAX)
			v = v * 10 + (s.ptr[i++] - '0');
		if (i == digits || n == max || v > DEVICES_MAX || i >= s.len || (s.ptr[i] != ',' && s.ptr[i] != close))
			return -1;
		list[n++] = v;
		if (s.ptr[i] == close)
			break;
	}
	*at = i + 1;
	return n;
}

/* The digits from s[*at] on, as an id; *at moves to the last of them. NSX_EOF: too large. */
static int
add_id(struct nsx_str s, size_t *at, struct nsx_members *out)
{
	size_t digits = 1;
	int64_t id;

	while (*at + digits < s.len && nsx_is_digit(s.ptr[*at + digits]))
		digits++;
	if (!nsx_get_int((struct nsx_str){ s.ptr + *at, digits }, &id))
		return NSX_EOF;
	*at += digits - 1;
	return nsx_vec_push(&out->ids, id) ? NSX_OK : NSX_ERR;
}

static int
end_group(struct nsx_members *out)
{
	return nsx_vec_push(&out->ends, out->ids.n) ? NSX_OK : NSX_ERR;
}

/* `{0,1},{2,3}` and the brace that closes the list. NSX_OK, NSX_EOF if it is something else, NSX_ERR when out of
 * memory; here and below. */
static int
listed(struct nsx_str s, struct nsx_members *out)
{
	bool inside = false, digit = false, comma = true;
	size_t groups = 0, i;
	int rc = NSX_OK;

	for (i = 1; i < s.len && rc == NSX_OK; i++) {
		char c = s.ptr[i];
		if (c == '{' && !inside && comma) {
			inside = true;
			comma = digit = false;
			groups++;
		} else if (inside && !digit && nsx_is_digit(c)) {
			rc = add_id(s, &i, out);
			digit = true;
		} else if (inside && c == ',' && digit) {
			digit = false;
		} else if (inside && c == '}' && digit) {
			rc = end_group(out);
			inside = false;
		} else if (inside && c == '}' && groups == 1 && !out->ids.n) {
			inside = false;
		} else if (c == ',' && !inside && !comma) {
			comma = true;
		} else if (c == '}' && !inside && (!comma || !groups)) {
			break;
		} else if (c != ' ') {
			return NSX_EOF;
		}
	}
	return rc == NSX_OK && i + 1 != s.len ? NSX_EOF : rc;
}

/* `[GROUPS,SIZE]<=[DIMS]T(PERM)`: the numbers 0, 1, ... as an array of those dimensions, transposed, split into
 * rows. */
static int
iota(struct nsx_str s, struct nsx_members *out)
{
	int64_t cut[2], dims[DIMS_MAX], perm[DIMS_MAX], stride[DIMS_MAX], index[DIMS_MAX] = { 0 }, total = 1;
	bool used[DIMS_MAX] = { false };
	size_t at = 0;
	int n, np;

	if (numbers(s, &at, '[', ']', cut, 2) != 2 || !nsx_str_starts(from(s, at), "<="))
		return NSX_EOF;
	at += 2;
	if ((n = numbers(s, &at, '[', ']', dims, DIMS_MAX)) < 1)
		return NSX_EOF;
	for (int d = n - 1; d >= 0; d--) {
		stride[d] = total;
		perm[d] = d;
		if (dims[d] < 1 || total > DEVICES_MAX / dims[d])
			return NSX_EOF;
		total *= dims[d];
	}
	if (at < s.len && s.ptr[at] == 'T') {
		at++;
		np = numbers(s, &at, '(', ')', perm, DIMS_MAX);
		if (np != n)
			return NSX_EOF;
	}
	for (int d = 0; d < n; d++) {
		if (perm[d] >= n || used[perm[d]])
			return NSX_EOF;
		used[perm[d]] = true;
	}
	if (at != s.len || cut[0] < 1 || cut[1] < 1 || cut[0] * cut[1] != total)
		return NSX_EOF;
	for (int64_t k = 0; k < total; k++) {
		int64_t v = 0;
		for (int d = 0; d < n; d++)
			v += index[d] * stride[perm[d]];
		if (!nsx_vec_push(&out->ids, v) || ((k + 1) % cut[1] == 0 && end_group(out) != NSX_OK))
			return NSX_ERR;
		for (int d = n - 1; d >= 0 && ++index[d] == dims[perm[d]]; d--)
			index[d] = 0;
	}
	return NSX_OK;
}

bool
nsx_hlotext_groups(struct nsx_str text, struct nsx_buf *out)
{
	struct nsx_members groups = { 0 };
	int rc;

	while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\n'))
		text.len--;
	if (!text.len)
		return true;
	rc = text.ptr[0] == '{' ? listed(text, &groups) : text.ptr[0] == '[' ? iota(text, &groups) : NSX_EOF;
	if (rc == NSX_OK)
		nsx_members_put(&groups, out);
	nsx_members_free(&groups);
	out->failed |= rc == NSX_ERR;
	return rc != NSX_EOF;
}
