#include "cli/command.h"

int cli_machine_fit(const cli_command *self, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage(self, "'fit' is not built yet");
}
