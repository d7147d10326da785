/* The model's choices. Of the device's memory, thin regions leave more for the planes between
 * the front and the last step, so that more steps run in a pass; but they take more launches.
 * Several loops are one launch where the steps go back and forth, u to v, v to u, u to v: it reads
 * u and writes v, and keeps the cells between on chip. For that the second result of u must be of
 * no use: the next loop that uses u overwrites it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/device_backend.h"
#include "tile/tile_choice.h"

/* --- loops a launch */

/* Whether the step sets the array's cells of the box and reads none. */
static bool sets_box(const hl_tile_step *step, const hl_tile_field *field, const haul_box *box)
{
    bool is_set = false;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        if (use->field == field && (use->reads || use->reduction || use->is_all))
            return false;
        is_set = is_set || use->field == field;
    }
    for (int d = 0; d <= step->outer; d++)
        is_set = is_set && step->box.lo[d] <= box->lo[d] && step->box.hi[d] >= box->hi[d];
    return is_set && step->source && field->dims == step->outer + 1;
}

/* Whether the cells around the box that the step reads are the array's own, which others do not
 * set meanwhile, or those that its boundary has there, which is no kernel of the program. */
static bool has_edges(const hl_tile_step *step, const hl_tile_field *field)
{
    const int halo = step->uses[0].halo;
    bool has = !field->boundary_kernel && !field->ghosts_written && !hl_tile_is_divided(field);
    for (int d = 0; d <= step->outer; d++) {
        const int lo = step->box.lo[d], beyond = field->size[d] - step->box.hi[d];
        has = has && lo >= 0 && beyond >= 0 &&
              ((!lo && !beyond) || (lo >= halo && beyond >= halo) ||
               field->boundary[d] == HAUL_BOUNDARY_FIXED);
    }
    return has;
}

/* A step that reads one array and sets another of its kind; others are read beside them. */
static bool is_stencil(const hl_tile_step *step)
{
    const hl_tile_field_use *in = &step->uses[0], *out = &step->uses[1];
    for (unsigned u = 2; u < step->use_count; u++)
        if (step->uses[u].field == in->field || step->uses[u].writes)
            return false;
    if (!step->source || !step->source->fused || !in->reads || in->writes || !in->halo ||
        in->field->dims != out->field->dims || !out->writes || !hl_tile_is_along(step, in) ||
        !sets_box(step, out->field, &step->box))
        return false;
    for (int d = 0; d < in->field->dims; d++)
        if (in->field->size[d] != out->field->size[d] ||
            in->field->boundary[d] != out->field->boundary[d])
            return false;
    return has_edges(step, in->field) && has_edges(step, out->field);
}

static bool is_of_edges(const hl_tile_step *step)
{
    return !step->source && !step->is_exchange;
}

/* Whether the step is the same loop in the other direction, or, where `is_back` is false, in the
 * same. */
static bool is_same_loop(const hl_tile_step *a, const hl_tile_step *b, bool is_back)
{
    bool is_same =
        a->source == b->source && a->flops == b->flops &&
        a->uses[0].field == b->uses[is_back].field && a->uses[1].field == b->uses[!is_back].field &&
        !memcmp(&a->box, &b->box, sizeof a->box) && !memcmp(a->values, b->values, sizeof a->values);
    for (unsigned u = 2; u < a->use_count && is_same; u++)
        is_same = a->uses[u].field == b->uses[u].field;
    return is_same;
}

/* The first steps that are `loops` of one loop back and forth, with what sets the edges between
 * them; 0 where there are none, or a result but the last is of use. */
static size_t count_fused(const hl_tile_step *steps, size_t count, unsigned loops)
{
    hl_tile_field *const ends[2] = {steps->uses[0].field, steps->uses[1].field};
    size_t end = 0;
    if (count < loops || !is_stencil(steps))
        return 0;
    for (unsigned i = 0; i < loops; end++) {
        const hl_tile_step *step = &steps[end];
        if (end == count)
            return 0;
        if (is_of_edges(step) && step->uses[0].field == ends[i % 2])
            continue;
        if (!is_same_loop(step, steps, i++ % 2) || !is_stencil(step))
            return 0;
    }
    if (steps[end - 1].uses[0].is_last)
        return end;
    for (size_t i = end; i < count; i++)
        if (hl_tile_step_uses(&steps[i], ends[0]))
            return sets_box(&steps[i], ends[0], &steps->box) ? end : 0;
    return 0;
}

/* Steps that set edges, the last of `count`. */
static size_t count_edges(const hl_tile_step *steps, size_t count)
{
    size_t edges = 0;
    while (edges < count && is_of_edges(&steps[count - 1 - edges]))
        edges++;
    return edges;
}

/* Fused steps set the edges of the array that they begin with. Returns how many steps are left. */
static size_t drop_edges(hl_tile_step *steps, size_t count, const hl_tile_field *field)
{
    size_t to = count - count_edges(steps, count);
    for (size_t at = to; at < count; at++)
        if (steps[at].uses[0].field != field)
            steps[to++] = steps[at];
    return to;
}

int hl_tile_step_region(const hl_tile_step *step)
{
    for (unsigned i = 0; i < step->use_count; i++)
        if (hl_tile_is_along(step, &step->uses[i]))
            return step->uses[i].field->region;
    return 1;
}

size_t hl_tile_fuse(hl_tile_choice *choice, hl_tile_step *steps, size_t count,
                    hl_tile_fusing fusing)
{
    size_t to = 0;
    for (size_t at = 0; at < count; to++) {
        const size_t taken =
            fusing.loops > 1 ? count_fused(steps + at, count - at, fusing.loops) : 0;
        const size_t loops = to - count_edges(steps, to);
        hl_tile_step step = steps[at];
        const hl_tile_fusing one = {fusing.loops,
                                    fusing.region ? fusing.region : hl_tile_step_region(&step)};
        const bool is_one =
            taken && hl_tile_fused_make(choice, &step, loops ? &steps[loops - 1] : NULL, one);
        if (is_one)
            to = drop_edges(steps, to, step.uses[0].field);
        at += is_one ? taken : 1;
        for (unsigned i = 0; is_one && i < step.use_count; i++)
            step.uses[i].is_last = steps[at - 1].uses[i].is_last;
        steps[to] = step;
    }
    return to;
}

static hl_tile_pass_time predict_fused(hl_tile_choice *choice, hl_tile_step *steps, size_t count,
                                       unsigned fused, int region)
{
    if (fused == 1)
        return hl_tile_predict(choice, steps, count, region);
    hl_tile_pass_time time = {.total_s = INFINITY};
    hl_tile_step *copy = malloc(count * sizeof *copy);
    if (copy) {
        if (count)
            memcpy(copy, steps, count * sizeof *copy);
        const size_t left = hl_tile_fuse(choice, copy, count, (hl_tile_fusing){fused, region});
        if (left < count)
            time = hl_tile_predict(choice, copy, left, region);
    }
    free(copy);
    return time;
}

/* Where the program chose, that unless nothing fits. */
static unsigned choose_fused(hl_tile_choice *choice, hl_tile_step *steps, size_t count, int region,
                             hl_tile_pass_time *time)
{
    const haul_context_options *options = choice->options;
    unsigned best = 1;
    *time = (hl_tile_pass_time){.total_s = INFINITY};
    for (unsigned i = 0; i < HL_TILE_FUSED_CHOICES; i++) {
        const unsigned fused = 1 + 2 * i;
        choice->fused_s[i] = INFINITY;
        if (fused > 1 && (options->host_share > 0 || (options->fused && options->fused != fused) ||
                          (options->steps && options->steps < fused)))
            continue;
        const hl_tile_pass_time one = predict_fused(choice, steps, count, fused, region);
        const bool is_told = options->fused == fused && isfinite(one.total_s);
        choice->fused_s[i] = one.total_s;
        if (one.total_s < time->total_s || is_told) {
            *time = one;
            best = fused;
        }
    }
    return best;
}

unsigned hl_tile_fused_choose(hl_tile_choice *choice, hl_tile_step *steps, size_t count)
{
    hl_tile_pass_time time;
    bool can = false;
    for (size_t i = 0; i + 2 < count && !can; i++)
        can = count_fused(steps + i, count - i, 3);
    if (!can)
        return 1;
    choice->has_chosen_fused = true;
    return choose_fused(choice, steps, count, hl_tile_step_region(steps), &time);
}

/* --- regions */

int hl_tile_region_choose(hl_tile_choice *self, hl_tile_step *steps, size_t count)
{
    int longest = 1, given = 0;
    hl_tile_pass_time best = {.total_s = INFINITY};
    for (const hl_tile_field *field = self->memory->fields; field; field = field->next) {
        if (!field->region_asked)
            longest = field->length > longest ? field->length : longest;
        else if (field->length > 1)
            given = field->region;
    }
    const int first = longest == 1 && given ? given : 1;
    longest = longest > first ? longest : first;
    /* a fifth larger each time: the time changes slowly with the size, and few sizes are tried */
    for (int region = first; region <= longest; region += 1 + region / 5) {
        hl_tile_pass_time time;
        (void)choose_fused(self, steps, count, region, &time);
        if (time.total_s < best.total_s)
            best = time;
    }
    self->predicted = best;
    return best.region;
}

/* --- columns: rows are cut as well, where planes are too large */

/* Planes of an array that a block needs on the device at once. */
static int planes_needed(const hl_tile_block *block, const hl_tile_field *field)
{
    const int lag = (block->reach + field->region - 1) / field->region;
    return (lag + 3) * field->region + 2 * field->edge;
}

bool hl_tile_needs_columns(hl_tile_step *step)
{
    hl_tile_block block;
    if (step->outer != 2)
        return false;
    hl_tile_block_take(&block, step, 1, &(hl_tile_block_limits){.steps = 1, .reach = INT32_MAX});
    bool is_tight = false;
    for (unsigned i = 0; i < block.field_count; i++) {
        const hl_tile_field *field = block.fields[i].field;
        if (!block.fields[i].is_aligned)
            continue;
        if (field->dims != 3)
            return false;
        is_tight = is_tight || (!hl_tile_field_is_all_there(field) &&
                                field->planes < planes_needed(&block, field));
    }
    return is_tight;
}

/* Rows beside a column that are on the device with it: those that its steps reach into, and, as
 * loops over edges reach into none, those beyond the edges. */
int hl_tile_column_margin(const hl_tile_block *block, const hl_tile_field *field)
{
    return block->reach > field->ghost[1] ? block->reach : field->ghost[1];
}

/* Rows of a column, beside its margins; 0 or less: they do not fit. */
static int column_rows(const hl_tile_block *block)
{
    int64_t rows = INT32_MAX / 2;
    for (unsigned i = 0; i < block->field_count; i++) {
        const hl_tile_field *field = block->fields[i].field;
        if (!block->fields[i].is_aligned)
            continue;
        /* Rows that fit the array's device memory in so many planes, with those beyond the edges.
         */
        const uint64_t room =
            haul_buffer_bytes(field->ring) / field->element / (uint64_t)planes_needed(block, field);
        const int64_t fit = ((int64_t)room - field->gap) / field->row -
                            2 * (int64_t)hl_tile_column_margin(block, field);
        const bool has_lead =
            haul_buffer_bytes(field->ring) > (uint64_t)field->lead * field->element;
        rows = !has_lead ? 0 : fit < rows ? fit : rows;
    }
    return (int)rows;
}

/* Cells beyond the edges are set on the host, where the arrays are between columns. Results of
 * reductions, and arrays that are read anywhere, are on the device as a whole. */
static bool is_plain(const hl_tile_step *step)
{
    bool is_one = step->source;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        const bool is_whole =
            hl_tile_field_is_all_there(use->field) && (use->reduction || !use->writes);
        is_one = is_one && (hl_tile_is_along(step, use) ? use->field->dims == 3 : is_whole);
    }
    return is_one;
}

static bool sets_results_alone(const hl_tile_step *step)
{
    bool is_one = step->source->reduces;
    for (unsigned u = 0; u < step->use_count; u++)
        is_one = is_one && (step->uses[u].reduction || !step->uses[u].writes);
    return is_one;
}

/* As many steps as leave a column four times the rows that they reach into, as columns are copied
 * with those, and the reductions behind them. A first step that is not plain makes no block, nor do
 * reductions alone: between columns the host has what they read. */
int hl_tile_columns_choose(const hl_tile_choice *choice, hl_tile_step *steps, size_t count,
                           hl_tile_block *block)
{
    size_t plain = 0, loops = 0;
    int rows;
    *block = (hl_tile_block){.count = 0};
    for (; plain < count && is_plain(&steps[plain]); plain++)
        loops += hl_tile_loops_of(&steps[plain]);
    if (!plain)
        return 0;
    const size_t asked = choice->options->steps ? choice->options->steps : loops;
    const size_t loops_most = asked < loops ? asked : loops;
    size_t steps_most = loops_most;
    do {
        const hl_tile_block_limits limits = {steps_most, INT32_MAX, .in_host_rows = true};
        hl_tile_block_take(block, steps, count, &limits);
        const size_t last = hl_tile_loops_of(&steps[block->count - 1]);
        loops = block->loops;
        steps_most = loops / 2 < loops - last ? loops / 2 : loops - last;
        rows = column_rows(block);
    } while (rows < 4 * block->reach && steps_most);
    for (size_t end = block->count; end < plain && loops < loops_most; end = block->count) {
        hl_tile_block more;
        const hl_tile_block_limits limits = {++loops, INT32_MAX, .in_host_rows = true};
        if (!sets_results_alone(&steps[end]))
            break;
        hl_tile_block_take(&more, steps, count, &limits);
        if (more.count == end || column_rows(&more) < rows)
            break;
        *block = more;
    }
    bool is_one = false;
    for (size_t i = 0; i < block->count; i++)
        is_one = is_one || !sets_results_alone(&steps[i]);
    block->count = is_one ? block->count : 0;
    return rows;
}

/* --- the host's share */

/* The host's share of the work where both end at once: the model's at first. None where the device
 * leaves the host's threads no core. A simulated host takes no time, so that no share of it would
 * be right. */
static double share_of(const hl_tile_choice *self, const hl_tile_block *block)
{
    const haul_device_properties *device = haul_device_describe(self->memory->device);
    const hl_tile_pass_time *pass = &self->predicted;
    if (self->options->host_share)
        return self->options->host_share;
    if (device->is_simulated || self->is_share_bad ||
        (device->is_host && (long)device->multiprocessors >= sysconf(_SC_NPROCESSORS_ONLN)))
        return 0;
    if (self->host_share > 0)
        return self->host_share;
    double bytes = 0;
    for (size_t i = 0; i < block->count; i++)
        bytes += hl_tile_step_bytes(&block->steps[i]);
    const double host_s = bytes / HL_TILE_HOST_BPS;
    const double device_s = pass->passes ? pass->total_s / (double)pass->passes : 0;
    return device_s / (host_s + device_s);
}

/* Regions for the host, of a block that can be shared. */
int hl_tile_host_parts(const hl_tile_choice *self, const hl_tile_block *block)
{
    const hl_tile_field *along = hl_tile_block_along(block);
    bool is_tight = self->options->host_share > 0;
    for (unsigned i = 0; i < block->field_count; i++) {
        const hl_tile_block_field *of = &block->fields[i];
        if (!of->is_aligned && of->is_written && !of->is_result)
            return 0;
        is_tight = is_tight || !hl_tile_field_is_all_there(block->fields[i].field);
    }
    for (size_t i = 0; i < block->count; i++) {
        /* A periodic edge joins the two sides, and fused steps are the device's. */
        const hl_tile_field *field = block->steps[i].uses[0].field;
        if (!(block->steps[i].source
                  ? !block->steps[i].fused.steps
                  : field->boundary[block->steps[i].outer] != HAUL_BOUNDARY_PERIODIC))
            return 0;
    }
    if (!is_tight || block->wraps)
        return 0;
    const int parts = (int)(share_of(self, block) * along->part_count);
    return parts < along->part_count ? parts : along->part_count - 1;
}

void hl_tile_share_correct(hl_tile_choice *choice, int host_parts, int parts, double host_s,
                           double device_s)
{
    if (device_s <= 0 || host_s <= 0)
        return;
    const double host = host_parts / host_s, device = (parts - host_parts) / device_s;
    const double last = (double)host_parts / parts;
    choice->host_share = (last + host / (host + device)) / 2;
    choice->is_share_bad = choice->host_share * parts < 1;
}
