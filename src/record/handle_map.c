/* Values beside the project's table of fixed-size keys; the key is the handle itself. */
#include "record/handle_map.h"

#include <stdlib.h>

#include "base/grow.h"

enum { MOST_HANDLES = 1 << 20 };

void hl_record_handle_map_set(hl_record_handle_map *self, const void *handle, uint64_t value)
{
    self->handles.size = sizeof handle;
    /* Forgotten handles are asked for again, or counted as unknown. */
    if (self->handles.count >= MOST_HANDLES)
        hl_base_records_release(&self->handles);
    if (!hl_base_grow(&self->values, &self->capacity, self->handles.count + 1,
                      sizeof *self->values))
        return;
    const uint32_t number = hl_base_records_add(&self->handles, &handle);
    if (number != UINT32_MAX)
        self->values[number] = value;
}

/* *value is set only where the handle is known. */
bool hl_record_handle_map_get(const hl_record_handle_map *self, const void *handle, uint64_t *value)
{
    const uint32_t number = hl_base_records_find(&self->handles, &handle);
    if (number != UINT32_MAX)
        *value = self->values[number];
    return number != UINT32_MAX;
}

/* An empty table again. */
void hl_record_handle_map_release(hl_record_handle_map *self)
{
    hl_base_records_release(&self->handles);
    free(self->values);
    *self = (hl_record_handle_map){0};
}
