/* par.h -- run independent tasks on several threads. */
#ifndef NSX_BASE_PAR_H
#define NSX_BASE_PAR_H

/* Call fn(ctx, i) for i = 0 .. n-1, each once, taken in order by at most `threads` threads (0: the number of
 * processors this process may use); returns when all are done. Falls back to fewer threads, down to the caller's
 * own, where threads cannot be made. */
void nsx_par_run(int n, int threads, void (*fn)(void *ctx, int i), void *ctx);

/* The number of processors this process may use, at least 1: no more than NSYSX_THREADS says in the environment,
 * if that is a number from 1 on. */
int nsx_par_cpus(void);

#endif
