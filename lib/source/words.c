/* words.c -- see words.h. */
#include "source/words.h"

#include "source/trace.h"

/* Letters of either case are equal, and so are the characters between words. */
static bool
alike(struct nsx_str a, struct nsx_str b)
{
	size_t i = 0;

	for (; a.len == b.len && i < a.len; i++)
		if ((a.ptr[i] | 32) != (b.ptr[i] | 32) && !(a.ptr[i] == '_' && b.ptr[i] == ' '))
			break;
	return a.len == b.len && i == a.len;
}

uint8_t
nsx_memory_of(struct nsx_str s)
{
	static const struct nsx_str names[NSX_MEMORY_KINDS] = {
		[NSX_MEMORY_PAGEABLE] = { "pageable", 8 }, [NSX_MEMORY_PINNED] = { "pinned", 6 },
		[NSX_MEMORY_DEVICE] = { "device", 6 }, [NSX_MEMORY_ARRAY] = { "array", 5 },
		[NSX_MEMORY_MANAGED] = { "managed", 7 }, [NSX_MEMORY_DEVICE_STATIC] = { "device static", 13 },
		[NSX_MEMORY_MANAGED_STATIC] = { "managed static", 14 }, [NSX_MEMORY_UNKNOWN] = { "unknown", 7 }
	};
	uint8_t i = 0;

	while (i < NSX_MEMORY_KINDS && !alike(s, names[i]))
		i++;
	return i;
}

struct nsx_str
nsx_copy_name(struct nsx_str s, bool *peer)
{
	static const struct { const char *ends[3]; struct nsx_str name; } known[] = {
#define COPY(a, b, from, to)                                                             \
		{ { a "to" b, a "2" b, from "To" to },                                           \
		  { "[CUDA memcpy " from "-to-" to "]", sizeof("[CUDA memcpy -to-]" from to) - 1 } }
		COPY("H", "D", "Host", "Device"), COPY("D", "H", "Device", "Host"), COPY("D", "D", "Device", "Device"),
		COPY("H", "H", "Host", "Host"), COPY("H", "A", "Host", "Array"), COPY("A", "H", "Array", "Host"),
		COPY("A", "A", "Array", "Array"), COPY("A", "D", "Array", "Device"), COPY("D", "A", "Device", "Array"),
		COPY("P", "P", "Peer", "Peer")
#undef COPY
	};
	enum { KNOWN = sizeof known / sizeof *known };

	for (size_t i = 0; i < KNOWN; i++)
		if (nsx_str_ends(s, known[i].ends[0]) || nsx_str_ends(s, known[i].ends[1])
		    || nsx_str_ends(s, known[i].ends[2])) {
			*peer = i == KNOWN - 1;
			return known[i].name;
		}
	*peer = false;
	return NSX_STR("[CUDA memcpy Unknown]");
}
