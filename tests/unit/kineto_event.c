/* kineto_event.c -- an event of a trace is read by a loop of its own: it takes the members that count, and refuses what
 * base/json.c refuses, at the same byte. */
#include <stdlib.h>

#include "kineto/event.h"
#include "tap.h"

static uint64_t seed = 1;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

/* An event with all that the grammar has, and white space of all kinds. */
static const char event[] =
	"{\"ph\": \"X\", \"cat\":\t\"kernel\",\r\n        \"name\": \"a \\\"b\\\\\", \"pid\":7, \"tid\" : \"t\",\n\n"
	"              \"ts\": 12.5e1, \"dur\": -3, \"x\": {\"correlation\": 1, \"a\": [[], {}, [1, null, {\"b\": true}]]},\n"
	"   \"args\": {\"device\": 3, \"External id\": 5, \"bytes\": \"9\",\n                   \"Input Dims\": [[1, 2], []],"
	" \"d\": {\"stream\": 4}, \"Process Group Description\": \"dp\"}, \"name\": \"c\"}";

static void
test_members(void)
{
	struct nsx_kineto_event e = { 0 };
	size_t len;

	ok(nsx_kineto_event(nsx_str_c(event), false, &e, &len) == NSX_PARSED && len == strlen(event) && e.object,
	   "an event is read to its last bracket");
	ok(nsx_str_eq(e.cat, NSX_STR("kernel")) && nsx_str_eq(e.tid, NSX_STR("t")) && nsx_str_eq(e.ts, NSX_STR("12.5e1"))
	   && nsx_str_eq(e.dur, NSX_STR("-3")) && nsx_str_eq(e.pid, NSX_STR("7")), "its members, without quotes");
	ok(nsx_str_eq(e.name, NSX_STR("c")), "of two of one name the last");
	ok(nsx_str_eq(e.args[KA_DEVICE], NSX_STR("3")) && nsx_str_eq(e.args[KA_BYTES], NSX_STR("9"))
	   && nsx_str_eq(e.args[KA_CALLED], NSX_STR("dp")), "and of its arguments those that count");
	ok(!e.args[KA_CORRELATION].len && !e.args[KA_STREAM].len, "not what is deeper or elsewhere");
	ok(nsx_kineto_event(NSX_STR("{\"args\": {\"device\": 4}}"), false, &e, &len) == NSX_PARSED
	   && nsx_str_eq(e.args[KA_DEVICE], NSX_STR("4")) && !e.args[KA_BYTES].len && !e.args[KA_CALLED].len && !e.name.len,
	   "nothing is left of the event before");
	ok(nsx_kineto_event(NSX_STR("{\"args\": {\"Input Dims\": [[2, [3]], []], \"bytes\": 5}}"), false, &e, &len) == NSX_PARSED
	   && nsx_str_eq(e.args[KA_SIZES], NSX_STR("[[2, [3]], []]")) && nsx_str_eq(e.args[KA_BYTES], NSX_STR("5")),
	   "sizes of inputs are the text of their array");
	ok(nsx_kineto_event(NSX_STR("null,"), false, &e, &len) == NSX_PARSED && len == 4 && !e.object,
	   "a value that is no object is no event");
}

/* Each argument, by its name, into its own place. */
static void
test_arguments(void)
{
	static const char *const names[KA_ARGS] = { "correlation", "device", "stream", "bytes", "graph node id", "fromDevice",
		"toDevice", "inDevice", "cuda_sync_kind", "name", "Collective name", "In msg nelems", "Out msg nelems",
		"Group size", "dtype", "Process Group Name", "Process Group Ranks", "Process Group Description", "Src Rank",
		"Dst Rank", "Sequence number", "Input Dims" };
	struct nsx_kineto_event e = { 0 };
	int wrong = 0;

	for (int i = 0; i < KA_ARGS; i++) {
		char text[80];
		size_t len;

		snprintf(text, sizeof text, "{\"args\":{\"%s\":%d}}", names[i], i + 10);
		nsx_kineto_event(nsx_str_c(text), false, &e, &len);
		for (int k = 0; k < KA_ARGS; k++)
			wrong += (e.args[k].len > 0) != (k == i);
		wrong += atoi(e.args[i].ptr ? e.args[i].ptr : "") != i + 10;
	}
	ok(!wrong, "each argument has its place (%d have not)", wrong);
}

static bool
same(struct nsx_str text, struct nsx_kineto_event *e, bool complete, int *refused)
{
	size_t got, want;
	enum nsx_kineto_parse a = nsx_kineto_event(text, complete, e, &got), b = nsx_kineto_value(text, complete, &want);

	*refused += b == NSX_NOT_JSON;
	return a == b && got == want;
}

static void
test_grammar(void)
{
	static const char with[] = "{}[]\",:\\ 09-e\n\tx\1";
	struct nsx_kineto_event e = { 0 };
	int wrong = 0, refused = 0;

	for (size_t n = 0; n < sizeof event; n++)
		wrong += !same((struct nsx_str){ event, n }, &e, n & 1, &refused);
	ok(!wrong && !refused, "cut at any byte, it is cut (%d)", wrong);
	for (int i = 0; i < 20000; i++) {
		char text[sizeof event];
		size_t n = sizeof event - 1;

		memcpy(text, event, sizeof event);
		for (uint32_t k = 1 + rnd(3); k; k--) {
			uint32_t at = rnd((uint32_t)n - 1);
			if (rnd(3))
				text[at] = with[rnd(sizeof with - 1)];
			else
				memmove(text + at, text + at + 1, --n - at);
		}
		/* Without a byte behind it that could hide a read past the end. */
		char *exact = malloc(n);
		memcpy(exact, text, n);
		wrong += !same((struct nsx_str){ exact, n }, &e, i & 1, &refused);
		free(exact);
	}
	ok(!wrong, "with bytes changed and gone, both readers agree to the byte (%d do not)", wrong);
	ok(refused > 2000, "and refuse many (%d)", refused);
}

static void
test_depth(void)
{
	char text[200] = "{\"a\":";
	struct nsx_kineto_event e = { 0 };
	int wrong = 0, refused = 0;

	for (size_t n = 60; n < 68; n++) {
		memset(text + 5, '[', n);
		memset(text + 5 + n, ']', n);
		memcpy(text + 5 + 2 * n, "}", 2);
		wrong += !same(nsx_str_c(text), &e, true, &refused);
	}
	ok(!wrong && refused == 4, "what is nested too deep is refused (%d of 8)", refused);
}

int
main(void)
{
	test_members();
	test_arguments();
	test_grammar();
	test_depth();
	return done();
}
