#include "project/self_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "project/score.h"

/* Sums over some classes of copies. */
typedef struct tally {
    haul_copy_pair *pairs; /* NULL: not wanted */
    size_t pair_count;
    haul_scorer scorer;
    double spread_ns; /* sum |t - median of its class| */
    double time_ns;
    uint64_t unpredicted;
} tally;

static double spread_of(const haul_self_check_inputs *in, const haul_size_class_key *alike_class,
                        double *scratch)
{
    const double median = haul_size_class_median_ns(in->workload, in->alike, alike_class, scratch);
    double sum = 0;
    for (uint32_t i = 0; i < alike_class->count; i++)
        sum += fabs(scratch[i] - median);
    return sum;
}

static void add_pair(tally *total, const haul_size_class_key *alike_class, double priced_s)
{
    if (total->pairs)
        total->pairs[total->pair_count++] =
            (haul_copy_pair){.direction = (haul_direction)alike_class->direction,
                             .memory = (haul_memory)alike_class->memory,
                             .bytes = alike_class->bytes,
                             .count = alike_class->count,
                             .measured_s = 1e-9 * alike_class->time_ns / alike_class->count,
                             .predicted_s = priced_s / alike_class->count};
}

static bool add_copies(const haul_self_check_inputs *in, const haul_size_class_key *alike_class,
                       double price_s, tally *total)
{
    double priced_s = 0;
    for (uint32_t k = 0; k < alike_class->count; k++) {
        const uint32_t op = in->alike->ops[alike_class->first + k];
        const double time_ns = (double)in->workload->ops[op].dur_ns;
        const double speed = haul_contention_speed(in->collisions, alike_class, op);
        if (!haul_scorer_add(&total->scorer, 1e-9 * time_ns, price_s / speed))
            return false;
        priced_s += price_s / speed;
    }
    add_pair(total, alike_class, priced_s);
    return true;
}

static haul_status add_class(const haul_self_check_inputs *in,
                             const haul_size_class_key *alike_class, double *scratch, tally *total,
                             haul_error *error)
{
    const haul_copy copy = {alike_class->bytes, (haul_direction)alike_class->direction,
                            (haul_memory)alike_class->memory, HAUL_NEAR};
    haul_estimate price;
    haul_status status = haul_copy_time(in->recording, in->model, &copy, &price, error);
    if (status == HAUL_MISSING)
        status = haul_copy_time(in->recording, NULL, &copy, &price, error);
    if (status == HAUL_MISSING) {
        total->unpredicted += alike_class->count;
        return HAUL_OK;
    }
    if (status)
        return status;
    total->spread_ns += spread_of(in, alike_class, scratch);
    total->time_ns += alike_class->time_ns;
    return add_copies(in, alike_class, price.seconds, total) ? HAUL_OK : haul_fail_no_memory(error);
}

static haul_self_check_score finish(tally *total)
{
    const haul_score score = haul_scorer_finish(&total->scorer);
    return (haul_self_check_score){.score = score,
                                   .noise_floor = 100 * total->spread_ns / fmax(total->time_ns, 1),
                                   .wape_without_contention = score.wape};
}

/* Scores into *score what is tallied in *total, which begins without sums. */
static haul_status score_classes(const haul_self_check_inputs *in, haul_class_range range,
                                 haul_self_check_score *score, tally *total, haul_error *error)
{
    double *scratch = malloc((haul_size_class_largest(in->alike) + 1) * sizeof *scratch);
    if (!scratch)
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (size_t c = range.begin; !status && c < range.end; c++)
        status = add_class(in, &in->alike->classes[c], scratch, total, error);
    if (!status)
        *score = finish(total);
    haul_scorer_release(&total->scorer);
    free(scratch);
    return status;
}

static haul_self_check_row describe_group(const haul_self_check_inputs *in, size_t begin)
{
    const haul_size_class_key *first = &in->alike->classes[begin];
    const haul_direction direction = (haul_direction)first->direction;
    const haul_memory memory = (haul_memory)first->memory;
    const haul_copy_curve *curve = haul_machine_curve(in->recording, direction, memory, HAUL_NEAR);
    return (haul_self_check_row){.direction = direction,
                                 .memory = memory,
                                 .contended = in->collisions->contended[direction][memory],
                                 .busy_speed = 1 - in->collisions->loss[direction][memory],
                                 .points = curve ? curve->points_from.value : 0};
}

static size_t count_groups(const haul_size_class *alike)
{
    size_t groups = 0;
    for (size_t c = 0; c < alike->class_count; c = haul_size_class_group(alike, c).end)
        groups++;
    return groups;
}

haul_status haul_self_check_run(const haul_self_check_inputs *inputs, haul_arena *arena,
                                haul_self_check *identity, haul_error *error)
{
    const haul_size_class *alike = inputs->alike;
    haul_self_check made = {
        .rows = haul_arena_alloc(arena, (count_groups(alike) + 1) * sizeof *made.rows),
        .pairs = haul_arena_alloc(arena, (alike->class_count + 1) * sizeof *made.pairs)};
    if (!made.rows || !made.pairs)
        return haul_fail_no_memory(error);
    const haul_class_range everything = {0, alike->class_count};
    tally all = {.pairs = made.pairs};
    haul_status status = score_classes(inputs, everything, &made.of, &all, error);
    made.unpredicted = all.unpredicted;
    made.pair_count = all.pair_count;
    for (haul_class_range range = {0}; !status && range.end < alike->class_count;) {
        range = haul_size_class_group(alike, range.end);
        haul_self_check_row *row = &made.rows[made.row_count++];
        tally some = {0};
        *row = describe_group(inputs, range.begin);
        status = score_classes(inputs, range, &row->of, &some, error);
    }
    if (!status)
        *identity = made;
    return status;
}
