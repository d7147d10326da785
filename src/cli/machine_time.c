#include "cli/command.h"

int cli_machine_time(const cli_command *self, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage(self, "'time' is not built yet");
}
