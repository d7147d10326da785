/* Recorders that the program carries within itself, written out for as long as they are needed. */
#ifndef HAUL_RECORD_UNPACKED_H
#define HAUL_RECORD_UNPACKED_H

#include "haul/record.h"

/* Writes `image` as the file `name` into `folder`, which is made, readable by this user alone,
 * where it is "". Sets `path` to the file; both have `size` bytes. Returns IO where it cannot be
 * written. */
haul_status hl_record_unpack_recorder(char *folder, const haul_recorder_image *image,
                                      const char *name, char *path, size_t size, haul_error *error);

/* Removes the folder and the recorders in it; nothing for "". */
void hl_record_remove_unpacked(const char *folder);

#endif
