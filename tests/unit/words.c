/* words.c -- what profilers call copies and kinds of memory, by the names that exports have. */
#include "source/trace.h"
#include "source/words.h"
#include "tap.h"

static void
copy(const char *word, const char *want, bool want_peer)
{
	bool peer = !want_peer;
	struct nsx_str name = nsx_copy_name(nsx_str_c(word), &peer);
	char text[64];

	snprintf(text, sizeof text, "%.*s", (int)name.len, name.ptr);
	is_str(text, want, "%s", word);
	ok(peer == want_peer, "%s between GPUs: %d", word, want_peer);
}

int
main(void)
{
	static const char letters[] = "HDA", *const words[] = { "Host", "Device", "Array" };
	int wrong = 0;

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			char forms[3][32], want[64];
			bool peer;

			snprintf(forms[0], sizeof forms[0], "%cto%c", letters[i], letters[k]);
			snprintf(forms[1], sizeof forms[1], "Memcpy%c2%c", letters[i], letters[k]);
			snprintf(forms[2], sizeof forms[2], "Copy%sTo%s", words[i], words[k]);
			snprintf(want, sizeof want, "[CUDA memcpy %s-to-%s]", words[i], words[k]);
			for (int f = 0; f < 3; f++)
				wrong += !nsx_str_eq(nsx_copy_name(nsx_str_c(forms[f]), &peer), nsx_str_c(want)) || peer;
		}
	ok(!wrong, "three spellings of nine directions (%d wrong)", wrong);
	copy("PtoP", "[CUDA memcpy Peer-to-Peer]", true);
	copy("MemcpyP2P", "[CUDA memcpy Peer-to-Peer]", true);
	copy("Memcpy", "[CUDA memcpy Unknown]", false);
	copy("", "[CUDA memcpy Unknown]", false);
	ok(nsx_memory_of(NSX_STR("Pageable")) == NSX_MEMORY_PAGEABLE && nsx_memory_of(NSX_STR("pinned")) == NSX_MEMORY_PINNED,
	   "kinds of memory in letters of either case");
	ok(nsx_memory_of(NSX_STR("device_static")) == NSX_MEMORY_DEVICE_STATIC
	   && nsx_memory_of(NSX_STR("Managed Static")) == NSX_MEMORY_MANAGED_STATIC, "of two words");
	ok(nsx_memory_of(NSX_STR("Host")) == NSX_MEMORY_KINDS && nsx_memory_of(NSX_STR("")) == NSX_MEMORY_KINDS
	   && nsx_memory_of(NSX_STR("Unknown")) == NSX_MEMORY_UNKNOWN, "and those that are none");
	return done();
}
