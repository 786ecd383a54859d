/* payload.c -- payloads of NVTX ranges from NVTX_EVENTS.binaryData, by the schemas in NVTX_PAYLOAD_SCHEMAS and
 * NVTX_PAYLOAD_SCHEMA_ENTRIES; blob.h has the bytes. Every offset, size and id in them is checked before it is used. */
#include "nsys/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "nsys/blob.h"
#include "nsys/load.h"
#include "base/num.h"
#include "base/sort.h"

enum { ENTRIES_MAX = 256 };
/* Types of entries as NVTX numbers them, where they are not plain numbers. */
enum { TYPE_STRING_HANDLE = 80 };
/* Flags of entries that are no plain value: pointers, offsets, arrays, deep copies. */
enum { FLAGS_NOT_PLAIN = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 9 };

#define NO_OFFSET INT64_MIN

struct entry { int64_t index, type, flags, offset; uint32_t name; };
struct schema {
	uint64_t id;
	uint32_t domain, name;   /* name NSX_NONE: it has none */
	int64_t  size;           /* -1: not recorded */
	bool     torn;           /* processes of the export define it differently */
	NSX_VEC(struct entry) entries;
};

struct nsx_payloads {
	struct nsx_db       db;
	char               *path;
	bool                schemas_read;
	struct nsx_intern   names, texts;
	NSX_VEC(struct schema) schemas;
	struct nsx_map      schema_of;    /* (schema id, domain) -> schemas */
};

/* ---- opening and closing */

int
nsx_payload_keep(struct nsx_loader *l)
{
	struct nsx_payloads *p;

	if (!nsx_db_has(&l->db, "NVTX_EVENTS") || !nsx_db_has(&l->db, "NVTX_PAYLOAD_SCHEMAS") ||
	    !nsx_db_has(&l->db, "NVTX_PAYLOAD_SCHEMA_ENTRIES"))
		return NSX_OK;
	/* Checked here, because nothing is checked when they are read; the rows of NVTX_EVENTS have all been
	 * checked. */
	if (nsx_db_check(&l->db, "NVTX_PAYLOAD_SCHEMAS", l->err) != NSX_OK ||
	    nsx_db_check(&l->db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", l->err) != NSX_OK
	    || nsx_db_check(&l->db, "StringIds", l->err) != NSX_OK)
		return NSX_ERR;
	if (!(p = calloc(1, sizeof *p)))
		return nsx_load_nomem(l);
	if (!(p->path = nsx_str_dup(nsx_str_c(l->db.path)))) {
		free(p);
		return nsx_load_nomem(l);
	}
	p->db = (struct nsx_db){ .path = p->path, .stamp = l->db.stamp, .fd = fcntl(l->db.fd, F_DUPFD_CLOEXEC, 3) };
	if (p->db.fd < 0) {
		nsx_err_set(l->err, "%s: %s", p->path, strerror(errno));
		free(p->path);
		free(p);
		return NSX_ERR;
	}
	pthread_mutex_init(&p->db.lock, NULL);
	l->t->payloads = p;
	l->t->payloads_close = nsx_payload_close;
	return NSX_OK;
}

void
nsx_payload_close(struct nsx_trace *t)
{
	struct nsx_payloads *p = t->payloads;

	if (!p)
		return;
	nsx_db_close(&p->db);
	for (size_t i = 0; i < p->schemas.n; i++)
		free(p->schemas.p[i].entries.p);
	free(p->schemas.p);
	nsx_map_free(&p->schema_of);
	nsx_intern_free(&p->names);
	nsx_intern_free(&p->texts);
	free(p->path);
	free(p);
	t->payloads = NULL;
}

/* ---- schemas */

static int64_t
int_or(sqlite3_value *v, int64_t none)
{
	int64_t i;

	return nsx_db_int(v, &i) ? i : none;
}

static struct nsx_key
schema_key(uint64_t id, uint32_t domain)
{
	return (struct nsx_key){ id, domain };
}

/* A name's number in p->names; *name is NSX_NONE if v is no text; false when out of memory. */
static bool
name_of(struct nsx_payloads *p, sqlite3_value *v, uint32_t *name)
{
	struct nsx_str s = nsx_db_text(v);

	*name = s.ptr ? nsx_intern(&p->names, s) : NSX_NONE;
	return !s.ptr || *name != NSX_NONE;
}

static int
schema_row(void *ctx, sqlite3_value **v)
{
	struct nsx_payloads *p = ctx;
	int64_t domain, id;
	struct schema s = { 0 };

	if (!nsx_db_int(v[0], &domain) || !nsx_db_int(v[1], &id) || domain < 0 || domain > UINT32_MAX)
		return NSX_OK;
	s.id = (uint64_t)id;
	s.domain = (uint32_t)domain;
	s.size = int_or(v[3], -1);
	if (!name_of(p, v[2], &s.name))
		return NSX_ERR;
	uint32_t *at = nsx_map_at(&p->schema_of, schema_key(s.id, s.domain));
	if (!at)
		return NSX_ERR;
	if (*at != NSX_NONE) {
		struct schema *old = &p->schemas.p[*at];
		/* Each process numbers its own domains and schemas, and the table does not say which process a row
		 * belongs to. */
		old->torn |= old->name != s.name || old->size != s.size;
		return NSX_OK;
	}
	if (!nsx_vec_push(&p->schemas, s))
		return NSX_ERR;
	*at = (uint32_t)p->schemas.n - 1;
	return NSX_OK;
}

static int
entry_row(void *ctx, sqlite3_value **v)
{
	struct nsx_payloads *p = ctx;
	struct entry e;
	int64_t domain, id;

	if (!nsx_db_int(v[0], &domain) || !nsx_db_int(v[1], &id) || domain < 0 || domain > UINT32_MAX)
		return NSX_OK;
	uint32_t at = nsx_map_get(&p->schema_of, schema_key((uint64_t)id, (uint32_t)domain));
	if (at == NSX_NONE)
		return NSX_OK;
	struct schema *s = &p->schemas.p[at];
	e.index = int_or(v[2], -1);
	e.flags = int_or(v[3], 0);
	e.type = int_or(v[4], 0);
	e.offset = int_or(v[6], NO_OFFSET);
	if (!name_of(p, v[5], &e.name))
		return NSX_ERR;
	for (size_t i = 0; i < s->entries.n; i++)
		if (s->entries.p[i].index == e.index) {
			const struct entry *old = &s->entries.p[i];
			s->torn |= old->flags != e.flags || old->type != e.type || old->offset != e.offset ||
			    old->name != e.name;
			return NSX_OK;
		}
	if (s->entries.n == ENTRIES_MAX || e.index < 0) {
		s->torn = true;
		return NSX_OK;
	}
	return nsx_vec_push(&s->entries, e) ? NSX_OK : NSX_ERR;
}

NSX_ORDER(by_index, struct entry, NSX_CMP(a->index, b->index))

/* Size of a value of that type, which is its alignment too; 0: unknown, or not a type that we can read. */
static int64_t
width(int64_t type)
{
	static const unsigned char of[] = { 0, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 4,
	                                    1, 2, 4 };

	if (type >= 0 && type < (int64_t)sizeof of)
		return of[type];
	return type == TYPE_STRING_HANDLE ? 8 : type == 32 ? 1 : 0;
}

static bool
is_integer(int64_t type)
{
	return (type >= 1 && type <= 18) || type == 22 || type == 23;
}

/* The export omits an offset of 0 and an offset that follows from the previous field. A structure whose first entry is
 * not at 0 was described with explicit offsets: a missing one then is that of the field at 0. */
static void
place_entries(struct schema *s)
{
	int64_t next = 0;
	bool zero = s->entries.n && s->entries.p[0].offset != NO_OFFSET && s->entries.p[0].offset != 0;

	for (size_t i = 0; i < s->entries.n; i++) {
		struct entry *e = &s->entries.p[i];
		int64_t w = width(e->type);
		if (e->offset == NO_OFFSET && zero) {
			e->offset = 0;
			zero = false;
		} else if (e->offset == NO_OFFSET) {
			e->offset = w && next >= 0 ? (next + w - 1) / w * w : -1;
		}
		/* After an entry of unknown size, implicit offsets cannot be computed. */
		next = w && e->offset >= 0 && e->offset <= INT32_MAX ? e->offset + w : -1;
	}
}

static int
read_schemas(struct nsx_payloads *p, struct nsx_err *err)
{
	static const struct nsx_db_col schema_cols[] = {
		{ .name = "domainId" }, { .name = "schemaId" }, { .name = "name", .optional = true },
		{ .name = "payloadSize", .optional = true }
	};
	static const struct nsx_db_col entry_cols[] = {
		{ .name = "domainId" }, { .name = "schemaId" }, { .name = "idx" },
		{ .name = "flags", .optional = true },
		{ .name = "type", .optional = true }, { .name = "name", .optional = true },
		{ .name = "offset", .optional = true }
	};
	struct nsx_db_scan schemas = { "NVTX_PAYLOAD_SCHEMAS", schema_cols, 4, .row = schema_row, .ctx = p };
	struct nsx_db_scan entries = { "NVTX_PAYLOAD_SCHEMA_ENTRIES", entry_cols, 7, .row = entry_row, .ctx = p };

	if (p->schemas_read)
		return NSX_OK;
	if (nsx_db_run(&p->db, &schemas, err) != NSX_OK || nsx_db_run(&p->db, &entries, err) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < p->schemas.n; i++) {
		struct schema *s = &p->schemas.p[i];
		if (s->entries.n)
			qsort(s->entries.p, s->entries.n, sizeof *s->entries.p, by_index);
		place_entries(s);
	}
	p->schemas_read = true;
	return NSX_OK;
}

/* ---- payloads */

struct reading {
	struct nsx_payloads          *p;
	const struct nsx_payload_ask *ask;
	int                          *schema;
	struct nsx_payload_value     *values;
	struct nsx_buf                bytes;      /* of one payload written in hexadecimal */
	struct nsx_ids                strings;    /* needed */
	uint32_t                     *string_at;  /* by value: index in strings, NSX_NONE */
	uint32_t                     *texts;      /* by string: number in p->texts, NSX_NONE: not in the export */
	int64_t                       malformed, unknown, torn, unreadable, lost;
};

/* The schema that a header refers to; NULL if there is none. Ids have 64 bits, of which a schema's row may have the
 * lower half only. */
static const struct schema *
schema_of(const struct nsx_payloads *p, const unsigned char *header)
{
	uint32_t domain = (uint32_t)nsx_blob_number(header, 4);
	uint32_t at = nsx_map_get(&p->schema_of, schema_key(nsx_blob_number(header + NSX_BLOB_SCHEMA, 8), domain));

	if (at == NSX_NONE)
		at = nsx_map_get(&p->schema_of, schema_key(nsx_blob_number(header + NSX_BLOB_SCHEMA, 4), domain));
	return at == NSX_NONE ? NULL : &p->schemas.p[at];
}

static int
number_of(const char *const *list, int n, struct nsx_str name)
{
	for (int i = 0; i < n; i++)
		if (nsx_str_eq(name, nsx_str_c(list[i])))
			return i;
	return -1;
}

static const struct entry *
entry_of(const struct nsx_payloads *p, const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->entries.n; i++)
		if (s->entries.p[i].name != NSX_NONE && nsx_str_eq(nsx_intern_str(&p->names, s->entries.p[i].name),
		    nsx_str_c(name)))
			return &s->entries.p[i];
	return NULL;
}

/* One value; false when out of memory. */
static bool
read_value(struct reading *r, const struct entry *e, bool text, const unsigned char *payload, int64_t size,
           struct nsx_payload_value *v, uint32_t *string_at)
{
	int64_t w = width(e->type);

	/* A string is stored as its id in the export; an entry whose type is not seen as a string handle may be
	 * declared as a number. */
	if ((e->flags & FLAGS_NOT_PLAIN) || !w || w > 8 || e->offset < 0 || e->offset > size - w ||
	    !(is_integer(e->type) || (text && e->type == TYPE_STRING_HANDLE)) || (text && w != 8)) {
		r->unreadable++;
		return true;
	}
	uint64_t bits = nsx_blob_number(payload + e->offset, w);
	bool is_signed = e->type == 1 || (e->type <= 17 && e->type % 2 == 1);
	if (is_signed && w < 8 && bits >> (8 * w - 1))
		bits |= UINT64_MAX << (8 * w);
	v->num = (int64_t)bits;
	if (!text) {
		v->there = true;
		return true;
	}
	/* No handle: an optional text that is empty. */
	if (!bits)
		return true;
	*string_at = nsx_ids_at(&r->strings, v->num);
	return *string_at != NSX_NONE;
}

static int
blob_found(void *ctx, size_t i, sqlite3_value *v)
{
	struct reading *r = ctx;
	struct nsx_blob b = nsx_blob_of(v, &r->bytes);

	if (sqlite3_value_type(v) == SQLITE_NULL)
		return NSX_OK;
	if (r->bytes.failed)
		return NSX_ERR;
	if (!b.payload) {
		r->malformed++;
		return NSX_OK;
	}
	const struct schema *schema = schema_of(r->p, b.header);
	int64_t size = (int64_t)b.size;
	if (!schema) {
		r->unknown++;
		return NSX_OK;
	}
	if (schema->torn) {
		r->torn++;
		return NSX_OK;
	}
	int number = !r->ask->schemas ? 0 : schema->name == NSX_NONE ? -1 : number_of(r->ask->schemas, r->ask->nschemas,
		nsx_intern_str(&r->p->names, schema->name));
	if (number < 0)
		return NSX_OK;
	if (size < schema->size) {
		r->malformed++;
		return NSX_OK;
	}
	r->schema[i] = number;
	int64_t unreadable = r->unreadable;
	for (int k = 0; k < r->ask->nentries; k++) {
		size_t value = i * (size_t)r->ask->nentries + (size_t)k;
		const struct entry *e = entry_of(r->p, schema, r->ask->entries[k].name);
		if (e && !read_value(r, e, r->ask->entries[k].text, b.payload, size, &r->values[value],
		    &r->string_at[value]))
			return NSX_ERR;
	}
	if (!r->ask->schemas && r->unreadable > unreadable) {
		r->unreadable = unreadable;
		r->malformed++;
		r->schema[i] = -1;
		memset(&r->values[i * (size_t)r->ask->nentries], 0, (size_t)r->ask->nentries * sizeof *r->values);
		memset(&r->string_at[i * (size_t)r->ask->nentries], 0xff, (size_t)r->ask->nentries *
		       sizeof *r->string_at);
	}
	return NSX_OK;
}

/* ---- texts */

static int
text_found(void *ctx, size_t i, sqlite3_value *v)
{
	struct reading *r = ctx;
	struct nsx_str s = nsx_db_text(v);

	return !s.ptr || (r->texts[i] = nsx_intern(&r->p->texts, s)) != NSX_NONE ? NSX_OK : NSX_ERR;
}

static int
text_row(void *ctx, sqlite3_value **v)
{
	struct reading *r = ctx;
	int64_t id;

	if (!nsx_db_int(v[0], &id))
		return NSX_OK;
	uint32_t at = nsx_map_get(&r->strings.map, (struct nsx_key){ (uint64_t)id, 0 });
	return at == NSX_NONE || r->texts[at] != NSX_NONE ? NSX_OK : text_found(r, at, v[1]);
}

static int
read_texts(struct reading *r, struct nsx_err *err)
{
	static const struct nsx_db_col columns[] = { { .name = "id" }, { .name = "value" } };
	struct nsx_db *db = &r->p->db;
	struct nsx_db_scan all = { "StringIds", columns, 2, .row = text_row, .ctx = r };
	bool quick;

	if (!r->strings.list.n || !nsx_db_has(db, "StringIds"))
		return NSX_OK;
	if (nsx_db_is_rowid(db, "StringIds", "id", &quick, err) != NSX_OK)
		return NSX_ERR;
	return quick ? nsx_db_lookup(db, "SELECT value FROM StringIds WHERE id = ?", "StringIds", r->strings.list.p,
	                             r->strings.list.n, text_found, r, err)
	             : nsx_db_run(db, &all, err);
}

/* ---- all payloads */

static int
read_all(struct reading *r, const int64_t *ids, size_t n, struct nsx_err *err)
{
	struct nsx_payloads *p = r->p;
	size_t nvalues = n * (size_t)r->ask->nentries;

	r->string_at = malloc((nvalues + 1) * sizeof *r->string_at);
	if (!r->string_at)
		return nsx_err_nomem(err, p->path);
	memset(r->string_at, 0xff, (nvalues + 1) * sizeof *r->string_at);
	if ((!p->db.tables.n && nsx_db_list(&p->db, err) != NSX_OK) || read_schemas(p, err) != NSX_OK ||
	    nsx_db_column(&p->db, "NVTX_EVENTS", "binaryData", ids, n, blob_found, r, err) != NSX_OK)
		return NSX_ERR;
	r->texts = malloc((r->strings.list.n + 1) * sizeof *r->texts);
	if (!r->texts)
		return nsx_err_nomem(err, p->path);
	memset(r->texts, 0xff, (r->strings.list.n + 1) * sizeof *r->texts);
	if (read_texts(r, err) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < nvalues; i++) {
		uint32_t at = r->string_at[i];
		if (at == NSX_NONE)
			continue;
		r->values[i].there = r->texts[at] != NSX_NONE;
		r->lost += !r->values[i].there;
		if (r->values[i].there)
			r->values[i].text = nsx_intern_str(&p->texts, r->texts[at]);
	}
	return NSX_OK;
}

int
nsx_payload_read(struct nsx_trace *t, const int64_t *ids, size_t n, const struct nsx_payload_ask *ask,
                 int *schema, struct nsx_payload_value *values, struct nsx_diags *diags, struct nsx_err *err)
{
	struct reading r = { .p = t->payloads, .ask = ask, .schema = schema, .values = values };

	for (size_t i = 0; i < n; i++)
		schema[i] = -1;
	memset(values, 0, n * (size_t)ask->nentries * sizeof *values);
	if (!t->payloads || !n)
		return NSX_OK;
	int rc = read_all(&r, ids, n, err);
	if (rc == NSX_OK)
		rc = nsx_db_unchanged(&t->payloads->db, err);
	nsx_buf_free(&r.bytes);
	nsx_ids_free(&r.strings);
	free(r.string_at);
	free(r.texts);
	const char *who = t->name.ptr;
	nsx_diag_add(diags, NSX_WARNING, who, r.malformed,
	             "NVTX payloads ignored: shorter than their own size or their schema");
	nsx_diag_add(diags, NSX_WARNING, who, r.unknown, "NVTX payloads ignored: their schema is not in the export");
	nsx_diag_add(diags, NSX_WARNING, who, r.torn,
	             "NVTX payloads ignored: the export has several schemas of one number");
	nsx_diag_add(diags, NSX_WARNING, who, r.unreadable,
	             "entries of NVTX payloads ignored: unknown type or offset");
	nsx_diag_add(diags, NSX_WARNING, who, r.lost,
	             "entries of NVTX payloads ignored: their strings are not in StringIds");
	return rc;
}
