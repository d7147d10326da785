#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/recorders_inside.h"
#include "haul/record.h"
#include "haul/units.h"

static const char usage[] =
    "haul record -o PROFILE [--force] [--duration SECONDS] [--max-ops N] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a program and writes what its OpenCL or CUDA devices do into a profile, with no "
    "vendor's\n"
    "profiler: copies, kernels and waits with their times, as 'haul analyze' and 'haul project'\n"
    "read it. The program is unchanged; its output, signals and exit code are its own.\n"
    "\n"
    "options:\n"
    "  -o, --output PROFILE          the SQLite file to write; in its name %p is the program's\n"
    "                                process, %h the host, %q{NAME} a variable of the "
    "environment,\n"
    "                                %% a %; an MPI process without %p or %q adds its rank\n"
    "  --force                       replace a profile of haul record that is there\n"
    "  --duration SECONDS            record no longer than that; the program runs on\n"
    "  --max-ops N                   record at most N copies and kernels of each process\n"
    "  -h, --help                    print this\n"
    "\n"
    "exit code: the program's, 128 and the signal's number where one ended it; where it was not\n"
    "run: 2 wrong use, 3 a file that cannot be written or run, 4 nothing to record with\n";

typedef struct record_options {
    haul_recording_options run;
} record_options;

static bool parse_duration(const char *text, double *seconds)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value > 0) || value > 1e9)
        return false;
    *seconds = value;
    return true;
}

static bool parse_count(const char *text, uint64_t *count)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end || strchr(text, '-') || !value || value > INT64_MAX)
        return false;
    *count = value;
    return true;
}

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, record_options *options)
{
    const char *duration = NULL, *most = NULL;
    const cli_option known[] = {
        {"output", .value = &options->run.output, .letter = 'o'},
        {"force", .flag = &options->run.replace},
        {"duration", .value = &duration},
        {"max-ops", .value = &most},
        {0},
    };
    options->run.opencl = haul_opencl_recorder_inside();
    options->run.cuda = haul_cuda_recorder_inside();
    cli_arguments rest = {.options = known};
    const int code = cli_arguments_read(self, argc, argv, &rest);
    if (code != CLI_GO_ON)
        return code;
    if (duration && !parse_duration(duration, &options->run.duration_s))
        return cli_usage(self, "no duration in seconds '%s'", duration);
    if (most && !parse_count(most, &options->run.max_operations))
        return cli_usage(self, "no number of operations '%s'", most);
    if (!options->run.output || !options->run.output[0])
        return cli_usage(self, "where to? -o PROFILE");
    if (!rest.count)
        return cli_usage(self, "which program?");
    options->run.program = rest.operands;
    return CLI_GO_ON;
}

static void say_nothing_recorded(const haul_recording *recording, const char *program)
{
    fprintf(stderr, "haul: nothing recorded: '%s' %s\n", program,
            recording->met_runtime ? "loaded OpenCL or CUDA, but made no queue or stream"
                                   : "used neither OpenCL nor CUDA");
    if (!recording->records_opencl)
        fputs("haul: this build records no OpenCL: it was made without the packages "
              "ocl-icd-opencl-dev and opencl-headers\n",
              stderr);
    else if (!recording->has_platform)
        fputs("haul: no OpenCL platform is installed here: pocl-opencl-icd is one that runs on the "
              "CPU\n",
              stderr);
}

static void say(const haul_recording *recording, const record_options *options)
{
    if (recording->failure[0])
        fprintf(stderr, "haul: recording stopped: %s\n", recording->failure);
    if (recording->running[0])
        fprintf(stderr, "haul: no longer recorded: %s, which the program left running\n",
                recording->running);
    if (!recording->has_profile) {
        if (!recording->failure[0])
            say_nothing_recorded(recording, options->run.program[0]);
        return;
    }
    char number[48];
    fprintf(stderr, "haul: recorded %s",
            haul_number_of(recording->operations, "operation", NULL, number, sizeof number));
    if (recording->processes > 1)
        fprintf(stderr, " of %u processes", recording->processes);
    fprintf(stderr, " in '%s'\n", recording->output);
    if (recording->incomplete[0])
        fprintf(stderr, "haul: incomplete: %s\n", recording->incomplete);
    if (recording->clock_error_ns >= 0)
        fprintf(stderr, "haul: devices' times are within %.1f us of the host's\n",
                (double)recording->clock_error_ns / 1e3);
    if (recording->beyond_limits)
        fprintf(stderr, "haul: left out %s beyond the limit\n",
                haul_number_of(recording->beyond_limits, "operation", NULL, number, sizeof number));
    fprintf(stderr, "haul: next: haul analyze %s\n", recording->output);
}

static void told(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "haul: %s\n", text);
}

static int run(const cli_command *self, int argc, char **argv)
{
    record_options options = {0};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    options.run.told = told;
    haul_recording recording;
    haul_error error;
    if (haul_recording_run(&options.run, &recording, &error))
        return cli_fail(&error);
    say(&recording, &options);
    return recording.exit_code;
}

const cli_command cli_record = {.name = "record",
                                .summary = "run a program and write a profile of it",
                                .usage = usage,
                                .run = run,
                                .runs_program = true};
