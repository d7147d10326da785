/* The bytes of a file in order, unpacked where it is gzipped. A thread of its own unpacks ahead, so
 * that reading such a file takes no longer than zlib needs. */
#ifndef HAUL_BASE_BYTE_SOURCE_H
#define HAUL_BASE_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/status.h"

typedef struct haul_byte_source haul_byte_source;

/* Opens the file at `path`, which must outlive the source. Returns IO where it cannot be opened. */
haul_status haul_byte_source_open(const char *path, haul_byte_source **source, haul_error *error);

bool haul_byte_source_is_gzipped(const haul_byte_source *self);

/* Fills `buffer` from the haul_byte_source `self`: *got bytes, fewer than `size` only at the end of
 * the file. Returns IO where the file cannot be read, or its gzip data are damaged or cut short. */
haul_status haul_byte_source_read(void *self, char *buffer, size_t size, size_t *got,
                                  haul_error *error);

void haul_byte_source_close(haul_byte_source *self);

#endif
