/* The queue of loops, and the blocks of them that one pass runs. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "tile/tile_parts.h"

/* Values are aligned as any type needs. */
static size_t rounded(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

bool haul_step_uses(const haul_step *step, const haul_field *field)
{
    for (unsigned i = 0; i < step->use_count; i++)
        if (step->uses[i].field == field)
            return true;
    return false;
}

bool haul_step_touches(const haul_step *step, const haul_field_use *use, int halo, int part)
{
    const int lo = step->box.lo[step->outer], hi = step->box.hi[step->outer];
    return !haul_is_along(step, use) || (lo < hi && haul_part_begin(use->field, part) < hi + halo &&
                                         haul_part_end(use->field, part) > lo - halo);
}

/* False also where the cells beyond the edges were written as data: the step does not set those. */
bool haul_step_overwrites(const haul_step *step, const haul_field *field)
{
    bool is_written = false;
    for (unsigned i = 0; i < step->use_count; i++) {
        const haul_field_use *use = &step->uses[i];
        if (use->field == field && (use->reads || use->reduction))
            return use->reduction;
        is_written = is_written || use->field == field;
    }
    if (!is_written || !step->source || (int)step->source->dimensions != field->dims ||
        field->ghosts_written)
        return false;
    for (int d = 0; d < field->dims; d++)
        if (step->box.lo[d] > 0 || step->box.hi[d] < field->size[d])
            return false;
    return true;
}

static bool is_single(const haul_field *field)
{
    return field->dims == 1 && field->size[0] == 1 && !field->ghost[0];
}

static haul_field_use use_of(const haul_kernel_parameter *parameter, haul_field *field)
{
    const haul_access access = parameter->access;
    if (access > HAUL_ACCESS_SHARED)
        return (haul_field_use){
            .field = field, .writes = true, .reduction = access, .number = parameter->halo};
    return (haul_field_use){
        .field = field,
        .reads = access != HAUL_ACCESS_OUT,
        .writes = access != HAUL_ACCESS_IN,
        .halo = parameter->halo,
    };
}

/* An array's parameter is called name_data, as its view is name_view. */
static int name_length(const haul_kernel_parameter *parameter)
{
    const bool is_array = parameter->halo >= 0 && parameter->access < HAUL_ACCESS_SHARED;
    const char *end = is_array ? strrchr(parameter->name, '_') : NULL;
    return end ? (int)(end - parameter->name) : (int)strlen(parameter->name);
}

/* Fields and values from the arguments of a loop. */
static haul_status read_arguments(haul_step *step, const void *const *arguments, size_t count,
                                  haul_error *error)
{
    const haul_kernel_source *source = step->source;
    size_t given = 0, at = 0;
    for (unsigned i = 0; i < source->parameter_count - source->reduces; i++) {
        const haul_kernel_parameter *parameter = &source->parameters[i];
        const bool is_field = parameter->halo >= 0;
        if (parameter->access == HAUL_ACCESS_SHARED ||
            (!is_field && parameter->access != HAUL_ACCESS_VALUE))
            return haul_fail(error, HAUL_USAGE,
                             "'%s' of kernel '%s' is no array of tiles nor a value",
                             parameter->name, source->name);
        if (given >= count || !arguments[given])
            return haul_fail(error, HAUL_USAGE, "kernel '%s' needs an argument for '%.*s'",
                             source->name, name_length(parameter), parameter->name);
        if (!is_field) {
            if (at + rounded(parameter->bytes) > sizeof step->values)
                return haul_fail(error, HAUL_USAGE, "kernel '%s' has more than %d bytes of values",
                                 source->name, HAUL_VALUE_BYTES);
            memcpy(step->values + at, arguments[given++], parameter->bytes);
            at += rounded(parameter->bytes);
            continue;
        }
        haul_field *field = ((const haul_array *)arguments[given++])->field;
        if (field->element != parameter->bytes)
            return haul_fail(error, HAUL_USAGE,
                             "'%.*s' of kernel '%s' has elements of %u bytes, not %llu",
                             name_length(parameter), parameter->name, source->name,
                             parameter->bytes, (unsigned long long)field->element);
        if (parameter->access > HAUL_ACCESS_SHARED && !is_single(field))
            return haul_fail(error, HAUL_USAGE, "'%s' of kernel '%s' is an array of one element",
                             parameter->name, source->name);
        step->uses[step->use_count++] = use_of(parameter, field);
        i++; /* its view or place */
    }
    if (given != count)
        return haul_fail(error, HAUL_USAGE, "kernel '%s' has %zu arguments, not %zu", source->name,
                         given, count);
    return HAUL_OK;
}

static bool can_lead(const haul_step *step, const haul_field_use *use)
{
    return !use->reduction && use->field->dims > step->outer;
}

/* Of the array of all processes. */
static int whole_size(const haul_field *field, int d)
{
    return d == field->dims - 1 ? field->whole : field->size[d];
}

/* Finds the array that the loop goes along with: the first that it writes, else the first. An array
 * that is written may not be given twice: regions would be read while they change. */
static haul_status check_uses(const haul_context *context, haul_step *step, bool has_box,
                              haul_error *error)
{
    const haul_field *along = NULL;
    for (unsigned i = 0; i < step->use_count; i++) {
        const haul_field_use *use = &step->uses[i];
        if (use->field->context != context)
            return haul_fail(error, HAUL_USAGE, "an array of another context");
        for (unsigned j = 0; j < i; j++)
            if (step->uses[j].field == use->field && (use->writes || step->uses[j].writes))
                return haul_fail(error, HAUL_USAGE,
                                 "kernel '%s' writes an array that it is given twice",
                                 step->source->name);
        if (use->writes && can_lead(step, use) && !along)
            along = use->field;
    }
    for (unsigned i = 0; i < step->use_count && !along; i++)
        along = can_lead(step, &step->uses[i]) ? step->uses[i].field : NULL;
    if (!along)
        return haul_fail(error, HAUL_USAGE, "kernel '%s' has no array of its %u dimensions",
                         step->source->name, step->source->dimensions);
    step->length = along->length;
    step->first = along->first;
    step->whole = along->whole;
    const int more = along->dims - (int)step->source->dimensions;
    for (int d = 0; d < (int)step->source->dimensions && !has_box; d++)
        step->box.hi[d] = d + more >= 0 ? whole_size(along, d + more) : 1;
    return haul_step_check_shares(step, error);
}

/* What a kernel reads and writes lies within the arrays that the loop goes along with. */
static haul_status check_box(const haul_step *step, haul_error *error)
{
    for (unsigned i = 0; i < step->use_count; i++) {
        const haul_field_use *use = &step->uses[i];
        const haul_field *field = use->field;
        if (!haul_is_along(step, use) || field->dims != (int)step->source->dimensions)
            continue;
        for (int d = 0; d < field->dims; d++) {
            const int halo = use->halo, ghost = field->ghost[d];
            const int lo = step->box.lo[d], hi = step->box.hi[d];
            if (lo < hi && ((int64_t)lo - halo < -ghost ||
                            (int64_t)hi + halo > (int64_t)whole_size(field, d) + ghost))
                return haul_fail(error, HAUL_USAGE,
                                 "kernel '%s' uses cells %lld to %lld of an array with %d, and %d "
                                 "beyond each edge",
                                 step->source->name, (long long)lo - halo, (long long)hi + halo - 1,
                                 whole_size(field, d), ghost);
        }
    }
    return HAUL_OK;
}

static bool is_empty(const haul_step *step)
{
    for (unsigned d = 0; d < step->source->dimensions; d++)
        if (step->box.lo[d] >= step->box.hi[d])
            return true;
    return false;
}

/* Writes with a halo are left out: their cells may lie in the other loop's box. */
static bool is_same_loop(const haul_step *a, const haul_step *b)
{
    if (!a->source || !b->source || a->source->reduces || a->source != b->source ||
        a->on_host != b->on_host || a->use_count != b->use_count || a->length != b->length ||
        memcmp(a->values, b->values, sizeof a->values) != 0)
        return false;
    for (unsigned i = 0; i < a->use_count; i++)
        if (a->uses[i].field != b->uses[i].field || (a->uses[i].writes && a->uses[i].halo))
            return false;
    return true;
}

/* A loop that goes on where the one before it ends is part of it, if no cell can tell: so loops
 * over tiles become one. */
static bool join(haul_step *self, const haul_step *next)
{
    int differs = -1;
    if (!is_same_loop(self, next))
        return false;
    for (int d = 0; d < 3; d++)
        if (self->box.lo[d] != next->box.lo[d] || self->box.hi[d] != next->box.hi[d]) {
            if (differs >= 0)
                return false;
            differs = d;
        }
    if (differs < 0 || self->box.hi[differs] != next->box.lo[differs])
        return false;
    self->box.hi[differs] = next->box.hi[differs];
    return true;
}

static haul_status push(haul_context *self, const haul_step *step, haul_error *error)
{
    if (!haul_grow(&self->steps, &self->step_capacity, self->step_count + 1, sizeof *self->steps))
        return haul_fail_no_memory(error);
    self->steps[self->step_count++] = *step;
    return HAUL_OK;
}

/* The user's kernel over the cells beyond each face: later faces take the corners. */
static haul_status push_faces(haul_context *self, haul_field *field, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int d = 0; d < field->dims && !status; d++)
        for (int side = 0; side < 2 && field->ghost[d] && !status; side++) {
            const bool is_inner = /* another process's planes are there */
                d + 1 == field->dims &&
                (side ? field->first + field->length < field->whole : field->first > 0);
            haul_step step = {
                .source = field->boundary_kernel,
                .use_count = 1,
                .uses = {{field, true, true, field->boundary_kernel->parameters[0].halo}},
                .outer = field->dims - 1,
                .length = field->length,
                .first = field->first,
                .whole = field->whole,
            };
            for (int e = 0; e < field->dims; e++) {
                const int more = e < d ? field->ghost[e] : 0;
                step.box.lo[e] = -more;
                step.box.hi[e] = field->size[e] + more;
            }
            step.box.lo[d] = side ? field->size[d] : -field->ghost[d];
            step.box.hi[d] = side ? field->size[d] + field->ghost[d] : 0;
            field->ghosts_written = true;
            if (!is_inner)
                status = push(self, &step, error);
        }
    return status;
}

/* Cells with fixed values need no step: they keep them. */
static haul_status push_ghosts(haul_context *self, haul_field *field, haul_error *error)
{
    bool is_set = field->boundary_kernel != NULL;
    for (int d = 0; d < field->dims; d++)
        is_set = is_set || (field->ghost[d] && field->boundary[d] != HAUL_BOUNDARY_FIXED);
    field->ghosts_stale = false;
    if (!is_set)
        return HAUL_OK;
    if (field->boundary_kernel)
        return push_faces(self, field, error);
    const haul_step step = {
        .use_count = 1,
        .uses = {{field, true, true, 0}},
        .box = {{0}, {field->size[0], field->size[1], field->size[2]}},
        .outer = field->dims - 1,
        .length = field->length,
        .first = field->first,
        .whole = field->whole,
    };
    return push(self, &step, error);
}

static haul_status push_exchange(haul_context *self, haul_field *field, haul_error *error)
{
    const haul_step step = {.use_count = 1, .uses = {{.field = field}}, .is_exchange = true};
    return push(self, &step, error);
}

/* Cells that the step reads around those of its box: first all that this process sets. */
static haul_status push_edges(haul_context *self, const haul_step *step, haul_error *error)
{
    bool is_stale[HAUL_USES] = {false};
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < step->use_count && !status; i++) {
        haul_field *field = step->uses[i].field;
        is_stale[i] = step->uses[i].reads && step->uses[i].halo && field->ghosts_stale;
        if (is_stale[i])
            status = push_ghosts(self, field, error);
    }
    for (unsigned i = 0; i < step->use_count && !status; i++) {
        haul_field *field = step->uses[i].field;
        if (is_stale[i] && haul_is_divided(field) && field->edge)
            status = push_exchange(self, field, error);
    }
    return status;
}

/* What is written has other cells beyond its edges from now on, or they are written themselves. */
static void note_writes(const haul_step *step)
{
    for (unsigned i = 0; i < step->use_count; i++) {
        haul_field *field = step->uses[i].field;
        if (!step->uses[i].writes)
            continue;
        field->is_discarded = false;
        if (step->uses[i].reduction)
            continue;
        field->ghosts_stale = true;
        for (int d = 0; d < field->dims && field->dims == step->outer + 1; d++)
            if (step->box.lo[d] < 0 || step->box.hi[d] > whole_size(field, d))
                field->ghosts_written = true;
    }
}

/* Queues the loop, and before it the setting of edges that it reads and that are stale: programs
 * need not say so. The queue is run when it is full. */
haul_status haul_loop(haul_context *context, const haul_kernel_source *kernel,
                      const void *const *arguments, size_t count, const haul_loop_options *options,
                      haul_error *error)
{
    haul_step step = {.source = kernel, .outer = (int)kernel->dimensions - 1};
    if (options) {
        step.box = options->box ? *options->box : step.box;
        step.flops = options->flops;
        step.on_host = options->on_host;
    }
    if (!kernel->dimensions || (kernel->group[0] && !kernel->reduces))
        return haul_fail(error, HAUL_USAGE, "kernel '%s' is no loop", kernel->name);
    haul_status status = read_arguments(&step, arguments, count, error);
    if (!status)
        status = check_uses(context, &step, options && options->box, error);
    if (!status)
        status = check_box(&step, error);
    const bool is_divided = step.length != step.whole;
    if (status || (is_empty(&step) && !is_divided))
        return status ? status : haul_rows_none(&step, error);
    status = push_edges(context, &step, error);
    if (status)
        return status;
    context->counts.loops++;
    note_writes(&step);
    haul_step_localise(&step);
    if (is_empty(&step) && !kernel->reduces)
        return HAUL_OK;
    status = push(context, &step, error);
    while (!status && context->step_count > 1 &&
           join(&context->steps[context->step_count - 2], &context->steps[context->step_count - 1]))
        context->step_count--;
    if (!status && context->step_count >= HAUL_STEPS_QUEUED)
        status = haul_queue_run(context, error);
    return status;
}

/* Runs of steps on one side go together, as blocks are made within them. */
haul_status haul_steps_run(haul_context *context, haul_step *steps, size_t count, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t done = 0;
    while (!status && done < count) {
        const bool on_host = context->is_host || steps[done].on_host;
        size_t end = done + 1;
        while (end < count && (context->is_host || steps[end].on_host == on_host))
            end++;
        status = on_host ? haul_host_run(context, steps + done, end - done, error)
                         : haul_device_run(context, steps + done, end - done, error);
        done = end;
    }
    return status;
}

/* After an error the queue is empty as well: what is left would compute on lost data. */
haul_status haul_queue_run(haul_context *context, haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    if (!context->step_count)
        return HAUL_OK;
    haul_status status = haul_fields_divide(context, error);
    if (!status)
        status = processes && processes->count > 1
                     ? haul_processes_run(context, context->steps, context->step_count, error)
                     : haul_steps_run(context, context->steps, context->step_count, error);
    context->step_count = 0;
    return status;
}

static haul_block_field *find(haul_block *block, const haul_field *field)
{
    for (unsigned i = 0; i < block->field_count; i++)
        if (block->fields[i].field == field)
            return &block->fields[i];
    return NULL;
}

/* Setting cells from the opposite edge joins the two ends of a pass. */
static bool is_far(const haul_step *step, bool in_host_rows)
{
    const haul_field *field = step->uses[0].field;
    if (step->source)
        return false;
    const int outer = field->dims - 1;
    const bool planes = field->ghost[outer] && field->boundary[outer] == HAUL_BOUNDARY_PERIODIC;
    return planes || (in_host_rows && outer > 0 && field->ghost[outer - 1] &&
                      field->boundary[outer - 1] == HAUL_BOUNDARY_PERIODIC);
}

/* The least skew at which the step may follow those of the block: a plane that it reads, up to its
 * halo, has been written, and a plane that it writes is no longer read. -1: it may not. */
static int skew_of(haul_block *block, const haul_step *step, bool in_host_rows)
{
    int skew = 0;
    for (unsigned i = 0; i < step->use_count; i++) {
        const haul_field_use *use = &step->uses[i];
        haul_block_field *before = find(block, use->field);
        bool is_aligned = haul_is_along(step, use);
        if (in_host_rows)
            is_aligned = is_aligned && use->field->dims == step->outer + 1;
        int least = use->halo;
        if (before && (before->write_skew >= 0 || use->writes)) {
            if (!is_aligned || !before->is_aligned)
                return -1;
            if (before->write_skew >= 0 && before->write_skew + use->halo > least)
                least = before->write_skew + use->halo;
            if (use->writes && before->read_skew > least)
                least = before->read_skew;
        }
        skew = is_aligned && least > skew ? least : skew;
    }
    return skew;
}

/* Notes what the steps after this one must stay behind: planes written so far, and planes still
 * read. */
static void add_use(haul_block *block, const haul_step *step, const haul_field_use *use,
                    bool in_host_rows)
{
    haul_block_field *field = find(block, use->field);
    if (!field) {
        field = &block->fields[block->field_count++];
        *field = (haul_block_field){
            .field = use->field,
            .is_aligned =
                haul_is_along(step, use) && (!in_host_rows || use->field->dims == step->outer + 1),
            .is_fresh = haul_step_overwrites(step, use->field),
            .write_skew = -1,
            .read_skew = -1,
        };
    }
    if (use->writes && step->skew > field->write_skew)
        field->write_skew = step->skew;
    if (use->reads && step->skew + use->halo > field->read_skew)
        field->read_skew = step->skew + use->halo;
    field->is_written = field->is_written || use->writes;
    if (step->skew + use->halo > block->reach && field->is_aligned)
        block->reach = step->skew + use->halo;
}

bool haul_step_wraps(const haul_step *step)
{
    bool is_one = step->box.lo[step->outer] >= 0 && step->box.hi[step->outer] <= step->length;
    for (unsigned u = 0; u < step->use_count; u++) {
        const haul_field_use *use = &step->uses[u];
        const haul_field *field = use->field;
        const bool is_inner = step->source && !use->halo;
        if (haul_is_along(step, use))
            is_one = is_one && !field->ghosts_written && field->dims == step->outer + 1 &&
                     (is_inner || field->boundary[step->outer] == HAUL_BOUNDARY_PERIODIC);
    }
    return is_one;
}

/* Whether the step can join the block. A block of its own may reach further than asked: the caller
 * says that there is no room. */
static bool takes(haul_block *block, haul_step *step, const haul_block_limits *limits)
{
    const bool in_host_rows = limits->in_host_rows;
    const haul_step *last = block->count ? &block->steps[block->count - 1] : step;
    if (step->length != block->length || step->outer != last->outer)
        return false;
    if (in_host_rows && !step->outer && block->count) /* no rows to cut into tiles */
        return false;
    if (limits->wraps ? !haul_step_wraps(step)
                      : last != step && (is_far(step, in_host_rows) || is_far(last, in_host_rows)))
        return false;
    if (block->field_count + step->use_count > HAUL_BLOCK_FIELDS)
        return false;
    const int skew = skew_of(block, step, in_host_rows);
    int halo = 0;
    for (unsigned i = 0; i < step->use_count; i++)
        halo = step->uses[i].halo > halo ? step->uses[i].halo : halo;
    if (skew < 0 || (block->count && skew + halo > limits->reach))
        return false;
    step->skew = skew;
    return true;
}

/* Looks past the block's end for each field: one that is overwritten next, or discarded, is dead
 * and is not copied back. */
void haul_block_take(haul_block *block, haul_step *steps, size_t count,
                     const haul_block_limits *limits)
{
    *block = (haul_block){
        .steps = steps, .length = steps[0].length, .wraps = limits->wraps, .host_from = INT32_MAX};
    while (block->count < count && block->loops < limits->steps &&
           takes(block, &steps[block->count], limits)) {
        haul_step *step = &steps[block->count++];
        block->loops += haul_loops_of(step);
        for (unsigned i = 0; i < step->use_count; i++)
            add_use(block, step, &step->uses[i], limits->in_host_rows);
    }
    for (unsigned i = 0; i < block->field_count; i++) {
        haul_block_field *field = &block->fields[i];
        field->is_dead = field->field->is_discarded;
        for (size_t s = block->count; s < count; s++)
            if (haul_step_uses(&steps[s], field->field)) {
                field->is_dead = haul_step_overwrites(&steps[s], field->field);
                break;
            }
    }
}

const haul_field *haul_block_along(const haul_block *block)
{
    const haul_field *along = block->fields[0].field;
    for (unsigned i = 1; i < block->field_count; i++)
        along = block->fields[i].is_aligned ? block->fields[i].field : along;
    return along;
}
