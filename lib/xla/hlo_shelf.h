/* hlo_shelf.h -- a cache of dumps for several readers: those with the same bytes are read once and shared. The
 * processes of a job compile the same programs, so most of their dumps are copies of each other. */
#ifndef NSX_XLA_HLO_SHELF_H
#define NSX_XLA_HLO_SHELF_H

#include "xla/hlo.h"

/* The cache; all functions may be called by several threads at once. */
struct nsx_hlo_shelf;
/* One content; owned by the shelf. */
struct nsx_hlo_entry;

/* Keeps results up to a bound on memory; beyond the bound, only as long as they are in use. NULL when out of memory. */
struct nsx_hlo_shelf *nsx_hlo_shelf_new(void);
void nsx_hlo_shelf_clear(struct nsx_hlo_shelf *s);  /* free unused entries; NULL allowed */
void nsx_hlo_shelf_free(struct nsx_hlo_shelf *s);   /* NULL allowed; none of its contents may still be in use */

/* The content of the file at path, identified by a hash of its bytes, compressed or not. NULL if it cannot be read, or
 * memory ran out. */
struct nsx_hlo_entry *nsx_hlo_shelf_find(struct nsx_hlo_shelf *s, const char *path);

/* As nsx_hlo_read of path, whose entry is e (NULL: none, it is read for this caller alone); waits while another thread
 * reads the same. *h must be returned with nsx_hlo_shelf_back, for any e. An invalid dump is not shared: each caller's
 * message has its own path. */
int nsx_hlo_shelf_read(struct nsx_hlo_entry *e, const char *path, struct nsx_hlo *h, struct nsx_diags *diags,
                       struct nsx_err *err);

/* Whether another thread is reading it now: nsx_hlo_shelf_read would wait. */
bool nsx_hlo_shelf_busy(const struct nsx_hlo_entry *e);

/* Read the dump at path, whose entry is e, in advance, if it has not been read and there is memory to keep it. An error
 * is reported when the dump is requested. */
void nsx_hlo_shelf_ahead(struct nsx_hlo_entry *e, const char *path);

/* The folders whose dumps will be requested, in that order, each once; they must stay valid. Before threads use the
 * shelf. NSX_OK, or NSX_ERR when out of memory. */
int nsx_hlo_shelf_expect(struct nsx_hlo_shelf *s, const char *folder);
/* From here on a thread requests the dumps of this folder. */
void nsx_hlo_shelf_begin(struct nsx_hlo_shelf *s, const char *folder);

/* Read in advance, as nsx_hlo_shelf_ahead, the dump of this file name in the next expected folder that no thread has
 * begun with and where that has not been tried: the processes of a job run the same programs. False if there is no such
 * folder. */
bool nsx_hlo_shelf_guess(struct nsx_hlo_shelf *s, const char *name);

/* Return a dump: *h is then as after nsx_hlo_free. */
void nsx_hlo_shelf_back(struct nsx_hlo *h);

#endif
