/* Filling a haul_error once, where the cause is known. */
#ifndef HAUL_BASE_FAIL_H
#define HAUL_BASE_FAIL_H

#include "haul/status.h"

/* As haul_fail (haul/status.h): each fills `error`, which may be NULL, and returns the status. */
haul_status haul_fail_no_memory(haul_error *error);

/* A file that cannot be opened, or not read, with the reason that errno holds: IO. */
haul_status haul_fail_open(haul_error *error, const char *path);
haul_status haul_fail_read(haul_error *error, const char *path);

/* Adds the place to an error that is already filled, where it has none yet. */
void haul_error_in_file(haul_error *error, const char *file);
void haul_error_at(haul_error *error, const char *file, int line, int column);
void haul_error_in_table(haul_error *error, const char *file, const char *table, int64_t row);

#endif
