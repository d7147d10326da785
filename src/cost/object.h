/* Shared objects that hold a user's model. */
#ifndef HAUL_COST_OBJECT_H
#define HAUL_COST_OBJECT_H

#include <stdbool.h>

#include "haul/status.h"

/* True where a model's name means a file: it contains a '/' or ends in ".so". */
bool haul_object_is_meant(const char *name);

/* Loads the object at `path` and finds `entry` in it. Returns BAD_INPUT with the reason. On success
 * the caller closes *handle with haul_object_close. */
haul_status haul_object_open(const char *path, const char *entry, void **handle, void **symbol,
                             haul_error *error);

/* NULL is fine. */
void haul_object_close(void *handle);

#endif
