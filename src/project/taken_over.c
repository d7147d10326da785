#include "project/taken_over.h"

/* A kind of parameter, and where a curve has those of the kind. */
typedef struct parameter_kind {
    const char *name;
    size_t offsets[3];
    size_t count;
} parameter_kind;

static const parameter_kind kinds[] = {
    {"latency", {offsetof(haul_copy_curve, latency_s)}, 1},
    {"gap", {offsetof(haul_copy_curve, gap_s)}, 1},
    {"staging",
     {offsetof(haul_copy_curve, memory_rate_Bps), offsetof(haul_copy_curve, host_rate_Bps),
      offsetof(haul_copy_curve, small_rate_Bps)},
     3},
};

static haul_provenance provenance_at(const haul_copy_curve *curve, size_t offset)
{
    return ((const haul_parameter *)(const void *)((const char *)curve + offset))->provenance;
}

/* haul_machine_complete keeps the target's own curves in their places and adds others after them.
 */
static bool is_taken_over(const haul_machine *to, const haul_machine *completed, size_t at,
                          const parameter_kind *kind)
{
    for (size_t i = 0; i < kind->count; i++) {
        const bool had = at < to->copy_count &&
                         provenance_at(&to->copies[at], kind->offsets[i]) != HAUL_NOT_GIVEN;
        if (!had && provenance_at(&completed->copies[at], kind->offsets[i]) == HAUL_SCALED)
            return true;
    }
    return false;
}

/* Whether a profile has such copies, or others in that direction, for which pinned memory stands
 * in.
 */
static bool is_used(const haul_size_classes *classes, const haul_copy_curve *curve)
{
    for (size_t c = 0; c < classes->count; c = haul_size_group(classes, c).end)
        if (classes->items[c].direction == curve->direction &&
            (classes->items[c].memory == curve->memory || curve->memory == HAUL_PINNED))
            return true;
    return false;
}

/* `kind` begins the list of its curves: NULL for one further of them. */
static const char *add_curve(haul_arena *arena, const char *text, const char *kind,
                             const haul_copy_curve *curve)
{
    const char *between = !kind ? ", " : text ? "; " : "";
    return haul_arena_format(arena, "%s%s%s%s%s %s%s", text ? text : "", between, kind ? kind : "",
                             kind ? " of " : "", haul_direction_text(curve->direction),
                             haul_memory_text(curve->memory),
                             curve->locality == HAUL_FAR ? " far" : "");
}

const char *haul_taken_over_text(const haul_machine *to, const haul_machine *completed,
                                 const haul_size_classes *classes, haul_arena *arena)
{
    const char *text = NULL;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bool begun = false;
        for (size_t at = 0; at < completed->copy_count; at++) {
            const haul_copy_curve *curve = &completed->copies[at];
            if (!is_taken_over(to, completed, at, &kinds[k]) || !is_used(classes, curve))
                continue;
            text = add_curve(arena, text, begun ? NULL : kinds[k].name, curve);
            begun = true;
        }
    }
    return text;
}
