/* words.c -- Kineto's names of copies, sets and overheads. */
#include <string.h>

#include "kineto/reading.h"

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
static uint8_t
memory(struct nsx_str s)
{
	static const struct nsx_str names[NSX_MEMORY_KINDS] = {
		[NSX_MEMORY_PAGEABLE] = { "Pageable", 8 }, [NSX_MEMORY_PINNED] = { "Pinned", 6 },
		[NSX_MEMORY_DEVICE] = { "Device", 6 }, [NSX_MEMORY_ARRAY] = { "Array", 5 },
		[NSX_MEMORY_MANAGED] = { "Managed", 7 }, [NSX_MEMORY_DEVICE_STATIC] = { "Device Static", 13 },
		[NSX_MEMORY_MANAGED_STATIC] = { "Managed Static", 14 }, [NSX_MEMORY_UNKNOWN] = { "Unknown", 7 }
	};

	for (uint8_t i = 0; i < NSX_MEMORY_KINDS; i++)
		if (nsx_str_eq(s, names[i]))
			return i;
	return NSX_MEMORY_KINDS;
}

bool
nsx_kineto_copy(struct nsx_str name, struct nsx_str *as, uint8_t *src, uint8_t *dst)
{
	static const struct { struct nsx_str word, as; } kinds[] = {
		{ { "HtoD", 4 }, { "[CUDA memcpy Host-to-Device]", 28 } },
		{ { "DtoH", 4 }, { "[CUDA memcpy Device-to-Host]", 28 } },
		{ { "HtoA", 4 }, { "[CUDA memcpy Host-to-Array]", 27 } },
		{ { "AtoH", 4 }, { "[CUDA memcpy Array-to-Host]", 27 } },
		{ { "AtoA", 4 }, { "[CUDA memcpy Array-to-Array]", 28 } },
		{ { "AtoD", 4 }, { "[CUDA memcpy Array-to-Device]", 29 } },
		{ { "DtoA", 4 }, { "[CUDA memcpy Device-to-Array]", 29 } },
		{ { "DtoD", 4 }, { "[CUDA memcpy Device-to-Device]", 30 } },
		{ { "HtoH", 4 }, { "[CUDA memcpy Host-to-Host]", 26 } },
		{ { "PtoP", 4 }, { "[CUDA memcpy Peer-to-Peer]", 26 } },
	};
	struct nsx_str rest = name, word, from;

	*src = *dst = NSX_MEMORY_KINDS;
	*as = NSX_STR("[CUDA memcpy Unknown]");
	if (!before(&rest, " ", &word))
		return false;
	if (!before(&rest, " (", &word))
		word = rest;
	else if (before(&rest, " -> ", &from) && rest.len && rest.ptr[rest.len - 1] == ')') {
		rest.len--;
		*src = memory(from);
		*dst = memory(rest);
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (nsx_str_eq(word, kinds[i].word))
			*as = kinds[i].as;
	return true;
}

uint8_t
nsx_kineto_set(struct nsx_str name)
{
	struct nsx_str rest = name, word;

	if (!before(&rest, "(", &word) || !rest.len || rest.ptr[rest.len - 1] != ')')
		return NSX_MEMORY_KINDS;
	rest.len--;
	return memory(rest);
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
