/* Questions to a machine that is there. */
#include "haul/machine.h"

const haul_copy_curve *haul_machine_curve(const haul_machine *machine, haul_direction direction,
                                          haul_memory memory, haul_locality locality)
{
    for (size_t i = 0; i < machine->copy_count; i++) {
        const haul_copy_curve *curve = &machine->copies[i];
        if (curve->direction == direction && curve->memory == memory && curve->locality == locality)
            return curve;
    }
    return NULL;
}

const char *haul_provenance_text(haul_provenance provenance)
{
    static const char *const texts[] = {"not given",
#define PROVENANCE_TEXT(name, text) text,
                                        HAUL_PROVENANCE_LIST(PROVENANCE_TEXT)
#undef PROVENANCE_TEXT
    };
    return (unsigned)provenance < sizeof texts / sizeof *texts ? texts[provenance] : "unknown";
}

haul_provenance haul_provenance_weaker(haul_provenance a, haul_provenance b)
{
    return a > b ? a : b;
}

/* Of one lane, after 8b/10b, 128b/130b or, in flit mode, the 236 bytes of packets in a flit of 256.
 * PCI Express base specification; AHEAD, Table II, for the first four. */
static double lane_rate(double generation)
{
    static const double rates[] = {
        2.5e9 / 8 * 8 / 10,     5e9 / 8 * 8 / 10,       8e9 / 8 * 128 / 130,
        16e9 / 8 * 128 / 130.0, 32e9 / 8 * 128 / 130.0, 64e9 / 8 * 236 / 256.0,
    };
    const int count = sizeof rates / sizeof *rates;
    return generation >= 1 && generation <= count ? rates[(int)generation - 1] : 0;
}

haul_figure haul_link_peak(const haul_link *link)
{
    const bool pcie = link->kind == HAUL_LINK_PCIE;
    const haul_figure *width = pcie ? &link->lanes : &link->links;
    const haul_figure *rate = pcie ? &link->generation : &link->link_rate_Bps;
    if (link->kind == HAUL_LINK_NONE || width->provenance == HAUL_NOT_GIVEN ||
        rate->provenance == HAUL_NOT_GIVEN)
        return (haul_figure){0};
    return (haul_figure){
        .value = width->value * (pcie ? lane_rate(rate->value) : rate->value),
        .provenance = haul_provenance_weaker(width->provenance, rate->provenance),
        .source = rate->source,
    };
}
