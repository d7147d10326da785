/* A whole text file in memory. */
#ifndef HAUL_BASE_TEXTFILE_H
#define HAUL_BASE_TEXTFILE_H

#include <stddef.h>

#include "haul/status.h"

/* Reads the file at `path`, gzipped or not, of at most `limit` bytes once unpacked, with a NUL
 * added behind it. Returns IO where it cannot be read, BAD_INPUT where it is larger. On success the
 * caller frees *text. */
haul_status hl_base_textfile_read(const char *path, size_t limit, char **text, size_t *size,
                                  haul_error *error);

#endif
