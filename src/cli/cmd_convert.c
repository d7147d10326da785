/* haul convert: a profile for other tools. */
#include "cli/profile_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "haul/goal.h"

#define OUTPUT_HELP "what to write; its name ends in .sqlite, .json, .npz or .goal"

static const char about[] =
    "Writes a profile of any kind that 'haul analyze' reads for other tools: as SQLite with the\n"
    "tables of Nsight Systems' export, as the JSON of PyTorch's profiler, which Chrome and\n"
    "Perfetto show, as arrays that numpy.load opens, or as a GOAL schedule, which LogGOPSim and\n"
    "htsim replay: collectives as the messages of all ranks. For a workload that is written down, "
    "such as the plan of a tile\n"
    "program, 'haul simulate --goal' does that.\n";

typedef struct convert_request {
    cli_request given;
    haul_workload *profile;
} convert_request;

static const cli_option options[] = {
    {"output", "FILE", CLI_TEXT, offsetof(convert_request, given.results.output), OUTPUT_HELP,
     .letter = 'o', .missing = PROFILE_OUTPUT_MISSING},
    {0},
};

/* The end of the name chooses a schedule for simulators of networks, as it does the other forms. */
static bool is_goal(const char *path)
{
    static const char end[] = ".goal";
    const size_t length = strlen(path);
    return length >= sizeof end && !strcmp(path + length - (sizeof end - 1), end);
}

static haul_status check_paths(void *request, haul_error *error)
{
    const char *output = ((const cli_request *)request)->results.output;
    return is_goal(output) ? HAUL_OK : cli_profile_output_check(request, error);
}

static haul_status convert(void *request, haul_error *error)
{
    const convert_request *self = request;
    if (is_goal(self->given.results.output)) {
        FILE *out;
        uint64_t kept = 0;
        HAUL_TRY(cli_output_open(self->given.results.output, &out, error));
        haul_status status =
            cli_output_finish(out, self->given.results.output,
                              haul_goal_write_workload(self->profile, out, &kept, error), error);
        if (!status && kept)
            (void)fprintf(stderr,
                          "haul: %" PRIu64
                          " collectives keep their recorded time: of a part of the "
                          "ranks, or of unknown size or partner\n",
                          kept);
        return status;
    }
    return cli_profile_write(self->profile, self->given.results.output, error);
}

const cli_command cli_convert = {
    .name = "convert",
    .summary = "a profile as SQLite, JSON, NumPy arrays or GOAL for other tools",
    .synopsis = "PROFILE... -o OUT.sqlite|OUT.json|OUT.npz|OUT.goal",
    .about = about,
    .options = options,
    .operand = {.name = "profile",
                .takes = "PROFILE",
                .kind = CLI_PROFILE,
                .at = offsetof(convert_request, profile)},
    .least = 1,
    .most = SIZE_MAX,
    .output = OUTPUT_HELP,
    .examples = {"haul convert app.nsys-rep -o app.json",
                 "haul convert rank0.sqlite rank1.sqlite -o app.sqlite"},
    .exits = "3 a profile that cannot be read",
    .size = sizeof(convert_request),
    .check = check_paths,
    .act = convert,
};
