/* Programs copy the same sizes over and over: a direct-mapped cache spares the model. */
#include "cost/time_cache.h"

haul_status hl_cost_time_cache_get(hl_cost_time_cache *self, const haul_copy *copy,
                                   haul_estimate *out, haul_error *error)
{
    /* Fibonacci hashing: the upper bits of the product, for sizes are multiples of powers of two */
    const uint64_t mixed = (copy->bytes * 8 + (uint64_t)copy->direction) * 8 + copy->memory;
    const size_t i = (size_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
    const haul_copy *kept = &self->at[i].copy;
    const bool known = self->at[i].asked && kept->bytes == copy->bytes &&
                       kept->direction == copy->direction && kept->memory == copy->memory &&
                       kept->locality == copy->locality;
    if (!known || (self->at[i].status && error)) {
        self->at[i].asked = true;
        self->at[i].copy = *copy;
        self->at[i].status =
            haul_copy_time(self->machine, self->model, copy, &self->at[i].estimate, error);
    }
    if (!self->at[i].status)
        *out = self->at[i].estimate;
    return self->at[i].status;
}
