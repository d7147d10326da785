/* Compiled kernels on disk. A file holds its whole key, so that no two kernels are taken for each
 * other; a file that is not right is as none. */
#ifndef HAUL_DEVICE_KERNEL_CACHE_H
#define HAUL_DEVICE_KERNEL_CACHE_H

#include "haul/device.h"

/* The bytes kept under `key`, on the heap; NULL where there are none. `folder` is the option
 * cache_folder. */
void *hl_device_kernel_cache_read(const char *folder, const char *key, size_t *size);

/* Keeps them, whole or not at all. That the disk is full or read-only is no error. */
void hl_device_kernel_cache_write(const char *folder, const char *key, const void *bytes,
                                  size_t size);

#endif
