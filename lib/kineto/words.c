/* words.c -- Kineto's names of copies, sets and overheads. */
#include <string.h>

#include "kineto/reading.h"
#include "source/words.h"

/* What stands before the first occurrence of a text, which s then follows; false if it does not occur. */
static bool
before(struct nsx_str *s, const char *text, struct nsx_str *head)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= s->len; i++)
		if (memcmp(s->ptr + i, text, n) == 0) {
			*head = (struct nsx_str){ s->ptr, i };
			*s = (struct nsx_str){ s->ptr + i + n, s->len - i - n };
			return true;
		}
	return false;
}

/* AMD's profiler says `Host`: whether that is pageable is not recorded. */
struct nsx_str
nsx_kineto_copy(struct nsx_str name, uint8_t *src, uint8_t *dst, bool *peer)
{
	struct nsx_str rest = name, word = { "", 0 }, from;

	*src = *dst = NSX_MEMORY_KINDS;
	if (before(&rest, " ", &word) && !before(&rest, " (", &word)) {
		word = rest;
	} else if (before(&rest, " -> ", &from) && rest.len && rest.ptr[rest.len - 1] == ')') {
		rest.len--;
		*src = nsx_memory_of(from);
		*dst = nsx_memory_of(rest);
	}
	return nsx_copy_name(word, peer);
}

uint8_t
nsx_kineto_set(struct nsx_str name)
{
	struct nsx_str rest = name, word;

	if (!before(&rest, "(", &word) || !rest.len || rest.ptr[rest.len - 1] != ')')
		return NSX_MEMORY_KINDS;
	rest.len--;
	return nsx_memory_of(rest);
}

enum nsx_overhead_class
nsx_kineto_overhead(struct nsx_str name)
{
	static const struct { const char *name; enum nsx_overhead_class class; } known[] = {
		{ "Driver Compiler", NSX_OVERHEAD_LOADING },
		{ "Runtime Triggered Module Loading", NSX_OVERHEAD_LOADING },
		{ "Lazy Function Loading", NSX_OVERHEAD_LOADING }, { "Buffer Flush", NSX_OVERHEAD_PROFILER },
		{ "Instrumentation", NSX_OVERHEAD_PROFILER }, { "Resource", NSX_OVERHEAD_PROFILER },
		{ "Activity Buffer Request", NSX_OVERHEAD_PROFILER },
		{ "Command Buffer Full", NSX_OVERHEAD_QUEUE_FULL },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (nsx_str_eq(name, nsx_str_c(known[i].name)))
			return known[i].class;
	return NSX_OVERHEAD_UNKNOWN;
}
