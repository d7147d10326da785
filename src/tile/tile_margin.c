/* Loops over planes of neighbours. Of an array that is divided, a process computes planes beyond
 * its own, too, as long as it knows what that takes: each loop fewer by its halo, until ghost
 * planes come again, all at once. Processes decide alike, for they queue the same loops. */
#include <limits.h>

#include "tile/tile_queue.h"

/* Whether planes that loops set keep cells which no loop sets. */
static bool has_fixed_frame(const hl_tile_field *field)
{
    bool is_one = false;
    for (int d = 0; d + 1 < field->dims; d++)
        is_one = is_one || (field->ghost[d] && field->boundary[d] == HAUL_BOUNDARY_FIXED);
    return is_one;
}

static bool is_shared(const hl_tile_step *step, const hl_tile_field_use *use)
{
    return hl_tile_is_divided(use->field) && hl_tile_is_along(step, use);
}

/* On all processes. Needs: the step's box is not yet cut. */
static bool overwrites_all(const hl_tile_step *step, const hl_tile_field *field)
{
    return hl_tile_step_overwrites(step, field) && step->box.hi[step->outer] >= step->whole;
}

/* Planes beyond the process's own that the step may compute as far as the array goes; less than 0:
 * not even its own ones. `is_sent`: once ghost planes have come. */
static int reach_of(const hl_tile_step *step, const hl_tile_field_use *use, bool is_sent)
{
    const hl_tile_field *field = use->field;
    if (overwrites_all(step, field))
        return is_sent || !field->is_untold || !has_fixed_frame(field) ? field->depth : 0;
    const int known = (is_sent ? field->edge : field->known) - use->halo;
    return use->writes && known > field->depth ? field->depth : known;
}

/* A sum takes each cell once, and kernels that write around their own cells would set planes that
 * are not the step's. */
static bool can_widen(const hl_tile_step *step)
{
    bool can = step->source && !step->source->reduces && !step->on_host && !step->is_own;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        can = can && !(use->writes && (use->halo || !is_shared(step, use))) &&
              !(is_shared(step, use) && use->field->is_ring);
    }
    return can;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Planes that the step shall reach. Where ghost planes come, as far as they allow; else as far as
 * arrays do that the host has not set: those that it has may come now, once for many loops. */
static int choose_aim(const hl_tile_step *step, const bool sent[HL_TILE_USES])
{
    int most = INT_MAX, told = INT_MAX;
    bool is_any = false;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        if (!is_shared(step, use))
            continue;
        most = least(most, reach_of(step, use, true));
        told = use->field->is_untold ? told : least(told, reach_of(step, use, sent[u]));
        is_any = is_any || sent[u];
    }
    return is_any ? most : told == INT_MAX ? 0 : least(told, most);
}

/* Where some come, all come that would end the run of loops sooner. */
int hl_tile_margin_choose(const hl_tile_step *step, bool sent[HL_TILE_USES])
{
    int margin = INT_MAX;
    bool is_any = false;
    if (!can_widen(step))
        return 0;
    const int aim = choose_aim(step, sent);
    for (unsigned u = 0; u < step->use_count; u++)
        is_any = is_any || sent[u];
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        if (!is_shared(step, use))
            continue;
        sent[u] = sent[u] || ((is_any || use->field->is_untold) && use->field->edge &&
                              reach_of(step, use, false) < aim);
        margin = least(margin, reach_of(step, use, sent[u]));
    }
    return margin < 0 || margin == INT_MAX ? 0 : margin;
}

void hl_tile_margin_note(const hl_tile_step *step, int margin)
{
    for (unsigned u = 0; u < step->use_count; u++) {
        hl_tile_field *field = step->uses[u].field;
        if (!step->uses[u].writes || !is_shared(step, &step->uses[u]))
            continue;
        if (field->ghosts_written && margin < field->edge)
            field->is_untold = true;
        else if (overwrites_all(step, field) && !has_fixed_frame(field))
            field->is_untold = false;
        field->known = margin;
    }
}
