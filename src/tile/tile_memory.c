/* The arrays of a context together: the size of regions, and shares of the device's memory. */
#include <stdlib.h>

#include "base/fail.h"
#include "tile/tile_field.h"

enum { REGIONS = 16 }; /* of the longest array where nothing else decides: the paper's */

/* Regions so thin that four fit an array's share of the device's memory beside the planes that
 * several steps are behind, and so many that copies hide behind each other. */
static void choose_region(hl_tile_memory *self)
{
    int longest = 0;
    uint64_t plane_bytes = 0;
    for (const hl_tile_field *field = self->fields; field; field = field->next) {
        longest = field->length > longest ? field->length : longest;
        plane_bytes += field->plane_bytes;
    }
    self->region = (longest + REGIONS - 1) / REGIONS;
    if (!self->is_host && plane_bytes && self->budget / plane_bytes < (uint64_t)longest) {
        const int share = (int)(self->budget / plane_bytes / 8);
        self->region = share < self->region ? share : self->region;
    }
    if (self->region < 1)
        self->region = 1;
}

void hl_tile_parts_free(hl_tile_field *field)
{
    for (int i = 0; field->parts && i < field->part_count; i++) {
        field->is_given = field->is_given || field->parts[i].is_given;
        haul_event_free(field->parts[i].left);
    }
    free(field->parts);
    field->parts = NULL;
}

/* Regions stay what they were where the program said so. */
void hl_tile_fields_join(hl_tile_memory *memory, int region)
{
    memory->region = region;
    for (hl_tile_field *field = memory->fields; field; field = field->next)
        if (!field->region_asked) {
            hl_tile_parts_free(field);
            field->region = 0;
        }
}

/* Late, at the first run or access: by then all arrays of a program are known, and the choice is
 * theirs together. New regions are the host's, but of an array that is in the program's device
 * memory. */
haul_status hl_tile_fields_divide(hl_tile_memory *memory, haul_error *error)
{
    for (hl_tile_field *field = memory->fields; field; field = field->next) {
        if (field->parts)
            continue;
        if (!field->region && !memory->region)
            choose_region(memory);
        int region = field->region ? field->region : memory->region;
        if (region > field->length)
            region = field->length ? field->length : 1;
        const int count = field->host_bytes ? (field->length + region - 1) / region : 0;
        field->parts = calloc(count ? (size_t)count : 1, sizeof *field->parts);
        if (!field->parts)
            return hl_base_fail_no_memory(error);
        for (int i = 0; i < count; i++) {
            field->parts[i].on_host = !field->starts_on_device;
            field->parts[i].on_device = field->starts_on_device;
        }
        field->region = region;
        field->part_count = count;
    }
    return HAUL_OK;
}

/* Bytes for all of a field's planes, or of its share of what is left to those that do not fit. An
 * array that loops read anywhere is there wholly, before others; so is one no larger than a plane
 * of another, which loops may yet read so. */
uint64_t hl_tile_ring_bytes(const hl_tile_memory *memory, const hl_tile_field *field)
{
    uint64_t plane_bytes = 0, largest = 0, all = 0, aside = 0;
    uint64_t left = memory->budget;
    if (field->is_wrapped)
        return field->host_bytes;
    for (const hl_tile_field *other = memory->fields; other; other = other->next) {
        if (other->is_wrapped)
            continue;
        plane_bytes += other->host_bytes ? other->plane_bytes : 0;
        largest = other->plane_bytes > largest ? other->plane_bytes : largest;
        all += other->host_bytes;
        aside += hl_tile_bytes_aside(other);
    }
    left -= all > left && aside < left ? aside : 0;
    for (int round = 0; round < 2; round++)
        for (const hl_tile_field *other = memory->fields; other; other = other->next) {
            const uint64_t planes = (uint64_t)other->length + 2 * (uint64_t)other->edge;
            const bool is_small = other->host_bytes <= largest && other->host_bytes <= left / 2;
            const bool is_first = other->is_needed_whole && other->host_bytes <= left;
            if (!other->host_bytes || !plane_bytes || other->is_wrapped ||
                other->is_needed_whole == (round == 1) ||
                (planes > left / plane_bytes && !is_small && !is_first))
                continue;
            if (other == field)
                return planes * field->plane_bytes;
            left -= planes * other->plane_bytes;
            plane_bytes -= other->plane_bytes;
        }
    return plane_bytes ? (uint64_t)((double)left / (double)plane_bytes * (double)field->plane_bytes)
                       : 0;
}

int hl_tile_ring_planes(const hl_tile_memory *memory, const hl_tile_field *field)
{
    const uint64_t all = (uint64_t)field->length + 2 * (uint64_t)field->edge;
    const uint64_t planes =
        field->plane_bytes ? hl_tile_ring_bytes(memory, field) / field->plane_bytes : 0;
    return (int)(planes < all ? planes : all);
}
