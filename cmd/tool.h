/* tool.h -- functions that commands share: the options of outputs, opening and closing input and output of a filter,
 * diags. */
#ifndef NSX_TOOL_H
#define NSX_TOOL_H

#include "base/cli.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "base/table.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Variables for the options of NSX_TOOL_OUTPUT. */
extern struct nsx_tool_output { const char *path; bool binary; bool text; const char *zlevel; } nsx_tool_output;

/* Row of an option table: -o for programs that write one file, or several. */
#define NSX_TOOL_FILE \
	NSX_OPT_STR('o', "output", &nsx_tool_output.path, "FILE", \
	            "write to FILE, which appears when it is complete [standard output]")
#define NSX_TOOL_FILES \
	NSX_OPT_STR('o', "output", &nsx_tool_output.path, "FILE", \
	            "write to FILE, which appears when it is complete; % in its name stands for each of several " \
	            "[standard output]")
/* Rows of an option table: -o, -b, --text and -z for programs that write a stream. */
#define NSX_TOOL_OUTPUT \
	NSX_TOOL_FILE, \
	NSX_OPT_FLAG('b', "binary", &nsx_tool_output.binary, "write the binary encoding [text; NSYSX_FORMAT=binary]"), \
	NSX_OPT_FLAG(0, "text", &nsx_tool_output.text, "write text, overriding NSYSX_FORMAT"), \
	NSX_OPT_MAYBE('z', "compress", &nsx_tool_output.zlevel, "LEVEL", "compress with zstd [level 3]")

/* Rows of an option table: --partial, and --require of a stream that is written, or of the one that is read. */
extern struct nsx_tool_input { bool partial; const char *require; } nsx_tool_input;
#define NSX_TOOL_PARTIAL \
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers")
#define NSX_TOOL_REQUIRE \
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the output has a record of this kind")
#define NSX_TOOL_INPUT NSX_TOOL_PARTIAL, NSX_TOOL_REQUIRE
#define NSX_TOOL_STREAM \
	NSX_TOOL_PARTIAL, \
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind")

/* Rows of an option table: --step and --module, which say what the steps are. */
extern struct nsx_tool_steps { const char *step, *module; } nsx_tool_steps;
#define NSX_TOOL_STEPS \
	NSX_OPT_STR(0, "step", &nsx_tool_steps.step, "REGEX", \
	            "NVTX ranges whose DOMAIN:NAME matches are the steps; groups make classes"), \
	NSX_OPT_STR(0, "module", &nsx_tool_steps.module, "NAME", \
	            "executions of the program of that name or key are the steps")
/* Check the values of --step and --module (misuse exits). */
void nsx_tool_check_steps(const struct nsx_cli *cli, const char *step, const char *module);

/* The causes of idle time in a list, a part of the option's value (misuse exits). */
uint32_t nsx_tool_causes(const struct nsx_cli *cli, const char *option, const char *value, const char *list);
/* The same of what the host did: one at least is launch-starved, for nothing is known of others. */
uint32_t nsx_tool_host_causes(const struct nsx_cli *cli, const char *option, const char *value, const char *list);

/* Number of forms that were asked for. */
int nsx_tool_forms(void);
/* Rows of an option table: --tsv, --table, --json, --csv, --openmetrics, --top, --wide for programs that print a
 * table; they have their own -o or that of NSX_TOOL_OUTPUT. Programs whose --top has another meaning use the other
 * options and store it in the same variable, which is -1 without that option. */
extern struct nsx_tool_table {
	bool        tsv, aligned, json, csv, metrics, markdown, wide;
	int64_t     top;
	const char *sort;
} nsx_tool_table;
#define NSX_TOOL_TSV \
	NSX_OPT_FLAG(0, "tsv", &nsx_tool_table.tsv, "print tab-separated values, exact [unless a terminal reads it]")
#define NSX_TOOL_JSON_CSV \
	NSX_OPT_FLAG(0, "json", &nsx_tool_table.json, "print a JSON array of objects, exact"), \
	NSX_OPT_FLAG(0, "csv", &nsx_tool_table.csv, "print comma-separated values, as TSV is exact")
#define NSX_TOOL_FORMS \
	NSX_TOOL_TSV, \
	NSX_OPT_FLAG(0, "table", &nsx_tool_table.aligned, \
	             "print aligned columns with units [if a terminal reads it]"), \
	NSX_TOOL_JSON_CSV, \
	NSX_OPT_FLAG(0, "openmetrics", &nsx_tool_table.metrics, "print metrics for Prometheus, in base units")
#define NSX_TOOL_TOP \
	NSX_OPT_INT(0, "top", &nsx_tool_table.top, "N", 0, INT64_MAX, \
	            "the first N rows only, 0: all [20 on a terminal, else all]")
#define NSX_TOOL_WIDE \
	NSX_OPT_FLAG(0, "wide", &nsx_tool_table.wide, "every column, whole names, on a terminal too")
/* Row of an option table: --only, with the rows that it selects. */
const char *nsx_tool_only(const char *arg, int operands);
extern struct nsx_only nsx_tool_rows;
#define NSX_TOOL_ONLY \
	NSX_OPT_CALL(0, "only", nsx_tool_only, "COLUMN=TEXT", \
	             "only rows with this text in COLUMN, or a match of REGEX; if repeated, all must match")
/* What these, and -o FILE, are in a synopsis. */
#define NSX_TOOL_TABLE_USAGE "[--tsv | --table | --json] [--only COLUMN=TEXT] [--top N] [--wide] [-o FILE] "
#define NSX_TOOL_TABLE NSX_TOOL_FORMS, NSX_TOOL_ONLY, NSX_TOOL_TOP, NSX_TOOL_WIDE
/* Row for programs that sort the table by any of its columns. */
#define NSX_TOOL_SORT \
	NSX_OPT_STR(0, "sort", &nsx_tool_table.sort, "COLUMN", \
	            "sort rows by COLUMN: numbers from the largest, text from A [see the manual]")
/* Row for programs whose table goes into comments. */
#define NSX_TOOL_MARKDOWN \
	NSX_OPT_FLAG(0, "markdown", &nsx_tool_table.markdown, \
	             "print a summary and a Markdown table of the first rows, for a comment")

/* Row of an option table: --files-from, with names of further operands. */
const char *nsx_tool_files_from(const char *arg, int operands);
#define NSX_TOOL_FILES_FROM \
	NSX_OPT_CALL(0, "files-from", nsx_tool_files_from, "FILE", \
	             "also the files named in FILE, separated by NUL or newlines; - for standard input")
/* After nsx_cli_parse: *ops and how many they are become the operands with the names of every list at its place. They
 * live as long as the program. Exits if a list cannot be read or is empty. */
int nsx_tool_files_all(const struct nsx_cli *cli, int nops, char ***ops);
/* The number of lists met so far, for the call of another option; after nsx_tool_files_all, how many files precede a
 * place behind that many operands and lists. */
size_t nsx_tool_lists(void);
int nsx_tool_files_place(int operands, size_t nlists);

/* Row of an option table: --max-unpacked, for programs that read compressed files other than streams. */
const char *nsx_tool_max_unpacked(const char *arg, int operands);
#define NSX_TOOL_UNPACK \
	NSX_OPT_CALL(0, "max-unpacked", nsx_tool_max_unpacked, "SIZE", \
	             "refuse a compressed file that unpacks to more, e.g. 500M [exports 64G, dumps 8G]")

/* Show progress with the n named files (0: standard input) on standard error, if it is a terminal and the work takes
 * long: docs/man/nsysx.1, "PROGRESS". */
void nsx_tool_progress(const struct nsx_cli *cli, int n, char *const *files);

/* Input and output of a filter. */
struct nsx_tool {
	const struct nsx_cli *cli;
	struct nsx_err        err;
	struct nsx_diags      diags;
	struct nsx_reader    *in;
	struct nsx_writer    *out;
	const char           *in_name;
	bool                  as_is;      /* no diags of this program */
	bool                  told;       /* the work wrote the diags as records */
	bool                  unsteady;   /* a stream that was read apart from `in` has nothing steady */
	const char           *empty;      /* why a table would have no rows, if no diag says so; or NULL */
	size_t                said;       /* of the diags, those that are printed */
};

/* Misuse if one of -b, --text and -z was given, which do not go with a table. */
void nsx_tool_no_stream(const struct nsx_cli *cli);

/* The values of the output options, checked (misuse exits). */
struct nsx_out nsx_tool_out(const struct nsx_cli *cli);

/* For nsx_tool_open: the stream passes unchanged, without diags of this program. */
enum { NSX_TOOL_AS_IS = 1 << 8 };

/* Open the reader of the one operand (or standard input) and the writer, which follows it. Exits on failure
 * or misuse. flags: enum nsx_read_flags; --partial is added. */
void nsx_tool_open(struct nsx_tool *t, const struct nsx_cli *cli, int nops, char **ops, unsigned flags);

/* Only the writer, for programs that open their inputs themselves; t->cli is set. */
void nsx_tool_open_out(struct nsx_tool *t);

/* Only the reader: for programs whose output is not a stream. */
void nsx_tool_open_in(struct nsx_tool *t, const struct nsx_cli *cli, int nops, char **ops, unsigned flags);

/* End a filter: write diags as records, show them, finish the output, close all; returns the exit status.
 * rc is what the work returned; if that is not NSX_OK nothing is finished and this exits with the message. */
int nsx_tool_finish(struct nsx_tool *t, int rc);

/* Show the diags that are new. */
void nsx_tool_say_diags(struct nsx_tool *t);

/* The form selected by the options of NSX_TOOL_TABLE, checked (misuse exits); without one, aligned if the table goes to
 * a terminal. */
enum nsx_table_form nsx_tool_table_form(const struct nsx_cli *cli);

/* Whether output goes to a terminal, and how many rows of a table in that form are shown; 0: all. */
bool nsx_tool_to_terminal(void);
size_t nsx_tool_top(enum nsx_table_form form);

/* nsx_outfile_commit; NSX_ERR, before the file has its name, if a diag was lost, in which case nsx_tool_finish would
 * fail. */
int nsx_tool_commit(struct nsx_tool *t, struct nsx_outfile *f);

/* ---- tables.c: programs that print tables */

/* One of several tables: an item of a comma-separated list, and the file to write it to. */
struct nsx_tool_part { char *name, *path; };

/* The parts of a list, in order, at least one. If there are several, a path is `path` with its first % replaced by the
 * name of the part: misuse if it has none. Exits when out of memory; nsx_tool_parts_free frees them. */
struct nsx_tool_part *nsx_tool_parts(const struct nsx_cli *cli, const char *list, const char *path, size_t *n);
void nsx_tool_parts_free(struct nsx_tool_part *parts, size_t n);

/* Sort the n tables as NSX_TOOL_SORT requests; tables without that column are left as they are, and it is misuse if
 * none has it. NULLs are skipped. */
void nsx_tool_sort(const struct nsx_cli *cli, struct nsx_table *const *tables, size_t n);

/* Write the table to the file of -o, limited by --only (other rows are removed from the table), by --top and, on a
 * terminal, by its width. diags: number of diags of the stream. NSX_OK, or NSX_ERR with t->err filled. */
int nsx_tool_write_table(struct nsx_tool *t, struct nsx_table *table, int64_t diags);
int nsx_tool_write_table_to(struct nsx_tool *t, struct nsx_table *table, int64_t diags, const char *path);

/* End a program whose n tables were made with that result: sort them as NSX_TOOL_SORT requests (misuse if none has the
 * column), write them to the files of their parts (NULL: one, to that of -o) and end as nsx_tool_finish does. Frees
 * tables, which may be NULL if rc is not NSX_OK, and parts. Returns the exit status. */
int nsx_tool_finish_tables(struct nsx_tool *t, int rc, struct nsx_tool_part *parts, struct nsx_table **tables, size_t n,
                           int64_t diags);

/* Read all of `in` and make the tables, which the caller frees, in the order of their parts. NSX_OK, or NSX_ERR with
 * err filled; tables that are not made remain NULL. */
typedef int nsx_tool_read(struct nsx_reader *in, const void *options, struct nsx_table **tables,
                          struct nsx_diags *diags, struct nsx_err *err);

/* What a program prints of a stream. {0} with read or runs set. */
struct nsx_tool_tables {
	const char    *parts;     /* names of the tables, separated by commas; NULL: there is one */
	unsigned       flags;     /* enum nsx_read_flags */
	struct nsx_analysis_run *runs;   /* one for each table, for nsx_analyse_tables */
	nsx_tool_read *read;      /* otherwise this, with options */
	const void    *options;
	const char    *empty;     /* why a table would have no rows, if no diag says so; or NULL */
	/* Rows are of groups of devices where `by`, or the name of a part if it is NULL, is one of NSX_GROUPINGS; NULL:
	 * nowhere. */
	const struct nsx_by_groups *groups;
	const char    *by;
};

/* Print tables of the one operand, or standard input. Returns the exit status; exits on failure or misuse. */
int nsx_tool_print(const struct nsx_cli *cli, int nops, char **ops, const struct nsx_tool_tables *tables);

#endif
