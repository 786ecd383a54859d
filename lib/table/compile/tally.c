/* tally.c -- a profile's ranges, added up by the meaning of a row. */
#include "table/compile/compile.h"

#include <stdlib.h>

#include "xla/title.h"

/* Rows for ranges without a key, above every number of a name or program. */
enum { LOADING_KEY = -2 };

size_t
nsx_compile_profile(struct compiling *c, int64_t number)
{
	/* Most records are of the same one as the last. */
	if (c->last_profile < c->profiles.n && c->profiles.p[c->last_profile].number == number)
		return c->last_profile;
	uint32_t at = nsx_map_number(&c->profile_at, (struct nsx_key){ (uint64_t)number, 0 });

	c->last_profile = at;
	return nsx_vec_next(&c->profiles, at, ((struct nsx_compile_profile){ .number = number, .last = -1 })) ? at
	       : SIZE_MAX;
}

void
nsx_compile_span(struct nsx_compile_profile *p, int64_t start, int64_t dur)
{
	/* Invalid times are not counted. */
	if (start > TIME_MAX || start < -TIME_MAX || dur < 0 || dur > TIME_MAX)
		return;
	if (p->last < p->first || start < p->first) {
		if (p->last < p->first)
			p->last = start + dur;
		p->first = start;
	}
	if (start + dur > p->last)
		p->last = start + dur;
}

bool
nsx_compile_sound(const struct compile_range *r)
{
	return r->start <= TIME_MAX && r->start >= -TIME_MAX && r->dur >= 0 && r->dur <= TIME_MAX &&
	       r->child >= -TIME_MAX &&
	       r->child <= TIME_MAX && r->self >= -TIME_MAX && r->self <= TIME_MAX;
}

static struct compiling_row *
row_of(struct compiling *c, int64_t key, struct nsx_str name)
{
	struct compiling_row *row = nsx_sums_row(&c->at->rows, &key);

	if (!row)
		nsx_err_nomem(c->err, c->where);
	else
		row->name = name;
	return row;
}

static int
add(struct compiling *c, fine_time *sum, fine_time v)
{
	if (!__builtin_add_overflow(*sum, v, sum))
		return NSX_OK;
	return nsx_err_set(c->err, "%s: the sum of compile times exceeds 63 bits", c->where);
}

/* ---- processes ---- */

/* The process that r belongs to; NULL when out of memory. Few: a search is enough. */
static struct compile_process *
process_of(struct compiling *c, const struct compile_range *r)
{
	for (size_t i = c->processes.n; i-- > 0 && c->processes.p[i].profile == c->profile;)
		if (c->processes.p[i].pid == r->pid)
			return &c->processes.p[i];
	struct compile_process fresh = { .profile = c->profile, .pid = r->pid };

	if (!nsx_vec_push(&c->processes, fresh)) {
		nsx_err_nomem(c->err, c->where);
		return NULL;
	}
	return &c->processes.p[c->processes.n - 1];
}

/* Compilations of a process count once where they overlap; they come in order of start. */
static int
open_compilation(struct compiling *c, const struct compile_range *r)
{
	struct compile_process *p = process_of(c, r);

	if (!p)
		return NSX_ERR;
	p->compilations += !r->orphan;
	nsx_union_add(&p->busy, r->start, r->start + r->dur);
	return NSX_OK;
}

/* ---- rows ---- */

/* The row in which r counts; *row is NULL if it counts in none. */
static int
find_row(struct compiling *c, const struct compile_range *r, struct compiling_row **row)
{
	struct nsx_str name = nsx_intern_str(&c->names, r->name);
	struct nsx_title title;
	int64_t key = r->name;

	*row = NULL;
	nsx_title_parse(name, &title);
	switch (c->at->by) {
	case NSX_COMPILE_RANGE:
		break;
	case NSX_COMPILE_PASS:
		if (!nsx_str_eq(title.label, NSX_STR("XlaPass")))
			return NSX_OK;
		break;
	case NSX_COMPILE_PHASE:
		name = title.label;
		key = nsx_intern(&c->names, name);
		if (key == NSX_NONE)
			return nsx_err_nomem(c->err, c->where);
		break;
	case NSX_COMPILE_MODULE:
		name = (struct nsx_str){ "", 0 };
		key = r->program;
		break;
	case NSX_COMPILE_PROCESS:
	case NSX_COMPILE_NBY:
		return NSX_OK;
	}
	/* A name of the table of names: it lives as long as the rows. */
	if (c->at->by == NSX_COMPILE_PHASE)
		name = nsx_intern_str(&c->names, (uint32_t)key);
	*row = row_of(c, key, name);
	if (!*row)
		return NSX_ERR;
	(*row)->program = c->at->by == NSX_COMPILE_MODULE ? key : -1;
	return NSX_OK;
}

/* Add r to its row; apart: its own time is for loading libraries. */
static int
count(struct compiling *c, const struct compile_range *r, const struct compile_part *part, bool apart)
{
	struct compiling_row *row;

	if (find_row(c, r, &row) != NSX_OK)
		return NSX_ERR;
	if (!row)
		return NSX_OK;
	if (add(c, &row->child, part->child) != NSX_OK || add(c, &row->work, r->self * FINE_NS) != NSX_OK)
		return NSX_ERR;
	if (r->parent == NSX_NONE && !r->orphan) {
		row->compilations++;
		if (r->dur > row->longest)
			row->longest = r->dur;
	}
	if (apart && !(row = row_of(c, LOADING_KEY, nsx_str_c(LOADING_NAME))))
		return NSX_ERR;
	if (apart)
		row->program = -1;
	return add(c, &row->self, part->self);
}

int
nsx_compile_tally(struct compiling *c)
{
	size_t n = c->ranges.n;
	struct compile_part *part = malloc((n + 1) * sizeof *part);
	bool *first = calloc(n + 1, sizeof *first);   /* by range: it is in the first compilation of its process */
	int rc = part && first ? NSX_OK : nsx_err_nomem(c->err, c->where);

	if (rc == NSX_OK)
		rc = nsx_compile_share(c->ranges.p, n, part, c->err);
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		const struct compile_range *r = &c->ranges.p[i];

		if (r->parent != NSX_NONE) {
			first[i] = first[r->parent];
		} else if ((rc = open_compilation(c, r)) == NSX_OK && !r->orphan) {
			struct compile_process *p = process_of(c, r);
			first[i] = p && !p->loaded;
			if (p)
				p->loaded = true;
		}
		for (size_t k = 0; k < c->opts->nby && rc == NSX_OK; k++) {
			c->at = &c->tables[k];
			rc = count(c, r, &part[i], c->opts->loading && first[i] && (r->inner || part[i].owns));
		}
		c->orphans += r->orphan;
	}
	if (n)
		c->profiles.p[c->profile].compiles = true;
	c->records += (int64_t)n;
	c->ranges.n = 0;
	free(part);
	free(first);
	return rc;
}
