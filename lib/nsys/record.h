/* record.h -- run a program under `nsys profile` so that the profile contains everything nsysx uses: the work of
 * nsysx-record. */
#ifndef NSX_NSYS_RECORD_H
#define NSX_NSYS_RECORD_H

#include <stdbool.h>

#include "base/err.h"

struct nsx_record {
	const char *out;           /* folder to create; %q{VAR} is replaced by the environment variable VAR, %h by the
	                            * host name, %p by our process id */
	const char *condition;     /* shell expression: if it is false the program runs without nsys; NULL: always
	                            * profile */
	bool cpu; /* also what host threads do: OS calls, scheduling, samples of Python and the CPU, GIL */
	bool        force;         /* write into a folder that holds a report already */
	char      **nsys;          /* further options of nsys profile */
	int         nnsys;
	char      **program;       /* program and its arguments, NULL at the end */
	char        folder[4096];  /* out: the folder, expanded */
	bool        profiled;      /* out: nsys ran */
	bool        killed;        /* out: nsys ended the program after the collection, as requested */
	int         status;        /* out: the program's exit status as a shell gives it */
};

/* Run it. NSX_OK when the program was run and, if it was profiled, the folder holds report.nsys-rep, report.sqlite and
 * dump; NSX_ERR with err filled otherwise (r->status is the program's even then, 0 if it never ran). */
int nsx_record(struct nsx_record *r, struct nsx_err *err);

#endif
