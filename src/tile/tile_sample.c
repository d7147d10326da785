/* A loop on the host that reads or writes other cells than its kernel declares finds memory there,
 * and nothing ends. To tell of it without the checked mode, a cell of now and then a loop is
 * computed first with its accesses checked: of a kernel's first loop, its second, fourth, eighth
 * and so on, which costs the work of one cell each time. */
#include <string.h>

#include "base/grow.h"
#include "tile/tile_host.h"

enum { LARGEST = 64 }; /* bytes of an element */

/* How many loops of the kernel there were, with this one; 0 without memory to count. */
static uint64_t count_loop(haul_context *context, const haul_kernel_source *source)
{
    hl_tile_loops_of_kernel *known = context->known;
    for (size_t i = 0; i < context->known_count; i++)
        if (known[i].source == source)
            return ++known[i].loops;
    if (!hl_base_grow(&context->known, &context->known_capacity, context->known_count + 1,
                      sizeof *known))
        return 0;
    context->known[context->known_count++] = (hl_tile_loops_of_kernel){source, 1};
    return 1;
}

/* The cell is computed again with the others: what it wrote is put back, and that is one cell of
 * each array. */
static bool can_sample(const hl_tile_step *step)
{
    bool can = step->source && !step->source->reduces && !step->fused.steps;
    for (unsigned u = 0; u < step->use_count && can; u++) {
        const hl_tile_field *field = step->uses[u].field;
        can =
            !step->uses[u].writes || (hl_tile_is_along(step, &step->uses[u]) &&
                                      field->dims == step->outer + 1 && field->element <= LARGEST);
    }
    return can;
}

/* The ends first: loops go wrong there. */
static int place_of(uint64_t loops, int d, int lo, int hi)
{
    const uint64_t mixed = (loops + (uint64_t)d) * 0x9e3779b97f4a7c15;
    return loops == 1 ? lo : loops == 2 ? hi - 1 : lo + (int)((mixed >> 33) % (uint64_t)(hi - lo));
}

bool hl_tile_sample_choose(haul_context *context, const hl_tile_step *step, int cell[3])
{
    for (int d = 0; d <= step->outer; d++)
        if (step->box.lo[d] >= step->box.hi[d])
            return false;
    if (!can_sample(step))
        return false;
    const uint64_t loops = count_loop(context, step->source);
    for (int d = 0; d < 3 && loops; d++)
        cell[d] = d > step->outer ? 0 : place_of(loops, d, step->box.lo[d], step->box.hi[d]);
    return loops && !(loops & (loops - 1));
}

void hl_tile_sample_run(const hl_tile_step *step, const int cell[3], void *const *arguments,
                        haul_fault *fault)
{
    haul_checked_view views[HL_TILE_USES];
    void *own[HL_TILE_ARGUMENTS];
    char before[HL_TILE_USES][LARGEST];
    haul_box box = {{cell[0], cell[1], cell[2]}, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
    unsigned use = 0;
    for (unsigned i = 0; i < step->source->parameter_count; i++) {
        own[i] = arguments[i];
        if (step->source->parameters[i].halo < 0)
            continue;
        views[use].view = *(const haul_view *)arguments[i + 1];
        views[use].view.ring = -1;
        views[use].bounds = hl_tile_bounds_of(step, use, fault);
        own[++i] = &views[use++];
    }
    for (unsigned u = 0; u < step->use_count; u++)
        if (step->uses[u].writes)
            memcpy(before[u], hl_tile_field_cell(step->uses[u].field, cell),
                   step->uses[u].field->element);
    box = hl_tile_box_moved(box, step->outer, step->first);
    step->source->host(&box, &box, own);
    for (unsigned u = 0; u < step->use_count; u++)
        if (step->uses[u].writes)
            memcpy(hl_tile_field_cell(step->uses[u].field, cell), before[u],
                   step->uses[u].field->element);
}
