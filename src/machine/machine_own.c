#include "machine/machine_own.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine/machine_fields.h"

haul_owned_machine *haul_owned_machine_new(void)
{
    return calloc(1, sizeof(haul_owned_machine));
}

void haul_machine_free(haul_machine *machine)
{
    if (!machine)
        return;
    haul_owned_machine *owned = (haul_owned_machine *)machine;
    haul_arena_release(&owned->arena);
    free(owned);
}

static bool own_mapping(haul_arena *arena, const haul_mapping *mapping, void *base)
{
    for (size_t i = 0; i < mapping->count; i++) {
        const haul_field *field = &mapping->fields[i];
        void *at = (char *)base + field->offset;
        const char **string = NULL;
        if (field->kind == HAUL_FIELD_NAME || field->kind == HAUL_FIELD_TEXT)
            string = at;
        else if (field->kind == HAUL_FIELD_PARAMETER || field->kind == HAUL_FIELD_POINTS)
            string = &((haul_parameter *)at)->source;
        else if (field->kind == HAUL_FIELD_MAPPING && !own_mapping(arena, field->mapping, at))
            return false;
        if (string && *string && !(*string = haul_arena_string(arena, *string)))
            return false;
    }
    return true;
}

static bool own_curves(haul_arena *arena, haul_machine *machine, const haul_copy_curve *copies,
                       size_t copy_count)
{
    haul_copy_curve *owned = haul_arena_alloc(arena, copy_count * sizeof *owned);
    if (!owned)
        return false;
    if (copy_count)
        memcpy(owned, copies, copy_count * sizeof *owned);
    for (size_t i = 0; i < copy_count; i++)
        if (!own_mapping(arena, &haul_curve_mapping, &owned[i]))
            return false;
    machine->copies = owned;
    machine->copy_count = copy_count;
    return true;
}

haul_status haul_machine_with_copies(const haul_machine *machine, const haul_copy_curve *copies,
                                     size_t copy_count, haul_machine **out, haul_error *error)
{
    haul_owned_machine *owned = haul_owned_machine_new();
    if (!owned)
        return haul_fail_no_memory(error);
    owned->machine = *machine;
    if (!own_mapping(&owned->arena, &haul_machine_mapping, &owned->machine) ||
        !own_curves(&owned->arena, &owned->machine, copies, copy_count)) {
        haul_machine_free(&owned->machine);
        return haul_fail_no_memory(error);
    }
    *out = &owned->machine;
    return HAUL_OK;
}
