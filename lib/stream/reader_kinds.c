/* reader_kinds.c -- the kinds and columns of a stream that is read: those it declares, and those that are needed. */
#include <string.h>

#include "stream/codec.h"
#include "stream/fields.h"
#include "stream/order.h"

bool
nsx_kind_word(struct nsx_str s)
{
	if (s.len == 0 || s.ptr[0] < 'a' || s.ptr[0] > 'z')
		return false;
	for (size_t i = 1; i < s.len; i++) {
		char c = s.ptr[i];

		if (!((c >= 'a' && c <= 'z') || nsx_is_digit(c) || c == '_'))
			return false;
	}
	return true;
}

int
nsx_reader_add_column(struct nsx_reader *r, enum nsx_kind_id kind, const char *column, char type)
{
	struct nsx_str name = nsx_arena_str(&r->arena, nsx_str_c(column));

	if (!name.ptr || !nsx_vec_push(&r->added, ((struct nsx_added){ kind, name.ptr, type })))
		return nsx_err_nomem(r->err, r->name);
	return NSX_OK;
}

int
nsx_reader_add_columns(struct nsx_reader *r, enum nsx_kind_id kind)
{
	const struct nsx_kind *k = nsx_kind_builtin(kind);
	int rc = NSX_OK;

	for (int i = 0; i < k->ncols && rc == NSX_OK; i++)
		rc = nsx_reader_add_column(r, kind, k->cols[i].name, k->cols[i].type);
	return rc;
}

void
nsx_reader_need(struct nsx_reader *r, enum nsx_kind_id kind, uint64_t columns)
{
	r->needs = r->asked[kind] = true;
	r->need[kind] |= columns;
}

void
nsx_reader_need_value(struct nsx_reader *r, enum nsx_kind_id kind, int slot)
{
	r->value[kind] = (int8_t)(slot + 1);
	nsx_reader_need(r, kind, 1ULL << slot);
}

int64_t
nsx_reader_lacking(const struct nsx_reader *r, enum nsx_kind_id kind)
{
	return r->lacking[kind];
}

/* The slots of a kind that are needed. */
static uint64_t
needed(const struct nsx_reader *r, enum nsx_kind_id kind)
{
	return !r->needs ? NSX_EVERY : !r->asked[kind] ? 0
	       : r->need[kind] | (r->flags & NSX_READ_ORDERED ? nsx_order_columns(kind) : 0);
}

uint64_t
nsx_reader_wanted(const struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols, size_t ncols,
                  bool *skip)
{
	enum nsx_kind_id kind = nsx_kind_find(name);
	uint64_t slots = needed(r, kind), wanted = 0;

	*skip = r->needs && !r->asked[kind] && kind != NSX_END;
	if (slots == NSX_EVERY || kind == NSX_END)
		return NSX_EVERY;
	for (size_t i = 0; i < ncols && i < NSX_MAX_COLS; i++) {
		int slot = kind == NSX_NKINDS ? -1 : nsx_kind_slot(nsx_kind_builtin(kind), cols[i].name);

		wanted |= (uint64_t)(slot >= 0 && slots >> slot & 1) << i;
	}
	return wanted;
}

int
nsx_reader_value(const struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols, size_t ncols)
{
	enum nsx_kind_id kind = nsx_kind_find(name);
	size_t i = 0;

	/* With NSX_READ_ORDERED all records of a kind are needed: their order is checked. */
	if (!r->value[kind] || r->flags & NSX_READ_ORDERED)
		return -1;
	while (i < ncols && nsx_kind_slot(nsx_kind_builtin(kind), cols[i].name) != r->value[kind] - 1)
		i++;
	return (int)i;
}

struct nsx_met *
nsx_reader_met(struct nsx_reader *r, struct nsx_str name)
{
	uint32_t i = nsx_intern_find(&r->names, name);

	return i == NSX_NONE ? NULL : r->met.p[i];
}

/* A kind under construction. */
struct making {
	struct nsx_kind *kind;
	struct nsx_col  *cols;
	int              known;   /* number of columns of the built-in kind */
};

/* Add a column to the kind: NSX_OK; NSX_EOF if it exists already; NSX_ERR. */
static int
add_column(struct nsx_reader *r, struct making *m, struct nsx_str name, char type)
{
	struct nsx_kind *k = m->kind;
	int slot = nsx_kind_slot(k, name);

	if (slot >= 0 && m->cols[slot].type != type)
		return nsx_reader_fail(r, "column %s of %s: want type %c, got %c", m->cols[slot].name, k->name,
		                       m->cols[slot].type, type);
	if (slot >= 0 && nsx_kind_has(k, slot))
		return NSX_EOF;
	if (slot < 0) {
		if (k->nslots == NSX_MAX_COLS)
			return nsx_reader_fail(r, "kind %s has more than %d columns, known ones counted", k->name,
			                       NSX_MAX_COLS);
		struct nsx_str copy = nsx_arena_str(&r->arena, name);
		if (!copy.ptr)
			return nsx_err_nomem(r->err, r->name);
		slot = k->nslots++;
		m->cols[slot] = (struct nsx_col){ copy.ptr, type, NULL, NULL };
	}
	k->order[k->ncols++] = (uint8_t)slot;
	return NSX_OK;
}

static int
start_kind(struct nsx_reader *r, struct making *m, struct nsx_str name)
{
	struct nsx_kind *k = m->kind = nsx_arena_alloc(&r->arena, sizeof *k);
	struct nsx_str copy = nsx_arena_str(&r->arena, name);

	m->cols = nsx_arena_alloc(&r->arena, NSX_MAX_COLS * sizeof *m->cols);
	if (!k || !copy.ptr || !m->cols)
		return nsx_err_nomem(r->err, r->name);
	*k = (struct nsx_kind){ .id = nsx_kind_find(name), .name = copy.ptr, .cols = m->cols };
	m->known = 0;
	if (k->id != NSX_NKINDS) {
		const struct nsx_kind *b = nsx_kind_builtin(k->id);

		k->name = b->name;
		k->meaning = b->meaning;
		k->nslots = m->known = b->nslots;
		memcpy(m->cols, b->cols, (size_t)b->nslots * sizeof *b->cols);
	}
	return NSX_OK;
}

static uint64_t
print_of(const struct nsx_kind *k)
{
	uint64_t h = nsx_hash(k->name, strlen(k->name));

	for (int i = 0; i < k->ncols; i++) {
		const struct nsx_col *c = &k->cols[k->order[i]];

		h = nsx_hash_u64(h ^ nsx_hash(c->name, strlen(c->name)) ^ (uint64_t)c->type << 56 ^ k->order[i]);
	}
	return h | 1ULL << 63;
}

static bool
is_builtin(const struct making *m)
{
	const struct nsx_kind *k = m->kind;

	if (k->id == NSX_NKINDS || k->nslots != m->known || k->ncols != m->known)
		return false;
	for (int i = 0; i < k->ncols; i++)
		if (k->order[i] != i)
			return false;
	return true;
}

struct nsx_met *
nsx_reader_declare(struct nsx_reader *r, struct nsx_str name, const struct nsx_head *cols, size_t ncols)
{
	int shown = name.len > 40 ? 40 : (int)name.len;
	struct making m;
	struct nsx_met *met;

	if (!nsx_kind_word(name)) {
		nsx_reader_fail(r, "want a kind (a lower-case word), got \"%.*s\"", shown, name.ptr);
		return NULL;
	}
	if (nsx_reader_met(r, name)) {
		nsx_reader_fail(r, "second header of %.*s", shown, name.ptr);
		return NULL;
	}
	/* `end` is not counted. */
	if (r->kinds.n - (nsx_reader_met(r, NSX_STR("end")) != NULL) >= NSX_MAX_KINDS && nsx_kind_find(name) != NSX_END)
	    {
		nsx_reader_fail(r, "more than %d kinds", NSX_MAX_KINDS);
		return NULL;
	}
	if (start_kind(r, &m, name) != NSX_OK)
		return NULL;
	for (size_t i = 0; i < ncols; i++) {
		int wide = cols[i].name.len > 40 ? 40 : (int)cols[i].name.len;
		int rc;

		if (!nsx_kind_word(cols[i].name))
			rc = nsx_reader_fail(r, "want a column (a lower-case word), got \"%.*s\"", wide,
			                     cols[i].name.ptr);
		else if (!cols[i].type || !strchr("ifs", cols[i].type))
			rc = nsx_reader_fail(r, "column %.*s of %.*s: want type i, f or s, got %c: from a newer nsysx?",
			                     wide, cols[i].name.ptr, shown, name.ptr, cols[i].type ? cols[i].type
			                     : '?');
		else
			rc = add_column(r, &m, cols[i].name, cols[i].type);
		if (rc == NSX_EOF)
			nsx_reader_fail(r, "column %.*s of %.*s twice", wide, cols[i].name.ptr, shown, name.ptr);
		if (rc != NSX_OK)
			return NULL;
	}
	for (size_t i = 0; i < r->added.n; i++)
		if (r->added.p[i].kind == m.kind->id
		    && add_column(r, &m, nsx_str_c(r->added.p[i].name), r->added.p[i].type) == NSX_ERR)
			return NULL;
	m.kind->print = print_of(m.kind);
	m.kind->strings = nsx_kind_strings(m.kind);

	met = nsx_arena_alloc(&r->arena, sizeof *met);
	if (!met || !nsx_vec_room(&r->kinds, 1) || !nsx_vec_room(&r->met, 1) || nsx_intern(&r->names, name) == NSX_NONE)
	    {
		nsx_err_nomem(r->err, r->name);
		return NULL;
	}
	met->wanted = nsx_reader_wanted(r, name, cols, ncols, &met->skip);
	if (m.kind->id != NSX_END)
		m.kind->unasked = ~needed(r, m.kind->id);
	met->kind = is_builtin(&m) && !m.kind->unasked ? nsx_kind_builtin(m.kind->id) : m.kind;
	met->n = (int)ncols;
	for (size_t i = 0; i < ncols; i++)
		met->type[i] = cols[i].type;
	r->kinds.p[r->kinds.n++] = met->kind;
	r->met.p[r->met.n++] = met;
	return met;
}
