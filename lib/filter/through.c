/* through.c -- filters that are connected by links: the first one reads, and each calls the next. */
#include "filter/through.h"

#include <string.h>

#include "filter/align.h"
#include "filter/collectives.h"
#include "filter/overlap.h"
#include "filter/warmup.h"
#include "stream/diags.h"
#include "stream/link.h"

enum { HOLD_BYTES = 64 << 20 };

/* A filter at work; link: to the next one, NULL for the last. */
struct stage {
	struct nsx_through  *f;
	const struct filter *is;
	void                *at;    /* what it knows */
	struct nsx_reader   *in;
	struct nsx_writer   *out;
	struct nsx_link     *link;
};

/* What a filter does; nothing for align, which reads its input twice. */
struct filter {
	const char *name;
	void *(*begin)(struct stage *s);
	const struct nsx_stepping *steps;
};

static void *
begin_warmup(struct stage *s)
{
	nsx_writer_follow(s->out, s->in);
	return nsx_warmup_begin(s->in, s->out, NSX_WARMUP_STEADY, &s->f->err);
}

static void *
begin_overlap(struct stage *s)
{
	return nsx_overlap_begin(s->in, s->out, HOLD_BYTES, &s->f->err);
}

static void *
begin_collectives(struct stage *s)
{
	return nsx_collectives_begin(s->in, s->out, HOLD_BYTES, &s->f->err);
}

static const struct filter filters[] = {
	{ "align", NULL, NULL },
	{ "warmup", begin_warmup, &nsx_warmup_stepping },
	{ "overlap", begin_overlap, &nsx_overlap_stepping },
	{ "collectives", begin_collectives, &nsx_collectives_stepping }
};

enum { FILTERS = sizeof filters / sizeof *filters };

const char *
nsx_through_name(size_t i)
{
	return i < FILTERS ? filters[i].name : NULL;
}

/* After its last record, as its program does: what it found is part of the stream. */
static int
finish(struct stage *s)
{
	char name[32] = "nsysx-";

	strncat(name, s->is->name, sizeof name - strlen(name) - 1);
	if (s->in)
		nsx_diags_beyond(&s->f->diags, s->in);
	if (s->f->diags.failed)
		return nsx_err_nomem(&s->f->err, NULL);
	if (nsx_write_diags(s->out, name, &s->f->diags) != NSX_OK)
		return NSX_ERR;
	return s->link ? nsx_writer_finish(s->out) : NSX_OK;
}

/* After the last record. */
static int
end(struct stage *s)
{
	return s->is->steps->end(s->at, &s->f->diags) == NSX_OK ? finish(s) : NSX_ERR;
}

/* It takes a record, or learns that there is none any more. */
static int
step(void *state)
{
	struct stage *s = state;
	int rc = s->is->steps->step(s->at);

	return rc == NSX_EOF ? end(s) : rc;
}

static int
prepare(struct stage *s, struct nsx_through *f, bool first, struct nsx_err *err)
{
	s->f = f;
	for (size_t i = 0; i < FILTERS; i++)
		if (strcmp(filters[i].name, f->name) == 0)
			s->is = &filters[i];
	if (!s->is || (!s->is->begin && !first))
		return nsx_err_set(err, "%s: %s", f->name, s->is ? "can only be the first" : "no such filter");
	return NSX_OK;
}

/* Connect a filter with the next. */
static int
join(struct stage *s, struct stage *next)
{
	s->link = nsx_link_new("standard input", NSX_READ_ORDERED, &next->f->err);
	if (!s->link)
		return NSX_ERR;
	next->in = nsx_link_reader(s->link);
	s->out = nsx_link_writer(s->link, step, next, &s->f->err);
	return s->out ? NSX_OK : NSX_ERR;
}

static int
begin(struct stage *s)
{
	if (!s->is->begin)
		return NSX_OK;
	/* Diags follow in a stream whose header may lack some of the columns. */
	if (!s->in || nsx_reader_add_columns(s->in, NSX_DIAG) != NSX_OK)
		return NSX_ERR;
	s->at = s->is->begin(s);
	return s->at ? NSX_OK : NSX_ERR;
}

/* The first filter reads all of the stream. */
static int
read_all(struct stage *s, const char *path)
{
	static const struct nsx_align_opts opts = { .hold_bytes = HOLD_BYTES };
	int rc = NSX_OK;

	if (!s->is->begin)
		return nsx_align(path, &opts, s->out, &s->f->diags, &s->f->err) == NSX_OK ? finish(s) : NSX_ERR;
	while (rc == NSX_OK)
		rc = s->is->steps->step(s->at);
	return rc == NSX_EOF ? end(s) : rc;
}

int
nsx_through(const char *path, struct nsx_through *f, size_t n, struct nsx_writer *out, struct nsx_err *err)
{
	struct stage s[NSX_THROUGH_MOST] = { { .f = NULL } };
	int rc = n && n <= NSX_THROUGH_MOST ? NSX_OK : nsx_err_set(err, "want 1 to %d filters", NSX_THROUGH_MOST);

	if (rc != NSX_OK)
		return rc;
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = prepare(&s[i], &f[i], i == 0, err);
	s[n - 1].out = out;
	if (rc == NSX_OK && s[0].is->begin)
		s[0].in = nsx_reader_open(path, NSX_READ_ORDERED, &f[0].err);
	for (size_t i = 0; i + 1 < n && rc == NSX_OK; i++)
		rc = join(&s[i], &s[i + 1]);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = begin(&s[i]);
	if (rc == NSX_OK)
		rc = read_all(&s[0], path);
	for (size_t i = 0; i < n; i++) {
		if (s[i].at)
			s[i].is->steps->free(s[i].at);
		if (i + 1 < n)
			nsx_writer_free(s[i].out);
		nsx_reader_close(s[i].in);
	}
	for (size_t i = 0; i < n; i++)
		nsx_link_free(s[i].link);
	return rc;
}
