#include "cli/command.h"

static int run(const cli_command *self, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage(self, "not here yet");
}

const cli_command cli_analyze = {
    .name = "analyze", .summary = "", .usage = "haul analyze\n", .run = run};
