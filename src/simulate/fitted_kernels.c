/* Kernel files are few, so a list finds them; a loop asks for one size again and again, so the last
 * answer is kept. */
#include "simulate/fitted_kernels.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/kernel_file.h"

struct hl_simulate_fitted_kernel {
    hl_simulate_fitted_kernel *next;
    uint32_t id;
    haul_kernel_file *file;
    haul_machine *source;
    haul_kernel_fit *fit;
    double size; /* that was asked last, and the answer; 0: none was */
    haul_estimate estimate;
};

/* Also of one that was loaded in part. */
static void free_kernel(hl_simulate_fitted_kernel *kernel)
{
    haul_kernel_fit_free(kernel->fit);
    haul_machine_free(kernel->source);
    haul_kernel_file_free(kernel->file);
    free(kernel);
}

void hl_simulate_fitted_kernels_release(hl_simulate_fitted_kernels *self)
{
    while (self->first) {
        hl_simulate_fitted_kernel *next = self->first->next;
        free_kernel(self->first);
        self->first = next;
    }
}

/* NULL, with its error, where there is none. A file's name is from the workload's folder on, unless
 * it is of the kernels that haul knows. */
static hl_simulate_fitted_kernel *find_kernel(hl_simulate_fitted_kernels *self, uint32_t id,
                                              const char *name, haul_error *error)
{
    char path[PATH_MAX];
    for (hl_simulate_fitted_kernel *known = self->first; known; known = known->next)
        if (known->id == id)
            return known;
    const char *slash = strrchr(self->beside, '/');
    const bool is_file = strchr(name, '/') || strstr(name, ".yaml");
    const int folder = slash && is_file && *name != '/' ? (int)(slash + 1 - self->beside) : 0;
    const int length = snprintf(path, sizeof path, "%.*s%s", folder, self->beside, name);
    hl_simulate_fitted_kernel *made = calloc(1, sizeof *made);
    haul_status status = HAUL_OK;
    if (!made) {
        hl_base_fail_no_memory(error);
        return NULL;
    }
    if (length < 0 || (size_t)length >= sizeof path)
        status =
            haul_error_set(error, HAUL_STATUS_BAD_INPUT, "the name of a kernel file is too long");
    if (!status)
        status = haul_kernel_file_load(path, &made->file, error);
    if (!status && !made->file->machine)
        status = haul_error_set(error, HAUL_STATUS_MISSING, "kernel '%.80s' has no measured times",
                                made->file->name);
    if (!status)
        status = haul_machine_load(made->file->machine, &made->source, error);
    if (!status)
        status = haul_kernel_fit_new(made->source, HAUL_KERNEL_FIT_AUTO, made->file->samples,
                                     made->file->sample_count, &made->fit, error);
    if (status) {
        free_kernel(made);
        return NULL;
    }
    made->id = id;
    made->next = self->first;
    self->first = made;
    return made;
}

/* Size 0 is never asked for, so it marks a kernel without an answer. */
haul_status hl_simulate_fitted_kernels_time(hl_simulate_fitted_kernels *self, uint32_t id,
                                            const char *name, double size, haul_estimate *out,
                                            haul_error *error)
{
    hl_simulate_fitted_kernel *kernel = find_kernel(self, id, name, error);
    if (!kernel)
        return error->status;
    if (kernel->size != size) {
        /* on the machine that measured it, it is at home even where that is another copy of it */
        const bool is_home = !strcmp(self->machine->name, kernel->source->name);
        haul_kernel_case what = {.source = kernel->source,
                                 .fit = kernel->fit,
                                 .target = is_home ? kernel->source : self->machine,
                                 .size = size};
        haul_estimate estimate;
        HAUL_TRY(haul_kernel_file_at(kernel->file, size, &what.counts, error));
        HAUL_TRY(haul_kernel_time(NULL, &what, &estimate, error));
        kernel->size = size;
        kernel->estimate = estimate;
    }
    *out = kernel->estimate;
    return HAUL_OK;
}
