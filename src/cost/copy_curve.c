/* Copies by measured points: the only model that knows what a machine does at a size, where it was
 * measured. */
#include "cost/copy_models.h"
#include "cost/lookup.h"
#include "cost/points.h"

/* Outside the measured sizes the pieces go on, and the uncertainty doubles. A single point says
 * what larger copies take at most (its rate) and at least (its time), and smaller ones likewise. */
static hl_cost_range seconds_of(const haul_copy_curve *own, double bytes)
{
    const haul_provenance from = own->points_from.provenance;
    const double mid = hl_cost_curve_seconds(own, bytes);
    const haul_parameter *uncertainty =
        2 * own->latency_s.value > mid ? &own->latency_uncertainty : &own->rate_uncertainty;
    const double factor = hl_cost_factor_with(from, uncertainty);
    if (hl_cost_curve_encloses(own, bytes))
        return hl_cost_range_within(mid, factor);
    hl_cost_range seconds = hl_cost_range_within(mid, 2 * factor - 1);
    const haul_point first = own->points[0];
    if (hl_cost_curve_points(own) > 1)
        return seconds;
    if (bytes > first.bytes)
        seconds.low = fmin(first.seconds, seconds.low);
    else
        seconds.low *= bytes / first.bytes;
    return seconds;
}

/* All of the interval comes from the points' provenance: no other parameter is asked for. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    if (!hl_cost_curve_points(lookup.own)) {
        hl_cost_lookup_lacks_own(&lookup, "points");
        return lookup.status;
    }
    lookup.weakest = lookup.rate_from = lookup.own->points_from.provenance;
    const hl_cost_range seconds = seconds_of(lookup.own, (double)copy->bytes);
    return hl_cost_lookup_end(&lookup, hl_cost_copy_model_curve.name, seconds, out);
}

const haul_copy_model hl_cost_copy_model_curve = {
    .abi = HAUL_MODEL_ABI,
    .name = "curve",
    .summary = "straight between measured points, first and last piece going on outside",
    .time = time_of,
};
