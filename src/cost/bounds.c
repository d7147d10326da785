/* AHEAD's two baselines: what the nominal rate alone says. */
#include "cost/models.h"

/* Large copies reach 70 to 94 % of a link's rate after encoding (0.72 to 0.80 on PCIe 1 and 2, 0.77
 * to 0.88 on 3 to 5, 0.74 to 0.94 on NVLink, 0.77 on NVLink-C2C and 0.81 on xGMI in published
 * measurements) and 86 to 91 % of a GPU memory's. None is faster than the peak. */
static haul_range time_per_byte(haul_pricing *pricing)
{
    return haul_range_inverse(haul_range_around(haul_pricing_peak(pricing), 0.7, 1));
}

/* (L+o) + n/peak, AHEAD's first baseline. */
static haul_status peak_time(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                             haul_error *error)
{
    haul_pricing pricing = haul_pricing_begin(machine, copy, error);
    const haul_range latency_s = haul_pricing_latency(&pricing);
    const haul_line line = haul_line_make(latency_s, time_per_byte(&pricing));
    return haul_pricing_end(&pricing, haul_model_peak.name,
                            haul_line_apply(line, (double)copy->bytes), out);
}

/* n/peak. The interval is of the rate: a latency is not in this model. */
static haul_status envelope_time(const haul_machine *machine, const haul_copy *copy,
                                 haul_estimate *out, haul_error *error)
{
    haul_pricing pricing = haul_pricing_begin(machine, copy, error);
    const haul_range seconds = haul_range_scale(time_per_byte(&pricing), (double)copy->bytes);
    return haul_pricing_end(&pricing, haul_model_envelope.name, seconds, out);
}

const haul_copy_model haul_model_peak = {
    .abi = HAUL_MODEL_ABI,
    .name = "peak",
    .summary = "baseline: (L+o) + n over the nominal rate",
    .time = peak_time,
};

const haul_copy_model haul_model_envelope = {
    .abi = HAUL_MODEL_ABI,
    .name = "envelope",
    .summary = "baseline: n over the nominal rate, a bound from below",
    .time = envelope_time,
};
