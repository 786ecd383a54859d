/* header.c -- members of a trace beside its events: the clock, the GPUs, the process's rank and groups, versions.
 * Others, which may be private, are not looked at. They stand before the events or, where profiling was asked for while
 * the job ran, after them. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "kineto/reading.h"

static bool
is(struct nsx_str key, const char *name)
{
	return nsx_str_eq(key, nsx_str_c(name));
}

static bool
is_open(enum nsx_json_type t)
{
	return t == NSX_JSON_OBJECT || t == NSX_JSON_ARRAY;
}

/* The next member of the object or element of the array; false: it ends. */
static bool
next(struct nsx_json *j, enum nsx_json_type *t)
{
	*t = nsx_json_next(j);
	return *t != NSX_JSON_END && *t != NSX_JSON_BAD;
}

/* A copy that lives as long as the trace, without escapes. */
static struct nsx_str
keep(struct nsx_kineto *r, struct nsx_str s)
{
	r->text.len = 0;
	nsx_json_unescape(&r->text, s);
	struct nsx_str kept = nsx_arena_str(&r->t->arena, nsx_buf_view(&r->text));
	if (!kept.ptr)
		r->text.failed = true;
	return kept;
}

static bool
read_gpu(struct nsx_kineto *r, struct nsx_json *j)
{
	struct nsx_kineto_gpu g = { -1, -1, -1, -1, -1, -1, { "", 0 } };
	enum nsx_json_type t;

	while (next(j, &t)) {
		int64_t *to = is(j->key, "id") ? &g.id : is(j->key, "numSms") ? &g.sms
		    : is(j->key, "computeMajor") ? &g.major : is(j->key, "computeMinor") ? &g.minor
		    : is(j->key, "warpSize") ? &g.warp : is(j->key, "totalGlobalMem") ? &g.memory : NULL;

		if (is_open(t))
			nsx_json_skip(j);
		else if (to && !nsx_json_int(j, t, to))
			*to = -1;
		else if (t == NSX_JSON_STRING && is(j->key, "name"))
			g.name = keep(r, j->value);
	}
	return nsx_vec_push(&r->header.gpus, g);
}

static bool
read_gpus(struct nsx_kineto *r, struct nsx_json *j)
{
	enum nsx_json_type t;

	while (next(j, &t))
		if (t == NSX_JSON_OBJECT ? !read_gpu(r, j) : is_open(t) && !nsx_json_skip(j))
			return false;
	return true;
}

static bool
between_ranks(char c)
{
	return c == '[' || c == ']' || c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

int64_t
nsx_kineto_ranks(struct nsx_str text, struct nsx_buf *out)
{
	int64_t n = 0;

	for (size_t i = 0; i < text.len; n++) {
		size_t from;

		while (i < text.len && between_ranks(text.ptr[i]))
			i++;
		for (from = i; i < text.len && nsx_is_digit(text.ptr[i]);)
			i++;
		if (i == text.len && from == i)
			break;
		if (from == i)
			return -1;
		if (n)
			nsx_buf_char(out, ',');
		nsx_buf_add(out, text.ptr + from, i - from);
	}
	return n;
}

static bool
read_group(struct nsx_kineto *r, struct nsx_json *j)
{
	struct nsx_kineto_group g = { { "", 0 }, { "", 0 }, -1 };
	enum nsx_json_type t;

	while (next(j, &t)) {
		bool ranks = is(j->key, "ranks"), name = is(j->key, "pg_name");
		size_t from = j->pos;

		if (is_open(t) && !nsx_json_skip(j))
			return true;
		if (ranks && (t == NSX_JSON_ARRAY || t == NSX_JSON_STRING)) {
			struct nsx_str text = t == NSX_JSON_STRING ? j->value
			    : (struct nsx_str){ j->text.ptr + from, j->pos - from };
			r->text.len = 0;
			g.n = nsx_kineto_ranks(text, &r->text);
			g.ranks = nsx_arena_str(&r->t->arena, nsx_buf_view(&r->text));
			if (r->text.failed || !g.ranks.ptr)
				return false;
		} else if (name && !is_open(t)) {
			g.name = keep(r, j->value);
		}
	}
	return g.n <= 0 || nsx_vec_push(&r->header.groups, g);
}

static bool
read_groups(struct nsx_kineto *r, struct nsx_json *j)
{
	enum nsx_json_type t;

	while (next(j, &t))
		if (t == NSX_JSON_OBJECT ? !read_group(r, j) : is_open(t) && !nsx_json_skip(j))
			return false;
	return true;
}

static bool
read_job(struct nsx_kineto *r, struct nsx_json *j)
{
	enum nsx_json_type t;
	bool good = true;

	while (good && next(j, &t)) {
		if (t == NSX_JSON_ARRAY && is(j->key, "pg_config"))
			good = read_groups(r, j);
		else if (is_open(t))
			nsx_json_skip(j);
		else if (is(j->key, "rank") && (!nsx_json_int(j, t, &r->header.rank) || r->header.rank < 0))
			r->header.rank = -1;
		else if (is(j->key, "world_size") && !nsx_json_int(j, t, &r->header.world))
			r->header.world = -1;
	}
	return good;
}

/* A library's version, for the name of the product. */
static bool
read_version(struct nsx_kineto *r, struct nsx_str key, const struct nsx_json *j, enum nsx_json_type t)
{
	static const char *const libraries[] = { "cupti_version", "cuda_runtime_version", "cuda_driver_version",
		"roctracer_version", "rocprofiler_version", "hip_runtime_version", "hip_driver_version" };
	enum { AMD = 3 };
	int64_t v;

	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (is(key, libraries[i]) && nsx_json_int(j, t, &v)) {
			r->header.hip |= i >= AMD;
			nsx_buf_fmt(&r->header.product, "%s%.*s %" PRId64, r->header.product.len ? " " : "",
			            (int)(strlen(libraries[i]) - strlen("_version")), libraries[i], v);
			return true;
		}
	return false;
}

int
nsx_kineto_member(struct nsx_kineto *r, struct nsx_str key, struct nsx_str text)
{
	struct nsx_json j = { .text = text };
	enum nsx_json_type t = nsx_json_next(&j);
	bool good = true;

	if (t == NSX_JSON_OBJECT && is(key, "distributedInfo")) {
		good = read_job(r, &j);
	} else if (t == NSX_JSON_ARRAY && is(key, "deviceProperties")) {
		good = read_gpus(r, &j);
	} else if (is(key, "baseTimeNanoseconds")) {
		r->header.has_base = nsx_json_int(&j, t, &r->header.base);
	} else if (is(key, "schemaVersion")) {
		nsx_json_int(&j, t, &r->header.schema);
	} else if (r->opts->host && t == NSX_JSON_STRING && is(key, "host_name")) {
		r->header.host = keep(r, j.value);
	} else {
		read_version(r, key, &j, t);
	}
	return good && !r->text.failed && !r->header.product.failed ? NSX_OK : nsx_err_nomem(r->err, r->path);
}
