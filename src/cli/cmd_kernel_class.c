/* haul kernel class: what kind of work kernels do, by their names. */
#include <stdlib.h>

#include "cli/kernel_request.h"

typedef struct class_request {
    cli_request given;
    const char *classes;
} class_request;

static haul_status act(void *request, haul_error *error)
{
    const class_request *self = request;
    const size_t count = self->given.operand_count;
    haul_kernel_classes *classes = NULL;
    haul_kernel_classified *items = calloc(count, sizeof *items);
    if (!items)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    if (self->classes)
        status = haul_kernel_classes_load(self->classes, &classes, error);
    for (size_t i = 0; !status && i < count; i++)
        items[i] = (haul_kernel_classified){self->given.operands[i],
                                            haul_kernel_kind_of(self->given.operands[i], classes)};
    if (!status)
        status = cli_report(&self->given.results, haul_report_kernel_classes(items, count), error);
    haul_kernel_classes_free(classes);
    free(items);
    return status;
}

static const cli_option options[] = {
    {"classes", "FILE", CLI_TEXT, offsetof(class_request, classes),
     .help = "a table of names of your own, asked first (docs/kernels.md)", .is_input = true},
    {0},
};

const cli_command cli_kernel_class = {
    .name = "kernel class",
    .summary = "what kind of work kernels do, by their names",
    .synopsis = "NAME... [options]",
    .about =
        "Prints what kind of work kernels of these names do, which part of the name tells it,\n"
        "and where names of that form are from.\n",
    .options = options,
    .operand = {.name = "name", .takes = "NAME"},
    .least = 1,
    .most = 100000,
    .csv = "a row for each name",
    .examples = {"haul kernel class ampere_sgemm_128x64_nn",
                 "haul kernel class my_gemm my_scan --format csv"},
    .exits = "3 a table of names that cannot be read",
    .has_report = true,
    .size = sizeof(class_request),
    .act = act,
};
