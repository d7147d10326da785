/* haul kernel: its commands, and the options that they share. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_request.h"

#define OF(field) offsetof(kernel_request, field)

const cli_option kernel_options[] = {
    {"kernel", "NAME|FILE", CLI_TEXT, OF(kernel),
     .help = "the kernel's file; of rows of several kernels, those of this"},
    {"block", "16x16", CLI_SIDES, OF(block),
     .help = "of rows in blocks of several shapes, those of this", .most = 1024},
    {"model", "NAME|./mine.so", CLI_TEXT, OF(model),
     .help = "of predict: a model of 'haul kernel list' (the first)"},
    {"machine", "MACHINE", CLI_MACHINES, OF(machines),
     .help = "a name of 'haul machine list', or a file; may be given again",
     .missing = "the machine is missing: --machine M"},
    {"size", "N[,N...]", CLI_TEXTS, OF(size_texts),
     .help = "sizes; of fit, the size of each CSV that does not say it"},
    {"calibration", "auto|one|by-size", CLI_WORD, OF(calibration),
     .help = "one factor for all sizes, or one for each (auto: by size where there are two or "
             "more)",
     .old = "lambda"},
    {0},
};

/* Reads "1024" or "512,1024,2048" as sizes; false for anything else. */
static bool add_sizes(const char *text, kernel_request *self)
{
    size_t count = self->size_count;
    while (count < KERNEL_LIST_MOST) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text || text[strspn(text, "0123456789.eE+,")] || !(value > 0 && value <= 1e18))
            return false;
        self->sizes[count++] = value;
        if (*end != ',') {
            self->size_count = count;
            return !*end;
        }
        text = end + 1;
    }
    return false;
}

haul_status kernel_sizes_read(kernel_request *self, haul_error *error)
{
    if (self->given.operand_count > KERNEL_LIST_MOST)
        return haul_fail(error, HAUL_USAGE, "expected at most %d arguments", KERNEL_LIST_MOST);
    for (size_t i = 0; i < self->size_texts.count; i++)
        if (!add_sizes(self->size_texts.items[i], self))
            return haul_fail(error, HAUL_USAGE,
                             "expected a size above 0, or some as in 512,1024, not '%.80s'",
                             self->size_texts.items[i]);
    for (size_t i = 0; i < self->given.operand_count; i++)
        if (!self->size_texts.count || !add_sizes(self->given.operands[i], self))
            self->files[self->file_count++] = self->given.operands[i];
    return HAUL_OK;
}

static haul_status list_kernels(void *request, haul_error *error)
{
    const cli_request *given = request;
    haul_report *report;
    const haul_status status = haul_report_kernel_models(&report, error);
    return status ? status : cli_report(&given->results, report, error);
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

static const cli_command *const parts[] = {
    &cli_kernel_fit, &cli_kernel_predict, &cli_kernel_explain, &cli_kernel_class, &list, NULL};

const cli_command cli_kernel = {
    .name = "kernel",
    .summary = "the time of a kernel at other sizes and on other GPUs",
    .synopsis = "fit|predict|explain|class|list [options] [files]",
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
