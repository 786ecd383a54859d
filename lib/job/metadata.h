/* metadata.h -- conversion between records of metadata and structures, for code that keeps less than the catalogue does
 * or writes a stream. */
#ifndef NSX_JOB_METADATA_H
#define NSX_JOB_METADATA_H

#include "stream/kinds.h"

/* The contents of a `clock` record; NSX_ABSENT, or 0 for numbers of a correction, if the column is absent. */
struct nsx_clock {
	int64_t device, profile;
	double  offset, rate;   /* ns at ref, change per ns */
	int64_t ref;            /* ns */
	int64_t collectives, component;
	double  error;          /* ns; less than 0: unknown */
	struct nsx_str executions;   /* what was added to numbers of executions; belongs to the record */
};

struct nsx_clock nsx_clock_of(const struct nsx_rec *clock);

/* Store it in a `clock` record; numbers that are NSX_ABSENT or unknown leave the record unchanged. */
void nsx_clock_set(struct nsx_rec *clock, const struct nsx_clock *c);

/* A program's names in a `program` record: strings belong to the record. */
struct nsx_program_names { int64_t number, id; struct nsx_str name, key; };   /* NSX_ABSENT, empty: none */

struct nsx_program_names nsx_program_names_of(const struct nsx_rec *program);

/* The profile's name; it belongs to the record. */
struct nsx_str nsx_profile_name_of(const struct nsx_rec *profile);

/* The number of a `device` record and the process that uses the device; NSX_ABSENT if absent. */
struct nsx_device_process { int64_t device, pid; };

struct nsx_device_process nsx_device_process_of(const struct nsx_rec *device);

/* The positions of the times, ns, in a record of metadata: the window of a `profile`, the last start of a `device`. */
struct nsx_times { int n; int64_t *at[2]; };

struct nsx_times nsx_metadata_times(struct nsx_rec *rec);

/* Fill empty records: a profile of that number and name, a device of that number in it whose number in the job is
 * unknown. */
void nsx_profile_set(struct nsx_rec *profile, int64_t number, struct nsx_str name);
void nsx_device_set(struct nsx_rec *device, int64_t number, int64_t profile);

#endif
