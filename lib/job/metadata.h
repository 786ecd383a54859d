/* metadata.h -- records of metadata taken apart and made by what they say, for who keeps less than the catalogue does
 * or writes a stream of its own. */
#ifndef NSX_JOB_METADATA_H
#define NSX_JOB_METADATA_H

#include "stream/kinds.h"

/* What a `clock` record says; NSX_ABSENT, of numbers of a correction 0, where it says nothing. */
struct nsx_clock {
	int64_t device, profile;
	double  offset, rate;   /* ns at ref, change per ns */
	int64_t ref;            /* ns */
	int64_t collectives, component;
};

struct nsx_clock nsx_clock_of(const struct nsx_rec *clock);

/* Into a `clock` record; what is NSX_ABSENT stays as the record has it. */
void nsx_clock_set(struct nsx_rec *clock, const struct nsx_clock *c);

/* What a `program` record says of a program's names: strings stay the record's. */
struct nsx_program_names { int64_t number, id; struct nsx_str name, key; };   /* NSX_ABSENT, empty: none */

struct nsx_program_names nsx_program_names_of(const struct nsx_rec *program);

/* The profile's name; the record's. */
struct nsx_str nsx_profile_name_of(const struct nsx_rec *profile);

/* Where a `device` record has the last start on the device, ns; NULL if it has none. */
int64_t *nsx_device_last_of(struct nsx_rec *device);

/* Empty records, filled: a profile of that number and name, a device of that number in it whose number in the job is
 * not known. */
void nsx_profile_set(struct nsx_rec *profile, int64_t number, struct nsx_str name);
void nsx_device_set(struct nsx_rec *device, int64_t number, int64_t profile);

#endif
