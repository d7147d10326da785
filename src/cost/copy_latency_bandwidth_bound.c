/* The latency + bandwidth bound, (L+o) + n/peak: AHEAD's first baseline. */
#include "cost/copy_models.h"
#include "cost/lookup.h"

/* A baseline: it shows what a model adds to a data sheet's rate. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    const hl_cost_range latency_s = hl_cost_lookup_latency(&lookup);
    const hl_cost_line line =
        hl_cost_line_make(latency_s, hl_cost_lookup_nominal_per_byte(&lookup));
    return hl_cost_lookup_end(&lookup, hl_cost_copy_model_latency_bandwidth_bound.name,
                              hl_cost_line_apply(line, (double)copy->bytes), out);
}

const haul_copy_model hl_cost_copy_model_latency_bandwidth_bound = {
    .abi = HAUL_MODEL_ABI,
    .name = "latency-bandwidth-bound",
    .summary = "baseline: (L+o) + n over the nominal rate",
    .time = time_of,
};
