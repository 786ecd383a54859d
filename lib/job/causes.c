/* causes.c -- see causes.h. */
#include "job/causes.h"

const struct nsx_cause_known nsx_causes[NSX_NCAUSES] = {
#define CAUSE(id, name, group, tint, stripes, change, says, action) \
	[NSX_CAUSE_##id] = { name, NSX_CAUSES_##group, tint, stripes, change, says, action },
#include "job/causes.def"
};

const char *
nsx_cause_name(enum nsx_cause c)
{
	return nsx_causes[c].name;
}

enum nsx_cause
nsx_cause_named(struct nsx_str name)
{
#define CAUSE(id, text, ...) { text, sizeof(text) - 1 },
	static const struct nsx_str names[NSX_NCAUSES] = {
#include "job/causes.def"
	};
	int c = 0;

	/* Marks are many, and most of these names differ in their length or their first character. */
	while (c < NSX_NCAUSES && (name.len != names[c].len || name.ptr[0] != names[c].ptr[0]
	                           || !nsx_str_eq(name, names[c])))
		c++;
	return (enum nsx_cause)c;
}

const char *
nsx_cause_group_name(enum nsx_cause_group g)
{
	static const char *const names[NSX_NCAUSE_GROUPS] = {
		[NSX_CAUSES_EDGE] = "edge", [NSX_CAUSES_REMOVED] = "removed", [NSX_CAUSES_GRAPH] = "graph",
		[NSX_CAUSES_NO_CALL] = "no-call", [NSX_CAUSES_STARVED] = "launch-starved",
		    [NSX_CAUSES_ISSUED] = "issued"
	};

	return names[g];
}

struct of_class { const char *class; enum nsx_cause cause; };

static const struct of_class overheads[] = {
#define HOST_OVERHEAD(class, id) { class, NSX_CAUSE_##id },
#include "job/causes.def"
}, calls[] = {
#define HOST_CALL(class, id) { class, NSX_CAUSE_##id },
#include "job/causes.def"
};

static size_t
find(const struct of_class *list, size_t n, struct nsx_str class)
{
	size_t i = 0;

	while (i < n && !nsx_str_eq(class, nsx_str_c(list[i].class)))
		i++;
	return i;
}

enum nsx_cause
nsx_cause_of_overhead(struct nsx_str class, uint32_t *precedes)
{
	size_t n = sizeof overheads / sizeof *overheads, i = find(overheads, n, class);

	*precedes = (uint32_t)i;
	return i < n ? overheads[i].cause : NSX_NCAUSES;
}

enum nsx_cause
nsx_cause_of_call(struct nsx_str class)
{
	size_t n = sizeof calls / sizeof *calls, i = find(calls, n, class);

	return i < n ? calls[i].cause : NSX_CAUSE_API;
}

int
nsx_causes_parse(const char *list, uint32_t *causes, struct nsx_str *bad)
{
	for (const char *end; ; list = end + 1) {
		uint32_t found = 0;
		enum nsx_cause named;

		for (end = list; *end && *end != ',';)
			end++;
		*bad = (struct nsx_str){ list, (size_t)(end - list) };
		named = nsx_cause_named(*bad);
		for (int c = 0; c < NSX_NCAUSES; c++) {
			enum nsx_cause_group g = nsx_causes[c].group;

			if (g != NSX_CAUSES_REMOVED
			    && (c == (int)named || nsx_str_eq(*bad, nsx_str_c(nsx_cause_group_name(g)))))
				found |= UINT32_C(1) << c;
		}
		if (!found)
			return NSX_ERR;
		*causes |= found;
		if (!*end)
			return NSX_OK;
	}
}

const char *
nsx_causes_known(size_t i)
{
	static const enum nsx_cause_group groups[] = { NSX_CAUSES_EDGE, NSX_CAUSES_STARVED, NSX_CAUSES_ISSUED };

	for (int c = 0; c < NSX_NCAUSES; c++)
		if (nsx_causes[c].group != NSX_CAUSES_REMOVED && i-- == 0)
			return nsx_causes[c].name;
	return i < sizeof groups / sizeof *groups ? nsx_cause_group_name(groups[i]) : NULL;
}
