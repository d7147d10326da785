/* Questions to a machine. */
#include "haul/machine.h"

#include "machine/link_rate.h"
#include "machine/machine_fields.h"

static const char *const provenances[] = {"not given", HAUL_PROVENANCE_LIST(HAUL_ROW_TEXT)};

enum { PROVENANCE_COUNT = sizeof provenances / sizeof *provenances };

const char *haul_provenance_text(haul_provenance provenance)
{
    return (unsigned)provenance < PROVENANCE_COUNT ? provenances[provenance] : provenances[0];
}

haul_provenance haul_provenance_weaker(haul_provenance a, haul_provenance b)
{
    /* The enumeration goes from the best source (measured) to the weakest: see
     * HAUL_PROVENANCE_LIST. */
    return a > b ? a : b;
}

const char *haul_link_kind_text(haul_link_kind kind)
{
    static const char *const kinds[] = {"", "PCIe", "NVLink", "C2C", "fabric"};
    return (unsigned)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : kinds[0];
}

const char *haul_locality_text(haul_locality locality)
{
    return locality == HAUL_LOCALITY_FAR ? "far" : "near";
}

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

typedef struct figure_walk {
    haul_parameter_visitor visit;
    void *state;
} figure_walk;

static int visit_figure(void *state, const char *path, const hl_machine_field *field,
                        const void *at)
{
    const figure_walk *self = state;
    /* Names and words are of no use to callers that scale or compare parameters. */
    const bool is_figure =
        field->kind == HL_MACHINE_FIELD_PARAMETER || field->kind == HL_MACHINE_FIELD_POINTS;
    return is_figure ? self->visit(self->state, path, (int)field->dimension, at) : 0;
}

int haul_machine_visit(const haul_machine *machine, haul_parameter_visitor visit, void *state)
{
    figure_walk self = {visit, state};
    return hl_machine_walk(machine, visit_figure, &self);
}

/* Transfers a second of one lane, and the share of the bits that are not the line encoding's:
 * 8b/10b, 128b/130b, and in generation 6 the 236 bytes of packets in a flit of 256 (PCI Express
 * Base Specification 6.0, section 4.2.3). */
#define LANE_BPS(transfers_hz, encoding) ((transfers_hz) * (encoding) / 8)
static const double lane_rates[] = {
    [1] = LANE_BPS(2.5e9, 8.0 / 10),   [2] = LANE_BPS(5e9, 8.0 / 10),
    [3] = LANE_BPS(8e9, 128.0 / 130),  [4] = LANE_BPS(16e9, 128.0 / 130),
    [5] = LANE_BPS(32e9, 128.0 / 130), [6] = LANE_BPS(64e9, 236.0 / 256),
};

enum { NEWEST_GENERATION = sizeof lane_rates / sizeof *lane_rates - 1 };

/* a x b, as weak as the weaker of the two. */
static haul_parameter product(const haul_parameter *a, const haul_parameter *b)
{
    /* A product with a factor that is not given is not given either; 0 would look like a rate. */
    if (!a->provenance || !b->provenance)
        return (haul_parameter){0};
    const haul_provenance weaker = haul_provenance_weaker(a->provenance, b->provenance);
    return (haul_parameter){
        .value = a->value * b->value,
        .provenance = weaker,
        .source = weaker == b->provenance ? b->source : a->source,
    };
}

/* Bytes a second of one lane; 0 for a generation that is none. */
static double lane_rate(const haul_link *link)
{
    const double generation = link->generation.value;
    /* A NaN, for which both comparisons are false, is refused too. */
    if (!(generation >= 1 && generation <= NEWEST_GENERATION))
        return 0;
    /* The range of the field allows whole generations alone, so nothing is cut off. */
    return lane_rates[(int)generation];
}

double hl_machine_link_rate(const haul_link *link)
{
    return link->kind == HAUL_LINK_PCIE ? link->lanes.value * lane_rate(link)
                                        : link->links.value * link->link_rate_Bps.value;
}

haul_parameter haul_link_peak(const haul_link *link)
{
    if (link->kind != HAUL_LINK_PCIE)
        return product(&link->links, &link->link_rate_Bps);
    /* The generation stands for the lane's rate, with the same provenance: it is where that is
     * from. */
    haul_parameter lane = link->generation;
    lane.value = lane_rate(link);
    return lane.value > 0 ? product(&link->lanes, &lane) : (haul_parameter){0};
}
