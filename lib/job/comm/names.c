/* names.c -- recognises communication by names: of GPU kernels, of executed instructions, of ranges, and by the
 * user's rules. */
#include "job/comm/names.h"
#include "job/frameworks.h"

#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct nsx_comm_rule { regex_t regex; const char *kind; };

/* ---- the user's rules */

const char nsx_comm_kinds[] = "all-gather|all-reduce|all-to-all|broadcast|collective-broadcast|collective-permute|"
	"collective-reduce|nccl|nvshmem|ragged-all-to-all|recv|reduce|reduce-scatter|send|send-recv";

int
nsx_comm_rules_add(struct nsx_comm_rules *rules, const char *text, struct nsx_err *err)
{
	const char *split = strrchr(text, '=');
	char why[120], *regex;

	/* POSIX leaves undefined what an empty expression matches. */
	if (!split || split == text)
		return nsx_err_set(err, "want REGEX=KIND, got \"%s\"", text);
	regex = nsx_str_dup((struct nsx_str){ text, (size_t)(split - text) });
	struct nsx_comm_rule *more = realloc(rules->rule, (rules->n + 1) * sizeof *more);
	if (more)
		rules->rule = more;
	if (!regex || !more) {
		free(regex);
		rules->failed = true;
		return nsx_err_nomem(err, NULL);
	}
	int rc = regcomp(&more[rules->n].regex, regex, REG_EXTENDED | REG_NOSUB);
	if (rc == REG_ESPACE) {
		rules->failed = true;
		nsx_err_nomem(err, NULL);
	} else if (rc) {
		regerror(rc, &more[rules->n].regex, why, sizeof why);
		nsx_err_set(err, "\"%s\" is no extended regular expression: %s", regex, why);
	} else {
		more[rules->n++].kind = split + 1;
	}
	free(regex);
	return rc ? NSX_ERR : NSX_OK;
}

void
nsx_comm_rules_free(struct nsx_comm_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		regfree(&rules->rule[i].regex);
	free(rules->rule);
	*rules = (struct nsx_comm_rules){ 0 };
}

/* ---- heads */

static struct nsx_str
from(struct nsx_str s, size_t at)
{
	return (struct nsx_str){ s.ptr + at, s.len - at };
}

struct nsx_str
nsx_kernel_head(struct nsx_str s, struct nsx_buf *buf)
{
	static const char *const nameless[] = { "(anonymous namespace)::", "<unnamed>::" };

	buf->len = 0;
	if (nsx_str_starts(s, "void "))
		s = from(s, 5);
	while (s.len) {
		if (nsx_str_starts(s, nameless[0]) || nsx_str_starts(s, nameless[1])) {
			s = from(s, strlen(nameless[s.ptr[0] == '<']));
			continue;
		}
		size_t n = 0;
		while (n < s.len && s.ptr[n] != '<' && s.ptr[n] != '(')
			n++;
		if (!n)
			break;
		nsx_buf_str(buf, (struct nsx_str){ s.ptr, n });
		s = from(s, n);
	}
	nsx_buf_char(buf, '\0');
	return buf->failed ? NSX_STR("") : (struct nsx_str){ buf->ptr, buf->len - 1 };
}

/* ---- the built-in rules */

#define NCCL_KIND "nccl"
#define P2P_KIND  "send-recv"

static bool
is_lower_word(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_';
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether s[at] is at the boundary of a word. */
static bool
is_boundary(struct nsx_str s, size_t at)
{
	return at == 0 || at >= s.len || !nsx_is_word(s.ptr[at - 1]) || !nsx_is_word(s.ptr[at]);
}

static bool
skip(struct nsx_str *s, const char *text)
{
	if (!nsx_str_starts(*s, text))
		return false;
	*s = from(*s, strlen(text));
	return true;
}

/* Skip a text of that use at the start of s; returns whether there was one. */
static bool
skip_use(struct nsx_str *s, enum nsx_framework_use use)
{
	size_t i = 0, n = nsx_framework_next(use, *s, &i);

	*s = from(*s, n);
	return n > 0;
}

/* Whether s begins with a text of that use, and of which kind. */
static bool
starts_kind(struct nsx_str s, enum nsx_framework_use use, const char **kind)
{
	size_t i = 0;

	if (!nsx_framework_next(use, s, &i))
		return false;
	*kind = nsx_framework_at(use, &i)->kind;
	return true;
}

/* Whether `at`, a rule for the rest of a string, matches at a word boundary anywhere in s. It matches nothing that
 * begins with a letter other than `first`. */
static bool
anywhere(struct nsx_str s, char first, bool (*at)(struct nsx_str, const char **), const char **kind)
{
	const char *p = s.ptr, *end = s.ptr + s.len;

	for (; p != end && (p = memchr(p, first, (size_t)(end - p))); p++)
		if (is_boundary(s, (size_t)(p - s.ptr)) && at(from(s, (size_t)(p - s.ptr)), kind))
			return true;
	return false;
}

/* The same at any word of s. */
static bool
has_kind(struct nsx_str s, enum nsx_framework_use use, const char **kind)
{
	const struct nsx_framework_name *name;

	for (size_t k = 0; (name = nsx_framework_at(use, &k)); k++)
		for (size_t i = 0; i < s.len; i++)
			if (is_boundary(s, i) && nsx_str_starts(from(s, i), name->text.ptr)) {
				*kind = name->kind;
				return true;
			}
	return false;
}

/* `scatter_reduce` is indexing, `oneRankReduce` is NCCL's reduction in a communicator of one rank. */
static bool
computes(struct nsx_str s, const char **kind)
{
	(void)kind;
	return nsx_str_starts(s, "scatter_reduce") || (skip(&s, "oneRankReduce") && (!s.len || !nsx_is_word(s.ptr[0])));
}

/* Inductor names kernels after the operations that they fuse, including collectives that ran before them:
 * triton_poi_fused_all_gather_into_tensor_1. */
static bool
is_inductor(struct nsx_str s)
{
	size_t n = 0;

	if (!skip(&s, "triton_"))
		return false;
	while (n < s.len && s.ptr[n] >= 'a' && s.ptr[n] <= 'z')
		n++;
	return n && nsx_str_starts(from(s, n), "_fused");
}

static bool
is_nccl_symmetric(struct nsx_str s, const char **kind)
{
	return skip_use(&s, NSX_FRAMEWORK_NCCL_SYMMETRIC) && starts_kind(s, NSX_FRAMEWORK_NCCL_SYMMETRIC_KIND, kind);
}

static bool
is_nccl_kind(struct nsx_str s, const char **kind)
{
	return skip_use(&s, NSX_FRAMEWORK_NCCL) && starts_kind(s, NSX_FRAMEWORK_NCCL_KIND, kind);
}

static bool
is_nccl_send(struct nsx_str s, const char **kind)
{
	*kind = P2P_KIND;
	return skip(&s, "ncclDevKernel_SendRecv") && (!s.len || !nsx_is_word(s.ptr[0]));
}

/* Before 2.19 ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t ran any operation, as ncclDevKernel_Generic does: the kind is
 * unknown. */
static bool
is_nccl(struct nsx_str s, const char **kind)
{
	*kind = NCCL_KIND;
	if (!skip(&s, "nccl"))
		return false;
	for (; s.len && nsx_is_letter(s.ptr[0]); s = from(s, 1))
		if (nsx_str_starts(s, "Kernel"))
			return true;
	return false;
}

static bool
has_nvshmem(struct nsx_str s)
{
	const char *p = s.ptr, *end = s.ptr + s.len;

	for (; p != end && (p = memchr(p, 'n', (size_t)(end - p))); p++)
		if (nsx_str_starts(from(s, (size_t)(p - s.ptr)), "nvshmem"))
			return true;
	return false;
}

/* Exchanges between experts by DeepEP, whose short names are ambiguous. */
static bool
is_deep_ep(struct nsx_str s, const char **kind)
{
	size_t n = 0;

	*kind = "all-to-all";
	if (!skip(&s, "deep_ep::"))
		return false;
	while (n < s.len && is_lower_word(s.ptr[n]))
		n++;
	s = from(s, n);
	return n && skip(&s, "::") && skip_use(&s, NSX_FRAMEWORK_DEEP_EP);
}

/* Whether s begins with the pattern, ignoring case; '?' in it is an optional '_'. */
static bool
starts_loosely(struct nsx_str s, const char *pattern)
{
	size_t i = 0;

	for (; *pattern; pattern++) {
		if (*pattern == '?') {
			i += i < s.len && s.ptr[i] == '_';
			continue;
		}
		if (i == s.len || lower(s.ptr[i]) != *pattern)
			return false;
		i++;
	}
	return true;
}

/* By the last identifier of the head: multimem_all_reduce_kernel, allreduce_fusion_kernel_oneshot_lamport. */
static const char *
by_last_word(struct nsx_str s)
{
	const struct nsx_framework_name *name;
	size_t first = s.len;

	while (first && nsx_is_word(s.ptr[first - 1]))
		first--;
	for (size_t k = 0; (name = nsx_framework_at(NSX_FRAMEWORK_WORD, &k)); k++)
		for (size_t i = first; i < s.len; i++)
			if (lower(s.ptr[i]) == name->text.ptr[0] && starts_loosely(from(s, i), name->text.ptr))
				return name->kind;
	return NULL;
}

/* By the built-in rules, of a kernel with this head; NULL: it computes. */
static const char *
by_head(struct nsx_str s)
{
	const char *kind = NULL;

	if (is_inductor(s) || anywhere(s, 's', computes, &kind) || anywhere(s, 'o', computes, &kind))
		return NULL;
	if (anywhere(s, 'n', is_nccl_symmetric, &kind) || anywhere(s, 'n', is_nccl_kind, &kind) ||
	    anywhere(s, 'n', is_nccl_send, &kind) || anywhere(s, 'n', is_nccl, &kind))
		return kind;
	if (has_nvshmem(s))
		return "nvshmem";
	if (anywhere(s, 'd', is_deep_ep, &kind) || has_kind(s, NSX_FRAMEWORK_KERNEL, &kind))
		return kind;
	const char *word = by_last_word(s);
	if (word)
		return word;
	return has_kind(s, NSX_FRAMEWORK_LAST_KERNEL, &kind) ? kind : NULL;
}

const char *
nsx_comm_by_kernel(const struct nsx_comm_rules *rules, struct nsx_str demangled, struct nsx_buf *buf)
{
	struct nsx_str head = nsx_kernel_head(demangled, buf);

	for (size_t i = 0; rules && i < rules->n && !buf->failed; i++)
		if (!regexec(&rules->rule[i].regex, head.ptr, 0, NULL, 0))
			return rules->rule[i].kind[0] ? rules->rule[i].kind : NULL;
	return by_head(head);
}

/* ---- instructions */

/* Skip text, reading '_' in s as '-'; returns whether s began with it. */
static bool
skip_dashed(struct nsx_str *s, const char *text)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (i == s->len || (s->ptr[i] == '_' ? '-' : s->ptr[i]) != text[i])
			return false;
	*s = from(*s, i);
	return true;
}

const char *
nsx_comm_by_instruction(struct nsx_str name)
{
	const struct nsx_framework_name *kind;

	for (size_t k = 0; (kind = nsx_framework_at(NSX_FRAMEWORK_INSTRUCTION, &k)); k++) {
		struct nsx_str rest = name;
		if (!skip_dashed(&rest, kind->text.ptr))
			continue;
		skip_dashed(&rest, "-start");
		/* The rest of an instruction's name must be a number; `all-reduce-scatter-fusion`, `all-gather-done`
		 * are other instructions. */
		if (rest.len == 0 || rest.ptr[0] == '.')
			return kind->text.ptr;
	}
	return NULL;
}

/* ---- ranges */

int
nsx_comm_by_range(struct nsx_str name)
{
	const struct nsx_framework_name *stem;
	int number = NSX_COMM_FIRST;

	if (!skip_use(&name, NSX_FRAMEWORK_RANGE_OF))
		return NSX_COMM_NO_RANGE;
	skip(&name, "_");
	for (size_t i = 0; (stem = nsx_framework_at(NSX_FRAMEWORK_RANGE, &i)); i++, number++) {
		struct nsx_str rest = name;
		if (skip(&rest, stem->text.ptr) && (!rest.len || rest.ptr[0] == '_' || !nsx_is_word(rest.ptr[0])))
			return stem->kind ? number : NSX_COMM_KERNEL;
	}
	return NSX_COMM_NO_RANGE;
}

const char *
nsx_comm_range_kind(int number)
{
	const struct nsx_framework_name *stem;
	int at = NSX_COMM_FIRST;

	/* Asked of every operation, of which most are in no such range. */
	if (number < at)
		return NULL;
	for (size_t i = 0; (stem = nsx_framework_at(NSX_FRAMEWORK_RANGE, &i)); i++)
		if (at++ == number)
			return stem->kind;
	return NULL;
}

bool
nsx_comm_can_run(const char *kernel, const char *kind)
{
	static const char *const also[][2] = {
		{ P2P_KIND, "all-to-all" }, { P2P_KIND, "gather" }, { P2P_KIND, "scatter" },
		{ "broadcast", "all-gather" }, { "reduce", "reduce-scatter" }
	};

	if (strcmp(kernel, kind) == 0 || strcmp(kernel, NCCL_KIND) == 0)
		return true;
	for (size_t i = 0; i < sizeof also / sizeof *also; i++)
		if (strcmp(kernel, also[i][0]) == 0 && strcmp(kind, also[i][1]) == 0)
			return true;
	return false;
}

bool
nsx_comm_is_range_kind(const char *kind)
{
	const struct nsx_framework_name *stem;

	for (size_t i = 0; (stem = nsx_framework_at(NSX_FRAMEWORK_RANGE, &i)); i++)
		if (stem->kind && strcmp(stem->kind, kind) == 0)
			return true;
	return false;
}

bool
nsx_comm_is_open(const char *kernel)
{
	return strcmp(kernel, NCCL_KIND) == 0 || strcmp(kernel, P2P_KIND) == 0;
}
