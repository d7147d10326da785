/* The commands, each of which is in a file of its own. */
#include "cli/command.h"

const cli_command *const cli_commands[] = {
#define CLI_COMMAND(name) &cli_##name,
#include "cli/commands.h"
#undef CLI_COMMAND
    NULL,
};
