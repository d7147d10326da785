/* Parameters that a data sheet never gives, the latency of a copy first of all, come from the
 * machine that recorded the profile: the reader must know which. */
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

/* Whether `completed` has parameters of a kind from the recording machine. haul_machine_complete
 * keeps the target's own curves in their places and adds others after them. */
static bool is_taken_over(const haul_machine *to, const haul_machine *completed, size_t at,
                          const parameter_kind *kind)
{
    for (size_t i = 0; i < kind->count; i++) {
        const bool had = at < to->copy_count && provenance_at(&to->copies[at], kind->offsets[i]) !=
                                                    HAUL_PROVENANCE_NOT_GIVEN;
        if (!had &&
            provenance_at(&completed->copies[at], kind->offsets[i]) == HAUL_PROVENANCE_SCALED)
            return true;
    }
    return false;
}

/* Puts a curve after `text`, NULL before the first; a name begins its kind's list. */
static const char *append(const char *text, const char *name, const haul_copy_curve *curve,
                          hl_base_arena *arena)
{
    return hl_base_arena_format(
        arena, "%s%s%s%s%s %s%s", text ? text : "",
        !name  ? ", "
        : text ? "; "
               : "",
        name ? name : "", name ? " of " : "", haul_direction_text(curve->direction),
        haul_memory_text(curve->memory), curve->locality == HAUL_LOCALITY_FAR ? " far" : "");
}

const char *hl_project_taken_over_text(const haul_machine *to, const haul_machine *completed,
                                       const hl_project_size_classes *classes, hl_base_arena *arena)
{
    const char *text = NULL;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *name = kinds[k].name; /* NULL for further curves of the kind */
        for (size_t at = 0; at < completed->copy_count; at++) {
            const haul_copy_curve *curve = &completed->copies[at];
            bool used = false; /* pinned memory stands in for others */
            for (size_t c = 0; c < classes->count; c = hl_project_size_group(classes, c).end)
                used |= classes->items[c].direction == curve->direction &&
                        (classes->items[c].memory == curve->memory ||
                         curve->memory == HAUL_MEMORY_PINNED);
            if (!used || !is_taken_over(to, completed, at, &kinds[k]))
                continue;
            text = append(text, name, curve, arena);
            name = NULL;
        }
    }
    return text;
}
