/* signature.c -- see signature.h. The entry computation is known only when the module has been walked, so computations
 * are walked after it. */
#include "xla/signature.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/sort.h"
#include "xla/hlo_int.h"

/* Fields of HloInstructionProto, of its OpMetadata, of ShapeProto. */
enum { I_NAME = 1, I_OPCODE = 2, I_SHAPE = 3, I_METADATA = 7, I_LITERAL = 8, I_PARAMETER = 9, I_TARGET = 28,
       I_CONFIG = 43, I_PRECISION = 51 };
enum { P_OPERANDS = 1, P_ALGORITHM = 2 };
enum { O_NAME = 2 };
enum { S_TYPE = 2, S_DIMENSIONS = 3, S_TUPLE = 4, S_IS_TUPLE = 13 };
/* Of HloModuleProto and its ProgramShapeProto; of the messages of M_ALIAS, M_DONOR and M_SHARDING. */
enum { M_SHAPE = 4, M_ALIAS = 8, M_SHARDING = 14, M_DONOR = 18, P_RESULT = 2 };
enum { A_ENTRY = 1, ALIAS_PARAMETER = 2, DONOR_PARAMETER = 1 };
enum { SHARDING_TYPE = 1, SHARDING_TILES = 3 };
enum { NAME_MAX_BYTES = 1 << 16, DIMS_MAX = 64 };

struct reading {
	struct nsx_dumpfile  *f;
	struct nsx_signature *s;
	NSX_VEC(struct nsx_extent) computations;
	NSX_VEC(struct nsx_extent) shardings;    /* by number of the argument */
	NSX_VEC(int64_t)      donated;           /* numbers of arguments */
	int64_t               entry;
};

/* Attributes of instructions that decide what is computed: dimensions, window, those of convolutions, slices, sizes of
 * dynamic slices, padding, distribution, those of products, FFT, gather, scatter, groups of features and batches,
 * direction of comparisons. Others are numbers of instructions, or what the autotuner chose, and differ between equal
 * programs. */
static const unsigned char attributes[] = { 14, 15, 16, 17, 20, 21, 23, 30, 31, 32, 33, 34, 48, 50, 58, 63 };

/* The names of XLA's PrimitiveType, by number. */
static const char *const types[] = {
	"invalid", "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "tuple", "opaque",
	"c64", "bf16", "token", "c128", "f8e5m2", "f8e4m3fn", "s4", "u4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz",
	"s2", "u2", "f8e4m3", "f8e3m4", "s1", "u1", "f4e2m1fn", "f8e8m0fnu", "buffer"
};

static void
mix(uint64_t *hash, uint64_t x)
{
	*hash = nsx_hash_u64(*hash ^ x);
}

/* The bytes of a name, copied to the arena; "" if it is longer than names are. */
static int
keep(struct reading *r, struct nsx_extent span, struct nsx_str *out)
{
	*out = (struct nsx_str){ "", 0 };
	if (!span.len || span.len > NAME_MAX_BYTES)
		return NSX_OK;
	const unsigned char *p = nsx_dumpfile_at(r->f, span.off, (size_t)span.len);

	if (!p)
		return NSX_ERR;
	*out = nsx_arena_str(&r->s->arena, (struct nsx_str){ (const char *)p, (size_t)span.len });
	return out->ptr ? NSX_OK : nsx_dumpfile_nomem(r->f);
}

/* Mix the bytes of a field into a hash. */
static int
mix_bytes(struct reading *r, struct nsx_extent span, uint64_t *hash)
{
	enum { PIECE = 1 << 16 };

	for (uint64_t at = 0; at < span.len; at += PIECE) {
		size_t n = span.len - at < PIECE ? (size_t)(span.len - at) : PIECE;
		const unsigned char *p = nsx_dumpfile_at(r->f, span.off + at, n);

		if (!p)
			return NSX_ERR;
		mix(hash, nsx_hash(p, n));
	}
	return NSX_OK;
}

/* A shape: its type and sizes, into a hash and, unless they are NULL, into an argument and a text; of a tuple those of
 * its parts into hash and text. */
static int
read_shape(struct reading *r, struct nsx_extent span, uint64_t *hash, struct nsx_signature_argument *a,
           struct nsx_buf *all, int depth)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	struct nsx_ints dims = { 0 };
	struct nsx_buf text = { 0 };
	uint64_t type = 0;
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == S_TYPE && w.type == NSX_WIRE_VARINT)
			type = w.value;
		else if (w.field == S_DIMENSIONS && (w.type == NSX_WIRE_VARINT || w.type == NSX_WIRE_LEN))
			rc = nsx_wire_ints(&w, &dims);
		else if (w.field == S_TUPLE && w.type == NSX_WIRE_LEN && depth < 16)
			rc = read_shape(r, w.span, hash, NULL, all, depth + 1);
	mix(hash, type);
	nsx_buf_char(&text, '[');
	for (size_t i = 0; i < dims.n; i++) {
		mix(hash, (uint64_t)dims.p[i]);
		if (i < DIMS_MAX)
			nsx_buf_fmt(&text, "%s%" PRId64, i ? "," : "", dims.p[i]);
	}
	nsx_buf_char(&text, ']');
	rc = rc == NSX_EOF ? NSX_OK : NSX_ERR;
	const char *name = type < sizeof types / sizeof *types ? types[type] : "unknown";
	if (all && type != S_IS_TUPLE) {
		nsx_buf_fmt(all, "%s%s", all->len ? " " : "", name);
		nsx_buf_str(all, nsx_buf_view(&text));
	}
	if (rc == NSX_OK && a) {
		a->type = nsx_str_c(name);
		a->dims = text.failed ? (struct nsx_str){ NULL, 0 } : nsx_arena_str(&r->s->arena, nsx_buf_view(&text));
		if (!a->dims.ptr)
			rc = nsx_dumpfile_nomem(r->f);
	}
	nsx_buf_free(&text);
	free(dims.p);
	return rc;
}

static int
read_op_name(struct reading *r, struct nsx_extent span, struct nsx_str *out)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == O_NAME && w.type == NSX_WIRE_LEN)
			rc = keep(r, w.span, out);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* ---- precision of products */

static const char *const precisions[] = { "DEFAULT", "HIGH", "HIGHEST" };

static void
count_product(struct reading *r, int64_t most, uint64_t hash)
{
	if (most < 0)
		return;
	r->s->products[most]++;
	mix(&r->s->precision, (uint64_t)most);
	mix(&r->s->precision, hash);
}

/* A PrecisionConfig. */
static int
read_precision(struct reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	struct nsx_ints of = { 0 };
	uint64_t hash = 0;
	int64_t most = -1;
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == P_OPERANDS && (w.type == NSX_WIRE_VARINT || w.type == NSX_WIRE_LEN))
			rc = nsx_wire_ints(&w, &of);
		else if (w.field == P_ALGORITHM && w.type == NSX_WIRE_VARINT)
			mix(&hash, w.value);
	for (size_t i = 0; i < of.n; i++)
		most = of.p[i] > most && of.p[i] <= 2 ? of.p[i] : most;
	free(of.p);
	count_product(r, most, hash);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* That of a call of cuBLAS or cuDNN, which its backend_config has beside what the autotuner chose. */
static int
read_config(struct reading *r, struct nsx_extent span)
{
	if (!span.len || span.len > NAME_MAX_BYTES)
		return NSX_OK;
	const unsigned char *p = nsx_dumpfile_at(r->f, span.off, (size_t)span.len);
	struct nsx_json j = { .text = { (const char *)p, (size_t)span.len } };
	enum nsx_json_type t = NSX_JSON_OBJECT;
	int64_t most = -1;
	uint64_t hash = 0;
	int inside = 0;      /* the depth within precision_config */

	if (!p)
		return NSX_ERR;
	while (t != NSX_JSON_BAD && !((t = nsx_json_next(&j)) == NSX_JSON_END && j.depth <= 0)) {
		if (t == NSX_JSON_OBJECT && nsx_str_eq(j.key, NSX_STR("precision_config")))
			inside = j.depth;
		inside = j.depth < inside ? 0 : inside;
		if (!inside || (t != NSX_JSON_STRING && t != NSX_JSON_NUMBER))
			continue;
		if (j.key.len)
			mix(&hash, nsx_hash(j.value.ptr, j.value.len));   /* the algorithm */
		for (int64_t k = most + 1; k < 3 && !j.key.len; k++)
			if (nsx_str_eq(j.value, nsx_str_c(precisions[k])) ||
			    (j.value.len == 1 && j.value.ptr[0] == '0' + k))
				most = k;
	}
	count_product(r, most, hash);
	return NSX_OK;
}

/* An attribute that decides what is computed, into the hash of the body. */
static int
mix_attribute(struct reading *r, const struct nsx_wire *w)
{
	if (w->field > UCHAR_MAX || !memchr(attributes, (int)w->field, sizeof attributes))
		return NSX_OK;
	mix(&r->s->body, w->field);
	if (w->type == NSX_WIRE_LEN)
		return mix_bytes(r, w->span, &r->s->body);
	mix(&r->s->body, w->value);
	return NSX_OK;
}

/* What a custom call calls: of those of cuBLAS and cuDNN, the autotuner may choose another one. */
static int
mix_target(struct reading *r, struct nsx_extent span)
{
	struct nsx_str target;

	if (keep(r, span, &target) != NSX_OK)
		return NSX_ERR;
	if (target.len && !nsx_str_starts(target, "__cu"))
		mix(&r->s->body, nsx_hash(target.ptr, target.len));
	return NSX_OK;
}

/* An instruction; of the entry computation its parameters are arguments. */
static int
read_instruction(struct reading *r, struct nsx_extent span, bool entry)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	struct nsx_signature_argument a = { .name = { "", 0 }, .type = { "", 0 }, .dims = { "", 0 },
	                                    .sharding = { "", 0 } };
	struct nsx_extent name = { 0, 0 }, shape = { 0, 0 }, metadata = { 0, 0 }, literal = { 0, 0 }, config = { 0, 0 };
	struct nsx_str opcode = { "", 0 };
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field == I_PARAMETER && w.type == NSX_WIRE_VARINT)
			a.number = (int64_t)w.value;
		rc = mix_attribute(r, &w);
		if (w.type != NSX_WIRE_LEN || rc != NSX_OK)
			continue;
		switch (w.field) {
		case I_NAME:     name = w.span; break;
		case I_SHAPE:    shape = w.span; break;
		case I_METADATA: metadata = w.span; break;
		case I_LITERAL:  literal = w.span; break;
		case I_CONFIG:   config = w.span; break;
		case I_TARGET:   rc = mix_target(r, w.span); break;
		case I_PRECISION: rc = read_precision(r, w.span); break;
		case I_OPCODE:   rc = keep(r, w.span, &opcode); break;
		default: break;
		}
	}
	if (rc != NSX_EOF)
		return NSX_ERR;
	bool argument = entry && nsx_str_eq(opcode, NSX_STR("parameter"));

	r->s->instructions++;
	if (nsx_str_eq(opcode, NSX_STR("custom-call")) && read_config(r, config) != NSX_OK)
		return NSX_ERR;
	mix(&r->s->body, nsx_hash(opcode.ptr, opcode.len));
	if (read_shape(r, shape, &r->s->body, argument ? &a : NULL, NULL, 0) != NSX_OK
	    || mix_bytes(r, literal, &r->s->constants) != NSX_OK)
		return NSX_ERR;
	if (!argument)
		return NSX_OK;
	if (read_op_name(r, metadata, &a.name) != NSX_OK || (!a.name.len && keep(r, name, &a.name) != NSX_OK))
		return NSX_ERR;
	return nsx_vec_push(&r->s->arguments, a) ? NSX_OK : nsx_dumpfile_nomem(r->f);
}

static int
read_computation(struct reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int64_t id = 0;
	int rc = NSX_OK;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_C_ID && w.type == NSX_WIRE_VARINT)
			id = (int64_t)w.value;
	w = nsx_wire(r->f, span);
	while (rc != NSX_ERR && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_C_INSTRUCTION && w.type == NSX_WIRE_LEN
		    && read_instruction(r, w.span, id == r->entry) != NSX_OK)
			return NSX_ERR;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* The shapes of the result. */
static int
read_program_shape(struct reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	struct nsx_buf text = { 0 };
	uint64_t hash = 0;
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == P_RESULT && w.type == NSX_WIRE_LEN)
			rc = read_shape(r, w.span, &hash, NULL, &text, 0);
	rc = rc == NSX_EOF ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK) {
		r->s->result = text.failed ? (struct nsx_str){ NULL, 0 }
		               : nsx_arena_str(&r->s->arena, nsx_buf_view(&text));
		rc = r->s->result.ptr ? NSX_OK : nsx_dumpfile_nomem(r->f);
	}
	nsx_buf_free(&text);
	return rc;
}

/* The arguments whose memory is reused, or may be: the entries of a list, in which a field has the number. */
static int
read_donated(struct reading *r, struct nsx_extent span, uint32_t field)
{
	struct nsx_wire w = nsx_wire(r->f, span), e;
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		int64_t number = 0;

		if (w.field != A_ENTRY || w.type != NSX_WIRE_LEN)
			continue;
		e = nsx_wire(r->f, w.span);
		while ((rc = nsx_wire_next(&e)) == NSX_OK)
			if (e.field == field && e.type == NSX_WIRE_VARINT)
				number = (int64_t)e.value;
		if (rc != NSX_EOF)
			return NSX_ERR;
		rc = nsx_vec_push(&r->donated, number) ? NSX_OK : nsx_dumpfile_nomem(r->f);
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
read_sharding(struct reading *r, struct nsx_extent span, struct nsx_signature_argument *a)
{
	static const char *const kinds[] = { "replicated", "maximal", "tuple", "", "manual", "unknown" };
	struct nsx_wire w = nsx_wire(r->f, span);
	struct nsx_ints tiles = { 0 };
	struct nsx_buf text = { 0 };
	uint64_t type = 0;
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == SHARDING_TYPE && w.type == NSX_WIRE_VARINT)
			type = w.value;
		else if (w.field == SHARDING_TILES && (w.type == NSX_WIRE_VARINT || w.type == NSX_WIRE_LEN))
			rc = nsx_wire_ints(&w, &tiles);
	rc = rc == NSX_EOF ? mix_bytes(r, span, &a->shards) : NSX_ERR;
	nsx_buf_c(&text, type < sizeof kinds / sizeof *kinds ? kinds[type] : "unknown");
	for (size_t i = 0; i < tiles.n && i < DIMS_MAX; i++)
		nsx_buf_fmt(&text, "%s%" PRId64 "%s", i ? "," : "[", tiles.p[i], i + 1 < tiles.n ? "" : "]");
	if (rc == NSX_OK) {
		a->sharding = text.failed ? (struct nsx_str){ NULL, 0 }
		              : nsx_arena_str(&r->s->arena, nsx_buf_view(&text));
		rc = a->sharding.ptr ? NSX_OK : nsx_dumpfile_nomem(r->f);
	}
	nsx_buf_free(&text);
	free(tiles.p);
	return rc;
}

/* What the module says of its arguments. */
static int
complete_arguments(struct reading *r)
{
	int rc = NSX_OK;

	for (size_t i = 0; i < r->s->arguments.n && rc == NSX_OK; i++) {
		struct nsx_signature_argument *a = &r->s->arguments.p[i];

		for (size_t k = 0; k < r->donated.n; k++)
			a->donated |= r->donated.p[k] == a->number;
		if (a->number >= 0 && (size_t)a->number < r->shardings.n)
			rc = read_sharding(r, r->shardings.p[a->number], a);
	}
	return rc;
}

static int
read_module(struct reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.type == NSX_WIRE_VARINT && (w.field == NSX_HLO_M_ID || w.field == NSX_HLO_M_ENTRY_ID))
			*(w.field == NSX_HLO_M_ID ? &r->s->id : &r->entry) = (int64_t)w.value;
		if (w.type != NSX_WIRE_LEN)
			continue;
		if (w.field == NSX_HLO_M_NAME)
			rc = keep(r, w.span, &r->s->name);
		else if (w.field == M_SHAPE)
			rc = read_program_shape(r, w.span);
		else if (w.field == M_ALIAS || w.field == M_DONOR)
			rc = read_donated(r, w.span, w.field == M_ALIAS ? ALIAS_PARAMETER : DONOR_PARAMETER);
		else if (w.field == M_SHARDING && !nsx_vec_push(&r->shardings, w.span))
			rc = nsx_dumpfile_nomem(r->f);
		else if (w.field == NSX_HLO_M_DEVICES)
			rc = mix_bytes(r, w.span, &r->s->devices);
		else if (w.field == NSX_HLO_M_COMPUTATION && !nsx_vec_push(&r->computations, w.span))
			rc = nsx_dumpfile_nomem(r->f);
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
read_all(struct reading *r)
{
	struct nsx_wire w = nsx_wire(r->f, (struct nsx_extent){ 0, r->f->size });
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_F_MODULE && w.type == NSX_WIRE_LEN)
			rc = read_module(r, w.span);
	if (rc != NSX_EOF)
		return NSX_ERR;
	if (!r->s->name.len)
		return nsx_err_set(r->f->err, "%s: not a dump: no module with a name in it", r->f->path);
	rc = NSX_OK;
	for (size_t i = 0; i < r->computations.n && rc == NSX_OK; i++)
		rc = read_computation(r, r->computations.p[i]);
	return rc == NSX_OK ? complete_arguments(r) : rc;
}

NSX_ORDER(by_number, struct nsx_signature_argument, NSX_CMP(a->number, b->number))

/* Reads and closes f. */
static int
read_file(struct nsx_dumpfile *f, struct nsx_signature *s)
{
	struct reading r = { .f = f, .s = s };

	*s = (struct nsx_signature){ .name = { "", 0 }, .result = { "", 0 } };
	int rc = read_all(&r);
	nsx_dumpfile_close(f);
	free(r.computations.p);
	free(r.shardings.p);
	free(r.donated.p);
	if (s->arguments.n > 1)
		qsort(s->arguments.p, s->arguments.n, sizeof *s->arguments.p, by_number);
	if (rc != NSX_OK)
		nsx_signature_free(s);
	return rc;
}

int
nsx_signature_read(const char *path, struct nsx_signature *s, struct nsx_err *err)
{
	struct nsx_dumpfile f;

	return nsx_dumpfile_open(&f, path, err) == NSX_OK ? read_file(&f, s) : NSX_ERR;
}

int
nsx_signature_memory(const void *p, size_t n, const char *name, struct nsx_signature *s, struct nsx_err *err)
{
	struct nsx_dumpfile f;

	nsx_dumpfile_memory(&f, p, n, name, err);
	return read_file(&f, s);
}

void
nsx_signature_free(struct nsx_signature *s)
{
	free(s->arguments.p);
	nsx_arena_free(&s->arena);
	*s = (struct nsx_signature){ .name = { "", 0 } };
}
