/* nccl.c -- the communication of kernels, from the arguments that PyTorch gives its profiler: the collective, its size,
 * and the process group. A group is known by its name and ranks, the same in the trace of each rank. The list of ranks
 * in an event is cut after about 30; the whole one is in distributedInfo, which may be the last member of the file. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "kineto/reading.h"

static const struct { struct nsx_str name; const char *kind; } kinds[] = {
	{ { "allreduce", 9 }, "all-reduce" }, { { "barrier", 7 }, "all-reduce" },
	{ { "allgather", 9 }, "all-gather" }, { { "allgatherintotensor", 19 }, "all-gather" },
	{ { "reducescatter", 13 }, "reduce-scatter" }, { { "reducescattertensor", 19 }, "reduce-scatter" },
	{ { "broadcast", 9 }, "broadcast" }, { { "reduce", 6 }, "reduce" },
	{ { "alltoall", 8 }, "all-to-all" }, { { "alltoallv", 9 }, "all-to-all" },
	{ { "gather", 6 }, "gather" }, { { "scatter", 7 }, "scatter" },
	{ { "send", 4 }, "send-recv" }, { { "recv", 4 }, "send-recv" },
};

static bool
drop_end(struct nsx_str *s, const char *end)
{
	size_t n = strlen(end);
	bool has = s->len > n && memcmp(s->ptr + s->len - n, end, n) == 0;

	s->len -= has ? n : 0;
	return has;
}

/* NULL: not known. *many: several calls in one. */
static const char *
kind_of(struct nsx_str name, bool *many)
{
	char text[32];
	size_t n = 0;

	*many = drop_end(&name, "_coalesced");
	drop_end(&name, "_base");
	drop_end(&name, "_oop");
	for (size_t i = 0; i < name.len; i++) {
		if (name.ptr[i] == '_')
			continue;
		if (n == sizeof text)
			return NULL;
		text[n++] = name.ptr[i];
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (nsx_str_eq(kinds[i].name, (struct nsx_str){ text, n }))
			return kinds[i].kind;
	return NULL;
}

/* Bytes of an element; 0: not known. */
static int64_t
width_of(struct nsx_str type)
{
	static const struct { const char *type; int64_t width; } widths[] = {
		{ "Byte", 1 }, { "Char", 1 }, { "Bool", 1 }, { "Short", 2 }, { "Half", 2 }, { "BFloat16", 2 },
		{ "Int", 4 }, { "Float", 4 }, { "Long", 8 }, { "Double", 8 },
	};

	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		if (nsx_str_eq(type, nsx_str_c(widths[i].type)))
			return widths[i].width;
	return nsx_str_starts(type, "Float8_") ? 1 : 0;
}

static int64_t
number(struct nsx_str s)
{
	int64_t v;

	return s.len && nsx_get_int(s, &v) ? v : -1;
}

bool
nsx_kineto_comm_of(struct nsx_kineto *r, const struct nsx_kineto_event *e, uint32_t *at)
{
	struct nsx_kineto_comm c;
	bool many;

	memset(&c, 0, sizeof c);   /* the padding too: rows are compared by bytes */
	c.kind = kind_of(e->args[KA_COLLECTIVE], &many);
	c.calls = many ? -1 : 1;
	c.group = number(e->args[KA_GROUP_SIZE]);
	c.group = c.group > 0 ? c.group : 0;
	c.bytes = c.peer = -1;
	c.of = NSX_NONE;
	r->unknown_kinds += !c.kind;
	int64_t width = width_of(e->args[KA_DTYPE]),
	    n = number(e->args[c.kind && strcmp(c.kind, "reduce-scatter") == 0 ? KA_OUT : KA_IN]);
	r->unknown_widths += !width && e->args[KA_DTYPE].len > 0;
	if (width && n >= 0 && __builtin_mul_overflow(width, n, &c.bytes))
		c.bytes = -1;
	if (c.kind && strcmp(c.kind, "send-recv") == 0) {
		bool send = nsx_str_eq(e->args[KA_COLLECTIVE], NSX_STR("send"));

		c.peer = number(e->args[send ? KA_DESTINATION : KA_SOURCE]);
		c.group = 2;
	}
	if (e->args[KA_GROUP].len) {
		r->text.len = 0;
		nsx_buf_str(&r->text, e->args[KA_GROUP]);
		nsx_buf_char(&r->text, '\0');
		nsx_buf_str(&r->text, e->args[KA_RANKS]);
		nsx_buf_char(&r->text, '\0');
		nsx_buf_str(&r->text, e->args[KA_GROUP_SIZE]);
		nsx_buf_char(&r->text, '\0');
		nsx_buf_str(&r->text, e->args[KA_CALLED]);
		if (r->text.failed || (c.of = nsx_intern(&r->comm_groups, nsx_buf_view(&r->text))) == NSX_NONE)
			return false;
	}
	*at = nsx_intern(&r->comm_rows, (struct nsx_str){ (const char *)&c, sizeof c });
	return *at != NSX_NONE;
}

/* ---- groups, when all is read */

/* A group: its number in the job, the rank of this process in it, and what it is called. */
struct group { bool known; uint64_t id; int64_t rank, ranks; struct nsx_str called; };

/* The part of s up to the next NUL, which is taken from s. */
static struct nsx_str
part(struct nsx_str *s)
{
	const char *end = memchr(s->ptr, '\0', s->len);
	struct nsx_str head = { s->ptr, end ? (size_t)(end - s->ptr) : s->len };

	s->ptr += head.len + (end != NULL);
	s->len -= head.len + (end != NULL);
	return head;
}

/* The place of a rank in a list; -1: it is not there. */
static int64_t
place_of(struct nsx_str list, int64_t rank)
{
	char text[NSX_INT_CHARS];
	struct nsx_str want = { text, (size_t)(nsx_put_int(text, rank) - text) };
	int64_t n = 0;

	for (size_t i = 0, k; i < list.len; i = k + 1, n++) {
		for (k = i; k < list.len && list.ptr[k] != ',';)
			k++;
		if (nsx_str_eq((struct nsx_str){ list.ptr + i, k - i }, want))
			return n;
	}
	return -1;
}

/* The ranks are those of the event if it has all, else those that distributedInfo has for the name. */
static struct group
group_of(struct nsx_kineto *r, struct nsx_str key)
{
	struct group g = { .rank = -1, .called = { "", 0 } };
	struct nsx_str name = part(&key), ranks = part(&key), list = { "", 0 };
	int64_t size = number(part(&key));

	/* PyTorch's word for a group that was given none. */
	if (!nsx_str_eq(key, NSX_STR("undefined")) && key.len) {
		g.called = nsx_arena_str(&r->t->arena, key);
		r->text.failed |= !g.called.ptr;
	}
	r->text.len = 0;
	g.ranks = nsx_kineto_ranks(ranks, &r->text);
	if (g.ranks > 0 && g.ranks == size) {
		list = nsx_buf_view(&r->text);
	} else {
		g.ranks = 0;
		for (size_t i = 0; i < r->header.groups.n && !g.ranks; i++) {
			const struct nsx_kineto_group *h = &r->header.groups.p[i];
			if (nsx_str_eq(h->name, name) && (size < 0 || h->n == size)) {
				list = h->ranks;
				g.ranks = h->n;
			}
		}
	}
	if (!g.ranks)
		return g;
	struct nsx_buf id = { 0 };
	nsx_buf_str(&id, name);
	nsx_buf_char(&id, '\0');
	nsx_buf_str(&id, list);
	r->text.failed |= id.failed;
	g.known = !id.failed;
	g.id = g.known ? nsx_hash(id.ptr, id.len) : 0;
	nsx_buf_free(&id);
	if (r->header.rank >= 0)
		g.rank = place_of(list, r->header.rank);
	return g;
}

NSX_ORDER(by_id, struct nsx_comm_place, NSX_CMP(a->comm_id, b->comm_id))

bool
nsx_kineto_comms(struct nsx_kineto *r)
{
	struct nsx_trace *t = r->t;
	size_t n = r->comm_groups.n;
	struct group *groups = malloc((n + 1) * sizeof *groups);
	bool good = groups && (t->places = malloc((n + 1) * sizeof *t->places)) != NULL &&
	    (t->comms = malloc((r->comm_rows.n + 1) * sizeof *t->comms)) != NULL;

	for (size_t i = 0; good && i < n; i++) {
		groups[i] = group_of(r, nsx_intern_str(&r->comm_groups, (uint32_t)i));
		if (groups[i].known)
			t->places[t->nplaces++] = (struct nsx_comm_place){ groups[i].id, groups[i].rank,
				groups[i].ranks, groups[i].called };
	}
	for (size_t i = 0; good && i < r->comm_rows.n; i++) {
		struct nsx_kineto_comm c;
		memcpy(&c, nsx_intern_str(&r->comm_rows, (uint32_t)i).ptr, sizeof c);
		const struct group *g = c.of == NSX_NONE ? NULL : &groups[c.of];
		struct nsx_op_comm *to = &t->comms[t->ncomms++];
		bool pair = c.peer >= 0 && r->header.rank >= 0;
		*to = (struct nsx_op_comm){ .kind = c.kind, .bytes = c.bytes, .calls = c.calls, .group = c.group,
			.low = -1, .high = -1, .has_comm = g && g->known, .comm_id = g ? g->id : 0 };
		if (pair) {
			to->low = c.peer < r->header.rank ? c.peer : r->header.rank;
			to->high = c.peer < r->header.rank ? r->header.rank : c.peer;
		}
	}
	free(groups);
	if (good && t->nplaces)
		qsort(t->places, t->nplaces, sizeof *t->places, by_id);
	uint32_t kept = 0;
	for (uint32_t i = 0; good && i < t->nplaces; i++)
		if (!kept || t->places[kept - 1].comm_id != t->places[i].comm_id)
			t->places[kept++] = t->places[i];
	t->nplaces = good && t->ndevices == 1 ? kept : 0;
	return good && !r->text.failed;
}
