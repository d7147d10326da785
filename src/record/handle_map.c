/* Values beside the project's table of fixed-size keys; the key is the handle itself. */
#include "record/handle_map.h"

#include <stdlib.h>

#include "base/grow.h"

enum { MOST_HANDLES = 1 << 20 };

void haul_handle_map_set(haul_handle_map *self, const void *handle, uint64_t value)
{
    self->handles.size = sizeof handle;
    /* What is forgotten is asked for again, or counted as unknown. */
    if (self->handles.count >= MOST_HANDLES)
        haul_records_release(&self->handles);
    if (!haul_grow(&self->values, &self->capacity, self->handles.count + 1, sizeof *self->values))
        return;
    const uint32_t number = haul_records_add(&self->handles, &handle);
    if (number != UINT32_MAX)
        self->values[number] = value;
}

/* *value is set only where the handle is known. */
bool haul_handle_map_get(const haul_handle_map *self, const void *handle, uint64_t *value)
{
    const uint32_t number = haul_records_find(&self->handles, &handle);
    if (number != UINT32_MAX)
        *value = self->values[number];
    return number != UINT32_MAX;
}

/* An empty table again. */
void haul_handle_map_release(haul_handle_map *self)
{
    haul_records_release(&self->handles);
    free(self->values);
    *self = (haul_handle_map){0};
}
