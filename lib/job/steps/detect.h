/* detect.h -- the class of steps if none is named: the class of ranges whose GPU spans contain the largest
 * share of all busy time, at least half of it, with at least three instances on some device. Classes with a framework's
 * name for steps come before others that satisfy this, since a range that spans two steps, such as that of a loader
 * that works ahead, may contain more. All steps of a server (job/serving.h) are one class here; once it is chosen each
 * of their phases is one. Among equal ones the class with fewer instances comes first, then by name.
 *
 *     busy time 100:  class step_#  5 instances, spans contain 98     class forward  5 instances, spans contain 60
 *                     class init    1 instance, contains 2            -> step_#; init has too few instances
 *
 * If no class has that much, the class that repeats may be asked for instead: its periods, from start to start, cover
 * most of the time, whatever is launched in it. Of those that cover nearly as much as the one that covers most, and
 * repeat regularly, the class with the fewest instances on a device is the outermost repetition. Names with the suffix
 * of a framework count, too, unless they are operators'. */
#ifndef NSX_JOB_STEPS_DETECT_H
#define NSX_JOB_STEPS_DETECT_H

#include "base/diag.h"
#include "base/map.h"
#include "job/activity.h"
#include "job/catalogue.h"
#include "job/range_book.h"
#include "stream/reader.h"

struct nsx_step_span { uint32_t class, device; int64_t start, end; };

/* {0} with err set is empty. */
struct nsx_step_classes {
	struct nsx_err       *err;
	struct nsx_catalogue  cat;
	struct nsx_range_book book;
	struct nsx_intern     names;
	NSX_VEC(struct nsx_timeline) timelines;
	NSX_VEC(struct nsx_step_span) spans;
	bool                  repeats;     /* set by the caller: collect what nsx_step_classes_repeat needs, too: */
	NSX_VEC(struct nsx_step_span) suffixed;    /* those of names with a suffix */
};

/* Declare to a reader what nsx_step_classes_take uses in addition to nsx_steps_need. */
void nsx_step_classes_need(struct nsx_reader *in);
int nsx_step_classes_take(struct nsx_step_classes *c, const struct nsx_rec *rec);

/* Choose: *name is the class, terminated by a NUL, to be freed, or NULL if none covers half of the work; then diags
 * report the best candidates. A diag also reports another class that may be meant. */
int nsx_step_classes_pick(struct nsx_step_classes *c, char **name, struct nsx_diags *diags);
/* After pick has chosen none, with `repeats`: choose the class that repeats, likewise. */
int nsx_step_classes_repeat(struct nsx_step_classes *c, char **name, struct nsx_diags *diags);
/* Whether the class of that name comes often enough on a device to be steps, after pick. NSX_ERR when out of memory. */
int nsx_step_classes_have(const struct nsx_step_classes *c, struct nsx_str name, bool *have);
void nsx_step_classes_free(struct nsx_step_classes *c);

#endif
