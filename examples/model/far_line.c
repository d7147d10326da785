/* A model of one's own: a straight line at the link's nominal rate, and a penalty for host memory
 * on the CPU that the GPU does not hang on. It needs haul/backend.h and nothing of libhaul: a
 * machine is plain data. */
#include <stdio.h>

#include "haul/backend.h"

static const double far_factor = 2.5; /* yours to measure */
static const double latency_s = 10e-6;

/* The link's rate of one direction; 0 where the machine does not describe it. */
static double link_rate(const haul_link *link)
{
    static const double gbit_a_lane[] = {2.0, 4.0, 7.877, 15.75, 31.51, 59.0};
    const int generation = (int)link->generation.value;
    if (link->kind != HAUL_LINK_PCIE)
        return link->links.value * link->link_rate_Bps.value;
    if (generation < 1 || generation > 6)
        return 0;
    return link->lanes.value * gbit_a_lane[generation - 1] * 1e9 / 8;
}

static haul_status lacks(const char *what, haul_error *error)
{
    if (error) {
        *error = (haul_error){.status = HAUL_STATUS_MISSING};
        snprintf(error->text, sizeof error->text, "far-line: %s", what);
    }
    return HAUL_STATUS_MISSING;
}

static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    const double rate = link_rate(&machine->link);
    if (copy->direction != HAUL_DIRECTION_HTOD && copy->direction != HAUL_DIRECTION_DTOH)
        return lacks("only copies between host and device", error);
    if (rate <= 0)
        return lacks("the machine does not describe its link", error);
    const double factor = copy->locality == HAUL_LOCALITY_FAR ? far_factor : 1;
    const double seconds = latency_s + factor * (double)copy->bytes / rate;
    *out = (haul_estimate){
        .seconds = seconds,
        .low_s = seconds,
        .high_s = 1.4 * seconds, /* links reach 70 % of their nominal rate or more */
        .weakest = HAUL_PROVENANCE_DATASHEET,
        .model = "far-line",
    };
    return HAUL_OK;
}

const haul_copy_model *haul_model_entry(void)
{
    static const haul_copy_model model = {
        .abi = HAUL_MODEL_ABI,
        .name = "far-line",
        .summary = "a line at the link's nominal rate, 2.5 times as steep for far memory",
        .time = time_of,
    };
    return &model;
}
