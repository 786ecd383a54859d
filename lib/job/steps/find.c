/* find.c -- see find.h. */
#include "job/steps/find.h"

#include <stdlib.h>

#include "base/pattern.h"
#include "job/missing.h"
#include "job/serving.h"
#include "job/steps/detect.h"
#include "job/steps/warn.h"

/* Collects steps, and spools all records if they must be read a second time. */
struct collecting { struct nsx_step_set *set; struct nsx_spool *again; const struct nsx_steps_wanted *wanted; };

/* State of the first reading if no class is given: modules are collected while reading, and all records that ranges
 * need are spooled. */
struct first {
	struct collecting        collecting;
	struct nsx_step_classes *classes;
	struct nsx_spool        *spool;
};

static int
take_set(void *state, const struct nsx_rec *rec)
{
	struct collecting *c = state;

	if (nsx_steps_take(c->set, rec) != NSX_OK)
		return NSX_ERR;
	if (c->wanted->also && c->wanted->also(c->wanted->also_state, rec) != NSX_OK)
		return NSX_ERR;
	return c->again ? nsx_spool_write(c->again, rec) : NSX_OK;
}

static int
take_first(void *state, const struct nsx_rec *rec)
{
	struct first *f = state;

	/* Metadata come first, so when work comes it is known whether the job uses XLA. */
	if (take_set(&f->collecting, rec) != NSX_OK)
		return NSX_ERR;
	if (f->collecting.set->cat.programs.n)
		return NSX_OK;
	if (nsx_step_classes_take(f->classes, rec) != NSX_OK)
		return NSX_ERR;
	return rec->kind->id == NSX_DIAG ? NSX_OK : nsx_spool_write(f->spool, rec);
}

/* Read the ranges of the class from the spool. */
static int
second_reading(struct nsx_spool *spool, struct nsx_step_set *s, const char *class, bool repeats, struct nsx_err *err)
{
	struct nsx_reader *in = nsx_spool_reader(spool);
	const struct nsx_steps_wanted none = { .also = NULL };
	bool warm = s->warm;
	bool bounds = s->bounds, batched = s->batched;
	int rc;

	if (!in)
		return NSX_ERR;
	nsx_steps_free(s);
	*s = (struct nsx_step_set){ .kind = nsx_serving_is_class(nsx_str_c(class)) ? NSX_STEP_SERVING : NSX_STEP_CLASS,
	                            .phases = true, .label = class, .suffixed = repeats, .bounds = bounds,
	                            .batched = batched, .err = err };
	nsx_steps_need(s, in);
	rc = nsx_read_all(in, NULL, take_set, &(struct collecting){ s, NULL, &none }, err);
	s->warm = warm;
	nsx_reader_close(in);
	return rc;
}

static int
find_class(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, struct nsx_step_set *s,
           struct nsx_spool *again, char **class, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_step_classes classes = { .err = err, .repeats = wanted->repeats };
	struct first f = { { s, again, wanted }, &classes, nsx_spool_open_all(in, err) };
	int rc = f.spool ? NSX_OK : NSX_ERR;

	if (rc == NSX_OK) {
		nsx_spool_follow(f.spool, in);
		rc = nsx_read_all(in, wanted->require, take_first, &f, err);
	}
	if (rc == NSX_OK && !s->cat.programs.n && !s->marks.n) {
		struct nsx_diags none = { .failed = false };

		rc = nsx_step_classes_pick(&classes, class, &none);
		bool repeats = rc == NSX_OK && !*class && wanted->repeats;

		if (repeats)
			rc = nsx_step_classes_repeat(&classes, class, diags);
		repeats = repeats && *class;
		if (!repeats)
			nsx_diags_join(diags, &none);
		nsx_diags_free(&none);
		if (rc == NSX_OK && *class)
			rc = second_reading(f.spool, s, *class, repeats, err);
		else
			s->list.n = 0;
	}
	if (rc == NSX_OK)
		rc = nsx_steps_finish(s);
	if (rc == NSX_OK && s->kind == NSX_STEP_MODULE && !s->list.n && s->modules)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no program ran twice: record more steps, as nsysx-warmup leaves out the first of "
			"them, or name them with --step REGEX or --module NAME");
	nsx_step_classes_free(&classes);
	nsx_spool_free(f.spool);
	return rc;
}

/* Read only the marks of steps; *found: one of them has a period, else the set is to be filled otherwise. */
static int
find_marks(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, struct nsx_step_set *s, bool *found,
           struct nsx_err *err)
{
	const struct nsx_steps_wanted none = { .also = NULL };
	struct nsx_step_set marks = *s;
	int rc;

	marks.brief = true;
	nsx_steps_need(&marks, in);
	rc = nsx_read_all(in, wanted->require, take_set, &(struct collecting){ &marks, NULL, &none }, err);
	*found = false;
	for (size_t i = 0; i < marks.marks.n && rc == NSX_OK; i++)
		*found |= marks.marks.p[i].period > 0;
	if (*found)
		rc = nsx_steps_finish(&marks);
	if (*found)
		*s = marks;
	else
		nsx_steps_free(&marks);
	return rc;
}

/* Read all of `in` for steps that are named. */
static int
find_named(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, struct nsx_step_set *s,
           struct nsx_spool *again, struct nsx_diags *diags, struct nsx_err *err)
{
	int rc = nsx_read_all(in, wanted->require, take_set, &(struct collecting){ s, again, wanted }, err);

	if (rc == NSX_OK)
		rc = nsx_steps_finish(s);
	if (rc == NSX_OK && !s->list.n && wanted->step && s->matched)
		nsx_diag_lack(diags, "no range that matches %s is a step: none has GPU work of a known device",
		              wanted->step);
	else if (rc == NSX_OK && !s->list.n && wanted->step)
		rc = nsx_missing_range(&s->near, wanted->step, !nsx_reader_records(in), diags, err);
	else if (rc == NSX_OK && !s->list.n && wanted->serving)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no range is named as the step of a server: name its steps with --step REGEX");
	else if (rc == NSX_OK && !s->list.n && wanted->module)
		rc = nsx_missing_program(&s->cat, wanted->module, !nsx_reader_records(in), diags, err);
	return rc;
}

/* Read all of `in` for steps. *class is to be freed. */
static int
find(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, struct nsx_step_set *s, struct nsx_spool *again,
     char **class, struct nsx_diags *diags, struct nsx_err *err)
{
	bool named = wanted->step || wanted->module || wanted->repeat || wanted->serving;

	nsx_steps_need(s, in);
	if (!named)
		nsx_step_classes_need(in);
	if (again)
		nsx_spool_follow(again, in);
	return named ? find_named(in, wanted, s, again, diags, err)
	             : find_class(in, wanted, s, again, class, diags, err);
}

int
nsx_steps_find(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, struct nsx_step_set *s,
               struct nsx_spool *again, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_spool *whole = NULL;
	struct nsx_reader *second = NULL;
	char *class = NULL;
	regex_t pattern;
	bool found = false;
	int rc = NSX_OK;

	*s = (struct nsx_step_set){ .kind = wanted->step ? NSX_STEP_PATTERN : wanted->repeat ? NSX_STEP_CLASS
	                            : wanted->serving ? NSX_STEP_SERVING : NSX_STEP_MODULE,
	                            .label = wanted->step ? wanted->step : wanted->repeat ? wanted->repeat
	                            : wanted->module, .suffixed = wanted->repeat, .shaped = wanted->serving,
	                            .cat.keep = wanted->keep, .bounds = wanted->bounds,
	                            .batched = wanted->batched, .err = err };
	if (wanted->step) {
		if (nsx_pattern_compile(wanted->step, 0, &pattern, err) != NSX_OK)
			return NSX_ERR;
		s->pattern = &pattern;
		/* Phases are not classes: the period of a step lasts to the next one of any. */
		s->groups = wanted->serving ? 0 : pattern.re_nsub;
	}
	if (wanted->brief && nsx_spool_again(in)) {
		whole = nsx_spool_open_all(in, err);
		rc = whole ? find_marks(in, wanted, s, &found, err) : NSX_ERR;
		if (rc == NSX_OK && !found)
			rc = (in = second = nsx_spool_reader_of(whole, NSX_READ_ORDERED)) ? NSX_OK : NSX_ERR;
	}
	if (rc == NSX_OK && !found)
		rc = find(in, wanted, s, again, &class, diags, err);
	if (rc == NSX_OK && s->list.n && wanted->step)
		rc = nsx_steps_single(s, wanted->step, diags);
	if (rc == NSX_OK) {
		nsx_steps_report(s, diags);
		rc = nsx_steps_report_overlapping(s, wanted->overlapping, diags) ? NSX_OK : nsx_err_nomem(err, NULL);
	}
	nsx_reader_close(second);
	nsx_spool_free(whole);
	if (wanted->step)
		regfree(&pattern);
	s->pattern = NULL;
	s->label = NULL;
	free(class);
	return rc;
}
