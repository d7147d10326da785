/* Devices from shared objects. */
#ifndef HAUL_DEVICE_DEVICE_SHARED_H
#define HAUL_DEVICE_DEVICE_SHARED_H

#include "haul/device_backend.h"

/* The length of the path of a shared object that `name` begins with, "./mine.so:1", or 0: it ends
 * in ".so" and is followed by nothing or by a ':'. */
size_t hl_device_shared_path(const char *name);

/* Loads the backend of the object, which stays loaded as long as the process lives: devices of it
 * may. Returns BAD_INPUT, with the file, for an object that is none or lacks a function that every
 * device has. */
haul_status hl_device_shared_load(const char *path, size_t length,
                                  const haul_device_backend **backend, haul_error *error);

#endif
