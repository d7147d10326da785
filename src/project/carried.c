#include "project/carried.h"

#include <stdarg.h>

/* A kind of figure with the places in a curve where one shows that it was carried. */
typedef struct carried_kind {
    const char *name;
    size_t offsets[3];
    size_t count;
} carried_kind;

static const carried_kind kinds[] = {
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

/* haul_machine_carry keeps the target's own curves in their places and adds others after them. */
static size_t carried_in(const haul_machine *to, const haul_machine *completed, size_t at,
                         const carried_kind *kind)
{
    size_t carried = 0;
    for (size_t i = 0; i < kind->count; i++) {
        const bool had = at < to->copy_count &&
                         provenance_at(&to->copies[at], kind->offsets[i]) != HAUL_NOT_GIVEN;
        carried += !had && provenance_at(&completed->copies[at], kind->offsets[i]) == HAUL_CARRIED;
    }
    return carried;
}

static void write_text(haul_carried_text *out, const char *format, ...) HAUL_PRINTF(2, 3);

static void write_text(haul_carried_text *out, const char *format, ...)
{
    if (out->used >= sizeof out->text)
        return;
    va_list args;
    va_start(args, format);
    const int added = vsnprintf(out->text + out->used, sizeof out->text - out->used, format, args);
    va_end(args);
    out->used += added > 0 ? (size_t)added : 0;
}

/* Whether a trace has such copies, or others in that direction, for which pinned memory stands in.
 */
static bool is_used(const haul_size_class *alike, const haul_copy_curve *curve)
{
    for (size_t c = 0; c < alike->class_count; c = haul_size_class_group(alike, c).end)
        if (alike->classes[c].direction == curve->direction &&
            (alike->classes[c].memory == curve->memory || curve->memory == HAUL_PINNED))
            return true;
    return false;
}

size_t haul_carried_describe(const haul_machine *to, const haul_machine *completed,
                             const haul_size_class *alike, haul_carried_text *out)
{
    *out = (haul_carried_text){.used = 0};
    size_t total = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t of_kind = 0;
        for (size_t at = 0; at < completed->copy_count; at++) {
            const size_t carried = carried_in(to, completed, at, &kinds[k]);
            const haul_copy_curve *curve = &completed->copies[at];
            if (!carried || !is_used(alike, curve))
                continue;
            if (!of_kind)
                write_text(out, "%s%s of ", total ? "; " : "", kinds[k].name);
            write_text(out, "%s%s %s%s", of_kind ? ", " : "", haul_direction_text(curve->direction),
                       haul_memory_text(curve->memory), curve->locality == HAUL_FAR ? " far" : "");
            of_kind += carried;
            total += carried;
        }
    }
    return total;
}
