/* The latency + bandwidth bound, (L+o) + n/peak: AHEAD's first baseline. */
#include "cost/copy_models.h"
#include "cost/lookup.h"

/* A baseline: it shows what a model adds to a data sheet's rate. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    haul_lookup lookup = haul_lookup_begin(machine, copy, error);
    const haul_range latency_s = haul_lookup_latency(&lookup);
    const haul_line line = haul_line_make(latency_s, haul_lookup_nominal_per_byte(&lookup));
    return haul_lookup_end(&lookup, haul_copy_model_latency_bandwidth_bound.name,
                           haul_line_apply(line, (double)copy->bytes), out);
}

const haul_copy_model haul_copy_model_latency_bandwidth_bound = {
    .abi = HAUL_MODEL_ABI,
    .name = "latency-bandwidth-bound",
    .summary = "baseline: (L+o) + n over the nominal rate",
    .time = time_of,
};
