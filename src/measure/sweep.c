#include "measure/sweep.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/stats.h"
#include "measure/copies.h"

enum { SIZES = HL_MEASURE_SWEEP_SIZES, SMALLEST = 256 };

/* The error that a line may have though equal copies take equal times, in percent: the clock's
 * rounding. */
static const double exact_tolerance = 0.02;

/* The sizes of a sweep, doubled from SMALLEST, of copies that a driver stages four to each
 * doubling, for their times jump; or those between them. Not of odd bytes, which no program copies:
 * within an H100 they take up to 1.7 times as long. */
static size_t list_sizes(const hl_measure_session *self, hl_measure_way way, bool are_fresh,
                         uint64_t sizes[SIZES])
{
    /* in 64ths, between 1 and 2: whole numbers of words */
    static const uint64_t staged[] = {64, 76, 90, 107}, plain[] = {64}, fresh[] = {96};
    const bool is_staged =
        way.memory == HAUL_MEMORY_PAGEABLE && !haul_device_describe(self->device)->is_host;
    const uint64_t *const parts = are_fresh ? fresh : is_staged ? staged : plain;
    const size_t each = is_staged && !are_fresh ? sizeof staged / sizeof *staged : 1;
    size_t count = 0;
    if (!are_fresh)
        sizes[count++] = 1;
    for (uint64_t bytes = SMALLEST; bytes <= self->options.largest_bytes; bytes *= 2)
        for (size_t i = 0; i < each && count < SIZES; i++)
            if (bytes / 64 * parts[i] <= self->options.largest_bytes)
                sizes[count++] = bytes / 64 * parts[i];
    return count;
}

/* A sweep while it is measured: the swept sizes, and behind them fresh ones. */
typedef struct plan {
    hl_measure_copy_set each[2 * SIZES];
    hl_measure_trial trials[2 * SIZES];
    size_t swept;
    size_t fresh;
} plan;

_Static_assert(2 * SIZES <= HL_MEASURE_TRIALS, "a sweep fits into a set of trials");

/* The tolerance is what the medians themselves may be off: a line is not asked to be better. */
static void take_sweep(const plan *of, hl_measure_sweep *out)
{
    double spreads[SIZES], errors[SIZES];
    out->count = of->swept;
    out->first = of->trials[0].point;
    for (size_t i = 0; i < of->swept; i++) {
        const hl_measure_copy_set *one = &of->each[i];
        const hl_measure_point_measured *point = &of->trials[i].point;
        out->samples[i] = (haul_sample){
            .copy = {one->bytes, one->way.direction, one->way.memory, HAUL_LOCALITY_NEAR},
            .seconds = point->seconds};
        spreads[i] = point->spread;
        errors[i] = hl_measure_median_error(point);
    }
    out->first.spread = hl_base_median(spreads, of->swept);
    out->tolerance = fmax(exact_tolerance, hl_base_median(errors, of->swept));
    out->fresh.count = of->fresh;
    for (size_t i = 0; i < of->fresh; i++) {
        out->fresh.bytes[i] = of->each[of->swept + i].bytes;
        out->fresh.seconds[i] = of->trials[of->swept + i].point.seconds;
        out->fresh.spreads[i] = of->trials[of->swept + i].point.spread;
    }
}

/* Kept for a plot and for what medians vary by; they are predicted when there is a machine. */
static haul_status keep_sizes(hl_measure_session *self, const plan *of, haul_error *error)
{
    haul_measurement *made = &self->made;
    const size_t count = of->swept + of->fresh;
    if (!hl_base_grow(&made->sizes, &self->size_capacity, made->size_count + count,
                      sizeof *made->sizes))
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < count; i++)
        made->sizes[made->size_count++] = (haul_measured_copy){
            .direction = of->each[i].way.direction,
            .memory = of->each[i].way.memory,
            .bytes = of->each[i].bytes,
            .seconds = of->trials[i].point.seconds,
            .spread = of->trials[i].point.spread,
            .drift = of->trials[i].point.drift,
            .is_fresh = i >= of->swept,
        };
    return HAUL_OK;
}

haul_status hl_measure_sweeps(hl_measure_session *session, const hl_measure_way *ways, size_t count,
                              hl_measure_sweep *sweeps, haul_error *error)
{
    hl_measure_trial_set sets[HL_MEASURE_WAYS];
    plan *plans = calloc(count, sizeof *plans);
    if (!plans)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        /* Swept and fresh sizes in one set of turns: the machine is in the same state for both. */
        uint64_t sizes[2 * SIZES];
        plans[i].swept = list_sizes(session, ways[i], false, sizes);
        plans[i].fresh = session->options.verify
                             ? list_sizes(session, ways[i], true, sizes + plans[i].swept)
                             : 0;
        for (size_t k = 0; k < plans[i].swept + plans[i].fresh; k++) {
            plans[i].each[k] = (hl_measure_copy_set){ways[i], sizes[k]};
            plans[i].trials[k].only_verifies = k >= plans[i].swept;
            hl_measure_copies_name(&plans[i].trials[k], k < plans[i].swept ? "" : "fresh",
                                   &plans[i].each[k]);
        }
        sets[i] = (hl_measure_trial_set){plans[i].trials, plans[i].swept + plans[i].fresh, HAUL_OK};
    }
    haul_status status = hl_measure_session_rounds(session, sets, count, error);
    for (size_t i = 0; i < count && !status; i++) {
        sweeps[i].status = sets[i].status;
        if (sets[i].status)
            continue;
        take_sweep(&plans[i], &sweeps[i]);
        status = keep_sizes(session, &plans[i], error);
    }
    free(plans);
    return status;
}
