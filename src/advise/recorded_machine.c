/* The recording machine, from the profile and the catalogue. The profile's own copies come first;
 * for kinds that it has none of, pinned memory above all, a machine with the same GPU stands in. */
#include <stdlib.h>

#include "advise/study.h"
#include "base/fail.h"
#include "haul/machine.h"
#include "project/recording.h"

/* `fitted` with the curves of `like` for kinds of copies that the profile does not have. */
static haul_status complete(const haul_machine *fitted, const haul_machine *like,
                            haul_machine **machine, haul_error *error)
{
    haul_copy_curve *curves = malloc((fitted->copy_count + like->copy_count + 1) * sizeof *curves);
    if (!curves)
        return haul_fail_no_memory(error);
    size_t count = 0;
    for (size_t c = 0; c < fitted->copy_count; c++)
        curves[count++] = fitted->copies[c];
    for (size_t c = 0; c < like->copy_count; c++) {
        const haul_copy_curve *curve = &like->copies[c];
        if (!haul_machine_curve(fitted, curve->direction, curve->memory, curve->locality))
            curves[count++] = *curve;
    }
    haul_machine named = *like;
    named.name = fitted->name;
    named.summary = fitted->summary;
    const haul_status status = haul_machine_with_copies(&named, curves, count, machine, error);
    free(curves);
    return status;
}

/* *borrowed says which machine lent its curves: the note tells the reader to check its link. */
haul_status haul_recorded_machine(const haul_workload *workload, haul_arena *arena,
                                  haul_machine **machine, const char **borrowed, haul_error *error)
{
    haul_recording recording = {.gpu = NULL};
    haul_status status = haul_recording_learn(workload, NULL, &recording, error);
    *borrowed = NULL;
    if (!status && recording.like) {
        *borrowed = haul_arena_format(arena, "'%s' of the catalogue, %s", recording.like->name,
                                      recording.is_family ? "whose GPU is of the same family"
                                                          : "which has the same GPU");
        status = complete(recording.machine, recording.like, machine, error);
    } else if (!status) {
        *machine = recording.machine;
        recording.machine = NULL;
    }
    haul_recording_release(&recording);
    return status;
}
