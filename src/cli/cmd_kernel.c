#include "cli/kernel_options.h"

static const char usage[] =
    "haul kernel fit|predict|explain|list [options] [files]\n"
    "\n"
    "The time of a kernel at other sizes and on other GPUs, from times measured on one.\n"
    "\n"
    "  haul kernel fit CSV... --machine M [--kernel FILE] [-o FITTED]\n"
    "      fits measured times: the calibration factor (lambda) of each kernel and GPU, and of\n"
    "      each architecture, and whether one factor serves all sizes; -o keeps the kernel with\n"
    "      its measured times\n"
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
    "several GPUs need a --machine for each; rows of other GPUs are left out.\n"
    "What a kernel's threads do is in a kernel file (docs/kernels.md), found by the kernel's name "
    "or\n"
    "given with --kernel; where there is none, a profiler's counters tell.\n"
    "\n"
    "options:\n"
    "  --machine MACHINE             a name of 'haul machine list', or a file; may be given again\n"
    "  --kernel NAME|FILE            the kernel's file; of rows of several kernels, those of this\n"
    "  --block 16x16                 of fit: of rows in blocks of several shapes, those of this\n"
    "  --size N[,N...]               sizes; of fit, the size of each CSV that does not say it\n"
    "  --calibration auto|one|by-size  one factor for all sizes, or one for each (auto: by size "
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
    "exit code: 0 fine, 2 wrong use, 3 bad input or a parameter that is missing\n";

static int run_list(const cli_command *self, int argc, char **argv)
{
    cli_results results = {0};
    cli_arguments arguments = {.results = &results};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    haul_error error;
    haul_report *report;
    if (code != CLI_GO_ON)
        return code;
    if (arguments.count)
        return cli_usage(self, "'list' takes no arguments, not '%s'", arguments.operands[0]);
    haul_status status = haul_report_kernel_models(&report, &error);
    if (!status)
        status = cli_report(&results, report, &error);
    return status ? cli_fail(&error) : 0;
}

/* A command over the options that fit, predict and explain share. */
static int run(const cli_command *self, int argc, char **argv,
               int (*act)(const cli_command *self, const kernel_options *options))
{
    kernel_options options = {.results = {.makes_file = act == kernel_fit_run}};
    const int code = kernel_options_parse(self, argc, argv, &options);
    return code != CLI_GO_ON ? code : act(self, &options);
}

static int run_fit(const cli_command *self, int argc, char **argv)
{
    return run(self, argc, argv, kernel_fit_run);
}

static int run_predict(const cli_command *self, int argc, char **argv)
{
    return run(self, argc, argv, kernel_predict_run);
}

static int run_explain(const cli_command *self, int argc, char **argv)
{
    return run(self, argc, argv, kernel_explain_run);
}

static const cli_command fit = {.name = "kernel fit", .usage = usage, .run = run_fit};
static const cli_command predict = {.name = "kernel predict", .usage = usage, .run = run_predict};
static const cli_command explain = {.name = "kernel explain", .usage = usage, .run = run_explain};
static const cli_command list = {.name = "kernel list", .usage = usage, .run = run_list};

static const cli_command *const parts[] = {&fit, &predict, &explain, &list, NULL};

const cli_command cli_kernel = {
    .name = "kernel",
    .summary = "the time of a kernel at other sizes and on other GPUs",
    .usage = usage,
    .parts = parts,
};
