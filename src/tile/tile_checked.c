/* The checked mode. Each array has a shadow, on which the host runs the queue's loops before they
 * run as chosen, and checks each access. The host's reads are compared with the shadow. Loops that
 * fail a check do not run on the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "tile/tile_calls.h"

/* Functions such as sin and exp are rounded differently on a device, and loops carry that on. */
#define DOUBLE_TOLERANCE 1e-9
#define FLOAT_TOLERANCE 1e-4

/* --- shadows */

/* Before the first loop the host has all of the array, or gets it from the program's memory on the
 * device. */
static haul_status make_shadow(hl_tile_field *field, haul_error *error)
{
    if (field->shadow || !field->host_bytes)
        return HAUL_OK;
    void *shadow = mmap(NULL, field->host_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shadow == MAP_FAILED)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY,
                              "no memory for the checked copy of an array of %llu bytes",
                              (unsigned long long)field->host_bytes);
    field->shadow = shadow;
    field->is_given = true;
    for (int i = 0; i < field->part_count && field->is_wrapped; i++)
        HAUL_TRY(hl_tile_part_fetch(field, i, true, error));
    return HAUL_OK;
}

/* Takes over what the host was given to set since the array's last loop. */
static void take_given(hl_tile_field *field)
{
    for (int i = 0; i < field->part_count; i++) {
        hl_tile_part *part = &field->parts[i];
        const int first = hl_tile_part_begin(field, i), end = hl_tile_part_end(field, i);
        const uint64_t offset = hl_tile_field_offset(field, first);
        if (part->is_given || field->is_given)
            memcpy(field->shadow + offset, field->host + offset,
                   (uint64_t)(end - first) * field->plane_bytes);
        part->is_given = false;
    }
    field->is_given = false;
}

/* The array's memory and its shadow, whose parts are all the host's. */
static void exchange_memory(hl_tile_field *field, hl_tile_part *parts)
{
    char *host = field->host;
    field->host = field->shadow;
    field->shadow = host;
    field->parts_aside = field->parts;
    field->parts = parts;
}

static void leave_shadow(haul_context *context, const haul_context *saved)
{
    for (hl_tile_field *field = context->memory.fields; field; field = field->next) {
        hl_tile_part *parts = field->parts;
        if (!field->parts_aside)
            continue;
        exchange_memory(field, field->parts_aside);
        field->parts_aside = NULL;
        free(parts);
    }
    context->memory.is_host = saved->memory.is_host;
    context->is_checking = false;
    context->plan = saved->plan;
    context->device_options.time_limit_s = saved->device_options.time_limit_s;
    context->counts = saved->counts;
    context->last = saved->last;
}

/* Puts shadows in the arrays' place, and the host in the device's. */
static haul_status enter_shadow(haul_context *context, haul_error *error)
{
    const haul_context saved = *context;
    haul_status status = HAUL_OK;
    context->memory.is_host = context->is_checking = true;
    context->plan = NULL;
    context->device_options.time_limit_s = 0;
    for (hl_tile_field *field = context->memory.fields; field && !status; field = field->next) {
        if (!field->shadow || !field->part_count)
            continue;
        hl_tile_part *parts = calloc((size_t)field->part_count, sizeof *parts);
        if (!parts) {
            status = hl_base_fail_no_memory(error);
            break;
        }
        for (int i = 0; i < field->part_count; i++)
            parts[i].on_host = true;
        exchange_memory(field, parts);
    }
    if (status)
        leave_shadow(context, &saved);
    return status;
}

/* --- the run */

static haul_status run_shadow(haul_context *context, hl_tile_step *steps, haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    memcpy(steps, context->queue.steps, context->queue.count * sizeof *steps);
    if (processes && processes->count > 1)
        return hl_tile_processes_run(context, steps, context->queue.count, error);
    context->is_poisoning = true;
    const haul_status status = hl_tile_steps_run(context, steps, context->queue.count, error);
    context->is_poisoning = false;
    return status;
}

/* A value computed from one that is not known is not known either. */
static void note_unknown_contents(const hl_tile_step *step)
{
    bool is_doubtful = false;
    for (unsigned u = 0; u < step->use_count; u++)
        is_doubtful = is_doubtful || (step->uses[u].reads && step->uses[u].field->is_doubtful);
    for (unsigned u = 0; u < step->use_count && step->source; u++) {
        hl_tile_field *field = step->uses[u].field;
        if (step->uses[u].writes && (is_doubtful || hl_tile_step_overwrites(step, field)))
            field->is_doubtful = is_doubtful;
        field->is_doubtful = field->is_doubtful || step->uses[u].is_last;
    }
}

haul_status hl_tile_checked_run(haul_context *context, haul_error *error)
{
    const size_t count = context->queue.count;
    const haul_context saved = *context;
    if (!context->is_checked || !count)
        return HAUL_OK;
    for (size_t i = 0; i < count; i++)
        for (unsigned u = 0; u < context->queue.steps[i].use_count; u++) {
            hl_tile_field *field = context->queue.steps[i].uses[u].field;
            HAUL_TRY(make_shadow(field, error));
            if (field->shadow)
                take_given(field);
        }
    hl_tile_step *steps = calloc(count, sizeof *steps);
    if (!steps)
        return hl_base_fail_no_memory(error);
    haul_status status = enter_shadow(context, error);
    if (!status) {
        status = run_shadow(context, steps, error);
        leave_shadow(context, &saved);
    }
    free(steps);
    for (size_t i = 0; i < count; i++)
        note_unknown_contents(&context->queue.steps[i]);
    return status;
}

/* --- comparing */

static double number_of(const hl_tile_field *field, const char *cell)
{
    double as_double = 0;
    float as_float;
    if (field->element == sizeof as_double) {
        memcpy(&as_double, cell, sizeof as_double);
        return as_double;
    }
    memcpy(&as_float, cell, sizeof as_float);
    return as_float;
}

static bool has_numbers(const hl_tile_field *field)
{
    return field->element_kind == HAUL_ELEMENT_FLOATING &&
           (field->element == sizeof(double) || field->element == sizeof(float));
}

/* Equal but for rounding; `largest` of the row, for differences of cells that nearly cancel. */
static bool is_near(const hl_tile_field *field, const char *one, const char *other, double largest)
{
    if (!memcmp(one, other, field->element))
        return true;
    if (!has_numbers(field))
        return false;
    const double a = number_of(field, one), b = number_of(field, other);
    const double tolerance = field->element == sizeof(double) ? DOUBLE_TOLERANCE : FLOAT_TOLERANCE;
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * largest;
}

/* Rows that differ in their rounding alone are taken over, so that differences do not grow. */
static haul_status compare_row(hl_tile_field *field, const int from[3], int cells,
                               haul_error *error)
{
    char *got = hl_tile_field_cell(field, from), *expected = field->shadow + (got - field->host);
    double largest = 0;
    if (!memcmp(got, expected, (size_t)cells * field->element))
        return HAUL_OK;
    for (int x = 0; x < cells && has_numbers(field); x++)
        largest = fmax(largest, fabs(number_of(field, expected + (uint64_t)x * field->element)));
    for (int x = 0; x < cells; x++) {
        const uint64_t offset = (uint64_t)x * field->element;
        if (!is_near(field, got + offset, expected + offset, largest)) {
            int at[3] = {from[0], from[1], from[2]};
            at[0] += x;
            at[field->dims - 1] += field->first;
            char values[96] = "";
            if (has_numbers(field))
                snprintf(values, sizeof values, ": it is %.9g, not %.9g",
                         number_of(field, got + offset), number_of(field, expected + offset));
            /* the program's own kernels may be wrong; else haul is */
            const bool is_given = hl_tile_kernel_is_given(&field->context->kernels, NULL);
            return haul_error_set(
                error, is_given ? HAUL_STATUS_USAGE : HAUL_STATUS_INTERNAL,
                "cell (%d, %d, %d) of an array of %d planes differs from what the same "
                "loops give one after another on the host%s%s",
                at[0], at[1], at[2], field->length, values,
                is_given ? "; kernels that the program compiled are used" : "");
        }
    }
    memcpy(expected, got, (size_t)cells * field->element);
    return HAUL_OK;
}

haul_status hl_tile_checked_compare(hl_tile_field *field, int part, haul_error *error)
{
    const int first = hl_tile_part_begin(field, part), end = hl_tile_part_end(field, part);
    const int last = end < field->length ? end : field->length;
    const int rows = field->dims == 3 ? field->size[1] : 1;
    haul_status status = HAUL_OK;
    if (!field->shadow || field->is_doubtful || field->is_given || field->parts[part].is_given)
        return HAUL_OK;
    if (field->dims == 1)
        return compare_row(field, (int[3]){first < 0 ? 0 : first}, last - (first < 0 ? 0 : first),
                           error);
    for (int plane = first < 0 ? 0 : first; plane < last && !status; plane++)
        for (int y = 0; y < rows && !status; y++) {
            const int at[3] = {0, field->dims == 3 ? y : plane, plane};
            status = compare_row(field, at, field->size[0], error);
        }
    return status;
}
