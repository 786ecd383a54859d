/* ways.c -- what can be compared: each way's words, columns, and how its rows are read, ordered and judged; and the
 * table of results, which is made from these definitions alone. */
#include "table/compare/join.h"

/* Of both sides. */
#define SIDES(base, new, type, show) \
	{ { base, type }, show, NSX_COMPARE_BASE }, { { new, type }, show, NSX_COMPARE_NEW }
#define OF(name, type, show) { { name, type }, show, -1 }
#define CHANGE_COLS(diff) \
	SIDES("base", "new", NSX_CELL_MEAN_NS, CMP_COL_MEAN), OF(diff, NSX_CELL_MEAN_NS, CMP_COL_DIFF), \
	OF("change", NSX_CELL_SHARE, CMP_COL_CHANGE), OF("noise", NSX_CELL_MEAN_NS, CMP_COL_NOISE)
#define JUDGED_COLS \
	CHANGE_COLS("diff"), OF("effect", NSX_CELL_MEAN_NS, CMP_COL_EFFECT), \
	OF("verdict", NSX_CELL_STRING, CMP_COL_VERDICT)
#define PROGRAM_COLS OF("id", NSX_CELL_ID, CMP_COL_ID), OF("program", NSX_CELL_STRING, CMP_COL_PROGRAM)
#define NAME_COLS(name, base) \
	OF(name, NSX_CELL_STRING, CMP_COL_NAME), OF(base, NSX_CELL_STRING, CMP_COL_BASE_NAME)
/* What samples are. */
#define SAMPLE_COLS \
	SIDES("base_p50", "new_p50", NSX_CELL_NS, CMP_COL_P50), \
	SIDES("base_p99", "new_p99", NSX_CELL_NS, CMP_COL_P99), \
	SIDES("base_n_eff", "new_n_eff", NSX_CELL_DOUBLE, CMP_COL_N_EFF)
#define WITNESS_COL OF("witness", NSX_CELL_STRING, CMP_COL_WITNESS)
#define EXECS_COLS \
	SIDES("base_execs", "new_execs", NSX_CELL_INT, CMP_COL_COUNT), JUDGED_COLS, \
	OF("program_match", NSX_CELL_STRING, CMP_COL_PROGRAM_MATCH)
#define COUNT_COLS SIDES("base_count", "new_count", NSX_CELL_INT, CMP_COL_COUNT), JUDGED_COLS
#define RATE_COLS SIDES("base_rate", "new_rate", NSX_CELL_DOUBLE, CMP_COL_RATE), WITNESS_COL, SAMPLE_COLS
#define MATCH_COL OF("match", NSX_CELL_STRING, CMP_COL_MATCH)

static const struct cmp_col thunk_cols[] = {
	PROGRAM_COLS, NAME_COLS("name", "base_name"), EXECS_COLS, MATCH_COL,
	OF("opcode", NSX_CELL_STRING, CMP_COL_TYPE), OF("op_name", NSX_CELL_STRING, CMP_COL_OP_NAME), SAMPLE_COLS,
	WITNESS_COL
};
static const struct cmp_col source_cols[] = {
	PROGRAM_COLS, NAME_COLS("source", "base_source"), EXECS_COLS, MATCH_COL, SAMPLE_COLS, WITNESS_COL
};
static const struct cmp_col phase_cols[] = {
	PROGRAM_COLS, OF("phase", NSX_CELL_STRING, CMP_COL_NAME), EXECS_COLS, SAMPLE_COLS, WITNESS_COL
};
static const struct cmp_col opcode_cols[] = {
	PROGRAM_COLS, OF("opcode", NSX_CELL_STRING, CMP_COL_NAME), EXECS_COLS, SAMPLE_COLS, WITNESS_COL
};
static const struct cmp_col module_cols[] = {
	OF("id", NSX_CELL_ID, CMP_COL_ID), OF("name", NSX_CELL_STRING, CMP_COL_PROGRAM),
	NAME_COLS("key", "base_key"), EXECS_COLS, SAMPLE_COLS, WITNESS_COL
};
static const struct cmp_col range_cols[] = {
	OF("name", NSX_CELL_STRING, CMP_COL_NAME), COUNT_COLS,
	SIDES("base_span", "new_span", NSX_CELL_MEAN_NS, CMP_COL_SPAN), RATE_COLS
};
static const struct cmp_col kernel_cols[] = {
	OF("type", NSX_CELL_STRING, CMP_COL_TYPE), OF("name", NSX_CELL_STRING, CMP_COL_NAME), COUNT_COLS,
	RATE_COLS
};
static const struct cmp_col step_cols[] = {
	OF("class", NSX_CELL_STRING, CMP_COL_KEY), OF("device", NSX_CELL_ID, CMP_COL_DEVICE),
	OF("statistic", NSX_CELL_STRING, CMP_COL_NAME), CHANGE_COLS("delta"),
	OF("verdict", NSX_CELL_STRING, CMP_COL_VERDICT),
	SIDES("base_steps", "new_steps", NSX_CELL_INT, CMP_COL_STEPS),
	SAMPLE_COLS, WITNESS_COL
};
static const struct cmp_col device_cols[] = {
	OF("device", NSX_CELL_ID, CMP_COL_NUMBER), OF("statistic", NSX_CELL_STRING, CMP_COL_NAME),
	CHANGE_COLS("diff"), OF("verdict", NSX_CELL_STRING, CMP_COL_VERDICT),
	SIDES("base_share", "new_share", NSX_CELL_SHARE, CMP_COL_SHARE),
	SIDES("base_execs", "new_execs", NSX_CELL_INT, CMP_COL_EXECS), SAMPLE_COLS, WITNESS_COL
};
#define COLLECTIVE_COLS \
	OF("collective", NSX_CELL_STRING, CMP_COL_KIND), OF("bytes", NSX_CELL_BYTES, CMP_COL_BYTES), \
	OF("base_bytes", NSX_CELL_BYTES, CMP_COL_BASE_BYTES), OF("group", NSX_CELL_ID, CMP_COL_MEMBERS), COUNT_COLS, \
	SIDES("base_busbw", "new_busbw", NSX_CELL_GBPS, CMP_COL_BUSBW), \
	SIDES("base_instances", "new_instances", NSX_CELL_INT, CMP_COL_INSTANCES), \
	SIDES("base_transfer", "new_transfer", NSX_CELL_MEAN_NS, CMP_COL_TRANSFER), RATE_COLS
static const struct cmp_col collective_cols[] = { COLLECTIVE_COLS };
static const struct cmp_col axis_cols[] = { OF("axis", NSX_CELL_STRING, CMP_COL_AXIS), COLLECTIVE_COLS };

/* Beside these, of several base runs. */
static const struct cmp_col run_cols[] = {
	OF("base_runs", NSX_CELL_INT, CMP_COL_RUNS), OF("base_std", NSX_CELL_MEAN_NS, CMP_COL_DEVIATION),
	OF("base_min", NSX_CELL_MEAN_NS, CMP_COL_LOWEST), OF("base_max", NSX_CELL_MEAN_NS, CMP_COL_HIGHEST)
};

#define COLS(of) .cols = of, .ncols = (int)(sizeof(of) / sizeof *(of))
#define RANK " base new change verdict diff effect noise"
#define RANK_OF_ID " id base new change verdict program diff effect noise"
#define FROM_XLA ", which come from XLA: --by step, --by range and --by kernel work without them"

#define RANK_OF_COLLECTIVE \
	"collective bytes group base new change verdict base_transfer new_transfer base_busbw new_busbw diff effect " \
	"noise base_rate new_rate"
#define OF_PROGRAMS(rows) .things = rows, .unit = "execution", .instead = FROM_XLA, .read = nsx_compare_read
#define OF_TABLES .sum_up = nsx_compare_sum_up, .settle = nsx_compare_settle_tables
#define OF_COLLECTIVES \
	.things = "collectives", .unit = "record", .instead = FROM_XLA, .read = nsx_compare_read_collectives, \
	.rates = true, .each = true

static const struct cmp_way ways[] = {
	[NSX_COMPARE_THUNK] = { .name = "thunk", OF_PROGRAMS("thunks"), COLS(thunk_cols), .rank = "name" RANK_OF_ID,
	                        OF_TABLES, .parts = true },
	[NSX_COMPARE_MODULE] = { .name = "module", OF_PROGRAMS("modules"), COLS(module_cols), .rank = "key" RANK,
	                         OF_TABLES, .whole = true },
	[NSX_COMPARE_OPCODE] = { .name = "opcode", OF_PROGRAMS("thunks"), COLS(opcode_cols),
	                         .rank = "opcode" RANK_OF_ID, OF_TABLES, .label = CMP_LABEL_OPCODE, .parts = true },
	[NSX_COMPARE_SOURCE] = { .name = "source", OF_PROGRAMS("thunks"), COLS(source_cols),
	                         .rank = "source program" RANK, .label = CMP_LABEL_SOURCE, .parts = true },
	[NSX_COMPARE_PHASE] = { .name = "phase", OF_PROGRAMS("thunks"), COLS(phase_cols), .rank = "phase" RANK_OF_ID,
	                        .label = CMP_LABEL_PHASE, .parts = true },
	[NSX_COMPARE_RANGE] = { .name = "range",
				.rates = true,
				.things = "ranges with GPU work",
				.unit = "range",
				.instead = "",
				COLS(range_cols),
				.rank = "name" RANK " base_rate new_rate",
				.read = nsx_compare_read_ranges,
				.settle = nsx_compare_settle_ranges,
				.parts = true,
				.each = true,
				.nested = true },
	[NSX_COMPARE_KERNEL] = { .name = "kernel",
				 .rates = true,
				 .things = "operations",
				 .unit = "operation",
				 .instead = "",
				 COLS(kernel_cols),
				 .rank = "name" RANK " base_rate new_rate",
				 .read = nsx_compare_read_operations,
				 .settle = nsx_compare_settle_operations,
				 .parts = true,
				 .each = true,
				 .waits = true },
	[NSX_COMPARE_STEP] = { .name = "step",
			       .things = "steps",
			       .unit = "step",
			       .instead = ": --step names them, --by range and --by kernel work without them",
			       COLS(step_cols),
			       .rank = "class statistic base new change verdict device delta noise base_p50 new_p50 "
				       "base_p99 "
				       "new_p99 witness base_n_eff new_n_eff",
			       .brief = "class device statistic base new change base_p99 new_p99 verdict",
			       .read = nsx_compare_read_steps,
			       .sum_up = nsx_compare_read_steps,
			       .order = nsx_compare_order_of_step,
			       .decides = nsx_compare_decides_class,
			       .hides = nsx_compare_is_detail_of_one,
			       .tell = nsx_compare_tell_steps,
			       .tell_growth = nsx_compare_tell_growth,
			       .within = true,
			       .runs = true },
	[NSX_COMPARE_DEVICE] = { .name = "device",
				 .things = "devices with GPU work",
				 .unit = "run",
				 .instead = FROM_XLA,
				 COLS(device_cols),
				 .rank = "device statistic base new change verdict diff base_share new_share",
				 .settle_run = nsx_compare_settle_device_run, .runs = true,
				 .read = nsx_compare_read_devices,
				 .sum_up = nsx_compare_read_devices,
				 .settle = nsx_compare_settle_devices,
				 .check = nsx_compare_check_devices,
				 .order = nsx_compare_order_of_device,
				 .decides = nsx_compare_is_span,
				 .within = true,
				 .devices = true },
	[NSX_COMPARE_COLLECTIVE] = { .name = "collective", OF_COLLECTIVES, COLS(collective_cols),
	                             .rank = RANK_OF_COLLECTIVE },
	[NSX_COMPARE_AXIS] = { .name = "axis", OF_COLLECTIVES, COLS(axis_cols), .rank = "axis " RANK_OF_COLLECTIVE,
	                       .axes = true },
};
enum { NWAYS = sizeof ways / sizeof *ways, NRUN_COLS = sizeof run_cols / sizeof *run_cols, MOST_COLS = 40 };

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

static void
put_int(struct nsx_table *t, int at, int64_t v)
{
	if (v != NSX_ABSENT)
		nsx_table_int(t, at, v);
}

/* The name of a row on that side: for modules the program's key. */
static struct nsx_str
called(const struct cmp *c, const struct cmp_result *r, int side)
{
	const struct cmp_row *row = r->row[side];

	return cmp_str(c, row->whole ? c->side[side].groups.p[row->group].key : row->name);
}

/* The mean span of the ranges of a row. */
static double
span_of(const struct cmp_side *s, const struct cmp_row *row, int64_t n)
{
	return row->inner == NSX_NONE ? 0 : (double)s->rows.p[row->inner].sum / (double)n;
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

double
nsx_compare_judged(const struct cmp *c, const struct cmp_result *r, int side)
{
	if (!c->options.tail)
		return r->time[side].mean;
	return r->has_tail ? r->tail.p99[side] : (double)r->time[side].p99;
}

/* The difference of that. */
static double
diff_of(const struct cmp *c, const struct cmp_result *r)
{
	return c->options.tail
	       ? nsx_compare_judged(c, r, NSX_COMPARE_NEW) - nsx_compare_judged(c, r, NSX_COMPARE_BASE) : r->diff;
}

/* How much of that chance explains: of 99th percentiles what their bounds leave. */
static double
noise_of(const struct cmp *c, const struct cmp_result *r)
{
	const struct nsx_tail *t = &r->tail;

	if (!c->options.tail)
		return r->noise;
	return t->p99[1] >= t->p99[0] ? t->upper[0] - t->p99[0] + t->p99[1] - t->lower[1]
	                              : t->p99[0] - t->lower[0] + t->upper[1] - t->p99[1];
}

/* A cell about the row of one side, which has it. */
static void
put_side(const struct cmp *c, struct nsx_table *t, int at, const struct cmp_col *col, const struct cmp_result *r)
{
	const struct cmp_side *s = &c->side[col->side];
	const struct cmp_row *row = r->row[col->side];
	const struct cmp_time *time = &r->time[col->side];
	const struct cmp_row *of = row->of == NSX_NONE ? row : &s->rows.p[row->of];
	size_t i = (size_t)(row - s->rows.p);

	switch (col->show) {
	case CMP_COL_MEAN:  nsx_table_double(t, at, nsx_compare_judged(c, r, col->side)); break;
	case CMP_COL_COUNT: nsx_table_int(t, at, time->n); break;
	case CMP_COL_SPAN:  nsx_table_double(t, at, span_of(s, row, time->n)); break;
	case CMP_COL_STEPS: nsx_table_int(t, at, time->n); break;
	case CMP_COL_RATE:
		if (r->rate[col->side] > 0)
			nsx_table_double(t, at, r->rate[col->side]);
		break;
	case CMP_COL_P50:
		if (s->nruns || nsx_compare_sample(s, row).n)
			nsx_table_int(t, at, time->p50);
		break;
	case CMP_COL_P99:
		if (c->options.tail && r->has_tail)
			nsx_table_int(t, at, (int64_t)r->tail.p99[col->side]);
		else if (s->nruns || nsx_compare_sample(s, row).n)
			nsx_table_int(t, at, time->p99);
		break;
	case CMP_COL_N_EFF:
		if (r->sampled && r->witness.of[col->side].n_eff > 0)
			nsx_table_double(t, at, r->witness.of[col->side].n_eff);
		break;
	case CMP_COL_SHARE:
		if (of->sum)
			nsx_table_double(t, at, (double)time->sum / (double)of->sum);
		break;
	case CMP_COL_EXECS: put_int(t, at, s->execs.p[row->group] ? s->execs.p[row->group] : NSX_ABSENT); break;
	case CMP_COL_INSTANCES: nsx_table_int(t, at, s->comms.p[i].instances); break;
	case CMP_COL_TRANSFER:
		if (s->comms.p[i].transfer > 0)
			nsx_table_double(t, at, s->comms.p[i].transfer);
		break;
	case CMP_COL_BUSBW:
		if (s->comms.p[i].has_busbw)
			nsx_table_double(t, at, s->comms.p[i].busbw);
		break;
	default: break;
	}
}

/* A cell about the runs of BASE. */
static void
put_runs(struct nsx_table *t, int at, const struct cmp_col *col, struct cmp_between b)
{
	if (col->show == CMP_COL_RUNS)
		nsx_table_int(t, at, (int64_t)b.runs);
	else if (b.runs)
		nsx_table_double(t, at,
				 col->show == CMP_COL_LOWEST    ? b.lowest
				 : col->show == CMP_COL_HIGHEST ? b.highest
								: b.deviation);
}

/* A cell about both rows, or the one that is shown. */
static void
put(const struct cmp *c, struct nsx_table *t, int at, const struct cmp_col *col, const struct cmp_result *r)
{
	const struct cmp_row *row = nsx_compare_row_shown(r), *base = r->row[NSX_COMPARE_BASE];
	const struct cmp_group *g = nsx_compare_group_of(c, r);
	int side = r->row[NSX_COMPARE_NEW] ? NSX_COMPARE_NEW : NSX_COMPARE_BASE;
	const struct cmp_side *s = &c->side[side];
	const struct cmp_comm *comm = s->comms.n ? &s->comms.p[row - s->rows.p] : NULL,
	    *was = base && comm ? &c->side[NSX_COMPARE_BASE].comms.p[base - c->side[NSX_COMPARE_BASE].rows.p] : NULL;
	bool both = base && r->row[NSX_COMPARE_NEW];

	if (col->show >= CMP_COL_RUNS) {
		if (base)
			put_runs(t, at, col, nsx_compare_between(&c->side[NSX_COMPARE_BASE], base,
			                                         c->options.tail));
		return;
	}
	switch (col->show) {
	case CMP_COL_ID:      put_int(t, at, s->programs.p[row->group].id); break;
	case CMP_COL_PROGRAM: nsx_table_str(t, at, cmp_str(c, g->name)); break;
	case CMP_COL_KEY:     nsx_table_str(t, at, cmp_str(c, g->key)); break;
	case CMP_COL_NUMBER:  put_int(t, at, g->number); break;
	case CMP_COL_PROGRAM_MATCH: nsx_table_str(t, at, nsx_str_c(hows[g->how])); break;
	case CMP_COL_NAME:    nsx_table_str(t, at, called(c, r, side)); break;
	case CMP_COL_BASE_NAME:
		if (both && !nsx_str_eq(called(c, r, NSX_COMPARE_BASE), called(c, r, NSX_COMPARE_NEW)))
			nsx_table_str(t, at, called(c, r, NSX_COMPARE_BASE));
		break;
	case CMP_COL_TYPE:    nsx_table_str(t, at, cmp_str(c, row->opcode)); break;
	case CMP_COL_OP_NAME: nsx_table_str(t, at, cmp_str(c, row->op_name)); break;
	case CMP_COL_MATCH:   nsx_table_str(t, at, nsx_str_c(hows[row->how])); break;
	case CMP_COL_DEVICE:  put_int(t, at, both && base->number != row->number ? NSX_ABSENT : row->number); break;
	case CMP_COL_DIFF:    nsx_table_double(t, at, diff_of(c, r)); break;
	case CMP_COL_CHANGE:
		if (both && nsx_compare_judged(c, r, NSX_COMPARE_BASE) > 0)
			nsx_table_double(t, at, diff_of(c, r) / nsx_compare_judged(c, r, NSX_COMPARE_BASE));
		break;
	case CMP_COL_NOISE:
		if (both && (c->options.tail ? r->has_tail : r->has_noise))
			nsx_table_double(t, at, noise_of(c, r));
		break;
	case CMP_COL_EFFECT:  nsx_table_double(t, at, r->effect); break;
	case CMP_COL_VERDICT: nsx_table_str(t, at, nsx_str_c(verdicts[r->verdict])); break;
	case CMP_COL_WITNESS: nsx_table_str(t, at, nsx_str_c(witness_of(c, r))); break;
	case CMP_COL_AXIS:    nsx_table_str(t, at, cmp_str(c, comm->axis)); break;
	case CMP_COL_KIND:    nsx_table_str(t, at, cmp_str(c, comm->kind)); break;
	case CMP_COL_BYTES:   put_int(t, at, comm->bytes); break;
	case CMP_COL_BASE_BYTES: put_int(t, at, both && was->bytes != comm->bytes ? was->bytes : NSX_ABSENT); break;
	case CMP_COL_MEMBERS: put_int(t, at, comm->group); break;
	default:
		if (r->row[col->side])
			put_side(c, t, at, col, r);
	}
}

int
nsx_compare_print(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table,
                  struct nsx_diags *diags)
{
	const struct cmp_way *w = c->way;
	const struct cmp_col *show[MOST_COLS];
	struct nsx_table_col cols[MOST_COLS];
	bool runs = c->side[NSX_COMPARE_BASE].nruns;
	int ncols = 0;

	for (; ncols < w->ncols + (runs ? NRUN_COLS : 0); ncols++) {
		show[ncols] = ncols < w->ncols ? &w->cols[ncols] : &run_cols[ncols - w->ncols];
		cols[ncols] = show[ncols]->is;
	}
	struct nsx_table *t = *table = nsx_table_new_copy(cols, ncols);

	if (!t)
		return nsx_err_nomem(c->err, NULL);
	/* A rate that is why a row is slower comes before times, which are not. */
	for (size_t i = 0; i < n; i++)
		if (r[i].by_rate && !r[i].by_time) {
			nsx_table_rank(t, c->side[0].comms.n ? "collective bytes group" : "name");
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
	for (size_t i = 0; i < n; i++) {
		if (!cmp_shows(c, &r[i]) || (c->options.changed && w->hides && w->hides(c, &r[i])))
			continue;
		nsx_table_row(t);
		for (int k = 0; k < ncols; k++)
			put(c, t, k, show[k], &r[i]);
	}
	return NSX_OK;
}
