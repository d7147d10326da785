/* Measured copies as they are read. */
#ifndef HAUL_COST_SAMPLE_LIST_H
#define HAUL_COST_SAMPLE_LIST_H

#include "base/fail.h"
#include "base/grow.h"
#include "haul/fit.h"

typedef struct hl_cost_sample_list {
    haul_sample *items;
    size_t count;
    size_t capacity;
} hl_cost_sample_list;

/* Adds a sample; NO_MEMORY is the only failure. */
static inline haul_status hl_cost_sample_add(hl_cost_sample_list *list, const haul_copy *copy,
                                             double seconds, haul_error *error)
{
    if (!hl_base_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return hl_base_fail_no_memory(error);
    list->items[list->count++] = (haul_sample){.copy = *copy, .seconds = seconds};
    return HAUL_OK;
}

/* Reads either JSON. In samples_json.c. */
haul_status hl_cost_samples_read_json(const char *text, size_t size, const char *file,
                                      hl_cost_sample_list *list, haul_error *error);

#endif
