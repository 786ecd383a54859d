/* diag.c -- equal sentences about one thing become one with a count, in order of arrival. */
#include "base/diag.h"

#include <stdlib.h>

#include "tap.h"

static void
adds_up(void)
{
	struct nsx_diags d = { 0 };

	nsx_diag_add(&d, NSX_WARNING, "p0", 2, "%s ranges dropped", "bad");
	nsx_diag_add(&d, NSX_INFO, "p1", 1, "bad ranges dropped");
	nsx_diag_add(&d, NSX_INFO, "p0", 3, "bad ranges dropped");
	nsx_diag_add(&d, NSX_INFO, "p0", 0, "nothing happened");
	nsx_diag_add(&d, NSX_INFO, NULL, 1, "of the whole run");
	is_int((int64_t)d.list.n, 3, "equal texts of one source are one diag, a count of 0 adds none");
	is_int(d.list.p[0].count, 5, "counts add up");
	is_int(d.list.p[0].severity, NSX_WARNING, "the graver severity stays");
	is_str(d.list.p[0].text, "bad ranges dropped", "the text is formatted");
	is_str(d.list.p[1].source, "p1", "another source is another diag");
	is_str(d.list.p[2].source, "", "NULL is the empty source");
	nsx_diag_add(&d, NSX_ERROR, "p1", INT64_MAX, "bad ranges dropped");
	is_int(d.list.p[1].count, INT64_MAX, "a count too large stays at the largest");
	is_int(d.list.p[1].severity, NSX_ERROR, "a graver severity replaces the other");
	ok(!d.failed, "no failure");
	nsx_diags_free(&d);
	is_int((int64_t)d.list.n, 0, "freed, it is empty");
	nsx_diag_add(&d, NSX_INFO, "x", 1, "again");
	is_int((int64_t)d.list.n, 1, "and can be used again");
	nsx_diags_free(&d);
}

static void
joins(void)
{
	struct nsx_diags a = { 0 }, b = { 0 };

	nsx_diag_add(&a, NSX_INFO, "p", 1, "one");
	nsx_diag_add(&b, NSX_INFO, "p", 2, "two");
	nsx_diag_add(&b, NSX_INFO, "p", 3, "one");
	nsx_diags_join(&a, &b);
	is_int((int64_t)a.list.n, 2, "joined, equal ones are one");
	is_int(a.list.p[0].count, 4, "with their counts added");
	is_str(a.list.p[1].text, "two", "and new ones behind");
	is_int((int64_t)b.list.n, 2, "the other is unchanged");
	nsx_diags_free(&a);
	nsx_diags_free(&b);
}

static void
drops_lacks(void)
{
	struct nsx_diags a = { 0 }, b = { 0 };

	nsx_diag_add(&a, NSX_WARNING, "p", 2, "one");
	nsx_diag_lack(&b, "no %s", "calls");
	nsx_diag_lack(&b, "no ops");
	nsx_diag_add(&b, NSX_INFO, "", 1, "no ops");
	nsx_diag_add(&b, NSX_INFO, "", 4, "no work was ignored");
	nsx_diags_join(&a, &b);
	nsx_diags_cover(&a, &b);
	is_str(a.list.p[1].text, "no calls", "what is missed is a warning among others");
	is_int(a.list.p[1].severity, NSX_WARNING, "... of that severity");
	nsx_diags_drop_lacks(&a);
	is_int((int64_t)a.list.n, 3, "it can be left out: what is said for another reason, too, stays");
	is_str(a.list.p[1].text, "no ops", "... in order");
	is_int(a.list.p[2].count, 4, "... with its count");
	nsx_diag_add(&a, NSX_WARNING, "p", 1, "one");
	is_int(a.list.p[0].count, 3, "... and is found");
	nsx_diags_free(&a);
	nsx_diags_free(&b);
}

static void
many(void)
{
	struct nsx_diags d = { 0 };
	char text[2000], source[16];
	bool good = true;

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 20000; i++) {
			snprintf(source, sizeof source, "p%d", i);
			nsx_diag_add(&d, NSX_INFO, source, 1, "dropped");
		}
	is_int((int64_t)d.list.n, 20000, "20000 sources");
	for (size_t i = 0; i < d.list.n; i++)
		good &= d.list.p[i].count == 2;
	ok(good, "each found again");
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	nsx_diag_add(&d, NSX_INFO, "", 1, "%s", text);
	is_str(d.list.p[20000].text, text, "a long text is not cut");
	nsx_diags_free(&d);
}

/* Many reports say the same. */
static void
gathers(void)
{
	struct nsx_diags d = { 0 }, to = { 0 };
	char source[32];

	nsx_diag_add(&d, NSX_WARNING, "x", 1, "dropped");
	for (int i = 0; i < 12; i++) {
		snprintf(source, sizeof source, "tool: r%d", i);
		nsx_diag_add(&d, NSX_WARNING, source, 2, "3 ranges dropped");
		nsx_diag_add(&d, NSX_INFO, source, 1, "%d.%02d us, %d ns", i, i, 10 * i);
		if (i < NSX_DIAG_ALIKE)
			nsx_diag_add(&d, NSX_INFO, source, 1, "few");
	}
	nsx_diag_add(&d, NSX_WARNING, "other: r1", 7, "3 ranges dropped");
	nsx_diag_add(&d, NSX_WARNING, "", 5, "of the whole run");
	nsx_diags_gather(&to, &d, 1);
	is_int((int64_t)to.list.n, 2 + NSX_DIAG_ALIKE + 2, "diags that are alike are one, the first ones are left out");
	is_str(to.list.p[0].source, "tool: r0, r1, r2 and 9 others", "its source names three");
	is_str(to.list.p[0].text, "3 ranges dropped", "an equal text is that text");
	is_int(to.list.p[0].count, 24, "its count is the sum");
	is_str(to.list.p[1].text, "N us, N ns", "numbers that differ are N");
	is_int(to.list.p[1].severity, NSX_INFO, "its severity is theirs");
	is_str(to.list.p[2].source, "tool: r0", "few remain");
	is_str(to.list.p[2 + NSX_DIAG_ALIKE].source, "other: r1", "another tool is another sort");
	is_int(to.list.p[3 + NSX_DIAG_ALIKE].count, 5, "what concerns the run remains");
	ok(!to.failed, "no failure");
	nsx_diags_free(&d);
	nsx_diags_free(&to);
}

int
main(void)
{
	adds_up();
	joins();
	drops_lacks();
	many();
	gathers();
	is_str(nsx_severity_name(NSX_INFO), "info", "info");
	is_str(nsx_severity_name(NSX_WARNING), "warning", "warning");
	is_str(nsx_severity_name(NSX_ERROR), "error", "error");
	return done();
}
