/* threads.c -- every (profile, process, thread) has a distinct number, also where a hash of two parts is equal. */
#include "job/threads.h"

#include "tap.h"

int
main(void)
{
	static const int64_t of[][3] = {
		{ 0, 1, 1 }, { 1, 1, 1 }, { 1, 0, 1 }, { 0, INT64_C(1) << 32, 1 }, { 1, INT64_C(1) << 32 | 1, 1 },
		{ 0, 1, 2 }, { INT64_MIN, INT64_MIN, INT64_MIN }, { 0, INT64_MIN, 1 }, { -1, -1, -1 }, { 2, 1, 1 }
	};
	struct nsx_threads t = { 0 };

	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < sizeof of / sizeof *of; i++)
			is_int(nsx_thread_number(&t, of[i][0], of[i][1], of[i][2]), (int64_t)i,
			       again ? "the same thread again" : "another thread");
	nsx_threads_free(&t);
	return done();
}
