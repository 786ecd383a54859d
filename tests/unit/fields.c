/* fields.c -- the roles of columns against the columns' names. */
#include "tap.h"

#include "stream/fields.h"

/* The role of a column of that name, in every kind that has it; NULL for roles whose columns have several names. */
static const char *const names[NSX_NROLES] = {
	[NSX_ROLE_PROFILE] = "profile", [NSX_ROLE_DEVICE] = "device", [NSX_ROLE_PROGRAM] = "program",
	[NSX_ROLE_EXECUTION] = "execution", [NSX_ROLE_INST] = "inst", [NSX_ROLE_OCCURRENCE] = "occurrence",
	[NSX_ROLE_HIDDEN] = "hidden", [NSX_ROLE_PID] = "pid", [NSX_ROLE_TID] = "tid", [NSX_ROLE_RANGE] = "range",
	[NSX_ROLE_PARENT] = "parent", [NSX_ROLE_OP] = "op", [NSX_ROLE_CALL] = "call", [NSX_ROLE_NAME] = "name",
	[NSX_ROLE_OP_NAME] = "op_name", [NSX_ROLE_STACK] = "stack", [NSX_ROLE_GROUPS] = "groups", [NSX_ROLE_COMM] = "comm",
	[NSX_ROLE_COLLECTIVE] = "collective", [NSX_ROLE_COMM_ID] = "comm_id", [NSX_ROLE_CALLS] = "calls",
	[NSX_ROLE_GROUP] = "group", [NSX_ROLE_PAIR] = "pair", [NSX_ROLE_BYTES] = "bytes", [NSX_ROLE_STREAM] = "stream",
	[NSX_ROLE_OPS] = "ops", [NSX_ROLE_CLASS] = "class",
};

static void
roles_are_names(void)
{
	for (enum nsx_role role = 0; role < NSX_NROLES; role++) {
		bool used = false;

		for (enum nsx_kind_id k = 0; names[role] && k < NSX_NKINDS; k++) {
			int slot = nsx_kind_slot(nsx_kind_builtin(k), nsx_str_c(names[role]));
			is_int(nsx_field(k, role), slot, "%s of %s", names[role], nsx_kind_builtin(k)->name);
			used |= slot >= 0;
		}
		ok(!names[role] || used, "role %d is somebody's", (int)role);
		is_int(nsx_field(NSX_NKINDS, role), -1, "a kind that we do not know has no role %d", (int)role);
	}
}

/* Times of the host's and of the GPU's, whatever the columns are called. */
static void
times(void)
{
	static const struct { enum nsx_kind_id kind; const char *start, *dur, *host_start, *host_dur; } want[] = {
		{ NSX_COMPILE,    NULL,    NULL,  "start",      "dur" },
		{ NSX_OVERHEAD,   NULL,    NULL,  "start",      "dur" },
		{ NSX_CALL,       NULL,    NULL,  "start",      "dur" },
		{ NSX_MODULE,     "start", "dur", "host_start", "host_dur" },
		{ NSX_RANGE,      "start", "dur", "host_start", "host_dur" },
		{ NSX_THUNK,      "start", "dur", "host_start", "host_dur" },
		{ NSX_OP,         "start", "dur", "host_start", "host_dur" },
		{ NSX_COLLECTIVE, "start", "dur", NULL,         NULL },
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const char *const columns[] = { want[i].start, want[i].dur, want[i].host_start, want[i].host_dur };
		const struct nsx_kind *k = nsx_kind_builtin(want[i].kind);

		for (int t = 0; t < 4; t++)
			is_int(nsx_field(k->id, (enum nsx_role)(NSX_ROLE_START + t)),
			       columns[t] ? nsx_kind_slot(k, nsx_str_c(columns[t])) : -1, "time %d of %s", t, k->name);
	}
}

static void
values(void)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_THUNK), 0, v };

	ok(!nsx_field_has(&rec, NSX_ROLE_DUR) && nsx_field_int(&rec, NSX_ROLE_DUR, 7) == 7, "an absent value");
	nsx_set_i(&rec, NSX_THUNK_dur, 5);
	nsx_set_s(&rec, NSX_THUNK_name, NSX_STR("x"));
	ok(nsx_field_has(&rec, NSX_ROLE_DUR) && nsx_field_int(&rec, NSX_ROLE_DUR, 7) == 5, "a value");
	ok(nsx_str_eq(nsx_field_str(&rec, NSX_ROLE_NAME), NSX_STR("x")), "a string");
	ok(!nsx_field_has(&rec, NSX_ROLE_CALL) && nsx_field_int(&rec, NSX_ROLE_CALL, 7) == 7
	   && nsx_field_str(&rec, NSX_ROLE_CLASS).len == 0, "no such column");
}

int
main(void)
{
	roles_are_names();
	times();
	values();
	return done();
}
