/* A catalogue knows boards; the slot under a board is the host's. Large pinned copies tell it: they
 * reach a known share of its peak, and slots differ by a factor of two. */
#include "project/own_slot.h"

#include <stdio.h>

#include "base/fail.h"
#include "machine/link_rate.h"

/* Of a link's rate after encoding large pinned copies reach 0.72 to 0.88 in published measurements
 * of PCIe 1 to 5 (cost/lookup.c). Copies that meet others are slower, and may so lie where a slower
 * slot's would: between these windows nothing is told. */
static const double least_share = 0.70, most_share = 0.90;

double hl_project_fastest_pinned(const hl_project_size_classes *classes)
{
    enum { LARGE = 1 << 20 /* above it the latency is below a tenth of the time on any PCIe */ };
    double fastest = 0; /* B/s */
    for (size_t c = 0; c < classes->count; c++) {
        const hl_project_size_class *one = &classes->items[c];
        const double rate = (double)one->bytes * one->count / (1e-9 * one->time_ns);
        if (haul_direction_crosses_link(one->direction) && !one->impossible &&
            one->memory == HAUL_MEMORY_PINNED && one->bytes >= LARGE && one->time_ns > 0 &&
            rate > fastest)
            fastest = rate;
    }
    return fastest;
}

/* The generation, with the link's own lanes, at whose peak the rate is; 0 where there is none up to
 * the link's own. */
static int generation_of(const haul_link *link, double rate)
{
    haul_link tried = *link;
    for (int generation = (int)link->generation.value; generation >= 1; generation--) {
        tried.generation.value = generation;
        const double share = rate / hl_machine_link_rate(&tried);
        if (share >= least_share && share <= most_share)
            return generation;
    }
    return 0;
}

haul_status hl_project_own_slot(const haul_machine *like, const hl_project_size_classes *classes,
                                haul_machine **slotted, haul_error *error)
{
    const double fastest = hl_project_fastest_pinned(classes);
    const int generation =
        like->link.kind == HAUL_LINK_PCIE && fastest > 0 ? generation_of(&like->link, fastest) : 0;
    char setting[40];
    *slotted = NULL;
    if (!generation)
        return HAUL_OK;
    (void)snprintf(setting, sizeof setting, "link.generation=%d", generation);
    const haul_status status = haul_machine_set(like, setting, slotted, NULL);
    if (status == HAUL_STATUS_NO_MEMORY)
        return hl_base_fail_no_memory(error);
    if (!status) {
        haul_parameter *const known = &(*slotted)->link.generation;
        known->provenance = HAUL_PROVENANCE_FITTED;
        known->source = "the profile's own pinned copies";
    }
    return HAUL_OK;
}
