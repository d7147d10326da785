/* The bytes of a file in order, unpacked where it is gzipped. A thread of its own unpacks ahead, so
 * that reading such a file takes no longer than zlib needs. */
#ifndef HAUL_BASE_BYTE_SOURCE_H
#define HAUL_BASE_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/status.h"

typedef struct hl_base_byte_source hl_base_byte_source;

/* Opens the file at `path`, which must outlive the source. Returns IO where it cannot be opened. */
haul_status hl_base_byte_source_open(const char *path, hl_base_byte_source **source,
                                     haul_error *error);

bool hl_base_byte_source_is_gzipped(const hl_base_byte_source *self);

/* Fills `buffer` from the hl_base_byte_source `self`: *got bytes, fewer than `size` only at the end
 * of the file. Returns IO where the file cannot be read, or its gzip data are damaged or cut short.
 */
haul_status hl_base_byte_source_read(void *self, char *buffer, size_t size, size_t *got,
                                     haul_error *error);

void hl_base_byte_source_close(hl_base_byte_source *self);

#endif
