/* inputs.h -- the files that this program reads. An output that replaced one of them would destroy it, and by a link
 * has another name: outputs are compared with these by device and number of the file. */
#ifndef NSX_BASE_INPUTS_H
#define NSX_BASE_INPUTS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Remember the file that fd is open on, if it is a regular one. What is not remembered for lack of memory is not
 * compared. Any thread may call both. */
void nsx_inputs_note(int fd);

/* Whether that file has been remembered. */
bool nsx_inputs_has(const struct stat *st);

#endif
