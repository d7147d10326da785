/* Kernels by name. */
#include "haul/kernel_file.h"
#include "machine/catalogue.h"
#include "machine/machine_fields.h"

static haul_status parse(const char *yaml, size_t size, const char *file, const char *name,
                         void *document, haul_error *error)
{
    (void)name;
    return haul_kernel_file_parse(yaml, size, file, (haul_kernel_file **)document, error);
}

static const hl_machine_catalogue kernels = {
    .what = "kernel",
    .folders = {.kind = "kernels",
                .variable = "HAUL_KERNELS",
                .source = HAUL_KERNELS_SOURCE,
                .installed = HAUL_KERNELS_INSTALLED},
    .embedded = hl_machine_embedded_kernels,
    .is_name = hl_machine_name_ok,
    .parse = parse,
};

haul_status haul_kernel_file_list(char ***names, size_t *count, haul_error *error)
{
    return hl_machine_catalogue_names(&kernels, names, count, error);
}

haul_status haul_kernel_file_load(const char *name, haul_kernel_file **kernel, haul_error *error)
{
    return hl_machine_catalogue_load(&kernels, name, kernel, error);
}
