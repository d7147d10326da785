/* How far off a second measurement may be: from how the rounds of this one differ, and from how far
 * its medians lie from the curve that was made of them. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"
#include "haul/cost.h"
#include "haul/device_backend.h"
#include "measure/session.h"

/* Student's t: a further value lies within so many deviations of four others' mean in 95 of 100
 * cases. */
static const double drifts_wide = 3.18;

/* A machine whose rounds differ by more, in percent, is not quiet. */
static const double restless = 10;

/* The sizes of one kind of copies on one side: those that are mostly latency, or mostly bytes. */
typedef struct side {
    double *drifts;
    double *misfits;
    size_t count;
} side;

static void gather_errors(const haul_measurement *made, const haul_copy_curve *curve, bool is_small,
                          side *out)
{
    out->count = 0;
    for (size_t i = 0; i < made->size_count; i++) {
        const haul_measured_copy *size = &made->sizes[i];
        if (size->direction != curve->direction || size->memory != curve->memory ||
            !(size->predicted_s > 0) || !(size->seconds > 0) ||
            (2 * curve->latency_s.value > size->predicted_s) != is_small)
            continue;
        out->drifts[out->count] = size->drift / 100;
        out->misfits[out->count++] = fabs(log(size->predicted_s / size->seconds));
    }
}

/* Rounds that are seconds apart do not show a load that goes, or comes, later. A device of the
 * host's own cores, of which others took a share, may be as much faster once they have ended, and
 * slower when as many more come. */
static double load_share(const hl_measure_session *session)
{
    const haul_device_properties *device = haul_device_describe(session->device);
    return device->is_host && !device->is_simulated
               ? hl_base_load_share(hl_base_load_others(&session->load))
               : 0;
}

/* As a share: 0.1 is from 1/1.1 to 1.1 times. */
static haul_parameter uncertainty_of(const side *of, double least)
{
    hl_base_sort_doubles(of->drifts, of->count);
    hl_base_sort_doubles(of->misfits, of->count);
    const double drift = hl_base_quantile_sorted(of->drifts, of->count, 0.9);
    const double misfit = hl_base_quantile_sorted(of->misfits, of->count, 0.9);
    const double share = expm1(hypot(drifts_wide * drift, misfit));
    const bool is_busy = share < least;
    return (haul_parameter){round(1e4 * fmax(share, least)) / 1e4, HAUL_PROVENANCE_MEASURED,
                            is_busy ? "haul measure: the share of the cores that others took"
                                    : "haul measure: of rounds apart in time, and of the curve"};
}

haul_status hl_measure_find_uncertainty(hl_measure_session *session, haul_error *error)
{
    const haul_measurement *made = &session->made;
    if (!made->size_count)
        return HAUL_OK;
    side room = {malloc(made->size_count * sizeof(double)),
                 malloc(made->size_count * sizeof(double)), 0};
    const bool has_room = room.drifts && room.misfits;
    const double least = load_share(session);
    for (size_t i = 0; i < session->curve_count && has_room; i++) {
        gather_errors(made, &session->curves[i], true, &room);
        if (room.count)
            session->curves[i].latency_uncertainty = uncertainty_of(&room, least);
        gather_errors(made, &session->curves[i], false, &room);
        if (room.count)
            session->curves[i].rate_uncertainty = uncertainty_of(&room, least);
    }
    free(room.drifts);
    free(room.misfits);
    return has_room ? HAUL_OK : hl_base_fail_no_memory(error);
}

haul_status hl_measure_note_load(hl_measure_session *session, haul_error *error)
{
    const haul_measurement *made = &session->made;
    if (haul_device_describe(session->device)->is_simulated || !made->size_count)
        return HAUL_OK;
    double *room = malloc(made->size_count * sizeof *room);
    if (!room)
        return hl_base_fail_no_memory(error);
    /* The median over all sizes: one that differs is the size's, and not the machine's. */
    for (size_t i = 0; i < made->size_count; i++)
        room[i] = made->sizes[i].drift;
    const double drift = made->size_count ? hl_base_median(room, made->size_count) : 0;
    free(room);
    const double others = hl_base_load_others(&session->load);
    const bool is_restless = drift > restless;
    if (others >= HL_BASE_LOAD_BUSY)
        hl_measure_note(session,
                        "the machine was busy: other programs took %.1f cores meanwhile, and "
                        "medians of rounds differ by %.0f %%%s",
                        others, drift,
                        session->options.time_limit_s > 0
                            ? ""
                            : "; --time-limit waits for a quieter moment and measures for longer");
    else if (is_restless)
        hl_measure_note(session,
                        "medians of rounds differ by %.0f %%, though no other program was busy: "
                        "clocks, or other guests of the machine",
                        drift);
    return HAUL_OK;
}
