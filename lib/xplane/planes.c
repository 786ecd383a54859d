/* planes.c -- an index of an XSpace. The names of events and statistics come behind the lines that use them, so planes
 * are walked before their lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "xplane/reading.h"

/* Field numbers. */
enum { PLANE_NAME = 2, PLANE_LINE = 3, PLANE_META = 4, PLANE_STAT_META = 5, PLANE_STAT = 6 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { META_NAME = 2, META_STAT = 5 };
enum { STAT_META = 1, STAT_DOUBLE = 2, STAT_UINT = 3, STAT_INT = 4, STAT_TEXT = 5, STAT_BYTES = 6, STAT_REF = 7 };

int
nsx_xspace_bad(struct nsx_xspace *s, const struct nsx_xwire *w)
{
	uint64_t at = s->taken + (uint64_t)((const char *)w->bad - (s->in.buf + s->in.pos));
	const char *why = s->repaired ? "; the file went through a text conversion" : "";

	if (w->want)
		return nsx_err_set(s->err,
				   "%s: byte %" PRIu64 ": not an XSpace, or cut off: a field of %" PRIu64
				   " bytes, %" PRIu64 " are left%s",
				   s->path, at, w->want, w->left, why);
	return nsx_err_set(s->err, "%s: byte %" PRIu64 ": not an XSpace, or cut off: no field of a message%s",
	                   s->path, at, why);
}

/* ---- statistics */

static enum nsx_xstat
what_of(struct nsx_str name)
{
	static const struct { const char *name; enum nsx_xstat what;
	} known[] = {
		{ "correlation_id", XS_CORRELATION },
		{ "hlo_op", XS_HLO_OP },
		{ "hlo_module", XS_HLO_MODULE },
		{ "program_id", XS_PROGRAM },
		{ "run_id", XS_RUN },
		{ "device_ordinal", XS_ORDINAL },
		{ "memcpy_details", XS_COPY },
		{ "Memset_details", XS_SET },
		{ "memset_details", XS_SET },
		{ "kernel_details", XS_KERNEL },
		{ "cuda_graph_exec_id", XS_EXEC },
		{ "cuda_graph_node_id", XS_NODE },
		{ "_r", XS_ROOT },
		{ "step_num", XS_STEP },
		{ "Hlo Proto", XS_PROTO },
		{ "hlo_proto", XS_PROTO },
		{ "profile_start_time", XS_START },
		{ "process_id", XS_PROCESS },
		{ "device_vendor", XS_VENDOR },
		{ "gpu_device_name", XS_GPU },
		{ "clock_rate", XS_CLOCK },
		{ "core_count", XS_CORES },
		{ "memory_bandwidth", XS_BANDWIDTH },
		{ "memory_size", XS_MEMORY },
		{ "compute_cap_major", XS_MAJOR },
		{ "compute_cap_minor", XS_MINOR },
		{ "jax_version", XS_JAX },
		{ "global_device_id", XS_GLOBAL },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (nsx_str_eq(name, nsx_str_c(known[i].name)))
			return known[i].what;
	return XS_COUNT;
}

/* Statistic metadata of that id; NULL: there are none. */
static struct nsx_xstat_meta *
stat_meta(const struct nsx_xplane *p, uint64_t id)
{
	uint32_t at = nsx_xids_get(&p->stat_of, id);

	return at == NSX_NONE ? NULL : &p->stat_metas.p[at];
}

/* Statistics of which the number is never asked for. */
static bool
is_text(unsigned what)
{
	const uint64_t texts = UINT64_C(1) << XS_HLO_OP | UINT64_C(1) << XS_HLO_MODULE | UINT64_C(1) << XS_COPY
	    | UINT64_C(1) << XS_SET | UINT64_C(1) << XS_KERNEL | UINT64_C(1) << XS_PROTO;

	return texts >> what & 1;
}

static bool
add_stat(struct nsx_xspace *s, const struct nsx_xplane *p, struct nsx_str message, struct nsx_xstats *stats)
{
	struct nsx_xwire w = nsx_xwire(message);
	struct nsx_xstat_meta *ref = NULL;
	struct nsx_str text = { "", 0 };
	int64_t number = 0;
	uint64_t meta = 0;

	while (nsx_xwire_next(&w))
		switch (w.field) {
		case STAT_META: meta = w.value; break;
		case STAT_UINT: case STAT_INT: number = (int64_t)w.value; break;
		case STAT_TEXT: case STAT_BYTES:
			text = w.bytes;
			ref = NULL;
			break;
		case STAT_REF:
			ref = stat_meta(p, w.value);
			text = ref ? ref->name : (struct nsx_str){ "", 0 };
			break;
		default: break;
		}
	if (w.bad)
		return nsx_xspace_bad(s, &w) == NSX_OK;
	const struct nsx_xstat_meta *of = stat_meta(p, meta);
	unsigned what = of ? of->what : XS_COUNT;
	if (what == XS_COUNT || stats->has >> what & 1)
		return true;
	/* Numbers are written as text by some writers. */
	if (text.len && !is_text(what))
		nsx_get_int(text, &number);
	stats->has |= UINT64_C(1) << what;
	stats->number[what] = number;
	stats->text[what] = text.ptr ? text : (struct nsx_str){ "", 0 };
	stats->kept[what] = ref ? &ref->kept : NULL;
	return true;
}

bool
nsx_xspace_stats(struct nsx_xspace *s, const struct nsx_xplane *p, struct nsx_str message, uint32_t field,
                 const struct nsx_xmeta *meta, struct nsx_xstats *stats)
{
	struct nsx_xwire w = nsx_xwire(message);

	stats->has = 0;
	while (nsx_xwire_next(&w))
		if (w.field == field && w.bytes.ptr && !add_stat(s, p, w.bytes, stats))
			return false;
	if (!w.bad && meta && meta->stats.len) {
		w = nsx_xwire(meta->stats);
		while (nsx_xwire_next(&w))
			if (w.field == META_STAT && w.bytes.ptr && !add_stat(s, p, w.bytes, stats))
				return false;
	}
	return w.bad ? nsx_xspace_bad(s, &w) == NSX_OK : true;
}

/* ---- planes */

static enum nsx_xplane_kind
kind_of(struct nsx_str name, int64_t *number)
{
	static const struct nsx_str gpu = { "/device:GPU:", 12 };

	if (nsx_str_starts(name, gpu.ptr)
	    && nsx_get_int((struct nsx_str){ name.ptr + gpu.len, name.len - gpu.len }, number) && *number >= 0)
		return XP_GPU;
	if (nsx_str_eq(name, NSX_STR("/host:CPU")) || nsx_str_eq(name, NSX_STR("/host:CUPTI"))
	    || nsx_str_eq(name, NSX_STR("/host:ROCTRACER")))
		return XP_HOST;
	if (nsx_str_eq(name, NSX_STR("/host:NVTX-CUPTI")))
		return XP_NVTX;
	if (nsx_str_eq(name, NSX_STR("/host:metadata")))
		return XP_PROGRAMS;
	if (nsx_str_eq(name, NSX_STR("Task Environment")))
		return XP_TASK;
	return nsx_str_starts(name, "/device:TPU") || nsx_str_starts(name, "/device:CUSTOM") ? XP_TPU : XP_OTHER;
}

/* An entry of a map: its key, and the message that is its value. */
static bool
entry(struct nsx_xspace *s, struct nsx_str message, uint64_t *key, struct nsx_str *value)
{
	struct nsx_xwire w = nsx_xwire(message);

	*key = 0;
	*value = (struct nsx_str){ "", 0 };
	while (nsx_xwire_next(&w))
		if (w.field == ENTRY_KEY)
			*key = w.value;
		else if (w.field == ENTRY_VALUE && w.bytes.ptr)
			*value = w.bytes;
	return w.bad ? nsx_xspace_bad(s, &w) == NSX_OK : true;
}

static bool
read_meta(struct nsx_xspace *s, struct nsx_str message, struct nsx_xmeta *meta)
{
	struct nsx_xwire w = nsx_xwire(message);

	*meta = (struct nsx_xmeta){ { "", 0 }, { "", 0 }, NSX_NONE, NSX_NONE };
	for (const unsigned char *at = w.at; nsx_xwire_next(&w); at = w.at) {
		if (w.field == META_NAME && w.bytes.ptr)
			meta->name = w.bytes;
		if (w.field == META_STAT && !meta->stats.len)
			meta->stats = (struct nsx_str){ (const char *)at, (size_t)(w.end - at) };
	}
	return w.bad ? nsx_xspace_bad(s, &w) == NSX_OK : true;
}

/* Where few ids are left out, into the list. */
static bool
put_id(struct nsx_xids *x, uint64_t id, uint32_t number)
{
	enum { GAP = 64 };

	if (id > x->near.n + GAP) {
		uint32_t *at = nsx_map_at(&x->far, (struct nsx_key){ id, 0 });
		if (at)
			*at = number;
		return at != NULL;
	}
	while (x->near.n <= id)
		if (!nsx_vec_push(&x->near, (uint32_t)NSX_NONE))
			return false;
	x->near.p[id] = number;
	return true;
}

static int
add_meta(struct nsx_xspace *s, struct nsx_xplane *p, struct nsx_str message, bool of_stat)
{
	struct nsx_xids *ids = of_stat ? &p->stat_of : &p->meta_of;
	struct nsx_xmeta meta;
	struct nsx_str value;
	uint64_t key;

	if (!entry(s, message, &key, &value) || !read_meta(s, value, &meta))
		return NSX_ERR;
	if (nsx_xids_get(ids, key) != NSX_NONE)
		return NSX_OK;
	bool good = put_id(ids, key, of_stat ? (uint32_t)p->stat_metas.n : (uint32_t)p->metas.n);
	if (good && of_stat)
		good = nsx_vec_push(&p->stat_metas,
			((struct nsx_xstat_meta){ meta.name, NSX_NONE, (uint8_t)what_of(meta.name) }));
	else if (good)
		good = nsx_vec_push(&p->metas, meta);
	return good ? NSX_OK : nsx_xspace_nomem(s);
}

static int
index_plane(struct nsx_xspace *s, struct nsx_str message, struct nsx_xplane *p)
{
	struct nsx_xwire w = nsx_xwire(message);
	int rc = NSX_OK;

	while (rc == NSX_OK && nsx_xwire_next(&w)) {
		if (!w.bytes.ptr)
			continue;
		switch (w.field) {
		case PLANE_NAME: p->name = w.bytes; break;
		case PLANE_LINE: rc = nsx_vec_push(&p->lines, w.bytes) ? NSX_OK : nsx_xspace_nomem(s); break;
		case PLANE_STAT: rc = nsx_vec_push(&p->stats, w.bytes) ? NSX_OK : nsx_xspace_nomem(s); break;
		case PLANE_META: rc = add_meta(s, p, w.bytes, false); break;
		case PLANE_STAT_META: rc = add_meta(s, p, w.bytes, true); break;
		default: break;
		}
	}
	p->kind = kind_of(p->name, &p->number);
	return w.bad ? nsx_xspace_bad(s, &w) : rc;
}

/* What a plane itself says, as statistics of an event. */
static int
read_plane_stats(struct nsx_xspace *s, struct nsx_xplane *p)
{
	struct nsx_xstats *x = &p->about;

	for (size_t i = 0; i < p->stats.n; i++)
		if (!add_stat(s, p, p->stats.p[i], x))
			return NSX_ERR;
	if (p->kind == XP_TASK && nsx_xstats_have(x, XS_START) && x->number[XS_START] >= 0) {
		s->starts += s->started != INT64_MIN && s->started != x->number[XS_START];
		s->started = x->number[XS_START];
	}
	if (nsx_xstats_have(x, XS_PROCESS) && x->number[XS_PROCESS] > 0 && x->number[XS_PROCESS] < 1 << 24)
		s->pid = x->number[XS_PROCESS];
	if (nsx_xstats_have(x, XS_JAX))
		s->jax = nsx_arena_str(&s->t->arena, x->text[XS_JAX]);
	return s->jax.ptr || !s->jax.len ? NSX_OK : nsx_xspace_nomem(s);
}

int
nsx_xspace_index(struct nsx_xspace *s, struct nsx_str message, struct nsx_xplane *p)
{
	return index_plane(s, message, p) == NSX_OK ? read_plane_stats(s, p) : NSX_ERR;
}

void
nsx_xplane_free(struct nsx_xplane *p)
{
	free(p->lines.p);
	free(p->stats.p);
	free(p->metas.p);
	free(p->stat_metas.p);
	free(p->meta_of.near.p);
	free(p->stat_of.near.p);
	nsx_map_free(&p->meta_of.far);
	nsx_map_free(&p->stat_of.far);
}

/* ---- programs: `jit_f(12)`, with their HLO */

int
nsx_xspace_programs(struct nsx_xspace *s, const struct nsx_xplane *p)
{
	NSX_VEC(struct nsx_program_bytes) list = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < p->metas.n && rc == NSX_OK; i++) {
		struct nsx_str name = p->metas.p[i].name;
		size_t open = name.len;
		struct nsx_xstats x;
		int64_t id = -1;

		if (!nsx_xspace_stats(s, p, p->metas.p[i].stats, META_STAT, NULL, &x)) {
			rc = NSX_ERR;
			break;
		}
		while (open > 0 && name.ptr[open - 1] != '(')
			open--;
		if (open && name.ptr[name.len - 1] == ')'
		    && nsx_get_int((struct nsx_str){ name.ptr + open, name.len - open - 1 }, &id))
			name.len = open - 1;
		if (nsx_xstats_have(&x, XS_PROGRAM))
			id = x.number[XS_PROGRAM];
		if (id < 0 || !nsx_xstats_have(&x, XS_PROTO))
			continue;
		struct nsx_program_bytes b = { id, nsx_arena_str(&s->t->arena, name),
			nsx_arena_str(&s->t->arena, x.text[XS_PROTO]) };
		if (!b.name.ptr || !b.bytes.ptr || !nsx_vec_push(&list, b))
			rc = nsx_xspace_nomem(s);
	}
	/* A file may hold several spaces, one after the other. */
	struct nsx_program_bytes *all =
	    list.n ? realloc(s->t->programs, (s->t->nprograms + list.n) * sizeof *all) : NULL;
	if (all) {
		memcpy(all + s->t->nprograms, list.p, list.n * sizeof *all);
		s->t->programs = all;
		s->t->nprograms += (uint32_t)list.n;
	} else if (list.n) {
		rc = nsx_xspace_nomem(s);
	}
	free(list.p);
	return rc;
}
