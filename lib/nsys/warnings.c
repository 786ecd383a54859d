/* warnings.c -- what nsys itself says about a recording: errors, and warnings that something is missing, in our own
 * words, because its own hold names of files and processes. */
#include "nsys/load.h"


#include "base/str.h"

/* Severities of DIAGNOSTIC_EVENT, which are not ordered by weight: 1 is information, 4 verbose. */
enum { WARNING = 2, ERROR = 3 };

/* begins: of the text; says: the diag, NULL: nothing is missing. */
static const struct { const char *begins, *says; } known[] = {
	{ "Scheduling information is absent",
	    "Scheduling was not recorded: when threads were off the CPU is not known" },
	{ "Collection of CPU IP samples",
	    "neither CPU samples nor scheduling were recorded: the collection is disabled" },
	{ "Unable to configure the collection",
	    "neither CPU samples nor scheduling were recorded: the collection is disabled" },
	{ "Installed CUDA driver version", "the CUDA driver is not supported by this nsys: operations may be missing" },
	{ "Not all NVTX events might have been collected",
	    "not all NVTX events may have been recorded: ranges may be missing" },
	{ "NVTX payload extension is incompatible",
	    "an NVTX client is not compatible with this nsys: its ranges are missing" },
	{ "CUDA profiling might have not been started",
	    "a process may have no CUDA trace: profiling was not started there" },
	{ "Unable to collect CPU kernel IP", NULL },
};
enum { KNOWN = sizeof known / sizeof *known };

/* Words that tell of missing time or operations, whatever stands around them. */
static const char *const losses[] = { "lost", "dropped", "overflow", "incomplete" };

struct warnings { int64_t count[KNOWN], unknown; };

static int
take_row(void *ctx, sqlite3_value **v)
{
	struct warnings *w = ctx;
	struct nsx_str text = nsx_db_text(v[1]);
	int64_t severity;
	bool lost = false;

	if (!nsx_db_int(v[0], &severity) || (severity != WARNING && severity != ERROR) || !text.ptr)
		return NSX_OK;
	for (size_t i = 0; i < KNOWN; i++)
		if (nsx_str_starts(text, known[i].begins)) {
			w->count[i]++;
			return NSX_OK;
		}
	for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
		lost |= nsx_str_has(text, losses[i]);
	w->unknown += lost || severity == ERROR;
	return NSX_OK;
}

int
nsx_warnings_read(struct nsx_loader *l)
{
	static const struct nsx_db_col cols[] = { { "severity", true }, { "text", true } };
	struct warnings w = { .unknown = 0 };
	struct nsx_db_scan scan = { "DIAGNOSTIC_EVENT", cols, 2, .row = take_row, .ctx = &w };

	if (!nsx_db_has(&l->db, scan.table))
		return NSX_OK;
	if (nsx_db_run(&l->db, &scan, l->err) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].says)
			nsx_diag_add(l->diags, NSX_WARNING, NSX_DIAG_OF_NSYS, w.count[i], "%s", known[i].says);
	nsx_diag_add(l->diags, NSX_WARNING, NSX_DIAG_OF_NSYS, w.unknown,
	             "errors or losses of the recording that nsysx does not know: see the table DIAGNOSTIC_EVENT of "
		             "the export");
	return NSX_OK;
}
