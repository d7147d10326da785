/* Texts and sources of a machine are copied, so that it outlives what it was made of. */
#include "machine/machine_own.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine/machine_fields.h"

hl_machine_owned_machine *hl_machine_owned_machine_new(void)
{
    return calloc(1, sizeof(hl_machine_owned_machine));
}

void haul_machine_free(haul_machine *machine)
{
    if (!machine)
        return;
    /* hl_machine_owned_machine begins with the machine, so that the public pointer is that of the
     * whole. */
    hl_machine_owned_machine *owned = (hl_machine_owned_machine *)machine;
    hl_base_arena_release(&owned->arena);
    free(owned);
}

static bool own_mapping(hl_base_arena *arena, const hl_machine_yaml_mapping *mapping, void *base);

static bool own_list(hl_base_arena *arena, const hl_machine_field *field, void *base)
{
    const size_t count = hl_machine_list_count(field, base);
    char *items = hl_base_arena_alloc(arena, count * field->item_size);
    /* A list without items still gets an address: NULL would mean that memory was lacking. */
    if (items && count)
        memcpy(items, hl_machine_list_item(field, base, 0), count * field->item_size);
    bool whole = items != NULL;
    for (size_t i = 0; whole && i < count; i++)
        whole = own_mapping(arena, field->mapping, items + i * field->item_size);
    /* Through memcpy, for the list's pointer may be of any structure's type. */
    memcpy((char *)base + field->offset, &items, sizeof items);
    return whole;
}

static bool own_mapping(hl_base_arena *arena, const hl_machine_yaml_mapping *mapping, void *base)
{
    for (size_t i = 0; i < mapping->count; i++) {
        const hl_machine_field *field = &mapping->fields[i];
        void *at = (char *)base + field->offset;
        const char **string = NULL;
        if (field->kind == HL_MACHINE_FIELD_NAME || field->kind == HL_MACHINE_FIELD_TEXT)
            string = at;
        else if (field->kind == HL_MACHINE_FIELD_PARAMETER ||
                 field->kind == HL_MACHINE_FIELD_POINTS)
            string = &((haul_parameter *)at)->source;
        else if ((field->kind == HL_MACHINE_FIELD_MAPPING &&
                  !own_mapping(arena, field->mapping, at)) ||
                 (field->kind == HL_MACHINE_FIELD_LIST && !own_list(arena, field, base)))
            return false;
        /* Sources are copied even where several parameters share one text: machines are small, and
         * finding the shared ones would need a table. */
        if (string && *string && !(*string = hl_base_arena_string(arena, *string)))
            return false;
    }
    return true;
}

haul_status haul_machine_with_copies(const haul_machine *machine, const haul_copy_curve *copies,
                                     size_t copy_count, haul_machine **out, haul_error *error)
{
    hl_machine_owned_machine *owned = hl_machine_owned_machine_new();
    if (!owned)
        return hl_base_fail_no_memory(error);
    owned->machine = *machine;
    owned->machine.copies = copies;
    owned->machine.copy_count = copy_count;
    /* The release frees the arena's blocks alone: texts that still belong to `machine` are safe. */
    if (!own_mapping(&owned->arena, &hl_machine_mapping, &owned->machine)) {
        haul_machine_free(&owned->machine);
        return hl_base_fail_no_memory(error);
    }
    *out = &owned->machine;
    return HAUL_OK;
}
