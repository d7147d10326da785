/* The self-check asks the weakest question: are the copies that the model was fitted to predicted?
 * Beside its error stands the spread of equal copies, below which no model of size alone can go. */
#include "project/self_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "project/score.h"
#include "project/staging.h"

/* Sums over some classes of copies. */
typedef struct tally {
    hl_project_scorer scorer;
    double spread_ns; /* sum |t - median of its class| */
    double time_ns;
} tally;

typedef struct checker {
    const hl_project_self_check_inputs *in;
    haul_self_check made;
    double *scratch; /* of the largest class */
    tally all;
    tally group;
} checker;

/* The least error that any model of direction, memory and size could reach. */
static double spread_ns(const checker *self, const hl_project_size_class *one)
{
    const double median_ns =
        hl_project_size_class_median_ns(self->in->workload, self->in->classes, one, self->scratch);
    double sum_ns = 0;
    for (uint32_t i = 0; i < one->count; i++)
        sum_ns += fabs(self->scratch[i] - median_ns);
    return sum_ns;
}

/* A copy that meets contention takes its predicted time by the speed that is left. */
static haul_status add_class(checker *self, const hl_project_size_class *one, haul_error *error)
{
    const hl_project_self_check_inputs *in = self->in;
    const haul_copy copy = hl_project_size_class_copy(one);
    haul_estimate alone;
    double predicted_s = 0;
    haul_status status = HAUL_STATUS_MISSING;
    if (!one->impossible) {
        status = haul_copy_time(in->recording, in->model, &copy, &alone, error);
        if (status == HAUL_STATUS_MISSING)
            status = haul_copy_time(in->recording, NULL, &copy, &alone, error);
    }
    if (status == HAUL_STATUS_MISSING) {
        self->made.unpredicted += one->count;
        return HAUL_OK;
    }
    if (status)
        return status;
    if (in->staged_ns)
        alone.seconds *=
            hl_project_staging_device_share(one, in->staged_ns[one - in->classes->items], &alone);
    self->group.spread_ns += spread_ns(self, one);
    self->group.time_ns += one->time_ns;
    for (uint32_t k = 0; k < one->count; k++) {
        const uint32_t op = in->classes->ops[one->first + k];
        const double time_s = 1e-9 * (double)in->workload->ops[op].dur_ns;
        const double with_s = alone.seconds / hl_project_contention_speed(in->contention, one, op);
        if (!hl_project_scorer_add(&self->all.scorer, time_s, with_s) ||
            !hl_project_scorer_add(&self->group.scorer, time_s, with_s))
            return hl_base_fail_no_memory(error);
        predicted_s += with_s;
    }
    self->made.pairs[self->made.pair_count++] =
        (haul_copy_pair){.direction = copy.direction,
                         .memory = copy.memory,
                         .bytes = one->bytes,
                         .count = one->count,
                         .measured_s = 1e-9 * one->time_ns / one->count,
                         .predicted_s = predicted_s / one->count};
    return HAUL_OK;
}

/* Frees the tally's list, so that it can be used again. */
static haul_self_check_score finish_tally(tally *total)
{
    const haul_score score = hl_project_scorer_finish(&total->scorer);
    hl_project_scorer_release(&total->scorer);
    return (haul_self_check_score){.score = score,
                                   .noise_floor = 100 * total->spread_ns / fmax(total->time_ns, 1),
                                   .wape_without_contention = score.wape};
}

static haul_status check_groups(checker *self, haul_error *error)
{
    const hl_project_size_classes *classes = self->in->classes;
    haul_status status = HAUL_OK;
    for (size_t c = 0; !status && c < classes->count;) {
        const hl_project_class_range range = hl_project_size_group(classes, c);
        for (self->group = (tally){0}; !status && c < range.end; c++)
            status = add_class(self, &classes->items[c], error);
        self->all.spread_ns += self->group.spread_ns;
        self->all.time_ns += self->group.time_ns;
        haul_self_check_row *row = &self->made.rows[self->made.row_count++];
        const hl_project_size_class *first = &self->in->classes->items[range.begin];
        const haul_direction direction = (haul_direction)first->direction;
        const haul_memory memory = (haul_memory)first->memory;
        const haul_copy_curve *curve =
            haul_machine_curve(self->in->recording, direction, memory, HAUL_LOCALITY_NEAR);
        *row =
            (haul_self_check_row){.direction = direction,
                                  .memory = memory,
                                  .contended = self->in->contention->contended[direction][memory],
                                  .busy_speed = 1 - self->in->contention->loss[direction][memory],
                                  .points = curve ? curve->points_from.value : 0};
        row->of = finish_tally(&self->group);
    }
    self->made.of = finish_tally(&self->all);
    return status;
}

/* Errors are kept for each direction and memory and for all: two scorers are fed at once. */
haul_status hl_project_self_check_run(const hl_project_self_check_inputs *inputs,
                                      hl_base_arena *arena, haul_self_check *check,
                                      haul_error *error)
{
    const size_t most = inputs->classes->count + 1; /* and at most as many groups */
    checker self = {
        .in = inputs,
        .made = {.rows = hl_base_arena_alloc(arena, most * sizeof *self.made.rows),
                 .pairs = hl_base_arena_alloc(arena, most * sizeof *self.made.pairs)},
        .scratch = malloc((hl_project_size_largest(inputs->classes) + 1) * sizeof *self.scratch),
    };
    const haul_status status = self.made.rows && self.made.pairs && self.scratch
                                   ? check_groups(&self, error)
                                   : hl_base_fail_no_memory(error);
    free(self.scratch);
    if (!status)
        *check = self.made;
    return status;
}
