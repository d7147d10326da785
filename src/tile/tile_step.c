/* Loops as steps: their arguments, what they use, and whether that is in their arrays. */
#include <string.h>

#include "tile/tile_queue.h"

/* --- what a step uses */

bool hl_tile_step_uses(const hl_tile_step *step, const hl_tile_field *field)
{
    for (unsigned i = 0; i < step->use_count; i++)
        if (step->uses[i].field == field)
            return true;
    return false;
}

bool hl_tile_step_touches(const hl_tile_step *step, const hl_tile_field_use *use, int halo,
                          int part)
{
    const int lo = step->box.lo[step->outer], hi = step->box.hi[step->outer];
    return !hl_tile_is_along(step, use) ||
           (lo < hi && hl_tile_part_begin(use->field, part) < hi + halo &&
            hl_tile_part_end(use->field, part) > lo - halo);
}

/* False also where the cells beyond the edges were written as data: the step does not set those. */
bool hl_tile_step_overwrites(const hl_tile_step *step, const hl_tile_field *field)
{
    bool is_written = false;
    for (unsigned i = 0; i < step->use_count; i++) {
        const hl_tile_field_use *use = &step->uses[i];
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

bool hl_tile_step_is_empty(const hl_tile_step *step)
{
    for (unsigned d = 0; d < step->source->dimensions; d++)
        if (step->box.lo[d] >= step->box.hi[d])
            return true;
    return false;
}

/* The first and the last process have what is beyond the array's edges. */
void hl_tile_step_localise(hl_tile_step *step, int margin)
{
    int *lo = &step->box.lo[step->outer], *hi = &step->box.hi[step->outer];
    if (step->length == step->whole)
        return;
    *lo -= step->first;
    *hi -= step->first;
    if (*lo < -margin && step->first)
        *lo = -margin;
    if (*hi > step->length + margin && step->first + step->length < step->whole)
        *hi = step->length + margin;
    if (*lo > *hi)
        *lo = *hi;
}

/* --- checks: what passes here needs no check while it runs */

/* An array's parameter is called name_data, as its view is name_view. */
static int name_length(const haul_kernel_parameter *parameter)
{
    const bool is_array = parameter->halo >= 0 && parameter->access < HAUL_ACCESS_SHARED;
    const char *end = is_array ? strrchr(parameter->name, '_') : NULL;
    return end ? (int)(end - parameter->name) : (int)strlen(parameter->name);
}

/* A loop of fewer dimensions goes over the array's last ones; an array of fewer is read anywhere,
 * as are arrays of one cell and those that the kernel says it reads all of. */
static haul_status check_cells(const hl_tile_step *step, const hl_tile_field_use *use,
                               haul_error *error)
{
    const hl_tile_field *field = use->field;
    const int dims = step->outer + 1, more = field->dims - dims;
    for (int d = 0; d < field->dims && use->is_all && use->writes; d++)
        if (!hl_tile_field_size(field, d))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "kernel '%s' adds to an array without cells", step->source->name);
    if (more < 0 || use->is_all || use->reduction ||
        (hl_tile_field_is_single(field) && !use->writes))
        return HAUL_OK;
    for (int d = 0; d < dims; d++) {
        const int lo = step->box.lo[d], hi = step->box.hi[d];
        const int64_t first = (int64_t)lo - use->halo, end = (int64_t)hi + use->halo;
        const int size = hl_tile_field_size(field, d + more), ghost = field->ghost[d + more];
        if (lo < hi && (first < -ghost || end > (int64_t)size + ghost))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "kernel '%s' uses cells %lld to %lld of an array with %d, and %d "
                                  "beyond each edge%s",
                                  step->source->name, (long long)first, (long long)end - 1, size,
                                  ghost,
                                  hl_tile_is_along(step, use) || use->writes
                                      ? ""
                                      : "; HAUL_ALL declares an array that is read anywhere");
    }
    return HAUL_OK;
}

static haul_status check_box(const hl_tile_step *step, haul_error *error)
{
    for (int d = 0; d <= step->outer; d++)
        if (step->box.lo[d] >= step->box.hi[d])
            return HAUL_OK; /* it uses no cell */
    for (unsigned i = 0; i < step->use_count; i++)
        HAUL_TRY(check_cells(step, &step->uses[i], error));
    return HAUL_OK;
}

/* Elements of one size are not of one kind. The first kernel that uses an array says what its
 * elements are, where the program has not. */
static haul_status check_element(const haul_kernel_source *source,
                                 const haul_kernel_parameter *parameter, const hl_tile_field *field,
                                 haul_error *error)
{
    static const char *const kinds[] = {"any", "floating-point numbers", "integers", "structs"};
    if (field->element_kind == HAUL_ELEMENT_ANY || parameter->element == HAUL_ELEMENT_ANY ||
        field->element_kind == parameter->element)
        return HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "'%.*s' of kernel '%s' has %s, but its array has %s",
                          name_length(parameter), parameter->name, source->name,
                          kinds[parameter->element], kinds[field->element_kind]);
}

haul_status hl_tile_step_check_shares(const hl_tile_step *step, haul_error *error)
{
    const bool is_divided = step->length != step->whole;
    for (unsigned i = 0; i < step->use_count; i++) {
        const hl_tile_field_use *use = &step->uses[i];
        const int ghost = use->field->ghost[use->field->dims - 1];
        if (is_divided && use->halo > ghost && hl_tile_is_along(step, use))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "kernel '%s' reads %d planes around its own of an array that is "
                                  "divided over processes, and has %d beyond its edges",
                                  step->source->name, use->halo, ghost);
        if (hl_tile_is_along(step, use) || use->reduction)
            continue;
        if (hl_tile_is_divided(use->field) || (is_divided && use->writes))
            return haul_error_set(
                error, HAUL_STATUS_USAGE,
                "kernel '%s' uses an array of %d planes beside one of %d: one of them "
                "is divided over the processes",
                step->source->name, use->field->whole, step->whole);
    }
    return HAUL_OK;
}

/* --- making a step */

static hl_tile_field_use use_of(const haul_kernel_parameter *parameter, hl_tile_field *field)
{
    const haul_access access = parameter->access;
    if (access > HAUL_ACCESS_SHARED)
        return (hl_tile_field_use){
            .field = field, .writes = true, .reduction = access, .number = parameter->halo};
    const bool is_all = parameter->halo == HAUL_HALO_ALL;
    return (hl_tile_field_use){
        .field = field,
        .reads = access != HAUL_ACCESS_OUT,
        .writes = access != HAUL_ACCESS_IN,
        .is_all = is_all,
        .halo = is_all ? 0 : parameter->halo,
    };
}

/* Fields and values from the arguments of a loop. */
static haul_status read_arguments(hl_tile_step *step, const void *const *arguments, size_t count,
                                  haul_error *error)
{
    const haul_kernel_source *source = step->source;
    size_t given = 0, at = 0;
    for (unsigned i = 0; i < source->parameter_count - source->reduces; i++) {
        const haul_kernel_parameter *parameter = &source->parameters[i];
        const bool is_field = parameter->halo >= 0;
        if (parameter->access == HAUL_ACCESS_SHARED ||
            (!is_field && parameter->access != HAUL_ACCESS_VALUE))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "'%s' of kernel '%s' is no array of tiles nor a value",
                                  parameter->name, source->name);
        if (given >= count || !arguments[given])
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "kernel '%s' needs an argument for '%.*s'", source->name,
                                  name_length(parameter), parameter->name);
        if (!is_field) {
            if (at + hl_tile_value_bytes(parameter) > sizeof step->values)
                return haul_error_set(error, HAUL_STATUS_USAGE,
                                      "kernel '%s' has more than %d bytes of values", source->name,
                                      HL_TILE_VALUE_BYTES);
            memcpy(step->values + at, arguments[given++], parameter->bytes);
            at += hl_tile_value_bytes(parameter);
            continue;
        }
        hl_tile_field *field = ((const haul_array *)arguments[given++])->field;
        if (field->element != parameter->bytes)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "'%.*s' of kernel '%s' has elements of %u bytes, not %llu",
                                  name_length(parameter), parameter->name, source->name,
                                  parameter->bytes, (unsigned long long)field->element);
        if (parameter->access > HAUL_ACCESS_SHARED && !hl_tile_field_is_single(field))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "'%s' of kernel '%s' is an array of one element", parameter->name,
                                  source->name);
        if (parameter->access < HAUL_ACCESS_SHARED)
            HAUL_TRY(check_element(source, parameter, field, error));
        const hl_tile_field_use use = use_of(parameter, field);
        if (use.is_all && use.writes && parameter->element == HAUL_ELEMENT_FLOATING)
            step->on_host = step->is_ordered = true; /* sums depend on the order */
        step->uses[step->use_count++] = use;
        i++; /* its view or place */
    }
    if (given != count)
        return haul_error_set(error, HAUL_STATUS_USAGE, "kernel '%s' has %zu arguments, not %zu",
                              source->name, given, count);
    return HAUL_OK;
}

static bool can_lead(const hl_tile_step *step, const hl_tile_field_use *use)
{
    return !use->reduction && !use->is_all && use->field->dims > step->outer;
}

/* Whether one of the uses before number `i` is of the same array, and either writes it. */
static bool is_written_twice(const hl_tile_step *step, unsigned i)
{
    const hl_tile_field_use *use = &step->uses[i];
    for (unsigned j = 0; j < i; j++)
        if (step->uses[j].field == use->field && (use->writes || step->uses[j].writes))
            return true;
    return false;
}

/* Finds the array that the loop goes along with: the first that it writes, else the first. An array
 * that is written may not be given twice: regions would be read while they change. */
static haul_status check_uses(const haul_context *context, hl_tile_step *step, bool has_box,
                              haul_error *error)
{
    const hl_tile_field *along = NULL;
    for (unsigned i = 0; i < step->use_count; i++) {
        hl_tile_field_use *use = &step->uses[i];
        if (use->field->context != context)
            return haul_error_set(error, HAUL_STATUS_USAGE, "an array of another context");
        for (unsigned j = 0; j < step->use_count; j++) /* it is there as a whole for both */
            use->is_all =
                use->is_all || (step->uses[j].field == use->field && step->uses[j].is_all);
        if (is_written_twice(step, i))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "kernel '%s' writes an array that it is given twice",
                                  step->source->name);
        if (use->writes && can_lead(step, use) && !along)
            along = use->field;
    }
    for (unsigned i = 0; i < step->use_count && !along; i++)
        along = can_lead(step, &step->uses[i]) ? step->uses[i].field : NULL;
    if (!along)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "kernel '%s' has no array of its %u dimensions", step->source->name,
                              step->source->dimensions);
    step->length = along->length;
    step->first = along->first;
    step->whole = along->whole;
    const int more = along->dims - (int)step->source->dimensions;
    for (int d = 0; d < (int)step->source->dimensions && !has_box; d++)
        step->box.hi[d] = d + more >= 0 ? hl_tile_field_size(along, d + more) : 1;
    return HAUL_OK;
}

/* Whether regions of the array are those that the loop goes over, on however many processes. */
static bool shares_regions(const hl_tile_step *step, const hl_tile_field_use *use)
{
    return can_lead(step, use) && use->field->whole == step->whole;
}

/* A pass brings the arrays of a loop region by region: they have regions of one size. */
static haul_status check_regions(hl_tile_step *step, haul_error *error)
{
    int asked = 0;
    bool is_open = false;
    for (unsigned i = 0; i < step->use_count; i++) {
        const int region = hl_tile_region_asked(step->uses[i].field, step->whole);
        if (!shares_regions(step, &step->uses[i]))
            continue;
        is_open = is_open || !region;
        if (asked && region && region != asked)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "kernel '%s' uses arrays of %d planes with regions of %d and of "
                                  "%d: they are to be the same",
                                  step->source->name, step->whole, asked, region);
        asked = region ? region : asked;
    }
    step->region_asked = is_open ? asked : 0;
    return HAUL_OK;
}

void hl_tile_step_ask_region(const hl_tile_step *step)
{
    for (unsigned i = 0; i < step->use_count && step->region_asked; i++) {
        hl_tile_field *field = step->uses[i].field;
        if (!shares_regions(step, &step->uses[i]))
            continue;
        if (field->is_relayed && !field->region_aside)
            field->region_aside = step->region_asked;
        if (field->region_asked)
            continue;
        field->region_asked = step->region_asked;
        field->region = field->parts ? field->region : step->region_asked;
    }
}

haul_status hl_tile_types_check(const hl_tile_asked_loop *loop, haul_error *error)
{
    static const char *const kinds[] = {"a value", "a floating-point number", "an integer",
                                        "a struct"};
    const haul_argument_type *type = loop->options ? loop->options->types : NULL;
    const haul_kernel_source *source = loop->kernel;
    const unsigned parameters = source->parameter_count - source->reduces;
    size_t given = 0;
    for (unsigned i = 0; i < parameters && type && given < loop->count; i++, type++, given++) {
        const haul_kernel_parameter *parameter = &source->parameters[i];
        const bool is_array = parameter->halo >= 0;
        const bool is_known = type->is_array || type->bytes;
        const bool is_alike =
            type->bytes == parameter->bytes &&
            (!type->element || !parameter->element || type->element == parameter->element);
        if (is_known && is_array != type->is_array)
            return haul_error_set(
                error, HAUL_STATUS_USAGE, "'%.*s' of kernel '%s' is %s, the argument %s",
                name_length(parameter), parameter->name, source->name,
                is_array ? "an array" : "a value", is_array ? "none" : "an array");
        if (is_known && !is_array && !is_alike)
            return haul_error_set(
                error, HAUL_STATUS_USAGE,
                "'%s' of kernel '%s' takes %s of %u bytes, but the argument is %s of %zu",
                parameter->name, source->name, kinds[parameter->element], parameter->bytes,
                kinds[type->element], type->bytes);
        i += is_array; /* its view or place */
    }
    return HAUL_OK;
}

haul_status hl_tile_step_make(hl_tile_step *step, const haul_context *context,
                              const hl_tile_asked_loop *loop, haul_error *error)
{
    const haul_loop_options *options = loop->options;
    *step = (hl_tile_step){
        .source = loop->kernel, .outer = (int)loop->kernel->dimensions - 1, .is_own = loop->is_own};
    if (options) {
        step->box = options->box ? *options->box : step->box;
        step->flops = options->flops;
        step->on_host = options->on_host;
    }
    HAUL_TRY(read_arguments(step, loop->arguments, loop->count, error));
    HAUL_TRY(check_uses(context, step, options && options->box, error));
    HAUL_TRY(check_box(step, error));
    HAUL_TRY(check_regions(step, error));
    for (int d = step->outer + 1; d < 3; d++) { /* dimensions that the kernel does not have */
        step->box.lo[d] = 0;
        step->box.hi[d] = 1;
    }
    return HAUL_OK;
}
