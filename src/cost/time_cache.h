/* The times of copies that a model was asked for last. */
#ifndef HAUL_COST_TIME_CACHE_H
#define HAUL_COST_TIME_CACHE_H

#include "haul/cost.h"

enum { HL_COST_TIMES_CACHED = 1024 };

/* Begin with the machine and the model, the rest zero. */
typedef struct hl_cost_time_cache {
    const haul_machine *machine;
    const haul_copy_model *model; /* NULL: auto */
    struct {
        bool asked;
        haul_status status;
        haul_copy copy;
        haul_estimate estimate;
    } at[HL_COST_TIMES_CACHED];
} hl_cost_time_cache;

/* haul_copy_time's answer for a copy. The model is asked again for the text of an error, where
 * `error` is not NULL. */
haul_status hl_cost_time_cache_get(hl_cost_time_cache *self, const haul_copy *copy,
                                   haul_estimate *out, haul_error *error);

#endif
