/* A catalogue knows boards; the slot under a board is the host's, and often of an earlier
 * generation. Of 28 groups of public measurements 12 were outside of intervals that took the
 * board's own for granted (docs/accuracy/runs.md), so the answer says what it assumes and what
 * another slot would do. */
#include "project/assumed_host.h"

#include <stdio.h>

#include "base/fail.h"
#include "haul/units.h"
#include "machine/link_rate.h"
#include "project/own_slot.h"

static bool crosses(const hl_project_size_class *one)
{
    return haul_direction_crosses_link(one->direction) && !one->impossible;
}

haul_status hl_project_assumed_host_find(const haul_machine *target, const haul_copy_model *model,
                                         const hl_project_size_classes *classes,
                                         haul_projection *out, haul_error *error)
{
    const int generation = (int)target->link.generation.value;
    bool is_assumed = false;
    for (size_t c = 0; c < classes->count; c++)
        is_assumed |=
            crosses(&classes->items[c]) && out->sizes[c].predicted.weakest > HAUL_PROVENANCE_FITTED;
    const bool is_told = target->link.generation.provenance == HAUL_PROVENANCE_FITTED;
    if (target->link.kind != HAUL_LINK_PCIE || generation < 2 || !is_assumed || is_told)
        return HAUL_OK;
    char slower_link[40];
    haul_machine *slower = NULL;
    haul_error unknown;
    double sum_s = 0;
    (void)snprintf(slower_link, sizeof slower_link, "link.generation=%d", generation - 1);
    haul_status status = haul_machine_set(target, slower_link, &slower, &unknown);
    for (size_t c = 0; !status && c < classes->count; c++) {
        const hl_project_size_class *one = &classes->items[c];
        const haul_copy copy = hl_project_size_class_copy(one);
        haul_estimate each = {.seconds = out->sizes[c].predicted.seconds / one->count};
        if (crosses(one)) {
            status = haul_copy_time(slower, model, &copy, &each, NULL);
            if (status == HAUL_STATUS_MISSING)
                status = haul_copy_time(slower, NULL, &copy, &each, NULL);
        }
        sum_s += each.seconds * one->count;
    }
    haul_machine_free(slower);
    if (status == HAUL_STATUS_NO_MEMORY)
        return hl_base_fail_no_memory(error);
    if (!status) {
        out->slower_link_generation = generation - 1;
        out->slower_link_s = sum_s;
    }
    return HAUL_OK;
}

void hl_project_assumed_host_note_slow_link(const hl_project_recording *recording,
                                            hl_project_notes *notes)
{
    const haul_machine *like = recording->like;
    const double fastest = hl_project_fastest_pinned(&recording->classes); /* B/s */
    const double own =
        recording->has_slot ? recording->catalogue_generation : like->link.generation.value;
    haul_link link = like->link;
    if (link.kind != HAUL_LINK_PCIE || fastest <= 0)
        return;
    for (double slower = fastest; slower >= fastest && link.generation.value > 1;) {
        link.generation.value -= 1;
        slower = hl_machine_link_rate(&link);
        link.generation.value += slower < fastest;
    }
    char rate[32];
    if (link.generation.value < own)
        hl_project_notes_add(
            notes,
            "the profile's pinned copies reach %s at most, as on PCIe gen %.0f x%.0f or gen "
            "%.0f x%.0f; '%s' of the catalogue, with that GPU, has gen %.0f x%.0f",
            haul_quantity_format(fastest, HAUL_DIM_RATE, 3, rate, sizeof rate),
            link.generation.value, link.lanes.value, link.generation.value + 1,
            link.lanes.value / 2, like->name, own, link.lanes.value);
}
