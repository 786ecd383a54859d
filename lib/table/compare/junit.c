/* junit.c -- the results as JUnit's XML: a test for each row, which fails if the row is slower and is skipped if it is
 * not judged. Runs that cannot be compared are one test with an error, not a suite without failures. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "table/compare/join.h"

/* A suite as it is built: its tests, and how many end how. */
struct suite { struct nsx_buf cases; int64_t tests, failures, errors, skipped; };

/* Append text in an attribute. XML has no control characters, and only characters of UTF-8. */
static void
put_text(struct nsx_buf *b, struct nsx_str s)
{
	while (s.len) {
		size_t n = nsx_utf8_char(s);
		unsigned char c = (unsigned char)*s.ptr;
		/* U+FFFE and U+FFFF. */
		bool none = n == 3 && c == 0xef && (unsigned char)s.ptr[1] == 0xbf && (unsigned char)s.ptr[2] >= 0xbe;

		if (c == '&')
			nsx_buf_c(b, "&amp;");
		else if (c == '<')
			nsx_buf_c(b, "&lt;");
		else if (c == '>')
			nsx_buf_c(b, "&gt;");
		else if (c == '"')
			nsx_buf_c(b, "&quot;");
		else if (!n || none || c < 0x20 || c == 0x7f)
			nsx_buf_char(b, '?');
		else
			nsx_buf_str(b, (struct nsx_str){ s.ptr, n });
		n += !n;
		s.ptr += n;
		s.len -= n;
	}
}

/* Add a test. outcome: failure, error or skipped, with a message; NULL: it passes. */
static void
add_case(struct suite *s, struct nsx_str class, struct nsx_str name, const char *outcome, struct nsx_str message)
{
	s->tests++;
	nsx_buf_c(&s->cases, "  <testcase classname=\"");
	put_text(&s->cases, class);
	nsx_buf_c(&s->cases, "\" name=\"");
	put_text(&s->cases, name);
	nsx_buf_c(&s->cases, outcome ? "\">" : "\"/>\n");
	if (!outcome)
		return;
	nsx_buf_fmt(&s->cases, "<%s message=\"", outcome);
	put_text(&s->cases, message);
	nsx_buf_c(&s->cases, "\"/></testcase>\n");
}

/* Write the suite to b and free it. */
static void
end(struct suite *s, struct nsx_buf *b)
{
	nsx_buf_fmt(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"nsysx-compare\" "
	            "tests=\"%" PRId64 "\" failures=\"%" PRId64 "\" errors=\"%" PRId64 "\" skipped=\"%" PRId64 "\">\n",
	            s->tests, s->failures, s->errors, s->skipped);
	if (s->cases.len)
		nsx_buf_str(b, nsx_buf_view(&s->cases));
	nsx_buf_c(b, "</testsuite>\n</testsuites>\n");
	b->failed |= s->cases.failed;
	nsx_buf_free(&s->cases);
}

void
nsx_compare_junit_error(struct nsx_buf *b, const char *why)
{
	struct suite s = { .errors = 1 };

	add_case(&s, NSX_STR("nsysx-compare"), NSX_STR("comparable"), "error", nsx_str_c(why));
	end(&s, b);
}

static void
add_result(struct cmp *c, struct suite *s, const struct cmp_result *r)
{
	const struct cmp_group *g = nsx_compare_group_of(c, r);
	const struct cmp_row *row = nsx_compare_row_shown(r);
	struct nsx_str class = cmp_str(c, g->key), name = cmp_str(c, row->name);
	struct nsx_buf called = { 0 }, message = { 0 };
	const char *outcome = NULL;

	if (!class.len)
		class = cmp_str(c, g->name);
	/* Of rows in no group, a kind of operations. */
	if (!class.len)
		class = cmp_str(c, row->opcode);
	/* Of a program its modules, of a class of steps their periods. */
	if (row->whole)
		name = strcmp(c->way->unit, "step") == 0 ? NSX_STR("period") : NSX_STR("modules");
	nsx_buf_str(&called, name);
	if (row->device != NSX_ABSENT)
		nsx_buf_fmt(&called, " on device %" PRId64, row->device);
	switch (r->verdict) {
	case CMP_SLOWER:
		outcome = "failure";
		s->failures++;
		nsx_compare_sentence(c, r, &message);
		break;
	case CMP_NEW: case CMP_GONE: case CMP_UNKNOWN:
		outcome = "skipped";
		s->skipped++;
		nsx_buf_c(&message, nsx_compare_verdict_name(r->verdict));
		break;
	default: break;
	}
	add_case(s, class.len ? class : NSX_STR("nsysx-compare"), nsx_buf_view(&called), outcome,
	         message.len ? nsx_buf_view(&message) : NSX_STR(""));
	s->cases.failed |= called.failed | message.failed;
	nsx_buf_free(&called);
	nsx_buf_free(&message);
}

void
nsx_compare_junit(struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n)
{
	struct suite s = { .tests = 0 };

	if (!out->comparable) {
		nsx_compare_junit_error(&out->junit, out->why);
		return;
	}
	if (c->compares_work && c->way->each) {
		struct nsx_buf text = { 0 };
		bool slower = c->same.said > 0;

		nsx_compare_tell_work(c, &text);
		s.failures += slower;
		add_case(&s, NSX_STR("nsysx-compare"), NSX_STR("the same work"), slower ? "failure" : NULL,
		         text.len ? nsx_buf_view(&text) : NSX_STR(""));
		s.cases.failed |= text.failed;
		nsx_buf_free(&text);
	}
	for (size_t i = 0; i < n; i++)
		add_result(c, &s, &r[i]);
	end(&s, &out->junit);
}
