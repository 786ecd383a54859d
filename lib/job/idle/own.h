/* own.h -- declarations shared by the files of this folder. */
#ifndef NSX_JOB_IDLE_OWN_H
#define NSX_JOB_IDLE_OWN_H

#include "job/idle/idle.h"

#define NSX_IDLE_CROWDED \
	"calls, overheads and ranges nested thousands deep in others of their thread: causes ignore them"
#define NSX_IDLE_STALE \
	"ranges that end before many that started in them: stacks of the latter keep naming them"

/* A mark that is read back; blocked: ns from its start. */
struct nsx_idle_mark { struct nsx_idle_piece piece; int64_t blocked; bool drained, doubtful; };

/* A device's state. */
struct nsx_idle_device {
	uint32_t index;             /* in the catalogue */
	bool     begun;
	int64_t  busy;              /* largest end so far */
	struct nsx_removed removed;
	struct nsx_parts parts;
	enum nsx_part run_part;     /* the current busy run */
	int64_t  run_start, run_end;
	uint32_t prev;              /* name of the operation with the end `busy`, if they are requested, */
	bool     read;              /* and whether it copied to memory of the host */
	struct nsx_map launches;    /* graph launches of which a node has been read: call -> order */
	NSX_VEC(int64_t) launch_list;
	size_t   launch_head;
	int64_t left;               /* of a stream that was cut: the end of the window that removed_in is of, */
	int64_t removed_in;         /* ns of it that were told to be removed */
	uint32_t told;              /* what its last mark said, in the finder's; NSX_NONE: it has had none */
	NSX_VEC(struct nsx_idle_mark) marks;    /* read back: of the current gap, and of what begins where it ends */
};

/* ---- cut.c: of a stream that nsysx-steps --cut made; all return NSX_OK or NSX_ERR */

/* Tell a run of the device, and outside of the windows time that is removed. */
int nsx_idle_cut_run(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_stretch *run);
/* Tell what of the gap does not end with the operation behind it. It is shortened to the rest, which may be nothing. */
int nsx_idle_cut_gap(struct nsx_idle_finder *f, struct nsx_idle_device *d, struct nsx_stretch *gap);
/* Tell the time behind the last operation. */
int nsx_idle_cut_rest(struct nsx_idle_finder *f, struct nsx_idle_device *d);

/* ---- find.c */

/* Tell time that was removed: [gap->start, until) of the gap, which is shortened by it. */
int nsx_idle_tell_removed(struct nsx_idle_finder *f, struct nsx_stretch *gap, int64_t until);

void nsx_idle_op_need(const struct nsx_idle_finder *f, struct nsx_reader *in);

/* ---- gaps.c */

/* The thread, created if it is new; NULL when out of memory. */
struct nsx_host_thread *nsx_idle_thread(struct nsx_idle_finder *f, int64_t profile, int64_t pid, int64_t tid);

/* Make the pieces of the gap before s->next and fill s with them. NSX_OK or NSX_ERR. */
int nsx_idle_explain(struct nsx_idle_finder *f, struct nsx_idle_device *d, struct nsx_stretch *s);

/* Whether another node of the same graph launch came before on the device; records this one. NSX_ERR when out of
 * memory. */
int nsx_idle_is_second_node(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_idle_op *op,
                            bool *second);

/* ---- host.c */

void nsx_idle_host_need(struct nsx_reader *in);
/* A call, an overhead or a range. NSX_OK or NSX_ERR. */
int nsx_idle_take_host(struct nsx_idle_finder *f, const struct nsx_rec *rec);
/* The number of a frame's text if frames are requested; false when out of memory. */
bool nsx_idle_frame(struct nsx_idle_finder *f, struct nsx_str text, uint32_t *id);
/* The path of the range of an operation, and of those around it; the root if it is unknown. NSX_NONE when out of
 * memory. */
uint32_t nsx_idle_path(struct nsx_idle_finder *f, int64_t profile, int64_t range);

/* ---- marks.c: NSX_OK or NSX_ERR */

void nsx_idle_mark_need(const struct nsx_idle_finder *f, struct nsx_reader *in);
void nsx_idle_count_need(const struct nsx_idle_finder *f, struct nsx_reader *in);
/* A call, an overhead or a range: it is only counted, for what is reported. */
void nsx_idle_count_host(struct nsx_idle_finder *f, const struct nsx_rec *rec);
/* A diag: what whoever made the marks said of threads, which are not looked at again. */
void nsx_idle_take_told(struct nsx_idle_finder *f, const struct nsx_rec *diag);
int nsx_idle_take_mark(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_rec *rec);
/* Forget the marks of the device that begin before `at`. */
void nsx_idle_forget_marks(struct nsx_idle_device *d, int64_t at);
/* Fill s with the marks of the gap, as nsx_idle_explain does with what it finds. */
int nsx_idle_recall(struct nsx_idle_finder *f, struct nsx_idle_device *d, struct nsx_stretch *s);

#endif
