/* Arrays over several devices: each has a run of the planes, or, of arrays that loops read anywhere
 * and of small ones, all of them. Which of both follows from the loops, so that programs need not
 * say it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tile/tile_calls.h"
#include "tile/tile_relay.h"

/* Whether each device has planes, and those that it gives its neighbours. */
static bool has_planes_for_all(const hl_tile_team *team, int planes, int edge)
{
    const hl_tile_memory *memory = &hl_tile_team_context(team, 0)->memory;
    for (int rank = 0; rank < hl_tile_team_count(team); rank++)
        if (hl_tile_share_first(memory, planes, rank + 1) -
                hl_tile_share_first(memory, planes, rank) <
            (edge ? edge : 1))
            return false;
    return true;
}

/* A boundary's kernel that reads neighbours would read planes of another device's. */
bool hl_tile_array_can_divide(const haul_array *array)
{
    const haul_array_spec *spec = &array->spec;
    const int *size = spec->size, outer = size[2] ? 2 : size[1] ? 1 : 0;
    const haul_kernel_source *edges = spec->boundary_kernel;
    const bool is_cell = size[0] == 1 && size[1] < 2 && size[2] < 2;
    return !spec->on_all && !is_cell && !(edges && edges->parameters[0].halo) &&
           has_planes_for_all(array->context->team, size[outer], spec->ghost[outer]);
}

/* A job: all of the array is in the host's memory, and no stream uses that. */
static haul_status bring_home(haul_context *context, int rank, void *state, haul_error *error)
{
    const haul_array *array = state;
    const hl_tile_streams *streams = &context->streams;
    haul_stream *const all[] = {streams->up, streams->run, streams->down, streams->home};
    HAUL_TRY(hl_tile_queue_run(context, error));
    if (array->of[rank]->field->planes_stale)
        HAUL_TRY(hl_tile_planes_wrap(array->of[rank]->field, error));
    for (int i = 0; array->of[rank]->field->parts && i < array->of[rank]->field->part_count; i++)
        if (array->of[rank]->field->parts[i].on_device || !array->of[rank]->field->parts[i].on_host)
            HAUL_TRY(hl_tile_part_fetch(array->of[rank]->field, i, true, error));
    for (int i = 0; i < 4 && all[i]; i++)
        HAUL_TRY(hl_tile_host_wait(context, all[i], error));
    return HAUL_OK;
}

/* From all that have a part, or from the first, which has all. */
static void copy_cells(haul_array *array, hl_tile_field *to)
{
    const int count = array->on_all ? 1 : hl_tile_team_count(array->context->team);
    for (int rank = 0; rank < count; rank++) {
        const hl_tile_field *from = array->of[rank]->field;
        int first = rank ? from->first : -from->edge, end = from->first + from->length;
        end += rank + 1 == count ? from->edge : 0;
        const int to_first = to->first - to->edge, to_end = to->first + to->length + to->edge;
        first = first > to_first ? first : to_first;
        end = end < to_end ? end : to_end;
        if (first < end && from->host_bytes && !to->memory->without_data) {
            /* The planes of one that the other has too. */
            memcpy(to->host + hl_tile_field_offset(to, first - to->first),
                   from->host + hl_tile_field_offset(from, first - from->first),
                   (uint64_t)(end - first) * to->plane_bytes);
        }
    }
}

/* Needs: all is home. Nothing changes on a failure. */
static haul_status make_anew(haul_array *array, const haul_array_spec *spec, bool is_relayed,
                             haul_error *error)
{
    const int count = hl_tile_team_count(array->context->team);
    haul_status status = HAUL_OK;
    hl_tile_field **made = calloc((size_t)count, sizeof(hl_tile_field *));
    if (!made)
        return hl_base_fail_no_memory(error);
    for (int rank = 0; rank < count; rank++)
        array->of[rank]->context->memory.exchange_steps = array->exchange_steps;
    for (int rank = 0; rank < count && !status; rank++) {
        haul_context *context = array->of[rank]->context;
        context->memory.lender = is_relayed && rank ? made[0] : NULL;
        status = hl_tile_field_new(context, &context->memory, spec, &made[rank], error);
        context->memory.lender = NULL;
        if (!status) {
            if (!array->is_blank && !made[rank]->is_borrowed)
                copy_cells(array, made[rank]);
            made[rank]->is_relayed = is_relayed;
            made[rank]->region_aside = hl_tile_region_of_program(array->of[rank]->field);
            made[rank]->ghosts_stale = array->is_blank || array->of[rank]->field->ghosts_stale;
            made[rank]->ghosts_written = array->of[rank]->field->ghosts_written;
            made[rank]->element_kind = array->of[rank]->field->element_kind;
            memcpy(made[rank]->name, array->of[rank]->field->name, sizeof made[rank]->name);
            made[rank]->is_doubtful = array->of[rank]->field->is_doubtful;
            made[rank]->is_discarded = array->of[rank]->field->is_discarded;
            made[rank]->failure = array->of[rank]->field->failure;
            made[rank]->is_given = true;
        }
    }
    for (int rank = 0; rank < count; rank++) {
        haul_array *one = array->of[rank];
        hl_tile_field *old = status ? made[rank] : one->field;
        one->field = status ? one->field : made[rank];
        one->context->memory.fields_made = array->of[0]->context->memory.fields_made;
        if (old)
            hl_tile_field_free(old);
    }
    free(made);
    array->field = array->of[0]->field;
    array->on_all = status ? array->on_all : spec->on_all;
    array->is_relayed = status ? array->is_relayed : is_relayed;
    return status;
}

/* A job: the others get what the host may have set on the first. */
static haul_status take_given(haul_context *context, int rank, void *state, haul_error *error)
{
    const haul_array *array = state;
    const hl_tile_field *from = array->of[0]->field;
    hl_tile_field *field = array->of[rank]->field;
    (void)context;
    (void)error;
    if (!rank || !field->host_bytes)
        return HAUL_OK;
    if (!field->memory->without_data && !field->is_borrowed)
        memcpy(field->host, from->host, field->host_bytes);
    for (int i = 0; field->parts && i < field->part_count; i++) {
        field->parts[i].on_host = true;
        field->parts[i].on_device = false;
    }
    field->ghosts_stale = from->ghosts_stale;
    field->frame_stale = field->is_given = true;
    field->is_discarded = false;
    return HAUL_OK;
}

haul_status hl_tile_array_spread(haul_array *array, haul_error *error)
{
    hl_tile_team *team = array->context->team;
    if (!array->is_given)
        return HAUL_OK;
    HAUL_TRY(hl_tile_team_call(team, bring_home, array, error));
    HAUL_TRY(hl_tile_team_call(team, take_given, array, error));
    array->is_given = false;
    return HAUL_OK;
}

/* With a region, to be relayed. */
static haul_status place_anew(haul_array *array, bool on_all, int relay_region, haul_error *error)
{
    HAUL_TRY(hl_tile_queue_run(array->context, error));
    HAUL_TRY(hl_tile_team_call(array->context->team, bring_home, array, error));
    haul_array_spec spec = array->spec;
    spec.on_all = on_all;
    spec.region = relay_region ? relay_region : hl_tile_region_of_program(array->field);
    HAUL_TRY(make_anew(array, &spec, relay_region, error));
    array->is_given = false;
    return HAUL_OK;
}

haul_status hl_tile_array_place(haul_array *array, bool on_all, haul_error *error)
{
    if (array->on_all == on_all && !array->is_relayed)
        return HAUL_OK;
    array->left_in = array->is_relayed ? array->context->relay.era : array->left_in;
    return place_anew(array, on_all, 0, error);
}

/* An array of other planes than the loop's is read anywhere. */
static bool is_beside(const hl_tile_step *step, const hl_tile_field_use *use)
{
    return use->reduction || use->is_all || use->field->dims <= step->outer ||
           use->field->whole != step->whole;
}

/* Whether devices can run the loop in turns: arrays of these planes that it sets have fixed edges,
 * and all of them can go so. */
static bool can_relay(haul_array *const *arrays, const hl_tile_step *step)
{
    const haul_context *context = arrays[0]->context;
    const int given = hl_tile_team_context(context->team, 0)->memory.region_given;
    const int region = given ? given : context->relay.region;
    bool can = context->relay.speeds && context->options.relay >= 0 && !step->is_own,
         is_any = false;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        const haul_array_spec *spec = &arrays[u]->spec;
        if (is_beside(step, use)) {
            can = can && (use->reduction || !use->writes) && !arrays[u]->is_relayed;
            continue;
        }
        is_any = true;
        can = can && !spec->on_all && !spec->region && !spec->boundary_kernel &&
              use->field->dims == step->outer + 1 && use->halo <= spec->ghost[step->outer] &&
              !hl_tile_step_goes_beyond(step, use->field) && !use->field->ghosts_written;
        for (int d = 0; d <= step->outer; d++)
            can = can && (!spec->ghost[d] || spec->boundary[d] == HAUL_BOUNDARY_FIXED);
    }
    return can && is_any && (!region || step->whole / region < HL_TILE_RELAY_PARTS);
}

static haul_status relay_arrays(haul_array *const *arrays, const hl_tile_step *step, int region,
                                haul_error *error)
{
    haul_context *context = arrays[0]->context;
    bool is_aside[HL_TILE_USES];
    for (unsigned u = 0; u < step->use_count; u++)
        is_aside[u] = is_beside(step, &step->uses[u]);
    context->relay.region = context->relay.region ? context->relay.region : region;
    for (unsigned u = 0; u < step->use_count; u++) {
        if (is_aside[u])
            HAUL_TRY(hl_tile_array_place(arrays[u], true, error));
        else if (!arrays[u]->is_relayed)
            HAUL_TRY(place_anew(arrays[u], true, context->relay.region, error));
    }
    return HAUL_OK;
}

/* After runs of few loops, or a loop that cannot go in turns, arrays are divided: until as many
 * loops as pay were queued without either. A program that asks for turns has them. */
static bool may_relay(haul_array *const *arrays, const hl_tile_step *step)
{
    haul_context *context = arrays[0]->context;
    bool may = hl_tile_team_context(context->team, 0)->relay.short_runs < 2;
    for (unsigned u = 0; u < step->use_count; u++)
        may = may && (!arrays[u]->left_in || arrays[u]->left_in != context->relay.era);
    return may || context->options.relay > 0;
}

/* Once for each array, and era: its first loop on devices that reads neighbours says what pays. */
static haul_status give_depths(haul_array *const *arrays, const hl_tile_step *step,
                               haul_error *error)
{
    const unsigned era = arrays[0]->context->relay.era;
    unsigned steps = 0;
    int halo = 0;
    for (unsigned u = 0; u < step->use_count; u++) {
        const bool is_anew = arrays[u]->left_in && arrays[u]->left_in != era;
        const unsigned one = arrays[u]->on_all || is_anew ? 0 : arrays[u]->exchange_steps;
        halo = !arrays[u]->on_all && step->uses[u].halo > halo ? step->uses[u].halo : halo;
        steps = one > steps ? one : steps;
    }
    if (!halo || step->on_host || step->source->reduces)
        return HAUL_OK;
    double loop_s, turn_s = INFINITY;
    int region = 0;
    if (!steps && may_relay(arrays, step) && can_relay(arrays, step))
        region = hl_tile_relay_choose(arrays, step, &turn_s);
    steps = steps ? steps : hl_tile_exchange_choose(arrays, step, &loop_s);
    if (region && turn_s < loop_s) {
        hl_tile_team_context(arrays[0]->context->team, 0)->relay.divided_s = loop_s;
        return relay_arrays(arrays, step, region, error);
    }
    for (unsigned u = 0; u < step->use_count; u++)
        if (!arrays[u]->on_all && !arrays[u]->exchange_steps) {
            arrays[u]->exchange_steps = steps;
            HAUL_TRY(steps > 1 ? place_anew(arrays[u], false, 0, error) : HAUL_OK);
        }
    return HAUL_OK;
}

/* Arrays that the loop goes along with are divided, if all of them can be and no other is written;
 * else each device runs the whole loop. */
haul_status hl_tile_arrays_place(haul_array *const *arrays, const hl_tile_step *step,
                                 haul_error *error)
{
    hl_tile_relay *state = &arrays[0]->context->relay;
    bool is_aside[HL_TILE_USES], on_all = false, relays = arrays[0]->context->options.relay > 0;
    for (unsigned u = 0; u < step->use_count; u++)
        relays = relays || arrays[u]->is_relayed;
    const bool can = can_relay(arrays, step);
    const size_t stretch = state->stretch + can;
    relays = relays && can && may_relay(arrays, step);
    state->stretch = 0; /* that arrays are made anew ends none */
    int region = state->region;
    double loop_s;
    if (relays && !region)
        region = hl_tile_relay_choose(arrays, step, &loop_s);
    relays = relays && region;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        is_aside[u] = is_beside(step, use);
        on_all = on_all || (is_aside[u] ? use->writes && !use->reduction
                                        : use->halo > use->field->ghost[use->field->dims - 1] ||
                                              !hl_tile_array_can_divide(arrays[u]));
    }
    for (unsigned u = 0; u < step->use_count; u++) {
        HAUL_TRY(hl_tile_array_spread(arrays[u], error));
        if (!relays)
            HAUL_TRY(hl_tile_array_place(arrays[u], on_all || is_aside[u], error));
    }
    if (relays)
        HAUL_TRY(relay_arrays(arrays, step, region, error));
    state->stretch = stretch;
    if (!can)
        hl_tile_stretch_end(arrays[0]->context);
    return HAUL_OK;
}

haul_status hl_tile_arrays_deepen(haul_array *const *arrays, const hl_tile_step *step,
                                  haul_error *error)
{
    HAUL_TRY(give_depths(arrays, step, error));
    for (unsigned u = 0; u < step->use_count; u++)
        arrays[u]->is_blank = arrays[u]->is_blank && !step->uses[u].writes;
    return HAUL_OK;
}
