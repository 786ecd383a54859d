/* host.c -- what host threads did, as folded stacks: while devices were idle because a thread had not launched
 *
 *     device 0;range;step 3;load;data.py:12[main];data.py:80[load_batch];[os] read
 *     device 0;range;step 3;model.py:9[main];python3.11[dict_lookup]                       a native sample, in running
 * time
 *
 * or of all of a thread's time, with `thread NAME TID` in place of device and cause. */
#include <stdlib.h>

#include "draw/fold/fold.h"
#include "job/doing/places.h"

struct host {
	const struct nsx_fold_options *options;
	struct nsx_stacks  *stacks;
	struct nsx_err     *err;
	struct nsx_doing    doing;
	struct nsx_doing_places places;
	struct nsx_buf      text;
	NSX_VEC(uint32_t)   chain;
};

static int
piece(void *state, const struct nsx_doing_piece *p)
{
	struct host *h = state;

	return nsx_doing_places_add(&h->places, p) ? NSX_OK : nsx_err_nomem(h->err, NULL);
}

static void *
host_open(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_stacks *stacks, struct nsx_err *err)
{
	struct host *h = calloc(1, sizeof *h);

	(void)in;
	if (!h) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	h->options = options;
	h->stacks = stacks;
	h->err = err;
	h->doing.names = options->names;
	h->doing.whole = !options->idle;
	h->doing.causes = options->causes;
	h->doing.piece = piece;
	h->doing.state = h;
	h->doing.err = err;
	nsx_doing_begin(&h->doing);
	return h;
}

static void
host_need(const void *state, struct nsx_reader *in)
{
	nsx_doing_need(&((const struct host *)state)->doing, in);
}

static int
host_take(void *state, const struct nsx_rec *rec)
{
	return nsx_doing_take(&((struct host *)state)->doing, rec);
}

/* ---- stacks */

static uint32_t
push(struct host *h, uint32_t node, struct nsx_str text)
{
	return node == NSX_NONE ? node : nsx_stacks_push(h->stacks, node, text);
}

/* The first frames: of a device and a cause, or of a thread. */
static uint32_t
root_of(struct host *h, const struct nsx_doing_place *p)
{
	const struct nsx_doing_thread *t = &h->doing.threads.p[p->thread];

	h->text.len = 0;
	if (p->device == NSX_NONE) {
		struct nsx_str name = nsx_doing_text(&h->doing, t->name);

		nsx_buf_fmt(&h->text, "thread %.*s %lld", (int)name.len, name.ptr, (long long)t->tid);
		return h->text.failed ? NSX_NONE : push(h, NSX_STACKS_ROOT, nsx_buf_view(&h->text));
	}
	nsx_buf_fmt(&h->text, "device %lld", (long long)h->doing.cat.devices.p[p->device].number);
	if (h->text.failed)
		return NSX_NONE;
	return push(h, push(h, NSX_STACKS_ROOT, nsx_buf_view(&h->text)), nsx_str_c(nsx_cause_name(p->cause)));
}

static uint32_t
push_ranges(struct host *h, uint32_t node, uint32_t path)
{
	const struct nsx_stacks *paths = &h->doing.paths;

	h->chain.n = 0;
	for (; path != NSX_STACKS_ROOT; path = paths->nodes.p[path].parent)
		if (!nsx_vec_push(&h->chain, paths->nodes.p[path].frame))
			return NSX_NONE;
	while (h->chain.n)
		node = push(h, node, nsx_intern_str(&paths->frames, h->chain.p[--h->chain.n]));
	return node;
}

/* The last frame where no native stack is known. */
static uint32_t
push_state(struct host *h, uint32_t node, const struct nsx_doing_place *p)
{
	struct nsx_str what = nsx_doing_text(&h->doing, p->what);

	h->text.len = 0;
	if (p->free)
		what = NSX_STR("free");
	switch (p->state) {
	case NSX_DOING_CALL: return push(h, node, what.len ? what : NSX_STR("[call]"));
	case NSX_DOING_OFF:  return push(h, node, NSX_STR("[off the CPU]"));
	case NSX_DOING_RUNNING: return push(h, node, NSX_STR("[running]"));
	case NSX_DOING_UNKNOWN: return push(h, node, NSX_STR("[unknown]"));
	default: break;
	}
	nsx_buf_fmt(&h->text, "[%s]%s%.*s", nsx_doing_name(p->state), what.len ? " " : "", (int)what.len, what.ptr);
	return h->text.failed ? NSX_NONE : push(h, node, nsx_buf_view(&h->text));
}

static int
part(void *state, const struct nsx_doing_place *p, int64_t native, nsx_u128 ns, int64_t samples)
{
	struct host *h = state;
	const struct nsx_doing_thread *t = &h->doing.threads.p[p->thread];
	struct nsx_str python = nsx_doing_frames(&h->doing, p->stack), frames = nsx_doing_frames(&h->doing, native);
	uint32_t node;

	(void)samples;
	if (p->device == NSX_NONE && !t->calls_cuda && !h->options->threads)
		return NSX_OK;
	node = push_ranges(h, root_of(h, p), p->path);
	if (python.len && node != NSX_NONE)
		node = nsx_stacks_path(h->stacks, node, python, ';');
	else if (t->python)
		node = push(h, node, NSX_STR("[no Python sample]"));
	if (python.len)
		frames = nsx_doing_below_python(frames);
	if (frames.len && node != NSX_NONE)
		node = nsx_stacks_path(h->stacks, node, frames, ';');
	else
		node = push_state(h, node, p);
	return node != NSX_NONE && nsx_stacks_add(h->stacks, node, ns) ? NSX_OK : nsx_err_nomem(h->err, NULL);
}

static int
host_finish(void *state, struct nsx_diags *diags)
{
	struct host *h = state;

	if (nsx_doing_finish(&h->doing, diags) != NSX_OK ||
	    nsx_doing_places_each(&h->places, &h->doing, part, h) != NSX_OK)
		return NSX_ERR;
	if (!h->doing.host)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			     "nothing is known of what host threads did beside CUDA: record with "
			     "nsysx-record --cpu, and extract with --cpu or -a");
	return NSX_OK;
}

static void
host_free(void *state)
{
	struct host *h = state;

	nsx_doing_places_free(&h->places);
	nsx_doing_free(&h->doing);
	nsx_buf_free(&h->text);
	free(h->chain.p);
	free(h);
}

const struct nsx_folder nsx_fold_host = { host_open, host_need, host_take, host_finish, host_free };
