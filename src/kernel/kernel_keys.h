/* Numbers for what several names say together. */
#ifndef HAUL_KERNEL_KEYS_H
#define HAUL_KERNEL_KEYS_H

#include "base/strings.h"

/* Zero is empty. */
typedef struct haul_kernel_keys {
    haul_strings strings;
    char *text;
    size_t capacity;
} haul_kernel_keys;

/* The number of these parts (NULL is a part like others), from 0 up as they come; UINT32_MAX
 * without memory. */
uint32_t haul_kernel_keys_of(haul_kernel_keys *self, const char *const *parts, size_t count);

void haul_kernel_keys_release(haul_kernel_keys *self);

#endif
