/* title.c -- fuzz target: the texts that XLA puts into NVTX ranges, whose parts are in the text, and groups of devices,
 * which read back as they were. */
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "xla/hlotext.h"
#include "xla/places.h"
#include "xla/title.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool cond)
{
	if (!cond)
		abort();
}

/* s is empty or a part of text. */
static void
within(struct nsx_str s, struct nsx_str text)
{
	must(!s.len || (s.ptr >= text.ptr && s.len <= text.len && (size_t)(s.ptr - text.ptr) <= text.len - s.len));
}

static void
title(struct nsx_str text)
{
	struct nsx_title t;
	struct nsx_device_title d;

	nsx_title_parse(text, &t);
	within(t.label, text);
	within(t.name, text);
	within(t.prefix, text);
	within(t.module, text);
	within(t.hlo_op, text);
	must(t.program_id >= -1 && t.op_id >= -1);
	for (int launcher = 0; launcher < 2; launcher++)
		if (nsx_device_title_parse(text, launcher, &d))
			must(d.global >= 0 && d.local >= -1 && d.process >= -1 && d.partition >= -1);
}

static void
strip(struct nsx_str text, bool drop_op)
{
	struct nsx_buf b = { 0 };

	nsx_title_strip(text, drop_op, &b);
	must(b.failed || b.len <= text.len + 1);   /* early titles lack the '#' at the end */
	nsx_buf_free(&b);
}

static void
instruction(struct nsx_str text)
{
	struct nsx_buf b = { 0 };
	struct nsx_hlotext x;

	if (nsx_hlotext_read(text, &x)) {
		within(x.name, text);
		within(x.opcode, text);
		within(x.op_name, text);
		must(x.name.len && x.opcode.len);
		nsx_hlotext_unescape(x.op_name, &b);
		must(b.len <= x.op_name.len);
	}
	b.len = 0;
	if (nsx_hlotext_groups(text, &b))
		must(b.failed || !b.len || (b.ptr[0] >= '0' && b.ptr[0] <= '9'));
	nsx_buf_free(&b);
}

/* text up to the first NUL, which moves behind it. */
static struct nsx_str
part(struct nsx_str *text)
{
	const char *nul = text->len ? memchr(text->ptr, '\0', text->len) : NULL;
	struct nsx_str s = { text->ptr, nul ? (size_t)(nul - text->ptr) : text->len };

	text->ptr += s.len + !!nul;
	text->len -= s.len + !!nul;
	return s;
}

/* Common frames, the prefix of op_names, the tree of places. */
static void
places(struct nsx_str text)
{
	struct nsx_places p = { 0 };
	struct nsx_buf b = { 0 };
	struct nsx_str common = part(&text), op_name = part(&text);

	if (nsx_places_read(common, text, op_name, &p))
		for (size_t i = 0; i < p.list.n; i++)
			must(p.list.p[i].op_name.len || p.list.p[i].frames.len);
	nsx_places_free(&p);
	nsx_places_op_name(common, op_name, &b);
	nsx_buf_free(&b);
}

static void
members(struct nsx_str text)
{
	enum { MOST = 4096 };
	struct nsx_members m = { 0 }, again = { 0 };
	struct nsx_buf b = { 0 };

	if (nsx_members_read(&m, text, MOST) == NSX_OK) {
		must(m.ids.n <= MOST && m.ends.n <= m.ids.n && (!m.ends.n || m.ends.p[m.ends.n - 1] == m.ids.n));
		nsx_members_put(&m, &b);
		if (!b.failed && nsx_members_read(&again, nsx_buf_view(&b), MOST) != NSX_ERR) {
			must(again.ids.n == m.ids.n && again.ends.n == m.ends.n);
			must(!m.ids.n || !memcmp(again.ids.p, m.ids.p, m.ids.n * sizeof *m.ids.p));
			must(!m.ends.n || !memcmp(again.ends.p, m.ends.p, m.ends.n * sizeof *m.ends.p));
		}
	}
	nsx_buf_free(&b);
	nsx_members_free(&m);
	nsx_members_free(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nsx_str text = { (const char *)data, size };

	title(text);
	strip(text, false);
	strip(text, true);
	instruction(text);
	places(text);
	members(text);
	return 0;
}
