/* hlo_shelf.h -- dumps that several readers want: those of the same bytes are read once and shared. The processes of a
 * job compile the same programs, so most of their dumps are one another's copies. */
#ifndef NSX_XLA_HLO_SHELF_H
#define NSX_XLA_HLO_SHELF_H

#include "xla/hlo.h"

/* What was read; all calls may be made by several threads at once. */
struct nsx_hlo_shelf;
/* One content; owned by the shelf. */
struct nsx_hlo_entry;

/* Keeps what was read up to a bound on memory, beyond it only as long as somebody has it. NULL when out of memory. */
struct nsx_hlo_shelf *nsx_hlo_shelf_new(void);
void nsx_hlo_shelf_clear(struct nsx_hlo_shelf *s);  /* forget what nobody has; NULL allowed */
void nsx_hlo_shelf_free(struct nsx_hlo_shelf *s);   /* NULL allowed; nobody may have anything of it any more */

/* Which content the file at path has, told by a hash of its bytes, compressed or not. NULL when that cannot be told: it
 * cannot be read, or memory ran out. */
struct nsx_hlo_entry *nsx_hlo_shelf_find(struct nsx_hlo_shelf *s, const char *path);

/* As nsx_hlo_read of path, whose entry is e (NULL: none, it is read for this caller alone); waits while another thread
 * reads the same. *h is given back with nsx_hlo_shelf_back, whatever e is. What is not a sound dump is not shared: each
 * caller's message has its own path. */
int nsx_hlo_shelf_read(struct nsx_hlo_entry *e, const char *path, struct nsx_hlo *h, struct nsx_diags *diags,
                       struct nsx_err *err);

/* Whether another thread is reading it just now: nsx_hlo_shelf_read would wait. */
bool nsx_hlo_shelf_busy(const struct nsx_hlo_entry *e);

/* Read the dump at path, whose entry is e, for later, if nobody has and there is room to keep it. That it fails shows
 * when it is asked for. */
void nsx_hlo_shelf_ahead(struct nsx_hlo_entry *e, const char *path);

/* Give back what was read: *h is as after nsx_hlo_free. */
void nsx_hlo_shelf_back(struct nsx_hlo *h);

#endif
