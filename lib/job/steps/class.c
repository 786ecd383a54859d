/* class.c -- see class.h. */
#include "job/steps/class.h"

#include <string.h>

#include "job/frameworks.h"
#include "job/serving.h"

struct nsx_str
nsx_step_class_name(struct nsx_range_book *book, const struct nsx_rec *range, bool suffixed)
{
	struct nsx_str name = nsx_string(range, NSX_RANGE_name);
	struct nsx_serving serving;

	if (nsx_serving_of(name, &serving))
		return nsx_str_c(nsx_serving_class(&serving));
	if (!name.len || (!suffixed && nsx_name_key(name).len != name.len) ||
	    nsx_framework_is(NSX_FRAMEWORK_NO_STEP, name)
	    || (suffixed && nsx_framework_is(NSX_FRAMEWORK_OPERATOR, name))
	    || nsx_str_eq(nsx_string(range, NSX_RANGE_kind), NSX_STR("op"))
	    || nsx_str_eq(nsx_string(range, NSX_RANGE_kind), NSX_STR("python")))
		return (struct nsx_str){ "", 0 };
	return nsx_range_book_name(book, range, NSX_NAMES_DIGITS);
}

bool
nsx_step_class_of(struct nsx_step_set *s, const struct nsx_rec *rec, uint32_t *class)
{
	regmatch_t m[10];
	struct nsx_str full;

	*class = NSX_NONE;
	if (s->kind == NSX_STEP_SERVING) {
		struct nsx_serving serving;

		if (!nsx_serving_of(nsx_string(rec, NSX_RANGE_name), &serving)
		    || (s->label && strcmp(nsx_serving_class(&serving), s->label) != 0))
			return true;
		if (!s->phases) {
			*class = nsx_intern(&s->names, nsx_str_c(nsx_serving_class(&serving)));
			return *class != NSX_NONE;
		}
		s->text.len = 0;
		nsx_serving_put_class(&s->text, &serving);
		if (s->text.failed)
			return false;
		*class = nsx_intern(&s->names, (struct nsx_str){ s->text.ptr, s->text.len });
		return *class != NSX_NONE;
	}
	if (s->kind == NSX_STEP_CLASS) {
		struct nsx_str name = nsx_step_class_name(&s->book, rec, s->suffixed);

		if (!nsx_str_eq(name, nsx_str_c(s->label)))
			return true;
		*class = nsx_intern(&s->names, name);
		return *class != NSX_NONE;
	}
	full = nsx_range_book_name(&s->book, rec, NSX_NAMES_FULL);
	s->text.len = 0;
	nsx_buf_str(&s->text, full);
	nsx_buf_char(&s->text, '\0');
	if (s->text.failed)
		return false;
	int matched = regexec(s->pattern, s->text.ptr, s->groups ? 10 : 0, m, 0);

	/* Matching allocates memory too; glibc reports a failure of that as no match. */
	if (matched != 0) {
		s->near.want = nsx_str_c(s->label);
		if (!s->matched)
			nsx_near_offer(&s->near, full);
		return matched == REG_NOMATCH;
	}
	s->matched = true;
	if (!s->groups) {
		*class = nsx_intern(&s->names, nsx_str_c(s->label));
		return *class != NSX_NONE;
	}
	size_t from = s->text.len;

	for (size_t g = 1; g <= s->groups && g < 10; g++) {
		if (g > 1)
			nsx_buf_char(&s->text, ',');
		if (m[g].rm_so >= 0 && nsx_buf_room(&s->text, (size_t)(m[g].rm_eo - m[g].rm_so)))
			nsx_buf_add(&s->text, s->text.ptr + m[g].rm_so, (size_t)(m[g].rm_eo - m[g].rm_so));
	}
	*class = s->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&s->names, (struct nsx_str){ s->text.ptr + from,
		s->text.len - from });
	return *class != NSX_NONE;
}
