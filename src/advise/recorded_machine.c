/* The recording machine, from the profile and the catalogue. The profile's own copies come first;
 * for kinds that it has none of, pinned memory above all, a machine with the same GPU stands in. */
#include <stdio.h>
#include <stdlib.h>

#include "advise/study.h"
#include "base/fail.h"
#include "haul/machine.h"
#include "project/recording.h"

/* `fitted` with the curves of `like` for kinds of copies that the profile does not have. */
static haul_status complete(const haul_machine *fitted, const haul_machine *like,
                            hl_advise_loan *loan, haul_machine **machine, haul_error *error)
{
    haul_copy_curve *curves = malloc((fitted->copy_count + like->copy_count + 1) * sizeof *curves);
    if (!curves)
        return hl_base_fail_no_memory(error);
    size_t count = 0;
    for (size_t c = 0; c < fitted->copy_count; c++)
        curves[count++] = fitted->copies[c];
    for (size_t c = 0; c < like->copy_count; c++) {
        const haul_copy_curve *curve = &like->copies[c];
        if (haul_machine_curve(fitted, curve->direction, curve->memory, curve->locality))
            continue;
        curves[count++] = *curve;
        if (haul_direction_crosses_link(curve->direction) && curve->locality == HAUL_LOCALITY_NEAR)
            loan->kinds[curve->direction][curve->memory] = true;
    }
    haul_machine named = *like;
    named.name = fitted->name;
    named.summary = fitted->summary;
    const haul_status status = haul_machine_with_copies(&named, curves, count, machine, error);
    free(curves);
    return status;
}

/* The lender on the PCIe generation before its own: a catalogue names a GPU, the slot is the
 * host's. None where there is no such generation. */
static haul_status on_older_link(const haul_machine *like, haul_machine **older, haul_error *error)
{
    char setting[40];
    const int generation = (int)like->link.generation.value;
    if (like->link.kind != HAUL_LINK_PCIE || generation < 2)
        return HAUL_OK;
    (void)snprintf(setting, sizeof setting, "link.generation=%d", generation - 1);
    return haul_machine_set(like, setting, older, NULL) == HAUL_STATUS_NO_MEMORY
               ? hl_base_fail_no_memory(error)
               : HAUL_OK;
}

static haul_status describe_loan(const hl_project_recording *recording, hl_base_arena *arena,
                                 hl_advise_loan *loan, haul_error *error)
{
    const haul_machine *like = recording->like;
    if (!like) {
        loan->why_none = hl_base_arena_string(arena, recording->gpu_unknown.text);
    } else if (!loan->kinds[HAUL_DIRECTION_HTOD][HAUL_MEMORY_PINNED] &&
               !loan->kinds[HAUL_DIRECTION_DTOH][HAUL_MEMORY_PINNED] &&
               !loan->kinds[HAUL_DIRECTION_HTOD][HAUL_MEMORY_PAGEABLE] &&
               !loan->kinds[HAUL_DIRECTION_DTOH][HAUL_MEMORY_PAGEABLE]) {
        loan->why_none = hl_base_arena_format(
            arena, "'%s' of the catalogue, %s, has no rates of such copies", like->name,
            recording->is_family ? "of the same family" : "which has that GPU");
    } else {
        loan->from = hl_base_arena_format(arena, "'%s' of the catalogue, %s", like->name,
                                          recording->is_family ? "whose GPU is of the same family"
                                                               : "which has the same GPU");
        loan->from = !recording->has_slot
                         ? loan->from
                         : hl_base_arena_format(
                               arena, "%s, in PCIe gen %.0f x%.0f, as its own show", loan->from,
                               like->link.generation.value, like->link.lanes.value);
        if (!recording->has_slot)
            HAUL_TRY(on_older_link(like, &loan->slower, error));
    }
    return arena->failed ? hl_base_fail_no_memory(error) : HAUL_OK;
}

haul_status hl_advise_recorded_machine(const haul_workload *workload, hl_base_arena *arena,
                                       haul_machine **machine, hl_advise_loan *loan,
                                       haul_error *error)
{
    hl_project_recording recording = {.gpu = NULL};
    haul_status status = hl_project_recording_learn(workload, NULL, &recording, error);
    if (!status && recording.like) {
        status = complete(recording.machine, recording.like, loan, machine, error);
    } else if (!status) {
        *machine = recording.machine;
        recording.machine = NULL;
    }
    if (!status)
        status = describe_loan(&recording, arena, loan, error);
    hl_project_recording_release(&recording);
    return status;
}
