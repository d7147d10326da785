/* The best model that the machine's figures allow for a copy. */
#include <math.h>

#include "cost/copy_models.h"
#include "cost/lookup.h"
#include "cost/points.h"

/* Parameters that the copies' entry must have for a model to be tried. */
typedef enum use { LAST_RESORT, ALWAYS, POINTS_COVER, RATE_KNOWN, STAGING_KNOWN } use;

typedef struct choice {
    const haul_copy_model *model;
    use when;
} choice;

/* Measured points where they speak for the size; then a measured line; then packets. A curve that
 * does not reach so far is still better than nothing. */
static const choice direct[] = {
    {&hl_cost_copy_model_curve, POINTS_COVER},
    {&hl_cost_copy_model_loggp, RATE_KNOWN},
    {&hl_cost_copy_model_packet, ALWAYS},
    {&hl_cost_copy_model_curve, LAST_RESORT},
};

/* Pageable copies are no line: a staging measured on such copies goes before one. */
static const choice pageable[] = {
    {&hl_cost_copy_model_curve, POINTS_COVER}, {&hl_cost_copy_model_staged, STAGING_KNOWN},
    {&hl_cost_copy_model_loggp, RATE_KNOWN},   {&hl_cost_copy_model_staged, ALWAYS},
    {&hl_cost_copy_model_ahead, ALWAYS},       {&hl_cost_copy_model_curve, LAST_RESORT},
};

static bool applies(use when, const haul_copy_curve *own, double bytes)
{
    double rate;
    switch (when) {
    case POINTS_COVER:
        return hl_cost_curve_covers(own, bytes);
    case RATE_KNOWN:
        return own && (hl_cost_rate_given(&own->rate_Bps) || hl_cost_curve_rate(own, &rate));
    case STAGING_KNOWN:
        return own && (hl_cost_rate_given(&own->host_rate_Bps) ||
                       hl_cost_rate_given(&own->memory_rate_Bps));
    default:
        return true;
    }
}

/* The model that needs the least names the missing parameter: the last but the last resort. */
static haul_status choose_model(const choice *choices, size_t count, const hl_cost_lookup *lookup,
                                haul_estimate *out)
{
    const haul_copy *copy = &lookup->copy;
    const haul_machine *machine = lookup->machine;
    for (size_t i = 0; i < count; i++)
        if (applies(choices[i].when, lookup->own, (double)copy->bytes) &&
            choices[i].model->time(machine, copy, out, NULL) == HAUL_OK)
            return HAUL_OK;
    return choices[count - 2].model->time(machine, copy, out, lookup->error);
}

/* Host memory of a kind that the profile does not name is pinned or pageable: where both are known
 * the copy takes no longer than the slower. */
static void bound_by_kinds(const haul_machine *machine, const haul_copy *copy, haul_estimate *out)
{
    static const haul_memory kinds[] = {HAUL_MEMORY_PINNED, HAUL_MEMORY_PAGEABLE};
    double high_s = out->seconds;
    for (int k = 0; k < 2; k++) {
        haul_copy of_kind = *copy;
        haul_estimate estimate;
        of_kind.memory = kinds[k];
        if (hl_cost_copy_model_auto.time(machine, &of_kind, &estimate, NULL))
            return;
        high_s = fmax(high_s, estimate.high_s);
    }
    out->high_s = fmin(out->high_s, high_s);
}

static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    if (lookup.status != HAUL_OK)
        return lookup.status;
    /* by the stand-in: memory of an unknown kind goes as pinned, or as pageable on the host
     * itself */
    const bool through_host = lookup.copy.memory == HAUL_MEMORY_PAGEABLE &&
                              haul_direction_crosses_link(lookup.copy.direction);
    /* each model does its own look-up: it is to see the memory asked for, not its stand-in */
    lookup.copy = *copy;
    const haul_status status =
        through_host ? choose_model(pageable, sizeof pageable / sizeof *pageable, &lookup, out)
                     : choose_model(direct, sizeof direct / sizeof *direct, &lookup, out);
    if (!status && lookup.stand_in && copy->memory == HAUL_MEMORY_HOST)
        bound_by_kinds(machine, copy, out);
    return status;
}

const haul_copy_model hl_cost_copy_model_auto = {
    .abi = HAUL_MODEL_ABI,
    .name = "auto",
    .summary = "the best that the machine's figures allow: curve, loggp, packet; pageable: curve, "
               "staged, loggp, ahead",
    .time = time_of,
};
