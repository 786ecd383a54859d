/* hlo_source.c -- source locations of instructions: op names, and stacks built once for each frame that is used. */
#include <stdlib.h>

#include "base/num.h"
#include "xla/hlo_int.h"

enum {
	FRAMES_MAX = 4096,   /* of one stack; frames outside of these are dropped */
	S_FILE = 1, S_FUNCTION = 2, S_PLACE = 3, S_FRAME = 4   /* fields of StackFrameIndexProto */
};
static const uint64_t STACK_BYTES_MAX = UINT64_C(512) << 20;   /* of all stacks of a dump */

/* ---- the table */

static int
add_string(struct nsx_hlo_build *b, struct nsx_extent span, bool file)
{
	const char none = 0;
	const unsigned char *p = (const unsigned char *)&none;

	if (span.len > 1 << 20)
		return nsx_err_set(b->f->err, "%s: a file or function name of more than a megabyte", b->f->path);
	if (span.len && !(p = nsx_dumpfile_at(b->f, span.off, (size_t)span.len)))
		return NSX_ERR;
	uint32_t s = nsx_intern(&b->strs, (struct nsx_str){ (const char *)p, (size_t)span.len });
	if (s == NSX_NONE || !(file ? nsx_vec_push(&b->frames.files, s) : nsx_vec_push(&b->frames.functions, s)))
		return nsx_hlo_nomem(b);
	return NSX_OK;
}

static int
add_place(struct nsx_hlo_build *b, struct nsx_extent span)
{
	struct nsx_hlo_frames *fr = &b->frames;
	const Nsysx__NsxHloFileLocation *m = nsx_unpack_message(&b->u, span, &nsysx__nsx_hlo_file_location__descriptor);

	if (!m)
		return NSX_ERR;
	if (!nsx_vec_room(&fr->places, 1))
		return nsx_hlo_nomem(b);
	fr->places.p[fr->places.n].file = (uint32_t)m->file_name_id;
	fr->places.p[fr->places.n].function = (uint32_t)m->function_name_id;
	fr->places.p[fr->places.n].line = m->line;
	fr->places.p[fr->places.n++].column = m->column;
	return NSX_OK;
}

static int
add_frame(struct nsx_hlo_build *b, struct nsx_extent span)
{
	struct nsx_hlo_frames *fr = &b->frames;
	const Nsysx__NsxHloStackFrame *m = nsx_unpack_message(&b->u, span, &nsysx__nsx_hlo_stack_frame__descriptor);

	if (!m)
		return NSX_ERR;
	if (!nsx_vec_room(&fr->frames, 1))
		return nsx_hlo_nomem(b);
	fr->frames.p[fr->frames.n].place = (uint32_t)m->file_location_id;
	fr->frames.p[fr->frames.n].parent = (uint32_t)m->parent_frame_id;
	fr->frames.p[fr->frames.n].stack = NSX_HLO_UNBUILT;
	fr->frames.p[fr->frames.n++].seen = 0;
	return NSX_OK;
}

int
nsx_hlo_frames_read(struct nsx_hlo_build *b, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(b->f, span);
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field < S_FILE || w.field > S_FRAME)
			continue;
		if (w.type != NSX_WIRE_LEN)
			b->u.clashes++;
		else if (w.field == S_PLACE)
			rc = add_place(b, w.span);
		else if (w.field == S_FRAME)
			rc = add_frame(b, w.span);
		else
			rc = add_string(b, w.span, w.field == S_FILE);
		if (rc != NSX_OK)
			return rc;
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

void
nsx_hlo_frames_free(struct nsx_hlo_frames *fr)
{
	free(fr->files.p);
	free(fr->functions.p);
	free(fr->places.p);
	free(fr->frames.p);
	*fr = (struct nsx_hlo_frames){ 0 };
}

/* ---- stacks */

/* A name as part of a frame: without characters that separate frames or end a line. */
static void
put_name(struct nsx_buf *out, struct nsx_str s)
{
	size_t from = out->len;

	nsx_buf_str(out, s);
	for (size_t i = from; !out->failed && i < out->len; i++)
		if (out->ptr[i] == ';')
			out->ptr[i] = ',';
		else if ((unsigned char)out->ptr[i] < ' ' || out->ptr[i] == 0x7f)
			out->ptr[i] = ' ';
}

/* A line or a column. */
static void
put_number(struct nsx_buf *out, int32_t n)
{
	char text[24] = ":";

	nsx_buf_add(out, text, (size_t)(nsx_put_int(text + 1, n) - text));
}

/* The frame's own line; nothing, and false, if its location is unknown. */
static bool
put_frame(struct nsx_hlo_build *b, struct nsx_buf *out, uint32_t place)
{
	const struct nsx_hlo_frames *fr = &b->frames;

	if (place == 0 || place > fr->places.n)
		return false;
	uint32_t file = fr->places.p[place - 1].file, function = fr->places.p[place - 1].function;
	if (file == 0 || file > fr->files.n)
		return false;
	if (out->len)
		nsx_buf_char(out, ';');
	put_name(out, nsx_intern_str(&b->strs, fr->files.p[file - 1]));
	put_number(out, fr->places.p[place - 1].line);
	if (fr->places.p[place - 1].column)
		put_number(out, fr->places.p[place - 1].column);
	if (function && function <= fr->functions.n && nsx_intern_str(&b->strs, fr->functions.p[function - 1]).len) {
		nsx_buf_char(out, '[');
		put_name(out, nsx_intern_str(&b->strs, fr->functions.p[function - 1]));
		nsx_buf_char(out, ']');
	}
	return true;
}

/* The number of the stack whose text is in buf, which is then truncated to its previous length. */
static int
stack_number(struct nsx_hlo_build *b, struct nsx_buf *buf, uint32_t *stack)
{
	uint32_t s = NSX_NONE, *at = NULL;

	*stack = NSX_NONE;
	if (buf->failed)
		return nsx_hlo_nomem(b);
	if (buf->len) {
		s = nsx_intern(&b->strs, nsx_buf_view(buf));
		at = s == NSX_NONE ? NULL : nsx_map_at(&b->stack_by_str, (struct nsx_key){ s, 0 });
		if (!at)
			return nsx_hlo_nomem(b);
		if (*at == NSX_NONE) {
			if (!nsx_vec_push(&b->stacks, s))
				return nsx_hlo_nomem(b);
			*at = (uint32_t)(b->stacks.n - 1);
			b->frames.bytes += buf->len;
		}
		*stack = *at;
	}
	return NSX_OK;
}

/* The stack of frame id, 1-based and within the table. */
static int
frame_stack(struct nsx_hlo_build *b, uint32_t id, uint32_t *stack)
{
	struct nsx_hlo_frames *fr = &b->frames;
	uint32_t chain[FRAMES_MAX];
	struct nsx_buf out = { 0 };
	size_t n = 0;
	bool bad = false;

	*stack = fr->frames.p[id - 1].stack;
	if (*stack != NSX_HLO_UNBUILT)
		return NSX_OK;
	if (fr->bytes > STACK_BYTES_MAX) {
		b->missed[NSX_HLO_MANY_FRAMES]++;
		fr->frames.p[id - 1].stack = *stack = NSX_NONE;
		return NSX_OK;
	}
	fr->builds++;
	for (uint32_t i = id; i; i = fr->frames.p[i - 1].parent) {
		if (i > fr->frames.n || fr->frames.p[i - 1].seen == fr->builds || n == FRAMES_MAX) {
			bad = true;
			break;
		}
		fr->frames.p[i - 1].seen = fr->builds;
		chain[n++] = fr->frames.p[i - 1].place;
	}
	while (n)
		if (!put_frame(b, &out, chain[--n]))
			bad = true;
	b->missed[NSX_HLO_BAD_FRAME] += bad;
	int rc = stack_number(b, &out, stack);
	nsx_buf_free(&out);
	if (rc == NSX_OK)
		fr->frames.p[id - 1].stack = *stack;
	return rc;
}

static int
stack_of(struct nsx_hlo_build *b, const struct nsx_hlo_meta *m, uint32_t *stack)
{
	struct nsx_buf out = { 0 };

	*stack = NSX_NONE;
	if (m->frame > 0 && (uint32_t)m->frame <= b->frames.frames.n) {
		if (frame_stack(b, (uint32_t)m->frame, stack) != NSX_OK)
			return NSX_ERR;
	} else if (m->frame) {
		b->missed[NSX_HLO_BAD_FRAME]++;
	}
	if (*stack != NSX_NONE || !m->source_file.len)
		return NSX_OK;
	put_name(&out, m->source_file);
	put_number(&out, m->line);
	int rc = stack_number(b, &out, stack);
	nsx_buf_free(&out);
	return rc;
}

/* ---- source locations */

int
nsx_hlo_pair(struct nsx_hlo_build *b, const struct nsx_hlo_meta *m, uint32_t *pair)
{
	uint32_t op_name = NSX_NONE, stack;

	*pair = NSX_NONE;
	if (!m)
		return NSX_OK;
	if (stack_of(b, m, &stack) != NSX_OK)
		return NSX_ERR;
	if (m->op_name.len && (op_name = nsx_intern(&b->strs, m->op_name)) == NSX_NONE)
		return nsx_hlo_nomem(b);
	if (op_name == NSX_NONE && stack == NSX_NONE)
		return NSX_OK;
	uint32_t *at = nsx_map_at(&b->pair_by_key, (struct nsx_key){ op_name, stack });
	if (!at)
		return nsx_hlo_nomem(b);
	if (*at == NSX_NONE) {
		if (!nsx_vec_room(&b->pairs, 1))
			return nsx_hlo_nomem(b);
		b->pairs.p[b->pairs.n].op_name = op_name;
		b->pairs.p[b->pairs.n].stack = stack;
		b->pairs.p[b->pairs.n].stamp = 0;
		*at = (uint32_t)b->pairs.n++;
	}
	*pair = *at;
	return NSX_OK;
}
