/* Parameters of staging that no copy shows: a percent more or less of them changes no copy's time
 * by more than the medians may be off. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/fail.h"
#include "haul/cost.h"
#include "measure/staging_search.h"

/* A parameter is asked for within so much. */
static const double asked = 0.01;

/* Parameters that are changed together, those of them that were found. */
typedef struct row {
    const char *name;
    size_t offsets[3];
    size_t count;
} row;

#define OF(member) offsetof(haul_copy_curve, member)

static const row rows[] = {
    {"threshold", {OF(threshold_bytes)}, 1},
    {"small_rate", {OF(small_rate_Bps)}, 1},
    {"host_rate", {OF(host_rate_Bps)}, 1},
    {"cache", {OF(cache_bytes)}, 1},
    {"memory_rate", {OF(memory_rate_Bps)}, 1},
    {"chunk", {OF(chunk_bytes)}, 1},
    /* where steps are not seen, the first chunk's time alone shows these ratios and no more */
    {"chunk beside host_rate and memory_rate",
     {OF(chunk_bytes), OF(host_rate_Bps), OF(memory_rate_Bps)},
     3},
};

static haul_parameter *parameter_at(haul_copy_curve *curve, size_t offset)
{
    return (haul_parameter *)(void *)((char *)curve + offset);
}

static double time_on(const haul_machine *machine, const hl_measure_staged *of, double bytes)
{
    const haul_copy copy = {(uint64_t)bytes, of->way.direction, of->way.memory, HAUL_LOCALITY_NEAR};
    haul_estimate estimate;
    return haul_copy_time(machine, NULL, &copy, &estimate, NULL) ? (double)NAN : estimate.seconds;
}

/* Whether two machines' copies differ at a size by more than both medians may be off. */
static bool differ_at(const hl_measure_staged *of, const haul_machine *a, const haul_machine *b,
                      double bytes)
{
    const double one_s = time_on(a, of, bytes), other_s = time_on(b, of, bytes);
    return !(fabs(one_s - other_s) <= of->tolerance * one_s + HL_MEASURE_ROUNDING_S);
}

/* At the measured sizes, and around those where the staging changes. */
static bool differ(const hl_measure_staged *of, const haul_copy_curve *curve, const haul_machine *a,
                   const haul_machine *b)
{
    const double around[] = {curve->threshold_bytes.value, curve->cache_bytes.value,
                             curve->chunk_bytes.value};
    for (size_t i = 0; i < of->count; i++)
        if (differ_at(of, a, b, (double)of->samples[i].copy.bytes))
            return true;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        for (int part = -1; part <= 1; part += 2)
            if (around[i] >= 2 && differ_at(of, a, b, around[i] * (1 + part * asked / 2)))
                return true;
    return false;
}

/* Whether a percent more and a percent less of the row's parameters change some copy. */
static haul_status is_row_shown(const hl_measure_staged *of, const haul_copy_curve *curve,
                                const haul_machine *machine, const row *of_row, bool *is_shown,
                                haul_error *error)
{
    *is_shown = true;
    for (int part = -1; part <= 1 && *is_shown; part += 2) {
        haul_copy_curve changed = *curve;
        haul_machine *other;
        for (size_t i = 0; i < of_row->count; i++)
            parameter_at(&changed, of_row->offsets[i])->value *= 1 + part * asked;
        HAUL_TRY(hl_measure_staged_machine(of, &changed, &other, error));
        *is_shown = differ(of, curve, machine, other);
        haul_machine_free(other);
    }
    return HAUL_OK;
}

/* Whether the first of a row was found, and with it another where there are several. */
static bool has_row(haul_copy_curve *curve, const row *of_row)
{
    size_t given = 0;
    for (size_t i = 0; i < of_row->count; i++)
        given += parameter_at(curve, of_row->offsets[i])->value > 0;
    return parameter_at(curve, of_row->offsets[0])->value > 0 &&
           given >= (of_row->count > 1 ? 2 : 1);
}

haul_status hl_measure_staged_note_hidden(const hl_measure_staged *of, const haul_copy_curve *curve,
                                          haul_error *error)
{
    char names[120] = "";
    size_t used = 0;
    haul_machine *machine;
    haul_copy_curve own = *curve;
    HAUL_TRY(hl_measure_staged_machine(of, curve, &machine, error));
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++) {
        bool is_shown = true;
        if (has_row(&own, &rows[i]))
            status = is_row_shown(of, curve, machine, &rows[i], &is_shown, error);
        if (!status && !is_shown && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     rows[i].name);
    }
    haul_machine_free(machine);
    if (!status && used)
        hl_measure_note(of->session, "%s %s: no copy tells %s to within 1 %%",
                        haul_direction_text(of->way.direction), haul_memory_text(of->way.memory),
                        names);
    return status;
}
