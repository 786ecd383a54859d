/* ways.c -- what can be compared: each way's words, columns, and how its rows are read, ordered and judged; and the
 * table of results, which is made from these definitions alone. */
#include <math.h>
#include <stdio.h>

#include "table/compare/join.h"
#include "table/sums.h"

/* The columns of tables, in their order. */
#define CHANGE(diff) "base new " diff " change noise "
#define JUDGED CHANGE("diff") "effect verdict "
#define SAMPLES "base_p50 new_p50 base_p99 new_p99 base_n_eff new_n_eff "
#define EXECS "base_execs new_execs " JUDGED "program_match "
#define COUNTS "base_count new_count " JUDGED
#define RATES "base_rate new_rate witness " SAMPLES
#define COLLECTIVES "collective bytes base_bytes group " COUNTS "base_busbw new_busbw base_instances new_instances " \
	"base_transfer new_transfer " RATES
/* Beside these, of several base runs. */
#define RUNS "base_runs base_std base_min base_max"

#define RANK " base new change verdict diff effect noise"
#define RANK_OF_ID " id base new change verdict program diff effect noise"
#define STEPS_INSTEAD ": --step names them, --by range and --by kernel work without them"
#define FROM_XLA ", which come from XLA: --by step, --by range and --by kernel work without them"

#define RANK_OF_COLLECTIVE \
	"collective bytes group base new change verdict base_transfer new_transfer base_busbw new_busbw diff effect " \
	"noise base_rate new_rate"
#define PROGRAMS(rows) .things = rows, .unit = "execution", .instead = FROM_XLA, .read = nsx_compare_read
#define TABLES .sum_up = nsx_compare_sum_up, .settle = nsx_compare_settle_tables
#define COLLECTIVE \
	.things = "collectives", .unit = "record", .instead = FROM_XLA, .read = nsx_compare_read_collectives, \
	.each = true

static const struct cmp_way ways[] = {
	[NSX_COMPARE_THUNK] = {
		.name = "thunk", PROGRAMS("thunks"), TABLES, .parts = true,
		.shown = "id program name base_name " EXECS "match opcode op_name " SAMPLES "witness ",
		.rank = "name" RANK_OF_ID
	},
	[NSX_COMPARE_MODULE] = {
		.name = "module", PROGRAMS("modules"), TABLES, .whole = true,
		.shown = "id name key base_key " EXECS SAMPLES "witness ",
		.rank = "key" RANK
	},
	[NSX_COMPARE_OPCODE] = {
		.name = "opcode", PROGRAMS("thunks"), TABLES, .label = CMP_LABEL_OPCODE, .parts = true,
		.shown = "id program opcode " EXECS SAMPLES "witness ",
		.rank = "opcode" RANK_OF_ID
	},
	[NSX_COMPARE_SOURCE] = {
		.name = "source", PROGRAMS("thunks"), .label = CMP_LABEL_SOURCE, .parts = true,
		.shown = "id program source base_source " EXECS "match " SAMPLES "witness ",
		.rank = "source program" RANK
	},
	[NSX_COMPARE_PHASE] = {
		.name = "phase", PROGRAMS("thunks"), .label = CMP_LABEL_PHASE, .parts = true,
		.shown = "id program phase " EXECS SAMPLES "witness ",
		.rank = "phase" RANK_OF_ID
	},
	[NSX_COMPARE_RANGE] = {
		.name = "range", .things = "ranges with GPU work", .unit = "range", .instead = "",
		.read = nsx_compare_read_names, .settle = nsx_compare_settle_ranges,
		.parts = true, .each = true, .nested = true,
		.shown = "name " COUNTS "base_span new_span " RATES,
		.rank = "name" RANK " base_rate new_rate"
	},
	[NSX_COMPARE_KERNEL] = {
		.name = "kernel", .things = "operations", .unit = "operation", .instead = "",
		.read = nsx_compare_read_names, .settle = nsx_compare_settle_operations,
		.parts = true, .each = true, .waits = true,
		.shown = "type name " COUNTS RATES,
		.rank = "name" RANK " base_rate new_rate"
	},
	[NSX_COMPARE_STEP] = {
		.name = "step", .things = "steps", .unit = "step",
		.instead = STEPS_INSTEAD,
		.read = nsx_compare_read_steps, .listed = true,
		.tell = nsx_compare_tell_steps, .tell_growth = nsx_compare_tell_growth, .within = true, .runs = true,
		.shown = "class device statistic " CHANGE("delta") "verdict base_steps new_steps delta_share "
			SAMPLES "witness ",
		.rank = "class statistic base new change verdict delta_share device delta noise base_p50 new_p50 "
			"base_p99 new_p99 witness base_n_eff new_n_eff",
		.brief = "class device statistic base new change delta_share base_p99 new_p99 verdict"
	},
	[NSX_COMPARE_DEVICE] = {
		.name = "device", .things = "devices with GPU work", .unit = "run", .instead = FROM_XLA,
		.read = nsx_compare_read_devices, .settle_run = nsx_compare_settle_device_run,
		.settle = nsx_compare_settle_devices, .check = nsx_compare_check_devices,
		.listed = true, .within = true, .runs = true, .devices = true,
		.shown = "device statistic " CHANGE("diff") "verdict base_share new_share base_execs new_execs "
			SAMPLES "witness ",
		.rank = "device statistic base new change verdict diff base_share new_share"
	},
	[NSX_COMPARE_COLLECTIVE] = {
		.name = "collective", COLLECTIVE, .shown = COLLECTIVES, .rank = RANK_OF_COLLECTIVE
	},
	[NSX_COMPARE_AXIS] = {
		.name = "axis", COLLECTIVE, .axes = true, .shown = "axis " COLLECTIVES,
		.rank = "axis " RANK_OF_COLLECTIVE
	},
	[NSX_COMPARE_STEP_PHASE] = {
		.name = "phase", .things = "steps", .unit = "step", .instead = STEPS_INSTEAD,
		.read = nsx_compare_read_phases, .parts = true,
		.shown = "id program phase " EXECS SAMPLES "witness ",
		.rank = "phase" RANK_OF_ID
	},
};
enum { NWAYS = sizeof ways / sizeof *ways };

const struct cmp_way *
nsx_compare_way(enum nsx_compare_by by)
{
	return &ways[by];
}

const char *
nsx_compare_name(enum nsx_compare_by by)
{
	return ways[by].name;
}

int
nsx_compare_by_name(const char *name)
{
	for (int i = 0; i < NWAYS; i++)
		if (nsx_str_eq(nsx_str_c(name), nsx_str_c(ways[i].name)))
			return i;
	return -1;
}

/* ---- the table */

static const char *const verdicts[] = {
	[CMP_SAME] = "same", [CMP_SLOWER] = "slower", [CMP_FASTER] = "faster", [CMP_NEW] = "new", [CMP_GONE] = "gone",
	[CMP_UNKNOWN] = "unknown", [CMP_SHIFTED] = "shifted", [CMP_MINOR] = "minor",
	[CMP_UNEVEN] = "uneven", [CMP_HIDDEN] = "hidden"
};
static const char *const hows[] = {
	[CMP_NOT] = "", [CMP_FINGERPRINT] = "fingerprint", [CMP_DIGEST] = "digest", [CMP_KEY] = "key",
	[CMP_NAME] = "name", [CMP_PLACE] = "place",
	[CMP_OP_NAME] = "op_name"
};

const char *
nsx_compare_verdict_name(enum cmp_verdict v)
{
	return verdicts[v];
}

/* The name of a row on that side: for modules the program's key. */
static struct nsx_str
called(const struct cmp *c, const struct cmp_result *r, int side)
{
	const struct cmp_row *row = r->row[side];

	return cmp_str(c, row->whole ? c->side[side].groups.p[row->group].key : row->name);
}

/* Which witness spoke for the verdict. */
static const char *
witness_of(const struct cmp *c, const struct cmp_result *r)
{
	int want = r->verdict == CMP_SLOWER ? 1 : r->verdict == CMP_FASTER ? -1 : 0;

	if (r->by_time || r->by_rate)
		return !want ? "" : r->by_time && r->by_rate ? "both" : r->by_rate ? "rate" : "time";
	if (c->options.tail)
		return want ? "p99" : "";
	if (want && r->by_work)
		return "work";
	bool means = want && r->witness.means == want, ranks = want && r->witness.ranks == want;

	return means && ranks ? "both" : means ? "mean" : !ranks ? "" : r->runs ? "median" : "ranks";
}

/* What a table shows of a result; numbers that are not known are NAN and NSX_ABSENT. */
struct shown_side {
	double  mean, span, rate, n_eff, share, transfer, busbw;
	int64_t count, p50, p99, execs, instances;
};
struct shown {
	struct nsx_str    program, name, base_name, key, type, opcode, op_name, axis, kind;
	const char       *match, *program_match, *verdict, *witness;
	int64_t           id, device, bytes, base_bytes, group, runs;
	double            diff, change, of_whole, noise, effect;
	struct cmp_between between;
	struct shown_side side[2];
};

#define NSX_ROW struct shown
/* Of both sides. */
#define BOTH(name, cell, member) \
	NSX_COL("base_" name, cell, side[0].member), NSX_COL("new_" name, cell, side[1].member)
static const struct nsx_sum_col cols[] = {
	NSX_COL("program", STRING, program), NSX_COL("name", STRING, name), NSX_COL("base_name", STRING, base_name),
	NSX_COL("key", STRING, key), NSX_COL("base_key", STRING, base_name), NSX_COL("class", STRING, key),
	NSX_COL("statistic", STRING, name), NSX_COL("source", STRING, name), NSX_COL("base_source", STRING, base_name),
	NSX_COL("phase", STRING, name), NSX_COL("type", STRING, type), NSX_COL("opcode", STRING, opcode),
	NSX_COL("op_name", STRING, op_name), NSX_COL("axis", STRING, axis), NSX_COL("collective", STRING, kind),
	NSX_COL("match", STRING, match), NSX_COL("program_match", STRING, program_match),
	NSX_COL("verdict", STRING, verdict), NSX_COL("witness", STRING, witness), NSX_COL("id", ID, id),
	NSX_COL("device", ID, device), NSX_COL("bytes", BYTES, bytes), NSX_COL("base_bytes", BYTES, base_bytes),
	NSX_COL("group", ID, group), NSX_COL("base", MEAN_NS, side[0].mean), NSX_COL("new", MEAN_NS, side[1].mean),
	NSX_COL("diff", MEAN_NS, diff), NSX_COL("delta", MEAN_NS, diff), NSX_COL("change", SHARE, change),
	NSX_COL("delta_share", SHARE, of_whole),
	NSX_COL("noise", MEAN_NS, noise), NSX_COL("effect", MEAN_NS, effect), BOTH("execs", INT, execs),
	BOTH("count", INT, count), BOTH("steps", INT, count), BOTH("p50", NS, p50), BOTH("p99", NS, p99),
	BOTH("instances", INT, instances), BOTH("span", MEAN_NS, span), BOTH("rate", DOUBLE, rate),
	BOTH("n_eff", DOUBLE, n_eff), BOTH("share", SHARE, share), BOTH("transfer", MEAN_NS, transfer),
	BOTH("busbw", GBPS, busbw), NSX_COL("base_runs", INT, runs), NSX_COL("base_std", MEAN_NS, between.deviation),
	NSX_COL("base_min", MEAN_NS, between.lowest), NSX_COL("base_max", MEAN_NS, between.highest),
};

static double
above_zero(double v)
{
	return v > 0 ? v : NAN;
}

static struct shown_side
show_side(const struct cmp *c, const struct cmp_result *r, int side)
{
	const struct cmp_side *s = &c->side[side];
	const struct cmp_row *row = r->row[side];
	const struct cmp_time *time = &r->time[side];
	struct shown_side o = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NSX_ABSENT, NSX_ABSENT, NSX_ABSENT, NSX_ABSENT,
	                        NSX_ABSENT };

	if (!row)
		return o;
	const struct cmp_row *of = row->of == NSX_NONE ? row : &s->rows.p[row->of];
	int64_t ran = s->groups.p[row->group].ran;
	bool sampled = s->nruns || row->samples.n;

	o.mean = r->judged[side];
	o.count = time->n;
	o.execs = !c->way->devices ? time->n : ran ? ran : NSX_ABSENT;
	o.rate = above_zero(r->rate[side]);
	if (row->inner != NSX_NONE)
		o.span = (double)s->rows.p[row->inner].sum / (double)time->n;
	if (sampled)
		o.p50 = time->p50;
	if (sampled)
		o.p99 = c->options.tail && r->has_tail ? (int64_t)r->judged[side] : time->p99;
	if (r->sampled)
		o.n_eff = above_zero(r->witness.of[side].n_eff);
	if (of->sum)
		o.share = (double)time->sum / (double)of->sum;
	if (row->comm) {
		const struct cmp_comm *comm = row->comm;

		o.instances = comm->instances;
		o.transfer = above_zero(comm->transfer);
		o.busbw = comm->has_busbw ? comm->busbw : NAN;
	}
	return o;
}

static struct shown
show(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_row *row = nsx_compare_row_shown(r), *base = r->row[NSX_COMPARE_BASE];
	const struct cmp_group *g = nsx_compare_group_of(c, r);
	int side = r->row[NSX_COMPARE_NEW] ? NSX_COMPARE_NEW : NSX_COMPARE_BASE;
	bool both = base && r->row[NSX_COMPARE_NEW];
	struct nsx_str name = called(c, r, side), was = both ? called(c, r, NSX_COMPARE_BASE) : name;
	double of = r->judged[NSX_COMPARE_BASE], diff = r->judged[NSX_COMPARE_NEW] - of;
	struct shown o = {
		.program = cmp_str(c, g->name), .name = c->way->whole ? cmp_str(c, g->name) : name,
		.base_name = nsx_str_eq(name, was) ? NSX_STR("") : was,
		.key = c->way->whole ? name : cmp_str(c, g->key),
		.type = cmp_str(c, row->opcode), .op_name = cmp_str(c, row->op_name), .match = hows[row->how],
		.opcode = c->way->label == CMP_LABEL_OPCODE ? name : cmp_str(c, row->opcode),
		.program_match = hows[g->how], .verdict = verdicts[r->verdict], .witness = witness_of(c, r),
		.id = g->id,
		.device = c->way->devices ? g->number : both && base->number != row->number ? NSX_ABSENT : row->number,
		.base_bytes = NSX_ABSENT, .runs = NSX_ABSENT,
		.between = { .lowest = NAN, .highest = NAN, .deviation = NAN },
		.diff = diff, .change = nsx_compare_change(c, r), .of_whole = nsx_compare_of_whole(c, r),
		.effect = r->effect,
		.noise = r->has_noise ? r->noise : NAN,
		.side = { show_side(c, r, NSX_COMPARE_BASE), show_side(c, r, NSX_COMPARE_NEW) }
	};

	if (row->comm) {
		const struct cmp_comm *comm = row->comm;

		o.axis = cmp_str(c, comm->axis);
		o.kind = cmp_str(c, comm->kind);
		o.bytes = comm->bytes;
		o.group = comm->group;
		if (both && base->comm->bytes != comm->bytes)
			o.base_bytes = base->comm->bytes;
	}
	if (c->side[NSX_COMPARE_BASE].nruns && base) {
		struct cmp_between between = nsx_compare_between(base, c->options.tail);

		o.runs = (int64_t)between.runs;
		o.between = between.runs ? between : o.between;
	}
	return o;
}

/* Whether it is a row of a class, or of a device, that is on one side only, except the row that reports this: the one
 * that leads (of all devices, if a whole class is on one side). By device a statistic that one side lacks of a device
 * of both is news of its own. */
static bool
is_detail_of_one(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_row *row = nsx_compare_row_shown(r);
	bool alone = nsx_compare_group_of(c, r)->pair == NSX_NONE;

	if (r->row[0] && r->row[1])
		return false;
	return c->way->devices ? alone && !row->leads : !row->leads || (alone && row->device != NSX_ABSENT);
}

int
nsx_compare_print(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table,
                  struct nsx_diags *diags)
{
	const struct cmp_way *w = c->way;
	bool runs = c->side[NSX_COMPARE_BASE].nruns;
	char names[512];
	struct nsx_sum_def def = { NSX_ROWS(cols), .shown = names };
	struct nsx_sums out = { .def = &def };
	struct nsx_table *t;
	int rc = NSX_OK;

	snprintf(names, sizeof names, "%s%s", w->shown, runs ? RUNS : "");
	t = *table = nsx_sums_begin(&out, c->err);
	if (!t)
		return NSX_ERR;
	/* A rate that is why a row is slower comes before times, which are not. */
	for (size_t i = 0; i < n; i++)
		if (r[i].by_rate && !r[i].by_time) {
			nsx_table_rank(t, r[i].row[0]->comm ? "collective bytes group" : "name");
			nsx_table_rank(t, "base_rate new_rate change verdict");
			break;
		}
	nsx_table_rank(t, w->rank);
	if (runs)
		nsx_table_rank(t, "base_min base_max base_runs base_std");
	if (w->brief)
		nsx_table_brief(t, w->brief);
	if (w->tell)
		w->tell(c, r, n, t, diags);
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		struct shown row;

		if (!cmp_shows(c, &r[i]) || (c->options.changed && w->listed && is_detail_of_one(c, &r[i])))
			continue;
		row = show(c, &r[i]);
		rc = nsx_sums_put(&out, t, &row, c->err);
	}
	nsx_sums_free(&out);
	return rc;
}
