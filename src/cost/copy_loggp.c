/* LogGP for one copy (CCGrid 2014, section V): T = (L+o) + n G. */
#include "cost/copy_models.h"
#include "cost/lookup.h"

/* T = (L+o) + n G, one stream: van Werkhoven et al., CCGrid 2014, section V. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    const hl_cost_range latency_s = hl_cost_lookup_latency(&lookup);
    const hl_cost_line line = hl_cost_line_of_rate(latency_s, hl_cost_lookup_rate(&lookup));
    return hl_cost_lookup_end(&lookup, hl_cost_copy_model_loggp.name,
                              hl_cost_line_apply(line, (double)copy->bytes), out);
}

const haul_copy_model hl_cost_copy_model_loggp = {
    .abi = HAUL_MODEL_ABI,
    .name = "loggp",
    .summary = "(L+o) + n G, measured latency and rate (CCGrid 2014, section V)",
    .time = time_of,
};
