/* overlap.h -- what hiding communication and copies behind computation really saved: kernels that run beside them take
 * longer than alone, because they share the device's memory, links and multiprocessors. */
#ifndef NSX_TABLE_OVERLAP_H
#define NSX_TABLE_OVERLAP_H

#include "table/analysis.h"

/* A table: name beside count hidden known alone_mean beside_mean slowdown paid saved. No options. Memory grows with the
 * number of kernels' names, instructions and devices. */
extern const struct nsx_analysis nsx_overlap_analysis;

/* Sums over all kernels, ns. hidden: time in which kernels ran beside communication or copies, each moment once; known:
 * that of kernels that ran alone too, for which alone: their executions beside them at the mean of those alone, and
 * paid: how much longer they took, error: its standard error. */
struct nsx_overlap_sums { double hidden, known, alone, paid, error; };

/* Of a state of nsx_overlap_analysis, after its `finish`. */
struct nsx_overlap_sums nsx_overlap_sums_of(const void *state);

#endif
