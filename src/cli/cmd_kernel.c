/* haul kernel: its commands. */
#include "cli/kernel_request.h"

static haul_status list_kernels(void *request, haul_error *error)
{
    const cli_request *given = request;
    haul_report *report;
    HAUL_TRY(haul_report_kernel_models(&report, error));
    return cli_report(&given->results, report, error);
}

static const cli_command list = {
    .name = "kernel list",
    .summary = "the kernels that haul comes with, and the models",
    .synopsis = "[options]",
    .about = "Lists the kernels that haul comes with or finds in the folders of HAUL_KERNELS,\n"
             "separated by ':', and the models that predict their times.\n",
    .csv = "a row for each model",
    .examples = {"haul kernel list", "haul kernel list --format json"},
    .exits = "3 no kernels found",
    .has_report = true,
    .size = sizeof(cli_request),
    .act = list_kernels,
};

static const cli_command *const parts[] = {&cli_kernel_fit,
                                           &cli_kernel_predict,
                                           &cli_kernel_explain,
                                           &cli_kernel_scale,
                                           &cli_kernel_class,
                                           &list,
                                           NULL};

const cli_command cli_kernel = {
    .name = "kernel",
    .summary = "the time of a kernel at other sizes and on other GPUs",
    .synopsis = "fit|predict|explain|scale|class|list [options] [files]",
    .about =
        "The time of a kernel at other sizes and on other GPUs, from times measured on one.\n"
        "What a kernel's threads do is in a kernel file (docs/kernels.md), found by the\n"
        "kernel's name or given with --kernel; where there is none, a profiler's counters\n"
        "tell. HAUL_KERNELS names folders of more kernels, separated by ':', looked in first.\n",
    .examples =
        {"haul kernel fit times.csv --machine v100-pcie3 --kernel vector-add -o fitted.yaml",
         "haul kernel predict fitted.yaml --machine h100-pcie5 --size 4096"},
    .parts = parts,
};
