#include "simulate/fitted_kernels.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/kernel_file.h"

struct haul_fitted_kernel {
    haul_fitted_kernel *next;
    uint32_t id;
    haul_kernel_file *file;
    haul_machine *source;
    haul_kernel_fit *fit;
    double size; /* that was asked last, and the answer; 0: none was */
    haul_estimate estimate;
};

static void free_kernel(haul_fitted_kernel *kernel)
{
    haul_kernel_fit_free(kernel->fit);
    haul_machine_free(kernel->source);
    haul_kernel_file_free(kernel->file);
    free(kernel);
}

void haul_fitted_kernels_release(haul_fitted_kernels *self)
{
    while (self->first) {
        haul_fitted_kernel *next = self->first->next;
        free_kernel(self->first);
        self->first = next;
    }
}

/* A file's name is from the workload's folder on, unless it is of the kernels that haul knows. */
static haul_status find_path(const haul_fitted_kernels *self, const char *name, char *path,
                             size_t size, haul_error *error)
{
    const char *slash = strrchr(self->beside, '/');
    const bool is_file = strchr(name, '/') || strstr(name, ".yaml");
    const int folder = slash && is_file && *name != '/' ? (int)(slash + 1 - self->beside) : 0;
    const int length = snprintf(path, size, "%.*s%s", folder, self->beside, name);
    return length >= 0 && (size_t)length < size
               ? HAUL_OK
               : haul_fail(error, HAUL_BAD_INPUT, "the name of a kernel file is too long");
}

static haul_status load(haul_fitted_kernel *kernel, const char *path, haul_error *error)
{
    haul_status status = haul_kernel_file_load(path, &kernel->file, error);
    if (!status && !kernel->file->machine)
        return haul_fail(error, HAUL_MISSING, "kernel '%.80s' has no measured times",
                         kernel->file->name);
    if (!status)
        status = haul_machine_load(kernel->file->machine, &kernel->source, error);
    if (!status)
        status = haul_kernel_fit_new(kernel->source, HAUL_KERNEL_FIT_AUTO, kernel->file->samples,
                                     kernel->file->sample_count, &kernel->fit, error);
    return status;
}

/* NULL, with its error, where there is none. */
static haul_fitted_kernel *find_kernel(haul_fitted_kernels *self, uint32_t id, const char *name,
                                       haul_error *error)
{
    char path[PATH_MAX];
    for (haul_fitted_kernel *known = self->first; known; known = known->next)
        if (known->id == id)
            return known;
    haul_fitted_kernel *made = calloc(1, sizeof *made);
    if (!made) {
        haul_fail_no_memory(error);
        return NULL;
    }
    made->id = id;
    haul_status status = find_path(self, name, path, sizeof path, error);
    if (!status)
        status = load(made, path, error);
    if (status) {
        free_kernel(made);
        return NULL;
    }
    made->next = self->first;
    self->first = made;
    return made;
}

/* On the machine that measured it, it is at home even where that is another copy of the data. */
static haul_status predict(haul_fitted_kernel *kernel, double size, const haul_machine *machine,
                           haul_error *error)
{
    haul_estimate estimate;
    haul_kernel_case what = {
        .source = kernel->source,
        .fit = kernel->fit,
        .target = strcmp(machine->name, kernel->source->name) != 0 ? machine : kernel->source,
        .size = size,
    };
    haul_status status = haul_kernel_file_at(kernel->file, size, &what.counts, error);
    if (!status)
        status = haul_kernel_time(NULL, &what, &estimate, error);
    if (status)
        return status;
    kernel->size = size;
    kernel->estimate = estimate;
    return HAUL_OK;
}

haul_status haul_fitted_kernels_time(haul_fitted_kernels *self, uint32_t id, const char *name,
                                     double size, haul_estimate *out, haul_error *error)
{
    haul_fitted_kernel *kernel = find_kernel(self, id, name, error);
    if (!kernel)
        return error->status;
    const haul_status status =
        kernel->size == size ? HAUL_OK : predict(kernel, size, self->machine, error);
    if (!status)
        *out = kernel->estimate;
    return status;
}
