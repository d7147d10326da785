#include <stdio.h>
#include <string.h>

#include "cli/command.h"

/* A command of this command: `run` gets the arguments from its own name on. */
typedef struct subcommand {
    const char *name;
    int (*run)(const cli_command *self, int argc, char **argv);
} subcommand;

static const subcommand subcommands[] = {
    {"time", cli_machine_time},
    {"fit", cli_machine_fit},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof *subcommands };

static int run(const cli_command *self, int argc, char **argv)
{
    if (argc < 2)
        return cli_usage(self, "what to do with a machine is missing");
    for (int i = 0; i < SUBCOMMAND_COUNT; i++)
        if (!strcmp(argv[1], subcommands[i].name))
            return subcommands[i].run(self, argc - 1, argv + 1);
    return cli_usage(self, "no command '%s'", argv[1]);
}

const cli_command cli_machine = {
    .name = "machine",
    .summary = "list, show, check, compare and fit machine descriptions; time a copy on one",
    .usage = "haul machine list|show|check|diff|time|fit [options] [arguments]\n",
    .run = run,
};
