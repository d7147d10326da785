/* Several names as one key: each part with its length before it, so that ("ab", "c") and ("a",
 * "bc") differ. */
#include "kernel/kernel_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { HEAD = 24 }; /* of a part: its length and a ':', so that no two lists read alike */

uint32_t haul_kernel_keys_of(haul_kernel_keys *self, const char *const *parts, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t part = parts[i] ? strlen(parts[i]) : 0;
        if (!haul_grow(&self->text, &self->capacity, length + part + HEAD + 1, 1))
            return UINT32_MAX;
        if (parts[i])
            length += (size_t)snprintf(self->text + length, HEAD, "%zu:", part);
        else
            self->text[length++] = '-';
        if (part)
            memcpy(self->text + length, parts[i], part);
        length += part;
    }
    return haul_strings_add(&self->strings, self->text, length);
}

void haul_kernel_keys_release(haul_kernel_keys *self)
{
    haul_strings_release(&self->strings);
    free(self->text);
    *self = (haul_kernel_keys){0};
}
