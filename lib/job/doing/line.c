/* line.c -- what of a stack people read. */

#include "job/doing/doing.h"

/* The frame that ends at `end`, of frames separated by ';'. */
static struct nsx_str
frame_before(struct nsx_str frames, size_t end)
{
	size_t start = end;

	while (start && frames.ptr[start - 1] != ';')
		start--;
	return (struct nsx_str){ frames.ptr + start, end - start };
}

struct nsx_str
nsx_doing_leaf(struct nsx_str frames)
{
	return frame_before(frames, frames.len);
}

/* Whether a frame of Python is of its own library or of an installed package. */
static bool
is_library(struct nsx_str frame)
{
	static const char *const within[] = { "/lib/python3", "site-packages", "dist-packages" };

	if (nsx_str_starts(frame, "<frozen ") || nsx_str_starts(frame, "<string>"))
		return true;
	for (size_t i = 0; i < sizeof within / sizeof *within; i++)
		if (nsx_str_has(frame, within[i]))
			return true;
	return false;
}

struct nsx_str
nsx_doing_line(struct nsx_str frames, bool leaf)
{
	struct nsx_str last = nsx_doing_leaf(frames), f = last;

	for (size_t end = frames.len; !leaf; end -= f.len + 1) {
		f = frame_before(frames, end);
		if (f.len && !is_library(f))
			return f;
		if (f.len >= end)
			break;
	}
	return last;
}

struct nsx_str
nsx_doing_below_python(struct nsx_str frames)
{
	for (size_t end = frames.len;;) {
		struct nsx_str f = frame_before(frames, end);

		if (nsx_str_has(f, "[_PyEval_EvalFrameDefault]")) {
			size_t from = end < frames.len ? end + 1 : (size_t)(f.ptr - frames.ptr);

			return (struct nsx_str){ frames.ptr + from, frames.len - from };
		}
		if (f.len >= end)
			return frames;
		end -= f.len + 1;
	}
}
