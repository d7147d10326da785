/* The blocks of steps that one pass runs. */
#include "tile/tile_queue.h"

/* Whether the step reads neighbours in the last dimension of periodic arrays alone. A loop in place
 * would find cells beyond the edge as it has left them, not as they were before it. */
static bool wraps_alone(const hl_tile_step *step)
{
    bool is_one = step->box.lo[step->outer] >= 0 && step->box.hi[step->outer] <= step->length;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        const hl_tile_field *field = use->field;
        const bool is_inner = step->source && !use->halo;
        is_one = is_one && !(use->writes && use->halo);
        if (hl_tile_is_along(step, use))
            is_one = is_one && !field->ghosts_written && field->dims == step->outer + 1 &&
                     (is_inner || field->boundary[step->outer] == HAUL_BOUNDARY_PERIODIC);
    }
    return is_one;
}

/* A pass goes round periodic arrays that do not fit: of those that do, the ends are both there. */
bool hl_tile_step_goes_round(const hl_tile_step *step, int region)
{
    bool is_tight = true, is_along = false;
    int halo = 0; /* as far as the step reads, it is behind the front, and reads as far again */
    for (unsigned u = 0; u < step->use_count; u++)
        halo = step->uses[u].halo > halo && !step->uses[u].is_all ? step->uses[u].halo : halo;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field *field = step->uses[u].field;
        if (!hl_tile_is_along(step, &step->uses[u]))
            continue;
        const int planes = field->ring ? field->planes : hl_tile_ring_planes(field->memory, field);
        const int behind = 2 * halo + hl_tile_planes_missing(field->length, region);
        const int regions = (behind + region - 1) / region + 3;
        is_along = true;
        is_tight = is_tight && planes < field->length + 2 * field->edge &&
                   planes >= regions * region + 2 * field->edge &&
                   field->boundary[field->dims - 1] == HAUL_BOUNDARY_PERIODIC &&
                   field->length > 4 * region;
    }
    return is_tight && is_along && wraps_alone(step);
}

static hl_tile_block_field *find_field(hl_tile_block *block, const hl_tile_field *field)
{
    for (unsigned i = 0; i < block->field_count; i++)
        if (block->fields[i].field == field)
            return &block->fields[i];
    return NULL;
}

/* Setting cells from the opposite edge joins the two ends of a pass. */
static bool joins_ends(const hl_tile_step *step, int d)
{
    const hl_tile_field *field = step->uses[0].field;
    return !step->source && d >= 0 && field->ghost[d] &&
           field->boundary[d] == HAUL_BOUNDARY_PERIODIC;
}

static bool is_far(const hl_tile_step *step, bool in_host_rows)
{
    return joins_ends(step, step->outer) || hl_tile_step_turns(step) ||
           (in_host_rows && joins_ends(step, step->outer - 1));
}

/* Whether the step can begin at any plane or row: it sets the cells of the array, each from others
 * alone. */
static bool can_begin_anywhere(const hl_tile_step *step, const hl_tile_round rounds[2])
{
    bool can = step->length == step->whole && (!step->source || !step->source->reduces);
    for (int d = 0; d < 2; d++)
        can = can && (!rounds[d].length || (step->box.lo[step->outer - d] >= 0 &&
                                            step->box.hi[step->outer - d] <= rounds[d].length));
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        const bool is_alike = hl_tile_is_along(step, use) && use->field->dims == step->outer + 1;
        can = can && (!use->writes || (is_alike && !use->halo)) &&
              (!is_alike || !rounds[1].length ||
               use->field->size[step->outer - 1] == rounds[1].length);
    }
    return can;
}

/* Whether the block's steps and the one behind them can go round the dimensions in which edges are
 * joined, in which there is room for what the last step is behind the first. */
static bool choose_rounds(hl_tile_block *block, int reach)
{
    hl_tile_round rounds[2] = {{0}, {0}};
    bool can = true;
    for (size_t i = 0; i <= block->count; i++)
        for (int d = 0; d < 2; d++) {
            const hl_tile_step *step = &block->steps[i];
            if (joins_ends(step, step->outer - d))
                rounds[d].length = step->uses[0].field->size[step->outer - d];
            for (unsigned u = 0; u < step->use_count; u++) {
                const hl_tile_field *field = step->uses[u].field;
                const int ghost = field->dims > step->outer ? field->ghost[step->outer - d] : 0;
                rounds[d].beyond = ghost > rounds[d].beyond ? ghost : rounds[d].beyond;
            }
        }
    const bool is_any = rounds[0].length || rounds[1].length;
    for (int d = 0; d < 2; d++)
        can = can && (!rounds[d].length || reach + 2 * rounds[d].beyond <= rounds[d].length);
    for (size_t i = 0; i <= block->count && is_any && can; i++)
        can = can_begin_anywhere(&block->steps[i], rounds);
    for (int d = 0; d < 2 && can; d++)
        block->rounds[d] = rounds[d];
    return can;
}

/* Whether the step's box has cells beyond the array's edges, not only of its neighbours' planes. */
static bool goes_beyond(const hl_tile_step *step, const hl_tile_field *field)
{
    for (unsigned u = 0; u < step->use_count && step->source; u++)
        for (int d = 0; d <= step->outer && step->uses[u].field == field; d++) {
            const bool is_outer = d == step->outer;
            if (field->dims > step->outer &&
                ((step->box.lo[d] < 0 && (!is_outer || hl_tile_has_edge(field, false))) ||
                 (step->box.hi[d] > field->size[d + field->dims - step->outer - 1] &&
                  (!is_outer || hl_tile_has_edge(field, true)))))
                return true;
        }
    return false;
}

/* Cells beyond the edges are set with those that they are like, which the front passes after them
 * at one end and before them at the other: a step that goes there itself is in another block. */
static bool meets_beyond(const hl_tile_block *block, const hl_tile_step *step)
{
    bool is_one = false;
    for (size_t i = 0; i < block->count; i++) {
        const hl_tile_step *before = &block->steps[i];
        is_one = is_one || (!step->source && goes_beyond(before, step->uses[0].field)) ||
                 (!before->source && goes_beyond(step, before->uses[0].field));
    }
    return is_one;
}

/* The least skew at which the step may follow those of the block: a plane that it reads, up to its
 * halo, has been written, and a plane that it writes is no longer read. -1: it may not. */
static int skew_of(hl_tile_block *block, const hl_tile_step *step, bool in_host_rows)
{
    int skew = 0;
    for (unsigned i = 0; i < step->use_count; i++) {
        const hl_tile_field_use *use = &step->uses[i];
        hl_tile_block_field *before = find_field(block, use->field);
        bool is_aligned = hl_tile_is_along(step, use);
        if (in_host_rows)
            is_aligned = is_aligned && use->field->dims == step->outer + 1;
        int least = use->halo;
        if (before && before->is_aligned != is_aligned)
            return -1;
        if (before && (before->write_skew >= 0 || use->writes)) {
            if (!is_aligned)
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
static void add_use(hl_tile_block *block, const hl_tile_step *step, const hl_tile_field_use *use,
                    bool in_host_rows)
{
    hl_tile_block_field *field = find_field(block, use->field);
    if (!field) {
        field = &block->fields[block->field_count++];
        *field = (hl_tile_block_field){
            .field = use->field,
            .is_aligned = hl_tile_is_along(step, use) &&
                          (!in_host_rows || use->field->dims == step->outer + 1),
            .is_result = use->reduction,
            .is_fresh = hl_tile_step_overwrites(step, use->field),
            .write_skew = -1,
            .read_skew = -1,
        };
    }
    field->is_discarded = use->is_last;
    if (use->writes && step->skew > field->write_skew)
        field->write_skew = step->skew;
    if (use->reads && step->skew + use->halo > field->read_skew)
        field->read_skew = step->skew + use->halo;
    field->is_written = field->is_written || use->writes;
    if (step->skew + use->halo > block->reach && field->is_aligned)
        block->reach = step->skew + use->halo;
}

/* Planes of the regions that a pass of the step goes over; 0: not yet chosen. */
static int region_of(const hl_tile_step *step)
{
    for (unsigned i = 0; i < step->use_count; i++)
        if (hl_tile_is_along(step, &step->uses[i]))
            return step->uses[i].field->region;
    return 0;
}

/* On the host tiles of two dimensions would cut the rows of reductions. */
static bool has_cut_rows(const hl_tile_step *step)
{
    return step->source && step->source->reduces && step->outer == 1;
}

/* Whether the step can join the block. A block of its own may reach further than asked: the caller
 * says that there is no room. */
static bool takes(hl_tile_block *block, hl_tile_step *step, const hl_tile_block_limits *limits)
{
    const bool in_host_rows = limits->in_host_rows;
    const hl_tile_step *last = block->count ? &block->steps[block->count - 1] : step;
    if (step->is_exchange || step->length != block->length || step->outer != last->outer ||
        region_of(step) != region_of(last))
        return false;
    if (in_host_rows && block->count && /* no rows to cut into tiles */
        (!step->outer || has_cut_rows(step) || has_cut_rows(last)))
        return false;
    if (block->count && (step->is_ordered || last->is_ordered))
        return false;
    if (limits->wraps ? !hl_tile_step_goes_round(step, limits->region)
                      : last != step && !limits->can_round &&
                            (is_far(step, in_host_rows) || is_far(last, in_host_rows)))
        return false;
    if (block->field_count + step->use_count > HL_TILE_BLOCK_FIELDS)
        return false;
    if (meets_beyond(block, step))
        return false;
    const int skew = skew_of(block, step, in_host_rows);
    int halo = 0;
    for (unsigned i = 0; i < step->use_count; i++)
        halo = step->uses[i].halo > halo ? step->uses[i].halo : halo;
    const int reach = skew + halo > block->reach ? skew + halo : block->reach;
    if (skew < 0 || (block->count && skew + halo > limits->reach) ||
        (block->count && limits->can_round && !choose_rounds(block, reach)))
        return false;
    step->skew = skew;
    return true;
}

/* Looks past the block's end for each field: one that is overwritten next, or discarded, is dead
 * and is not copied back. */
void hl_tile_block_take(hl_tile_block *block, hl_tile_step *steps, size_t count,
                        const hl_tile_block_limits *limits)
{
    *block = (hl_tile_block){
        .steps = steps, .length = steps[0].length, .wraps = limits->wraps, .host_from = INT32_MAX};
    while (block->count < count && block->loops < limits->steps &&
           takes(block, &steps[block->count], limits)) {
        hl_tile_step *step = &steps[block->count++];
        block->loops += hl_tile_loops_of(step);
        for (unsigned i = 0; i < step->use_count; i++)
            add_use(block, step, &step->uses[i], limits->in_host_rows);
    }
    for (unsigned i = 0; i < block->field_count; i++) {
        hl_tile_block_field *field = &block->fields[i];
        field->is_dead = field->is_discarded;
        for (size_t s = block->count; s < count + limits->ahead && !field->is_discarded; s++)
            if (hl_tile_step_uses(&steps[s], field->field)) {
                field->is_dead = hl_tile_step_overwrites(&steps[s], field->field);
                break;
            }
    }
}

const hl_tile_field *hl_tile_block_along(const hl_tile_block *block)
{
    const hl_tile_field *along = block->fields[0].field;
    for (unsigned i = 1; i < block->field_count; i++)
        along = block->fields[i].is_aligned ? block->fields[i].field : along;
    return along;
}
