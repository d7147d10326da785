/* The machine that recorded a workload, as far as it and the catalogue know it. */
#include <stdlib.h>

#include "advise/study.h"
#include "base/fail.h"
#include "base/grow.h"
#include "haul/machine.h"
#include "kernel/gpus.h"
#include "project/recording.h"

/* The first machine of the catalogue with the GPU; *out stays NULL where there is none. */
static haul_status find_alike(const haul_gpu *gpu, haul_machine **out, haul_error *error)
{
    char **names = NULL;
    size_t count = 0;
    haul_status status = haul_catalogue_list(&names, &count, error);
    for (size_t i = 0; !status && i < count && !*out; i++) {
        haul_machine *entry = NULL;
        /* a broken file of the catalogue is no reason to stop: it is not asked for */
        if (haul_machine_load(names[i], &entry, NULL))
            continue;
        if (haul_gpu_same(&entry->gpu, gpu))
            *out = entry;
        else
            haul_machine_free(entry);
    }
    haul_names_free(names, count);
    return status;
}

/* `fitted` with the figures of `alike` where the fit has none of the kind. */
static haul_status complete(const haul_machine *fitted, const haul_machine *alike,
                            haul_machine **machine, haul_error *error)
{
    haul_copy_curve *curves = malloc((fitted->copy_count + alike->copy_count + 1) * sizeof *curves);
    if (!curves)
        return haul_fail_no_memory(error);
    size_t count = 0;
    for (size_t c = 0; c < fitted->copy_count; c++)
        curves[count++] = fitted->copies[c];
    for (size_t c = 0; c < alike->copy_count; c++) {
        const haul_copy_curve *curve = &alike->copies[c];
        if (!haul_machine_curve(fitted, curve->direction, curve->memory, curve->locality))
            curves[count++] = *curve;
    }
    haul_machine named = *alike;
    named.name = fitted->name;
    named.summary = fitted->summary;
    const haul_status status = haul_machine_with_copies(&named, curves, count, machine, error);
    free(curves);
    return status;
}

static haul_status fit(const haul_workload *workload, const haul_machine *gpu,
                       haul_machine **machine, haul_error *error)
{
    haul_size_class alike = {0};
    haul_contention_fit collisions = {0};
    haul_status status = haul_size_class_make(workload, NULL, &alike, error);
    if (!status)
        status = haul_contention_fit_find(workload, &alike, &collisions, error);
    if (!status)
        status = haul_recording_fit(workload, &alike, &collisions, gpu, machine, error);
    haul_contention_fit_release(&collisions);
    haul_size_class_release(&alike);
    return status;
}

haul_status haul_recorded_machine(const haul_workload *workload, haul_arena *arena,
                                  haul_machine **machine, const char **borrowed, haul_error *error)
{
    haul_machine *gpu = NULL, *fitted = NULL, *alike = NULL;
    haul_error unknown = {0};
    haul_status status = haul_recording_gpu(workload, &gpu, &unknown);
    if (status == HAUL_MISSING)
        status = HAUL_OK;
    else if (status && error)
        *error = unknown;
    if (!status)
        status = fit(workload, gpu, &fitted, error);
    if (!status && gpu)
        status = find_alike(&gpu->gpu, &alike, error);
    *borrowed = NULL;
    if (!status && alike) {
        *borrowed = haul_arena_string(arena, alike->name);
        status = complete(fitted, alike, machine, error);
    } else if (!status) {
        *machine = fitted;
        fitted = NULL;
    }
    haul_machine_free(gpu);
    haul_machine_free(fitted);
    haul_machine_free(alike);
    return status;
}
