/* LogGP for one copy (CCGrid 2014, section V): T = (L+o) + n G. */
#include "cost/copy_models.h"
#include "cost/lookup.h"

/* T = (L+o) + n G, one stream: van Werkhoven et al., CCGrid 2014, section V. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    haul_lookup lookup = haul_lookup_begin(machine, copy, error);
    const haul_range latency_s = haul_lookup_latency(&lookup);
    const haul_line line = haul_line_of_rate(latency_s, haul_lookup_rate(&lookup));
    return haul_lookup_end(&lookup, haul_copy_model_loggp.name,
                           haul_line_apply(line, (double)copy->bytes), out);
}

const haul_copy_model haul_copy_model_loggp = {
    .abi = HAUL_MODEL_ABI,
    .name = "loggp",
    .summary = "(L+o) + n G, measured latency and rate (CCGrid 2014, section V)",
    .time = time_of,
};
