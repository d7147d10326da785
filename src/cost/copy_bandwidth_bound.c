/* The bandwidth bound, n/peak: AHEAD's second baseline. */
#include "cost/copy_models.h"
#include "cost/lookup.h"

/* The interval is of the rate: a latency is not in this model. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    const hl_cost_range seconds =
        hl_cost_range_scale(hl_cost_lookup_nominal_per_byte(&lookup), (double)copy->bytes);
    return hl_cost_lookup_end(&lookup, hl_cost_copy_model_bandwidth_bound.name, seconds, out);
}

const haul_copy_model hl_cost_copy_model_bandwidth_bound = {
    .abi = HAUL_MODEL_ABI,
    .name = "bandwidth-bound",
    .summary = "baseline: n over the nominal rate, a bound from below",
    .time = time_of,
};
