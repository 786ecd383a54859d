/* call_name.c -- see call_name.h. */
#include "source/call_name.h"

#include <string.h>

/* Length of `_v` and min to max digits at the end of s; 0: s does not end in that. */
static size_t
version(struct nsx_str s, size_t min, size_t max)
{
	size_t n = 0;

	while (n < s.len && nsx_is_digit(s.ptr[s.len - 1 - n]))
		n++;
	if (n < min || n > max || s.len < n + 2 || memcmp(s.ptr + s.len - n - 2, "_v", 2) != 0)
		return 0;
	return n + 2;
}

struct nsx_str
nsx_call_name_bare(struct nsx_str s)
{
	s.len -= version(s, 4, 5);
	return s;
}

/* The part after `cu`, `cuda` or `hip`, without version and default-stream suffixes; empty if it is not a CUDA call. */
static struct nsx_str
stem(struct nsx_str s)
{
	size_t n;

	do {
		n = version(s, 1, 9);
		if (!n && (nsx_str_ends(s, "_ptsz") || nsx_str_ends(s, "_ptds")))
			n = 5;
		s.len -= n;
	} while (n);
	n = nsx_str_starts(s, "cuda") ? 4 : nsx_str_starts(s, "cu") ? 2 : nsx_str_starts(s, "hip") ? 3 : s.len;
	return (struct nsx_str){ s.ptr + n, s.len - n };
}

/* `*` at the end matches anything. */
static bool
matches(struct nsx_str s, const char *pattern)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return s.len >= n - 1 && memcmp(s.ptr, pattern, n - 1) == 0;
	return s.len == n && memcmp(s.ptr, pattern, n) == 0;
}

static enum nsx_call_class
class_of(struct nsx_str s)
{
	/* The first pattern that matches. */
	static const struct { const char *pattern; enum nsx_call_class class; } table[] = {
		{ "GraphLaunch*", NSX_CALL_GRAPH_LAUNCH }, { "LaunchHostFunc*", NSX_CALL_OTHER },
		{ "Launch*", NSX_CALL_LAUNCH },
		/* HIP's */
		{ "ModuleLaunch*", NSX_CALL_LAUNCH }, { "ExtModuleLaunch*", NSX_CALL_LAUNCH },
		{ "ExtLaunch*", NSX_CALL_LAUNCH },
		{ "Memcpy*", NSX_CALL_COPY }, { "Memset*", NSX_CALL_SET },
		{ "DeviceSynchronize", NSX_CALL_SYNC }, { "StreamSynchronize", NSX_CALL_SYNC }, { "EventSynchronize",
			NSX_CALL_SYNC },
		{ "CtxSynchronize", NSX_CALL_SYNC }, { "ThreadSynchronize", NSX_CALL_SYNC },
		{ "Event*", NSX_CALL_EVENT }, { "StreamWaitEvent", NSX_CALL_EVENT },
		{ "Malloc*", NSX_CALL_ALLOC }, { "Free*", NSX_CALL_ALLOC }, { "HostAlloc", NSX_CALL_ALLOC },
		{ "HostRegister", NSX_CALL_ALLOC },
		{ "HostUnregister", NSX_CALL_ALLOC }, { "MemAlloc*", NSX_CALL_ALLOC }, { "MemFree*", NSX_CALL_ALLOC },
		{ "MemHost*", NSX_CALL_ALLOC }, { "MemCreate", NSX_CALL_ALLOC }, { "MemRelease", NSX_CALL_ALLOC },
		{ "MemMap*", NSX_CALL_ALLOC },
		{ "MemUnmap", NSX_CALL_ALLOC }, { "MemAddress*", NSX_CALL_ALLOC }, { "MemSetAccess", NSX_CALL_ALLOC },
		{ "MemPool*", NSX_CALL_ALLOC }, { "MemExport*", NSX_CALL_ALLOC }, { "MemImport*", NSX_CALL_ALLOC },
		{ "MemRetain*", NSX_CALL_ALLOC }, { "ArrayCreate", NSX_CALL_ALLOC },
		{ "Module*", NSX_CALL_MODULE }, { "Library*", NSX_CALL_MODULE }, { "Link*", NSX_CALL_MODULE },
		{ "Kernel*", NSX_CALL_MODULE },
	};
	struct nsx_str name = stem(s);

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (matches(name, table[i].pattern))
			return table[i].class;
	return NSX_CALL_OTHER;
}

/* Whether the name contains "async", in any case. */
static bool
is_async(struct nsx_str s)
{
	static const char word[] = "async";

	for (size_t i = 0; i + 5 <= s.len; i++) {
		size_t k = 0;
		while (k < 5 && (s.ptr[i + k] | 0x20) == word[k])
			k++;
		if (k == 5)
			return true;
	}
	return false;
}

static enum nsx_call_role
role_of(struct nsx_str s)
{
	static const struct { const char *pattern; enum nsx_call_role role; } table[] = {
		{ "EventRecord*", NSX_CALL_RECORDS }, { "StreamWaitEvent", NSX_CALL_WAITS_EVENT },
		{ "StreamSynchronize", NSX_CALL_SYNCS_STREAM }, { "EventSynchronize", NSX_CALL_SYNCS_EVENT },
		{ "DeviceSynchronize", NSX_CALL_SYNCS_DEVICE }, { "CtxSynchronize", NSX_CALL_SYNCS_DEVICE },
		{ "ThreadSynchronize", NSX_CALL_SYNCS_DEVICE },
	};
	struct nsx_str name = stem(s);

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (matches(name, table[i].pattern))
			return table[i].role;
	return NSX_CALL_PLAIN;
}

struct nsx_call_name
nsx_call_name_of(uint32_t name, struct nsx_str s)
{
	return (struct nsx_call_name){ name, (uint8_t)class_of(s), (uint8_t)role_of(s), is_async(s) };
}
