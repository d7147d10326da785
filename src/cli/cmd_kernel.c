#include <string.h>

#include "cli/kernel_options.h"

static const char usage[] =
    "haul kernel fit|predict|explain|list [options] [files]\n"
    "\n"
    "The time of a kernel at other sizes and on other boards, from times measured on one.\n"
    "\n"
    "  haul kernel fit CSV... --machine M [--kernel FILE] [-o FITTED]\n"
    "      fits measured times: lambda of each kernel and board, of each kernel and architecture, "
    "and\n"
    "      whether one lambda serves all sizes; -o keeps the kernel with what was measured\n"
    "  haul kernel predict FITTED --machine M... --size N...\n"
    "      the times on machines at sizes, with the interval that holds 90 of 100\n"
    "  haul kernel explain FITTED --machine M... --size N...\n"
    "      what bounds the kernel there, and what would change it\n"
    "  haul kernel list\n"
    "      the kernels that haul comes with, and the models\n"
    "\n"
    "CSV is a table with columns n (or size), a time named with its unit (seconds, kernel_s,\n"
    "median_ms ...), and kernel and gpu where there are several; or what 'nvprof --csv' prints\n"
    "(--print-gpu-trace for times, --metrics and --events for counters) or 'ncu --csv'. Rows of\n"
    "several boards need a --machine for each; rows of other boards are left out.\n"
    "What a kernel's threads do is in a kernel file (docs/kernels.md), found by the kernel's name "
    "or\n"
    "given with --kernel; where there is none, a profiler's counters tell.\n"
    "\n"
    "options:\n"
    "  --machine MACHINE             a name of 'haul machine list', or a file; may be given again\n"
    "  --kernel NAME|FILE            the kernel's file; of rows of several kernels, those of this\n"
    "  --block 16x16                 of fit: of rows in blocks of several shapes, those of this\n"
    "  --size N[,N...]               sizes; of fit, the size of each CSV that does not say it\n"
    "  --lambda auto|one|by-size     one figure for all sizes, or one for each (auto: by size "
    "where\n"
    "                                there are two or more)\n"
    "  --model NAME|./mine.so        of predict: a model of 'haul kernel list' (the first)\n"
    "  --format table|json|csv       how to print (table); docs/json.md describes json\n"
    "  -o, --output FILE             of fit, where to keep the fitted kernel; else print to a "
    "file\n"
    "  -h, --help                    print this\n"
    "\n"
    "environment:\n"
    "  HAUL_KERNELS                  folders of more kernels, separated by ':', looked in first\n"
    "\n"
    "exit code: 0 fine, 2 wrong use, 3 bad input or a figure that is missing\n";

static haul_status print_kernels(FILE *out, haul_error *error)
{
    char **names;
    size_t count;
    haul_status status = haul_kernel_file_list(&names, &count, error);
    if (status)
        return status;
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        width = strlen(names[i]) > width ? strlen(names[i]) : width;
    for (size_t i = 0; i < count; i++) {
        haul_kernel_file *kernel;
        haul_error wrong;
        char text[1200];
        if (haul_kernel_file_load(names[i], &kernel, &wrong)) {
            fprintf(out, "%-*s  %s\n", (int)width, names[i],
                    haul_error_format(&wrong, text, sizeof text));
            continue;
        }
        fprintf(out, "%-*s  %s\n", (int)width, names[i], kernel->summary);
        haul_kernel_file_free(kernel);
    }
    haul_names_free(names, count);
    return HAUL_OK;
}

static int run_list(const cli_command *self, const kernel_options *options)
{
    haul_error error;
    FILE *out;
    if (options->file_count)
        return cli_usage(self, "'list' takes no arguments, not '%s'", options->files[0]);
    haul_status status = cli_output_open(options->output, &out, &error);
    if (status)
        return cli_fail(&error);
    if (options->format == HAUL_TABLE) {
        status = print_kernels(out, &error);
        fputc('\n', out);
    }
    if (!status)
        status = haul_report_kernel_models(options->format, out, &error);
    return cli_output_finish(out, options->output, status, &error) ? cli_fail(&error) : 0;
}

static const struct {
    const char *name;
    int (*run)(const cli_command *self, const kernel_options *options);
} subcommands[] = {
    {"fit", kernel_fit_run},
    {"predict", kernel_predict_run},
    {"explain", kernel_explain_run},
    {"list", run_list},
};

static int run(const cli_command *self, int argc, char **argv)
{
    if (argc < 2)
        return cli_usage(self, "what to do is missing: fit, predict, explain or list");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return cli_help(self);
    kernel_options options;
    for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
        if (!strcmp(argv[1], subcommands[i].name)) {
            const int code = kernel_options_parse(self, argc - 1, argv + 1, &options);
            return code != CLI_GO_ON ? code : subcommands[i].run(self, &options);
        }
    return cli_usage(self, "no command '%s'", argv[1]);
}

const cli_command cli_kernel = {
    .name = "kernel",
    .summary = "the time of a kernel at other sizes and on other boards",
    .usage = usage,
    .run = run,
};
