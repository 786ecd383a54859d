/* binary_records.c -- the records of a decoded block of a binary stream, one by one or in runs. */
#include <stdlib.h>

#include "base/num.h"
#include "stream/binary_read.h"

void
nsx_binary_begin_records(struct nsx_binary *b)
{
	b->run = b->left = 0;
	b->now = NULL;
	for (size_t i = 0; i < b->cur->kinds.n; i++) {
		struct nsx_binary_kind *k = &b->kinds.p[i];

		k->in = &b->cur->kinds.p[i];
		k->at = k->ready = k->passed = k->told = 0;
		k->filled = false;
	}
}

/* The slots of the columns that have values. */
static void
fill(struct nsx_binary_kind *k)
{
	k->filled = k->straight = true;
	k->ncols = 0;
	k->has = 0;
	for (int strings = 1; strings >= 0; strings--) {
		for (int i = 0; i < k->met->n; i++) {
			if (!k->in->c.v[i] || !(k->in->now >> i & 1) || (k->met->type[i] == 's') != strings)
				continue;
			uint8_t slot = k->met->kind->order[i];

			k->way[k->ncols++] = (struct nsx_binary_column){ k->in->c.v[i], slot, (uint8_t)i,
			                                                 k->in->c.dense >> i & 1 };
			k->has |= 1ULL << slot;
			k->straight = k->straight && slot == i;
		}
		if (strings)
			k->nstrings = k->ncols;
	}
}

/* The values of a column in the n needed records one after the other, NSX_ABSENT where one has none: to, unless they
 * already are. */
static const int64_t *
values(const struct nsx_columns *c, const struct nsx_binary_column *w, int64_t *to, size_t n)
{
	const uint32_t *rows = w->dense ? NULL : c->picked;
	const uint64_t *v = w->from;

	if (!rows && (w->dense || c->all >> w->col & 1))
		return (const int64_t *)v;
	if (c->all >> w->col & 1) {
		for (size_t i = 0; i < n; i++)
			to[i] = (int64_t)v[rows[i]];
		return to;
	}
	for (size_t i = 0; i < n; i++) {
		size_t row = rows ? rows[i] : i;

		to[i] = c->has[row] >> w->col & 1 ? (int64_t)v[row] : NSX_ABSENT;
	}
	return to;
}

/* Count the records whose end does not fit a time: an absent value is 0 in its column. */
static int64_t
beyond(const struct nsx_columns *c, const struct nsx_binary_column *start, const struct nsx_binary_column *dur,
       size_t n)
{
	int64_t count = 0, end;
	uint64_t bits = 0;

	/* Times of less than 2^62 ns, which all are, usually of these records alone. */
	for (size_t i = 0; i < n && start->dense && dur->dense; i++)
		bits |= start->from[i] | dur->from[i];
	if (start->dense && dur->dense && !(bits >> 62))
		return 0;
	for (size_t i = 0; i < n; i++) {
		size_t row = c->picked ? c->picked[i] : i;

		count += __builtin_add_overflow((int64_t)start->from[start->dense ? i : row],
		                                (int64_t)dur->from[dur->dense ? i : row], &end);
	}
	return count;
}

/* The records of a kind that come in runs, of a block. False when out of memory. */
static bool
fill_run(struct nsx_reader *r, struct nsx_binary_kind *k)
{
	struct nsx_binary *b = r->state;
	const struct nsx_columns *c = &k->in->c;
	const struct nsx_binary_column *start = NULL, *dur = NULL;
	size_t n = c->picked ? c->npicked : k->in->n;   /* which may have no values */
	struct nsx_run *run = k->run;
	int64_t *to;

	if (!nsx_vec_reach(&k->absent, n, &(int64_t){ NSX_ABSENT }) || !nsx_vec_room(&k->values, (size_t)k->ncols * n))
		return false;
	to = k->values.p;
	*run = (struct nsx_run){ .kind = k->met->kind, .n = n,
	                         .texts = { b->cur->strings.n, (uint32_t)b->blocks,
	                                    b->declared.p[k - b->kinds.p].compare ? b->cur->strings.first.p : NULL,
	                                    &b->cur->strings } };
	for (int i = 0; i < k->met->kind->nslots; i++)
		run->v[i] = k->absent.p;
	for (const struct nsx_binary_column *w = k->way; w < k->way + k->ncols; w++, to += n) {
		run->v[w->slot] = values(c, w, to, n);
		start = w->slot == k->start ? w : start;
		dur = w->slot == k->dur ? w : dur;
	}
	if (start && dur)
		r->beyond += beyond(c, start, dur, n);
	return true;
}

static uint64_t
present(const struct nsx_binary_kind *k, size_t at)
{
	uint64_t columns = k->in->c.has[at] | k->in->c.all, has = 0;

	/* Columns that others refer to may be decoded without being needed. */
	if (k->straight)
		return columns & k->has;
	for (int i = 0; i < k->ncols; i++)
		has |= (columns >> k->way[i].col & 1) << k->way[i].slot;
	return has;
}

bool
nsx_binary_assemble(struct nsx_binary *b, struct nsx_binary_kind *k)
{
	const struct nsx_str *strings = b->cur->strings.p;
	const struct nsx_binary_column *w = k->way, *strings_end = w + k->nstrings, *end = w + k->ncols;
	size_t at = k->at, left = (k->in->c.picked ? k->in->c.npicked : k->in->n) - at;
	size_t n = left < NSX_BINARY_BATCH ? left : NSX_BINARY_BATCH;
	size_t wide = k->wide;

	if (!k->v) {
		/* Code that copies a record may copy all slots. */
		wide = k->wide = (size_t)k->met->kind->nslots + 1;
		k->v = calloc(NSX_BINARY_BATCH * k->wide + NSX_MAX_COLS, sizeof *k->v);
		if (!k->v)
			return false;
	}
	for (; w < end; w++) {
		const uint32_t *picked = !k->in->c.picked || w->dense ? NULL : k->in->c.picked + at;
		const uint64_t *from = picked ? w->from : w->from + at;
		union nsx_val *to = k->v + w->slot;

		/* Doubles are stored as their 64 bits. */
		if (w < strings_end)
			for (size_t i = 0; i < n; i++, to += wide)
				to->s = strings[from[picked ? picked[i] : i]];
		else if (picked)
			for (size_t i = 0; i < n; i++, to += wide)
				to->i = (int64_t)from[picked[i]];
		else
			for (size_t i = 0; i < n; i++, to += wide)
				to->i = (int64_t)from[i];
	}
	for (size_t i = 0; i < n; i++)
		k->is[i] = k->in->c.has ? present(k, k->in->c.picked ? k->in->c.picked[at + i] : at + i) : k->has;
	k->ready = at + n;
	return true;
}

/* The number of needed records among the next n of a kind; the others are counted as read and lacking. */
static size_t
needed(struct nsx_reader *r, struct nsx_binary_kind *k, size_t n)
{
	const struct nsx_binary *b = r->state;
	size_t from = k->told;
	/* Records without any values have no message to pick from. */
	bool none = !k->in->read && b->declared.p[k - b->kinds.p].value >= 0;

	if (!k->in->c.picked && !none)
		return n;
	k->passed += n;
	while (k->told < k->in->c.npicked && k->in->c.picked[k->told] < k->passed)
		k->told++;
	size_t lacking = n - (k->told - from);

	r->records += (int64_t)lacking;
	r->lacking[k->met->kind->id] += (int64_t)lacking;
	return n - lacking;
}

/* Before the first run of a kind in a block. False when out of memory. */
static __attribute__((noinline)) bool
begin_kind(struct nsx_reader *r, struct nsx_binary_kind *k)
{
	fill(k);
	return !k->run || fill_run(r, k);
}

int
nsx_binary_begin_run(struct nsx_reader *r, struct nsx_binary_kind *k)
{
	struct nsx_binary *b = r->state;
	size_t n = (size_t)b->cur->order_counts.p[b->run++];

	if (k->skip) {
		r->records += (int64_t)n;
		return NSX_OK;
	}
	if (!k->filled && !begin_kind(r, k))
		return nsx_err_nomem(r->err, r->name);
	/* Runs come as columns: those that only records of other kinds that are not needed separate are one. */
	for (; k->run && b->run < b->cur->order_kinds.n; b->run++) {
		const struct nsx_binary_kind *next = &b->kinds.p[b->cur->order_kinds.p[b->run]];

		if (next == k)
			n += (size_t)b->cur->order_counts.p[b->run];
		else if (next->skip && next->met)
			r->records += (int64_t)b->cur->order_counts.p[b->run];
		else
			break;
	}
	b->now = k;
	b->left = needed(r, k, n);
	return NSX_OK;
}

struct nsx_str
nsx_text(const struct nsx_run_texts *texts, int64_t number)
{
	return number == NSX_ABSENT ? (struct nsx_str){ "", 0 } : nsx_strings_get(texts->of, (size_t)number);
}

/* Whether the next n records of a run come in order, where that is easily seen: of work whose first column of times all
 * of them have. */
static bool
run_comes_after(struct nsx_reader *r, const struct nsx_binary_kind *k, size_t n)
{
	const int64_t *start = k->order[0] < 0 ? NULL : k->run->v[k->order[0]], *other = start ? k->run->v[k->order[1]]
	                       : NULL;
	/* At one time, kinds have an order. */
	int64_t last = nsx_add_sat(r->last.first, r->last.second > k->met->kind->id, NULL);

	if (!start || r->last.section != NSX_SECTION_WORK)
		return false;
	for (size_t i = k->at; i < k->at + n; i++) {
		int64_t time = start[i] == NSX_ABSENT || (other[i] != NSX_ABSENT && other[i] < start[i]) ? other[i]
		               : start[i];

		if (time < last || time == NSX_ABSENT)
			return false;
		last = time;
	}
	r->last.first = last;
	r->last.second = k->met->kind->id;
	r->last_kind = k->met->kind;
	return true;
}

/* Check the order of the next n records, one by one. */
static int
check_run(struct nsx_reader *r, struct nsx_binary_kind *k, size_t n)
{
	struct nsx_binary *b = r->state;
	struct nsx_rec rec = { .kind = k->met->kind };
	size_t from = k->at;
	int rc = NSX_OK;

	for (; k->at < from + n && rc == NSX_OK; k->at = k->ready) {
		if (!nsx_binary_assemble(b, k))
			return nsx_err_nomem(r->err, r->name);
		for (size_t i = k->at; i < k->ready && i < from + n && rc == NSX_OK; i++) {
			rec.v = k->v + (i - k->at) * k->wide;
			rec.has = k->is[i - k->at];
			r->records++;
			rc = nsx_reader_check_order(r, &rec);
		}
	}
	k->at = from;
	r->records -= rc == NSX_OK ? (int64_t)n : 0;
	return rc;
}

int
nsx_binary_pass_run(struct nsx_reader *r, struct nsx_binary_kind *k)
{
	struct nsx_binary *b = r->state;

	if (r->flags & NSX_READ_ORDERED && !run_comes_after(r, k, b->left) && check_run(r, k, b->left) != NSX_OK)
		return NSX_ERR;
	k->run->from = k->at;
	k->run->end = k->at += b->left;
	r->records += (int64_t)b->left;
	r->ran |= UINT64_C(1) << k->met->kind->id;
	b->left = 0;
	return r->runs.take(r->run_state, k->run);
}

/* Pass on the next n records, which are of kind k and assembled. */
static int
take_assembled(struct nsx_reader *r, struct nsx_binary_kind *k, size_t n, struct nsx_rec *rec, nsx_take_fn *take,
               void *state)
{
	size_t i = n ? k->at - (k->ready - 1) / NSX_BINARY_BATCH * NSX_BINARY_BATCH : 0, wide = k->wide;
	const uint64_t *has = k->is + i;
	int start = k->start, dur = k->dur;
	bool ordered = r->flags & NSX_READ_ORDERED;
	uint64_t timed = start >= 0 ? 1ULL << start | 1ULL << dur : 0;
	int64_t end;

	k->at += n;
	rec->kind = k->met->kind;
	rec->v = k->v + i * wide;
	for (; n > 0; n--, rec->v += wide) {
		rec->has = *has++;
		r->records++;
		if (timed && (rec->has & timed) == timed)
			r->beyond += __builtin_add_overflow(rec->v[start].i, rec->v[dur].i, &end);
		if (ordered && !nsx_reader_comes_after(r, k->order, rec) && nsx_reader_check_order(r, rec) != NSX_OK)
			return NSX_ERR;
		if (take(state, rec) != NSX_OK) {
			/* Who reads on has the end of the stream to compare with. */
			r->records += (int64_t)n - 1;
			return NSX_ERR;
		}
	}
	return NSX_OK;
}

int
nsx_binary_rest(struct nsx_reader *r, struct nsx_rec *rec, nsx_take_fn *take, void *state)
{
	struct nsx_binary *b = r->state;

	for (;;) {
		struct nsx_binary_kind *k = b->now;

		if (b->left && k->run && nsx_binary_pass_run(r, k) != NSX_OK)
			return NSX_ERR;
		while (b->left) {
			if (k->at == k->ready && !nsx_binary_assemble(b, k))
				return nsx_err_nomem(r->err, r->name);
			size_t n = k->ready - k->at < b->left ? k->ready - k->at : b->left;
			b->left -= n;
			if (take_assembled(r, k, n, rec, take, state) != NSX_OK)
				return NSX_ERR;
		}
		if (!nsx_binary_find_run(r))
			return NSX_OK;
		k = &b->kinds.p[b->cur->order_kinds.p[b->run]];
		if (!k->met || k->met->kind->id == NSX_DIAG)
			return NSX_OK;
		if (nsx_binary_begin_run(r, k) != NSX_OK)
			return NSX_ERR;
	}
}
