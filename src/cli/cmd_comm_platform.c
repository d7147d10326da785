/* haul comm platform: a machine as a platform of SimGrid. */
#include "cli/command.h"
#include "haul/goal.h"

static const char about[] =
    "Writes nodes of a machine as a SimGrid platform: MPI programs then run on it with SMPI,\n"
    "'smpirun -platform OUT.xml -hostfile HOSTS program'. Latencies and rates by message size are\n"
    "those of its 'messages' ('haul comm fit').\n";

typedef struct platform_request {
    cli_request given;
    cli_machines machines;
    uint64_t nodes;
} platform_request;

#define OF(field) offsetof(platform_request, field)

static const cli_option options[] = {
    {"nodes", "N", CLI_COUNT, OF(nodes), .help = "of the machine (2)", .least = 1, .most = 1 << 20,
     .preset = "2"},
    {"output", "FILE", CLI_TEXT, offsetof(platform_request, given.results.output),
     .help = "the platform (stdout)", .letter = 'o'},
    {0},
};

static haul_status write_platform(void *request, haul_error *error)
{
    const platform_request *self = request;
    const char *path = self->given.results.output;
    FILE *out;
    HAUL_TRY(cli_output_open(path, &out, error));
    return cli_output_finish(
        out, path, haul_simgrid_write(self->machines.items[0], (uint32_t)self->nodes, out, error),
        error);
}

const cli_command cli_comm_platform = {
    .name = "comm platform",
    .summary = "a machine as a platform of SimGrid",
    .synopsis = "MACHINE [--nodes N] [-o FILE.xml]",
    .about = about,
    .options = options,
    .operand = {.name = "machine", .takes = "MACHINE", .kind = CLI_MACHINES, .at = OF(machines)},
    .least = 1,
    .most = 1,
    .output = "the platform (stdout)",
    .exits = "3 bad input, or a parameter that the machine lacks, named",
    .examples = {"haul comm platform summit --nodes 32 -o summit.xml",
                 "haul comm platform ethernet-cluster"},
    .size = sizeof(platform_request),
    .act = write_platform,
};
