/* call_book.c -- calls are remembered until their operations have come, and no longer. */
#include "job/call_book.h"

#include "tap.h"

static struct nsx_err err;

static struct nsx_rec
record(enum nsx_kind_id kind, union nsx_val *v)
{
	return (struct nsx_rec){ .kind = nsx_kind_builtin(kind), .v = v };
}

/* The result of nsx_call_book_add. */
static struct nsx_call_entry
add(struct nsx_call_book *b, int64_t id, int64_t ops, int64_t stalled)
{
	union nsx_val v[64];
	struct nsx_rec call = record(NSX_CALL, v);
	struct nsx_call_entry entry;

	nsx_set_i(&call, NSX_CALL_profile, 0);
	nsx_set_i(&call, NSX_CALL_call, id);
	nsx_set_i(&call, NSX_CALL_ops, ops);
	nsx_set_i(&call, NSX_CALL_stalled, stalled);
	nsx_set_s(&call, NSX_CALL_name, NSX_STR("cudaLaunchKernel"));
	if (nsx_call_book_add(b, &call, &entry, &err) != NSX_OK)
		entry.early = -1;
	return entry;
}

/* One operation of the call: whether it was the last, and the entry before. */
static bool
op(struct nsx_call_book *b, int64_t id, struct nsx_call_entry *was)
{
	union nsx_val v[64];
	struct nsx_rec rec = record(NSX_OP, v);
	struct nsx_call_entry *c, gone;
	int rc;

	nsx_set_i(&rec, NSX_OP_profile, 0);
	nsx_set_i(&rec, NSX_OP_call, id);
	c = nsx_call_book_of(b, &rec, &rc, &err);
	*was = c ? *c : (struct nsx_call_entry){ .id = -1 };
	if (!c)
		return false;
	c->mark = (uint32_t)id;
	return nsx_call_book_done(b, c, &gone) && gone.id == id && gone.mark == (uint32_t)id;
}

int
main(void)
{
	struct nsx_call_book b = { .records = 0 };
	struct nsx_call_entry was, late;
	union nsx_val v[64];
	struct nsx_rec none = record(NSX_OP, v);
	bool good = true;
	int rc = -1;

	is_int(add(&b, 1, 2, 30).early, 0, "a call before its operations");
	ok(!op(&b, 1, &was) && was.stalled == 30 && was.left == 2 && was.mark == NSX_NONE, "its first operation finds it");
	ok(nsx_str_eq(nsx_intern_str(&b.names, was.name), NSX_STR("cudaLaunchKernel")), "with its name");
	ok(op(&b, 1, &was) && was.mark == 1, "the second operation is the last, and finds the caller's mark");
	ok(!op(&b, 1, &was) && was.name == NSX_NONE, "after that it is forgotten");
	ok(!nsx_call_book_of(&b, &none, &rc, &err) && rc == NSX_OK, "an operation without a call");

	ok(!op(&b, 5, &was) && !op(&b, 5, &was), "operations before their call");
	late = add(&b, 5, 3, 7);
	ok(late.early == 2 && late.left == 1 && late.mark == 5 && late.stalled == 7, "a call that comes after operations gets their mark");
	ok(op(&b, 5, &was), "the third is the last");
	op(&b, 6, &was);
	late = add(&b, 6, 1, 7);
	ok(late.early == 1 && late.left == 0, "a call that comes after all its operations");
	ok(!op(&b, 6, &was) && was.name == NSX_NONE, "is forgotten at once");
	is_int(add(&b, 7, 0, 9).early, 0, "a call without operations is not remembered");
	ok(!op(&b, 7, &was) && was.stalled == 0, "an operation does not find it");

	size_t held = b.list.n;

	for (int64_t id = 100; id < 5000; id++) {
		add(&b, id, 1, 0);
		good = good && op(&b, id, &was);
	}
	ok(good, "many calls, one operation each");
	ok(b.list.n <= held + 1, "removed calls free their entries");
	nsx_call_book_free(&b);
	return done();
}
